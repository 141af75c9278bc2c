/* SPDX-License-Identifier: GPL-2.0 */
/* Children of a listener: their lists. */
#ifndef _SSTP_CHILD_H
#define _SSTP_CHILD_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct sock;
struct sstp_listeners;
struct sstp_pool;

/**
 * struct sstp_listener - what only a listener has: its children and its place among listeners
 * @lock: guards the members up to @open; softirq-safe
 * @n_requests: length of @requests
 * @ready: established children that accept() has not taken, oldest first
 * @requests: children in SYN_RECV, oldest first
 * @pool: receive buffer that the children share, or NULL; written under the listener's
 *	socket lock as well
 * @open: the socket listens: children may be added
 * @sk: the listener
 * @group: group of listeners that it is in, or NULL; sstp_net.port_lock
 * @node: in @members of the group; sstp_net.port_lock
 *
 * The first listen() allocates it, and it is freed with the socket, which may connect meanwhile:
 * lookups of listeners under RCU, and children, may still look at it.
 */
struct sstp_listener {
	spinlock_t	lock;		/* guards the members up to @open */
	u32		n_requests;
	struct list_head ready;
	struct list_head requests;
	struct sstp_pool *pool;
	bool		open;
	struct sock	*sk;
	struct sstp_listeners *group;
	struct hlist_node node;
};

/* A child of a listener. The child's socket lock guards @parent, sstp_listener.lock of
 * @parent the rest.
 */
struct sstp_family {
	struct sock	*parent;	/* the child holds a reference */
	struct list_head sibling;	/* in @ready or @requests of the listener */
	bool		request;	/* on @requests, else on @ready */
};

/* Let @sk, if it has never been a listener, have children. -ENOMEM. Socket lock, may sleep. */
int sstp_child_init(struct sock *sk);
void sstp_child_drop(struct sock *sk);
void sstp_child_ready(struct sock *sk);
struct sock *sstp_child_accept(struct sock *parent);

#endif /* _SSTP_CHILD_H */
