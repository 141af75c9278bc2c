// SPDX-License-Identifier: GPL-2.0
/* Children of a listener: their lists. */
#include "child.h"
#include "sstp.h"

/* Off the listener's lists, if it is on one: the list's reference goes. */
void sstp_child_drop(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sock *parent = sp->family.parent;
	struct sstp_listener *l = &sstp_sk(parent)->listen;
	bool was;

	spin_lock_bh(&l->lock);
	was = !list_empty(&sp->family.sibling);
	if (was) {
		list_del_init(&sp->family.sibling);
		if (sp->family.request)
			l->n_requests--;
		else
			sk_acceptq_removed(parent);
	}
	spin_unlock_bh(&l->lock);
	/* Else accept() has just taken it, and has the reference. */
	if (was) {
		sp->family.parent = NULL;
		sock_put(parent);
		sock_put(sk);
	}
}

/* Set-up is complete: accept() may have it. Child's lock; softirq, or a process that
 * works on the backlog.
 */
void sstp_child_ready(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sock *parent = sp->family.parent;
	struct sstp_listener *l = &sstp_sk(parent)->listen;

	spin_lock_bh(&l->lock);
	if (!list_empty(&sp->family.sibling)) {
		sp->family.request = false;
		sock_reset_flag(sk, SOCK_DEAD);
		l->n_requests--;
		list_move_tail(&sp->family.sibling, &l->ready);
		sk_acceptq_added(parent);
	}
	spin_unlock_bh(&l->lock);
	parent->sk_data_ready(parent);
}

/* The first established child, with the list's reference, or NULL. */
struct sock *sstp_child_accept(struct sock *parent)
{
	struct sstp_listener *l = &sstp_sk(parent)->listen;
	struct sstp_sock *sp;

	spin_lock_bh(&l->lock);
	sp = list_first_entry_or_null(&l->ready, struct sstp_sock, family.sibling);
	if (sp) {
		list_del_init(&sp->family.sibling);
		sk_acceptq_removed(parent);
	}
	spin_unlock_bh(&l->lock);
	return sp ? &sp->sk : NULL;
}
