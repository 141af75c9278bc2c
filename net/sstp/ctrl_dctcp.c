// SPDX-License-Identifier: GPL-2.0
/*
 * "dctcp": Data Center TCP (RFC 8257), whose sections are named below. Queues mark packets from
 * a low threshold on, and the window is cut by the share of packets that were marked, so short
 * queues suffice for all of the capacity. For paths on which all flows do so: beside TCP, whose
 * window a mark halves, dctcp takes more than its share.
 *
 * Differences from the RFC: shares are of packets, which are counted by the peer, not of bytes.
 * Reports have exact counts, so section 3.2, how a receiver tells them by a single bit, is not
 * needed. The share of the last window's packets is known when a mark arrives, which cuts at
 * once, as section 3.3 has it. Without ECN it is newreno.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/sstp_window.h>

#define SSTP_DCTCP_SHIFT	31	/* of alpha */
#define SSTP_DCTCP_GAIN		16U	/* 1/g, section 4.2 */
#define SSTP_DCTCP_LATE		16000000 /* shipments: a loss that is older is never reported */

enum sstp_dctcp_param { SSTP_DCTCP_INVERSE_GAIN };

/**
 * struct sstp_dctcp - state of the controller
 * @w: the window
 * @alpha: DCTCP.Alpha, 2^-SSTP_DCTCP_SHIFT: estimate of the share of packets that are marked
 * @end: DCTCP.WindowEnd: shipment whose report ends the observation window (serial number)
 * @delivered: DCTCP.BytesAcked, in packets
 * @marked: DCTCP.BytesMarked, in packets
 * @answered: shipment up to which losses cause no cut (serial number)
 * @by_marks: the last cut was made for marks alone, which says nothing about losses
 */
struct sstp_dctcp {
	struct sstp_window w;
	u32	alpha;
	u32	end;
	u32	delivered;
	u32	marked;
	u32	answered;
	bool	by_marks;
};

static struct sstp_dctcp *sstp_dctcp_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_dctcp);
}

static void sstp_dctcp_observe(struct sstp_dctcp *d, const struct sstp_ctrl_sample *s)
{
	d->end = s->shipped;
	d->delivered = 0;
	d->marked = 0;
}

/* Alpha begins with 1, as in net/ipv4/tcp_dctcp.c: the first mark halves the window. */
static void sstp_dctcp_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_dctcp *d = sstp_dctcp_priv(c);

	sstp_window_init(c, &d->w, s);
	d->alpha = BIT(SSTP_DCTCP_SHIFT);
	d->answered = s->shipped;
	d->by_marks = false;
	sstp_dctcp_observe(d, s);
}

/* Section 3.3: M is the share of packets of the observation window that were marked, and
 * alpha = alpha * (1 - g) + g * M.
 */
static void sstp_dctcp_update(const struct sstp_ctrl *c, struct sstp_dctcp *d)
{
	u32 gain = c->param[SSTP_DCTCP_INVERSE_GAIN] ?: SSTP_DCTCP_GAIN;
	u32 m = div_u64((u64)d->marked << SSTP_DCTCP_SHIFT, d->delivered);

	d->alpha = d->alpha - d->alpha / gain + m / gain;
	d->alpha = min(d->alpha, BIT(SSTP_DCTCP_SHIFT));
}

/* Section 3.4: the window grows as newreno's. */
static void sstp_dctcp_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_dctcp *d = sstp_dctcp_priv(c);
	u32 packets = sstp_window_ack(c, &d->w, s);

	d->delivered += s->delivered;
	d->marked += s->ce;
	if ((s32)(s->highest - d->end) >= 0) {
		if (d->delivered)
			sstp_dctcp_update(c, d);
		sstp_dctcp_observe(d, s);
		/* It must not become so old that it would count as after @s->highest. */
		if ((s32)(s->highest - d->answered) > SSTP_DCTCP_LATE)
			d->answered = s->highest - SSTP_DCTCP_LATE;
	}
	if (packets)
		sstp_window_grow(c, &d->w, packets, c->cwnd);
	sstp_window_pace(c, &d->w, s);
}

/* Section 3.3: cwnd = cwnd * (1 - alpha / 2) */
static u32 sstp_dctcp_ssthresh(const struct sstp_ctrl *c, const struct sstp_dctcp *d)
{
	return c->cwnd - (u32)((u64)c->cwnd * d->alpha >> (SSTP_DCTCP_SHIFT + 1));
}

/* Section 3.5: the loss of a packet halves the window, whatever alpha is, once in a window of
 * data. That marks have cut the window does not answer it: where each round trip has marks, no
 * loss would ever be answered.
 */
static void sstp_dctcp_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_dctcp *d = sstp_dctcp_priv(c);
	bool cut = sstp_window_loss(c, &d->w, s);

	if (s->lost && (cut || (d->by_marks && (s32)(s->lost_ship - d->answered) > 0))) {
		d->answered = s->shipped;
		d->by_marks = false;
		sstp_window_cut(c, &d->w, s, c->cwnd / 2);
	} else if (cut) {
		d->by_marks = true;
		sstp_window_cut(c, &d->w, s, sstp_dctcp_ssthresh(c, d));
	}
}

static void sstp_dctcp_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_dctcp *d = sstp_dctcp_priv(c);

	/* A threshold that was set for marks does not stay. */
	if (d->by_marks)
		d->w.cut = false;
	d->answered = s->shipped;
	d->by_marks = false;
	sstp_window_timeout(c, &d->w, s, c->cwnd / 2);
}

static void sstp_dctcp_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_dctcp *d = (const struct sstp_dctcp *)c->priv;

	state[0] = d->w.ssthresh;
	state[1] = (u64)d->alpha * 1000000 >> SSTP_DCTCP_SHIFT;
	state[2] = d->delivered;
	state[3] = d->marked;
}

static struct sstp_ctrl_ops sstp_ctrl_dctcp = {
	.init		= sstp_dctcp_init,
	.on_ack		= sstp_dctcp_ack,
	.on_loss	= sstp_dctcp_loss,
	.on_timeout	= sstp_dctcp_timeout,
	.ecn		= SSTP_CTRL_ECN_NEEDS,
	.name		= "dctcp",
	.owner		= THIS_MODULE,
	.params		= { [SSTP_DCTCP_INVERSE_GAIN] = { "inverse_gain", 1, 65536 } },
	.state		= { "ssthresh", "alpha", "delivered", "marked" },
	.get_info	= sstp_dctcp_get_info,
};
module_sstp_ctrl(sstp_ctrl_dctcp);
MODULE_DESCRIPTION("SSTP controller: Data Center TCP (RFC 8257)");
MODULE_LICENSE("GPL");
