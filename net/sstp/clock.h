/* SPDX-License-Identifier: GPL-2.0 */
/* The deadlines of a connection, on one hrtimer. */
#ifndef _SSTP_CLOCK_H
#define _SSTP_CLOCK_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "compat.h"

enum sstp_timer {
	SSTP_T_PACE,	/* rate or controller allow the next packet */
	SSTP_T_PROBE,	/* INIT, INIT_ACK or a probe is to be repeated */
	SSTP_T_ACK,	/* a PACK or SNAK that waits is due */
	SSTP_T_RCVBUF,	/* an epoch of the receive buffer's policy ends */
	SSTP_T_CTRL,	/* a timer of a controller, a message or the state of control is due */
	SSTP_T_MEM,	/* a transmission that lacked memory is retried */
	SSTP_T_LIFE,	/* keep-alive, or the end of an orphan, of CLOSING or without progress */
	SSTP_TIMERS
};

/**
 * struct sstp_clock - deadlines of a connection
 * @lock: guards @hrt and @held, so that starting @hrt and taking its reference are one step;
 *	irq-safe, innermost
 * @hrt: armed for the earliest deadline or earlier; its callback runs in softirq
 * @held: @hrt has a reference on the socket, from when it is queued until its callback
 *	takes the reference over
 * @at: deadlines, ns (CLOCK_MONOTONIC), U64_MAX = none; socket lock
 * @armed: time for which @hrt is armed, ns, U64_MAX = not armed, 0 = never to be armed
 *	again; socket lock
 *
 * A deadline that moves later leaves @hrt alone, which is cheaper: @hrt fires, finds nothing
 * due and is armed anew.
 */
struct sstp_clock {
	spinlock_t lock;		/* guards @hrt and @held */
	bool	held;
	struct hrtimer hrt;
	__cacheline_group_begin(sstp_clock_any);
	u64	at[SSTP_TIMERS];
	u64	armed;
	__cacheline_group_end(sstp_clock_any);
};

struct sock;

/* @expired handles deadlines that have passed. It runs in softirq under the socket lock, if no
 * process owns the socket; else SSTP_FL_CLOCK is set, and release_cb handles them.
 */
void sstp_clock_setup(void (*expired)(struct sock *sk));
void sstp_clock_init(struct sstp_clock *c);
/* Set the deadline of @t to @at (ns), replacing one that is set. Socket lock, as for all but
 * sstp_clock_kick().
 */
void sstp_timer_set(struct sstp_clock *c, enum sstp_timer t, u64 at);
/* Set the deadline of @t to @at (ns), unless an earlier one is set. */
void sstp_timer_sooner(struct sstp_clock *c, enum sstp_timer t, u64 at);
void sstp_timer_stop(struct sstp_clock *c, enum sstp_timer t);
bool sstp_timer_pending(const struct sstp_clock *c, enum sstp_timer t);
/* Has the deadline of @t passed at @now (ns)? If so, it is cleared. */
bool sstp_timer_due(struct sstp_clock *c, enum sstp_timer t, u64 now);
/* Clear all deadlines; none can be set again until sstp_conn_reset(). The caller has a
 * reference on the socket, as that of @hrt may be dropped.
 */
void sstp_clock_stop(struct sstp_clock *c);
/* Arm @hrt for the earliest deadline, after it has fired and @armed was set to U64_MAX. */
void sstp_clock_rearm(struct sstp_clock *c);
/* Make @hrt fire now, so that the sender looks again whether it may send. Any context, without
 * the socket lock.
 */
void sstp_clock_kick(struct sstp_clock *c);

#endif /* _SSTP_CLOCK_H */
