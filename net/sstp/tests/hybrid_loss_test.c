// SPDX-License-Identifier: GPL-2.0
/* hybrid: whether a queue or the path has lost packets, and what is counted to tell that */
#include "sstp_test.h"
#include "../hybrid_round.c"
#include "hybrid_sim.h"

/* A loss without a queue changes nothing and is remembered; with one it is an overflow. */
static void hybrid_losses(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);

	hybrid_run(&x, 80, HYBRID_BASE);
	ctrl_sim_avoid(&x, 1000);
	hybrid_loss(&x, HYBRID_BASE + HYBRID_SMALL - 1, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	KUNIT_EXPECT_FALSE(test, h->competes);
	KUNIT_EXPECT_EQ(test, h->loss.random_ms, hybrid_ms(&x));
	/* The path loses packets anyway. So for 10 s a loss with a queue only takes this flow's
	 * packets out of the queue,
	 */
	hybrid_wait(&x, SSTP_HYBRID_MEMORY);
	hybrid_loss(&x, 42000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	h->loss.random_ms = hybrid_ms(&x) - SSTP_HYBRID_MEMORY;
	h->waits.least[0] = 44000;
	h->waits.least[1] = 48000;
	hybrid_loss(&x, 50000, 0);
	/* 1000 * 40.94 / 44: three quarters of a wait that is no queue are left. */
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 930U);
	KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
	/* once in a round trip, and not again until the effect of that is judged. */
	h->waits.least[0] = 44000;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 930U);
	/* Later the flow competes. */
	ctrl_sim_avoid(&x, 1000);
	h->probed_ms = hybrid_ms(&x);
	h->loss.random_ms = hybrid_ms(&x) - SSTP_HYBRID_MEMORY - 1;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	KUNIT_EXPECT_TRUE(test, h->competes);
	/* A loss without a queue ends competitive mode. */
	x.s.shipped += 1000;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 490U);
	x.s.shipped += 1000;
	hybrid_loss(&x, HYBRID_BASE, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 490U);
	KUNIT_EXPECT_FALSE(test, h->competes);
}

/* After a loss that may be the path's three quarters of a wait that is no queue are left. */
static void hybrid_either(struct kunit *test)
{
	static const struct {
		u32 base, least, cwnd;		/* us, us, of 10,000 packets */
	} t[] = {
		{ 200, 1200, 7917 }, { 10000, 11000, 9773 }, { 64000, 66000, 9924 },
		{ 200000, 202000, 9975 }, { 200000, 220000, 9159 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 10000);
		h->waits.base[0] = t[i].base;
		h->waits.least[0] = t[i].least;
		h->loss.random_ms = hybrid_ms(&x);
		hybrid_loss(&x, t[i].least, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
	}
}

/* The queue held 10 ms of late and lost nothing: a loss while less than half of that waits is
 * the path's own. In competitive mode, and in slow start, it is an overflow.
 */
static void hybrid_held(struct kunit *test)
{
	static const struct {
		u32 ago, rtt;
		bool competes, slow_start;
		u32 cwnd;	/* 1000: the loss is the path's, 849: the queue is shallow */
	} t[] = {
		{ SSTP_HYBRID_MEMORY, HYBRID_BASE + SSTP_WAITS_HELD - 1, false, false, 1000 },
		{ SSTP_HYBRID_MEMORY, HYBRID_BASE + SSTP_WAITS_HELD, false, false, 700 },
		{ SSTP_HYBRID_MEMORY + 1, HYBRID_BASE + SSTP_WAITS_HELD - 1, false, false, 849 },
		{ 0, HYBRID_BASE + HYBRID_SMALL, true, false, 700 },
		{ 0, HYBRID_BASE + HYBRID_SMALL, false, true, 700 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		hybrid_round(&x, 1000, 0, HYBRID_BASE + SSTP_HYBRID_TARGET);
		KUNIT_EXPECT_EQ(test, h->loss.target_ms, hybrid_ms(&x));
		hybrid_wait(&x, t[i].ago);
		sstp_hybrid_round(&x.c, h, &x.s);
		sstp_hybrid_round(&x.c, h, &x.s);
		h->check = 0;
		h->probed_ms = hybrid_ms(&x);
		h->loss.overflow_ms = hybrid_ms(&x);
		h->competes = t[i].competes;
		ctrl_sim_avoid(&x, 1000);
		if (t[i].slow_start)
			h->w.ssthresh = 2000;
		hybrid_loss(&x, t[i].rtt, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->loss.random_ms == hybrid_ms(&x), t[i].cwnd == 1000,
				    "row %u", i);
	}
	/* Nor are packets taken out of so short a queue for a loss while more waited, */
	h = hybrid_start(&x, 1000);
	h->loss.target_ms = hybrid_ms(&x);
	h->loss.random_ms = hybrid_ms(&x);
	h->waits.least[0] = HYBRID_BASE + SSTP_WAITS_HELD - 1;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	/* but out of a longer one, or one that did not hold so much: 1000 * 40.94 / 45 */
	h->waits.least[0] = HYBRID_BASE + SSTP_WAITS_HELD;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 910U);
	h = hybrid_start(&x, 1000);
	h->loss.random_ms = hybrid_ms(&x);
	h->waits.least[0] = HYBRID_BASE + SSTP_WAITS_HELD - 1;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 910U);
}

/* Nearly all losses come in round trips with a queue. Losses of the path would have come in those
 * without a queue as well, so a single one there does not make the others losses of the path.
 */
static void hybrid_queue_loses(struct kunit *test)
{
	static const struct sstp_waits_tally rounds[] = {
		{ { 16, 100 }, { 0, 50 } }, { { 17, 100 }, { 0, 50 } },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (i = 0; i < 2; i++) {
		for (n = 0; n < 2; n++) {
			h = hybrid_start(&x, 1000);
			h->waits.rounds = rounds[i];
			h->loss.overflow_ms = hybrid_ms(&x);
			h->loss.random_ms = hybrid_ms(&x) - n * (SSTP_HYBRID_MEMORY + 1);
			hybrid_loss(&x, 60000, 0);
			KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, n || i, "row %u", i);
			/* Competitive mode ends with a loss of the path alone. */
			x.s.shipped += 1000;
			hybrid_loss(&x, HYBRID_BASE, 0);
			KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, (bool)i, "row %u", i);
		}
	}
}

/* Where a link delivers in bursts, a loss of the path's own does not begin competitive mode. */
static void hybrid_path_loses(struct kunit *test)
{
	static const struct sstp_waits_tally seen = { { 50, 50 }, { 2, 2 } };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, 1000);
		h->waits.uneven = seen;
		if (i)
			h->waits.reports = seen;
		h->loss.overflow_ms = hybrid_ms(&x);
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, !i, "row %u", i);
	}
}

/* As long as it is not known whether the path loses packets on such a link, a loss cuts the window,
 * but in delay mode and without a probe, if a packet of the last round trip did not wait. Where all
 * wait, others may fill the queue; and in slow start an overflow is one.
 */
static void hybrid_unsure(struct kunit *test)
{
	static const struct {
		struct sstp_waits_tally uneven;
		u32 least;
		bool competes, slow_start, delay;
	} t[] = {
		{ { { 8, 8 } }, HYBRID_BASE + HYBRID_SMALL - 1, .delay = true },
		{ { { 8, 8 } }, HYBRID_BASE, .competes = true, .delay = true },
		{ { { 8, 8 } }, HYBRID_BASE + HYBRID_SMALL, .delay = false },
		{ { { 8, 8 } }, U32_MAX, .delay = false },
		{ { { 8, 7 } }, HYBRID_BASE, .delay = false },
		{ { { 8, 8 } }, HYBRID_BASE, .competes = true, .slow_start = true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->waits.uneven = t[i].uneven;
		h->waits.rounds.all[1] = 32;
		h->waits.least[1] = t[i].least;
		h->loss.overflow_ms = hybrid_ms(&x);
		h->probed_ms = hybrid_ms(&x) - SSTP_HYBRID_OVERFLOW - 1;
		h->competes = t[i].competes;
		if (t[i].slow_start)
			h->w.ssthresh = 2000;
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, !t[i].delay, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, !t[i].delay && !t[i].slow_start,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->probes ? h->prior : x.c.cwnd, 700U, "row %u", i);
		/* Competitive mode goes on from there if it begins later. */
		KUNIT_EXPECT_EQ_MSG(test, h->e.max, 1000U, "row %u", i);
	}
}

/* Losses by which slow start ends are not counted: those of the round trip after its cut. Those
 * after another cut are.
 */
static void hybrid_counts_later(struct kunit *test)
{
	const u32 far = HYBRID_BASE + 2 * HYBRID_SMALL;
	struct sstp_ctrl_sample s;
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, 1000);
		if (!i)
			h->w.ssthresh = 2000;
		h->loss.overflow_ms = hybrid_ms(&x);
		x.s.shipped = x.s.highest + 1000;
		s = x.s;
		s.rtt = 60000;
		s.lost = 1;
		s.lost_ship = s.highest + 1;
		x.ops->on_loss(&x.c, &s);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
		x.s.shipped += 1000;
		for (n = 0; n < 10; n++)
			ctrl_sim_ack(&x, 1, n & 1 ? HYBRID_BASE : far);
		/* The last ends the recovery, and the round trip. */
		x.s.highest = h->round_end;
		ctrl_sim_ack(&x, 1, far);
		KUNIT_EXPECT_FALSE(test, h->w.cut);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.reports.all[1], i ? 6U : 0U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.uneven.all[0], i, "row %u", i);
		/* The next counts. */
		ctrl_sim_ack(&x, 1, far);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.reports.all[1], i ? 7U : 1U, "row %u", i);
	}
}

/* Round trips of a probe and of slow start, and their unlike round-trip times, are not counted, nor
 * are those that tell of the losses at the end of slow start, or soon after many losses; a round
 * trip that a cut ends is counted as uneven.
 */
static void hybrid_counts(struct kunit *test)
{
	static const u32 t[] = { 2, 0, 1, 0, 0 };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		bool unsteady = i == 1 || i == 2;

		h = hybrid_start(&x, 1000);
		h->probes = i == 1;
		if (h->probes)
			h->probe.begun_ms = hybrid_ms(&x);
		if (i == 2)
			h->w.ssthresh = 2000;
		if (i == 4)
			h->share.mean = 3 * SSTP_WAITS_SHARE_MEAN;
		x.s.shipped = x.s.highest + 1000;
		h->round_end = x.s.shipped;
		ctrl_sim_ack(&x, 1, HYBRID_BASE + 2 * HYBRID_SMALL);
		ctrl_sim_ack(&x, 1, HYBRID_BASE);
		h->waits.lost = 1;
		sstp_hybrid_cut(&x.c, h, &x.s, 700);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.reports.all[0], unsteady ? 0U : 1U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.uneven.lossy[0], unsteady ? 0U : 1U, "row %u",
				    i);
		x.s.highest = x.s.shipped - 1;
		if (i == 3)
			h->w.ssthresh = 4000;
		hybrid_round(&x, 1000, 0, HYBRID_BASE);
		hybrid_round(&x, 1000, 1, HYBRID_BASE);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.rounds.all[0], t[i], "row %u", i);
	}
}

/* The first loss for long that waited in a queue may be one of the path's own: the queue is
 * emptied. The second one is an overflow, and so is the first one soon after competitive mode.
 */
static void hybrid_first_overflow(struct kunit *test)
{
	static const struct {
		u32 left, again;	/* ms before the first one, ms until the second one */
		bool first, second;
	} t[] = {
		{ SSTP_HYBRID_RELAPSE + 1, 1000, false, true },
		{ SSTP_HYBRID_RELAPSE + 1, SSTP_HYBRID_MEMORY, false, true },
		{ SSTP_HYBRID_RELAPSE + 1, SSTP_HYBRID_MEMORY + 1, false, false },
		{ SSTP_HYBRID_RELAPSE, 1000, true, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->left_ms = hybrid_ms(&x) - t[i].left;
		h->waits.least[1] = 44000;
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, t[i].first, "row %u", i);
		/* 1000 * 40 / 44 */
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].first ? 700U : 909U, "row %u", i);
		hybrid_wait(&x, t[i].again);
		ctrl_sim_avoid(&x, 1000);
		h->probed_ms = hybrid_ms(&x);
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, t[i].second, "row %u", i);
	}
}

static struct kunit_case hybrid_loss_cases[] = {
	KUNIT_CASE(hybrid_losses),
	KUNIT_CASE(hybrid_either),
	KUNIT_CASE(hybrid_held),
	KUNIT_CASE(hybrid_queue_loses),
	KUNIT_CASE(hybrid_path_loses),
	KUNIT_CASE(hybrid_unsure),
	KUNIT_CASE(hybrid_counts_later),
	KUNIT_CASE(hybrid_counts),
	KUNIT_CASE(hybrid_first_overflow),
	{}
};

static struct kunit_suite hybrid_loss_suite = {
	.name = "sstp_hybrid_loss",
	.test_cases = hybrid_loss_cases,
};

kunit_test_suite(hybrid_loss_suite);
