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

vectors() { net/sstp/tests/rrda_reference.py | cmp - net/sstp/tests/rrda_vectors.h; }
check "rrda_vectors.h is what rrda_reference.py writes" vectors
finish
