// SPDX-License-Identifier: GPL-2.0
/* One receive buffer for all connections that a listener accepts. */
#include <linux/math64.h>
#include <linux/slab.h>
#include "pool.h"

/* Begin an epoch: clear what the last one has measured. */
static void sstp_pool_epoch_begin(struct sstp_pool *p, u32 used)
{
	sstp_rbuf_epoch_begin(&p->b.in, used);
	p->path = 0;
}

/* Copy the limit and the length of an epoch to where they are read without the lock. */
static void sstp_pool_publish(struct sstp_pool *p)
{
	WRITE_ONCE(p->limit, p->b.in.limit);
	WRITE_ONCE(p->length, p->b.out.epoch);
}

struct sstp_pool *sstp_pool_new(const struct sstp_rbuf_core *b, bool pinned)
{
	struct sstp_pool *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	refcount_set(&p->ref, 1);
	spin_lock_init(&p->lock);
	p->b = *b;
	p->b.resting = true;
	sstp_pool_publish(p);
	p->pinned = pinned;
	return p;
}

struct sstp_pool *sstp_pool_get(struct sstp_pool *p)
{
	if (p)
		refcount_inc(&p->ref);
	return p;
}

void sstp_pool_put(struct sstp_pool *p)
{
	if (!p || !refcount_dec_and_test(&p->ref))
		return;
	sstp_rbuf_detach(&p->b);
	kfree(p);
}

void sstp_pool_tune(struct sstp_pool *p, const struct sstp_plugin_conf *conf)
{
	spin_lock_bh(&p->lock);
	sstp_rbuf_tune(&p->b, conf);
	spin_unlock_bh(&p->lock);
}

void sstp_pool_get_info(struct sstp_pool *p, u32 *param, s64 *state)
{
	spin_lock_bh(&p->lock);
	memcpy(param, p->b.out.param, sizeof(p->b.out.param));
	sstp_rbuf_get_info(&p->b, state);
	spin_unlock_bh(&p->lock);
}

static void sstp_pool_wake(struct sstp_member *m, bool awake)
{
	struct sstp_pool *p = m->pool;

	if (m->awake == awake)
		return;
	m->awake = awake;
	p->awake += awake ? 1 : -1;
}

static void sstp_pool_activate(struct sstp_member *m, bool active)
{
	struct sstp_pool *p = m->pool;

	if (m->active == active)
		return;
	m->active = active;
	WRITE_ONCE(p->active, active ? p->active + 1 : p->active - 1);
}

void sstp_pool_join(struct sstp_member *m)
{
	spin_lock_bh(&m->pool->lock);
	sstp_pool_wake(m, true);
	sstp_pool_activate(m, true);
	spin_unlock_bh(&m->pool->lock);
}

void sstp_pool_end(struct sstp_member *m)
{
	struct sstp_pool *p = m->pool;

	if (!p)
		return;
	spin_lock_bh(&p->lock);
	sstp_pool_wake(m, false);
	sstp_pool_activate(m, false);
	/* No member has epochs any more: the next one finds the pool in its initial state. */
	if (!p->awake && !p->b.resting) {
		p->b.resting = true;
		sstp_rbuf_uncount(&p->b);
		p->b.in.limit = min(p->b.in.limit, p->b.in.first);
		sstp_pool_epoch_begin(p, sstp_pool_used(p));
		sstp_rbuf_restart(&p->b);
		p->b.in.limit = p->b.out.limit;
		sstp_pool_publish(p);
	}
	spin_unlock_bh(&p->lock);
}

bool sstp_pool_rest(struct sstp_member *m)
{
	struct sstp_pool *p = m->pool;

	spin_lock_bh(&p->lock);
	if (p->awake > 1 || p->b.resting || p->pinned || !p->b.out.epoch) {
		sstp_pool_wake(m, false);
		if (!m->used)
			sstp_pool_activate(m, false);
	}
	spin_unlock_bh(&p->lock);
	return !m->awake;
}

void sstp_pool_leave(struct sstp_member *m)
{
	if (!m->pool)
		return;
	sstp_pool_end(m);
	atomic_long_sub(m->used, &m->pool->used);
	sstp_pool_put(m->pool);
	*m = (struct sstp_member){};
}

/* The share of a member: what it uses, and an equal part of what is free, so that all of the pool
 * is used even if few members need it. It is at least an equal part of the whole: members that use
 * more than that get no more until as much is free again.
 */
u32 sstp_pool_share(struct sstp_member *m, u32 used)
{
	struct sstp_pool *p = m->pool;
	u32 limit = sstp_pool_limit(p);
	s64 sum, share;
	u32 n;

	sum = atomic_long_add_return((long)used - (long)m->used, &p->used);
	m->used = used;
	if (!m->awake && !used && m->active)
		sstp_pool_end(m);
	n = max(READ_ONCE(p->active) + !m->active, 1U);
	share = used + div_s64((s64)limit - sum, n);
	return clamp_t(s64, share, limit / n, limit);
}

s64 sstp_pool_epoch(struct sstp_member *m, struct sstp_rbuf_use *seen, u64 now,
		    u32 *limit, s64 *state)
{
	struct sstp_pool *p = m->pool;
	struct sstp_rbuf_core *b = &p->b;
	u32 old, used = sstp_pool_used(p);
	u64 elapsed;
	s64 grown = 0;

	spin_lock_bh(&p->lock);
	old = b->in.limit;
	if (b->resting) {
		b->resting = false;
		p->at = now;
	}
	b->in.arrived += seen->arrived;
	b->in.served += seen->served;
	b->in.lacked += seen->lacked;
	b->in.emptied |= seen->emptied;
	b->in.queued = max(b->in.queued, used);
	/* That a member had filled its share says little of the pool. */
	b->in.drained |= seen->emptied && b->in.queued >= b->in.limit / 4 * 3;
	p->path += seen->path;
	/* Another CPU's @now may be later. */
	elapsed = now > p->at ? now - p->at : 0;
	if (b->out.epoch && !p->pinned && elapsed >= b->out.epoch) {
		p->at = now;
		b->in.used = seen->used;
		b->in.available = seen->available;
		b->in.path = min_t(u64, p->path, U32_MAX);
		b->in.arrived = mul_u64_u64_div_u64(b->in.arrived, b->out.epoch, elapsed);
		b->in.served = mul_u64_u64_div_u64(b->in.served, b->out.epoch, elapsed);
		b->in.lacked = mul_u64_u64_div_u64(b->in.lacked, b->out.epoch, elapsed);
		b->in.limit = sstp_rbuf_update(b, NULL);
		sstp_rbuf_count(b, now);
		sstp_pool_publish(p);
		grown = (s64)b->in.limit - old;
		seen->arrived = b->in.arrived;
		seen->served = b->in.served;
		seen->lacked = b->in.lacked;
		seen->queued = b->in.queued;
		seen->path = b->in.path;
		sstp_pool_epoch_begin(p, used);
	}
	*limit = b->in.limit;
	sstp_rbuf_get_info(b, state);
	spin_unlock_bh(&p->lock);
	return grown;
}
