// SPDX-License-Identifier: GPL-2.0
/* "bpf-vegas": TCP Vegas, as net/sstp/ctrl_vegas.c */
#include "sstp.bpf.h"

/* State: lowest round-trip time ever, and of this round trip, us; round-trip times measured in it;
 * the shipment that ends it; most packets of a train in it, and in the last one
 */
enum { BASE = SSTP_PRIV, ROUND, SAMPLES, END, TRAIN, LAST_TRAIN };

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_init(c, s);
	c->priv[BASE] = ~0U;
	c->priv[ROUND] = ~0U;
	c->priv[END] = s->shipped;
}

/* Keep two to four packets in queues; more than one ends slow start. */
static void adjust(struct sstp_ctrl *c, bool slow_start)
{
	u64 base = max(c->priv[BASE], 1), round = max(c->priv[ROUND], 1);
	u64 train = max(max(c->priv[TRAIN], c->priv[LAST_TRAIN]), 1) - 1;
	u64 waiting = round > base ? c->cwnd * (round - base) / base : 0;

	waiting -= min(waiting, train);
	if (slow_start && waiting > 1)
		c->cwnd = max(min(c->cwnd, c->cwnd * base / round + 1), SSTP_WINDOW_MIN);
	else if (!slow_start && waiting > 4)
		c->cwnd = max(c->cwnd - 1, SSTP_WINDOW_MIN);
	else if (!slow_start && waiting < 2)
		c->cwnd++;
	if (slow_start ? waiting > 1 : waiting > 4)
		sstp_window(c)->ssthresh = c->cwnd;
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bool slow_start = c->cwnd < sstp_window(c)->ssthresh;
	u32 packets = bpf_sstp_window_ack(c, s);

	if (s->rtt) {
		c->priv[BASE] = min(c->priv[BASE], s->rtt);
		c->priv[ROUND] = min(c->priv[ROUND], s->rtt);
		c->priv[SAMPLES]++;
	}
	if ((s32)(s->highest - (u32)c->priv[END]) >= 0) {
		if (c->priv[SAMPLES] > 1 && !sstp_window(c)->cut && (s->cwnd_limited || slow_start))
			adjust(c, slow_start);
		else if (c->priv[SAMPLES] == 1 && packets)
			bpf_sstp_window_grow(c, packets, c->cwnd);
		c->priv[ROUND] = ~0U;
		c->priv[SAMPLES] = 0;
		c->priv[END] = s->shipped;
		c->priv[LAST_TRAIN] = c->priv[TRAIN];
		c->priv[TRAIN] = 0;
	}
	bpf_sstp_window_pace(c, s);
}

SSTP_CALLBACK(on_pkt_sent, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
	      const struct sstp_ctrl_packets *p)
{
	c->priv[TRAIN] = max(c->priv[TRAIN], p->packets);
}

SSTP_CALLBACK(on_loss, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (bpf_sstp_window_loss(c, s))
		bpf_sstp_window_cut(c, s, c->cwnd / 2);
}

SSTP_CALLBACK(on_timeout, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_timeout(c, s, c->cwnd / 2);
}

SSTP_CTRL("bpf-vegas", .init = (void *)init, .on_ack = (void *)on_ack,
	  .on_pkt_sent = (void *)on_pkt_sent, .on_loss = (void *)on_loss,
	  .on_timeout = (void *)on_timeout, .ecn = SSTP_CTRL_ECN_ANSWERS,
	  .state = { "base_rtt", "round_rtt" });
