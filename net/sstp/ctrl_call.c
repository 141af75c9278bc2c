// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of a controller's callbacks. Controllers may come from other modules, so the outputs
 * are clamped after each call to the ranges that include/net/sstp.h documents.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "ctrl.h"

void sstp_ctrl_bound(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (c->cwnd != SSTP_CWND_MAX)
		c->cwnd = clamp_t(u32, c->cwnd, 1, SSTP_CWND_LIMIT);
	if (c->period > SSTP_PERIOD_LIMIT)
		c->period = min(c->period, max_t(u64, SSTP_PERIOD_LIMIT,
						 s->srtt * (u64)NSEC_PER_USEC));
	if (c->rto)
		c->rto = clamp_t(u32, c->rto, SSTP_RTO_LIMIT_MIN, SSTP_RTO_LIMIT_MAX);
	c->rtt = min_t(u32, c->rtt, SSTP_RTT_LIMIT);
	c->ack_interval = min_t(u32, c->ack_interval, U16_MAX);
	if (c->ack_timer)
		c->ack_timer = clamp_t(u32, c->ack_timer, SSTP_ACK_TIMER_MIN, SSTP_ACK_TIMER_MAX);
	if (c->timer)
		c->timer = min(c->timer, s->now + SSTP_CTRL_TIMER_MAX);
	c->msg.len = min_t(u16, c->msg.len, SSTP_MSG_MAX);
}

void sstp_ctrl_begin(struct sstp_ctrl_core *c, const struct sstp_ctrl_ops *ops,
		     const struct sstp_plugin_conf *conf, const struct sstp_ctrl_sample *s)
{
	c->ops = ops;
	c->held_back = false;
	c->cwnd_limited = false;
	c->next = 0;
	c->owed = 0;
	c->timer_at = 0;
	c->prr.flight = 0;
	c->out = (struct sstp_ctrl){ .cwnd = SSTP_CWND_MAX };
	sstp_param_take(c->out.param, ops->params, ops->name, conf);
	ops->init(&c->out, s);
	sstp_ctrl_bound(&c->out, s);
}

void sstp_ctrl_tune(struct sstp_ctrl_core *c, const struct sstp_plugin_conf *conf,
		    const struct sstp_ctrl_sample *s)
{
	if (!c->ops || strcmp(c->ops->name, conf->name))
		return;
	sstp_param_take(c->out.param, c->ops->params, c->ops->name, conf);
	if (!c->ops->on_param)
		return;
	c->ops->on_param(&c->out, s);
	sstp_ctrl_bound(&c->out, s);
	/* A shorter period ends the wait that the former one imposed. */
	c->next = min(c->next, s->now + sstp_ctrl_period(c));
}

void sstp_ctrl_get_info(const struct sstp_ctrl_core *c, s64 *state)
{
	memset(state, 0, SSTP_STATE_MAX * sizeof(*state));
	if (c->ops->get_info)
		c->ops->get_info(&c->out, state);
}

/* As tcp_cwnd_validate(): if the window held back a packet once in a round trip, the sender
 * was cwnd-limited in all of it, even while pacing spread the packets that a report released.
 */
void sstp_ctrl_used(struct sstp_ctrl_core *c, struct sstp_ctrl_sample *s, u32 flight)
{
	bool limited = c->cwnd_limited, over = (s32)(s->highest - c->flight_ship) >= 0;
	u32 most = c->flight;

	if (c->held_back || over || (!c->cwnd_limited && flight > c->flight)) {
		c->cwnd_limited = c->held_back;
		c->flight = flight;
		c->flight_ship = s->shipped;
	}
	/* The report that ends a round trip belongs to it: else its packets would not count for
	 * the window if pacing has spread those of the next one.
	 */
	s->cwnd_limited = c->cwnd_limited || (over && limited);
	s->flight = over ? max(c->flight, most) : c->flight;
	c->held_back = false;
}

u64 sstp_ctrl_buffered(const struct sstp_ctrl_core *c, u64 round)
{
	u64 most = U64_MAX;

	if (c->out.cwnd != SSTP_CWND_MAX)
		most = 2ULL * c->out.cwnd;
	else if (c->out.period)
		most = 6 * div64_u64(round, c->out.period);
	return min(most, 6ULL * c->flight);
}

void sstp_ctrl_report(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s)
{
	u32 was;

	if (c->ops->on_ack) {
		c->ops->on_ack(&c->out, s);
		sstp_ctrl_bound(&c->out, s);
	}
	if ((s->lost || s->ce) && c->ops->on_loss) {
		was = c->out.cwnd;
		c->ops->on_loss(&c->out, s);
		sstp_ctrl_bound(&c->out, s);
		if (c->out.cwnd < was)
			sstp_prr_start(&c->prr, s->prior_in_flight, s->shipped);
	}
	sstp_prr_report(&c->prr, s->delivered, s->lost, s->in_flight, c->out.cwnd, s->highest);
}

void sstp_ctrl_timeout(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s)
{
	c->prr.flight = 0;
	c->ops->on_timeout(&c->out, s);
	sstp_ctrl_bound(&c->out, s);
}

bool sstp_ctrl_sent(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s,
		    const struct sstp_ctrl_packets *p)
{
	u32 ack_interval = c->out.ack_interval, ack_timer = c->out.ack_timer;
	u64 timer = c->out.timer;

	c->ops->on_pkt_sent(&c->out, s, p);
	sstp_ctrl_bound(&c->out, s);
	return c->out.msg.kind || c->out.timer != timer || c->out.ack_interval != ack_interval ||
	       c->out.ack_timer != ack_timer;
}

void sstp_ctrl_timer(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s)
{
	c->out.timer = 0;
	c->timer_at = s->now + SSTP_CTRL_TIMER_MIN;
	c->ops->on_timer(&c->out, s);
	sstp_ctrl_bound(&c->out, s);
}

void sstp_ctrl_message(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s,
		       const struct sstp_ctrl_msg *m)
{
	c->ops->on_message(&c->out, s, m);
	sstp_ctrl_bound(&c->out, s);
}

/* A full window opens when its oldest packets are reported, with the last one of their interval:
 * if it is paced and no queue holds more packets, it takes a round trip and the time in which an
 * interval leaves. That is 5% with 16 intervals in a window. If there are more than 4, reports are
 * SSTP_CTRL_REPORT apart at least, as each costs instructions at both ends.
 */
u32 sstp_ctrl_interval(const struct sstp_ctrl_core *c, u32 min_rtt)
{
	u32 cwnd = c->out.cwnd, reports;

	if (c->out.ack_interval)
		return min(c->out.ack_interval, cwnd);
	if (cwnd == SSTP_CWND_MAX)
		return 0;
	reports = clamp(min_rtt / SSTP_CTRL_REPORT, SSTP_CTRL_REPORTS_MIN, SSTP_CTRL_REPORTS_MAX);
	return clamp(cwnd / reports, cwnd < SSTP_CTRL_SMALL ? 1U : 2U, SSTP_CTRL_INTERVAL);
}

/* The window opens when a train is reported, so trains as long as the window would let the line
 * rest for a round trip after each. A train is no longer than an interval of reports, or than an
 * initial window if that is more. Between hosts that are near to each other it may be half of the
 * window, as of TCP: there the hosts' work is the limit more often than a line.
 */
u32 sstp_ctrl_train(const struct sstp_ctrl_core *c, u32 min_rtt)
{
	u32 cwnd = c->out.cwnd, few = min(cwnd, SSTP_CTRL_UNPACED);

	if (min_rtt < SSTP_CTRL_NEAR)
		few = max(few, cwnd / 2);
	return max3(sstp_ctrl_interval(c, min_rtt), few, 1U);
}

void sstp_ctrl_grant(struct sstp_ctrl_core *c, u64 packets, u64 srtt)
{
	c->granted = packets ? min(div64_u64(srtt * 5, packets * 6), U32_MAX) : 0;
}

bool sstp_ctrl_peer_paced(const struct sstp_ctrl_core *c, u64 srtt)
{
	return sstp_ctrl_period(c) > c->out.period &&
	       6ULL * c->granted > div_u64(srtt * 5, c->out.cwnd);
}

/* The longest pause after packets that left ahead of the period, ns. It is bounded because
 * retransmissions wait for it, too, and probes are rare meanwhile.
 */
static u64 sstp_ctrl_pause(const struct sstp_ctrl_core *c, u64 srtt)
{
	return max3(2 * sstp_ctrl_period(c), (u64)SSTP_PERIOD_LIMIT, srtt);
}

/* An initial window; with a congestion window also what the period lets go in a quarter of a
 * round trip, which delays others by no more than that. After a pause the path may have less
 * room than before, so it is an initial window again.
 */
u32 sstp_ctrl_unpaced(const struct sstp_ctrl_core *c, u64 srtt, u64 now)
{
	u64 period = sstp_ctrl_period(c), burst = SSTP_CTRL_UNPACED;
	u64 most = div64_u64(sstp_ctrl_pause(c, srtt), period);

	if (c->out.cwnd != SSTP_CWND_MAX &&
	    now - sstp_ctrl_paid(c) < max(2 * srtt, (u64)SSTP_CTRL_IDLE))
		burst = clamp_t(u64, div64_u64(srtt / 4, period), burst, SSTP_TRAIN_PACKETS);
	return min(burst, most);
}

/* Up to 0.5 ms of unused time is credited, to make up for a timer that fired late. The next
 * packets do not wait for those that left without pacing if a congestion window bounds the rate;
 * else the period is a rate that was promised.
 */
void sstp_ctrl_pace(struct sstp_ctrl_core *c, u32 packets, u32 unpaced, u64 srtt, u64 now)
{
	u64 period = sstp_ctrl_period(c), most, paid;

	if (!period)
		return;
	if (c->out.cwnd == SSTP_CWND_MAX)
		unpaced = 0;
	most = now + sstp_ctrl_pause(c, srtt);
	paid = min(max(sstp_ctrl_paid(c), now) + packets * period, most);
	c->next = max(c->next + NSEC_PER_MSEC / 2, now) - NSEC_PER_MSEC / 2 +
		  (packets - unpaced) * period;
	c->next = min(c->next, most);
	if (unpaced || c->owed)
		c->owed = paid > c->next ? div_u64(paid - c->next, NSEC_PER_USEC) : 0;
}
