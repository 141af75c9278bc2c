// SPDX-License-Identifier: GPL-2.0
/* meter: the service rate of epochs, also of those in which the program waited for data */
#include "sstp_test.h"
#include "../meter.c"

#define METER_EPOCH	(10 * NSEC_PER_MSEC)

/* Epochs in a row: kbit/s that the program could read, share of the time in which it did, in
 * percent; kbit/s that are to be measured
 */
static void meter_rates(struct kunit *test)
{
	static const struct {
		u32 rate, busy, found;
	} t[] = {
		{ 600000, 100, 600000 },
		/* It waited: its rate is at least 300000, and at most 600000. */
		{ 600000, 50, 600000 },
		{ 600000, 0, 600000 },
		/* It has become slower. */
		{ 300000, 100, 300000 },
		{ 300000, 80, 300000 },
		/* It waited, but what it read in the rest of the time shows that it is slower. */
		{ 200000, 50, 200000 },
		/* It waited, and may be faster, but how much is not known. */
		{ 600000, 20, 200000 },
		{ 600000, 50, 300000 },
		{ 600000, 100, 600000 },
		{ 0, 100, 0 },
		{ 0, 0, 0 },
		{ 8, 100, 8 },
	};
	struct sstp_meter_counts c = { .served = 77, .unread = 88, .refused = U32_MAX };
	struct sstp_meter_epoch e;
	struct sstp_meter m;
	u64 now = 123;
	u32 i;

	sstp_meter_start(&m, &c, now);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.served += t[i].rate * 10ULL / 8 * t[i].busy / 100;
		c.unread += METER_EPOCH / 100 * t[i].busy;
		c.refused += i;
		now += METER_EPOCH;
		sstp_meter_end(&m, &c, now, METER_EPOCH, &e);
		KUNIT_EXPECT_LE_MSG(test, abs((s64)e.rate - t[i].found), 8, "epoch %u: %u", i,
				    e.rate);
		KUNIT_EXPECT_LE_MSG(test, abs((s64)e.read - t[i].rate / 100 * t[i].busy), 8,
				    "epoch %u: %u", i, e.read);
		KUNIT_EXPECT_EQ(test, e.refused, i);
		KUNIT_EXPECT_EQ(test, e.busy, t[i].busy * SSTP_METER_ONE / 100);
		KUNIT_EXPECT_EQ(test, e.samples, 1U);
	}
}

/* The timer is late: rates are of the time that passed, which is several samples. */
static void meter_late(struct kunit *test)
{
	static const struct {
		u32 tenths, samples;
	} t[] = { { 0, 1 }, { 1, 1 }, { 14, 1 }, { 15, 2 }, { 24, 2 }, { 34, 3 }, { 1000, 4 } };
	struct sstp_meter_counts c = {};
	struct sstp_meter_epoch e;
	struct sstp_meter m;
	u64 now = 0;
	u32 i;

	sstp_meter_start(&m, &c, now);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		now += METER_EPOCH / 10 * t[i].tenths;
		c.served += 10000ULL * t[i].tenths;
		c.unread += METER_EPOCH / 10 * t[i].tenths;
		sstp_meter_end(&m, &c, now, METER_EPOCH, &e);
		KUNIT_EXPECT_EQ(test, e.samples, t[i].samples);
		if (t[i].tenths)
			KUNIT_EXPECT_EQ(test, e.rate, 80000U);
	}
}

static void meter_length(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sstp_meter_length(0), 10U * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, sstp_meter_length(40000), 10U * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, sstp_meter_length(100000), 25U * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, sstp_meter_length(U32_MAX), 100U * NSEC_PER_MSEC);
}

/* Any counts: the rate is one that a forecast takes, and not below what was read. */
static void meter_bounds(struct kunit *test)
{
	struct sstp_meter_counts c = {};
	struct sstp_meter_epoch e;
	struct sstp_meter m;
	struct rnd_state r;
	u64 now = 0;
	u32 i;

	sstp_test_seed_rnd(test, &r);
	sstp_meter_start(&m, &c, now);
	for (i = 0; i < 20000; i++) {
		c.served += sstp_rnd_u64(&r) >> sstp_rnd_range(&r, 1, 63);
		c.unread += sstp_rnd_u64(&r) >> sstp_rnd_range(&r, 1, 63);
		now += sstp_rnd_u64(&r) >> sstp_rnd_range(&r, 12, 63);
		sstp_meter_end(&m, &c, now, METER_EPOCH, &e);
		KUNIT_ASSERT_LE(test, e.rate, SSTP_AR_MAX);
		KUNIT_ASSERT_LE(test, e.read, e.rate);
		KUNIT_ASSERT_LE(test, e.busy, SSTP_METER_ONE);
	}
}

static struct kunit_case meter_cases[] = {
	KUNIT_CASE(meter_rates),
	KUNIT_CASE(meter_late),
	KUNIT_CASE(meter_length),
	KUNIT_CASE(meter_bounds),
	{}
};

static struct kunit_suite meter_suite = {
	.name = "sstp_meter",
	.test_cases = meter_cases,
};

kunit_test_suite(meter_suite);
