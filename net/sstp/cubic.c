// SPDX-License-Identifier: GPL-2.0
/* Growth of CUBIC's window: include/net/sstp_cubic.h. Figures are those of RFC 9438. */
#include <linux/export.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_cubic.h>

#define SSTP_CUBIC_TIME		1600000LL	/* ms: its cube fits 63 bits */

/* Section 4.3: alpha_cubic = 3 (1 - beta) / (1 + beta), 1/SSTP_CUBIC_ONE */
static u32 sstp_cubic_alpha(u32 beta)
{
	return DIV_ROUND_CLOSEST(3 * SSTP_CUBIC_ONE * (SSTP_CUBIC_ONE - beta),
				 SSTP_CUBIC_ONE + beta);
}

u32 sstp_cubic_root(u64 v)
{
	u32 root = 0;
	int bit;

	for (bit = 20; bit >= 0; bit--) {
		u64 next = root | 1U << bit;

		if (next * next * next <= v)
			root = next;
	}
	return root;
}

/* Figure 2: K = cbrt((W_max - cwnd_epoch) / C) */
static void sstp_cubic_begin(struct sstp_cubic_epoch *e, u64 inverse, u32 cwnd, u64 now)
{
	e->start = now;
	e->est = (u64)cwnd << SSTP_CUBIC_EST;
	if (e->max > cwnd) {
		e->origin = e->max;
		e->k = sstp_cubic_root((e->max - cwnd) * inverse);
	} else {
		e->origin = cwnd;
		e->k = 0;
	}
}

/* Figure 1: W_cubic(t) = C (t - K)^3 + W_max, packets. @t: ms since the start of the epoch */
static u32 sstp_cubic_window(const struct sstp_cubic_epoch *e, u64 inverse, u64 t)
{
	s64 d = clamp((s64)min_t(u64, t, S32_MAX) - e->k, -SSTP_CUBIC_TIME, SSTP_CUBIC_TIME);
	s64 w = e->origin + div64_s64(d * d * d, (s64)inverse);

	return clamp_t(s64, w, 1, SSTP_WINDOW_MAX);
}

/* Figure 4: Reno with additive increase alpha has the same mean window as with a cut by half.
 * Once it is as large as before the cut, it grows as Reno's.
 */
static void sstp_cubic_reno(const struct sstp_ctrl *c, struct sstp_cubic_epoch *e, u32 packets,
			    u32 beta)
{
	u32 alpha = SSTP_CUBIC_ONE;

	if (e->est < (u64)e->prior << SSTP_CUBIC_EST)
		alpha = sstp_cubic_alpha(beta);
	e->est += div_u64((u64)min_t(u32, packets, SSTP_WINDOW_MAX) * alpha <<
			  (SSTP_CUBIC_EST - 10), c->cwnd);
	e->est = min(e->est, (u64)SSTP_WINDOW_MAX << SSTP_CUBIC_EST);
}

void sstp_cubic_avoid(struct sstp_ctrl *c, struct sstp_window *w, struct sstp_cubic_epoch *e,
		      const struct sstp_ctrl_sample *s, u32 packets,
		      const struct sstp_cubic_law *law)
{
	u32 now, target;
	u64 t;

	if (!e->start)
		sstp_cubic_begin(e, law->inverse, c->cwnd, s->now);
	t = div_u64(s->now - e->start, NSEC_PER_MSEC);
	sstp_cubic_reno(c, e, packets, law->beta);
	now = sstp_cubic_window(e, law->inverse, t);
	if (now < e->est >> SSTP_CUBIC_EST) {
		/* Section 4.3: the Reno-friendly region */
		c->cwnd = max_t(u32, c->cwnd, e->est >> SSTP_CUBIC_EST);
		return;
	}
	/* Sections 4.4 and 4.5: towards the window that it is to have a round trip later */
	target = sstp_cubic_window(e, law->inverse, t + s->srtt / USEC_PER_MSEC);
	target = min_t(u64, target, c->cwnd + c->cwnd / 2 + 1);
	if (target <= c->cwnd)
		return;
	sstp_window_grow(c, w, packets, max(c->cwnd / (target - c->cwnd), 1U));
	c->cwnd = min(c->cwnd, target);
}
EXPORT_SYMBOL_GPL(sstp_cubic_avoid);

void sstp_cubic_cut(struct sstp_cubic_epoch *e, u32 cwnd, u32 beta, bool fast)
{
	e->prior = cwnd;
	if (cwnd < e->max && fast)
		e->max = (u64)cwnd * (SSTP_CUBIC_ONE + beta) / (2 * SSTP_CUBIC_ONE);
	else
		e->max = cwnd;
	e->start = 0;
}
EXPORT_SYMBOL_GPL(sstp_cubic_cut);
