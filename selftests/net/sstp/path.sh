# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A path across three namespaces, which can be impaired; source it after lib.sh.
#
#   +-------+ 10.0.1.0/24      +-------+      10.0.2.0/24 +-------+
#   |   a .1|------------------|.2 r .1|------------------|.2 b   |
#   +-------+ fd00:10:0:1::/64 +-------+ fd00:10:0:2::/64 +-------+
#
# Segmentation offloads are off, so that netem loses single packets, not trains.

# shellcheck disable=SC2034 # for tests
a4=10.0.1.1 b4=10.0.2.2 a6=fd00:10:0:1::1 b6=fd00:10:0:2::2
xfer=${SSTP_BIN:-$(cd "$(dirname "$0")" && pwd)}/xfer
proto=sstp
work=$(mktemp -d)
trap 'settle; cleanup; rm -rf "$work"' EXIT

# Let closed sockets finish their connections before the path is deleted.
settle() {
	local ns
	# shellcheck disable=SC2154 # a and b are set by setup_ns
	for ns in $a $b; do
		in_ns "$ns" sysctl -qw net.sstp.user_timeout=1000 2>/dev/null
		busywait 20 sockets_are "$ns" 0
	done
}

in_ns() { ip netns exec "$@"; }

# setup_path [MTU]
setup_path() {
	# shellcheck disable=SC2154 # a, r, b are set by setup_ns
	local ns
	setup_ns a r b &&
	connect_ns "$a" "$r" 10.0.1 "${1:-1500}" &&
	connect_ns "$r" "$b" 10.0.2 "${1:-1500}" &&
	in_ns "$r" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 &&
	ip -n "$a" route add default via 10.0.1.2 &&
	ip -n "$b" route add default via 10.0.2.1 &&
	ip -n "$a" -6 route add default via fd00:10:0:1::2 &&
	ip -n "$b" -6 route add default via fd00:10:0:2::1 &&
	offloads off
}

# offloads on|off [GRO]: sets segmentation offloads on all devices of the path, and GRO if that is
# to differ.
offloads() {
	local at
	for at in "$a to-$r" "$r to-$a" "$r to-$b" "$b to-$r"; do
		in_ns "${at% *}" ethtool -K "${at#* }" tso "$1" gso "$1" gro "${2-$1}" \
			tx-udp-segmentation "$1" || return
	done
}

# impair [ARGUMENT...]: sets netem with these arguments in both directions; none = a clean path.
impair() {
	local to
	for to in "$a" "$b"; do
		tc -n "$r" qdisc del dev "to-$to" root 2>/dev/null
		[ $# -eq 0 ] || tc -n "$r" qdisc add dev "to-$to" root netem "$@" || return
	done
}

# Bytes that went from a to b so far
passed() { in_ns "$r" cat "/sys/class/net/to-$b/statistics/tx_bytes"; }
passed_more() { [ "$(passed)" -ge "$1" ]; }

# serve SERVER OPTIONS...: starts a server in b, which ends when its connections are served.
serve() {
	in_ns "$b" "$xfer" server -P "$proto" --background --pid "$work/pid" \
		--json "$work/server" -T 120 "$@" > "$work/server.out" 2>&1 < /dev/null
}
stop_server() {
	local pid
	pid=$(cat "$work/pid" 2>/dev/null) || return 0
	kill -9 "$pid" 2>/dev/null
	rm -f "$work/pid"
}

# transfer CLIENT OPTIONS...: runs a client in a; its summary goes to $work/client.
transfer() { transfer_begin "$@"; wait "$client"; }
transfer_begin() {
	ip netns exec "$a" "$xfer" client -P "$proto" --json "$work/client" \
		-T 100 "$@" > "$work/client.out" 2> "$work/client.err" &
	client=$!	# ip netns exec replaces itself by xfer
}

# field NAME: prints a field of the client's summary.
field() { sed -n 's/.*"'"$1"'": "\{0,1\}\([^",}]*\).*/\1/p' "$work/client"; }

# counter NAMESPACE NAME: prints a counter of /proc/net/sstp_snmp.
counter() { in_ns "$1" awk -v name="$2" '$1 == name { print $2 }' /proc/net/sstp_snmp; }

# sockets NAMESPACE: prints the number of sockets, closing ones included.
sockets() { in_ns "$1" awk '$1 == "SSTP" { print $3 }' /proc/net/protocols; }
sockets_are() { [ "$(sockets "$1")" = "$2" ]; }

# Print the output of client and server as diagnostic lines.
explain() {
	local file
	for file in "$work"/client.err "$work"/server.out "$work"/client; do
		[ -s "$file" ] && cut -c -500 "$file" | sed 's/^/# /'
	done
	paste <(in_ns "$a" cat /proc/net/sstp_snmp) \
	      <(in_ns "$b" cat /proc/net/sstp_snmp) 2>/dev/null |
		awk '$2 + $4 { print "# " $1, "a:", $2, "b:", $4 }'
}

# Bytes in the send buffer of the connection to port 7000; are there some, and less than 4 MB?
send_queue() { in_ns "$a" sstp show -j dport 7000 | sed -n 's/.*"snd_queued": *\([0-9]*\).*/\1/p'; }
queue_small() {
	local bytes
	bytes=$(send_queue)
	echo "# $bytes bytes in the send buffer"
	[ "$bytes" -gt 0 ] && [ "$bytes" -lt $((4 << 20)) ]
}
