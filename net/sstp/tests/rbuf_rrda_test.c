// SPDX-License-Identifier: GPL-2.0
/* Verdicts of the policy "rrda" at the end of epochs */
#include "sstp_test.h"
#include "../rbuf_rrda.c"
#include "../rrda_tunables.c"

#define KB	1024u
#define MB	(1024u * 1024u)

struct policy {
	struct kunit *test;
	struct sstp_rbuf_sample s;
	struct sstp_rbuf b;
};

static void policy_start(struct kunit *test, struct policy *p)
{
	*p = (struct policy){
		.test = test,
		.s = {
			.least = 64 * KB, .first = 4 * MB, .limit = 4 * MB,
			.ceiling = 256 * MB, .available = 1ULL << 32,
		},
	};
	sstp_rbuf_rrda_init(&p->b, &p->s);
	KUNIT_EXPECT_EQ(test, p->b.limit, 4 * MB);
}

/* Run an epoch. Returns the new limit. */
static u32 policy_epoch(struct policy *p, u64 arrived, u64 served)
{
	struct sstp_rbuf_sample *s = &p->s;

	s->arrived = arrived;
	s->served = served;
	sstp_rbuf_rrda_update(&p->b, s);
	s->limit = p->b.limit;
	KUNIT_EXPECT_EQ(p->test, p->b.epoch, 100 * (u64)NSEC_PER_MSEC);
	return s->limit;
}

/* Run @n equal epochs. Returns the new limit. */
static u32 policy_epochs(struct policy *p, u32 n, u64 arrived, u64 served)
{
	while (n--)
		policy_epoch(p, arrived, served);
	return p->s.limit;
}

/* A buffer without traffic for k epochs shrinks to the floor, rests, and starts again from
 * there; one with data to read does so after beta epochs.
 */
static void policy_silent(struct kunit *test)
{
	struct policy p;

	policy_start(test, &p);
	policy_epochs(&p, 10, 1000, 1000);
	KUNIT_EXPECT_GT(test, policy_epochs(&p, 2, 0, 0), MB);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, 0, 0), 64 * KB);
	KUNIT_EXPECT_TRUE(test, p.b.rest);

	policy_start(test, &p);
	p.s.queued = 3 * MB;
	policy_epochs(&p, 10, 1000, 1000);
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 15, 0, 0), 4 * MB);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, 0, 0), 64 * KB);
	KUNIT_EXPECT_TRUE(test, p.b.rest);
	p.s.path = 8 * MB;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, 1000, 1000), 8 * MB);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
}

/* At the floor a buffer rests after one epoch with little traffic, so that a byte now and then
 * takes no more, but not with much, with discarded data, or with much unread.
 */
static void policy_little(struct kunit *test)
{
	const u64 little = SSTP_RRDA_LITTLE / 10;
	struct policy p;

	policy_start(test, &p);
	policy_epoch(&p, little, little);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 3, 0, 0), 64 * KB);
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, little, little), 64 * KB);
	KUNIT_EXPECT_TRUE(test, p.b.rest);
	policy_epoch(&p, little + 1, little);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	policy_epoch(&p, little, little + 1);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	p.s.queued = 16 * KB;
	policy_epoch(&p, little, 0);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	p.s.queued = 0;
	policy_epochs(&p, 3, 0, 0);
	policy_epoch(&p, little, 0);
	KUNIT_EXPECT_TRUE(test, p.b.rest);
	p.s.lacked = 1;
	policy_epoch(&p, 0, 0);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	p.s.lacked = 0;
	p.s.path = 128 * KB;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, little, little), 128 * KB);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
}

/* With the largest beta, too, the buffer rests after that many epochs, and does not grow if the
 * program never read.
 */
static void policy_patient(struct kunit *test)
{
	u32 most = sstp_rrda_tunables[SSTP_RRDA_BETA].most;
	struct policy p;

	policy_start(test, &p);
	p.b.param[SSTP_RRDA_BETA] = most;
	p.s.queued = 3 * MB;
	p.s.lacked = MB;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 2, MB, 0), 4 * MB);
	p.s.lacked = 0;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, most - 1, 0, 0), 4 * MB);
	KUNIT_EXPECT_FALSE(test, p.b.rest);
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, 0, 0), 64 * KB);
	KUNIT_EXPECT_TRUE(test, p.b.rest);
}

/* The buffer grows if data is not read in time, but not if the program does not read at all, nor
 * by the trend if it never empties the buffer.
 */
static void policy_unread(struct kunit *test)
{
	struct policy p;
	u32 was;

	policy_start(test, &p);
	p.s.queued = 4 * MB;
	p.s.lacked = MB;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 10, MB, 0), 4 * MB);
	p.s.lacked = 0;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 10, MB, MB / 2), 4 * MB);
	p.s.emptied = true;
	was = policy_epoch(&p, MB, MB / 2);
	KUNIT_EXPECT_GT(test, was, 4 * MB);
	p.s.emptied = false;
	/* Reading stops: it counts as a pause for k epochs. */
	KUNIT_EXPECT_GT(test, policy_epochs(&p, 2, MB, 0), was);
	was = p.s.limit;
	p.s.queued = was;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 10, MB, 0), was);
	/* Nor when memory in use does not count, or all is in use. */
	sstp_rrda_tunables[SSTP_RRDA_WEIGH_MEMORY].value = 0;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 10, MB, 0), was);
	p.s.emptied = true;
	p.s.used = SSTP_RBUF_ONE;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 10, 2 * MB, MB), was);
	sstp_rrda_tunables[SSTP_RRDA_WEIGH_MEMORY].value = 1;
	/* A program that catches up shrinks the buffer by the share of memory in use. */
	p.s.emptied = false;
	p.s.used = SSTP_RBUF_ONE / 1024;
	was = policy_epochs(&p, 10, MB, 2 * MB);
	p.s.queued = was;
	KUNIT_EXPECT_GE(test, policy_epoch(&p, MB, 2 * MB), was - 32 * KB);
	KUNIT_EXPECT_LT(test, p.s.limit, was);
}

/* Data without room is added at once, and a full buffer that was emptied doubles, as far as
 * there is memory.
 */
static void policy_at_once(struct kunit *test)
{
	static const struct {
		bool drained;
		u32 lacked, used, size;
	} steps[] = {
		{ false, MB, 0, 5 * MB },
		{ false, MB, SSTP_RBUF_ONE / 2, 5 * MB + MB / 2 },
		{ false, MB, SSTP_RBUF_ONE, 5 * MB + MB / 2 },
		{ true, 0, SSTP_RBUF_ONE, 5 * MB + MB / 2 },
		{ true, MB / 2, 0, 11 * MB + MB / 2 },
		{ true, 0, SSTP_RBUF_ONE / 2, 17 * MB + MB / 4 },
	};
	struct policy p;
	u32 i;

	policy_start(test, &p);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		p.s.queued = p.s.limit;
		p.s.drained = steps[i].drained;
		p.s.lacked = steps[i].lacked;
		p.s.used = steps[i].used;
		KUNIT_EXPECT_EQ_MSG(test, policy_epoch(&p, MB, MB),
				    steps[i].size, "%u", i);
	}
}

/* Windows do not exceed the buffer until half of it has been enough. */
static void policy_exact(struct kunit *test)
{
	struct policy p;
	u32 i;

	policy_start(test, &p);
	KUNIT_EXPECT_TRUE(test, p.b.exact);
	p.s.queued = 2 * MB;
	policy_epochs(&p, 100, MB, MB);
	KUNIT_EXPECT_TRUE(test, p.b.exact);
	/* Data without room, and use of more than half, each start the count anew. */
	for (i = 0; i < 3; i++) {
		p.s.lacked = i == 1;
		p.s.queued = i == 2 ? 2 * MB : MB;
		policy_epoch(&p, MB, MB);
		KUNIT_EXPECT_EQ_MSG(test, p.b.exact, true, "%u", i);
		p.s.lacked = 0;
		p.s.queued = MB;
		policy_epochs(&p, SSTP_RRDA_ENOUGH - 1, MB, MB);
		KUNIT_EXPECT_EQ_MSG(test, p.b.exact, i != 0, "%u", i);
		policy_epoch(&p, MB, MB);
		KUNIT_EXPECT_FALSE_MSG(test, p.b.exact, "%u", i);
	}
}

/* When the load falls, the buffer shrinks to what the path needs. */
static void policy_spare(struct kunit *test)
{
	struct policy p;

	policy_start(test, &p);
	p.s.queued = MB - 1;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 2, 1000, 1000), 4 * MB);
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, 1000, 1000),
			4 * MB - 4 * MB / SSTP_RRDA_DECAY);
	p.s.queued = 100 * KB;
	p.s.path = 3 * MB;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 100, 1000, 1000), 3 * MB);
	p.s.path = 0;
	p.s.queued = 400 * KB;
	/* A quarter of the limit is in use then. */
	KUNIT_EXPECT_LE(test, policy_epochs(&p, 200, 1000, 1000), 1600 * KB);
	KUNIT_EXPECT_GE(test, p.s.limit, 1500 * KB);
	/* A smaller limit would make PACKs more frequent. */
	p.s.queued = 0;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 300, 1000, 1000), MB);
}

/* Without free memory the buffer shrinks below the need of the path, down to the floor. */
static void policy_memory(struct kunit *test)
{
	struct policy p;

	policy_start(test, &p);
	p.s.queued = 4 * MB;
	p.s.path = 200 * MB;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, MB, MB), 200 * MB);
	p.s.available = 100 * MB;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, MB, MB), 50 * MB);
	p.s.available = 0;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, MB, MB), 64 * KB);
}

/* A socket's own tunables bound it, as far as the namespace lets them. */
static void policy_own(struct kunit *test)
{
	struct policy p;

	policy_start(test, &p);
	p.b.param[SSTP_RRDA_FLOOR] = MB;
	p.b.param[SSTP_RRDA_CEILING] = 2 * MB;
	p.s.queued = 4 * MB;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, MB, MB), 2 * MB);
	p.s.queued = 0;
	KUNIT_EXPECT_EQ(test, policy_epochs(&p, 3, 0, 0), MB);
	p.b.param[SSTP_RRDA_FLOOR] = 64 * MB;
	p.b.param[SSTP_RRDA_CEILING] = 1 << 30;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, 0, 0), 4 * MB);
	p.s.path = U32_MAX;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, MB, MB), 256 * MB);
	p.b.param[SSTP_RRDA_FLOOR] = 4 * KB;
	p.b.param[SSTP_RRDA_CEILING] = 4 * KB;
	KUNIT_EXPECT_EQ(test, policy_epoch(&p, MB, MB), 64 * KB);
}

/* A buffer has the system's names and ranges. Only a floor above a ceiling is a contradiction,
 * where both are set.
 */
static void policy_valid(struct kunit *test)
{
	static const struct {
		u32 floor, ceiling;
		int err;
	} cases[] = {
		{ 0, 0 }, { 4096, 4096 }, { 1 << 30, 0 }, { 0, 4096 },
		{ 8192, 8191, -EINVAL }, { 1 << 30, (1 << 30) - 1, -EINVAL },
	};
	struct sstp_param_values v = {};
	u32 i;

	for (i = 0; i < SSTP_RRDA_WEIGH_MEMORY; i++) {
		const struct sstp_param_spec *own = &sstp_rbuf_rrda.params[i];

		KUNIT_EXPECT_EQ_MSG(test, own->least, sstp_rrda_tunables[i].least, "%s", own->name);
		KUNIT_EXPECT_EQ_MSG(test, own->most, sstp_rrda_tunables[i].most, "%s", own->name);
		KUNIT_EXPECT_STREQ(test, own->name, sstp_rrda_attrs[i]->name);
	}

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		v.param[SSTP_RRDA_FLOOR] = cases[i].floor;
		v.param[SSTP_RRDA_CEILING] = cases[i].ceiling;
		KUNIT_EXPECT_EQ_MSG(test, sstp_rbuf_rrda.check_params(&v), cases[i].err, "%u", i);
	}
}

/* What it tells of itself: bytes that came and were not read, and whether that lasted */
static void policy_told(struct kunit *test)
{
	s64 state[SSTP_STATE_MAX] = {};
	struct policy p;

	policy_start(test, &p);
	policy_epochs(&p, 100, MB, MB / 2);
	sstp_rbuf_rrda.get_info(&p.b, state);
	KUNIT_EXPECT_STREQ(test, sstp_rbuf_rrda.state[0], "surplus");
	KUNIT_EXPECT_EQ(test, state[0], (s64)MB / 2);
	KUNIT_EXPECT_STREQ(test, sstp_rbuf_rrda.state[1], "trend");
	KUNIT_EXPECT_EQ(test, state[1], 1LL);
	policy_epochs(&p, 100, MB / 2, MB);
	sstp_rbuf_rrda.get_info(&p.b, state);
	KUNIT_EXPECT_EQ(test, state[0], -(s64)MB / 2);
	KUNIT_EXPECT_EQ(test, state[1], -1LL);
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE(policy_silent),
	KUNIT_CASE(policy_little),
	KUNIT_CASE(policy_patient),
	KUNIT_CASE(policy_unread),
	KUNIT_CASE(policy_at_once),
	KUNIT_CASE(policy_exact),
	KUNIT_CASE(policy_spare),
	KUNIT_CASE(policy_memory),
	KUNIT_CASE(policy_own),
	KUNIT_CASE(policy_valid),
	KUNIT_CASE(policy_told),
	{ }
};

static struct kunit_suite policy_suite = {
	.name = "sstp_rbuf_rrda",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
