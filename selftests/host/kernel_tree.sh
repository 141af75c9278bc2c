#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SSTP builds as a part of a kernel source tree, built in, without a warning of the compiler,
# or of sparse if that is new enough for the kernel.
# timeout: 3000
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
source=$(tools/vm/kernel path source 2> /dev/null) || skip_all "no kernel source is there"
uml=$(tools/vm/kernel path uml 2> /dev/null) || skip_all "no configuration for it is there"
source=$(readlink -f "$source")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

# Links to the source, except for files that are changed
cp -rs "$source" "$work/linux"
check "a kernel tree takes the module" tools/kernel-tree "$work/linux"
sums() { (cd "$work/linux" && find net include/net include/trace include/uapi/linux \
	Documentation tools/testing/selftests -type f -exec sha256sum {} + | sort); }
sums > "$work/once"
tools/kernel-tree "$work/linux"
sums > "$work/twice"
check "... and takes it again with the same result" cmp "$work/once" "$work/twice"
check "a directory that is no kernel tree is refused" \
	sh -c "! tools/kernel-tree '$work' 2> /dev/null && [ ! -e '$work/net' ]"

mkdir "$work/build"
grep -v CONFIG_KUNIT "$uml/build/.config" > "$work/build/.config"
printf 'CONFIG_%s\n' SSTP=y KUNIT=y SSTP_KUNIT_TEST=m >> "$work/build/.config"
kmake() { make -C "$work/linux" ARCH=um "O=$work/build" -j2 "$@" > "$work/log" 2>&1; }
# Without kernel-doc: build.sh has it read the comments.
built() {
	kmake olddefconfig && grep -qx CONFIG_SSTP=y "$work/build/.config" &&
		kmake W=1 C=1 cmd_checkdoc= net/sstp/ && [ -e "$work/build/net/sstp/built-in.a" ] ||
		{ grep -iE -A5 'error|\*\*\*' "$work/log" | head -n 40; return 1; }
}
check "it is built in with W=1 C=1" built
check "... without a warning" sh -c "! grep -n 'net/sstp.*warning:' '$work/log'"
if grep -q 'C=1 specified, but' "$work/log"; then
	note "sparse $(sparse --version) is too old for this kernel"
else
	check "... and sparse has read it" grep -q 'CHECK .*net/sstp/' "$work/log"
fi

# The rules of kselftest. "make run_tests" would run all tests, which takes as long as the
# runner of this tree does. Two of these need what a machine of kselftest has not.
kselftest() {
	make -s -C "$work/linux/tools/testing/selftests" TARGETS=net/sstp "O=$work/build" \
		FORCE_TARGETS=1 -j2 "$@"
}
tests=(ack_test sysctl_test progress_test tolerance.sh)
selftests_run() {
	# shellcheck disable=SC2068 # two words for each
	tools/vm/run -k uml -- "$work/installed/run_kselftest.sh" \
		${tests[@]/#/-t net/sstp:} > "$work/ktap" 2> "$work/log" ||
		{ cat "$work/log" "$work/ktap"; return 1; }
}
# results REGEXP NUMBER: lines of the tests' results that match
results() { [ "$(grep -c "^ok [0-9]* selftests: net/sstp: $1\$" "$work/ktap")" = "$2" ] ||
	{ cat "$work/ktap"; return 1; }; }
check "the selftests build there" eval 'kmake headers && kselftest'
check "... and are installed" kselftest install "INSTALL_PATH=$work/installed"
check "... and run in a machine" selftests_run
check "... each of them" results '[a-z_]*' 2
check "... and are skipped where time is not simulated" results '.* # SKIP' 2
check "... with the reason" test "$(grep -c '1\.\.0 # SKIP time is not simulated' "$work/ktap")" = 2

# Of the kernel's headers that are called as ours none is read.
own_headers() {
	local header
	for header in net/sstp.h uapi/linux/sstp.h trace/events/sstp.h; do
		echo '#error of the kernel' > "$work/linux/include/$header"
	done
	make links "KDIR=$work/build" "BUILD=$work/outside" > "$work/log" 2>&1 &&
		kmake "M=$work/outside" net/sstp/trace.o ||
		{ grep -A5 'error' "$work/log" | head -n 40; return 1; }
}
check "it builds outside of a kernel that has SSTP" own_headers
finish
