// SPDX-License-Identifier: GPL-2.0
/*
 * Circuit breaker (RFC 8084) of a contract.
 *
 * A path that is too slow for a contract loses about the same share of its packets in
 * every interval. Other losses differ: random loss is a small share; bursts and outages
 * have intervals without loss between them, or are short. So the share that each interval
 * loses beyond a bearable one is summed up, and intervals that lose less reduce the sum (a
 * CUSUM test). A standing queue is a second sign of a path that is too slow; with one, the
 * bearable share is smaller.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "breaker.h"

#define SSTP_BREAKER_ONE	1024
#define SSTP_BREAKER_BEARABLE	(SSTP_BREAKER_ONE / 10)
#define SSTP_BREAKER_QUEUED	(SSTP_BREAKER_ONE / 14)	/* bearable with a standing queue */
/* Most that an interval adds, so that a single outage does not trip the breaker. */
#define SSTP_BREAKER_MOST	(SSTP_BREAKER_ONE * 2 / 5)
#define SSTP_BREAKER_LIMIT	(5 * SSTP_BREAKER_ONE)
#define SSTP_BREAKER_INTERVAL	(100 * NSEC_PER_MSEC)	/* or a round trip */
#define SSTP_BREAKER_PACKETS	32	/* fewest shipments from which a share is computed */
#define SSTP_BREAKER_WAIT	(30ULL * NSEC_PER_SEC)
#define SSTP_BREAKER_WAIT_MAX	(3600ULL * NSEC_PER_SEC)

static void sstp_breaker_begin(struct sstp_breaker *b, u64 now, u32 highest, u32 received)
{
	b->start = now;
	b->highest = highest;
	b->received = received;
	b->rtt_low = 0;
}

/* Did every packet of the interval wait in a queue? Even the lowest round-trip time is above
 * that of the idle path by 1/8 and 1 ms.
 */
static bool sstp_breaker_queued(const struct sstp_breaker *b)
{
	return b->rtt_low > b->rtt_min + b->rtt_min / 8 + USEC_PER_MSEC;
}

static void sstp_breaker_trip(struct sstp_breaker *b, u64 now, u32 got)
{
	u64 rtt = (u64)b->rtt_min * NSEC_PER_USEC;

	b->carried = min_t(u64, mul_u64_u64_div_u64(got, rtt, now - b->start), got);
	b->wait = b->wait && now - b->closed < b->wait ?
		min(b->wait * 2, SSTP_BREAKER_WAIT_MAX) : SSTP_BREAKER_WAIT;
	b->retry = now + b->wait;
	b->trips++;
}

enum sstp_breaker_verdict sstp_breaker_report(struct sstp_breaker *b, u64 now, u32 highest,
					      u32 received, u32 rtt, u32 srtt)
{
	u32 shipped, got;
	s32 share;

	if (!b->guards)
		return SSTP_BREAKER_GO_ON;
	shipped = highest - b->highest;
	got = received - b->received;
	if (rtt) {
		b->rtt_min = b->rtt_min ? min(b->rtt_min, rtt) : rtt;
		b->rtt_low = b->rtt_low ? min(b->rtt_low, rtt) : rtt;
	}
	if (b->retry) {
		if (now < b->retry)
			return SSTP_BREAKER_GO_ON;
		b->retry = 0;
		b->closed = now;
		b->excess = 0;
		sstp_breaker_begin(b, now, highest, received);
		return SSTP_BREAKER_RETRY;
	}
	if (!b->start) {
		sstp_breaker_begin(b, now, highest, received);
		return SSTP_BREAKER_GO_ON;
	}
	if (shipped < SSTP_BREAKER_PACKETS ||
	    now - b->start < max((u64)srtt * NSEC_PER_USEC, SSTP_BREAKER_INTERVAL))
		return SSTP_BREAKER_GO_ON;
	/* @got may exceed @shipped: packets late in this interval counted as lost before. */
	got = min(got, 2 * shipped);
	share = div_s64(((s64)shipped - got) * SSTP_BREAKER_ONE, shipped);
	share -= sstp_breaker_queued(b) ? SSTP_BREAKER_QUEUED : SSTP_BREAKER_BEARABLE;
	b->excess = max(b->excess + min(share, SSTP_BREAKER_MOST), 0);
	if (b->excess >= SSTP_BREAKER_LIMIT) {
		sstp_breaker_trip(b, now, got);
		return SSTP_BREAKER_TRIP;
	}
	sstp_breaker_begin(b, now, highest, received);
	return SSTP_BREAKER_GO_ON;
}
