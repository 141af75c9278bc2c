/* SPDX-License-Identifier: GPL-2.0 */
/* Receive buffer policies: registry, and calls of their callbacks */
#ifndef _SSTP_RBUF_H
#define _SSTP_RBUF_H

#include <linux/init.h>
#include <net/sstp.h>
#include "compat.h"
#include "param.h"

/**
 * struct sstp_rbuf_core - a receive buffer and its policy
 * @in: input of the policy; @in.limit is the limit in force
 * @resting: no epoch runs; the next packet begins one
 * @counted: the buffer counts in sstp_rbuf_moving()
 * @out: outputs and state of the policy; the core may set its epoch, too
 * @ops: callbacks of the policy, with a reference, unless a pool, of which the socket is a
 *	member, holds that; NULL = no policy
 * @busy_until: time until which the buffer counts after its last epoch with traffic, ns
 */
struct sstp_rbuf_core {
	__cacheline_group_begin(sstp_rbuf_core_read);
	struct sstp_rbuf_use in;
	bool	resting;
	bool	counted;
	__cacheline_group_end(sstp_rbuf_core_read);
	struct sstp_rbuf out;
	const struct sstp_rbuf_ops *ops;
	u64	busy_until;
};

/* For policies, as the functions of these names for controllers in ctrl.h */
int sstp_rbuf_attach(struct sstp_rbuf_core *b, const char *name,
		     const struct sstp_plugin_conf *conf);
void sstp_rbuf_detach(struct sstp_rbuf_core *b);
struct sstp_rbuf_ops *sstp_rbuf_get(const char *name);
void sstp_rbuf_put(const struct sstp_rbuf_ops *ops);
/* @ops, or, if that was unloaded, in its place rrda, which is always there; with its reference */
const struct sstp_rbuf_ops *sstp_rbuf_present(const struct sstp_rbuf_ops *ops);
/* rbuf_call.c: each call clamps the outputs of the policy to their ranges afterwards. */
void sstp_rbuf_bound(struct sstp_rbuf *b, const struct sstp_rbuf_use *s);
/* Give @b, which has no policy, the policy @ops, whose reference it takes over. The caller puts
 * the limit b->out.limit, which the policy wants, in force.
 */
void sstp_rbuf_begin(struct sstp_rbuf_core *b, const struct sstp_rbuf_ops *ops,
		     const struct sstp_plugin_conf *conf);
void sstp_rbuf_tune(struct sstp_rbuf_core *b, const struct sstp_plugin_conf *conf);
void sstp_rbuf_get_info(const struct sstp_rbuf_core *b, s64 *state);
/* Release and initialize the policy again: its state is lost, limit and parameters stay. */
void sstp_rbuf_restart(struct sstp_rbuf_core *b);
/* An epoch ended. @seen: what was measured of the path, or NULL. Returns the limit that the policy
 * wants, which is not in force yet.
 */
u32 sstp_rbuf_update(struct sstp_rbuf_core *b, const struct sstp_rbuf_seen *seen);

/* Begin an epoch: clear what @s measured in the last one. @used: bytes in use now */
static inline void sstp_rbuf_epoch_begin(struct sstp_rbuf_use *s, u32 used)
{
	s->arrived = 0;
	s->served = 0;
	s->lacked = 0;
	s->emptied = false;
	s->drained = false;
	s->queued = used;
}

/* At the end of an epoch, @now (ns), with its measurements still in b->in: count the buffer in
 * sstp_rbuf_moving() if it has much traffic, or had within 2 s.
 */
void sstp_rbuf_count(struct sstp_rbuf_core *b, u64 now);
/* Do not count the buffer any more. */
void sstp_rbuf_uncount(struct sstp_rbuf_core *b);
/* Number of buffers with much traffic, of all namespaces; at least 1. They share the memory that
 * is available.
 */
u32 sstp_rbuf_moving(void);

int __init sstp_rbuf_init(void);
void sstp_rbuf_exit(void);

extern struct sstp_rbuf_ops sstp_rbuf_static;
extern struct sstp_rbuf_ops sstp_rbuf_rrda;

#endif /* _SSTP_RBUF_H */
