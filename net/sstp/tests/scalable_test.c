// SPDX-License-Identifier: GPL-2.0
/* scalable: increase and cut of Kelly's Scalable TCP */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_scalable.c"

/* A window, and after @delivered packets, with a in thousandths */
static void scalable_grows(struct kunit *test)
{
	static const struct {
		u32 cwnd, delivered, a, then;
	} t[] = {
		/* By one a window, as TCP, up to 100 packets; then by one for 100 packets */
		{ 10, 9, 0, 10 }, { 10, 10, 0, 11 }, { 99, 98, 0, 99 }, { 99, 99, 0, 100 },
		{ 100, 99, 0, 100 }, { 100, 100, 0, 101 }, { 1000, 99, 0, 1000 },
		{ 1000, 1000, 0, 1010 }, { 100000, 100000, 0, 101000 },
		/* The 0.1 of Gu and Grossman, and what is no inverse of a whole number */
		{ 10, 9, 100, 10 }, { 10, 10, 100, 11 }, { 1000, 1000, 100, 1100 },
		{ 1000, 1000, 15, 1015 }, { 1000, 66, 15, 1000 }, { 1000, 67, 15, 1001 },
		{ 100, 100, 1, 101 }, { 10000, 999, 1, 10000 }, { 10000, 1000, 1, 10001 },
		{ 1000, 1000, 1000, 2000 }, { 2, 1, 1000, 3 },
		{ SSTP_WINDOW_MAX, SSTP_WINDOW_MAX, 1000, SSTP_WINDOW_MAX },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_scalable, 100000);
		ctrl_sim_avoid(&x, t[i].cwnd);
		x.c.param[SSTP_SCALABLE_A] = t[i].a;
		ctrl_sim_ack(&x, t[i].delivered, 100000);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u", i);
	}
}

/* A window and the one after a cut by b, in thousandths, which is the threshold */
static void scalable_cuts(struct kunit *test)
{
	static const struct {
		u32 cwnd, b, then;
	} t[] = {
		{ 1000, 0, 875 }, { 1001, 0, 876 }, { 7, 0, 7 }, { 8, 0, 7 },
		{ 1000, 500, 500 }, { 1000, 1, 999 }, { 1000, 999, 2 }, { 3, 500, 2 },
		{ SSTP_WINDOW_MAX, 250, SSTP_WINDOW_MAX / 4 * 3 },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_scalable, 100000);
		ctrl_sim_avoid(&x, t[i].cwnd);
		x.c.param[SSTP_SCALABLE_B] = t[i].b;
		ctrl_sim_loss(&x);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, ctrl_sim_state(&x, 0), (s64)t[i].then, "row %u", i);
	}
}

/* The round trips from a cut to the window before it do not depend on the window: 14. */
static void scalable_recovers(struct kunit *test)
{
	static const u32 windows[] = { 400, 4000, 40000, 400000 };
	struct ctrl_sim x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_scalable, 100000);
		ctrl_sim_avoid(&x, windows[i]);
		ctrl_sim_loss(&x);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, windows[i] / 8 * 7);
		for (n = 0; x.c.cwnd < windows[i]; n++)
			ctrl_sim_round(&x, 4, 100000);
		KUNIT_EXPECT_EQ_MSG(test, n, 14U, "window %u", windows[i]);
	}
}

static struct kunit_case scalable_cases[] = {
	KUNIT_CASE(scalable_grows),
	KUNIT_CASE(scalable_cuts),
	KUNIT_CASE(scalable_recovers),
	{}
};

static struct kunit_suite scalable_suite = {
	.name = "sstp_scalable",
	.test_cases = scalable_cases,
};

kunit_test_suite(scalable_suite);
