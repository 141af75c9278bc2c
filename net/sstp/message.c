// SPDX-License-Identifier: GPL-2.0
/* Messages between the halves of controllers, and their timers. Socket lock. */
#include "cc.h"
#include "drop.h"
#include "half.h"
#include "message.h"
#include "small.h"
#include "sstp.h"
#include "talk.h"

#define SSTP_MESSAGE_SILENCE	(60ULL * NSEC_PER_SEC)

/* May this end send and take messages now? */
static bool sstp_message_agreed(const struct sstp_sock *sp)
{
	return sp->hs.messages && sp->sk.sk_state != TCP_SYN_SENT &&
	       sp->sk.sk_state != TCP_SYN_RECV && sp->sk.sk_state != TCP_CLOSE;
}

/* The talk of the connection, made at first use; NULL without memory. */
static struct sstp_talk *sstp_message_talk(struct sstp_sock *sp)
{
	struct sstp_talk *t = sp->ctrl.talk;

	if (t)
		return t;
	t = kzalloc_obj(*t, GFP_ATOMIC | __GFP_NOWARN);
	if (t)
		sstp_talk_init(t, sp->hs.snd_isn, sp->hs.rcv_isn);
	sp->ctrl.talk = t;
	return t;
}

/* Does this end have anything to tell, or messages to send? Most connections never have. */
static bool sstp_message_needed(const struct sstp_ctrl_core *c)
{
	return c->half || c->ops->recv_init || c->out.ack_timer || c->out.ack_interval;
}

static void sstp_message_state(struct sstp_sock *sp, struct sstp_talk *t)
{
	const struct sstp_half *h = sp->ctrl.half;
	struct sstp_state state = {
		.rate = h ? h->out.rate : 0,
		.half = h,
		.ack_timer = sp->ctrl.out.ack_timer,
		.ack_interval = sp->ctrl.out.ack_interval,
	};

	strscpy(state.name, sp->ctrl.ops->name, SSTP_NAME_MAX);
	sstp_talk_update(t, &state);
}

/* The time when a message or the state may leave, and is due, ns; U64_MAX = there is none. */
static u64 sstp_message_next(struct sstp_sock *sp, u64 now)
{
	struct sstp_ctrl_msg *msg = &sp->ctrl.out.msg;
	struct sstp_half *h = sp->ctrl.half;
	struct sstp_talk *t = sp->ctrl.talk;
	u64 rtt = sstp_srtt_ns(&sp->rtt), at = U64_MAX, due;

	if (!t && sstp_message_agreed(sp) && sstp_message_needed(&sp->ctrl))
		t = sstp_message_talk(sp);
	if (!t || !sstp_talk_peer_half(t))
		msg->kind = 0;
	if (!t)
		return U64_MAX;
	sstp_message_state(sp, t);
	if (sp->live.last_rx + SSTP_MESSAGE_SILENCE < now) {
		/* Nothing of the peer came: it may be gone. */
		msg->kind = 0;
		if (h)
			h->out.msg.kind = 0;
		return U64_MAX;
	}
	sstp_talk_heard(t, sp->live.last_rx);
	due = sstp_talk_due(t, rtt);
	if (due)
		at = due;
	if (msg->kind)
		at = min(at, sstp_talk_free(t, false, rtt));
	if (h && h->out.msg.kind)
		at = min(at, sstp_talk_free(t, true, rtt));
	return at;
}

void sstp_message_arm(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_ctrl_core *c = &sp->ctrl;
	struct sstp_half *h = c->half;
	u64 at;

	if (!c->ops || !sstp_synchronized(sk))
		return;
	/* Most connections have neither messages nor timers. */
	if (!c->talk && !sstp_message_needed(c) && !c->out.timer) {
		c->out.msg.kind = 0;
		sstp_timer_stop(&sp->clock, SSTP_T_CTRL);
		return;
	}
	at = sstp_message_next(sp, now);
	if (c->out.timer && c->ops->on_timer)
		at = min(at, max(c->out.timer, c->timer_at));
	if (h && h->out.timer && h->ops->recv_timer)
		at = min(at, max(h->out.timer, h->timer_at));
	if (at == U64_MAX)
		sstp_timer_stop(&sp->clock, SSTP_T_CTRL);
	else
		sstp_timer_set(&sp->clock, SSTP_T_CTRL, max(at, now));
}

static void sstp_message_send(struct sock *sk, struct sstp_talk *t, struct sstp_message *m,
			      u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u8 buf[SSTP_MESSAGE_LEN];

	m->cid = sp->id.peer.cid;
	sstp_talk_send(t, m, now);
	SSTP_INC(sock_net(sk), OUTMESSAGES);
	sstp_send_small(sk, buf, sstp_build_message(buf, m));
}

/* Send message @msg of a half, and clear it. */
static void sstp_message_pass(struct sock *sk, struct sstp_talk *t, struct sstp_ctrl_msg *msg,
			      u8 flags, u64 now)
{
	struct sstp_message m = {
		.flags = flags, .kind = msg->kind, .data = msg->data, .len = msg->len,
	};

	sstp_message_send(sk, t, &m, now);
	msg->kind = 0;
}

static bool sstp_message_timer_due(u64 timer, u64 at, u64 now)
{
	return timer && max(timer, at) <= now;
}

void sstp_message_due(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_ctrl_core *c = &sp->ctrl;
	struct sstp_half *h = c->half;
	u64 rtt = sstp_srtt_ns(&sp->rtt), due;
	struct sstp_message state = {};
	struct sstp_talk *t;

	if (!c->ops || !sstp_synchronized(sk))
		return;
	if (c->ops->on_timer && sstp_message_timer_due(c->out.timer, c->timer_at, now))
		sstp_cc_timer(sp, now);
	if (h && h->ops->recv_timer && sstp_message_timer_due(h->out.timer, h->timer_at, now))
		sstp_half_timer(sp, now);
	/* A callback may have given the state, or a message, something new. */
	if (sstp_message_next(sp, now) <= now) {
		t = c->talk;
		due = sstp_talk_due(t, rtt);
		if (due && due <= now)
			sstp_message_send(sk, t, &state, now);
		if (c->out.msg.kind && sstp_talk_free(t, false, rtt) <= now)
			sstp_message_pass(sk, t, &c->out.msg, 0, now);
		if (h && h->out.msg.kind && sstp_talk_free(t, true, rtt) <= now)
			sstp_message_pass(sk, t, &h->out.msg, SSTP_F_BACK, now);
	}
	sstp_message_arm(sk, now);
}

/* Take the new state @peer. @changed: the peer has another controller than before. */
static void sstp_message_told(struct sstp_sock *sp, const struct sstp_state *peer, bool changed,
			      u64 now)
{
	sp->acker.told_interval = peer->ack_interval;
	sp->acker.told_timer = peer->ack_timer ?
		clamp_t(u32, peer->ack_timer, SSTP_ACK_TIMER_MIN, SSTP_ACK_TIMER_MAX) : 0;
	if (changed)
		sstp_half_stop(sp);
	sstp_half_start(sp, peer->name, now);
}

/* Pass message @m to the half that it is for. False if there is none, or if it takes none. */
static bool sstp_message_deliver(struct sstp_sock *sp, const struct sstp_message *m, u64 now)
{
	struct sstp_ctrl_msg msg = { .kind = m->kind, .len = m->len };
	const struct sstp_half *h = sp->ctrl.half;

	memcpy(msg.data, m->data, m->len);
	if (m->flags & SSTP_F_BACK) {
		if (!sp->ctrl.ops->on_message)
			return false;
		sstp_cc_message(sp, &msg, now);
		return true;
	}
	if (!h || !h->ops->recv_message)
		return false;
	sstp_half_message(sp, &msg, now);
	return true;
}

void sstp_message_rcv(struct sock *sk, struct sk_buff *skb, u32 off, u32 len, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_message m;
	struct sstp_talk *t;
	u16 number, ctrl;

	if (!sstp_parse_message(skb->data + off, len, &m)) {
		sstp_drop(sk, skb, SSTP_MIB_INERRFORMAT, 1);
		return;
	}
	if (!sstp_message_agreed(sp)) {
		sstp_drop(sk, skb, SSTP_MIB_INMSGUNKNOWN, 1);
		return;
	}
	t = sstp_message_talk(sp);
	if (!t) {
		sstp_drop(sk, skb, SSTP_MIB_INNOMEM, 1);
		return;
	}
	number = t->peer_number;
	ctrl = t->peer_ctrl;
	switch (sstp_talk_rcv(t, &m, now)) {
	case SSTP_TALK_OLD:
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
		return;
	case SSTP_TALK_FLOOD:
		sstp_drop(sk, skb, SSTP_MIB_INMSGFLOOD, 1);
		return;
	case SSTP_TALK_TAKEN:
		break;
	}
	if (!m.kind) {
		/* The first state has the controller that the INIT named, or the next. */
		if (t->peer_number != number)
			sstp_message_told(sp, &t->peer, ctrl && t->peer_ctrl != ctrl, now);
	} else if (!sstp_talk_current(t, &m)) {
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
		return;
	} else if (!sstp_message_deliver(sp, &m, now)) {
		sstp_drop(sk, skb, SSTP_MIB_INMSGUNKNOWN, 1);
		return;
	}
	SSTP_INC(sock_net(sk), INMESSAGES);
	sp->live.last_rx = now;
	sp->live.keepalives = 0;
	sstp_message_arm(sk, now);
}
