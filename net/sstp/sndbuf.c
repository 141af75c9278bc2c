// SPDX-License-Identifier: GPL-2.0
/* The send buffer: how large it is, and whether a program may write. */
#include <linux/minmax.h>
#include <linux/time64.h>
#include "mem.h"
#include "netns.h"
#include "queue.h"
#include "sndbuf.h"
#include "sstp.h"

#define SSTP_WAKE_BYTES	(4 << 20)	/* of room wake a program, however large the buffer is */

/* Let the send buffer grow, unless SO_SNDBUF fixed it: to six times what the contract has in
 * flight, or to what sstp_ctrl_buffered() says, and two segments. net.sstp.wmem bounds it. Without
 * another bound a program would fill memory that the receivers on this machine need. Socket lock.
 */
void sstp_sndbuf_grow(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 rtt = sstp_rtt_measured(&sp->rtt, 0);
	u64 want;

	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		return;
	if (sstp_rate_bound(&sp->rate))
		want = sstp_rtt_bytes(sp->rate.spec.average ?: sp->rate.spec.peak, rtt) * 6;
	else
		want = sstp_ctrl_buffered(&sp->ctrl, (u64)rtt * NSEC_PER_USEC) * sp->path.frame;
	want += 2 * sp->set.segment_size;
	want = min_t(u64, want, READ_ONCE(sp->id.sn->wmem[2]));
	if (want > sk->sk_sndbuf && sstp_may_grow(sk))
		WRITE_ONCE(sk->sk_sndbuf, want);
}

/* Is there enough room to wake a program that waits to write? As in TCP that is a third of the
 * buffer, but SSTP_WAKE_BYTES at most: less than a third of a large buffer may be left for
 * long while one packet, lost repeatedly, keeps all segments after it. Any context.
 */
bool sstp_sndbuf_room(const struct sock *sk)
{
	return sk_stream_wspace(sk) >= min(sk_stream_min_wspace(sk), SSTP_WAKE_BYTES);
}

/* May the program write? Any context. */
bool sstp_writeable(const struct sock *sk)
{
	return sstp_sndbuf_room(sk) && __sk_stream_memory_free(sk, 1) &&
	       !READ_ONCE(sstp_sk(sk)->tx.lacks_mem);
}

/* sk_write_space: queues below freed packets of the socket, or the send buffer has room.
 * Restart a throttled sender, and wake the program. Any context.
 */
void sstp_write_space(struct sock *sk)
{
	struct socket *sock;

	sstp_queue_freed(sk);
	rcu_read_lock();
	sock = READ_ONCE(sk->sk_socket);
	if (sock && test_bit(SOCK_NOSPACE, &sock->flags) &&
	    sstp_writeable(sk)) {
		struct socket_wq *wq = rcu_dereference(sk->sk_wq);

		clear_bit(SOCK_NOSPACE, &sock->flags);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_poll(&wq->wait, EPOLLOUT |
						   EPOLLWRNORM | EPOLLWRBAND);
		if (wq && wq->fasync_list && !(sk->sk_shutdown & SEND_SHUTDOWN))
			sk_wake_async(sk, SOCK_WAKE_SPACE, POLL_OUT);
	}
	rcu_read_unlock();
}

/* struct proto's stream_memory_free: has the send window room for a segment, and is less unsent
 * than TCP_NOTSENT_LOWAT? The caller checks the send buffer.
 */
bool sstp_stream_memory_free(const struct sock *sk, int wake)
{
	const struct sstp_snd_wnd *w = &sstp_sk(sk)->snd;

	return READ_ONCE(w->end) - READ_ONCE(w->low) < SSTP_SND_SEGMENTS &&
	       !sstp_notsent_full(sstp_sk(sk), wake);
}

/* SSTP_T_MEM: other sockets may have freed memory, so a program may try to write again. */
void sstp_sndbuf_retry(struct sock *sk)
{
	WRITE_ONCE(sstp_sk(sk)->tx.lacks_mem, false);
	sk->sk_write_space(sk);
}
