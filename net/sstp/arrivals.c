// SPDX-License-Identifier: GPL-2.0
/* Loss detection at the receiver; arrivals.h describes the state. */
#include "arrivals.h"

void sstp_arrivals_init(struct sstp_arrivals *a, u32 segment, u32 shipment)
{
	memset(a, 0, sizeof(*a));
	a->highest = shipment - 1;
	a->leap = a->highest;
	a->settled = a->highest;
	a->hi.segment = segment;
	a->lost = a->hi;
	a->given = a->hi;
	a->reorder = SSTP_REORDER_MIN;
}

/* Every shipment up to H has come or was declared lost. */
static void sstp_arrivals_settle(struct sstp_arrivals *a)
{
	a->has_cand = false;
	a->out = 0;
	a->out_next = 0;
	a->gap = false;
	a->gap_next = false;
	a->settled = a->highest;
}

u32 sstp_arrivals_settled(const struct sstp_arrivals *a)
{
	if (a->out)
		return a->settled;
	if (!a->out_next)
		return a->highest;
	return a->has_cand ? a->cand_to : a->settled;
}

/* Make @hi the candidate: packets missing before it now are lost when it is confirmed. */
static void sstp_arrivals_candidate(struct sstp_arrivals *a, u32 now)
{
	a->cand = a->hi;
	a->cand_ship = a->highest;
	a->cand_at = now;
	a->settled = sstp_arrivals_settled(a);
	a->has_cand = true;
	a->cand_to = a->highest;
	a->out += a->out_next;
	a->out_next = 0;
	a->gap |= a->gap_next;
	a->gap_next = false;
}

static void sstp_arrivals_move_lost(struct sstp_arrivals *a, u32 now)
{
	a->has_cand = false;
	/* The gap that may have held retransmissions was not filled while the candidate waited. */
	if (a->gap && a->out)
		a->unexplained = true;
	a->gap = false;
	a->out = 0;
	a->settled = a->cand_to;
	if (sstp_pos_before(a->lost, a->cand)) {
		a->lost = a->cand;
		a->given = a->cand;
		a->given_at = a->cand_at;
	}
	if (sstp_pos_before(a->lost, a->hi) || a->out_next)
		sstp_arrivals_candidate(a, now);
	else
		sstp_arrivals_settle(a);
}

static void sstp_arrivals_note(struct sstp_arrivals *a, const struct sstp_rcv_wnd *w, u32 now)
{
	if (sstp_rcv_whole(w, a->hi)) {
		a->lost = a->hi;
		/* After 2^31 segments serial numbers would make new positions precede @given. */
		if (a->hi.segment - a->given.segment > BIT(30))
			a->given = a->hi;
		sstp_arrivals_settle(a);
	} else if (!a->has_cand &&
		   (sstp_pos_before(a->lost, a->hi) || a->out_next)) {
		sstp_arrivals_candidate(a, now);
	}
	if (a->has_cand && !sstp_before(a->highest, a->cand_ship + a->reorder))
		sstp_arrivals_move_lost(a, now);
}

/* Number of packets between @hi and @run, or U32_MAX if that is not known. If a gap has as
 * many shipments, first shipments explain it.
 */
static u32 sstp_arrivals_skipped(const struct sstp_arrivals *a, const struct sstp_rcv_wnd *w,
				 const struct sstp_rcv_run *run)
{
	const struct sstp_rseg *s;

	if (run->segment == a->hi.segment)
		return run->start - a->hi.packet;
	s = sstp_rcv_slot(w, a->hi.segment);
	if (run->segment != a->hi.segment + 1 || !s || !s->packets)
		return U32_MAX;
	return s->packets - a->hi.packet + run->start;
}

/* May H advance to @run? Not by more than SSTP_SHIP_LEAP for a single packet, which may be
 * forged or damaged: if it is genuine, the sender's next packet is near it. Nor for a first
 * shipment of a segment before @low (R_l), whose packets have all been shipped before.
 */
static bool sstp_arrivals_plausible(struct sstp_arrivals *a, u32 low,
				    const struct sstp_rcv_run *run)
{
	u32 leap = a->leap;

	if (!(run->flags & SSTP_F_AGAIN) && sstp_before(run->segment, low))
		return false;
	if (!sstp_after(run->shipment, a->highest + SSTP_SHIP_LEAP))
		return true;
	a->leap = run->shipment + run->count;
	return run->shipment - leap < SSTP_SHIP_LEAP;
}

/* The first shipment of a packet came after later shipments: measure by how much it was late,
 * and if it had been declared lost, wait longer from now on.
 */
static void sstp_arrivals_late(struct sstp_arrivals *a, const struct sstp_rcv_run *run,
			       struct sstp_pos pos, u32 now)
{
	u32 late = a->highest - (run->shipment + run->count - 1) + 1, us;

	if (sstp_pos_before(pos, a->given)) {
		/* It was declared lost, but was only late. */
		us = now - a->given_at;
		if (late > a->reorder)
			a->reorder = late > SSTP_REORDER_MAX ?
				     SSTP_REORDER_NONE : late;
		a->patience = max(a->patience, us + us / 4);
	} else if (sstp_pos_before(pos, a->lost)) {
		/* Nothing was missing at @pos: the packet is a copy that the network made. */
		return;
	} else if (a->has_cand && sstp_pos_before(pos, a->cand)) {
		us = now - a->cand_at;
	} else {
		us = 0;
	}
	a->late = max(a->late, late);
	a->late_us = max(a->late_us, us);
}

/* Packets were declared lost. After SSTP_REORDER_ROUNDS round trips with losses, @reorder and
 * @patience are set to the largest lateness in these, so that they shrink when reordering ends.
 */
static void sstp_arrivals_round(struct sstp_arrivals *a, u32 now, u32 wait)
{
	if (a->rounds && now - a->round_at < 4 * wait)
		return;
	a->round_at = now;
	if (++a->rounds <= SSTP_REORDER_ROUNDS)
		return;
	a->reorder = max_t(u32, a->late, SSTP_REORDER_MIN);
	if (a->reorder > SSTP_REORDER_MAX)
		a->reorder = SSTP_REORDER_NONE;
	a->patience = a->late_us + a->late_us / 4;
	a->late = 0;
	a->late_us = 0;
	a->rounds = 0;
}

/* Advance H to @last; @gap of the shipments before it have not come. */
static void sstp_arrivals_move_highest(struct sstp_arrivals *a, u32 last, u32 gap)
{
	u32 n = last - a->highest, k = (a->highest + 1) % SSTP_RCV_SEEN;

	if (gap && !a->out_next) {
		/* Shipments up to the old H came, or are settled together with @cand. */
		if (a->has_cand)
			a->cand_to = a->highest;
		else
			a->settled = a->highest;
	}
	a->out_next += gap;
	a->highest = last;
	a->doubted = false;
	if (n >= SSTP_RCV_SEEN) {
		bitmap_zero(a->seen, SSTP_RCV_SEEN);
		return;
	}
	if (n == 1) {
		__clear_bit(k, a->seen);
		return;
	}
	bitmap_clear(a->seen, k, min(n, SSTP_RCV_SEEN - k));
	if (n > SSTP_RCV_SEEN - k)
		bitmap_clear(a->seen, 0, n - (SSTP_RCV_SEEN - k));
}

/* Mark the shipments of @run as seen. Returns the number of those that were not seen before,
 * or are too old for @seen.
 */
static u32 sstp_arrivals_see(struct sstp_arrivals *a, const struct sstp_rcv_run *run)
{
	u32 fresh = 0, i;

	for (i = 0; i < run->count; i++) {
		u32 ship = run->shipment + i;

		fresh += a->highest - ship >= SSTP_RCV_SEEN ||
			 !__test_and_set_bit(ship % SSTP_RCV_SEEN, a->seen);
	}
	a->received += fresh;
	return fresh;
}

u32 sstp_arrivals_add(struct sstp_arrivals *a, const struct sstp_rcv_wnd *w,
		      const struct sstp_rcv_run *run, u32 now)
{
	struct sstp_pos pos = { run->segment, run->start + run->count };
	u32 last = run->shipment + run->count - 1, gap = 0, fresh;
	bool again = run->flags & SSTP_F_AGAIN;

	if (sstp_after(last, a->highest)) {
		if (!sstp_arrivals_plausible(a, w->low, run)) {
			a->received += run->count;
			return 0;
		}
		if (sstp_after(run->shipment, a->highest + 1))
			gap = run->shipment - a->highest - 1;
		sstp_arrivals_move_highest(a, last, gap);
		sstp_arrivals_see(a, run);
	} else {
		u32 *out = a->has_cand && !sstp_after(last, a->cand_to) ?
			   &a->out : &a->out_next;

		fresh = sstp_arrivals_see(a, run);
		if (!fresh)
			return 0;
		if (sstp_after(last, a->settled))
			*out -= min(*out, fresh);
		if (!again)
			sstp_arrivals_late(a, run, pos, now);
	}
	/* The missing shipments may be retransmissions, whose positions only the sender
	 * knows. They may be late, too, so the gap counts only when it is settled.
	 */
	if (gap && (again || gap != sstp_arrivals_skipped(a, w, run)))
		a->gap_next = true;
	if (!again && sstp_pos_before(a->hi, pos))
		a->hi = pos;
	return gap;
}

void sstp_arrivals_context(struct sstp_arrivals *a, u32 last, struct sstp_pos pos, u32 now)
{
	if (sstp_after(last, a->highest)) {
		sstp_arrivals_move_highest(a, last, last - a->highest);
		a->gap_next = true;
	} else if (last == a->highest) {
		a->doubted = false;
	} else if (!a->doubted) {
		/* The KEEPALIVE or EOS was overtaken, or H is wrong. */
		a->doubted = true;
	} else {
		a->doubted = false;
		a->highest = last;
		a->unexplained = true;
		sstp_arrivals_settle(a);
		bitmap_zero(a->seen, SSTP_RCV_SEEN);
	}
	if (sstp_pos_before(a->hi, pos))
		a->hi = pos;
	/* The sender has nothing more to ship, so no later shipment will confirm losses:
	 * confirm them at once, unless reordering was seen (@patience), as the KEEPALIVE or
	 * EOS may have overtaken late packets.
	 */
	if (!sstp_before(last, a->highest) &&
	    (sstp_pos_before(a->lost, a->hi) || a->out || a->out_next)) {
		/* With @patience, a candidate keeps its time, so that repeated KEEPALIVEs do
		 * not put off its confirmation; later data become the next candidate.
		 */
		if (!a->has_cand || !a->patience)
			sstp_arrivals_candidate(a, now);
		if (!a->patience)
			a->cand_ship = a->highest - a->reorder;
	}
}

bool sstp_arrivals_confirm(struct sstp_arrivals *a, const struct sstp_rcv_wnd *w, u32 now,
			   u32 wait)
{
	struct sstp_pos was = a->lost;
	bool again = a->unexplained;

	sstp_arrivals_note(a, w, now);
	if (a->has_cand &&
	    now - a->cand_at >= clamp(a->patience, wait, 8 * wait))
		sstp_arrivals_move_lost(a, now);
	if (sstp_rcv_whole(w, a->lost))
		return false;
	if (!sstp_pos_before(was, a->lost))
		return a->unexplained && !again;
	sstp_arrivals_round(a, now, wait);
	return true;
}

bool sstp_arrivals_lost(const struct sstp_arrivals *a, const struct sstp_rcv_wnd *w, u32 to)
{
	return !sstp_after(w->low, to) && !sstp_rcv_whole(w, a->lost);
}
