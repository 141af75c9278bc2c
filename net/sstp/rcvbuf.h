/* SPDX-License-Identifier: GPL-2.0 */
/* The receive buffer, and the window that follows from it. */
#ifndef _SSTP_RCVBUF_H
#define _SSTP_RCVBUF_H

#include <linux/minmax.h>
#include <linux/types.h>
#include "pool.h"
#include "rbuf.h"
#include "rcv_wnd.h"
#include "want.h"

struct sock;
struct sstp_sock;

/* The receive buffer of a connection, and the window that follows from it */
struct sstp_rcvbuf {
	struct sstp_rbuf_core policy;
	struct sstp_member member;	/* of a buffer that a listener's children share */
	u64		epoch_at;	/* ns: when the policy's epoch began */
	u64		exhausted_at;	/* ns: when netlink was last told that it is full */
	u64		segments_received;
	u32		window;		/* W */
	u32		buffer;		/* B, segments */
	u32		reach;		/* last segment granted by W = B */
	/* The largest limit under which something is granted still, or a guess of it, bytes,
	 * 0: none; the last segment of that grant; and the largest limit since.
	 */
	u32		granted_limit;
	u32		granted_high;
	u32		granted_next;
	u32		granted_mem;	/* bytes granted before the program has read any: this
					 * socket's part of sstp_rcvbuf_promises
					 */
	int		debt;		/* bytes, of those that all sockets owe */
	u32		slots;		/* bytes of the window's that are charged */
	u32		epochs;
	u32		bounded;	/* epochs in which memory bounded the limit */
	u32		peak;		/* bytes, the most that were used */
	u32		limit_peak;
	u32		grown;		/* times */
	u32		shrunk;
	u64		grown_bytes;
	u64		shrunk_bytes;
	u8		unread;		/* epochs in a row without a read, 255 at most */
	bool		full;		/* had no room or memory since the program took any */
	bool		mem_limited;	/* nothing accepted since memory lacked */
};

/* Bytes that the receive buffer may hold: more may have been granted. */
static inline u32 sstp_rcv_limit(const struct sstp_rcvbuf *b)
{
	return max(READ_ONCE(b->policy.in.limit), READ_ONCE(b->granted_limit));
}

/* Memory of a segment, on average */
static inline u32 sstp_mean(const struct sstp_rcv_wnd *w)
{
	return max(w->mean >> 3, 512U);
}

u32 sstp_rcvbuf_segment(const struct sstp_sock *sp);
bool sstp_rcvbuf_wnd(struct sstp_sock *sp);
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
