#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The KUnit suites, which run when their module is loaded.
# timeout: 600
# quick: yes
# kernels: uml debug
. "$(dirname "$0")/lib.sh"

results=/sys/kernel/debug/kunit
module=$SSTP_MODULE_DIR/sstp-test.ko

[ -d "$results" ] || skip_all "this kernel has no KUnit"
[ -e "$module" ] || skip_all "no KUnit module was built"
if ! error=$(insmod "$module" 2>&1); then
	fail "the KUnit module loads" "$error"
	finish
fi
for file in "$results"/*/results; do
	suite=$(basename "$(dirname "$file")")
	while IFS= read -r line; do
		case $line in
		"    ok "*|"    not ok "*)
			[[ $line =~ ^\ +(ok|not\ ok)\ [0-9]+\ ([^#]*[^# ])\ *(#.*)?$ ]] || continue
			name=$suite.${BASH_REMATCH[2]} directive=${BASH_REMATCH[3]}
			case ${BASH_REMATCH[1]}$directive in
			*SKIP*) skip "$name" "${directive#*SKIP }" ;;
			ok*) pass "$name" ;;
			*) fail "$name" ;;
			esac ;;
		*" FAILED at "*|"    Expected "*|"        "*) note "$line" ;;
		esac
	done < "$file"
done
check "the KUnit module unloads" rmmod sstp-test
finish
