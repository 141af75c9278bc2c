#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Controllers, most in modules of their own: each moves data at 100 Mbit/s and 40 ms, with and
# without losses, and a live connection may change from any to any other, again and again. In
# simulated time.
# timeout: 600
# kernels: uml
# mode: time-travel
cd "$(dirname "$0")" || exit 1
. ./lib.sh
need_simulated_time
. ./path.sh

modules=(scalable highspeed bic cubic westwood vegas fast udt gtp dctcp bbr paptc)
controllers=(hybrid newreno rate "${modules[@]}")
declare -A kbit=([rate]=90000)	# their parameter kbit

[ -e "$SSTP_MODULE_DIR/sstp-ctrl-bic.ko" ] || skip_all "no modules of controllers were built"
setup_path || skip_all "no network namespaces"
PATH=$SSTP_BIN:$PATH
command -v sstp > /dev/null || skip_all "the sstp command was not built"

load() { insmod "$SSTP_MODULE_DIR/sstp-ctrl-$1.ko"; }
unload() { rmmod "sstp-ctrl-$1"; }
users() { cat "/sys/module/sstp_ctrl_$1/refcnt"; }
for module in "${modules[@]}"; do
	check "$module loads" load "$module"
done

# The queue has room for a bandwidth-delay product.
path() { impair delay 20ms rate 100mbit limit 333 "$@"; }

# moves CONTROLLER MBIT SIZE: a transfer, checked, with MBIT per second at least
moves() {
	serve
	transfer --controller "$1" ${kbit[$1]:+--param "kbit=${kbit[$1]}"} -s "$3" -T 400 "$b4" ||
		{ explain; return 1; }
	awk -v is="$(field seconds)" -v bytes="$(field bytes)" -v least="$2" \
		'BEGIN { rate = bytes * 8e-6 / is; print "# " rate " Mbit/s"; exit rate < least }'
}
path
for controller in "${controllers[@]}"; do
	# The bandwidth estimate of westwood lags behind slow start, so its first cut is deep.
	least=50
	[ "$controller" != westwood ] || least=25
	check "$controller moves data" moves "$controller" $least 40M
done
path loss 0.1%
for controller in "${controllers[@]}"; do
	check "$controller moves data where packets are lost" moves "$controller" 0 10M
done
path

# --- a controller without a window does not fill all memory with data to send, of which the
# receiver, on the same machine, would lack; and after an outage it is as fast as before.
# full_rate: 0.9 of the 20 Mbit/s for a second
full_rate() {
	local before
	before=$(passed)
	sleep 1
	[ $(($(passed) - before)) -ge 2250000 ]
}
serve
transfer_begin --controller rate --param kbit=20000 --for 30 "$b4"
check "rate sends at 20 Mbit/s" busywait 10 full_rate
check "its send buffer follows that" queue_small
impair loss 100%
sleep 20
path
check "after an outage of 20 s it sends at 20 Mbit/s again" busywait 10 full_rate
wait "$client"
check "the transfer ends" test $? = 0

# --- a controller that is in use stays
serve
transfer_begin --controller cubic --for 5 "$b4"
check "a connection has cubic" busywait 10 in_ns "$a" sh -c 'sstp show -i | grep -q cubic'
in_use() { [ "$(users cubic)" -gt 0 ] && ! unload cubic 2> /dev/null; }
check "its module cannot be unloaded" in_use
wait "$client"
check "the transfer ends" test $? = 0

# --- from any to any other, 1092 times, under load
change() { in_ns "$a" sstp set port 7000 controller "$@"; }
change_to() { change "$1" ${kbit[$1]:+controller.kbit "${kbit[$1]}"}; }
changes() {
	local round from to before
	for round in {1..6}; do
		before=$(passed)
		for from in "${controllers[@]}"; do
			for to in "${controllers[@]}"; do
				[ "$from" != "$to" ] || continue
				change_to "$from" && change_to "$to" || { explain; return 1; }
				sleep 0.02	# of simulated time
			done
		done
		[ "$(passed)" -gt $((before + 100000)) ] || {
			echo "# round $round: $before, then $(passed) bytes"
			return 1
		}
	done
}
check "the connection ends" busywait 60 sockets_are "$a" 0
serve
transfer_begin -T 400 --for 45 "$b4"
check "a connection" busywait 10 change vegas

# --- parameters and state of each
details() { in_ns "$a" sstp show -i port 7000; }
shows() { details | grep -q -- "$1"; }
refused() { local why=$1; shift; ! change "$@" 2> "$work/err" && grep -q "$why" "$work/err"; }
# tunes CONTROLLER PARAMETERS STATE: sets each of them to 3 and shows them; STATE is a pattern.
tunes() {
	local name words=() shown=
	for name in $2; do
		words+=("controller.$name" 3)
		shown+="$name:3 "
	done
	change "$1" "${words[@]}" && shows "$1:($shown$3)" || { details; return 1; }
}
n='[0-9]\+'
check "vegas has parameters and a state" \
	tunes vegas "alpha gamma" "ssthresh:$n base_rtt:$n round_rtt:$n"
check "alpha must be less than beta" refused "vegas: values contradict" vegas \
	controller.alpha 40 controller.beta 40
check "it may be great" change vegas controller.alpha 40 controller.beta 41
check "fast has" tunes fast "alpha gamma" "ssthresh:$n base_rtt:$n mean_rtt:$n"
check "scalable has" tunes scalable "a b" "ssthresh:$n"
check "bic has" tunes bic "beta max_increment smooth_part low_window" "ssthresh:$n w_max:$n"
check "cubic has" tunes cubic "beta" "ssthresh:$n w_max:$n k:$n w_est:$n"
check "what is no switch is refused" refused "cubic: no_fast_conv is 0 or 1 to 1" cubic \
	controller.no_fast_conv 2
check "highspeed has a state" tunes highspeed "" "ssthresh:$n a:$n b:$n"
check "westwood has" tunes westwood "" "ssthresh:$n rtt_min:$n estimate:$n"
check "dctcp has parameters and a state" \
	tunes dctcp "inverse_gain" "ssthresh:$n alpha:$n delivered:$n marked:$n"
check "bbr has a state" tunes bbr "" "state:$n max_bw:$n min_rtt:$n bw_shortterm:$n inflight_long:$n \
inflight_short:$n extra_acked:$n full_bw_reached:$n"
# The manual page has each parameter with its range. After a name that there is not, sstp lists all.
documented() {
	local name word least most range lacks=0 n=0
	while read -r name word least most; do
		range="$least to $most"
		[ "$least" != "$most" ] || range=$least
		sed -n "/^\.B $name\$/,/^\.TP/p" ../../../Documentation/man/sstp.7 |
			grep -qF "$word \" ($range;" || { echo "$name: $word $range"; lacks=1; }
		n=$((n + 1))
	done < <(change vegas controller.none 1 2>&1 |
		 awk '/^  [a-z]/ { name = $1 } /^    controller\./ { sub(/.*\./, "", $1)
		      print name, $1, $2, $4 }')
	[ $n -ge 14 ] && return $lacks
}
check "sstp.7 has all parameters with their ranges" documented
check "any controller is replaced by any other, and data moves on" changes
wait "$client"
check "the transfer ends, and all data came" test $? = 0

settle
for module in "${modules[@]}"; do
	check "$module is unused" test "$(users "$module")" = 0
	check "$module unloads" busywait 20 unload "$module"
done
unknown() { ! in_ns "$a" "$xfer" client --controller vegas "$b4" > "$work/refused" 2>&1 &&
	    grep -q "No such file" "$work/refused"; }
check "after that it is unknown" unknown
finish
