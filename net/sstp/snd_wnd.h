/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send window (WUCS-92-38, figure 10): segments from the first that is not
 * acknowledged to the one that the program still fills, and the packets to be
 * shipped again. Mechanism: no socket, no clock; the caller holds the
 * connection's lock.
 *
 *       S_l                 next                 S_h            end
 *   -----+-------------------+--------------------+--------------+----
 *   acked| shipped once      | may be shipped     | must wait    | none
 */
#ifndef _SSTP_SND_WND_H
#define _SSTP_SND_WND_H

#include <linux/rbtree.h>
#include <net/sstp.h>
#include "snd_seg.h"

#define SSTP_SND_SEGMENTS	65536	/* most segments queued */
#define SSTP_SND_RING		4	/* slots at first; sstp_snd_reserve() makes more */
#define SSTP_SND_LOOK		4096	/* packets looked at in vain, for reports of one skb */
#define SSTP_SND_CREDIT		16384	/* the same, for skbs that come in a row */

/**
 * struct sstp_snd_wnd - send window
 * @ring: segments by number, @mask + 1 slots
 * @low: S_l
 * @high: S_h
 * @next: segment of the next packet never shipped
 * @end: number that the next segment from the program gets
 * @again: segments with packets to ship again, the oldest first
 * @pending: packets to ship again
 * @whole: first of the segments that the peer asked for as a whole and that are yet to be
 *	looked at, as they were too many to look at on arrival of the SNAK
 * @whole_end: number after the last of them
 * @shipment: number of the next shipment
 * @credit: packets that may be looked at in vain, and segments that are gone: it bounds the
 *	work that SNAKs cause. Grows by two with each shipment, to SSTP_SND_CREDIT at most
 * @vain: what is left of @credit for the reports of this skb, see sstp_snd_begin()
 * @spare: of @vain, what SNAKs leave for the segments from @whole on. These are looked at later,
 *	and new data would be shipped in their place until another skb comes
 * @whole_settled: the newest shipment that the receiver had, or had given up, when it asked
 *	for the segments from @whole on
 * @lost: newest shipment that the peer reported lost, since the caller set it
 * @ranges: entries of @range
 * @range: shipments that the peer asked for again, the first ranges since the caller set @ranges
 *	to 0
 */
struct sstp_snd_wnd {
	__cacheline_group_begin(sstp_snd_wnd_send);
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
	u32	shipment;
	u32	credit;
	u32	vain;
	__cacheline_group_end(sstp_snd_wnd_send);
	u32	spare;
	u32	whole_settled;
	u32	lost;
	u32	ranges;
	struct sstp_ship_range range[SSTP_SHIP_RANGES];
};

int sstp_snd_init(struct sstp_snd_wnd *w, u32 segment, u32 shipment, gfp_t gfp);
/* Frees every segment. */
void sstp_snd_destroy(struct sstp_snd_wnd *w);

/* Make room for one more segment; may sleep if @gfp allows. 0, -ENOMEM, or
 * -EAGAIN when SSTP_SND_SEGMENTS are queued.
 */
int sstp_snd_reserve(struct sstp_snd_wnd *w, gfp_t gfp);
void sstp_snd_add(struct sstp_snd_wnd *w, struct sstp_sseg *s);

static inline struct sstp_sseg *sstp_snd_segment(const struct sstp_snd_wnd *w,
						 u32 number)
{
	return w->ring[number & w->mask];
}

/* Were packets asked for that sstp_snd_rtx() may find? */
static inline bool sstp_snd_asked(const struct sstp_snd_wnd *w)
{
	return w->pending || w->whole != w->whole_end;
}

/* The segment with the next packet never shipped; NULL if there is none or S_h forbids it. */
struct sstp_sseg *sstp_snd_new(const struct sstp_snd_wnd *w);
/* The next @count packets of @s have been shipped. */
void sstp_snd_shipped(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 count);

/* Take R_l (@ack) and R_h (@limit) of a PACK or SNAK: segments below @ack leave the window,
 * each is passed to @release. False, and nothing changes, if @ack is below S_l or above the
 * segments shipped in full, or if @limit is too far ahead.
 */
bool sstp_snd_ack(struct sstp_snd_wnd *w, u32 ack, u32 limit,
		  void (*release)(void *arg, struct sstp_sseg *s), void *arg);
/* The peer accepted a segment out of order: its retransmissions are cancelled. Unless @soft
 * it leaves the window and is passed to @release. False if this was known, or if the segment
 * is not in the window or was not shipped in full.
 */
bool sstp_snd_accept(struct sstp_snd_wnd *w, u32 segment, bool soft,
		     void (*release)(void *arg, struct sstp_sseg *s), void *arg);

/* A receiver that has all shipments up to @settled, or has given them up, asks for a packet
 * again. True if the packet will be shipped again for that; false if it waits for being
 * shipped already, may still be on its way or was never shipped, or without memory.
 */
bool sstp_snd_want(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 packet,
		   u32 settled, gfp_t gfp);
/* Reports of one skb follow. @refill: a round trip or more has passed since the last call
 * with @refill, so that credit for one skb is granted anew.
 */
void sstp_snd_begin(struct sstp_snd_wnd *w, bool refill);
/* May SNAKs of this skb have more packets looked at? */
static inline bool sstp_snd_may_look(const struct sstp_snd_wnd *w)
{
	return w->vain > w->spare;
}

/* Handle one run of a SNAK. Returns how many packets will be shipped again for it. Looks at
 * @budget packets (and segments that are gone) at most, and lowers @budget by them. Whole
 * segments beyond it are looked at when they are next to be shipped. Ends sooner when too
 * many packets were looked at in vain, as they may still be on their way.
 */
u32 sstp_snd_snak(struct sstp_snd_wnd *w, const struct sstp_snak_run *run,
		  u32 settled, u32 *budget);
/* Cut a segment anew into packets of @size bytes. All of them are to be shipped: as
 * retransmissions if the segment was shipped in full, else as new packets. False if it stays
 * as it is: it is not sealed, there is no memory, or there would be too many packets.
 */
bool sstp_snd_recut(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 size, gfp_t gfp);
/* The next packet to ship again, or NULL. */
struct sstp_sseg *sstp_snd_rtx(struct sstp_snd_wnd *w, u32 *packet);
/* The packet that sstp_snd_rtx() named was shipped, as @shipment. */
void sstp_snd_shipped_rtx(struct sstp_snd_wnd *w, struct sstp_sseg *s,
			  u32 packet, u32 shipment);

#define SSTP_SND_GRANTED	8ULL	/* segments */

/* Packets to pace in a round trip if segments have @packets, or as many as segment S_l where that
 * has more: those of the segments from S_l to S_h, and of one more, as a segment is granted again
 * only when all of it has come. Of a window of few segments, those of SSTP_SND_GRANTED: the time in
 * which one leaves is added to each round trip.
 */
u32 sstp_snd_granted(const struct sstp_snd_wnd *w, u32 packets);

/* Is there a packet that was shipped and is not acknowledged? */
static inline bool sstp_snd_outstanding(const struct sstp_snd_wnd *w)
{
	const struct sstp_sseg *s;

	if (w->next != w->low)
		return true;
	s = w->next == w->end ? NULL : sstp_snd_segment(w, w->next);
	return s && s->next;
}

#endif /* _SSTP_SND_WND_H */
