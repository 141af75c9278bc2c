#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sparse has nothing to say about our files. kernel_tree.sh has it read them for the newest kernel.
# timeout: 1800
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

command -v sparse > /dev/null || skip_all "sparse is not installed"

# What it says about the kernel's own headers is not ours.
ours() { ! grep -E '^[^ ]*(net/sstp/|include/(net|uapi/linux|trace/events)/sstp)[^ ]*:[0-9]+' "$work/log"; }

for kernel in ${SSTP_KERNELS:-6.12}; do
	dir=$(tools/vm/kernel path "$kernel" 2> /dev/null) || continue
	case $kernel in debug|debug-smp|6.1) continue ;; esac
	if ! tools/vm/run -k "$kernel" --build > "$work/log" 2>&1; then
		fail "$kernel builds"
		tail -n 20 "$work/log" | sed 's/^/# /'
		continue
	fi
	# The build of the machines has all objects, so that no file is compiled once more.
	build=$(sed -n 's/^built in //p' "$work/log")
	make=$dir/make
	[ -x "$make" ] || make=make
	if flock "$build.lock" "$make" sparse "KDIR=$dir/build" "BUILD=$build" SSTP_TESTS=y W=1 \
	   -j2 > "$work/log" 2>&1; then
		# The kernel's makefile goes on without a sparse that is too old for it.
		if grep -q 'C=2 specified, but' "$work/log"; then
			note "$kernel: sparse $(sparse --version) is too old for this kernel"
			continue
		fi
		check "$kernel: all files are read" sh -c "[ \$(grep ' CHECK ' '$work/log' | grep -vc /tests/) -ge \$(
			find net -name '*.c' | grep -vc '_test\.c\|/tests/') ]"
		check "$kernel: nothing is said" ours
	elif ours > /dev/null && grep -qE '/include/[^ ]*: error: ' "$work/log"; then
		skip "$kernel" "this sparse cannot read this kernel's headers"
		grep -E 'error' "$work/log" | head -n 3 | sed 's/^/# /'
	else
		fail "$kernel"
		grep -iE 'error|warning' "$work/log" | head -n 40 | sed 's/^/# /'
	fi
done
[ "$ktap_count" -gt 0 ] || skip_all "no kernel to build for is there"
finish
