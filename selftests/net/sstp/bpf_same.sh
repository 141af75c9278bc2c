#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Controllers in BPF do as those of the same algorithms in C: over a line whose queue overflows,
# but for vegas, they take the same time within 2%. Machines that run one instruction a nanosecond leave out what
# the host's load does. Three of some 270 transfers lost packets once more just after slow start,
# with either form, and took 0.4 to 0.6 s longer, so the median of three counts. With cubic single
# transfers differ by up to 2.4%, as a loss at another packet moves the whole curve, so the mean of
# the middle three of five counts. Code that never ran takes milliseconds more in a machine's or a
# controller's first transfer, which moves the losses, too, so that one does not count.
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

# line BYTES: 100 Mbit/s and 20 ms; so much may queue, 50 KB are a fifth of what is in flight.
line() { tc -n "$r" qdisc replace dev "to-$b" root tbf rate 100mbit burst 20kb limit "$1"; }
line 50kb &&
tc -n "$r" qdisc add dev "to-$a" root netem delay 20ms limit 10000 || skip_all "no tbf or netem"

# moves CONTROLLER SIZE
# While this machine waits for a file of the host, as for the client's program, its clock jumps from
# timer to timer, by minutes when the host is busy: neither end may time out within a day.
moves() {
	serve -T 86400
	transfer -T 86400 --controller "$1" -u -d -s "$2" "$b4"
}
# takes CONTROLLER: prints the microseconds of a transfer.
takes() {
	local n=3 i
	[ "${1#bpf-}" != cubic ] || n=5
	moves "$1" 2M || return
	for ((i = 0; i < n; i++)); do
		moves "$1" 20M || return
		echo $((10#$(field seconds | tr -d .)))
	done > "$work/times"
	if [ "$n" = 5 ]; then
		sort -n "$work/times" | sed '1d;$d' |
			awk '{ sum += $1 } END { print int(sum / NR) }'
	else
		sort -n "$work/times" | sed -n 2p
	fi
}
same() {
	local ours theirs
	ours=$(takes "$1") && theirs=$(takes "bpf-$1") || { explain; return 1; }
	note "$1: $ours us in C, $theirs us in BPF"
	[ $(((ours - theirs) * 50)) -le "$ours" ] && [ $(((theirs - ours) * 50)) -le "$ours" ]
}
names=(newreno scalable cubic vegas)
for name in "${names[@]}"; do
	# Vegas answers the queue's delay, and loses nothing where the queue has room for its slow
	# start. Else it lost packets once more after slow start in two of nine transfers.
	[ "$name" != vegas ] || check "the queue has room for vegas" line 1mb
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
