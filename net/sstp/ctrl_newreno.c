// SPDX-License-Identifier: GPL-2.0
/*
 * "newreno": additive increase, multiplicative decrease in packets, as TCP's
 * (RFC 5681, RFC 6582), so that it shares a path with TCP fairly.
 */
#include <net/sstp_window.h>
#include "ctrl.h"

static struct sstp_window *sstp_newreno(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_window);
}

static void sstp_newreno_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, sstp_newreno(c), s);
}

static void sstp_newreno_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_window *w = sstp_newreno(c);
	u32 packets = sstp_window_ack(c, w, s);

	if (packets)
		sstp_window_grow(c, w, packets, c->cwnd);
	sstp_window_pace(c, w, s);
}

static void sstp_newreno_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_window *w = sstp_newreno(c);

	if (sstp_window_loss(c, w, s))
		sstp_window_cut(c, w, s, c->cwnd / 2);
}

static void sstp_newreno_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_timeout(c, sstp_newreno(c), s, c->cwnd / 2);
}

static void sstp_newreno_get_info(const struct sstp_ctrl *c, s64 *state)
{
	state[0] = ((const struct sstp_window *)c->priv)->ssthresh;
}

struct sstp_ctrl_ops sstp_ctrl_newreno = {
	.init		= sstp_newreno_init,
	.on_ack		= sstp_newreno_ack,
	.on_loss	= sstp_newreno_loss,
	.on_timeout	= sstp_newreno_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "newreno",
	.owner		= THIS_MODULE,
	.state		= { "ssthresh" },
	.get_info	= sstp_newreno_get_info,
};
