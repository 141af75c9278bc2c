#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Controllers in BPF: they load, move data, and unload while connections have them; what does not
# fit is refused by its name; and senseless ones hurt their own connections only. Where the
# kernel has no struct_ops of modules, the module says so.
# timeout: 1800
# kernels: uml 6.12 stock
# append: slub_debug=FZPU page_poison=1
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

command -v sstp > /dev/null || skip_all "the sstp command is not there: tools/sstp"
programs=$SSTP_BIN/bpf
[ -e "$programs/newreno.bpf.o" ] ||
	skip_all "no programs: clang or the headers of libbpf are missing (tools/deps bpf)"
sstp ctrl load /dev/null 2>&1 | grep -q "built without" &&
	skip_all "the sstp command was built without libbpf 1.0 or newer (tools/deps bpf)"
lack=$(cat /sys/kernel/sstp/bpf)
pins=/sys/fs/bpf/sstp

load() { local f; for f; do sstp ctrl load "$programs/$f.bpf.o" || return; done; }
# refused TEXT COMMAND...: COMMAND fails with a message that has TEXT.
refused() {
	local text=$1
	shift
	"$@" > "$work/refused" 2>&1 && return 1
	grep -qF -- "$text" "$work/refused" || { cat "$work/refused"; return 1; }
}

if [ "$lack" != yes ]; then
	note "$lack"
	# Linux 6.12 with a JIT and BTF has all of it.
	here() {
		[ -e /sys/kernel/btf/vmlinux ] && [ -e /proc/sys/net/core/bpf_jit_enable ] &&
			printf '%s\n' 6.12 "$(uname -r)" | sort -VC
	}
	check "a kernel that has struct_ops of modules is used" eval '! here'
	check "what the kernel lacks is said" refused "no controllers in BPF: $lack" load newreno
	check "controllers are listed" eval 'sstp ctrl | grep -q "^hybrid  *controller  *module$"'
	check "in sysfs, too" grep -qx "controller hybrid c" /sys/kernel/sstp/plugins
	finish
fi

setup_path || skip_all "no network namespaces"

# --- they load
builtin=$(sstp ctrl | wc -l)
all=()
for file in "$programs"/../bpf/*.bpf.o; do
	name=$(basename "$file" .bpf.o)
	[ ! -e "$(dirname "$0")/bpf/$name.bpf.c" ] && all+=("$name")
done
for name in "${all[@]}"; do
	check "$name loads" load "$name"
done
check "it is told what is BPF, and whose" eval \
	'sstp ctrl | grep -q "^bpf-newreno  *controller  *bpf  *[1-9][0-9]*  *0  *sstp$"'
json() {
	sstp ctrl -j | python3 -c 'import json, sys
d = {c["name"]: c for c in json.load(sys.stdin)}
assert not d["hybrid"]["bpf"]
assert d["bpf-newreno"]["bpf"] and d["bpf-newreno"]["link"] and not d["bpf-newreno"]["uid"]
assert d["bpf-newreno"]["comm"] == "sstp"'
}
check "and as JSON" json
plugins=/sys/kernel/sstp/plugins
# listed LINE: sysfs has LINE.
listed() { grep -qxF -- "$1" $plugins || { cat $plugins; return 1; }; }
check "sysfs tells it, too" listed "controller bpf-newreno bpf 0 0 sstp"
check "and of a policy" listed "policy bpf-grow bpf 0 0 sstp"
check "and what is in C" eval 'listed "controller hybrid c" && listed "policy rrda c"'
# A program whose name has bytes that end a line, a string of JSON, or control a terminal
hostile() {
	local name=$'x\ny z\e"\\\xe9'
	ln -s "$(command -v sstp)" "$work/$name" && sstp ctrl unload bpf-newreno &&
		! grep -F bpf-newreno $plugins &&
		"$work/$name" ctrl load "$programs/newreno.bpf.o" &&
		listed 'controller bpf-newreno bpf 0 0 x?y z?"\?' &&
		sstp ctrl | grep -q '^bpf-newreno .* 0  *x?y z?"\\?$' &&
		sstp ctrl -j | python3 -c 'import json, sys
assert "x?y z?\"\\?" in [c.get("comm") for c in json.load(sys.stdin)]'
}
check "what a program calls itself breaks no line" hostile
check "a name that is taken is refused" refused "is registered already" load newreno
in_use() { ! rmmod sstp 2> /dev/null; }
check "the module stays while they are loaded" in_use

# --- they move data
has() { in_ns "$1" sstp show -i | grep -qw -- "$2"; }
moves() {
	serve
	transfer --controller "$1" -u -d -s 2M "$b4" || { explain; return 1; }
}
impair delay 2ms rate 200mbit loss 0.1%
for name in "${all[@]/#grow}"; do
	[ -z "$name" ] || check "bpf-$name moves data where packets are lost" moves "bpf-$name"
done

# --- one goes while a connection has it: a slow one, until it has gone
# send CLIENT OPTIONS...: begins to send, until sent.
send() { transfer_begin --for 250 -T 300 "$@" "$b4"; }
# Send no more, fast: is all of it there?
sent() {
	kill "$client"
	impair
	wait "$client"
}
impair delay 2ms rate 1mbit
serve -T 300
send --controller bpf-scalable
goes() {
	busywait 20 has "$a" bpf-scalable &&
		in_ns "$a" sstp set state established controller.a 20 &&
		sstp ctrl unload bpf-scalable && ! has "$a" bpf-scalable && has "$a" hybrid
}
check "one goes while a connection has it, which gets the default" goes
sent
check "its data arrives" test $? = 0
named() {
	in_ns "$a" sysctl -qw net.sstp.controller=bpf-newreno &&
	in_ns "$b" "$xfer" server -P sstp --controller bpf-newreno --background --pid "$work/pid" \
		--json "$work/server" -n 2 > "$work/server.out" 2>&1 &&
	transfer -s 10k "$b4" && sstp ctrl unload bpf-newreno &&
	[ "$(in_ns "$a" sysctl -n net.sstp.controller)" = hybrid ] &&
	transfer -s 10k "$b4" || { explain; return 1; }
}
check "who names one that went, by sysctl or listener, gets the default" named
check "one that is not there cannot be unloaded" refused "no such link" \
	sstp ctrl unload bpf-newreno

# --- a policy
impair delay 2ms rate 1mbit
serve -T 300 --policy bpf-grow
send
policy() {
	busywait 20 has "$b" bpf-grow &&
		busywait 20 eval 'in_ns "$b" sstp show -i | grep -q "need:[1-9]"' &&
		sstp ctrl unload bpf-grow && has "$b" rrda
}
check "a policy goes while a connection has it, which gets the default" policy
sent
check "and its data arrives" test $? = 0

# --- groups, checked parameters, totals: what plug-ins in C have as well
check "one with a group loads" load group
impair delay 2ms
serve -T 300 -n 2
send --controller group
other=$client
send --controller group
# rates RATE N: N connections have a group that allows RATE, and count what they do.
rates() {
	[ "$(in_ns "$a" sstp show -i | grep -c "rate:$1 sent:[1-9][0-9]* reports:[1-9]")" = "$2" ]
}
check "its members share what it says for each" busywait 60 rates 2000000 2
values() { in_ns "$a" sstp set state established "$@"; }
contradict() { ! values controller.least 5 && values controller.most 10 &&
	values controller.least 5 && ! values controller.least 11 && values controller.least 10; }
kill "$other"
wait "$other"
check "what is left is shared by the others" busywait 60 rates 1000000 1
check "values that contradict each other are refused" contradict
check "it goes while a group has members" sstp ctrl unload group
sent
check "the data arrives" test $? = 0

# --- the page for those who write one: the program, and the commands of its sections
top=$(readlink -f "$(dirname "$0")/../../..")
page=$top/Documentation/networking/sstp-bpf.rst
# block SECTION [N]: prints literal block N in SECTION, the first by default.
block() {
	awk -v section="$1" -v wanted="${2:-1}" '
		/^[=]+$/ { on = before == section }
		/^$/ || /^  / { if (literal && n == wanted) text = text substr($0, 3) "\n" }
		/^[^ ]/ { literal = 0 }
		/::$/ && on { literal = 1; n++ }
		{ before = $0 }
		END { printf "%s", text }' "$page"
}
# follow DIRECTORY NAMESPACE BLOCK: runs the commands of BLOCK as they are, with what they installed
follow() {
	local path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	(cd "$1" && env "PATH=$path" ${2:+ip netns exec "$2"} \
		bash -ec "sudo() { \"\$@\"; }; $(block "${@:3}")")
}
takes() { [ "$(follow "$work" "" "What it takes" 1)" = yes ]; }
check "the page: this kernel has what it takes" takes
# Make finds the programs built, of the same sources: to compile takes minutes here.
built() {
	mkdir -p "$top/build/sstp" "$top/build/sstp-run" &&
		cp "$SSTP_BIN"/sstp{,-plot} "$top/build/sstp" &&
		cp "$SSTP_BIN"/{sstp-run,libsstp-preload.so} "$top/build/sstp-run"
}
check "the page: the commands are built" built
check "the page: they are installed" follow "$top" "" "What it takes" 2
block Write > "$work/mine.bpf.c"
check "the page: its controller loads" follow "$work" "" Load
impair delay 2ms rate 1mbit
serve -T 300
send
busywait 20 has "$a" hybrid
use() { follow "$work" "$a" Use > "$work/use" && grep -q "mine:(packets:40" "$work/use"; }
check "the page: a live connection gets it, and a parameter" use
check "the page: it goes" follow "$work" "" Unload
sent
check "the page: the data arrives" test $? = 0

# --- what says senseless things: one sends slowly, so begin now
check "hostile ones load" load hostile
serve -T 600 --controller h-any
transfer_begin -T 600 --controller h-any -u -d -s 20k "$b4"
any=$client

# --- what does not fit
check "a member that the module does not have is named" \
	refused "has no sstp_ctrl_sample.later" load later_member
check "so is a callback" refused "struct sstp_ctrl_ops has no on_later" load later_callback
check "and one with other arguments" refused "sstp_ctrl_ops.init is of another type" load other_type
check "a sample cannot be written" refused "only the outputs" load write_sample
check "nor can parameters" refused "no output at offset" load write_param
check "nor can a member of a group" refused "only the outputs" load write_member
check "nor can values that are checked" refused "only the outputs" load write_values
check "nor can the number of members" refused "no output at offset" load write_group
check "a member that is not there has no rate" refused "Possibly NULL pointer passed" \
	load no_member
check "a callback of a connection has no group" \
	refused "expected pointer to STRUCT sstp_group" load wrong_context
check "a controller that reacts to nothing is refused" refused "neither on_ack" load no_reaction
check "so is one program as two callbacks" refused "program init is of two callbacks" \
	load two_callbacks
check "so is a name that no file there may have" refused "'1.0' must not have '.'" load dot
check "and cannot be unloaded" refused "'1.0' is not the name" sstp ctrl unload 1.0
check "what is no program is refused" refused "not an object file for BPF" sstp ctrl load /bin/true
# Let all relocations be of the section with the operations.
twice() {
	python3 - "$programs/newreno.bpf.o" "$work/twice.bpf.o" <<-'END' &&
		import struct, sys
		d = bytearray(open(sys.argv[1], "rb").read())
		at, count, names = *struct.unpack_from("<Q", d, 40), *struct.unpack_from("<HH", d, 60)
		text = struct.unpack_from("<Q", d, at + names * 64 + 24)[0]
		sections = [(i, *struct.unpack_from("<II", d, at + i * 64)) for i in range(count)]
		own = [i for i, name, _ in sections
		       if d[text + name:].startswith(b".struct_ops.link\0")]
		rel = [i for i, _, kind in sections if kind == 9]
		assert len(own) == 1 and len(rel) > 1
		for i in rel:
		    struct.pack_into("<I", d, at + i * 64 + 44, own[0])
		open(sys.argv[2], "wb").write(d)
	END
		sstp ctrl load "$work/twice.bpf.o"
}
check "so is one whose operations are relocated twice" refused "two sections of relocations" twice
# without CAPABILITIES COMMAND...: CAPABILITIES are -name,...
without() { setpriv "--bounding-set=$1" "--inh-caps=$1" "${@:2}"; }
for capability in sys_admin net_admin; do
	check "without $capability none loads, and it is said what that takes" \
		refused "without CAP_SYS_ADMIN and CAP_NET_ADMIN" \
		without "-$capability" sstp ctrl load "$programs/newreno.bpf.o"
done
enough() { without -bpf,-perfmon sstp ctrl load "$programs/newreno.bpf.o" &&
	sstp ctrl unload bpf-newreno; }
check "it takes no other" enough

# --- the senseless ones
ended() { [ "$1" = 0 ] || { explain; return 1; }; }
wait "$any"
check "h-any moves data" ended $?
senseless() {
	serve -T 600 --controller "$1"
	transfer -T 600 --controller "$1" -u -d -s "$2" "$b4" || { explain; return 1; }
}
check "h-zero moves data" senseless h-zero 20k
check "h-most moves data" senseless h-most 4k
# One beside it goes on. The hostile one leaves much that is not sent.
check "those before have ended" busywait 60 sockets_are "$a" 0
serve -T 900 --controller h-any -n 2
transfer_begin --controller h-any -s 100M -T 600 "$b4"
hostile=$client
# Its check of parameters takes one value only, 1 << 31. The client may have written all that it
# has, and closed its socket: any state but LISTEN will do.
fits() {
	local value set=(in_ns "$a" sstp set dport 7000 controller.one)
	for value in 1 4294967295; do
		busywait 20 refused "values contradict" "${set[@]}" "$value" || return
	done
	"${set[@]}" 2147483648
}
check "what is no 0 refuses its parameters" fits
beside() { transfer -T 600 -s 10M "$b4" || { explain; return 1; }; }
check "one beside it moves data" beside
{ kill -9 "$hostile"; wait "$hostile"; } 2> /dev/null
# The server is there still, so it has reset nothing.
check "a connection whose process has ended still has it" has "$a" h-any
stop_server
check "the hostile ones unload" sstp ctrl unload h-zero h-most h-any
check "which ends what they held up" busywait 60 sockets_are "$a" 0

# --- sockets that name one which goes before they are used
check "newreno loads once more" load newreno
names() {
	local line
	coproc python3 "$(dirname "$0")/bpf_names.py" bpf-newreno
	read -r -u "${COPROC[0]}" line && [ "$line" = named ] || return
	sstp ctrl unload bpf-newreno || return
	echo >&"${COPROC[1]}"
	read -r -u "${COPROC[0]}" line && echo "# $line" && [ "$line" = "hybrid hybrid" ]
}
check "sockets that name what is gone have the default" names

# --- again and again
check "newreno loads again" load newreno
times=${SSTP_BPF_TIMES:-10}
check "100 connections move data while their controller goes $times times" \
	bpf_cycle bpf-newreno "$times" 100

settle
rest=$(ls $pins)
# shellcheck disable=SC2086 # names
check "the others unload" sstp ctrl unload $rest
check "none is left" test "$(sstp ctrl | wc -l)" = "$builtin"
check "nor in sysfs" eval '! grep -w bpf $plugins'
unloaded() { rmmod sstp; }
check "the module unloads" busywait 90 unloaded
check "and loads" insmod "$SSTP_MODULE_DIR/sstp.ko"
finish
