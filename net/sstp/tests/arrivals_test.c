// SPDX-License-Identifier: GPL-2.0
/* Arrivals of shipments: which packets are late, which lost, and when that is certain. */
#include "rcv_sim.h"
#include "../arrivals.c"

/* Packets arrive out of order: each is overtaken by @late others at most. */
static void rcv_reordered_by(struct rcv_sim *s, u32 late)
{
	u32 first = sstp_rnd_edge(&s->rnd), ship = sstp_rnd_edge(&s->rnd);
	u32 k, j, n, asked = 0;
	struct kunit *test = s->test;
	u16 *delay;

	delay = kunit_kcalloc(test, 800, sizeof(*delay), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, delay);
	for (k = 0; k < 800; k++)
		delay[k] = sstp_rnd_below(&s->rnd, late + 1);
	rcv_uniform(s, first, ship, 40, 20);
	/* At time k the packets that are due then arrive, the last shipped first. */
	for (k = 0; k < 800 + late; k++)
		for (n = 0; n <= min(k, late); n++) {
			j = k - n;
			if (j >= 800 || delay[j] != n)
				continue;
			rcv_arrives(s, ship + j, j / 20, j % 20, 0);
			rcv_confirm(s, k, RCV_RETRY);
			rcv_snak(s, s->high, k);
			/* By now the receiver has learnt how late packets come. */
			if (j == 400)
				asked = s->asked;
		}
	KUNIT_ASSERT_EQ(test, s->low, 40LL);
	KUNIT_ASSERT_LE(test, s->arrivals.reorder, max(late + 1, SSTP_REORDER_MIN));
	if (late <= SSTP_REORDER_MIN)
		KUNIT_ASSERT_EQ(test, s->asked, 0U);
	KUNIT_ASSERT_LE(test, s->asked - asked, 2 + late / 4);
	rcv_stop(s);
	kunit_kfree(test, delay);
}

static void rcv_reordered(struct kunit *test)
{
	static const u32 late[] = { 0, 1, 2, 3, 4, 8, 20, 50 };
	struct rcv_sim *s = test->priv;
	u32 i, k;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(late); i++)
		for (k = 0; k < sstp_test_rounds(5); k++)
			rcv_reordered_by(s, late[i]);
}

/* Check the number of shipments that neither came nor were declared lost. */
static void rcv_check_out(struct rcv_sim *s, u32 ship)
{
	KUNIT_ASSERT_EQ(s->test, s->arrivals.out + s->arrivals.out_next,
			s->arrivals.highest - ship + 1 - s->arrivals.received);
}

/* Four of five packets are late, by more than the receiver waits at first. It learns how late,
 * and forgets it when packets are only lost.
 */
static void rcv_patience(struct kunit *test)
{
	const u32 late = 100, n = 8000, mixed = 3000, step = 10;
	struct rcv_sim *s = test->priv;
	u32 k, j, d, ship, early = 0;

	sstp_test_seed_rnd(test, &s->rnd);
	ship = sstp_rnd_edge(&s->rnd);
	rcv_uniform(s, -200, ship, n / 20, 20);
	for (k = 0; k < n; k++) {
		s->now = k * step;
		for (d = 0; d <= late; d += late) {
			j = k - d;
			if (j > k || (k < mixed + late && j >= mixed) ||
			    d != (j < mixed && j % 5 ? late : 0))
				continue;
			/* Later one of 50 is lost. */
			if (j > mixed && j % 50 == 0)
				continue;
			rcv_arrives(s, ship + j, j / 20, j % 20, 0);
			rcv_confirm(s, s->now, RCV_WAIT);
			rcv_snak(s, s->high, s->now);
		}
		if (k == mixed / 2)
			early = s->asked;
		if (k > mixed / 2 && k < mixed)
			rcv_check_out(s, ship);
		if (k == mixed - 1) {
			KUNIT_EXPECT_GT(test, early, 0U);
			KUNIT_EXPECT_EQ(test, s->asked, early);
			KUNIT_EXPECT_GE(test, s->arrivals.patience, late * step);
		}
	}
	KUNIT_EXPECT_EQ(test, s->arrivals.reorder, SSTP_REORDER_MIN);
	KUNIT_EXPECT_EQ(test, s->arrivals.patience, 0U);
	rcv_stop(s);
	s->now = 0;
}

/* If no packet follows, time tells late packets from lost ones. */
static void rcv_waits(struct kunit *test)
{
	static const u32 now[] = { 0, 1, -1, -RCV_WAIT, 0x7fffffff };
	struct rcv_sim *s = test->priv;
	bool lost;
	u32 i, t;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(now); i++) {
		t = now[i];
		rcv_uniform(s, 7, 1, 2, 5);
		rcv_arrives(s, 1, 0, 0, 0);
		KUNIT_EXPECT_FALSE(test, rcv_confirm(s, t, RCV_WAIT));
		rcv_arrives(s, 3, 0, 2, 0);
		KUNIT_EXPECT_FALSE(test, rcv_confirm(s, t, RCV_WAIT));
		lost = rcv_confirm(s, t + RCV_WAIT - 1, RCV_WAIT);
		KUNIT_EXPECT_FALSE(test, lost);
		KUNIT_EXPECT_FALSE(test, sstp_arrivals_lost(&s->arrivals, &s->w, s->w.high));
		lost = rcv_confirm(s, t + RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_TRUE(test, lost);
		KUNIT_EXPECT_TRUE(test, sstp_arrivals_lost(&s->arrivals, &s->w, s->w.high));
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 1, t + RCV_WAIT), 1U);
		KUNIT_EXPECT_TRUE(test, test_bit(1, s->seg[0].asked));
		/* The packet comes: none is missing. */
		rcv_arrives(s, 4, 0, 1, SSTP_F_AGAIN);
		lost = rcv_confirm(s, t + RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_FALSE(test, lost);
		KUNIT_EXPECT_FALSE(test, sstp_arrivals_lost(&s->arrivals, &s->w, s->w.high));
		rcv_stop(s);
	}
}

/* KEEPALIVE and EOS show that packets never came: parts of segments, and whole segments. */
static void rcv_contexts(struct kunit *test)
{
	static const struct {
		u8 came;	/* of 20 packets, 5 in a segment */
		u8 segment;	/* next segment, by the KEEPALIVE */
		u8 packet;
		u8 asked;	/* packets asked for, those of whole segments counted */
	} t[] = {
		{ 20, 4, 0, 0 },
		{ 19, 4, 0, 1 },
		{ 16, 4, 0, 4 },
		{ 15, 4, 0, 5 },
		{ 15, 3, 0, 0 },
		{ 12, 2, 4, 2 },
		{ 12, 3, 0, 3 },
		{ 12, 4, 0, 8 },
		{ 0, 4, 0, 20 },
		{ 0, 0, 0, 0 },
		{ 0, 0, 1, 5 },		/* its number of packets is not known */
		{ 10, 2, 2, 5 },
		{ 11, 2, 1, 0 },
	};
	struct rcv_sim *s = test->priv;
	u32 i, k, base, ship, n;
	struct sstp_pos pos;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		for (base = 0; base < 6; base++) {
			ship = -base * 3;
			rcv_uniform(s, -base, ship, 5, 5);
			for (k = 0; k < t[i].came; k++)
				rcv_arrives(s, ship + k, k / 5, k % 5, 0);
			rcv_confirm(s, 1, RCV_WAIT);
			pos.segment = s->first + t[i].segment;
			pos.packet = t[i].packet;
			n = t[i].segment * 5 + t[i].packet;
			sstp_arrivals_context(&s->arrivals, ship + n - 1, pos, 1);
			rcv_confirm(s, 1 + RCV_WAIT, RCV_WAIT);
			KUNIT_EXPECT_EQ_MSG(test, rcv_snak(s, 4, 1 + RCV_WAIT),
					    t[i].asked, "row %u", i);
			/* The KEEPALIVE is repeated, after the request. */
			sstp_arrivals_context(&s->arrivals, ship + n - 1, pos, 2);
			rcv_confirm(s, 2 + RCV_WAIT, RCV_WAIT);
			KUNIT_EXPECT_EQ(test, rcv_snak(s, 4, 2 + RCV_WAIT),
					0U);
			rcv_stop(s);
		}
}

/* A lost retransmission shows by the gap that it leaves, once time or later packets show that it
 * is not late. A lost request shows by time.
 */
static void rcv_lost_again(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 base, k, t = 1000;
	struct sstp_pos pos;

	sstp_test_seed_rnd(test, &s->rnd);
	for (base = 0; base < 20; base++) {
		rcv_uniform(s, 9, -base, 4, 10);
		for (k = 0; k < 12; k++)
			if (k != 2 && k != 5) {
				rcv_arrives(s, k - base, k / 10, k % 10, 0);
				rcv_confirm(s, t, RCV_WAIT);
			}
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t), 2U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t), 0U);
		/* Shipment 12 is packet 2 again, and is lost. */
		rcv_arrives(s, 13 - base, 0, 5, SSTP_F_AGAIN);
		rcv_confirm(s, t, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 1), 0U);
		KUNIT_EXPECT_TRUE(test, rcv_confirm(s, t + RCV_WAIT, RCV_WAIT));
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 1), 1U);
		KUNIT_EXPECT_EQ(test, s->twice, 1U);
		/* So is shipment 14, and new data shows it. */
		for (k = 15; k < 19; k++) {
			KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 2), 0U);
			rcv_arrives(s, k - base, 1, k - 13, 0);
			rcv_confirm(s, t + RCV_WAIT, RCV_WAIT);
		}
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 2), 1U);
		KUNIT_EXPECT_EQ(test, s->twice, 2U);
		/* So is shipment 19, and a KEEPALIVE shows it. */
		pos.segment = 10;
		pos.packet = 6;
		sstp_arrivals_context(&s->arrivals, 19 - base, pos, t + RCV_WAIT);
		rcv_confirm(s, t + 2 * RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 3), 1U);
		KUNIT_EXPECT_EQ(test, s->twice, 3U);
		/* The request was lost, or the sender is slow. */
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 2 + RCV_RETRY), 0U);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 3 + RCV_RETRY), 1U);
		KUNIT_EXPECT_EQ(test, s->twice, 4U);
		rcv_arrives(s, 20 - base, 0, 2, SSTP_F_AGAIN);
		KUNIT_EXPECT_EQ(test, s->low, 1LL);
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 9 + 2 * RCV_RETRY),
				0U);
		rcv_stop(s);
	}
}

/* Retransmissions that overtake each other are not asked for again. */
static void rcv_late_again(struct kunit *test)
{
	static const u8 order[] = { 13, 14, 12, 15 };
	struct rcv_sim *s = test->priv;
	u32 base, k, t = 1000, settled;

	sstp_test_seed_rnd(test, &s->rnd);
	for (base = 0; base < 20; base++) {
		rcv_uniform(s, 9, -base, 4, 10);
		for (k = 0; k < 12; k++)
			if (k < 2 || k > 5) {
				rcv_arrives(s, k - base, k / 10, k % 10, 0);
				rcv_confirm(s, t, RCV_WAIT);
			}
		KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t), 4U);
		settled = sstp_arrivals_settled(&s->arrivals);
		for (k = 0; k < ARRAY_SIZE(order); k++) {
			rcv_arrives(s, order[k] - base, 0, order[k] - 10, SSTP_F_AGAIN);
			rcv_confirm(s, t + 1, RCV_WAIT);
			KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t + 1), 0U);
			/* If it went back, the sender would take shipments for lost. */
			KUNIT_EXPECT_FALSE(test, sstp_before(sstp_arrivals_settled(&s->arrivals),
							     settled));
			settled = sstp_arrivals_settled(&s->arrivals);
			KUNIT_EXPECT_EQ(test, sstp_before(settled, 12 - base), k < 2);
		}
		KUNIT_EXPECT_EQ(test, settled, 15 - base);
		KUNIT_EXPECT_EQ(test, s->low, 1LL);
		rcv_stop(s);
	}
}

/* Put shipment @ship into the window, but not into the arrivals. Of 2000 shipments, number 3 is
 * lost and comes again as 50.
 */
static void rcv_copy(struct rcv_sim *s, u32 first, u32 ship)
{
	u32 k = ship == 50 ? 3 : ship - (ship > 50);
	struct sstp_rcv_run run = {
		.segment = s->first + k / 10, .start = k % 10, .count = 1,
		.shipment = first + ship, .flags = ship == 50 ? SSTP_F_AGAIN : 0,
	};

	sstp_arrivals_add(&s->arrivals, &s->w, &run, s->now);
}

/* Copies that the network makes of packets that came in order, late, or as retransmissions are
 * neither counted nor taken for late.
 */
static void rcv_copies(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 first, k, n, old;

	sstp_test_seed_rnd(test, &s->rnd);
	for (n = 0; n < 20; n++) {
		first = sstp_rnd_edge(&s->rnd);
		rcv_uniform(s, 9, first, 200, 10);
		for (k = 0; k < 2000; k++) {
			s->now = 10 * k;
			if (k == 3 || k == 60)
				continue;
			rcv_arrives(s, first + k, (k == 50 ? 3 : k - (k > 50)) / 10,
				    (k == 50 ? 3 : k - (k > 50)) % 10,
				    k == 50 ? SSTP_F_AGAIN : 0);
			/* This one is late. */
			if (k == 62)
				rcv_arrives(s, first + 60, 5, 9, 0);
			rcv_confirm(s, s->now, RCV_WAIT);
			rcv_copy(s, first, k);
			old = k - min(k, 900U);
			if (old != 3)
				rcv_copy(s, first, old);
		}
		KUNIT_EXPECT_EQ(test, s->arrivals.received, 1999U);
		KUNIT_EXPECT_EQ(test, s->arrivals.out + s->arrivals.out_next, 0U);
		KUNIT_EXPECT_EQ(test, s->arrivals.reorder, SSTP_REORDER_MIN);
		KUNIT_EXPECT_EQ(test, s->arrivals.patience, 0U);
		KUNIT_EXPECT_LE(test, s->arrivals.late, 3U);
		/* The record does not reach back so far, but no packet is missing there. */
		rcv_copy(s, first, 900);
		KUNIT_EXPECT_EQ(test, s->arrivals.patience, 0U);
		KUNIT_EXPECT_LE(test, s->arrivals.late, 3U);
		rcv_stop(s);
	}
	s->now = 0;
}

/* Lost retransmissions do not count as on their way for ever, although no position shows them:
 * time passes, or a KEEPALIVE shows that they were the last.
 */
static void rcv_settles(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	struct sstp_pos pos = { 10, 0 };
	u32 i, k, t = 1000;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < 2; i++) {
		rcv_uniform(s, 9, 0, 4, 10);
		for (k = 0; k < 10; k++)
			if (k != 2 && k != 5)
				rcv_arrives(s, k, 0, k, 0);
		rcv_confirm(s, t, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, s->arrivals.out + s->arrivals.out_next, 2U);
		rcv_confirm(s, t + RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, s->arrivals.out + s->arrivals.out_next, 0U);
		/* Shipment 10 is packet 2 again. */
		rcv_arrives(s, 11, 0, 5, SSTP_F_AGAIN);
		rcv_confirm(s, t + RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, s->arrivals.out + s->arrivals.out_next, 1U);
		if (i)
			sstp_arrivals_context(&s->arrivals, 12, pos, t + RCV_WAIT);
		else
			t += RCV_WAIT;
		rcv_confirm(s, t + RCV_WAIT, RCV_WAIT);
		KUNIT_EXPECT_EQ(test, s->arrivals.out + s->arrivals.out_next, 0U);
		KUNIT_EXPECT_FALSE(test, rcv_confirm(s, t + 2 * RCV_WAIT, RCV_WAIT));
		rcv_stop(s);
	}
}

/* KEEPALIVEs that come more often than a packet may be late do not put off its loss. */
static void rcv_keepalives(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	struct sstp_pos pos = { 10, 0 };
	u32 k, t = 1000;

	sstp_test_seed_rnd(test, &s->rnd);
	rcv_uniform(s, 9, 0, 4, 10);
	s->arrivals.patience = 4 * RCV_WAIT;
	for (k = 0; k < 9; k++)
		rcv_arrives(s, k, 0, k, 0);
	for (k = 0; k < 8; k++) {
		sstp_arrivals_context(&s->arrivals, 9, pos, t + k * RCV_WAIT);
		KUNIT_EXPECT_EQ(test, rcv_confirm(s, t + k * RCV_WAIT, RCV_WAIT),
				k == 4);
	}
	rcv_stop(s);
	/* Nor do they when new data come before each. */
	rcv_uniform(s, 9, 0, 4, 10);
	s->arrivals.patience = 4 * RCV_WAIT;
	rcv_arrives(s, 0, 0, 0, 0);
	for (k = 2; k < 6; k++, t += RCV_WAIT) {
		rcv_arrives(s, k, 0, k, 0);
		pos = (struct sstp_pos){ 9, k + 1 };
		sstp_arrivals_context(&s->arrivals, k, pos, t);
		KUNIT_EXPECT_EQ(test, rcv_confirm(s, t, RCV_WAIT), k == 5);
	}
	rcv_stop(s);
}

/* One retransmission is declared lost: another, which left later, may be only late. */
static void rcv_late_other(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	u32 k, t = 1000;

	sstp_test_seed_rnd(test, &s->rnd);
	rcv_uniform(s, 9, 0, 4, 10);
	for (k = 0; k < 40; k++)
		if (k / 10 != 1)
			rcv_arrives(s, k, k / 10, k % 10, 0);
	rcv_confirm(s, t, RCV_WAIT);
	t += RCV_WAIT;
	KUNIT_EXPECT_TRUE(test, rcv_confirm(s, t, RCV_WAIT));
	KUNIT_EXPECT_EQ(test, rcv_snak(s, 3, t), 10U);
	for (k = 40; k < 47; k++) {
		if (k == 42 || k == 45)
			continue;
		rcv_arrives(s, k, 1, k - 40, SSTP_F_AGAIN);
		rcv_confirm(s, ++t, RCV_WAIT);
	}
	KUNIT_EXPECT_EQ(test, sstp_arrivals_settled(&s->arrivals), 44U);
	rcv_arrives(s, 45, 1, 5, SSTP_F_AGAIN);
	rcv_confirm(s, ++t, RCV_WAIT);
	for (k = 47; k < 50; k++) {
		rcv_arrives(s, k, 1, k - 40, SSTP_F_AGAIN);
		rcv_confirm(s, ++t, RCV_WAIT);
	}
	KUNIT_EXPECT_EQ(test, sstp_arrivals_settled(&s->arrivals), 49U);
	rcv_stop(s);
}

/* A single packet that is far ahead does not move H, nor does one that is impossible. Two
 * KEEPALIVEs in a row take H back.
 */
static void rcv_leaps(struct kunit *test)
{
	struct sstp_pos pos = { 10, 0 };
	struct rcv_sim *s = test->priv;
	struct sstp_arrivals *a = &s->arrivals;
	u32 i, base;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < 20; i++) {
		base = sstp_rnd_edge(&s->rnd);
		rcv_uniform(s, 9, base, 4, 5);
		rcv_arrives(s, base, 0, 0, 0);
		rcv_arrives(s, base + 1 + SSTP_SHIP_LEAP, 0, 1, 0);
		KUNIT_EXPECT_EQ(test, a->highest, base);
		rcv_arrives(s, base + 2, 0, 2, 0);
		KUNIT_EXPECT_EQ(test, a->highest, base + 2);
		rcv_arrives(s, base + 5 * SSTP_SHIP_LEAP, 0, 3, 0);
		KUNIT_EXPECT_EQ(test, a->highest, base + 2);
		/* The next packet confirms it. */
		base += 6 * SSTP_SHIP_LEAP;
		rcv_arrives(s, base, 0, 4, 0);
		KUNIT_EXPECT_EQ(test, a->highest, base);
		KUNIT_EXPECT_EQ(test, s->low, 1LL);
		/* A packet of a segment that was shipped long ago */
		rcv_arrives(s, base + 100, 0, 4, 0);
		KUNIT_EXPECT_EQ(test, a->highest, base);
		rcv_arrives(s, base + 100, 0, 4, SSTP_F_AGAIN);
		KUNIT_EXPECT_EQ(test, a->highest, base + 100);
		/* A single KEEPALIVE may be late, or have overtaken packets. */
		sstp_arrivals_context(a, base + 7, pos, 1);
		KUNIT_EXPECT_EQ(test, a->highest, base + 100);
		rcv_arrives(s, base + 101, 1, 0, 0);
		sstp_arrivals_context(a, base + 8, pos, 1);
		sstp_arrivals_context(a, base + 101, pos, 1);
		sstp_arrivals_context(a, base + 9, pos, 1);
		KUNIT_EXPECT_EQ(test, a->highest, base + 101);
		/* Two in a row are believed. */
		sstp_arrivals_context(a, base + 10, pos, 1);
		KUNIT_EXPECT_EQ(test, a->highest, base + 10);
		rcv_arrives(s, base + 11, 1, 1, 0);
		KUNIT_EXPECT_EQ(test, a->highest, base + 11);
		rcv_stop(s);
	}
}

static struct kunit_case arrivals_cases[] = {
	KUNIT_CASE(rcv_reordered),
	KUNIT_CASE(rcv_patience),
	KUNIT_CASE(rcv_waits),
	KUNIT_CASE(rcv_contexts),
	KUNIT_CASE(rcv_lost_again),
	KUNIT_CASE(rcv_late_again),
	KUNIT_CASE(rcv_copies),
	KUNIT_CASE(rcv_settles),
	KUNIT_CASE(rcv_keepalives),
	KUNIT_CASE(rcv_late_other),
	KUNIT_CASE(rcv_leaps),
	{ }
};

static struct kunit_suite arrivals_suite = {
	.name = "sstp_arrivals",
	.init = rcv_sim_init,
	.exit = rcv_sim_exit,
	.test_cases = arrivals_cases,
};

kunit_test_suite(arrivals_suite);
