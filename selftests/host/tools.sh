#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every script parses, and says how it is used.
# timeout: 180
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit

parses() {
	case $(head -n 1 "$1") in
	*python3*) python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$1" ;;
	*bash*|*/sh*) bash -n "$1" ;;
	esac
}
is_free_software() { grep -q 'SPDX-License-Identifier: GPL-2.0' "$1"; }
helps() { timeout 20 "$1" -h < /dev/null | grep -qi usage; }

while IFS= read -r file; do
	check "$file parses" parses "$file"
	check "$file names its licence" is_free_software "$file"
	case $file in
	tools/vm/guest|.ci/*|selftests/net/*|selftests/host/*) ;;
	*) check "$file -h" helps "$file" ;;
	esac
done < <(find tools selftests .ci net -type f -perm -100 | sort)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# server_cell POLICY GOODPUT EXHAUSTION: as tools/bench/server measures one
server_cell() {
	echo '{"level": 2, "clients": 20, "limit": 0, "policy": "'"$1"'", "goodput": '"$2"',
	       "exhaustion": '"$3"', "discarded": 1, "jain": 1, "cost": 9, "memory": 1e6,
	       "mean": 1e6, "resized": 0}'
}
# server_json MORE GOODPUT EXHAUSTION: of rrda, beside 1e8 and 0.3 of static
server_json() {
	echo '{"kernel": "6.12", "source": "0", "seconds": 6, "shared": true, "work": false, "cells": ['"
		$(server_cell static 1e8 0.3), $(server_cell rrda "$2" "$3")$1]}" > "$work/server.json"
}
server_check() { server_json "" "$@" && tools/bench/server -c -f "$work/server.json"; }
refused() { ! "$@"; }
check "tools/bench/server -c is content with what is wanted" server_check 1.3e8 0.03
check "tools/bench/server -c finds too little goodput" refused server_check 1.29e8 0.03
check "tools/bench/server -c finds too much exhaustion" refused server_check 1.3e8 0.031
drawing() { server_json "$1" 1.3e8 0.03 &&
	    tools/bench/server -f "$work/server.json" -m "$work/server.md" &&
	    grep -q '(server.svg)' "$work/server.md" && grep -q '<svg' "$work/server.svg" &&
	    grep -q "$2" "$work/server.md"; }
if /usr/bin/python3 -c 'import matplotlib' 2> /dev/null; then
	check "tools/bench/server -m writes and draws" drawing "" RRDA
	check "tools/bench/server -m of RRDA in parts" drawing ", $(server_cell "no EMA" 1 1)" "no EMA"
else
	skip "tools/bench/server -m writes and draws" "matplotlib is not installed"
fi

installed() {
	make -s -C tools/sstp-run "OUT=$work/run" "DESTDIR=$work/root" prefix=/usr install &&
		run=$work/root/usr/bin/sstp-run &&
		[ "$($run sh -c 'echo "${LD_PRELOAD%%:*}"' 2>&1)" = \
		  "$work/root/usr/bin/../lib/sstp/libsstp-preload.so" ] &&
		$run -h | grep -qi usage && test -f "$work/root/usr/share/man/man1/sstp-run.1"
}
check "sstp-run is installed and finds its library" installed
run=$work/run/sstp-run
status_is() { local want=$1; shift; "$@"; [ $? = "$want" ]; }
for rate in 5x 5g 1M: :5M 1M:2M:3:4:5 -1 0 ''; do
	check "sstp-run --rate '$rate' is refused" status_is 125 "$run" --rate "$rate" true
done
for rate in 950M 1.5G:1000000k 20M:10M:500:30; do
	check "sstp-run --rate $rate" "$run" --rate "$rate" true
done
check "sstp-run gives the program's status" status_is 7 "$run" sh -c 'exit 7'
check "sstp-run of nothing" status_is 127 "$run" /nonexistent
check "sstp-run without a program" status_is 125 "$run"

vectors() { net/sstp/tests/rrda_reference.py | cmp - net/sstp/tests/rrda_vectors.h; }
check "rrda_vectors.h is what rrda_reference.py writes" vectors
finish
