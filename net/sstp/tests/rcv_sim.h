/* SPDX-License-Identifier: GPL-2.0 */
/* A receive window and a model of it, for the suites that use one */
#ifndef _SSTP_RCV_SIM_H
#define _SSTP_RCV_SIM_H

#include "sstp_test.h"
#include "../arrivals.h"
#include "../rcv_wnd.h"

#define RCV_SEGMENTS	700	/* in a run */
#define RCV_PACKETS	128	/* in a segment, at most */
#define RCV_SIZE	40	/* bytes in a packet, at most */
#define RCV_RETRY	100000	/* us until a request is repeated */
#define RCV_WAIT	250	/* us until a late packet is lost */

/* Memory of packets: from the slab, a page after an empty head, or a page as the head */
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
 * @read: C, an index, as are the next three
 * @low: R_l
 * @high: R_h
 * @eos: end of the stream; S64_MAX = none yet
 * @verdict: number of results of each kind
 * @asked: packets that SNAKs asked for
 * @twice: packets of @asked that were asked for before
 * @memory: memory of the next packets
 * @now: arrival of the next packets, us
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

/* init and exit of a suite; test->priv is a struct rcv_sim. */
int rcv_sim_init(struct kunit *test);
void rcv_sim_exit(struct kunit *test);

/* Make a window that begins at @first, and segments of random sizes. */
void rcv_start(struct rcv_sim *s, u32 first, u32 shipment);
/* Make a window of @n segments of @packets packets each, all granted. */
void rcv_uniform(struct rcv_sim *s, u32 first, u32 ship, u32 n, u32 packets);
/* Free the window, and check that all memory is freed. */
void rcv_stop(struct rcv_sim *s);

/* An skb with packets [@start, @start + @count) of segment @i, as UDP passes it up */
struct sk_buff *rcv_packets(struct rcv_sim *s, u32 i, u32 start, u32 count,
			    bool shared, struct sstp_rcv_run *run);
/* Insert @skb into window and model, which must agree. */
enum sstp_rcv_verdict rcv_insert(struct rcv_sim *s, s64 i, struct sk_buff *skb,
				 const struct sstp_rcv_run *run);
/* Make an skb and insert it. */
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
/* Check a SNAK, with @len bytes of entries at @p after room for the header, that must not ask
 * for segments beyond @to, against the model, and record its requests.
 */
void rcv_check_snak(struct rcv_sim *s, u8 *p, u32 len, u16 entries, s64 to);

#endif /* _SSTP_RCV_SIM_H */
