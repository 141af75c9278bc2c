// SPDX-License-Identifier: GPL-2.0
/* Ports: who is bound to one, and who listens there. */
#include <linux/random.h>
#include <net/ip.h>
#include "sstp.h"

static struct sstp_bucket *sstp_bucket(struct net *net, u16 port)
{
	return &sstp_net(net)->port[port % SSTP_PORT_BUCKETS];
}

static bool sstp_addr_overlap(const struct sstp_sock *a,
			      const struct sstp_sock *b)
{
	bool any_a = ipv6_addr_any(&a->saddr), any_b = ipv6_addr_any(&b->saddr);
	bool four_a = a->af == AF_INET, four_b = b->af == AF_INET;

	/* :: covers IPv4 unless v6only; 0.0.0.0 is held as :: with AF_INET. */
	if (any_a && any_b)
		return four_a == four_b || (four_a ? !b->v6only : !a->v6only);
	if (any_a)
		return sstp_v4(&b->saddr) ? four_a || !a->v6only : !four_a;
	if (any_b)
		return sstp_v4(&a->saddr) ? four_b || !b->v6only : !four_b;
	return ipv6_addr_equal(&a->saddr, &b->saddr);
}

static bool sstp_bind_conflict(struct sock *sk, struct sock *o, u16 port)
{
	if (sstp_sk(o)->sport != port || !net_eq(sock_net(sk), sock_net(o)))
		return false;
	if (sk->sk_bound_dev_if && o->sk_bound_dev_if &&
	    sk->sk_bound_dev_if != o->sk_bound_dev_if)
		return false;
	if (!sstp_addr_overlap(sstp_sk(sk), sstp_sk(o)))
		return false;
	if (sk->sk_reuse && o->sk_reuse && READ_ONCE(o->sk_state) != TCP_LISTEN)
		return false;
	return !(sk->sk_reuseport && o->sk_reuseport &&
		 uid_eq(sk->sk_uid, o->sk_uid));
}

static bool sstp_bind_try(struct sock *sk, u16 port)
{
	struct sstp_bucket *b = sstp_bucket(sock_net(sk), port);
	struct sstp_sock *sp = sstp_sk(sk);
	struct sock *o;
	bool ok = true;

	spin_lock_bh(&b->lock);
	sk_for_each_bound(o, &b->bound)
		if (o != sk && sstp_bind_conflict(sk, o, port)) {
			ok = false;
			break;
		}
	if (ok) {
		sp->sport = port;
		sp->bound = true;
		sk_add_bind_node(sk, &b->bound);
	}
	spin_unlock_bh(&b->lock);
	return ok;
}

/* A child has its listener's port, which stays taken when the listener goes. */
void sstp_bind_child(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_bucket *b = sstp_bucket(sock_net(sk), sp->sport);

	spin_lock_bh(&b->lock);
	sp->bound = true;
	sk_add_bind_node(sk, &b->bound);
	spin_unlock_bh(&b->lock);
}

/* From now on INITs find it; -EADDRINUSE if they would find another, too. */
int sstp_bind_listen(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_bucket *b = sstp_bucket(sock_net(sk), sp->sport);
	struct sock *o;
	int err;

	/* Who looks for a listener where it was must not end up elsewhere. */
	if (sp->deaf)
		synchronize_rcu();
	sp->deaf = false;
	err = sstp_conn_list(sk);
	if (err)
		return err;
	spin_lock_bh(&b->lock);
	sk_for_each(o, &b->listeners)
		if (sstp_bind_conflict(sk, o, sp->sport)) {
			err = -EADDRINUSE;
			break;
		}
	if (!err) {
		sstp_set_state(sk, TCP_LISTEN);
		sk_add_node_rcu(sk, &b->listeners);
	}
	spin_unlock_bh(&b->lock);
	if (err)
		sstp_conn_unlist(sk);
	return err;
}

/* No INIT finds it any more. Socket lock. */
void sstp_bind_deaf(struct sock *sk)
{
	struct sstp_bucket *b = sstp_bucket(sock_net(sk), sstp_sk(sk)->sport);

	sstp_conn_unlist(sk);
	spin_lock_bh(&b->lock);
	sstp_set_state(sk, TCP_CLOSE);
	sk_del_node_init_rcu(sk);
	sstp_sk(sk)->deaf = true;
	spin_unlock_bh(&b->lock);
}

/* Bind to @port, or 0 for one of the ephemeral range. Socket lock. */
int sstp_bind_port(struct sock *sk, u16 port)
{
	int low, high, i, n;

	if (port)
		return sstp_bind_try(sk, port) ? 0 : -EADDRINUSE;
	inet_get_local_port_range(sock_net(sk), &low, &high);
	n = high - low + 1;
	port = reciprocal_scale(get_random_u32(), n);
	for (i = 0; i < n; i++, port = (port + 1) % n) {
		if (sstp_bind_try(sk, low + port))
			return 0;
		cond_resched();
	}
	return -EADDRINUSE;
}

void sstp_unbind(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_bucket *b = sstp_bucket(sock_net(sk), sp->sport);

	if (!sp->bound)
		return;
	spin_lock_bh(&b->lock);
	__sk_del_bind_node(sk);
	sp->bound = false;
	spin_unlock_bh(&b->lock);
}

/* RCU. The listener that fits best, with a reference; among equals @hash
 * decides, so that a reuseport group shares the load.
 */
struct sock *sstp_listener_find(struct net *net, const struct in6_addr *daddr,
				u16 port, int dif, u32 hash)
{
	struct sstp_bucket *b = sstp_bucket(net, port);
	struct sock *sk, *best = NULL;
	int score, top = 0;
	u32 ties = 0;

	sk_for_each_rcu(sk, &b->listeners) {
		struct sstp_sock *sp = sstp_sk(sk);

		if (READ_ONCE(sk->sk_state) != TCP_LISTEN ||
		    sp->sport != port || !net_eq(sock_net(sk), net))
			continue;
		score = 1;
		if (!ipv6_addr_any(&sp->saddr)) {
			if (!ipv6_addr_equal(&sp->saddr, daddr))
				continue;
			score += 4;
		} else if (sstp_v4(daddr)) {
			if (sp->af == AF_INET)
				score += 1;
			else if (sp->v6only)
				continue;
		} else if (sp->af == AF_INET) {
			continue;
		}
		if (sk->sk_bound_dev_if) {
			if (sk->sk_bound_dev_if != dif)
				continue;
			score += 8;
		}
		if (score > top) {
			top = score;
			best = sk;
			ties = 1;
		} else if (score == top && sk->sk_reuseport) {
			ties++;
			if (!reciprocal_scale(hash, ties))
				best = sk;
			hash = hash * 1664525 + 1013904223;
		}
	}
	if (best && !refcount_inc_not_zero(&best->sk_refcnt))
		return NULL;
	return best;
}
