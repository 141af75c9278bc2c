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
		sstp_vegas_priv(&x.c)->base = 100000;
		ctrl_sim_avoid(&x, t[i].cwnd);
		/* The round trip that began in init ends with this window. */
		sstp_vegas_priv(&x.c)->end = t[i].cwnd;
		ctrl_sim_round(&x, 2, t[i].rtt);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u", i);
	}
}

/* Packets that wait behind others of their train are not in a queue of the path. */
static void vegas_trains(struct kunit *test)
{
	static const struct {
		u32 last, train, rtt, then;
	} t[] = {
		{ 0, 0, 102000, 1000 - 1 },		/* 20 wait */
		{ 1, 1, 102000, 1000 - 1 },
		{ 1, 20, 102000, 1000 + 1 },		/* 1 */
		{ 20, 1, 102000, 1000 + 1 },
		{ 17, 17, 102000, 1000 },		/* 4 */
		{ 16, 16, 102000, 1000 - 1 },		/* 5 */
		{ 64, 64, 102000, 1000 + 1 },
		{ 64, 64, 106700, 1000 },
		{ 64, 64, 106800, 1000 - 1 },
	};
	struct sstp_ctrl_packets p = {};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_vegas, 100000);
		sstp_vegas_priv(&x.c)->base = 100000;
		p.packets = t[i].last;
		x.ops->on_pkt_sent(&x.c, &x.s, &p);
		ctrl_sim_avoid(&x, 1000);
		/* A round trip ends; in the next the packets are reported. */
		sstp_vegas_begin(sstp_vegas_priv(&x.c), &x.s);
		sstp_vegas_priv(&x.c)->end = 1000;
		p.packets = t[i].train;
		x.ops->on_pkt_sent(&x.c, &x.s, &p);
		p.packets = 1;
		x.ops->on_pkt_sent(&x.c, &x.s, &p);
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

/* Window of the round trip after one of 100 packets in which @waiting of them waited */
static u32 vegas_next(struct ctrl_sim *x, u32 waiting)
{
	sstp_vegas_priv(&x->c)->base = 100000;
	ctrl_sim_avoid(x, 100);
	sstp_vegas_priv(&x->c)->end = x->s.highest + 100;
	ctrl_sim_round(x, 2, 100000 + waiting * 1000);
	return x->c.cwnd;
}

/* Each parameter moves its bound, at any time. */
static void vegas_params(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_vegas, 100000);
	KUNIT_EXPECT_EQ(test, vegas_next(&x, 5), 99U);
	x.c.param[SSTP_VEGAS_BETA] = 30;
	KUNIT_EXPECT_EQ(test, vegas_next(&x, 5), 100U);
	KUNIT_EXPECT_EQ(test, vegas_next(&x, 30), 100U);
	KUNIT_EXPECT_EQ(test, vegas_next(&x, 31), 99U);
	x.c.param[SSTP_VEGAS_ALPHA] = 20;
	KUNIT_EXPECT_EQ(test, vegas_next(&x, 19), 101U);
	KUNIT_EXPECT_EQ(test, vegas_next(&x, 20), 100U);
	x.c.param[SSTP_VEGAS_ALPHA] = 0;
	KUNIT_EXPECT_EQ(test, vegas_next(&x, 19), 100U);
	/* Slow start with 12 packets in queues */
	x.c.param[SSTP_VEGAS_GAMMA] = 12;
	ctrl_sim_start(&x, &sstp_ctrl_vegas, 100000);
	x.c.param[SSTP_VEGAS_GAMMA] = 12;
	sstp_vegas_priv(&x.c)->base = 100000;
	x.c.cwnd = 120;
	x.s.flight = 120;
	sstp_vegas_begin(sstp_vegas_priv(&x.c), &x.s);
	sstp_vegas_priv(&x.c)->round = 110000;
	sstp_vegas_adjust(&x.c, sstp_vegas_priv(&x.c));
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), (s64)SSTP_WINDOW_MAX);
	sstp_vegas_priv(&x.c)->round = 111000;
	sstp_vegas_adjust(&x.c, sstp_vegas_priv(&x.c));
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 109LL);
}

/* alpha < beta, where 0 is the default */
static void vegas_checks(struct kunit *test)
{
	static const struct {
		struct sstp_param_values v;
		int err;
	} t[] = {
		{ { { 0, 0, 0 } }, 0 }, { { { 3, 0, 99 } }, 0 }, { { { 4, 0, 0 } }, -EINVAL },
		{ { { 0, 3, 0 } }, 0 }, { { { 0, 2, 0 } }, -EINVAL }, { { { 20, 40, 0 } }, 0 },
		{ { { 40, 40, 0 } }, -EINVAL }, { { { 41, 40, 0 } }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_vegas.check_params(&t[i].v), t[i].err,
				    "row %u", i);
}

static void vegas_state(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_vegas, 100000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 0LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 2), 0LL);
	x.s.shipped = 10;
	sstp_vegas_begin(sstp_vegas_priv(&x.c), &x.s);
	ctrl_sim_ack(&x, 1, 90000);
	ctrl_sim_ack(&x, 1, 95000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 90000LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 2), 90000LL);
	/* Another round trip */
	x.s.shipped = 20;
	ctrl_sim_ack(&x, 8, 95000);
	ctrl_sim_ack(&x, 1, 96000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 90000LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 2), 96000LL);
	ctrl_sim_avoid(&x, 50);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 25LL);
}

static struct kunit_case vegas_cases[] = {
	KUNIT_CASE(vegas_avoids),
	KUNIT_CASE(vegas_trains),
	KUNIT_CASE(vegas_starts),
	KUNIT_CASE(vegas_params),
	KUNIT_CASE(vegas_checks),
	KUNIT_CASE(vegas_state),
	{}
};

static struct kunit_suite vegas_suite = {
	.name = "sstp_vegas",
	.test_cases = vegas_cases,
};

kunit_test_suite(vegas_suite);
