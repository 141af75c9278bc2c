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
finish
