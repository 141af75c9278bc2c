// SPDX-License-Identifier: GPL-2.0
/*
 * "cubic": CUBIC (RFC 9438), of which include/net/sstp_cubic.h has the growth of the window. beta
 * and fast convergence are parameters.
 */
#include <net/sstp_cubic.h>

enum sstp_cubic_param {
	SSTP_CUBIC_PARAM_BETA,		/* window after a cut, 1/SSTP_CUBIC_ONE */
	SSTP_CUBIC_PARAM_NO_FAST,	/* 1: no fast convergence */
};

/**
 * struct sstp_cubic - state of the controller
 * @w: the window
 * @e: the congestion avoidance epoch
 * @was_max: W_max before the last cut, packets
 */
struct sstp_cubic {
	struct sstp_window w;
	struct sstp_cubic_epoch e;
	u32	was_max;
};

static struct sstp_cubic *sstp_cubic_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_cubic);
}

static u32 sstp_cubic_beta(const struct sstp_ctrl *c)
{
	return c->param[SSTP_CUBIC_PARAM_BETA] ?: SSTP_CUBIC_BETA;
}

static void sstp_cubic_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, &sstp_cubic_priv(c)->w, s);
}

static void sstp_cubic_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	const struct sstp_cubic_law law = { sstp_cubic_beta(c), SSTP_CUBIC_C };
	struct sstp_cubic *q = sstp_cubic_priv(c);
	u32 packets = sstp_window_ack(c, &q->w, s);

	if (q->w.undone)
		q->e.max = q->was_max;
	/* The epoch begins anew after a cut that was undone, and while the window is not used,
	 * as the window must not grow for that time (section 5.8).
	 */
	if (q->w.undone || !s->cwnd_limited)
		q->e.start = 0;
	if (packets)
		sstp_cubic_avoid(c, &q->w, &q->e, s, packets, &law);
	sstp_window_pace(c, &q->w, s);
}

/* Section 4.6: the window after a loss */
static u32 sstp_cubic_ssthresh(const struct sstp_ctrl *c)
{
	return (u64)c->cwnd * sstp_cubic_beta(c) / SSTP_CUBIC_ONE;
}

static void sstp_cubic_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_cubic *q = sstp_cubic_priv(c);

	if (!sstp_window_loss(c, &q->w, s))
		return;
	q->was_max = q->e.max;
	sstp_cubic_cut(&q->e, c->cwnd, sstp_cubic_beta(c), !c->param[SSTP_CUBIC_PARAM_NO_FAST]);
	sstp_window_cut(c, &q->w, s, sstp_cubic_ssthresh(c));
}

/* Section 4.8: W_max is the window with which congestion avoidance begins. */
static void sstp_cubic_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_cubic *q = sstp_cubic_priv(c);

	q->e = (struct sstp_cubic_epoch){};
	sstp_window_timeout(c, &q->w, s, sstp_cubic_ssthresh(c));
}

static void sstp_cubic_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_cubic *q = (const struct sstp_cubic *)c->priv;

	state[0] = q->w.ssthresh;
	state[1] = q->e.max;
	state[2] = q->e.k;
	state[3] = q->e.est >> SSTP_CUBIC_EST;
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
		[SSTP_CUBIC_PARAM_BETA] = { "beta", 1, SSTP_CUBIC_ONE - 1 },
		[SSTP_CUBIC_PARAM_NO_FAST] = { "no_fast_conv", 1, 1 },
	},
	.state		= { "ssthresh", "w_max", "k", "w_est" },
	.get_info	= sstp_cubic_get_info,
};
module_sstp_ctrl(sstp_ctrl_cubic);
MODULE_DESCRIPTION("SSTP controller: CUBIC (RFC 9438)");
MODULE_LICENSE("GPL");
