/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send window (WUCS-92-38, figure 10): segments from the first that is not
 * acknowledged to the one that the program still fills, and what must be
 * shipped again. Mechanism: no socket, no clock; the caller holds the
 * connection's lock.
 *
 *       S_l                 next                 S_h            end
 *   -----+-------------------+--------------------+--------------+----
 *   acked| shipped once      | may be shipped     | must wait    | none
 */
#ifndef _SSTP_SND_WND_H
#define _SSTP_SND_WND_H

#include <linux/bvec.h>
#include <linux/rbtree.h>
#include "wire.h"

#define SSTP_SND_SEGMENTS	65536	/* most segments queued */
#define SSTP_SND_LOOK		4096	/* packets looked at in vain, for an skb */
#define SSTP_SND_CREDIT		16384	/* the same, for those that come at once */
#define SSTP_RTX_CHUNK		1024	/* packets whose shipments are kept together */

/**
 * struct sstp_rtx - what was shipped again of a segment
 * @node: in sstp_snd_wnd.again while @count
 * @pending: bitmap of packets to ship again
 * @count: bits set in @pending
 * @scan: no bit is set below it
 * @ship: number of the last shipment of each packet, chunks of SSTP_RTX_CHUNK,
 *	NULL where none was shipped again
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
 * @mem: the same, as they lie in memory: another if the segment was cut anew
 * @packets: how many there are; grows while not @sealed
 * @next: first packet never shipped
 * @ship: first shipment of the first one
 * @truesize: memory charged for it
 * @alloc: entries of @frag
 * @frags: used entries; together the bytes [header | payload]... of packets of @mem
 * @cur: fragment where packet @next starts
 * @cur_off: its offset there
 * @fill: bytes of the packet being filled, header included
 * @sealed: its length is final
 * @eor: ends a record
 * @accepted: the receiver has named it as accepted, and may give it up yet (soft ACK)
 * @rtx: of what was lost; NULL while nothing was
 *
 * The header of each packet is written just before its first shipment; no byte
 * of a packet changes after that, as the pages may be the receiver's as well.
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
		accepted:1;
	struct sstp_rtx *rtx;
	struct bio_vec frag[];
};

/**
 * struct sstp_snd_wnd - sending window
 * @ring: segments by number, @mask + 1 slots
 * @low: S_l
 * @high: S_h
 * @next: segment of the next packet never shipped
 * @end: number that the next segment from the program gets
 * @again: segments with packets to ship again, the oldest first
 * @pending: packets to ship again
 * @whole: segments from here to @whole_end were asked for as a whole, and have yet
 *	to be looked at: there are too many to do so at once
 * @whole_end: number after the last of them
 * @whole_settled: up to which shipment the receiver had them or had given them up then
 * @shipment: number of the next shipment
 * @lost: newest shipment that was asked for again, since the caller set it
 * @credit: packets, and segments that are gone, that may be looked at in vain. Who makes
 *	us ship may have us look, so it grows by two with each shipment
 * @vain: of these, since sstp_snd_begin()
 */
struct sstp_snd_wnd {
	struct sstp_sseg **ring;
	u32	mask;
	u32	low;
	u32	high;
	u32	next;
	u32	end;
	struct rb_root_cached again;
	u32	pending;
	u32	whole;
	u32	whole_end;
	u32	whole_settled;
	u32	shipment;
	u32	lost;
	u32	credit;
	u32	vain;
};

int sstp_snd_init(struct sstp_snd_wnd *w, u32 segment, u32 shipment, gfp_t gfp);
/* Frees every segment. */
void sstp_snd_destroy(struct sstp_snd_wnd *w);

/* Make room for one more segment; may sleep if @gfp allows. 0, -ENOMEM, or
 * -EAGAIN when SSTP_SND_SEGMENTS are queued.
 */
int sstp_snd_reserve(struct sstp_snd_wnd *w, gfp_t gfp);
/* A segment of up to @len bytes in packets of @size bytes. */
struct sstp_sseg *sstp_sseg_alloc(u32 len, u32 size, gfp_t gfp);
void sstp_sseg_free(struct sstp_sseg *s);
void sstp_snd_add(struct sstp_snd_wnd *w, struct sstp_sseg *s);

static inline struct sstp_sseg *sstp_snd_segment(const struct sstp_snd_wnd *w,
						 u32 number)
{
	return w->ring[number & w->mask];
}

static inline u32 sstp_sseg_bytes(const struct sstp_sseg *s, u32 packet)
{
	return packet + 1 < s->packets ? s->size :
		s->len - s->size * (s->packets - 1);
}

/* May a packet that was never shipped be shipped? The segment, or NULL. */
struct sstp_sseg *sstp_snd_new(const struct sstp_snd_wnd *w);
/* The next @count packets of @s have been shipped. */
void sstp_snd_shipped(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 count);

/* R_l and R_h of a PACK or SNAK: everything below @ack is free to go, sent to
 * @release. False if they contradict what was sent or what R_l was.
 */
bool sstp_snd_ack(struct sstp_snd_wnd *w, u32 ack, u32 limit,
		  void (*release)(void *arg, struct sstp_sseg *s), void *arg);
/* One segment accepted out of order: nothing of it waits for being shipped
 * again. It is freed unless @soft. False if this was known, or cannot be.
 */
bool sstp_snd_accept(struct sstp_snd_wnd *w, u32 segment, bool soft,
		     void (*release)(void *arg, struct sstp_sseg *s), void *arg);

/* The packet is wanted again by a receiver that has all shipments up to @settled, or has
 * given them up.
 * True if it will be shipped again for that.
 */
bool sstp_snd_want(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 packet,
		   u32 settled, gfp_t gfp);
/* Reports of one skb follow; @refill: a round trip or more has passed since it was so. */
void sstp_snd_begin(struct sstp_snd_wnd *w, bool refill);
/* A SNAK's run. Returns the packets to be shipped again. Looks at no more than
 * @budget, which it lowers: packets, and segments that are gone; at whole segments
 * beyond that when it is their turn. It ends sooner when too many were on their way.
 */
u32 sstp_snd_snak(struct sstp_snd_wnd *w, const struct sstp_snak_run *run,
		  u32 settled, u32 *budget);
/* Cut a segment anew into packets of @size bytes: all of them are to be shipped, again
 * if all of it was shipped before. False if it stays as it is: there is no memory, or
 * there would be too many packets.
 */
bool sstp_snd_recut(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 size, gfp_t gfp);
/* Copies @len bytes of the segment, from byte @from on. */
void sstp_sseg_copy(const struct sstp_sseg *s, u32 from, u8 *to, u32 len);
/* The next packet to ship again, or NULL. */
struct sstp_sseg *sstp_snd_rtx(struct sstp_snd_wnd *w, u32 *packet);
/* It was shipped, as @shipment. */
void sstp_snd_shipped_rtx(struct sstp_snd_wnd *w, struct sstp_sseg *s,
			  u32 packet, u32 shipment);

/* Something was shipped, and is not acknowledged. */
static inline bool sstp_snd_outstanding(const struct sstp_snd_wnd *w)
{
	const struct sstp_sseg *s;

	if (w->next != w->low)
		return true;
	s = w->next == w->end ? NULL : sstp_snd_segment(w, w->next);
	return s && s->next;
}

#endif /* _SSTP_SND_WND_H */
