/* SPDX-License-Identifier: GPL-2.0 */
/* The send buffer: how large it is, and whether a program may write. */
#ifndef _SSTP_SNDBUF_H
#define _SSTP_SNDBUF_H

#include "sstp.h"

/* Bytes written and not sent: modulo 2^32, as the send buffer is smaller. Any context. */
static inline u32 sstp_notsent(const struct sstp_tx *tx)
{
	return (u32)READ_ONCE(tx->bytes_written) - (u32)READ_ONCE(tx->bytes_sent);
}

/* Is as much unsent as TCP_NOTSENT_LOWAT allows, or with @wake half of that? The half wakes a
 * program less often, as in TCP.
 */
static inline bool sstp_notsent_full(const struct sstp_sock *sp, int wake)
{
	u32 most = READ_ONCE(sp->set.notsent_lowat);

	return most && (u64)sstp_notsent(&sp->tx) << wake >= most;
}

void sstp_sndbuf_grow(struct sock *sk);
void sstp_sndbuf_retry(struct sock *sk);
bool sstp_sndbuf_room(const struct sock *sk);
bool sstp_writeable(const struct sock *sk);
void sstp_write_space(struct sock *sk);
bool sstp_stream_memory_free(const struct sock *sk, int wake);

#endif /* _SSTP_SNDBUF_H */
