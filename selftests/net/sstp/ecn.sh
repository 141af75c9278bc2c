#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Explicit congestion notification: queues on the path mark packets in place of dropping them, every
# mark is reported, dctcp keeps queues short, and a path that changes marks makes the sender give
# them up. In simulated time.
# timeout: 600
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

[ -e "$SSTP_MODULE_DIR/sstp-ctrl-dctcp.ko" ] || skip_all "no modules of controllers were built"
setup_path || skip_all "no network namespaces"
PATH=$SSTP_BIN:$PATH
command -v sstp > /dev/null || skip_all "the sstp command was not built"
check "dctcp loads" insmod "$SSTP_MODULE_DIR/sstp-ctrl-dctcp.ko"

# queue QDISC...: b is behind a link of 50 Mbit/s, whose queue is QDISC, and 5 ms away.
queue() {
	impair delay 5ms
	tc -n "$r" qdisc del dev "to-$b" root
	tc -n "$r" qdisc add dev "to-$b" root handle 1: htb default 1 &&
	tc -n "$r" class add dev "to-$b" parent 1: classid 1:1 htb rate 50mbit quantum 1514 &&
	tc -n "$r" qdisc add dev "to-$b" parent 1:1 handle 2: "$@"
}
# mangle [ECN]: sets the ECN field of all packets of a to a number, from 0 to 3; without it, of none.
mangle() {
	tc -n "$r" qdisc del dev "to-$a" clsact 2>/dev/null
	[ $# -gt 0 ] || return 0
	tc -n "$r" qdisc add dev "to-$a" clsact &&
	tc -n "$r" filter add dev "to-$a" ingress protocol ip matchall \
		action pedit ex munge ip dsfield set "$1" retain 3 pipe action csum ip
}

family=-4
counters="EcnMarked EcnBleached EcnAllMarked EcnDropped EcnInvalid RetransData OutData"
declare -A had
start() { local c; for c in $counters; do had[$c]=$(counter "$a" $c); done; had[in]=$(counter "$b" InEcnMarked); }
grew() { echo $(($(counter "$a" "$1") - had[$1])); }
is() { [ "$(grew "$1")" -eq "$2" ]; }
least() { [ "$(grew "$1")" -ge "$2" ]; }
# Every mark that came was reported.
came() { echo $(($(counter "$b" InEcnMarked) - had[in])); }
told() { is EcnMarked "$(came)"; }
# The last report may be on its way, or lost and sent again, when the programs have ended.
all_told() { busywait 10 told || { note "$(came) marks came, $(grew EcnMarked) told"; return 1; }; }
none_lost() { is RetransData 0; }
works() { local c; for c in EcnBleached EcnAllMarked EcnDropped EcnInvalid; do is "$c" 0 || return; done; }
# move NAME OPTIONS...: a transfer, checked
move() {
	local name=$1
	shift
	start
	moved() { serve $family; transfer "$@" || { explain; return 1; }; }
	check "$name" moved "$@"
}

# --- without the sysctl
queue fq_codel target 2ms interval 20ms ecn limit 1000
move "newreno moves data" --controller newreno -s 20M "$b4"
check "without net.sstp.ecn no queue may mark it" is EcnMarked 0
check "so packets are lost" least RetransData 1

# --- with it
in_ns "$a" sysctl -qw net.sstp.ecn=1
for v in 4 6; do
	to=$b4
	[ "$v" = 4 ] || to=$b6
	family=-$v
	move "newreno moves data with ECN over IPv$v" --controller newreno -s 20M "$to"
	check "the queue marks it" least EcnMarked 3
	check "each mark is reported" all_told
	check "and no packet is lost" none_lost
	check "ECN works" works
done
family=-4
offloads on
move "the same in trains" --controller newreno -s 20M "$b4"
check "the queue marks it" least EcnMarked 3
check "each mark is reported" all_told
check "ECN works" works
offloads off

# --- dctcp, which needs no sysctl
in_ns "$a" sysctl -qw net.sstp.ecn=0
queue fq_codel limit 1000 target 100ms ce_threshold 2ms ecn
serve
start
transfer_begin --controller dctcp -s 60M "$b4"
longest=0 samples=0
marks() { [ "$(grew EcnMarked)" -ge 100 ]; }
check "dctcp is told of marks" busywait 10 marks
while kill -0 "$client" 2>/dev/null; do
	now=$(tc -n "$r" -s qdisc show dev "to-$b" | sed -n 's/.*backlog [0-9]*b \([0-9]*\)p.*/\1/p' | tail -n 1)
	[ "${now:-0}" -le "$longest" ] || longest=$now
	samples=$((samples + 1))
	sleep 0.05
done
wait "$client"
check "dctcp moves data" test $? = 0
note "queue: $longest packets at most in $samples samples, $(grew EcnMarked) marks, $(field seconds) s"
check "the queue was looked at" test "$samples" -ge 50
# The threshold is 8 packets. A round trip has 42, and newreno's queue up to as many.
check "the queue stays short" test "$longest" -le 25
check "no packet is lost" none_lost
check "each mark is reported" all_told
rate() { awk -v is="$(field seconds)" 'BEGIN { rate = 60 * 8.388608 / is; print "# " rate " Mbit/s"; exit rate < 42 }'; }
check "the path is used" rate

# --- more flows than the path has room for: their smallest windows keep the queue above the
# threshold, all of their packets are marked, and that is no reason to give ECN up
serve -n 64
start
move_all() { transfer --controller dctcp -n 64 -s 1M --no-check "$b4" || { explain; return 1; }; }
check "64 flows of dctcp move data" move_all
note "$(grew EcnMarked) of $(grew OutData) packets marked, $(grew EcnAllMarked) flows gave up"
most_marked() { [ $(($(grew EcnMarked) * 10)) -ge $(($(grew OutData) * 9)) ]; }
check "nearly all of it is marked" most_marked
check "each mark is reported" all_told
check "ECN works" works

# --- red marks as well; a lost report costs no mark. The last reports are not lost: if they were,
# the receiver's CLOSE could come in their place, which acknowledges the data but tells of no marks.
queue red limit 300000 min 15000 max 45000 avpkt 1500 burst 20 bandwidth 50mbit probability 0.1 ecn
tc -n "$r" qdisc del dev "to-$a" root
tc -n "$r" qdisc add dev "to-$a" root netem delay 5ms loss 50%
serve
start
transfer_begin --controller dctcp -s 20M "$b4"
check "dctcp is told of marks where half of the reports are lost" busywait 10 marks
tc -n "$r" qdisc replace dev "to-$a" root netem delay 5ms loss 0%
wait "$client"
check "it moves data" test $? = 0
check "each mark is reported" all_told
check "ECN works" works

# --- paths that change the field
queue fq_codel limit 1000 target 100ms ce_threshold 1ms ecn
mangle 0
move "data moves where ECT is bleached" --controller dctcp -s 10M "$b4"
check "ECN is given up" is EcnBleached 1
check "no mark is reported" is EcnMarked 0
mangle 1
move "data moves where ECT(0) becomes ECT(1)" --controller dctcp -s 10M "$b4"
check "ECN is given up" is EcnBleached 1
mangle 3
move "data moves where all packets are marked" --controller dctcp -s 10M "$b4"
check "ECN is given up" is EcnAllMarked 1
mangle

# The path changes while data moves, and an event tells it.
in_ns "$a" sstp monitor -j > "$work/events" &
monitor=$!
serve
start
transfer_begin --controller dctcp -s 40M "$b4"
check "marks come" busywait 10 least EcnMarked 100
check "the connection shows them" sh -c "ip netns exec $a sstp show -i | grep -q 'ecn:used marked:'"
mangle 0
check "the path begins to bleach: ECN is given up" busywait 10 is EcnBleached 1
check "and the connection says so" sh -c "ip netns exec $a sstp show -i | grep -q 'ecn:bleached'"
wait "$client"
check "data goes on" test $? = 0
check "an event says so" busywait 5 grep -q '"ecn-failed"' "$work/events"
kill "$monitor"
mangle

# A path that drops packets with ECT.
drops() {
	tc -n "$r" qdisc add dev "to-$a" clsact
	tc -n "$r" filter add dev "to-$a" ingress protocol ip flower ip_tos 2/3 action drop
}
drops
move "data moves where packets with ECT are dropped" --controller dctcp -s 5M "$b4"
check "ECN is given up" is EcnDropped 1
mangle
serve
start
transfer_begin --controller dctcp -s 20M "$b4"
check "marks come" busywait 10 least EcnMarked 10
drops
wait "$client"
check "data goes on when the path begins to drop packets with ECT" test $? = 0 || explain
check "ECN is given up" is EcnDropped 1
mangle
finish
