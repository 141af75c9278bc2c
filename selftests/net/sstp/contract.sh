#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A capture at the sender has no 1 ms above P, except for one packet, and no 1 s
# above the average; bursts of L every 1/F. Runs in simulated time, where no other
# work delays packets between the clock and the wire.
# timeout: 300
# quick: yes
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

# contract NAME CONTRACT NETEM SIZE CHECKS...: sends under CONTRACT, captures, and checks.
contract() {
	local name=$1 spec=$2 netem=$3 size=$4 dump
	shift 4
	# shellcheck disable=SC2086 # netem's words
	impair $netem
	ip netns exec "$a" tcpdump -i "to-$r" -s 80 --time-stamp-precision=nano \
		-w "$work/pcap" -U udp dst port 25719 2> "$work/dump.err" &
	dump=$!
	busywait 10 grep -q "listening on" "$work/dump.err"
	serve
	transfer -s "$size" -w 64k --rate "$spec" "$b4"
	check "$name: transfer" test $? = 0 || explain
	kill $dump
	wait $dump 2>/dev/null
	check "$name: contract kept" python3 contract_check.py "$work/pcap" "$@"
	stop_server
}

setup_path || exit 1
contract "P is the average" 20000000 "delay 5ms" 5M --peak 20e6 --average 20e6 \
	--used 0.97
contract "bursts of L" 200000000:20000000:0:50 "delay 5ms" 5M --peak 200e6 \
	--average 20e6 --burst 50 --used 0.97
contract "F and L alone" 100000000:0:20000:30 "delay 5ms" 2M --peak 100e6 \
	--average 7267200 --burst 30 --used 0.95
contract "losses count" 40000000:30000000 "delay 20ms loss 2%" 5M --peak 40e6 \
	--average 30e6
contract "a fast one" 5000000000:4000000000 "delay 1ms" 200M --peak 5e9 \
	--average 4e9 --used 0.9
contract "P alone, in trains" 1000000000 "delay 1ms" 60M --peak 1e9 --average 1e9 --used 0.97
probes=$(counter "$a" Probes)
contract "a slow one" 200000 "delay 5ms" 100k --peak 200e3 --average 200e3
# A packet leaves every 60 ms and is answered after 10 ms.
probes=$(($(counter "$a" Probes) - probes))
check "a slow one: no probes while the contract holds it" test "$probes" -lt 10
note "$probes probes"
# Segments of 250 ms have four packets, so that the peer can read four times a second.
segments=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["info"]["segments_sent"])' "$work/client")
check "a slow one: segments that its reader need not wait for" test "$segments" -ge 15
note "$segments segments"
finish
