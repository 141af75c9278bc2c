// SPDX-License-Identifier: GPL-2.0
/*
 * "scalable": Scalable TCP (Kelly, "Scalable TCP: improving performance in highspeed wide area
 * networks", CCR 33(2), 2003). The window grows by 0.01 packet for each packet delivered, and
 * is cut by an eighth, so the time between losses does not depend on the window. Below 100
 * packets it grows by one in a round trip, as TCP does.
 */
#include <linux/minmax.h>
#include <net/sstp_window.h>

#define SSTP_SCALABLE_PER	100U	/* packets delivered for one more: a = 0.01 */

static struct sstp_window *sstp_scalable(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_window);
}

static void sstp_scalable_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, sstp_scalable(c), s);
}

static void sstp_scalable_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_window *w = sstp_scalable(c);
	u32 packets = sstp_window_ack(c, w, s);

	if (packets)
		sstp_window_grow(c, w, packets, min(c->cwnd, SSTP_SCALABLE_PER));
	sstp_window_pace(c, w, s);
}

/* b = 1/8 */
static u32 sstp_scalable_ssthresh(const struct sstp_ctrl *c)
{
	return c->cwnd - c->cwnd / 8;
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

static struct sstp_ctrl_ops sstp_ctrl_scalable = {
	.init		= sstp_scalable_init,
	.on_ack		= sstp_scalable_ack,
	.on_loss	= sstp_scalable_loss,
	.on_timeout	= sstp_scalable_timeout,
	.name		= "scalable",
	.owner		= THIS_MODULE,
};
module_sstp_ctrl(sstp_ctrl_scalable);
MODULE_DESCRIPTION("SSTP controller: Scalable TCP");
MODULE_LICENSE("GPL");
