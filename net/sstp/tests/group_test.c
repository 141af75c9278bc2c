// SPDX-License-Identifier: GPL-2.0
/* Groups of receiving halves: who shares one, how often it ticks, how large it gets. */
#include <linux/delay.h>
#include <linux/vmalloc.h>
#include "sstp_test.h"
#include "../group.c"

static u32 group_ticks;
static u64 group_wants;		/* tick that the callback asks for */

static void group_count(struct sstp_group *g)
{
	struct sstp_group_member *m;

	group_ticks++;
	g->tick = group_wants;
	list_for_each_entry(m, &g->members, list)
		m->rate = g->count * m->report[1];
}

static const struct sstp_ctrl_ops group_ops = { .group_tick = group_count };

static void group_keys(struct kunit *test)
{
	struct sstp_group_key key = { .ops = &group_ops, .port = 7 }, k[] = { key, key, key, key };
	struct sstp_group_member a, b, c;
	struct sstp_group_core *g, *same, *other;
	const u64 report[] = { 0, 10 };
	u32 i;

	k[0].port = 8;
	k[1].l3mdev = 1;
	k[2].net = &init_net;
	k[3].addr.s6_addr[15] = 1;
	group_wants = NSEC_PER_MSEC;
	g = sstp_group_join(&key, &a);
	KUNIT_ASSERT_NOT_NULL(test, g);
	for (i = 0; i < ARRAY_SIZE(k); i++) {
		other = sstp_group_join(&k[i], &c);
		KUNIT_ASSERT_NOT_NULL(test, other);
		KUNIT_EXPECT_PTR_NE(test, other, g);
		sstp_group_leave(other, &c);
	}
	same = sstp_group_join(&key, &b);
	KUNIT_EXPECT_PTR_EQ(test, same, g);
	sstp_group_report(g, &a, report);
	/* The next tick is due within a second at most. */
	for (i = 0; i < 10000 && sstp_group_report(g, &a, report) != 20; i++)
		fsleep(1000);
	KUNIT_EXPECT_EQ(test, sstp_group_report(g, &a, report), 20ULL);
	KUNIT_EXPECT_EQ(test, READ_ONCE(b.rate), 0ULL);
	sstp_group_leave(g, &a);
	for (i = 0; i < 10000 && sstp_group_report(g, &b, report) != 10; i++)
		fsleep(1000);
	KUNIT_EXPECT_EQ(test, sstp_group_report(g, &b, report), 10ULL);
	sstp_group_leave(g, &b);
	/* No tick comes after the last member has left. */
	rcu_barrier();
	i = READ_ONCE(group_ticks);
	fsleep(5000);
	KUNIT_EXPECT_EQ(test, READ_ONCE(group_ticks), i);
}

/* A group has room for SSTP_GROUP_MEMBERS; a place that was left can be taken. */
static void group_full(struct kunit *test)
{
	const struct sstp_group_key key = { .ops = &group_ops, .port = 9 };
	struct sstp_group_core *g = NULL;
	struct sstp_group_member *m, one;
	u32 i;

	group_wants = U64_MAX;
	m = vmalloc(array_size(SSTP_GROUP_MEMBERS, sizeof(*m)));
	KUNIT_ASSERT_NOT_NULL(test, m);
	for (i = 0; i < SSTP_GROUP_MEMBERS; i++) {
		g = sstp_group_join(&key, &m[i]);
		if (!g)
			break;
	}
	KUNIT_EXPECT_EQ(test, i, SSTP_GROUP_MEMBERS);
	KUNIT_EXPECT_NULL(test, sstp_group_join(&key, &one));
	if (i == SSTP_GROUP_MEMBERS) {
		sstp_group_leave(g, &m[0]);
		KUNIT_EXPECT_PTR_EQ(test, sstp_group_join(&key, &m[0]), g);
		while (i--)
			sstp_group_leave(g, &m[i]);
	}
	vfree(m);
	/* The functions that free groups are in this module. */
	rcu_barrier();
}

static struct kunit_case group_cases[] = {
	KUNIT_CASE(group_keys),
	KUNIT_CASE(group_full),
	{}
};

static struct kunit_suite group_suite = {
	.name = "sstp_group",
	.test_cases = group_cases,
};

kunit_test_suite(group_suite);
