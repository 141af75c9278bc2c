// SPDX-License-Identifier: GPL-2.0
/* A backlog is bounded by its socket's buffers, a cap, and the limit for all sockets. */
#include <linux/sizes.h>
#include "sstp_test.h"
#include "../backlog.h"

static void backlog_bounds(struct kunit *test)
{
	static const struct {
		struct sstp_backlog b;
		bool full;
	} row[] = {
		/* One train may always wait, however full the rest is. */
		{ { 0, 0, LONG_MAX, LONG_MAX / 2, 0 }, false },
		{ { SSTP_BACKLOG_LEAST, 0, SZ_1G, 1000, 1 }, false },
		/* No more than the buffers hold */
		{ { SSTP_BACKLOG_LEAST + 1, SZ_1M, SZ_1M, 0, 4096 }, false },
		{ { SZ_1M, SZ_1M, SZ_1M, 0, 4096 }, false },
		{ { SZ_1M + 1, SZ_1M, SZ_1M, 0, 4096 }, true },
		{ { SSTP_BACKLOG_LEAST + 1, 0, 0, 0, 4096 }, true },
		/* Nor more than the cap, however large the buffers are */
		{ { SSTP_BACKLOG_MOST, SZ_1G, SSTP_BACKLOG_MOST, 0, 1 << 20 }, false },
		{ { SSTP_BACKLOG_MOST + 1, SZ_1G, SSTP_BACKLOG_MOST, 0, 1 << 20 }, true },
		{ { U32_MAX, U64_MAX, 0, 0, LONG_MAX }, true },
		/* Packets in all backlogs count as if they were charged. */
		{ { SZ_1M, SZ_4M, 10 << PAGE_SHIFT, 90, 100 }, false },
		{ { SZ_1M, SZ_4M, 11 << PAGE_SHIFT, 90, 100 }, true },
		{ { SZ_1M, SZ_4M, 0, 101, 100 }, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_backlog_full(&row[i].b), row[i].full,
				    "row %u", i);
}

static struct kunit_case backlog_cases[] = {
	KUNIT_CASE(backlog_bounds),
	{ }
};

static struct kunit_suite backlog_suite = {
	.name = "sstp_backlog",
	.test_cases = backlog_cases,
};

kunit_test_suite(backlog_suite);
