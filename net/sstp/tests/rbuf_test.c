// SPDX-License-Identifier: GPL-2.0
/* Calls of a receive buffer policy: ranges of its verdict, and samples that it gets */
#include "sstp_test.h"
#include "../rbuf_call.c"

#define KB	1024u
#define MB	(1024u * 1024u)

/* Verdicts of a policy for a buffer of @limit bytes, and the values they are clamped to */
static const struct rbuf_range {
	u32 limit;
	u32 wanted, bound;
	u32 top, top_bound;
	u64 epoch, epoch_bound;
} rbuf_ranges[] = {
	{ MB, MB, MB, 8 * MB, 8 * MB, 0, 0 },
	{ MB, 4 * KB, 4 * KB, 4 * KB, 4 * KB, 1, NSEC_PER_MSEC },
	{ MB, 4 * KB - 1, 4 * KB, 4 * KB - 1, 4 * KB, NSEC_PER_MSEC - 1, NSEC_PER_MSEC },
	{ MB, 0, 4 * KB, 0, 4 * KB, NSEC_PER_MSEC, NSEC_PER_MSEC },
	{ MB, 8 * MB, 8 * MB, 8 * MB, 8 * MB, 10000000000ULL, 10000000000ULL },
	{ MB, 8 * MB + 1, 8 * MB, 8 * MB + 1, 8 * MB, 10000000001ULL, 10000000000ULL },
	{ MB, U32_MAX, 8 * MB, U32_MAX, 8 * MB, U64_MAX, 10000000000ULL },
	/* SO_RCVBUF made it smaller, or the ceiling fell: the policy leaves it alone. */
	{ KB, KB, KB, MB, MB, 0, 0 },
	{ KB, KB - 1, 4 * KB, MB, MB, 0, 0 },
	{ 16 * MB, 16 * MB, 16 * MB, MB, MB, 0, 0 },
	{ 16 * MB, 16 * MB - 1, 8 * MB, MB, MB, 0, 0 },
};

static const struct rbuf_range *rbuf_says;

static void rbuf_say(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	b->limit = rbuf_says->wanted;
	b->top = rbuf_says->top;
	b->epoch = rbuf_says->epoch;
	b->rest = true;
}

static void rbuf_bounded(struct kunit *test, struct sstp_rbuf_core *b, const char *call)
{
	u32 i = rbuf_says - rbuf_ranges;

	KUNIT_EXPECT_EQ_MSG(test, b->out.limit, rbuf_says->bound, "%s, row %u", call, i);
	KUNIT_EXPECT_EQ_MSG(test, b->out.top, rbuf_says->top_bound, "%s, row %u", call, i);
	KUNIT_EXPECT_EQ_MSG(test, b->out.epoch, rbuf_says->epoch_bound, "%s, row %u", call, i);
	KUNIT_EXPECT_EQ_MSG(test, b->in.limit, rbuf_says->limit, "%s, row %u", call, i);
}

static struct sstp_rbuf_core rbuf_said(void)
{
	return (struct sstp_rbuf_core){
		.in = { .limit = rbuf_says->limit, .least = 4 * KB, .ceiling = 8 * MB },
	};
}

static const struct sstp_plugin_conf rbuf_none;

static void rbuf_hostile(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = { .init = rbuf_say, .update = rbuf_say };
	struct sstp_rbuf_core b;

	for (rbuf_says = rbuf_ranges; rbuf_says < rbuf_ranges + ARRAY_SIZE(rbuf_ranges);
	     rbuf_says++) {
		b = rbuf_said();
		sstp_rbuf_begin(&b, &ops, &rbuf_none);
		rbuf_bounded(test, &b, "init");
		b.out.limit = 0;
		KUNIT_EXPECT_EQ(test, sstp_rbuf_update(&b, NULL), rbuf_says->bound);
		rbuf_bounded(test, &b, "update");
		KUNIT_EXPECT_TRUE(test, b.resting);
		sstp_rbuf_restart(&b);
		rbuf_bounded(test, &b, "init of a restart");
	}
}

/* A policy without callbacks leaves the limit as it is, and has no epochs. */
static void rbuf_silent(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = {};
	struct sstp_rbuf_core b = {
		.in = { .limit = MB, .least = 4 * KB, .ceiling = 8 * MB },
		.out = { .epoch = 1, .exact = true, .rest = true, .measure = true,
			 .widen = true, .small = true, .window = 1, .priv = { 1 } },
	};
	s64 state[SSTP_STATE_MAX] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	u32 i;

	sstp_rbuf_begin(&b, &ops, &rbuf_none);
	KUNIT_EXPECT_EQ(test, b.out.limit, MB);
	KUNIT_EXPECT_EQ(test, b.out.top, 8 * MB);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 0ULL);
	KUNIT_EXPECT_FALSE(test, b.out.exact || b.out.rest || b.out.measure);
	KUNIT_EXPECT_FALSE(test, b.out.widen || b.out.small || b.out.window);
	KUNIT_EXPECT_EQ(test, b.out.priv[0], 0ULL);
	/* It tells nothing of itself. */
	sstp_rbuf_get_info(&b, state);
	for (i = 0; i < SSTP_STATE_MAX; i++)
		KUNIT_EXPECT_EQ(test, state[i], 0LL);
}

static void rbuf_obey(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	b->epoch = (b->param[0] ?: 3) * (u64)NSEC_PER_MSEC;
}

static void rbuf_tell(const struct sstp_rbuf *b, s64 *state)
{
	state[1] = -(s64)b->param[0];
}

/* Parameters are there before init, also of a restart, and at the next callback. */
static void rbuf_params(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = {
		.init = rbuf_obey, .update = rbuf_obey, .name = "obey",
		.params = { { "epoch", 1, 10 } },
		.state = { "", "told" }, .get_info = rbuf_tell,
	};
	struct sstp_plugin_conf conf = { .name = "obey", .param = { 5 } };
	struct sstp_rbuf_core b = {
		.in = { .limit = MB, .least = 4 * KB, .ceiling = 8 * MB },
	};
	s64 state[SSTP_STATE_MAX];

	sstp_rbuf_begin(&b, &ops, &conf);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 5ULL * NSEC_PER_MSEC);
	conf.param[0] = 7;
	sstp_rbuf_tune(&b, &conf);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 5ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, sstp_rbuf_update(&b, NULL), MB);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 7ULL * NSEC_PER_MSEC);
	sstp_rbuf_get_info(&b, state);
	KUNIT_EXPECT_EQ(test, state[0], 0LL);
	KUNIT_EXPECT_EQ(test, state[1], -7LL);
	sstp_rbuf_restart(&b);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 7ULL * NSEC_PER_MSEC);
	/* Those of another policy are not for this one. */
	sstp_rbuf_tune(&b, &(struct sstp_plugin_conf){ .name = "other", .param = { 9 } });
	sstp_rbuf_update(&b, NULL);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 7ULL * NSEC_PER_MSEC);
	sstp_rbuf_begin(&b, &ops, &(struct sstp_plugin_conf){ .name = "other", .param = { 9 } });
	KUNIT_EXPECT_EQ(test, b.out.epoch, 3ULL * NSEC_PER_MSEC);
	/* Set before there is a policy */
	b.ops = NULL;
	sstp_rbuf_tune(&b, &conf);
	sstp_rbuf_begin(&b, &ops, &conf);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 7ULL * NSEC_PER_MSEC);
}

static struct sstp_rbuf_sample rbuf_got;

static void rbuf_look(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	rbuf_got = *s;
}

/* A policy gets what was measured of the path, or zeros. */
static void rbuf_seen(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = { .init = rbuf_look, .update = rbuf_look };
	static const struct sstp_rbuf_seen none;
	const struct sstp_rbuf_seen seen = { .rtt = 7, .rate = 9, .app_limited = true };
	struct sstp_rbuf_core b = {
		.in = { .limit = MB, .least = 4 * KB, .ceiling = 8 * MB, .available = 5 },
	};

	rbuf_got.rtt = 1;
	sstp_rbuf_begin(&b, &ops, &rbuf_none);
	KUNIT_EXPECT_MEMEQ(test, &rbuf_got.use, &b.in, sizeof(b.in));
	KUNIT_EXPECT_MEMEQ(test, &rbuf_got.seen, &none, sizeof(none));
	sstp_rbuf_update(&b, &seen);
	KUNIT_EXPECT_MEMEQ(test, &rbuf_got.use, &b.in, sizeof(b.in));
	KUNIT_EXPECT_EQ(test, rbuf_got.rtt, 7U);
	KUNIT_EXPECT_EQ(test, rbuf_got.rate, 9ULL);
	KUNIT_EXPECT_TRUE(test, rbuf_got.app_limited);
	sstp_rbuf_update(&b, NULL);
	KUNIT_EXPECT_EQ(test, rbuf_got.rtt, 0U);
	KUNIT_EXPECT_FALSE(test, rbuf_got.app_limited);
}

static struct kunit_case rbuf_cases[] = {
	KUNIT_CASE(rbuf_hostile),
	KUNIT_CASE(rbuf_silent),
	KUNIT_CASE(rbuf_seen),
	KUNIT_CASE(rbuf_params),
	{}
};

static struct kunit_suite rbuf_suite = {
	.name = "sstp_rbuf",
	.test_cases = rbuf_cases,
};

kunit_test_suite(rbuf_suite);
