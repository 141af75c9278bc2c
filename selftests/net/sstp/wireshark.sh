#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The dissector in tools/wireshark shows transfers as the kernel counted them, and judges
# hostile bytes as the module's own parser does. Runs in simulated time, where a capture
# misses no packet.
# timeout: 600
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

# Wireshark runs as nobody, who has no settings.
export HOME=/nonexistent LC_ALL=C
chmod 755 "$work"
install -m 644 ../../../tools/wireshark/afsstp.lua "$work"
shows() {
	python3 wireshark_check.py --dissector "$work/afsstp.lua" \
		--parser "$SSTP_BIN/wire_check" "$@"
}

# capture_begin NAME, capture_end OPTIONS...: capture on a's device, and compare with a's counters.
capture_begin() {
	local name=$1
	ip netns exec "$a" tcpdump -i "to-$r" -U --immediate-mode -B 65536 \
		--time-stamp-precision=nano -w "$work/$name.pcap" "udp or icmp" 2> "$work/dump.err" &
	dump=$!
	busywait 10 grep -q "listening on" "$work/dump.err"
	capturing=$name
	in_ns "$a" cat /proc/net/sstp_snmp > "$work/$name.before"
}
capture_end() {
	settle
	in_ns "$a" cat /proc/net/sstp_snmp > "$work/$capturing.after"
	kill "$dump"
	wait "$dump" 2> /dev/null
	check "$capturing: all was captured" grep -q "^0 packets dropped by kernel" "$work/dump.err"
	check "$capturing: shown as it was" shows transfers "$@" --ours "$a4" "$a6" -- \
		"$work/$capturing.pcap" "$work/$capturing.before" "$work/$capturing.after"
}

# moved NAME SERVER OPTIONS... -- CLIENT OPTIONS...
moved() {
	local name=$1 server=()
	shift
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	if serve "${server[@]}" && transfer "$@"; then
		pass "$name"
	else
		fail "$name" "$*"
		explain
	fi
	stop_server
}
# fails_with ERRNOS COMMAND...
fails_with() {
	local want=$1
	shift
	! "$@" && [[ " $want " == *" $(field error) "* ]]
}
# exchanged: requests and answers of 100 bytes
exchanged() {
	local words=(sstp delay 100 20) server
	in_ns "$b" "$SSTP_BIN/exchange" server "${words[@]}" &
	server=$!
	busywait 10 sockets_are "$b" 1 &&
		in_ns "$a" "$SSTP_BIN/exchange" client "${words[@]}" "$b4" && wait "$server"
}
ended() { ! kill -0 "$client" 2> /dev/null; }
broken() { busywait 40 ended && fails_with "ECONNRESET EPIPE" false; }

setup_path || exit 1

# Neighbour solicitations must not be lost: after three the address is unreachable.
moved "IPv4 without losses" -- -s 1 "$b4"
moved "IPv6 without losses" -6 -- -s 1 "$b6"

# Without offloads: all types and options, losses
capture_begin packets
impair delay 5ms loss 8%
moved "a stream, both ways" -6 -- -s 200k -u -d "$b6"
moved "segments with options" -t seqpacket -n 2 --tolerance 10000 --ack soft --rate-limit 50M \
	--policy static --rcvbuf 300k -- -t seqpacket -s 1M -w 30000 -n 2 --tolerance 20000 \
	--rate 80M --segment 30000 --segment-limit 100k "$b4"
moved "segments of a packet" -t seqpacket -- -t seqpacket -s 200k -w 1000 "$b4"
impair delay 5ms
check "a controller of two halves loads" insmod "$SSTP_MODULE_DIR/sstp-echo.ko"
check "answers that bring reports" exchanged
moved "messages of controllers" -- --controller echo -s 3M "$b4"
in_ns "$b" sysctl -qw net.core.somaxconn=4
moved "set-ups with cookies" -n 8 -- -n 8 -s 10k "$b4"
in_ns "$b" sysctl -qw net.core.somaxconn=4096
serve
check "refused: no listener" fails_with ECONNREFUSED transfer -p 7001 "$b4"
impair rate 20mbit limit 10000
before=$(passed)
transfer_begin -s 100M "$b4"
busywait 20 passed_more $((before + 100000))
kill -9 "$(cat "$work/pid")"
check "aborted" broken
serve
before=$(passed)
transfer_begin -s 100M "$b4"
busywait 20 passed_more $((before + 100000))
impair loss 100%
stop_server
in_ns "$b" sysctl -qw net.sstp.fin_timeout=1 net.sstp.user_timeout=1000
busywait 20 sockets_are "$b" 0
impair
check "forgotten" broken
check "refused: no SSTP there" fails_with ECONNREFUSED transfer 10.0.1.2
capture_end

# With offloads, packets are captured in trains.
offloads on
capture_begin trains
moved "trains of a stream, both ways" -- -s 500k -u -d "$b4"
moved "trains of segments" -6 -t seqpacket -n 8 -- -t seqpacket -s 100k -w 50000 -R -n 8 -u -d \
	"$b6"
impair loss 20% delay 1ms
moved "trains lost" -t seqpacket -n 2 -- -t seqpacket -s 2M -w 300k -n 2 "$b4"
capture_end --trains

seed=$(($(date +%s%N) % 32768))
for option in "" --option=-2; do
	# shellcheck disable=SC2086 # an option or none
	check "hostile bytes${option:+, seen twice}" shows hostile --seed "$seed" $option \
		--corpus corpus/packets.h "$work/hostile.pcap" "$work/packets.pcap" \
		"$work/trains.pcap"
done
finish
