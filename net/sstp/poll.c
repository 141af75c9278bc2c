// SPDX-License-Identifier: GPL-2.0
/* poll(), SO_RCVLOWAT and ioctl(): how much can be read or written. */
#include <linux/sockios.h>
#include <asm/ioctls.h>
#include "poll.h"
#include "recvmsg.h"
#include "sndbuf.h"
#include "sstp.h"

__poll_t sstp_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp = sstp_sk(sk);
	__poll_t mask = 0;
	u8 shutdown;
	int state;

	/* Queue the caller before reading any state, so that each change after that wakes it. */
	sock_poll_wait(file, sock, wait);
	shutdown = READ_ONCE(sk->sk_shutdown);
	state = READ_ONCE(sk->sk_state);
	if (READ_ONCE(sp->tx.autocork)) {
		/* Uncork, as the program may wait for an answer. The timer calls sstp_push(),
		 * which needs the socket lock.
		 */
		WRITE_ONCE(sp->tx.autocork, 0);
		set_bit(SSTP_FL_THROTTLED, &sp->pending.flags);
		sstp_clock_kick(&sp->clock);
	}
	if (state == TCP_LISTEN) {
		/* Pairs with the release in sstp_child_init(). */
		const struct sstp_listener *l = smp_load_acquire(&sp->listen);

		return !l || list_empty_careful(&l->ready) ? 0 : EPOLLIN | EPOLLRDNORM;
	}
	if (shutdown == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state != TCP_SYN_SENT) {
		if (sstp_epollin_ready(sk))
			mask |= EPOLLIN | EPOLLRDNORM;
		if (shutdown & SEND_SHUTDOWN) {
			mask |= EPOLLOUT | EPOLLWRNORM;
		} else if (sstp_writeable(sk)) {
			mask |= EPOLLOUT | EPOLLWRNORM;
		} else {
			sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
			set_bit(SOCK_NOSPACE, &sock->flags);
			/* Check again, as sstp_write_space() may have run before the bit was
			 * set.
			 */
			smp_mb__after_atomic();
			if (sstp_writeable(sk))
				mask |= EPOLLOUT | EPOLLWRNORM;
		}
	}
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* Wake readers: what has come may be enough for a lower mark. */
int sstp_set_rcvlowat(struct sock *sk, int val)
{
	WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
	if (sstp_epollin_ready(sk))
		sk->sk_data_ready(sk);
	return 0;
}

int sstp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp = sstp_sk(sk);
	int val;

	switch (cmd) {
	case SIOCINQ:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		lock_sock(sk);
		val = sstp_readable(sk);
		release_sock(sk);
		break;
	case SIOCOUTQ:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		val = READ_ONCE(sp->tx.queued);
		break;
	case SIOCOUTQNSD:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		lock_sock(sk);
		val = sp->tx.bytes_written - sp->tx.bytes_sent;
		release_sock(sk);
		break;
	case SIOCATMARK:
		/* SSTP has no urgent data. */
		val = 0;
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return put_user(val, (int __user *)arg);
}
