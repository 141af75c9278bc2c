// SPDX-License-Identifier: GPL-2.0
/* Listeners: creation of children for INITs, and close of a listener */
#include "child.h"
#include "conn.h"
#include "listen.h"
#include "sstp.h"
#include "state.h"
#include "steer.h"

/* Is there no room for another child? Requests count, as all of them may become established
 * before the program calls accept().
 */
static bool sstp_listen_full(struct sock *parent)
{
	return READ_ONCE(sstp_sk(parent)->listen->n_requests) +
	       READ_ONCE(parent->sk_ack_backlog) >
	       READ_ONCE(parent->sk_max_ack_backlog);
}

/* End the oldest request if its INIT_ACK was repeated twice without an answer, or if it waits
 * for data (TCP_DEFER_ACCEPT): else initiators that never answer could fill the queue and
 * keep all others out. Softirq, no lock of @parent held.
 */
static void sstp_listen_evict(struct sock *parent)
{
	struct sstp_listener *l = sstp_sk(parent)->listen;
	struct sstp_sock *sp;

	spin_lock_bh(&l->lock);
	sp = list_first_entry_or_null(&l->requests, struct sstp_sock, family.sibling);
	if (sp)
		sock_hold(&sp->sk);
	spin_unlock_bh(&l->lock);
	if (!sp)
		return;
	bh_lock_sock(&sp->sk);
	if (!sock_owned_by_user(&sp->sk) &&
	    sp->sk.sk_state == TCP_SYN_RECV && (sp->live.probes >= 2 || sp->hs.deferred)) {
		SSTP_INC(sock_net(parent), TIMEOUTS);
		sstp_done(&sp->sk, ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
	}
	bh_unlock_sock(&sp->sk);
	sock_put(&sp->sk);
}

/* Make a child of listener @parent for an INIT, and put it on the list of requests, which has
 * a reference that becomes the file's at accept().
 * Return: the child, bh-locked, with another reference for the caller; or ERR_PTR(-ENOBUFS)
 * if the queue is full or @parent has stopped to listen, ERR_PTR(-ENOMEM). Softirq.
 */
struct sock *sstp_child(struct sock *parent)
{
	struct sstp_listener *l = sstp_sk(parent)->listen;
	struct sstp_sock *sp;
	struct sock *sk;
	bool ok;

	if (sstp_listen_full(parent))
		sstp_listen_evict(parent);
	if (sstp_listen_full(parent))
		return ERR_PTR(-ENOBUFS);
	sk = sk_clone_lock(parent, GFP_ATOMIC);
	if (!sk)
		return ERR_PTR(-ENOMEM);
	__acquire(&sk->sk_lock.slock);
	/* If @parent has stopped listening and sends data, the page for its headers has been copied
	 * without a reference.
	 */
	sk->sk_frag.page = NULL;
	sp = sstp_sk(sk);
	/* sk_clone_lock() copied the listener's SSTP state: clear it, as for a new socket. */
	memset_after(sp, 0, inet);
	sp->id.domain = sstp_sk(parent)->id.domain;
	sp->id.af = sstp_sk(parent)->id.af;
	sp->id.sport = sstp_sk(parent)->id.sport;
	sp->id.v6only = sstp_sk(parent)->id.v6only;
	spin_lock_bh(&l->lock);
	sp->set = sstp_sk(parent)->set;
	spin_unlock_bh(&l->lock);
	sk->sk_user_data = NULL;
	sk->sk_max_ack_backlog = 0;
	sstp_sock_setup(sk);
	sock_set_flag(sk, SOCK_DEAD);	/* it has no file; cleared by sstp_child_ready() */
	sstp_memcg_inherit(sk, parent);
	sstp_steer_begin(sk);
	/* Not by sstp_set_state(): its tracepoint needs addresses, which are not set yet. */
	WRITE_ONCE(sk->sk_state, TCP_SYN_RECV);

	spin_lock_bh(&l->lock);
	ok = l->open && !sstp_listen_full(parent);
	if (ok) {
		sock_hold(parent);
		sp->family.parent = parent;
		sp->family.request = true;
		sp->rcvbuf.member.pool = sstp_pool_get(l->pool);
		list_add_tail(&sp->family.sibling, &l->requests);
		l->n_requests++;
	}
	spin_unlock_bh(&l->lock);
	if (ok) {
		__release(&sk->sk_lock.slock);	/* for sparse: to the caller */
		return sk;
	}
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	bh_unlock_sock(sk);
	sock_put(sk);
	sock_put(sk);
	return ERR_PTR(-ENOBUFS);
}

/* Listener @sk closes: reset the children that were not accepted. Process context, as it waits
 * for children that netlink has locked. The listener's socket lock may be held: it is outside
 * that of its children.
 */
void sstp_listen_close(struct sock *sk)
{
	struct sstp_listener *l = sstp_sk(sk)->listen;
	struct sstp_sock *sp;

	spin_lock_bh(&l->lock);
	l->open = false;
	spin_unlock_bh(&l->lock);
	sstp_pool_put(l->pool);
	l->pool = NULL;
	for (;;) {
		spin_lock_bh(&l->lock);
		sp = list_first_entry_or_null(&l->ready, struct sstp_sock,
					      family.sibling);
		if (!sp)
			sp = list_first_entry_or_null(&l->requests,
						      struct sstp_sock,
						      family.sibling);
		if (sp)
			sock_hold(&sp->sk);
		spin_unlock_bh(&l->lock);
		if (!sp)
			return;
		lock_sock_nested(&sp->sk, SINGLE_DEPTH_NESTING);
		local_bh_disable();
		sock_set_flag(&sp->sk, SOCK_DEAD);
		if (sp->sk.sk_state != TCP_CLOSE) {
			sstp_abort(&sp->sk, ECONNRESET, SSTP_CLOSED_BY_LOCAL);
		} else if (sp->family.parent) {
			/* The connection ended before it was accepted. */
			sstp_child_drop(&sp->sk);
		}
		local_bh_enable();
		release_sock(&sp->sk);
		sock_put(&sp->sk);
	}
}
