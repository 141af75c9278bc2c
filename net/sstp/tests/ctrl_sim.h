/* SPDX-License-Identifier: GPL-2.0 */
/* What the suites of controllers with a window share: a connection that is told of reports */
#ifndef _SSTP_CTRL_SIM_H
#define _SSTP_CTRL_SIM_H

#include <linux/math64.h>
#include <net/sstp_window.h>

/**
 * struct ctrl_sim - a connection
 * @ops: its controller
 * @c: outputs and state of the controller
 * @s: state of the connection; samples of reports are copies of it
 */
struct ctrl_sim {
	const struct sstp_ctrl_ops *ops;
	struct sstp_ctrl c;
	struct sstp_ctrl_sample s;
};

static inline void ctrl_sim_start(struct ctrl_sim *x, const struct sstp_ctrl_ops *ops, u32 srtt)
{
	*x = (struct ctrl_sim){
		.ops = ops,
		.s.now = NSEC_PER_SEC, .s.srtt = srtt, .s.min_rtt = srtt,
		.s.packet_size = 1500, .s.cwnd_limited = true, .s.flight = SSTP_WINDOW_MAX,
	};
	ops->init(&x->c, &x->s);
}

/* Congestion avoidance with a window of @cwnd; the window is first in the private state. */
static inline void ctrl_sim_avoid(struct ctrl_sim *x, u32 cwnd)
{
	struct sstp_window *w = (struct sstp_window *)x->c.priv;

	x->c.cwnd = cwnd;
	w->ssthresh = cwnd;
}

/* A report of @delivered packets, with a round-trip time of @rtt (us) */
static inline void ctrl_sim_ack(struct ctrl_sim *x, u32 delivered, u32 rtt)
{
	struct sstp_ctrl_sample s;

	x->s.highest += delivered;
	x->s.total_delivered += delivered;
	s = x->s;
	s.delivered = delivered;
	s.rtt = rtt;
	x->ops->on_ack(&x->c, &s);
}

/* A round trip of @rtt us, in which a whole window is delivered in @reports reports */
static inline void ctrl_sim_round(struct ctrl_sim *x, u32 reports, u32 rtt)
{
	u32 cwnd = x->c.cwnd, done = 0, i;

	x->s.shipped = x->s.highest + cwnd;
	for (i = 1; i <= reports; i++) {
		u32 end = div_u64((u64)cwnd * i, reports);

		x->s.now += div_u64(rtt * (u64)NSEC_PER_USEC, reports);
		ctrl_sim_ack(x, end - done, rtt);
		done = end;
	}
}

/* A report of a loss among packets that left after all cuts so far */
static inline void ctrl_sim_loss(struct ctrl_sim *x)
{
	struct sstp_ctrl_sample s;

	x->s.highest = ++x->s.shipped;
	s = x->s;
	s.lost = 1;
	s.lost_ship = s.highest;
	x->ops->on_loss(&x->c, &s);
	/* The round trip of the cut ends. */
	x->s.highest = x->s.shipped;
}

/* Value @i of the state that the controller shows */
static inline s64 ctrl_sim_state(const struct ctrl_sim *x, u32 i)
{
	s64 state[SSTP_STATE_MAX] = {};

	x->ops->get_info(&x->c, state);
	return state[i];
}

#endif /* _SSTP_CTRL_SIM_H */
