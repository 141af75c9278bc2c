// SPDX-License-Identifier: GPL-2.0
/* The table of listeners, in which INITs are looked up. */
#include <linux/jhash.h>
#include <net/sock_reuseport.h>
#include "listeners.h"
#include "skb_in.h"
#include "sstp.h"

/* Groups of all namespaces; written under the port's lock */
static struct rhltable sstp_listen_table;

static u32 sstp_listen_hash(const void *data, u32 len, u32 seed)
{
	/* Whole words: the struct has no padding. */
	return jhash2(data, sizeof(struct sstp_listen_key) / sizeof(u32), seed);
}

static const struct rhashtable_params sstp_listen_params = {
	.key_len = sizeof(struct sstp_listen_key),
	.key_offset = offsetof(struct sstp_listeners, key),
	.head_offset = offsetof(struct sstp_listeners, node),
	.hashfn = sstp_listen_hash,
	.min_size = SSTP_TABLE_MIN,
	.automatic_shrinking = true,
};

int sstp_listeners_init(void)
{
	BUILD_BUG_ON(offsetofend(struct sstp_listen_key, zero) != sizeof(struct sstp_listen_key));
	return rhltable_init(&sstp_listen_table, &sstp_listen_params);
}

void sstp_listeners_exit(void)
{
	rhltable_destroy(&sstp_listen_table);
}

/* Groups of listeners that are bound to @addr itself. RCU. */
struct rhlist_head *sstp_listeners_at(struct net *net, const struct in6_addr *addr, u16 port)
{
	struct sstp_listen_key key = { .net = net, .addr = *addr, .port = port };

	return rhltable_lookup(&sstp_listen_table, &key, sstp_listen_params);
}

static struct sstp_listeners *sstp_listeners_of(const struct sock *sk)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	struct rhlist_head *at, *list;
	struct sstp_listeners *g, *found = NULL;

	rcu_read_lock();
	list = sstp_listeners_at(sock_net(sk), &sp->id.saddr, sp->id.sport);
	rhl_for_each_entry_rcu(g, at, list, node)
		if (uid_eq(g->uid, sk->sk_uid) && g->dev == sk->sk_bound_dev_if &&
		    g->af == sp->id.af && g->v6only == sp->id.v6only) {
			found = g;
			break;
		}
	rcu_read_unlock();
	return found;
}

static struct sstp_listeners *sstp_listeners_new(const struct sock *sk)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_listeners *g = kzalloc_obj(*g, GFP_ATOMIC);

	if (!g)
		return NULL;
	g->key = (struct sstp_listen_key){
		.net = sock_net(sk),
		.addr = sp->id.saddr,
		.port = sp->id.sport,
	};
	g->uid = sk->sk_uid;
	g->dev = sk->sk_bound_dev_if;
	g->af = sp->id.af;
	g->v6only = sp->id.v6only;
	return g;
}

/* Add @sk to the reuseport group of the members of @g, if it has SO_REUSEPORT. -ENOMEM also if
 * the group is full. Port's lock.
 */
static int sstp_listeners_share(struct sstp_listeners *g, struct sock *sk)
{
	struct sstp_listener *first = hlist_entry_safe(g->members.first, struct sstp_listener,
						       node);

	if (!sk->sk_reuseport)
		return 0;
	return first ? reuseport_add_sock(sk, first->sk, false) : reuseport_alloc(sk, false);
}

/* Put listener @sk into a group. -ENOMEM if there is no memory for it. Port's lock.
 *
 * A group in the table has a member, and the member that a lookup selects names its group, in
 * every moment: a lookup that finds that neither is so any more repeats itself, and must not
 * have to wait for a writer.
 */
int sstp_listeners_add(struct sock *sk)
{
	struct sstp_listener *l = sstp_sk(sk)->listen;
	struct sstp_listeners *g = sstp_listeners_of(sk);
	bool fresh = !g;

	if (fresh)
		g = sstp_listeners_new(sk);
	if (!g)
		return -ENOMEM;
	WRITE_ONCE(l->group, g);
	if (sstp_listeners_share(g, sk))
		goto free;
	hlist_add_head_rcu(&l->node, &g->members);
	if (!fresh || !rhltable_insert(&sstp_listen_table, &g->node, sstp_listen_params))
		return 0;
	hlist_del_rcu(&l->node);
	reuseport_detach_sock(sk);
free:
	WRITE_ONCE(l->group, NULL);
	if (fresh)
		kfree(g);
	return -ENOMEM;
}

/* Take listener @sk out of its group. It may join another one at once: lookups do not follow
 * @node. Port's lock.
 */
void sstp_listeners_del(struct sock *sk)
{
	struct sstp_listener *l = sstp_sk(sk)->listen;
	struct sstp_listeners *g = l->group;
	bool last;

	if (!g)
		return;
	last = hlist_is_singular_node(&l->node, &g->members);
	if (last)
		rhltable_remove(&sstp_listen_table, &g->node, sstp_listen_params);
	hlist_del_rcu(&l->node);
	if (last)
		kfree_rcu(g, rcu);
	if (rcu_access_pointer(sk->sk_reuseport_cb))
		reuseport_detach_sock(sk);
	/* Pairs with the acquire in sstp_listeners_select(). */
	smp_store_release(&l->group, NULL);
}

/* Listener @sk has another device. -ENOMEM: it is in no group any more. Port's lock.
 *
 * In every moment an INIT that matches @sk before and after finds a listener: a group of others
 * stays in the table, and one of @sk alone moves as a whole, unless the other one is there already.
 */
int sstp_listeners_move(struct sock *sk)
{
	struct sstp_listener *l = sstp_sk(sk)->listen;
	struct sstp_listeners *g = l->group, *to = sstp_listeners_of(sk);

	if (g && to == g)
		return 0;
	if (g && !to && hlist_is_singular_node(&l->node, &g->members)) {
		WRITE_ONCE(g->dev, sk->sk_bound_dev_if);
		return 0;
	}
	sstp_listeners_del(sk);
	return sstp_listeners_add(sk);
}

/* How well do listeners @g match the packet of @in? 0: not at all. */
static int sstp_listeners_score(const struct sstp_listeners *g, const struct sstp_skb_in *in)
{
	int score = 1, dev = READ_ONCE(g->dev);

	if (!inet_sk_bound_dev_eq(g->key.net, dev, in->dif, in->sdif))
		return 0;
	if (!ipv6_addr_any(&g->key.addr)) {
		score += 4;
	} else if (sstp_v4(&in->daddr)) {
		if (g->af == AF_INET)
			score += 1;
		else if (g->v6only)
			return 0;
	} else if (g->af == AF_INET) {
		return 0;
	}
	if (dev)
		score += 8;
	return score;
}

/* The group that matches the packet of @in best. Only groups at the packet's destination and at
 * the wildcard are examined, however many there are at others, and not their members. RCU.
 */
static struct sstp_listeners *sstp_listeners_best(struct net *net, const struct sstp_skb_in *in,
						  u16 port)
{
	const struct in6_addr *addrs[] = { &in->daddr, &in6addr_any };
	struct sstp_listeners *g, *best = NULL;
	int score, top = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		struct rhlist_head *at, *list = sstp_listeners_at(net, addrs[i], port);

		rhl_for_each_entry_rcu(g, at, list, node) {
			score = sstp_listeners_score(g, in);
			if (score > top) {
				top = score;
				best = g;
			}
		}
	}
	return best;
}

/* A listener of @g, with a reference; @hash selects one of a reuseport group. NULL if it has
 * left the group meanwhile. RCU.
 */
static struct sock *sstp_listeners_select(struct sstp_listeners *g, u32 hash)
{
	struct hlist_node *first = rcu_dereference(hlist_first_rcu(&g->members));
	struct sock *sk, *member;

	if (!first)
		return NULL;
	sk = hlist_entry(first, struct sstp_listener, node)->sk;
	member = reuseport_select_sock(sk, hash, NULL, 0) ?: sk;
	if (!refcount_inc_not_zero(&member->sk_refcnt))
		return NULL;
	/* Pairs with the release in sstp_listeners_del(). */
	if (smp_load_acquire(&sstp_sk(member)->listen->group) == g)
		return member;
	sock_put(member);
	return NULL;
}

/* A listener that matches the packet of @in best, with a reference; among the members of a
 * reuseport group, which so share the load, @hash decides. RCU.
 */
struct sock *sstp_listeners_find(struct net *net, const struct sstp_skb_in *in, u16 port,
				 u32 hash)
{
	struct sstp_listeners *g;
	struct sock *sk;

	do {
		g = sstp_listeners_best(net, in, port);
		if (!g)
			return NULL;
		sk = sstp_listeners_select(g, hash);
	} while (!sk);
	return sk;
}
