// SPDX-License-Identifier: GPL-2.0
/*
 * "newreno": additive increase, multiplicative decrease in packets, as TCP's
 * (RFC 5681, RFC 6582), so that it shares a path with TCP fairly. The default
 * where no rate is declared. A cut for packets that were only late is undone.
 */
#include <linux/build_bug.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "ctrl.h"

#define SSTP_NEWRENO_INIT	10
#define SSTP_NEWRENO_MIN	2
#define SSTP_NEWRENO_MAX	BIT(24)
#define SSTP_NEWRENO_LATE	16000000	/* shipments: no older loss is ever reported */

/**
 * struct sstp_newreno - state of the controller
 * @ssthresh: slow start threshold, packets
 * @count: packets delivered since the window last grew in congestion avoidance
 * @recover: last shipment before the last cut (serial number)
 * @was: window before the last cut, packets
 * @was_ssthresh: @ssthresh before the last cut, packets
 * @lost: lost packets that the last cut was made for; 0 = it cannot be undone
 * @undue: packets that were only late, since the last cut
 * @cut: in recovery: shipments up to @recover are not all reported yet
 * @late: shipments up to @recover may still be reported lost
 */
struct sstp_newreno {
	u32	ssthresh;
	u32	count;
	u32	recover;
	u32	was;
	u32	was_ssthresh;
	u32	lost;
	u32	undue;
	bool	cut;
	bool	late;
};

static struct sstp_newreno *sstp_newreno(struct sstp_ctrl *c)
{
	BUILD_BUG_ON(sizeof(struct sstp_newreno) > sizeof(c->priv));
	return (struct sstp_newreno *)c->priv;
}

static void sstp_newreno_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = SSTP_NEWRENO_INIT;
	c->period = 0;
	sstp_newreno(c)->ssthresh = SSTP_NEWRENO_MAX;
}

/* Spread the window over a round trip: at twice its rate in slow start, at 1.2
 * times later, as TCP paces.
 */
static void sstp_newreno_pace(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	u64 round = (u64)s->srtt * NSEC_PER_USEC;

	c->period = c->cwnd < sstp_newreno(c)->ssthresh ?
		div_u64(round, c->cwnd * 2) :
		div_u64(round * 5, c->cwnd * 6);
}

/* @undue packets were only late. If that is as many as the last cut was made for, undo it. */
static void sstp_newreno_undo(struct sstp_ctrl *c, u32 undue)
{
	struct sstp_newreno *p = sstp_newreno(c);

	p->undue += undue;
	if (!p->lost || p->undue < p->lost)
		return;
	c->cwnd = max(c->cwnd, p->was);
	p->ssthresh = max(p->ssthresh, p->was_ssthresh);
	p->lost = 0;
	p->cut = false;
}

static void sstp_newreno_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_newreno *p = sstp_newreno(c);
	u32 delivered = s->delivered;
	bool held, limited;

	if (s->undue)
		sstp_newreno_undo(c, s->undue);
	if ((s32)(s->highest - p->recover) >= 0)
		p->cut = false;
	if ((s32)(s->highest - p->recover) >= SSTP_NEWRENO_LATE)
		p->late = false;
	/* The window does not grow in recovery, except in slow start after a time-out. */
	held = p->cut && c->cwnd >= p->ssthresh;
	/* In slow start the window grows without being cwnd-limited, as pacing may hold packets
	 * back; but never beyond about twice the packets in flight, as unused window proves
	 * nothing about the path.
	 */
	limited = (s->cwnd_limited || c->cwnd < p->ssthresh) &&
		  c->cwnd / 2 < s->flight;
	if (limited && !held && delivered) {
		if (c->cwnd < p->ssthresh) {
			u32 grow = min(delivered, p->ssthresh - c->cwnd);

			c->cwnd += grow;
			delivered -= grow;
		}
		p->count += delivered;
		if (c->cwnd >= p->ssthresh && p->count >= c->cwnd) {
			p->count -= c->cwnd;
			c->cwnd++;
		}
		c->cwnd = min(c->cwnd, SSTP_NEWRENO_MAX);
	}
	sstp_newreno_pace(c, s);
}

/* Set ssthresh to half the window, at most once a round trip: packets shipped before the cut
 * may be lost for the same cause.
 */
static void sstp_newreno_cut(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_newreno *p = sstp_newreno(c);

	if (!p->cut)
		p->ssthresh = max(c->cwnd / 2, (u32)SSTP_NEWRENO_MIN);
	p->count = 0;
	p->recover = s->shipped;
	p->cut = true;
	p->late = true;
}

static void sstp_newreno_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_newreno *p = sstp_newreno(c);

	if (p->late && (s32)(s->lost_ship - p->recover) <= 0) {
		if (p->lost)
			p->lost += s->lost;
		return;
	}
	p->was = c->cwnd;
	p->was_ssthresh = p->ssthresh;
	p->lost = s->lost;
	p->undue = 0;
	p->cut = false;
	sstp_newreno_cut(c, s);
	c->cwnd = p->ssthresh;
	sstp_newreno_pace(c, s);
}

static void sstp_newreno_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_newreno_cut(c, s);
	sstp_newreno(c)->lost = 0;
	c->cwnd = SSTP_NEWRENO_MIN;
	sstp_newreno_pace(c, s);
}

static void sstp_newreno_get_info(const struct sstp_ctrl *c, s64 *state)
{
	state[0] = ((const struct sstp_newreno *)c->priv)->ssthresh;
}

struct sstp_ctrl_ops sstp_ctrl_newreno = {
	.init		= sstp_newreno_init,
	.on_ack		= sstp_newreno_ack,
	.on_loss	= sstp_newreno_loss,
	.on_timeout	= sstp_newreno_timeout,
	.name		= "newreno",
	.owner		= THIS_MODULE,
	.state		= { "ssthresh" },
	.get_info	= sstp_newreno_get_info,
};
