// SPDX-License-Identifier: GPL-2.0
/* recvmsg(): copies received segments to the program */
#include <trace/events/sstp.h>
#include "ack.h"
#include "cursor.h"
#include "half.h"
#include "owner.h"
#include "recvmsg.h"
#include "sendmsg.h"
#include "sstp.h"
#include "steer.h"
#include "stride.h"
#include "wait.h"

#define SSTP_GAPS_MAX	4096	/* reported of one segment; more is MSG_CTRUNC */

/* Copy @len bytes of payload at most, from offset @st.in of the packet whose header is at @at,
 * as far as they are in one piece of memory. Returns the bytes copied: 0 if not even
 * the first packet is in one piece, so that the caller has to copy it.
 */
static int sstp_read_packets(struct sstp_cursor *c, u32 at, struct sstp_stride st, u32 len,
			     struct iov_iter *to)
{
	u32 off = at + SSTP_DATA_HLEN + st.in, n = min(len, st.size - st.in), room;

	if (!sstp_cursor_seek(c, off))
		return 0;
	room = c->to - off;
	if (n > room)
		return 0;
	/* A linear part may be an object of a slab, beyond which nothing is to be read. */
	if (!c->frag && !check_copy_size(c->p + (off - c->from), room, true))
		return -EFAULT;
	if (len > n)
		n = min(len, n + (room - n) / st.stride * st.size);
	st.p = (u8 *)c->p + (off - c->from) - st.in;
	return sstp_stride_to_iter(&st, n, to) == n ? n : -EFAULT;
}

/* Gaps for the control message SSTP_GAPS */
struct sstp_gap_list {
	struct sstp_gap *gap;
	u32	n;
	u32	room;
	bool	lost;	/* the list lacks gaps, for want of room or memory */
};

static void sstp_gap_add(struct sstp_gap_list *l, u32 off, u32 len)
{
	if (l->n && l->gap[l->n - 1].offset + l->gap[l->n - 1].len == off) {
		l->gap[l->n - 1].len += len;
		return;
	}
	if (l->n == l->room) {
		u32 room = l->room ? l->room * 2 : 16;
		struct sstp_gap *h = NULL;

		if (room <= SSTP_GAPS_MAX)
			h = krealloc(l->gap, room * sizeof(*h), GFP_KERNEL);
		if (!h) {
			l->lost = true;
			return;
		}
		l->gap = h;
		l->room = room;
	}
	l->gap[l->n].offset = off;
	l->gap[l->n++].len = len;
}

/* Offset in segment @s at which the payload of the packets of @cb ends */
static u32 sstp_rcb_end(const struct sstp_rseg *s, const struct sstp_rcb *cb)
{
	u32 end = (u32)cb->start + cb->count;

	return end == s->packets ? s->len : end * s->size;
}

/* Copy bytes [@off, @off + @len) of a segment. Gaps read as zeros and are added to @gaps, with
 * offsets in what the program gets: @base is that of the first byte.
 */
static int sstp_read_segment(const struct sstp_rseg *s, u32 off, u32 len,
			     struct iov_iter *to, struct sstp_gap_list *gaps,
			     u32 base)
{
	u32 end = off + len, pos = off, packet, in;
	struct sk_buff *skb;
	int err;

	if (s->packets == 1) {
		u32 at = s->shared ? s->off : SSTP_RCB(s->head)->off;
		struct sstp_cursor c = { .skb = s->head };

		return sstp_cursor_to_iter(&c, at + SSTP_DATA_HLEN + off, len, to);
	}
	packet = off / s->size;
	in = off - packet * s->size;
	for (skb = s->head; skb && pos < end; skb = skb->next) {
		const struct sstp_rcb *cb = SSTP_RCB(skb);
		struct sstp_cursor c = { .skb = skb };
		u32 at, stop;

		if (packet >= (u32)cb->start + cb->count)
			continue;
		if (packet < cb->start) {
			u32 n = min((u32)cb->start * s->size, end) - pos;

			sstp_gap_add(gaps, base + pos - off, n);
			if (iov_iter_zero(n, to) != n)
				return -EFAULT;
			pos += n;
			packet = cb->start;
			in = 0;
		}
		at = cb->off + (packet - cb->start) * cb->stride;
		stop = min(end, sstp_rcb_end(s, cb));
		while (pos < stop) {
			const struct sstp_stride st = {
				.in = in,
				.size = s->size,
				.stride = cb->stride,
			};
			int n = sstp_read_packets(&c, at, st, stop - pos, to);

			if (n < 0)
				return n;
			if (!n) {
				n = min(s->size - in, stop - pos);
				err = sstp_cursor_to_iter(&c, at + SSTP_DATA_HLEN + in, n, to);
				if (err)
					return err;
			}
			pos += n;
			in += n;
			packet += in / s->size;
			at += in / s->size * cb->stride;
			in %= s->size;
		}
	}
	if (pos < end) {
		sstp_gap_add(gaps, base + pos - off, end - pos);
		if (iov_iter_zero(end - pos, to) != end - pos)
			return -EFAULT;
	}
	return 0;
}

/* The program has taken @len bytes of the first segment. After the last one the window moves on. */
static void sstp_consume(struct sock *sk, struct sstp_rseg *s, u32 len)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now;

	sp->rx.readable -= len;
	sstp_half_read(sp->ctrl.half, len, sp->rx.readable);
	sp->acker.service_bytes += len;
	sp->rcvbuf.policy.in.served += s->got == s->packets ? len :
			   div_u64(mul_u32_u32(len, s->got), s->packets);
	sp->rx.read_off += len;
	if (sp->rx.read_off == s->len) {
		now = sstp_now();
		if (!sp->rx.readable && sp->rx.unread_since) {
			sp->rx.unread_time += (sp->life.ended_at ?: now) - sp->rx.unread_since;
			sp->rx.unread_since = 0;
		}
		sp->rx.read_off = 0;
		trace_sstp_segment_read(sp, sp->rcv.read, s);
		sstp_rcv_pop(&sp->rcv);
		sstp_ack_read(sk, now);
		return;
	}
	/* Free the packets that are read, so that the next read need not skip them. */
	while (!s->shared && s->head &&
	       ((u32)SSTP_RCB(s->head)->start + SSTP_RCB(s->head)->count) *
	       s->size <= sp->rx.read_off) {
		struct sk_buff *skb = s->head;

		s->head = skb->next;
		skb_mark_not_on_list(skb);
		consume_skb(skb);
	}
}

/* Wait for segment @n, which after MSG_PEEK may be one after others that are here. The wait
 * also ends if nothing more comes before a read.
 */
static int sstp_wait_data(struct sock *sk, long *timeo, u32 n)
{
	struct sstp_sock *sp = sstp_sk(sk);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int rc;

	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	rc = sk_wait_event(sk, timeo, sstp_rcv_here(&sp->rcv, n) ||
			   READ_ONCE(sp->rx.held) ||
			   READ_ONCE(sk->sk_err) ||
			   (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
			   READ_ONCE(sk->sk_state) == TCP_CLOSE, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	return rc;
}

/* Why nothing is to be read: 1 = data may still come, 0 = end of stream, or an error */
static int sstp_read_state(struct sock *sk)
{
	if (sock_flag(sk, SOCK_DONE))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	if (sk->sk_state == TCP_CLOSE)
		return -ENOTCONN;
	return 1;
}

/* Report the gaps in the @len bytes that the program gets; @l may have gaps beyond them. */
static void sstp_report_gaps(struct msghdr *msg, struct sstp_gap_list *l,
			     u32 len)
{
	while (l->n && l->gap[l->n - 1].offset >= len)
		l->n--;
	if (l->n)
		l->gap[l->n - 1].len = min(l->gap[l->n - 1].len,
					   len - l->gap[l->n - 1].offset);
	if (l->n && put_cmsg(msg, SOL_SSTP, SSTP_GAPS,
			     l->n * sizeof(*l->gap), l->gap))
		l->lost = true;
	if (l->lost)
		msg->msg_flags |= MSG_CTRUNC;
	kfree(l->gap);
}

static int sstp_recv_seqpacket(struct sock *sk, struct msghdr *msg, size_t len,
			       int flags, long *timeo)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_gap_list gaps = {};
	struct sstp_rseg *s;
	int err;
	u32 n;

	while (!(s = sstp_rcv_peek(&sp->rcv))) {
		err = sstp_read_state(sk);
		if (err <= 0)
			return err;
		sstp_uncork(sk);
		if (!*timeo)
			return -EAGAIN;
		err = sstp_wait_data(sk, timeo, sp->rcv.read);
		if (err < 0)
			return err;
		if (signal_pending(current))
			return sock_intr_errno(*timeo);
	}
	n = min_t(size_t, len, s->len);
	err = sstp_read_segment(s, 0, n, &msg->msg_iter, &gaps, 0);
	sstp_report_gaps(msg, &gaps, err ? 0 : n);
	if (err)
		return err;
	if (n < s->len)
		msg->msg_flags |= MSG_TRUNC;
	else if (s->eor)
		msg->msg_flags |= MSG_EOR;
	if (flags & MSG_TRUNC)
		n = s->len;
	if (!(flags & MSG_PEEK))
		sstp_consume(sk, s, s->len);
	return n;
}

static int sstp_recv_stream(struct sock *sk, struct msghdr *msg, size_t len,
			    int flags, long *timeo)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	struct sstp_gap_list gaps = {};
	u32 peek = sp->rcv.read, peek_off = sp->rx.read_off;
	int done = 0, err = 0;

	len = min_t(size_t, len, INT_MAX);
	do {
		struct sstp_rseg *s;
		u32 off, n;

		if (flags & MSG_PEEK) {
			s = sstp_before(peek, sp->rcv.low) &&
			    !(sp->rcv.has_eos && peek == sp->rcv.eos) ?
				sstp_rcv_slot(&sp->rcv, peek) : NULL;
			off = peek_off;
		} else {
			s = sstp_rcv_peek(&sp->rcv);
			off = sp->rx.read_off;
		}
		if (s) {
			n = min_t(size_t, len - done, s->len - off);
			if (!n)
				break;
			if (!(flags & MSG_TRUNC)) {
				err = sstp_read_segment(s, off, n,
							&msg->msg_iter, &gaps,
							done);
				if (err)
					break;
			}
			done += n;
			if (!(flags & MSG_PEEK)) {
				sstp_consume(sk, s, n);
				if (!sp->rx.read_off)
					sstp_catch_up(sk);
			} else if (off + n == s->len) {
				peek++;
				peek_off = 0;
			} else {
				peek_off += n;
			}
			continue;
		}
		if (done >= target ||
		    (done && (sk->sk_err || sk->sk_state == TCP_CLOSE || sp->rx.held)))
			break;
		err = sstp_read_state(sk);
		if (err <= 0)
			break;
		err = -EAGAIN;
		sstp_uncork(sk);
		if (!*timeo)
			break;
		err = sstp_wait_data(sk, timeo,
				     flags & MSG_PEEK ? peek : sp->rcv.read);
		if (err < 0)
			break;
		err = 0;
		if (signal_pending(current)) {
			err = sock_intr_errno(*timeo);
			break;
		}
		/* The lock was released: another reader may have moved on. */
		if (flags & MSG_PEEK && !sstp_after(peek, sp->rcv.read)) {
			peek = sp->rcv.read;
			peek_off = sp->rx.read_off;
		}
	} while (done < len);
	sstp_report_gaps(msg, &gaps, done);
	return done ?: err;
}

/* Wait for the end of set-up: the peer's first segment number is not known before. */
static int sstp_read_connected(struct sock *sk, long *timeo)
{
	int err;

	if (sk->sk_state != TCP_SYN_SENT)
		return 0;
	err = sstp_wait_connect(sk, timeo);
	if (err || sk->sk_state != TCP_SYN_SENT)
		return err;
	return *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
}

/* Completions of sends with MSG_ZEROCOPY, in the control message that TCP has for them */
static int sstp_recv_errqueue(struct sock *sk, struct msghdr *msg, size_t len)
{
	if (READ_ONCE(sk->sk_family) == AF_INET6)
		return sock_recv_errqueue(sk, msg, len, SOL_IPV6, IPV6_RECVERR);
	return sock_recv_errqueue(sk, msg, len, SOL_IP, IP_RECVERR);
}

int sstp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		 int flags)
{
	struct sock *sk = sock->sk;
	long timeo;
	int err;

	if (flags & MSG_ERRQUEUE)
		return sstp_recv_errqueue(sk, msg, len);
	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	sstp_steer_use(sk);
	lock_sock(sk);
	err = -ENOTCONN;
	if (sk->sk_state == TCP_LISTEN)
		goto out;
	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	err = sstp_read_connected(sk, &timeo);
	if (err)
		goto out;
	err = sock->type == SOCK_STREAM ?
		sstp_recv_stream(sk, msg, len, flags, &timeo) :
		sstp_recv_seqpacket(sk, msg, len, flags, &timeo);
out:
	release_sock(sk);
	return err;
}

/* Bytes that a read could return now. Socket lock. */
u32 sstp_readable(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rseg *s;

	if (sk->sk_type == SOCK_STREAM)
		return min_t(u64, READ_ONCE(sp->rx.readable), INT_MAX);
	s = sstp_rcv_peek(&sp->rcv);
	return s ? s->len : 0;
}
