// SPDX-License-Identifier: GPL-2.0
/* fast: equation 5, and the window at which a path settles */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_fast.c"

static void fast_window(struct kunit *test)
{
	static const struct {
		u32 cwnd, base, rtt, then;
	} t[] = {
		{ 1000, 100000, 100000, 1050 },	/* alpha more, by half */
		{ 1000, 100000, 125000, 950 },	/* 1000 * 0.8 + 100 */
		{ 1000, 100000, 111111, 1000 },	/* nearly where it settles */
		{ 40, 100000, 100000, 80 },	/* it doubles at most */
		{ 2, 100000, 60000000, 4 },
		{ SSTP_WINDOW_MAX, 100, 100, SSTP_WINDOW_MAX },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_fast f = { .base = t[i].base, .rtt = t[i].rtt };

		KUNIT_EXPECT_EQ_MSG(test, sstp_fast_window(&f, t[i].cwnd), t[i].then, "row %u", i);
	}
}

/* A path of 10,000 packets/s and 100 ms: the window settles where alpha packets wait, at 1100. */
static void fast_settles(struct kunit *test)
{
	struct ctrl_sim x;
	u32 n, rtt;

	ctrl_sim_start(&x, &sstp_ctrl_fast, 100000);
	for (n = 0; n < 100; n++) {
		rtt = max(x.c.cwnd * 100, 100000U);
		x.s.srtt = rtt;
		ctrl_sim_round(&x, 8, rtt);
		/* Slow start may not know before a round trip is over. */
		KUNIT_ASSERT_LE_MSG(test, x.c.cwnd, 4000U, "round trip %u", n);
	}
	KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, 1100U), 20U, "%u", x.c.cwnd);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 550U), 10U);
}

static struct kunit_case fast_cases[] = {
	KUNIT_CASE(fast_window),
	KUNIT_CASE(fast_settles),
	{}
};

static struct kunit_suite fast_suite = {
	.name = "sstp_fast",
	.test_cases = fast_cases,
};

kunit_test_suite(fast_suite);
