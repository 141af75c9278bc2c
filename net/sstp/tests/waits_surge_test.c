// SPDX-License-Identifier: GPL-2.0
/* Losses that suddenly are more frequent, those that are not, and the queue that they show */
#include "sstp_test.h"
#include <net/sstp_window.h>
#include "../waits_surge.c"

#define SURGE_NEVER	U32_MAX

/* Has the last report shown a surge? */
static bool surge_is(const struct sstp_waits_surge *x)
{
	return x->overflows == SSTP_WAITS_SURGE_OVERFLOWS;
}

/* @count reports of a packet, of which one in @each tells of a loss; 0 = none does */
static void surge_some(struct sstp_waits_surge *x, u32 count, u32 each)
{
	u32 i;

	for (i = 1; i <= count; i++)
		sstp_waits_surge_report(x, 1, each && i % each == 0);
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
		{ 1000, 0, 1, 16 }, { 1000, 0, 20, 16 }, { 6, 0, 1, SURGE_NEVER },
		{ 7, 0, 1, 17 }, { 8, 0, 1, 16 }, { 10000, 100, 10, 16 }, { 10000, 100, 26, 16 },
		{ 10000, 100, 27, SURGE_NEVER }, { 10000, 100, 100, SURGE_NEVER },
		{ 10000, 4, 1, SURGE_NEVER }, { 9999, 5, 1, 16 },
	};
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_waits_surge x = {};

		surge_some(&x, t[i].reports, t[i].before);
		for (n = 1; n <= 100; n++) {
			surge_some(&x, t[i].after, t[i].after);
			if (surge_is(&x))
				break;
		}
		KUNIT_EXPECT_EQ_MSG(test, n > 100 ? SURGE_NEVER : n, t[i].lossy, "row %u", i);
	}
}

/* Losses by chance: how often in a thousand the first 200 of them are taken for a surge, and how
 * often the first four after one are for another
 */
static void surge_chance(struct kunit *test)
{
	static const u32 each[] = { 2, 10, 100, 1000 }, most[] = { 24, 70 };
	struct rnd_state rnd;
	u32 i, k, n, run, seen, lost;

	sstp_test_seed_rnd(test, &rnd);
	for (i = 0; i < 2 * ARRAY_SIZE(each); i++) {
		k = each[i / 2];
		for (run = 0, seen = 0; run < 1000; run++) {
			struct sstp_waits_surge x = {
				.doubts = i % 2 ? SSTP_WAITS_SURGE_DOUBTS : 0U,
			};

			for (n = 0, lost = 0; lost < (i % 2 ? 4 : 200); n++) {
				bool lossy = sstp_rnd_one_in(&rnd, k);

				lost += lossy;
				sstp_waits_surge_report(&x, 1, lossy);
				if (surge_is(&x)) {
					seen++;
					break;
				}
			}
		}
		kunit_info(test, "one report in %u, %s: %u surges", k,
			   i % 2 ? "after one" : "at first", seen);
		KUNIT_EXPECT_LE_MSG(test, seen, most[i % 2], "row %u", i);
	}
}

/* A window that grows from 100 to 3,200 packets, a sixteenth of it in each report, while the path
 * loses one packet in 200 by chance: the larger reports tell of losses more often.
 */
static void surge_growth(struct kunit *test)
{
	u32 run, cwnd, i, n, seen = 0;
	struct rnd_state rnd;

	sstp_test_seed_rnd(test, &rnd);
	for (run = 0; run < 1000; run++) {
		struct sstp_waits_surge x = {};

		for (cwnd = 100; cwnd < 3200; cwnd += cwnd / 16) {
			for (i = 0; i < 16; i++) {
				u32 packets = cwnd / 16;
				bool lossy = false;

				for (n = 0; n < packets; n++)
					lossy |= sstp_rnd_one_in(&rnd, 200);
				sstp_waits_surge_report(&x, packets, lossy);
				if (surge_is(&x))
					break;
			}
			if (i < 16)
				break;
		}
		seen += cwnd < 3200;
	}
	kunit_info(test, "%u surges", seen);
	KUNIT_EXPECT_LE(test, seen, 60U);
}

/* Counters neither wrap nor lose the share that they have told. */
static void surge_long(struct kunit *test)
{
	struct sstp_waits_surge x = {};
	u32 i;

	for (i = 1; i <= 100000; i++)
		sstp_waits_surge_report(&x, SSTP_WINDOW_MAX, i % 50 == 0);
	KUNIT_EXPECT_GE(test, x.all, U32_MAX / 4);
	KUNIT_EXPECT_LE(test, abs_diff((u32)(x.all / SSTP_WINDOW_MAX) / max(x.lossy, 1), 50U), 5U);
	/* It seems to begin, but no other report of losses follows. */
	x = (struct sstp_waits_surge){ .all = U32_MAX / 2, .lossy = 1 };
	sstp_waits_surge_report(&x, 1, true);
	KUNIT_EXPECT_EQ(test, x.late, 1U);
	x.late = U32_MAX / 4;
	sstp_waits_surge_report(&x, SSTP_WINDOW_MAX, false);
	KUNIT_EXPECT_EQ(test, x.late, 0U);
	KUNIT_EXPECT_EQ(test, x.all, U32_MAX / 2 + U32_MAX / 4 + SSTP_WINDOW_MAX);
	KUNIT_EXPECT_EQ(test, x.lossy, 2);
}

/* After a surge of @losses at once */
static struct sstp_waits_surge surge_after(struct kunit *test, u32 losses)
{
	struct sstp_waits_surge x = {};

	surge_some(&x, 1000, 0);
	surge_some(&x, losses - 1, 1);
	KUNIT_EXPECT_FALSE(test, sstp_waits_surge_unseen(&x) || sstp_waits_surge_overflows(&x));
	surge_some(&x, 1, 1);
	KUNIT_EXPECT_TRUE(test, sstp_waits_surge_unseen(&x));
	return x;
}

/* A surge stands for some overflows, and counts begin anew with it and with each cut before it. */
static void surge_overflows(struct kunit *test)
{
	struct sstp_waits_surge x = surge_after(test, SSTP_WAITS_SURGE_LOSSY), cut = {};
	u32 i, n;

	for (n = 0; n < 2; n++) {
		KUNIT_EXPECT_FALSE(test, x.all || x.late || x.lossy || x.late_lossy);
		for (i = 0; i < SSTP_WAITS_SURGE_OVERFLOWS; i++)
			KUNIT_EXPECT_TRUE_MSG(test, sstp_waits_surge_overflows(&x), "%u", i);
		KUNIT_EXPECT_FALSE(test, sstp_waits_surge_overflows(&x));
		KUNIT_EXPECT_TRUE(test, sstp_waits_surge_unseen(&x));
		/* A smaller one is another surge; what a cut leaves counts for it. */
		surge_some(&x, 1000, 0);
		sstp_waits_surge_cut(&x);
		KUNIT_EXPECT_EQ(test, x.all, 1000U);
		surge_some(&x, SSTP_WAITS_SURGE_AGAIN - 1, 1);
		KUNIT_EXPECT_FALSE(test, surge_is(&x));
		surge_some(&x, 1, 1);
		KUNIT_EXPECT_TRUE(test, surge_is(&x));
	}
	surge_some(&cut, 1000, 100);
	sstp_waits_surge_cut(&cut);
	KUNIT_EXPECT_FALSE(test, cut.all || cut.late || cut.lossy || cut.late_lossy);
}

/* Losses that are no surge make an unseen queue doubtful, but only after those that are overflows.
 */
static void surge_doubts(struct kunit *test)
{
	struct sstp_waits_surge x = surge_after(test, SSTP_WAITS_SURGE_LOSSY);
	u32 i;

	/* Each is no surge as soon as it has come. */
	x.all = 1;
	x.lossy = 1;
	surge_some(&x, 100, 1);
	KUNIT_EXPECT_EQ(test, (u32)x.doubts, SSTP_WAITS_SURGE_DOUBTS);
	x.overflows = 0;
	for (i = 1; i <= SSTP_WAITS_SURGE_DOUBTS; i++) {
		KUNIT_EXPECT_TRUE_MSG(test, sstp_waits_surge_unseen(&x), "%u", i);
		surge_some(&x, 1, 1);
		KUNIT_EXPECT_EQ_MSG(test, (u32)x.doubts, SSTP_WAITS_SURGE_DOUBTS - i, "%u", i);
	}
	KUNIT_EXPECT_FALSE(test, sstp_waits_surge_unseen(&x) || sstp_waits_surge_overflows(&x));
	surge_some(&x, 1, 1);
	KUNIT_EXPECT_EQ(test, (u32)x.doubts, 0);
}

static struct kunit_case waits_surge_cases[] = {
	KUNIT_CASE(surge_seen),
	KUNIT_CASE(surge_chance),
	KUNIT_CASE(surge_growth),
	KUNIT_CASE(surge_long),
	KUNIT_CASE(surge_overflows),
	KUNIT_CASE(surge_doubts),
	{}
};

static struct kunit_suite waits_surge_suite = {
	.name = "sstp_waits_surge",
	.test_cases = waits_surge_cases,
};

kunit_test_suite(waits_surge_suite);
