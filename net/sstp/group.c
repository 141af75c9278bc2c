// SPDX-License-Identifier: GPL-2.0
/* Groups of receiving halves; group.h describes them. */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include "compat.h"
#include "group.h"

#define SSTP_GROUP_BITS	10

/* Taken when a receiving half starts or ends */
static DEFINE_SPINLOCK(sstp_groups_lock);
static DEFINE_HASHTABLE(sstp_groups, SSTP_GROUP_BITS);	/* sstp_groups_lock */

static u32 sstp_group_hash(const struct sstp_group_key *k)
{
	static u32 seed __read_mostly;

	get_random_once(&seed, sizeof(seed));
	return jhash_3words(__ipv6_addr_jhash(&k->addr, seed), k->port ^ (u32)k->l3mdev << 16,
			    hash_ptr(k->ops, 32) ^ hash_ptr(k->net, 32) ^ k->scope, seed);
}

static struct sstp_group_core *sstp_group_find(const struct sstp_group_key *k)
{
	struct sstp_group_core *g;

	hash_for_each_possible(sstp_groups, g, node, sstp_group_hash(k))
		if (g->key.ops == k->ops && g->key.net == k->net && g->key.port == k->port &&
		    g->key.l3mdev == k->l3mdev && g->key.scope == k->scope &&
		    ipv6_addr_equal(&g->key.addr, &k->addr))
			return g;
	return NULL;
}

/* The work of @group_tick has to be linear in the number of members, which a remote peer chooses,
 * as it runs in softirq under the group's lock.
 */
static enum hrtimer_restart sstp_group_fire(struct hrtimer *hrt)
{
	struct sstp_group_core *g = container_of(hrt, struct sstp_group_core, hrt);
	u64 tick = SSTP_GROUP_TICK_MAX, least;

	spin_lock(&g->lock);
	/* The last member may have left, and with it the reference on the module. */
	if (g->out.count) {
		g->out.now = ktime_get_ns();
		g->key.ops->group_tick(&g->out);
		least = max_t(u64, SSTP_GROUP_TICK_MIN, g->out.count * SSTP_GROUP_TICK_EACH);
		g->out.tick = clamp_t(u64, g->out.tick, least, SSTP_GROUP_TICK_MAX);
		tick = g->out.tick;
	}
	spin_unlock(&g->lock);
	hrtimer_forward_now(hrt, ns_to_ktime(tick));
	return HRTIMER_RESTART;
}

static struct sstp_group_core *sstp_group_new(const struct sstp_group_key *k)
{
	struct sstp_group_core *g = kzalloc_obj(*g, GFP_ATOMIC | __GFP_NOWARN);

	if (!g)
		return NULL;
	g->key = *k;
	spin_lock_init(&g->lock);
	INIT_LIST_HEAD(&g->out.members);
	sstp_hrtimer_setup(&g->hrt, sstp_group_fire);
	hash_add(sstp_groups, &g->node, sstp_group_hash(k));
	return g;
}

struct sstp_group_core *sstp_group_join(const struct sstp_group_key *key,
					struct sstp_group_member *m)
{
	struct sstp_group_core *g;

	spin_lock_bh(&sstp_groups_lock);
	g = sstp_group_find(key) ?: sstp_group_new(key);
	if (!g || g->users >= SSTP_GROUP_MEMBERS) {
		spin_unlock_bh(&sstp_groups_lock);
		return NULL;
	}
	g->users++;
	spin_lock(&g->lock);
	memset(m, 0, sizeof(*m));
	list_add_tail(&m->list, &g->out.members);
	g->out.count++;
	spin_unlock(&g->lock);
	if (g->users == 1)
		hrtimer_start(&g->hrt, ns_to_ktime(SSTP_GROUP_TICK_MIN), HRTIMER_MODE_REL_SOFT);
	spin_unlock_bh(&sstp_groups_lock);
	return g;
}

/* Not under a socket lock: with PREEMPT_RT hrtimer_cancel() also waits for the other timers that
 * expire on the CPU, among them those of sockets.
 */
static void sstp_group_free(struct rcu_head *rcu)
{
	struct sstp_group_core *g = container_of(rcu, struct sstp_group_core, rcu);

	hrtimer_cancel(&g->hrt);
	kfree(g);
}

void sstp_group_leave(struct sstp_group_core *g, struct sstp_group_member *m)
{
	bool last;

	spin_lock_bh(&sstp_groups_lock);
	spin_lock(&g->lock);
	list_del(&m->list);
	g->out.count--;
	spin_unlock(&g->lock);
	last = !--g->users;
	if (last)
		hash_del(&g->node);
	spin_unlock_bh(&sstp_groups_lock);
	if (last)
		call_rcu(&g->rcu, sstp_group_free);
}

u64 sstp_group_report(struct sstp_group_core *g, struct sstp_group_member *m, const u64 *report)
{
	u64 rate;

	spin_lock_bh(&g->lock);
	memcpy(m->report, report, sizeof(m->report));
	rate = m->rate;
	spin_unlock_bh(&g->lock);
	return rate;
}
