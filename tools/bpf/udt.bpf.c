// SPDX-License-Identifier: GPL-2.0
/*
 * "bpf-udt": the sending half of net/sstp/ctrl_udt.c, which describes it. A and L are taken from
 * delivery rates.
 */
#include "sstp.bpf.h"

/* State: rate, the same before the last decrease, what arrives, and the most that did: packets/s;
 * shipment of the last decrease; no loss yet
 */
enum { RATE, LAST_RATE, ARRIVAL, MOST, EPOCH, SLOW_START };

#define SYN	(10 * NSEC_PER_MSEC)
#define HZ	100	/* SYN in a second */

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 16;
	c->priv[SLOW_START] = 1;
	c->priv[EPOCH] = s->shipped;
	c->timer = s->now + SYN;
}

static void set(struct sstp_ctrl *c, u64 rate)
{
	c->priv[RATE] = max(min(rate, 100000000), 1);
	c->period = NSEC_PER_MSEC * 1000 / max(c->priv[RATE], 1);
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (s->rate_delivered && s->rate_interval)
		c->priv[ARRIVAL] = s->rate_delivered * USEC_PER_SEC / s->rate_interval;
	c->priv[MOST] = max(c->priv[MOST], c->priv[ARRIVAL]);
	if (c->priv[SLOW_START] && s->cwnd_limited)
		c->cwnd += s->delivered;
}

/* 10^ceil(log10(8 MSS B)) 1.5e-6 / MSS packets in a SYN, at least 0.01: that is in packets/s */
SSTP_CALLBACK(on_timer, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	u64 free = c->priv[MOST] > c->priv[RATE] ? c->priv[MOST] - c->priv[RATE] : 0, step = 1;
	int i;

	c->timer = s->now + SYN;
	if (c->priv[SLOW_START])
		return;
	if (c->priv[RATE] < c->priv[LAST_RATE])
		free = min(free, c->priv[MOST] / 9);
	for (i = 0; i < 11 && step < free * s->packet_size * 8; i++)
		step *= 10;
	if (s->cwnd_limited || s->in_flight * 2 > c->cwnd)
		set(c, c->priv[RATE] + max(step * 150 / max(s->packet_size, 1) / 1000000, 1));
	c->cwnd = c->priv[ARRIVAL] * (s->srtt + SYN / 1000) / USEC_PER_SEC + 16;
}

SSTP_CALLBACK(on_loss, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (c->priv[SLOW_START]) {
		c->priv[SLOW_START] = 0;
		set(c, max(c->priv[ARRIVAL], HZ));
	} else if ((s32)(s->lost_ship - (u32)c->priv[EPOCH]) > 0) {
		c->priv[LAST_RATE] = c->priv[RATE];
		c->priv[MOST] = c->priv[ARRIVAL];
		set(c, c->priv[RATE] * 8 / 9);
	} else {
		return;
	}
	c->priv[EPOCH] = s->shipped;
}

SSTP_CALLBACK(on_timeout, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	set(c, max(c->priv[RATE], c->priv[ARRIVAL]) / 2);
	c->priv[SLOW_START] = 0;
}

SSTP_CTRL("bpf-udt", .init = (void *)init, .on_ack = (void *)on_ack, .on_timer = (void *)on_timer,
	  .on_loss = (void *)on_loss, .on_timeout = (void *)on_timeout);
