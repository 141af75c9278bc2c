// SPDX-License-Identifier: GPL-2.0
/* Capacity of a path from the dispersion of packet trains */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "spread.h"

/* Intervals between arrivals in a train that counts: with interrupt coalescing, which may delay its
 * first and its last packets by an interval each, the error is a tenth at most.
 */
#define SSTP_SPREAD_GAPS		10U
#define SSTP_SPREAD_SINGLE	6U	/* the same if packets came one by one */
#define SSTP_SPREAD_ENOUGH	16U	/* packets of a train that ends without another one */
/* Packets after which a train that does not count ends, and bytes that keep the product small */
#define SSTP_SPREAD_MOST		4096U
#define SSTP_SPREAD_BYTES	BIT(30)
#define SSTP_SPREAD_PAUSE	(60ULL * NSEC_PER_SEC)	/* between arrivals of a train, at most */

static bool sstp_spread_counts(const struct sstp_spread *t)
{
	u32 gaps = t->joined ? SSTP_SPREAD_GAPS : SSTP_SPREAD_SINGLE;

	return t->packets >= gaps && t->last - t->first >= gaps * t->gap;
}

/* Take the estimate of the train, if it counts. The bytes of the first arrival do not count: their
 * time is not in the span.
 */
static void sstp_spread_end(struct sstp_spread *t)
{
	if (t->begun && sstp_spread_counts(t)) {
		u64 rate = mul_u64_u64_div_u64(t->bytes, NSEC_PER_SEC,
					       max(t->last - t->first, 1ULL));

		t->rate[t->next] = min(rate, SSTP_SPREAD_RATE_MAX);
		t->next = (t->next + 1) % SSTP_SPREAD_TRAINS;
		t->trains = min(t->trains + 1U, SSTP_SPREAD_TRAINS);
	}
	t->begun = false;
}

/* Do packets that left at @stamp, and came at @now, continue the train? A later push does if it
 * left in 7/8 of the time in which it came, or less: then packets waited at the narrowest link,
 * which sent them without a pause.
 */
static bool sstp_spread_joins(const struct sstp_spread *t, u64 now, u32 stamp)
{
	s32 sent = stamp - t->stamp;

	/* After a pause of 2^32 us @stamp may seem to continue the train. */
	if (!t->begun || now < t->last || now - t->last > SSTP_SPREAD_PAUSE || sent < 0)
		return false;
	return (u64)sent * NSEC_PER_USEC <= (now - t->first) / 8 * 7;
}

static void sstp_spread_begin(struct sstp_spread *t, u64 now, u32 stamp)
{
	t->first = now;
	t->last = now;
	t->gap = 0;
	t->stamp = stamp;
	t->bytes = 0;
	t->packets = 0;
	t->begun = true;
	t->joined = false;
}

void sstp_spread_add(struct sstp_spread *t, u64 now, u32 stamp, u32 packets, u32 bytes)
{
	if (!sstp_spread_joins(t, now, stamp)) {
		sstp_spread_end(t);
		sstp_spread_begin(t, now, stamp);
		return;
	}
	/* Packets that came with the first ones are part of the first arrival. */
	if (now == t->first)
		return;
	t->gap = max(t->gap, now - t->last);
	t->joined |= packets > 1 || now == t->last;
	t->last = now;
	t->packets = min_t(u64, (u64)t->packets + packets, SSTP_SPREAD_MOST);
	t->bytes = min_t(u64, (u64)t->bytes + bytes, SSTP_SPREAD_BYTES);
	if (t->packets >= SSTP_SPREAD_MOST || t->bytes >= SSTP_SPREAD_BYTES ||
	    (t->packets >= SSTP_SPREAD_ENOUGH && sstp_spread_counts(t)))
		sstp_spread_end(t);
}

void sstp_spread_break(struct sstp_spread *t)
{
	sstp_spread_end(t);
}

u64 sstp_spread_capacity(const struct sstp_spread *t)
{
	u64 sum = 0;
	u32 i;

	if (t->trains < SSTP_SPREAD_TRAINS)
		return 0;
	for (i = 0; i < SSTP_SPREAD_TRAINS; i++)
		sum += t->rate[i];
	return div_u64(sum, SSTP_SPREAD_TRAINS);
}
