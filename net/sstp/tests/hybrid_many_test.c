// SPDX-License-Identifier: GPL-2.0
/* hybrid: many losses, which cut the window whatever has lost the packets */
#include "sstp_test.h"
#include "../hybrid.h"
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

static struct kunit_case hybrid_many_cases[] = {
	KUNIT_CASE(hybrid_share),
	KUNIT_CASE(hybrid_many_losses),
	KUNIT_CASE(hybrid_most_lost),
	KUNIT_CASE(hybrid_many_carried),
	KUNIT_CASE(hybrid_many_of_few),
	KUNIT_CASE(hybrid_many_once),
	KUNIT_CASE(hybrid_many_undone),
	{}
};

static struct kunit_suite hybrid_many_suite = {
	.name = "sstp_hybrid_many",
	.test_cases = hybrid_many_cases,
};

kunit_test_suite(hybrid_many_suite);
