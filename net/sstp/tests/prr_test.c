// SPDX-License-Identifier: GPL-2.0
/* Proportional rate reduction: RFC 9937's examples, and a path of known length */
#include "sstp_test.h"
#include "../prr.c"

/* 20 packets in flight, one is lost, the window is cut to @cwnd. Each of the other 19 is reported
 * by itself, and all that the window allows is shipped: the packets shipped for each report.
 */
static u32 prr_round(struct kunit *test, u32 cwnd, u32 *peak)
{
	u32 flight = 20, out = 0, i, n;
	struct sstp_prr p = {};

	sstp_prr_start(&p, 20, 100);
	for (i = 1; i < 20; i++) {
		/* The first report also reports the loss. */
		flight -= i == 1 ? 2 : 1;
		sstp_prr_report(&p, 1, i == 1, flight, cwnd, 80 + i);
		KUNIT_ASSERT_NE(test, p.flight, 0U);
		n = p.window > flight ? p.window - flight : 0;
		KUNIT_ASSERT_LE(test, n, 2U);
		flight += n;
		out += n;
		sstp_prr_sent(&p, n);
		*peak = max(*peak, flight);
	}
	KUNIT_EXPECT_LE(test, flight, max(cwnd, 1U));
	sstp_prr_report(&p, 1, false, flight - 1, cwnd, 100);
	KUNIT_EXPECT_EQ(test, p.flight, 0U);
	return out;
}

static void prr_paces(struct kunit *test)
{
	u32 cwnd, peak = 0;

	for (cwnd = 2; cwnd < 20; cwnd++) {
		u32 out = prr_round(test, cwnd, &peak);

		/* cwnd of 20 that are reported, and the packet that was forced out */
		KUNIT_EXPECT_LE_MSG(test, out, cwnd, "%u", cwnd);
		KUNIT_EXPECT_GE_MSG(test, out, cwnd - 2, "%u", cwnd);
	}
	KUNIT_EXPECT_LE(test, peak, 19U);
}

/* Most of the window is lost at once: what is reported decides, not the window. */
static void prr_many_lost(struct kunit *test)
{
	struct sstp_prr p = {};

	/* 100 in flight, 90 lost, then 10 reports; the window is cut to 50. */
	sstp_prr_start(&p, 100, 100);
	sstp_prr_report(&p, 1, true, 9, 50, 1);
	KUNIT_EXPECT_EQ(test, p.window, 10U);
	sstp_prr_sent(&p, 1);
	/* A report that delivers nothing opens nothing. */
	sstp_prr_report(&p, 0, false, 10, 50, 1);
	KUNIT_EXPECT_EQ(test, p.window, 10U);
	/* Without new losses slow start goes on from there. */
	sstp_prr_report(&p, 1, false, 9, 50, 2);
	KUNIT_EXPECT_EQ(test, p.window, 11U);
	sstp_prr_sent(&p, 2);
	/* With new losses a packet leaves for each that came. */
	sstp_prr_report(&p, 1, true, 10, 50, 3);
	KUNIT_EXPECT_EQ(test, p.window, 11U);
	sstp_prr_sent(&p, 1);
	/* Never beyond the window. */
	sstp_prr_report(&p, 90, false, 49, 50, 4);
	KUNIT_EXPECT_EQ(test, p.window, 50U);
}

/* Whatever is reported, something may be in flight, and the window stays within bounds. */
static void prr_bounds(struct kunit *test)
{
	struct rnd_state r;
	u32 i, n;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < sstp_test_rounds(10000); i++) {
		struct sstp_prr p = {};
		u32 flight = sstp_rnd_below(&r, 1 << sstp_rnd_below(&r, 31));

		sstp_prr_start(&p, flight, 0);
		for (n = 0; n < 20; n++) {
			u32 cwnd = sstp_rnd_range(&r, 1, 1 << sstp_rnd_below(&r, 31));
			u32 now = sstp_rnd_below(&r, max(p.flight, 2U));

			sstp_prr_report(&p, sstp_rnd_edge(&r), sstp_rnd_one_in(&r, 2), now,
					cwnd, -1);
			if (!p.flight)
				break;
			KUNIT_ASSERT_LE(test, p.window, p.flight);
			if (!now)
				KUNIT_ASSERT_GE(test, p.window, 1U);
			sstp_prr_sent(&p, sstp_rnd_below(&r, BIT(24)));
		}
	}
}

static struct kunit_case prr_cases[] = {
	KUNIT_CASE(prr_paces),
	KUNIT_CASE(prr_many_lost),
	KUNIT_CASE(prr_bounds),
	{}
};

static struct kunit_suite prr_suite = {
	.name = "sstp_prr",
	.test_cases = prr_cases,
};

kunit_test_suite(prr_suite);
