// SPDX-License-Identifier: GPL-2.0
/* Queueing delay from one-way delays */
#include "sstp_test.h"
#include "../owd.h"

#define SEC	((u64)NSEC_PER_SEC)

/* Delays with any constant, also one that wraps around */
static void owd_rise(struct kunit *test)
{
	static const u32 constant[] = { 0, 1, 5000, BIT(31), U32_MAX - 5, U32_MAX };
	u32 i, c;

	for (i = 0; i < ARRAY_SIZE(constant); i++) {
		struct sstp_owd o = {};

		c = constant[i];
		sstp_owd_add(&o, SEC, c + 100);
		KUNIT_EXPECT_EQ(test, sstp_owd_queue(&o, c + 100), 0U);
		KUNIT_EXPECT_EQ(test, sstp_owd_queue(&o, c + 350), 250U);
		sstp_owd_add(&o, SEC, c + 350);
		KUNIT_EXPECT_EQ(test, sstp_owd_queue(&o, c + 350), 250U);
		sstp_owd_add(&o, SEC, c + 40);
		KUNIT_EXPECT_EQ(test, sstp_owd_queue(&o, c + 350), 310U);
		KUNIT_EXPECT_EQ(test, sstp_owd_queue(&o, c + 30), 0U);
		KUNIT_EXPECT_EQ(test, sstp_owd_queue(&o, c + 40 + 2 * SSTP_OWD_MAX),
				SSTP_OWD_MAX);
	}
}

/* A clock that is slower by 100 us/s seems to lengthen the queue by 1 ms at most. */
static void owd_skew(struct kunit *test)
{
	struct sstp_owd o = {};
	u32 i, queue;

	for (i = 0; i < 1000; i++) {
		u64 now = SEC + i * (SEC / 10);

		sstp_owd_add(&o, now, i * 10);
		queue = sstp_owd_queue(&o, i * 10);
		KUNIT_EXPECT_LE(test, queue, 1000U);
		if (i >= 100)
			KUNIT_EXPECT_GE(test, queue, 490U);
	}
	/* After a pause nothing of the past counts. */
	sstp_owd_add(&o, 200 * SEC, 77777);
	KUNIT_EXPECT_EQ(test, sstp_owd_queue(&o, 77777), 0U);
}

/* The lowest delay is one of the last 5 to 10 s, for any stamps. */
static void owd_random(struct kunit *test)
{
	struct rnd_state rnd;
	struct sstp_owd o = {};
	u64 now = 1;
	u32 i;

	sstp_test_seed_rnd(test, &rnd);
	for (i = 0; i < sstp_test_rounds(100000); i++) {
		u32 delay = sstp_rnd_edge(&rnd);

		now += sstp_rnd_below(&rnd, U32_MAX);
		sstp_owd_add(&o, now, delay);
		KUNIT_EXPECT_LE(test, sstp_owd_queue(&o, delay), SSTP_OWD_MAX);
		KUNIT_EXPECT_LE(test, sstp_owd_queue(&o, sstp_rnd_edge(&rnd)), SSTP_OWD_MAX);
	}
}

static struct kunit_case owd_cases[] = {
	KUNIT_CASE(owd_rise),
	KUNIT_CASE(owd_skew),
	KUNIT_CASE(owd_random),
	{ }
};

static struct kunit_suite owd_suite = {
	.name = "sstp_owd",
	.test_cases = owd_cases,
};

kunit_test_suite(owd_suite);
