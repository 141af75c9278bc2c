/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For how long a sender was held up, and by what: one of these at a time. Mechanism: no
 * socket, no clock.
 */
#ifndef _SSTP_CHRONO_H
#define _SSTP_CHRONO_H

#include <linux/types.h>

enum sstp_held {
	SSTP_HELD_IDLE,		/* nothing to send, all is acknowledged */
	SSTP_HELD_NOT,		/* all is sent, as far as the program wrote any */
	SSTP_HELD_CONTRACT,
	SSTP_HELD_CONTROLLER,
	SSTP_HELD_WINDOW,	/* the peer's */
	/* It is full of what was sent, or somebody waits for room in it; or memory lacks. */
	SSTP_HELD_SNDBUF,
	SSTP_HELD_DEVICE,	/* queues below us */
	SSTP_HELDS
};

/**
 * struct sstp_chrono - how long was each
 * @since: ns: when @now began
 * @time: ns, what is over
 * @now: enum sstp_held
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

/* ns, what is not over included */
static inline u64 sstp_chrono_get(const struct sstp_chrono *c, enum sstp_held held, u64 now)
{
	return c->time[held] + (c->now == held ? now - c->since : 0);
}

#endif /* _SSTP_CHRONO_H */
