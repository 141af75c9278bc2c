// SPDX-License-Identifier: GPL-2.0
/* fast: equation 5, and the window at which a path settles */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_fast.c"

static void fast_window(struct kunit *test)
{
	static const struct {
		u32 cwnd, base, rtt, alpha, gamma, then;
	} t[] = {
		{ 1000, 100000, 100000, 0, 0, 1050 },	/* alpha more, by half */
		{ 1000, 100000, 125000, 0, 0, 950 },	/* 1000 * 0.8 + 100 */
		{ 1000, 100000, 111111, 0, 0, 1000 },	/* nearly where it settles */
		{ 40, 100000, 100000, 0, 0, 80 },	/* it doubles at most */
		{ 2, 100000, 60000000, 0, 0, 4 },
		{ SSTP_WINDOW_MAX, 100, 100, 0, 0, SSTP_WINDOW_MAX },
		{ 1000, 100000, 100000, 300, 0, 1150 },
		{ 1000, 100000, 125000, 300, 0, 1050 },
		{ 1000, 100000, 100000, 0, 100, 1100 },	/* all the way */
		{ 1000, 100000, 125000, 0, 10, 990 },
		{ 1000, 100000, 125000, 1, 1, 998 },
		{ 2000000, 100000, 100000, 1000000, 100, 3000000 },
		{ SSTP_WINDOW_MAX, 100, 100, 1000000, 100, SSTP_WINDOW_MAX },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_fast, 100000);
		x.c.cwnd = t[i].cwnd;
		x.c.param[SSTP_FAST_ALPHA] = t[i].alpha;
		x.c.param[SSTP_FAST_GAMMA] = t[i].gamma;
		sstp_fast_priv(&x.c)->base = t[i].base;
		sstp_fast_priv(&x.c)->rtt = t[i].rtt;
		KUNIT_EXPECT_EQ_MSG(test, sstp_fast_window(&x.c), t[i].then, "row %u", i);
	}
}

/* 100 round trips on a path of 10,000 packets/s and 100 ms */
static void fast_path(struct kunit *test, struct ctrl_sim *x)
{
	u32 n, rtt;

	for (n = 0; n < 100; n++) {
		rtt = max(x->c.cwnd * 100, 100000U);
		x->s.srtt = rtt;
		ctrl_sim_round(x, 8, rtt);
		/* Slow start may not know before a round trip is over. */
		KUNIT_ASSERT_LE_MSG(test, x->c.cwnd, 4000U, "round trip %u", n);
	}
}

/* The window settles where alpha packets wait, at 1100, and follows another alpha. */
static void fast_settles(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_fast, 100000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 0LL);
	fast_path(test, &x);
	KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, 1100U), 20U, "%u", x.c.cwnd);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 100000LL);
	KUNIT_EXPECT_LE(test, abs_diff(ctrl_sim_state(&x, 2), 110000LL), 2000LL);
	x.c.param[SSTP_FAST_ALPHA] = 500;
	fast_path(test, &x);
	KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, 1500U), 20U, "%u", x.c.cwnd);
	x.c.param[SSTP_FAST_ALPHA] = 0;
	fast_path(test, &x);
	KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, 1100U), 20U, "%u", x.c.cwnd);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 550U), 10U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), (s64)x.c.cwnd);
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
