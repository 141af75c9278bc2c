// SPDX-License-Identifier: GPL-2.0
/* cubic: the equations of RFC 9438, and epochs that follow them */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../cubic.c"
#include "../ctrl_cubic.c"

static void cubic_root(struct kunit *test)
{
	struct rnd_state r;
	u32 i;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 10000; i++) {
		u64 v = sstp_rnd_u64(&r) >> sstp_rnd_range(&r, 2, 60), root = sstp_cubic_root(v);

		KUNIT_ASSERT_LE(test, root * root * root, v);
		KUNIT_ASSERT_GT(test, (root + 1) * (root + 1) * (root + 1), v);
	}
	KUNIT_EXPECT_EQ(test, sstp_cubic_root(0), 0U);
	KUNIT_EXPECT_EQ(test, sstp_cubic_root(27), 3U);
	KUNIT_EXPECT_EQ(test, sstp_cubic_root(26), 2U);
}

/* K and W_cubic(t), computed exactly: W_max, cwnd_epoch, K in ms, t in ms, window */
static void cubic_equations(struct kunit *test)
{
	static const struct {
		u32 max, cwnd, k, t, window;
	} t[] = {
		{ 1000, 700, 9085, 0, 700 }, { 1000, 700, 9085, 4000, 947 },
		{ 1000, 700, 9085, 9085, 1000 }, { 1000, 700, 9085, 12000, 1009 },
		{ 1000, 700, 9085, 20000, 1520 },
		{ 100000, 70000, 42171, 0, 70000 }, { 100000, 70000, 42171, 30000, 99279 },
		{ 100000, 70000, 42171, 60000, 102267 },
		/* An epoch that begins above W_max */
		{ 500, 700, 0, 0, 700 }, { 500, 700, 0, 10000, 1100 },
		/* Long after: bounded */
		{ 1000, 700, 9085, U32_MAX, SSTP_WINDOW_MAX },
	};
	u32 i, now;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_cubic_epoch q = { .max = t[i].max };

		sstp_cubic_begin(&q, SSTP_CUBIC_C, t[i].cwnd, 1);
		KUNIT_EXPECT_EQ_MSG(test, q.k, t[i].k, "row %u", i);
		now = sstp_cubic_window(&q, SSTP_CUBIC_C, t[i].t);
		KUNIT_EXPECT_LE_MSG(test, abs_diff(now, t[i].window), t[i].window / 1000 + 1,
				    "row %u: %u", i, now);
	}
}

/* After a cut at 1000 packets, at 100 ms: each round trip the window is what the equation has
 * a round trip later, and it is back after K.
 */
static void cubic_epoch(struct kunit *test)
{
	struct sstp_cubic_epoch ref = { .max = 1000 };
	struct ctrl_sim x;
	u32 n, now;

	sstp_cubic_begin(&ref, SSTP_CUBIC_C, 700, 1);
	ctrl_sim_start(&x, &sstp_ctrl_cubic, 100000);
	ctrl_sim_avoid(&x, 1000);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	for (n = 1; n <= 120; n++) {
		ctrl_sim_round(&x, 4, 100000);
		now = sstp_cubic_window(&ref, SSTP_CUBIC_C, n * 100);
		KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, now), 12U, "round trip %u: %u", n,
				    x.c.cwnd);
	}
}

/* On a short path Reno is faster: the window follows W_est. */
static void cubic_reno(struct kunit *test)
{
	struct ctrl_sim x;
	u32 n;

	ctrl_sim_start(&x, &sstp_ctrl_cubic, 1000);
	ctrl_sim_avoid(&x, 100);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 70U);
	for (n = 1; n <= 50; n++)
		ctrl_sim_round(&x, 4, 1000);
	/* 0.529 packets in a round trip */
	KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, 96U), 2U, "%u", x.c.cwnd);
	for (n = 1; n <= 20; n++)
		ctrl_sim_round(&x, 4, 1000);
	/* One packet in a round trip from 100 on */
	KUNIT_EXPECT_GE(test, x.c.cwnd, 108U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), (s64)x.c.cwnd);
}

/* alpha follows beta: with a beta of 0.5 it is Reno's. */
static void cubic_params(struct kunit *test)
{
	static const struct {
		u32 beta, alpha;
	} t[] = { { 717, 542 }, { 512, 1024 }, { 1023, 2 }, { 1, 3066 }, { 819, 342 } };
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ(test, sstp_cubic_alpha(t[i].beta), t[i].alpha);
	ctrl_sim_start(&x, &sstp_ctrl_cubic, 1000);
	x.c.param[SSTP_CUBIC_PARAM_BETA] = 512;
	ctrl_sim_avoid(&x, 100);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 50U);
	for (i = 1; i <= 40; i++)
		ctrl_sim_round(&x, 4, 1000);
	KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, 90U), 2U, "%u", x.c.cwnd);
	/* Fast convergence: 80 * 1.5 / 2; and without it */
	ctrl_sim_avoid(&x, 80);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 60LL);
	x.c.param[SSTP_CUBIC_PARAM_NO_FAST] = 1;
	ctrl_sim_avoid(&x, 50);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 50LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 25LL);
	/* Figure 2 with the next report: cbrt(25 / 0.4) s */
	ctrl_sim_ack(&x, 1, 1000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 2), 3968LL);
}

static void cubic_cuts(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_cubic, 100000);
	ctrl_sim_avoid(&x, 1000);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, sstp_cubic_priv(&x.c)->e.max, 1000U);
	/* Fast convergence: 800 * 1.7 / 2 */
	ctrl_sim_avoid(&x, 800);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, sstp_cubic_priv(&x.c)->e.max, 680U);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 560U);
	/* A time-out, also in recovery: W_max is the window where slow start ends. */
	x.ops->on_timeout(&x.c, &x.s);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
	KUNIT_EXPECT_EQ(test, sstp_cubic_priv(&x.c)->e.max, 0U);
	KUNIT_EXPECT_EQ(test, sstp_cubic_priv(&x.c)->w.ssthresh, 560U);
	ctrl_sim_avoid(&x, 1000);
	ctrl_sim_loss(&x);
	ctrl_sim_avoid(&x, 800);
	ctrl_sim_loss(&x);
	/* A program that pauses: the time is not made up for. */
	ctrl_sim_round(&x, 4, 100000);
	x.s.cwnd_limited = false;
	x.s.now += 60ULL * NSEC_PER_SEC;
	ctrl_sim_ack(&x, 1, 100000);
	x.s.cwnd_limited = true;
	ctrl_sim_round(&x, 4, 100000);
	KUNIT_EXPECT_LE(test, x.c.cwnd, 680U);
}

static struct kunit_case cubic_cases[] = {
	KUNIT_CASE(cubic_root),
	KUNIT_CASE(cubic_equations),
	KUNIT_CASE(cubic_epoch),
	KUNIT_CASE(cubic_reno),
	KUNIT_CASE(cubic_params),
	KUNIT_CASE(cubic_cuts),
	{}
};

static struct kunit_suite cubic_suite = {
	.name = "sstp_cubic",
	.test_cases = cubic_cases,
};

kunit_test_suite(cubic_suite);
