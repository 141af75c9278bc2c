#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A slow link of the sender's own host: little of a socket's data waits in its queue, and the link
# is used all the same. In simulated time.
# timeout: 400
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

setup_path || skip_all "no network namespaces"

# link MBIT: the sender's own link, with a queue that takes more than any socket writes
link() {
	tc -n "$a" qdisc del dev "to-$r" root 2>/dev/null
	tc -n "$a" qdisc add dev "to-$r" root tbf rate "$1mbit" burst 3k limit 10m
}
backlog() { tc -n "$a" -s -j qdisc show dev "to-$r" | sed -n 's/.*"backlog":\([0-9]*\).*/\1/p'; }
# waiting: while the transfer goes on, notes each 19 ms, which is no multiple of a round trip, how
# much is in the link's queue.
waiting() {
	while kill -0 "$client" 2>/dev/null; do
		backlog
		sleep 0.019
	done > "$work/backlog"
	wait "$client"
}
mean() { awk '{ sum += $1 } END { print int(sum / NR) }' "$work/backlog"; }
most() { sort -n "$work/backlog" | tail -n 1; }
# moves MBIT OPTIONS...: transfers what the link carries in 4 s.
moves() {
	link "$1"
	serve
	transfer_begin -s "$(($1 * 500))k" "${@:2}" "$b4"
	waiting || { explain; return 1; }
}
rate() { awk -v s="$(field seconds)" -v bytes="$(field bytes)" 'BEGIN { print int(bytes * 8 / s / 1000) }'; }
report() { note "$1: $(rate) kbit/s, $(mean) bytes wait in the mean, $(most) at most"; }
# The limit is a millisecond of the link's rate and 4 packets, and a train, which has as much at
# most, may go beyond it.
few() { [ "$(most)" -le $((2 * ($1 * 125 + 4 * 1514))) ]; }
used() { [ "$(rate)" -ge $(($1 * 850)) ]; }

impair delay 10ms limit 10000
for mbit in 2 10 100; do
	for kind in "--controller hybrid" "--controller newreno" "--rate $((2 * mbit))M"; do
		read -ra options <<< "$kind"
		check "$mbit Mbit/s, $kind" moves "$mbit" "${options[@]}"
		report "$mbit Mbit/s, $kind"
		check "little of it waits" few "$mbit"
		check "the link is used" used "$mbit"
	done
	proto=tcp
	check "$mbit Mbit/s, TCP" moves "$mbit"
	report "$mbit Mbit/s, TCP"
	proto=sstp
done
settle
stop_server
finish
