#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# paptc follows a program that reads at 200, 100 and 200 Mbit/s, for 3 s each, as a trace has it:
# the rate of arrival is within 10% of it five times round trip and epoch later, little waits for
# the program beside the default controller with rrda, hardly anything is discarded where a
# static buffer with a window factor of 2.5 discards much, and a periodic program is followed as
# well. Where reports are lost, or have no forecast, data moves on. In simulated time.
# timeout: 600
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

[ -e "$SSTP_MODULE_DIR/sstp-ctrl-paptc.ko" ] || skip_all "no modules of controllers were built"
setup_path || skip_all "no network namespaces"
check "the module loads" insmod "$SSTP_MODULE_DIR/sstp-ctrl-paptc.ko"

# steps KBIT...: a trace of a program that reads at each of these rates for 3 s
steps() {
	local ms=0 kbit end
	for kbit in "$@"; do
		for ((end = ms + 3000; ms < end;)); do
			echo "$((++ms * 1000)) $((kbit / 8))"
		done
	done
}
steps 200000 100000 200000 > "$work/steps.trace"
# 20 of each 100 ms, at 500 Mbit/s
for ((ms = 1; ms <= 100; ms++)); do
	echo "$((ms * 1000)) $((ms <= 20 ? 62500 : 0))"
done > "$work/periodic.trace"

# follow NAME TRACE SECONDS SERVER-OPTION... -- CLIENT-OPTION...: a transfer to a program that
# reads so; the summaries of both ends go to $work/NAME and $work/NAME.server
follow() {
	local name=$1 trace=$2 seconds=$3 server=()
	shift 3
	rm -f "$work/server"
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	serve --read-trace "$work/$trace.trace" --read-size 16k "${server[@]}"
	transfer --for "$seconds" --bin 10000 "${@:2}" "$b4" || { explain; return 1; }
	busywait 20 test -s "$work/server" || return
	mv "$work/client" "$work/$name" && mv "$work/server" "$work/$name.server"
}
judge() { python3 paptc_check.py "$work/$1" "${@:2}"; }

path() { impair delay 5ms rate 1gbit limit 4000 "$@"; }
path
check "paptc: transfer" follow paptc steps 9 -- --controller paptc
check "rrda: transfer" follow rrda steps 9 --
check "static buffer, factor 2.5: transfer" follow static steps 9 --rcvbuf 1M \
	--window-factor 250 --
check "static buffer, factor 2.5, paptc: transfer" follow both steps 9 --rcvbuf 1M \
	--window-factor 250 -- --controller paptc
check "paptc: the rate is within 10% after 5 (RTT + epoch)" judge paptc \
	--arrival 100 300 200 --arrival 310 340 100 --arrival 400 600 100 --arrival 610 640 200
check "paptc: goodput is 0.98 of rrda's" judge paptc --goodput "$work/rrda" 0.98
check "paptc: a third of what waits with rrda at most" judge paptc --queue "$work/rrda" 0.333
check "the static buffer discards 5% at least" judge static --discarded 0.05 1
check "with paptc it discards 0.5% at most" judge both --discarded 0 0.005

path loss 0.01%
check "paptc, where packets are lost: transfer" follow lossy steps 9 -- --controller paptc
check "paptc, where packets are lost: the rate" judge lossy --arrival 100 300 200 \
	--arrival 310 340 100 --arrival 400 600 100 --arrival 650 850 200

# Without any feedback: PACKs, type 3 behind the headers of IP and UDP and the CID, of 104 and 112
# bytes have it, those without are 84 or 92. The program's own answer may have the same length.
path
drop_packs() {
	tc -n "$r" filter add dev "to-$a" egress protocol ip u32 match u8 17 0xff at 9 \
		match u8 3 0xff at 32 match u16 "$1" 0xffff at 2 action drop
}
no_feedback() {
	tc -n "$r" qdisc add dev "to-$a" clsact && drop_packs 104 && drop_packs 112
}
dropped() { tc -n "$r" -s filter show dev "to-$a" egress | grep -q 'dropped [1-9]'; }
check "feedback is dropped from now on" no_feedback
check "without feedback: transfer" follow lost steps 9 -- --controller paptc
check "feedback was dropped" dropped
check "without feedback: goodput is 0.98 of rrda's" judge lost --goodput "$work/rrda" 0.98
tc -n "$r" qdisc del dev "to-$a" clsact

# Half of all reports are lost, once the connection is made: its answer would be as well.
path
impair_back() { tc -n "$r" qdisc change dev "to-$a" root netem delay 5ms limit 4000 loss 50%; }
half() {
	local before job status=0
	before=$(passed)
	{ busywait 20 passed_more $((before + 100000)) && impair_back; } &
	job=$!
	follow half steps 9 -- --controller paptc || status=1
	wait "$job" && return "$status"
}
check "half of the reports lost: transfer" half
dropped() { tc -n "$r" -s qdisc show dev "to-$a" | sed -n 's/.*dropped \([0-9]*\),.*/\1/p'; }
lost() { [ "$(dropped)" -gt 100 ]; }
check "half of the reports lost: they were" lost
check "half of the reports lost: goodput is 0.9 of rrda's" judge half --goodput "$work/rrda" 0.9

path
check "periodic program: transfer" follow periodic periodic 6 -- --controller paptc
check "periodic program, rrda: transfer" follow rrda-periodic periodic 6 --
check "periodic program: goodput is 0.95 of rrda's" judge periodic --until 580 \
	--goodput "$work/rrda-periodic" 0.95
check "periodic program: half of what waits with rrda at most" judge periodic --until 580 \
	--queue "$work/rrda-periodic" 0.5
check "the module unloads" busywait 20 rmmod sstp-ctrl-paptc
finish
