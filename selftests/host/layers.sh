#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Calls between the objects of the module go down the layers of net/sstp/layers.
# timeout: 5400
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM

for kernel in ${SSTP_KERNELS:-uml 6.12 6.1}; do
	tools/vm/kernel path "$kernel" > /dev/null 2>&1 && found=yes && break
done
[ -n "${found:-}" ] || skip_all "no kernel to build for is there"
if ! tools/vm/run -k "$kernel" --build > "$work/log" 2>&1; then
	fail "the module builds for $kernel"
	tail -n 20 "$work/log" | sed 's/^/# /'
	finish
fi

build=$(sed -n 's/^built in //p' "$work/log")

# The kernel's build lists the module's objects, by what path depends on its version.
while IFS= read -r file; do
	object=$(basename "$file" .o)
	# What only some kernels have is an object without symbols on others.
	echo "$object a $object.o"
	nm "$build/net/sstp/$object.o" | awk -v "object=$object" '{ print object, $(NF - 1), $NF }'
done < <(cat "$build"/net/sstp/sstp{,-ctrl-*,-rbuf-*}.mod) > "$work/symbols"

layers() { python3 selftests/host/layers.py "$@"; }
check "calls go down the layers" layers net/sstp/layers "$work/symbols"

# finds WORDS LINE...: with these symbols added, the check prints WORDS.
finds() {
	local words=$1
	shift
	{ cat "$work/symbols"; printf '%s\n' "$@"; } > "$work/more"
	layers net/sstp/layers "$work/more" > "$work/found" && return 1
	grep -qx -- "$words" "$work/found"
}
check "a call up is found" finds 'up from facts to entry: mib needs planted of main' \
	'main T planted' 'mib U planted'
check "a call up of data is found" finds 'up from bytes to objects: wire needs planted of conn' \
	'conn D planted' 'wire U planted'
check "a call between neighbours is found" \
	finds 'up from actions to events: ack needs planted of timer' \
	'timer T planted' 'ack U planted'
check "a circle of two is found" finds 'a circle in bytes: encap wire' \
	'wire T planted' 'encap U planted' 'encap T also' 'wire U also'
check "a circle of three is found" finds 'a circle in facts: drop mib trace' \
	'drop T one' 'mib U one' 'mib T two' 'trace U two' 'trace T three' 'drop U three'
check "an object without a layer is found" finds 'planted.o is in no layer' 'planted T planted'

no_object() {
	grep -v '^small ' "$work/symbols" > "$work/less"
	layers net/sstp/layers "$work/less" > "$work/found" && return 1
	grep -qx 'small, in layer actions, is no object' "$work/found"
}
check "a layer's object that is not there is found" no_object
finish
