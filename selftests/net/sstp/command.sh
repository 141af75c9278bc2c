#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The sstp command shows and changes connections, and names the cause why a transfer is slow:
# the test creates each cause.
# timeout: 1800
# quick: yes
# kernels: uml 6.12
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

command -v sstp > /dev/null || skip_all "the sstp command is not there: tools/sstp"
unset NO_COLOR
export TERM=xterm

# says NAMESPACE TEXT: sstp prints TEXT, and so does sstp show -i.
says() { in_ns "$1" sstp | grep -qF -- "$2" && in_ns "$1" sstp show -i | grep -qF -- "$2"; }
# finds NAME NAMESPACE TEXT: a case that waits until sstp prints TEXT
finds() {
	if busywait 60 says "$2" "$3"; then
		pass "$1"
	else
		fail "$1" "nothing says: $3"
		in_ns "$2" sstp show -im 2>&1 | sed 's/^/# /'
		explain
	fi
}
# Keep the shell from reporting processes that were killed.
end_client() { kill -9 "$client"; wait "$client"; } 2> /dev/null
end_transfer() {
	end_client
	stop_server
	busywait 30 sockets_are "$a" 0 && busywait 30 sockets_are "$b" 0
}
# refused STATUS TEXT COMMAND...: COMMAND fails with STATUS and a message that has TEXT.
refused() {
	local want=$1 text=$2 status
	shift 2
	"$@" > "$work/refused" 2>&1
	status=$?
	grep -qF -- "$text" "$work/refused" && [ $status = "$want" ] ||
		{ echo "exit status $status:"; cat "$work/refused"; return 1; }
}
no_color() { ! in_ns "$a" "$@" 2>&1 | grep -q $'\033'; }
# says_params PATTERN: sstp show -i prints such parameters or state of the connection in $a.
says_params() { in_ns "$a" sstp show -i | grep -q -- "$1"; }
# json PYTHON: an expression that is true for d, the output of sstp show -j in a
json() {
	in_ns "$a" sstp show -j | python3 -c 'import json, sys
d = json.load(sys.stdin)
sys.exit(not eval("(" + sys.argv[1] + ")"))' "$1"
}
rows() { in_ns "$a" sstp show -n "$@" | tail -n +2; }

setup_path || skip_all "no network namespaces"

# --- no connections
check "no connection: a heading" test "$(in_ns "$a" sstp show | wc -l)" = 1
check "no connection: JSON" json 'd == []'
check "an unknown command is refused" refused 2 "unknown command" sstp shwo
check "an invalid address is refused" refused 2 "not an IPv4 or IPv6" sstp show dst 10.0.0
check "an invalid state is refused" refused 2 "is not a state" sstp show state ready
check "an unknown ID: a hint" refused 1 "sstp show -a" sstp set 1234 rate 1M

# begin SERVER OPTIONS... -- CLIENT OPTIONS...: starts a transfer that does not end, however
# slow the machine is.
begin() {
	local server=()
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	serve -T 600 "${server[@]}" && transfer_begin -T 600 -s 1G "$@" "$b4"
}

# --- a small contract
impair delay 5ms rate 50mbit
begin -n 0 -- --rate 10M
finds "small contract: the sender's side says so" "$a" "limited by: contract 10.0Mbit/s"
finds "small contract: the receiver's side sends one there" "$b" "limited by: nothing here"

row=$(rows)
read -r type state _ queued local remote id <<< "$row"
check "a connection is shown" test "$type $state $remote" = "str ESTAB 10.0.2.2:7000"
check "with its local address" test "${local%:*}" = 10.0.1.1
check "and what is not acknowledged" test "$queued" -gt 0
is_row() { test "$(rows "$@" | wc -l)" = 1; }
no_row() { test "$(rows "$@" | wc -l)" = 0; }
for filter in "$id" "port 7000 dst 10.0.2.2" "sport ${local#*:} src 10.0.1.1 id $id" \
	      "state estab dport 7000 addr 10.0.1.1"; do
	# shellcheck disable=SC2086 # words
	check "filter '$filter' finds it" is_row $filter
done
for filter in "id $((16#$id == 1 ? 2 : 1))" "sport 7000" "port 1" "dst 10.0.1.1" \
	      "addr fd00::1" "state closing"; do
	# shellcheck disable=SC2086 # words
	check "filter '$filter' does not" no_row $filter
done
check "a listener is not shown" test "$(in_ns "$b" sstp show -n | grep -c LISTEN)" = 0
check "but with -l, alone" \
	test "$(in_ns "$b" sstp show -ln | tail -n +2 | awk '{ print $2, $5 }')" = "LISTEN 0.0.0.0:7000"
check "and with -a, both" test "$(in_ns "$b" sstp show -a | wc -l)" = 3
check "-m shows memory" sh -c "ip netns exec $b sstp show -m | grep -q 'rcv_buffer:.*policy:rrda'"
check "options without a command are those of show" \
	test "$(in_ns "$b" sstp -ln)" = "$(in_ns "$b" sstp show -ln)"
check "-i without a command says what limits" \
	sh -c "ip netns exec $a sstp -i port 7000 | grep -q 'limited by'"
check "an unknown option without a command is refused" refused 2 "'sstp show -h'" sstp -x
check "JSON has the same" json "len(d) == 1 and '%x' % d[0]['cookie'] == '$id' and
	d[0]['remote_port'] == 7000 and d[0]['info']['rate']['peak'] == 10000000 and
	d[0]['info']['contract_time'] > 0 and d[0]['info']['controller'] == 'rate'"
for command in "sstp" "sstp top -c 1 -i 0.1"; do
	# shellcheck disable=SC2086 # words
	check "no colour in a pipe: $command" no_color $command
done
colored() { in_ns "$a" script -qec "$*" /dev/null < /dev/null | grep -q $'\033\[1m'; }
check "colour on a terminal" colored sstp show
uncolored() { NO_COLOR=1 in_ns "$a" script -qec "sstp show" /dev/null < /dev/null |
	      { ! grep -q $'\033'; }; }
check "none with NO_COLOR" uncolored

# --- stat
check "stat shows counters" sh -c "ip netns exec $a sstp stat | grep -q '^OutData  *[1-9]'"
check "and those asked for" test \
	"$(in_ns "$a" sstp stat -z 'InErr*' | wc -l)" = "$(grep -c '^InErr' /proc/net/sstp_snmp)"
rises() { in_ns "$a" sstp stat -i 0.5 -c 2 OutData |
	  awk '$1 == "OutData" && $3 + 0 > 100 { n++ } END { exit n != 2 }'; }
check "and how fast they rise" rises
check "an unknown counter: a hint" refused 1 "stat -z" in_ns "$a" sstp stat Nothing

# --- set, and monitor of it
monitor() {
	ip netns exec "$a" sstp monitor -n > "$work/monitor" 2>&1 &
	monitor=$!
	busywait 20 listens_to_events 1
}
# listens_to_events N: N sockets have joined the multicast group of events.
listens_to_events() {
	[ "$(in_ns "$a" cat /proc/net/netlink | awk '$2 == 16 && $4 != "00000000"' | wc -l)" = "$1" ]
}
end_monitor() { kill "$monitor"; wait "$monitor"; } 2> /dev/null
monitor
check "set: another contract" in_ns "$a" sstp set "$id" rate 20M
check "it is in force" json "d[0]['info']['rate']['peak'] == 20000000"
check "set: parameters" in_ns "$a" sstp set "$id" policy.floor 128k policy.epoch 50
check "they are shown" says_params 'rrda:(epoch:50 floor:131072 surplus:-\?[0-9]* trend:-\?[01])'
check "JSON has them" json "d[0]['policy_params']['floor'] == 131072 and
	d[0]['policy_params']['epoch'] == 50 and 'trend' in d[0]['policy_params'] and
	'k' not in d[0]['policy_params']"
check "set: 0 is the default" in_ns "$a" sstp set "$id" policy.epoch 0
check "a parameter out of range: the kernel's message" \
	refused 1 "rrda: k is 0 or 1 to 255" in_ns "$a" sstp set "$id" policy.k 256
check "an unknown parameter: the kernel's message" \
	refused 1 "rrda has no parameter kk" in_ns "$a" sstp set "$id" policy.kk 1
check "and a list of parameters, with ranges" \
	refused 1 "policy.epoch 1 to 10000" in_ns "$a" sstp set "$id" policy.kk 1
check "one that contradicts another: the kernel's message" \
	refused 1 "values contradict" in_ns "$a" sstp set "$id" policy.ceiling 64k
check "a parameter without a name is refused" refused 2 "is not the name" \
	sstp set "$id" policy. 1
check "a parameter that is no number is refused" refused 2 "is not a number" \
	sstp set "$id" policy.k many
check "these changed nothing" says_params 'rrda:(floor:131072 surplus'
check "set: a policy and a controller, by other words than the ID" \
	in_ns "$a" sstp set dport 7000 controller newreno policy static
check "these are in force" json "d[0]['info']['controller'] == 'newreno' and
	d[0]['info']['policy'] == 'static' and d[0]['policy_params'] == {} and
	d[0]['controller_params']['ssthresh'] > 0"
check "a controller's state is shown" says_params 'newreno:(ssthresh:[0-9]*)$'
check "set: a fixed rate" in_ns "$a" sstp set "$id" controller rate controller.kbit 20k
check "it is shown" says_params 'rate:(kbit:20000)$'
check "packets leave at this rate" json "abs(d[0]['info']['period'] - 1514 * 400) <= 1"
check "set: another" in_ns "$a" sstp set "$id" controller.kbit 5k
check "it is in force at once" json "abs(d[0]['info']['period'] - 1514 * 1600) <= 1"
check "a rate out of range: the kernel's message" refused 1 "rate: kbit is 0 or 1 to 4294967295" \
	in_ns "$a" sstp set "$id" controller.kbit 5G
check "set: packets for a report" in_ns "$a" sstp set "$id" controller.ack_interval 8
check "they are shown" says_params 'rate:(kbit:5000 ack_interval:8)$'
check "set: a time-out" in_ns "$a" sstp set "$id" controller.rto 250000
check "it is in force" json "d[0]['info']['rto'] == 250000"
check "set: the one that is computed" in_ns "$a" sstp set "$id" controller.rto 0
check "it is in force again" json "0 < d[0]['info']['rto'] != 250000"
check "set: a round-trip time" in_ns "$a" sstp set "$id" controller.rtt 400000
check "the time-out is computed from it" busywait 60 json "405000 <= d[0]['info']['rto'] < 1000000"
check "the one that was measured is shown" busywait 60 json "d[0]['info']['rtt'] < 400000"
check "set: the one that is measured" in_ns "$a" sstp set "$id" controller.rtt 0
check "it is in force again" busywait 60 json "0 < d[0]['info']['rto'] < 405000"
check "set: no contract" in_ns "$a" sstp set "$id" rate none
check "there is none" json "d[0]['info']['rate']['peak'] == 0"
check "an unknown controller: a list of those registered" \
	refused 1 "newreno" in_ns "$a" sstp set "$id" controller nothing
check "an invalid rate is refused" refused 2 "is not a rate" sstp set "$id" rate fast
check "a rate out of range: the kernel's message" refused 1 "nothing was changed" \
	in_ns "$a" sstp set "$id" rate 1
check "set without CAP_NET_ADMIN is refused" refused 1 "CAP_NET_ADMIN" \
	in_ns "$a" setpriv --reuid 65534 --clear-groups --inh-caps -all --bounding-set -all \
	sstp set "$id" rate 20M

# --- output to a full disk
for command in "show" "show -j" "-h" "show -h" "stat -z -i 0.1" "top -i 0.1" \
	       "show -r 0.1" "trace $id -o - -i 0.1" "trace $id -o /dev/full -i 0.1"; do
	check "a full disk ends sstp $command" refused 1 "No space left" \
		in_ns "$a" sh -c "timeout 60 sstp $command > /dev/full"
done
ip netns exec "$a" timeout 60 sstp monitor > /dev/full 2> "$work/full" &
full=$!
busywait 20 listens_to_events 2
check "an event for monitor" in_ns "$a" sstp set "$id" rate 30M
wait "$full"
check "a full disk ends sstp monitor" test $? = 1
check "and it says so" grep -qF "No space left" "$work/full"

# --- rates of an interval
rates() {
	in_ns "$a" sstp show -n -r 0.5 -c 2 "$@" > "$work/rates" || return
	[ "$(grep -c '^Type' "$work/rates")" = 2 ] &&
		[ "$(grep -c 'sending: rate:[1-9].* packets:[1-9].*/s .* lost:0.00%' "$work/rates")" = 2 ] &&
		[ "$(grep -c 'receiving: rate:0bit/s' "$work/rates")" = 2 ] && return
	cat "$work/rates"
	return 1
}
check "show -r shows rates after each interval" rates
check "and of those that are selected" rates port 7000
no_rates() { in_ns "$a" sstp show -r 0.1 -c 1 port 1 | { ! grep sending; }; }
check "and of no other" no_rates
listener_has_none() {
	in_ns "$b" sstp show -l -r 0.1 -c 1 > "$work/rates" && grep LISTEN "$work/rates" &&
		! grep -q sending "$work/rates"
}
check "a listener has none" listener_has_none
# Two intervals adjoin, and the counters of one are the difference of the totals.
intervals() {
	in_ns "$a" sstp show -j -r 0.2 -c 3 > "$work/rates" || return
	python3 - "$work/rates" <<-'END'
		import json, sys
		text, lists = open(sys.argv[1]).read(), []
		while text.strip():
		    one, end = json.JSONDecoder().raw_decode(text)
		    lists.append(one)
		    text = text[end:].lstrip()
		assert [len(one) for one in lists] == [1, 1, 1], lists
		for before, after in zip(lists, lists[1:]):
		    was, now, recent = before[0]["info"], after[0]["info"], after[0]["recent"]
		    for name in recent:
		        if name not in ("send_rate", "receive_rate", "loss_rate"):
		            assert recent[name] == now[name] - was[name], name
		    assert recent["age"] >= 200000, recent
		    assert recent["packets_sent"] > 0 and recent["bytes_sent"] > 0, recent
		    want = recent["bytes_sent"] * 8e6 / recent["age"]
		    assert abs(recent["send_rate"] - want) <= 1, (recent, want)
	END
}
check "JSON has the counters of each interval" intervals
check "a count without an interval is refused" refused 2 "it needs -r" sstp show -c 1
check "an interval of 0 is refused" refused 2 "0.001 to 86400" sstp show -r 0

# --- top, trace, plot
top_line() { in_ns "$a" sstp top -n -i 0.5 -c 2 | grep -A 1 '^ *ID' | tail -n 1 |
	     awk -v id="$id" '$1 == id && $2 == "10.0.2.2:7000" && $3 != "0" { n = 1 }
				END { exit !n }'; }
check "top shows what is sent" top_line
# wide N COMMAND...: heading and row of its output have N characters. The port is printed as
# afs3-fileserver, so the address is cut.
wide() {
	local n=$1
	shift
	in_ns "$a" "$@" < /dev/null | sed 's/\r//; s/\x1b\[[?0-9]*[a-zA-Z]//g' |
		awk -v n="$n" 'NF { lines++ } NF && length != n { bad = 1 }
			       END { exit bad || lines != 2 }'
}
check "top has 80 columns in a pipe" wide 80 sstp top -i 0.1 -c 1
check "and more on a terminal that has them" \
	wide 90 script -qec "stty cols 90; sstp top -i 0.1 -c 1" /dev/null
check "trace records" in_ns "$a" sstp trace "$id" -o "$work/trace" -i 0.05 -c 20
check "as many samples as asked for" test "$(wc -l < "$work/trace")" = 20
advances() {
	python3 -c 'import json, sys
d = [json.loads(line) for line in open(sys.argv[1])]
sys.exit(not (d[0]["time"] < d[-1]["time"] and
	      d[0]["info"]["bytes_sent"] < d[-1]["info"]["bytes_sent"]))' "$work/trace"
}
check "of a connection that goes on" advances
# SIGSTOP lasts for ten intervals.
stopped_for_a_second() {
	ip netns exec "$a" sstp trace "$id" -o "$work/stopped" -i 0.1 -c 60 &
	busywait 20 test -s "$work/stopped"
	kill -STOP $!
	sleep 1
	kill -CONT $!
	wait $!
}
takes_longer() {
	python3 -c 'import json, sys
times = [json.loads(line)["time"] for line in open(sys.argv[1])]
sys.exit(not (len(times) == 60 and times[-1] > 6.5))' "$work/stopped"
}
check "trace goes on when it was stopped" stopped_for_a_second
check "and does not make up for what it missed" takes_longer
# An emulated machine needs a minute for that; selftests/host/tools.sh draws as well.
if [ "${SSTP_KERNEL:-}" != uml ]; then
	note "nothing is drawn here"
elif /usr/bin/python3 -c 'import matplotlib' 2> /dev/null; then
	check "plot draws" sstp plot "$work/trace" -o "$work/trace.png"
	check "PNG" test "$(head -c 4 "$work/trace.png" | tail -c 3)" = PNG
else
	skip "plot draws" "python3-matplotlib is not installed"
fi
check "kill without connections is refused" refused 2 "which connections" in_ns "$a" sstp kill
check "kill of an unknown connection" refused 1 "no such connection" in_ns "$a" sstp kill port 1
check "kill without CAP_NET_ADMIN is refused" refused 1 "CAP_NET_ADMIN" \
	in_ns "$a" setpriv --reuid 65534 --clear-groups --inh-caps -all --bounding-set -all \
	sstp kill "$id"
check "and nothing happens" is_row "$id"
in_ns "$a" sstp trace "$id" -o "$work/end" 2> "$work/end.err" &
tracer=$!
busywait 20 test -s "$work/end"
end_transfer
wait "$tracer"
check "trace ends with its connection" test $? = 0
check "and says so" grep -q "has ended" "$work/end.err"
told() { grep -qE "$1" "$work/monitor"; }
check "monitor told of contracts" busywait 60 told "rate-changed +$id .* peak:20.0Mbit/s"
check "and of the end" busywait 60 told "closed +$id .* by:(local|peer) .* sent:"
end_monitor

# --- a slow reader
rmem=$(in_ns "$b" sysctl -n net.sstp.rmem)
in_ns "$b" sysctl -qw net.sstp.rmem="65536 262144 268435456"
impair delay 5ms rate 50mbit
begin --read-rate 200k --read-size 16k --
finds "slow reader: the receiver's side says so" "$b" "limited by: slow reader"
finds "slow reader: the sender's side sends one there" "$a" "limited by: peer, whose window"
check "kill ends it" sh -c "ip netns exec $a sstp kill -n dport 7000 dst 10.0.2.2 |
	grep -q '^str .* 10.0.2.2:7000 '"
check "there is none" no_row
end_transfer
in_ns "$b" sysctl -qw net.sstp.rmem="$rmem"

# --- a lossy path
impair delay 20ms loss 2%
begin --
finds "lossy path: the sender's side says so" "$a" "limited by: lossy path"
end_transfer

# --- a full path, which any machine fills
impair delay 5ms rate 5mbit
begin --
finds "full path: the sender's side says so" "$a" "limited by: full path"
finds "full path: the receiver's side sends one there" "$b" "limited by: nothing here"
end_transfer

# --- the controller: nothing is lost, and there is no queue
impair delay 200ms limit 100000
begin --
finds "the controller: the sender's side says so" "$a" "limited by: controller hybrid"
end_transfer

# --- a small send buffer. A controller slows down when an emulated machine stumbles.
impair delay 200ms
begin -- --sndbuf 64k --rate 45M
finds "send buffer: the sender's side says so" "$a" "limited by: send buffer"
end_transfer

# --- a small receive buffer, with small segments, as it holds only one of the usual size
impair delay 100ms
begin --rcvbuf 64k -- --segment 16k --rate 900M
finds "receive buffer: the receiver's side says so" "$b" "limited by: receive buffer"
finds "receive buffer: the sender's side sends one there" "$a" "limited by: peer, whose window"
end_transfer

# --- a device that is slower than the contract; packets in netem would not count as queued.
impair
tc -n "$a" qdisc add dev "to-$r" root tbf rate 2mbit burst 16k limit 4m
begin -- --rate 90M
finds "device: the sender's side says so" "$a" "limited by: device"
end_transfer
tc -n "$a" qdisc del dev "to-$r" root

# --- a peer that cannot be reached any more
impair delay 5ms rate 50mbit
passed=$(passed)
begin --
busywait 20 passed_more $((passed + 1000000))
impair loss 100%
finds "no way to the peer: the sender's side says so" "$a" \
	"limited by: peer, which has not answered"
impair
end_transfer
impair loss 100%
begin --
finds "no way to connect: it says so, too" "$a" "limited by: peer, which has not answered"
impair
end_transfer

# --- memory pressure
mem=$(sysctl -n net.sstp.mem)
trap 'sysctl -qw "net.sstp.mem=$mem"; settle; cleanup; rm -rf "$work"' EXIT
impair delay 100ms rate 100mbit
in_ns "$b" sysctl -qw net.sstp.rmem="65536 65536 268435456"
sysctl -qw net.sstp.mem="1 1 1000000"
# The controller must not slow down when the window shrinks: it would be the cause. The timers of a
# busy machine are late, which counts as the contract's time, so windows are far apart.
begin -- --rate 90M
finds "memory pressure: the receiver's side says so" "$b" "limited by: memory pressure"
finds "memory pressure: the sender's side sends one there" "$a" "limited by: peer, whose window"
end_transfer
sysctl -qw "net.sstp.mem=$mem"

# --- and a program that has nothing to send
impair
begin -- --send-pause 300000
finds "nothing to send: the sender's side says so" "$a" "limited by: program that sends"
end_transfer

# end_coproc PID FD: closes the input of a coprocess; bash unsets both variables at its end.
end_coproc() {
	eval "exec $2>&-"
	wait "$1"
}

# --- a socket that connects again: the same cookie, another connection
coproc anew { exec ip netns exec "$a" python3 -c 'import ctypes, socket, sys
def new():
    fd = socket.socket(25, socket.SOCK_STREAM).detach()
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fd)
listener, client, peers = new(), new(), []
listener.bind(("127.0.0.1", 7001))
listener.listen()
for line in sys.stdin:
    ctypes.CDLL(None).connect(client.fileno(), bytes(16), 16)
    client.connect(("127.0.0.1", 7001))
    peers.append(listener.accept()[0])
    client.sendall(b"x" * int(line))
    print(line, end="", flush=True)'; }
# connect_anew BYTES: connects the socket again, and sends BYTES.
# shellcheck disable=SC2154 # set by coproc
connect_anew() { echo "$1" >&"${anew[1]}" && read -r -t 60 -u "${anew[0]}"; }
check "connects" connect_anew 100000
in_ns "$a" sstp trace dport 7001 -i 0.1 -o "$work/anew" 2> "$work/anew.err" &
tracer=$!
in_ns "$a" sstp top -n -i 2 -c 2 dport 7001 > "$work/anew.top" &
top=$!
looked() { test -s "$work/anew" && grep -q 127.0.0.1:7001 "$work/anew.top"; }
check "trace and top look at it" busywait 30 looked
check "connects anew" connect_anew 0
check "trace ends: it is another connection" busywait 60 grep -q "has ended" "$work/anew.err"
kill "$tracer" 2> /dev/null
wait "$top"
no_rates() { tail -n 2 "$work/anew.top" | grep '127.0.0.1:7001  *0  *0 '; }
check "top shows no rates of it yet" no_rates
end_coproc "$anew_PID" "${anew[1]}"

# --- many
sockets=10000
coproc many { exec ip netns exec "$a" "$SSTP_BIN/many" sstp; }
# shellcheck disable=SC2154 # set by coproc
echo "connect $((sockets / 2))" >&"${many[1]}"
read -r -t 120 made <&"${many[0]}"
check "$((sockets / 2)) connections" grep -q "\"connections\": $((sockets / 2))," <<< "$made"
begin=${EPOCHREALTIME/./}
shown=$(in_ns "$a" sstp show -i | grep -c '^str')
took=$(((${EPOCHREALTIME/./} - begin) / 1000))
check "all are shown" test "$shown" = "$sockets"
note "sstp show -i of $sockets connections took $took ms"
end_coproc "$many_PID" "${many[1]}"
finish
