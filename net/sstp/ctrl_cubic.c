// SPDX-License-Identifier: GPL-2.0
/*
 * "cubic": CUBIC (RFC 9438). After a cut the window is a cubic function of the time since: it
 * returns fast to where the loss was, stays near it, and then probes faster and faster. Where
 * Reno would have a larger window, it follows Reno. Equation numbers are those of the RFC's
 * figures.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_window.h>

#define SSTP_CUBIC_BETA		717U	/* of 1024: window after a cut, 0.7 */
#define SSTP_CUBIC_ALPHA	542U	/* of 1024: 3 (1 - beta) / (1 + beta), section 4.3 */
/* 1 / C in ms^3 for a packet, with C = 0.4 packets / s^3 */
#define SSTP_CUBIC_C		2500000000ULL
#define SSTP_CUBIC_TIME		1600000LL	/* ms: its cube fits 63 bits */

/**
 * struct sstp_cubic - state of the controller
 * @w: the window
 * @max: W_max, packets: window before the last cut, less where fast convergence applies;
 *	0 = no cut yet
 * @prior: cwnd_prior, packets: window before the last cut
 * @k: K, ms: time from the start of the epoch until the window is @max again
 * @origin: window that the function has at K, packets: @max, or the window at the start of an
 *	epoch that begins above it
 * @start: start of the congestion avoidance epoch, ns; 0 = it begins with the next report
 * @est: W_est, 1/1024 packet: window that Reno would have
 */
struct sstp_cubic {
	struct sstp_window w;
	u32	max;
	u32	prior;
	u32	k;
	u32	origin;
	u64	start;
	u64	est;
};

static struct sstp_cubic *sstp_cubic(struct sstp_ctrl *c)
{
	return (struct sstp_cubic *)c->priv;
}

/* Integer cube root, rounded down */
static u32 sstp_cubic_root(u64 v)
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

static void sstp_cubic_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, &sstp_cubic(c)->w);
}

/* Figure 2: K = cbrt((W_max - cwnd_epoch) / C) */
static void sstp_cubic_begin(struct sstp_cubic *q, u32 cwnd, u64 now)
{
	q->start = now;
	q->est = (u64)cwnd << 10;
	if (q->max > cwnd) {
		q->origin = q->max;
		q->k = sstp_cubic_root((q->max - cwnd) * SSTP_CUBIC_C);
	} else {
		q->origin = cwnd;
		q->k = 0;
	}
}

/* Figure 1: W_cubic(t) = C (t - K)^3 + W_max, packets. @t: ms since the start of the epoch */
static u32 sstp_cubic_window(const struct sstp_cubic *q, u64 t)
{
	s64 d = clamp((s64)min_t(u64, t, S32_MAX) - q->k, -SSTP_CUBIC_TIME, SSTP_CUBIC_TIME);
	s64 w = q->origin + div64_s64(d * d * d, (s64)SSTP_CUBIC_C);

	return clamp_t(s64, w, 1, SSTP_WINDOW_MAX);
}

/* Figure 4: Reno with additive increase alpha has the same mean window as with a cut by half.
 * Once it is as large as before the cut, it grows as Reno's.
 */
static void sstp_cubic_reno(struct sstp_cubic *q, u32 packets, u32 cwnd)
{
	u32 alpha = q->est < (u64)q->prior << 10 ? SSTP_CUBIC_ALPHA : 1024;

	q->est = min_t(u64, q->est + div_u64((u64)packets * alpha, cwnd),
		       (u64)SSTP_WINDOW_MAX << 10);
}

static void sstp_cubic_avoid(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			     u32 packets)
{
	struct sstp_cubic *q = sstp_cubic(c);
	u32 now, target;
	u64 t;

	if (!q->start)
		sstp_cubic_begin(q, c->cwnd, s->now);
	t = div_u64(s->now - q->start, NSEC_PER_MSEC);
	sstp_cubic_reno(q, packets, c->cwnd);
	now = sstp_cubic_window(q, t);
	if (now < q->est >> 10) {
		/* Section 4.3: the Reno-friendly region */
		c->cwnd = max_t(u32, c->cwnd, q->est >> 10);
		return;
	}
	/* Sections 4.4 and 4.5: towards the window that it is to have a round trip later */
	target = sstp_cubic_window(q, t + s->srtt / USEC_PER_MSEC);
	target = min_t(u64, target, c->cwnd + c->cwnd / 2 + 1);
	if (target > c->cwnd)
		sstp_window_grow(c, &q->w, packets, max(c->cwnd / (target - c->cwnd), 1U));
}

static void sstp_cubic_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_cubic *q = sstp_cubic(c);
	u32 packets = sstp_window_ack(c, &q->w, s);

	if (q->w.undone)
		q->max = max(q->max, q->prior);
	/* The epoch begins anew after a cut that was undone, and while the window is not used,
	 * as the window must not grow for that time (section 5.8).
	 */
	if (q->w.undone || !s->cwnd_limited)
		q->start = 0;
	if (packets)
		sstp_cubic_avoid(c, s, packets);
	sstp_window_pace(c, &q->w, s);
}

/* Sections 4.6 and 4.7: the window after a loss. With fast convergence a flow whose W_max fell
 * gives up more of it, to make room for new flows.
 */
static u32 sstp_cubic_ssthresh(struct sstp_ctrl *c)
{
	struct sstp_cubic *q = sstp_cubic(c);

	q->prior = c->cwnd;
	q->max = c->cwnd < q->max ? (u64)c->cwnd * (1024 + SSTP_CUBIC_BETA) / 2048 : c->cwnd;
	q->start = 0;
	return (u64)c->cwnd * SSTP_CUBIC_BETA / 1024;
}

static void sstp_cubic_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_cubic *q = sstp_cubic(c);

	if (sstp_window_loss(c, &q->w, s))
		sstp_window_cut(c, &q->w, s, sstp_cubic_ssthresh(c));
}

static void sstp_cubic_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_timeout(c, &sstp_cubic(c)->w, s, sstp_cubic_ssthresh(c));
}

static struct sstp_ctrl_ops sstp_ctrl_cubic = {
	.init		= sstp_cubic_init,
	.on_ack		= sstp_cubic_ack,
	.on_loss	= sstp_cubic_loss,
	.on_timeout	= sstp_cubic_timeout,
	.name		= "cubic",
	.owner		= THIS_MODULE,
};
module_sstp_ctrl(sstp_ctrl_cubic, "SSTP controller: CUBIC (RFC 9438)");
