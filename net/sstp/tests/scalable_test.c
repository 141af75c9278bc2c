// SPDX-License-Identifier: GPL-2.0
/* scalable: increase and cut of Kelly's Scalable TCP */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_scalable.c"

static void scalable_grows(struct kunit *test)
{
	static const struct {
		u32 cwnd, delivered, then;
	} t[] = {
		/* By one a window, as TCP, up to 100 packets; then by one for 100 packets */
		{ 10, 9, 10 }, { 10, 10, 11 }, { 99, 98, 99 }, { 99, 99, 100 },
		{ 100, 99, 100 }, { 100, 100, 101 }, { 1000, 99, 1000 }, { 1000, 1000, 1010 },
		{ 100000, 100000, 101000 },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_scalable, 100000);
		ctrl_sim_avoid(&x, t[i].cwnd);
		ctrl_sim_ack(&x, t[i].delivered, 100000);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u", i);
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
	KUNIT_CASE(scalable_recovers),
	{}
};

static struct kunit_suite scalable_suite = {
	.name = "sstp_scalable",
	.test_cases = scalable_cases,
};

kunit_test_suite(scalable_suite);
