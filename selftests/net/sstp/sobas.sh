#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The policy sobas keeps newreno, at 100 Mbit/s and 40 ms, from overflowing a queue of 18 ms, which
# it does without; follows cross traffic that leaves; and stalls no transfer, whatever the delays
# are. In simulated time.
# timeout: 600
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

trace=/sys/kernel/tracing
capacity=11950000	# bytes/s of payload: 1448 of 1514 bytes of a frame
module=$SSTP_MODULE_DIR/sstp-rbuf-sobas.ko

[ -e "$module" ] || skip_all "the module of the policy was not built"
setup_path || skip_all "no network namespaces"
[ -d $trace/events ] || mount -t tracefs nodev $trace || skip_all "no tracepoints"
check "sobas loads" insmod "$module"
echo mono > $trace/trace_clock
echo 1 > $trace/events/sstp/sstp_rbuf_epoch/enable
echo 1 > $trace/events/sstp/sstp_segment_ready/enable

# netem counts the 167 packets that the link delays, too.
queue() { impair delay 20ms rate 100mbit limit 320; }
dropped() { tc -n "$r" -s qdisc show dev "to-$b" | sed -n 's/.*dropped \([0-9]*\),.*/\1/p'; }

# moves CONTROLLER SERVER OPTIONS...: a transfer of 60 MB; prints bytes/s.
moves() {
	echo > $trace/trace
	queue
	serve "${@:2}"
	transfer --controller "$1" -s 60M -T 400 "$b4" || { explain; return 1; }
	awk -v is="$(field seconds)" -v bytes="$(field bytes)" 'BEGIN { printf "%d\n", bytes / is }'
}
# epochs: prints time, rate, window, phase, lost and sets of the policy's epochs.
epochs() {
	sed -n 's/.* \([0-9.]*\): sstp_rbuf_epoch: .*policy=sobas .* rate=\([0-9]*\) .* lost=\([0-9]*\) .* window=\([0-9]*\) phase=\([0-9]*\) .* sets=\([0-9]*\) .*/\1 \2 \4 \5 \3 \6/p' \
		$trace/trace
}
notes() { epochs | awk 'NR % 8 == 1 { print "# at", $1, "rate", $2, "window", $3, "phase", $4 }'; }

alone() { moves newreno --policy rrda > "$work/alone" && [ "$(dropped)" -gt 0 ]; }
check "newreno alone overflows the queue" alone
note "$(cat "$work/alone") bytes/s, $(dropped) packets dropped"
sobas() { moves newreno --policy sobas > "$work/with" && [ "$(dropped)" -eq 0 ]; }
check "with sobas it does not" sobas || notes
note "$(cat "$work/with") bytes/s, $(dropped) packets dropped"
# A window of 0.5 MB has 8 segments of the size that is usual. The last 100 segments:
small() { sed -n 's/.*sstp_segment_ready: .* len=\([0-9]*\).*/\1/p' $trace/trace | tail -n 100 |
	awk '$1 > most { most = $1 } END { print most " bytes"; exit !(NR == 100 && most <= 20000) }'; }
check "segments are small beside the window" small
note "$(small)"
# As soon as the capacity is known, phase 1, and two epochs later
goodput() { epochs | awk -v least="$capacity" '$4 && ++n > 2 { sum += $2 }
	END { print (n ? sum / (n - 2) : 0) " bytes/s in " n " epochs"
	      exit !(n > 20 && sum / (n - 2) >= 0.95 * least) }'; }
check "and uses 0.95 of the path" goodput || notes
note "$(goodput)"
# The round trip is 40 ms, of which the policy wants a queue of a tenth.
short() { sed -n 's/.*policy=sobas .* queue=\([0-9]*\) .* phase=[1-9] .*/\1/p' $trace/trace |
	awk '{ sum += $1; n++ } END { print (n ? sum / n : 0) " us"; exit !(n > 20 && sum / n <= 5000) }'; }
check "the queue is short" short
note "$(short)"

# --- 50 Mbit/s of others leave after 6 s; the rate follows within 20 round trips. The sender has no
# congestion window: newreno would take longer.
leaves() {
	local cross
	echo > $trace/trace
	queue
	serve -n 2 --policy sobas
	ip netns exec "$a" "$xfer" client -P "$proto" -T 100 --rate 50M --for 6 "$b4" \
		> "$work/cross.out" 2>&1 &
	cross=$!
	transfer_begin --controller rate --param kbit=120000 --for 12 "$b4"
	wait $cross || return 1
	echo left > $trace/trace_marker
	wait "$client" || { explain; return 1; }
	stop_server
}
check "a transfer beside others that leave" leaves || explain
follows() {
	local left
	left=$(sed -n 's/.* \([0-9.]*\): .*: left$/\1/p' $trace/trace)
	epochs | awk -v left="$left" -v most="$capacity" '
		$1 < left && $1 > left - 2 { before += $2; n++ }
		$1 > left && !at && $2 >= 0.9 * most { at = $1 - left }
		END { print before / n " bytes/s before, 0.9 of the path " at " s after"
		      exit !(n && before / n < 0.6 * most && at && at <= 0.8) }'
}
check "the rate follows within 20 round trips" follows || notes
note "$(follows)"

# --- what the program has not read is not in flight: the window moves on, without probes.
read_by() {
	queue
	serve --policy sobas "$@"
	transfer --controller rate --param kbit=120000 -s 20M "$b4" || { explain; return 1; }
}
at_once() { read_by && field seconds > "$work/once"; }
check "a program reads at once" at_once
waits() { read_by --lowat 1M --read-size 8M && field seconds > "$work/waits"; }
check "another waits for 1 MB each time" waits
as_fast() { awk '{ took[NR] = $1 } END { exit !(NR == 2 && took[2] <= 1.1 * took[1]) }' \
	"$work/once" "$work/waits"; }
check "that takes no longer" as_fast
note "$(cat "$work/once") s, $(cat "$work/waits") s"

# --- delays that mean nothing stall nothing: those of packets are random, then change for good.
random() {
	impair delay 20ms 15ms rate 100mbit limit 1000
	serve --policy sobas
	transfer --controller newreno -s 4M -T 60 "$b4" || { explain; return 1; }
}
check "delays are random" random
jump() {
	impair delay 5ms rate 100mbit limit 1000
	serve --policy sobas
	transfer_begin --controller newreno -s 40M -T 60 "$b4"
	busywait 30 passed_more $(($(passed) + 8000000))
	impair delay 200ms rate 100mbit limit 4000
	wait "$client" || { explain; return 1; }
}
check "the path becomes longer" jump
cleans() { rmmod sstp-rbuf-sobas; }
settle
stop_server
check "sobas unloads" busywait 10 cleans
finish
