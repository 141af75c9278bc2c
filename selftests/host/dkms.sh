#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# DKMS adds, builds, installs and removes the module (in directories of its own).
# timeout: 1800
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
command -v dkms > /dev/null || skip_all "dkms is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
mkdir -p "$work/tree" "$work/src/sstp-$version" "$work/modules"
cp -r Kbuild Makefile dkms.conf net include "$work/src/sstp-$version/"

run_dkms() {
	dkms "$@" -m sstp -v "$version" --dkmstree "$work/tree" --sourcetree "$work/src" \
		--installtree "$work/modules" ||
	{ cat "$work/tree/sstp/$version/build/make.log" 2> /dev/null; return 1; }
}

check "add" run_dkms add
for kernel in ${SSTP_KERNELS:-6.1 6.12}; do
	case $kernel in uml|debug|debug-smp) continue ;; esac
	dir=$(tools/vm/kernel path "$kernel" 2> /dev/null) || continue
	release=$(cat "$dir/release")
	mkdir -p "$work/modules/$release"
	cp "$dir/lib/modules/$release"/modules.{order,builtin}* "$work/modules/$release/"
	for_kernel=(-k "$release" --kernelsourcedir "$(readlink -f "$dir/build")")
	check "build for $kernel" run_dkms build "${for_kernel[@]}"
	# depmod would read the host's own modules.
	check "install for $kernel" run_dkms install --no-depmod "${for_kernel[@]}"
	check "is where modprobe looks, for $kernel" \
		sh -c "find '$work/modules/$release' -name 'sstp.ko*' | grep -q ."
	for module in $(sed -n 's/^obj-m += \(sstp-.*\)\.o$/\1/p' net/sstp/Kbuild); do
		check "and $module" sh -c "find '$work/modules/$release' -name '$module.ko*' | grep -q ."
	done
done
check "remove" run_dkms remove --no-depmod --all
check "nothing is left" sh -c "! find '$work/modules' -name 'sstp*.ko*' | grep ."

# BTF, for controllers in BPF, takes pahole, and all else goes without. One small module will do.
if ! dir=$(tools/vm/kernel path 6.12 2> /dev/null) || [ ! -e "$dir/build/vmlinux" ]; then
	skip "builds without pahole" "no headers with a vmlinux are there"
	finish
fi
small=$work/src/sstp-$version
rm -rf "$work/tree" "$work/modules" "$small/net" "$small/include"
mkdir -p "$work/tree" "$work/modules" "$work/bin" "$small/net/sstp" "$small/include"
sed -i '/^[A-Z_]*\[[1-9]/d' "$small/dkms.conf"
echo 'obj-m := sstp.o' > "$small/net/sstp/Kbuild"
printf '#include <linux/module.h>\nMODULE_LICENSE("GPL");\n' > "$small/net/sstp/sstp.c"
printf '%s\n' "$PATH" | tr : '\n' | while read -r at; do
	find "$at"/ -maxdepth 1 ! -name pahole ! -type d -exec ln -st "$work/bin" {} + 2> /dev/null
done

release=$(cat "$dir/release")
build=$(readlink -f "$dir/build")
has_btf() { readelf -S "$1" | grep -qF ' .BTF '; }
has_none() { ! has_btf "$1" && grep -qx 'No pahole.*no controllers in BPF' "$work/log"; }
by_dkms() {
	run_dkms build --force -k "$release" --kernelsourcedir "$build" > "$work/log" 2>&1 ||
		{ cat "$work/log"; return 1; }
}
by_make() {
	make -C "$small" "KDIR=$build" "BUILD=$work/$1" > "$work/log" 2>&1 ||
		{ cat "$work/log"; return 1; }
}
built=$work/tree/sstp/$version/$release/$(uname -m)/module/sstp.ko
check "one module is added" run_dkms add
check "it is built with pahole" by_dkms
check "... and has BTF" has_btf "$built"
check "make builds it" by_make with
check "... with BTF" has_btf "$work/with/net/sstp/sstp.ko"
PATH=$work/bin
check "pahole is not there" eval '! command -v pahole'
check "it is built without pahole" by_dkms
check "... has no BTF, and it is said why" has_none "$built"
check "make builds it" by_make without
check "... without BTF, and says why" has_none "$work/without/net/sstp/sstp.ko"
finish
