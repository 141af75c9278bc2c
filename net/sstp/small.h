/* SPDX-License-Identifier: GPL-2.0 */
/* Transmission of packets other than DATA, one at a time */
#ifndef _SSTP_SMALL_H
#define _SSTP_SMALL_H

#include <linux/types.h>
#include "wire.h"

struct sk_buff;
struct sock;
struct sstp_sock;

struct sk_buff *sstp_small(struct sock *sk, u32 room);
int sstp_small_xmit(struct sock *sk, struct sk_buff *skb);
int sstp_send_small(struct sock *sk, const void *data, u32 len);
void sstp_build_context(const struct sstp_sock *sp, void *p, u8 flags, u32 stamp);
void sstp_send_context(struct sock *sk, u8 flags);
void sstp_send_end(struct sock *sk, enum sstp_type type, u32 code);

#endif /* _SSTP_SMALL_H */
