/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Talk of two ends about control: each tells the other its state (struct sstp_state: its
 * controller, when it wants reports, the rate that its receiving half allows) until the other
 * confirms it, and passes messages of controllers, which may be lost. Pure mechanism: no
 * socket, no clock. Callers hold the socket lock. Times are in ns, CLOCK_MONOTONIC.
 */
#ifndef _SSTP_TALK_H
#define _SSTP_TALK_H

#include <linux/bits.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "wire.h"

#define SSTP_TALK_GAP		NSEC_PER_MSEC	/* ns between two messages, at least */
#define SSTP_TALK_COST		(NSEC_PER_MSEC / 4)	/* ns that a message of the peer takes */
#define SSTP_TALK_BURST		(32 * SSTP_TALK_COST)
#define SSTP_TALK_RETRY_MAX	(5ULL * NSEC_PER_SEC)
#define SSTP_TALK_TRIES		16
#define SSTP_TALK_LEAP		BIT(20)	/* messages that may be lost in a row */

/**
 * struct sstp_talk - what was told and heard
 * @own: state that was told last
 * @peer: state that the peer told last; empty before that
 * @number: number of @own; 0 before the first
 * @confirmed: number of the newest state of this end that the peer has confirmed
 * @peer_number: number of @peer
 * @ctrl: number of the controller in @own
 * @ctrl_number: the first state that named it, or a later one that was confirmed
 * @peer_ctrl: number of the peer's controller
 * @tries: times that @own was told without a confirmation
 * @told: @own has left at least once
 * @owes: the peer waits for a confirmation
 * @seq: number of the next message
 * @peer_seq: number of the last message of the peer that was taken
 * @told_at: when the state was told last; 0 = never
 * @sent_at: when the last message of the controller or the receiving half left: [0] and [1]
 * @busy_until: when the messages of the peer so far are paid for, each SSTP_TALK_COST
 */
struct sstp_talk {
	struct sstp_state own;
	struct sstp_state peer;
	u16	number;
	u16	confirmed;
	u16	peer_number;
	u16	ctrl;
	u16	ctrl_number;
	u16	peer_ctrl;
	u8	tries;
	bool	told;
	bool	owes;
	u32	seq;
	u32	peer_seq;
	u64	told_at;
	u64	sent_at[2];
	u64	busy_until;
};

enum sstp_talk_verdict {
	SSTP_TALK_TAKEN,
	SSTP_TALK_OLD,		/* it came before, or a later one came */
	SSTP_TALK_FLOOD,	/* too many messages */
};

/* @seq, @peer_seq: numbers of the first segments of this end and of the peer */
void sstp_talk_init(struct sstp_talk *t, u32 seq, u32 peer_seq);
/* The state of this end is @state. */
void sstp_talk_update(struct sstp_talk *t, const struct sstp_state *state);
/* The peer was heard at @heard_at: what was told before that is repeated soon, not as rarely as
 * to a peer that is silent, or not at all.
 */
void sstp_talk_heard(struct sstp_talk *t, u64 heard_at);
/* Is there a state that the peer has not confirmed, or one of the peer's to confirm? */
static inline bool sstp_talk_unconfirmed(const struct sstp_talk *t)
{
	return t->owes || t->number != t->confirmed;
}

/* When is the state to be told: 0 = not at all. @rtt: ns */
u64 sstp_talk_due(const struct sstp_talk *t, u64 rtt);
/* When may the next message leave, of the controller or (@back) of the receiving half? @rtt: ns */
u64 sstp_talk_free(const struct sstp_talk *t, bool back, u64 rtt);
/* Number message @m, which leaves at @now; fill in the state if its kind is 0. */
void sstp_talk_send(struct sstp_talk *t, struct sstp_message *m, u64 now);
/* Message @m came at @now. A state that is new is in @peer after that. */
enum sstp_talk_verdict sstp_talk_rcv(struct sstp_talk *t, const struct sstp_message *m, u64 now);
/* Does message @m, which is no state, belong to the present controller? */
static inline bool sstp_talk_current(const struct sstp_talk *t, const struct sstp_message *m)
{
	return m->ctrl == (m->flags & SSTP_F_BACK ? t->ctrl : t->peer_ctrl);
}

/* Does the peer run the receiving half of the present controller of this end? */
static inline bool sstp_talk_peer_half(const struct sstp_talk *t)
{
	return t->peer.half && (s16)(t->confirmed - t->ctrl_number) >= 0;
}

#endif /* _SSTP_TALK_H */
