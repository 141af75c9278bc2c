// SPDX-License-Identifier: GPL-2.0
/* Talk of two ends about control; talk.h describes it. */
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "talk.h"

void sstp_talk_init(struct sstp_talk *t, u32 seq, u32 peer_seq)
{
	*t = (struct sstp_talk){ .told = true, .seq = seq, .peer_seq = peer_seq - 1 };
}

void sstp_talk_update(struct sstp_talk *t, const struct sstp_state *state)
{
	const struct sstp_state *own = &t->own;

	if (own->rate == state->rate && own->ack_timer == state->ack_timer &&
	    own->ack_interval == state->ack_interval && own->half == state->half &&
	    !strcmp(own->name, state->name))
		return;
	/* A state that has not left yet is replaced under its number, so that numbers pass no
	 * faster than states leave: the peer compares them modulo 2^16.
	 */
	if (t->told) {
		t->told = false;
		t->number++;
		t->tries = 0;
	}
	if (strcmp(own->name, state->name)) {
		t->ctrl++;
		t->ctrl_number = t->number;
	}
	t->own = *state;
}

void sstp_talk_heard(struct sstp_talk *t, u64 heard_at)
{
	if (heard_at > t->told_at)
		t->tries = min_t(u8, t->tries, 1);
}

/* A state leaves once in a round trip at most. It is repeated SSTP_TALK_TRIES times until it is
 * confirmed, and the interval doubles: a peer that is gone is found by probes, not by this.
 */
u64 sstp_talk_due(const struct sstp_talk *t, u64 rtt)
{
	u64 wait = max_t(u64, rtt, SSTP_TALK_GAP);

	if (!t->owes && (t->number == t->confirmed || t->tries > SSTP_TALK_TRIES))
		return 0;
	if (!t->told_at)
		return 1;
	if (t->tries && !t->owes)
		wait = min_t(u64, wait << min(t->tries, 12), max(wait, SSTP_TALK_RETRY_MAX));
	return t->told_at + wait;
}

u64 sstp_talk_free(const struct sstp_talk *t, bool back, u64 rtt)
{
	return t->sent_at[back] ? t->sent_at[back] + max_t(u64, rtt / 8, SSTP_TALK_GAP) : 0;
}

void sstp_talk_send(struct sstp_talk *t, struct sstp_message *m, u64 now)
{
	bool back = m->flags & SSTP_F_BACK;

	m->seq = t->seq++;
	if (m->kind) {
		m->ctrl = back ? t->peer_ctrl : t->ctrl;
		t->sent_at[back] = now;
		return;
	}
	m->ctrl = t->ctrl;
	m->number = t->number;
	m->seen = t->peer_number;
	m->state = t->own;
	if (t->number != t->confirmed) {
		m->flags |= SSTP_F_ASK;
		if (t->tries < U8_MAX)
			t->tries++;
	}
	t->owes = false;
	t->told = true;
	t->told_at = now;
}

enum sstp_talk_verdict sstp_talk_rcv(struct sstp_talk *t, const struct sstp_message *m, u64 now)
{
	u32 ahead = m->seq - t->peer_seq;

	if (!ahead || ahead > SSTP_TALK_LEAP)
		return SSTP_TALK_OLD;
	t->busy_until = max(t->busy_until, now);
	if (t->busy_until - now > SSTP_TALK_BURST)
		return SSTP_TALK_FLOOD;
	t->busy_until += SSTP_TALK_COST;
	t->peer_seq = m->seq;
	if (m->kind)
		return SSTP_TALK_TAKEN;

	/* A confirmation of a state that was never told is a mistake, or forged. */
	if ((s16)(m->seen - t->confirmed) > 0 && (s16)(t->number - m->seen) >= 0) {
		t->confirmed = m->seen;
		/* It would seem to be after @confirmed again 2^15 states later. */
		if ((s16)(t->confirmed - t->ctrl_number) > 0)
			t->ctrl_number = t->confirmed;
	}
	if (m->flags & SSTP_F_ASK)
		t->owes = true;
	if ((s16)(m->number - t->peer_number) > 0) {
		t->peer_number = m->number;
		t->peer_ctrl = m->ctrl;
		t->peer = m->state;
	}
	return SSTP_TALK_TAKEN;
}
