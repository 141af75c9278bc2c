// SPDX-License-Identifier: GPL-2.0
/* Calls of a connection's controller with a sample of the socket's state. */
#include <linux/export.h>
#include <net/inet_ecn.h>
#include <trace/events/sstp.h>
#include "cc.h"
#include "sstp.h"
#include "talk.h"

/* Fill in the members that hold in every callback; those of a report are set by report.c. */
void sstp_cc_sample(const struct sstp_sock *sp, struct sstp_ctrl_sample *s, u64 now)
{
	const struct sstp_talk *t = sp->ctrl.talk;

	s->now = now;
	s->srtt = sstp_rtt_smoothed(&sp->rtt, 0);
	s->min_rtt = sp->rtt.min;
	s->in_flight = sstp_in_flight(sp);
	s->shipped = sp->snd.shipment - 1;
	s->packet_size = sp->path.frame;
	s->cwnd_limited = sp->ctrl.cwnd_limited;
	s->flight = sp->ctrl.flight;
	s->total_delivered = sp->loss.delivered;
	if (t && sp->ctrl.ops && !strcmp(t->own.name, sp->ctrl.ops->name) &&
	    sstp_talk_peer_half(t)) {
		s->peer_half = true;
		s->peer_rate = t->peer.rate;
	}
}

/**
 * sstp_ctrl_totals - tell a controller what its connection has done since the set-up
 * @c: the controller's own outputs and state, as a callback of the sending half got them
 * @now: @now of the callback's sample
 * @t: is filled
 *
 * Context: a callback of the sending half with a sample.
 */
void sstp_ctrl_totals(const struct sstp_ctrl *c, u64 now, struct sstp_ctrl_totals *t)
{
	const struct sstp_sock *sp = container_of(c, struct sstp_sock, ctrl.out);

	*t = (struct sstp_ctrl_totals){
		.age = now - sp->life.started_at,
		.packets_sent = sp->stats.packets_sent,
		.packets_retrans = sp->stats.packets_retrans,
		.packets_lost = sp->stats.packets_lost,
		.bytes_sent = sp->tx.bytes_sent,
		.bytes_acked = sp->stats.bytes_acked,
		.acks_received = sp->stats.acks_received,
		.snaks_received = sp->stats.snaks_received,
	};
}
EXPORT_SYMBOL_GPL(sstp_ctrl_totals);

/* The two ends have agreed, or the controller has changed: does DATA leave with ECT(0)? */
void sstp_cc_ecn(struct sstp_sock *sp)
{
	const struct sstp_net *sn = sstp_pernet(sock_net(&sp->sk));
	const struct sstp_ctrl_ops *ops = sp->ctrl.ops;
	enum sstp_ctrl_ecn ecn = sp->hs.ecn && ops ? ops->ecn : SSTP_CTRL_ECN_NONE;
	bool want = ecn == SSTP_CTRL_ECN_NEEDS ||
		    (ecn == SSTP_CTRL_ECN_ANSWERS && READ_ONCE(sn->ecn));

	if (!sstp_ecn_works(&sp->loss.ecn) || want == !!sp->loss.ecn_field)
		return;
	sp->loss.ecn_field = want ? INET_ECN_ECT_0 : 0;
	if (want)
		sstp_ecn_start(&sp->loss.ecn, sp->snd.shipment, sp->loss.received,
			       sstp_in_flight(sp));
	else
		sstp_ecn_stop(&sp->loss.ecn);
}

int sstp_cc_guard(struct sstp_sock *sp, const char *name, gfp_t gfp)
{
	bool guards = sp->set.rate.peak && strcmp(name, sp->set.ctrl.name);

	if (guards && !sp->breaker) {
		/* The task is not the socket's in softirq, nor where a controller is unloaded. */
		if (gfpflags_allow_blocking(gfp))
			gfp |= __GFP_ACCOUNT;
		sp->breaker = kzalloc_obj(*sp->breaker, gfp);
		if (!sp->breaker)
			return -ENOMEM;
	}
	if (sp->breaker)
		sp->breaker->guards = guards;
	return 0;
}

int sstp_cc_start(struct sstp_sock *sp, const char *name)
{
	struct sstp_ctrl_sample s = {};

	sstp_cc_sample(sp, &s, sstp_now());
	return sstp_ctrl_attach(&sp->ctrl, name, &sp->set.ctrl, &s);
}

void sstp_cc_switch(struct sstp_sock *sp, const struct sstp_ctrl_ops *ops, u32 carried)
{
	struct sstp_ctrl_sample s = {};

	sstp_cc_sample(sp, &s, sstp_now());
	/* The half that the peer runs is that of the old controller. */
	s.peer_half = false;
	s.peer_rate = 0;
	sstp_ctrl_switch(&sp->ctrl, ops, &sp->set.ctrl, &s, carried);
	sstp_cc_ecn(sp);
}

void sstp_cc_tune(struct sstp_sock *sp)
{
	struct sstp_ctrl_sample s = {};

	if (!sp->ctrl.ops)
		return;
	sstp_cc_sample(sp, &s, sstp_now());
	sstp_ctrl_tune(&sp->ctrl, &sp->set.ctrl, &s);
}

void sstp_cc_timeout(struct sstp_sock *sp, u64 now)
{
	struct sstp_ctrl_sample s = {};

	if (!sp->ctrl.ops->on_timeout)
		return;
	sstp_cc_sample(sp, &s, now);
	sstp_ctrl_timeout(&sp->ctrl, &s);
	trace_sstp_ctrl(sp, &s, true);
}

bool sstp_cc_sent(struct sstp_sock *sp, const struct sstp_ctrl_packets *p, u64 now)
{
	struct sstp_ctrl_sample s = {};

	sstp_cc_sample(sp, &s, now);
	return sstp_ctrl_sent(&sp->ctrl, &s, p);
}

void sstp_cc_timer(struct sstp_sock *sp, u64 now)
{
	struct sstp_ctrl_sample s = {};

	sstp_cc_sample(sp, &s, now);
	sstp_ctrl_timer(&sp->ctrl, &s);
}

void sstp_cc_message(struct sstp_sock *sp, const struct sstp_ctrl_msg *m, u64 now)
{
	struct sstp_ctrl_sample s = {};

	sstp_cc_sample(sp, &s, now);
	sstp_ctrl_message(&sp->ctrl, &s, m);
}
