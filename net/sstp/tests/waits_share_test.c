// SPDX-License-Identifier: GPL-2.0
/* The share of lost packets: its mean, and when losses are many */
#include "sstp_test.h"
#include "../waits_share.c"

#define SHARE_NEVER	0U

static bool share_round(struct sstp_waits_share *x, u32 delivered, u32 lost, bool first)
{
	struct sstp_waits w = { .delivered = delivered, .lost = lost };

	return sstp_waits_share_round(x, &w, first);
}

/* The mean moves by a quarter of the difference in each round trip, and stays within 16 bits. */
static void share_mean(struct kunit *test)
{
	static const struct {
		u32 delivered, lost, rounds, mean;
	} t[] = {
		{ 0, 0, 1, 0 }, { 9, 1, 1, 1638 }, { 9, 1, 2, 2867 }, { 9, 1, 60, 6553 },
		{ 0, 1, 1, 16384 }, { 0, 1, 100, U16_MAX }, { 0, 1 << 24, 100, U16_MAX },
		{ 1 << 24, 1 << 24, 100, 32768 },
	};
	struct sstp_waits_share x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		x = (struct sstp_waits_share){};
		for (n = 0; n < t[i].rounds; n++)
			share_round(&x, t[i].delivered, t[i].lost, false);
		KUNIT_EXPECT_LE_MSG(test, abs_diff((u32)x.mean, t[i].mean), 4U, "row %u: %u", i,
				    x.mean);
		for (n = 0; n < 60; n++)
			share_round(&x, 1, 0, false);
		KUNIT_EXPECT_LE_MSG(test, x.mean, 3, "row %u", i);
	}
}

/* Round trips until losses are many: more than a tenth in one, or a 16th in the mean, but at least
 * three packets, or a quarter in the mean
 */
static void share_many(struct kunit *test)
{
	static const struct {
		u32 delivered, lost, rounds;
		bool halves;
	} t[] = {
		{ 89, 11, 1, false }, { 90, 10, 4, false }, { 930, 70, 8, false },
		{ 940, 60, SHARE_NEVER, false }, { 3, 3, 1, false }, { 2, 2, 3, true },
		{ 6, 2, SHARE_NEVER, false }, { 2, 1, 5, true }, { 0, 1, 2, true },
		{ 0, 0, SHARE_NEVER, false },
	};
	struct sstp_waits_share x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		x = (struct sstp_waits_share){};
		for (n = 1; n <= 60; n++)
			if (share_round(&x, t[i].delivered, t[i].lost, false))
				break;
		KUNIT_EXPECT_EQ_MSG(test, n > 60 ? SHARE_NEVER : n, t[i].rounds, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_share_halves(&x), t[i].halves, "row %u", i);
	}
}

/* After round trips in which most was lost, losses are many only if they are more than a 32nd of
 * the round trip: a path that loses a few of many packets does not cut the window again and again.
 */
static void share_past(struct kunit *test)
{
	static const struct {
		u32 delivered, lost;
		bool many;
	} t[] = {
		{ 80000, 8, false }, { 1000, 0, false }, { 969, 31, false }, { 968, 32, true },
		{ 3, 1, true }, { 0, 0, false },
	};
	struct sstp_waits_share x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		x.mean = SSTP_WAITS_SHARE_HALVES * 2;
		KUNIT_EXPECT_EQ_MSG(test, share_round(&x, t[i].delivered, t[i].lost, false),
				    t[i].many, "row %u", i);
	}
}

/* In the first slow start few packets count as 64, if hardly any was lost before. */
static void share_first(struct kunit *test)
{
	static const struct {
		u32 delivered, lost, mean;
		bool first, other;
	} t[] = {
		{ 8, 6, 0, false, true }, { 8, 6, SSTP_WAITS_SHARE_HARDLY - 1, false, true },
		{ 8, 6, SSTP_WAITS_SHARE_HARDLY, true, true }, { 3, 7, 0, true, true },
		{ 57, 6, 0, false, false }, { 40, 6, 0, false, true }, { 56, 7, 0, true, true },
		{ 54, 10, 0, true, true },
	};
	struct sstp_waits_share x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		x.mean = t[i].mean;
		KUNIT_EXPECT_EQ_MSG(test, share_round(&x, t[i].delivered, t[i].lost, true),
				    t[i].first, "row %u", i);
		x.mean = t[i].mean;
		KUNIT_EXPECT_EQ_MSG(test, share_round(&x, t[i].delivered, t[i].lost, false),
				    t[i].other, "row %u", i);
	}
}

static struct kunit_case waits_share_cases[] = {
	KUNIT_CASE(share_mean),
	KUNIT_CASE(share_many),
	KUNIT_CASE(share_past),
	KUNIT_CASE(share_first),
	{}
};

static struct kunit_suite waits_share_suite = {
	.name = "sstp_waits_share",
	.test_cases = waits_share_cases,
};

kunit_test_suite(waits_share_suite);
