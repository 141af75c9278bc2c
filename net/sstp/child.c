// SPDX-License-Identifier: GPL-2.0
/* Children of a listener: their lists. */
#include "child.h"
#include "sstp.h"

int sstp_child_init(struct sock *sk)
{
	struct sstp_listener *l = sstp_sk(sk)->listen;

	if (l)
		return 0;
	l = kzalloc_obj(*l, GFP_KERNEL_ACCOUNT);
	if (!l)
		return -ENOMEM;
	spin_lock_init(&l->lock);
	INIT_LIST_HEAD(&l->ready);
	INIT_LIST_HEAD(&l->requests);
	l->sk = sk;
	/* poll() may find a listener without a lock. */
	smp_store_release(&sstp_sk(sk)->listen, l);
	return 0;
}

/* Take child @sk off its listener's list, if accept() has not done so, and drop the list's
 * reference to @sk and that of @sk to the listener. Child's socket lock.
 */
void sstp_child_drop(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sock *parent = sp->family.parent;
	struct sstp_listener *l = sstp_sk(parent)->listen;
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
	/* If @sk was on no list, accept() has just taken it, and with it both references. */
	if (was) {
		sp->family.parent = NULL;
		sock_put(parent);
		sock_put(sk);
	}
}

/* Set-up of child @sk is complete: move it to the list of accept() and wake the listener.
 * Child's socket lock; softirq, or a process that works on the backlog.
 */
void sstp_child_ready(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sock *parent = sp->family.parent;
	struct sstp_listener *l = sstp_sk(parent)->listen;

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

/* Take the oldest established child off the list. The caller gets the list's reference.
 * Listener's socket lock. NULL if there is none.
 */
struct sock *sstp_child_accept(struct sock *parent)
{
	struct sstp_listener *l = sstp_sk(parent)->listen;
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
