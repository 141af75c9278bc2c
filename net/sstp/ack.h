/* SPDX-License-Identifier: GPL-2.0 */
/* PACK and SNAK. */
#ifndef _SSTP_ACK_H
#define _SSTP_ACK_H

#include <linux/types.h>

struct sk_buff;
struct sock;
struct sstp_sock;

void sstp_ack_credit(struct sstp_sock *sp, u32 bytes);
void sstp_ack_begin(struct sstp_sock *sp, u64 now);
void sstp_ack_rcv(struct sock *sk, struct sk_buff *skb, u32 off, u32 len);
void sstp_ack_check(struct sock *sk);
void sstp_ack_read(struct sock *sk);
void sstp_ack_epoch(struct sock *sk);
void sstp_ack_due(struct sock *sk);

#endif /* _SSTP_ACK_H */
