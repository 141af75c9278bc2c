// SPDX-License-Identifier: GPL-2.0
/* vegas: packets in queues, and the window of the next round trip */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_vegas.c"

/* With a lowest round-trip time of 100 ms, a window and the round-trip time in it: the next */
static void vegas_avoids(struct kunit *test)
{
	static const struct {
		u32 cwnd, rtt, then;
	} t[] = {
		{ 100, 100000, 101 }, { 100, 101000, 101 },	/* 0, 1 wait */
		{ 100, 102000, 100 }, { 100, 104000, 100 },	/* 2, 4 */
		{ 100, 105000, 99 }, { 100, 200000, 99 },	/* 5, 100 */
		{ 2, 500000, 2 },
		{ 1000, 100199, 1001 }, { 1000, 100200, 1000 }, { 1000, 100500, 999 },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_vegas, 100000);
		sstp_vegas(&x.c)->base = 100000;
		ctrl_sim_avoid(&x, t[i].cwnd);
		/* The round trip that began in init ends with this window. */
		sstp_vegas(&x.c)->end = t[i].cwnd;
		ctrl_sim_round(&x, 2, t[i].rtt);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u", i);
	}
}

/* Slow start ends when a packet waits. */
static void vegas_starts(struct kunit *test)
{
	struct sstp_window *w;
	struct ctrl_sim x;
	u32 n;

	ctrl_sim_start(&x, &sstp_ctrl_vegas, 100000);
	w = (struct sstp_window *)x.c.priv;
	/* Pacing may hold packets back, not the window. */
	x.s.cwnd_limited = false;
	for (n = 0; n < 5; n++)
		ctrl_sim_round(&x, 4, 100000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 320U);
	KUNIT_EXPECT_TRUE(test, sstp_window_in_slow_start(&x.c, w));
	ctrl_sim_round(&x, 4, 110000);
	ctrl_sim_round(&x, 4, 110000);
	KUNIT_EXPECT_FALSE(test, sstp_window_in_slow_start(&x.c, w));
	KUNIT_EXPECT_LE(test, x.c.cwnd, 640U);
}

static struct kunit_case vegas_cases[] = {
	KUNIT_CASE(vegas_avoids),
	KUNIT_CASE(vegas_starts),
	{}
};

static struct kunit_suite vegas_suite = {
	.name = "sstp_vegas",
	.test_cases = vegas_cases,
};

kunit_test_suite(vegas_suite);
