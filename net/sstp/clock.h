/* SPDX-License-Identifier: GPL-2.0 */
/* The deadlines of a connection, on one hrtimer. */
#ifndef _SSTP_CLOCK_H
#define _SSTP_CLOCK_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/types.h>

enum sstp_timer {
	SSTP_T_PACE,	/* rate or controller allow the next packet */
	SSTP_T_PROBE,	/* set-up again, or ask a silent receiver */
	SSTP_T_ACK,	/* a PACK or SNAK that waits is due */
	SSTP_T_RCVBUF,	/* an epoch of the receive buffer's policy ends */
	SSTP_T_MEM,	/* who lacked memory to send may look again */
	SSTP_T_LIFE,	/* keep-alive, end of linger or of a dead connection */
	SSTP_TIMERS
};

/**
 * struct sstp_clock - deadlines of a connection
 * @lock: makes arming one step; irq-safe, inside of everything
 * @hrt: armed for the earliest deadline or earlier; under @lock
 * @held: @hrt has a reference on the socket, from when it is queued until its
 *	callback takes it over; under @lock
 * @at: deadlines in ns, U64_MAX = none
 * @armed: what @hrt is armed for
 *
 * The rest is guarded by the socket lock. A deadline that moves later leaves @hrt alone: it
 * fires, finds nothing due and is armed anew.
 */
struct sstp_clock {
	spinlock_t lock;		/* of @hrt and @held */
	struct hrtimer hrt;
	bool	held;
	u64	at[SSTP_TIMERS];
	u64	armed;
};

struct sock;

/* @expired handles deadlines that have passed: under the lock of a socket that no process
 * owns, in softirq. If one does, SSTP_FL_CLOCK is set for its release_cb.
 */
void sstp_clock_setup(void (*expired)(struct sock *sk));
void sstp_clock_init(struct sstp_clock *c);
/* Deadline of @t; the earlier of @at and one already set, if @earlier. */
void sstp_timer_set(struct sstp_clock *c, enum sstp_timer t, u64 at);
void sstp_timer_sooner(struct sstp_clock *c, enum sstp_timer t, u64 at);
void sstp_timer_stop(struct sstp_clock *c, enum sstp_timer t);
bool sstp_timer_pending(const struct sstp_clock *c, enum sstp_timer t);
/* Has that of @t passed? Then it is gone. */
bool sstp_timer_due(struct sstp_clock *c, enum sstp_timer t, u64 now);
/* All of them, for good. The caller still has a reference. */
void sstp_clock_stop(struct sstp_clock *c);
/* Arm for the earliest of them, after @armed was set to U64_MAX. */
void sstp_clock_rearm(struct sstp_clock *c);
/* Called from any context, without the lock: have the pacing timer look again. */
void sstp_clock_kick(struct sstp_clock *c);

#endif /* _SSTP_CLOCK_H */
