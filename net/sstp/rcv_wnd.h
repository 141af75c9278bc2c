/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive window and reassembly (WUCS-92-38, figure 9). Pure mechanism: it handles skbs, but
 * knows no socket and no clock; callers hold the socket lock and charge the memory. Position
 * hi is in struct sstp_arrivals.
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
#include "compat.h"
#include "rcv_snak.h"
#include "wire.h"

#define SSTP_RCV_CHUNK		8	/* slots allocated at once: 512 bytes */
#define SSTP_RCV_ENTRIES	4	/* of the array of chunks, at first and at rest */
#define SSTP_RCV_CHUNK_BYTES	(SSTP_RCV_CHUNK * sizeof(struct sstp_rseg))
#define SSTP_RCV_SEGMENTS	65536	/* most segments in a window */

enum sstp_rseg_state {
	SSTP_RSEG_EMPTY,	/* no packet came, or they were discarded */
	SSTP_RSEG_PARTIAL,	/* some packets are missing */
	SSTP_RSEG_ACCEPTED,	/* complete, or complete enough for the tolerance checker */
};

/**
 * struct sstp_rcb - control block of an skb in a segment
 * @off: offset of the header of its first packet from skb->data, bytes
 * @stride: bytes from one header to the next
 * @start: number of its first packet within the segment
 * @count: number of its packets
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
 * @head: skbs of packets 0 to @next - 1 in order, chained by skb->next
 * @tail: last skb of that chain
 * @ooo: skbs of packets after the first gap, by packet number
 * @map: bitmap of the packets that came out of order, a bit for each packet of the segment;
 *	NULL = none did
 * @len: bytes of the segment; this and the next two follow from the first packet that came
 * @size: bytes in each packet except the last
 * @packets: packets of the segment
 * @next: first packet that is missing
 * @got: packets that came
 * @asked_to: packets before this one were asked for; 0 = none
 * @asked: time of the request, us, modulo 2^32
 * @off: if @shared: offset of the packet's header in the skb
 * @ship: while SSTP_RSEG_PARTIAL: highest shipment of the packets that came
 * @truesize: memory charged for the segment, bytes
 * @state: enum sstp_rseg_state
 * @eor: the segment ends a record
 * @shared: the segment is a single packet in an skb that other segments use as well
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
 * struct sstp_rcv_wnd - receive window
 * @chunk: slots, by segment number: as far as segments came, which may be less than R_h
 * @chunks: entries of @chunk, a power of two
 * @bytes: memory of all chunks, and of the array @chunk beyond its initial size
 * @read: C, lowest segment that the program has not read
 * @low: R_l, lowest segment not accepted
 * @high: R_h, highest segment granted
 * @top: no segment after this one has packets in the window
 * @eos: number of the end-of-stream, valid with @has_eos
 * @tolerance: packets in a million that a segment may lack
 * @mean: smoothed memory of a segment, in 1/8 bytes
 * @payload: payload of the same segments, in 1/8 bytes
 * @recut: packets discarded because their segment was split anew
 * @has_eos: the end-of-stream is known
 * @asked: requests of SNAKs, except those in the slots
 * @spare: cleared chunk, kept for reuse, or NULL
 */
struct sstp_rcv_wnd {
	__cacheline_group_begin(sstp_rcv_wnd_arrival);
	struct sstp_rseg **chunk;
	u32	chunks;
	u32	bytes;
	u32	read;
	u32	low;
	u32	high;
	u32	top;
	u32	eos;
	u32	tolerance;
	u32	mean;
	u32	payload;
	u32	recut;
	bool	has_eos;
	__cacheline_group_end(sstp_rcv_wnd_arrival);
	struct sstp_asked asked;
	struct sstp_rseg *spare;
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
	SSTP_RCV_DUP,		/* all packets were received before */
	SSTP_RCV_OUTSIDE,	/* after R_h, or after the end of the stream */
	SSTP_RCV_CONFLICT,	/* contradicts packets of the segment that were shipped later */
	SSTP_RCV_NOMEM,		/* no memory for a slot or a bitmap */
};

int sstp_rcv_init(struct sstp_rcv_wnd *w, u32 segment, gfp_t gfp);
void sstp_rcv_destroy(struct sstp_rcv_wnd *w);
/* Raise R_h to @high, or as far as a window may reach. True if it moved. */
bool sstp_rcv_grant(struct sstp_rcv_wnd *w, u32 high);

/* Start @run with packet @d, and derive the geometry of its segment. False if the packets would be
 * too many or too large.
 */
bool sstp_rcv_geometry(const struct sstp_data *d, struct sstp_rcv_run *run);
/* Bytes of the bitmap that inserting @run allocates; the caller charges them with the skb. */
u32 sstp_rcv_map_bytes(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run);
/* Bytes that allocating a slot for @segment takes; 0 if it exists, or the segment was accepted */
u32 sstp_rcv_slot_bytes(struct sstp_rcv_wnd *w, u32 segment);
/* Insert the packets of @run. Earlier packets of the segment with another size are discarded if
 * @run was shipped after all of them. @fresh is set to the number of packets that are new.
 */
enum sstp_rcv_verdict sstp_rcv_insert(struct sstp_rcv_wnd *w,
				      struct sk_buff *skb,
				      const struct sstp_rcv_run *run,
				      u32 *fresh);
/* Did all packets of @run come before? False negatives are possible after a gap. */
bool sstp_rcv_had(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run);
/* Does @run begin with the first missing packet of its segment? */
bool sstp_rcv_is_next(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run);
/* Insert @run by copying its @len bytes to the tailroom of the skb of the preceding packet. False,
 * with nothing changed, if that is not possible.
 */
bool sstp_rcv_squeeze(struct sstp_rcv_wnd *w, const struct sk_buff *skb,
		      const struct sstp_rcv_run *run, u32 len);
/* Move R_l past accepted segments. A segment with gaps is accepted if the tolerance checker lets it
 * pass and all of its missing packets are before @lost, that is, not merely late; *@gapped is
 * increased by the number of these. True if R_l moved.
 */
bool sstp_rcv_advance(struct sstp_rcv_wnd *w, struct sstp_pos lost, u32 *gapped);

/* The segment that the program reads next, or NULL if it is not accepted yet */
struct sstp_rseg *sstp_rcv_peek(struct sstp_rcv_wnd *w);
/* Free the packets of the segment that was read, and move C to the next. */
void sstp_rcv_pop(struct sstp_rcv_wnd *w);
/* Free the slots of a connection that is idle: those of the segment that the program reads next and
 * of its neighbours, unless there are packets or requests for any of these.
 */
void sstp_rcv_trim(struct sstp_rcv_wnd *w);
/* Soft ACK: find the segment with the highest number after @above of which packets are in the
 * buffer. NULL if there is none, or none within 1024 steps; the next call continues there.
 */
struct sstp_rseg *sstp_rcv_largest(struct sstp_rcv_wnd *w, u32 above, u32 *segment);
/* Discard the packets of @segment, whose slot is @s: SNAKs will ask for them again. */
void sstp_rcv_discard(struct sstp_rcv_wnd *w, struct sstp_rseg *s, u32 segment);

static inline bool sstp_pos_before(struct sstp_pos a, struct sstp_pos b)
{
	return a.segment == b.segment ? a.packet < b.packet :
					sstp_before(a.segment, b.segment);
}

/* Number of packets of @segment, which has @packets in all, that are before @pos */
static inline u32 sstp_pos_within(struct sstp_pos pos, u32 segment, u32 packets)
{
	if (segment == pos.segment)
		return min(pos.packet, packets);
	return sstp_before(segment, pos.segment) ? packets : 0;
}

/* Chunks from that of C to that of @segment */
static inline u32 sstp_rcv_distance(const struct sstp_rcv_wnd *w, u32 segment)
{
	return (segment - round_down(w->read, SSTP_RCV_CHUNK)) / SSTP_RCV_CHUNK;
}

static inline struct sstp_rseg *sstp_rcv_chunk(const struct sstp_rcv_wnd *w, u32 segment)
{
	if (sstp_rcv_distance(w, segment) >= w->chunks)
		return NULL;
	return w->chunk[(segment / SSTP_RCV_CHUNK) & (w->chunks - 1)];
}

static inline struct sstp_rseg *sstp_rcv_slot(const struct sstp_rcv_wnd *w, u32 segment)
{
	struct sstp_rseg *c = sstp_rcv_chunk(w, segment);

	return c ? &c[segment % SSTP_RCV_CHUNK] : NULL;
}

/* Is no packet missing before @pos? */
static inline bool sstp_rcv_whole(const struct sstp_rcv_wnd *w, struct sstp_pos pos)
{
	const struct sstp_rseg *s;

	if (w->low == pos.segment) {
		s = sstp_rcv_slot(w, w->low);
		return s ? s->next >= pos.packet : !pos.packet;
	}
	return sstp_after(w->low, pos.segment);
}

/* Have all segments and the end-of-stream been accepted? */
static inline bool sstp_rcv_finished(const struct sstp_rcv_wnd *w)
{
	return w->has_eos && w->low == w->eos + 1;
}

/* Has R_l moved past segment @n, which is not before C? May be called without the socket lock, by
 * a waiting reader, which then checks again under the lock.
 */
static inline bool sstp_rcv_here(const struct sstp_rcv_wnd *w, u32 n)
{
	return sstp_before(n, READ_ONCE(w->low)) &&
	       !(READ_ONCE(w->has_eos) && n == READ_ONCE(w->eos));
}

/* Has the program read all segments of a stream that has ended? */
static inline bool sstp_rcv_drained(const struct sstp_rcv_wnd *w)
{
	return sstp_rcv_finished(w) && w->read == w->eos;
}

/* The first missing packet from @from on, or @packets of the segment if there is none */
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
