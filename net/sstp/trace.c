// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of include/trace/events/sstp.h, defined. */
#include "skb_in.h"
#include "sstp.h"

#define CREATE_TRACE_POINTS
#include <trace/events/sstp.h>
