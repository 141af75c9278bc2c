#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every byte arrives, once, in order, whatever the path does to packets: loss,
# order, duplicates, damage, jitter, another MTU, no link for a while.
#
#   integrity.sh [-n RANDOM CASES] [-S SEED] [-P tcp]
#
# timeout: 900
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

cases=4 seed=$(($(date +%s%N) % 32768))
while getopts n:S:P: option; do
	case $option in
	n) cases=$OPTARG ;;
	S) seed=$OPTARG ;;
	P) proto=$OPTARG ;;	# to see that the test itself is sound
	*) sed -n '3,6s/^# *//p' "$0" >&2; exit 2 ;;
	esac
done
note "seed $seed (replay with -S $seed)"
RANDOM=$seed

target() { [ "$1" = 6 ] && echo "$b6" || echo "$b4"; }

# attempt FAMILY TYPE CONNECTIONS OPTIONS...: server and client together
attempt() {
	local family=$1 type=$2 n=$3 status
	shift 3
	[ "$proto" = sstp ] || type=stream
	serve "-$family" -t "$type" -n "$n" "${server_options[@]}" || return
	transfer -t "$type" -n "$n" -S "$content" "$@" "$(target "$family")"
	status=$?
	[ "$status" = 0 ] || stop_server
	return "$status"
}

# one NAME NETEM FAMILY TYPE CONNECTIONS OPTIONS...
server_options=()
one() {
	local name=$1 netem=$2 content=$((RANDOM + 1))
	shift 2
	# shellcheck disable=SC2086 # words
	if impair $netem && attempt "$@"; then
		pass "$name"
	else
		fail "$name" "netem ${netem:-none}; seed $content; $*"
		explain
	fi
	server_options=()
}

# hasten RATE: both directions have it from now on, and keep what is queued
hasten() {
	local to
	for to in "$a" "$b"; do
		tc -n "$r" qdisc change dev "to-$to" root netem rate "$1" limit 10000 || return
	done
}

# disturbed NAME BYTES FAMILY TYPE COMMAND...: COMMAND runs after BYTES. Until then the line is
# slow, so that a machine that takes seconds to notice BYTES is not too late.
write=100k
disturbed() {
	local name=$1 bytes=$2 family=$3 type=$4 start content=$((RANDOM + 1))
	shift 4
	[ "$proto" = sstp ] || type=stream
	impair rate 5mbit limit 10000
	start=$(passed)
	if ! serve "-$family" -t "$type"; then
		fail "$name" "no server"
		return
	fi
	transfer_begin -t "$type" -s 8M -w "$write" -S "$content" \
		"$(target "$family")"
	busywait 30 passed_more $((start + bytes))
	if ! kill -0 "$client" 2>/dev/null; then
		fail "$name" "over before it was disturbed"
		return
	fi
	"$@"
	hasten 20mbit || kill "$client"
	if wait "$client"; then
		pass "$name"
	else
		fail "$name" "seed $content"
		explain
		stop_server
	fi
}

# To smaller packets and back, as a change of route would
mtu_both() {
	ip -n "$r" link set "to-$b" mtu "$1"
	ip -n "$b" link set "to-$r" mtu "$1"
}
shrink() {
	local now
	mtu_both 1300
	now=$(passed)
	busywait 20 passed_more $((now + 2000000))
	mtu_both 1500
	ip -n "$a" route flush cache
}
# Below IP: the last link takes no more, nobody is told, no router fragments.
swallow() {
	ip -n "$b" link set "to-$r" mtu 1300
}
heal() {
	ip -n "$b" link set "to-$r" mtu 1500
	ip -n "$a" route flush cache
	ip -n "$a" -6 route flush cache
}
unplug() {
	ip -n "$r" link set "to-$b" down
	sleep 5		# what is tested, nothing is waited for
	ip -n "$r" link set "to-$b" up
	# The address and routes went with the link.
	ip -n "$r" -6 addr replace fd00:10:0:2::1/64 nodad dev "to-$b"
}

setup_path || skip_all "no network namespaces"

frames() { in_ns "$r" cat "/sys/class/net/to-$b/statistics/tx_packets"; }
# trains_since BYTES FRAMES: more than packets went to b since there were so many
trains_since() { [ $((($(passed) - $1) / ($(frames) - $2))) -gt 3000 ]; }

# Datagrams and trains of IPv4 that b received
delivered() { in_ns "$b" awk '$1 == "Ip:" { n = $10 } END { print n }' /proc/net/snmp; }
# joined_since PACKETS TRAINS: packets came in trains since there were so many
joined_since() { [ $((($(counter "$b" InPkts) - $1) / ($(delivered) - $2))) -gt 3 ]; }

one "1 byte, stream" "" 4 stream 1 -s 1
one "1 byte, segment" "" 6 seqpacket 1 -s 1
one "16 MB, stream" "" 6 stream 1 -s 16M
one "16 MB, segments of 1 MB" "" 4 seqpacket 1 -s 16M -w 1M
one "16 MB, one segment" "" 4 seqpacket 1 -s 16M -w 16M
# Devices that cut trains pass whole ones, and lose whole ones.
offloads on
bytes=$(passed) frames=$(frames)
one "trains of a stream" "" 4 stream 1 -s 8M
check "there were trains" trains_since "$bytes" "$frames"
one "trains of segments" "" 6 seqpacket 1 -s 8M -w 1M
one "trains of random segments, both ways" "" 4 seqpacket 4 -s 1M -w 50000 -R -u -d
one "trains lost" "loss 2% delay 1ms" 6 seqpacket 2 -s 2M -w 300k
one "trains out of order, and twice" "delay 5ms 3ms duplicate 10%" 4 stream 2 -s 2M
# Devices send single packets, of which those that receive make trains: GRO chains what does not fit
# into one skb.
offloads off on
packets=$(counter "$b" InPkts) trains=$(delivered)
one "packets joined, a stream" "" 4 stream 1 -s 8M
check "packets were joined" joined_since "$packets" "$trains"
one "packets joined, segments" "" 6 seqpacket 1 -s 8M -w 1M
one "packets joined, random segments, both ways" "" 4 seqpacket 4 -s 1M -w 50000 -R -u -d
one "packets joined, lost" "loss 2% delay 1ms" 4 seqpacket 2 -s 2M -w 300k
offloads off
one "random writes" "" 4 stream 2 -s 2M -w 5000 -R
one "random segments, both ways" "" 6 seqpacket 4 -s 1M -w 50000 -R -u -d
one "64 connections, both ways" "delay 2ms" 4 stream 64 -s 50000 -u -d
one "64 connections of segments" "loss 1%" 4 seqpacket 64 -s 30000 -w 7000
one "1% loss" "loss 1% delay 2ms" 4 stream 1 -s 3M
check "something was sent again" test "$(field retransmits)" -gt 0
one "10% loss" "loss 10% delay 1ms" 6 seqpacket 2 -s 300k -w 40000
one "bursts of loss" "loss 3% 50% delay 2ms" 4 seqpacket 2 -s 1M -w 64k
one "reordering" "delay 5ms reorder 75% 50%" 4 stream 2 -s 1M
one "duplicates" "duplicate 25% delay 1ms" 4 seqpacket 2 -s 1M -w 30000 -u -d
one "damage" "corrupt 3% delay 1ms" 4 stream 2 -s 500k
one "jitter" "delay 10ms 8ms" 6 stream 2 -s 1M
one "all at once" "delay 4ms 3ms loss 2% duplicate 2% corrupt 1% reorder 20%" \
	4 seqpacket 4 -s 200k -w 20000 -R -u -d
server_options=(--read-rate 20M --rcvbuf 200k)
one "slow reader" "" 4 stream 1 -s 4M
server_options=(--read-pause 1500 --rcvbuf 100k)
one "late reader" "delay 1ms" 4 seqpacket 2 -s 2M -w 20000
server_options=(--tolerance 100000)
one "gaps are told" "loss 2% delay 1ms" \
	4 seqpacket 1 -s 2M -w 200k --tolerance 100000
[ "$proto" != sstp ] || check "there were some" test "$(field gaps)" -gt 0
disturbed "another MTU on the way" 500000 4 stream shrink
disturbed "another MTU, segments" 500000 4 seqpacket shrink
disturbed "no link for 5 s" 500000 4 stream unplug
if [ "$proto" = sstp ]; then
	for family in 4 6; do
		for write in 100k 1400; do
			name="a black hole, IPv$family, writes of $write"
			disturbed "$name" 500000 $family seqpacket swallow
			heal
		done
	done
fi

pick() { local list=("$@"); echo "${list[RANDOM % $#]}"; }
for ((i = 1; i <= cases; i++)); do
	netem="delay $((RANDOM % 20))ms $((RANDOM % 5))ms"
	netem+=" loss $((RANDOM % 11))% duplicate $((RANDOM % 5))%"
	netem+=" corrupt $((RANDOM % 3))%"
	family=$(pick 4 6) type=$(pick stream seqpacket)
	connections=$(pick 1 1 2 5 16 64)
	size=$((1 + (RANDOM * 32768 + RANDOM) % (400000 / connections)))
	write=$((1 + RANDOM + RANDOM))
	# shellcheck disable=SC2046 # words
	one "random $i" "$netem" "$family" "$type" "$connections" \
		-s "$size" -w "$write" $(pick "" -R) $(pick -u -d "-u -d")
done
finish
