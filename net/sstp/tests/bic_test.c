// SPDX-License-Identifier: GPL-2.0
/* bic: the search for the window, row by row, and from a cut to beyond the old window */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_bic.c"

static void bic_increase(struct kunit *test)
{
	static const struct {
		u32 cwnd, max, per;
	} t[] = {
		{ 10, 1000, 10 },	/* small: as TCP */
		{ 800, 1000, 50 },	/* 16 packets in a round trip */
		{ 960, 1000, 96 },	/* a quarter of 40 */
		{ 992, 1000, 496 },	/* a quarter of 8 */
		{ 996, 1000, 4980 },	/* the last one in five round trips */
		{ 1000, 1000, 5000 },	/* slowly at first */
		{ 1010, 1000, 303 },	/* then a third of the way since */
		{ 1048, 1000, 65 },	/* then 16 packets again */
		{ 1000, 0, 20 },	/* no loss yet */
		{ 20, 18, 100 }, { 15, 14, 75 },
	};
	struct sstp_ctrl c = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.cwnd = t[i].cwnd;
		KUNIT_EXPECT_EQ_MSG(test, sstp_bic_per(&c, t[i].max), t[i].per, "row %u", i);
	}
}

/* The same with a parameter that is not the default */
static void bic_params(struct kunit *test)
{
	static const struct {
		enum sstp_bic_param param;
		u32 value, cwnd, max, per;
	} t[] = {
		{ SSTP_BIC_LOW, 100, 100, 1000, 100 }, { SSTP_BIC_LOW, 100, 101, 1000, 6 },
		{ SSTP_BIC_LOW, 1, 10, 0, 1 },
		{ SSTP_BIC_INCREMENT, 32, 800, 1000, 25 }, /* 32 packets in a round trip */
		{ SSTP_BIC_INCREMENT, 32, 960, 1000, 96 },
		{ SSTP_BIC_INCREMENT, 32, 1048, 1000, 65 },
		{ SSTP_BIC_INCREMENT, 32, 1096, 1000, 34 },
		{ SSTP_BIC_INCREMENT, U16_MAX, 800, 1000, 16 },	/* a quarter of 200 */
		{ SSTP_BIC_INCREMENT, 1, 1000, 0, 20 },
		{ SSTP_BIC_SMOOTH, 4, 996, 1000, 996 },	/* the last one in a round trip */
		{ SSTP_BIC_SMOOTH, 4, 1000, 1000, 1000 },
		{ SSTP_BIC_SMOOTH, 4, 1000, 0, 4 },
		{ SSTP_BIC_SMOOTH, 100, SSTP_WINDOW_MAX, SSTP_WINDOW_MAX,
		  SSTP_WINDOW_MAX * 25 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_ctrl c = { .cwnd = t[i].cwnd };

		c.param[t[i].param] = t[i].value;
		KUNIT_EXPECT_EQ_MSG(test, sstp_bic_per(&c, t[i].max), t[i].per, "row %u", i);
	}
}

/* Any window, target and parameters give at least one packet, so that nothing divides by 0. */
static void bic_any(struct kunit *test)
{
	const struct sstp_param_spec *p;
	struct sstp_ctrl c = {};
	struct rnd_state r;
	u32 i, k;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 10000; i++) {
		u32 max = sstp_rnd_below(&r, 1 << sstp_rnd_below(&r, 25));

		c.cwnd = sstp_rnd_range(&r, 1, 1 << sstp_rnd_below(&r, 25));
		for (k = 0; k < ARRAY_SIZE(sstp_bic_defaults); k++) {
			p = &sstp_ctrl_bic.params[k];
			c.param[k] = sstp_rnd_one_in(&r, 2) ? 0 :
				sstp_rnd_one_in(&r, 4) ? p->most :
				sstp_rnd_range(&r, p->least, min(p->most, p->least + 100));
		}
		KUNIT_ASSERT_GE(test, sstp_bic_per(&c, max), 1U);
	}
}

static void bic_cut(struct kunit *test)
{
	struct ctrl_sim x;
	u32 n;

	ctrl_sim_start(&x, &sstp_ctrl_bic, 100000);
	ctrl_sim_avoid(&x, 1000);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 799U);
	/* 9 round trips by 16, 7 by a quarter, then the smooth end */
	for (n = 0; n < 16; n++)
		ctrl_sim_round(&x, 4, 100000);
	KUNIT_EXPECT_GE(test, x.c.cwnd, 985U);
	KUNIT_EXPECT_LT(test, x.c.cwnd, 1000U);
	for (n = 0; n < 80 && x.c.cwnd <= 1000; n++)
		ctrl_sim_round(&x, 4, 100000);
	KUNIT_EXPECT_LT(test, n, 80U);
	/* A second cut below the target: fast convergence */
	ctrl_sim_avoid(&x, 900);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, sstp_bic_priv(&x.c)->max, 809U);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 719U);
	/* A time-out ends the search; a second one in a row changes nothing. */
	x.ops->on_timeout(&x.c, &x.s);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
	KUNIT_EXPECT_EQ(test, sstp_bic_priv(&x.c)->max, 0U);
	KUNIT_EXPECT_EQ(test, sstp_bic_priv(&x.c)->w.ssthresh, 719U);
	/* A small window */
	ctrl_sim_avoid(&x, 14);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 7U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 7LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 14LL);
	/* Other parameters: a quarter is left, and fast convergence is 5/8, or is off. */
	x.c.param[SSTP_BIC_BETA] = 256;
	x.c.param[SSTP_BIC_LOW] = 10;
	ctrl_sim_avoid(&x, 12);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 3U);
	ctrl_sim_avoid(&x, 1000);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 250U);
	ctrl_sim_avoid(&x, 800);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 500LL);
	x.c.param[SSTP_BIC_NO_FAST] = 1;
	ctrl_sim_avoid(&x, 400);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 400LL);
}

static struct kunit_case bic_cases[] = {
	KUNIT_CASE(bic_increase),
	KUNIT_CASE(bic_params),
	KUNIT_CASE(bic_any),
	KUNIT_CASE(bic_cut),
	{}
};

static struct kunit_suite bic_suite = {
	.name = "sstp_bic",
	.test_cases = bic_cases,
};

kunit_test_suite(bic_suite);
