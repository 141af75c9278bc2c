/* SPDX-License-Identifier: GPL-2.0 */
/* A receiving window and a model of it, for the suites that have one. */
#ifndef _SSTP_RCV_SIM_H
#define _SSTP_RCV_SIM_H

#include "sstp_test.h"
#include "../arrivals.h"
#include "../rcv_wnd.h"

#define RCV_SEGMENTS	700	/* in a run */
#define RCV_PACKETS	128	/* in a segment, at most */
#define RCV_SIZE	40	/* bytes in a packet, at most */
#define RCV_RETRY	100000	/* us until something is asked for again */
#define RCV_WAIT	250	/* us until a late packet is lost */

/* Where packets are: in memory of the slab, in a page after an empty head, or in a
 * page that is the head.
 */
enum rcv_memory { RCV_ANY, RCV_LINEAR, RCV_PAGE, RCV_HEAD };

/* Segment @first + its index */
struct rcv_seg {
	u32	len;
	u16	size;
	u16	packets;
	u16	got;
	bool	eor;
	bool	accepted;
	DECLARE_BITMAP(have, RCV_PACKETS);
	DECLARE_BITMAP(asked, RCV_PACKETS);
};

/**
 * struct rcv_sim - the window, its arrivals, and the model of both
 * @first: number of segment 0
 * @read: C, an index as are the next four
 * @low: R_l
 * @high: R_h
 * @eos: S64_MAX while there is none
 * @verdict: how often each came
 * @asked: packets that SNAKs asked for
 * @twice: of those, asked for before
 * @memory: of the packets to come
 * @now: when they come, us
 */
struct rcv_sim {
	struct kunit *test;
	struct rnd_state rnd;
	struct sstp_rcv_wnd w;
	struct sstp_arrivals arrivals;
	u32	first;
	s64	read;
	s64	low;
	s64	high;
	s64	eos;
	u32	verdict[SSTP_RCV_NOMEM + 1];
	u32	asked;
	u32	twice;
	enum rcv_memory memory;
	u32	now;
	struct rcv_seg seg[RCV_SEGMENTS];
};

/* For a suite; test->priv is a struct rcv_sim. */
int rcv_sim_init(struct kunit *test);
void rcv_sim_exit(struct kunit *test);

/* A window that begins at @first, and segments of any size. */
void rcv_start(struct rcv_sim *s, u32 first, u32 shipment);
/* A window of @n segments of @packets packets each, all granted. */
void rcv_uniform(struct rcv_sim *s, u32 first, u32 ship, u32 n, u32 packets);
/* Is all memory freed? */
void rcv_stop(struct rcv_sim *s);

/* Packets [start, start + count) of segment @i, as they come from the wire. */
struct sk_buff *rcv_packets(struct rcv_sim *s, u32 i, u32 start, u32 count,
			    bool shared, struct sstp_rcv_run *run);
/* Hand them to the window, which must do with them as the model does. */
enum sstp_rcv_verdict rcv_insert(struct rcv_sim *s, s64 i, struct sk_buff *skb,
				 const struct sstp_rcv_run *run);
/* Both. */
enum sstp_rcv_verdict rcv_put(struct rcv_sim *s, s64 i, u32 start, u32 count,
			      bool shared);
void rcv_discard(struct rcv_sim *s, struct sstp_rseg *r, s64 i);
void rcv_advance(struct rcv_sim *s);

static inline bool rcv_confirm(struct rcv_sim *s, u32 now, u32 wait)
{
	return sstp_arrivals_confirm(&s->arrivals, &s->w, now, wait);
}

/* Shipment @ship, of one packet, arrives. */
void rcv_arrives(struct rcv_sim *s, u32 ship, u32 i, u32 packet, u8 flags);
/* Ask for what is due up to segment @to; returns the packets asked for. */
u32 rcv_snak(struct rcv_sim *s, s64 to, u32 now);

/* Do the window and the model agree: the numbers, all segments, one of them? */
void rcv_check(struct rcv_sim *s);
void rcv_check_all(struct rcv_sim *s);
void rcv_check_seg(struct rcv_sim *s, u32 i);
/* The same of a SNAK with @len bytes of entries at @p, after room for the header,
 * that shall not go beyond segment @to; notes what it asks for.
 */
void rcv_check_snak(struct rcv_sim *s, u8 *p, u32 len, u16 entries, s64 to);

#endif /* _SSTP_RCV_SIM_H */
