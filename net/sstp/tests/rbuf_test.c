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

static void rbuf_say_param(struct sstp_rbuf *b, int option, const void *param, size_t len)
{
	rbuf_say(b, NULL);
}

static void rbuf_bounded(struct kunit *test, struct sstp_rbuf_core *b, const char *call)
{
	u32 i = rbuf_says - rbuf_ranges;

	KUNIT_EXPECT_EQ_MSG(test, b->out.limit, rbuf_says->bound, "%s, row %u", call, i);
	KUNIT_EXPECT_EQ_MSG(test, b->out.top, rbuf_says->top_bound, "%s, row %u", call, i);
	KUNIT_EXPECT_EQ_MSG(test, b->out.epoch, rbuf_says->epoch_bound, "%s, row %u", call, i);
	KUNIT_EXPECT_EQ_MSG(test, b->in.limit, rbuf_says->limit, "%s, row %u", call, i);
}

static struct sstp_rbuf_core rbuf_said(const struct sstp_rbuf_ops *ops)
{
	return (struct sstp_rbuf_core){
		.in = { .limit = rbuf_says->limit, .least = 4 * KB, .ceiling = 8 * MB },
		.ops = ops,
	};
}

static void rbuf_hostile(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = { .init = rbuf_say, .update = rbuf_say };
	struct sstp_rbuf_core b;

	for (rbuf_says = rbuf_ranges; rbuf_says < rbuf_ranges + ARRAY_SIZE(rbuf_ranges);
	     rbuf_says++) {
		b = rbuf_said(NULL);
		sstp_rbuf_begin(&b, &ops);
		rbuf_bounded(test, &b, "init");
		b.out.limit = 0;
		KUNIT_EXPECT_EQ(test, sstp_rbuf_update(&b), rbuf_says->bound);
		rbuf_bounded(test, &b, "update");
		KUNIT_EXPECT_TRUE(test, b.resting);
		sstp_rbuf_restart(&b);
		rbuf_bounded(test, &b, "init of a restart");
	}
}

static void rbuf_update(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
}

/* The verdict is clamped also when an option is set, which gives no epochs to a policy without
 * an update callback.
 */
static void rbuf_hostile_param(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = {
		.update = rbuf_update, .set_param = rbuf_say_param,
	};
	static const struct sstp_rbuf_ops none = { .set_param = rbuf_say_param };
	const struct sstp_rrda_spec rrda = {};
	struct sstp_rbuf_core b;

	for (rbuf_says = rbuf_ranges; rbuf_says < rbuf_ranges + ARRAY_SIZE(rbuf_ranges);
	     rbuf_says++) {
		b = rbuf_said(&ops);
		sstp_rbuf_tune(&b, &rrda);
		rbuf_bounded(test, &b, "set_param");
		b.ops = &none;
		sstp_rbuf_tune(&b, &rrda);
		KUNIT_EXPECT_EQ(test, b.out.epoch, 0ULL);
	}
}

/* A policy without callbacks leaves the limit as it is, and has no epochs. */
static void rbuf_silent(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = {};
	struct sstp_rbuf_core b = {
		.in = { .limit = MB, .least = 4 * KB, .ceiling = 8 * MB },
		.out = { .epoch = 1, .exact = true, .rest = true, .priv = { 1 } },
	};

	sstp_rbuf_begin(&b, &ops);
	KUNIT_EXPECT_EQ(test, b.out.limit, MB);
	KUNIT_EXPECT_EQ(test, b.out.top, 8 * MB);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 0ULL);
	KUNIT_EXPECT_FALSE(test, b.out.exact || b.out.rest);
	KUNIT_EXPECT_EQ(test, b.out.priv[0], 0ULL);
}

static void rbuf_set_param(struct sstp_rbuf *b, int option, const void *param, size_t len)
{
	const struct sstp_rrda_spec *rrda = param;

	if (option == SSTP_RRDA && len == sizeof(*rrda))
		b->priv[0] = rrda->epoch;
}

static void rbuf_init(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	b->epoch = b->priv[0] * NSEC_PER_MSEC;
}

/* A policy sees a socket option before init, also at a restart, and as soon as it is set. */
static void rbuf_option(struct kunit *test)
{
	static const struct sstp_rbuf_ops ops = {
		.init = rbuf_init, .update = rbuf_update, .set_param = rbuf_set_param,
	};
	struct sstp_rbuf_info info = { .surplus = 1, .trend = 1 };
	struct sstp_rbuf_core b = { .rrda.epoch = 5 };

	sstp_rbuf_begin(&b, &ops);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 5ULL * NSEC_PER_MSEC);
	/* A limit that the policy wanted before does not count. */
	b.in = (struct sstp_rbuf_sample){ .limit = MB, .least = 4 * KB, .ceiling = 8 * MB };
	b.out.limit = 2 * MB;
	sstp_rbuf_tune(&b, &(struct sstp_rrda_spec){ .epoch = 7 });
	KUNIT_EXPECT_EQ(test, b.out.limit, MB);
	KUNIT_EXPECT_EQ(test, b.out.priv[0], 7ULL);
	sstp_rbuf_restart(&b);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 7ULL * NSEC_PER_MSEC);
	/* The policy has no get_info. */
	sstp_rbuf_get_info(&b, &info);
	KUNIT_EXPECT_EQ(test, info.surplus, 0LL);
	KUNIT_EXPECT_EQ(test, info.trend, 0);
	/* Set before there is a policy */
	b = (struct sstp_rbuf_core){};
	sstp_rbuf_tune(&b, &(struct sstp_rrda_spec){ .epoch = 9 });
	sstp_rbuf_begin(&b, &ops);
	KUNIT_EXPECT_EQ(test, b.out.epoch, 9ULL * NSEC_PER_MSEC);
}

static struct kunit_case rbuf_cases[] = {
	KUNIT_CASE(rbuf_hostile),
	KUNIT_CASE(rbuf_hostile_param),
	KUNIT_CASE(rbuf_silent),
	KUNIT_CASE(rbuf_option),
	{}
};

static struct kunit_suite rbuf_suite = {
	.name = "sstp_rbuf",
	.test_cases = rbuf_cases,
};

kunit_test_suite(rbuf_suite);
