// SPDX-License-Identifier: GPL-2.0
/* The receiving half of the peer's controller. Socket lock. */
#include "half.h"
#include "sstp.h"

static void sstp_half_sample(const struct sstp_sock *sp, struct sstp_recv_sample *s, u64 now)
{
	u64 since = sp->rx.unread_since ?: now;

	*s = (struct sstp_recv_sample){
		.now = now,
		.srtt = sstp_rtt_smoothed(&sp->rtt, 0),
		.received = sp->arrivals.received,
		.bytes = sp->acker.bytes_received,
		.arrival_rate = sp->acker.arrival_rate,
		.service_rate = sp->acker.service_rate,
		.served = sp->ctrl.half->served,
		.unread = sp->rx.unread_time + (now > since ? now - since : 0),
		.lowest = min_t(u64, sp->ctrl.half->lowest, U32_MAX),
		.refused = sp->stats.packets_discarded,
		.queued = atomic_read(&sp->sk.sk_rmem_alloc),
		.limit = sp->rcvbuf.policy.in.limit,
		.packet_size = sp->path.frame,
	};
}

/* After a callback: bring outputs into range. The rate is one that a MESSAGE can tell, so that
 * changes below 1 kbit/s cause none.
 */
static void sstp_half_bound(struct sstp_recv *r, u64 now)
{
	if (r->timer)
		r->timer = min(r->timer, now + SSTP_CTRL_TIMER_MAX);
	if (r->rate)
		r->rate = clamp(div_u64(r->rate, 1000), 1ULL, (u64)U32_MAX) * 1000;
	r->feedback.forecast = min(r->feedback.forecast, SSTP_FORECAST_MAX);
	r->feedback.horizon = clamp(r->feedback.horizon, 1U, SSTP_HORIZON_MAX);
	r->feedback.queue = min(r->feedback.queue, SSTP_QUEUE_MAX);
	r->feedback.refused = min(r->feedback.refused, SSTP_QUEUE_MAX);
	r->msg.len = min_t(u16, r->msg.len, SSTP_MSG_MAX);
}

/* The same, and report to the group, and take the rate that it has for this half. */
static void sstp_half_report(struct sstp_half *h, u64 now)
{
	if (h->group)
		h->out.rate = sstp_group_report(h->group, &h->member, h->out.report);
	sstp_half_bound(&h->out, now);
}

static void sstp_half_join(struct sstp_sock *sp, struct sstp_half *h)
{
	struct sstp_group_key key = {
		.ops = h->ops,
		.net = sock_net(&sp->sk),
		.l3mdev = sp->id.peer.l3mdev,
	};

	switch (h->ops->group) {
	case SSTP_GROUP_PEER:
		key.addr = sp->id.peer.addr;
		key.scope = sp->id.scope;
		break;
	case SSTP_GROUP_PORT:
		key.port = sp->id.sport;
		break;
	case SSTP_GROUP_NONE:
		return;
	}
	h->group = sstp_group_join(&key, &h->member);
}

void sstp_half_start(struct sstp_sock *sp, const char *name, u64 now)
{
	struct sstp_half *h = sp->ctrl.half;
	const struct sstp_ctrl_ops *ops;
	struct sstp_recv_sample s;

	if (h && !strcmp(h->ops->name, name))
		return;
	sstp_half_stop(sp);
	ops = sstp_ctrl_get(name);
	if (!ops)
		return;
	h = ops->recv_init ? kzalloc_obj(*h, GFP_ATOMIC | __GFP_NOWARN) : NULL;
	if (!h) {
		sstp_ctrl_put(ops);
		return;
	}
	h->ops = ops;
	h->lowest = sp->rx.readable;
	sp->ctrl.half = h;
	sstp_half_join(sp, h);
	sstp_half_sample(sp, &s, now);
	ops->recv_init(&h->out, &s);
	sstp_half_report(h, now);
}

void sstp_half_stop(struct sstp_sock *sp)
{
	struct sstp_half *h = sp->ctrl.half;

	if (!h)
		return;
	sp->ctrl.half = NULL;
	if (h->ops->recv_release)
		h->ops->recv_release(&h->out);
	if (h->group)
		sstp_group_leave(h->group, &h->member);
	sstp_ctrl_put(h->ops);
	kfree(h);
}

void sstp_half_end(struct sstp_sock *sp)
{
	sstp_half_stop(sp);
	kfree(sp->ctrl.talk);
	sp->ctrl.talk = NULL;
}

bool sstp_half_packets(struct sstp_sock *sp, const struct sstp_ctrl_packets *p, u64 now)
{
	struct sstp_half *h = sp->ctrl.half;
	u64 timer = h->out.timer, rate = h->out.rate;
	struct sstp_recv_sample s;

	sstp_half_sample(sp, &s, now);
	h->ops->recv_packets(&h->out, &s, p);
	sstp_half_bound(&h->out, now);
	return h->out.msg.kind || h->out.timer != timer || h->out.rate != rate;
}

void sstp_half_timer(struct sstp_sock *sp, u64 now)
{
	struct sstp_half *h = sp->ctrl.half;
	struct sstp_recv_sample s;

	h->out.timer = 0;
	h->timer_at = now + SSTP_CTRL_TIMER_MIN;
	sstp_half_sample(sp, &s, now);
	h->ops->recv_timer(&h->out, &s);
	h->lowest = sp->rx.readable;
	sstp_half_report(h, now);
}

void sstp_half_message(struct sstp_sock *sp, const struct sstp_ctrl_msg *m, u64 now)
{
	struct sstp_half *h = sp->ctrl.half;
	struct sstp_recv_sample s;

	sstp_half_sample(sp, &s, now);
	h->ops->recv_message(&h->out, &s, m);
	sstp_half_report(h, now);
}
