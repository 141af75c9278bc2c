// SPDX-License-Identifier: GPL-2.0
/* Tables of connections: by CID, by peer, by names, and all of a namespace. */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include "netns.h"
#include "sstp.h"
#include "table.h"

static struct rhashtable sstp_cids;	/* all namespaces; CIDs are unique */
static struct rhashtable sstp_peers;
static struct rhashtable sstp_names;

static u32 sstp_peer_hash(const void *data, u32 len, u32 seed)
{
	const struct sstp_peer *p = data;

	/* Whole words: the struct has no padding. */
	return jhash2((const u32 *)p, sizeof(*p) / sizeof(u32), seed);
}

/* Compares words where rhashtable_compare() would call memcmp(). */
static int sstp_cid_compare(struct rhashtable_compare_arg *arg, const void *obj)
{
	return ((const struct sstp_sock *)obj)->id.cid != *(const u32 *)arg->key;
}

static const struct rhashtable_params sstp_cid_params = {
	.obj_cmpfn = sstp_cid_compare,
	.key_len = sizeof(u32),
	.key_offset = offsetof(struct sstp_sock, id.cid),
	.head_offset = offsetof(struct sstp_sock, id.cid_node),
	.min_size = SSTP_TABLE_MIN,
	.automatic_shrinking = true,
};

static const struct rhashtable_params sstp_peer_params = {
	.key_len = sizeof(struct sstp_peer),
	.key_offset = offsetof(struct sstp_sock, id.peer),
	.head_offset = offsetof(struct sstp_sock, id.peer_node),
	.hashfn = sstp_peer_hash,
	.min_size = SSTP_TABLE_MIN,
	.automatic_shrinking = true,
};

static u32 sstp_names_hash(const void *data, u32 len, u32 seed)
{
	const struct sstp_names *n = data;

	/* connect() tries one port after the other: 16 of them have neighbouring buckets, for
	 * the CPU caches. More do not, so that no choice of ports makes one chain long.
	 */
	return jhash2((const u32 *)n, offsetof(struct sstp_names, dport) / sizeof(u32),
		      seed + ((u32)n->dport << 16 | n->sport >> 4)) + n->sport % 16;
}

/* Addresses and ports of both ends of a socket that connects from @port */
static struct sstp_names sstp_conn_names(const struct sock *sk, u16 port)
{
	const struct sstp_sock *sp = sstp_sk(sk);

	return (struct sstp_names){
		.net = sock_net(sk),
		.saddr = sp->id.saddr,
		.daddr = sp->id.peer.addr,
		.sport = port,
		.dport = sp->id.dport,
		.l3mdev = sp->id.peer.l3mdev,
	};
}

/* A socket does not have its names a second time, as one struct, which would take memory of each.
 * They do not change while it is in the table.
 */
static u32 sstp_names_obj_hash(const void *obj, u32 len, u32 seed)
{
	const struct sstp_sock *sp = obj;
	struct sstp_names names = sstp_conn_names(&sp->sk, sp->id.sport);

	return sstp_names_hash(&names, len, seed);
}

static int sstp_names_compare(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct sstp_sock *sp = obj;
	struct sstp_names names = sstp_conn_names(&sp->sk, sp->id.sport);

	return memcmp(&names, arg->key, sizeof(names));
}

static const struct rhashtable_params sstp_names_params = {
	.key_len = sizeof(struct sstp_names),
	.head_offset = offsetof(struct sstp_sock, id.names_node),
	.hashfn = sstp_names_hash,
	.obj_hashfn = sstp_names_obj_hash,
	.obj_cmpfn = sstp_names_compare,
	.min_size = SSTP_TABLE_MIN,
	.automatic_shrinking = true,
};

int sstp_table_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct sstp_peer) % sizeof(u32));
	BUILD_BUG_ON(offsetof(struct sstp_names, dport) % sizeof(u32));
	BUILD_BUG_ON(offsetofend(struct sstp_names, sport) !=
		     sizeof(struct sstp_names));
	BUILD_BUG_ON(offsetofend(struct sstp_peer, zero) !=
		     sizeof(struct sstp_peer));
	err = rhashtable_init(&sstp_cids, &sstp_cid_params);
	if (err)
		return err;
	err = rhashtable_init(&sstp_peers, &sstp_peer_params);
	if (err)
		goto cids;
	err = rhashtable_init(&sstp_names, &sstp_names_params);
	if (err)
		goto peers;
	return 0;
peers:
	rhashtable_destroy(&sstp_peers);
cids:
	rhashtable_destroy(&sstp_cids);
	return err;
}

void sstp_table_exit(void)
{
	rhashtable_destroy(&sstp_names);
	rhashtable_destroy(&sstp_peers);
	rhashtable_destroy(&sstp_cids);
}

/* The error of an insert, as callers of connect() and accept() know it: -EEXIST, else -ENOMEM
 * (-EBUSY, for one, while a table is rebuilt), or 0
 */
static int sstp_table_error(int err)
{
	return err && err != -EEXIST ? -ENOMEM : err;
}

/* Let sstp_conn_next() find the socket. Socket lock. */
int sstp_conn_list(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err;

	/* If a controller or a policy in BPF goes now, sstp_evict_all() finds the socket, after a
	 * grace period, or its going is seen here.
	 */
	rcu_read_lock();
	err = xa_alloc_bh(&sstp_pernet(sock_net(sk))->all, &sp->id.index, sk,
			  xa_limit_31b, GFP_ATOMIC);
	if ((sp->ctrl.ops && sstp_plugin_gone(sstp_plugin_of(sp->ctrl.ops))) ||
	    (sp->rcvbuf.policy.ops && sstp_plugin_gone(sstp_plugin_of(sp->rcvbuf.policy.ops))))
		set_bit(SSTP_FL_EVICT, &sp->pending.flags);
	rcu_read_unlock();
	sp->id.listed = !err;
	return err;
}

void sstp_conn_unlist(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (!sp->id.listed)
		return;
	xa_erase_bh(&sstp_pernet(sock_net(sk))->all, sp->id.index);
	sp->id.listed = false;
}

static int sstp_conn_hash_cid(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err, tries = 16;

	do {
		sp->id.cid = get_random_u32();
		if (!sp->id.cid)
			continue;
		err = rhashtable_lookup_insert_fast(&sstp_cids, &sp->id.cid_node,
						    sstp_cid_params);
		if (!err) {
			sock_hold(sk);
			sp->id.hashed = true;
			return 0;
		}
		if (err != -EEXIST)
			return sstp_table_error(err);
	} while (--tries);
	return -EAGAIN;
}

/* Give the socket a CID of its own and make packets find it. */
int sstp_conn_hash(struct sock *sk)
{
	int err = sstp_conn_list(sk);

	if (err)
		return err;
	err = sstp_conn_hash_cid(sk);
	if (err)
		sstp_conn_unlist(sk);
	return err;
}

/* Let the peer's INITs find the connection, by sp->id.peer. -EEXIST if another connection has
 * the same peer. Socket lock.
 */
int sstp_conn_hash_peer(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err;

	err = rhashtable_lookup_insert_fast(&sstp_peers, &sp->id.peer_node,
					    sstp_peer_params);
	if (!err) {
		sock_hold(sk);
		sp->id.peer_hashed = true;
	}
	return sstp_table_error(err);
}

/* Has another socket these names? Without a lock, so that a search through many ports is
 * quick; sstp_conn_hash_names() decides.
 */
bool sstp_conn_names_taken(const struct sock *sk, u16 port)
{
	struct sstp_names names = sstp_conn_names(sk, port);

	return rhashtable_lookup_fast(&sstp_names, &names, sstp_names_params);
}

/* Reserve the names for a socket that connects, whose port is @port then. Lookups return no socket
 * from this table, so it holds no reference. Returns -EEXIST if another socket has them. Socket
 * lock.
 */
int sstp_conn_hash_names(struct sock *sk, u16 port)
{
	struct sstp_names names = sstp_conn_names(sk, port);
	struct sstp_sock *sp = sstp_sk(sk);
	u16 old = sp->id.sport;
	int err;

	sp->id.sport = port;
	err = rhashtable_lookup_insert_key(&sstp_names, &names, &sp->id.names_node,
					   sstp_names_params);
	if (err)
		sp->id.sport = old;
	sp->id.names_hashed = !err;
	return sstp_table_error(err);
}

void sstp_conn_unhash_names(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (!sp->id.names_hashed)
		return;
	rhashtable_remove_fast(&sstp_names, &sp->id.names_node, sstp_names_params);
	sp->id.names_hashed = false;
}

void sstp_conn_unhash(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sstp_conn_unlist(sk);
	sstp_conn_unhash_names(sk);
	if (sp->id.hashed) {
		rhashtable_remove_fast(&sstp_cids, &sp->id.cid_node,
				       sstp_cid_params);
		sp->id.hashed = false;
		__sock_put(sk);
	}
	if (sp->id.peer_hashed) {
		rhashtable_remove_fast(&sstp_peers, &sp->id.peer_node,
				       sstp_peer_params);
		sp->id.peer_hashed = false;
		__sock_put(sk);
	}
}

/* The connection with @cid in @net, with a reference for the caller, or NULL. RCU. */
struct sock *sstp_conn_find(struct net *net, u32 cid)
{
	struct sstp_sock *sp;

	sp = rhashtable_lookup(&sstp_cids, &cid, sstp_cid_params);
	if (!sp || !net_eq(sock_net(&sp->sk), net) ||
	    !refcount_inc_not_zero(&sp->sk.sk_refcnt))
		return NULL;
	return &sp->sk;
}

struct sock *sstp_conn_find_peer(const struct sstp_peer *peer)
{
	struct sstp_sock *sp;

	sp = rhashtable_lookup(&sstp_peers, peer, sstp_peer_params);
	if (!sp || !refcount_inc_not_zero(&sp->sk.sk_refcnt))
		return NULL;
	return &sp->sk;
}

/**
 * sstp_conn_next - iterate over listeners and connections
 * @net: namespace
 * @id: number to begin at; set to that of the socket returned
 * @match: is a socket wanted? Called without the socket lock, so this is a guess
 * @arg: argument of @match
 *
 * Each socket that exists all the time is found once, whatever others come and go. Process
 * context.
 * Return: the next socket that matches, with a reference, or NULL
 */
struct sock *sstp_conn_next(struct net *net, unsigned long *id,
			    bool (*match)(const struct sock *sk, void *arg),
			    void *arg)
{
	struct sstp_net *sn = sstp_pernet(net);
	struct sock *sk;
	bool found;

	for (;; ++*id) {
		rcu_read_lock();
		sk = xa_find(&sn->all, id, ULONG_MAX, XA_PRESENT);
		/* data_race: the caller checks again under the socket lock. */
		found = sk && data_race(match(sk, arg)) &&
			refcount_inc_not_zero(&sk->sk_refcnt);
		rcu_read_unlock();
		if (found || !sk)
			return sk;
		cond_resched();
	}
}
