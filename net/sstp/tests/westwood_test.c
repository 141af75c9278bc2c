// SPDX-License-Identifier: GPL-2.0
/* westwood: the estimate of a path of known rate, and the cuts that follow from it */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_westwood.c"

/* @ms of reports, one in 10 ms, of @packets each; the estimate in packets a second */
static u64 westwood_path(struct ctrl_sim *x, u32 ms, u32 packets)
{
	for (; ms; ms -= 10) {
		x->s.now += 10 * NSEC_PER_MSEC;
		ctrl_sim_ack(x, packets, x->s.srtt);
	}
	return sstp_westwood_priv(&x->c)->estimate / 1024;
}

static void westwood_estimate(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_westwood, 20000);
	/* A sample takes 50 ms at least, and the first counts in full. */
	KUNIT_EXPECT_EQ(test, westwood_path(&x, 40, 100), 0ULL);
	KUNIT_EXPECT_EQ(test, westwood_path(&x, 10, 100), 10000ULL);
	KUNIT_EXPECT_EQ(test, westwood_path(&x, 1000, 100), 10000ULL);
	/* 1/8 of 1/8 of the difference after one sample; all of it after many */
	KUNIT_EXPECT_LE(test, abs_diff(westwood_path(&x, 50, 200), 10156ULL), 1ULL);
	KUNIT_EXPECT_LE(test, abs_diff(westwood_path(&x, 10000, 200), 20000ULL), 20ULL);
	/* With a long round trip a sample takes that long. */
	ctrl_sim_start(&x, &sstp_ctrl_westwood, 200000);
	KUNIT_EXPECT_EQ(test, westwood_path(&x, 190, 100), 0ULL);
	KUNIT_EXPECT_EQ(test, westwood_path(&x, 10, 100), 10000ULL);
}

static void westwood_cuts(struct kunit *test)
{
	struct ctrl_sim x;

	/* Before there is an estimate: as TCP */
	ctrl_sim_start(&x, &sstp_ctrl_westwood, 100000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 0LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 2), 0LL);
	ctrl_sim_avoid(&x, 1000);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 500U);
	/* 10,000 packets/s times 100 ms */
	westwood_path(&x, 2000, 100);
	ctrl_sim_avoid(&x, 1500);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 1000LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 100000LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 2), 10000LL);
	/* A loss without a queue does not cut, and never raises, the window. */
	ctrl_sim_avoid(&x, 900);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 900U);
}

static struct kunit_case westwood_cases[] = {
	KUNIT_CASE(westwood_estimate),
	KUNIT_CASE(westwood_cuts),
	{}
};

static struct kunit_suite westwood_suite = {
	.name = "sstp_westwood",
	.test_cases = westwood_cases,
};

kunit_test_suite(westwood_suite);
