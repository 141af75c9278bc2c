#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Documents parse, have all options, counters and the like, and their programs compile.
# timeout: 600
# quick: yes
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

use=Documentation/networking/sstp.rst
protocol=Documentation/networking/sstp-protocol.rst
internals=Documentation/networking/sstp-internals.rst
man=Documentation/man/sstp.7
man_run=Documentation/man/sstp-run.1
man_tool=Documentation/man/sstp.8
for file in README.md "$use" "$protocol" "$internals" "$man" "$man_run" "$man_tool"; do
	[ -f "$file" ] || skip_all "$file is not there"
done

# Programs of the README: blocks of C that begin with their name in a comment.
awk -v dir="$work" '
	/^```c$/ { inside = 1; file = ""; next }
	/^```$/ { inside = 0; next }
	inside && file == "" && $1 == "/*" { file = dir "/" $2 }
	inside && file == "" { file = dir "/unnamed.c" }
	inside { print > file }
' README.md
programs=("$work"/*.c)
check "the README has a client and a server" test -f "$work/client.c" -a -f "$work/server.c"
[ -e "${programs[0]}" ] || programs=()
for file in "${programs[@]}"; do
	check "the README's ${file##*/} compiles" gcc -Wall -Wextra -Werror -Iinclude/uapi \
		-o "${file%.c}" "$file"
done

# names FILE WORD...: FILE contains each word.
names() {
	local file=$1 word missing=0
	shift
	[ $# -gt 0 ] || { echo "nothing to look for"; return 1; }
	for word; do
		grep -qw -- "$word" "$file" || { echo "$file lacks $word"; missing=1; }
	done
	return $missing
}

mapfile -t options < <(sed -n '/^enum {/,/^};/s/^\t\(SSTP_[A-Z_]*\)\( = [0-9]*\)\?,.*/\1/p' \
	include/uapi/linux/sstp.h)
mapfile -t structs < <(sed -n 's/^struct \(sstp_[a-z_]*\) {/\1/p' include/uapi/linux/sstp.h)
mapfile -t level_ip < <(sed -n '/^static int sstp_set_ip/,/^}/p; /^static int sstp_get_ip/,/^}/p' \
	net/sstp/sockopt.c | grep -oE '\bIP(V6)?_[A-Z0-9_]+' | sort -u)
mapfile -t refused < <(sed -n '/^static int sstp_set_socket/,/ENOPROTOOPT/s/^\tcase \(SO_.*\):/\1/p' \
	net/sstp/sockopt.c | sed 's/_OLD//; /_NEW/d; /SO_REUSEPORT$/d')
mapfile -t ioctls < <(sed -n '/^int sstp_ioctl/,/^}/s/^\tcase \(.*\):/\1/p' net/sstp/poll.c)
mapfile -t sysctls < <(sed -n 's/.*\.procname = "\(.*\)",/\1/p; s/.*SSTP_SYSCTL_INT("\([a-z_]*\)".*/\1/p' \
	net/sstp/sysctl.c)
mapfile -t mibs < <(sed -n 's/^SSTP_MIB([A-Z]*, "\([A-Za-z]*\)").*/\1/p' net/sstp/mib_list.h)
mapfile -t events < <(sed -n 's/^TRACE_EVENT(\(sstp_[a-z_]*\),$/\1/p
			      s/^DEFINE_EVENT([a-z_]*, \(sstp_[a-z_]*\),$/\1/p' include/trace/events/sstp.h)
mapfile -t info < <(sed -n '/^struct sstp_info {/,/^}/s/^\t\(struct \)\?[a-z0-9_]*[\t ]*\([a-z_]*\)\(\[.*\]\)\?;.*/\2/p' \
	include/uapi/linux/sstp.h)
mapfile -t monitor < <(sed -n '/^struct sstp_monitor {/,/^}/s/^\t\(struct \)\?[a-z0-9_]*[\t ]*\([a-z_]*\);.*/\2/p' \
	include/uapi/linux/sstp.h)
mapfile -t commands < <(sed -n '/^operations:/,/^mcast-groups:/s/^      name: //p' \
	Documentation/netlink/specs/sstp.yaml)
mapfile -t types < <(sed -n '/^enum sstp_type {/,/^}/s/^\tSSTP_\([A-Z_]*\),.*/\1/p' net/sstp/wire.h |
	grep -vx TYPES)
mapfile -t wire < <(sed -n '/^enum sstp_opt {/,/^}/s/^\tSSTP_OPT_\([A-Z_]*\),.*/\1/p' net/sstp/wire.h)

# Most fields of struct sstp_monitor are those of struct sstp_info: look in the section.
in_monitor() {
	sed -n '/^\.SS Monitor$/,/^\.SS Ioctls$/p' "$man" > "$work/monitor"
	names "$work/monitor" "${monitor[@]}"
}

# Controllers in modules of their own are ctrl_NAME there.
mapfile -t objects < <(grep -v '^#' net/sstp/layers | tr ' ' '\n' | grep . |
	grep -v '^ctrl_' | sort -u)

check "sstp.7 has every option" names "$man" "${options[@]}" SSTP_GAPS
check "sstp.7 has every structure" names "$man" "${structs[@]}"
check "sstp.7 has every option of IP and IPv6" names "$man" "${level_ip[@]}"
check "sstp.7 has every option of SOL_SOCKET that is not there" names "$man" "${refused[@]}"
check "sstp.7 has every ioctl" names "$man" "${ioctls[@]}"
check "sstp.7 has every sysctl" names "$man" "${sysctls[@]}"
check "sstp.rst has every netlink command" names "$use" "${commands[@]}"
check "sstp.rst has every counter" names "$use" "${mibs[@]}"
check "sstp.rst has every tracepoint" names "$use" "${events[@]}"
check "sstp.rst has every bpftrace script" names "$use" \
	$(cd tools/bpftrace && echo *.bt)
check "sstp.7 has every field of struct sstp_info" names "$man" "${info[@]}"
check "sstp.7 has every field of struct sstp_monitor" in_monitor
check "sstp-protocol.rst has every packet type" names "$protocol" "${types[@]}"
check "sstp-protocol.rst has every option of set-up" names "$protocol" "${wire[@]}"
mapfile -t codes < <(sed -n 's/^\tSSTP_RESET_\([A-Z]*\),.*/\1/p' net/sstp/wire.h)
check "sstp-internals.rst has every object and layer" names "$internals" "${objects[@]}"
check "the Wireshark plug-in has every type, option and code" names \
	tools/wireshark/afsstp.lua "${types[@]}" "${wire[@]}" "${codes[@]}"

mapfile -t run < <(sed -n '/long_options\[\] = {/,/^}/s/^\t{ "\([a-z]*\)".*/\1/p' \
	tools/sstp-run/sstp-run.c)
mapfile -t run_env < <(sed -n 's/^#define ENV_.*"\(.*\)"/\1/p' tools/sstp-run/options.h)
mapfile -t run_tcp < <(sed -n '/memo_options\[\] = {/,/^}/s/^\t{ \(TCP_[A-Z_0-9]*\),.*/\1/p' \
	tools/sstp-run/sockopt.c)
dashed() { local file=$1; shift; names "$file" "${@/#/[\\]-[\\]-}"; }
check "sstp-run.1 has every option" dashed "$man_run" "${run[@]}"
check "sstp-run.1 has every variable" names "$man_run" "${run_env[@]}"
check "sstp-run.1 has every TCP option that is remembered" names "$man_run" "${run_tcp[@]}"

mapfile -t tool < <(sed -n '/commands\[\] = {/,/^}/s/^\t{ "\([a-z]*\)".*/\1/p' tools/sstp/main.c)
# Parameters and values of the state that controllers and policies list
listed() {
	python3 -c 'import re, sys
for name in sys.argv[2:]:
    text = open(name).read()
    for found in re.findall(rf"^\t\.{sys.argv[1]}\s*= \{{(.*?)\}},\n(?=\t\.|\}};)", text, re.M | re.S):
        print(*re.findall(r"\"(.+?)\"", found), sep="\n")' "$@"
}
mapfile -t params < <(listed params net/sstp/ctrl_*.c | sort -u)
mapfile -t policy_params < <(listed params net/sstp/rbuf_*.c)
mapfile -t states < <(listed state net/sstp/ctrl_*.c net/sstp/rbuf_*.c | sort -u)
mapfile -t tool_filter < <(sed -n '/names\[\] = {/,/^\t};/s/"//gp' tools/sstp/filter.c |
	tr -d ' \t' | tr , '\n' | grep -v '[{}]' | grep .)
mapfile -t tool_why < <(sed -n 's/.*\tline("\([a-z ]*\)".*/\1/p' tools/sstp/why.c | sort -u)
check "sstp.8 has every command" names "$man_tool" "${tool[@]}"
check "sstp.8 has everything that can be set" names "$man_tool" rate controller policy \
	controller. policy.
check "sstp.8 has every word of a filter" names "$man_tool" "${tool_filter[@]}"
check "sstp.8 has every cause that is named" names "$man_tool" "${tool_why[@]}"
check "sstp's completion has every command and word" names tools/sstp/completion "${tool[@]}" \
	"${params[@]/#/controller[.]}" "${policy_params[@]/#/policy[.]}" "${tool_filter[@]}"
# Programs in BPF have the same structs, but for members that are of no use or not supported there.
same_structs() {
	python3 - include/net/sstp.h tools/bpf/sstp.bpf.h include/uapi/linux/sstp.h <<-'END'
		import re, sys
		core, bpf, uapi = (open(name).read() for name in sys.argv[1:])
		lacks = set("""sstp_ctrl.msg sstp_recv.msg sstp_ctrl_msg.data sstp_group.members
		    *.get_info *.owner *.list *.life *.sysfs""".split())
		sizes = dict(re.findall(r"#define (SSTP_\w+)\s+(\d+)", uapi + core))
		def structs(text):
		    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
		    text = re.sub(r"^\tstruct_group_tagged\(.*|^\t\);", "", text, flags=re.M)
		    text = text.replace(" / sizeof(u64)", "/8").replace("sizeof(u64)", "8")
		    text = re.sub(r"\bSSTP_[A-Z_]+", lambda m: sizes.get(m[0], m[0]), text)
		    text = re.sub(r"\[(\d+)/8\]", lambda m: f"[{int(m[1]) // 8}]", text)
		    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
		        yield name, [" ".join(m.split()) for m in body.split(";") if m.strip()]
		core = dict(structs(core))
		wrong = []
		for name, members in structs(bpf):
		    if name not in core:    # state of functions
		        continue
		    want = [m for m in core[name] for n in re.findall(r"\(\*(\w+)\)|(\w+)[\[\d\]]*$", m)
		            if not {f"{name}.{max(n)}", f"*.{max(n)}"} & lacks]
		    wrong += [f"{name}: {m}" for m in set(want) ^ set(members)]
		    if not wrong and want != members:
		        wrong.append(f"{name}: order")
		print("\n".join(wrong))
		sys.exit(bool(wrong))
	END
}
check "sstp.bpf.h has the structs of sstp.h" same_structs
check "sstp.7 has every parameter" names "$man" "${params[@]}" "${policy_params[@]}"
check "sstp.7 has every value of a state" names "$man" "${states[@]}"

# default NAME VALUE...: sstp.7 has the default of a sysctl or tunable.
default() {
	local name=$1
	shift
	grep -qE "^\.IR $name \" \(default: ${*// / }[;)]" "$man" ||
		{ grep "^\.IR $name " "$man"; return 1; }
}
while read -r field value; do
	case $field in
	ctrl) field=controller value=${value//\"/} ;;
	policy) field=buffer_policy value=${value//\"/} ;;
	encap_port) value=$(sed -n 's/^#define SSTP_PORT\t*\([0-9]*\).*/\1/p' include/uapi/linux/sstp.h) ;;
	esac
	numbers=()
	IFS=, read -ra parts <<< "${value//[\{\}]/}"
	for part in "${parts[@]}"; do
		case $part in
		*[a-z]*) numbers+=("$part") ;;
		*) numbers+=($((part))) ;;
		esac
	done
	check "sstp.7 has the default of $field" default "$field" "${numbers[@]}"
done < <(sed -n '/sstp_defaults = {/,/^}/s/^\t\.\([a-z_]*\) = \(.*\),$/\1 \2/p' net/sstp/sysctl.c)

while IFS=', ' read -r name value least most; do
	check "sstp.7 has default and range of $name" \
		default "$name" "$((value)); $((least)) to $((most))"
done < <(sed -n '/sstp_rrda_tunables\[\] = {/,/^}/s/^\t\[SSTP_RRDA_\([A-Z_]*\)\] = { \(.*\) },/\L\1,\2/p' \
	net/sstp/rrda_tunables.c | tr -d '\t ')

# The example in Python has the header's numbers and fields.
python_agrees() {
	local numbers=("${options[@]}" SSTP_GAPS AF_SSTP SOL_SSTP) want got
	{
		printf '#include <%s>\n' stdio.h linux/sstp.h
		echo 'int main(void) {'
		printf 'printf("%%d ", %s);\n' "${numbers[@]}"
		echo 'printf("%zu %zu %zu\n", sizeof(struct sstp_gap), sizeof(struct sstp_info),'
		echo '	sizeof(struct sstp_monitor)); }'
	} > "$work/numbers.c"
	gcc -Iinclude/uapi -o "$work/numbers" "$work/numbers.c" || return
	want=$("$work/numbers"; echo "${info[@]}" | sed 's/ rate / peak average burst_rate burst_len /'
		echo "${monitor[@]}")
	got=$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=examples/python python3 -c '
import sstp, sys
print(*(getattr(sstp, name) for name in sys.argv[1:]), sstp.GAP.size, sstp.INFO.size,
      sstp.MONITOR.size)
print(*sstp.Info._fields)
print(*sstp.Monitor._fields)' "${numbers[@]}")
	[ "$got" = "$want" ] || { printf '%s\n' "$got" "$want"; return 1; }
}
check "examples/python/sstp.py agrees with the header" python_agrees

# Functions that the protocol document points to.
functions() {
	local name missing=0
	while read -r name; do
		grep -qrw -- "$name" net/sstp || { echo "no $name"; missing=1; }
	done < <(grep -ohE '``sstp_[a-z_]+[a-z]\(\)``' "$1" | tr -d '`()' | sort -u)
	return $missing
}
check "functions that sstp-protocol.rst names exist" functions "$protocol"
check "functions that sstp-internals.rst names exist" functions "$internals"
mapfile -t sources < <(grep -ohE '``[a-z_]+\.[ch]``' "$internals" | tr -d '`' | sort -u)
sources_exist() {
	local file missing=0
	for file in "${sources[@]}"; do
		find net include selftests -name "$file" | grep -q . || { echo "no $file"; missing=1; }
	done
	[ "${#sources[@]}" -gt 0 ] && return $missing
}
check "... and its files" sources_exist

files_exist() {
	local file missing=0
	while read -r file; do
		[ -e "$file" ] || { echo "no $file"; missing=1; }
	done < <(grep -oE '\]\([^)h#][^)]*\)' README.md | tr -d '()]')
	return $missing
}
check "the README's links lead somewhere" files_exist

# The version is in net/sstp/version.h; manual pages have it without the last number.
version=$(sed -n 's/^#define SSTP_RELEASE\t"\(.*\)"$/\1/p' net/sstp/version.h)
check "there is a version" grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$' <<< "$version"
# versions FILE PATTERN VERSION: the group of PATTERN matches in FILE, and is always VERSION.
versions() {
	local found
	found=$(sed -nE "s,.*$2.*,\1,p" "$1" | sort -u)
	[ "$found" = "$3" ] || { echo "$1 has $found, not $3"; return 1; }
}
check "version of dkms.conf" versions dkms.conf '^PACKAGE_VERSION="(.*)"' "$version"
check "version of CHANGELOG.md" test "$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md |
	head -n 1)" = "$version"
check "version of the README" versions README.md 'sstp[-/]([0-9]+\.[0-9]+\.[0-9]+)' "$version"
for file in "$man" "$man_run" "$man_tool"; do
	check "version of ${file##*/}" versions "$file" '^\.TH .*"AF_SSTP ([0-9.]+)"' "${version%.*}"
done

man_lint() {
	local out
	out=$(groff -man -Tutf8 -ww -z "$1" 2>&1)
	[ -z "$out" ] || { echo "$out"; return 1; }
	! LC_ALL=C grep -n '[^ -~	]' "$1"
}
for file in "$man" "$man_run" "$man_tool"; do
	if command -v groff > /dev/null; then
		check "${file##*/} is without a warning" man_lint "$file"
	else
		skip "${file##*/} is without a warning" "groff is not installed"
	fi
done

# Find a Python that has docutils.
for python in python3 /usr/bin/python3; do
	"$python" -c 'import docutils' 2> /dev/null && break
	python=
done
rst_parses() {
	"$python" - "$1" <<-'END'
		import sys
		import docutils.core
		with open(sys.argv[1], encoding="utf-8") as f:
		    docutils.core.publish_string(f.read(), sys.argv[1], writer_name="null",
		                                 settings_overrides={"report_level": 2, "halt_level": 2,
		                                                     "traceback": False})
	END
}
for file in "$use" "$protocol"; do
	if [ -n "$python" ]; then
		check "${file##*/} parses" rst_parses "$file"
	else
		skip "${file##*/} parses" "docutils is not installed"
	fi
	check "${file##*/} names its licence" grep -q 'SPDX-License-Identifier: GPL-2.0' "$file"
	check "${file##*/} has no line over 80" sh -c "! expand '$file' | grep -nE '^.{81}'"
done
finish
