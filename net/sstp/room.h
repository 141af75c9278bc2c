/* SPDX-License-Identifier: GPL-2.0 */
/* The receive buffer, and the window that follows from it. */
#ifndef _SSTP_ROOM_H
#define _SSTP_ROOM_H

#include "sstp.h"

/* Bytes that the receive buffer may hold: more may have been promised. */
static inline u32 sstp_rcv_limit(const struct sstp_sock *sp)
{
	return max(READ_ONCE(sp->rbuf.in.limit), READ_ONCE(sp->promise));
}

/* Memory of a segment, on average */
static inline u32 sstp_mean(const struct sstp_sock *sp)
{
	return max(sp->rcv.mean >> 3, 512U);
}

u32 sstp_room_segment(const struct sstp_sock *sp);
bool sstp_room_window(struct sstp_sock *sp);
void sstp_room_read(struct sock *sk);
u32 sstp_room_reach(const struct sstp_sock *sp);
void sstp_room_want(const struct sstp_sock *sp, struct sstp_want *w);
void sstp_room_grant(struct sstp_sock *sp);
void sstp_room_share(struct sstp_sock *sp);
void sstp_room_empty(struct sstp_sock *sp);
void sstp_room_end(struct sstp_sock *sp);
void sstp_room_free(struct sstp_sock *sp);
bool sstp_room_exact(const struct sstp_sock *sp);
int sstp_room_start(struct sock *sk);
void sstp_room_stop(struct sstp_sock *sp);
int sstp_room_listen(struct sock *sk);
void sstp_room_policy(struct sock *sk, const struct sstp_rbuf_ops *ops);
bool sstp_room_epoch(struct sock *sk, u64 now);

#endif /* _SSTP_ROOM_H */
