// SPDX-License-Identifier: GPL-2.0
/*
 * "highspeed": HighSpeed TCP (RFC 3649). The larger the window, the faster it grows, by a(w)
 * packets in a round trip, and the less it is cut, by b(w). Up to 38 packets both are TCP's.
 */
#include <linux/minmax.h>
#include <net/sstp_window.h>

/* a(w) and b(w) of RFC 3649, section 5: row a - 1 has the smallest window that grows by a */
static const struct sstp_highspeed_row {
	u32	window;
	u8	decrease;	/* b, 1/256 */
} sstp_highspeed_rows[] = {
#include "ctrl_highspeed_table.h"
};

/**
 * struct sstp_highspeed - state of the controller
 * @w: the window
 * @row: row of the table for the present window
 */
struct sstp_highspeed {
	struct sstp_window w;
	u32	row;
};

static struct sstp_highspeed *sstp_highspeed_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_highspeed);
}

/* Find the row for @cwnd, from that of the last call on. */
static void sstp_highspeed_seek(struct sstp_highspeed *h, u32 cwnd)
{
	const struct sstp_highspeed_row *row = sstp_highspeed_rows;

	while (h->row && cwnd < row[h->row].window)
		h->row--;
	while (h->row + 1 < ARRAY_SIZE(sstp_highspeed_rows) && cwnd >= row[h->row + 1].window)
		h->row++;
}

static void sstp_highspeed_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, &sstp_highspeed_priv(c)->w, s);
}

static void sstp_highspeed_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_highspeed *h = sstp_highspeed_priv(c);
	u32 packets = sstp_window_ack(c, &h->w, s);

	if (packets) {
		sstp_highspeed_seek(h, c->cwnd);
		/* a(w) packets for each window; @packets is at most some windows. */
		packets = min(packets, U32_MAX / ARRAY_SIZE(sstp_highspeed_rows));
		sstp_window_grow(c, &h->w, packets * (h->row + 1), c->cwnd);
	}
	sstp_window_pace(c, &h->w, s);
}

static u32 sstp_highspeed_ssthresh(struct sstp_ctrl *c)
{
	struct sstp_highspeed *h = sstp_highspeed_priv(c);

	sstp_highspeed_seek(h, c->cwnd);
	return c->cwnd - (u32)((u64)c->cwnd * sstp_highspeed_rows[h->row].decrease >> 8);
}

static void sstp_highspeed_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_highspeed *h = sstp_highspeed_priv(c);

	if (sstp_window_loss(c, &h->w, s))
		sstp_window_cut(c, &h->w, s, sstp_highspeed_ssthresh(c));
}

static void sstp_highspeed_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_timeout(c, &sstp_highspeed_priv(c)->w, s, sstp_highspeed_ssthresh(c));
}

/* The row is that of the last report in congestion avoidance, or of the last cut. */
static void sstp_highspeed_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_highspeed *h = (const struct sstp_highspeed *)c->priv;

	state[0] = h->w.ssthresh;
	state[1] = h->row + 1;
	state[2] = sstp_highspeed_rows[h->row].decrease;
}

static struct sstp_ctrl_ops sstp_ctrl_highspeed = {
	.init		= sstp_highspeed_init,
	.on_ack		= sstp_highspeed_ack,
	.on_loss	= sstp_highspeed_loss,
	.on_timeout	= sstp_highspeed_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "highspeed",
	.owner		= THIS_MODULE,
	.state		= { "ssthresh", "a", "b" },
	.get_info	= sstp_highspeed_get_info,
};
module_sstp_ctrl(sstp_ctrl_highspeed);
MODULE_DESCRIPTION("SSTP controller: HighSpeed TCP (RFC 3649)");
MODULE_LICENSE("GPL");
