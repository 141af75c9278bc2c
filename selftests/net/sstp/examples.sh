#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each client of the examples works with each server, with loss on the path.
# timeout: 600
# quick: yes
# kernels: uml
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

source=$(cd "$(dirname "$0")/../../../examples" && pwd)
declare -A at=(
	[C]=$SSTP_BIN/examples/c
	[Python]=$source/python
	[Go]=$SSTP_BIN/examples/go
)
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
rate=50000000

setup_path || skip_all "no network namespaces"
languages=(C Python)
if [ -x "${at[Go]}/server" ]; then
	languages+=(Go)
else
	skip "the examples in Go" "go was not there to build them: tools/deps net"
fi

# server LANGUAGE OPTIONS...: starts a server in b, and waits until it listens.
server() {
	local language=$1
	shift
	rm -rf "$work/received" "$work/server.log"
	mkdir "$work/received"
	ip netns exec "$b" "${at[$language]}/server" "$@" "$work/received" \
		> "$work/server.log" 2>&1 &
	server_pid=$!	# ip netns exec replaces itself by the server
	busywait 120 grep -q listening "$work/server.log" && return
	fail "the server in $language listens"
	sed 's/^/# /' "$work/server.log"
	return 1
}
stop() { { kill "$server_pid"; wait "$server_pid"; } 2> /dev/null; }

# client LANGUAGE ARGUMENTS...: runs a client in a; its output goes to LANGUAGE.said.
client() {
	local language=$1
	shift
	in_ns "$a" "${at[$language]}/client" "$@" < "$work/file" > "$work/$language.said"
}

hash_of() { sha256sum < "$1"; }
head -c 1000000 /dev/urandom > "$work/file"
sent=$(hash_of "$work/file")

# said LANGUAGE MISSING: checks the server's answer and the fields of SSTP_INFO.
said() {
	local answer contract resent
	{ read -r answer && read -r _ contract _ _ _ _ _ resent _; } < "$work/$1.said" &&
		echo "$resent" >> "$work/resent" &&
		[ "$answer" = "1000000 bytes, $2 missing" ] && [ "$contract" = $rate ] && return
	cat "$work/$1.said" "$work/server.log"
	return 1
}
# moved LANGUAGE NUMBER ADDRESS: a client's file arrives as the server's file NUMBER.
moved() {
	client "$1" -r $rate "$3" && said "$1" 0 && [ "$(hash_of "$work/received/$2")" = "$sent" ]
}
# One client of each language, all at once
crowd() {
	local language pids=() n status=0
	for language in "${languages[@]}"; do
		in_ns "$a" "${at[$language]}/client" "$b4" < "$work/file" > /dev/null &
		pids+=($!)
	done
	for n in "${pids[@]}"; do
		wait "$n" || status=1
	done
	for n in "${!pids[@]}"; do
		# These files follow those of the clients before.
		[ "$(hash_of "$work/received/$((n + 1 + ${#languages[@]}))")" = "$sent" ] || status=1
	done
	return $status
}
# The received file has zeros in the ranges that the server printed, and else equals the sent one.
with_gaps() {
	python3 - "$work/file" "$work/received/1" "$work/server.log" <<-'END'
		import re, sys
		want, got, log = (open(name, "rb").read() for name in sys.argv[1:])
		want = bytearray(want)
		gaps = [[int(n) for n in gap]
		         for gap in re.findall(rb"1: (\d+) bytes are missing at (\d+)\n", log)]
		for length, offset in gaps:
		    want[offset:offset + length] = bytes(length)
		missing = sum(length for length, _ in gaps)
		assert got == want, "other bytes are missing"
		assert missing, "nothing is missing"
		assert b"1: 1000000 bytes, %d missing\n" % missing in log, log
	END
}
refused() {
	! client "$1" "$b4" 2> "$work/refused" && grep -qi "connection refused" "$work/refused"
}

# What the example in Python reads of a connection
monitored() {
	PYTHONPATH=${at[Python]} in_ns "$a" python3 - <<-'END'
		import socket, sstp
		at = ("127.0.0.1", 7001)
		listener, client = sstp.new(socket.AF_INET), sstp.new(socket.AF_INET)
		listener.bind(at)
		listener.listen()
		client.connect(at)
		for size, total in (1000, 1000), (10, 1010):
		    client.send(bytes(size))
		    seen = sstp.monitor(client)
		    assert seen.bytes_sent == (total, size), seen
		    assert seen.age.recent and seen.packet_size and seen.mtu, seen
	END
}
check "monitor() in Python" monitored

# Streams in Go fulfil the contract of net.Conn.
if [ -x "${at[Go]}/conn.test" ]; then
	conn_test() {
		in_ns "$a" "${at[Go]}/conn.test" -test.v | tee "$work/conn"
		return "${PIPESTATUS[0]}"
	}
	check "nettest.TestConn of streams in Go" conn_test
	check "all eleven of it, by IPv4 and IPv6" \
		test "$(grep -c -- '--- PASS: TestConn/IPv[46]/' "$work/conn")" = 22
else
	skip "nettest.TestConn of streams in Go" "it was not built: tools/deps net"
fi

impair delay 1ms loss 1%
for to in "${languages[@]}"; do
	server "$to" || continue
	n=0
	for from in "${languages[@]}"; do
		address=$b4
		[ $((++n)) = 2 ] && address=$b6
		check "client in $from, server in $to" moved "$from" $n "$address"
	done
	check "many clients at once, server in $to" crowd
	stop
done
check "packets were lost and sent again" grep -qv '^0$' "$work/resent"

impair delay 1ms loss 3%
for language in "${languages[@]}"; do
	server "$language" -t 200000 || continue
	check "a client that tolerates loss, in $language" client "$language" -t 200000 "$b4"
	check "the server prints the missing bytes, in $language" with_gaps
	stop
done
impair
for language in "${languages[@]}"; do
	check "a port without a listener, in $language" refused "$language"
done
finish
