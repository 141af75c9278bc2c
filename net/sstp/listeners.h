/* SPDX-License-Identifier: GPL-2.0 */
/* The table of listeners, in which INITs are looked up. */
#ifndef _SSTP_LISTENERS_H
#define _SSTP_LISTENERS_H

#include <linux/in6.h>
#include <linux/rhashtable.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct net;
struct sock;
struct sstp_skb_in;

/* Address and port of listeners; key in the table */
struct sstp_listen_key {
	struct net	*net;
	struct in6_addr	addr;		/* IPv4 mapped; :: = any */
	u32		port;
	u32		zero;
};

/**
 * struct sstp_listeners - listeners that match the same packets equally well
 * @node: in the table, with other groups of the same @key
 * @rcu: frees the group, as lookups may be at it
 * @key: key in the table
 * @members: by sstp_listener.node. Those that had SO_REUSEPORT at listen() are in the
 *	array of the first one's sk_reuseport_cb as well, by which a lookup selects one without
 *	a walk.
 * @uid: owner of each member, as reuseport groups are of one user
 * @dev: device or VRF that each member is bound to, or 0; the only member may change it
 * @af: address family of each member
 * @v6only: no member takes IPv4
 *
 * Written under sstp_net.port_lock, read under RCU.
 */
struct sstp_listeners {
	struct rhlist_head node;
	struct rcu_head rcu;
	struct sstp_listen_key key;
	struct hlist_head members;
	kuid_t	uid;
	int	dev;
	u16	af;
	bool	v6only;
};

int sstp_listeners_init(void);
void sstp_listeners_exit(void);
struct rhlist_head *sstp_listeners_at(struct net *net, const struct in6_addr *addr, u16 port);
int sstp_listeners_add(struct sock *sk);
int sstp_listeners_move(struct sock *sk);
void sstp_listeners_del(struct sock *sk);
struct sock *sstp_listeners_find(struct net *net, const struct sstp_skb_in *in, u16 port,
				 u32 hash);

#endif /* _SSTP_LISTENERS_H */
