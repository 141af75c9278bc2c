#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# How long programs under sstp-run wait for their connections, and how many they make in a
# second. In simulated time, where code takes none and each round trip counts in full.
# timeout: 600
# quick: yes
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

cases=$PWD/run_time.py
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# The file in which sstp-run remembers services
export XDG_RUNTIME_DIR=$work/run
mkdir "$XDG_RUNTIME_DIR"
forget_hosts() { rm -f "$XDG_RUNTIME_DIR"/*; }

# server PORT COMMAND...: starts a server in b, and waits until it listens.
servers=()
server() {
	local port=$1
	shift
	ip netns exec "$b" "$@" > "$work/server.log" 2>&1 < /dev/null &
	servers+=($!)
	busywait 60 grep -q listening "$work/server.log" && return
	fail "a server listens on port $port"
	sed 's/^/# /' "$work/server.log"
}
stop() { { kill "${servers[@]}"; wait "${servers[@]}"; } 2> /dev/null; }

# Print the number of TCP connections to b; a handshake that SSTP beats does not count.
tcp_came() { in_ns "$b" awk '$1 == "Tcp:" && n++ { print $7 }' /proc/net/snmp; }
one() { in_ns "$a" python3 "$cases" "$@"; }
run() { in_ns "$a" sstp-run python3 "$cases" "$@"; }

setup_path || skip_all "no network namespaces"
server 7001 sstp-run python3 "$cases" serve 7001
server 7002 python3 "$cases" serve 7002
both=("$b4" 7001) plain=("$b4" 7002)

# connect HOST PORT KIND HOW CALL DONE: connect() returns within CALL ms, and there is a
# connection of protocol KIND within DONE ms. HOW is "waits": blocking; "polls":
# non-blocking, then getsockopt(SO_ERROR); "asks": non-blocking, then another connect().
impair delay 10ms
one connect "${both[@]}" tcp waits 1000 1000 > "$work/said"	# resolves Ethernet addresses
check "TCP, for comparison" one connect "${both[@]}" tcp polls 0 20
for how in waits polls; do
	forget_hosts
	check "a new service, the program $how: a round trip" run connect "${both[@]}" sstp $how 20 20
	check "a known one: not longer than TCP" run connect "${both[@]}" sstp waits 20 20
	check "a known one, polled: at once" run connect "${both[@]}" sstp polls 0 20
	forget_hosts
	check "a service by TCP alone, the program $how" run connect "${plain[@]}" tcp $how 80 80
	check "and once more: as TCP" run connect "${plain[@]}" tcp polls 0 20
done
forget_hosts
check "after a minute SSTP is tried again" run again "${both[@]}" 61 20
# Ages are in whole seconds: the minute may be up to one shorter.
check "before a minute it is not" run again "${both[@]}" 58 0

# --- programs with event loops
forget_hosts
ratio() {
	local tcp sstp
	tcp=$(one "$@") && run connect "${both[@]}" sstp waits 200 200 && sstp=$(run "$@") || return
	echo "$1: $tcp s by TCP, $sstp s by SSTP"
	python3 -c 'import sys; t, s = map(float, sys.argv[1:]); sys.exit(not s <= t / 0.9)' \
		"$tcp" "$sstp"
}
check "100 connections at once" ratio many "${both[@]}" 100
check "requests of a proxy" ratio proxy "${both[@]}" 400
check "requests on a connection that is kept" ratio keep "${both[@]}" 100
check "requests with pauses on kept connections without TCP_NODELAY" ratio kept "${both[@]}" 25
for size in 1000 10000 30000 100000 300000; do
	# 100 KB from each of 16 at once is little more than the queue holds: whose packets are lost
	# then is chance, with TCP as well.
	[ $size = 100000 ] ||
		check "answers of $size bytes on kept connections" \
			ratio answers "${both[@]}" 16 $size 50
	check "answers of $size bytes, a connection for each" ratio fresh "${both[@]}" 16 $size 20
done
check "answers of 100000 bytes to one client" ratio fresh "${both[@]}" 1 100000 20
# The window has not a packet more than these answers need, and the line spreads packets, so the
# last one of a window is alone.
impair delay 10ms rate 400mbit
check "the same on a slower line" ratio fresh "${both[@]}" 1 100000 20

# --- a service that has lost its SSTP since it was known to answer
impair delay 10ms
for how in polls asks; do
	server 7003 sstp-run python3 "$cases" serve 7003
	last=${servers[-1]}
	forget_hosts
	check "a service is known" run connect "$b4" 7003 sstp waits 20 20
	{ kill "$last"; wait "$last"; } 2> /dev/null
	server 7003 python3 "$cases" serve 7003
	last=${servers[-1]}
	check "it has lost SSTP, the program $how: by TCP then" \
		run connect "$b4" 7003 tcp $how 0 40
	check "and at once, the next time" run connect "$b4" 7003 tcp polls 0 20
	{ kill "$last"; wait "$last"; } 2> /dev/null
done
server 7003 sstp-run python3 "$cases" serve 7003
forget_hosts
check "a service is known" run connect "$b4" 7003 sstp waits 20 20
{ kill "${servers[-1]}"; wait "${servers[-1]}"; } 2> /dev/null
check "it is gone, by SSTP and by TCP" run refused "$b4" 7003

# --- a far service: SSTP answers before TCP, which began only after the head start
impair delay 100ms
forget_hosts
before=$(tcp_came)
check "a far one, new" run connect "${both[@]}" sstp waits 200 200
forget_hosts
check "a far one, new and polled" run connect "${both[@]}" sstp polls 200 200
check "no connection by TCP came to the server" test "$(tcp_came)" = "$before"
forget_hosts
check "a far one by TCP alone" run connect "${plain[@]}" tcp waits 350 350

# --- a host that never answers by SSTP
ip netns exec "$b" python3 "$cases" sink 9 > "$work/sink.log" &
servers+=($!)
busywait 20 grep -q listening "$work/sink.log"
in_ns "$a" sysctl -qw net.sstp.encap_port=9
for delay in 1 10 100; do
	impair delay ${delay}ms
	trip=$((2 * delay))
	for how in waits polls; do
		forget_hosts
		check "a silent host, round trip $trip ms, the program $how" \
			run connect "${both[@]}" tcp $how $((3 * delay + 50)) $((3 * delay + 50))
		check "another process does not wait for it" \
			run connect "${both[@]}" tcp polls 0 $trip
	done
done

# --- a host that never answers at all
impair loss 100%
forget_hosts
check "a dead host, polled: connect() returns" run dead "$b4" 7001 500
check "and at once, the next time" run dead "$b4" 7001 0
impair
stop
finish
