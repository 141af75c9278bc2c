/* SPDX-License-Identifier: GPL-2.0 */
/* The send buffer: how large it is, and whether a program may write. */
#ifndef _SSTP_SNDBUF_H
#define _SSTP_SNDBUF_H

#include <linux/types.h>

struct sock;

void sstp_sndbuf_grow(struct sock *sk);
void sstp_sndbuf_retry(struct sock *sk);
bool sstp_writeable(const struct sock *sk);
void sstp_write_space(struct sock *sk);
bool sstp_stream_memory_free(const struct sock *sk, int wake);

#endif /* _SSTP_SNDBUF_H */
