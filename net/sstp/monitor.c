// SPDX-License-Identifier: GPL-2.0
/*
 * What SSTP_MONITOR tells of a connection: the performance monitor of Gu and Grossman,
 * "Supporting Configurable Congestion Control in Data Transport Services", section 2.2.4. Counters
 * since the set-up and since they were read last, rates of that interval, and the present state.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "monitor.h"

/* Where a field is in struct sstp_info, and in struct sstp_monitor */
struct sstp_monitor_field {
	u16 from;
	u16 to;
	u16 size;
};

#define SSTP_MONITOR_FIELD(field)	\
	{ offsetof(struct sstp_info, field), offsetof(struct sstp_monitor, field), \
	  sizeof_field(struct sstp_info, field) }

static const struct sstp_monitor_field sstp_monitor_counts[SSTP_MONITOR_COUNTS] = {
#define SSTP_MONITOR_COUNT(field)	SSTP_MONITOR_FIELD(field),
#include "monitor_list.h"
#undef SSTP_MONITOR_COUNT
};

static const struct sstp_monitor_field sstp_monitor_now[] = {
#define SSTP_MONITOR_NOW(field)		SSTP_MONITOR_FIELD(field),
#include "monitor_list.h"
#undef SSTP_MONITOR_NOW
};

static u64 sstp_monitor_get(const struct sstp_info *i, const struct sstp_monitor_field *f)
{
	return *(const u64 *)((const u8 *)i + f->from);
}

/* The rate of @bytes in @us, bit/s. The division faults on x86 if the result has over 64 bits. */
static u64 sstp_monitor_rate(u64 bytes, u64 us)
{
	if (!us)
		return 0;
	if (div64_u64(bytes, us) >= div_u64(U64_MAX, 8 * USEC_PER_SEC))
		return U64_MAX;
	return mul_u64_u64_div_u64(bytes, 8 * USEC_PER_SEC, us);
}

/* Losses of packets of an earlier interval may be reported in this one. */
static u32 sstp_monitor_loss(u64 lost, u64 sent)
{
	return sent ? div64_u64(min(lost, sent) * 1000000, sent) : 0;
}

void sstp_monitor_fill(struct sstp_monitor *m, const struct sstp_info *i,
		       const struct sstp_monitor_mark *mark)
{
	const struct sstp_monitor_field *f;
	u32 n;

	for (n = 0; n < SSTP_MONITOR_COUNTS; n++) {
		struct sstp_count *c;

		f = &sstp_monitor_counts[n];
		c = (struct sstp_count *)((u8 *)m + f->to);
		c->total = sstp_monitor_get(i, f);
		/* What was shipped of a segment that is cut anew is taken off again. */
		c->recent = c->total > mark->count[n] ? c->total - mark->count[n] : 0;
	}
	for (f = sstp_monitor_now; f < sstp_monitor_now + ARRAY_SIZE(sstp_monitor_now); f++)
		memcpy((u8 *)m + f->to, (const u8 *)i + f->from, f->size);
	m->send_rate = sstp_monitor_rate(m->bytes_sent.recent, m->age.recent);
	m->receive_rate = sstp_monitor_rate(m->bytes_received.recent, m->age.recent);
	m->loss_rate = sstp_monitor_loss(m->packets_lost.recent, m->packets_sent.recent);
}

void sstp_monitor_begin(struct sstp_monitor_mark *mark, const struct sstp_info *i)
{
	u32 n;

	for (n = 0; n < SSTP_MONITOR_COUNTS; n++)
		mark->count[n] = sstp_monitor_get(i, &sstp_monitor_counts[n]);
}
