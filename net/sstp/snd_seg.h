/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A segment to send: its bytes in pages, copied with room for headers or by reference, and the
 * packets of it that are to be shipped again. Mechanism: no socket, no clock; the caller holds the
 * connection's lock.
 */
#ifndef _SSTP_SND_SEG_H
#define _SSTP_SND_SEG_H

#include <linux/bvec.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include "compat.h"
#include "wire.h"

#define SSTP_RTX_CHUNK		1024	/* packets whose shipments are kept together */

/**
 * struct sstp_rtx - retransmissions of a segment
 * @node: in sstp_snd_wnd.again while @count
 * @seg: the segment
 * @pending: bitmap of packets to ship again
 * @count: bits set in @pending
 * @scan: no bit is set below it
 * @ship: number of the last shipment of each packet, in chunks of SSTP_RTX_CHUNK: 0 = it
 *	was never shipped again; NULL = no packet of the chunk is or was asked for
 */
struct sstp_rtx {
	struct rb_node node;
	struct sstp_sseg *seg;
	unsigned long *pending;
	u32	count;
	u32	scan;
	u32	*ship[];
};

/**
 * struct sstp_sseg - a segment to send
 * @number: segment number
 * @len: bytes
 * @size: bytes in a packet but the last, a multiple of 8
 * @mem: bytes in a packet as packets lie in memory; not @size once the segment was cut anew
 * @packets: number of packets; grows while not @sealed
 * @next: first packet never shipped
 * @ship: first shipment of the first one
 * @truesize: bytes of memory charged for the segment
 * @alloc: entries of @frag
 * @frags: used entries; together the bytes [header | payload]... of packets of @mem, or with
 *	@refs the payload alone
 * @cur: fragment where packet @next starts
 * @cur_off: offset of that packet in the fragment
 * @fill: bytes of the packet being filled, header included
 * @sealed: the segment's length is final
 * @eor: the segment ends a record
 * @accepted: the receiver reported the segment accepted, and may yet discard it (soft ACK)
 * @refs: the payload lies in pages of others, who may change it at any time
 * @msgzc: @uarg is of msg_zerocopy_realloc()
 * @uarg: is told, by a reference less, when none of @frag is used any more; or NULL
 * @rtx: its retransmissions; NULL while the peer asked for none
 *
 * The header of each packet is written just before its first shipment. No byte of a packet
 * changes after that, as a receiver on the same host may hold the pages as well. With @refs each
 * shipment has memory of its own for headers.
 */
struct sstp_sseg {
	u32	number;
	u32	len;
	u32	size;
	u32	mem;
	u32	packets;
	u32	next;
	u32	ship;
	u32	truesize;
	u32	alloc;
	u32	frags;
	u32	cur;
	u32	cur_off;
	u32	fill;
	u8	sealed:1,
		eor:1,
		accepted:1,
		refs:1,
		msgzc:1;
	struct ubuf_info *uarg;
	struct sstp_rtx *rtx;
	struct bio_vec frag[];
};

/* Allocate a segment of up to @len bytes in packets of @size bytes. */
struct sstp_sseg *sstp_sseg_alloc(u32 len, u32 size, gfp_t gfp);
void sstp_sseg_free(struct sstp_sseg *s);
/* @packets: of the segment when @r was allocated */
void sstp_rtx_free(struct sstp_rtx *r, u32 packets);

static inline u32 sstp_sseg_bytes(const struct sstp_sseg *s, u32 packet)
{
	return packet + 1 < s->packets ? s->size :
		s->len - s->size * (s->packets - 1);
}

/**
 * struct sstp_spos - place of a byte of payload in a segment by reference
 * @frag: fragment
 * @off: offset in it; may be its length, which is the start of the next one
 */
struct sstp_spos {
	u32	frag;
	u32	off;
};

/* Let a segment whose payload was copied, one packet at most, take pages by reference. False if
 * it has more packets.
 */
bool sstp_sseg_refer(struct sstp_sseg *s);
/* Does the memory at @off of @page follow the last fragment of the segment? */
bool sstp_sseg_joins(const struct sstp_sseg *s, const struct page *page, u32 off);
/* Add @len bytes at @off of @page to a segment by reference, which takes over a reference to
 * @page. The caller checks that they join the last fragment, or that another one is free.
 */
void sstp_sseg_add(struct sstp_sseg *s, struct page *page, u32 off, u32 len);
/* Where byte @from of a segment by reference is */
struct sstp_spos sstp_sseg_seek(const struct sstp_sseg *s, u32 from);
/* Take the bytes from @p on that are in one fragment, @len at most, and move @p past them.
 * Returns how many; @piece is where they are.
 */
u32 sstp_sseg_take(const struct sstp_sseg *s, struct sstp_spos *p, u32 len,
		   struct bio_vec *piece);
/* Fragments that hold the @len bytes from @p on */
u32 sstp_sseg_pieces(const struct sstp_sseg *s, struct sstp_spos p, u32 len);
/* Copy @len bytes of the segment, from byte @from on. */
void sstp_sseg_copy(const struct sstp_sseg *s, u32 from, u8 *to, u32 len);

#endif /* _SSTP_SND_SEG_H */
