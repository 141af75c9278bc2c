// SPDX-License-Identifier: GPL-2.0
/*
 * "fast": FAST TCP (Wei, Jin, Low, Hegde, ToN 14(6), 2006). Every other round trip the window
 * moves half the way to the one with which alpha of its packets wait in queues, but at most
 * doubles (equation 5 of the paper):
 *
 *	w <- min(2 w, (1 - gamma) w + gamma (w baseRTT / RTT + alpha)),  gamma = 1/2
 *
 * alpha and gamma are its parameters. To a loss it reacts as TCP.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/sstp_window.h>

/* Parameters: packets in queues, and gamma in percent */
enum sstp_fast_param { SSTP_FAST_ALPHA, SSTP_FAST_GAMMA };

static const u32 sstp_fast_defaults[] = {
	[SSTP_FAST_ALPHA] = 100,
	[SSTP_FAST_GAMMA] = 50,
};

#define SSTP_FAST_WEIGHT	3	/* windows of samples within a window, of the mean */

/**
 * struct sstp_fast - state of the controller
 * @w: the window
 * @base: lowest round-trip time ever, us; 0 = none yet
 * @rtt: mean round-trip time, us
 * @end: shipment whose report ends the round trip (serial number)
 * @odd: the window was adapted in the last round trip, so it is not in this one
 */
struct sstp_fast {
	struct sstp_window w;
	u32	base;
	u32	rtt;
	u32	end;
	bool	odd;
};

static struct sstp_fast *sstp_fast_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_fast);
}

static u32 sstp_fast_param(const struct sstp_ctrl *c, enum sstp_fast_param i)
{
	return c->param[i] ?: sstp_fast_defaults[i];
}

static void sstp_fast_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_fast *f = sstp_fast_priv(c);

	sstp_window_init(c, &f->w, s);
	f->end = s->shipped;
}

/* In the paper the mean follows the sample of each packet by 3/w. A report stands for the @packets
 * that it reports, so it may replace the mean.
 */
static void sstp_fast_rtt(struct sstp_fast *f, u32 rtt, u32 packets, u32 cwnd)
{
	u32 weight = min_t(u64, (u64)packets * SSTP_FAST_WEIGHT, cwnd);

	if (!f->base) {
		f->base = rtt;
		f->rtt = rtt;
		return;
	}
	f->base = min(f->base, rtt);
	f->rtt = max_t(s64, f->rtt + div_s64(((s64)rtt - f->rtt) * weight, cwnd), f->base);
}

static u32 sstp_fast_window(const struct sstp_ctrl *c)
{
	const struct sstp_fast *f = (const struct sstp_fast *)c->priv;
	u64 target = div_u64((u64)c->cwnd * f->base, f->rtt) +
		     sstp_fast_param(c, SSTP_FAST_ALPHA);
	u32 gamma = sstp_fast_param(c, SSTP_FAST_GAMMA);
	u64 cwnd = div_u64((100ULL - gamma) * c->cwnd + gamma * target, 100);

	return clamp_t(u64, min(2ULL * c->cwnd, cwnd), SSTP_WINDOW_MIN, SSTP_WINDOW_MAX);
}

static void sstp_fast_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_fast *f = sstp_fast_priv(c);

	if (s->rtt)
		sstp_fast_rtt(f, s->rtt, s->delivered, c->cwnd);
	sstp_window_ack(c, &f->w, s);
	if ((s32)(s->highest - f->end) < 0)
		goto pace;
	f->end = s->shipped;
	f->odd = !f->odd;
	if (!f->odd || f->w.cut || !f->base)
		goto pace;
	/* More packets wait than wanted: slow start ends. */
	if (sstp_window_in_slow_start(c, &f->w) &&
	    (u64)c->cwnd * (f->rtt - f->base) >
	    (u64)sstp_fast_param(c, SSTP_FAST_ALPHA) * f->rtt)
		f->w.ssthresh = c->cwnd;
	if (!sstp_window_in_slow_start(c, &f->w) && s->cwnd_limited) {
		c->cwnd = sstp_fast_window(c);
		f->w.ssthresh = min(f->w.ssthresh, c->cwnd);
	}
pace:
	sstp_window_pace(c, &f->w, s);
}

static void sstp_fast_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_fast *f = sstp_fast_priv(c);

	if (sstp_window_loss(c, &f->w, s))
		sstp_window_cut(c, &f->w, s, c->cwnd / 2);
}

static void sstp_fast_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_timeout(c, &sstp_fast_priv(c)->w, s, c->cwnd / 2);
}

static void sstp_fast_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_fast *f = (const struct sstp_fast *)c->priv;

	state[0] = f->w.ssthresh;
	state[1] = f->base;
	state[2] = f->rtt;
}

static struct sstp_ctrl_ops sstp_ctrl_fast = {
	.init		= sstp_fast_init,
	.on_ack		= sstp_fast_ack,
	.on_loss	= sstp_fast_loss,
	.on_timeout	= sstp_fast_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "fast",
	.owner		= THIS_MODULE,
	.params		= {
		[SSTP_FAST_ALPHA] = { "alpha", 1, 1000000 },
		[SSTP_FAST_GAMMA] = { "gamma", 1, 100 },
	},
	.state		= { "ssthresh", "base_rtt", "mean_rtt" },
	.get_info	= sstp_fast_get_info,
};
module_sstp_ctrl(sstp_ctrl_fast);
MODULE_DESCRIPTION("SSTP controller: FAST TCP");
MODULE_LICENSE("GPL");
