// SPDX-License-Identifier: GPL-2.0
/* shutdown() and close(): the program ends a direction, or the connection. */
#include "close.h"
#include "connect.h"
#include "listen.h"
#include "output.h"
#include "port.h"
#include "rcvbuf.h"
#include "sstp.h"
#include "state.h"

/* End this end's direction: the EOS follows the data that is queued. Socket lock. */
static void sstp_end_sending(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sp->tx.eos != SSTP_EOS_NONE)
		return;
	sp->tx.eos = SSTP_EOS_WANTED;
	sstp_state_check(sk);
	sstp_push(sk);
}

int sstp_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	int err = 0;

	how++;		/* SHUT_RD, SHUT_WR, SHUT_RDWR to a mask */
	if (how & ~SHUTDOWN_MASK || !how)
		return -EINVAL;
	lock_sock(sk);
	switch (sk->sk_state) {
	case TCP_CLOSE:
		err = -ENOTCONN;
		fallthrough;
	default:
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
		if (how & SEND_SHUTDOWN && sstp_synchronized(sk))
			sstp_end_sending(sk);
		break;
	case TCP_LISTEN:
		if (!(how & RCV_SHUTDOWN))
			break;
		fallthrough;
	case TCP_SYN_SENT:
		sstp_disconnect(sk);
		sock->state = SS_UNCONNECTED;
		break;
	}
	sk->sk_state_change(sk);
	release_sock(sk);
	return err;
}

/* Wait until the peer has acknowledged all data and the EOS, for SO_LINGER. */
static void sstp_wait_close(struct sock *sk, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	do {
		if (sk_wait_event(sk, &timeo, !((1 << READ_ONCE(sk->sk_state)) &
						(TCPF_FIN_WAIT1 |
						 TCPF_LAST_ACK)), &wait))
			break;
	} while (!signal_pending(current) && timeo);
	remove_wait_queue(sk_sleep(sk), &wait);
}

int sstp_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp;
	long linger = 0;

	if (!sk)
		return 0;
	sp = sstp_sk(sk);
	if (!sk->sk_kern_sock)
		BPF_CGROUP_RUN_PROG_INET_SOCK_RELEASE(sk);
	sock_hold(sk);
	lock_sock(sk);
	if (sock_flag(sk, SOCK_LINGER) && !(current->flags & PF_EXITING))
		linger = sk->sk_lingertime;
	if (sk->sk_state == TCP_LISTEN) {
		sstp_bind_unlisten(sk);
		sstp_unbind(sk);
		sstp_listen_close(sk);
	} else if (sk->sk_state == TCP_SYN_SENT) {
		sstp_done(sk, 0, SSTP_CLOSED_BY_LOCAL);
	} else if (sk->sk_state == TCP_CLOSING) {
		/* Both directions have ended: SSTP_T_LIFE does the rest. But it need not keep data
		 * that nobody will read.
		 */
		if (sp->rx.readable)
			sstp_abort(sk, 0, SSTP_CLOSED_BY_LOCAL);
	} else if (sk->sk_state != TCP_CLOSE) {
		WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
		if (sp->rx.readable || (sock_flag(sk, SOCK_LINGER) &&
					!sk->sk_lingertime)) {
			/* Unread or unsent data is lost, and the RESET tells the peer. */
			sstp_abort(sk, 0, SSTP_CLOSED_BY_LOCAL);
		} else {
			sstp_end_sending(sk);
			if (linger)
				sstp_wait_close(sk, linger);
			if (sp->rx.readable && sk->sk_state != TCP_CLOSE) {
				/* Data came during the linger, and nobody reads it. */
				sstp_abort(sk, 0, SSTP_CLOSED_BY_LOCAL);
			}
		}
	}
	sock_orphan(sk);
	sock->sk = NULL;
	if (sk->sk_state == TCP_CLOSE) {
		sstp_unbind(sk);
		sstp_rcvbuf_free(sp);
		sock_put(sk);
	} else if (sk->sk_state != TCP_CLOSING) {
		sstp_orphan(sk);
	}
	release_sock(sk);
	sock_put(sk);
	return 0;
}
