// SPDX-License-Identifier: GPL-2.0
/* How fast a program reads; meter.h describes it. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "ar.h"
#include "meter.h"

#define SSTP_METER_PART	4	/* of the round-trip time: an epoch */

u32 sstp_meter_length(u32 rtt)
{
	return clamp_t(u64, rtt * (u64)NSEC_PER_USEC / SSTP_METER_PART, SSTP_METER_EPOCH_MIN,
		       SSTP_METER_EPOCH_MAX);
}

/* kbit/s of @bytes in @ns; a rate that has no bound is that of samples. */
static u32 sstp_meter_rate(u64 bytes, u64 ns)
{
	/* 2^41 bytes exceed any buffer, and their product fits. */
	u64 bits = min(bytes, 1ULL << 41) * (8 * USEC_PER_SEC);

	return ns ? min_t(u64, div64_u64(bits, ns), SSTP_AR_MAX) : SSTP_AR_MAX;
}

void sstp_meter_start(struct sstp_meter *m, const struct sstp_meter_counts *c, u64 now)
{
	m->was = *c;
	m->at = now;
	m->rate = 0;
}

void sstp_meter_end(struct sstp_meter *m, const struct sstp_meter_counts *c, u64 now, u32 length,
		    struct sstp_meter_epoch *e)
{
	u64 passed = max(now - m->at, 1ULL), busy = min(c->unread - m->was.unread, passed);
	u64 served = c->served - m->was.served;

	e->read = sstp_meter_rate(served, passed);
	e->rate = clamp(m->rate, e->read, max(sstp_meter_rate(served, busy), e->read));
	e->refused = c->refused - m->was.refused;
	e->busy = div64_u64(busy * SSTP_METER_ONE, passed);
	e->samples = clamp_t(u64, div_u64(passed + length / 2, length), 1, SSTP_METER_LATE);
	m->was = *c;
	m->at = now;
	m->rate = e->rate;
}
