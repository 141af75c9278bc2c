// SPDX-License-Identifier: GPL-2.0
/* Monitor: counters since the set-up and in an interval, and the rates of that */
#include "sstp_test.h"
#include "../monitor.c"

static const u64 *monitor_u64(const void *p, u16 at)
{
	return (const u64 *)((const u8 *)p + at);
}

/* @m has each counter of @is, and its difference to @was; and all other fields of @is. */
static void monitor_check(struct kunit *test, const struct sstp_monitor *m,
			  const struct sstp_info *was, const struct sstp_info *is)
{
	const struct sstp_monitor_field *f;
	u32 n;

	for (n = 0; n < SSTP_MONITOR_COUNTS; n++) {
		const u64 *pair;

		f = &sstp_monitor_counts[n];
		pair = monitor_u64(m, f->to);
		KUNIT_ASSERT_EQ_MSG(test, pair[0], *monitor_u64(is, f->from), "counter %u", n);
		KUNIT_ASSERT_EQ_MSG(test, pair[1], pair[0] - *monitor_u64(was, f->from),
				    "counter %u", n);
	}
	for (n = 0; n < ARRAY_SIZE(sstp_monitor_now); n++) {
		f = &sstp_monitor_now[n];
		KUNIT_ASSERT_MEMEQ_MSG(test, (u8 *)m + f->to, (u8 *)is + f->from, f->size,
				       "field %u", n);
	}
	/* Some by their names */
	KUNIT_ASSERT_EQ(test, m->bytes_sent.total, is->bytes_sent);
	KUNIT_ASSERT_EQ(test, m->snaks_received.recent, is->snaks_received - was->snaks_received);
	KUNIT_ASSERT_EQ(test, m->period, is->period);
	KUNIT_ASSERT_EQ(test, m->packet_size, is->packet_size);
}

/* Counters of any values, which rise or wrap: each total, each difference, each other field */
static void monitor_fields(struct kunit *test)
{
	static struct sstp_monitor_mark mark;
	static struct sstp_info was, is;
	static struct sstp_monitor m;
	struct rnd_state r;
	u32 i, n;

	memset(&mark, 0, sizeof(mark));
	memset(&was, 0, sizeof(was));
	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < sstp_test_rounds(1000); i++) {
		prandom_bytes_state(&r, &is, sizeof(is));
		for (n = 0; n < SSTP_MONITOR_COUNTS; n++) {
			u16 from = sstp_monitor_counts[n].from;

			*(u64 *)((u8 *)&is + from) = *monitor_u64(&was, from) +
						     prandom_u32_state(&r);
		}
		/* Of bytes in a microsecond as many as are possible */
		is.age = was.age + sstp_rnd_range(&r, 1, S32_MAX);
		memset(&m, 0xff, sizeof(m));
		sstp_monitor_fill(&m, &is, &mark);
		monitor_check(test, &m, &was, &is);
		sstp_monitor_begin(&mark, &is);
		was = is;
	}
}

/* Bytes sent go back when a segment is cut anew for a smaller path MTU. */
static void monitor_back(struct kunit *test)
{
	static struct sstp_monitor_mark mark;
	static struct sstp_info i;
	static struct sstp_monitor m;

	memset(&i, 0, sizeof(i));
	i.age = USEC_PER_SEC;
	i.bytes_sent = 1000000;
	sstp_monitor_begin(&mark, &i);
	i.age = 2 * USEC_PER_SEC;
	i.bytes_sent = 400000;
	sstp_monitor_fill(&m, &i, &mark);
	KUNIT_EXPECT_EQ(test, m.bytes_sent.total, 400000ULL);
	KUNIT_EXPECT_EQ(test, m.bytes_sent.recent, 0ULL);
	KUNIT_EXPECT_EQ(test, m.send_rate, 0ULL);
}

static void monitor_rates(struct kunit *test)
{
	static const struct {
		u64 bytes, us, rate;
	} t[] = {
		{ 0, 0, 0 }, { 1000, 0, 0 }, { 0, 1, 0 }, { 1, 1, 8000000 },
		{ 125, USEC_PER_SEC, 1000 }, { 124, USEC_PER_SEC, 992 },
		{ 1, 8 * USEC_PER_SEC, 1 }, { 1, 8 * USEC_PER_SEC + 1, 0 },
		/* 4 Tbit/s: in a microsecond, a day, and a year */
		{ 500000, 1, 4000000000000ULL },
		{ 43200000000000000ULL, 86400ULL * USEC_PER_SEC, 4000000000000ULL },
		{ 15778800000000000000ULL, 31557600ULL * USEC_PER_SEC, 4000000000000ULL },
		/* More than a rate can be */
		{ U64_MAX, 1, U64_MAX }, { U64_MAX, 8 * USEC_PER_SEC - 1, U64_MAX },
		{ U64_MAX, 9 * USEC_PER_SEC, 16397105843297379213ULL },
		{ U64_MAX / (8 * USEC_PER_SEC), 1, U64_MAX },
		{ U64_MAX / (8 * USEC_PER_SEC) - 1, 1, 18446744073696000000ULL },
	};
	static const struct {
		u64 lost, sent;
		u32 rate;
	} l[] = {
		{ 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 1000000 }, { 5, 4, 1000000 },
		{ 1, 3, 333333 }, { 2, 1000000, 2 }, { 1, 1000001, 0 },
		{ U64_MAX, 1, 1000000 }, { 1ULL << 40, 1ULL << 41, 500000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_monitor_rate(t[i].bytes, t[i].us), t[i].rate,
				    "row %u", i);
	for (i = 0; i < ARRAY_SIZE(l); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_monitor_loss(l[i].lost, l[i].sent), l[i].rate,
				    "row %u", i);
}

static struct kunit_case monitor_cases[] = {
	KUNIT_CASE(monitor_fields),
	KUNIT_CASE(monitor_back),
	KUNIT_CASE(monitor_rates),
	{}
};

static struct kunit_suite monitor_suite = {
	.name = "sstp_monitor",
	.test_cases = monitor_cases,
};

kunit_test_suite(monitor_suite);
