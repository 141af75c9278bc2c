// SPDX-License-Identifier: GPL-2.0
/*
 * "bic": Binary Increase Congestion control (Xu, Harfoush, Rhee, INFOCOM 2004), with the
 * constants of Linux's TCP. After a cut the window is searched between the cut window and the
 * one before the loss: each round trip takes it a quarter of the way, but not by more than
 * SSTP_BIC_INCREMENT packets; beyond the old window it grows slowly first, then faster.
 */
#include <linux/minmax.h>
#include <net/sstp_window.h>

#define SSTP_BIC_LOW		14U	/* packets: below, as TCP */
#define SSTP_BIC_INCREMENT	16U	/* S_max, packets in a round trip */
#define SSTP_BIC_STEP		4U	/* 1/4 of the way in a round trip */
#define SSTP_BIC_SMOOTH		20U	/* round trips for the last packet of the way */
#define SSTP_BIC_BETA		819U	/* of 1024: window after a cut */

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

static struct sstp_bic *sstp_bic(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_bic);
}

/* Packets to be delivered for each packet by which a window of @cwnd grows, at least 1 */
static u32 sstp_bic_per(u32 cwnd, u32 max)
{
	u32 way;

	if (cwnd <= SSTP_BIC_LOW)
		return cwnd;
	if (cwnd < max) {
		way = (max - cwnd) / SSTP_BIC_STEP;
		if (way > SSTP_BIC_INCREMENT)	/* additive increase */
			return max(cwnd / SSTP_BIC_INCREMENT, 1U);
		if (way <= 1)			/* the end of the search */
			return cwnd * SSTP_BIC_SMOOTH / SSTP_BIC_STEP;
		return max(cwnd / way, 1U);	/* binary search */
	}
	/* Max probing; before any loss there is no target, and it ends at once. */
	way = cwnd - max;
	if (!max)
		return max(min(cwnd / SSTP_BIC_INCREMENT, SSTP_BIC_SMOOTH), 1U);
	if (way < SSTP_BIC_STEP)
		return cwnd * SSTP_BIC_SMOOTH / SSTP_BIC_STEP;
	if (way < SSTP_BIC_INCREMENT * (SSTP_BIC_STEP - 1))
		return max(cwnd * (SSTP_BIC_STEP - 1) / way, 1U);
	return max(cwnd / SSTP_BIC_INCREMENT, 1U);
}

static void sstp_bic_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, &sstp_bic(c)->w, s);
}

static void sstp_bic_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bic *b = sstp_bic(c);
	u32 packets = sstp_window_ack(c, &b->w, s);

	if (b->w.undone)
		b->max = b->was_max;
	if (packets)
		sstp_window_grow(c, &b->w, packets, sstp_bic_per(c->cwnd, b->max));
	sstp_window_pace(c, &b->w, s);
}

/* The window after a loss */
static u32 sstp_bic_ssthresh(u32 cwnd)
{
	return cwnd <= SSTP_BIC_LOW ? cwnd / 2 : (u64)cwnd * SSTP_BIC_BETA / 1024;
}

/* With fast convergence a flow whose target fell gives up more of it, to make room for new
 * flows.
 */
static void sstp_bic_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bic *b = sstp_bic(c);
	u32 cwnd = c->cwnd;

	if (!sstp_window_loss(c, &b->w, s))
		return;
	b->was_max = b->max;
	b->max = cwnd < b->max ? (u64)cwnd * (1024 + SSTP_BIC_BETA) / 2048 : cwnd;
	sstp_window_cut(c, &b->w, s, sstp_bic_ssthresh(cwnd));
}

/* The search begins anew, as in Linux's TCP. */
static void sstp_bic_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bic *b = sstp_bic(c);

	b->max = 0;
	sstp_window_timeout(c, &b->w, s, sstp_bic_ssthresh(c->cwnd));
}

static struct sstp_ctrl_ops sstp_ctrl_bic = {
	.init		= sstp_bic_init,
	.on_ack		= sstp_bic_ack,
	.on_loss	= sstp_bic_loss,
	.on_timeout	= sstp_bic_timeout,
	.name		= "bic",
	.owner		= THIS_MODULE,
};
module_sstp_ctrl(sstp_ctrl_bic);
MODULE_DESCRIPTION("SSTP controller: BIC");
MODULE_LICENSE("GPL");
