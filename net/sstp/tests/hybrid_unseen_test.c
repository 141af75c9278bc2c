// SPDX-License-Identifier: GPL-2.0
/* hybrid: a queue that is too short to be seen, known by a surge of losses */
#include "sstp_test.h"
#include "../hybrid.h"
#include "hybrid_sim.h"

#define UNSEEN_RTT	(HYBRID_BASE + HYBRID_SMALL - 1)
/* Losses that are overflows after the first cut */
#define UNSEEN_FIRST	(SSTP_WAITS_SURGE_OVERFLOWS - 1)

/* @rounds round trips with one report each, of which one in @each tells of a loss; 0 = none does */
static void unseen_rounds(struct ctrl_sim *x, u32 rounds, u32 each)
{
	u32 i;

	for (i = 1; i <= rounds; i++)
		hybrid_round(x, 1000, each && i % each == 0, UNSEEN_RTT);
}

/* Losses until the window is cut, at most @most */
static u32 unseen_losses(struct ctrl_sim *x, u32 most)
{
	u32 i, was;

	for (i = 1; i <= most; i++) {
		was = x->c.cwnd;
		unseen_rounds(x, 1, 1);
		if (x->c.cwnd < was)
			break;
	}
	return i;
}

static struct sstp_hybrid *unseen_surge(struct kunit *test, struct ctrl_sim *x)
{
	struct sstp_hybrid *h = hybrid_start(x, 1000);

	unseen_rounds(x, 100, 0);
	KUNIT_EXPECT_EQ(test, unseen_losses(x, 100), SSTP_WAITS_SURGE_LOSSY);
	return h;
}

/* The surge causes the cut for a shallow queue, and so does each loss after it until another surge
 * is due, which is a smaller one.
 */
static void unseen_overflows(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, was, n;

	h = unseen_surge(test, &x);
	for (i = 1; i <= 3 * SSTP_WAITS_SURGE_OVERFLOWS; i++) {
		KUNIT_EXPECT_TRUE_MSG(test, h->competes && h->shallow && h->gentle, "cut %u", i);
		KUNIT_EXPECT_EQ(test, (u32)h->surge.overflows,
				UNSEEN_FIRST - (i - 1) % SSTP_WAITS_SURGE_OVERFLOWS);
		KUNIT_EXPECT_EQ(test, (u32)h->surge.doubts, SSTP_WAITS_SURGE_DOUBTS);
		unseen_rounds(&x, 100, 0);
		was = x.c.cwnd;
		n = unseen_losses(&x, 100);
		/* The first may be too long after the loss before it. */
		if (i % SSTP_WAITS_SURGE_OVERFLOWS)
			KUNIT_EXPECT_EQ_MSG(test, n, 1U, "cut %u", i);
		else
			KUNIT_EXPECT_LE_MSG(test, n - SSTP_WAITS_SURGE_AGAIN, 1U, "cut %u", i);
		KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, was * 85 / 100), 30U);
	}
}

/* The path loses as many packets after the cuts as before them: it is no queue that does. */
static void unseen_path_loses(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, was;

	h = unseen_surge(test, &x);
	for (i = 1; i < SSTP_WAITS_SURGE_OVERFLOWS; i++) {
		unseen_rounds(&x, 9, 0);
		KUNIT_EXPECT_EQ(test, unseen_losses(&x, 100), 1U);
	}
	KUNIT_EXPECT_EQ(test, (u32)h->surge.overflows, 0);
	KUNIT_EXPECT_EQ(test, (u32)h->surge.doubts, SSTP_WAITS_SURGE_DOUBTS);
	was = x.c.cwnd;
	unseen_rounds(&x, 60, 10);
	KUNIT_EXPECT_TRUE(test, sstp_waits_surge_unseen(&h->surge));
	unseen_rounds(&x, 140, 10);
	KUNIT_EXPECT_FALSE(test, sstp_waits_surge_unseen(&h->surge));
	KUNIT_EXPECT_FALSE(test, h->competes);
	unseen_rounds(&x, 500, 10);
	KUNIT_EXPECT_FALSE(test, sstp_waits_surge_unseen(&h->surge));
	KUNIT_EXPECT_GE(test, x.c.cwnd, was);
}

/* Losses that come as often all the time */
static void unseen_chance(struct kunit *test)
{
	static const u32 each[] = { 1, 2, 4, 10, 50 };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(each); i++) {
		h = hybrid_start(&x, 1000);
		unseen_rounds(&x, 2000, each[i]);
		KUNIT_EXPECT_FALSE_MSG(test, sstp_waits_surge_unseen(&h->surge), "row %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, h->competes, "row %u", i);
		KUNIT_EXPECT_GE_MSG(test, x.c.cwnd, 1000U, "row %u", i);
	}
}

/* Reports that are not counted: in slow start, in a probe, of a window that is not used, of packets
 * that left before a cut or that the tail of an overflow may have hit, where packets overtake
 * others, and with a queue
 */
static void unseen_not_counted(struct kunit *test)
{
	struct sstp_ctrl_sample s;
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 8; i++) {
		h = hybrid_start(&x, 1000);
		hybrid_round(&x, 1000, 0, UNSEEN_RTT);
		h->surge = (struct sstp_waits_surge){};
		if (i == 1)
			h->w.ssthresh = SSTP_WINDOW_MAX;
		if (i == 2)
			sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
		x.s.cwnd_limited = i != 3;
		h->tail = i == 4;
		if (i == 5)
			h->reorder_ms = hybrid_ms(&x);
		x.s.shipped = x.s.highest + 1000;
		s = x.s;
		s.rtt = 60000;
		s.lost = 3;
		s.lost_ship = s.highest + 1;
		h->waits.lost = s.lost;
		if (i == 6)
			x.ops->on_loss(&x.c, &s);
		ctrl_sim_ack(&x, 1, UNSEEN_RTT + (i == 7));
		KUNIT_EXPECT_EQ_MSG(test, (u32)h->surge.all, !i, "row %u", i);
	}
}

/* A time-out, a longer path, and the undo of a cut make hybrid forget a surge of losses; the drain
 * of a queue that is seen does not.
 */
static void unseen_forgotten(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 4; i++) {
		h = unseen_surge(test, &x);
		unseen_rounds(&x, 10, 0);
		KUNIT_EXPECT_EQ(test, (u32)h->surge.overflows, UNSEEN_FIRST);
		KUNIT_EXPECT_GE(test, (u32)h->surge.all, 5U);
		switch (i) {
		case 0:
			x.ops->on_timeout(&x.c, &x.s);
			break;
		case 1:
			sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
			h->probe.low = 2 * HYBRID_BASE;
			h->probe.high = 2 * HYBRID_BASE;
			h->probe.before = 2 * HYBRID_BASE;
			sstp_hybrid_end_probe(&x.c, h, &x.s);
			KUNIT_EXPECT_EQ(test, sstp_waits_base(&h->waits), 2 * HYBRID_BASE);
			break;
		case 2:
			unseen_losses(&x, 1);
			KUNIT_EXPECT_NE(test, h->w.lost, 0U);
			x.s.undue = h->w.lost;
			ctrl_sim_ack(&x, 1, UNSEEN_RTT);
			break;
		case 3:
			sstp_hybrid_drain(&x.c, h, &x.s, HYBRID_BASE + 10000, HYBRID_BASE);
			break;
		}
		KUNIT_EXPECT_EQ_MSG(test, (u32)h->surge.overflows, i == 3 ? UNSEEN_FIRST : 0,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_surge_unseen(&h->surge), i == 3,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->surge.all >= 5, i == 3, "row %u", i);
	}
}

/* Losses that cut nothing all the same: in slow start, and where a queue of 10 ms lost none of
 * late
 */
static void unseen_no_cut(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, was;

	for (i = 0; i < 3; i++) {
		h = unseen_surge(test, &x);
		unseen_rounds(&x, 10, 0);
		if (i == 1)
			h->w.ssthresh = SSTP_WINDOW_MAX;
		if (i == 2) {
			h->competes = false;
			h->loss.target_ms = hybrid_ms(&x);
		}
		was = x.c.cwnd;
		hybrid_loss(&x, UNSEEN_RTT, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd < was, !i, "row %u", i);
	}
}

/* The queue is seen: it holds what delay mode makes room at. */
static void unseen_seen(struct kunit *test)
{
	static const u32 wait[] = { SSTP_HYBRID_TARGET - 1, SSTP_HYBRID_TARGET };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wait); i++) {
		h = unseen_surge(test, &x);
		unseen_rounds(&x, 10, 0);
		hybrid_round(&x, 1000, 0, HYBRID_BASE + wait[i]);
		hybrid_round(&x, 1000, 0, HYBRID_BASE + wait[i]);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_surge_unseen(&h->surge), !i, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, !h->surge.all, !!i, "row %u", i);
	}
}

/* With an unseen queue a low round-trip time is no sign that the queue is empty, so the window does
 * not grow as in delay mode.
 */
static void unseen_not_vacant(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 2; i++) {
		h = unseen_surge(test, &x);
		if (i)
			h->surge = (struct sstp_waits_surge){};
		h->e.max = x.c.cwnd;
		unseen_rounds(&x, 3, 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->growing, (bool)i, "row %u", i);
	}
}

static struct kunit_case hybrid_unseen_cases[] = {
	KUNIT_CASE(unseen_overflows),
	KUNIT_CASE(unseen_path_loses),
	KUNIT_CASE(unseen_chance),
	KUNIT_CASE(unseen_not_counted),
	KUNIT_CASE(unseen_forgotten),
	KUNIT_CASE(unseen_no_cut),
	KUNIT_CASE(unseen_seen),
	KUNIT_CASE(unseen_not_vacant),
	{}
};

static struct kunit_suite hybrid_unseen_suite = {
	.name = "sstp_hybrid_unseen",
	.test_cases = hybrid_unseen_cases,
};

kunit_test_suite(hybrid_unseen_suite);
