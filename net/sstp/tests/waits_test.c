// SPDX-License-Identifier: GPL-2.0
/* How long packets wait, and whether a queue loses them or the path does */
#include "sstp_test.h"
#include "../waits.c"

#define WAITS_BASE	40000U	/* us */
#define WAITS_SMALL	1250U	/* us: sstp_waits_small() with this base */
#define WAITS_FAR	(WAITS_BASE + 2 * WAITS_SMALL)	/* is apart from WAITS_BASE */

static void waits_report(struct sstp_waits *w, u32 rtt, u32 lost, u32 ms, bool steady)
{
	struct sstp_ctrl_sample s = { .rtt = rtt, .delivered = 1, .lost = lost };

	sstp_waits_report(w, &s, ms, steady);
}

/* A round trip with one report */
static void waits_round(struct sstp_waits *w, u32 rtt, u32 lost, u32 ms)
{
	waits_report(w, rtt, lost, ms, true);
	sstp_waits_count_round(w);
	sstp_waits_round(w, true);
}

/* The lowest round-trip time is that of the last 10 to 20 s. */
static void waits_base(struct kunit *test)
{
	struct sstp_waits w;
	u32 ms = U32_MAX - 5000;

	sstp_waits_init(&w, U32_MAX, ms);
	KUNIT_EXPECT_EQ(test, sstp_waits_base(&w), U32_MAX);
	waits_report(&w, 0, 0, ms, true);
	KUNIT_EXPECT_EQ(test, sstp_waits_base(&w), U32_MAX);
	waits_report(&w, WAITS_BASE, 0, ms, true);
	waits_report(&w, 50000, 0, ms, true);
	KUNIT_EXPECT_EQ(test, sstp_waits_base(&w), WAITS_BASE);
	KUNIT_EXPECT_EQ(test, sstp_waits_least(&w), WAITS_BASE);
	KUNIT_EXPECT_EQ(test, sstp_waits_most(&w), 50000U);
	waits_report(&w, 50000, 0, ms + SSTP_WAITS_MEMORY, true);
	waits_report(&w, 50000, 0, ms + SSTP_WAITS_MEMORY + 1, true);
	KUNIT_EXPECT_EQ(test, sstp_waits_base(&w), WAITS_BASE);
	waits_report(&w, 50000, 0, ms + 2 * SSTP_WAITS_MEMORY + 2, true);
	KUNIT_EXPECT_EQ(test, sstp_waits_base(&w), 50000U);
	sstp_waits_longer(&w, 60000, ms);
	KUNIT_EXPECT_EQ(test, sstp_waits_base(&w), 60000U);
}

/* Round-trip time, wait, whether that is a queue; a 32nd of the base, 1 to 2 ms, is none */
static void waits_time(struct kunit *test)
{
	static const struct {
		u32 base, rtt, time;
		bool queued;
	} t[] = {
		{ WAITS_BASE, 0, 0, false }, { WAITS_BASE, 30000, 0, false },
		{ WAITS_BASE, WAITS_BASE + WAITS_SMALL - 1, WAITS_SMALL - 1, false },
		{ WAITS_BASE, WAITS_BASE + WAITS_SMALL, WAITS_SMALL, true },
		{ 100, 1099, 999, false }, { 100, 1100, 1000, true },
		{ 200000, 201999, 1999, false }, { 200000, 202000, 2000, true },
		{ U32_MAX, 60000, 0, false },
	};
	struct sstp_waits w;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		sstp_waits_init(&w, t[i].base, 0);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_time(&w, t[i].rtt), t[i].time, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_queued(&w, t[i].rtt), t[i].queued, "row %u",
				    i);
	}
}

/* A packet that was only late is not lost; the numbers of packets have a limit. */
static void waits_lost(struct kunit *test)
{
	struct sstp_ctrl_sample s = { .delivered = 30, .lost = 3 };
	struct sstp_waits w;

	sstp_waits_init(&w, WAITS_BASE, 0);
	sstp_waits_report(&w, &s, 0, true);
	s.undue = 2;
	sstp_waits_report(&w, &s, 0, true);
	KUNIT_EXPECT_EQ(test, w.lost, 4U);
	KUNIT_EXPECT_EQ(test, w.delivered, 60U);
	s.undue = U32_MAX;
	sstp_waits_report(&w, &s, 0, true);
	KUNIT_EXPECT_EQ(test, w.lost, 3U);
	s = (struct sstp_ctrl_sample){ .delivered = U32_MAX, .lost = U32_MAX };
	sstp_waits_report(&w, &s, 0, true);
	KUNIT_EXPECT_EQ(test, w.lost, (u32)SSTP_WINDOW_MAX);
	KUNIT_EXPECT_EQ(test, w.delivered, (u32)SSTP_WINDOW_MAX);
	sstp_waits_round(&w, true);
	KUNIT_EXPECT_EQ(test, w.lost + w.delivered, 0U);
}

/* Round trips are counted by what they saw, and count half later. */
static void waits_counts_rounds(struct kunit *test)
{
	struct sstp_waits w;

	sstp_waits_init(&w, WAITS_BASE, 0);
	waits_round(&w, WAITS_BASE + WAITS_SMALL - 1, 0, 0);
	waits_round(&w, WAITS_BASE + WAITS_SMALL, 0, 0);
	waits_round(&w, WAITS_BASE + WAITS_SMALL, 2, 0);
	waits_round(&w, WAITS_BASE, 1, 0);
	waits_round(&w, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, w.rounds.all[0], 2U);
	KUNIT_EXPECT_EQ(test, w.rounds.lossy[0], 1U);
	KUNIT_EXPECT_EQ(test, w.rounds.all[1], 2U);
	KUNIT_EXPECT_EQ(test, w.rounds.lossy[1], 1U);
	w.rounds.all[1] = U16_MAX;
	w.rounds.lossy[1] = U16_MAX;
	waits_round(&w, WAITS_BASE + WAITS_SMALL, 1, 0);
	KUNIT_EXPECT_EQ(test, w.rounds.all[0], 1U);
	KUNIT_EXPECT_EQ(test, w.rounds.all[1], U16_MAX / 2 + 1U);
	KUNIT_EXPECT_EQ(test, w.rounds.lossy[1], U16_MAX / 2 + 1U);
	waits_round(&w, WAITS_BASE, 0, SSTP_WAITS_MEMORY + 1);
	KUNIT_EXPECT_EQ(test, w.rounds.all[0], 1U);
	KUNIT_EXPECT_EQ(test, w.rounds.all[1], U16_MAX / 4 + 1U);
}

/* Reports and round trips are counted if round-trip times are apart by twice of what is no queue,
 * but not while slow start or a probe moves them apart; a round trip that a cut ends is counted.
 */
static void waits_counts_uneven(struct kunit *test)
{
	struct sstp_waits w;
	u32 i;

	for (i = 0; i < 3; i++) {
		sstp_waits_init(&w, WAITS_BASE, 0);
		waits_report(&w, i == 2 ? WAITS_FAR - 1 : WAITS_FAR, 0, 0, i != 1);
		waits_report(&w, WAITS_BASE + WAITS_SMALL - 1, 1, 0, i != 1);
		waits_report(&w, WAITS_BASE + WAITS_SMALL, 0, 0, i != 1);
		sstp_waits_round(&w, i != 1);
		KUNIT_EXPECT_EQ_MSG(test, w.reports.all[0], i ? 0U : 1U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, w.reports.lossy[0], i ? 0U : 1U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, w.reports.all[1], i ? 0U : 2U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, w.reports.lossy[1], 0U, "row %u", i);
		/* The least and the most are apart by less than the reports' from the base. */
		KUNIT_EXPECT_EQ_MSG(test, w.uneven.all[0] + w.uneven.all[1], 0, "row %u", i);
	}
	sstp_waits_init(&w, WAITS_BASE, 0);
	waits_report(&w, WAITS_FAR, 1, 0, true);
	waits_report(&w, WAITS_BASE, 0, 0, true);
	sstp_waits_cut(&w, true);
	KUNIT_EXPECT_EQ(test, w.uneven.all[0], 1U);
	KUNIT_EXPECT_EQ(test, w.uneven.lossy[0], 1U);
	KUNIT_EXPECT_EQ(test, sstp_waits_least(&w), U32_MAX);
	KUNIT_EXPECT_EQ(test, sstp_waits_most(&w), 0U);
	waits_report(&w, WAITS_FAR + WAITS_SMALL, 0, 0, true);
	waits_report(&w, WAITS_BASE + WAITS_SMALL, 0, 0, true);
	sstp_waits_round(&w, true);
	KUNIT_EXPECT_EQ(test, w.uneven.all[1], 1U);
	KUNIT_EXPECT_EQ(test, w.uneven.lossy[1], 0U);
}

static void waits_queue_loses(struct kunit *test)
{
	static const struct {
		struct sstp_waits_tally rounds;	/* without and with a queue */
		bool queue;
	} t[] = {
		{ { { 0, 100 }, { 0, 50 } }, false },
		{ { { 16, 100 }, { 0, 50 } }, false }, { { { 17, 100 }, { 0, 50 } }, true },
		{ { { 100, 100 }, { 12, 50 } }, true }, { { { 100, 100 }, { 13, 50 } }, false },
		{ { { 100, 100 }, { 50, 50 } }, false },
		{ { { U16_MAX, U16_MAX }, { U16_MAX, U16_MAX } }, false },
		{ { { U16_MAX, U16_MAX }, { U16_MAX / 4, U16_MAX } }, true },
	};
	struct sstp_waits w = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		w.rounds = t[i].rounds;
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_queue_loses(&w), t[i].queue, "row %u", i);
	}
}

/* Packets waited for unlike times: a loss is the path's if those that waited little are lost at
 * least a quarter as often as the others, and so are those of round trips in which one at least did
 * not wait.
 */
static void waits_path_loses(struct kunit *test)
{
	static const struct {
		struct sstp_waits_tally uneven, reports, rounds; /* without and with a queue */
		bool path;
	} t[] = {
		{ { { 0, 0 }, { 0, 0 } }, { { 0, 0 }, { 0, 0 } }, .path = false },
		{ { { 50, 50 }, { 2, 2 } }, { { 50, 50 }, { 2, 2 } }, { { 0, 200 }, { 0, 4 } },
		  true },
		{ { { 50, 50 }, { 2, 2 } }, { { 50, 50 }, { 2, 2 } }, { { 0, 201 }, { 0, 4 } },
		  false },
		/* Uneven are only those that overflow: in others nothing waits or is lost. */
		{ { { 20, 0 }, { 20, 0 } }, { { 50, 50 }, { 20, 20 } }, { { 30, 20 }, { 0, 20 } },
		  false },
		{ { { 50, 0 }, { 2, 0 } }, { { 50, 50 }, { 2, 2 } }, { { 0, 100 }, { 0, 2 } },
		  true },
		{ { { 50, 50 }, { 9, 9 } }, { { 50, 50 }, { 9, 9 } }, { { 99, 99 }, { 0, 9 } },
		  false },
		{ { { 50, 50 }, { 2, 2 } }, { { 50, 50 }, { 2, 2 } }, .path = true },
		{ { { 50, 50 }, { 1, 1 } }, { { 50, 50 }, { 2, 2 } }, .path = false },
		{ { { 50, 50 }, { 2, 2 } }, { { 50, 50 }, { 1, 1 } }, .path = false },
		{ { { 50, 50 }, { 10, 40 } }, { { 50, 50 }, { 10, 40 } }, .path = true },
		{ { { 50, 50 }, { 10, 41 } }, { { 50, 50 }, { 10, 40 } }, .path = false },
		{ { { 50, 50 }, { 10, 40 } }, { { 50, 50 }, { 10, 41 } }, .path = false },
		{ { { 10, 80 }, { 10, 80 } }, { { 10, 80 }, { 10, 80 } }, .path = true },
		{ { { 10, 81 }, { 10, 80 } }, { { 10, 80 }, { 10, 80 } }, .path = false },
		{ { { U16_MAX, U16_MAX }, { U16_MAX, U16_MAX } },
		  { { U16_MAX, U16_MAX }, { U16_MAX, U16_MAX } }, .path = true },
	};
	struct sstp_waits w = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		w.uneven = t[i].uneven;
		w.reports = t[i].reports;
		w.rounds = t[i].rounds;
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_path_loses(&w), t[i].path, "row %u", i);
	}
}

/* The link seems to deliver in bursts: at least half of the round trips, and four, are uneven. But
 * losses are few, and not those of a queue.
 */
static void waits_unsure(struct kunit *test)
{
	static const struct {
		u16 uneven[2], reports[2];
		struct sstp_waits_tally rounds;
		bool unsure;
	} t[] = {
		{ { 0, 0 }, { 0, 0 }, { { 0, 0 } }, false },
		{ { 1, 2 }, { 0, 0 }, { { 0, 0 } }, false },
		{ { 4, 0 }, { 0, 0 }, { { 0, 0 } }, true },
		{ { 3, 2 }, { 0, 0 }, { { 4, 6 } }, true },
		{ { 3, 2 }, { 0, 0 }, { { 5, 6 } }, false },
		{ { 50, 50 }, { 1, SSTP_WAITS_TOLD - 1 }, { { 50, 50 } }, true },
		{ { 50, 50 }, { 1, SSTP_WAITS_TOLD }, { { 50, 50 } }, false },
		{ { 50, 50 }, { 1, 1 }, { { 50, 50 }, { 0, 9 } }, false },
		{ { U16_MAX, U16_MAX }, { U16_MAX, U16_MAX }, { { U16_MAX, U16_MAX } }, false },
		{ { U16_MAX, U16_MAX }, { 0, 0 }, { { U16_MAX, U16_MAX } }, true },
	};
	struct sstp_waits w = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		memcpy(w.uneven.all, t[i].uneven, sizeof(w.uneven.all));
		memcpy(w.reports.lossy, t[i].reports, sizeof(w.reports.lossy));
		w.rounds = t[i].rounds;
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_unsure(&w), t[i].unsure, "row %u", i);
	}
}

static struct kunit_case waits_cases[] = {
	KUNIT_CASE(waits_base),
	KUNIT_CASE(waits_time),
	KUNIT_CASE(waits_lost),
	KUNIT_CASE(waits_counts_rounds),
	KUNIT_CASE(waits_counts_uneven),
	KUNIT_CASE(waits_queue_loses),
	KUNIT_CASE(waits_path_loses),
	KUNIT_CASE(waits_unsure),
	{}
};

static struct kunit_suite waits_suite = {
	.name = "sstp_waits",
	.test_cases = waits_cases,
};

kunit_test_suite(waits_suite);
