// SPDX-License-Identifier: GPL-2.0
/* H-TCP's growth: its rate by the time since a cut, its bounds, and times that do not count */
#include "sstp_test.h"
#include "../htcp.c"

/* ms and us wrap 51 ms later. */
#define HTCP_START	((BIT_ULL(32) - 51) * NSEC_PER_MSEC)
#define HTCP_RTT	40000U				/* us */

/* Grow for @ms, with a report each ms. Returns the window. */
static u32 htcp_run(struct sstp_htcp *g, u32 cwnd, u32 ms, u64 *now, u32 times)
{
	while (ms--) {
		*now += NSEC_PER_MSEC;
		cwnd = sstp_htcp_grow(g, cwnd, HTCP_RTT, *now, times);
	}
	return cwnd;
}

/* The integral of alpha: 25 packets in a second for 250 ms, and then 25 (t + 5 t^2 + t^3 / 12) */
static void htcp_rate(struct kunit *test)
{
	static const struct {
		u32 ms, times, packets;
	} t[] = {
		{ 250, 1, 6 }, { 1000, 1, 96 }, { 5000, 1, 3169 }, { 1000, 4, 385 },
		{ 60000, 1, 892635 },
	};
	struct sstp_htcp g;
	u32 i, grown;
	u64 now;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		now = HTCP_START;
		sstp_htcp_begin(&g, now);
		grown = htcp_run(&g, 1000000, t[i].ms, &now, t[i].times) - 1000000;
		KUNIT_EXPECT_LE_MSG(test, abs_diff(grown, t[i].packets), t[i].packets / 200 + 1,
				    "row %u: %u", i, grown);
	}
}

/* A minute after a cut and later the rate is alpha(59.75 s) of 1491.0 */
static void htcp_long(struct kunit *test)
{
	static const u32 past[] = { SSTP_HTCP_LONG, 2 * SSTP_HTCP_LONG, U32_MAX - 1000 };
	struct sstp_htcp g;
	u32 i, grown;
	u64 now;

	for (i = 0; i < ARRAY_SIZE(past); i++) {
		now = HTCP_START;
		sstp_htcp_begin(&g, now);
		g.begun_ms -= past[i];
		grown = htcp_run(&g, 1000000, 100, &now, 1) - 1000000;
		KUNIT_EXPECT_LE_MSG(test, abs_diff(grown, 3728U), 4U, "row %u: %u", i, grown);
	}
}

/* A sixteenth of the window, or a packet, in a round trip, however long no report has come */
static void htcp_bounds(struct kunit *test)
{
	static const u32 cwnd[][2] = { { 1, 2 }, { 16, 17 }, { 160, 170 }, { 1600, 1700 },
				       { SSTP_WINDOW_MAX - 1, SSTP_WINDOW_MAX } };
	static const u32 wait[] = { 1, 100, 4000000 };	/* round trips */
	struct sstp_htcp g;
	u32 i, k;
	u64 now;

	for (i = 0; i < ARRAY_SIZE(cwnd); i++) {
		for (k = 0; k < ARRAY_SIZE(wait); k++) {
			now = HTCP_START;
			sstp_htcp_begin(&g, now);
			g.begun_ms -= SSTP_HTCP_LONG;
			now += (u64)wait[k] * HTCP_RTT * NSEC_PER_USEC;
			KUNIT_EXPECT_EQ_MSG(test, sstp_htcp_grow(&g, cwnd[i][0], HTCP_RTT, now, 4),
					    cwnd[i][1], "row %u, %u", i, k);
		}
	}
	/* Without a round-trip time it does not divide by zero. */
	sstp_htcp_begin(&g, now);
	KUNIT_EXPECT_EQ(test, sstp_htcp_grow(&g, 10, 0, now + NSEC_PER_SEC, 1), 10U);
}

/* Parts of packets add up: 25 in a second, one each 40 ms. */
static void htcp_parts(struct kunit *test)
{
	u64 now = HTCP_START;
	struct sstp_htcp g;

	sstp_htcp_begin(&g, now);
	KUNIT_EXPECT_EQ(test, htcp_run(&g, 100, 39, &now, 1), 100U);
	KUNIT_EXPECT_EQ(test, htcp_run(&g, 100, 2, &now, 1), 101U);
}

/* Times that do not count */
static void htcp_rests(struct kunit *test)
{
	struct sstp_htcp g, was;
	u64 now = HTCP_START;
	u32 cwnd;

	sstp_htcp_begin(&g, now);
	cwnd = htcp_run(&g, 1000000, 1000, &now, 1);
	was = g;
	now += 300 * NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, sstp_htcp_past(&g, now), 300000U);
	sstp_htcp_rest(&g, 300);
	KUNIT_EXPECT_EQ(test, sstp_htcp_past(&g, now), 0U);
	KUNIT_EXPECT_EQ(test, g.begun_ms - was.begun_ms, 300U);
	/* alpha(0.75 s) is 8.64: 216 packets a second */
	KUNIT_EXPECT_LE(test, abs_diff(htcp_run(&g, cwnd, 10, &now, 1) - cwnd, 2U), 1U);
	now += 300 * NSEC_PER_MSEC;
	sstp_htcp_touch(&g, now);
	KUNIT_EXPECT_EQ(test, sstp_htcp_past(&g, now), 0U);
	KUNIT_EXPECT_EQ(test, g.begun_ms - was.begun_ms, 300U);
}

static struct kunit_case htcp_cases[] = {
	KUNIT_CASE(htcp_rate),
	KUNIT_CASE(htcp_long),
	KUNIT_CASE(htcp_bounds),
	KUNIT_CASE(htcp_parts),
	KUNIT_CASE(htcp_rests),
	{}
};

static struct kunit_suite htcp_suite = {
	.name = "sstp_htcp",
	.test_cases = htcp_cases,
};

kunit_test_suite(htcp_suite);
