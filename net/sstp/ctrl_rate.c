// SPDX-License-Identifier: GPL-2.0
/*
 * "rate": no congestion control: the declared contract alone paces the sender, as in
 * WUCS-92-38. The paper assumes reserved capacity, so losses are no sign of congestion.
 *
 * With the parameter kbit it is the UDPBlast of Gu and Grossman, section 4.1, and setting the
 * parameter is its setRate(): packets leave at a fixed rate of full frames, with a period of
 * frame / rate, however many are in flight. The parameters ack_interval, rto and rtt are
 * the setACKInterval() and the times of its own of section 2.2.2.
 */
#include <linux/math64.h>
#include <net/sstp_window.h>
#include "ctrl.h"

/* ns * kbit/s for a byte */
#define SSTP_CTRL_RATE_BYTE	(8ULL * USEC_PER_SEC)

enum {
	SSTP_CTRL_RATE_KBIT,
	SSTP_CTRL_RATE_ACK_INTERVAL,
	SSTP_CTRL_RATE_RTO,
	SSTP_CTRL_RATE_RTT,
};

/**
 * struct sstp_ctrl_rate_state - state of the controller
 * @kbit: rate that the period is for, kbit/s
 * @frame: bytes of a frame, likewise
 * @shipped: newest shipment when the period was set
 * @ahead: by how much packets have left too early, ns * kbit/s: the period is in whole ns, so
 *	it is one too short until that has added up, then one too long
 */
struct sstp_ctrl_rate_state {
	u32	kbit;
	u32	frame;
	u32	shipped;
	s64	ahead;
};

static void sstp_ctrl_rate_pace(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_ctrl_rate_state *r = sstp_ctrl_priv(c, struct sstp_ctrl_rate_state);
	u64 frame = s->packet_size * SSTP_CTRL_RATE_BYTE;
	u32 kbit = c->param[SSTP_CTRL_RATE_KBIT], rest;
	u64 period;

	if (!kbit) {
		r->kbit = 0;
		c->period = 0;
		return;
	}
	period = div_u64_rem(frame, kbit, &rest);
	/* Less than @kbit for each packet, so it fits: shipments in flight fit 30 bits. */
	if (r->kbit == kbit && r->frame == s->packet_size && period < SSTP_PERIOD_LIMIT)
		r->ahead += (s32)(s->shipped - r->shipped) * (s64)(frame - c->period * kbit);
	else
		r->ahead = 0;
	r->kbit = kbit;
	r->frame = s->packet_size;
	r->shipped = s->shipped;
	c->period = period + (rest && r->ahead > 0);
}

static void sstp_ctrl_rate_param(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->ack_interval = c->param[SSTP_CTRL_RATE_ACK_INTERVAL];
	c->rto = c->param[SSTP_CTRL_RATE_RTO];
	c->rtt = c->param[SSTP_CTRL_RATE_RTT];
	sstp_ctrl_rate_pace(c, s);
}

static void sstp_ctrl_rate_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = SSTP_CWND_MAX;
	sstp_ctrl_rate_param(c, s);
}

struct sstp_ctrl_ops sstp_ctrl_rate = {
	.init	= sstp_ctrl_rate_init,
	.on_ack	= sstp_ctrl_rate_pace,
	.on_param = sstp_ctrl_rate_param,
	.restricted = true,
	.name	= "rate",
	.owner	= THIS_MODULE,
	.params	= {
		[SSTP_CTRL_RATE_KBIT] = { "kbit", 1, U32_MAX },
		[SSTP_CTRL_RATE_ACK_INTERVAL] = { "ack_interval", 1, U16_MAX },
		[SSTP_CTRL_RATE_RTO] = { "rto", SSTP_RTO_LIMIT_MIN, SSTP_RTO_LIMIT_MAX },
		[SSTP_CTRL_RATE_RTT] = { "rtt", 1, SSTP_RTT_LIMIT },
	},
};
