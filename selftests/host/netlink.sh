#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is generated from the netlink specification is what the generator makes of it.
# timeout: 600
# quick: yes
. "$(dirname "$0")/../net/sstp/lib.sh"

cd "$(dirname "$0")/../.." || exit
tools/vm/kernel path source > /dev/null 2>&1 || skip_all "no kernel source is there"
spec=Documentation/netlink/specs/sstp.yaml

check "the generated files are up to date" tools/ynl-regen -c

# attributes SET: their names as in C, padding left out
attributes() {
	sed -n "/^    name: $1$/,/^  -$/s/^        name: //p" "$spec" | tr - _ | grep -vx pad
}
# fields STRUCT: those of a struct that programs see
fields() {
	sed -n "/^struct $1 {/,/^}/s/^\t[^;]*[\t ]\([a-z_]*\)\(\[[^;]*\]\)\?;.*/\1/p" \
		include/uapi/linux/sstp.h | grep -vx reserved
}
same() { diff <(attributes "$1") <(fields "$2") && [ -n "$(fields "$2")" ]; }
check "info has every field of struct sstp_info" same info sstp_info
check "rate has every field of struct sstp_rate_spec" same rate sstp_rate_spec
finish
