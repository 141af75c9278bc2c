// SPDX-License-Identifier: GPL-2.0
/*
 * Round-trip time, compared with the equations of RFC 6298, section 2, in fractions of
 * 2^-20 us, and with a list of recent samples.
 */
#include <linux/math64.h>
#include "sstp_test.h"
#include "../rtt.c"

#define RTT_SAMPLES	20000
#define RTT_FRACTION	20	/* bits */

/* RTTVAR and SRTT, us << RTT_FRACTION */
struct rtt_model {
	bool	any;
	s64	srtt;
	s64	var;
};

static void rtt_expect(struct rtt_model *m, u32 us)
{
	s64 r = (s64)max(us, 1U) << RTT_FRACTION;

	if (us > 60 * USEC_PER_SEC)
		return;
	if (!m->any) {
		m->any = true;
		m->srtt = r;
		m->var = r / 2;
		return;
	}
	m->var += (abs(m->srtt - r) - m->var) / 4;
	m->srtt += (r - m->srtt) / 8;
}

/* Compare, with a margin for the rounding of us / 8 and us / 4. */
static void rtt_check(struct kunit *test, const struct sstp_rtt *r,
		      const struct rtt_model *m)
{
	s64 srtt = m->srtt >> RTT_FRACTION;
	s64 rto = (m->srtt + 4 * m->var) >> RTT_FRACTION, got;

	got = sstp_rtt_smoothed(r, 4711);
	KUNIT_ASSERT_LE(test, abs(got - srtt), 1LL);
	got = sstp_rtt_timeout(r, 0, U32_MAX);
	KUNIT_ASSERT_LE_MSG(test, abs(got - rto), 5LL, "%lld, not %lld", got,
			    rto);
}

/* Samples of one kind for a while, then of another. */
static u32 rtt_rnd_sample(struct rnd_state *r, u32 i)
{
	static u32 base, jitter;

	if (i % 100 == 0) {
		base = 1U << sstp_rnd_below(r, 26);
		jitter = base >> sstp_rnd_below(r, 20);
	}
	if (sstp_rnd_one_in(r, 50))
		return sstp_rnd_edge(r);
	return base + sstp_rnd_below(r, jitter + 1);
}

static void rtt_random(struct kunit *test)
{
	struct rtt_model m = {};
	struct sstp_rtt r;
	struct rnd_state rnd;
	u32 low = U32_MAX, i, us;

	sstp_test_seed_rnd(test, &rnd);
	sstp_rtt_init(&r);
	for (i = 0; i < 10 * RTT_SAMPLES; i++) {
		if (i % 1000 == 0) {
			sstp_rtt_init(&r);
			m.any = false;
			low = U32_MAX;
		}
		us = rtt_rnd_sample(&rnd, i);
		rtt_expect(&m, us);
		sstp_rtt_sample(&r, us, i);
		if (m.any)
			rtt_check(test, &r, &m);
		if (us <= 60 * USEC_PER_SEC) {
			low = min(low, max(us, 1U));
			KUNIT_ASSERT_EQ(test, r.latest, max(us, 1U));
		}
		KUNIT_ASSERT_EQ(test, r.low, low);
		if (i % 10 == 0) {
			low = U32_MAX;
			r.low = low;
		}
	}
}

/* Equal samples bring the estimate to rest. */
static void rtt_steady(struct kunit *test)
{
	static const u32 us[] = {
		0, 1, 2, 3, 7, 8, 100, 999, 65535, 1000000, 59999999, 60000000,
	};
	struct sstp_rtt r;
	u32 i, k, n;

	for (i = 0; i < ARRAY_SIZE(us); i++)
		for (k = 0; k < ARRAY_SIZE(us); k++) {
			sstp_rtt_init(&r);
			sstp_rtt_sample(&r, us[k], 0);
			KUNIT_EXPECT_EQ(test, sstp_rtt_smoothed(&r, 0),
					max(us[k], 1U));
			KUNIT_EXPECT_EQ(test, sstp_rtt_timeout(&r, 0, U32_MAX),
					max(us[k], 1U) * 3);
			for (n = 0; n < 300; n++)
				sstp_rtt_sample(&r, us[i], 0);
			KUNIT_EXPECT_LE(test, sstp_rtt_smoothed(&r, 0) -
					max(us[i], 1U), 1U);
			KUNIT_EXPECT_LE(test, sstp_rtt_timeout(&r, 0, U32_MAX) -
					max(us[i], 1U), 4U);
		}
}

static void rtt_bounds(struct kunit *test)
{
	static const struct {
		u32 us;		/* sample; U32_MAX: none */
		u32 margin;
		u32 most;
		u32 timeout;
	} t[] = {
		{ U32_MAX, 0, U32_MAX, 1000000 },
		{ U32_MAX, 1000, 3000000, 1000000 },
		{ U32_MAX, 1000, 200000, 200000 },
		{ 100, 1000, 3000000, 1100 },
		{ 500, 1000, 3000000, 1500 },
		{ 501, 1000, 3000000, 1503 },
		{ 100, 1000, 500, 500 },
		{ 1000000, 1000, 3000000, 3000000 },
		{ 999999, 1000, 3000000, 2999997 },
		{ 60000000, 1000, 3000000, 3000000 },
		{ 60000000, 0, U32_MAX, 180000000 },
		{ 60000001, 0, U32_MAX, 1000000 },	/* ignored */
		{ U32_MAX - 1, 0, U32_MAX, 1000000 },
		{ 0x80000000, 0, U32_MAX, 1000000 },
	};
	struct sstp_rtt r;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		sstp_rtt_init(&r);
		KUNIT_EXPECT_EQ(test, r.min, U32_MAX);
		KUNIT_EXPECT_EQ(test, sstp_rtt_smoothed(&r, 17), 17U);
		if (t[i].us != U32_MAX)
			sstp_rtt_sample(&r, t[i].us, 5);
		KUNIT_EXPECT_EQ_MSG(test, sstp_rtt_timeout(&r, t[i].margin,
							   t[i].most),
				    t[i].timeout, "row %u", i);
	}
}

/* The minimum is a sample of the last 10 s, and no sample of the last 5 s is lower: at any time,
 * also after a pause, and where the clock wraps.
 */
static void rtt_min(struct kunit *test)
{
	struct { u64 at; u32 us; } *was;
	u64 now = U32_MAX - 30 * USEC_PER_SEC;
	struct rnd_state rnd;
	struct sstp_rtt r;
	u32 i, k, lowest;
	bool found;

	was = kunit_kcalloc(test, RTT_SAMPLES, sizeof(*was), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, was);
	sstp_test_seed_rnd(test, &rnd);
	sstp_rtt_init(&r);
	for (i = 0; i < RTT_SAMPLES; i++) {
		now += sstp_rnd_below(&rnd, 200000);
		if (sstp_rnd_one_in(&rnd, 300))
			now += sstp_rnd_below(&rnd, 60 * USEC_PER_SEC);
		was[i].at = now;
		was[i].us = sstp_rnd_range(&rnd, 1, 1 << (i / 100 % 20));
		sstp_rtt_sample(&r, was[i].us, now);
		lowest = U32_MAX;
		found = false;
		for (k = i; k <= i && now - was[k].at < 10 * USEC_PER_SEC; k--) {
			found |= was[k].us == r.min;
			if (now - was[k].at < 5 * USEC_PER_SEC)
				lowest = min(lowest, was[k].us);
		}
		KUNIT_ASSERT_TRUE_MSG(test, found, "%u us, sample %u", r.min, i);
		KUNIT_ASSERT_LE(test, r.min, lowest);
	}
}

/* A first sample with a time-out in it lasts until there is another. */
static void rtt_guess(struct kunit *test)
{
	static const u32 us[] = { 0, 1, 100, 1800000, 60000000, 60000001 };
	struct sstp_rtt r, fresh;
	u32 i, k, n;

	for (i = 0; i < ARRAY_SIZE(us); i++)
		for (k = 0; k < ARRAY_SIZE(us); k++) {
			sstp_rtt_init(&r);
			sstp_rtt_init(&fresh);
			KUNIT_EXPECT_EQ(test, sstp_rtt_measured(&r, 17), 17U);
			sstp_rtt_guess(&r, us[i], 5);
			sstp_rtt_sample(&fresh, us[i], 5);
			KUNIT_EXPECT_EQ(test, sstp_rtt_smoothed(&r, 18),
					sstp_rtt_smoothed(&fresh, 18));
			KUNIT_EXPECT_EQ(test, sstp_rtt_timeout(&r, 0, U32_MAX),
					sstp_rtt_timeout(&fresh, 0, U32_MAX));
			KUNIT_EXPECT_EQ(test, sstp_rtt_measured(&r, 17), 17U);
			KUNIT_EXPECT_TRUE(test, r.guess);
			/* It changes nothing of what follows, not even the lowest. */
			sstp_rtt_init(&fresh);
			for (n = 0; n < 3; n++) {
				sstp_rtt_sample(&r, us[k] + n, 7 + n);
				sstp_rtt_sample(&fresh, us[k] + n, 7 + n);
				if (us[k] + n > SSTP_RTT_MAX) {
					KUNIT_EXPECT_EQ(test, r.guess, !fresh.srtt);
					continue;
				}
				KUNIT_EXPECT_MEMEQ(test, &r, &fresh, sizeof(r));
				KUNIT_EXPECT_EQ(test, sstp_rtt_measured(&r, 17),
						sstp_rtt_smoothed(&r, 17));
			}
		}
}

static struct kunit_case rtt_cases[] = {
	KUNIT_CASE(rtt_bounds),
	KUNIT_CASE(rtt_guess),
	KUNIT_CASE(rtt_steady),
	KUNIT_CASE(rtt_random),
	KUNIT_CASE(rtt_min),
	{ }
};

static struct kunit_suite rtt_suite = {
	.name = "sstp_rtt",
	.test_cases = rtt_cases,
};

kunit_test_suite(rtt_suite);
