// SPDX-License-Identifier: GPL-2.0
/* Measurements of the path at the receiver */
#include "sstp_test.h"
#include "../gauge.c"

#define MS	((u64)NSEC_PER_MSEC)

/* A packet that left at @left (us) and waited for @wait us */
static void gauge_packet(struct sstp_gauge *m, u32 left, u32 wait, u32 gap)
{
	const struct sstp_gauge_packets p = {
		.now = NSEC_PER_SEC + (left + 20000ULL + wait) * NSEC_PER_USEC,
		.stamp = left - 123456,
		.packets = 1,
		.bytes = 1000,
		.gap = gap,
	};

	sstp_gauge_packets(m, &p);
}

static void gauge_close(struct sstp_gauge *m, struct sstp_rbuf_seen *s, u32 us, u64 bytes,
			u32 lost)
{
	const struct sstp_gauge_epoch e = {
		.now = NSEC_PER_SEC + us * NSEC_PER_USEC,
		.elapsed = 80 * MS,
		.bytes = bytes,
		.lost = lost,
		.rtt = 40000,
		.granted = 8,
	};

	sstp_gauge_end(m, &e);
	*s = m->seen;
}

/* Queue, rate, and losses with the queue that they met */
static void gauge_epoch(struct kunit *test)
{
	struct sstp_rbuf_seen s = {};
	struct sstp_gauge m;
	u32 i;

	sstp_gauge_init(&m, 0);
	for (i = 0; i < 80; i++)
		gauge_packet(&m, i * 1000, i < 40 ? 0 : 3000, 0);
	gauge_close(&m, &s, 103000, 80000, 1000);
	KUNIT_EXPECT_EQ(test, s.queue, 0U);
	KUNIT_EXPECT_EQ(test, s.queue_most, 3000U);
	KUNIT_EXPECT_EQ(test, s.rate, 1000000ULL);
	KUNIT_EXPECT_EQ(test, s.rtt, 40000U);
	KUNIT_EXPECT_EQ(test, s.packet, 1000U);
	KUNIT_EXPECT_EQ(test, s.lost, 0U);
	KUNIT_EXPECT_EQ(test, s.lost_queue, 0U);
	KUNIT_EXPECT_FALSE(test, s.app_limited);
	/* Packets are skipped at 5 and 8 ms; the path lost two of three. */
	for (i = 80; i < 160; i++)
		gauge_packet(&m, i * 1000, i < 120 ? 5000 : 8000, i == 90 ? 2 : i == 130);
	gauge_close(&m, &s, 188000, 78000, 1002);
	KUNIT_EXPECT_EQ(test, s.queue, 5000U);
	KUNIT_EXPECT_EQ(test, s.queue_most, 8000U);
	KUNIT_EXPECT_EQ(test, s.lost, 2U);
	KUNIT_EXPECT_EQ(test, s.lost_queue, 6000U);
	/* It is certain one epoch later that the third is lost, too; then that a loss was none. */
	gauge_close(&m, &s, 188000, 78000, 1003);
	KUNIT_EXPECT_EQ(test, s.lost, 1U);
	KUNIT_EXPECT_EQ(test, s.lost_queue, 6000U);
	KUNIT_EXPECT_EQ(test, s.queue, 0U);
	gauge_close(&m, &s, 188000, 78000, 1002);
	KUNIT_EXPECT_EQ(test, s.lost, 0U);
	KUNIT_EXPECT_EQ(test, s.lost_queue, 0U);
}

/* The peer fills the window, or pauses, or does neither. */
static void gauge_limits(struct kunit *test)
{
	struct sstp_rbuf_seen s = {};
	struct sstp_gauge m;
	u32 i;

	sstp_gauge_init(&m, 0);
	sstp_gauge_segment(&m, 10000, 0);
	/* 8 segments are granted, two of them because segments are whole: 60 kB in 40 ms. */
	for (i = 0; i < 80; i++)
		gauge_packet(&m, i * 1000, 0, 0);
	gauge_close(&m, &s, 101000, 120000, 0);
	KUNIT_EXPECT_EQ(test, s.segment, 10000U);
	KUNIT_EXPECT_EQ(test, s.granted, 80000U);
	KUNIT_EXPECT_TRUE(test, s.window_limited);
	KUNIT_EXPECT_FALSE(test, s.app_limited);
	gauge_close(&m, &s, 101000, 119000, 0);
	KUNIT_EXPECT_FALSE(test, s.window_limited);
	KUNIT_EXPECT_FALSE(test, s.app_limited);
	/* 21 ms without a packet, in the epoch or at its end */
	gauge_packet(&m, 100000, 0, 0);
	gauge_packet(&m, 121000, 0, 0);
	gauge_close(&m, &s, 142000, 119000, 0);
	KUNIT_EXPECT_TRUE(test, s.app_limited);
	gauge_close(&m, &s, 162000, 119000, 0);
	KUNIT_EXPECT_TRUE(test, s.app_limited);
	gauge_close(&m, &s, 162000, 120000, 0);
	KUNIT_EXPECT_FALSE(test, s.app_limited);
}

/* A window grows, or becomes smaller, from one epoch to the next. */
static void gauge_grows(struct kunit *test)
{
	struct sstp_gauge_epoch e = { .elapsed = 80 * MS, .bytes = 120000, .rtt = 40000,
				      .granted = 12 };
	struct sstp_gauge m;

	sstp_gauge_init(&m, 0);
	sstp_gauge_segment(&m, 10000, 0);
	/* 60 kB are in flight, and two segments more would be less than 12, the first grant. */
	sstp_gauge_end(&m, &e);
	KUNIT_EXPECT_FALSE(test, m.seen.window_limited);
	/* They are more than 4 segments, and as many as the mean of 4 and 12. */
	e.granted = 4;
	sstp_gauge_end(&m, &e);
	KUNIT_EXPECT_TRUE(test, m.seen.window_limited);
	e.granted = 12;
	sstp_gauge_end(&m, &e);
	KUNIT_EXPECT_TRUE(test, m.seen.window_limited);
	/* The next epoch has had 12 from its beginning. */
	sstp_gauge_end(&m, &e);
	KUNIT_EXPECT_FALSE(test, m.seen.window_limited);
	/* A window that has become smaller counts as it is. */
	e.granted = 8;
	sstp_gauge_end(&m, &e);
	KUNIT_EXPECT_TRUE(test, m.seen.window_limited);
	e.granted = 9;
	sstp_gauge_end(&m, &e);
	KUNIT_EXPECT_FALSE(test, m.seen.window_limited);
	/* So does the first in bytes: no segment had come before. */
	sstp_gauge_init(&m, 0);
	sstp_gauge_end(&m, &e);
	sstp_gauge_segment(&m, 10000, 0);
	sstp_gauge_end(&m, &e);
	KUNIT_EXPECT_FALSE(test, m.seen.window_limited);
}

/* One request in two round trips and 10 ms; those that were lost are counted. */
static void gauge_asks(struct kunit *test)
{
	struct sstp_rbuf_seen s = {};
	struct sstp_gauge m;

	sstp_gauge_init(&m, 0);
	KUNIT_EXPECT_TRUE(test, sstp_gauge_ask(&m, 1000 * MS, 0));
	KUNIT_EXPECT_FALSE(test, sstp_gauge_ask(&m, 1010 * MS - 1, 0));
	sstp_gauge_answered(&m);
	KUNIT_EXPECT_TRUE(test, sstp_gauge_ask(&m, 1010 * MS, 0));
	KUNIT_EXPECT_FALSE(test, sstp_gauge_ask(&m, 1090 * MS - 1, 40000));
	KUNIT_EXPECT_TRUE(test, sstp_gauge_ask(&m, 1090 * MS, 40000));
	KUNIT_EXPECT_FALSE(test, sstp_gauge_ask(&m, 9000 * MS, U32_MAX));
	KUNIT_EXPECT_TRUE(test, sstp_gauge_ask(&m, 9000 * MS, 3000000));
	gauge_close(&m, &s, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, s.unanswered, 2U);
	gauge_close(&m, &s, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, s.unanswered, 0U);
}

static void gauge_window(struct kunit *test)
{
	struct sstp_gauge m;
	u32 i;

	sstp_gauge_init(&m, 0);
	/* No segment came yet. */
	KUNIT_EXPECT_EQ(test, sstp_gauge_segments(&m, 64000, 1000), 66U);
	KUNIT_EXPECT_EQ(test, sstp_gauge_segments(&m, U32_MAX, 0), SSTP_GAUGE_SEGMENTS + 2U);
	/* A small one, at first or later, makes little difference. */
	sstp_gauge_segment(&m, 100, 65536);
	KUNIT_EXPECT_LE(test, sstp_gauge_segments(&m, 65536, 1000), 3U);
	sstp_gauge_segment(&m, 65536, 65536);
	KUNIT_EXPECT_EQ(test, sstp_gauge_segments(&m, 1, 1000), 2U);
	KUNIT_EXPECT_EQ(test, sstp_gauge_segments(&m, 65536, 1000), 3U);
	KUNIT_EXPECT_EQ(test, sstp_gauge_segments(&m, 131071, 1000), 3U);
	KUNIT_EXPECT_EQ(test, sstp_gauge_segments(&m, U32_MAX, 1000), 65535U + 2);
	/* Segments become small: what is granted follows within some tens of them. */
	for (i = 0; i < 200; i++)
		sstp_gauge_segment(&m, 100, 65536);
	KUNIT_EXPECT_GE(test, sstp_gauge_segments(&m, 65536, 1000), 600U);
	sstp_gauge_segment(&m, SSTP_SEGMENT_MAX, 65536);
	KUNIT_EXPECT_EQ(test, m.segment, SSTP_SEGMENT_MAX);
	for (i = 0; i < 1000; i++)
		sstp_gauge_segment(&m, 0, 65536);
	KUNIT_EXPECT_GE(test, sstp_gauge_segments(&m, 1, 1000), 2U);
}

/* Anything that a peer may send */
static void gauge_hostile(struct kunit *test)
{
	struct sstp_rbuf_seen s = {};
	struct rnd_state rnd;
	struct sstp_gauge m;
	u32 i;

	sstp_test_seed_rnd(test, &rnd);
	sstp_gauge_init(&m, 0);
	for (i = 0; i < sstp_test_rounds(100000); i++) {
		const struct sstp_gauge_packets p = {
			.now = sstp_rnd_u64(&rnd), .stamp = sstp_rnd_edge(&rnd),
			.packets = sstp_rnd_edge(&rnd), .bytes = sstp_rnd_edge(&rnd),
			.gap = sstp_rnd_edge(&rnd), .again = sstp_rnd_one_in(&rnd, 2),
		};
		const struct sstp_gauge_epoch e = {
			.now = sstp_rnd_u64(&rnd), .elapsed = sstp_rnd_edge(&rnd),
			.bytes = sstp_rnd_edge(&rnd), .lost = sstp_rnd_edge(&rnd),
			.rtt = sstp_rnd_below(&rnd, 60000001), .granted = sstp_rnd_edge(&rnd),
		};

		sstp_gauge_packets(&m, &p);
		sstp_gauge_segment(&m, sstp_rnd_below(&rnd, SSTP_SEGMENT_MAX + 1), 65536);
		if (!sstp_rnd_one_in(&rnd, 10))
			continue;
		sstp_gauge_end(&m, &e);
		s = m.seen;
		KUNIT_EXPECT_LE(test, s.queue, SSTP_OWD_MAX);
		KUNIT_EXPECT_LE(test, s.queue_most, SSTP_OWD_MAX);
		KUNIT_EXPECT_LE(test, s.lost_queue, SSTP_OWD_MAX);
		KUNIT_EXPECT_LE(test, s.rate, SSTP_SPREAD_RATE_MAX);
		KUNIT_EXPECT_LE(test, s.capacity, SSTP_SPREAD_RATE_MAX);
		KUNIT_EXPECT_LE(test, s.segment, SSTP_SEGMENT_MAX);
		KUNIT_EXPECT_FALSE(test, s.window_limited && s.app_limited);
		sstp_gauge_bound(&m, sstp_rnd_edge(&rnd));
		KUNIT_EXPECT_LE(test, m.most, SSTP_SEGMENT_MAX);
		if (m.most)
			KUNIT_EXPECT_GE(test, m.most, min(s.packet, SSTP_SEGMENT_MAX));
	}
}

/* Segments are told a bound where they are large beside the window, and from then on always. */
static void gauge_bound(struct kunit *test)
{
	struct sstp_gauge m;
	u32 i;

	sstp_gauge_init(&m, 0);
	sstp_gauge_segment(&m, 65536, 65536);
	sstp_gauge_bound(&m, 0);
	KUNIT_EXPECT_EQ(test, m.most, 0U);
	sstp_gauge_bound(&m, 32 * 65536);
	KUNIT_EXPECT_EQ(test, m.most, 0U);
	sstp_gauge_bound(&m, 1280000);
	KUNIT_EXPECT_EQ(test, m.most, 40000U);
	/* They are halved at once, at most. */
	sstp_gauge_bound(&m, 600000);
	KUNIT_EXPECT_EQ(test, m.most, 32768U);
	/* The peer follows: the window soon has as many segments as it needs, not a half. */
	for (i = 0; i < 3; i++)
		sstp_gauge_segment(&m, 28960, 65536);
	KUNIT_EXPECT_LE(test, m.segment, 32768U);
	KUNIT_EXPECT_GE(test, m.segment, 28960U);
	sstp_gauge_segment(&m, 65536, 65536);
	KUNIT_EXPECT_EQ(test, m.segment, 65536U);
	sstp_gauge_bound(&m, 32 * 65536);
	KUNIT_EXPECT_EQ(test, m.most, 65536U);
	sstp_gauge_bound(&m, 0);
	KUNIT_EXPECT_EQ(test, m.most, SSTP_SEGMENT_MAX);
	sstp_gauge_bound(&m, 1);
	KUNIT_EXPECT_EQ(test, m.most, 32768U);
	m.segment = 1;
	sstp_gauge_bound(&m, 1);
	KUNIT_EXPECT_EQ(test, m.most, 1U);
	/* They have a packet at least. */
	m.seen.packet = 1448;
	sstp_gauge_bound(&m, 16384);
	KUNIT_EXPECT_EQ(test, m.most, 1448U);
	sstp_gauge_bound(&m, U32_MAX);
	KUNIT_EXPECT_EQ(test, m.most, SSTP_SEGMENT_MAX);
}

static struct kunit_case gauge_cases[] = {
	KUNIT_CASE(gauge_epoch),
	KUNIT_CASE(gauge_limits),
	KUNIT_CASE(gauge_grows),
	KUNIT_CASE(gauge_asks),
	KUNIT_CASE(gauge_window),
	KUNIT_CASE(gauge_bound),
	KUNIT_CASE(gauge_hostile),
	{ }
};

static struct kunit_suite gauge_suite = {
	.name = "sstp_gauge",
	.test_cases = gauge_cases,
};

kunit_test_suite(gauge_suite);
