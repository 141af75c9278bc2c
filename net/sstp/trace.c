// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of include/trace/events/sstp.h, defined. */
#include <linux/trace_seq.h>
#include "skb_in.h"
#include "sstp.h"

#define CREATE_TRACE_POINTS
#include <trace/events/sstp.h>

const char *sstp_trace_state(struct trace_seq *p, const char *names, const s64 *state)
{
	const char *text = trace_seq_buffer_ptr(p);
	u32 i, n = sstp_param_states(names);

	for (i = 0; i < n; i++)
		trace_seq_printf(p, " %s=%lld", names + i * SSTP_NAME_MAX, state[i]);
	trace_seq_putc(p, 0);
	return text;
}
