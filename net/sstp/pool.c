// SPDX-License-Identifier: GPL-2.0
/* One receive buffer for all connections that a listener accepts. */
#include <linux/math64.h>
#include <linux/slab.h>
#include "pool.h"

/* What an epoch has seen, at its begin */
static void sstp_pool_epoch_begin(struct sstp_pool *p, u32 used)
{
	p->b.arrived = 0;
	p->b.served = 0;
	p->b.lacked = 0;
	p->b.emptied = false;
	p->b.drained = false;
	p->b.queued = used;
	p->path = 0;
}

/* What is read without the lock */
static void sstp_pool_publish(struct sstp_pool *p)
{
	WRITE_ONCE(p->limit, p->b.limit);
	WRITE_ONCE(p->length, p->b.epoch);
}

struct sstp_pool *sstp_pool_new(const struct sstp_rbuf *b, bool pinned)
{
	struct sstp_pool *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	refcount_set(&p->ref, 1);
	spin_lock_init(&p->lock);
	p->b = *b;
	p->b.rest = true;
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

void sstp_pool_tune(struct sstp_pool *p, const struct sstp_rrda_spec *rrda)
{
	spin_lock_bh(&p->lock);
	p->b.rrda = *rrda;
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
	/* Nobody's epochs go on: who comes next finds it as it was in the beginning. */
	if (!p->awake && !p->b.rest) {
		p->b.rest = true;
		sstp_rbuf_uncount(&p->b);
		p->b.limit = min(p->b.limit, p->b.first);
		sstp_pool_epoch_begin(p, sstp_pool_used(p));
		sstp_rbuf_restart(&p->b);
		sstp_pool_publish(p);
	}
	spin_unlock_bh(&p->lock);
}

bool sstp_pool_rest(struct sstp_member *m)
{
	struct sstp_pool *p = m->pool;

	spin_lock_bh(&p->lock);
	if (p->awake > 1 || p->b.rest || p->pinned || !p->b.epoch) {
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

/* What it uses, and a part of what is free, as large as each other's: so it is all
 * used, however few need it. But an equal part of the whole at least: those who use
 * more than theirs get no more until it is there again.
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

s64 sstp_pool_epoch(struct sstp_member *m, struct sstp_rbuf *seen, u64 now,
		    u32 *limit)
{
	struct sstp_pool *p = m->pool;
	struct sstp_rbuf *b = &p->b;
	u32 old, used = sstp_pool_used(p);
	u64 elapsed;
	s64 grown = 0;

	spin_lock_bh(&p->lock);
	old = b->limit;
	if (b->rest) {
		b->rest = false;
		p->at = now;
	}
	b->arrived += seen->arrived;
	b->served += seen->served;
	b->lacked += seen->lacked;
	b->emptied |= seen->emptied;
	b->queued = max(b->queued, used);
	/* A member that had its part full says little of the whole. */
	b->drained |= seen->emptied && b->queued >= b->limit / 4 * 3;
	p->path += seen->path;
	/* Another CPU's @now may be later. */
	elapsed = now > p->at ? now - p->at : 0;
	if (b->epoch && !p->pinned && elapsed >= b->epoch) {
		p->at = now;
		b->used = seen->used;
		b->available = seen->available;
		b->path = min_t(u64, p->path, U32_MAX);
		b->arrived = mul_u64_u64_div_u64(b->arrived, b->epoch, elapsed);
		b->served = mul_u64_u64_div_u64(b->served, b->epoch, elapsed);
		b->lacked = mul_u64_u64_div_u64(b->lacked, b->epoch, elapsed);
		b->limit = b->ops->update(b);
		sstp_rbuf_count(b, now);
		sstp_pool_publish(p);
		grown = (s64)b->limit - old;
		seen->arrived = b->arrived;
		seen->served = b->served;
		seen->lacked = b->lacked;
		seen->queued = b->queued;
		seen->path = b->path;
		seen->surplus = b->surplus;
		seen->trend = b->trend;
		sstp_pool_epoch_begin(p, used);
	}
	*limit = b->limit;
	spin_unlock_bh(&p->lock);
	return grown;
}
