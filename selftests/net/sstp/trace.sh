#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All tracepoints exist, name the connection, and are hit in transfers over a lossy path as
# often as the counters say.
# timeout: 900
# quick: yes
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

tracing=/sys/kernel/tracing
events=$tracing/events/sstp
# In this tree, or in a kernel's; nowhere if the tests were installed without it.
header=$(find "$(dirname "$0")"/../../../{.,../..}/include/trace/events/sstp.h 2> /dev/null)

mountpoint -q $tracing || mount -t tracefs tracefs $tracing || skip_all "no tracefs"
[ -d $tracing/events ] || skip_all "this kernel has no events"
setup_path || skip_all "no network namespaces"
off() { echo 0 > $events/enable; echo > $tracing/trace; }
trap 'off; settle; cleanup; rm -rf "$work"' EXIT

there() { (cd $events && printf '%s\n' */) | tr -d / | sort; }
these() { there | diff - <(printf '%s\n' "${names[@]}"); }
if [ -n "$header" ]; then
	mapfile -t names < <(sed -n 's/^TRACE_EVENT(\(sstp_[a-z_]*\),$/\1/p
				     s/^DEFINE_EVENT([a-z_]*, \(sstp_[a-z_]*\),$/\1/p' \
				"$header" | sort)
	check "the kernel has exactly the header's events" these
else
	mapfile -t names < <(there)
	skip "the kernel has exactly the header's events" "the header is not there"
fi
check "these are many" test "${#names[@]}" -ge 15
whose() {
	local name field
	for name in "${names[@]}"; do
		for field in cid peer_cid sport dport 'saddr\[16\]' 'daddr\[16\]'; do
			grep -q "field:.* $field;" "$events/$name/format" ||
				{ echo "$name has no $field"; return 1; }
		done
	done
}
check "each names the connection" whose

# lossy OPTIONS...: a transfer over a path as in path_options
lossy() {
	impair "${path_options[@]}"
	serve -t seqpacket "${server_options[@]}"
	transfer -t seqpacket -w 64k "$@" "$b4" || { explain; return 1; }
	impair
	busywait 60 sockets_are "$a" 0
	busywait 60 sockets_are "$b" 0
}
# The buffer must hold all events, as lost ones cannot be compared.
counters() { cat <(in_ns "$a" cat /proc/net/sstp_snmp) <(in_ns "$b" cat /proc/net/sstp_snmp); }
echo 32768 > $tracing/buffer_size_kb
echo > $tracing/trace
echo 1 > $events/enable
counters > "$work/before"
server_options=()
# A path that any machine fills
path_options=(delay 5ms rate 2mbit limit 5)
check "a transfer with a contract beyond the path" lossy -s 800k --rate 10000000
path_options=(delay 5ms loss 3% duplicate 2%)
check "a transfer with a contract" lossy -s 4M --rate 50000000
check "a transfer without" lossy -s 2M
# More arrives than is read, so that the buffer grows, however fast the machine is.
server_options=(--pool --read-rate 10000000)
check "a transfer to a shared buffer" lossy -s 2M --rate 50000000
counters > "$work/after"
echo 0 > $events/enable
cat $tracing/trace > "$work/trace"
overrun() { ! grep -h '^overrun:' $tracing/per_cpu/cpu*/stats | grep -v ': 0$'; }
check "no event was lost" overrun
for name in "${names[@]}"; do
	check "$name is hit" grep -q " $name: cid=" "$work/trace"
done

counted() {
	awk -v name="$1" '$1 == name { n += FILENAME ~ /after$/ ? $2 : -$2 } END { print n + 0 }' \
		"$work/before" "$work/after"
}
# hits EVENT [FIELD [REGEXP]]: prints the number of events, or the sum of a field.
hits() {
	awk -v event=" $1: " -v field="${2:-}=" -v only="${3:-}" 'index($0, event) && $0 ~ only {
			if (field == "=") { n++; next }
			for (i = 1; i <= NF; i++)
				if (index($i, field) == 1)
					n += substr($i, length(field) + 1)
		} END { print n + 0 }' "$work/trace"
}
same() { echo "$1, not $2"; [ "$1" -gt 0 ] && [ "$1" = "$2" ]; }
check "sstp_retransmit: RetransData" same "$(hits sstp_retransmit)" "$(counted RetransData)"
check "sstp_ship: OutData and RetransData" same "$(hits sstp_ship packets)" \
	$(($(counted OutData) + $(counted RetransData)))
check "sstp_snak_rcv: InSnaks" same "$(hits sstp_snak_rcv)" "$(counted InSnaks)"
check "sstp_ctrl: InPacks and InSnaks" same "$(hits sstp_ctrl '' ' timeout=0 ')" \
	$(($(counted InPacks) + $(counted InSnaks)))
check "sstp_rbuf_limit: RbufGrown and RbufShrunk" same "$(hits sstp_rbuf_limit)" \
	$(($(counted RbufGrown) + $(counted RbufShrunk)))
check "sstp_state: Established" same "$(hits sstp_state '' newstate=ESTABLISHED)" \
	"$(counted Established)"
children() { grep ' newstate=SYN_RECV' "$work/trace" | grep -q . &&
	! grep ' newstate=SYN_RECV' "$work/trace" | grep 'cid=00000000'; }
check "sstp_state: children have CIDs from the first" children
check "sstp_closed: each of these" same "$(hits sstp_closed '' 'error=0 by=(local|peer) ')" \
	"$(counted Established)"
check "sstp_segment_ready: all that came" same "$(hits sstp_segment_ready len)" \
	"$(hits sstp_closed received)"
check "sstp_segment_read: all of it" same "$(hits sstp_segment_read len)" \
	"$(hits sstp_segment_ready len)"
check "sstp_repair: no more than were sent again" test "$(hits sstp_repair fresh)" -le \
	"$(counted RetransData)"
check "sstp_drop: InDuplicate" same "$(hits sstp_drop count reason=InDuplicate)" \
	"$(counted InDuplicate)"
check "a shared buffer's decision" grep -q "sstp_rbuf_epoch: .* policy=rrda .* surplus=-\?[0-9]* trend=-\?[01] .* shared=1" \
	"$work/trace"
check "a contract" grep -q "sstp_rate: .* peak=50000000 average=50000000 " "$work/trace"

nstat_reads() {
	local dir=$work lines
	lines=$(in_ns "$b" env "NSTAT_HISTORY=$dir/nstat" PROC_NET_SNMP=/dev/null \
		PROC_NET_SNMP6=/dev/null PROC_NET_NETSTAT=/dev/null \
		PROC_NET_SCTP_SNMP=/proc/net/sstp_snmp nstat -az | sed 1d | awk '{ print $1, $2 }')
	in_ns "$b" awk '{ print $1, $2 }' /proc/net/sstp_snmp | diff - <(echo "$lines")
}
check "nstat reads the counters" nstat_reads

# Drops without a connection: no listener, or no valid packet
echo > $tracing/trace
echo 1 > $events/sstp_drop/enable
transfer "$b4"
in_ns "$a" bash -c "printf nonsense-nonsense > /dev/udp/$b4/25719"
hit() { grep -q "$1" $tracing/trace; }
check "sstp_drop: of nobody's, whose it was" busywait 60 hit \
	"sstp_drop: .*:$b4.0 > .*:$a4.0 reason=InNoPort count=1"
check "sstp_drop: of no packet, the same" busywait 60 hit \
	"sstp_drop: cid=6e6f6e73 peer=00000000 .*:$a4.0 reason=InErrType count=1"
finish
