#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The runner tells why a test failed, whatever else the test and its machine printed.
# timeout: 300
# quick: yes
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tell [KERNEL LINE...]: what the runner prints of the KTAP in the input, whose machine
# may have ended after these lines of the kernel's log
tell() {
	PYTHONPATH=tools/python python3 -B -c 'import sys
from sstptools.selftest.ktap import Case
from sstptools.selftest.report import Reader, Results
results = Results(".", False)
reader = Reader(results, "uml", "the.log")
for line in sys.stdin:
    reader.feed(line.rstrip("\n"))
if reader.name:
    reader.close([Case("survives", "fail", "the machine ended early, status 97")],
                 kernel=sys.argv[1:])
print(results.counts["fail"], "failed")
results.tell_failures()' "$@" > "$work/told" || return
	sed -i 's/^ *[0-9.]*s  //; s/^uml *//' "$work/told"
	sed '1,/^[0-9]* failed$/d' "$work/told" > "$work/end"
	sed -i '/^[0-9]* failed$/q' "$work/told"
}
# results FIRST LAST: lines of cases that passed, each with something that it prints
results() {
	local n
	for ((n = $1; n <= $2; n++)); do
		printf '    # of %d\n    ok %d case %d\n' "$n" "$n" "$n"
	done
}
# fails N WHY...: a case that fails, and its lines after the result
fails() {
	local line
	echo "    not ok $1 case $1 # exit status 1"
	for line in "${@:2}"; do echo "    # $line"; done
}
told() { grep -qxF -- "$1" "$work/told" || { cat "$work/told"; return 1; }; }
not_told() { ! grep -F -- "$1" "$work/told"; }
lines_at_most() { [ "$(wc -l < "$work/told")" -le "$1" ] || { wc -l < "$work/told"; return 1; }; }

{
	echo "# Subtest: many_test"
	results 1 250
	echo "    # pair.c:12: expected 3, got 4"
	fails 251 "after it: EPIPE"
	results 252 500
	printf '    1..500\nnot ok 2 many_test # time 9.0 s\n'
} | tell
check "one failing case of 500 is told" told "not ok 251 case 251 # exit status 1"
check "and what was printed before it" told "# pair.c:12: expected 3, got 4"
check "and after it" told "# after it: EPIPE"
check "and the path of its log" told "whole log: the.log"
check "nothing of others is" not_told "case 250"
check "in a few lines" lines_at_most 8
check "the end names it" grep -qxF "failed: uml many_test: case 251 exit status 1" "$work/end"
check "and tells its cause again" grep -qxF "# pair.c:12: expected 3, got 4" "$work/end"

{
	echo "# Subtest: bad_test"
	results 1 3
	for n in {4..23}; do
		printf -v text 'line %s\n' {1..100}
		mapfile -t said <<< "$text"
		fails "$n" "${said[@]/#/$n: }"
	done
	printf '    1..23\nnot ok 2 bad_test # time 9.0 s\n'
} | tell
check "of many failing cases the first is told" told "# 4: line 1"
check "and the fifth" told "not ok 8 case 8 # exit status 1"
check "others are counted" told "# 15 more cases failed"
check "that is bounded" lines_at_most 260

{
	echo "# Subtest: hung_test"
	results 1 3
	echo "    # waiting for the peer"
	printf '    not ok 4 timeout # no end after 60 s\n    1..4\nnot ok 2 hung_test # time 60.0 s\n'
} | tell
check "a test that hangs: what it printed last" told "# waiting for the peer"

{
	echo "# Subtest: half_test"
	results 1 3
	echo "    # the last that was seen"
} | tell
check "a test without plan and end: what it printed last" told "# the last that was seen"
check "and that its machine ended" told "not ok 4 survives # the machine ended early, status 97"
check "is one failure" told "1 failed"

printf '# Subtest: lost_test\n    ok 1 case 1\n    1..2\nok 2 lost_test # time 1.0 s\n' | tell
check "a plan that is not kept is told" told "not ok 2 results # 1 came, then: ok 2 lost_test # time 1.0 s"

{
	echo "# Subtest: oops_test"
	results 1 300
} | tell "[ 1.0] BUG: KASAN: slab-use-after-free in sstp_push" "[ 1.0] Call Trace:"
check "a kernel that crashes: its log" told "| [ 1.0] BUG: KASAN: slab-use-after-free in sstp_push"
check "all of it" told "| [ 1.0] Call Trace:"
check "after the case" told "not ok 301 survives # the machine ended early, status 97"

{
	echo "# Subtest: warn_test"
	results 1 300
	for n in {1..30}; do echo "    # | [ 2.0] WARNING: CPU: 0 line $n"; done
	printf '    not ok 301 kernel log # suspicious lines\n    1..301\nnot ok 2 warn_test # time 1.0 s\n'
} | tell
check "a warning of the kernel is told from its first line on" told \
	"# | [ 2.0] WARNING: CPU: 0 line 1"
check "to its last" told "# | [ 2.0] WARNING: CPU: 0 line 30"

{
	echo "# Subtest: good_test"
	results 1 3
	printf '    1..3\nok 2 good_test # time 1.0 s\n'
} | tell
check "of a test that passes one line is told" lines_at_most 2

# A machine that ends: its log from this boot on, and the part that is suspicious
said() {
	printf '%s\n' "of an earlier boot: BUG: old" > "$work/kernel.log"
	local offset
	offset=$(stat -c %s "$work/kernel.log")
	printf 'quiet %d\n' {1..100} >> "$work/kernel.log"
	[ -z "$1" ] || echo "$1" >> "$work/kernel.log"
	PYTHONPATH=tools/python python3 -B -c 'import sys
from sstptools.selftest import run
print("\n".join(run.kernel_said(sys.argv[1], int(sys.argv[2]))))' "$work/kernel.log" "$offset" \
		> "$work/said"
	! grep -q old "$work/said" && [ "$(tail -n 1 "$work/said")" = "${1:-quiet 100}" ] &&
		[ "$(wc -l < "$work/said")" = "$2" ]
}
check "a panic is found in a kernel's log" said "Kernel panic - not syncing" 4
check "without one, its end is" said "" 25

# died [LINE...]: what the runner prints if these lines are the last ones of a machine in a test
died() {
	printf '%s\n' '# Subtest: half_test' '    ok 1 case 1' "$@" > "$work/output"
	PYTHONPATH=tools/python python3 -B -c 'import sys
from types import SimpleNamespace
from sstptools.selftest import run
from sstptools.selftest.report import Results
run.vm.command = lambda *_: ["sh", "-c", "cat $0/output; exit 97", sys.argv[1]]
test = SimpleNamespace(name="half_test", path="half_test", timeout=60)
run.run_kernel("6.12", (2, "2G", "", ""), [(test, None)], Results(sys.argv[1], False), "bin")' \
		"$work" > "$work/told"
	sed -i 's/^ *[0-9.]*s  //; s/^6.12 *//' "$work/told"
}
died "qemu-system-x86_64: terminating on signal 15" "| of the kernel's log" "vm: 6.12: ended early"
check "a machine that ends early: what QEMU said" told \
	"| qemu-system-x86_64: terminating on signal 15"
check "and how it ended" told "| vm: 6.12: ended early"
check "and its log once, from the log" not_told "of the kernel's log"
finish
