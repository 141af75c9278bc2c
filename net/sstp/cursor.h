/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads an skb from front to back. skb_copy_bits() and skb_copy_datagram_iter() look for their
 * offset from the front each time, which takes a time that grows with the square of the number of
 * packets if GRO has chained these.
 */
#ifndef _SSTP_CURSOR_H
#define _SSTP_CURSOR_H

#include <linux/types.h>

struct iov_iter;
struct sk_buff;

/**
 * struct sstp_cursor - position in an skb; all but @skb is 0 at first
 * @skb: the skb
 * @part: @skb, or the skb of its frag_list that the piece belongs to
 * @p: the piece: a linear part or a fragment
 * @from: offset of the piece in @skb, bytes
 * @to: offset of the end of the piece, bytes
 * @frag: fragments of @part up to the piece, 0 = the piece is the linear part
 */
struct sstp_cursor {
	const struct sk_buff *skb;
	const struct sk_buff *part;
	const u8 *p;
	u32	from;
	u32	to;
	u32	frag;
};

bool sstp_cursor_seek(struct sstp_cursor *c, u32 off);
const void *sstp_cursor_get(struct sstp_cursor *c, u32 off, u32 len, void *buf);
int sstp_cursor_to_iter(struct sstp_cursor *c, u32 off, u32 len, struct iov_iter *to);

#endif /* _SSTP_CURSOR_H */
