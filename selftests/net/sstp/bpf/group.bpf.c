// SPDX-License-Identifier: GPL-2.0
/*
 * "group": receiving halves on one port share a group, which allows each 1 Mbit/s for each member
 * that reports its own number. State: the rate, and packets sent and reports that came since the
 * set-up.
 */
#include "sstp.bpf.h"

#define MBIT		1000000
#define EVERY		(10 * NSEC_PER_MSEC)
#define NUMBER		4242		/* that members report */

enum { RATE = SSTP_PRIV, SENT, REPORTS };
enum { LEAST, MOST };			/* parameters */

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 20;
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_ctrl_totals t;

	c->priv[RATE] = s->peer_rate;
	if (bpf_sstp_totals(c, s->now, &t, sizeof(t)) != sizeof(t))
		return;
	c->priv[SENT] = t.packets_sent;
	c->priv[REPORTS] = t.acks_received + t.snaks_received;
}

SSTP_CALLBACK(recv_init, struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	r->report[1] = NUMBER;
	r->timer = s->now + EVERY;
}

SSTP_CALLBACK(recv_timer, struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	r->timer = s->now + EVERY;
}

SSTP_CALLBACK(group_tick, struct sstp_group *g)
{
	struct sstp_group_member *m;
	u32 n = 0;

	SSTP_FOR_EACH_MEMBER(m, g) {
		/* What is kept of a member comes back, and there are two words. */
		if (m->report[1] == NUMBER && (!m->priv[1] || m->priv[1] == NUMBER + 1) &&
		    !bpf_sstp_member_priv(m, 1, NUMBER + 1) && bpf_sstp_member_priv(m, 2, 1))
			n++;
	}
	SSTP_FOR_EACH_MEMBER(m, g)
		bpf_sstp_member_rate(m, n == g->count ? n * MBIT : 0);
	g->priv[0] = n;
	g->tick = EVERY;
}

SSTP_CHECK(check_params, const struct sstp_param_values *v)
{
	return v->param[LEAST] > v->param[MOST] ? -1 : 0;
}

SSTP_CTRL("group", .init = (void *)init, .on_ack = (void *)on_ack,
	  .recv_init = (void *)recv_init, .recv_timer = (void *)recv_timer,
	  .group_tick = (void *)group_tick, .check_params = (void *)check_params,
	  .group = SSTP_GROUP_PORT, .params = { { "least", 1, 100 }, { "most", 1, 100 } },
	  .state = { "rate", "sent", "reports" });
