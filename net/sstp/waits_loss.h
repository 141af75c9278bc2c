/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cause of losses: a queue that has overflowed, or the path, whose own losses are no reason to
 * send less. Round-trip times tell it, and earlier losses. Pure mechanism.
 *
 * Losses while nothing waits in the queue are the path's own. A queue that overflows loses packets
 * that waited; but if SSTP_WAITS_TARGET of queue has lost nothing of late, a loss while less than
 * half of that waits is the path's. Where packets are lost in round trips with a queue, and hardly
 * ever in those without one, it is the queue that loses them, though single losses may seem to be
 * the path's. See waits.h for links that deliver in bursts, and waits_surge.h for queues that no
 * round-trip time shows.
 */
#ifndef _SSTP_WAITS_LOSS_H
#define _SSTP_WAITS_LOSS_H

#include <linux/types.h>
#include "waits.h"
#include "waits_surge.h"

#define SSTP_WAITS_TARGET	10000U	/* us of queue that flows make room in, in delay mode */
#define SSTP_WAITS_HELD		(SSTP_WAITS_TARGET / 2)	/* us: such a wait is no overflow */
#define SSTP_WAITS_SINGLE	2U	/* packets lost at once that may be the path's own */
#define SSTP_WAITS_SHORT	6U	/* a queue of less than this part of the RTT is short */

/**
 * struct sstp_waits_loss - what is known of losses
 * @target_ms: when the queue held SSTP_WAITS_TARGET without a loss; the user sets it
 * @random_ms: when the last loss came that no queue explains
 * @overflow_ms: when the first loss in SSTP_WAITS_MEMORY came with a queue
 */
struct sstp_waits_loss {
	u32	target_ms;
	u32	random_ms;
	u32	overflow_ms;
};

/**
 * struct sstp_waits_lossy - a report of losses
 * @rtt: its round-trip time, us; 0 = none
 * @ms: when it came
 * @lost: packets that it tells of: those of struct sstp_waits do not count them if it ended a round
 *	trip
 * @slow_start: the flow is in slow start
 * @competes: it is in competitive mode: others fill the queue
 * @relapse: it was so of late
 */
struct sstp_waits_lossy {
	u32	rtt;
	u32	ms;
	u32	lost;
	bool	slow_start;
	bool	competes;
	bool	relapse;
};

/**
 * enum sstp_waits_cause - cause of losses
 * @SSTP_WAITS_CAUSE_PATH: the path
 * @SSTP_WAITS_CAUSE_QUEUE: a queue that has overflowed
 * @SSTP_WAITS_CAUSE_UNSEEN: the path, or a queue that is not seen: see waits_surge.h
 * @SSTP_WAITS_CAUSE_BURSTS: a queue, or the path, which delivers in bursts: see waits.h
 * @SSTP_WAITS_CAUSE_EITHER: a queue, or the path, as losses of late were few or the path's
 */
enum sstp_waits_cause {
	SSTP_WAITS_CAUSE_PATH,
	SSTP_WAITS_CAUSE_QUEUE,
	SSTP_WAITS_CAUSE_UNSEEN,
	SSTP_WAITS_CAUSE_BURSTS,
	SSTP_WAITS_CAUSE_EITHER,
};

/**
 * enum sstp_waits_depth - how much a queue holds that has overflowed
 * @SSTP_WAITS_DEPTH_DEEP: a long time
 * @SSTP_WAITS_DEPTH_SHORT: a small part of the round-trip time
 * @SSTP_WAITS_DEPTH_SHALLOW: that, and less than SSTP_WAITS_TARGET
 */
enum sstp_waits_depth {
	SSTP_WAITS_DEPTH_DEEP,
	SSTP_WAITS_DEPTH_SHORT,
	SSTP_WAITS_DEPTH_SHALLOW,
};

/* Begin at @ms: nothing has happened of late. */
void sstp_waits_loss_init(struct sstp_waits_loss *x, u32 ms);
/* Return the cause of the losses that @l reports. */
enum sstp_waits_cause sstp_waits_loss_cause(struct sstp_waits_loss *x, const struct sstp_waits *w,
					    struct sstp_waits_surge *surge,
					    const struct sstp_waits_lossy *l);
/* Has the path of late lost packets that no queue explains? */
bool sstp_waits_loss_random(const struct sstp_waits_loss *x, u32 ms);
/* If it is SSTP_WAITS_CAUSE_EITHER: have all packets of late waited in a queue, which may overflow?
 */
bool sstp_waits_loss_all_waited(const struct sstp_waits_loss *x, const struct sstp_waits *w,
				u32 ms);
/* A queue has overflowed, as a report with a round-trip time of @rtt us says. How deep is it? */
enum sstp_waits_depth sstp_waits_loss_depth(const struct sstp_waits_loss *x,
					    const struct sstp_waits *w,
					    const struct sstp_waits_surge *surge, u32 rtt, u32 ms);

#endif /* _SSTP_WAITS_LOSS_H */
