/* SPDX-License-Identifier: GPL-2.0 */
/* Policies of receive buffers. */
#ifndef _SSTP_RBUF_H
#define _SSTP_RBUF_H

#include <linux/init.h>
#include <net/sstp.h>

/**
 * struct sstp_rbuf_core - a receive buffer, and what the core knows of it
 * @in: what its policy is told
 * @ops: the policy's callbacks; a reference on its module, but for a member of a pool,
 *	which has that. NULL = no policy
 * @rrda: the option SSTP_RRDA, for a policy that takes it
 * @resting: no epoch runs; one begins when something comes
 * @counted: as one in which much moves
 * @busy_until: ns: so long it counts as that
 * @out: what its policy says; its epoch also if the core sets that
 */
struct sstp_rbuf_core {
	struct sstp_rbuf_sample in;
	const struct sstp_rbuf_ops *ops;
	struct sstp_rrda_spec rrda;
	bool	resting;
	bool	counted;
	u64	busy_until;
	struct sstp_rbuf out;
};

/* As sstp_ctrl_attach() and its kin. */
int sstp_rbuf_attach(struct sstp_rbuf_core *b, const char *name);
void sstp_rbuf_detach(struct sstp_rbuf_core *b);
struct sstp_rbuf_ops *sstp_rbuf_get(const char *name);
void sstp_rbuf_put(const struct sstp_rbuf_ops *ops);
/* rbuf_call.c: each brings what the policy says into its range. */
void sstp_rbuf_bound(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s);
/* With @ops as its policy, whose reference it takes; it has none. What the policy makes of
 * the limit is b->out.limit, for the caller to put in force.
 */
void sstp_rbuf_begin(struct sstp_rbuf_core *b, const struct sstp_rbuf_ops *ops);
/* The option SSTP_RRDA is @rrda, checked: from the next epoch on. */
void sstp_rbuf_tune(struct sstp_rbuf_core *b, const struct sstp_rrda_spec *rrda);
void sstp_rbuf_get_info(const struct sstp_rbuf_core *b, struct sstp_rbuf_info *i);
/* Its policy forgets all but the limit. */
void sstp_rbuf_restart(struct sstp_rbuf_core *b);
/* An epoch ended. Returns the limit that the policy wants, which is not in force yet. */
u32 sstp_rbuf_update(struct sstp_rbuf_core *b);

/* Forget what an epoch has seen; @used bytes are in use as the next one begins. */
static inline void sstp_rbuf_epoch_begin(struct sstp_rbuf_sample *s, u32 used)
{
	s->arrived = 0;
	s->served = 0;
	s->lacked = 0;
	s->emptied = false;
	s->drained = false;
	s->queued = used;
}

/* An epoch ended @now, and what moved in it is still there: is it much? */
void sstp_rbuf_count(struct sstp_rbuf_core *b, u64 now);
/* Nothing moves in it any more. */
void sstp_rbuf_uncount(struct sstp_rbuf_core *b);
/* Buffers in which much moved of late, of all namespaces; 1 at least */
u32 sstp_rbuf_moving(void);

int __init sstp_rbuf_init(void);
void sstp_rbuf_exit(void);

extern struct sstp_rbuf_ops sstp_rbuf_static;
extern struct sstp_rbuf_ops sstp_rbuf_rrda;

#endif /* _SSTP_RBUF_H */
