// SPDX-License-Identifier: GPL-2.0
/* Ports: sockets that are bound to them. */
#include <linux/jhash.h>
#include <linux/random.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include "conn.h"
#include "listeners.h"
#include "netns.h"
#include "port.h"
#include "sstp.h"
#include "table.h"

/* The lock of a port and of its listeners */
static spinlock_t *sstp_port_lock(struct net *net, u16 port)
{
	return &sstp_pernet(net)->port_lock[port % SSTP_PORT_LOCKS];
}

/**
 * struct sstp_port_key - identity of a port
 * @net: namespace
 * @l3mdev: index of the VRF, as each has its own ports; 0 without one, see
 *	inet_sk_bound_l3mdev()
 * @number: port number
 */
struct sstp_port_key {
	struct net *net;
	int	l3mdev;
	u32	number;
};

/* The addresses and devices for which a socket wants a port, and with whom it shares them */
struct sstp_claim {
	struct in6_addr addr;
	kuid_t	uid;
	int	dev;
	u16	af;
	bool	v6only;
	bool	reuse;
	bool	reuseport;
};

/* Which claims conflict with none of a port's owners, as is known without a look at these */
enum sstp_shared {
	SSTP_SHARED_NONE,
	SSTP_SHARED_CLAIM,	/* those that equal sstp_port.claim */
	SSTP_SHARED_USER,	/* those with SO_REUSEPORT and the user of sstp_port.claim */
};

/**
 * struct sstp_port - a port that is in use
 * @node: in the table of ports
 * @rcu: frees the port, as lookups of other ports may pass it
 * @key: key in the table
 * @exclusive: number of sockets that keep connect() from choosing the port: those that got it
 *	by bind() or listen(), and children of listeners
 * @owners: sockets that got the port by bind() or listen(), by sk_bind_node
 * @kinds: kinds of the groups that all other sockets of the port are in
 * @shared: which claims conflict with none of @owners
 * @claim: claim that @shared refers to; it has SO_REUSEPORT
 *
 * With @shared another member of a reuseport group gets the port without a walk of @owners. As
 * with TCP, it does not notice that an owner has switched SO_REUSEPORT off since bind().
 */
struct sstp_port {
	struct rhash_head node;
	struct rcu_head rcu;
	struct sstp_port_key key;
	u32	exclusive;
	struct hlist_head owners;
	struct hlist_head kinds;
	enum sstp_shared shared;
	struct sstp_claim claim;
};

/**
 * struct sstp_kind - groups of a port whose claims differ only in the address
 * @node: in the port's @kinds
 * @count: number of groups
 * @claim: claim of the groups, with an address that stands for all of IPv4, or of IPv6
 *
 * A program can use as many addresses as 127.0.0.0/8 has, but there are few kinds. So bind() to
 * one address examines the groups at it, and bind() to all addresses the kinds.
 */
struct sstp_kind {
	struct hlist_node node;
	u32	count;
	struct sstp_claim claim;
};

/* Key of groups: a port and an address */
struct sstp_place {
	struct sstp_port *port;
	struct in6_addr	addr;
};

/**
 * struct sstp_claims - sockets that had the same claim when they got the port
 * @node: in the table of groups, with others of the same @place
 * @rcu: frees the group, as lookups of other places may pass it
 * @place: key in the table
 * @kind: kind of the group
 * @count: number of sockets
 * @exclusive: the sockets are children of listeners; else they got the port by connect()
 * @claim: claim of each socket
 *
 * bind() examines all sockets of a group at once.
 */
struct sstp_claims {
	struct rhlist_head node;
	struct rcu_head rcu;
	struct sstp_place place;
	struct sstp_kind *kind;
	u32	count;
	bool	exclusive;
	struct sstp_claim claim;
};

/* Tables of all namespaces; written under the port's lock */
static struct rhashtable sstp_ports;
static struct rhltable sstp_claim_table;

static u32 sstp_port_hash(const void *data, u32 len, u32 seed)
{
	/* Whole words: the struct has no padding. */
	return jhash2(data, sizeof(struct sstp_port_key) / sizeof(u32), seed);
}

static u32 sstp_place_hash(const void *data, u32 len, u32 seed)
{
	return jhash2(data, sizeof(struct sstp_place) / sizeof(u32), seed);
}

static const struct rhashtable_params sstp_port_params = {
	.key_len = sizeof(struct sstp_port_key),
	.key_offset = offsetof(struct sstp_port, key),
	.head_offset = offsetof(struct sstp_port, node),
	.hashfn = sstp_port_hash,
	.min_size = SSTP_TABLE_MIN,
	.automatic_shrinking = true,
};

static const struct rhashtable_params sstp_claims_params = {
	.key_len = sizeof(struct sstp_place),
	.key_offset = offsetof(struct sstp_claims, place),
	.head_offset = offsetof(struct sstp_claims, node),
	.hashfn = sstp_place_hash,
	.min_size = SSTP_TABLE_MIN,
	.automatic_shrinking = true,
};

int sstp_port_init(void)
{
	int err;

	BUILD_BUG_ON(offsetofend(struct sstp_port_key, number) != sizeof(struct sstp_port_key));
	BUILD_BUG_ON(offsetofend(struct sstp_place, addr) != sizeof(struct sstp_place));
	err = rhashtable_init(&sstp_ports, &sstp_port_params);
	if (err)
		return err;
	err = rhltable_init(&sstp_claim_table, &sstp_claims_params);
	if (err)
		goto ports;
	err = sstp_listeners_init();
	if (err)
		goto groups;
	return 0;
groups:
	rhltable_destroy(&sstp_claim_table);
ports:
	rhashtable_destroy(&sstp_ports);
	return err;
}

void sstp_port_exit(void)
{
	sstp_listeners_exit();
	rhltable_destroy(&sstp_claim_table);
	rhashtable_destroy(&sstp_ports);
}

static struct sstp_claim sstp_claim_of(const struct sock *sk)
{
	const struct sstp_sock *sp = sstp_sk(sk);

	return (struct sstp_claim){
		.addr = sp->id.saddr,
		.uid = sk->sk_uid,
		.dev = sk->sk_bound_dev_if,
		.af = sp->id.af,
		.v6only = sp->id.v6only,
		.reuse = sk->sk_reuse,
		.reuseport = sk->sk_reuseport,
	};
}

static bool sstp_claim_same(const struct sstp_claim *a, const struct sstp_claim *b)
{
	return ipv6_addr_equal(&a->addr, &b->addr) && uid_eq(a->uid, b->uid) &&
	       a->dev == b->dev && a->af == b->af && a->v6only == b->v6only &&
	       a->reuse == b->reuse && a->reuseport == b->reuseport;
}

static bool sstp_addr_overlap(const struct sstp_claim *a, const struct sstp_claim *b)
{
	bool any_a = ipv6_addr_any(&a->addr), any_b = ipv6_addr_any(&b->addr);
	bool four_a = a->af == AF_INET, four_b = b->af == AF_INET;

	/* :: covers IPv4 unless v6only; 0.0.0.0 is held as :: with AF_INET. */
	if (any_a && any_b)
		return four_a == four_b || (four_a ? !b->v6only : !a->v6only);
	if (any_a)
		return sstp_v4(&b->addr) ? four_a || !a->v6only : !four_a;
	if (any_b)
		return sstp_v4(&a->addr) ? four_b || !b->v6only : !four_b;
	return ipv6_addr_equal(&a->addr, &b->addr);
}

/* Does claim @c conflict with @o, that of a socket that has the port, and @listens? */
static bool sstp_claim_conflict(const struct sstp_claim *c, const struct sstp_claim *o,
				bool listens)
{
	if (c->dev && o->dev && c->dev != o->dev)
		return false;
	if (!sstp_addr_overlap(c, o))
		return false;
	if (c->reuse && o->reuse && !listens)
		return false;
	return !(c->reuseport && o->reuseport && uid_eq(c->uid, o->uid));
}

static bool sstp_sock_conflict(const struct sstp_claim *c, struct sock *o)
{
	struct sstp_claim claim = sstp_claim_of(o);

	return sstp_claim_conflict(c, &claim, READ_ONCE(o->sk_state) == TCP_LISTEN);
}

/* Does @p know that @claim conflicts with none of its owners? Port's lock. */
static bool sstp_port_shares(const struct sstp_port *p, const struct sstp_claim *claim)
{
	switch (p->shared) {
	case SSTP_SHARED_NONE:
		return false;
	case SSTP_SHARED_CLAIM:
		return sstp_claim_same(claim, &p->claim);
	case SSTP_SHARED_USER:
		return claim->reuseport && uid_eq(claim->uid, p->claim.uid);
	}
	return false;
}

/* A socket whose @claim conflicts with no owner of @p becomes one. Port's lock. */
static void sstp_port_share(struct sstp_port *p, const struct sstp_claim *claim)
{
	if (sstp_port_shares(p, claim))
		return;
	p->shared = SSTP_SHARED_NONE;
	if (!claim->reuseport)
		return;
	p->shared = hlist_empty(&p->owners) ? SSTP_SHARED_USER : SSTP_SHARED_CLAIM;
	p->claim = *claim;
}

/* Port @number of the namespace or VRF of @sk; made if it is not in use. Port's lock. */
static struct sstp_port *sstp_port_get(struct sock *sk, u16 number)
{
	struct sstp_port_key key = {
		.net = sock_net(sk),
		.l3mdev = inet_sk_bound_l3mdev(sk),
		.number = number,
	};
	struct sstp_port *p;

	p = rhashtable_lookup_fast(&sstp_ports, &key, sstp_port_params);
	if (p)
		return p;
	p = kzalloc_obj(*p, GFP_ATOMIC);
	if (!p)
		return NULL;
	p->key = key;
	if (!rhashtable_insert_fast(&sstp_ports, &p->node, sstp_port_params))
		return p;
	kfree(p);
	return NULL;
}

/* Free the port if no socket has it any more. Port's lock. */
static void sstp_port_put(struct sstp_port *p)
{
	if (!hlist_empty(&p->owners) || !hlist_empty(&p->kinds))
		return;
	rhashtable_remove_fast(&sstp_ports, &p->node, sstp_port_params);
	kfree_rcu(p, rcu);
}

/* Groups of @p at the address of @claim. RCU. */
static struct rhlist_head *sstp_claims_at(struct sstp_port *p, const struct sstp_claim *claim)
{
	struct sstp_place place = { .port = p, .addr = claim->addr };

	return rhltable_lookup(&sstp_claim_table, &place, sstp_claims_params);
}

static bool sstp_claims_conflict(struct sstp_port *p, const struct sstp_claim *claim)
{
	struct rhlist_head *at, *list;
	const struct sstp_kind *k;
	struct sstp_claims *g;
	bool conflict = false;

	if (ipv6_addr_any(&claim->addr)) {
		hlist_for_each_entry(k, &p->kinds, node)
			if (sstp_claim_conflict(claim, &k->claim, false))
				return true;
		return false;
	}
	rcu_read_lock();
	list = sstp_claims_at(p, claim);
	rhl_for_each_entry_rcu(g, at, list, node)
		if (sstp_claim_conflict(claim, &g->claim, false)) {
			conflict = true;
			break;
		}
	rcu_read_unlock();
	return conflict;
}

/* Does @claim, that of a socket that is no owner of @p yet, conflict with another? Port's lock. */
static bool sstp_port_conflict(struct sstp_port *p, const struct sstp_claim *claim)
{
	struct sock *o;

	if (!sstp_port_shares(p, claim))
		sk_for_each_bound(o, &p->owners)
			if (sstp_sock_conflict(claim, o))
				return true;
	return sstp_claims_conflict(p, claim);
}

static struct sstp_claims *sstp_claims_find(struct sstp_port *p, const struct sstp_claim *claim,
					    bool exclusive)
{
	struct rhlist_head *at, *list;
	struct sstp_claims *g, *found = NULL;

	rcu_read_lock();
	list = sstp_claims_at(p, claim);
	rhl_for_each_entry_rcu(g, at, list, node)
		if (g->exclusive == exclusive && sstp_claim_same(&g->claim, claim)) {
			found = g;
			break;
		}
	rcu_read_unlock();
	return found;
}

/* Kind of a new group with claim @c, which is counted. Port's lock. */
static struct sstp_kind *sstp_kind_get(struct sstp_port *p, const struct sstp_claim *c)
{
	struct sstp_claim claim = *c;
	struct sstp_kind *k;

	if (sstp_v4(&claim.addr))
		ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK), &claim.addr);
	else
		claim.addr = in6addr_loopback;
	hlist_for_each_entry(k, &p->kinds, node)
		if (sstp_claim_same(&k->claim, &claim))
			goto found;
	k = kzalloc_obj(*k, GFP_ATOMIC);
	if (!k)
		return NULL;
	k->claim = claim;
	hlist_add_head(&k->node, &p->kinds);
found:
	k->count++;
	return k;
}

static void sstp_kind_put(struct sstp_kind *k)
{
	if (--k->count)
		return;
	hlist_del(&k->node);
	kfree(k);
}

static struct sstp_claims *sstp_claims_make(struct sstp_port *p, const struct sstp_claim *claim,
					    bool exclusive)
{
	struct sstp_claims *g = kzalloc_obj(*g, GFP_ATOMIC);

	if (!g)
		return NULL;
	g->place.port = p;
	g->place.addr = claim->addr;
	g->exclusive = exclusive;
	g->claim = *claim;
	g->kind = sstp_kind_get(p, claim);
	if (!g->kind)
		goto free;
	if (!rhltable_insert(&sstp_claim_table, &g->node, sstp_claims_params))
		return g;
	sstp_kind_put(g->kind);
free:
	kfree(g);
	return NULL;
}

static void sstp_claims_put(struct sstp_claims *g)
{
	if (--g->count)
		return;
	rhltable_remove(&sstp_claim_table, &g->node, sstp_claims_params);
	sstp_kind_put(g->kind);
	kfree_rcu(g, rcu);
}

/* Give the port to @sk, in the group of its claim. Port's lock. */
static int sstp_port_join(struct sstp_port *p, struct sock *sk, bool exclusive)
{
	struct sstp_claim claim = sstp_claim_of(sk);
	struct sstp_claims *g;

	g = sstp_claims_find(p, &claim, exclusive) ?: sstp_claims_make(p, &claim, exclusive);
	if (!g)
		return -ENOMEM;
	g->count++;
	p->exclusive += exclusive;
	sstp_sk(sk)->bind.port = p;
	sstp_sk(sk)->bind.group = g;
	sstp_sk(sk)->id.sport = p->key.number;
	sstp_sk(sk)->bind.bound = true;
	return 0;
}

/* Give @port to @sk, for bind() and listen(). -EADDRINUSE if another socket's claim conflicts. */
static int sstp_bind_try(struct sock *sk, u16 port)
{
	spinlock_t *lock = sstp_port_lock(sock_net(sk), port);
	const struct sstp_claim claim = sstp_claim_of(sk);
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_port *p;
	int err = 0;

	spin_lock_bh(lock);
	p = sstp_port_get(sk, port);
	if (!p) {
		err = -ENOMEM;
	} else if (sstp_port_conflict(p, &claim)) {
		err = -EADDRINUSE;
	} else {
		sstp_port_share(p, &claim);
		sp->bind.port = p;
		sp->id.sport = port;
		sp->bind.bound = true;
		p->exclusive++;
		sk_add_bind_node(sk, &p->owners);
	}
	spin_unlock_bh(lock);
	return err;
}

/* Give @port to @sk, for connect(): sockets that connect to other destinations may share it. */
static int sstp_connect_try(struct sock *sk, u16 port)
{
	spinlock_t *lock = sstp_port_lock(sock_net(sk), port);
	struct sstp_port *p;
	int err;

	if (sstp_conn_names_taken(sk, port))
		return -EADDRINUSE;
	spin_lock_bh(lock);
	p = sstp_port_get(sk, port);
	if (!p) {
		err = -ENOMEM;
	} else if (p->exclusive) {
		err = -EADDRINUSE;
	} else {
		err = sstp_conn_hash_names(sk, port);
		if (!err) {
			err = sstp_port_join(p, sk, false);
			if (err) {
				sstp_conn_unhash_names(sk);
				sstp_sk(sk)->id.sport = 0;
			}
		}
		sstp_port_put(p);
	}
	spin_unlock_bh(lock);
	return err == -EEXIST ? -EADDRINUSE : err;
}

/* Give a child its listener's port, so that it stays taken when the listener closes. The
 * child's local address is set. Softirq.
 */
int sstp_bind_child(struct sock *sk)
{
	u16 port = sstp_sk(sk)->id.sport;
	spinlock_t *lock = sstp_port_lock(sock_net(sk), port);
	struct sstp_port *p;
	int err = -ENOMEM;

	spin_lock(lock);
	p = sstp_port_get(sk, port);
	if (p) {
		err = sstp_port_join(p, sk, true);
		sstp_port_put(p);
	}
	spin_unlock(lock);
	return err;
}

/* Does the claim of a listener other than @sk, which is bound to @addr itself, conflict with
 * @claim, that of @sk? Port's lock.
 */
static bool sstp_listen_conflict_at(struct sock *sk, const struct sstp_claim *claim,
				    const struct in6_addr *addr)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_listeners *g;
	struct sstp_listener *o;
	struct rhlist_head *at;
	bool conflict = false;

	rcu_read_lock();
	at = sstp_listeners_at(sock_net(sk), addr, sp->id.sport);
	for (; at && !conflict; at = rcu_dereference(at->next)) {
		g = container_of(at, struct sstp_listeners, node);
		hlist_for_each_entry(o, &g->members, node)
			if (sstp_sk(o->sk)->bind.port == sp->bind.port &&
			    sstp_sock_conflict(claim, o->sk)) {
				conflict = true;
				break;
			}
	}
	rcu_read_unlock();
	return conflict;
}

/* Does the claim of any listener conflict with that of @sk? Port's lock. */
static bool sstp_listen_conflict(struct sock *sk)
{
	struct sstp_port *p = sstp_sk(sk)->bind.port;
	struct sstp_claim claim = sstp_claim_of(sk);
	struct sock *o;

	if (sstp_port_shares(p, &claim))
		return false;
	if (!ipv6_addr_any(&claim.addr))
		return sstp_listen_conflict_at(sk, &claim, &claim.addr) ||
		       sstp_listen_conflict_at(sk, &claim, &in6addr_any);
	sk_for_each_bound(o, &p->owners)
		if (o != sk && READ_ONCE(o->sk_state) == TCP_LISTEN &&
		    sstp_sock_conflict(&claim, o))
			return true;
	return false;
}

/* @sk will listen, or has another device: the port has to know its claim. If the device is in
 * another VRF than it was, give @sk the port of that VRF, where other sockets may have it:
 * -EADDRINUSE then, and @sk keeps what it had. Port's lock.
 */
static int sstp_port_move(struct sock *sk)
{
	struct sstp_port *old = sstp_sk(sk)->bind.port, *p;
	const struct sstp_claim claim = sstp_claim_of(sk);

	p = sstp_port_get(sk, old->key.number);
	if (!p)
		return -ENOMEM;
	if (p == old) {
		if (!sstp_port_shares(p, &claim))
			p->shared = SSTP_SHARED_NONE;
		return 0;
	}
	if (sstp_port_conflict(p, &claim))
		return -EADDRINUSE;
	__sk_del_bind_node(sk);
	old->exclusive--;
	sstp_port_put(old);
	sstp_port_share(p, &claim);
	sk_add_bind_node(sk, &p->owners);
	p->exclusive++;
	sstp_sk(sk)->bind.port = p;
	return 0;
}

/* Let INITs find @sk. -EADDRINUSE if another listener's claim conflicts. Socket lock. */
int sstp_bind_listen(struct sock *sk)
{
	spinlock_t *lock = sstp_port_lock(sock_net(sk), sstp_sk(sk)->id.sport);
	int err = sstp_conn_list(sk);

	if (err)
		return err;
	spin_lock_bh(lock);
	err = sstp_port_move(sk);
	if (!err)
		err = sstp_listen_conflict(sk) ? -EADDRINUSE : sstp_listeners_add(sk);
	if (!err)
		sstp_set_state(sk, TCP_LISTEN);
	spin_unlock_bh(lock);
	if (err)
		sstp_conn_unlist(sk);
	return err;
}

/* Let INITs find @sk no more. Socket lock. */
void sstp_bind_unlisten(struct sock *sk)
{
	spinlock_t *lock = sstp_port_lock(sock_net(sk), sstp_sk(sk)->id.sport);

	sstp_conn_unlist(sk);
	spin_lock_bh(lock);
	sstp_set_state(sk, TCP_CLOSE);
	sstp_listeners_del(sk);
	spin_unlock_bh(lock);
}

/* SO_BINDTODEVICE of @sk: a listener moves to the group of its device. If there is no memory, or
 * the port is taken in the device's VRF, no INIT finds it until its device is set again, which
 * SO_ERROR tells. Socket lock.
 */
void sstp_bind_rehash(struct sock *sk)
{
	spinlock_t *lock = sstp_port_lock(sock_net(sk), sstp_sk(sk)->id.sport);
	int err;

	if (sk->sk_state != TCP_LISTEN)
		return;
	spin_lock_bh(lock);
	err = sstp_port_move(sk);
	if (err)
		sstp_listeners_del(sk);
	else
		err = sstp_listeners_move(sk);
	spin_unlock_bh(lock);
	if (err) {
		WRITE_ONCE(sk->sk_err, -err);
		sk_error_report(sk);
	}
}

/* Until this time, ns, searches begin with the half of the range that they do not prefer, as
 * all ports of the preferred one were taken. Indices: 1 if odd ports are preferred; a hash of
 * local address and destination.
 */
static u64 sstp_half_taken[2][256];

static u64 *sstp_half_taken_of(const struct sock *sk, bool odd)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	u32 hash = __ipv6_addr_jhash(&sp->id.saddr, net_hash_mix(sock_net(sk)));

	hash = __ipv6_addr_jhash(&sp->id.peer.addr, hash + sp->id.dport);
	return &sstp_half_taken[odd][hash % ARRAY_SIZE(sstp_half_taken[0])];
}

/* The ephemeral range of @sk, both ends inclusive. As with TCP, IP_LOCAL_PORT_RANGE narrows the
 * namespace's, and ends outside of that have no effect. Return: was the option set?
 */
static bool sstp_port_range(const struct sock *sk, int *low, int *high)
{
	u32 range = sstp_sk(sk)->set.port_range;
	int from = range & 0xffff, to = range >> 16, first, last;

	inet_get_local_port_range(sock_net(sk), &first, &last);
	*low = from >= first && from <= last ? from : first;
	*high = to >= first && to <= last ? to : last;
	return range;
}

/* Try the ports of the ephemeral range one after the other, from a random one on. As in TCP,
 * connect() prefers even ports and bind() odd ones, so that connections leave some for bind().
 * A search that finds all of its preferred half taken makes searches of the next second begin
 * with the other, but not if the socket has a range of its own. Ports in
 * ip_local_reserved_ports are skipped.
 */
static int sstp_bind_any(struct sock *sk, bool odd, int (*try)(struct sock *sk, u16 port))
{
	u64 *taken = sstp_half_taken_of(sk, odd), now = sstp_now();
	struct net *net = sock_net(sk);
	bool swapped, own;
	int low, high, err;
	u32 n, even, start, i;

	own = sstp_port_range(sk, &low, &high);
	swapped = !own && now < READ_ONCE(*taken);
	n = high - low + 1;
	even = round_up(n, 2);
	start = reciprocal_scale(get_random_u32(), even) & ~1;
	odd ^= swapped;
	/* Once around for each parity */
	for (i = 0; i < 2 * even; i += 2) {
		u32 at = (start + i + (odd ^ (i >= even))) % even;

		if (i == even && !swapped && !own)
			WRITE_ONCE(*taken, now + NSEC_PER_SEC);
		if (at >= n || inet_is_local_reserved_port(net, low + at))
			continue;
		err = try(sk, low + at);
		if (err != -EADDRINUSE)
			return err;
		cond_resched();
	}
	return -EADDRINUSE;
}

/* Bind @sk to @port, or to a port of the ephemeral range if it is 0. Socket lock. */
int sstp_bind_port(struct sock *sk, u16 port)
{
	return port ? sstp_bind_try(sk, port) : sstp_bind_any(sk, true, sstp_bind_try);
}

/* Reserve the addresses and ports of both ends for @sk, which connects; choose its port if it
 * has none. Both addresses are set. -EADDRNOTAVAIL if another connection has them, or all
 * ports are taken. Socket lock.
 */
int sstp_bind_connect(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err;

	if (sp->bind.bound) {
		err = sstp_conn_hash_names(sk, sp->id.sport);
		return err == -EEXIST ? -EADDRNOTAVAIL : err;
	}
	err = sstp_bind_any(sk, false, sstp_connect_try);
	return err == -EADDRINUSE ? -EADDRNOTAVAIL : err;
}

void sstp_unbind(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	spinlock_t *lock = sstp_port_lock(sock_net(sk), sp->id.sport);
	struct sstp_claims *g = sp->bind.group;
	struct sstp_port *p = sp->bind.port;

	sstp_conn_unhash_names(sk);
	if (!sp->bind.bound)
		return;
	spin_lock_bh(lock);
	if (g) {
		p->exclusive -= g->exclusive;
		sstp_claims_put(g);
	} else {
		p->exclusive--;
		__sk_del_bind_node(sk);
	}
	sstp_port_put(p);
	sp->bind.group = NULL;
	sp->bind.port = NULL;
	sp->bind.bound = false;
	spin_unlock_bh(lock);
}
