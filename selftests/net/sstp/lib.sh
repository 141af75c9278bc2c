# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests in shell: results as KTAP, namespaces, waiting. Source it first:
#
#   . "$(dirname "$0")/lib.sh"
#   check "name of the case" command arguments...
#   finish

set -u

ktap_count=0
ktap_failed=0
echo "TAP version 13"

pass() { ktap_count=$((ktap_count + 1)); echo "ok $ktap_count $1"; }
fail() {
	ktap_count=$((ktap_count + 1)) ktap_failed=1
	echo "not ok $ktap_count $1${2:+ # $2}"
}
skip() { ktap_count=$((ktap_count + 1)); echo "ok $ktap_count $1 # SKIP $2"; }
note() { echo "# $*"; }
skip_all() { echo "1..0 # SKIP $*"; exit 4; }
# Tests with "mode: time-travel" call this first.
need_simulated_time() {
	grep -q time-travel=inf-cpu /proc/cmdline ||
		skip_all "time is not simulated (time-travel=inf-cpu)"
}
finish() { echo "1..$ktap_count"; exit "$ktap_failed"; }

# check NAME COMMAND...: a case that passes when the command does.
check() {
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		pass "$name"
	else
		fail "$name" "exit status $?: $*"
		[ -z "$output" ] || printf '%s\n' "$output" | sed 's/^/# /'
	fi
}

# busywait SECONDS COMMAND...: until the command succeeds. It is tried once more after that time, as
# the machine may have stood still, and SECONDS of the shell may be up to one too many.
busywait() {
	local deadline=$((SECONDS + $1 + 1)) last=
	shift
	until "$@" > /dev/null 2>&1; do
		[ -z "$last" ] || return 1
		[ "$SECONDS" -lt "$deadline" ] || last=1
		sleep 0.05
	done
}

# setup_ns NAME...: network namespaces with lo up, gone when the test ends; each
# name becomes a variable that holds the namespace's name.
namespaces=()
setup_ns() {
	local name
	for name; do
		printf -v "$name" '%s-%s' "$name" "$$"
		ip netns add "${!name}" || return
		namespaces+=("${!name}")
		ip -n "${!name}" link set lo up
		# Until link-local addresses have been tried out a router asks for nobody.
		ip netns exec "${!name}" sysctl -qw net.ipv6.conf.default.accept_dad=0
	done
}

# connect_ns A B NET [MTU]: a veth pair, A has NET.1 and fd00:NET::1, B the 2s.
connect_ns() {
	local a=$1 b=$2 net=$3 mtu=${4:-1500} v6
	v6=fd00:${net//./:}:
	ip link add "to-$b" mtu "$mtu" netns "$a" type veth peer "to-$a" mtu "$mtu" netns "$b" &&
	ip -n "$a" addr add "$net.1/24" dev "to-$b" &&
	ip -n "$b" addr add "$net.2/24" dev "to-$a" &&
	ip -n "$a" addr add "${v6}:1/64" nodad dev "to-$b" &&
	ip -n "$b" addr add "${v6}:2/64" nodad dev "to-$a" &&
	ip -n "$a" link set "to-$b" up &&
	ip -n "$b" link set "to-$a" up
}

cleanup() {
	local ns
	for ns in "${namespaces[@]}"; do
		ip netns pids "$ns" 2>/dev/null | xargs -r kill -9 2>/dev/null
		ip netns del "$ns" 2>/dev/null
	done
}
trap cleanup EXIT
