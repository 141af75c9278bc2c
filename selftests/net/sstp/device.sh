#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A device of the sender's host that frees packets long after they have left: the limit of what
# waits in its queue leaves the sender more than that time would. In simulated time.
# timeout: 400
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

setup_path || skip_all "no network namespaces"

mac() { in_ns "$1" cat "/sys/class/net/$2/address"; }
# copies: a sends by a tunnel, so that no qdisc is seen by its sockets. What reaches r is a copy that
# takes another device. The packet itself is dropped by r once to-r has freed it.
copies() {
	local to_r to_a
	to_r=$(mac "$a" "to-$r") && to_a=$(mac "$r" "to-$a") &&
	ip -n "$a" link add tunnel up type vxlan id 1 dstport 4789 local 10.0.1.1 remote 10.0.1.2 &&
	ip -n "$r" link add tunnel up type vxlan id 1 dstport 4789 local 10.0.1.2 remote 10.0.1.1 &&
	in_ns "$a" ethtool -K tunnel gso off tso off tx-udp-segmentation off &&
	ip -n "$a" addr add 10.0.3.1/24 dev tunnel && ip -n "$r" addr add 10.0.3.2/24 dev tunnel &&
	ip -n "$a" route replace default via 10.0.3.2 &&
	ip -n "$a" link add copy up type veth peer name copied netns "$r" &&
	ip -n "$r" link set copied address "$to_a" up &&
	ip -n "$a" neigh replace 10.0.1.2 lladdr "$to_a" dev "to-$r" nud permanent &&
	ip -n "$r" neigh replace 10.0.1.1 lladdr "$to_r" dev "to-$a" nud permanent &&
	tc -n "$a" qdisc add dev "to-$r" clsact &&
	tc -n "$a" filter add dev "to-$r" egress matchall action mirred egress mirror dev copy &&
	tc -n "$r" qdisc add dev "to-$a" clsact &&
	tc -n "$r" filter add dev "to-$a" ingress matchall action drop
}
# frees MS: the device below frees packets each MS milliseconds.
frees() {
	tc -n "$a" qdisc del dev "to-$r" root 2>/dev/null
	[ "$1" -eq 0 ] ||
		tc -n "$a" qdisc add dev "to-$r" root netem slot "$1ms" "$1ms" limit 100000
}
# moves OPTIONS...: transfers what the link carries in 4 s.
moves() {
	serve
	transfer -s 50000k "$@" "$b4" || { explain; return 1; }
}
rate() { awk -v s="$(field seconds)" -v bytes="$(field bytes)" 'BEGIN { print int(bytes * 8 / s / 1000) }'; }
# as_fast KIND: the last transfer had at least 0.4 of the rate with a device that frees at once. A
# millisecond of the rate and four packets, each 5 ms, would be 0.2, and 0.35 of the contract.
declare -A prompt
as_fast() { [ "$(rate)" -ge $((${prompt[$1]} * 4 / 10)) ]; }

impair delay 10ms rate 100mbit limit 1000
check "packets leave as copies" copies
for ms in 0 1 3 5; do
	check "the device frees packets each $ms ms" frees "$ms"
	for kind in "--controller hybrid" "--controller newreno" "--rate 90M"; do
		read -ra options <<< "$kind"
		check "$ms ms, $kind" moves "${options[@]}"
		note "$ms ms, $kind: $(rate) kbit/s"
		if [ "$ms" -eq 0 ]; then
			prompt[$kind]=$(rate)
		else
			check "$ms ms, $kind: 0.4 of the rate without the device" as_fast "$kind"
		fi
	done
	proto=tcp
	check "$ms ms, TCP" moves -s 5000k
	note "$ms ms, TCP: $(rate) kbit/s"
	proto=sstp
done
settle
stop_server
finish
