#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The lab measures, draws and reports, and a rerun gives the same bytes.
# timeout: 600
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

lab() { tools/lab/run --quick -j 1 -o "$work/$1" "${@:2}" > "$work/log" 2>&1 || { sed 's/^/# /' "$work/log"; false; }; }
same() { cmp "$work/1/$1" "$work/2/$1"; }
# A run was stopped before its last cell.
forget() {
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); d['cells'].pop()
json.dump(d, open(sys.argv[1], 'w'))" "$work/$1/start.json" &&
	lab "$1" -f contract --resume start &&
	test "$(grep -c '(known)' "$work/log")" = $((cells - 1)) && grep -q '^1/1 ' "$work/log"
}
listed() { tools/lab/list | grep -q "^$1 "; }

for file in tools/lab/experiments/*.toml; do
	name=$(basename "$file" .toml)
	check "$name is listed" listed "$name"
done
check "throughput against the window is as wanted" lab 1 window
check "slow readers are as wanted" lab 1 readers
check "starts and outages are as wanted" lab 1 -f contract start
check "starts again" lab 2 -f contract start
for kind in json png svg; do
	check "start.$kind has the same bytes" same "start.$kind"
	for name in window readers; do
		check "$name.$kind is there" test -s "$work/1/$name.$kind"
	done
done
cells=$(grep -c '"measured"' "$work/1/start.json")
source_of() { sed -n 's/^ *"source": //p' "$work/$1/start.json" | sort -u; }
check "TCP is measured without the module" lab 3 -f cubic start
check "its results do not depend on the module" test "$(source_of 3)" != "$(source_of 1)"
check "a cell less, and the rest is resumed" forget 2
check "start.json has the same bytes then" same start.json
check "the report is written" tools/lab/report -f "$work/1" -o "$work/report"
check "it has all" test "$(grep -c '^## ' "$work/report/README.md")" = 3

# The report tells which cells failed.
spoil() {
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); del d['cells'][0]['measured']
d['cells'][0]['failed'] = 'status 97'
json.dump(d, open(sys.argv[1], 'w'))" "$work/1/start.json" &&
	tools/lab/report -f "$work/1" -o "$work/report" &&
	grep -q " $((cells - 1)) of $cells cells" "$work/report/README.md" &&
	grep -q '^- .*: status 97$' "$work/report/README.md"
}
check "a failed cell is told" spoil
# A pile at once, a pause, and then the rate: the half round trip until 0.25 s has it.
spike() {
	python3 -B -c "import sys; sys.path.insert(0, 'tools/lab'); import analysis
bins = [0] * 10 + [900] + [0] * 9 + [100] * 30
assert round(analysis.reaches(bins, 0.01, 0.0, 90, 0.1), 6) == 0.25"
}
check "a spike is not the rate" spike
check "an unknown experiment is refused" eval '! tools/lab/run none 2>/dev/null'
finish
