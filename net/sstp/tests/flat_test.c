// SPDX-License-Identifier: GPL-2.0
/* Conditions flat-rate and const-rate-drop */
#include "sstp_test.h"
#include "../flat.c"

/* Rates, the oldest first, 0 = no more; and what holds after the last with 5% and a drop of 10% */
static const struct flat_row {
	u64 rate[8];
	bool two, five, drop;
	u64 mean;	/* of the last two */
} flat_rows[] = {
	{ { }, false, false, false, 0 },
	{ { 1000 }, false, false, false, 0 },
	{ { 1000, 1000 }, true, false, false, 1000 },
	{ { 950, 1000 }, true, false, false, 975 },
	{ { 949, 1000 }, false, false, false, 974 },
	{ { 1000, 950 }, true, false, false, 975 },
	{ { 100, 1000, 1000, 1000, 1000, 1000 }, true, true, false, 1000 },
	{ { 1000, 990, 980, 970, 960, 950 }, true, true, false, 955 },
	{ { 900, 1000, 1000, 1000, 1000 }, true, false, false, 1000 },
	/* It grows by 4% each time: two of them are flat, five are not. */
	{ { 1000, 1040, 1082, 1125, 1170 }, true, false, false, 1147 },
	/* Drops: by 10% is none, by more is one, if the two before were constant. */
	{ { 1000, 1000, 900 }, false, false, false, 950 },
	{ { 1000, 1000, 899 }, false, false, true, 949 },
	{ { 900, 1000, 500 }, false, false, false, 750 },
	{ { 1000, 1000, 500, 500 }, true, false, false, 500 },
	{ { SSTP_FLAT_RATE_MAX, U64_MAX, 1 }, false, false, true, SSTP_FLAT_RATE_MAX / 2 },
};

static void flat_conditions(struct kunit *test)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(flat_rows); i++) {
		const struct flat_row *r = flat_rows + i;
		struct sstp_flat f = {};

		for (k = 0; k < ARRAY_SIZE(r->rate) && r->rate[k]; k++)
			sstp_flat_add(&f, r->rate[k]);
		KUNIT_EXPECT_EQ_MSG(test, sstp_flat_rate(&f, 2, 50), r->two, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_flat_rate(&f, 5, 50), r->five, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_flat_drop(&f, 50, 100), r->drop, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_flat_mean(&f, 0, 2), r->mean, "row %u", i);
		sstp_flat_reset(&f);
		KUNIT_EXPECT_FALSE(test, sstp_flat_rate(&f, 1, 1000));
	}
}

/* A connection that is idle has no flat rate, and more rates than are remembered are none. */
static void flat_none(struct kunit *test)
{
	struct sstp_flat f = {};
	u32 i;

	for (i = 0; i < 10; i++)
		sstp_flat_add(&f, 0);
	KUNIT_EXPECT_FALSE(test, sstp_flat_rate(&f, 5, 1000));
	KUNIT_EXPECT_FALSE(test, sstp_flat_drop(&f, 1000, 0));
	for (i = 0; i < 10; i++)
		sstp_flat_add(&f, 7);
	KUNIT_EXPECT_TRUE(test, sstp_flat_rate(&f, 8, 0));
	KUNIT_EXPECT_FALSE(test, sstp_flat_rate(&f, 9, 0));
	KUNIT_EXPECT_FALSE(test, sstp_flat_rate(&f, 0, 0));
	KUNIT_EXPECT_EQ(test, sstp_flat_mean(&f, 1, 8), 0ULL);
	KUNIT_EXPECT_EQ(test, sstp_flat_mean(&f, 1, 7), 7ULL);
}

/* The highest and the lowest of the last rates, or of those that there are */
static void flat_range(struct kunit *test)
{
	struct sstp_flat f = {};
	u32 i;

	KUNIT_EXPECT_EQ(test, sstp_flat_most(&f, 3), 0ULL);
	KUNIT_EXPECT_EQ(test, sstp_flat_least(&f, 3), U64_MAX);
	sstp_flat_add(&f, 9);
	KUNIT_EXPECT_EQ(test, sstp_flat_most(&f, 3), 9ULL);
	KUNIT_EXPECT_EQ(test, sstp_flat_least(&f, 3), 9ULL);
	for (i = 2; i < 6; i++)
		sstp_flat_add(&f, i);
	KUNIT_EXPECT_EQ(test, sstp_flat_most(&f, 4), 5ULL);
	KUNIT_EXPECT_EQ(test, sstp_flat_most(&f, 5), 9ULL);
	KUNIT_EXPECT_EQ(test, sstp_flat_least(&f, 3), 3ULL);
	KUNIT_EXPECT_EQ(test, sstp_flat_least(&f, U32_MAX), 2ULL);
}

static struct kunit_case flat_cases[] = {
	KUNIT_CASE(flat_conditions),
	KUNIT_CASE(flat_none),
	KUNIT_CASE(flat_range),
	{ }
};

static struct kunit_suite flat_suite = {
	.name = "sstp_flat",
	.test_cases = flat_cases,
};

kunit_test_suite(flat_suite);
