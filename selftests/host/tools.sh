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

vectors() { net/sstp/tests/rrda_reference.py | cmp - net/sstp/tests/rrda_vectors.h; }
check "rrda_vectors.h is what rrda_reference.py writes" vectors
finish
