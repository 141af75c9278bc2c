// SPDX-License-Identifier: GPL-2.0
/* Losses that suddenly are more frequent, and those that are not */
#include "sstp_test.h"
#include "../waits_surge.c"

#define SURGE_NEVER	U32_MAX

static enum sstp_waits_is_surge surge_some(struct sstp_waits_surge *x, u32 count, u32 each)
{
	enum sstp_waits_is_surge told = SSTP_WAITS_SURGE_OPEN;
	u32 i;

	for (i = 1; i <= count; i++)
		told = sstp_waits_surge_report(x, each && i % each == 0,
					       SSTP_WAITS_SURGE_LOSSY);
	return told;
}

/* Reports of which one in @before told of losses, then one in @after: reports of losses until the
 * surge is seen
 */
static void surge_seen(struct kunit *test)
{
	static const struct {
		u32 reports, before;	/* 0 = no losses */
		u32 after;
		u32 lossy;
	} t[] = {
		{ 1000, 0, 1, 16 }, { 1000, 0, 20, 16 }, { 3, 0, 1, SURGE_NEVER },
		{ 4, 0, 1, 16 }, { 10000, 100, 10, 16 }, { 10000, 100, 26, 16 },
		{ 10000, 100, 27, SURGE_NEVER }, { 10000, 100, 100, SURGE_NEVER },
		{ 10000, 4, 1, SURGE_NEVER }, { 10000, 5, 1, 16 },
	};
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_waits_surge x = {};

		surge_some(&x, t[i].reports, t[i].before);
		for (n = 1; n <= 100; n++)
			if (surge_some(&x, t[i].after, t[i].after) == SSTP_WAITS_SURGE_YES)
				break;
		KUNIT_EXPECT_EQ_MSG(test, n > 100 ? SURGE_NEVER : n, t[i].lossy, "row %u", i);
	}
}

/* Losses by chance: how often in a thousand the first 200 of them are taken for a surge, by what it
 * takes
 */
static void surge_chance(struct kunit *test)
{
	static const u32 each[] = { 2, 10, 100, 1000 }, most[] = { 60, 160 };
	static const u32 enough[] = { SSTP_WAITS_SURGE_LOSSY, SSTP_WAITS_SURGE_AGAIN };
	struct rnd_state rnd;
	u32 i, k, n, run, seen, lost;

	sstp_test_seed_rnd(test, &rnd);
	for (i = 0; i < 2 * ARRAY_SIZE(each); i++) {
		k = each[i / 2];
		for (run = 0, seen = 0; run < 1000; run++) {
			struct sstp_waits_surge x = {};

			for (n = 0, lost = 0; lost < (i % 2 ? 4 : 200); n++) {
				bool lossy = sstp_rnd_one_in(&rnd, k);

				lost += lossy;
				if (sstp_waits_surge_report(&x, lossy, enough[i % 2]) ==
				    SSTP_WAITS_SURGE_YES) {
					seen++;
					break;
				}
			}
		}
		kunit_info(test, "one report in %u, %u: %u surges", k, enough[i % 2], seen);
		KUNIT_EXPECT_LE_MSG(test, seen, most[i % 2], "row %u", i);
	}
}

/* Counters neither wrap nor lose the share that they have told. */
static void surge_long(struct kunit *test)
{
	struct sstp_waits_surge x = {};

	surge_some(&x, 1000000, 50);
	KUNIT_EXPECT_GE(test, x.all, U16_MAX / 4);
	KUNIT_EXPECT_LE(test, abs_diff(x.all / max(x.lossy, 1), 50), 1);
	/* It seems to begin, but no other report of losses follows. */
	x = (struct sstp_waits_surge){};
	surge_some(&x, 1000, 0);
	surge_some(&x, 1, 1);
	KUNIT_EXPECT_EQ(test, x.late, 1);
	surge_some(&x, U16_MAX / 2 - 1, 0);
	KUNIT_EXPECT_EQ(test, x.late, U16_MAX / 2);
	surge_some(&x, 1, 0);
	KUNIT_EXPECT_EQ(test, x.late, 0);
	KUNIT_EXPECT_EQ(test, x.all, 1000 + U16_MAX / 2 + 1);
	KUNIT_EXPECT_EQ(test, x.lossy, 1);
}

static struct kunit_case waits_surge_cases[] = {
	KUNIT_CASE(surge_seen),
	KUNIT_CASE(surge_chance),
	KUNIT_CASE(surge_long),
	{}
};

static struct kunit_suite waits_surge_suite = {
	.name = "sstp_waits_surge",
	.test_cases = waits_surge_cases,
};

kunit_test_suite(waits_surge_suite);
