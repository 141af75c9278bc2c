// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of trace.h, defined. */
#define CREATE_TRACE_POINTS
#include "trace.h"
