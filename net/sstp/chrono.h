/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time for which a sender was held up, by cause, as tcp_chrono in TCP: one cause at a time.
 * Pure mechanism: no socket, no clock. Callers hold the socket lock.
 */
#ifndef _SSTP_CHRONO_H
#define _SSTP_CHRONO_H

#include <linux/types.h>

enum sstp_held {
	SSTP_HELD_IDLE,		/* nothing to send, everything acknowledged */
	SSTP_HELD_NOT,		/* everything written is sent, but not acknowledged */
	SSTP_HELD_CONTRACT,	/* rate contract */
	SSTP_HELD_CONTROLLER,	/* congestion window or period */
	SSTP_HELD_WINDOW,	/* the peer's window, or the pace of what it grants */
	/* Everything written is sent, but the send buffer is full, a program waits for room in
	 * it, or there was no memory.
	 */
	SSTP_HELD_SNDBUF,
	SSTP_HELD_DEVICE,	/* the qdisc and the device have enough, see queue.c */
	SSTP_HELDS
};

/**
 * struct sstp_chrono - time spent in each state
 * @since: time at which the state @now began, ns
 * @time: time spent in each state before @since, ns
 * @now: current state, enum sstp_held
 */
struct sstp_chrono {
	u64	since;
	u64	time[SSTP_HELDS];
	u8	now;
};

static inline void sstp_chrono_set(struct sstp_chrono *c, enum sstp_held held, u64 now)
{
	if (c->now == held)
		return;
	c->time[c->now] += now - c->since;
	c->since = now;
	c->now = held;
}

/* Time spent in state @held until @now, ns, including the state that lasts */
static inline u64 sstp_chrono_get(const struct sstp_chrono *c, enum sstp_held held, u64 now)
{
	return c->time[held] + (c->now == held ? now - c->since : 0);
}

#endif /* _SSTP_CHRONO_H */
