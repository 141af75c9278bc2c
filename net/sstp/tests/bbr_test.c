// SPDX-License-Identifier: GPL-2.0
/* bbr: its arithmetic, its states, and flows over a simulated bottleneck */
#include "sstp_test.h"
#include "line_sim.h"
#include "../ctrl_bbr.c"

#define BBR_FLOWS	LINE_FLOWS
#define BBR_UNKNOWN	BIT(31)	/* the model was doubted, but the rate forgotten to replace it */

static struct sstp_bbr *bbr_of(struct line_flow *x)
{
	return sstp_bbr_priv(&x->c);
}

/* The states that the controller was in, a bit for each */
static void bbr_look(struct line_flow *x)
{
	x->seen |= BIT(bbr_of(x)->state);
	if (bbr_of(x)->doubted && !bbr_of(x)->path_rate)
		x->seen |= BBR_UNKNOWN;
}

static struct line_flow *bbr_add(struct kunit *test, struct line_sim *l, u32 rtt, u32 ms)
{
	struct line_flow *x = line_add(test, l, &sstp_ctrl_bbr, rtt, ms);

	x->look = bbr_look;
	return x;
}

/* A line of @rate packets/s with @queue packets, and a flow with a round-trip time of @rtt us */
static struct line_flow *bbr_start(struct kunit *test, u32 rate, u32 rtt, u32 queue)
{
	return bbr_add(test, line_start(test, rate, queue), rtt, 0);
}

/* Run for @ms. Returns the share of the line that is used, in thousandths. */
static u32 bbr_run(struct line_sim *l, u32 ms)
{
	u32 i;

	for (i = 0; i < l->flows; i++)
		l->flow[i]->seen &= BBR_UNKNOWN;
	return line_run(l, ms);
}

/* Windows and bounds, computed exactly: 1 packet/us is 2^24. */
static void bbr_arithmetic(struct kunit *test)
{
	static const struct {
		u32 bw, min_rtt, gain, packets;
	} t[] = {
		{ 1 << 24, 1000, SSTP_BBR_ONE, 1000 }, { 1 << 24, 1000, 512, 2000 },
		{ 1 << 24, 1000, 128, 500 }, { 1 << 20, 1000, SSTP_BBR_ONE, 63 },
		{ 1 << 16, 1000, 128, 2 }, { 0, 1000, SSTP_BBR_ONE, 0 },
		{ U32_MAX - 1, 60 * USEC_PER_SEC, 709, SSTP_WINDOW_MAX },
		{ 1 << 24, SSTP_BBR_NONE, 512, SSTP_WINDOW_INIT },
	};
	static const u32 high[][2] = {
		{ SSTP_BBR_NONE, SSTP_BBR_NONE }, { 100, 85 }, { 1000, 850 }, { 7, 6 }, { 4, 4 },
		{ 1, 4 }, { SSTP_WINDOW_MAX, 14260634 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_bbr b = { .min_rtt = t[i].min_rtt };

		KUNIT_EXPECT_EQ_MSG(test, sstp_bbr_bdp(&b, t[i].bw, t[i].gain), t[i].packets,
				    "row %u", i);
	}
	for (i = 0; i < ARRAY_SIZE(high); i++) {
		struct sstp_bbr b = { .inflight_longterm = high[i][0] };

		KUNIT_EXPECT_EQ_MSG(test, sstp_bbr_headroom(&b), high[i][1], "row %u", i);
	}
	KUNIT_EXPECT_EQ(test, sstp_bbr_beta(1000), 700U);
	KUNIT_EXPECT_EQ(test, sstp_bbr_beta(U32_MAX), 3006477106U);
}

/* Startup doubles the rate in each round trip, ends on the plateau with the rate of the line, and
 * Drain empties the queue. Then the cycle goes on, and ProbeRTT comes once in 5 s.
 */
static void bbr_states(struct kunit *test)
{
	struct line_flow *x = bbr_start(test, 4000, 50000, 400);
	u32 all = BIT(SSTP_BBR_DOWN) | BIT(SSTP_BBR_CRUISE) | BIT(SSTP_BBR_REFILL) |
		  BIT(SSTP_BBR_UP);
	struct sstp_bbr *b = bbr_of(x);

	bbr_run(x->line, 250);
	KUNIT_EXPECT_EQ(test, b->state, SSTP_BBR_STARTUP);
	KUNIT_EXPECT_FALSE(test, b->full_reached);
	bbr_run(x->line, 750);
	KUNIT_EXPECT_TRUE(test, b->full_reached);
	KUNIT_EXPECT_TRUE(test, x->seen & BIT(SSTP_BBR_DRAIN));
	KUNIT_EXPECT_GE(test, b->state, SSTP_BBR_DOWN);
	KUNIT_EXPECT_LE(test, abs_diff(sstp_bbr_show(sstp_bbr_max_bw(b)), 4000LL), 80LL);
	KUNIT_EXPECT_EQ(test, b->inflight_longterm, SSTP_BBR_NONE);
	bbr_run(x->line, 3800);
	KUNIT_EXPECT_EQ(test, x->seen & all, all);
	KUNIT_EXPECT_FALSE(test, x->seen & BIT(SSTP_BBR_PROBING_RTT));
	bbr_run(x->line, 2000);
	KUNIT_EXPECT_TRUE(test, x->seen & BIT(SSTP_BBR_PROBING_RTT));
	KUNIT_EXPECT_NE(test, b->state, SSTP_BBR_PROBING_RTT);
	KUNIT_EXPECT_LE(test, abs_diff(b->min_rtt, 50250U), 260U);
}

/* Use of the line, from 2 s on, with a queue of so many packets and a loss of one in so many */
static void bbr_lines(struct kunit *test)
{
	static const struct {
		u32 rate, rtt, queue, loss;
		u32 least;	/* share, thousandths */
		u32 wait;	/* most packets in the queue on average */
	} t[] = {
		{ 4000, 50000, 200, 0, 960, 60 }, { 4000, 50000, 2000, 0, 960, 60 },
		{ 4000, 50000, 50, 0, 880, 30 }, { 4000, 50000, 20, 0, 800, 15 },
		{ 4000, 50000, 200, 1000, 950, 60 }, { 4000, 50000, 200, 100, 870, 60 },
		{ 500, 10000, 40, 0, 950, 20 }, { 100, 300000, 60, 0, 900, 30 },
		{ 20000, 5000, 100, 0, 960, 60 }, { 50, 1000, 20, 0, 900, 10 },
	};
	u32 i, share;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct line_flow *x = bbr_start(test, t[i].rate, t[i].rtt, t[i].queue);

		x->line->loss = t[i].loss;
		bbr_run(x->line, 2000);
		share = bbr_run(x->line, 10000);
		kunit_info(test, "row %u: share %u, queue %u", i, share, line_queue(x->line));
		KUNIT_EXPECT_GE_MSG(test, share, t[i].least, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, line_queue(x->line), t[i].wait, "row %u", i);
	}
}

/* The line has a tenth of its rate from some time in the cycle on, and a queue that holds all that
 * is in flight for long: within 10 s the queue is short again, and the line used.
 */
static void bbr_drop(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(20), share;

	for (i = 0; i < n; i++) {
		struct line_flow *x = bbr_start(test, 4000, 40000, 4000);

		bbr_run(x->line, 4000 + i * 193);
		line_set_rate(x->line, 400);
		bbr_run(x->line, 10000);
		share = bbr_run(x->line, 6000);
		KUNIT_EXPECT_FALSE(test, x->seen & BBR_UNKNOWN);
		KUNIT_EXPECT_LE_MSG(test, x->line->most, 64U, "run %u", i);
		KUNIT_EXPECT_GE_MSG(test, share, 850U, "run %u", i);
	}
}

/* The line has ten times its rate from some time in the cycle on. */
static void bbr_rise(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(20);

	for (i = 0; i < n; i++) {
		struct line_flow *x = bbr_start(test, 400, 40000, 16);

		bbr_run(x->line, 4000 + i * 193);
		x->line->rate = 4000;
		x->line->queue = 160;
		bbr_run(x->line, 6000);
		KUNIT_EXPECT_GE_MSG(test, bbr_run(x->line, 4000), 850U, "run %u", i);
	}
}

/* The path is longer from some time in the cycle on: within 3 s min_rtt follows. A packet that was
 * under way then came earlier, so min_rtt may be less than the round-trip time now, but not so
 * much less that a window of two bandwidth-delay products would not fill the path.
 */
static void bbr_longer(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(20);

	for (i = 0; i < n; i++) {
		struct line_flow *x = bbr_start(test, 4000, 20000, 200);

		bbr_run(x->line, 4000 + i * 193);
		x->rtt = 100000;
		bbr_run(x->line, 3000);
		KUNIT_EXPECT_GE_MSG(test, bbr_of(x)->min_rtt, 50000U, "run %u", i);
		KUNIT_EXPECT_GE_MSG(test, bbr_run(x->line, 4000), 850U, "run %u", i);
	}
}

/* Sixteen flows begin one after the other, and share a line whose queue holds 20 bandwidth-delay
 * products: none of them takes the others' packets in the queue for a longer path.
 */
static void bbr_shares(struct kunit *test)
{
	struct line_flow *x = bbr_start(test, 8000, 40000, 6400);
	struct line_sim *l = x->line;
	u32 i, share;

	for (i = 1; i < BBR_FLOWS; i++)
		bbr_add(test, l, 40000, i * 500);
	bbr_run(l, 20000);
	share = bbr_run(l, 10000);
	kunit_info(test, "share %u, queue %u, at most %u", share, line_queue(l), l->most);
	KUNIT_EXPECT_GE(test, share, 970U);
	/* Windows of two products leave one in the queue, rates that sum up to more a second. */
	KUNIT_EXPECT_LE(test, line_queue(l), 2 * 320U);
	for (i = 0; i < BBR_FLOWS; i++)
		KUNIT_EXPECT_LT_MSG(test, bbr_of(l->flow[i])->min_rtt, 80000U, "flow %u", i);
}

/* A burst of losses in Startup that were only late: Startup goes on, without a bound. */
static void bbr_undoes(struct kunit *test)
{
	struct line_flow *x = bbr_start(test, 4000, 50000, 400);
	struct sstp_bbr *b = bbr_of(x);
	struct sstp_ctrl_sample s;

	bbr_run(x->line, 200);
	KUNIT_ASSERT_EQ(test, b->state, SSTP_BBR_STARTUP);
	line_sample(x, &s);
	s.lost = 8;
	s.lost_ranges = 4;
	s.tx_in_flight = 40;
	s.tx_lost = 8;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	s.shipped += 2;
	s.highest = s.shipped - 1;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_TRUE(test, b->full_reached);
	KUNIT_EXPECT_NE(test, b->inflight_longterm, SSTP_BBR_NONE);
	s.lost = 0;
	s.tx_lost = 0;
	s.undue = 23;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_TRUE(test, b->full_reached);
	s.undue = 1;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_EQ(test, b->state, SSTP_BBR_STARTUP);
	KUNIT_EXPECT_FALSE(test, b->full_reached);
	KUNIT_EXPECT_EQ(test, b->inflight_longterm, SSTP_BBR_NONE);
	KUNIT_EXPECT_EQ(test, b->inflight_shortterm, SSTP_BBR_NONE);
}

/* After a pause no ProbeRTT is needed, and the model is kept. */
static void bbr_idle(struct kunit *test)
{
	struct line_flow *x = bbr_start(test, 4000, 50000, 400);
	u32 bw;

	bbr_run(x->line, 4000);
	bw = sstp_bbr_max_bw(bbr_of(x));
	x->line->now += 20ULL * NSEC_PER_SEC;
	x->highest = x->shipped;
	x->arrived = x->shipped;
	x->told = x->shipped;
	x->delivered = x->count;
	x->taken = x->made;
	bbr_run(x->line, 1000);
	KUNIT_EXPECT_FALSE(test, x->seen & BIT(SSTP_BBR_PROBING_RTT));
	KUNIT_EXPECT_LE(test, abs_diff(sstp_bbr_max_bw(bbr_of(x)), bw), bw / 50);
	KUNIT_EXPECT_GE(test, bbr_run(x->line, 2000), 850U);
}

/* A time-out cuts the window, until a packet that left later is delivered. */
static void bbr_timeout(struct kunit *test)
{
	struct line_flow *x = bbr_start(test, 4000, 50000, 400);
	struct sstp_ctrl_sample s;
	u32 cwnd;

	bbr_run(x->line, 3000);
	cwnd = x->c.cwnd;
	line_sample(x, &s);
	sstp_ctrl_bbr.on_timeout(&x->c, &s);
	sstp_ctrl_bbr.on_timeout(&x->c, &s);
	KUNIT_EXPECT_EQ(test, x->c.cwnd, SSTP_BBR_MIN_CWND);
	s.delivered = 3;
	s.highest = s.shipped;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_EQ(test, x->c.cwnd, SSTP_BBR_MIN_CWND + 3);
	s.shipped++;
	s.highest = s.shipped;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_GE(test, x->c.cwnd, cwnd);
}

/* Whatever a peer reports, the outputs stay in range, and nothing is divided by zero. */
static void bbr_hostile(struct kunit *test)
{
	struct line_flow *x = bbr_start(test, 4000, 50000, 400);
	u32 i, n = sstp_test_rounds(200000);
	struct sstp_ctrl_packets p = {};
	struct rnd_state *r = &x->line->rnd;
	struct sstp_ctrl_sample s;

	for (i = 0; i < n; i++) {
		line_sample(x, &s);
		s.now += sstp_rnd_u64(r) >> sstp_rnd_range(r, 24, 63);
		x->line->now = s.now;
		x->shipped += prandom_u32_state(r) >> sstp_rnd_range(r, 8, 31);
		s.highest = x->shipped - (prandom_u32_state(r) >> sstp_rnd_range(r, 8, 31));
		s.rtt = min(prandom_u32_state(r) >> sstp_rnd_range(r, 0, 31),
			    (u32)(60 * USEC_PER_SEC));
		s.delivered = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.lost = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.undue = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.lost_ranges = sstp_rnd_below(r, 5);
		s.rate_delivered = prandom_u32_state(r) >> sstp_rnd_range(r, 0, 31);
		s.rate_interval = max(prandom_u32_state(r) >> sstp_rnd_range(r, 0, 31), 1U);
		s.tx_in_flight = prandom_u32_state(r) >> sstp_rnd_range(r, 1, 31);
		s.tx_lost = sstp_rnd_range(r, 0, s.tx_in_flight);
		s.in_flight = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.app_limited = sstp_rnd_one_in(r, 4);
		s.cwnd_limited = sstp_rnd_one_in(r, 2);
		sstp_ctrl_bbr.on_ack(&x->c, &s);
		if (sstp_rnd_one_in(r, 50))
			sstp_ctrl_bbr.on_timeout(&x->c, &s);
		p.packets = sstp_rnd_one_in(r, 4) ? s.in_flight : 1;
		sstp_ctrl_bbr.on_pkt_sent(&x->c, &s, &p);
		KUNIT_ASSERT_GE(test, x->c.cwnd, SSTP_BBR_MIN_CWND);
		KUNIT_ASSERT_LE(test, x->c.cwnd, (u32)SSTP_WINDOW_MAX);
		KUNIT_ASSERT_GE(test, x->c.period, 1ULL);
		KUNIT_ASSERT_LE(test, bbr_of(x)->state, SSTP_BBR_PROBING_RTT);
	}
}

static struct kunit_case bbr_cases[] = {
	KUNIT_CASE(bbr_arithmetic),
	KUNIT_CASE(bbr_states),
	KUNIT_CASE(bbr_lines),
	KUNIT_CASE(bbr_drop),
	KUNIT_CASE(bbr_rise),
	KUNIT_CASE(bbr_longer),
	KUNIT_CASE(bbr_shares),
	KUNIT_CASE(bbr_undoes),
	KUNIT_CASE(bbr_idle),
	KUNIT_CASE(bbr_timeout),
	KUNIT_CASE(bbr_hostile),
	{}
};

static struct kunit_suite bbr_suite = {
	.name = "sstp_bbr",
	.test_cases = bbr_cases,
};

kunit_test_suite(bbr_suite);
