// SPDX-License-Identifier: GPL-2.0
/* The cause of losses, and the depth of a queue that has overflowed */
#include "sstp_test.h"
#include "../waits_loss.c"

#define LOSS_BASE	40000U	/* us */
#define LOSS_SMALL	1250U	/* us: sstp_waits_small() with this base */
#define LOSS_QUEUE	(LOSS_BASE + 20000)
#define LOSS_MS		1000U	/* times wrap before it */

/**
 * struct loss_sim - a flow
 * @x: what is tested
 * @w: round trips, in which a packet was lost and no round-trip time was measured
 * @surge: no surge was seen
 * @l: a report of a loss in delay mode, with a queue
 */
struct loss_sim {
	struct sstp_waits_loss x;
	struct sstp_waits w;
	struct sstp_waits_surge surge;
	struct sstp_waits_lossy l;
};

static struct loss_sim loss_start(void)
{
	struct loss_sim t = { .l = { .rtt = LOSS_QUEUE, .ms = LOSS_MS } };

	sstp_waits_loss_init(&t.x, LOSS_MS);
	sstp_waits_init(&t.w, LOSS_BASE, LOSS_MS);
	t.w.lost = 1;
	return t;
}

static enum sstp_waits_cause loss_cause(struct loss_sim *t)
{
	return sstp_waits_loss_cause(&t->x, &t->w, &t->surge, &t->l);
}

/* Without a queue the path loses packets, in whatever mode; most packets of late tell, too. */
static void loss_path(struct kunit *test)
{
	struct loss_sim t;
	u32 i;

	for (i = 0; i < 8; i++) {
		t = loss_start();
		t.l.slow_start = i & 1;
		t.l.competes = i & 2;
		t.l.relapse = i & 4;
		t.l.rtt = i ? LOSS_BASE + LOSS_SMALL - 1 : 0;
		KUNIT_EXPECT_EQ_MSG(test, loss_cause(&t), SSTP_WAITS_CAUSE_PATH, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, t.x.random_ms, LOSS_MS, "row %u", i);
		t = loss_start();
		t.w.most[i & 1] = t.l.rtt;
		t.l.rtt = 0;
		KUNIT_EXPECT_NE_MSG(test, loss_cause(&t), SSTP_WAITS_CAUSE_PATH, "row %u", i);
	}
}

/* The first loss of one or two packets for long may be the path's, and so may all as long as it has
 * lost some of late, unless it is the queue that loses most. In competitive mode none may, and in
 * slow start not the first.
 */
static void loss_overflows(struct kunit *test)
{
	static const struct {
		u32 lost, overflow, random;	/* packets, ms ago */
		bool slow_start, competes, relapse, queue_loses, queue;
	} t[] = {
		{ 1, SSTP_WAITS_MEMORY + 1, SSTP_WAITS_MEMORY + 1, .queue = false },
		{ 2, SSTP_WAITS_MEMORY + 1, SSTP_WAITS_MEMORY + 1, .queue = false },
		{ 3, SSTP_WAITS_MEMORY + 1, SSTP_WAITS_MEMORY + 1, .queue = true },
		{ 1, SSTP_WAITS_MEMORY, SSTP_WAITS_MEMORY + 1, .queue = true },
		{ 1, SSTP_WAITS_MEMORY + 1, SSTP_WAITS_MEMORY + 1, .relapse = true, .queue = true },
		{ 1, SSTP_WAITS_MEMORY, SSTP_WAITS_MEMORY, .queue = false },
		{ 3, 0, 0, .relapse = true, .queue = false },
		{ 1, 0, 0, .queue_loses = true, .queue = true },
		{ 1, SSTP_WAITS_MEMORY + 1, 0, .queue_loses = true, .queue = false },
		{ 1, SSTP_WAITS_MEMORY + 1, 0, .competes = true, .queue = true },
		{ 1, SSTP_WAITS_MEMORY + 1, 0, .slow_start = true, .queue = false },
		{ 1, SSTP_WAITS_MEMORY + 1, SSTP_WAITS_MEMORY + 1, .slow_start = true,
		  .queue = true },
		{ 1, SSTP_WAITS_MEMORY + 1, 0, .slow_start = true, .competes = true,
		  .queue = true },
	};
	struct loss_sim s;
	bool delay;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s = loss_start();
		s.w.lost = t[i].lost;
		s.x.overflow_ms = LOSS_MS - t[i].overflow;
		s.x.random_ms = LOSS_MS - t[i].random;
		if (t[i].queue_loses)
			s.w.rounds = (struct sstp_waits_tally){ { 17, 100 }, { 0, 50 } };
		s.l.slow_start = t[i].slow_start;
		s.l.competes = t[i].competes;
		s.l.relapse = t[i].relapse;
		KUNIT_EXPECT_EQ_MSG(test, loss_cause(&s), t[i].queue ? SSTP_WAITS_CAUSE_QUEUE :
				    SSTP_WAITS_CAUSE_EITHER, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, LOSS_MS - s.x.random_ms, t[i].random, "row %u", i);
		/* The next one is not the first. */
		delay = t[i].lost <= SSTP_WAITS_SINGLE && !t[i].relapse && !t[i].slow_start &&
			!t[i].competes && t[i].overflow > SSTP_WAITS_MEMORY;
		KUNIT_EXPECT_EQ_MSG(test, LOSS_MS - s.x.overflow_ms, delay ? 0U : t[i].overflow,
				    "row %u", i);
	}
	/* A report that ends a round trip may tell of more than the next one has lost so far. */
	for (i = 0; i < 2; i++) {
		s = loss_start();
		s.w.lost = 0;
		s.l.lost = SSTP_WAITS_SINGLE + i;
		KUNIT_EXPECT_EQ(test, loss_cause(&s), i ? SSTP_WAITS_CAUSE_QUEUE :
							  SSTP_WAITS_CAUSE_EITHER);
	}
}

/* In delay mode: the queue held 10 ms of late, and less than half of that waits. */
static void loss_held(struct kunit *test)
{
	static const struct {
		u32 ago, waited;
		bool slow_start, competes, held;
	} t[] = {
		{ SSTP_WAITS_MEMORY, SSTP_WAITS_HELD - 1, false, false, true },
		{ SSTP_WAITS_MEMORY + 1, SSTP_WAITS_HELD - 1, false, false, false },
		{ SSTP_WAITS_MEMORY, SSTP_WAITS_HELD, false, false, false },
		{ 0, LOSS_SMALL, true, false, false },
		{ 0, LOSS_SMALL, false, true, false },
	};
	struct loss_sim s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s = loss_start();
		s.x.target_ms = LOSS_MS - t[i].ago;
		s.w.lost = 3;
		s.l.rtt = LOSS_BASE + t[i].waited;
		s.l.slow_start = t[i].slow_start;
		s.l.competes = t[i].competes;
		KUNIT_EXPECT_EQ_MSG(test, loss_cause(&s), t[i].held ? SSTP_WAITS_CAUSE_PATH :
				    SSTP_WAITS_CAUSE_QUEUE, "row %u", i);
	}
}

/* A surge has shown a queue that is not seen: losses that would be the path's are its overflows,
 * and when there are no more of these they tell nothing, but in slow start, and if the queue is one
 * that has held 10 ms.
 */
static void loss_unseen(struct kunit *test)
{
	struct loss_sim s;
	u32 i;

	s = loss_start();
	s.surge.overflows = 2;
	s.surge.doubts = 1;
	s.l.rtt = LOSS_BASE;
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ_MSG(test, loss_cause(&s), i < 2 ? SSTP_WAITS_CAUSE_QUEUE :
				    SSTP_WAITS_CAUSE_UNSEEN, "loss %u", i);
	KUNIT_EXPECT_NE(test, s.x.random_ms, LOSS_MS);
	s.l.slow_start = true;
	KUNIT_EXPECT_EQ(test, loss_cause(&s), SSTP_WAITS_CAUSE_PATH);
	s.l.slow_start = false;
	s.surge.overflows = 2;
	s.x.target_ms = LOSS_MS;
	KUNIT_EXPECT_EQ(test, loss_cause(&s), SSTP_WAITS_CAUSE_PATH);
	/* A queue that is seen takes none off. */
	s.x.target_ms = LOSS_MS - SSTP_WAITS_MEMORY - 1;
	s.l.rtt = LOSS_QUEUE;
	loss_cause(&s);
	KUNIT_EXPECT_EQ(test, (u32)s.surge.overflows, 2U);
}

/* A link that delivers in bursts: whether it loses packets is not known, unless all wait, or slow
 * start has filled a queue; or it is known that it does.
 */
static void loss_bursts(struct kunit *test)
{
	static const struct sstp_waits_tally seen = { { 50, 50 }, { 2, 2 } };
	static const struct {
		u32 least;
		bool slow_start;
		enum sstp_waits_cause cause;
	} t[] = {
		{ LOSS_BASE + LOSS_SMALL - 1, false, SSTP_WAITS_CAUSE_BURSTS },
		{ LOSS_BASE + LOSS_SMALL, false, SSTP_WAITS_CAUSE_QUEUE },
		{ U32_MAX, false, SSTP_WAITS_CAUSE_QUEUE },
		{ LOSS_BASE, true, SSTP_WAITS_CAUSE_QUEUE },
	};
	struct loss_sim s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s = loss_start();
		s.w.uneven.all[0] = 8;
		s.w.least[1] = t[i].least;
		s.w.lost = 3;
		s.l.slow_start = t[i].slow_start;
		KUNIT_EXPECT_EQ_MSG(test, loss_cause(&s), t[i].cause, "row %u", i);
		s.w.uneven = seen;
		s.w.reports = seen;
		KUNIT_EXPECT_EQ_MSG(test, loss_cause(&s), SSTP_WAITS_CAUSE_PATH, "row %u", i);
	}
}

/* Lowest wait of late, us; when the queue held 10 ms, ms ago; may it overflow? */
static void loss_all_waited(struct kunit *test)
{
	static const struct {
		u32 waited, ago;
		bool all;
	} t[] = {
		{ LOSS_SMALL, SSTP_WAITS_MEMORY + 1, true },
		{ LOSS_SMALL - 1, SSTP_WAITS_MEMORY + 1, false },
		{ SSTP_WAITS_HELD, SSTP_WAITS_MEMORY, true },
		{ SSTP_WAITS_HELD - 1, SSTP_WAITS_MEMORY, false },
	};
	struct loss_sim s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s = loss_start();
		s.x.target_ms = LOSS_MS - t[i].ago;
		KUNIT_EXPECT_FALSE(test, sstp_waits_loss_all_waited(&s.x, &s.w, LOSS_MS));
		s.w.least[i & 1] = LOSS_BASE + t[i].waited;
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_loss_all_waited(&s.x, &s.w, LOSS_MS),
				    t[i].all, "row %u", i);
	}
}

/* A queue that is not seen is as shallow as can be, if there is one. */
static void loss_depth(struct kunit *test)
{
	static const struct {
		u32 base, waited, ago;
		bool unseen;
		enum sstp_waits_depth depth;
	} t[] = {
		{ LOSS_BASE, LOSS_BASE / 6, 20000, false, SSTP_WAITS_DEPTH_DEEP },
		{ LOSS_BASE, LOSS_BASE / 6 - 1, 20000, false, SSTP_WAITS_DEPTH_SHALLOW },
		{ LOSS_BASE, LOSS_BASE / 6 - 1, SSTP_WAITS_MEMORY, false,
		  SSTP_WAITS_DEPTH_SHORT },
		{ 3 * LOSS_BASE, SSTP_WAITS_TARGET, 20000, false, SSTP_WAITS_DEPTH_SHORT },
		{ 3 * LOSS_BASE, SSTP_WAITS_TARGET - 1, SSTP_WAITS_MEMORY + 1, false,
		  SSTP_WAITS_DEPTH_SHALLOW },
		{ LOSS_BASE, LOSS_SMALL - 1, 20000, false, SSTP_WAITS_DEPTH_DEEP },
		{ LOSS_BASE, LOSS_SMALL - 1, 20000, true, SSTP_WAITS_DEPTH_SHALLOW },
		{ LOSS_BASE, LOSS_BASE / 6, 20000, true, SSTP_WAITS_DEPTH_DEEP },
	};
	struct loss_sim s;
	u32 i, rtt;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s = loss_start();
		rtt = t[i].base + t[i].waited;
		s.w.base[0] = t[i].base;
		s.x.target_ms = LOSS_MS - t[i].ago;
		s.surge.doubts = t[i].unseen;
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_loss_depth(&s.x, &s.w, &s.surge, rtt, LOSS_MS),
				    t[i].depth, "row %u", i);
		s.w.most[i & 1] = rtt;
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_loss_depth(&s.x, &s.w, &s.surge, 0, LOSS_MS),
				    t[i].depth, "row %u", i);
	}
}

static struct kunit_case waits_loss_cases[] = {
	KUNIT_CASE(loss_path),
	KUNIT_CASE(loss_overflows),
	KUNIT_CASE(loss_held),
	KUNIT_CASE(loss_unseen),
	KUNIT_CASE(loss_bursts),
	KUNIT_CASE(loss_all_waited),
	KUNIT_CASE(loss_depth),
	{}
};

static struct kunit_suite waits_loss_suite = {
	.name = "sstp_waits_loss",
	.test_cases = waits_loss_cases,
};

kunit_test_suite(waits_loss_suite);
