#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A transfer makes progress whatever the path, the buffer policy and the reader do: under a
# contract that the path does not carry, beside TCP, the policy shrinks the buffer of a reader
# with a large SO_RCVLOWAT until retransmissions find no room; and the round-trip time that the
# receiver measures at set-up has a time-out in it. In simulated time.
# timeout: 400
# quick: yes
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

# live NAME SERVER OPTIONS...: the transfer ends, and the server soon after the client.
live() {
	local name=$1 tcp
	shift
	serve --lowat 1M --read-size 8M "$@"
	in_ns "$b" "$xfer" server -P tcp -p 7001 --background --pid "$work/tcp.pid" -n 0 -T 0 \
		--lowat 1M --read-size 8M > "$work/tcp.server" 2>&1 < /dev/null
	transfer_begin -T 40 -S 1 --no-check --rate 200M --for 10 "$b4"
	in_ns "$a" "$xfer" client -P tcp -p 7001 --controller cubic --no-check --for 10 \
		-S 1 -T 30 "$b4" > "$work/tcp.client" 2>&1 &
	tcp=$!
	wait "$client"
	check "$name" test $? = 0 || explain
	note "$name: $(field bytes) bytes in $(field seconds) s"
	wait "$tcp"
	stop_server
	kill -9 "$(cat "$work/tcp.pid")"
}

# dropped HOST N: the path has lost N packets to the host.
dropped() {
	tc -n "$r" -s qdisc show dev "to-$1" root |
		awk -v most="$2" '$6 == "(dropped" { n += $7 } END { exit n < most }'
}

# lost_init_ack NAME MOST OPTIONS...: the first INIT_ACKs of a transfer get lost, so that set-up
# takes 1.75 s, and a fifth of all packets afterwards. From then on the fastest of four transfers
# takes MOST seconds at most: chance alone makes a fifth of them take half a second more.
lost_init_ack() {
	local name=$1 most=$2 took=() all=0
	shift 2
	for _ in {1..4}; do
		serve --rate 100M
		impair
		tc -n "$r" qdisc add dev "to-$a" root netem loss 100%
		transfer_begin --rate 100M "$@" "$b4"
		busywait 10 dropped "$a" 4 || all=1
		impair delay 1ms loss 20%
		wait "$client" || { all=1; explain; }
		took+=("$(field seconds)")
		stop_server
	done
	check "a lost INIT_ACK: $name: four transfers" test $all = 0
	note "$name: ${took[*]} s"
	check "... and the fastest takes no longer than $most s" fastest "$most" "${took[@]}"
}
fastest() {
	local most=$1
	shift
	printf '%s\n' "$@" | sort -g | head -n 1 |
		awk -v most="$most" '{ exit !($1 > 0 && $1 <= most) }'
}

setup_path || exit 1
serve
transfer -s 1 "$b4" || exit 1
stop_server
# A queue of a bandwidth-delay product, besides the packets in flight
impair delay 20ms rate 100mbit limit 430
live "SO_RCVLOWAT of 1 MB"
live "SO_RCVLOWAT of 1 MB, soft ACK" --ack soft
live "SO_RCVLOWAT of 1 MB, a buffer that many share" --pool
live "SO_RCVLOWAT of 1 MB, a slow reader" --read-rate 60M
lost_init_ack "the initiator sends" 3.5 -s 16M
lost_init_ack "the responder sends" 0.5 -s 60k --down
finish
