#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Functions have at most 80 lines and six parameters, and checkpatch --strict of the newest
# kernel prints nothing for all sources of the module.
# timeout: 2700
# quick: yes
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

functions() { find "$@" -type f -exec python3 selftests/host/functions.py {} +; }
check "no function is too long, or has too many parameters" \
	functions net include tools selftests examples

# allows FILE BEGIN LINES END: FILE, with so many lines between BEGIN and END, is allowed.
allows() {
	mkdir -p "$work/$(dirname "$1")"
	{ echo "$2"; yes '' | head -n "$3"; echo "$4"; } > "$work/$1"
	(cd "$work" && python3 "$top/selftests/host/functions.py" "$1")
}
# finds WORDS FILE BEGIN LINES END: it is not, and WORDS tell why.
finds() {
	local words=$1
	shift
	allows "$@" > "$work/found" && return 1
	diff "$work/found" - <<< "$words"
}
six='int a, int (*b)(int, int), int c, int d, int e, int g'
check "80 lines in C are allowed" allows c.c "int f($six)"$'\n{' 77 '}'
check "81 lines in C are found" finds 'c.c:1: f() has 81 lines' c.c "int f($six)"$'\n{ // }' 78 '}'
check "seven parameters in C are found" finds 'c.c:1: f() has 7 parameters' \
	c.c "int f($six, int h)" 1 '{ return h; }'
check "81 lines in shell are found" finds 'sh.sh:1: f() has 81 lines' sh.sh 'f() {' 79 '}'
check "81 lines that begin next to the brace are found" finds 'sh.sh:1: f() has 81 lines' \
	sh.sh 'f() { echo "}" ${6-} && {' 79 'echo; }; }'
check "the seventh field of awk is allowed" allows sh.sh 'f() {' 1 $'awk "$1" \'{ $7 }\'\n}'
check "seven parameters in shell are found" finds 'sh.sh:1: f() has 7 parameters' \
	sh.sh 'f() {' 1 $'echo \'\' "it\'s $7"\n}'
check "81 lines in Python are found" finds 'py.py:1: f() has 81 lines' py.py 'def f():' 79 ' pass'
check "seven parameters in Python are found" finds 'py.py:1: f() has 7 parameters' \
	py.py 'def f(a, b, c, d, e, g, *, h):' 0 ' pass'
check "an exception that nothing needs is found" finds \
	'tools/sstp-run/fds.c: first_syscall() needs no exception' \
	tools/sstp-run/fds.c 'long first_syscall(long number)' 0 '{ return number; }'
check "a brace that nothing closes is found" finds 'c.c: braces do not match' \
	c.c 'int f(void)' 0 '{'

source=$(tools/vm/kernel path source 2> /dev/null) || {
	skip "checkpatch" "no kernel source is there"
	finish
}

trace_form=COMPLEX_MACRO,FUNCTION_ARGUMENTS,MACRO_ARG_REUSE,MACRO_ARG_UNUSED
trace_form+=,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,TRAILING_SEMICOLON

# Out of tree there is no MAINTAINERS file, compat.h is there for versions, and sysctl.c fills in
# tables at run time. Macros in nl_put.c, plugin.h and monitor.c make rows of a table and
# definitions, those in mib.h and mib.c one column of a list; TRACE_EVENT() and struct_group() have
# forms of their own.
except_for() {
	case $1 in
	*/compat.h) echo LINUX_VERSION_CODE,MACRO_ARG_REUSE ;;
	*/mib.[ch]) echo MACRO_ARG_UNUSED ;;
	*/sstp/bpf.c|*_bpf.c) echo MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE ;;
	*/nl_put.c|*/plugin.h|*/monitor.c) echo MACRO_ARG_REUSE ;;
	*/trace/events/*) echo "$trace_form" ;;
	*/sstp/sstp.h|*/net/sstp.h) echo PARENTHESIS_ALIGNMENT ;;
	*/sysctl.c) echo CONST_STRUCT ;;
	*) echo FILE_PATH_CHANGES ;;
	esac
}

# Each start of checkpatch takes a tenth of a second, so one run reads all files that have the same
# exceptions. checkpatch leaves a file in its working directory.
mapfile -t files < <(find net include -name '*.[ch]' | sort)
declare -A groups
for file in "${files[@]}"; do
	groups[$(except_for "$file")]+="$top/$file "
done
for types in "${!groups[@]}"; do
	# shellcheck disable=SC2086 # a word for each file
	(cd "$work" && perl "$source/scripts/checkpatch.pl" "--root=$source" --strict --terse \
		--show-types --no-summary --ignore "FILE_PATH_CHANGES,$types" -f ${groups[$types]})
done > "$work/found" 2>&1
silent() { ! grep -F "$1:" "$work/found"; }
for file in "${files[@]}"; do
	check "$file" silent "$file"
done
# Messages that name no file are errors, too.
check "checkpatch says nothing else" cmp "$work/found" /dev/null
finish
