/* SPDX-License-Identifier: GPL-2.0 */
/* Round-trip time: smoothed, variation, lowest. Pure mechanism. */
#ifndef _SSTP_RTT_H
#define _SSTP_RTT_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define SSTP_RTT_MAX	(60 * USEC_PER_SEC)

/**
 * struct sstp_rtt - estimate of the round-trip time
 * @srtt: smoothed, us << 3; 0 = no sample yet
 * @var: mean deviation, us << 2
 * @min: lowest in about the last 10 s, us; U32_MAX = none
 * @latest: last sample, us
 * @low: lowest since sstp_queue_adapt() set it to U32_MAX, us
 * @at: time of the last sample, us, modulo 2^32
 * @guess: the only sample may contain a time-out, so the next one replaces it
 */
struct sstp_rtt {
	u32	srtt;
	u32	var;
	u32	min;
	u32	latest;
	u32	low;
	u32	next_min;	/* lowest of the running half window, us */
	u32	half_start;	/* us, modulo 2^32 */
	u32	at;
	bool	guess;
};

void sstp_rtt_init(struct sstp_rtt *r);
/* Take a sample of @us: 0 counts as 1, more than SSTP_RTT_MAX is ignored. @now: us, modulo
 * 2^32.
 */
void sstp_rtt_sample(struct sstp_rtt *r, u32 us, u32 now);
/* The same for the first sample if it may contain a time-out. */
void sstp_rtt_guess(struct sstp_rtt *r, u32 us, u32 now);
/* Smoothed, us; @dflt when there is no sample. */
static inline u32 sstp_rtt_smoothed(const struct sstp_rtt *r, u32 dflt)
{
	return r->srtt ? max(r->srtt >> 3, 1U) : dflt;
}

/* The same; @dflt also while the only sample is a guess. */
static inline u32 sstp_rtt_measured(const struct sstp_rtt *r, u32 dflt)
{
	return r->guess ? dflt : sstp_rtt_smoothed(r, dflt);
}

/* Bandwidth-delay product: bytes that @rate bit/s carries in @us. */
static inline u64 sstp_rtt_bytes(u64 rate, u32 us)
{
	return div_u64(rate / 8 * us, USEC_PER_SEC);
}

/* srtt + max(4 var, @margin), us; 1 s before the first sample; @most at most. */
u32 sstp_rtt_timeout(const struct sstp_rtt *r, u32 margin, u32 most);

#endif /* _SSTP_RTT_H */
