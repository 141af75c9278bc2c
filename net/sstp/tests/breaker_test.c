// SPDX-License-Identifier: GPL-2.0
/* Circuit breaker: paths that do not carry a contract trip it, accidents do not. */
#include "sstp_test.h"
#include "../breaker.c"

#define BREAK_STEP	(10 * NSEC_PER_MSEC)	/* from report to report */

/**
 * struct break_sim - a path that loses packets, and reports of it
 * @pps: packets in a second
 * @loss: share of packets lost while the path is good, in 1/10000
 * @bad_loss: the same while it is bad
 * @to_bad: chance of a packet that the path becomes bad, in 1/10000
 * @to_good: the opposite
 * @late: packets that are on their way when the newest has arrived, at most
 * @rtt: us, of every report
 */
struct break_sim {
	struct kunit *test;
	struct rnd_state rnd;
	struct sstp_breaker b;
	u64	now;
	u32	pps;
	u32	loss;
	u32	bad_loss;
	u32	to_bad;
	u32	to_good;
	u32	late;
	u32	rtt;
	u32	srtt;
	u32	highest;
	u32	received;
	u32	trips;
	u32	retries;
	bool	bad;
};

static bool break_chance(struct break_sim *s, u32 share)
{
	return share && sstp_rnd_below(&s->rnd, 10000) < share;
}

static void break_packet(struct break_sim *s)
{
	if (break_chance(s, s->bad ? s->to_good : s->to_bad))
		s->bad = !s->bad;
	s->highest++;
	s->received += !break_chance(s, s->bad ? s->bad_loss : s->loss);
}

/* Send a report; late packets are in a later one. */
static enum sstp_breaker_verdict break_report(struct break_sim *s)
{
	u32 late = s->late ? sstp_rnd_below(&s->rnd, s->late + 1) : 0;
	enum sstp_breaker_verdict v;

	v = sstp_breaker_report(&s->b, s->now, s->highest, s->received - late, s->rtt,
				s->srtt);
	s->trips += v == SSTP_BREAKER_TRIP;
	s->retries += v == SSTP_BREAKER_RETRY;
	return v;
}

/* Run until the breaker trips, or for @span ns. Returns the time that passed, ns. */
static u64 break_run(struct break_sim *s, u64 span)
{
	u64 begin = s->now, due = 0;

	while (s->now - begin < span) {
		s->now += BREAK_STEP;
		for (due += s->pps; due >= 100; due -= 100)
			break_packet(s);
		if (break_report(s) == SSTP_BREAKER_TRIP)
			break;
	}
	return s->now - begin;
}

/* Run the path without a queue, then add one of @queue us. */
static void break_begin(struct break_sim *s, u32 queue)
{
	memset(&s->b, 0, sizeof(s->b));
	s->b.guards = true;
	s->trips = 0;
	s->retries = 0;
	s->bad = false;
	s->highest = prandom_u32_state(&s->rnd);
	s->received = prandom_u32_state(&s->rnd);
	s->now += NSEC_PER_SEC;
	s->rtt = 40000;
	break_report(s);
	s->rtt += queue;
	s->srtt = s->rtt;
}

static void break_overload(struct kunit *test)
{
	static const struct {
		u32 pps;
		u32 loss;	/* in 1/10000 */
		u32 queue;	/* us */
		u32 least;	/* ms until it trips */
		u32 most;
	} t[] = {
		{ 16000, 5000, 40000, 1000, 2000 },
		{ 16000, 5000, 0, 1000, 2000 },
		{ 16000, 9990, 40000, 1000, 2000 },
		{ 16000, 2500, 40000, 2000, 5000 },
		{ 16000, 2000, 0, 4000, 8000 },
		{ 160, 5000, 40000, 1000, 5000 },
		{ 8000, 910, 40000, 10000, 60000 },	/* 110 of 100 Mbit/s */
		{ 16000, 5000, 1000000, 10000, 20000 },	/* a long round trip */
	};
	struct break_sim *s = test->priv;
	u32 i, ms;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s->pps = t[i].pps;
		s->loss = t[i].loss;
		break_begin(s, t[i].queue);
		ms = div_u64(break_run(s, 100ULL * NSEC_PER_SEC), NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ_MSG(test, s->trips, 1U, "row %u", i);
		KUNIT_EXPECT_GE_MSG(test, ms, t[i].least, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, ms, t[i].most, "row %u", i);
	}
}

static void break_accidents(struct kunit *test)
{
	static const struct break_sim t[] = {
		{ .pps = 8000, .loss = 1 },
		{ .pps = 8000, .loss = 100 },
		{ .pps = 8000, .loss = 500 },
		{ .pps = 400, .loss = 500 },
		{ .pps = 20, .loss = 500 },
		/* With a queue all the time */
		{ .pps = 8000, .loss = 500, .rtt = 40000 },
		{ .pps = 400, .loss = 500, .rtt = 40000 },
		/* Bursts of 10 packets, 5% in all; of 100; half of 500; a quarter for 0.25 s */
		{ .pps = 8000, .to_bad = 53, .to_good = 1000, .bad_loss = 10000 },
		{ .pps = 8000, .to_bad = 5, .to_good = 100, .bad_loss = 10000 },
		{ .pps = 8000, .to_bad = 2, .to_good = 20, .bad_loss = 5000 },
		{ .pps = 800, .to_bad = 1, .to_good = 50, .bad_loss = 2500, .loss = 100 },
		/* Late by up to 50 ms, and random loss */
		{ .pps = 8000, .late = 400, .loss = 200 },
		{ .pps = 400, .late = 20, .loss = 200 },
	};
	struct break_sim *s = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s->pps = t[i].pps;
		s->loss = t[i].loss;
		s->bad_loss = t[i].bad_loss;
		s->to_bad = t[i].to_bad;
		s->to_good = t[i].to_good;
		s->late = t[i].late;
		break_begin(s, t[i].rtt);
		break_run(s, (t[i].pps < 1000 ? 1000ULL : 200ULL) * NSEC_PER_SEC);
		KUNIT_EXPECT_EQ_MSG(test, s->trips, 0U, "row %u", i);
	}
}

/* Repeated outages: neither packets nor reports come for a while. */
static void break_outages(struct kunit *test)
{
	static const u64 ms[] = { 50, 500, 2000, 20000 };
	struct break_sim *s = test->priv;
	u32 i, n;

	s->pps = 8000;
	s->loss = 100;
	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		break_begin(s, 0);
		for (n = 0; n < 20; n++) {
			break_run(s, max(ms[i], 1000ULL) * NSEC_PER_MSEC);
			s->highest += 8 * ms[i];
			s->now += ms[i] * NSEC_PER_MSEC;
		}
		KUNIT_EXPECT_EQ_MSG(test, s->trips, 0U, "%llu ms", ms[i]);
	}
}

/* The suspension doubles each time that the contract fails again, but not after it has held. */
static void break_retries(struct kunit *test)
{
	struct break_sim *s = test->priv;
	u64 wait = SSTP_BREAKER_WAIT;
	u32 i;

	s->pps = 1600;
	s->loss = 5000;
	break_begin(s, 0);
	break_run(s, 10ULL * NSEC_PER_SEC);
	for (i = 1; i <= 10; i++) {
		KUNIT_ASSERT_EQ(test, s->trips, i);
		KUNIT_EXPECT_EQ(test, s->b.trips, i);
		KUNIT_EXPECT_EQ(test, s->b.wait, wait);
		KUNIT_EXPECT_EQ(test, s->b.retry, s->now + wait);
		/* About half of the packets shipped in a round trip */
		KUNIT_EXPECT_GE(test, s->b.carried, 20U);
		KUNIT_EXPECT_LE(test, s->b.carried, 45U);
		s->now = s->b.retry - 1;
		KUNIT_EXPECT_EQ(test, (int)break_report(s), (int)SSTP_BREAKER_GO_ON);
		s->now++;
		KUNIT_EXPECT_EQ(test, (int)break_report(s), (int)SSTP_BREAKER_RETRY);
		KUNIT_EXPECT_EQ(test, s->b.retry, 0ULL);
		wait = min(wait * 2, SSTP_BREAKER_WAIT_MAX);
		break_run(s, 10ULL * NSEC_PER_SEC);
	}
	s->now = s->b.retry;
	break_report(s);
	s->loss = 0;
	s->pps = 100;
	break_run(s, SSTP_BREAKER_WAIT_MAX);
	s->loss = 5000;
	s->pps = 1600;
	break_run(s, 10ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->b.wait, SSTP_BREAKER_WAIT);

	/* Without @guards there is no verdict. */
	break_begin(s, 0);
	s->b.guards = false;
	break_run(s, 10ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->trips, 0U);
}

/* Reports with any numbers keep the state in range. */
static void break_nonsense(struct kunit *test)
{
	struct break_sim *s = test->priv;
	u32 i;

	break_begin(s, 0);
	for (i = 0; i < 200000; i++) {
		s->now += sstp_rnd_below(&s->rnd, 300 * NSEC_PER_MSEC);
		s->highest += sstp_rnd_one_in(&s->rnd, 9) ? sstp_rnd_edge(&s->rnd) >> 8 : 1000;
		s->received = sstp_rnd_edge(&s->rnd);
		s->rtt = sstp_rnd_edge(&s->rnd);
		s->srtt = sstp_rnd_below(&s->rnd, 1000000);
		break_report(s);
		KUNIT_ASSERT_GE(test, s->b.excess, 0);
		KUNIT_ASSERT_LT(test, s->b.excess, SSTP_BREAKER_LIMIT + SSTP_BREAKER_MOST);
		KUNIT_ASSERT_LE(test, s->b.wait, SSTP_BREAKER_WAIT_MAX);
	}
}

static int break_init(struct kunit *test)
{
	struct break_sim *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	s->test = test;
	s->now = NSEC_PER_SEC;
	sstp_test_seed_rnd(test, &s->rnd);
	test->priv = s;
	return 0;
}

static struct kunit_case break_cases[] = {
	KUNIT_CASE(break_overload),
	KUNIT_CASE_SLOW(break_accidents),
	KUNIT_CASE(break_outages),
	KUNIT_CASE(break_retries),
	KUNIT_CASE(break_nonsense),
	{ }
};

static struct kunit_suite break_suite = {
	.name = "sstp_breaker",
	.init = break_init,
	.test_cases = break_cases,
};

kunit_test_suite(break_suite);
