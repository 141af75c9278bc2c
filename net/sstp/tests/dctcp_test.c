// SPDX-License-Identifier: GPL-2.0
/* dctcp: alpha against exact values, and the cuts that follow from it */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_dctcp.c"

#define DCTCP_ONE	BIT(SSTP_DCTCP_SHIFT)

/* A report of @delivered packets, @ce of them marked, and @lost others lost. */
static void dctcp_report(struct ctrl_sim *x, u32 delivered, u32 ce, u32 lost)
{
	struct sstp_ctrl_sample s;

	x->s.highest += delivered + lost;
	s = x->s;
	s.delivered = delivered;
	s.ce = ce;
	s.lost = lost;
	s.lost_ship = s.highest;
	x->ops->on_ack(&x->c, &s);
	if (ce || lost)
		x->ops->on_loss(&x->c, &s);
}

/* A round trip: @delivered packets in @reports reports; the first @ce of them come marked. */
static void dctcp_round(struct ctrl_sim *x, u32 delivered, u32 ce, u32 reports)
{
	u32 done = 0, i;

	x->s.shipped = x->s.highest + delivered;
	for (i = 1; i <= reports; i++) {
		u32 n = delivered * i / reports - done, marked = min(n, ce);

		/* The report that ends the round trip sees what was shipped in it. */
		if (i == reports)
			x->s.shipped += delivered;
		dctcp_report(x, n, marked, 0);
		done += n;
		ce -= marked;
	}
}

/* Windows of packets with marks, and alpha after each in millionths, with g = 1/16 and 1/4.
 * Computed with fractions: a = Fraction(1); a += (Fraction(ce, 1000) - a) * g
 */
static void dctcp_alpha(struct kunit *test)
{
	static const struct {
		u32 ce, alpha, quick;
	} t[] = {
		{ 0, 937500, 750000 }, { 0, 878906, 562500 }, { 0, 823974, 421875 },
		{ 1000, 834976, 566406 }, { 500, 814040, 549804 }, { 500, 794412, 537353 },
		{ 100, 751011, 428015 }, { 0, 704073, 321011 }, { 0, 660069, 240758 },
		{ 0, 618814, 180568 }, { 7, 580576, 137176 }, { 0, 544290, 102882 },
		{ 0, 510272, 77161 }, { 1000, 540880, 307871 }, { 1000, 569575, 480903 },
		{ 1000, 596476, 610677 }, { 3, 559384, 458758 }, { 250, 540047, 406568 },
		{ 250, 521919, 367426 }, { 250, 504924, 338069 }, { 250, 488992, 316052 },
		{ 250, 474055, 299539 }, { 0, 444426, 224654 }, { 0, 416649, 168490 },
		{ 0, 390609, 126368 }, { 0, 366196, 94776 }, { 1, 343371, 71332 },
		{ 1, 321973, 53749 }, { 1, 301912, 40561 }, { 1, 283105, 30671 },
	};
	struct ctrl_sim x;
	u32 i, k;

	for (k = 0; k < 2; k++) {
		ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
		x.c.param[SSTP_DCTCP_INVERSE_GAIN] = k ? 4 : 0;
		KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 1000000LL);
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			u32 want = k ? t[i].quick : t[i].alpha;

			ctrl_sim_avoid(&x, 1000);
			/* Alpha does not depend on how many reports there are. */
			dctcp_round(&x, 1000, t[i].ce, 1 + i % 7);
			/* An update loses up to two 2^-20, which decay with g. */
			KUNIT_EXPECT_LE_MSG(test, abs((s32)ctrl_sim_state(&x, 1) - (s32)want),
					    k ? 8 : 31, "row %u, want %u", i, want);
		}
	}
}

/* Alpha stays in [0, 1], comes down to 0 but for rounding, and ignores windows without reports. */
static void dctcp_bounds(struct kunit *test)
{
	struct ctrl_sim x;
	u32 i;

	ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
	for (i = 0; i < 100; i++) {
		dctcp_round(&x, 100, 100, 4);
		KUNIT_ASSERT_LE(test, sstp_dctcp(&x.c)->alpha, DCTCP_ONE);
	}
	KUNIT_EXPECT_GE(test, sstp_dctcp(&x.c)->alpha, DCTCP_ONE - 32);
	for (i = 0; i < 300; i++)
		dctcp_round(&x, 100, 0, 4);
	KUNIT_EXPECT_LE(test, sstp_dctcp(&x.c)->alpha, SSTP_DCTCP_GAIN);
	for (i = 0; i < 10; i++)
		dctcp_round(&x, 0, 0, 1);
	KUNIT_EXPECT_LE(test, sstp_dctcp(&x.c)->alpha, SSTP_DCTCP_GAIN);
}

/* A window, alpha, marks and losses of a report, and the window that they leave */
static void dctcp_cuts(struct kunit *test)
{
	static const struct {
		u32 cwnd, alpha, ce, lost, then;
	} t[] = {
		{ 1000, DCTCP_ONE, 1, 0, 500 },
		{ 1000, DCTCP_ONE / 2, 1, 0, 750 },
		{ 1000, DCTCP_ONE / 8, 1, 0, 938 },
		{ 1000, DCTCP_ONE / 1024, 1, 0, 1000 },
		{ 100000, DCTCP_ONE / 1024, 1, 0, 99952 },
		{ 1000, 0, 1, 0, 1000 },
		{ SSTP_WINDOW_MAX, DCTCP_ONE, 1, 0, SSTP_WINDOW_MAX / 2 },
		{ 3, DCTCP_ONE, 1, 0, 2 }, { 2, DCTCP_ONE, 1, 0, 2 },
		/* A loss halves it, section 3.5. */
		{ 1000, DCTCP_ONE / 8, 0, 1, 500 },
		{ 1000, DCTCP_ONE / 8, 1, 1, 500 },
		{ 1000, DCTCP_ONE / 8, 0, 0, 1000 },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
		ctrl_sim_avoid(&x, t[i].cwnd);
		sstp_dctcp(&x.c)->alpha = t[i].alpha;
		/* The observation window does not end in this report. */
		sstp_dctcp(&x.c)->end = 1000;
		x.s.shipped = 1000;
		dctcp_report(&x, 1, t[i].ce, t[i].lost);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u", i);
		/* Once in a window */
		dctcp_report(&x, 1, t[i].ce, t[i].lost);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u, again", i);
	}
}

/* One flow at a queue that marks from 20 packets on, behind a path of 80 packets: alpha and
 * window settle, the queue is never empty once it has filled, and stays near the threshold.
 */
static void dctcp_settles(struct kunit *test)
{
	u32 i, queue, marked, least = U32_MAX, most = 0;
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
	for (i = 0; i < 400; i++) {
		u32 cwnd = x.c.cwnd;

		queue = cwnd > 80 ? cwnd - 80 : 0;
		marked = queue > 20 ? min(cwnd, (queue - 20) * 8) : 0;
		dctcp_round(&x, cwnd, marked, 4);
		if (i < 200)
			continue;
		least = min(least, queue);
		most = max(most, queue);
	}
	kunit_info(test, "queue of %u to %u packets, alpha %lld", least, most,
		   ctrl_sim_state(&x, 1));
	KUNIT_EXPECT_GE(test, least, 1U);
	KUNIT_EXPECT_LE(test, most, 30U);
}

static struct kunit_case dctcp_cases[] = {
	KUNIT_CASE(dctcp_alpha),
	KUNIT_CASE(dctcp_bounds),
	KUNIT_CASE(dctcp_cuts),
	KUNIT_CASE(dctcp_settles),
	{}
};

static struct kunit_suite dctcp_suite = {
	.name = "sstp_dctcp",
	.test_cases = dctcp_cases,
};

kunit_test_suite(dctcp_suite);
