/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loss detection at the receiver: records which shipments came, and keeps the position before
 * which every missing packet is lost, not late. A packet is declared lost after a number of
 * later shipments or after a time; both grow with the reordering seen. The algorithm is in
 * "Loss detection" of Documentation/networking/sstp-protocol.rst. Pure mechanism: no socket,
 * no clock; it reads the receive window, but does not change it. Callers hold the socket lock.
 */
#ifndef _SSTP_ARRIVALS_H
#define _SSTP_ARRIVALS_H

#include <linux/bitmap.h>
#include "compat.h"
#include "rcv_wnd.h"

#define SSTP_SHIP_LEAP		BIT(16)	/* shipments by which one packet may advance H */
#define SSTP_REORDER_MIN	3
#define SSTP_REORDER_MAX	1024
#define SSTP_REORDER_NONE	BIT(24)	/* never reached: only time declares losses */
#define SSTP_REORDER_ROUNDS	16	/* round trips with losses before both are measured anew */
#define SSTP_RCV_SEEN		1024U	/* shipments up to H that are remembered one by one */

/**
 * struct sstp_arrivals - shipments that came, are late, or are lost
 * @highest: H, highest shipment seen (serial number)
 * @leap: shipment after the last packet that was more than SSTP_SHIP_LEAP ahead of H, which
 *	is not advanced unless a second packet confirms it
 * @received: DATA packets that came, modulo 2^32; copies do not count, as far as @seen knows
 * @hi: position before which every packet has been shipped at least once
 * @lost: position before which every missing packet is lost; not after @hi
 * @given: value of @lost when packets were last declared lost
 * @settled: every shipment up to this one has come or was declared lost, if @out is not 0 or
 *	there is no candidate; see sstp_arrivals_settled()
 * @out: shipments up to @cand_to that have neither come nor been declared lost
 * @out_next: shipments after @cand_to (without a candidate: @settled), up to @highest, that
 *	have not come
 * @has_cand: there is a candidate
 * @gap: a retransmission may be among @out
 * @gap_next: a retransmission may be among @out_next
 * @unexplained: shipments that may be retransmissions were declared lost since the last SNAK
 *	that named all missing packets
 * @doubted: a KEEPALIVE or EOS carried a shipment before H, and H has not moved since: the
 *	second such packet sets H back
 * @seen: bitmap of the shipments that came, of the SSTP_RCV_SEEN up to @highest
 * @cand: candidate for @lost, valid if @has_cand: @hi when the candidate was set. It becomes
 *	@lost when H reaches @cand_ship + @reorder, or when it is old enough. If @cand is not
 *	after @lost, the candidate stands for retransmissions only, whose positions the
 *	receiver does not know
 * @cand_ship: H when @cand was set, or less, so that it is confirmed at once
 * @cand_at: time when @cand was set, us
 * @cand_to: as @settled, for the time after @cand has become @lost
 * @given_at: @cand_at of the candidate that declared them, us
 * @reorder: D, shipments by which a packet may be late: SSTP_REORDER_MIN to
 *	SSTP_REORDER_MAX, or SSTP_REORDER_NONE
 * @patience: time by which a packet may be late, us; sstp_arrivals_confirm() bounds it
 * @late: largest number of shipments by which a packet was late since @rounds was 0
 * @late_us: largest time by which a packet was late since then, us; a lower bound
 * @rounds: round trips in which packets were declared lost, 0 to SSTP_REORDER_ROUNDS
 * @round_at: time when the last of these began, us
 */
struct sstp_arrivals {
	__cacheline_group_begin(sstp_arrivals_arrival);
	u32	highest;
	u32	leap;
	u32	received;
	struct sstp_pos hi;
	struct sstp_pos lost;
	struct sstp_pos given;
	u32	settled;
	u32	out;
	u32	out_next;
	bool	has_cand;
	bool	gap;
	bool	gap_next;
	bool	unexplained;
	bool	doubted;
	__cacheline_group_end(sstp_arrivals_arrival);
	DECLARE_BITMAP(seen, SSTP_RCV_SEEN);
	struct sstp_pos cand;
	u32	cand_ship;
	u32	cand_at;
	u32	cand_to;
	u32	given_at;
	u32	reorder;
	u32	patience;
	u32	late;
	u32	late_us;
	u32	rounds;
	u32	round_at;
};

/* @segment, @shipment: first numbers of the peer, from its INIT or INIT_ACK */
void sstp_arrivals_init(struct sstp_arrivals *a, u32 segment, u32 shipment);
/* Record the arrival of @run; to be called before sstp_rcv_insert(). Advances H if the
 * shipments are plausible. Copies of shipments that came before change nothing. @now: us.
 * Returns the number of shipments between the former H and @run, which have not come.
 */
u32 sstp_arrivals_add(struct sstp_arrivals *a, const struct sstp_rcv_wnd *w,
		      const struct sstp_rcv_run *run, u32 now);
/* A KEEPALIVE or EOS came: its sender had shipped every packet before @pos, and @last was its
 * last shipment. If @last is before H, H was wrong (a forged packet) or the KEEPALIVE was
 * overtaken: only the second in a row sets H back. @now: us.
 */
void sstp_arrivals_context(struct sstp_arrivals *a, u32 last, struct sstp_pos pos, u32 now);
/* Declare packets lost that have been missing for longer than reordering explains: for @wait
 * us, or for up to 8 * @wait where packets were late by more. @now: us. Returns true if a SNAK
 * has to be sent: packets are missing that were not asked for, or of which a retransmission
 * may be lost.
 */
bool sstp_arrivals_confirm(struct sstp_arrivals *a, const struct sstp_rcv_wnd *w, u32 now,
			   u32 wait);
/* The highest shipment up to which every shipment has come or was declared lost */
u32 sstp_arrivals_settled(const struct sstp_arrivals *a);
/* Is a packet lost, whether a SNAK has asked for it or not, in segments from R_l to @to? */
bool sstp_arrivals_lost(const struct sstp_arrivals *a, const struct sstp_rcv_wnd *w, u32 to);

#endif /* _SSTP_ARRIVALS_H */
