// SPDX-License-Identifier: GPL-2.0
/* hybrid: its arithmetic, and what losses and marks do. hybrid_probe_test.c has the changes of
 * mode, hybrid_line_test.c flows that share a line.
 */
#include "sstp_test.h"
#include "../ctrl_hybrid.c"
#include "hybrid_sim.h"

/* Packets by which the window grows in delay mode, from the integral of alpha: 25 a second for
 * 250 ms, and then 25 (t + 5 t^2 + t^3 / 12)
 */
static void hybrid_growth(struct kunit *test)
{
	static const struct {
		u32 ms, rtt, packets;
	} t[] = {
		{ 100, HYBRID_BASE + 4000, 2 }, { 1000, HYBRID_BASE + 4000, 96 },
		{ 5000, HYBRID_BASE + 4000, 3169 }, { 100, HYBRID_BASE, 10 },
		{ 1000, HYBRID_BASE, 385 }, { 5000, HYBRID_BASE, 12674 },
		{ 1000, HYBRID_BASE + HYBRID_SMALL, 96 },
		{ 1000, HYBRID_BASE + HYBRID_SMALL - 1, 385 },
	};
	struct ctrl_sim x;
	u32 i, grown;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		hybrid_start(&x, 1000000);
		/* Growth begins with the first report. */
		hybrid_run(&x, t[i].ms + 1, t[i].rtt);
		grown = x.c.cwnd - 1000000;
		KUNIT_EXPECT_LE_MSG(test, abs_diff(grown, t[i].packets), t[i].packets / 100 + 1,
				    "row %u: %u", i, grown);
	}
}

/* Where the rate of growth ends: after a minute, with a sixteenth of the window in a round trip,
 * and when no report comes for long
 */
static void hybrid_growth_bounds(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000000);
	u32 i, was;

	for (i = 0; i < 2; i++) {
		hybrid_run(&x, 1, HYBRID_BASE + 4000);
		h->waits.base[0] = HYBRID_BASE;
		h->begun_ms = hybrid_ms(&x) - SSTP_HYBRID_LONG - i * 60000;
		was = x.c.cwnd;
		hybrid_run(&x, 100, HYBRID_BASE + 4000);
		/* alpha(59.75 s) is 1491.0 */
		KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd - was, 3728U), 4U, "%u",
				    x.c.cwnd - was);
	}
	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, i ? 8 : 160);
		hybrid_run(&x, 1, HYBRID_BASE);
		h->begun_ms -= SSTP_HYBRID_LONG;
		/* One report more for what is rounded down */
		hybrid_run(&x, 41, HYBRID_BASE);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, i ? 9U : 170U);
		hybrid_wait(&x, 5000);
		was = x.c.cwnd;
		hybrid_run(&x, 1, HYBRID_BASE);
		KUNIT_EXPECT_LE(test, x.c.cwnd - was, 1U);
	}
	/* A part of a packet counts: 24 (1 + 1 / 16)^2 */
	h = hybrid_start(&x, 24);
	hybrid_run(&x, 1, HYBRID_BASE);
	h->begun_ms -= SSTP_HYBRID_LONG;
	hybrid_run(&x, 81, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 27U);
	/* A window that is not used does not grow, and growth goes on when it is. */
	was = hybrid_ms(&x) - h->begun_ms;
	x.s.cwnd_limited = false;
	hybrid_run(&x, 1000, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 27U);
	KUNIT_EXPECT_LE(test, hybrid_ms(&x) - h->begun_ms - was, 1U);
	x.s.cwnd_limited = true;
	hybrid_run(&x, 42, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 28U);
	hybrid_start(&x, SSTP_WINDOW_MAX - 1);
	hybrid_run(&x, 2000, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, (u32)SSTP_WINDOW_MAX);
}

/* A drain: window, round-trip time, window after it */
static void hybrid_drains(struct kunit *test)
{
	static const struct {
		u32 cwnd, rtt, after;
	} t[] = {
		{ 1000, 50000, 760 }, { 1000, 52000, 731 }, { 1000, 60000, 700 },
		{ 1000, 60 * USEC_PER_SEC, 700 }, { 1000, 30000, 950 }, { 1000, 0, 700 },
		{ 26, 50000, 20 }, { 25, 50000, 19 }, { 6, 50000, 5 }, { 1, 50000, 2 },
		{ SSTP_WINDOW_MAX, 50000, 12750684 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, t[i].cwnd);
		sstp_hybrid_drain(&x.c, h, &x.s, t[i].rtt, SSTP_HYBRID_LEAVE);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].after, "row %u", i);
		KUNIT_EXPECT_EQ(test, h->prior, t[i].cwnd);
	}
}

/* When it drains: 10 ms wait, and three packets of this flow; the program does not leave the window
 * unused. 760 = 0.95 * 40 / 50 * 1000. If the receiver's window is smaller, that counts.
 */
static void hybrid_drain_due(struct kunit *test)
{
	static const struct {
		u32 cwnd, rtt, flight;
		bool app_limited, due;
		u32 after;
		bool slow_start;
	} t[] = {
		{ 1000, 50000, 1000, false, true, 760 }, { 1000, 49999, 1000, false, false, 1000 },
		{ 14, 50000, 14, false, false, 14 }, { 15, 50000, 15, false, true, 11 },
		{ 1000, 50000, 500, true, false, 1000 }, { 1000, 50000, 501, true, true, 760 },
		{ 1000, 50000, 500, false, true, 380 }, { 1000, 50000, 14, false, false, 1000 },
		{ 1000, 49999, 500, false, false, 1000 },
		/* In slow start the receiver's window counts only, once it had time to open. */
		{ 1000, 50000, 501, false, false, 1001, true },
		{ 1000, 50000, 500, false, true, 380, true },
		{ 1000, 49999, 500, false, false, 1000, true },
		{ 1000, 50000, 500, true, false, 1000, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, t[i].cwnd);
		if (t[i].slow_start)
			h->w.ssthresh = SSTP_WINDOW_MAX;
		x.s.flight = t[i].flight;
		x.s.app_limited = t[i].app_limited;
		x.s.cwnd_limited = t[i].flight * 2 > t[i].cwnd;
		for (k = t[i].slow_start ? SSTP_HYBRID_UNUSED : 1; k; k--) {
			KUNIT_EXPECT_EQ_MSG(test, h->check, 0, "row %u", i);
			hybrid_round(&x, 1, 0, t[i].rtt);
		}
		KUNIT_EXPECT_EQ_MSG(test, h->check == 2, t[i].due, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, t[i].after), 2U, "row %u: %u", i,
				    x.c.cwnd);
		KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
	}
}

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
			h->random_ms = hybrid_ms(&x);
			h->target_ms = hybrid_ms(&x);
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

/* The round trip that begins with a cut reports what was lost before it: that is no reason for
 * another one.
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

/* In competitive mode: the equation of RFC 9438, as in cubic_test.c */
static void hybrid_cubic(struct kunit *test)
{
	static const u32 t[][2] = { { 40, 947 }, { 91, 1000 }, { 120, 1009 }, { 200, 1520 } };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n = 0;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, 100000);
	ctrl_sim_avoid(&x, 1000);
	h = sstp_hybrid_priv(&x.c);
	h->waits.base[0] = 100000;
	h->probed_ms = hybrid_ms(&x);
	h->overflow_ms = hybrid_ms(&x);
	hybrid_loss(&x, 110000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 1LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 4), 1000LL);
	x.s.highest = x.s.shipped;
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		for (; n < t[i][0]; n++) {
			h->probed_ms = hybrid_ms(&x);
			ctrl_sim_round(&x, 4, 100000);
		}
		KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, t[i][1]), 12U, "round trip %u: %u",
				    n, x.c.cwnd);
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
	KUNIT_EXPECT_EQ(test, h->random_ms, hybrid_ms(&x));
	/* The path loses packets anyway, so within 10 s packets are taken out of the queue, */
	hybrid_wait(&x, SSTP_HYBRID_MEMORY);
	hybrid_loss(&x, 42000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	h->random_ms = hybrid_ms(&x) - SSTP_HYBRID_MEMORY;
	h->waits.least[0] = 44000;
	h->waits.least[1] = 48000;
	hybrid_loss(&x, 50000, 0);
	/* 1000 * 40 / 44 */
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 909U);
	KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
	/* once in a round trip, and not again until it is seen if that has helped. */
	h->waits.least[0] = 44000;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 909U);
	/* Later the flow competes. */
	ctrl_sim_avoid(&x, 1000);
	h->probed_ms = hybrid_ms(&x);
	h->random_ms = hybrid_ms(&x) - SSTP_HYBRID_MEMORY - 1;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	KUNIT_EXPECT_TRUE(test, h->competes);
	/* And until it sees a loss without a queue */
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 490U);
	hybrid_loss(&x, HYBRID_BASE, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 490U);
	KUNIT_EXPECT_FALSE(test, h->competes);
}

/* The queue held 10 ms of late and lost nothing: a loss while less than half of that waits is
 * the path's own. In competitive mode, and in slow start, it is an overflow.
 */
static void hybrid_held(struct kunit *test)
{
	static const struct {
		u32 ago, rtt;
		bool competes, slow_start, random;
	} t[] = {
		{ SSTP_HYBRID_MEMORY, HYBRID_BASE + SSTP_HYBRID_HELD - 1, false, false, true },
		{ SSTP_HYBRID_MEMORY, HYBRID_BASE + SSTP_HYBRID_HELD, false, false, false },
		{ SSTP_HYBRID_MEMORY + 1, HYBRID_BASE + SSTP_HYBRID_HELD - 1, false, false, false },
		{ 0, HYBRID_BASE + HYBRID_SMALL, true, false, false },
		{ 0, HYBRID_BASE + HYBRID_SMALL, false, true, false },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		hybrid_round(&x, 1000, 0, HYBRID_BASE + SSTP_HYBRID_TARGET);
		KUNIT_EXPECT_EQ(test, h->target_ms, hybrid_ms(&x));
		hybrid_wait(&x, t[i].ago);
		sstp_hybrid_round(&x.c, h, &x.s);
		sstp_hybrid_round(&x.c, h, &x.s);
		h->check = 0;
		h->probed_ms = hybrid_ms(&x);
		h->overflow_ms = hybrid_ms(&x);
		h->competes = t[i].competes;
		ctrl_sim_avoid(&x, 1000);
		if (t[i].slow_start)
			h->w.ssthresh = 2000;
		hybrid_loss(&x, t[i].rtt, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].random ? 1000U : 700U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->random_ms == hybrid_ms(&x), t[i].random, "row %u", i);
	}
	/* Nor are packets taken out of so short a queue for a loss while more waited, */
	h = hybrid_start(&x, 1000);
	h->target_ms = hybrid_ms(&x);
	h->random_ms = hybrid_ms(&x);
	h->waits.least[0] = HYBRID_BASE + SSTP_HYBRID_HELD - 1;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	/* but out of a longer one, or one that did not hold so much: 1000 * 40 / 45 */
	h->waits.least[0] = HYBRID_BASE + SSTP_HYBRID_HELD;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 889U);
	h = hybrid_start(&x, 1000);
	h->random_ms = hybrid_ms(&x);
	h->waits.least[0] = HYBRID_BASE + SSTP_HYBRID_HELD - 1;
	hybrid_loss(&x, 50000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 889U);
}

/* Where losses come with a queue, and would have come without one if they were the path's own, a
 * loss without a queue does not make those with one the path's own.
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
			h->overflow_ms = hybrid_ms(&x);
			h->random_ms = hybrid_ms(&x) - n * (SSTP_HYBRID_MEMORY + 1);
			hybrid_loss(&x, 60000, 0);
			KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, n || i, "row %u", i);
			/* Competitive mode ends with a loss of the path alone. */
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
		h->overflow_ms = hybrid_ms(&x);
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
		h->overflow_ms = hybrid_ms(&x);
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
		h->overflow_ms = hybrid_ms(&x);
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

/* Round trips of a probe are not counted, nor are unlike round-trip times of it or of slow start; a
 * round trip that a cut ends is counted as uneven.
 */
static void hybrid_counts(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 3; i++) {
		h = hybrid_start(&x, 1000);
		h->probes = i == 1;
		if (h->probes)
			h->probe_ms = hybrid_ms(&x);
		if (i == 2)
			h->w.ssthresh = 2000;
		x.s.shipped = x.s.highest + 1000;
		h->round_end = x.s.shipped;
		ctrl_sim_ack(&x, 1, HYBRID_BASE + 2 * HYBRID_SMALL);
		ctrl_sim_ack(&x, 1, HYBRID_BASE);
		h->waits.lost = 1;
		sstp_hybrid_cut(&x.c, h, &x.s, 700);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.reports.all[0], i ? 0U : 1U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.uneven.lossy[0], i ? 0U : 1U, "row %u", i);
		x.s.highest = x.s.shipped - 1;
		hybrid_round(&x, 1000, 0, HYBRID_BASE);
		hybrid_round(&x, 1000, 1, HYBRID_BASE);
		KUNIT_EXPECT_EQ_MSG(test, h->waits.rounds.all[0], i == 1 ? 0U : 2U, "row %u", i);
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

/* The first quarter of the window after a cut may overflow a queue of less than an eighth of the
 * round-trip time once more, which causes no second cut.
 */
static void hybrid_tail(struct kunit *test)
{
	static const struct {
		u32 waited, behind;
		bool again;
	} t[] = {
		{ HYBRID_BASE / 8 - 1, 1, false }, { HYBRID_BASE / 8 - 1, 175, false },
		{ HYBRID_BASE / 8 - 1, 176, true }, { HYBRID_BASE / 8, 1, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		hybrid_loss(&x, HYBRID_BASE + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, 700U, "row %u", i);
		x.s.shipped += t[i].behind - 1;
		hybrid_loss(&x, HYBRID_BASE + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].again ? 490U : 700U, "row %u", i);
	}
	/* That is so for two round trips. */
	for (i = 0; i < 3; i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		hybrid_loss(&x, HYBRID_BASE + 2000, 0);
		x.c.cwnd = 1000;
		while (x.s.shipped - h->w.recover < i)
			hybrid_round(&x, 1, 0, HYBRID_BASE);
		hybrid_loss(&x, HYBRID_BASE + 2000, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, i == 2 ? 700U : 1000U, "%u rounds", i);
	}
}

/* An overflow in slow start ends that; later it begins a probe if the last one was long ago. One
 * in delay mode less than 20 s after competitive mode shows that this had to go on.
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
	sstp_hybrid_drain(&x.c, h, &x.s, 55000, SSTP_HYBRID_LEAVE);
	hybrid_loss(&x, 55000, 3);
	for (n = 0; n < 2; n++) {
		KUNIT_EXPECT_LE(test, x.c.cwnd, 600U);
		KUNIT_EXPECT_FALSE(test, h->probes);
		hybrid_round(&x, 10, 0, 55000);
	}
}

/* The handshake measures less than data packets take on a slow line; a connection that had another
 * controller has measured those.
 */
static void hybrid_base(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), 0LL);
	hybrid_round(&x, 10, 0, HYBRID_BASE + 3000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), HYBRID_BASE + 3000LL);
	x.s.total_delivered = 1;
	sstp_hybrid_init(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), (s64)HYBRID_BASE);
}

/* A minute without data adds nothing to the growth, in either mode, also if the window is not used
 * for a while after that.
 */
static void hybrid_idles(struct kunit *test)
{
	u32 i, idle, cwnd[2][3];
	struct sstp_hybrid *h;
	struct ctrl_sim x;

	for (i = 0; i < 2; i++)
		for (idle = 0; idle < 3; idle++) {
			h = hybrid_start(&x, 1000);
			h->competes = i;
			h->fails = SSTP_HYBRID_FAILS;
			sstp_cubic_cut(&h->e, 1400, SSTP_CUBIC_BETA, false);
			hybrid_run(&x, 2000, HYBRID_BASE + 4000);
			if (idle)
				hybrid_wait(&x, 60000);
			if (idle == 2) {
				x.s.cwnd_limited = false;
				hybrid_run(&x, 2000, HYBRID_BASE + 4000);
				x.s.cwnd_limited = true;
			}
			hybrid_run(&x, 1000, HYBRID_BASE + 4000);
			KUNIT_EXPECT_FALSE(test, h->probes);
			cwnd[i][idle] = x.c.cwnd;
		}
	for (i = 0; i < 2; i++)
		for (idle = 1; idle < 3; idle++)
			KUNIT_EXPECT_LE_MSG(test, abs_diff(cwnd[i][0], cwnd[i][idle]), 20U,
					    "mode %u: %u, row %u: %u", i, cwnd[i][0], idle,
					    cwnd[i][idle]);
}

/* No report measures a round-trip time. */
static void hybrid_no_rtt(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, 0);
	h = sstp_hybrid_priv(&x.c);
	x.s.min_rtt = U32_MAX;
	x.ops->init(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), 0LL);
	for (i = 0; i < 20000; i++) {
		if (i == 100)
			ctrl_sim_avoid(&x, 1000);
		hybrid_wait(&x, 2);
		hybrid_round(&x, 10, !(i % 100), 0);
		if (i % 10 == 5)
			hybrid_loss(&x, 0, 0);
		KUNIT_ASSERT_FALSE(test, h->competes || h->probes || h->check);
		KUNIT_ASSERT_GE(test, x.c.cwnd, 10U);
	}
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), 0LL);
	sstp_hybrid_probe(&x.c, h, &x.s);
	for (i = 0; i < 200 && h->probes; i++) {
		hybrid_wait(&x, 2);
		hybrid_round(&x, 10, 0, 0);
	}
	KUNIT_EXPECT_FALSE(test, h->probes || h->competes);
}

/* Packets overtake others if more than an eighth of those in flight are late for longer than a
 * round trip; after a burst of losses they only seem to be late until the receiver is sure.
 */
static void hybrid_reorders(struct kunit *test)
{
	static const struct {
		u32 late, first, gap, second;	/* packets; ms with, without and with them */
		bool reorders;
	} t[] = {
		{ 101, 1, 0, 0, false }, { 101, 41, 0, 0, false }, { 101, 42, 0, 0, true },
		{ 100, 500, 0, 0, false }, { 101, 30, 1, 30, false }, { 101, 30, 1, 42, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 800);
		x.s.prior_in_flight = 800;
		x.s.late = t[i].late;
		hybrid_run(&x, t[i].first, HYBRID_BASE);
		x.s.late = 0;
		hybrid_run(&x, t[i].gap, HYBRID_BASE);
		x.s.late = t[i].late;
		hybrid_run(&x, t[i].second, HYBRID_BASE);
		KUNIT_EXPECT_EQ_MSG(test, sstp_hybrid_reorders(h, &x.s), t[i].reorders,
				    "row %u", i);
		/* A loss without a queue is the path's, but where the queue cannot be seen. */
		hybrid_loss(&x, HYBRID_BASE, 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, t[i].reorders, "row %u", i);
	}
}

/* Whatever a peer reports, the outputs stay in range, and nothing is divided by zero. */
static void hybrid_hostile(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(100000), competes = 0, probes = 0;
	struct sstp_ctrl_sample s = {};
	struct sstp_ctrl c = {};
	struct sstp_hybrid *h = sstp_hybrid_priv(&c);
	struct rnd_state r;

	sstp_test_seed_rnd(test, &r);
	s.min_rtt = U32_MAX;
	for (i = 0; i < n; i++) {
		if (sstp_rnd_one_in(&r, 1000)) {
			memset(c.priv, 0, sizeof(c.priv));
			sstp_ctrl_hybrid.init(&c, &s);
		}
		s.now += sstp_rnd_u64(&r) >> sstp_rnd_range(&r, 24, 63);
		s.srtt = min(prandom_u32_state(&r) >> sstp_rnd_range(&r, 0, 31),
			     (u32)(60 * USEC_PER_SEC));
		s.min_rtt = prandom_u32_state(&r) >> sstp_rnd_range(&r, 0, 31);
		s.shipped += prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31);
		s.highest = s.shipped - (prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31));
		s.lost_ship = s.shipped - (prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31));
		s.in_flight = sstp_rnd_edge(&r);
		s.flight = sstp_rnd_edge(&r);
		s.rtt = min(prandom_u32_state(&r) >> sstp_rnd_range(&r, 0, 31),
			    (u32)(60 * USEC_PER_SEC));
		s.delivered = sstp_rnd_edge(&r);
		s.lost = sstp_rnd_edge(&r);
		s.undue = sstp_rnd_one_in(&r, 4) ? sstp_rnd_edge(&r) : 0;
		s.late = sstp_rnd_one_in(&r, 4);
		s.ce = sstp_rnd_one_in(&r, 4);
		s.cwnd_limited = sstp_rnd_one_in(&r, 2);
		s.app_limited = sstp_rnd_one_in(&r, 2);
		if (!i)
			sstp_ctrl_hybrid.init(&c, &s);
		/* Hardly any probe is the first event of a connection. */
		if (sstp_rnd_one_in(&r, 50)) {
			h->fresh = true;
			h->resumed = true;
			h->competes = sstp_rnd_one_in(&r, 2);
			h->w.ssthresh = max(prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31), 1U);
		}
		sstp_ctrl_hybrid.on_ack(&c, &s);
		KUNIT_ASSERT_GE(test, c.cwnd, 1U);
		KUNIT_ASSERT_LE(test, c.cwnd, (u32)SSTP_WINDOW_MAX);
		if (sstp_rnd_one_in(&r, 4))
			sstp_ctrl_hybrid.on_loss(&c, &s);
		if (sstp_rnd_one_in(&r, 50))
			sstp_ctrl_hybrid.on_timeout(&c, &s);
		KUNIT_ASSERT_GE(test, c.cwnd, 1U);
		KUNIT_ASSERT_LE(test, c.cwnd, (u32)SSTP_WINDOW_MAX);
		competes += h->competes;
		probes += h->probes;
	}
	/* All of it was reached. */
	KUNIT_EXPECT_GT(test, competes, n / 100);
	KUNIT_EXPECT_GT(test, probes, n / 100);
}

static struct kunit_case hybrid_cases[] = {
	KUNIT_CASE(hybrid_growth),
	KUNIT_CASE(hybrid_growth_bounds),
	KUNIT_CASE(hybrid_drains),
	KUNIT_CASE(hybrid_drain_due),
	KUNIT_CASE(hybrid_share),
	KUNIT_CASE(hybrid_many_losses),
	KUNIT_CASE(hybrid_most_lost),
	KUNIT_CASE(hybrid_many_once),
	KUNIT_CASE(hybrid_many_undone),
	KUNIT_CASE(hybrid_cubic),
	KUNIT_CASE(hybrid_losses),
	KUNIT_CASE(hybrid_held),
	KUNIT_CASE(hybrid_queue_loses),
	KUNIT_CASE(hybrid_path_loses),
	KUNIT_CASE(hybrid_unsure),
	KUNIT_CASE(hybrid_counts_later),
	KUNIT_CASE(hybrid_counts),
	KUNIT_CASE(hybrid_first_overflow),
	KUNIT_CASE(hybrid_tail),
	KUNIT_CASE(hybrid_overflows),
	KUNIT_CASE(hybrid_marks),
	KUNIT_CASE(hybrid_marks_epoch),
	KUNIT_CASE(hybrid_marks_checked),
	KUNIT_CASE(hybrid_base),
	KUNIT_CASE(hybrid_idles),
	KUNIT_CASE(hybrid_no_rtt),
	KUNIT_CASE(hybrid_reorders),
	KUNIT_CASE(hybrid_hostile),
	{}
};

static struct kunit_suite hybrid_suite = {
	.name = "sstp_hybrid",
	.test_cases = hybrid_cases,
};

kunit_test_suite(hybrid_suite);
