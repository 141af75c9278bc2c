#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Controllers in BPF do as those of the same algorithms in C: they take the same time within 0.5%.
# Machines that run one instruction a nanosecond leave out what the host's load does. The line loses
# each 1,000th packet, and is so long that nothing queues: where a queue overflows, or its delay
# ends slow start, microseconds decide which packets are lost, or when, and two transfers of one
# controller differ by 3%. Vegas answers the queue's delay, so it has a short line without losses.
# Code that never ran takes milliseconds more in a machine's or a controller's first transfer, which
# therefore does not count.
# timeout: 1800
# kernels: 6.12
# mode: icount
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

grep -qw sstp_icount /proc/cmdline || skip_all "the CPU's time is not exact here"
command -v sstp > /dev/null || skip_all "the sstp command is not there: tools/sstp"
programs=$SSTP_BIN/bpf
[ -e "$programs/newreno.bpf.o" ] ||
	skip_all "no programs: clang or the headers of libbpf are missing (tools/deps bpf)"
[ "$(cat /sys/kernel/sstp/bpf)" = yes ] || skip_all "$(cat /sys/kernel/sstp/bpf)"
setup_path || skip_all "no network namespaces"

# line MS: 100 Mbit/s and this delay; there is room for slow start in the queue.
line() { tc -n "$r" qdisc replace dev "to-$a" root netem delay "$1ms" limit 10000; }
tc -n "$r" qdisc add dev "to-$b" root tbf rate 100mbit burst 20kb limit 1mb &&
tc -n "$r" qdisc add dev "to-$a" clsact || skip_all "no tbf or clsact"

# losses EACH: the line loses each packet of 1500 bytes that has this number, counted from now on;
# 0 = none. Shorter packets do not count, as the loss of one without data causes no cut.
losses() {
	tc -n "$r" filter del dev "to-$a" ingress 2> /dev/null
	[ "$1" = 0 ] || tc -n "$r" filter add dev "to-$a" ingress protocol ip \
		u32 match u16 1500 0xffff at 2 action gact pass random determ drop "$1"
}

# moves CONTROLLER SIZE
# While this machine waits for a file of the host, as for the client's program, its clock jumps from
# timer to timer, by minutes when the host is busy: neither end may time out within a day.
moves() {
	serve -T 86400
	transfer -T 86400 --controller "$1" -u -d -s "$2" "$b4"
}
# takes CONTROLLER MS EACH: prints the microseconds of a transfer.
takes() {
	line "$2" && losses 0 && moves "$1" 2M && losses "$3" && moves "$1" 20M &&
		echo $((10#$(field seconds | tr -d .)))
}
same() {
	local line=(400 1000) ours theirs
	[ "$1" != vegas ] || line=(20 0)
	ours=$(takes "$1" "${line[@]}") && theirs=$(takes "bpf-$1" "${line[@]}") ||
		{ explain; return 1; }
	note "$1: $ours us in C, $theirs us in BPF"
	[ $(((ours - theirs) * 200)) -le "$ours" ] && [ $(((theirs - ours) * 200)) -le "$ours" ]
}
names=(newreno scalable cubic vegas)
for name in "${names[@]}"; do
	module=$SSTP_MODULE_DIR/sstp-ctrl-$name.ko
	[ ! -e "$module" ] || insmod "$module"
	check "bpf-$name loads" sstp ctrl load "$programs/$name.bpf.o"
	check "bpf-$name takes as long as $name" same "$name"
done
settle
check "they unload" sstp ctrl unload "${names[@]/#/bpf-}"
for name in "${names[@]:1}"; do
	check "and so does the module of $name" rmmod "sstp-ctrl-$name"
done
finish
