// SPDX-License-Identifier: GPL-2.0
/* listen() and accept(): the calls of a program that owns a listener */
#include "accept.h"
#include "child.h"
#include "conn.h"
#include "encap.h"
#include "listen.h"
#include "port.h"
#include "rcvbuf.h"
#include "sstp.h"
#include "steer.h"

int sstp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp = sstp_sk(sk);
	int err = -EINVAL;

	lock_sock(sk);
	if (sock->state != SS_UNCONNECTED ||
	    (sk->sk_state != TCP_CLOSE && sk->sk_state != TCP_LISTEN))
		goto out;
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	err = 0;
	if (sk->sk_state == TCP_LISTEN)
		goto out;
	if (!sp->bind.bound) {
		if (!sp->id.af)
			sp->id.af = AF_INET;
		err = sstp_bind_port(sk, 0);
	}
	if (!err)
		err = sstp_encap_open(sk);
	if (err)
		goto out;
	sstp_conn_reset(sk);
	err = sstp_child_init(sk) ?: sstp_rcvbuf_listen(sk);
	if (err)
		goto out;
	sk->sk_ack_backlog = 0;
	spin_lock_bh(&sp->listen->lock);
	sp->listen->open = true;
	spin_unlock_bh(&sp->listen->lock);
	err = sstp_bind_listen(sk);
	if (err)
		sstp_listen_close(sk);
out:
	sstp_sock_names(sk);
	release_sock(sk);
	return err;
}

static int sstp_wait_accept(struct sock *sk, long timeo, struct sock **child)
{
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		*child = sk->sk_state == TCP_LISTEN ? sstp_child_accept(sk) :
						      NULL;
		if (*child)
			break;
		err = -EINVAL;
		if (sk->sk_state != TCP_LISTEN)
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		release_sock(sk);
		timeo = schedule_timeout(timeo);
		lock_sock(sk);
		err = 0;
	}
	finish_wait(sk_sleep(sk), &wait);
	return *child ? 0 : err;
}

int sstp_accept(struct socket *sock, struct socket *newsock, int flags)
{
	struct sock *sk = sock->sk, *child = NULL, *parent;
	int err;

	lock_sock(sk);
	err = sstp_wait_accept(sk, sock_rcvtimeo(sk, flags & O_NONBLOCK), &child);
	release_sock(sk);
	if (err)
		return err;
	lock_sock(child);
	parent = sstp_sk(child)->family.parent;
	sstp_sk(child)->family.parent = NULL;
	sstp_steer_use(child);
	sock_graft(child, newsock);
	sstp_own_sockopts(newsock);
	set_bit(SOCK_SUPPORT_ZC, &newsock->flags);
	newsock->state = SS_CONNECTED;
	release_sock(child);
	sock_put(parent);
	return 0;
}
