// SPDX-License-Identifier: GPL-2.0
/*
 * "westwood": TCP Westwood+ (Grieco and Mascolo, CCR 34(2), 2004). The window grows as TCP's.
 * After a loss it becomes what the path carried without a queue: the bandwidth estimate, two
 * low-pass filters of what is delivered in each round trip, times the lowest round-trip time.
 * A random loss, without a queue, hardly cuts it.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_window.h>

#define SSTP_WESTWOOD_INTERVAL	(50 * USEC_PER_MSEC)	/* least time of a sample, us */

/**
 * struct sstp_westwood - state of the controller
 * @w: the window
 * @rtt_min: lowest round-trip time, us; 0 = none yet
 * @delivered: packets delivered since @at
 * @at: start of the sample, ns
 * @sample: filtered once, packets in 1024 s
 * @estimate: bandwidth estimate, filtered twice, packets in 1024 s; 0 = none yet
 */
struct sstp_westwood {
	struct sstp_window w;
	u32	rtt_min;
	u32	delivered;
	u64	at;
	u64	sample;
	u64	estimate;
};

static struct sstp_westwood *sstp_westwood_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_westwood);
}

static void sstp_westwood_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_westwood *w = sstp_westwood_priv(c);

	sstp_window_init(c, &w->w, s);
	w->at = s->now;
}

/* Each filter keeps 7/8. The first sample is taken as it is. */
static u64 sstp_westwood_filter(u64 old, u64 sample)
{
	return old ? old - old / 8 + sample / 8 : sample;
}

static void sstp_westwood_measure(struct sstp_westwood *w, const struct sstp_ctrl_sample *s)
{
	u64 us = div_u64(s->now - w->at, NSEC_PER_USEC);

	w->delivered += s->delivered;
	if (s->rtt)
		w->rtt_min = w->rtt_min ? min(w->rtt_min, s->rtt) : s->rtt;
	if (us < max_t(u32, s->srtt, SSTP_WESTWOOD_INTERVAL))
		return;
	w->sample = sstp_westwood_filter(w->sample, div64_u64((u64)w->delivered * 1024 *
							       USEC_PER_SEC, us));
	w->estimate = sstp_westwood_filter(w->estimate, w->sample);
	w->delivered = 0;
	w->at = s->now;
}

static void sstp_westwood_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_westwood *w = sstp_westwood_priv(c);
	u32 packets = sstp_window_ack(c, &w->w, s);

	sstp_westwood_measure(w, s);
	if (packets)
		sstp_window_grow(c, &w->w, packets, c->cwnd);
	sstp_window_pace(c, &w->w, s);
}

/* BWE RTTmin, but no more than the present window, and as TCP before there is an estimate */
static u32 sstp_westwood_ssthresh(struct sstp_ctrl *c)
{
	const struct sstp_westwood *w = sstp_westwood_priv(c);

	if (!w->estimate || !w->rtt_min)
		return c->cwnd / 2;
	return min_t(u64, c->cwnd, mul_u64_u64_div_u64(w->estimate, w->rtt_min,
						       1024 * USEC_PER_SEC));
}

static void sstp_westwood_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_westwood *w = sstp_westwood_priv(c);

	if (sstp_window_loss(c, &w->w, s))
		sstp_window_cut(c, &w->w, s, sstp_westwood_ssthresh(c));
}

static void sstp_westwood_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_timeout(c, &sstp_westwood_priv(c)->w, s, sstp_westwood_ssthresh(c));
}

static void sstp_westwood_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_westwood *w = (const struct sstp_westwood *)c->priv;

	state[0] = w->w.ssthresh;
	state[1] = w->rtt_min;
	state[2] = w->estimate / 1024;
}

static struct sstp_ctrl_ops sstp_ctrl_westwood = {
	.init		= sstp_westwood_init,
	.on_ack		= sstp_westwood_ack,
	.on_loss	= sstp_westwood_loss,
	.on_timeout	= sstp_westwood_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "westwood",
	.owner		= THIS_MODULE,
	.state		= { "ssthresh", "rtt_min", "estimate" },
	.get_info	= sstp_westwood_get_info,
};
module_sstp_ctrl(sstp_ctrl_westwood);
MODULE_DESCRIPTION("SSTP controller: TCP Westwood+");
MODULE_LICENSE("GPL");
