/* SPDX-License-Identifier: GPL-2.0 */
/* The receiving half of the peer's controller. Socket lock. */
#ifndef _SSTP_HALF_H
#define _SSTP_HALF_H

#include <linux/minmax.h>
#include "group.h"

struct sstp_sock;

/**
 * struct sstp_half - the receiving half that this end runs
 * @ops: the controller that the peer named, with a reference
 * @out: outputs and state
 * @timer_at: the earliest time of the next @recv_timer, ns
 * @group: group, or NULL
 * @member: this half in it
 * @served: bytes that the program has read since the half began
 * @lowest: least bytes that waited for it since the last @recv_timer
 */
struct sstp_half {
	const struct sstp_ctrl_ops *ops;
	struct sstp_recv out;
	u64	timer_at;
	struct sstp_group_core *group;
	struct sstp_group_member member;
	u64	served;
	u64	lowest;
};

/* The program has read @len bytes, and @left wait. @h may be NULL. */
static inline void sstp_half_read(struct sstp_half *h, u32 len, u64 left)
{
	if (!h)
		return;
	h->served += len;
	h->lowest = min(h->lowest, left);
}

/* Run the receiving half of controller @name, if this end has it, in place of the one that runs,
 * unless that is the same. Without memory none runs.
 */
void sstp_half_start(struct sstp_sock *sp, const char *name, u64 now);
void sstp_half_stop(struct sstp_sock *sp);
/* The connection ends: stop the half, and free what the ends told each other. */
void sstp_half_end(struct sstp_sock *sp);
/* These three require that the half has the callback. sstp_half_packets() returns whether
 * sstp_message_arm() has to be called: most packets change nothing.
 */
bool sstp_half_packets(struct sstp_sock *sp, const struct sstp_ctrl_packets *p, u64 now);
void sstp_half_timer(struct sstp_sock *sp, u64 now);
void sstp_half_message(struct sstp_sock *sp, const struct sstp_ctrl_msg *m, u64 now);

#endif /* _SSTP_HALF_H */
