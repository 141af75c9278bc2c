#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All bytes arrive in time after the path MTU shrinks, or if it is smaller than the hosts
# assume. Runs in simulated time, where only the line takes time.
# timeout: 600
# quick: yes
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

export proto=sstp

# hosts MTU, routers MTU: set the MTU of their devices.
hosts() {
	ip -n "$a" link set "to-$r" mtu "$1" && ip -n "$b" link set "to-$r" mtu "$1"
}
routers() {
	ip -n "$r" link set "to-$a" mtu "$1" && ip -n "$r" link set "to-$b" mtu "$1"
}

# within SECONDS: the client measured no longer transfer.
within() {
	awk -v is="$(field seconds)" -v most="$1" \
		'BEGIN { exit !(is != "" && is + 0 <= most) }' ||
		{ echo "$(field seconds) s"; return 1; }
}

# falls MTU AFTER SECONDS OPTIONS...: AFTER seconds into a transfer the MTU falls for SECONDS.
falls() {
	local mtu=$1 after=$2 seconds=$3
	shift 3
	serve -t "$type"
	transfer_begin -t "$type" "$@" "$b4"
	sleep "$after"	# in the simulated time of the transfer
	hosts "$mtu"
	routers "$mtu"
	sleep "$seconds"
	hosts 1500
	routers 1500
	wait "$client"
	check "falls to $mtu after $after s: $type, $*" test $? = 0 || explain
	check "... and takes no longer than 8 s" within 8
	stop_server
}

# moves NAME MOST OPTIONS...: a transfer that takes at most MOST seconds
moves() {
	local name=$1 most=$2
	shift 2
	serve -t "$type" "-$family"
	transfer -t "$type" "$@" "$(target)"
	check "$name: $type, IPv$family" test $? = 0 || explain
	check "... and takes no longer than $most s" within "$most"
	stop_server
}
target() { [ "$family" = 6 ] && echo "$b6" || echo "$b4"; }

# mtu_is MTU: the client found this path MTU.
mtu_is() { [ "$(field mtu)" = "$1" ] || { echo "$(field mtu)"; return 1; }; }

setup_path || exit 1

# Hosts of 9000 bytes, and a last link of 1500 behind a queue of few packets
hosts 9000
ip -n "$r" link set "to-$a" mtu 9000
ip -n "$b" link set "to-$r" mtu 1500
for type in stream seqpacket; do
	for family in 4 6; do
		for limit in 3 4 6; do
			impair rate 1mbit limit "$limit"
			moves "1 Mbit/s, a queue of $limit" 10 -s 100k
		done
		impair delay 5ms rate 46mbit limit 6
		moves "46 Mbit/s, a short queue" 5 -s 1600k
		check "... in packets of 1500" mtu_is 1500
	done
done
# The whole path carries 9000 bytes. IPv6 caches an MTU that an ICMP error reported.
ip -n "$r" link set "to-$b" mtu 9000
ip -n "$b" link set "to-$r" mtu 9000
ip -n "$a" -6 route flush cache
impair delay 10ms rate 100mbit limit 1000
for family in 4 6; do
	moves "a path of 9000" 2 -s 4M
	check "... in packets of 9000" mtu_is 9000
	for rate in 1M 20M:2M 20M:0:20000:30; do
		moves "a contract that is used up, $rate" 6 -s 600k --rate "$rate"
		check "... in packets of 9000" mtu_is 9000
	done
	# A probe would take 720 ms of the contract.
	moves "a contract that does not stand still for a probe" 9.5 -s 100k --rate 100k
done

# A last link of 1500 swallows probes. Each burst is one packet; ten of them at 1500.
ip -n "$b" link set "to-$r" mtu 1500
for family in 4 6; do
	moves "a contract that has nothing left for a probe" 12.5 -s 14000 \
		--rate 20M:2M:1000:1
done

# The last link carries smaller packets only, without an ICMP error.
swallows() {
	ip -n "$r" link set "to-$b" mtu 1500
	ip -n "$b" link set "to-$r" mtu "$1"
}
hosts 1500
ip -n "$r" link set "to-$a" mtu 1500
impair delay 10ms rate 20mbit limit 60
for type in stream seqpacket; do
	for family in 4 6; do
		swallows 1400
		moves "a black hole from the start" 6 -s 8M
		check "... smaller packets come" mtu_is 1400
		swallows 1500
		serve -t "$type" "-$family"
		transfer_begin -t "$type" -s 4M "$(target)"
		sleep 0.5
		swallows 1300
		wait "$client"
		check "a black hole in mid transfer: $type, IPv$family" test $? = 0 ||
			explain
		check "... and takes no longer than 5 s" within 5
		stop_server
	done
done
# The line needs 10 s to lose a whole window. IPv6 begins with 1280.
impair rate 256kbit limit 1000
swallows 1400
for type in stream seqpacket; do
	family=4 moves "a black hole and 500 times the line" 48 -s 300k --rate 130M
done

# IPv6 is off on devices with an MTU below 1280.
swallows 1500
# What was written before, meanwhile and after is in the queue at once.
for ns in "$a" "$b"; do
	in_ns "$ns" sysctl -qw net.sstp.wmem="4096 8000000 8000000"
done
impair delay 10ms rate 50mbit limit 1000
seed=1
for mtu in 1000 600 1400; do
	for type in stream seqpacket; do
		for seconds in 0.1 0.3 1; do
			falls "$mtu" "1.$seed" "$seconds" -s 20M -w 20000 -R -S "$seed"
			seed=$((seed + 1))
		done
	done
done
finish
