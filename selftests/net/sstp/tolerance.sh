#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tolerated losses are not sent again, and arrive as gaps; with a tolerance of 0 there are no
# gaps. Runs in simulated time, where only the line loses packets.
# timeout: 300
# quick: yes
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

export proto=sstp

# lossy NAME LOSS TOLERANCE: transfers 4 MB in segments of 138 packets.
lossy() {
	impair loss "$2" delay 5ms rate 200mbit limit 10000
	serve -t seqpacket --tolerance "$3"
	transfer -t seqpacket -s 4M -w 200k --tolerance "$3" "$b4"
	check "$1: transfer" test $? = 0 || explain
	stop_server
}

setup_path || exit 1
lossy "2% of 10%" 2% 100000
check "2% of 10%: gaps" test "$(field gaps)" -gt 0
# xfer's first segment, which describes the transfer, is one packet: a tenth of it is none.
check "2% of 10%: no data sent again" test "$(field bytes_retrans)" -lt 1000
lossy "2% of 1%" 2% 10000
check "2% of 1%: some sent again" test "$(field retransmits)" -gt 0
lossy "2% of none" 2% 0
check "2% of none: no gaps" test "$(field gaps)" -eq 0
check "2% of none: all sent again" test "$(field retransmits)" -gt 30

# A controller learns of losses that are tolerated: it does not fill the line until half of the
# packets are lost. Newreno takes 3 MB over 20 Mbit/s, 20 ms and a queue of as long.
impair delay 10ms rate 20mbit limit 34
serve -t seqpacket --tolerance 500000
transfer -t seqpacket -s 3M -w 100k --tolerance 500000 --controller newreno "$b4"
check "a full queue: transfer" test $? = 0 || explain
lost_share() {
	local gaps
	gaps=$(field gaps)
	echo "$gaps of $((3 << 20)) bytes"
	[ "$gaps" -gt 0 ] && [ "$gaps" -lt $(((3 << 20) / 20)) ]
}
check "a full queue: less than 5% is lost" lost_share
finish
