// SPDX-License-Identifier: GPL-2.0
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_window.h>
#include "htcp.h"

#define SSTP_HTCP_CREDIT	16	/* binary places of packets not yet added */

static u32 sstp_htcp_us(u64 now)
{
	return div_u64(now, NSEC_PER_USEC);
}

static u32 sstp_htcp_ms(u64 now)
{
	return div_u64(now, NSEC_PER_MSEC);
}

void sstp_htcp_begin(struct sstp_htcp *g, u64 now)
{
	*g = (struct sstp_htcp){
		.begun_ms = sstp_htcp_ms(now),
		.grown_us = sstp_htcp_us(now),
	};
}

u32 sstp_htcp_past(const struct sstp_htcp *g, u64 now)
{
	return sstp_htcp_us(now) - g->grown_us;
}

void sstp_htcp_touch(struct sstp_htcp *g, u64 now)
{
	g->grown_us = sstp_htcp_us(now);
}

void sstp_htcp_rest(struct sstp_htcp *g, u32 ms)
{
	g->begun_ms += ms;
	g->grown_us += ms * USEC_PER_MSEC;
}

/* alpha(t) = 1 + 10 t + (t / 2)^2 as in H-TCP, t in s since SSTP_HTCP_SLOW, but of SSTP_HTCP_RATE
 * packets/s instead of one in each round trip. Returns thousandths.
 */
static u32 sstp_htcp_alpha(const struct sstp_htcp *g, u64 now)
{
	u32 t = min(sstp_htcp_ms(now) - g->begun_ms, SSTP_HTCP_LONG);

	t -= min(t, SSTP_HTCP_SLOW);
	return 1000 + 10 * t + t * t / 4000;
}

u32 sstp_htcp_grow(struct sstp_htcp *g, u32 cwnd, u32 rtt, u64 now, u32 times)
{
	u32 round = max(rtt, 1U), past = min(sstp_htcp_past(g, now), round);
	u64 rate = (u64)sstp_htcp_alpha(g, now) * times * SSTP_HTCP_RATE, credit, most;

	sstp_htcp_touch(g, now);
	credit = div_u64(rate * past, (1000 * USEC_PER_SEC) >> SSTP_HTCP_CREDIT);
	/* The part of a round trip has 26 binary places, and a window 24 bits. */
	most = div_u64((u64)past << 26, round) * max(cwnd, SSTP_HTCP_STEP);
	credit = min(credit, most / SSTP_HTCP_STEP >> (26 - SSTP_HTCP_CREDIT));
	credit += g->credit;
	g->credit = credit & (BIT(SSTP_HTCP_CREDIT) - 1);
	return min_t(u64, cwnd + (credit >> SSTP_HTCP_CREDIT), SSTP_WINDOW_MAX);
}
