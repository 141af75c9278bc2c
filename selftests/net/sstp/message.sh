#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The two halves of a controller: both ends find each other, messages go both ways, timers run,
# groups set rates, the receiver reports as it is told, at set-up and live, and the sender waits for
# it as long as it is told. In simulated time.
# timeout: 300
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

module=$SSTP_MODULE_DIR/sstp-echo.ko
[ -e "$module" ] || skip_all "no module of the controller was built"
setup_path || skip_all "no network namespaces"
PATH=$SSTP_BIN:$PATH
command -v sstp > /dev/null || skip_all "the sstp command was not built"
check "the controller loads" insmod "$module"

details() { in_ns "$a" sstp show -i dport 7000; }
shows() { details | grep -q -- "$1"; }
change() { in_ns "$a" sstp set dport 7000 "$@"; }
# state NAME: prints a value of the state of the controller, of the first connection.
state() { details | sed -n "s/.*echo:(.*\b$1:\([0-9]*\).*/\1/p" | head -n 1; }
state_is() { [ "$(state "$1")" = "$2" ]; }
state_least() { local is; is=$(state "$1"); [ "${is:-0}" -ge "$2" ]; }
# The client is a child of this shell, not of the one that check() starts.
ends() { wait "$client"; check "$1" test $? = 0; }

impair delay 20ms rate 100mbit limit 333
serve
transfer_begin --controller echo --for 20 "$b4"
check "the peer runs the receiving half" busywait 10 state_is half 1
check "messages come back" busywait 10 state_least echoes 200
check "each in its order, once" state_is late 0
# One every 10 ms, and none before the peer's half is known
near() { local s t; s=$(state sent) t=$(state timers); [ "$s" -le "$t" ] && [ "$s" -ge $((t * 9 / 10)) ]; }
check "the timer ran as often as messages were sent" near
lost_none() { local s e; s=$(state sent) e=$(state echoes); [ $((s - e)) -le 6 ]; }
check "all but those on their way" lost_none
check "a group of one allows 1 Mbit/s" busywait 5 state_is rate 1000000
check "a new controller" change controller newreno
check "which has no half: messages end" busywait 5 shows "newreno:("
sent() { counter "$a" OutMessages; }
sent_stays() { local was; was=$(sent); sleep 1; [ "$(sent)" = "$was" ]; }
check "no message follows" busywait 10 sent_stays
check "the controller comes back" change controller echo
check "and finds its half again" busywait 10 state_least echoes 20
check "without a message of before" state_is late 0
ends "the transfer ends"
stop_server

# Members of a group: those of one peer.
serve -n 3
transfer_begin --controller echo -n 3 --for 10 "$b4"
check "a group of three allows 3 Mbit/s" busywait 10 state_is rate 3000000
ends "the transfers end"
stop_server
gone() { ! in_ns "$a" sstp show -j dport 7000 | grep -q '"info"'; }
check "and their connections" busywait 60 gone

# A path that loses half of what goes each way still carries some.
impair delay 20ms rate 100mbit limit 333 loss 30%
serve
transfer_begin --controller echo --for 10 "$b4"
check "the halves find each other where a third is lost" busywait 15 state_least echoes 30
check "in order, once" state_is late 0
# What the controller reads of its connection's totals is what others see: losses and reports, which
# both change with a report only, after which it reads them.
totals() {
	in_ns "$a" sstp show -j dport 7000 | python3 -c '
import json, sys
wrong = True
for conn in json.load(sys.stdin):
    info, state = conn["info"], conn["controller_params"]
    reports = info["acks_received"] + info["snaks_received"]
    print("# lost %d of %d, reports %d of %d" % (state["lost"], info["packets_lost"],
                                                 state["reports"], reports))
    wrong = (state["lost"], state["reports"]) != (info["packets_lost"], reports) or \
        not state["lost"]
sys.exit(wrong)'
}
check "the controller reads its connection's totals" totals
ends "the transfer ends"
stop_server
impair delay 20ms rate 100mbit limit 333
check "the connection is over" busywait 60 sockets_are "$a" 0

# What the sender's controller wants of the receiver's reports is told on a live connection.
serve
transfer_begin --controller echo --for 20 "$b4"
check "the peer runs the receiving half again" busywait 10 state_is half 1
# reports INTERVAL: prints how many come in 2 s with this interval.
reports() {
	local before
	change controller.ack_interval "$1" controller.ack_timer 1000000
	sleep 1
	before=$(counter "$b" OutPacks)
	sleep 2
	echo $(($(counter "$b" OutPacks) - before))
}
many=$(reports 2)
few=$(reports 40)
echo "# reports in 2 s: $many with an interval of 2 packets, $few with 40"
fewer() { [ "$few" -gt 0 ] && [ $((few * 5)) -lt "$many" ]; }
check "an interval of 40 packets takes fewer reports than one of 2" fewer
ends "the transfer ends"
stop_server

# A time-out of the controller's own: how often a silent peer is asked. A change applies to the wait
# under way as well; a count begins with the first probe that follows it.
check "the connection is over" busywait 60 sockets_are "$a" 0
serve
transfer_begin --controller rate --param kbit=20000 -s 6M "$b4"
data=$(passed)
check "a transfer at 20 Mbit/s" busywait 10 passed_more $((data + 2000000))
impair loss 100%
probes() { counter "$a" Probes; }
probes_least() { [ "$(probes)" -ge "$1" ]; }
check "its peer falls silent" busywait 30 probes_least 3
# asked rto|rtt US: prints how many probes leave in 10 s with this time-out, or round-trip time.
asked() {
	local before
	change "controller.$1" "$2"
	before=$(probes)
	busywait 20 probes_least $((before + 1))
	before=$(probes)
	sleep 10
	echo $(($(probes) - before))
}
long=$(asked rto 3000000)
short=$(asked rto 1000000)
change controller.rto 0
round=$(asked rtt 2200000)
# The time-out that it gives has a part for the deviation of the times measured, in us.
rto=$(in_ns "$a" sstp show -j dport 7000 | python3 -c '
import json, sys
conn, = json.load(sys.stdin)
print(conn["info"]["rto"])')
wanted=$((10000000 / rto))
echo "# probes in 10 s: $long with a time-out of 3 s, $short with 1 s"
check "one of 3 s asks three times in 10 s" test "$long" = 3
check "one of 1 s asks ten times" test "$short" = 10
echo "# with a round-trip time of 2.2 s: $round, of a time-out of $rto us"
check "a round-trip time of 2.2 s gives a longer time-out" test "$rto" -gt 2200000
check "which asks as often as goes into 10 s" test "$round" = "$wanted"
impair delay 20ms rate 100mbit limit 333
ends "the transfer ends"
stop_server

gone() { rmmod sstp-echo; }
settle
check "the module unloads" busywait 20 gone
finish
