#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Connections end when the peer, a process, a link, a namespace or the module goes away, and
# leave no sockets behind.
# timeout: 1440
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

# Keep the shell from reporting processes that were killed.
end_client() { kill -9 "$client"; wait "$client"; } 2> /dev/null
ended() { ! kill -0 "$1" 2>/dev/null; }

# expect_error NAME ERRNO...: the client ends with one of these errors.
expect_error() {
	local name=$1 error
	shift
	if ! busywait 40 ended "$client"; then
		end_client
		fail "$name" "the client never ended"
		explain
		return
	fi
	wait "$client"
	error=$(field error)
	case " $* " in
	*" ${error:-none} "*) pass "$name" ;;
	*) fail "$name" "${error:-no error} in place of $*"; explain ;;
	esac
}

# nothing_left NAME NAMESPACE...: all sockets are gone within the time that closing may take.
nothing_left() {
	local name=$1 ns
	shift
	for ns; do
		if ! busywait 30 sockets_are "$ns" 0; then
			fail "$name" "$(sockets "$ns") sockets in ${ns%-*}"
			return
		fi
	done
	pass "$name"
}

# begin SERVER OPTIONS... -- CLIENT OPTIONS...: starts a long transfer.
begin() {
	local server=() before
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	impair rate 20mbit limit 10000
	before=$(passed)
	serve "${server[@]}" || return
	transfer_begin -s 1G "$@" "$b4"
	busywait 20 passed_more $((before + 300000))
}
# Without a word of ICMP
silence() { impair loss 100%; }

setup_path || skip_all "no network namespaces"
[ -n "$(sockets "$a")" ] || skip_all "no SSTP in this kernel"

begin -- --user-timeout 2000
silence
expect_error "peer vanishes: ETIMEDOUT" ETIMEDOUT
stop_server
impair
nothing_left "and nothing is left here" "$a"

begin --user-timeout 2000 -- --user-timeout 2000 -u -d
silence
expect_error "peer vanishes, both send: ETIMEDOUT" ETIMEDOUT
stop_server
impair
nothing_left "and nothing is left" "$a" "$b"

# An idle end notices the loss of its peer only by keep-alives.
in_ns "$a" sysctl -qw net.sstp.keepalive_time=1 net.sstp.keepalive_intvl=1 \
	net.sstp.keepalive_probes=2
impair
serve -n 2 --send-pause 100000		# one more, so that it goes on to listen
transfer_begin --down --keepalive "$b4"
busywait 60 sockets_are "$b" 2		# listener and connection
silence
expect_error "peer vanishes from an idle connection: ETIMEDOUT" ETIMEDOUT
stop_server
impair
nothing_left "and nothing is left here" "$a"

retries=$(in_ns "$a" sysctl -n net.sstp.init_retries)
in_ns "$a" sysctl -qw net.sstp.init_retries=2
silence
transfer_begin "$b4"
expect_error "nobody answers connect(): ETIMEDOUT" ETIMEDOUT
in_ns "$a" sysctl -qw "net.sstp.init_retries=$retries"
impair

begin --
kill -9 "$(cat "$work/pid")"
expect_error "server killed: reset" ECONNRESET EPIPE
nothing_left "and nothing is left" "$a" "$b"

begin --
end_client
check "client killed: the server ends, too" busywait 20 ended "$(cat "$work/pid")"
nothing_left "and nothing is left" "$a" "$b"

# Unread data is freed with the socket.
begin -- --user-timeout 2000
silence
end_client
stop_server
nothing_left "orphans with data end without their peer" "$a"
impair

# A host that has restarted answers with RESET.
begin --
silence
kill -9 "$(cat "$work/pid")"
fin_timeout=$(in_ns "$b" sysctl -n net.sstp.fin_timeout)
user_timeout=$(in_ns "$b" sysctl -n net.sstp.user_timeout)
in_ns "$b" sysctl -qw net.sstp.fin_timeout=1 net.sstp.user_timeout=1000
busywait 20 sockets_are "$b" 0
in_ns "$b" sysctl -qw "net.sstp.fin_timeout=$fin_timeout" "net.sstp.user_timeout=$user_timeout"
impair
expect_error "peer has forgotten: reset" ECONNRESET EPIPE

serve -T 400 -n 1000	# all of them
cycles=0
while [ "$cycles" -lt 1000 ] && transfer -n 50 -s 1 "$b4"; do
	cycles=$((cycles + 50))
done < /dev/null
check "1000 connections made and closed" test "$cycles" = 1000
[ "$cycles" = 1000 ] || explain
nothing_left "and nothing is left" "$a" "$b"

if grep -q '^sstp ' /proc/modules; then
	begin --
	refused() { ! rmmod sstp && grep -q '^sstp ' /proc/modules; }
	check "the module cannot be unloaded while there are connections" refused
	check "connections survive the attempt" kill -0 "$client"
	end_client
	stop_server
	nothing_left "and nothing is left" "$a" "$b"
fi

# Delete the namespace of the server.
begin -- --user-timeout 3000
ip netns del "$b"
stop_server
expect_error "peer's namespace removed: an error in time" \
	ETIMEDOUT ECONNRESET EPIPE EHOSTUNREACH ENETUNREACH
nothing_left "and nothing is left here" "$a"

# Delete the name of a namespace that has an open connection.
setup_ns c
# shellcheck disable=SC2154 # set by setup_ns
in_ns "$c" "$xfer" server -b -n 2 --pid "$work/pid" -j /dev/null 2>/dev/null
in_ns "$c" "$xfer" client -s 1G 127.0.0.1 > /dev/null 2>&1 &
client=$!
busywait 60 sockets_are "$c" 3
ip netns del "$c"
check "connections outlive their namespace's name" kill -0 "$client"
end_client
stop_server
pass "and end with their processes"
finish
