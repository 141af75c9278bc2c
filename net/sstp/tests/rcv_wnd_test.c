// SPDX-License-Identifier: GPL-2.0
/* Receive window: reassembly, grants, replacement, gaps */
#include <linux/bitmap.h>
#include <linux/math64.h>
#include "rcv_sim.h"
#include "../rcv_wnd.c"

#define RCV_STEPS	8000

/* --- reassembly ------------------------------------------------------------- */

static void rcv_op_put(struct rcv_sim *s)
{
	s64 i = s->low - 2 + sstp_rnd_below(&s->rnd, s->high - s->low + 5);
	struct rnd_state *r = &s->rnd;
	struct sstp_rcv_run run;
	struct sk_buff *skb;
	u32 start, count;

	if (sstp_rnd_one_in(r, 2))
		i = s->low + sstp_rnd_below(r, 4);
	i = clamp(i, max(s->read - 5, 0LL), RCV_SEGMENTS - 1LL);
	start = sstp_rnd_below(r, s->seg[i].packets);
	count = sstp_rnd_range(r, 1, s->seg[i].packets - start);
	if (sstp_rnd_one_in(r, 2))
		count = min(count, 3U);
	if (sstp_rnd_one_in(r, 8)) {
		start = 0;
		count = s->seg[i].packets;
	}
	skb = rcv_packets(s, i, start, count, sstp_rnd_one_in(r, 3), &run);
	/* The first packet that comes defines the segment, so it must be right. */
	if (s->seg[i].got && sstp_rnd_one_in(r, 16))
		switch (sstp_rnd_below(r, 4)) {
		case 0:
			run.len++;
			break;
		case 1:
			run.size += 8;
			break;
		case 2:
			run.packets++;
			break;
		case 3:
			run.count = run.packets - run.start + 1;
			break;
		}
	rcv_insert(s, i, skb, &run);
	rcv_advance(s);
}

/* Close the first gap of the first segment that has one. */
static void rcv_op_fill(struct rcv_sim *s)
{
	const struct rcv_seg *m = &s->seg[s->low];
	u32 from, to;

	if (s->low > min(s->high, RCV_SEGMENTS - 1LL) || s->low >= s->eos)
		return;
	from = find_first_zero_bit(m->have, m->packets);
	to = find_next_bit(m->have, m->packets, from);
	rcv_put(s, s->low, from, to - from, sstp_rnd_one_in(&s->rnd, 3));
	rcv_advance(s);
}

static void rcv_op_grant(struct rcv_sim *s)
{
	struct rnd_state *r = &s->rnd;
	s64 high = s->read + sstp_rnd_below(r, 40) - 1, was = s->high;
	bool moved;

	if (sstp_rnd_one_in(r, 8))
		high = s->read + sstp_rnd_below(r, 300);
	if (s->low > RCV_SEGMENTS / 2 && sstp_rnd_one_in(r, 64))
		high = s->high + (s32)sstp_rnd_edge(r) / 4;
	/* R_h never moves back, nor so far that two segments share a slot. */
	if (high > s->high)
		s->high = max(s->high, min(high, s->read + SSTP_RCV_SEGMENTS -
					   1));
	moved = sstp_rcv_grant(&s->w, s->first + (u32)high);
	KUNIT_ASSERT_EQ(s->test, moved, s->high != was);
}

static void rcv_op_read(struct rcv_sim *s)
{
	u32 n = sstp_rnd_below(&s->rnd, 8);
	struct sstp_rseg *r;

	if (n % 2)
		sstp_rcv_trim(&s->w);
	while (n--) {
		bool ready = s->read < s->low && s->read != s->eos;

		r = sstp_rcv_peek(&s->w);
		KUNIT_ASSERT_EQ(s->test, !!r, ready);
		if (!r)
			return;
		rcv_check_seg(s, s->read);
		sstp_rcv_pop(&s->w);
		s->read++;
	}
}

/* Soft ACK: discard the segment with the largest number. */
static void rcv_op_discard(struct rcv_sim *s)
{
	s64 above, i, end = min(s->high, RCV_SEGMENTS - 1LL);
	struct sstp_rseg *r;
	u32 segment = 0;

	above = s->low + sstp_rnd_below(&s->rnd, s->high - s->low + 2);
	for (i = end; i > above && !s->seg[i].got; i--)
		;
	r = sstp_rcv_largest(&s->w, s->first + (u32)above, &segment);
	KUNIT_ASSERT_EQ(s->test, !!r, i > above);
	if (!r || sstp_rnd_one_in(&s->rnd, 2))
		return;
	KUNIT_ASSERT_EQ(s->test, segment, s->first + (u32)i);
	KUNIT_ASSERT_PTR_EQ(s->test, r, sstp_rcv_slot(&s->w, segment));
	rcv_discard(s, r, i);
}

static void rcv_op_eos(struct rcv_sim *s)
{
	s64 i;

	if (s->eos != S64_MAX || s->low < RCV_SEGMENTS * 3 / 4)
		return;
	/* The last segment of which packets have come */
	for (i = RCV_SEGMENTS - 1; i >= s->low && !s->seg[i].got; i--)
		;
	s->eos = min(i + 1 + sstp_rnd_below(&s->rnd, 4), s->high + 1);
	s->w.eos = s->first + (u32)s->eos;
	s->w.has_eos = true;
	rcv_advance(s);
}

static const struct {
	void (*op)(struct rcv_sim *s);
	u8 weight;
} rcv_op[] = {
	{ rcv_op_put, 60 },
	{ rcv_op_fill, 25 },
	{ rcv_op_grant, 6 },
	{ rcv_op_read, 5 },
	{ rcv_op_discard, 2 },
	{ rcv_op_eos, 1 },
};

static void rcv_random_of(struct rcv_sim *s, u32 first)
{
	u32 i, step, pick, total = 0;

	for (i = 0; i < ARRAY_SIZE(rcv_op); i++)
		total += rcv_op[i].weight;
	rcv_start(s, first, sstp_rnd_edge(&s->rnd));
	for (step = 0; step < RCV_STEPS; step++) {
		pick = sstp_rnd_below(&s->rnd, total);
		for (i = 0; pick >= rcv_op[i].weight; i++)
			pick -= rcv_op[i].weight;
		rcv_op[i].op(s);
		if (step % 64)
			rcv_check(s);
		else
			rcv_check_all(s);
	}
	rcv_check_all(s);
	rcv_stop(s);
}

static void rcv_random(struct kunit *test)
{
	static const u32 first[] = {
		-100, 0, 1, 63, -1, -64, -400, 0x7fffffff, 0x7fffff00,
	};
	struct rcv_sim *s = test->priv;
	u32 i;

	sstp_test_seed_rnd(test, &s->rnd);
	memset(s->verdict, 0, sizeof(s->verdict));
	for (i = 0; i < sstp_test_rounds(ARRAY_SIZE(first)); i++)
		rcv_random_of(s, first[i]);
	for (i = 0; i < SSTP_RCV_NOMEM; i++)
		KUNIT_EXPECT_GT_MSG(test, s->verdict[i],
				    sstp_test_rounds(300), "verdict %u", i);
}

/* Runs that enclose packets that are here, begin in them, or begin where they end */
static void rcv_overlaps(struct kunit *test)
{
	static const struct {
		struct {
			u8 start;
			u8 count;
			u8 fresh;
		} put[6];
	} t[] = {
		{ { { 0, 4, 4 }, { 2, 4, 2 }, { 0, 16, 10 } } },
		{ { { 4, 2, 2 }, { 0, 16, 4 }, { 4, 12, 10 } } },
		{ { { 4, 2, 2 }, { 5, 4, 3 }, { 3, 2, 1 }, { 0, 3, 3 },
		    { 0, 16, 7 } } },
		{ { { 4, 1, 1 }, { 5, 1, 1 }, { 6, 1, 1 }, { 4, 4, 1 },
		    { 0, 16, 4 }, { 0, 16, 8 } } },
		{ { { 6, 1, 1 }, { 4, 1, 1 }, { 5, 1, 1 }, { 4, 4, 1 },
		    { 1, 15, 3 }, { 0, 1, 1 } } },
		{ { { 5, 1, 1 }, { 6, 1, 1 }, { 4, 1, 1 }, { 4, 5, 2 },
		    { 15, 1, 1 }, { 4, 12, 6 } } },
		{ { { 8, 2, 2 }, { 10, 2, 2 }, { 12, 2, 2 }, { 9, 7, 2 },
		    { 8, 8, 0 }, { 0, 16, 8 } } },
	};
	struct rcv_sim *s = test->priv;
	u32 i, k, shared;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		for (shared = 0; shared < 2; shared++) {
			rcv_start(s, 5, 0);
			s->seg[0].packets = 16;
			s->seg[0].size = 8;
			s->seg[0].len = 128;
			for (k = 0; k < 6 && t[i].put[k].count; k++) {
				u32 was = s->seg[0].got;

				rcv_put(s, 0, t[i].put[k].start,
					t[i].put[k].count, shared);
				KUNIT_EXPECT_EQ_MSG(test, s->seg[0].got - was,
						    t[i].put[k].fresh,
						    "row %u, %u", i, k);
				rcv_check_all(s);
			}
			rcv_stop(s);
		}
}

/* Number and size of a segment's packets, which follow from the first that comes */
static void rcv_geometry(struct kunit *test)
{
	static const struct {
		u32 packets;
		u32 size;
		u32 last;
	} t[] = {
		{ 1, 1, 1 }, { 1, 1448, 1448 }, { 1, 65483, 65483 },
		{ 2, 8, 1 }, { 2, 8, 8 }, { 3, 1448, 1447 },
		{ 2, 65480, 1 }, { 256, 65480, 3 }, { 1000, 1448, 1 },
		{ SSTP_PACKETS_MAX, 8, 8 }, { SSTP_PACKETS_MAX, 248, 1 },
	};
	u32 i, k, n;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		for (n = 0; n < 100; n++) {
			struct sstp_data_hdr h;
			struct sstp_data d = {
				.segment = 4711, .shipment = 815,
				.flags = n % 2 ? SSTP_F_EOR : 0,
				.len = (t[i].packets - 1) * t[i].size +
				       t[i].last,
			};
			struct sstp_rcv_run run;

			/* The first fifty packets, and the last */
			k = n < 50 ? n : t[i].packets - (n - 49);
			if (k >= t[i].packets)
				continue;
			d.packet = k;
			d.bytes = t[i].size;
			if (k == t[i].packets - 1) {
				d.flags |= SSTP_F_LAST;
				d.bytes = t[i].last;
			}
			sstp_build_data(&h, &d);
			KUNIT_ASSERT_TRUE(test, sstp_parse_data(&h, sizeof(h) +
						d.bytes, &d));
			KUNIT_ASSERT_TRUE(test, sstp_rcv_geometry(&d, &run));
			KUNIT_ASSERT_EQ(test, run.segment, 4711U);
			KUNIT_ASSERT_EQ(test, run.shipment, 815U);
			KUNIT_ASSERT_EQ(test, run.len, d.len);
			KUNIT_ASSERT_EQ(test, run.packets, t[i].packets);
			KUNIT_ASSERT_EQ(test, run.size, t[i].size);
			KUNIT_ASSERT_EQ(test, run.start, k);
			KUNIT_ASSERT_EQ(test, run.count, 1);
			KUNIT_ASSERT_EQ(test, run.flags, d.flags);
		}
}

/* Insert packets [@start, @start + @count) of segment 0, which has 1000 bytes in packets of
 * @size; @ship: shipment of the first
 */
static enum sstp_rcv_verdict rcv_cut(struct rcv_sim *s, u32 size, u32 start,
				     u32 count, u32 ship)
{
	struct rcv_seg *m = &s->seg[0];
	enum sstp_rcv_verdict verdict;
	struct sstp_rcv_run run;
	struct sk_buff *skb;
	u32 fresh;

	m->len = 1000;
	m->size = size;
	m->packets = DIV_ROUND_UP(m->len, size);
	skb = rcv_packets(s, 0, start, count, false, &run);
	run.shipment = ship;
	verdict = sstp_rcv_insert(&s->w, skb, &run, &fresh);
	if (verdict != SSTP_RCV_TAKEN)
		consume_skb(skb);
	else
		bitmap_set(m->have, start, fresh);
	m->got = bitmap_weight(m->have, RCV_PACKETS);
	m->accepted = m->got == m->packets;
	return verdict;
}

/* A segment comes in packets of one size, and then in those of another: the size of later
 * shipments counts, and late packets of the former size change nothing.
 */
static void rcv_recut_of(struct rcv_sim *s, u32 ship, u32 was, u32 size, u32 here)
{
	u32 packets = DIV_ROUND_UP(1000, size), i;
	struct kunit *test = s->test;
	struct sstp_rseg *r;

	rcv_start(s, 5, ship - 1);
	KUNIT_ASSERT_EQ(test, rcv_cut(s, was, 0, here, ship), SSTP_RCV_TAKEN);
	if (here + 3 <= DIV_ROUND_UP(1000, was))
		KUNIT_ASSERT_EQ(test, rcv_cut(s, was, here + 2, 1, ship + here + 2),
				SSTP_RCV_TAKEN);
	rcv_check_all(s);
	r = sstp_rcv_slot(&s->w, 5);
	r->asked_to = 1;
	r->asked = 4711;

	/* Packets of the same shipments or earlier ones are dropped as conflicts. */
	i = s->seg[0].got;
	KUNIT_ASSERT_EQ(test, rcv_cut(s, size, 1, 1, ship), SSTP_RCV_CONFLICT);
	KUNIT_ASSERT_EQ(test, rcv_cut(s, size, 1, 1, ship - 9), SSTP_RCV_CONFLICT);
	KUNIT_ASSERT_EQ(test, r->got, i);
	KUNIT_ASSERT_EQ(test, s->w.recut, 0U);

	/* Later shipments replace them, whichever packet comes first. */
	bitmap_zero(s->seg[0].have, RCV_PACKETS);
	s->w.asked.look = 8;
	KUNIT_ASSERT_EQ(test, rcv_cut(s, size, packets / 2, 1, ship + 100),
			SSTP_RCV_TAKEN);
	KUNIT_ASSERT_EQ(test, s->w.asked.look, 5U);
	KUNIT_ASSERT_EQ(test, s->w.recut, i);
	KUNIT_ASSERT_EQ(test, r->asked, 4711U);
	KUNIT_ASSERT_GT(test, r->asked_to, packets);
	rcv_check_all(s);
	KUNIT_ASSERT_EQ(test, rcv_cut(s, was, here + 1, 1, ship + here),
			SSTP_RCV_CONFLICT);
	for (i = 0; i < packets; i++) {
		KUNIT_ASSERT_EQ(test, rcv_cut(s, size, i, 1, ship + 101 + i),
				i == packets / 2 ? SSTP_RCV_DUP : SSTP_RCV_TAKEN);
		rcv_check_all(s);
	}
	KUNIT_ASSERT_EQ(test, r->state, SSTP_RSEG_ACCEPTED);
	/* A complete segment does not change. */
	KUNIT_ASSERT_EQ(test, rcv_cut(s, was, 0, 1, ship + 1000), SSTP_RCV_DUP);
	KUNIT_ASSERT_EQ(test, rcv_cut(s, size, 0, 1, ship + 1001), SSTP_RCV_DUP);
	rcv_stop(s);
}

static void rcv_recut(struct kunit *test)
{
	static const u32 ship[] = { 0, 1, 4711, -1, -50, -101, 0x7fffffff, 0x7fffffd0 };
	struct rcv_sim *s = test->priv;
	u32 i;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(ship); i++) {
		rcv_recut_of(s, ship[i], 40, 16, 1);
		rcv_recut_of(s, ship[i], 40, 24, 12);
		rcv_recut_of(s, ship[i], 16, 40, 3);
		rcv_recut_of(s, ship[i], 40, 32, 24);
	}
}

/* R_h relative to the start of the window, also where numbers wrap */
static void rcv_grants(struct kunit *test)
{
	static const struct {
		s32 ask;
		bool moves;
		s32 high;
	} t[] = {
		{ 0, false, 0 },
		{ -1, false, 0 },
		{ 1, true, 1 },
		{ 9, true, 9 },
		{ 5, false, 9 },		/* R_h never moves back */
		{ 9, false, 9 },
		{ S32_MIN / 2, false, 9 },
		{ 300, true, 300 },
		{ 65534, true, 65534 },
		{ 65535, true, 65535 },
		{ 65536, false, 65535 },	/* there are no more slots */
		{ S32_MAX / 2, false, 65535 },
	};
	static const u32 first[] = {
		0, 1, 63, 64, -1, -9, -64, -70000, 0x7fffffff, 0x7fff0000,
	};
	struct rcv_sim *s = test->priv;
	struct sstp_rcv_wnd *w = &s->w;
	u32 i, k;
	bool got;

	for (k = 0; k < ARRAY_SIZE(first); k++) {
		KUNIT_ASSERT_EQ(test, sstp_rcv_init(w, first[k], GFP_KERNEL),
				0);
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			got = sstp_rcv_grant(w, first[k] + t[i].ask);
			KUNIT_EXPECT_EQ_MSG(test, got, t[i].moves, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, w->high - first[k],
					    (u32)t[i].high, "row %u", i);
		}
		sstp_rcv_destroy(w);
	}
}

/* A window without packets keeps no slots; one with a packet does. */
static void rcv_trims(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 bytes;
	s64 i;

	sstp_test_seed_rnd(test, &s->rnd);
	rcv_uniform(s, -1, 0, 2 * SSTP_RCV_CHUNK, 3);
	bytes = s->w.bytes;
	for (i = 0; i < 2 * SSTP_RCV_CHUNK; i++) {
		rcv_put(s, i, 0, 2, false);
		sstp_rcv_trim(&s->w);
		KUNIT_ASSERT_EQ(test, s->w.bytes, bytes + SSTP_RCV_CHUNK_BYTES);
		rcv_put(s, i, 2, 1, false);
		rcv_advance(s);
		rcv_check_seg(s, i);
		sstp_rcv_pop(&s->w);
		s->read++;
		sstp_rcv_trim(&s->w);
		KUNIT_ASSERT_EQ(test, s->w.bytes, bytes);
	}
	rcv_stop(s);
}

/* The array of chunks grows when a segment far from the first one comes, by what was said, and is
 * small again when the window is empty.
 */
static void rcv_trims_array(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 bytes, last = 9 * SSTP_RCV_CHUNK, base;
	s64 i;

	sstp_test_seed_rnd(test, &s->rnd);
	for (base = 0; base < 2 * SSTP_RCV_CHUNK; base++) {
		rcv_uniform(s, -base, 0, last + 1, 1);
		KUNIT_EXPECT_EQ(test, s->w.bytes, 0U);
		bytes = sstp_rcv_slot_bytes(&s->w, s->first + last);
		KUNIT_EXPECT_EQ(test, bytes, SSTP_RCV_CHUNK_BYTES +
				(16 - SSTP_RCV_ENTRIES) * (u32)sizeof(*s->w.chunk));
		rcv_put(s, last, 0, 1, false);
		KUNIT_EXPECT_EQ(test, s->w.bytes, bytes);
		sstp_rcv_trim(&s->w);
		KUNIT_EXPECT_EQ(test, s->w.bytes, bytes);
		rcv_check_all(s);
		for (i = 0; i < last; i++)
			rcv_put(s, i, 0, 1, false);
		rcv_advance(s);
		rcv_check_all(s);
		while (sstp_rcv_peek(&s->w)) {
			sstp_rcv_pop(&s->w);
			s->read++;
		}
		KUNIT_EXPECT_EQ(test, s->read, last + 1LL);
		/* A copy of a packet that was read needs no slot. */
		KUNIT_EXPECT_EQ(test, sstp_rcv_slot_bytes(&s->w, s->first), 0U);
		sstp_rcv_trim(&s->w);
		KUNIT_EXPECT_EQ(test, s->w.bytes, 0U);
		KUNIT_EXPECT_EQ(test, sstp_rcv_slot_bytes(&s->w, s->first), 0U);
		KUNIT_EXPECT_EQ(test, s->w.chunks, (u32)SSTP_RCV_ENTRIES);
		rcv_stop(s);
	}
}

/* The program has read the packets of a segment, but not the gap at its end. */
static void rcv_trims_gap(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	struct sstp_pos lost = { 1, 0 };
	struct sstp_rseg *r;
	struct sk_buff *skb;
	u32 gapped = 0;

	sstp_test_seed_rnd(test, &s->rnd);
	rcv_uniform(s, 0, 0, SSTP_RCV_CHUNK, 3);
	s->w.tolerance = SSTP_TOLERANCE_MAX / 2;
	rcv_put(s, 0, 0, 2, false);
	KUNIT_ASSERT_TRUE(test, sstp_rcv_advance(&s->w, lost, &gapped));
	r = sstp_rcv_peek(&s->w);
	KUNIT_ASSERT_NOT_NULL(test, r);
	while ((skb = r->head)) {
		r->head = skb->next;
		skb_mark_not_on_list(skb);
		consume_skb(skb);
	}
	sstp_rcv_trim(&s->w);
	KUNIT_ASSERT_PTR_EQ(test, sstp_rcv_peek(&s->w), r);
	rcv_stop(s);
}

/* --- hard and soft ACK (WUCS-92-38, 4.3.1) ------------------------------------ */

/* A packet of segment @i comes for a buffer of @b segments, as in the paper. */
static void rcv_soft(struct rcv_sim *s, s64 i, u32 packet, u32 b)
{
	struct sstp_rseg *r;
	u32 used = 0, old;
	s64 k;

	for (k = s->read; k <= s->high; k++)
		used += s->seg[k].got > 0;
	if (!s->seg[i].got && used == b) {
		r = sstp_rcv_largest(&s->w, s->first + (u32)i, &old);
		if (!r)
			return;
		k = s->low + (s32)(old - (s->first + (u32)s->low));
		rcv_discard(s, r, k);
	}
	rcv_put(s, i, packet, 1, false);
	rcv_advance(s);
}

/* Figure 16: four of eight segments fit. */
static void rcv_figure16(struct kunit *test)
{
	static const struct {
		u8 in;
		u8 have;	/* a bit for each segment */
	} t[] = {
		{ 2, 0x04 }, { 5, 0x24 }, { 6, 0x64 }, { 7, 0xe4 },
		{ 0, 0x65 }, { 1, 0x27 }, { 3, 0x0f },
		{ 7, 0x0f }, { 4, 0x0f }, { 2, 0x0f },
	};
	struct rcv_sim *s = test->priv;
	u32 base, i, k, have;

	sstp_test_seed_rnd(test, &s->rnd);
	for (base = 0; base < 80; base++) {
		rcv_start(s, -base, 0);
		for (k = 0; k < 8; k++) {
			s->seg[k].packets = 1;
			s->seg[k].len = s->seg[k].size;
		}
		s->high = 7;
		KUNIT_ASSERT_TRUE(test, sstp_rcv_grant(&s->w, s->first + 7));
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			rcv_soft(s, t[i].in, 0, 4);
			for (k = 0, have = 0; k < 8; k++)
				have |= (s->seg[k].got > 0) << k;
			KUNIT_ASSERT_EQ_MSG(test, have, (u32)t[i].have,
					    "row %u", i);
			rcv_check_all(s);
		}
		KUNIT_ASSERT_EQ(test, s->low, 4LL);
		rcv_stop(s);
	}
}

/* Any packets in any order: the buffer keeps the segments that the rule says. */
static void rcv_replacement(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 n, k, b, w, step, i, packet, got[64];
	struct rnd_state *r = &s->rnd;

	sstp_test_seed_rnd(test, r);
	for (n = 0; n < sstp_test_rounds(60); n++) {
		rcv_start(s, sstp_rnd_edge(r), 0);
		memset(got, 0, sizeof(got));
		b = sstp_rnd_range(r, 1, 20);
		w = sstp_rnd_range(r, b, 64);
		s->high = w - 1;
		sstp_rcv_grant(&s->w, s->first + w - 1);
		for (step = 0; step < 400; step++) {
			u32 used = 0, top = 0;

			i = sstp_rnd_below(r, w);
			packet = sstp_rnd_below(r, s->seg[i].packets);
			for (k = 0; k < w; k++) {
				used += got[k] > 0;
				top = got[k] ? k : top;
			}
			/* The rule, on a plain array. */
			if (!got[i] && used == b && i < top)
				got[top] = 0;
			if (got[i] || used < b || i < top)
				got[i] += !test_bit(packet, s->seg[i].have);
			rcv_soft(s, i, packet, b);
			for (k = 0; k < w; k++)
				KUNIT_ASSERT_EQ(test, got[k],
						(u32)s->seg[k].got);
		}
		rcv_check_all(s);
		rcv_stop(s);
	}
}

/* --- memory ----------------------------------------------------------------- */

/* Packets of a segment, in order or after a gap, share few skbs, whose memory is what is
 * charged.
 */
static void rcv_joined(struct kunit *test)
{
	static const enum rcv_memory kinds[] = { RCV_PAGE, RCV_HEAD };
	struct rcv_sim *s = test->priv;
	u32 i, gap, k, skbs, one, saved;
	struct sstp_rcv_run run;
	struct sstp_rseg *r;
	struct sk_buff *skb;
	struct rb_node *p;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (gap = 0; gap < 2; gap++) {
			rcv_uniform(s, -1, 0, 2, 61);
			s->memory = kinds[i];
			for (k = gap; k < 60 + gap; k++) {
				rcv_put(s, 1, k, 1, false);
				rcv_check_seg(s, 1);
			}
			r = sstp_rcv_slot(&s->w, s->first + 1);
			skbs = 0;
			for (skb = r->head; skb; skb = skb->next)
				skbs++;
			for (p = rb_first(&r->ooo); p; p = rb_next(p))
				skbs++;
			KUNIT_EXPECT_EQ(test, skbs,
					DIV_ROUND_UP(60, MAX_SKB_FRAGS));
			skb = rcv_packets(s, 1, 1, 1, false, &run);
			one = skb->truesize;
			saved = kinds[i] == RCV_PAGE ?
				SKB_TRUESIZE(skb_end_offset(skb)) :
				SKB_DATA_ALIGN(sizeof(*skb));
			consume_skb(skb);
			KUNIT_EXPECT_EQ(test, r->truesize,
					60 * one - (60 - skbs) * saved);
			rcv_put(s, 1, gap ? 0 : 60, 1, false);
			rcv_check_seg(s, 1);
			rcv_stop(s);
		}
	s->memory = RCV_ANY;
}

/* A program goes over to larger segments: memory and payload of a segment follow alike. */
static void rcv_means(struct kunit *test)
{
	static const u32 t[][2] = { { 200, 1000 }, { 65000, 78000 }, { 200, 1000 } };
	struct sstp_rcv_wnd w = {};
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_rseg s = { .len = t[i][0], .truesize = t[i][1] };

		for (n = 0; n < 100; n++)
			sstp_rseg_accept(&w, &s);
		KUNIT_EXPECT_LE(test, abs_diff(w.payload >> 3, s.len), s.len / 50);
		KUNIT_EXPECT_LE(test, abs_diff(w.mean >> 3, s.truesize), s.truesize / 50 + 8);
	}
}

/* --- gaps ------------------------------------------------------------------ */

/* @missing of @packets never come: is the segment accepted with @tolerance? If not, all of them
 * are asked for, and it is accepted when enough have come.
 */
static void rcv_gaps_of(struct rcv_sim *s, u32 packets, u32 missing,
			u32 tolerance)
{
	u64 allowed = div_u64((u64)packets * tolerance, SSTP_TOLERANCE_MAX);
	bool pass = missing <= allowed && missing < packets;
	u32 base = prandom_u32_state(&s->rnd), k, left = missing;
	struct sstp_pos end = { base + 1, 0 };
	struct kunit *test = s->test;

	rcv_uniform(s, base, 0, 2, packets);
	s->w.tolerance = tolerance;
	for (k = 0; k < packets; k++)
		if (sstp_rnd_below(&s->rnd, packets - k) < left)
			left--;
		else
			rcv_arrives(s, k, 0, k, 0);
	/* The last packet may still be on its way. */
	if (missing && !test_bit(packets - 1, s->seg[0].have))
		KUNIT_ASSERT_EQ(test, s->low, 0LL);
	rcv_confirm(s, 0, RCV_WAIT);
	/* The last packet has come, or a KEEPALIVE shows that it was shipped. */
	if (!test_bit(packets - 1, s->seg[0].have) ||
	    sstp_rnd_one_in(&s->rnd, 2))
		sstp_arrivals_context(&s->arrivals, packets - 1, end, 0);
	rcv_confirm(s, RCV_WAIT, RCV_WAIT);
	rcv_advance(s);
	KUNIT_ASSERT_EQ_MSG(test, s->low, (s64)pass, "%u of %u at %u", missing,
			    packets, tolerance);
	KUNIT_ASSERT_EQ(test, rcv_snak(s, 1, RCV_WAIT), pass ? 0 : missing);
	rcv_check_all(s);
	left = missing;
	for (k = 0; !pass && k < packets; k++) {
		if (test_bit(k, s->seg[0].have))
			continue;
		KUNIT_ASSERT_EQ(test, s->low, 0LL);
		rcv_arrives(s, packets + k, 0, k, SSTP_F_AGAIN);
		pass = --left <= allowed;
	}
	KUNIT_ASSERT_EQ(test, s->low, 1LL);
	rcv_check_all(s);
	rcv_stop(s);
}

static void rcv_gaps(struct kunit *test)
{
	static const u32 tolerance[] = {
		0, 9999, 10000, 50000, 333333, 333334, 999999, 1000000,
	};
	static const u32 packets[] = { 1, 2, 3, 99, 100, RCV_PACKETS };
	struct rcv_sim *s = test->priv;
	u32 i, k, n, allowed;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(tolerance); i++)
		for (k = 0; k < ARRAY_SIZE(packets); k++) {
			allowed = div_u64((u64)packets[k] * tolerance[i],
					  SSTP_TOLERANCE_MAX);
			/* Around the number where the verdict changes, and at random */
			for (n = 0; n <= packets[k]; n++)
				if ((n + 1 >= allowed && n <= allowed + 1) ||
				    sstp_rnd_one_in(&s->rnd, 50))
					rcv_gaps_of(s, packets[k], n,
						    tolerance[i]);
		}
}

static struct kunit_case rcv_cases[] = {
	KUNIT_CASE(rcv_random),
	KUNIT_CASE(rcv_means),
	KUNIT_CASE(rcv_overlaps),
	KUNIT_CASE(rcv_geometry),
	KUNIT_CASE(rcv_recut),
	KUNIT_CASE(rcv_grants),
	KUNIT_CASE(rcv_trims),
	KUNIT_CASE(rcv_trims_array),
	KUNIT_CASE(rcv_trims_gap),
	KUNIT_CASE(rcv_figure16),
	KUNIT_CASE(rcv_replacement),
	KUNIT_CASE(rcv_joined),
	KUNIT_CASE(rcv_gaps),
	{ }
};

static struct kunit_suite rcv_suite = {
	.name = "sstp_rcv_wnd",
	.init = rcv_sim_init,
	.exit = rcv_sim_exit,
	.test_cases = rcv_cases,
};

kunit_test_suite(rcv_suite);
