// SPDX-License-Identifier: GPL-2.0
/*
 * "bic": Binary Increase Congestion control (Xu, Harfoush, Rhee, INFOCOM 2004), with the
 * constants of Linux's TCP. After a cut the window is searched between the cut window and the
 * one before the loss: each round trip takes it a quarter of the way, but not by more than
 * max_increment packets; beyond the old window it grows slowly first, then faster. The
 * parameters are those of Linux's module of these names.
 */
#include <linux/minmax.h>
#include <net/sstp_window.h>

#define SSTP_BIC_STEP		4U	/* 1/4 of the way in a round trip */
#define SSTP_BIC_ONE		1024U	/* of beta */

enum sstp_bic_param {
	SSTP_BIC_BETA,		/* window after a cut, 1/SSTP_BIC_ONE */
	SSTP_BIC_INCREMENT,	/* S_max, packets in a round trip */
	SSTP_BIC_SMOOTH,	/* round trips for the last SSTP_BIC_STEP packets of the way */
	SSTP_BIC_LOW,		/* packets: up to that, as TCP */
	SSTP_BIC_NO_FAST,	/* 1: no fast convergence */
};

static const u32 sstp_bic_defaults[] = {
	[SSTP_BIC_BETA] = 819,
	[SSTP_BIC_INCREMENT] = 16,
	[SSTP_BIC_SMOOTH] = 20,
	[SSTP_BIC_LOW] = 14,
	[SSTP_BIC_NO_FAST] = 0,
};

/**
 * struct sstp_bic - state of the controller
 * @w: the window
 * @max: window before the last loss, packets: the target of the search; 0 = none
 * @was_max: @max before the last cut, packets
 */
struct sstp_bic {
	struct sstp_window w;
	u32	max;
	u32	was_max;
};

static struct sstp_bic *sstp_bic_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_bic);
}

static u32 sstp_bic_param(const struct sstp_ctrl *c, enum sstp_bic_param i)
{
	return c->param[i] ?: sstp_bic_defaults[i];
}

/* Packets to be delivered for each packet by which the window grows, at least 1 */
static u32 sstp_bic_per(const struct sstp_ctrl *c, u32 max)
{
	u32 increment = sstp_bic_param(c, SSTP_BIC_INCREMENT);
	u32 smooth = sstp_bic_param(c, SSTP_BIC_SMOOTH);
	u32 cwnd = c->cwnd, way;

	if (cwnd <= sstp_bic_param(c, SSTP_BIC_LOW))
		return cwnd;
	if (cwnd < max) {
		way = (max - cwnd) / SSTP_BIC_STEP;
		if (way > increment)		/* additive increase */
			return max(cwnd / increment, 1U);
		if (way <= 1)			/* the end of the search */
			return max(cwnd * smooth / SSTP_BIC_STEP, 1U);
		return max(cwnd / way, 1U);	/* binary search */
	}
	/* Max probing; before any loss there is no target, and it ends at once. */
	way = cwnd - max;
	if (!max)
		return max(min(cwnd / increment, smooth), 1U);
	if (way < SSTP_BIC_STEP)
		return max(cwnd * smooth / SSTP_BIC_STEP, 1U);
	if (way < increment * (SSTP_BIC_STEP - 1))
		return max(cwnd * (SSTP_BIC_STEP - 1) / way, 1U);
	return max(cwnd / increment, 1U);
}

static void sstp_bic_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, &sstp_bic_priv(c)->w, s);
}

static void sstp_bic_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bic *b = sstp_bic_priv(c);
	u32 packets = sstp_window_ack(c, &b->w, s);

	if (b->w.undone)
		b->max = b->was_max;
	if (packets)
		sstp_window_grow(c, &b->w, packets, sstp_bic_per(c, b->max));
	sstp_window_pace(c, &b->w, s);
}

/* The window after a loss */
static u32 sstp_bic_ssthresh(const struct sstp_ctrl *c)
{
	if (c->cwnd <= sstp_bic_param(c, SSTP_BIC_LOW))
		return c->cwnd / 2;
	return (u64)c->cwnd * sstp_bic_param(c, SSTP_BIC_BETA) / SSTP_BIC_ONE;
}

/* With fast convergence a flow whose target fell gives up more of it, to make room for new
 * flows.
 */
static void sstp_bic_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bic *b = sstp_bic_priv(c);
	u32 beta = sstp_bic_param(c, SSTP_BIC_BETA);

	if (!sstp_window_loss(c, &b->w, s))
		return;
	b->was_max = b->max;
	if (c->cwnd < b->max && !sstp_bic_param(c, SSTP_BIC_NO_FAST))
		b->max = (u64)c->cwnd * (SSTP_BIC_ONE + beta) / (2 * SSTP_BIC_ONE);
	else
		b->max = c->cwnd;
	sstp_window_cut(c, &b->w, s, sstp_bic_ssthresh(c));
}

/* The search begins anew, as in Linux's TCP. */
static void sstp_bic_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bic *b = sstp_bic_priv(c);

	b->max = 0;
	sstp_window_timeout(c, &b->w, s, sstp_bic_ssthresh(c));
}

static void sstp_bic_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_bic *b = (const struct sstp_bic *)c->priv;

	state[0] = b->w.ssthresh;
	state[1] = b->max;
}

static struct sstp_ctrl_ops sstp_ctrl_bic = {
	.init		= sstp_bic_init,
	.on_ack		= sstp_bic_ack,
	.on_loss	= sstp_bic_loss,
	.on_timeout	= sstp_bic_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "bic",
	.owner		= THIS_MODULE,
	.params		= {
		[SSTP_BIC_BETA] = { "beta", 1, SSTP_BIC_ONE - 1 },
		[SSTP_BIC_INCREMENT] = { "max_increment", 1, U16_MAX },
		[SSTP_BIC_SMOOTH] = { "smooth_part", 1, 100 },
		[SSTP_BIC_LOW] = { "low_window", 1, U16_MAX },
		[SSTP_BIC_NO_FAST] = { "no_fast_conv", 1, 1 },
	},
	.state		= { "ssthresh", "w_max" },
	.get_info	= sstp_bic_get_info,
};
module_sstp_ctrl(sstp_ctrl_bic);
MODULE_DESCRIPTION("SSTP controller: BIC");
MODULE_LICENSE("GPL");
