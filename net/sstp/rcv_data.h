/* SPDX-License-Identifier: GPL-2.0 */
/* DATA packets: from trains into the receive window */
#ifndef _SSTP_RCV_DATA_H
#define _SSTP_RCV_DATA_H

#include <linux/types.h>

struct sk_buff;
struct sock;

/* Cursor that reads headers of the packets of @skb in ascending order. Bytes [@from, @to) are
 * contiguous at @p, in fragment @frag - 1 or, if @frag is 0, in the linear part.
 */
struct sstp_cursor {
	const struct sk_buff *skb;
	const u8 *p;
	u32	from;
	u32	to;
	u32	frag;
};

u32 sstp_headers_at(struct sstp_cursor *c, u32 off, u32 size, u32 len, void *buf,
		    const void **h);
struct sk_buff *sstp_extract(struct sk_buff *skb, u32 off, u32 len);
void sstp_rcv_data(struct sock *sk, struct sk_buff *skb);
void sstp_rcv_accept(struct sock *sk, u64 now);
void sstp_rcv_tell(struct sock *sk);

#endif /* _SSTP_RCV_DATA_H */
