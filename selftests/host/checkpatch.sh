#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# checkpatch --strict of the newest kernel prints nothing for all sources.
# timeout: 900
# quick: yes
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source=$(tools/vm/kernel path source 2> /dev/null) || skip_all "no kernel source is there"

trace_form=COMPLEX_MACRO,FUNCTION_ARGUMENTS,MACRO_ARG_REUSE,MACRO_ARG_UNUSED
trace_form+=,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,TRAILING_SEMICOLON

silent() {
	# Out of tree there is no MAINTAINERS file, compat.h is there for versions, and
	# sysctl.c fills in tables at run time. Macros in nl_put.c, plugin.h and monitor.c make rows of
	# a table and definitions, those in mib.h and mib.c one column of a list;
	# TRACE_EVENT() and struct_group() have forms of their own. checkpatch leaves a file
	# where it runs.
	cd "$work" && perl "$source/scripts/checkpatch.pl" "--root=$source" --strict --terse \
		--show-types --no-summary --ignore FILE_PATH_CHANGES "$@" -f "$top/$file"
}

while IFS= read -r file; do
	case $file in
	*/compat.h) check "$file" silent --ignore LINUX_VERSION_CODE,MACRO_ARG_REUSE ;;
	*/mib.[ch]) check "$file" silent --ignore MACRO_ARG_UNUSED ;;
	*/sstp/bpf.c|*_bpf.c) check "$file" silent --ignore MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE ;;
	*/nl_put.c|*/plugin.h|*/monitor.c) check "$file" silent --ignore MACRO_ARG_REUSE ;;
	*/trace/events/*) check "$file" silent --ignore "$trace_form" ;;
	*/sstp/sstp.h) check "$file" silent --ignore PARENTHESIS_ALIGNMENT ;;
	*/sysctl.c) check "$file" silent --ignore CONST_STRUCT ;;
	*) check "$file" silent ;;
	esac
done < <(find net include -name '*.[ch]' | sort)
[ "$ktap_count" -gt 0 ] || skip_all "no sources"
finish
