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
 * @lock: guards all of it
 * @ready: established children, in the order to accept them
 * @requests: children whose set-up goes on
 * @n_requests: their number
 * @pool: the receive buffer that children share, or NULL; written under the listener's
 *	lock as well
 * @open: cleared when the listener goes; no child may be added then
 */
struct sstp_listener {
	spinlock_t	lock;		/* of all of it */
	struct list_head ready;
	struct list_head requests;
	u32		n_requests;
	struct sstp_pool *pool;
	bool		open;
};

/* A child of a listener: @parent under the child's lock, the rest under @parent's
 * sstp_listener.lock
 */
struct sstp_family {
	struct sock	*parent;	/* the child holds a reference */
	struct list_head sibling;	/* in @ready or @requests of the listener */
	bool		request;	/* its set-up goes on */
};

void sstp_child_drop(struct sock *sk);
void sstp_child_ready(struct sock *sk);
struct sock *sstp_child_accept(struct sock *parent);

#endif /* _SSTP_CHILD_H */
