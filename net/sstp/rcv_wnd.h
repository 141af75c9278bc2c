/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving window and reassembly (paper 004, figure 9). Mechanism: knows skbs,
 * but no socket and no clock; the caller holds the connection's lock and accounts
 * for memory. struct sstp_arrivals knows hi.
 *
 *        C            R_l                 hi                    R_h
 *   -----+-------------+------------------+----------------------+------
 *   read | accepted    | some missing     | nothing came yet     | not granted
 */
#ifndef _SSTP_RCV_WND_H
#define _SSTP_RCV_WND_H

#include <linux/bitmap.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include "rcv_snak.h"
#include "wire.h"

#define SSTP_RCV_CHUNK		32	/* slots allocated at once: half a page */
#define SSTP_RCV_CHUNK_BYTES	(SSTP_RCV_CHUNK * sizeof(struct sstp_rseg))
#define SSTP_RCV_SEGMENTS	65536	/* most segments in a window */

enum sstp_rseg_state {
	SSTP_RSEG_EMPTY,	/* nothing of it is here */
	SSTP_RSEG_PARTIAL,
	SSTP_RSEG_ACCEPTED,	/* by the tolerance checker; waits for the reader */
};

/**
 * struct sstp_rcb - control block of an skb that waits in a segment
 * @off: where the header of its first packet is, from skb->data
 * @stride: bytes from header to header
 * @start: number of its first packet
 * @count: packets
 */
struct sstp_rcb {
	u32	off;
	u32	stride;
	u16	start;
	u16	count;
};

#define SSTP_RCB(skb)	((struct sstp_rcb *)(skb)->cb)

/**
 * struct sstp_rseg - a segment being received
 * @head: packets 0 to @next - 1 in order, chained by skb->next
 * @tail: last of them
 * @ooo: packets after the first gap, by number
 * @map: which those are, a bit for each packet of the segment, from the first
 *	of them on
 * @len: bytes; known from the first packet that came
 * @size: bytes in a packet but the last
 * @packets: in the segment
 * @next: first packet missing
 * @got: packets here
 * @asked_to: packets below this one have been asked for
 * @asked: when, us, modulo 2^32
 * @off: of the header, when @shared
 * @ship: highest shipment that came of it, while it is SSTP_RSEG_PARTIAL
 * @truesize: memory charged to it
 * @state: enum sstp_rseg_state
 * @eor: it ends a record
 * @shared: one packet in an skb that serves other segments as well
 */
struct sstp_rseg {
	struct sk_buff	*head;
	struct sk_buff	*tail;
	struct rb_root	ooo;
	unsigned long	*map;
	u32	len;
	u16	size;
	u16	packets;
	u16	next;
	u16	got;
	u32	asked_to;
	u32	asked;
	union {
		u32	off;
		u32	ship;
	};
	u32	truesize;
	u8	state;
	u8	eor:1,
		shared:1;
};

/* A place in the order of first shipments. */
struct sstp_pos {
	u32	segment;
	u32	packet;
};

/**
 * struct sstp_rcv_wnd - receiving window
 * @chunk: slots, by segment number
 * @chunks: entries of @chunk, a power of two
 * @spare: a cleared chunk kept for the next need
 * @bytes: memory of all chunks, and of @chunk beyond its first size
 * @asked: what was asked for, but for what the slots say
 * @read: C, lowest segment that the program has not taken
 * @low: R_l, lowest segment not accepted
 * @high: R_h, highest segment granted
 * @top: no segment above it has packets here
 * @eos: number of the end-of-stream, valid with @has_eos
 * @tolerance: packets in a million that a segment may lack
 * @mean: smoothed memory of a segment, bytes << 3
 * @recut: packets that were discarded as their segment came in packets of another size
 */
struct sstp_rcv_wnd {
	struct sstp_rseg **chunk;
	u32	chunks;
	struct sstp_rseg *spare;
	u32	bytes;
	struct sstp_asked asked;
	u32	read;
	u32	low;
	u32	high;
	u32	top;
	u32	eos;
	u32	tolerance;
	u32	mean;
	u32	recut;
	bool	has_eos;
};

/* A run of packets of one segment in one skb. */
struct sstp_rcv_run {
	u32	segment;
	u32	len;		/* of the segment */
	u32	shipment;	/* of the first packet */
	u32	off;		/* in the skb */
	u32	stride;
	u16	size;		/* bytes in a packet but the last */
	u16	packets;	/* of the segment */
	u16	start;
	u16	count;
	u8	flags;
	bool	shared;		/* other runs use the same skb */
};

enum sstp_rcv_verdict {
	SSTP_RCV_TAKEN,		/* the skb belongs to the window now */
	SSTP_RCV_SHARED,	/* the window took a reference of its own */
	SSTP_RCV_DUP,		/* nothing new in it */
	SSTP_RCV_OUTSIDE,	/* not granted */
	SSTP_RCV_CONFLICT,	/* contradicts what came before */
	SSTP_RCV_NOMEM,
};

int sstp_rcv_init(struct sstp_rcv_wnd *w, u32 segment, gfp_t gfp);
void sstp_rcv_destroy(struct sstp_rcv_wnd *w);
/* Raise R_h to @high, or as far as there is memory for slots. True if it moved. */
bool sstp_rcv_grant(struct sstp_rcv_wnd *w, u32 high);

/* A run's place in the data of its first packet; false = contradicts itself. */
bool sstp_rcv_geometry(const struct sstp_data *d, struct sstp_rcv_run *run);
/* Bytes that it takes to note @run, which the caller is to charge with its skb. */
u32 sstp_rcv_map_bytes(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run);
/* Bytes that it takes to have a slot for @segment */
u32 sstp_rcv_slot_bytes(struct sstp_rcv_wnd *w, u32 segment);
/* Put packets in their place. @fresh: how many were new. What came of their segment
 * in packets of another size makes way if all of it was shipped before.
 */
enum sstp_rcv_verdict sstp_rcv_insert(struct sstp_rcv_wnd *w,
				      struct sk_buff *skb,
				      const struct sstp_rcv_run *run,
				      u32 *fresh);
/* Did all of it come before? It may say no of packets after a gap. */
bool sstp_rcv_had(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run);
/* Is it the first packet that its segment lacks? */
bool sstp_rcv_is_next(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run);
/* The same as an insertion, but copies the @len bytes of @run into the memory
 * of the packet before it. False if there is no room, and nothing was done.
 */
bool sstp_rcv_squeeze(struct sstp_rcv_wnd *w, const struct sk_buff *skb,
		      const struct sstp_rcv_run *run, u32 len);
/* Move R_l on, over segments that the tolerance checker accepts as well: all that they
 * lack is before @lost, and so not merely late. True if it moved. Segments accepted with
 * gaps are counted in @gapped.
 */
bool sstp_rcv_advance(struct sstp_rcv_wnd *w, struct sstp_pos lost, u32 *gapped);

/* The segment that is next for the reader, or NULL. */
struct sstp_rseg *sstp_rcv_peek(struct sstp_rcv_wnd *w);
/* The reader is done with it; frees its packets. */
void sstp_rcv_pop(struct sstp_rcv_wnd *w);
/* Soft ACK: the segment with the largest number in the buffer above @above.
 * Looks a while; NULL if it found none by then.
 */
struct sstp_rseg *sstp_rcv_largest(struct sstp_rcv_wnd *w, u32 above, u32 *segment);
/* @s is @segment: it has to come again. */
void sstp_rcv_discard(struct sstp_rcv_wnd *w, struct sstp_rseg *s, u32 segment);

static inline bool sstp_pos_before(struct sstp_pos a, struct sstp_pos b)
{
	return a.segment == b.segment ? a.packet < b.packet :
					sstp_before(a.segment, b.segment);
}

/* Packets of @segment, which has @packets, that are before @pos. */
static inline u32 sstp_pos_within(struct sstp_pos pos, u32 segment, u32 packets)
{
	if (segment == pos.segment)
		return min(pos.packet, packets);
	return sstp_before(segment, pos.segment) ? packets : 0;
}

static inline struct sstp_rseg *sstp_rcv_chunk(const struct sstp_rcv_wnd *w, u32 segment)
{
	return w->chunk[(segment / SSTP_RCV_CHUNK) & (w->chunks - 1)];
}

static inline struct sstp_rseg *sstp_rcv_slot(const struct sstp_rcv_wnd *w, u32 segment)
{
	struct sstp_rseg *c = sstp_rcv_chunk(w, segment);

	return c ? &c[segment % SSTP_RCV_CHUNK] : NULL;
}

/* Nothing is missing before @pos: there is nothing to wait for. */
static inline bool sstp_rcv_whole(const struct sstp_rcv_wnd *w, struct sstp_pos pos)
{
	const struct sstp_rseg *s;

	if (w->low == pos.segment) {
		s = sstp_rcv_slot(w, w->low);
		return s ? s->next >= pos.packet : !pos.packet;
	}
	return sstp_after(w->low, pos.segment);
}

/* Every segment, and the end-of-stream, has been accepted. */
static inline bool sstp_rcv_finished(const struct sstp_rcv_wnd *w)
{
	return w->has_eos && w->low == w->eos + 1;
}

/* Segment @n, which is not before R_l when it is not, is accepted. Who waits for it
 * looks without the lock, and once more with it.
 */
static inline bool sstp_rcv_here(const struct sstp_rcv_wnd *w, u32 n)
{
	return sstp_before(n, READ_ONCE(w->low)) &&
	       !(READ_ONCE(w->has_eos) && n == READ_ONCE(w->eos));
}

/* The reader has taken every segment. */
static inline bool sstp_rcv_drained(const struct sstp_rcv_wnd *w)
{
	return sstp_rcv_finished(w) && w->read == w->eos;
}

/* The first packet from @from on that is missing. */
static inline u32 sstp_rseg_missing(const struct sstp_rseg *s, u32 from)
{
	from = max_t(u32, from, s->next);
	return s->map ? find_next_zero_bit(s->map, s->packets, from) : from;
}

static inline u16 sstp_rseg_bytes(const struct sstp_rseg *s, u32 packet)
{
	return packet + 1 < s->packets ? s->size :
		s->len - (u32)s->size * (s->packets - 1U);
}

#endif /* _SSTP_RCV_WND_H */
