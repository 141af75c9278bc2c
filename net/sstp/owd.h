/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queueing delay from one-way delays: a delay is the time of arrival less the stamp of the sender,
 * whose clock has another origin, so only its rise over the lowest delay of the last 5 to 10 s
 * means anything. That lowest one is measured anew because clocks drift against each other. Pure
 * mechanism, without an object: controllers in other modules use it as well.
 */
#ifndef _SSTP_OWD_H
#define _SSTP_OWD_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define SSTP_OWD_BASE	(5ULL * NSEC_PER_SEC)	/* ns, half of a lowest delay's time */
#define SSTP_OWD_MAX	10000000U	/* us: a stamp may be any number */

/**
 * struct sstp_owd - lowest one-way delay
 * @turn: when @base moves on, ns; 0 = no delay was measured yet
 * @base: lowest of these 5 s and of those before, us, plus a constant, modulo 2^32
 */
struct sstp_owd {
	u64	turn;
	u32	base[2];
};

static inline u32 sstp_owd_lower(u32 a, u32 b)
{
	return (s32)(a - b) < 0 ? a : b;
}

/* Take the one-way delay @delay, us, of a packet that came at @now, ns. */
static inline void sstp_owd_add(struct sstp_owd *o, u64 now, u32 delay)
{
	if (!o->turn || now >= o->turn + SSTP_OWD_BASE) {
		o->base[0] = delay;
		o->base[1] = delay;
		o->turn = now + SSTP_OWD_BASE;
	} else if (now >= o->turn) {
		o->base[1] = o->base[0];
		o->base[0] = delay;
		o->turn = now + SSTP_OWD_BASE;
	}
	o->base[0] = sstp_owd_lower(o->base[0], delay);
}

/* The part of @delay that is spent in queues, us, SSTP_OWD_MAX at most */
static inline u32 sstp_owd_queue(const struct sstp_owd *o, u32 delay)
{
	return clamp_t(s32, delay - sstp_owd_lower(o->base[0], o->base[1]), 0, SSTP_OWD_MAX);
}

#endif /* _SSTP_OWD_H */
