/* SPDX-License-Identifier: GPL-2.0 */
/* Trains of packets. The socket lock is held. */
#ifndef _SSTP_TRAIN_H
#define _SSTP_TRAIN_H

#include <linux/types.h>

struct sk_buff;
struct sstp_data_hdr;
struct sstp_sock;
struct sstp_sseg;

struct sk_buff *sstp_copy_packet(struct sstp_sock *sp, const struct sstp_sseg *s, u32 packet,
				 u8 flags, u32 stamp);
struct sk_buff *sstp_again_packet(struct sstp_sock *sp, const struct sstp_sseg *s, u32 packet,
				  u32 stamp);
u8 *sstp_train_refer(struct sstp_sock *sp, struct sk_buff *skb, struct sstp_sseg *s, u32 len,
		     u32 stamp);
u32 sstp_train_add(struct sk_buff *skb, struct sstp_sseg *s, u32 bytes, u32 max, u8 **header);
struct sstp_data_hdr *sstp_train_headers(const struct sstp_sock *sp, const struct sstp_sseg *s,
					 u8 *p, u32 bytes, u32 count, u32 stamp);
void *sstp_train_lift(struct sk_buff *skb, const void *h);
void sstp_sseg_step(struct sstp_sseg *s, u32 len);

#endif /* _SSTP_TRAIN_H */
