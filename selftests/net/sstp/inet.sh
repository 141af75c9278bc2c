#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Sockets of AF_INET and AF_INET6 with IPPROTO_SSTP do what those of TCP do, as those of
# AF_SSTP are shown to; and the module is found by their names.
# timeout: 600
# kernels: uml 6.1
. "$(dirname "$0")/lib.sh"

for test in setup state options data segment; do
	check "api_${test}_test -i" "${SSTP_BIN:-$(dirname "$0")}/api_${test}_test" -i
done
module=${SSTP_MODULE_DIR:-.}/sstp.ko
for family in 2 10; do
	for type in 1 5; do
		alias=net-pf-$family-proto-260-type-$type
		if [ -e "$module" ]; then
			check "$alias" grep -qa "alias=$alias" "$module"
		else
			skip "$alias" "no module in SSTP_MODULE_DIR"
		fi
	done
done
finish
