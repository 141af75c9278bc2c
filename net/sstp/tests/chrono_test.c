// SPDX-License-Identifier: GPL-2.0
/* Time that a sender was held up: each nanosecond counts once, for the cause then in force. */
#include "sstp_test.h"
#include "../chrono.h"

#define CHRONO_STEPS	20000

static void chrono_random(struct kunit *test)
{
	u64 spent[SSTP_HELDS] = {}, sum, begin;
	struct sstp_chrono c = {};
	u64 now;
	struct rnd_state r;
	u32 i, held, in_force = SSTP_HELD_IDLE;

	sstp_test_seed_rnd(test, &r);
	/* A clock that is about to pass 2^32 us */
	now = BIT_ULL(32) * 1000 - CHRONO_STEPS;
	begin = now;
	c.since = now;
	for (i = 0; i < sstp_test_rounds(CHRONO_STEPS); i++) {
		u64 step = sstp_rnd_one_in(&r, 4) ? 0 : sstp_rnd_edge(&r);

		now += step;
		spent[in_force] += step;
		/* Asking changes nothing. */
		for (held = 0, sum = 0; held < SSTP_HELDS; held++) {
			KUNIT_ASSERT_EQ(test, sstp_chrono_get(&c, held, now), spent[held]);
			sum += spent[held];
		}
		KUNIT_ASSERT_EQ(test, sum, now - begin);
		in_force = sstp_rnd_below(&r, SSTP_HELDS);
		sstp_chrono_set(&c, in_force, now);
	}
}

/* A stopped clock adds no more time to states that are over. */
static void chrono_stopped(struct kunit *test)
{
	struct sstp_chrono c = { .since = 5 };

	sstp_chrono_set(&c, SSTP_HELD_WINDOW, 7);
	KUNIT_EXPECT_EQ(test, sstp_chrono_get(&c, SSTP_HELD_IDLE, 100), 2);
	KUNIT_EXPECT_EQ(test, sstp_chrono_get(&c, SSTP_HELD_WINDOW, 7), 0);
	KUNIT_EXPECT_EQ(test, sstp_chrono_get(&c, SSTP_HELD_WINDOW, 10), 3);
	/* Setting the current state does not begin it anew. */
	sstp_chrono_set(&c, SSTP_HELD_WINDOW, 9);
	KUNIT_EXPECT_EQ(test, sstp_chrono_get(&c, SSTP_HELD_WINDOW, 10), 3);
	sstp_chrono_set(&c, SSTP_HELD_IDLE, 10);
	KUNIT_EXPECT_EQ(test, sstp_chrono_get(&c, SSTP_HELD_WINDOW, 100), 3);
	KUNIT_EXPECT_EQ(test, sstp_chrono_get(&c, SSTP_HELD_IDLE, 12), 4);
}

static struct kunit_case chrono_cases[] = {
	KUNIT_CASE(chrono_random),
	KUNIT_CASE(chrono_stopped),
	{}
};

static struct kunit_suite chrono_suite = {
	.name = "sstp_chrono",
	.test_cases = chrono_cases,
};

kunit_test_suite(chrono_suite);
