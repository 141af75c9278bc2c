/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A receive buffer that all connections of a listener share, as in the server of Liu et al.
 * (cited in sstp.rst): the policy sizes it by the sum of their arrivals and reads.
 */
#ifndef _SSTP_POOL_H
#define _SSTP_POOL_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include "rbuf.h"

#define SSTP_POOL_EPOCH		(100ULL * NSEC_PER_MSEC)

/**
 * struct sstp_pool - a receive buffer that connections share
 * @ref: references of the listener and of each member
 * @lock: _bh, inside of a socket's lock: guards what says so below
 * @b: the buffer; under @lock
 * @limit: limit of @b, bytes; as @length written under @lock, read without
 * @length: ns of an epoch of @b; 0 = the policy has none
 * @at: ns: when the epoch began; under @lock
 * @path: bytes that the paths can fill of members that reported since @at; under @lock
 * @used: bytes of memory that members use, by their last reports
 * @active: members that hold memory, or of which something came lately; written under
 *	@lock
 * @awake: active members that do not rest; under @lock
 * @pinned: SO_RCVBUF fixed the size of the buffer
 */
struct sstp_pool {
	refcount_t	ref;
	spinlock_t	lock;		/* see above */
	struct sstp_rbuf_core b;
	u32		limit;
	u64		length;
	u64		at;
	u64		path;
	atomic_long_t	used;
	u32		active;
	u32		awake;
	bool		pinned;
};

/**
 * struct sstp_member - a connection's part in a pool
 * @pool: the pool; NULL: the connection has a buffer of its own
 * @used: bytes of memory that it reported last
 * @active: it is counted in sstp_pool.active
 * @awake: it is counted in sstp_pool.awake: a packet came lately
 * @silent: epochs in a row in which nothing came or was refused, and the program read nothing;
 *	counted up to SSTP_RCVBUF_SILENT, when the member may rest
 *
 * Guarded by the connection's socket lock.
 */
struct sstp_member {
	struct sstp_pool *pool;
	u32	used;
	bool	active;
	bool	awake;
	u8	silent;
};

/* Bytes that members use, by their last reports */
static inline u32 sstp_pool_used(const struct sstp_pool *p)
{
	return clamp_t(s64, atomic_long_read(&p->used), 0, U32_MAX);
}

/* ns of an epoch of its members; a buffer of one size has none of its own */
static inline u64 sstp_pool_length(const struct sstp_pool *p)
{
	return READ_ONCE(p->length) ?: SSTP_POOL_EPOCH;
}

/* Are windows of members no larger than what each may use? They are if the pool has epochs, so
 * that its size changes: memory granted to one member and not used is what others need.
 */
static inline bool sstp_pool_exact(const struct sstp_pool *p)
{
	return READ_ONCE(p->length);
}

/* Bytes that all of its members may use together */
static inline u32 sstp_pool_limit(const struct sstp_pool *p)
{
	return READ_ONCE(p->limit);
}

/* Bytes that no member uses, by their last reports */
static inline u32 sstp_pool_free(const struct sstp_pool *p)
{
	u32 limit = sstp_pool_limit(p), used = sstp_pool_used(p);

	return used < limit ? limit - used : 0;
}

/* A pool with @b as its buffer, whose policy it takes over. NULL without memory. */
struct sstp_pool *sstp_pool_new(const struct sstp_rbuf_core *b, bool pinned);
struct sstp_pool *sstp_pool_get(struct sstp_pool *p);
void sstp_pool_put(struct sstp_pool *p);

/* sstp_rbuf_tune() of the pool's buffer */
void sstp_pool_tune(struct sstp_pool *p, const struct sstp_plugin_conf *conf);
/* Get the parameters and the state of the pool's policy. */
void sstp_pool_get_info(struct sstp_pool *p, u32 *param, s64 *state);

/* A packet came for the member: it is active and awake. */
void sstp_pool_join(struct sstp_member *m);
/* Nothing came for some epochs. False if the member's epochs have to go on, as the
 * pool's end with those of its last member, until the pool rests, too.
 */
bool sstp_pool_rest(struct sstp_member *m);
/* The member's connection ended. Its program may still read what was received. */
void sstp_pool_end(struct sstp_member *m);
/* The member's data has been freed: it leaves the pool. */
void sstp_pool_leave(struct sstp_member *m);
/* The member uses @used bytes now. Returns how many it may use. */
u32 sstp_pool_share(struct sstp_member *m, u32 used);
/* An epoch of the member ended, with what it saw in @seen. Returns by how much the pool
 * grew for that, to @limit; negative: it shrank. If that ends the pool's epoch, @seen has
 * what the pool saw in it, for traces, as the policy's @state is.
 */
s64 sstp_pool_epoch(struct sstp_member *m, struct sstp_rbuf_use *seen, u64 now,
		    u32 *limit, s64 *state);

#endif /* _SSTP_POOL_H */
