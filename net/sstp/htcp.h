/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast a window grows between cuts: by a number of packets that depends on the time since the
 * last cut alone, as H-TCP's (Leith and Shorten, PFLDnet 2004). Pure mechanism.
 */
#ifndef _SSTP_HTCP_H
#define _SSTP_HTCP_H

#include <linux/types.h>

#define SSTP_HTCP_RATE		25U	/* packets/s at first */
#define SSTP_HTCP_SLOW		250U	/* ms after a cut that it grows at this rate */
#define SSTP_HTCP_LONG		60000U	/* ms after which the rate is constant */
#define SSTP_HTCP_STEP		16U	/* part of the window that it grows by in a round trip */

/**
 * struct sstp_htcp - growth since a cut
 * @begun_ms: when it began, later by the times in which the window was not used
 * @grown_us: until when the window has grown
 * @credit: part of a packet that it has grown by, 2^-16
 */
struct sstp_htcp {
	u32	begun_ms;
	u32	grown_us;
	u32	credit;
};

/* Begin at @now, ns. */
void sstp_htcp_begin(struct sstp_htcp *g, u64 now);
/* A window of @cwnd packets grows until @now, ns, at @times the rate, but for a round trip of @rtt
 * us at most. Returns the window.
 */
u32 sstp_htcp_grow(struct sstp_htcp *g, u32 cwnd, u32 rtt, u64 now, u32 times);
/* Time until @now, ns, in which the window did not grow, us */
u32 sstp_htcp_past(const struct sstp_htcp *g, u64 now);
/* That time counts as if the window had grown. */
void sstp_htcp_touch(struct sstp_htcp *g, u64 now);
/* The next @ms do not count, as the window was not used in them. */
void sstp_htcp_rest(struct sstp_htcp *g, u32 ms);

#endif /* _SSTP_HTCP_H */
