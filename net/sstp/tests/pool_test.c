// SPDX-License-Identifier: GPL-2.0
/* A buffer that connections share: the share of each, and when the pool grows. */
#include "sstp_test.h"
#include "../rbuf.h"

/* The suite has no policies of other files to detach, and no buffers to count. */
#define sstp_rbuf_detach(b)	((void)(b))
#define sstp_rbuf_count(b, now)	((void)(b), (void)(now))
#define sstp_rbuf_uncount(b)	((void)(b))
#include "../pool.c"

#define MB	(1024u * 1024u)

static bool pool_drained;	/* last sample that the policy got */

static void pool_init(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	b->epoch = NSEC_PER_MSEC;
}

static void pool_update(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	pool_drained = s->drained;
}

static struct sstp_rbuf_ops pool_ops = { .init = pool_init, .update = pool_update };

static struct sstp_pool *pool_of(struct kunit *test, u32 limit)
{
	const struct sstp_rbuf_core b = {
		.in = { .limit = limit, .first = MB, .ceiling = 8 * MB },
		.ops = &pool_ops,
		.out = { .epoch = NSEC_PER_MSEC },
	};
	struct sstp_pool *p = sstp_pool_new(&b, false);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

static void pool_join(struct sstp_pool *p, struct sstp_member *m, u32 n)
{
	while (n--) {
		m[n] = (struct sstp_member){ .pool = sstp_pool_get(p) };
		sstp_pool_join(&m[n]);
	}
}

static void pool_leave(struct sstp_member *m, u32 n)
{
	while (n--)
		sstp_pool_leave(&m[n]);
}

static s64 pool_epoch(struct sstp_member *m, struct sstp_rbuf_use *seen, u64 now)
{
	s64 state[SSTP_STATE_MAX];
	u32 limit;
	s64 grown = sstp_pool_epoch(m, seen, now, &limit, state);

	return limit == sstp_pool_limit(m->pool) ? grown : S64_MAX;
}

/* A single member has all; several have a part of what is free, but at least an equal part. */
static void pool_shares(struct kunit *test)
{
	struct sstp_pool *p = pool_of(test, 8 * MB);
	struct sstp_member m[4];

	pool_join(p, m, 1);
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[0], 0), 8 * MB);
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[0], 3 * MB), 8 * MB);
	pool_join(p, m + 1, 3);
	KUNIT_EXPECT_EQ(test, sstp_pool_used(p), 3 * MB);
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[1], 0), 2 * MB);
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[0], 4 * MB), 5 * MB);
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[1], 4 * MB), 4 * MB);
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[2], 0), 2 * MB);
	/* Memory that one member frees is available to the others at once. */
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[0], 0), 2 * MB);
	KUNIT_EXPECT_EQ(test, sstp_pool_share(&m[1], 4 * MB), 5 * MB);
	pool_leave(m, 4);
	KUNIT_EXPECT_EQ(test, sstp_pool_used(p), 0U);
	KUNIT_EXPECT_EQ(test, refcount_read(&p->ref), 1U);
	sstp_pool_put(p);
}

/* The pool grows for a member without room only if the pool was full. */
static void pool_full(struct kunit *test)
{
	struct sstp_pool *p = pool_of(test, 8 * MB);
	struct sstp_rbuf_use seen = { .emptied = true, .drained = true };
	struct sstp_member m[2];
	u64 now = NSEC_PER_SEC;

	pool_join(p, m, 2);
	pool_epoch(&m[0], &seen, now);
	sstp_pool_share(&m[0], 5 * MB);
	pool_epoch(&m[0], &seen, now += NSEC_PER_MSEC);
	KUNIT_EXPECT_FALSE(test, pool_drained);
	sstp_pool_share(&m[1], MB);
	pool_epoch(&m[0], &seen, now += NSEC_PER_MSEC);
	KUNIT_EXPECT_TRUE(test, pool_drained);
	sstp_pool_share(&m[0], 0);
	pool_epoch(&m[0], &seen, now += NSEC_PER_MSEC);
	/* The pool was full when this epoch began. */
	KUNIT_EXPECT_TRUE(test, pool_drained);
	pool_epoch(&m[0], &seen, now += NSEC_PER_MSEC);
	KUNIT_EXPECT_FALSE(test, pool_drained);
	pool_leave(m, 2);
	sstp_pool_put(p);
}

/* When the last member leaves, the pool forgets its state, except SO_RCVBUF. */
static void pool_empty(struct kunit *test)
{
	struct sstp_pool *p = pool_of(test, 8 * MB);
	struct sstp_rbuf_use seen = { .path = MB, .lacked = MB, .emptied = true };
	struct sstp_member m[2];

	pool_join(p, m, 2);
	sstp_pool_share(&m[0], 8 * MB);
	pool_epoch(&m[0], &seen, NSEC_PER_SEC);
	sstp_pool_share(&m[0], 0);
	KUNIT_EXPECT_TRUE(test, p->b.in.drained);
	p->b.out.priv[0] = 1;
	KUNIT_EXPECT_FALSE(test, p->b.resting);
	sstp_pool_end(&m[0]);
	KUNIT_EXPECT_EQ(test, sstp_pool_limit(p), 8 * MB);
	sstp_pool_end(&m[1]);
	KUNIT_EXPECT_EQ(test, sstp_pool_limit(p), MB);
	KUNIT_EXPECT_TRUE(test, p->b.resting);
	KUNIT_EXPECT_EQ(test, p->b.out.priv[0], 0U);
	pool_leave(m, 2);
	/* An epoch begins with the next member, however late it joins. */
	pool_join(p, m, 1);
	seen = (struct sstp_rbuf_use){ .arrived = 1000 };
	KUNIT_EXPECT_EQ(test, pool_epoch(&m[0], &seen, 100ULL * NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, p->at, 100ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, p->b.in.arrived, 1000U);
	KUNIT_EXPECT_EQ(test, p->b.in.lacked, 0U);
	KUNIT_EXPECT_FALSE(test, p->b.in.drained || p->b.in.emptied);
	KUNIT_EXPECT_EQ(test, p->b.in.queued, 0U);
	KUNIT_EXPECT_EQ(test, p->path, 0U);
	pool_leave(m, 1);
	sstp_pool_put(p);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(pool_shares),
	KUNIT_CASE(pool_full),
	KUNIT_CASE(pool_empty),
	{ }
};

static struct kunit_suite pool_suite = {
	.name = "sstp_pool",
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
