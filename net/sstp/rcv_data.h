/* SPDX-License-Identifier: GPL-2.0 */
/* DATA packets: from trains into the receive window */
#ifndef _SSTP_RCV_DATA_H
#define _SSTP_RCV_DATA_H

#include <linux/types.h>

struct sk_buff;
struct sock;
struct sstp_cursor;

u32 sstp_headers_at(struct sstp_cursor *c, u32 off, u32 size, u32 len, void *buf,
		    const void **h);
struct sk_buff *sstp_extract(struct sk_buff *skb, u32 off, u32 len);
void sstp_rcv_data(struct sock *sk, struct sk_buff *skb);
void sstp_rcv_accept(struct sock *sk, u64 now);
void sstp_rcv_tell(struct sock *sk);

#endif /* _SSTP_RCV_DATA_H */
