#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# "make install" installs all files, and "make uninstall" removes them (in temporary
# directories).
# timeout: 1800
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM
export PYTHONDONTWRITEBYTECODE=1

root=$work/root
usr=$root/opt/sstp		# what nothing takes for its default
for_root() { make -s "$@" "DESTDIR=$root" prefix=/opt/sstp "OUT=$work/build"; }
empty() { [ -z "$(find "$root" ! -type d | tee /dev/stderr)" ]; }

# there FILE...: each file exists below the prefix.
there() {
	local file missing=0
	for file; do
		[ -f "$usr/$file" ] || { echo "no $file"; missing=1; }
	done
	return $missing
}
headers=(include/linux/sstp.h include/linux/sstp_netlink.h include/sstp.bpf.h)
mapfile -t pages < <(find Documentation tools -name '*.[178]' |
	sed 's,.*/\(.*\)\.\(.\)$,share/man/man\2/\1.\2,')
mapfile -t commands < <(cd tools && grep -l '^install:' */Makefile | sed 's,\(.*\)/.*,bin/\1,')
completions=("${commands[@]/#bin/share/bash-completion/completions}")
mapfile -t examples < <(find examples -name __pycache__ -prune -o -type f -print |
	sed 's,^,share/doc/sstp/,')

check "make install-tools" for_root install-tools
check "commands" there "${commands[@]}"
check "manual pages" there "${pages[@]}"
check "shell completion" there "${completions[@]}"
check "headers for programs" there "${headers[@]}"
check "examples" there "${examples[@]}"
check "of the modules nothing" test ! -e "$root/lib"

finds_library() {
	[ "$("$usr/bin/sstp-run" sh -c 'echo "${LD_PRELOAD%%:*}"')" = \
	  "$usr/bin/../lib/sstp/libsstp-preload.so" ]
}
check "sstp-run finds its library" finds_library
cp -r "$usr/share/doc/sstp/examples" "$work/examples"
check "the examples in C build with what is installed" make -s -C "$work/examples" GO= \
	"OUT=$work/built" "CFLAGS=-Werror -I$usr/include"
check "the example in Python prints usage" "$work/examples/python/client" -h

# completes LINE WORD...: the last word of LINE is completed to exactly these words.
completes() {
	local line=$1
	shift
	bash -c '
		. "$1"
		line=$2
		shift 2
		read -ra COMP_WORDS <<< "${line//[=:]/ & }"
		[[ $line == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_sstp_run
		[ "${COMPREPLY[*]}" = "$*" ] || { echo "${COMPREPLY[*]}"; exit 1; }
	' - "$usr/share/bash-completion/completions/sstp-run" "$line" "$@"
}
names_of() { sed -n 's/^\t\.name\t*= "\(.*\)",/\1/p' "$@"; }
mapfile -t options < <(sed -n '/long_options\[\] = {/,/^}/s/^\t{ "\([a-z]*\)".*/--\1/p' \
	tools/sstp-run/sstp-run.c)
mapfile -t controllers < <(names_of net/sstp/ctrl_*.c)
mapfile -t policies < <(names_of net/sstp/rbuf_*.c)
check "completion of options" completes "sstp-run -v --" "${options[@]}"
check "completion of controllers" completes "sstp-run -c " "${controllers[@]}"
check "completion of policies" completes "sstp-run --rate=1M:2M --policy=" "${policies[@]}"
check "completion of -l" completes "sstp-run -l s" sstp
check "completion of a program" completes "sstp-run -r 1M:2M mapfil" mapfile
check "completion of its arguments" completes "sstp-run -v cat README.m" README.md

# Other makefiles may export OUT and BUILD. With -n make only prints commands.
elsewhere() { OUT=$work/elsewhere BUILD=$work/elsewhere make -n "$@" KDIR=/nonexistent; }
builds_here() { elsewhere install-tools clean | tee "$work/said" | grep -q "rm -rf" &&
		! grep -F "$work/elsewhere" "$work/said"; }
check "OUT and BUILD in the environment move nothing" builds_here

check "make uninstall-tools" for_root uninstall-tools
check "nothing is left" empty
check "make uninstall-tools, once more" for_root uninstall-tools

for kernel in ${SSTP_KERNELS:-6.12}; do
	case $kernel in uml|debug|debug-smp) continue ;; esac
	dir=$(tools/vm/kernel path "$kernel" 2> /dev/null) || continue
	release=$(cat "$dir/release")
	modules=$root/lib/modules/$release
	for_kernel=("KDIR=$dir/build" "BUILD=$work/$kernel")
	check "make install, for $kernel" for_root install "${for_kernel[@]}"
	check "the module, for $kernel" sh -c "find '$modules' -name 'sstp.ko*' | grep ."
	check "and all the rest" there "${commands[@]}" "${headers[@]}"
	rm -f "$modules"/modules.*	# depmod's
	check "make uninstall, for $kernel" for_root uninstall "${for_kernel[@]}"
	check "nothing is left" empty
	break				# one is like another
done
finish
