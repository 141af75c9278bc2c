#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module loads, unloads and loads again, with namespaces coming and going.
# timeout: 900
# quick: yes
. "$(dirname "$0")/lib.sh"

ko=$SSTP_MODULE_DIR/sstp.ko

unloaded() { rmmod sstp; }

check "is loaded" grep -q '^sstp ' /proc/modules
check "names its protocol family" sh -c "modinfo -F alias '$ko' | grep -qx net-pf-25"
check "unloads" busywait 90 unloaded
check "loads" insmod "$ko"

setup_ns ns1 ns2
check "unloads with namespaces there" busywait 90 unloaded
check "loads with namespaces there" insmod "$ko"
for i in {1..5}; do
	ip netns add "churn-$i"
	ip netns del "churn-$i"
done
check "unloads after namespaces went" busywait 90 unloaded
check "loads after namespaces went" insmod "$ko"

# The function that makes the rest of it is the module's.
coproc dump { netlink_test hold; }
read -r -t 20 <&"${dump[0]}"
stays() { ! rmmod sstp; }
check "stays while a netlink dump is under way" stays
exec {dump[1]}>&-
check "unloads when its reader has gone" busywait 90 unloaded
check "loads after a dump" insmod "$ko"

# A listener leaves UDP sockets behind, which go with the module.
under_fire() {
	local i
	for i in {1..10}; do
		xfer server -b -n 1 -j /dev/null &&
			xfer client -s 1 127.0.0.1 > /dev/null &&
			busywait 90 unloaded && insmod "$ko" || return
	done
}
ip link set lo up
while :; do
	printf 123 > /dev/udp/127.0.0.1/25719
done 2> /dev/null &
fire=$!
check "unloads while packets come" under_fire
{ kill "$fire"; wait "$fire"; } 2> /dev/null
finish
