// SPDX-License-Identifier: GPL-2.0
/* hybrid: what losses and marks do: whether a queue or the path has lost packets, and the cuts */

/* The name is global, and hybrid_test.c has it, too. */
#define sstp_ctrl_hybrid sstp_ctrl_hybrid_loss
#include "sstp_test.h"
#include "../ctrl_hybrid.c"
#include "hybrid_sim.h"

/* Losses without a queue, 2 of 20 in each round trip: 65536 / 10 (1 - 0.75^n) */
static void hybrid_share(struct kunit *test)
{
	static const u32 t[] = { 1638, 2867, 3788, 4479, 4998, 5387, 5679, 5897 };
	struct ctrl_sim x;
	u32 i;

	hybrid_start(&x, 1000);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		hybrid_round(&x, 18, 2, HYBRID_BASE);
		KUNIT_EXPECT_LE_MSG(test, abs_diff(ctrl_sim_state(&x, 5), (s64)t[i]), 4LL,
				    "round trip %u", i);
	}
	for (i = 0; i < 60; i++)
		hybrid_round(&x, 20, 0, HYBRID_BASE);
	KUNIT_EXPECT_LE(test, ctrl_sim_state(&x, 5), 4LL);
	/* Too few packets to tell */
	KUNIT_EXPECT_GE(test, x.c.cwnd, 1000U);
}

/* So many losses that a queue overflows, though it is too short to be seen, or they were taken for
 * the path's own: more than a tenth in one round trip, or a 16th for long
 */
static void hybrid_many_losses(struct kunit *test)
{
	static const struct {
		u32 delivered, lost, rtt;
		u32 rounds;	/* until the cut; 0 = there is none */
		u32 percent;	/* of the window that it leaves */
	} t[] = {
		{ 89, 11, HYBRID_BASE, 1, 85 }, { 90, 10, HYBRID_BASE, 4, 85 },
		{ 2, 2, HYBRID_BASE, 3, 50 }, { 6, 2, HYBRID_BASE, 0 },
		{ 930, 70, HYBRID_BASE, 8, 85 }, { 940, 60, HYBRID_BASE, 0 },
		{ 89, 11, HYBRID_BASE + HYBRID_SMALL - 1, 1, 85 },
		{ 89, 11, HYBRID_BASE + HYBRID_SMALL, 1, 85 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n, was;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		for (n = 1; n <= 20; n++) {
			was = x.c.cwnd;
			h->loss.random_ms = hybrid_ms(&x);
			h->loss.target_ms = hybrid_ms(&x);
			hybrid_round(&x, t[i].delivered, t[i].lost, t[i].rtt);
			if (x.c.cwnd < was)
				break;
		}
		KUNIT_EXPECT_EQ_MSG(test, n > 20 ? 0 : n, t[i].rounds, "row %u", i);
		if (t[i].rounds)
			KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, was * t[i].percent / 100), 25U);
		KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
	}
}

/* The cut for a quarter of losses leaves 95% of the packets that the path delivers in its lowest
 * round-trip time, as the report that tells of the losses says, if that is more than half of the
 * window, but 85% of it at most.
 */
static void hybrid_many_carried(struct kunit *test)
{
	static const struct {
		u32 delivered, interval, cwnd;
	} t[] = {
		{ 0, 0, 500 }, { 500, HYBRID_BASE, 500 }, { 800, HYBRID_BASE, 760 },
		{ 800, 2 * HYBRID_BASE, 500 }, { 10, HYBRID_BASE / 60, 570 },
		{ 1100, HYBRID_BASE, 850 }, { SSTP_WINDOW_MAX, 1, 850 },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(t); i++) {
		struct sstp_hybrid *h = hybrid_start(&x, 1000);

		h->share.mean = U16_MAX;
		h->competes = i % 2;
		if (h->competes)
			h->e.max = 2000;
		x.s.cwnd_limited = false;
		x.s.rate_delivered = t[i / 2].delivered;
		x.s.rate_interval = t[i / 2].interval;
		hybrid_round(&x, 500, 500, HYBRID_BASE);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i / 2].cwnd, "row %u", i / 2);
		/* Fast convergence is by the same ratio. */
		KUNIT_EXPECT_LE_MSG(test, abs_diff(h->e.max, i % 2 ? 500 + t[i / 2].cwnd / 2 : 0U),
				    1U, "row %u", i / 2);
	}
	/* Not for fewer losses */
	hybrid_start(&x, 1000);
	x.s.rate_delivered = 1100;
	x.s.rate_interval = HYBRID_BASE;
	hybrid_round(&x, 850, 150, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 850);
	/* No round-trip time is known. */
	hybrid_start(&x, 1000)->waits.base[0] = U32_MAX;
	sstp_hybrid_priv(&x.c)->share.mean = U16_MAX;
	x.s.rate_delivered = 800;
	x.s.rate_interval = HYBRID_BASE;
	sstp_hybrid_cut_many(&x.c, sstp_hybrid_priv(&x.c), &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 500);
}

/* In the first slow start few packets count as 64, so that a burst of losses does not end it; but
 * the next one does. Packets delivered and lost in a round trip; does it end slow start?
 */
static void hybrid_many_of_few(struct kunit *test)
{
	static const struct {
		u32 delivered, lost;
		bool first, again, later;	/* once, twice, after a time-out */
	} t[] = {
		{ 8, 5, false, true, true }, { 54, 6, false, false, false },
		{ 53, 6, false, true, true }, { 3, 7, true, true, true },
		{ 56, 7, true, true, true }, { 64, 7, false, false, false },
		{ 90, 10, false, false, false }, { 89, 11, true, true, true },
		{ 6, 4, false, true, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 100);
		h->w.ssthresh = SSTP_WINDOW_MAX;
		for (n = 0; n < 2; n++) {
			hybrid_round(&x, t[i].delivered, t[i].lost, HYBRID_BASE);
			KUNIT_EXPECT_EQ_MSG(test, h->w.ssthresh < 1000,
					    n ? t[i].again : t[i].first, "row %u, %u", i, n);
		}
		h = hybrid_start(&x, 100);
		h->w.ssthresh = 1000;
		hybrid_round(&x, t[i].delivered, t[i].lost, HYBRID_BASE);
		KUNIT_EXPECT_EQ_MSG(test, h->w.ssthresh < 1000, t[i].later, "row %u", i);
	}
}

/* The path suddenly carries a hundredth: the window is halved in every other round trip. */
static void hybrid_most_lost(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, 1000);
		h->competes = i;
		for (n = 0; n < 60 && x.c.cwnd > 20; n++) {
			h->probed_ms = hybrid_ms(&x);
			hybrid_round(&x, 10, x.c.cwnd - 10, HYBRID_BASE);
		}
		KUNIT_EXPECT_LE_MSG(test, n, 18U, "row %u", i);
	}
}

/* The round trip that begins with a cut reports packets that were lost before the cut: they are no
 * reason for another cut.
 */
static void hybrid_many_once(struct kunit *test)
{
	struct sstp_ctrl_sample s;
	struct ctrl_sim x;
	u32 i;

	hybrid_start(&x, 1000);
	x.s.cwnd_limited = false;
	hybrid_round(&x, 800, 200, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 850U);
	for (i = 0; i < 2; i++) {
		hybrid_wait(&x, HYBRID_BASE / USEC_PER_MSEC);
		s = x.s;
		s.highest = x.s.shipped;
		x.s.shipped += 850;
		s.shipped = x.s.shipped;
		s.rtt = HYBRID_BASE;
		s.delivered = 800;
		s.lost = 200;
		s.lost_ship = s.highest;
		x.ops->on_ack(&x.c, &s);
		x.ops->on_loss(&x.c, &s);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, i ? 722U : 850U, "round trip %u", i);
	}
}

/* The cut for many losses is undone if all of them were only late, whether its report had some or
 * they came in reports before it.
 */
static void hybrid_many_undone(struct kunit *test)
{
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 2; i++) {
		hybrid_start(&x, 1000);
		if (i) {
			x.s.shipped = x.s.highest + 100;
			sstp_hybrid_priv(&x.c)->round_end = x.s.shipped;
			sstp_hybrid_priv(&x.c)->waits.lost = 20;
			hybrid_round(&x, 80, 0, HYBRID_BASE);
		} else {
			hybrid_round(&x, 80, 20, HYBRID_BASE);
		}
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, 850U, "row %u", i);
		x.s.undue = 19;
		hybrid_round(&x, 10, 0, HYBRID_BASE);
		KUNIT_EXPECT_LT_MSG(test, x.c.cwnd, 1000U, "row %u", i);
		x.s.undue = 1;
		hybrid_round(&x, 10, 0, HYBRID_BASE);
		KUNIT_EXPECT_GE_MSG(test, x.c.cwnd, 1000U, "row %u", i);
	}
}

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

/* A queue has overflowed: losses among the packets that leave next, a quarter of the window, cause
 * no second cut.
 */
static void hybrid_tail(struct kunit *test)
{
	static const struct {
		u32 waited, behind, first, second;
	} t[] = {
		{ HYBRID_BASE / 6 - 1, 1, 849, 849 }, { HYBRID_BASE / 6 - 1, 212, 849, 849 },
		{ HYBRID_BASE / 6 - 1, 213, 849, 721 }, { HYBRID_BASE / 6, 1, 700, 700 },
		{ HYBRID_BASE / 6, 175, 700, 700 }, { HYBRID_BASE / 6, 176, 700, 490 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		hybrid_loss(&x, HYBRID_BASE + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].first, "row %u", i);
		x.s.shipped += t[i].behind - 1;
		hybrid_loss(&x, HYBRID_BASE + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].second, "row %u", i);
	}
	/* Such losses are reported in the round trip of the cut or in the next one. */
	for (i = 0; i < 3; i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		hybrid_loss(&x, HYBRID_BASE + 2000, 0);
		x.c.cwnd = 1000;
		while (x.s.shipped - h->w.recover < i)
			hybrid_round(&x, 1, 0, HYBRID_BASE);
		hybrid_loss(&x, HYBRID_BASE + 2000, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, i == 2 ? 849U : 1000U, "%u rounds", i);
	}
	/* The queue is empty after a pause. */
	h = hybrid_start(&x, 1000);
	h->competes = true;
	hybrid_loss(&x, HYBRID_BASE + 2000, 0);
	hybrid_wait(&x, SSTP_HYBRID_IDLE + 1);
	ctrl_sim_ack(&x, 1, HYBRID_BASE);
	KUNIT_EXPECT_FALSE(test, h->tail);
	/* Slow start that has filled a deep queue may need a second cut. */
	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, 1000);
		h->w.ssthresh = 2000;
		hybrid_loss(&x, HYBRID_BASE + (i ? HYBRID_BASE / 6 : 2000), 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->tail, !i, "%u", i);
	}
}

/* An overflow in slow start ends slow start. A later overflow begins a probe if the last probe was
 * long ago. An overflow in delay mode less than 20 s after competitive mode has ended shows that
 * competitive mode had to go on.
 */
static void hybrid_overflows(struct kunit *test)
{
	static const struct {
		bool competes;
		u32 ms;
		bool probes;
	} t[] = {
		{ true, SSTP_HYBRID_OVERFLOW, false }, { true, SSTP_HYBRID_OVERFLOW + 1, true },
		{ false, 2 * SSTP_HYBRID_OVERFLOW, false },
		{ false, 2 * SSTP_HYBRID_OVERFLOW + 1, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, HYBRID_BASE);
	h = sstp_hybrid_priv(&x.c);
	h->waits.base[0] = HYBRID_BASE;
	x.c.cwnd = 1000;
	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = t[i].competes;
		h->left_ms = hybrid_ms(&x);
		hybrid_wait(&x, t[i].ms);
		x.s.srtt = 60000;
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_TRUE(test, h->competes);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, t[i].probes, "row %u", i);
		/* Half of what would be in flight without the queue: 700 * 40 / 60 / 2 */
		KUNIT_EXPECT_EQ(test, x.c.cwnd, h->probes ? 233U : 700U);
	}
	KUNIT_EXPECT_EQ(test, h->prior, 700U);
	/* In a probe losses change nothing. */
	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 233U);
}

static void hybrid_shallow_loss(struct ctrl_sim *x)
{
	sstp_hybrid_priv(&x->c)->competes = true;
	x->s.shipped += 1000;		/* behind the tail of the last overflow */
	hybrid_loss(x, HYBRID_BASE + 5000, 0);
}

static void hybrid_undo(struct ctrl_sim *x)
{
	x->s.undue = 1;
	hybrid_run(x, 1, HYBRID_BASE);
	x->s.undue = 0;
}

/* A short queue that holds less than 10 ms has overflowed: probes are rare, packets are paced as in
 * delay mode, and W_max is what the path holds, with or without a probe where the queue is short.
 */
static void hybrid_shallow(struct kunit *test)
{
	static const struct {
		u32 base, waited, max;
		bool shallow;
	} t[] = {
		{ HYBRID_BASE, HYBRID_BASE / 6 - 1, 1000, true },
		{ HYBRID_BASE, HYBRID_BASE / 6, 850, false },
		{ 3 * HYBRID_BASE, SSTP_HYBRID_TARGET - 1, 1000, true },
		{ 3 * HYBRID_BASE, SSTP_HYBRID_TARGET, 1000, false },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		h->e.max = 2000;
		h->waits.base[0] = t[i].base;
		hybrid_wait(&x, SSTP_HYBRID_MEMORY / 2 << SSTP_HYBRID_FAILS);
		x.s.srtt = t[i].base;
		hybrid_loss(&x, t[i].base + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, h->e.max, t[i].max, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->shallow, t[i].shallow, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, !t[i].shallow, "row %u", i);
		if (h->probes)
			continue;
		/* The cut makes the queue shorter, which looks as if others probed. */
		hybrid_round(&x, 700, 0, t[i].base + t[i].waited);
		hybrid_run(&x, 1, t[i].base);
		KUNIT_EXPECT_FALSE(test, h->probes);
		KUNIT_EXPECT_EQ(test, x.c.period,
				div_u64(t[i].base * 1000ULL * 25, x.c.cwnd * 26));
		hybrid_wait(&x, (SSTP_HYBRID_MEMORY / 2 << SSTP_HYBRID_FAILS) - 2 -
			    (t[i].base + t[i].waited) / USEC_PER_MSEC);
		hybrid_run(&x, 1, t[i].base);
		KUNIT_EXPECT_FALSE(test, h->probes);
		hybrid_run(&x, 1, t[i].base);
		KUNIT_EXPECT_TRUE(test, h->probes);
	}
	/* An overflow may begin a probe 80 s after the last one. */
	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	hybrid_wait(&x, SSTP_HYBRID_MEMORY / 2 << SSTP_HYBRID_FAILS);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_FALSE(test, h->probes);
	hybrid_wait(&x, 1);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->probes);
}

/* A cut for a shallow queue leaves 85%, and the window is back at W_max as late as CUBIC's: mean
 * windows at a loss rate are the same. That is so for the whole epoch, but not after other cuts.
 */
static void hybrid_gentle(struct kunit *test)
{
	const struct sstp_cubic_law *cubic = sstp_hybrid_law(false), *law = sstp_hybrid_law(true);
	u64 mean[] = {
		div_u64((3 * SSTP_CUBIC_ONE + cubic->beta) * law->inverse,
			SSTP_CUBIC_ONE - cubic->beta),
		div_u64((3 * SSTP_CUBIC_ONE + law->beta) * cubic->inverse,
			SSTP_CUBIC_ONE - law->beta),
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;

	KUNIT_EXPECT_LE(test, abs_diff(mean[0], mean[1]), div_u64(mean[0], 100));
	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->gentle);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 849U);
	/* K is 9.2 s, CUBIC's 9.1 s after a cut to 70%. Half of it leaves an eighth of the cut. */
	hybrid_run(&x, 2000, HYBRID_BASE + 2000);
	hybrid_run(&x, 2612, HYBRID_BASE + SSTP_HYBRID_TARGET);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 981U), 2U);
	hybrid_run(&x, 4612, HYBRID_BASE + SSTP_HYBRID_TARGET);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 1000U), 1U);
	hybrid_undo(&x);
	KUNIT_EXPECT_FALSE(test, h->gentle);

	/* The cut that ends slow start: CUBIC's, of which 0.4 * 4.085^3 is left after 5 s */
	h = hybrid_start(&x, 1000);
	h->w.ssthresh = SSTP_WINDOW_MAX - 1;
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	hybrid_run(&x, 5000, HYBRID_BASE + 2000);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 973U), 2U);

	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	x.s.shipped += 1000;
	h->share.mean = U16_MAX;
	sstp_hybrid_cut_many(&x.c, h, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 424U);
	KUNIT_EXPECT_FALSE(test, h->gentle);
	hybrid_shallow_loss(&x);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->gentle);
}

/* The queue is not shallow if a round trip waits for 10 ms, or did lately without a loss, or if
 * there was no overflow: after an undo, a time-out, and where packets overtake others.
 */
static void hybrid_not_shallow(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;

	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	hybrid_round(&x, 700, 0, HYBRID_BASE + SSTP_HYBRID_TARGET - 1);
	hybrid_round(&x, 700, 0, HYBRID_BASE);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	hybrid_round(&x, 700, 0, HYBRID_BASE + SSTP_HYBRID_TARGET);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	hybrid_undo(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow);

	h = hybrid_start(&x, 1000);
	h->loss.target_ms = hybrid_ms(&x);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow);

	/* After an undo it is shallow if it was so before the cut. */
	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	hybrid_undo(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	hybrid_shallow_loss(&x);
	hybrid_shallow_loss(&x);
	hybrid_undo(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	x.s.shipped += 1000;
	hybrid_loss(&x, HYBRID_BASE + 60000, 0);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	hybrid_undo(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);

	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->shallow);

	h = hybrid_start(&x, 1000);
	h->reorder_ms = hybrid_ms(&x);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow || h->tail);
}

/* In competitive mode the window grows as in delay mode when it has reached W_max and the queue has
 * been empty for a second, and until packets wait.
 */
static void hybrid_vacant(struct kunit *test)
{
	static const struct {
		u32 max, rtt;
		bool grows;
	} t[] = {
		{ 1000, HYBRID_BASE + HYBRID_SMALL - 1, true },
		{ 1000, HYBRID_BASE + HYBRID_SMALL, false },
		{ 1100, HYBRID_BASE, false },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, cwnd;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		h->e.max = t[i].max;
		hybrid_run(&x, SSTP_HYBRID_VACANT, t[i].rtt);
		KUNIT_EXPECT_LT_MSG(test, x.c.cwnd, 1060U, "row %u", i);
		hybrid_run(&x, 1000, t[i].rtt);
		KUNIT_EXPECT_EQ(test, sstp_hybrid_grows(h, &x.s), t[i].grows);
		if (t[i].grows)
			KUNIT_EXPECT_GT(test, x.c.cwnd, 1250U);
		else
			KUNIT_EXPECT_LT_MSG(test, x.c.cwnd, 1100U, "row %u", i);
		hybrid_run(&x, 100, HYBRID_BASE + HYBRID_SMALL);
		cwnd = x.c.cwnd;
		hybrid_run(&x, 200, HYBRID_BASE + HYBRID_SMALL);
		KUNIT_EXPECT_FALSE(test, h->growing);
		KUNIT_EXPECT_TRUE(test, h->competes);
		KUNIT_EXPECT_LE_MSG(test, x.c.cwnd, cwnd + 10, "row %u", i);
	}

	/* Not without W_max, and not if the window is not used */
	h = hybrid_start(&x, 1000);
	h->competes = true;
	hybrid_run(&x, SSTP_HYBRID_VACANT, HYBRID_BASE);
	KUNIT_EXPECT_FALSE(test, h->growing);
	h->e.max = 1000;
	hybrid_run(&x, SSTP_HYBRID_VACANT, HYBRID_BASE);
	KUNIT_EXPECT_TRUE(test, h->growing);
	x.s.cwnd_limited = false;
	hybrid_run(&x, 1, HYBRID_BASE);
	KUNIT_EXPECT_FALSE(test, h->growing);
}

static void hybrid_marks(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);
	u32 i;

	for (i = 0; i < 2; i++) {
		ctrl_sim_avoid(&x, 1000);
		h->competes = i;
		hybrid_loss(&x, HYBRID_BASE + i * 20000, 3);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 850U);
		KUNIT_EXPECT_EQ(test, (bool)h->competes, (bool)i);
		KUNIT_EXPECT_FALSE(test, h->probes);
	}
}

/* Marks in competitive mode begin an epoch at the window that they came with, as losses do: not at
 * a larger one of long ago, to which the window would grow fast.
 */
static void hybrid_marks_epoch(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 100);

	h->competes = true;
	h->e.max = 10000;
	hybrid_loss(&x, 60000, 3);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 85U);
	/* Fast convergence: 100 (1 + 0.85) / 2 */
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 4), 92LL);
	h->e.max = 10000;
	x.s.highest = x.s.shipped;
	hybrid_round(&x, 8, 8, HYBRID_BASE);
	hybrid_round(&x, 8, 8, HYBRID_BASE);
	KUNIT_EXPECT_LT(test, ctrl_sim_state(&x, 4), 100LL);
}

/* Two cuts do not make the queue short, but marks cut the window after the second one: the alarm
 * must not return to the window before them.
 */
static void hybrid_marks_checked(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);
	u32 n;

	h->cuts = SSTP_HYBRID_CUTS - 1;
	sstp_hybrid_drain(&x.c, h, &x.s, 55000, HYBRID_BASE * SSTP_HYBRID_LEAVE / 100);
	hybrid_loss(&x, 55000, 3);
	for (n = 0; n < 2; n++) {
		KUNIT_EXPECT_LE(test, x.c.cwnd, 600U);
		KUNIT_EXPECT_FALSE(test, h->probes);
		hybrid_round(&x, 10, 0, 55000);
	}
}

static struct kunit_case hybrid_loss_cases[] = {
	KUNIT_CASE(hybrid_share),
	KUNIT_CASE(hybrid_many_losses),
	KUNIT_CASE(hybrid_most_lost),
	KUNIT_CASE(hybrid_many_carried),
	KUNIT_CASE(hybrid_many_of_few),
	KUNIT_CASE(hybrid_many_once),
	KUNIT_CASE(hybrid_many_undone),
	KUNIT_CASE(hybrid_losses),
	KUNIT_CASE(hybrid_either),
	KUNIT_CASE(hybrid_held),
	KUNIT_CASE(hybrid_queue_loses),
	KUNIT_CASE(hybrid_path_loses),
	KUNIT_CASE(hybrid_unsure),
	KUNIT_CASE(hybrid_counts_later),
	KUNIT_CASE(hybrid_counts),
	KUNIT_CASE(hybrid_first_overflow),
	KUNIT_CASE(hybrid_tail),
	KUNIT_CASE(hybrid_overflows),
	KUNIT_CASE(hybrid_shallow),
	KUNIT_CASE(hybrid_gentle),
	KUNIT_CASE(hybrid_not_shallow),
	KUNIT_CASE(hybrid_vacant),
	KUNIT_CASE(hybrid_marks),
	KUNIT_CASE(hybrid_marks_epoch),
	KUNIT_CASE(hybrid_marks_checked),
	{}
};

static struct kunit_suite hybrid_loss_suite = {
	.name = "sstp_hybrid_loss",
	.test_cases = hybrid_loss_cases,
};

kunit_test_suite(hybrid_loss_suite);
