/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrivals of shipments: which came, which may only be late, and before what place all that
 * is missing is lost. The receiver counts by shipments and by time, and learns from what was
 * late how long to wait. Mechanism: no socket, no clock; it looks at the receive window, but
 * changes nothing there. The caller holds the connection's lock.
 */
#ifndef _SSTP_ARRIVALS_H
#define _SSTP_ARRIVALS_H

#include <linux/bitmap.h>
#include "rcv_wnd.h"

#define SSTP_SHIP_LEAP		BIT(16)	/* shipments that H may move on for one packet */
#define SSTP_REORDER_MIN	3
#define SSTP_REORDER_MAX	1024
#define SSTP_REORDER_NONE	BIT(24)	/* time alone tells what is lost */
#define SSTP_REORDER_ROUNDS	16	/* with losses, before patience is measured anew */
#define SSTP_RCV_SEEN		1024U	/* shipments before H of which it is known which came */

/**
 * struct sstp_arrivals - shipments as they come
 * @highest: H, highest shipment seen
 * @leap: shipment after one that was too far ahead to move H; any other when there was
 *	none since
 * @received: DATA packets seen; none twice as far as @seen tells
 * @hi: everything before it has been shipped once
 * @lost: everything before it that is missing is lost
 * @cand: all before it was shipped once; or, where that is lost already, only shipments
 *	after the first are on their way. Becomes @lost when shipment @cand_ship + @reorder
 *	has been seen
 * @cand_at: when @cand was set, us
 * @given: where @lost was when something was given up last
 * @given_at: when the order of shipments was there, us
 * @reorder: shipments by which a packet may be late
 * @patience: us by which one may be, as far as that is more than sstp_arrivals_confirm()
 *	waits by itself
 * @late: shipments by which one was late since @rounds was 0
 * @late_us: us by which one was at least, since then
 * @rounds: round trips in which something was found lost
 * @round_at: when the last of them began, us
 * @settled: shipments up to this one are here or given up for lost;
 *	sstp_arrivals_settled() knows of more
 * @cand_to: the same once @cand is lost
 * @out: shipments up to @cand_to that are neither
 * @out_next: shipments up to @highest after that one that have not come
 * @seen: which shipments came, of the last SSTP_RCV_SEEN up to @highest, a bit for each
 * @gap: among @out there may be a retransmission
 * @gap_next: the same of @out_next
 * @unexplained: since the last SNAK some were given up that may be retransmissions
 * @doubted: a KEEPALIVE or EOS has said that H was not shipped, and nothing has moved H
 *	on since
 */
struct sstp_arrivals {
	u32	highest;
	u32	leap;
	u32	received;
	struct sstp_pos hi;
	struct sstp_pos lost;
	struct sstp_pos cand;
	u32	cand_ship;
	u32	cand_at;
	struct sstp_pos given;
	u32	given_at;
	u32	reorder;
	u32	patience;
	u32	late;
	u32	late_us;
	u32	rounds;
	u32	round_at;
	u32	settled;
	u32	cand_to;
	u32	out;
	u32	out_next;
	DECLARE_BITMAP(seen, SSTP_RCV_SEEN);
	bool	has_cand;
	bool	gap;
	bool	gap_next;
	bool	unexplained;
	bool	doubted;
};

/* The first is to be @shipment, of @segment. */
void sstp_arrivals_init(struct sstp_arrivals *a, u32 segment, u32 shipment);
/* @run came, before sstp_rcv_insert(). Returns the shipments skipped. H moves on if that
 * is plausible. Copies that the network made of what came before change nothing.
 */
u32 sstp_arrivals_add(struct sstp_arrivals *a, const struct sstp_rcv_wnd *w,
		      const struct sstp_rcv_run *run, u32 now);
/* A KEEPALIVE or EOS: everything before @pos left by shipment @last, and nothing after
 * that had left. Of two in a row that say so H believes the second.
 */
void sstp_arrivals_context(struct sstp_arrivals *a, u32 last, struct sstp_pos pos, u32 now);
/* Late packets are lost for sure once @now is @wait us past the gap, or longer, up to 8
 * @wait, where packets were late by more. Returns true when there is something lost that
 * was not asked for, or may have been lost again.
 */
bool sstp_arrivals_confirm(struct sstp_arrivals *a, const struct sstp_rcv_wnd *w, u32 now,
			   u32 wait);
/* The last shipment before which all are here or given up for lost */
u32 sstp_arrivals_settled(const struct sstp_arrivals *a);
/* Is anything lost, asked for or not, in segments up to @to? */
bool sstp_arrivals_lost(const struct sstp_arrivals *a, const struct sstp_rcv_wnd *w, u32 to);

#endif /* _SSTP_ARRIVALS_H */
