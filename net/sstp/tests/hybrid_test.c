// SPDX-License-Identifier: GPL-2.0
/* hybrid: its arithmetic and its decisions; hybrid_line_test.c has flows that share a line */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_hybrid.c"

#define HYBRID_BASE	40000U	/* us */
#define HYBRID_SMALL	1250U	/* us: sstp_waits_small() with this base */

static u32 hybrid_ms(const struct ctrl_sim *x)
{
	return div_u64(x->s.now, NSEC_PER_MSEC);
}

static void hybrid_wait(struct ctrl_sim *x, u32 ms)
{
	x->s.now += (u64)ms * NSEC_PER_MSEC;
}

/* Congestion avoidance with a window of @cwnd; the last probe was just now. */
static struct sstp_hybrid *hybrid_start(struct ctrl_sim *x, u32 cwnd)
{
	struct sstp_hybrid *h = sstp_hybrid_priv(&x->c);

	ctrl_sim_start(x, &sstp_ctrl_hybrid, HYBRID_BASE);
	ctrl_sim_avoid(x, cwnd);
	h->waits.base[0] = HYBRID_BASE;
	h->probed_ms = hybrid_ms(x);
	return h;
}

/* Reports with a round-trip time of @rtt us, one each ms, while a window is always in flight */
static void hybrid_run(struct ctrl_sim *x, u32 ms, u32 rtt)
{
	x->s.srtt = rtt;
	while (ms--) {
		hybrid_wait(x, 1);
		x->s.shipped = x->s.highest + x->c.cwnd;
		ctrl_sim_ack(x, max(div_u64(x->c.cwnd * 1000ULL, rtt), 1), rtt);
	}
}

/* A round trip with one report, in which @lost packets are lost */
static void hybrid_round(struct ctrl_sim *x, u32 delivered, u32 lost, u32 rtt)
{
	struct sstp_ctrl_sample s;

	x->s.srtt = rtt;
	hybrid_wait(x, rtt / USEC_PER_MSEC);
	x->s.highest = x->s.shipped;
	x->s.shipped += delivered + lost;
	s = x->s;
	s.rtt = rtt;
	s.delivered = delivered;
	s.lost = lost;
	s.lost_ship = s.highest;
	x->ops->on_ack(&x->c, &s);
	if (lost)
		x->ops->on_loss(&x->c, &s);
}

/* A report of a loss, or of @ce marks, among packets that left after all cuts so far */
static void hybrid_loss(struct ctrl_sim *x, u32 rtt, u32 ce)
{
	struct sstp_ctrl_sample s;

	x->s.highest = ++x->s.shipped;
	s = x->s;
	s.rtt = rtt;
	s.lost = !ce;
	s.ce = ce;
	s.lost_ship = s.highest;
	x->ops->on_loss(&x->c, &s);
}

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

/* Two cuts that do not make the queue short begin a probe with the window before the last. */
static struct sstp_hybrid *hybrid_alarmed(struct kunit *test, struct ctrl_sim *x, u32 rtt)
{
	struct sstp_hybrid *h = hybrid_start(x, 1000);
	u32 n, was = 0;

	for (n = 0; n < 20 && !h->probes; n++) {
		if (!h->check)
			was = x->c.cwnd;
		hybrid_round(x, 10, 0, rtt);
		KUNIT_EXPECT_FALSE(test, h->competes);
	}
	/* A drain and two round trips, both twice */
	KUNIT_EXPECT_EQ(test, n, 6U);
	KUNIT_EXPECT_TRUE(test, h->probes);
	KUNIT_EXPECT_LT(test, h->prior, 1000U);
	KUNIT_EXPECT_LE(test, abs_diff(h->prior, was), 2U);
	KUNIT_EXPECT_EQ(test, x->c.cwnd, (u32)div_u64((u64)h->prior * HYBRID_BASE, 2 * rtt));
	return h;
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

/* With the smallest window, as a probe may have, two packets of the flow never wait in a queue that
 * is shorter than the path: it is not empty for that.
 */
static void hybrid_probes_alone(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 8);
	u32 n;

	h->competes = true;
	x.s.srtt = HYBRID_BASE + 20000;
	sstp_hybrid_probe(&x.c, h, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, SSTP_HYBRID_CWND);
	for (n = 0; n < 20 && h->probes; n++)
		hybrid_round(&x, 4, 0, HYBRID_BASE + 20000 + n * 1000);
	KUNIT_EXPECT_TRUE(test, h->competes);
}

/* How a probe ends: the queue became short; the path is longer; others fill the queue. */
static void hybrid_probes(struct kunit *test)
{
	static const struct {
		u32 early, late;	/* round-trip times in the probe */
		u32 base;
		bool competes;
	} t[] = {
		{ 55000, 44000, HYBRID_BASE, false }, { 44000, 60000, HYBRID_BASE, false },
		{ 55000, 55000, 55000, false }, { 55000, 54000, 54000, false },
		{ 55000, 48000, HYBRID_BASE, true }, { 55000, 58000, HYBRID_BASE, true },
		{ 70000, 60000, 60000, false }, { 200000, 200000, 200000, false },
		{ 400000, 400000, 400000, false },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n, ms, prior, times;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_alarmed(test, &x, 55000);
		ms = hybrid_ms(&x);
		prior = h->prior;
		for (n = 0; n < 20 && h->probes; n++)
			hybrid_round(&x, 10, 0, n ? t[i].late : t[i].early);
		KUNIT_EXPECT_FALSE(test, h->probes);
		KUNIT_EXPECT_GT(test, hybrid_ms(&x) - ms,
				SSTP_HYBRID_PROBE + 2 * t[i].late / 1000);
		KUNIT_EXPECT_LE(test, hybrid_ms(&x) - ms,
				SSTP_HYBRID_PROBE + 3 * t[i].late / 1000);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, t[i].competes, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_base(&h->waits), t[i].base, "row %u", i);
		if (t[i].competes || t[i].base != HYBRID_BASE)
			KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, prior, "row %u", i);
		times = t[i].base == HYBRID_BASE ? 1 : clamp(t[i].base / HYBRID_BASE, 2U,
							     SSTP_HYBRID_LONGER);
		if (t[i].competes)
			times = SSTP_HYBRID_RESUME;
		KUNIT_EXPECT_EQ_MSG(test, h->w.ssthresh, x.c.cwnd * times, "row %u", i);
		KUNIT_EXPECT_EQ(test, h->probed_ms, hybrid_ms(&x));
	}
}

/* A probe goes on if most of the queue is gone, until it is empty. */
static void hybrid_probe_goes_on(struct kunit *test)
{
	static const struct {
		u32 low, then;		/* round-trip times in the probe, and after its time */
		u32 ms;			/* when it ends, at most two round trips later */
	} t[] = { { 60000, 60000, 640 }, { 60000, 44000, 320 }, { 79000, 79000, 716 },
		  { 81000, 81000, 362 }, { 44000, 44000, 288 } };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n, ms;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		x.s.srtt = HYBRID_BASE + 160000;
		sstp_hybrid_probe(&x.c, h, &x.s);
		ms = hybrid_ms(&x);
		for (n = 0; n < 50 && h->probes; n++)
			hybrid_round(&x, 10, 0, hybrid_ms(&x) - ms < 320 ? t[i].low : t[i].then);
		KUNIT_EXPECT_FALSE_MSG(test, h->probes, "row %u", i);
		ms = hybrid_ms(&x) - ms;
		KUNIT_EXPECT_GT_MSG(test, ms, t[i].ms, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, ms, t[i].ms + 2 * t[i].low / 1000, "row %u", i);
	}
}

/* A probe that empties a long queue ends competitive mode for sure, others may be wrong. */
static void hybrid_sure(struct kunit *test)
{
	static const struct {
		u32 base, rtt, low;	/* us; a @low of 0 is not known */
		bool sure;
		u32 cwnd;
	} t[] = {
		{ HYBRID_BASE, 3 * (HYBRID_BASE + 5000), HYBRID_BASE, true, 296 },
		/* The last round trip of the probe has none of the queue. */
		{ HYBRID_BASE, 3 * (HYBRID_BASE + 5000) - 1, HYBRID_BASE, false, 1000 },
		{ HYBRID_BASE, 3 * (HYBRID_BASE + 5000), 0, false, 1000 },
		{ 1000, 5500, 5500, false, 181 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->waits.base[0] = t[i].base;
		sstp_hybrid_compete(h, &x.s);
		h->fails = 3;
		x.s.srtt = t[i].rtt;
		sstp_hybrid_probe(&x.c, h, &x.s);
		for (n = 0; n < 500 && h->probes; n++) {
			hybrid_wait(&x, 1);
			hybrid_round(&x, 10, 0, t[i].low);
		}
		KUNIT_EXPECT_FALSE_MSG(test, h->competes || h->probes, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, hybrid_ms(&x) - h->left_ms > SSTP_HYBRID_RELAPSE,
				    t[i].sure, "row %u", i);
		sstp_hybrid_compete(h, &x.s);
		KUNIT_EXPECT_EQ_MSG(test, h->fails, t[i].sure ? 0 : 4, "row %u", i);
	}
}

/* The probe that is under way fails: others fill the queue. */
static void hybrid_fail(struct kunit *test, struct ctrl_sim *x, struct sstp_hybrid *h)
{
	u32 n;

	KUNIT_ASSERT_TRUE(test, h->probes);
	for (n = 0; n < 20 && h->probes; n++)
		hybrid_round(x, 10, 0, 55000 + 1000 * n);
	KUNIT_ASSERT_TRUE(test, h->competes && !h->probes);
}

/* Others have filled the queue since slow start: it goes on after the probe. */
static struct sstp_hybrid *hybrid_resumed(struct kunit *test, struct ctrl_sim *x)
{
	struct sstp_hybrid *h = hybrid_alarmed(test, x, 55000);
	u32 prior = h->prior;

	hybrid_fail(test, x, h);
	KUNIT_ASSERT_EQ(test, x->c.cwnd, prior);
	KUNIT_ASSERT_EQ(test, h->w.ssthresh, prior * SSTP_HYBRID_RESUME);
	x->s.flight = prior;
	hybrid_round(x, 100, 0, 60000);
	KUNIT_ASSERT_EQ(test, x->c.cwnd, prior + 100);
	return h;
}

/* Slow start goes on to a multiple of the window, and only once. */
static void hybrid_resumes(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_resumed(test, &x);
	u32 n, most = h->w.ssthresh;

	for (n = 0; n < 10 && x.c.cwnd < most; n++) {
		x.s.flight = x.c.cwnd;
		hybrid_round(&x, x.c.cwnd, 0, 60000);
	}
	KUNIT_EXPECT_EQ(test, n, 4U);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, most);
	sstp_hybrid_relax(h, &x.s);
	sstp_hybrid_probe(&x.c, h, &x.s);
	hybrid_fail(test, &x, h);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	/* Round trips of slow start without a queue say nothing about others. */
	h = hybrid_start(&x, 1000);
	h->w.ssthresh = SSTP_WINDOW_MAX;
	h->unused = SSTP_HYBRID_UNUSED - 1;
	x.s.flight = 10;
	x.s.cwnd_limited = false;
	sstp_hybrid_look(&x.c, h, &x.s, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, h->unused, SSTP_HYBRID_UNUSED);
	KUNIT_EXPECT_TRUE(test, h->fresh);
}

/* Slow start that goes on ends with a loss, which is also undone; with a loss of the path; with a
 * mark or a time-out; if half of the window is not used, whoever limits that; and if nothing was
 * sent for a while.
 */
static void hybrid_resumed_ends(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_resumed(test, &x);
	u32 i, n, cwnd = x.c.cwnd, most = h->w.ssthresh;

	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_TRUE(test, h->competes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd * SSTP_CUBIC_BETA / SSTP_CUBIC_ONE);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	x.s.undue = 1;
	hybrid_round(&x, 0, 0, 60000);
	x.s.undue = 0;
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, most);
	for (n = 0; n < 3; n++)
		hybrid_round(&x, 10, 0, HYBRID_BASE);
	KUNIT_EXPECT_GT(test, h->w.ssthresh, x.c.cwnd);
	hybrid_loss(&x, HYBRID_BASE, 0);
	KUNIT_EXPECT_FALSE(test, h->competes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd + 30);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	h = hybrid_resumed(test, &x);
	hybrid_loss(&x, 60000, 1);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd * SSTP_HYBRID_LESS / 100);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	h = hybrid_resumed(test, &x);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->resumed);
	KUNIT_EXPECT_LE(test, h->w.ssthresh, cwnd);
	for (i = 0; i < 2; i++) {
		h = hybrid_resumed(test, &x);
		x.s.flight = 10;
		x.s.cwnd_limited = false;
		x.s.app_limited = i;
		for (n = 1; n < SSTP_HYBRID_UNUSED; n++)
			hybrid_round(&x, 10, 0, 60000);
		KUNIT_EXPECT_GT(test, h->w.ssthresh, x.c.cwnd);
		hybrid_round(&x, 10, 0, 60000);
		KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
		KUNIT_EXPECT_TRUE(test, h->competes);
	}
	h = hybrid_resumed(test, &x);
	hybrid_wait(&x, SSTP_HYBRID_IDLE);
	hybrid_round(&x, 10, 0, 60000);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
}

/* The cut of slow start that goes on is undone in delay mode, or after another probe: slow start
 * does not go on once more.
 */
static void hybrid_resumed_undone(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_resumed(test, &x);
	u32 cwnd = x.c.cwnd;

	hybrid_loss(&x, 60000, 0);
	sstp_hybrid_relax(h, &x.s);
	x.s.undue = 1;
	hybrid_round(&x, 0, 0, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, cwnd);
	h = hybrid_resumed(test, &x);
	hybrid_loss(&x, 60000, 0);
	sstp_hybrid_probe(&x.c, h, &x.s);
	hybrid_fail(test, &x, h);
	x.s.undue = 1;
	hybrid_round(&x, 0, 0, 60000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, cwnd);
}

/* Slow start does not go on after a loss, also one in a probe, a mark, a time-out, a round trip
 * without a queue, a cut that has helped, or a probe that did not fail; in competitive mode; and if
 * packets were in flight when the controller began.
 */
static void hybrid_resumes_not(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 9; i++) {
		h = hybrid_start(&x, 1000);
		if (i == 2)
			x.ops->on_timeout(&x.c, &x.s);
		else if (i == 3)
			h->check = 1;
		else if (i == 5)
			x.s.in_flight = 10;
		else if (i == 7)
			sstp_hybrid_compete(h, &x.s);
		if (i < 2)
			hybrid_loss(&x, HYBRID_BASE, i);
		else if (i == 3 || i == 4)
			sstp_hybrid_look(&x.c, h, &x.s,
					 HYBRID_BASE + (i == 3 ? HYBRID_SMALL + 1 : 0));
		else if (i == 5)
			x.ops->init(&x.c, &x.s);
		x.s.srtt = 55000;
		h->waits.base[0] = HYBRID_BASE;
		sstp_hybrid_probe(&x.c, h, &x.s);
		if (i == 6)
			hybrid_loss(&x, HYBRID_BASE, 0);
		if (i == 8) {
			while (h->probes)
				hybrid_round(&x, 10, 0, HYBRID_BASE);
			sstp_hybrid_probe(&x.c, h, &x.s);
		}
		hybrid_fail(test, &x, h);
		KUNIT_EXPECT_EQ_MSG(test, h->w.ssthresh, x.c.cwnd, "row %u", i);
	}
}

/* SSTP_WINDOW_MAX as threshold would let HyStart++ end slow start. */
static void hybrid_resumes_most(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h;
	u32 i;

	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, SSTP_WINDOW_MAX / 2 + 1);
		x.s.srtt = 90000;
		sstp_hybrid_probe(&x.c, h, &x.s);
		while (h->probes)
			hybrid_round(&x, 10, 0, i ? 90000 : 55000);
		KUNIT_EXPECT_EQ(test, (bool)h->competes, !i);
		KUNIT_EXPECT_EQ(test, h->w.ssthresh, SSTP_WINDOW_MAX - 1U);
	}
}

/* The epoch rests in a probe that fails, and does not begin after the end of it. */
static void hybrid_rests(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);

	h->competes = true;
	x.s.now += 950 * NSEC_PER_USEC;
	h->e.start = x.s.now - 50 * NSEC_PER_USEC;
	sstp_hybrid_probe(&x.c, h, &x.s);
	h->low = 60000;
	x.s.now += 300 * NSEC_PER_MSEC + 150 * NSEC_PER_USEC;
	sstp_hybrid_end_probe(&x.c, h, &x.s);
	KUNIT_EXPECT_TRUE(test, h->competes);
	KUNIT_EXPECT_LE(test, h->e.start, x.s.now);
	KUNIT_EXPECT_GE(test, h->e.start, x.s.now - NSEC_PER_MSEC);
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

/* In competitive mode a flow joins the probe of others, or begins one after 10 s. */
static void hybrid_joins(struct kunit *test)
{
	static const struct {
		u32 ms, rtt, fails;
		bool probes;
	} t[] = {
		{ SSTP_HYBRID_JOIN + 1, 54999, 0, true }, { SSTP_HYBRID_JOIN + 1, 55000, 0, false },
		{ SSTP_HYBRID_JOIN, 41000, 0, false }, { 2 * SSTP_HYBRID_JOIN, 41000, 1, false },
		{ 2 * SSTP_HYBRID_JOIN + 1, 41000, 1, true },
		{ SSTP_HYBRID_MEMORY, 60000, 0, false }, { SSTP_HYBRID_MEMORY + 1, 60000, 0, true },
		{ 2 * SSTP_HYBRID_MEMORY, 60000, 1, false },
		{ 4 * SSTP_HYBRID_MEMORY + 1, 60000, 2, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		hybrid_wait(&x, t[i].ms);
		h->competes = true;
		h->fails = t[i].fails;
		h->waits.base_ms = hybrid_ms(&x);
		h->waits.most[0] = 60000;
		h->waits.most[1] = 60000;
		x.s.shipped = 100;
		h->round_end = 100;
		x.s.srtt = 60000;
		ctrl_sim_ack(&x, 1, t[i].rtt);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, t[i].probes, "row %u", i);
		KUNIT_EXPECT_TRUE(test, h->competes);
	}
}

/* The third time that the queue becomes empty without a cut ends competitive mode. */
static void hybrid_empties(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);
	u32 i;

	h->overflow_ms = hybrid_ms(&x);
	hybrid_loss(&x, 60000, 0);
	for (i = 0; i < 14; i++) {
		KUNIT_EXPECT_TRUE_MSG(test, h->competes, "round trip %u", i);
		h->probed_ms = hybrid_ms(&x);
		if (i == 8)
			hybrid_loss(&x, 60000, 0);
		/* Full, empty, empty, full, ... */
		hybrid_round(&x, 10, 0, i % 4 == 1 || i % 4 == 2 ? 44000 : 60000);
	}
	KUNIT_EXPECT_TRUE(test, h->competes);
	for (; i < 18; i++)
		hybrid_round(&x, 10, 0, i % 4 == 1 || i % 4 == 2 ? 44000 : 60000);
	KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
}

/* The fourth alarm competes at once, if each was within 10 s of the last one. */
static void hybrid_alarms(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (n = 0; n < 2; n++) {
		h = hybrid_start(&x, 1000);
		for (i = 1; i <= 5; i++) {
			hybrid_wait(&x, SSTP_HYBRID_MEMORY + n);
			sstp_hybrid_relax(h, &x.s);
			h->probes = false;
			h->waits.base_ms = hybrid_ms(&x);
			h->prior = 1000;
			h->cuts = SSTP_HYBRID_CUTS - 1;
			h->check = 1;
			sstp_hybrid_look(&x.c, h, &x.s, 55000);
			KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, n || i < 4, "alarm %u", i);
			KUNIT_EXPECT_EQ(test, (bool)h->competes, !h->probes);
			KUNIT_EXPECT_EQ(test, x.c.cwnd, h->probes ? 500U : 1000U);
		}
	}
}

/* An alarm soon after competitive mode: it begins again without a probe, and slow start returns to
 * what a cut of the old window leaves.
 */
static void hybrid_relapses(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 n;

	for (n = 0; n < 2; n++) {
		h = hybrid_start(&x, 500);
		h->competes = true;
		h->e.max = 1000;
		sstp_hybrid_relax(h, &x.s);
		hybrid_wait(&x, SSTP_HYBRID_RELAPSE - 1 + n);
		h->waits.base_ms = hybrid_ms(&x);
		h->resumed = true;
		h->prior = 500;
		h->cuts = SSTP_HYBRID_CUTS - 1;
		h->check = 1;
		sstp_hybrid_look(&x.c, h, &x.s, 55000);
		KUNIT_EXPECT_EQ(test, (bool)h->competes, !n);
		KUNIT_EXPECT_EQ(test, (bool)h->probes, !!n);
		KUNIT_EXPECT_FALSE(test, h->resumed);
		KUNIT_EXPECT_EQ(test, h->fails, n ? 0 : 1);
		KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), n ? 250LL : 700LL);
	}
}

static void hybrid_timeout(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_alarmed(test, &x, 55000);
	s64 threshold = h->prior * SSTP_CUBIC_BETA / SSTP_CUBIC_ONE;

	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->probes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), threshold);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), threshold);
	hybrid_run(&x, 400, HYBRID_BASE);
	KUNIT_EXPECT_GE(test, (s64)x.c.cwnd, ctrl_sim_state(&x, 0));
	x.ops->on_timeout(&x.c, &x.s);
	hybrid_loss(&x, 55000, 0);
	KUNIT_EXPECT_LE(test, x.c.cwnd, 2U);
}

/* After a time-out in competitive mode slow start reaches its threshold, though a probe is due, and
 * if one was under way.
 */
static void hybrid_timeout_competes(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, 1000);
		h->probed_ms -= i * (SSTP_HYBRID_OVERFLOW + 1);
		h->overflow_ms = hybrid_ms(&x);
		x.s.srtt = 60000;
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_TRUE(test, h->competes);
		KUNIT_EXPECT_EQ(test, (bool)h->probes, (bool)i);
		x.ops->on_timeout(&x.c, &x.s);
		hybrid_wait(&x, SSTP_HYBRID_MEMORY << SSTP_HYBRID_FAILS);
		KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 700LL);
		while (x.c.cwnd < 300) {
			hybrid_round(&x, x.c.cwnd, 0, HYBRID_BASE);
			KUNIT_ASSERT_FALSE(test, h->probes);
			KUNIT_ASSERT_EQ(test, ctrl_sim_state(&x, 0), 700LL);
		}
	}
}

/* A cut is undone in the probe that it began: the probe would measure what it does not do. */
static void hybrid_undone_probe(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);

	h->probed_ms -= SSTP_HYBRID_OVERFLOW + 1;
	h->overflow_ms = hybrid_ms(&x);
	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_TRUE(test, h->probes);
	x.s.undue = 1;
	hybrid_round(&x, 10, 0, 60000);
	x.s.undue = 0;
	KUNIT_EXPECT_FALSE(test, h->probes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	KUNIT_EXPECT_EQ(test, h->probed_ms, hybrid_ms(&x));
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
	KUNIT_CASE(hybrid_overflows),
	KUNIT_CASE(hybrid_marks),
	KUNIT_CASE(hybrid_marks_epoch),
	KUNIT_CASE(hybrid_marks_checked),
	KUNIT_CASE(hybrid_base),
	KUNIT_CASE(hybrid_probes_alone),
	KUNIT_CASE(hybrid_probes),
	KUNIT_CASE(hybrid_probe_goes_on),
	KUNIT_CASE(hybrid_sure),
	KUNIT_CASE(hybrid_resumes),
	KUNIT_CASE(hybrid_resumed_ends),
	KUNIT_CASE(hybrid_resumed_undone),
	KUNIT_CASE(hybrid_resumes_not),
	KUNIT_CASE(hybrid_resumes_most),
	KUNIT_CASE(hybrid_rests),
	KUNIT_CASE(hybrid_idles),
	KUNIT_CASE(hybrid_joins),
	KUNIT_CASE(hybrid_empties),
	KUNIT_CASE(hybrid_alarms),
	KUNIT_CASE(hybrid_relapses),
	KUNIT_CASE(hybrid_timeout),
	KUNIT_CASE(hybrid_timeout_competes),
	KUNIT_CASE(hybrid_undone_probe),
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
