/* SPDX-License-Identifier: GPL-2.0 */
/* Receive buffer, and the window that follows from it */
#ifndef _SSTP_RCVBUF_H
#define _SSTP_RCVBUF_H

#include <linux/minmax.h>
#include <linux/types.h>
#include "compat.h"
#include "gauge.h"
#include "pool.h"
#include "rbuf.h"
#include "rcv_wnd.h"
#include "want.h"

struct sock;
struct sstp_sock;

/* The receive buffer of a connection, and the window that follows from it */
struct sstp_rcvbuf {
	__cacheline_group_begin(sstp_rcvbuf_read);
	int		debt;		/* bytes of this socket in the debt of all */
	u32		slots;		/* bytes charged for the window's slots */
	u32		window;		/* W, segments */
	u32		buffer;		/* B, segments */
	u32		reach;		/* last segment granted by W = B */
	/* Largest limit, or promise, under which segments are still granted, bytes, 0 = none;
	 * the last of these segments; and the largest limit of later grants, bytes
	 */
	u32		granted_limit;
	u32		granted_high;
	u32		granted_next;
	u32		granted_mem;	/* bytes granted before the program has read any: this
					 * socket's part of sstp_rcvbuf_promises
					 */
	u32		limit_peak;	/* bytes: largest limit */
	u32		peak;		/* bytes: most memory used */
	u8		unread;		/* epochs in a row without a read, 255 at most */
	bool		full;		/* a packet lacked room or memory since the last read, or
					 * still would
					 */
	bool		mem_limited;	/* nothing was accepted since a packet lacked memory */
	u64		segments_received;
	u64		epoch_at;	/* ns: when the policy's epoch began */
	u64		wnd_at;		/* @epoch_at + acker.arrival_at when W was computed */
	u32		wnd_read;	/* rcv.read then */
	bool		wnd_exact;	/* W was no larger than B then */
	bool		any_size;	/* a former gauge had a bound of segments */
	struct sstp_member member;	/* in a pool that a listener's children share */
	__cacheline_group_end(sstp_rcvbuf_read);
	struct sstp_rbuf_core policy;
	struct sstp_gauge *gauge;	/* of the path, while the policy measures, or NULL */
	u64		exhausted_at;	/* ns: when SSTP_CMD_EXHAUSTED was last sent */
	u32		epochs;
	u32		bounded;	/* epochs in which memory bounded the limit */
	u32		grown;		/* times that the limit rose */
	u32		shrunk;
	u64		grown_bytes;
	u64		shrunk_bytes;
	u32		lacked;		/* bytes: memory of the retransmission that found no room
					 * last; valid if @full, 0 = none did
					 */
	u32		mem_lacked;	/* bytes: memory that was refused last, 0 if for a segment's
					 * bookkeeping; valid if @mem_limited
					 */
	int		debt_fair;	/* bytes: about @debt when memory was used up, or less */
};

/* Bytes that the receive buffer may hold: what was granted under a larger limit counts. */
static inline u32 sstp_rcv_limit(const struct sstp_rcvbuf *b)
{
	return max(READ_ONCE(b->policy.in.limit), READ_ONCE(b->granted_limit));
}

/* Bytes of memory of a segment, on average */
static inline u32 sstp_mean(const struct sstp_rcv_wnd *w)
{
	return max(w->mean >> 3, 512U);
}

/* The measurements of the path, if the policy wants them; else NULL */
static inline struct sstp_gauge *sstp_rcvbuf_gauge(const struct sstp_rcvbuf *r)
{
	return unlikely(r->policy.out.measure) ? r->gauge : NULL;
}

u32 sstp_rcvbuf_segment(const struct sstp_sock *sp);
bool sstp_rcvbuf_wnd(struct sstp_sock *sp);
void sstp_rcvbuf_advance(struct sstp_sock *sp);
void sstp_rcvbuf_read(struct sock *sk);
u32 sstp_rcvbuf_reach(const struct sstp_sock *sp);
void sstp_rcvbuf_want(const struct sstp_sock *sp, struct sstp_want *w);
void sstp_rcvbuf_grant(struct sstp_sock *sp);
void sstp_rcvbuf_share(struct sstp_sock *sp);
void sstp_rcvbuf_empty(struct sstp_sock *sp);
void sstp_rcvbuf_end(struct sstp_sock *sp);
void sstp_rcvbuf_free(struct sstp_sock *sp);
bool sstp_rcvbuf_exact(const struct sstp_sock *sp);
int sstp_rcvbuf_start(struct sock *sk);
void sstp_rcvbuf_stop(struct sstp_sock *sp);
int sstp_rcvbuf_listen(struct sock *sk);
void sstp_rcvbuf_policy(struct sock *sk, const struct sstp_rbuf_ops *ops);
bool sstp_rcvbuf_epoch(struct sock *sk, u64 now);

#endif /* _SSTP_RCVBUF_H */
