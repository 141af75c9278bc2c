// SPDX-License-Identifier: GPL-2.0
/* "bpf-cubic": CUBIC (RFC 9438), as net/sstp/cubic.c */
#include "sstp.bpf.h"

/* State: window before the last cut, the same for Reno, K in ms, window at K, start of the epoch in
 * ns, and the window that Reno would have, in packets / 2^20
 */
enum { MAX = SSTP_PRIV, PRIOR, K, ORIGIN, START, EST };

#define C	2500000000ULL	/* 1 / C of the RFC, ms^3 */

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_init(c, s);
}

/* C (t - K)^3 + W_max, packets. @t: ms. BPF divides no negative numbers. */
static u64 cubic(const struct sstp_ctrl *c, u64 t)
{
	u64 k = c->priv[K], d = min(t > k ? t - k : k - t, 1600000), part = d * d * d / C;

	if (t > k)
		return c->priv[ORIGIN] + part;
	return c->priv[ORIGIN] > part ? c->priv[ORIGIN] - part : 1;
}

static void begin(struct sstp_ctrl *c, u64 now)
{
	u64 max = c->priv[MAX];

	c->priv[START] = now;
	c->priv[EST] = (u64)c->cwnd << 20;
	c->priv[ORIGIN] = max(max, c->cwnd);
	c->priv[K] = max > c->cwnd ? bpf_sstp_cbrt((max - c->cwnd) * C) : 0;
}

static void avoid(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s, u64 packets)
{
	u32 alpha = c->priv[EST] < c->priv[PRIOR] << 20 ? 542 : 1024;
	u64 t = (s->now - c->priv[START]) / NSEC_PER_MSEC, target;

	c->priv[EST] += (packets * alpha << 10) / max(c->cwnd, 1);
	if (cubic(c, t) < c->priv[EST] >> 20) {
		c->cwnd = max(c->cwnd, c->priv[EST] >> 20);
		return;
	}
	target = min(cubic(c, t + s->srtt / 1000), c->cwnd + c->cwnd / 2 + 1);
	if (target > c->cwnd)
		bpf_sstp_window_grow(c, packets, c->cwnd / (target - c->cwnd));
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	u32 packets = bpf_sstp_window_ack(c, s);

	if (sstp_window(c)->undone || !s->cwnd_limited)
		c->priv[START] = 0;
	if (packets && !c->priv[START])
		begin(c, s->now);
	if (packets)
		avoid(c, s, packets);
	bpf_sstp_window_pace(c, s);
}

SSTP_CALLBACK(on_loss, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (!bpf_sstp_window_loss(c, s))
		return;
	c->priv[PRIOR] = c->cwnd;
	c->priv[MAX] = c->cwnd < c->priv[MAX] ? (u64)c->cwnd * 1741 / 2048 : c->cwnd;
	c->priv[START] = 0;
	bpf_sstp_window_cut(c, s, (u64)c->cwnd * 717 / 1024);
}

SSTP_CALLBACK(on_timeout, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->priv[MAX] = 0;
	c->priv[PRIOR] = 0;
	c->priv[START] = 0;
	bpf_sstp_window_timeout(c, s, (u64)c->cwnd * 717 / 1024);
}

SSTP_CTRL("bpf-cubic", .init = (void *)init, .on_ack = (void *)on_ack,
	  .on_loss = (void *)on_loss, .on_timeout = (void *)on_timeout,
	  .ecn = SSTP_CTRL_ECN_ANSWERS, .state = { "w_max" });
