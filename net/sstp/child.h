/* SPDX-License-Identifier: GPL-2.0 */
/* Children of a listener: their lists. */
#ifndef _SSTP_CHILD_H
#define _SSTP_CHILD_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct sock;

/**
 * struct sstp_listener - the children of a listener
 * @lock: guards all members; softirq-safe
 * @n_requests: length of @requests
 * @ready: established children that accept() has not taken, oldest first
 * @requests: children in SYN_RECV, oldest first
 * @pool: receive buffer that the children share, or NULL; written under the listener's
 *	socket lock as well
 * @open: the socket listens: children may be added
 */
struct sstp_listener {
	spinlock_t	lock;		/* guards all members */
	u32		n_requests;
	struct list_head ready;
	struct list_head requests;
	struct sstp_pool *pool;
	bool		open;
};

/* A child of a listener. The child's socket lock guards @parent, sstp_listener.lock of
 * @parent the rest.
 */
struct sstp_family {
	struct sock	*parent;	/* the child holds a reference */
	struct list_head sibling;	/* in @ready or @requests of the listener */
	bool		request;	/* on @requests, else on @ready */
};

void sstp_child_drop(struct sock *sk);
void sstp_child_ready(struct sock *sk);
struct sock *sstp_child_accept(struct sock *parent);

#endif /* _SSTP_CHILD_H */
