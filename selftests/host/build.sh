#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module builds for every kernel without a warning, with W=1. The machines of the other
# tests run the same build. The build for uml also has the comments for kernel-doc read.
# timeout: 5400
# quick: yes
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

# Ignore messages about the machine: another compiler than the kernel's, no vmlinux.
noise='compiler differs|The kernel was built by|You are using|Skipping BTF|missing .*\.symvers'

no_warning() { ! grep -iE 'warning|error' "$work/log" | grep -vE "$noise"; }
# Kbuild looks for interfaces in headers that not every kernel has.
no_header_missed() { ! grep -E 'cannot open|No such file' "$work/log"; }

for kernel in ${SSTP_KERNELS:-6.1 6.12 uml debug}; do
	if ! tools/vm/kernel path "$kernel" > /dev/null 2>&1; then
		skip "$kernel" "the kernel is not there"
		continue
	fi
	if tools/vm/run -k "$kernel" --build > "$work/log" 2>&1; then
		check "$kernel builds with W=1 and no warning" no_warning
		check "$kernel builds without a word about absent headers" no_header_missed
	else
		fail "$kernel builds with W=1"
		grep -iE -A5 'error:|warning:|\*\*\*' "$work/log" | head -n 40 | sed 's/^/# /'
	fi
done

if git rev-parse --git-dir > /dev/null 2>&1; then
	check "the sources' directories stay clean" \
		sh -c "! git status --porcelain --ignored -- net include | grep '^!!'"
fi
finish
