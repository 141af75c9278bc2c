// SPDX-License-Identifier: GPL-2.0
/*
 * "vegas": TCP Vegas (Brakmo and Peterson, JSAC 13(8), 1995). Once a round trip it compares the
 * lowest round-trip time of that round with the lowest ever: the difference tells how many of
 * its packets wait in queues. It keeps that between alpha and beta, and leaves slow start when
 * it exceeds gamma, which are its parameters. To a loss it reacts as TCP. Slow start doubles
 * each round trip, and the packets that wait are w (RTT - base) / base, as in Linux's TCP.
 *
 * A report answers the last packet of a train, which waits for the others of its train at a link
 * that is slower than the first one. These say nothing about the path, so they do not count.
 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/sstp_window.h>

/* Parameters, packets in queues */
enum sstp_vegas_param { SSTP_VEGAS_ALPHA, SSTP_VEGAS_BETA, SSTP_VEGAS_GAMMA };

static const u32 sstp_vegas_defaults[] = {
	[SSTP_VEGAS_ALPHA] = 2,
	[SSTP_VEGAS_BETA] = 4,
	[SSTP_VEGAS_GAMMA] = 1,
};

/**
 * struct sstp_vegas - state of the controller
 * @w: the window
 * @base: lowest round-trip time ever, us; U32_MAX = none yet
 * @round: lowest round-trip time of this round trip, us
 * @samples: round-trip times measured in this round trip
 * @end: shipment whose report ends the round trip (serial number)
 * @train: most packets of a train in this round trip
 * @last_train: the same of the last one, in which the packets left that are reported now
 */
struct sstp_vegas {
	struct sstp_window w;
	u32	base;
	u32	round;
	u32	samples;
	u32	end;
	u32	train;
	u32	last_train;
};

static struct sstp_vegas *sstp_vegas_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_vegas);
}

static u32 sstp_vegas_param(const u32 *param, enum sstp_vegas_param i)
{
	return param[i] ?: sstp_vegas_defaults[i];
}

static int sstp_vegas_check(const struct sstp_param_values *v)
{
	return sstp_vegas_param(v->param, SSTP_VEGAS_ALPHA) <
	       sstp_vegas_param(v->param, SSTP_VEGAS_BETA) ? 0 : -EINVAL;
}

static void sstp_vegas_begin(struct sstp_vegas *v, const struct sstp_ctrl_sample *s)
{
	v->round = U32_MAX;
	v->samples = 0;
	v->end = s->shipped;
	v->last_train = v->train;
	v->train = 0;
}

static void sstp_vegas_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_vegas *v = sstp_vegas_priv(c);

	sstp_window_init(c, &v->w, s);
	v->base = U32_MAX;
	sstp_vegas_begin(v, s);
}

/* A round trip is over: adapt the window by the packets that wait in queues. */
static void sstp_vegas_adjust(struct sstp_ctrl *c, struct sstp_vegas *v)
{
	u32 target = div_u64((u64)c->cwnd * v->base, v->round);
	u64 waiting = div_u64((u64)c->cwnd * (v->round - v->base), v->base);
	u32 train = max(v->train, v->last_train);

	if (train)
		waiting -= min_t(u64, waiting, train - 1);

	if (sstp_window_in_slow_start(c, &v->w)) {
		if (waiting <= sstp_vegas_param(c->param, SSTP_VEGAS_GAMMA))
			return;
		c->cwnd = max_t(u32, min(c->cwnd, target + 1), SSTP_WINDOW_MIN);
		v->w.ssthresh = c->cwnd;
	} else if (waiting > sstp_vegas_param(c->param, SSTP_VEGAS_BETA)) {
		c->cwnd = max(c->cwnd - 1, (u32)SSTP_WINDOW_MIN);
		v->w.ssthresh = min(v->w.ssthresh, c->cwnd);
	} else if (waiting < sstp_vegas_param(c->param, SSTP_VEGAS_ALPHA)) {
		c->cwnd = min(c->cwnd + 1, (u32)SSTP_WINDOW_MAX);
	}
}

static void sstp_vegas_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_vegas *v = sstp_vegas_priv(c);
	u32 packets = sstp_window_ack(c, &v->w, s);

	if (s->rtt) {
		v->base = min(v->base, s->rtt);
		v->round = min(v->round, s->rtt);
		v->samples++;
	}
	if ((s32)(s->highest - v->end) >= 0) {
		/* A single sample may be that of a delayed report. Pacing may keep slow start
		 * from being cwnd-limited.
		 */
		if (v->samples > 1 && !v->w.cut &&
		    (s->cwnd_limited || sstp_window_in_slow_start(c, &v->w)))
			sstp_vegas_adjust(c, v);
		else if (v->samples == 1 && packets)
			sstp_window_grow(c, &v->w, packets, c->cwnd);
		sstp_vegas_begin(v, s);
	}
	sstp_window_pace(c, &v->w, s);
}

static void sstp_vegas_sent(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			    const struct sstp_ctrl_packets *p)
{
	struct sstp_vegas *v = sstp_vegas_priv(c);

	v->train = max(v->train, p->packets);
}

static void sstp_vegas_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_vegas *v = sstp_vegas_priv(c);

	if (sstp_window_loss(c, &v->w, s))
		sstp_window_cut(c, &v->w, s, c->cwnd / 2);
}

static void sstp_vegas_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_timeout(c, &sstp_vegas_priv(c)->w, s, c->cwnd / 2);
}

static void sstp_vegas_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_vegas *v = (const struct sstp_vegas *)c->priv;

	state[0] = v->w.ssthresh;
	state[1] = v->base == U32_MAX ? 0 : v->base;
	state[2] = v->round == U32_MAX ? 0 : v->round;
}

static struct sstp_ctrl_ops sstp_ctrl_vegas = {
	.init		= sstp_vegas_init,
	.on_ack		= sstp_vegas_ack,
	.on_loss	= sstp_vegas_loss,
	.on_timeout	= sstp_vegas_timeout,
	.on_pkt_sent	= sstp_vegas_sent,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "vegas",
	.owner		= THIS_MODULE,
	.params		= {
		[SSTP_VEGAS_ALPHA] = { "alpha", 1, U16_MAX },
		[SSTP_VEGAS_BETA] = { "beta", 1, U16_MAX },
		[SSTP_VEGAS_GAMMA] = { "gamma", 1, U16_MAX },
	},
	.state		= { "ssthresh", "base_rtt", "round_rtt" },
	.check_params	= sstp_vegas_check,
	.get_info	= sstp_vegas_get_info,
};
module_sstp_ctrl(sstp_ctrl_vegas);
MODULE_DESCRIPTION("SSTP controller: TCP Vegas");
MODULE_LICENSE("GPL");
