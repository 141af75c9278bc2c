// SPDX-License-Identifier: GPL-2.0
/* SNAKs: each lost packet is asked for once, and again when the request is due. */
#include "rcv_sim.h"
#include "../rcv_snak.c"

/* Packets in order, with losses: each lost packet is asked for once, no other is, and
 * each before 2 D more packets have come.
 */
static void rcv_lost_of(struct rcv_sim *s, u32 lose, u16 *before)
{
	u32 first = sstp_rnd_edge(&s->rnd), ship = sstp_rnd_edge(&s->rnd);
	u32 k, q = 0, row = 0, lost = 0, came = 0, asked;
	struct kunit *test = s->test;
	bool moved, wanted;

	rcv_uniform(s, first, ship, 100, 20);
	for (k = 0; k < 2000; k++) {
		before[k] = came;
		/* No whole segment is lost, nor the tail, which no packet follows. */
		if (k < 1990 && row < 10 && sstp_rnd_one_in(&s->rnd, lose)) {
			lost++;
			row++;
			continue;
		}
		row = 0;
		came++;
		rcv_arrives(s, ship + k, k / 20, k % 20, 0);
		moved = rcv_confirm(s, k, RCV_RETRY);
		asked = rcv_snak(s, s->high, k);
		KUNIT_ASSERT_TRUE(test, moved || !asked);
		for (; before[q] + 2 * SSTP_REORDER_MIN <= came; q++) {
			wanted = test_bit(q % 20, s->seg[q / 20].asked);
			KUNIT_ASSERT_EQ_MSG(test, wanted,
					    before[q] == before[q + 1],
					    "shipment %u", q);
		}
	}
	KUNIT_ASSERT_EQ(test, s->asked, lost);
	KUNIT_ASSERT_EQ(test, s->twice, 0U);
	KUNIT_ASSERT_EQ(test, s->arrivals.reorder, SSTP_REORDER_MIN);
	rcv_check_all(s);
	rcv_stop(s);
}

static void rcv_lost(struct kunit *test)
{
	u16 *before = kunit_kcalloc(test, 2000, sizeof(*before), GFP_KERNEL);
	struct rcv_sim *s = test->priv;
	u32 n;

	KUNIT_ASSERT_NOT_NULL(test, before);
	sstp_test_seed_rnd(test, &s->rnd);
	for (n = 0; n < sstp_test_rounds(20); n++)
		rcv_lost_of(s, sstp_rnd_range(&s->rnd, 2, 40), before);
}

/* New losses in a segment do not put off the repetition of unanswered requests. */
static void rcv_retry_kept(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 k, t = 0;

	sstp_test_seed_rnd(test, &s->rnd);
	rcv_uniform(s, 9, 0, 2, RCV_PACKETS);
	for (k = 0; k < RCV_PACKETS; k++, t += RCV_RETRY / 20) {
		if (k % 8 == 1)
			continue;
		rcv_arrives(s, k, 0, k, 0);
		rcv_confirm(s, t, RCV_RETRY);
		rcv_snak(s, 1, t);
		if (k == 1 + 2 * SSTP_REORDER_MIN)
			KUNIT_EXPECT_EQ(test, s->asked, 1U);
		/* Each older loss was asked for at least once in RCV_RETRY. */
		if (k > 60)
			KUNIT_EXPECT_GE(test, s->twice, (k - 40) / 8);
	}
	rcv_stop(s);
}

/* More gaps than a SNAK has room for: a row of SNAKs asks for each gap once. */
static void rcv_many_gaps(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 n, k, ship, gaps;

	sstp_test_seed_rnd(test, &s->rnd);
	for (n = 0; n < 3; n++) {
		/* 600 segments; of each some packets, or none, are missing. */
		rcv_uniform(s, -300, 0, 600, 6);
		for (k = 0, ship = 0, gaps = 0; k < 3600; k++, ship++) {
			u32 i = k / 6;

			if (k < 3590 && (k % 6 == 3 || (n == 1 && i % 2) ||
					 (n == 2 && i / 64 == 3))) {
				gaps++;
				continue;
			}
			rcv_arrives(s, ship, i, k % 6, 0);
		}
		rcv_confirm(s, 1, RCV_WAIT);
		rcv_confirm(s, 1 + RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 2), gaps);
		KUNIT_EXPECT_EQ(test, s->twice, 0U);
		/* All gaps again, after an unexplained gap. */
		s->arrivals.unexplained = true;
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 3), gaps);
		KUNIT_EXPECT_EQ(test, s->twice, gaps);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 4), 0U);
		/* And when the requests are due. */
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 3 + RCV_RETRY), gaps);
		/* Only up to the last segment that has room */
		s->arrivals.unexplained = true;
		k = rcv_snak(s, 99, 4 + RCV_RETRY);
		KUNIT_EXPECT_EQ(test, k, n == 1 ? 350U : 100U);
		rcv_check_all(s);
		rcv_stop(s);
	}
}

/* A segment of which no packet came has no slot, and is asked for like the others. */
static void rcv_bare(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 base, i, slots;
	struct sstp_pos pos = {};

	sstp_test_seed_rnd(test, &s->rnd);
	for (base = 0; base < 130; base++) {
		rcv_uniform(s, -base, 0, 600, 6);
		pos.segment = s->first + 500;
		sstp_arrivals_context(&s->arrivals, 2999, pos, 1);
		rcv_confirm(s, 1 + RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 2), 3000U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 3), 0U);
		pos.segment = s->first + 550;
		sstp_arrivals_context(&s->arrivals, 3299, pos, 4);
		rcv_confirm(s, 4 + RCV_WAIT, RCV_WAIT);
		s->arrivals.unexplained = false;
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 5), 300U);
		for (i = 0, slots = 0; i < s->w.chunks; i++)
			slots += !!s->w.chunk[i];
		KUNIT_EXPECT_EQ(test, slots, 0U);
		KUNIT_EXPECT_EQ(test, s->twice, 0U);
		/* The first packet makes slots, for segments asked for before. */
		rcv_arrives(s, 3300, 70, 2, SSTP_F_AGAIN);
		s->arrivals.unexplained = false;
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 6), 0U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 1 + RCV_RETRY), 0U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 2 + RCV_RETRY), 3299U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 5 + RCV_RETRY), 0U);
		s->arrivals.unexplained = true;
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 7 + RCV_RETRY), 3299U);
		rcv_stop(s);
	}
}

/* No SNAK was needed for more than 2^31 segments: then the last packet of one is lost. */
static void rcv_late(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 k;

	rcv_uniform(s, 0, 0, 200, 2);
	for (k = 0; k < 160; k++) {
		/* As if the window had moved by as many segments between two chunks of slots */
		if (k % SSTP_RCV_CHUNK == 0) {
			s->w.asked.look -= BIT(29);
			s->w.asked.bare_to -= BIT(29);
		}
		rcv_arrives(s, 2 * k, k, 0, 0);
		if (k != 150)
			rcv_arrives(s, 2 * k + 1, k, 1, 0);
		rcv_confirm(s, k, RCV_WAIT);
	}
	KUNIT_EXPECT_FALSE(test, s->arrivals.unexplained);
	KUNIT_EXPECT_EQ(test, rcv_snak(s, 199, k), 1U);
	rcv_stop(s);
}

/* Of the last of such segments only packets that had been shipped were asked for. */
static void rcv_bare_part(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 base, k;
	struct sstp_pos pos = {};

	sstp_test_seed_rnd(test, &s->rnd);
	for (base = 0; base < 130; base++) {
		rcv_uniform(s, -base, 0, 600, 20);
		pos.segment = s->first + 64;
		pos.packet = 2;
		sstp_arrivals_context(&s->arrivals, 1281, pos, 1);
		rcv_confirm(s, 1 + RCV_WAIT, RCV_WAIT);
		s->arrivals.unexplained = false;
		/* Whatever number of packets it has: the sender knows which it shipped. */
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 2), 1300U);
		for (k = 10; k < 20; k++) {
			rcv_arrives(s, 1280 + k, 64, k, 0);
			rcv_confirm(s, 3 + RCV_WAIT, RCV_WAIT);
		}
		s->arrivals.unexplained = false;
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 4), 8U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 5), 0U);
		rcv_stop(s);
	}
}

/* Remove the slots of all segments but @a and @b, or put them back: a SNAK that examines these
 * segments asks for them.
 */
static void rcv_hide(struct rcv_sim *s, struct sstp_rseg **hidden, u32 a, u32 b)
{
	struct sstp_rcv_wnd *w = &s->w;
	u32 i;

	for (i = 0; i < w->chunks; i++) {
		struct sstp_rseg *c = w->chunk[i];

		if (c && c == sstp_rcv_chunk(w, s->first + a))
			continue;
		if (c && c == sstp_rcv_chunk(w, s->first + b))
			continue;
		swap(w->chunk[i], hidden[i]);
	}
}

/* While a request for a gap is unanswered, the segments after it are not examined again, neither
 * when packets come nor when the program reads. When it is due it is repeated.
 */
static void rcv_looks_once(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	struct sstp_rseg **hidden;
	u32 base, k, was, asked;

	sstp_test_seed_rnd(test, &s->rnd);
	for (base = 0; base < 33; base++) {
		rcv_uniform(s, -300 - base, 0, 600, 6);
		hidden = kunit_kcalloc(test, 600, sizeof(*hidden), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, hidden);
		for (k = 0; k < 3600; k++) {
			if (k == 1 || k == 1800)
				continue;
			was = s->arrivals.lost.segment - s->first;
			rcv_arrives(s, k, k / 6, k % 6, 0);
			rcv_confirm(s, k, RCV_RETRY);
			rcv_hide(s, hidden, was, s->arrivals.lost.segment - s->first);
			asked = rcv_snak(s, 599, k);
			asked += rcv_snak(s, 599, k);
			rcv_hide(s, hidden, was, s->arrivals.lost.segment - s->first);
			KUNIT_ASSERT_LE(test, asked, 1U);
		}
		KUNIT_EXPECT_EQ(test, s->asked, 2U);
		KUNIT_EXPECT_EQ(test, s->twice, 0U);
		/* The second request is not due with the first, but later. */
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 1799 + RCV_RETRY), 1U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 1800 + 2 * SSTP_REORDER_MIN +
					       RCV_RETRY), 1U);
		KUNIT_EXPECT_EQ(test, s->twice, 2U);
		/* A segment that was discarded for another has to come again. */
		rcv_discard(s, sstp_rcv_slot(&s->w, s->first + 100), 100);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 599, 1900 + RCV_RETRY), 6U);
		rcv_stop(s);
		kunit_kfree(test, hidden);
	}
}

/* Packets in order, with a tolerance: no packet of a segment is asked for while its known losses
 * are within the tolerance, and all lost ones are once they are not.
 */
static void rcv_spared(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 n, k, p, lose, known, asked;
	s64 i;

	sstp_test_seed_rnd(test, &s->rnd);
	for (n = 0; n < sstp_test_rounds(8); n++) {
		rcv_uniform(s, -50, 0, 100, 50);
		s->w.tolerance = 100000;
		lose = sstp_rnd_range(&s->rnd, 2, 30);
		for (k = 0; k < 5000; k++) {
			if (sstp_rnd_one_in(&s->rnd, lose))
				continue;
			rcv_arrives(s, k, k / 50, k % 50, 0);
			rcv_confirm(s, k, RCV_RETRY);
			rcv_advance(s);
			rcv_snak(s, s->high, k);
			/* The segment whose packets come now, and the one before */
			i = s->arrivals.lost.segment - s->first;
			p = s->arrivals.lost.packet;
			for (; i >= s->low; i--, p = 50) {
				const struct rcv_seg *m = &s->seg[i];

				known = p - bitmap_weight(m->have, p);
				asked = bitmap_weight(m->asked, 50);
				KUNIT_ASSERT_EQ_MSG(test, asked,
						    known > 5 ? known : 0,
						    "segment %lld to %u", i,
						    p);
				if (i + 1 < k / 50)
					break;
			}
		}
		rcv_stop(s);
	}
}

static struct kunit_case rcv_snak_cases[] = {
	KUNIT_CASE(rcv_lost),
	KUNIT_CASE(rcv_retry_kept),
	KUNIT_CASE(rcv_many_gaps),
	KUNIT_CASE(rcv_bare),
	KUNIT_CASE(rcv_bare_part),
	KUNIT_CASE(rcv_late),
	KUNIT_CASE(rcv_looks_once),
	KUNIT_CASE(rcv_spared),
	{ }
};

static struct kunit_suite rcv_snak_suite = {
	.name = "sstp_rcv_snak",
	.init = rcv_sim_init,
	.exit = rcv_sim_exit,
	.test_cases = rcv_snak_cases,
};

kunit_test_suite(rcv_snak_suite);
