#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The scripts in tools/bpftrace print events of a transfer over a lossy path that agree with
# the transfer and with the counters.
# timeout: 1800
# kernels: 6.12
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

scripts=$(cd "$(dirname "$0")/../../../tools/bpftrace" && pwd)
segments=128 rate=20000000
size=$((segments << 16))

command -v bpftrace > /dev/null || skip_all "bpftrace is not there: tools/deps net"
setup_path || skip_all "no network namespaces"
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug

# bpftrace starts a command once all probes are attached, and ends when the command ends.
mkfifo "$work/end"
exec 9<> "$work/end"
cat > "$work/wait" <<-END
	: > $work/\$1.attached
	read -r line < $work/end
END

names=() pids=()
for script in "$scripts"/*.bt; do
	name=$(basename "$script" .bt)
	names+=("$name")
	bpftrace -c "/bin/sh $work/wait $name" "$script" > "$work/$name" 2> "$work/$name.err" &
	pids+=($!)
done
complaints() {
	for name in "${names[@]}"; do
		sed "s/^/# $name: /" "$work/$name.err"
	done
}
attached() { [ "$(find "$work" -name '*.attached' | wc -l)" = ${#names[@]} ]; }
begun() {
	local pid
	attached && return
	for pid in "${pids[@]}"; do
		kill -0 "$pid" || return 0	# it has ended already
	done
	return 1
}
busywait 1500 begun
if ! attached; then
	fail "all scripts begin"
	complaints
	finish
fi
pass "all scripts begin"

counters() { cat <(in_ns "$a" cat /proc/net/sstp_snmp) <(in_ns "$b" cat /proc/net/sstp_snmp); }
impair delay 10ms loss 2% duplicate 1%
counters > "$work/before"
serve -t seqpacket
transfer -t seqpacket -w 64k -s $size --rate $rate "$b4"
check "the transfer" test $? = 0 || explain
busywait 60 sockets_are "$a" 0
busywait 60 sockets_are "$b" 0
counters > "$work/after"

# The kernel skips a BPF program that would interrupt another one on the same CPU: a packet may
# hit a tracepoint while the program of a system call's tracepoint runs. The programs of each
# script count these misses.
for i in "${!names[@]}"; do
	cat "/proc/${pids[i]}/fdinfo"/* 2> /dev/null > "$work/${names[i]}.programs"
done

status=0
for pid in "${pids[@]}"; do echo >&9; done
for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
check "all scripts end" test $status = 0
complaints

# counted NAME: by how much the transfer increased a counter, both ends together
counted() {
	awk -v name="$1" '$1 == name { n += FILENAME ~ /after$/ ? $2 : -$2 } END { print n + 0 }' \
		"$work/before" "$work/after"
}
# value SCRIPT MAP: the value of a map that a script prints at its end
value() { awk -v map="$2" -F': ' '$1 == map { print $2 }' "$work/$1"; }
# samples SCRIPT MAP: the number of samples in a histogram
samples() {
	awk -v map="$2:" '$1 == map { on = 1; next } !/^[[(]/ { on = 0 }
			  on { sub(/^[^)\]]*[)\]]/, ""); n += $1 } END { print n + 0 }' "$work/$1"
}
same() { echo "$1, not $2"; [ -n "$1" ] && [ "$1" = "$2" ]; }
# missed SCRIPT: how often its programs were skipped
missed() { awk '$1 == "recursion_misses:" { n += $2; known = 1 } END { print n + 0; exit !known }' \
	"$work/$1.programs"; }
# saw SCRIPT SEEN COUNTED: SEEN is COUNTED, less events that the script missed.
saw() {
	local n
	n=$(missed "$1") || { echo "what $1 missed is not known"; return 1; }
	echo "$2, not $3, and $n missed"
	[ -n "$2" ] && [ "$2" -le "$3" ] && [ $(($2 + n)) -ge "$3" ]
}
# unless_missed SCRIPT COMMAND...: COMMAND must succeed if the script missed no event.
unless_missed() {
	local n
	n=$(missed "$1") || { echo "what $1 missed is not known"; return 1; }
	[ "$n" = 0 ] || { echo "$1 missed $n"; return 0; }
	shift
	"$@"
}
some() { [ "${1:-0}" -gt 0 ]; }
shown() { sed 's/^/# /' "$work/$1"; }

# Of both ends: "CID PEER ADDRESS > ADDRESS ...", without the time
life() { awk -v event="$1" '$2 == event { $1 = $2 = ""; sub(/^ +/, ""); print }' "$work/life"; }
read -r cid peer from _ to _ < <(life connected)
check "life: connected to port 7000" unless_missed life test "${to##*.}" = 7000
check "life: from $a4" unless_missed life test "${from%.*}" = "::ffff:$a4" -o "${from%.*}" = "$a4"
accepted() { life accepted | grep -qx "$peer $cid $to > $from"; }
check "life: the same, accepted" unless_missed life accepted
# "ACKED RECEIVED" of an end
closed() {
	life closed | sed -nE "s/^$1 $2 $3 > $4 acked ([0-9]+) received ([0-9]+) again [0-9]+ ms [0-9]+ error 0 by (local|peer)$/\1 \2/p"
}
read -r sent got < <(closed "$cid" "$peer" "$from" "$to")
check "life: closed, all was acknowledged" unless_missed life test "${sent:-0}" -ge $size
check "life: closed, all was received" unless_missed life same "$(closed "$peer" "$cid" "$to" "$from")" "$got $sent"
check "life: nothing else" unless_missed life same "$(wc -l < "$work/life")" $((4 + $(grep -vcE ':..:' "$work/life")))
shown life

again=$(counted RetransData)
check "packets were sent again" some "$again"
check "loss: as many were sent again" saw loss "$(value loss '@packets[sent again]')" "$again"
check "loss: no fewer were asked for" \
	unless_missed loss test "$(value loss '@packets[asked for]')" -ge "$again"
check "loss: a histogram of SNAKs, as many as came" \
	saw loss "$(samples loss @asked_for)" "$(counted InSnaks)"
repaired=$(value loss '@packets[repaired]')
check "loss: some repaired, no more than were sent again" \
	test "${repaired:-0}" -gt 0 -a "${repaired:-0}" -le "$again"
# Each of them came alone, as trains are made of first shipments only.
check "loss: the time of each repair" unless_missed loss same "$(samples loss @repair_us)" "$repaired"
# Not before a round trip: 20 ms.
early() { awk '$1 == "@repair_us:" { on = 1; next } on && /^\[[0-9]+[,)]/ { print; exit }' \
	"$work/loss" | grep -E '^\[[0-9]{1,3}[,)]'; }
not() { ! "$@"; }
check "loss: no repair came within a millisecond" not early
shown loss

check "packets were discarded" some "$(counted InDuplicate)"
drops() {
	local name wrong=0 n
	while read -r name; do
		n=$(value drops "@[$name]")
		saw drops "${n:-0}" "$(counted "$name")" || { echo "$name: $n"; wrong=1; }
	done < <(sed -n 's/^\t\[SSTP_MIB_\([A-Z]*\)\].*SKB_DROP.*/\1/p' "$scripts/../../net/sstp/drop.c" |
		 grep -ixFf - <(cut -d ' ' -f 1 "$work/after" | sort -u))
	return $wrong
}
check "drops: each reason as often as its counter says" drops
shown drops

taken=$(value queue @segments)
check "queue: all segments were read" unless_missed queue test "${taken:-0}" -ge $segments
check "queue: the time of each" unless_missed queue same "$(samples queue @wait_us)" "$taken"
shown queue

# Columns: TIME CID RATE AVERAGE PEAK. A second there is one of the trace, which is a
# little later than what the contract is kept by. The first second may show a rate of 0: it
# may end between the first message, of 56 bytes, and the data.
rates() {
	awk -v cid="$cid" -v rate=$((rate / 1000)) '$2 "" == cid "" && NF == 5 {
			if ($3 > rate * 1.02 || $4 != rate || $5 != rate)
				bad = 1
			if (n++ && $3 <= 0)
				bad = 1
			sum += $3
		} END { exit bad || sum <= 0 }' "$work/rate"
}
check "rate: within the contract, which is named" rates
shown rate

# Columns: MS CID POLICY ARRIVED SERVED LACKED V' F ALPHA OLD -> NEW
decided() {
	awk -v cid="$peer" '$3 == "rrda" {
			if ($8 < -1 || $8 > 1 || $9 < 1 || $9 > 1000 || $11 != "->")
				bad = 1
			arrived += $2 "" == cid "" ? $4 : 0
			grow += $12 > $10; shrink += $12 < $10; stay += $12 == $10
			n++
		} END { print n, grow + 0, shrink + 0, stay + 0; exit bad || !n || !arrived }' \
		"$work/rrda"
}
check "rrda: decisions, of the receiver too" decided
counts() {
	local n grow shrink stay what
	read -r n grow shrink stay < <(decided)
	for what in grow shrink stay; do
		same "$(value rrda "@decisions[$what]" | grep . || echo 0)" "${!what}" || return
	done
	[ "$grow" -le "$(counted RbufGrown)" ] && [ "$shrink" -le "$(counted RbufShrunk)" ]
}
check "rrda: as many as it counts, no more than changed" unless_missed rrda counts
shown rrda
finish
