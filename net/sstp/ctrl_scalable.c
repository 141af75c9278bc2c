// SPDX-License-Identifier: GPL-2.0
/*
 * "scalable": Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area
 * networks", CCR 33(2), 2003). The window grows by 0.01 packet for each packet delivered, and
 * is cut by an eighth, so the time between losses does not depend on the window. Below 100
 * packets it grows by one in a round trip, as TCP does. Both shares are parameters, a and b.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/sstp_window.h>

#define SSTP_SCALABLE_ONE	1000U	/* of a and b */

/* Parameters, in thousandths */
enum sstp_scalable_param { SSTP_SCALABLE_A, SSTP_SCALABLE_B };

static const u32 sstp_scalable_defaults[] = {
	[SSTP_SCALABLE_A] = 10,
	[SSTP_SCALABLE_B] = 125,
};

static struct sstp_window *sstp_scalable(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_window);
}

static u32 sstp_scalable_param(const struct sstp_ctrl *c, enum sstp_scalable_param i)
{
	return c->param[i] ?: sstp_scalable_defaults[i];
}

static void sstp_scalable_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, sstp_scalable(c), s);
}

static void sstp_scalable_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_window *w = sstp_scalable(c);
	u32 packets = sstp_window_ack(c, w, s), a = sstp_scalable_param(c, SSTP_SCALABLE_A);

	/* a packets for each packet, or one for a window; @packets is at most some windows. */
	packets = min(packets, U32_MAX / 2 / SSTP_SCALABLE_ONE);
	if (packets)
		sstp_window_grow(c, w, packets * a,
				 min_t(u64, (u64)c->cwnd * a, SSTP_SCALABLE_ONE));
	sstp_window_pace(c, w, s);
}

static u32 sstp_scalable_ssthresh(const struct sstp_ctrl *c)
{
	u64 cut = (u64)c->cwnd * sstp_scalable_param(c, SSTP_SCALABLE_B);

	return c->cwnd - (u32)div_u64(cut, SSTP_SCALABLE_ONE);
}

static void sstp_scalable_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_window *w = sstp_scalable(c);

	if (sstp_window_loss(c, w, s))
		sstp_window_cut(c, w, s, sstp_scalable_ssthresh(c));
}

static void sstp_scalable_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_timeout(c, sstp_scalable(c), s, sstp_scalable_ssthresh(c));
}

static void sstp_scalable_get_info(const struct sstp_ctrl *c, s64 *state)
{
	state[0] = ((const struct sstp_window *)c->priv)->ssthresh;
}

static struct sstp_ctrl_ops sstp_ctrl_scalable = {
	.init		= sstp_scalable_init,
	.on_ack		= sstp_scalable_ack,
	.on_loss	= sstp_scalable_loss,
	.on_timeout	= sstp_scalable_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "scalable",
	.owner		= THIS_MODULE,
	.params		= {
		[SSTP_SCALABLE_A] = { "a", 1, SSTP_SCALABLE_ONE },
		[SSTP_SCALABLE_B] = { "b", 1, SSTP_SCALABLE_ONE - 1 },
	},
	.state		= { "ssthresh" },
	.get_info	= sstp_scalable_get_info,
};
module_sstp_ctrl(sstp_ctrl_scalable);
MODULE_DESCRIPTION("SSTP controller: Scalable TCP");
MODULE_LICENSE("GPL");
