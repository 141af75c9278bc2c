#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A controller that sets senseless windows and periods cannot stall a connection: data arrives,
# also on a lossy path. And callbacks never get an impossible sample.
# timeout: 900
# kernels: uml debug
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/path.sh"

module=$SSTP_MODULE_DIR/sstp-hostile.ko
parameters=/sys/module/sstp_hostile/parameters

[ -e "$module" ] || skip_all "no hostile module was built"
setup_path || skip_all "no network namespaces"
unload() { rmmod sstp-hostile; }
trap 'settle; unload; cleanup; rm -rf "$work"' EXIT
complaints() { dmesg | grep -c "sysfs: cannot create duplicate"; }
before=$(complaints)
check "the hostile module loads, and its second policy of a name does not" insmod "$module"
check "the kernel logs no warning about it" test "$(complaints)" = "$before"

# says CWND PERIOD SIZE: a transfer both ways, while the controllers of both ends set these
says() {
	echo "$1" > $parameters/cwnd
	echo "$2" > $parameters/period
	serve --controller hostile
	transfer --controller hostile -u -d -s "$3" "$b4" || { explain; return 1; }
}
# Most packets of the 16 KB are paced, at one per second.
for path in "" ", on a lossy path"; do
	[ -z "$path" ] || impair loss 5%
	for cwnd in 0 1 2147483648 4294967294; do
		check "a window of $cwnd$path" says $cwnd 0 100k
	done
	check "a period of 11 days$path" says 4294967295 1000000000000000 16k
	check "no window and such a period$path" says 0 1000000000000000 16k
done
impair

# With the longest period data passes every 2 s; the test allows more.
ended() { ! kill -0 "$client" 2>/dev/null; }
passed_or_ended() { passed_more "$1" || ended; }
flows() {
	echo 4294967295 > $parameters/cwnd
	echo 1000000000000000 > $parameters/period
	serve --controller hostile
	transfer_begin --controller hostile -u -s 16k "$b4"
	until ended; do
		busywait 6 passed_or_ended $(($(passed) + 1000)) || { explain; wait "$client"; return 1; }
	done
	wait "$client" || { explain; return 1; }
}
check "no pause of such a period is longer than 6 s" flows
echo 4294967295 > $parameters/cwnd
echo 0 > $parameters/period

# Random outputs hurt their own connection only: one beside it goes on as if it were alone. Data
# of the hostile one passes, too: the longest pauses are those above.
beside() {
	local other before
	echo Y > $parameters/random
	serve -n 2
	transfer_begin --controller hostile -u -s 1G "$b4"
	other=$client
	transfer -u -s 20M "$b4" || { explain; kill "$other"; return 1; }
	before=$(passed)
	busywait 20 passed_more $((before + 1000))
	set -- $?
	kill "$other"
	wait "$other" 2> /dev/null
	stop_server
	echo N > $parameters/random
	busywait 100 sockets_are "$a" 0 && return "$1"
}
check "a controller with random outputs, and one beside it" beside
sensible() { [ "$(cat $parameters/senseless)" = N ]; }
check "each callback got the size of packets" sensible

# buffers SERVER OPTIONS...: three concurrent transfers with a policy that sets huge limits
buffers() {
	local inits
	inits=$(cat $parameters/policy_inits)
	serve -n 3 --policy hostile "$@"
	transfer -n 3 -u -d -s 100k "$b4" || { explain; return 1; }
	[ "$(cat $parameters/policy_inits)" -gt "$inits" ]
}
check "a policy that sets huge limits" buffers
check "a policy that sets huge limits, of a shared buffer" buffers --pool
check "each callback got a buffer" sensible

# The largest window fills no memory with data to send: the peer takes 256 kB at a time, and a path
# of 100 Mbit/s and 20 ms has no more in flight.
impair delay 20ms rate 100mbit limit 333
serve --rcvbuf 128k
transfer_begin --controller hostile --param cwnd=4294967294 --for 60 "$b4"
check "a transfer with the largest window" busywait 60 passed_more $(($(passed) + 5000000))
check "its send buffer follows what is in flight" queue_small
kill "$client"	# ends --for
wait "$client"
check "the transfer ends" test $? = 0
check "the connection ends" busywait 60 sockets_are "$a" 0
impair

# A controller's parameters of one connection, which replace those of the module
echo 4294967295 > $parameters/cwnd
echo 1000000 > $parameters/period
serve --controller hostile
transfer_begin --controller hostile -u -s 1G "$b4"
change() { in_ns "$a" sstp set dport 7000 "$@"; }
refused() { local why=$1; shift; ! change "$@" 2> "$work/err" && grep -q "$why" "$work/err"; }
details() { in_ns "$a" sstp show -i dport 7000; }
shows() { details | grep -q -- "$1"; }
established() { shows "ESTAB"; }
check "a transfer with a hostile controller" busywait 20 established
check "its state, but no parameter" shows 'hostile:(calls:[0-9]* lowest:-9223372036854775808)'
check "parameters are set" change controller.cwnd 5k controller.period 2M
check "parameters, then the state" shows 'hostile:(cwnd:5000 period:2000000 calls:'
check "the controller has them at once" shows 'cwnd:5000.*period:2'
check "values that contradict each other" refused "hostile: values contradict" \
	controller.cwnd 4294967295
check "a value that is too high" refused "cwnd is 0 or 1 to 4294967295" controller.period 3M \
	controller.cwnd 4294967296
check "a parameter that it has not" refused "hostile has no parameter none" \
	controller.period 3M controller.none 1
check "they changed nothing" shows 'hostile:(cwnd:5000 period:2000000 calls:'
check "another controller" change controller newreno
check "it has none" shows 'newreno:(ssthresh:'
check "the hostile one again, with a parameter" change controller hostile controller.period 7k
check "the others have their defaults" shows 'hostile:(period:7000 calls:'
kill "$client"
wait "$client" 2> /dev/null
stop_server

settle
check "the hostile module unloads" busywait 20 unload
trap 'settle; cleanup; rm -rf "$work"' EXIT
finish
