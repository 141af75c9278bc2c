/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups: receiving halves of one controller that share state, per peer or per local port.
 *
 * A group is found by its key, and lives while it has members. sstp_groups_lock guards the table
 * of groups and the numbers of their members; the lock of a group guards the list of its
 * members and what its callback reads and writes. Both are taken inside of a socket lock, the
 * second inside of the first, and none inside of them: the callback runs in softirq without a
 * socket lock, and a member finds its rate when it reports.
 */
#ifndef _SSTP_GROUP_H
#define _SSTP_GROUP_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/spinlock.h>
#include <net/sstp.h>

struct net;

/**
 * struct sstp_group_key - what members of a group have in common
 * @ops: their controller
 * @net: their namespace
 * @addr: address of their peer; unspecified if they share a port
 * @l3mdev: ifindex of the VRF of their peers, 0 = none: addresses and ports of each are its own
 * @scope: interface of that address, if it is link-local; else 0
 * @port: their local port; 0 if they share a peer
 */
struct sstp_group_key {
	const struct sstp_ctrl_ops *ops;
	const struct net *net;
	struct in6_addr addr;
	int	l3mdev;
	u32	scope;
	u16	port;
};

/**
 * struct sstp_group_core - a group
 * @node: entry of the table
 * @rcu: frees the group
 * @key: what it is found by
 * @users: members; sstp_groups_lock
 * @lock: guards @out and all members
 * @hrt: the next @group_tick
 * @out: outputs and state of the group
 */
struct sstp_group_core {
	struct hlist_node node;
	struct rcu_head rcu;
	struct sstp_group_key key;
	u32	users;
	spinlock_t lock;		/* guards @out and all members */
	struct hrtimer hrt;
	struct sstp_group out;
};

/* Let @m join the group of @key, which is made if it does not exist. The members hold references
 * on the module of the controller. NULL without memory, or if the group is full. Socket lock.
 */
struct sstp_group_core *sstp_group_join(const struct sstp_group_key *key,
					struct sstp_group_member *m);
void sstp_group_leave(struct sstp_group_core *g, struct sstp_group_member *m);
/* Report SSTP_GROUP_REPORTS values of member @m. Returns its rate, bit/s, 0 = any. */
u64 sstp_group_report(struct sstp_group_core *g, struct sstp_group_member *m,
		      const u64 *report);

#endif /* _SSTP_GROUP_H */
