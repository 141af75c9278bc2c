#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module compiles without a warning, with W=1, for machines of other word sizes and
# byte orders, and calls none of the compiler's functions that no kernel has, as that for
# 64-bit divisions on 32 bits. build.sh has the comments for kernel-doc read: they are the same
# here, and reading them takes a third of a second for each file.
# timeout: 5400
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
source=$(tools/vm/kernel path source 2> /dev/null) || skip_all "no kernel source is there"
source=$(readlink -f "$source")
cache=${SSTP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sstp}/cross
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

# prepare BUILD VARIABLE=VALUE...: headers and scripts of its default configuration, kept
# for the next run.
prepare() {
	local build=$1
	shift
	[ ! -e "$build/complete" ] || return 0
	rm -rf "$build" && mkdir -p "$build" &&
	make -s -C "$source" "O=$build" "$@" defconfig &&
	"$source/scripts/config" --file "$build/.config" -e MODULES -m KUNIT -e INET -e IPV6 &&
	make -s -C "$source" "O=$build" "$@" olddefconfig &&
	nice make -s -C "$source" "O=$build" "$@" -j2 modules_prepare &&
	touch "$build/complete"
}
# That kernel has no symbols that modules could be linked with, and so modpost knows none.
no_warning() { ! grep -iE 'warning:' "$work/log" |
	grep -vE 'Module.symvers is missing|undefined!|unresolved symbol'; }
no_library() { ! "$2nm" -Au "$1"/net/sstp/*.o |
	grep -E ' __[a-z]*[sdt]i[234]$'; }

mkdir -p "$cache"
exec 8> "$cache/.lock"
flock 8
while read -r arch tools what; do
	if ! command -v "${tools}gcc" > /dev/null; then
		skip "$arch" "${tools}gcc is not there (tools/deps cross)"
		continue
	fi
	kernel=$cache/$arch-${source##*/source-}
	for_arch=("ARCH=$arch" "CROSS_COMPILE=$tools")
	if ! prepare "$kernel" "${for_arch[@]}" > "$work/log" 2>&1; then
		fail "$arch: a kernel is configured"
		tail -n 20 "$work/log" | sed 's/^/# /'
		continue
	fi
	if make "KDIR=$kernel" "BUILD=$work/$arch" "${for_arch[@]}" W=1 -j2 \
	   KCFLAGS=-g0 KBUILD_MODPOST_WARN=1 cmd_checkdoc= > "$work/log" 2>&1; then
		check "$arch, $what: builds without a warning" no_warning
		check "... and calls nothing of the compiler's library" no_library "$work/$arch" "$tools"
	else
		fail "$arch, $what: builds with W=1"
		grep -iE -A5 'error:|warning:|\*\*\*' "$work/log" | head -n 40 | sed 's/^/# /'
	fi
done <<-END
	arm64 aarch64-linux-gnu- 64 bits
	i386 x86_64-linux-gnu- 32 bits
	s390 s390x-linux-gnu- big-endian
END
find "$cache" -maxdepth 1 -name '*-*' ! -name "*-${source##*/source-}" -exec rm -rf {} +
finish
