// SPDX-License-Identifier: GPL-2.0
/*
 * sendmsg(): copies bytes once, to the pages that they are sent from, and leaves room for a
 * header before the payload of each packet.
 */
#include "mem.h"
#include "output.h"
#include "owner.h"
#include "path.h"
#include "sendmsg.h"
#include "sstp.h"
#include "steer.h"
#include "stride.h"
#include "zerocopy.h"

#define SSTP_AUTOCORK	NSEC_PER_MSEC
#define SSTP_CORK	(200 * NSEC_PER_MSEC)
#define SSTP_LACK_WAIT	(100 * NSEC_PER_MSEC)	/* between attempts to get memory */
#define SSTP_FILL_BYTES	(256 << 10)	/* copied between two looks at the backlog */

static struct sstp_sseg *sstp_new_segment(struct sock *sk, u32 len)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_sseg *s;

	s = sstp_sseg_alloc(len, sp->path.size, GFP_KERNEL | __GFP_NOWARN);
	if (!s)
		return NULL;
	len = struct_size(s, frag, s->alloc);
	if (sstp_mem_may_charge(sk, s, len) < len) {
		sstp_sseg_free(s);
		return NULL;
	}
	sstp_mem_charge_segment(sk, s, len);
	return s;
}

/* Bytes of payload that fit, with their headers, into @room bytes after those of the segment */
static u32 sstp_fill_room(const struct sstp_sseg *s, u32 room)
{
	u32 stride = SSTP_DATA_HLEN + s->size, first = 0, rest;

	if (s->fill) {
		first = min(room, stride - s->fill);
		room -= first;
	}
	rest = room % stride;
	return first + room / stride * s->size +
	       rest - min_t(u32, rest, SSTP_DATA_HLEN);
}

/* Account for @len bytes of payload added to the segment. Returns them with headers. */
static u32 sstp_filled(struct sstp_sseg *s, u32 len)
{
	u32 stride = SSTP_DATA_HLEN + s->size, first = 0, rest;

	s->len += len;
	if (s->fill) {
		first = min(len, stride - s->fill);
		s->fill += first;
		len -= first;
		if (s->fill == stride)
			s->fill = 0;
	}
	if (!len)
		return first;
	rest = len % s->size;
	s->packets += len / s->size;
	if (rest) {
		s->packets++;
		s->fill = SSTP_DATA_HLEN + rest;
	}
	return first + len / s->size * stride + (rest ? s->fill : 0);
}

/* Copy up to @len bytes into @s. Returns how many, -EFAULT, -ENOMEM if there is
 * no memory now, or 0 if the segment can take no more pieces.
 */
static int sstp_fill(struct sock *sk, struct sstp_sseg *s, struct msghdr *msg,
		     u32 len)
{
	u32 done = 0;

	while (done < len) {
		struct page_frag *pf = sk_page_frag(sk);
		u32 room, copy, got, used;
		struct sstp_stride st;
		struct bio_vec *f;
		bool joins;
		u8 *p;

		if (!sk_page_frag_refill(sk, pf))
			return done ?: -ENOMEM;
		f = s->frags ? &s->frag[s->frags - 1] : NULL;
		joins = f && f->bv_page == pf->page &&
			f->bv_offset + f->bv_len == pf->offset;
		if (!joins && s->frags == s->alloc)
			return done;
		room = pf->size - pf->offset;	/* 32 at least: a header fits */
		/* Payload is more than headers, except before the first packet is full. */
		room = sstp_mem_may_charge(sk, s, min(room, 2 * (len - done) + SSTP_DATA_HLEN));
		if (room <= SSTP_DATA_HLEN)
			return done ?: -ENOMEM;
		p = page_address(pf->page) + pf->offset;
		copy = min(len - done, sstp_fill_room(s, room));
		if (!copy)
			break;
		/* All is within the page, which copy_from_iter() would check for every
		 * packet.
		 */
		st = (struct sstp_stride) {
			.p = s->fill ? p - (s->fill - SSTP_DATA_HLEN) :
				       p + SSTP_DATA_HLEN,
			.in = s->fill ? s->fill - SSTP_DATA_HLEN : 0,
			.size = s->size,
			.stride = SSTP_DATA_HLEN + s->size,
		};
		got = sstp_stride_from_iter(&st, copy, &msg->msg_iter);
		if (got < copy) {
			iov_iter_revert(&msg->msg_iter, got);
			break;
		}
		used = sstp_filled(s, got);
		done += got;
		sstp_mem_charge_segment(sk, s, used);
		if (joins) {
			f->bv_len += used;
		} else {
			get_page(pf->page);
			f = &s->frag[s->frags++];
			f->bv_page = pf->page;
			f->bv_len = used;
			f->bv_offset = pf->offset;
		}
		pf->offset += used;
	}
	return done ?: -EFAULT;
}

/* Add up to @len bytes to @s, as @z says. Returns as sstp_fill() does. */
static int sstp_add(struct sock *sk, struct sstp_sseg *s, struct msghdr *msg, u32 len,
		    struct sstp_zc *z)
{
	return s->refs ? sstp_zc_fill(sk, s, msg, len, z) : sstp_fill(sk, s, msg, len);
}

/* Is there still a connection to send on? */
static bool sstp_may_send(const struct sock *sk)
{
	return !sk->sk_err && !(sk->sk_shutdown & SEND_SHUTDOWN) && sstp_synchronized(sk);
}

/* Wait for room for another segment, in the send buffer and in the window's ring. */
static int sstp_wait_room(struct sock *sk, long *timeo)
{
	int err;

	for (;;) {
		if (!sstp_may_send(sk))
			return -EPIPE;
		if (sk_stream_memory_free(sk)) {
			err = sstp_snd_reserve(&sstp_sk(sk)->snd, GFP_KERNEL);
			if (err != -EAGAIN)
				return err;
		}
		/* Ship a corked segment that this call has sealed: if it fills the send buffer,
		 * nothing else makes room.
		 */
		sstp_push(sk);
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		err = sk_stream_wait_memory(sk, timeo);
		if (err)
			return err;
		if (!*timeo)
			return -EAGAIN;
	}
}

/* Memory of all sockets is used up: wait until this socket frees some, or for SSTP_LACK_WAIT, in
 * which others may have. Until then poll() reports no room, as send() finds none.
 */
static int sstp_wait_memory(struct sock *sk, long *timeo)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sstp_push(sk);
	WRITE_ONCE(sp->tx.lacks_mem, true);
	sstp_timer_sooner(&sp->clock, SSTP_T_MEM, sstp_now() + SSTP_LACK_WAIT);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	return *timeo ? sk_stream_wait_memory(sk, timeo) : -EAGAIN;
}

static bool sstp_fits(const struct sstp_sock *sp, size_t len)
{
	return len <= sp->hs.segment_limit &&
	       DIV_ROUND_UP(len, sp->path.size) <= SSTP_PACKETS_MAX;
}

static int sstp_send_seqpacket(struct sock *sk, struct msghdr *msg, size_t len,
			       struct sstp_zc *z, long *timeo)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_sseg *s;
	int err, n;

	if (!len)
		return -EINVAL;
	if (!sstp_fits(sp, len))
		return -EMSGSIZE;
again:
	err = sstp_wait_room(sk, timeo);
	if (err)
		return err;
	/* The MTU may have changed meanwhile, and with it the number of packets. */
	sstp_mtu_update(sk);
	sp->path.fresh = true;
	if (!sstp_fits(sp, len))
		return -EMSGSIZE;
	s = sstp_new_segment(sk, len);
	if (!s) {
		err = sstp_wait_memory(sk, timeo);
		if (err)
			return err;
		goto again;
	}
	s->refs = z->refs;
	while (s->len < len) {
		n = sstp_add(sk, s, msg, min_t(size_t, len - s->len, SSTP_FILL_BYTES), z);
		if (n > 0 && s->len < len) {
			sstp_catch_up(sk);
			n = sstp_may_send(sk) ? n : -EPIPE;
		}
		if (n > 0)
			continue;
		iov_iter_revert(&msg->msg_iter, s->len);
		sstp_mem_free_segment(sk, s);
		/* The program's memory is in too many pieces. */
		if (!n && z->refs) {
			z->refs = false;
			z->used = false;
			goto again;
		}
		if (n != -ENOMEM)
			return n ?: -EMSGSIZE;
		/* Sockets that waited while they hold segments could wait for each other. */
		err = sstp_wait_memory(sk, timeo);
		if (err)
			return err;
		goto again;
	}
	/* The lock may have been released: the ring may be full again. */
	while ((err = sstp_snd_reserve(&sp->snd, GFP_KERNEL)) == -EAGAIN) {
		err = sstp_wait_memory(sk, timeo);
		if (!err && !sstp_synchronized(sk))
			err = -EPIPE;
		if (err)
			break;
	}
	if (err) {
		sstp_mem_free_segment(sk, s);
		return err;
	}
	s->eor = !!(msg->msg_flags & MSG_EOR);
	s->sealed = 1;
	sp->tx.queued += len;
	sp->tx.bytes_written += len;
	sstp_snd_add(&sp->snd, s);
	return len;
}

/* Remove the open segment, which is empty and the last, from the window. */
static void sstp_cancel_open(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_sseg *s = sp->tx.open;

	sp->tx.open = NULL;
	sp->snd.ring[--sp->snd.end & sp->snd.mask] = NULL;
	sstp_mem_free_segment(sk, s);
}

/* A program that @filled a segment is likely to write more: hold the rest back for up to
 * SSTP_AUTOCORK, to send it in one train with that, unless a thread sleeps on the socket,
 * maybe for the peer's answer.
 */
static void sstp_autocork(struct sock *sk, bool filled)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (filled && sp->tx.open && !skwq_has_sleeper(rcu_access_pointer(sk->sk_wq)))
		WRITE_ONCE(sp->tx.autocork, sstp_now() + SSTP_AUTOCORK);
}

/* The program waits to read, maybe for the answer to what is held back: send that. */
void sstp_uncork(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (!READ_ONCE(sp->tx.autocork))
		return;
	WRITE_ONCE(sp->tx.autocork, 0);
	sstp_push(sk);
}

/* Send all that the program has written, even if it is corked. */
void sstp_flush(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sp->tx.cork = 0;
	if (!sstp_synchronized(sk))
		return;
	if (sp->tx.open && sp->tx.open->len)
		sstp_seal(&sp->tx);
	sstp_push(sk);
}

/* Begin another segment of a stream, tx.open, for the data of @z. There may be none yet, although
 * this succeeds, or another thread's.
 */
static int sstp_open_segment(struct sock *sk, const struct sstp_zc *z, long *timeo)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_sseg *s;
	int err;

	err = sstp_wait_room(sk, timeo);
	if (err || sp->tx.open)
		return err;
	sstp_mtu_update(sk);
	sp->path.fresh = true;
	s = sstp_new_segment(sk, sstp_stream_size(sp));
	if (!s)
		return sstp_wait_memory(sk, timeo);
	s->refs = z->refs;
	sp->tx.open = s;
	sstp_snd_add(&sp->snd, s);
	if (sp->tx.cork)
		sp->tx.cork = sstp_now() + SSTP_CORK;
	return 0;
}

static int sstp_send_stream(struct sock *sk, struct msghdr *msg, size_t len,
			    struct sstp_zc *z, long *timeo)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool filled = false;
	size_t done = 0;
	int err = 0, n;

	WRITE_ONCE(sp->tx.autocork, 0);
	/* A cork holds data back for 200 ms at most, as in TCP. */
	if (!(msg->msg_flags & MSG_MORE) && !sp->set.cork)
		sp->tx.cork = 0;
	else if (!sp->tx.cork || !sp->tx.open)
		sp->tx.cork = sstp_now() + SSTP_CORK;
	while (done < len) {
		struct sstp_sseg *s = sp->tx.open;
		u32 size = s ? sstp_stream_size(sp) : 0;

		if (s && (s->len >= size || !sstp_zc_suits(z, s)))
			sstp_seal(&sp->tx);
		s = sp->tx.open;
		if (!s) {
			err = sstp_open_segment(sk, z, timeo);
			if (err)
				break;
			continue;
		}
		n = sstp_add(sk, s, msg, min_t(size_t, len - done, size - s->len), z);
		if (n > 0) {
			done += n;
			sp->tx.queued += n;
			sp->tx.bytes_written += n;
		}
		if (s->len >= size || !n) {
			filled = true;
			sstp_seal(&sp->tx);
			sstp_push(sk);
			sstp_catch_up(sk);
		}
		if (n == -ENOMEM) {
			err = sstp_wait_memory(sk, timeo);
			if (!err && !sstp_may_send(sk))
				err = -EPIPE;
		} else if (n < 0) {
			err = n;
		}
		if (err)
			break;
	}
	/* An empty segment must not stay: nothing would ever fill it. */
	if (sp->tx.open && !sp->tx.open->len)
		sstp_cancel_open(sk);
	sstp_autocork(sk, filled);
	return done ?: err;
}

/* SSTP has no control messages for sendmsg(): refuse rather than ignore them, except those of
 * AF_UNIX, which TCP ignores as well.
 */
static int sstp_check_cmsgs(struct msghdr *msg)
{
	struct cmsghdr *c;

	for_each_cmsghdr(c, msg) {
		if (!CMSG_OK(msg, c) || c->cmsg_level != SOL_SOCKET ||
		    (c->cmsg_type != SCM_RIGHTS && c->cmsg_type != SCM_CREDENTIALS))
			return -EINVAL;
	}
	return 0;
}

/* sendmsg(), and sendpage() by MSG_SPLICE_PAGES */
static int sstp_send(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct sstp_zc z;
	long timeo;
	int err;

	if (msg->msg_flags & (MSG_OOB | MSG_FASTOPEN))
		return -EOPNOTSUPP;
	err = sstp_check_cmsgs(msg);
	if (err)
		return err;
	sstp_steer_use(sk);
	lock_sock(sk);
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	WRITE_ONCE(sstp_sk(sk)->tx.lacks_mem, false);
	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT))) {
		err = sk_stream_wait_connect(sk, &timeo);
		if (err)
			goto out;
	}
	err = -EPIPE;
	if (sk->sk_err || sk->sk_shutdown & SEND_SHUTDOWN)
		goto out;
	err = sstp_zc_begin(sk, msg, len, &z);
	if (err)
		goto out;
	err = sock->type == SOCK_STREAM ?
		sstp_send_stream(sk, msg, len, &z, &timeo) :
		sstp_send_seqpacket(sk, msg, len, &z, &timeo);
	sstp_zc_end(&z, err);
	if (sk->sk_state != TCP_CLOSE)
		sstp_push(sk);
out:
	if (err < 0)
		err = sk_stream_error(sk, msg->msg_flags, err);
	/* Room may have appeared meanwhile: without this an edge-triggered poller misses it. */
	if (err == -EAGAIN)
		sk->sk_write_space(sk);
	release_sock(sk);
	return err;
}

int sstp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	msg->msg_flags &= ~SSTP_MSG_IGNORED;
	return sstp_send(sock, msg, len);
}

#ifndef SSTP_HAVE_SENDPAGE
void sstp_splice_eof(struct socket *sock)
{
	struct sock *sk = sock->sk;

	lock_sock(sk);
	if (!sstp_sk(sk)->set.cork)
		sstp_sk(sk)->tx.cork = 0;
	sstp_push(sk);
	release_sock(sk);
}
#else
ssize_t sstp_sendpage(struct socket *sock, struct page *page, int offset, size_t len, int flags)
{
	struct bio_vec bv = { .bv_page = page, .bv_offset = offset, .bv_len = len };
	struct msghdr msg = { .msg_flags = flags | MSG_SPLICE_PAGES };

	if (flags & MSG_SENDPAGE_NOTLAST)
		msg.msg_flags |= MSG_MORE;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &bv, 1, len);
	return sstp_send(sock, &msg, len);
}
#endif
