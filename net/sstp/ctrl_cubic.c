// SPDX-License-Identifier: GPL-2.0
/*
 * "cubic": CUBIC (RFC 9438). After a cut the window is a cubic function of the time since: it
 * returns fast to where the loss was, stays near it, and then probes faster and faster. Where
 * Reno would have a larger window, it follows Reno. Equation numbers are those of the RFC's
 * figures. beta and fast convergence are parameters.
 */
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_window.h>

#define SSTP_CUBIC_ONE		1024U	/* of alpha and beta */
/* 1 / C in ms^3 for a packet, with C = 0.4 packets / s^3 */
#define SSTP_CUBIC_C		2500000000ULL
#define SSTP_CUBIC_EST		20	/* W_est is in packets / 2^20 */
#define SSTP_CUBIC_TIME		1600000LL	/* ms: its cube fits 63 bits */

enum sstp_cubic_param {
	SSTP_CUBIC_BETA,	/* window after a cut, 1/SSTP_CUBIC_ONE */
	SSTP_CUBIC_NO_FAST,	/* 1: no fast convergence */
};

static const u32 sstp_cubic_defaults[] = {
	[SSTP_CUBIC_BETA] = 717,	/* 0.7 */
	[SSTP_CUBIC_NO_FAST] = 0,
};

/**
 * struct sstp_cubic - state of the controller
 * @w: the window
 * @max: W_max, packets: window before the last cut, less where fast convergence applies;
 *	0 = no cut yet
 * @was_max: @max before the last cut, packets
 * @prior: cwnd_prior, packets: window before the last cut
 * @k: K, ms: time from the start of the epoch until the window is @max again
 * @origin: window that the function has at K, packets: @max, or the window at the start of an
 *	epoch that begins above it
 * @start: start of the congestion avoidance epoch, ns; 0 = it begins with the next report
 * @est: W_est, packets / 2^SSTP_CUBIC_EST: window that Reno would have
 */
struct sstp_cubic {
	struct sstp_window w;
	u32	max;
	u32	was_max;
	u32	prior;
	u32	k;
	u32	origin;
	u64	start;
	u64	est;
};

static struct sstp_cubic *sstp_cubic(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_cubic);
}

static u32 sstp_cubic_param(const struct sstp_ctrl *c, enum sstp_cubic_param i)
{
	return c->param[i] ?: sstp_cubic_defaults[i];
}

/* Section 4.3: alpha_cubic = 3 (1 - beta) / (1 + beta), 1/SSTP_CUBIC_ONE */
static u32 sstp_cubic_alpha(u32 beta)
{
	return DIV_ROUND_CLOSEST(3 * SSTP_CUBIC_ONE * (SSTP_CUBIC_ONE - beta),
				 SSTP_CUBIC_ONE + beta);
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
	sstp_window_init(c, &sstp_cubic(c)->w, s);
}

/* Figure 2: K = cbrt((W_max - cwnd_epoch) / C) */
static void sstp_cubic_begin(struct sstp_cubic *q, u32 cwnd, u64 now)
{
	q->start = now;
	q->est = (u64)cwnd << SSTP_CUBIC_EST;
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
static void sstp_cubic_reno(const struct sstp_ctrl *c, struct sstp_cubic *q, u32 packets)
{
	u32 alpha = SSTP_CUBIC_ONE;

	if (q->est < (u64)q->prior << SSTP_CUBIC_EST)
		alpha = sstp_cubic_alpha(sstp_cubic_param(c, SSTP_CUBIC_BETA));
	q->est += div_u64((u64)min_t(u32, packets, SSTP_WINDOW_MAX) * alpha <<
			  (SSTP_CUBIC_EST - 10), c->cwnd);
	q->est = min(q->est, (u64)SSTP_WINDOW_MAX << SSTP_CUBIC_EST);
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
	sstp_cubic_reno(c, q, packets);
	now = sstp_cubic_window(q, t);
	if (now < q->est >> SSTP_CUBIC_EST) {
		/* Section 4.3: the Reno-friendly region */
		c->cwnd = max_t(u32, c->cwnd, q->est >> SSTP_CUBIC_EST);
		return;
	}
	/* Sections 4.4 and 4.5: towards the window that it is to have a round trip later */
	target = sstp_cubic_window(q, t + s->srtt / USEC_PER_MSEC);
	target = min_t(u64, target, c->cwnd + c->cwnd / 2 + 1);
	if (target <= c->cwnd)
		return;
	sstp_window_grow(c, &q->w, packets, max(c->cwnd / (target - c->cwnd), 1U));
	c->cwnd = min(c->cwnd, target);
}

static void sstp_cubic_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_cubic *q = sstp_cubic(c);
	u32 packets = sstp_window_ack(c, &q->w, s);

	if (q->w.undone)
		q->max = q->was_max;
	/* The epoch begins anew after a cut that was undone, and while the window is not used,
	 * as the window must not grow for that time (section 5.8).
	 */
	if (q->w.undone || !s->cwnd_limited)
		q->start = 0;
	if (packets)
		sstp_cubic_avoid(c, s, packets);
	sstp_window_pace(c, &q->w, s);
}

/* Section 4.6: the window after a loss */
static u32 sstp_cubic_ssthresh(const struct sstp_ctrl *c)
{
	return (u64)c->cwnd * sstp_cubic_param(c, SSTP_CUBIC_BETA) / SSTP_CUBIC_ONE;
}

/* Section 4.7, fast convergence: a flow whose W_max fell gives up more of it, to make room for
 * new flows.
 */
static void sstp_cubic_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_cubic *q = sstp_cubic(c);
	u32 beta = sstp_cubic_param(c, SSTP_CUBIC_BETA);

	if (!sstp_window_loss(c, &q->w, s))
		return;
	q->prior = c->cwnd;
	q->was_max = q->max;
	if (c->cwnd < q->max && !sstp_cubic_param(c, SSTP_CUBIC_NO_FAST))
		q->max = (u64)c->cwnd * (SSTP_CUBIC_ONE + beta) / (2 * SSTP_CUBIC_ONE);
	else
		q->max = c->cwnd;
	q->start = 0;
	sstp_window_cut(c, &q->w, s, sstp_cubic_ssthresh(c));
}

/* Section 4.8: W_max is the window with which congestion avoidance begins. */
static void sstp_cubic_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_cubic *q = sstp_cubic(c);

	q->max = 0;
	q->prior = 0;
	q->start = 0;
	sstp_window_timeout(c, &q->w, s, sstp_cubic_ssthresh(c));
}

static void sstp_cubic_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_cubic *q = (const struct sstp_cubic *)c->priv;

	state[0] = q->w.ssthresh;
	state[1] = q->max;
	state[2] = q->k;
	state[3] = q->est >> SSTP_CUBIC_EST;
}

static struct sstp_ctrl_ops sstp_ctrl_cubic = {
	.init		= sstp_cubic_init,
	.on_ack		= sstp_cubic_ack,
	.on_loss	= sstp_cubic_loss,
	.on_timeout	= sstp_cubic_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "cubic",
	.owner		= THIS_MODULE,
	.params		= {
		[SSTP_CUBIC_BETA] = { "beta", 1, SSTP_CUBIC_ONE - 1 },
		[SSTP_CUBIC_NO_FAST] = { "no_fast_conv", 1, 1 },
	},
	.state		= { "ssthresh", "w_max", "k", "w_est" },
	.get_info	= sstp_cubic_get_info,
};
module_sstp_ctrl(sstp_ctrl_cubic);
MODULE_DESCRIPTION("SSTP controller: CUBIC (RFC 9438)");
MODULE_LICENSE("GPL");
