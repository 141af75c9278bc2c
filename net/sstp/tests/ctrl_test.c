// SPDX-License-Identifier: GPL-2.0
/* Calls of a controller: what it is told. */
#include "sstp_test.h"
#include "../ctrl_call.c"

/* Which reports tell of a window that limits, over a few round trips */
static void ctrl_used(struct kunit *test)
{
	const u32 first = -30;		/* the shipment; it wraps */
	static const struct {
		bool held_back;
		u32 flight, shipped, highest;
		bool limited;
		u32 most;
	} t[] = {
		{ false, 10, 10, 5, false, 10 },
		{ false, 12, 20, 9, false, 12 },	/* more in flight */
		{ true, 15, 30, 15, true, 15 },
		{ false, 40, 40, 20, true, 15 },	/* still that round trip */
		{ false, 11, 45, 29, true, 15 },
		{ false, 9, 50, 30, false, 9 },		/* and here it ends */
		{ false, 8, 55, 49, false, 9 },
		{ false, 7, 60, 50, false, 7 },		/* less, in another */
		{ true, 6, 61, 51, true, 6 },
		{ true, 5, 62, 52, true, 5 },
	};
	struct sstp_ctrl_core c = {};
	struct sstp_ctrl_sample s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.held_back = t[i].held_back;
		s = (struct sstp_ctrl_sample){
			.shipped = first + t[i].shipped, .highest = first + t[i].highest,
		};
		sstp_ctrl_used(&c, &s, t[i].flight);
		KUNIT_EXPECT_FALSE_MSG(test, c.held_back, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, s.cwnd_limited, t[i].limited, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, s.flight, t[i].most, "row %u", i);
	}
}

static struct kunit_case ctrl_cases[] = {
	KUNIT_CASE(ctrl_used),
	{}
};

static struct kunit_suite ctrl_suite = {
	.name = "sstp_ctrl",
	.test_cases = ctrl_cases,
};

kunit_test_suite(ctrl_suite);
