// SPDX-License-Identifier: GPL-2.0
/* Delivery rate: samples of simulated paths whose rate is known */
#include <linux/math64.h>
#include "sstp_test.h"
#include "../sample.c"

/* Reports that follow a first one, all times in us from a base that wraps */
static void sample_marks(struct kunit *test)
{
	static const struct {
		struct sstp_sample_mark r;
		u32 packets, interval, prior;
	} t[] = {
		/* 100 packets left in 1 ms, and came in 2 ms. */
		{ { 12000, 1000, 12000, 100 }, 100, 12000, 0 },
		/* The mark at 12000 came after this packet left. */
		{ { 14000, 11000, 14000, 300 }, 300, 14000, 0 },
		{ { 24000, 13000, 22000, 500 }, 400, 12000, 100 },
		/* Nothing new was delivered. */
		{ { 25000, 13000, 22000, 100 }, 0, 0, 0 },
		/* The packet left before the one that the mark's report answers. */
		{ { 26000, 12500, 25000, 600 }, 500, 13000, 100 },
	};
	u32 base, i;

	for (base = -30000; base != 10000; base += 10000) {
		struct sstp_sampler p = {};
		struct sstp_delivery d;

		sstp_sample_start(&p, base, base * 3, 0);
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			struct sstp_sample_mark r = t[i].r;

			r.at += base;
			r.sent += base;
			r.came += base;
			r.delivered += base * 3;
			sstp_sample_report(&p, &r, 10000, 400, &d);
			KUNIT_EXPECT_EQ_MSG(test, d.packets, t[i].packets, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, d.interval, t[i].interval, "row %u", i);
			KUNIT_EXPECT_FALSE_MSG(test, d.app_limited, "row %u", i);
			if (d.packets)
				KUNIT_EXPECT_EQ_MSG(test, d.prior, base * 3 + t[i].prior,
						    "row %u", i);
		}
		sstp_sample_free(&p);
	}
}

/* A bottleneck of one packet in 100 us, behind 20 ms each way, and a sender that keeps
 * @window packets in flight: the samples settle at its rate, or at the window's.
 */
static void sample_path(struct kunit *test)
{
	static const struct {
		u32 window, rate;	/* packets; packets a second */
		u32 off, away;		/* of the rate and of the window: percent, at most */
	} t[] = {
		/* A quarter of the path's product leaves in bursts: see sample.h. */
		{ 100, 2500, 26, 26 },
		{ 400, 10000, 1, 1 }, { 1000, 10000, 1, 1 }, { 4000, 10000, 1, 1 },
	};
	u32 k, n;

	for (k = 0; k < ARRAY_SIZE(t); k++) {
		struct sstp_sampler p = {};
		struct sstp_delivery d;
		u32 *sent = kunit_kcalloc(test, 8192, sizeof(u32), GFP_KERNEL);
		u32 shipped = 0, free = 0, now = 0, srtt = 40000;
		u64 rate;

		KUNIT_ASSERT_NOT_NULL(test, sent);
		sstp_sample_start(&p, now, 0, 0);
		while (shipped < t[k].window)
			sent[shipped++ % 8192] = now;
		for (n = 0; n < 20000; n++) {
			u32 left = sent[n % 8192], came;

			/* A report for each packet, and a packet for each report */
			free = max(free + 100, left + 20000);
			came = free + 20000;
			now = came;
			sstp_sample_report(&p, &(struct sstp_sample_mark){
				.at = now, .sent = left, .came = came, .delivered = n + 1,
				.highest = n + 1,
			}, srtt, t[k].window, &d);
			srtt = now - left;
			sent[shipped++ % 8192] = now;
			if (n < 3 * t[k].window)
				continue;
			KUNIT_ASSERT_GT_MSG(test, d.packets, 0U, "row %u, packet %u", k, n);
			rate = div_u64(d.packets * (u64)USEC_PER_SEC, d.interval);
			KUNIT_ASSERT_LE_MSG(test, abs_diff(rate, (u64)t[k].rate),
					    t[k].rate * t[k].off / 100,
					    "row %u, packet %u", k, n);
			KUNIT_ASSERT_LE_MSG(test, abs_diff(d.flight, t[k].window),
					    t[k].window * t[k].away / 100 + 1,
					    "row %u, packet %u", k, n);
			KUNIT_ASSERT_EQ(test, d.lost, 0U);
		}
		sstp_sample_free(&p);
	}
}

/* In flight when the packet left, and lost of these. A packet leaves each 100 us, is reported after
 * 10 ms, and each tenth is lost: 100 were in flight, and 10 of them are lost. Reports come for
 * each packet, or for 40, of which a packet may leave in the middle.
 */
static void sample_flight(struct kunit *test)
{
	static const u32 each[] = { 1, 7, 40 };
	u32 k, n, base;

	for (k = 0; k < ARRAY_SIZE(each); k++) {
		for (base = -1000; base != 1000; base += 500) {
			struct sstp_sampler p = {};
			struct sstp_delivery d;

			sstp_sample_start(&p, base, base, base);
			for (n = each[k]; n < 4000; n += each[k]) {
				u32 sent = base + n * 100, at = sent + 10000;

				sstp_sample_report(&p, &(struct sstp_sample_mark){
					.at = at, .sent = sent, .came = at,
					.delivered = base + n - n / 10, .highest = base + n,
				}, 10000, 100, &d);
				if (n < 400)
					continue;
				KUNIT_ASSERT_LE_MSG(test, abs_diff(d.flight, 100U), 2U,
						    "%u: packet %u: %u", each[k], n, d.flight);
				KUNIT_ASSERT_LE_MSG(test, abs_diff(d.lost, 10U), 2U,
						    "%u: packet %u: %u", each[k], n, d.lost);
			}
			sstp_sample_free(&p);
		}
	}
}

/* A sample is app-limited if the sender lacked data in its time, and only then. */
static void sample_idle(struct kunit *test)
{
	u32 base, i;

	for (base = -100000; base != 100000; base += 50000) {
		struct sstp_sampler p = {};
		struct sstp_delivery d;

		sstp_sample_start(&p, base, 0, 0);
		for (i = 1; i <= 40; i++) {
			u32 at = base + i * 10000;
			/* The idle time is at 105 ms; a packet is reported after 20 ms. */
			bool limited = i >= 12 && i <= 14;

			sstp_sample_report(&p, &(struct sstp_sample_mark){
				.at = at, .sent = at - min(i, 2U) * 10000, .came = at,
				.delivered = i,
			}, 20000, 2, &d);
			KUNIT_EXPECT_EQ_MSG(test, d.packets && d.app_limited, limited ||
					    (i == 11), "report %u", i);
			if (i == 10)
				sstp_sample_idle(&p, base + 105000);
		}
		KUNIT_EXPECT_FALSE(test, p.idled);
		sstp_sample_free(&p);
	}
}

/* A sender whose packets come before it sends more needs few marks, and has all its samples. */
static void sample_few(struct kunit *test)
{
	struct sstp_sampler p = {};
	struct sstp_sample_mark r;
	struct sstp_delivery d;
	u32 i, now = 0;

	for (i = 0; i < 3 * SSTP_SAMPLE_MARKS; i++, now += 40000) {
		sstp_sample_start(&p, now, i, i);
		r = (struct sstp_sample_mark){
			.at = now + 10000, .sent = now, .came = now + 10000,
			.delivered = i + 1, .highest = i + 1,
		};
		sstp_sample_report(&p, &r, 10000, 1, &d);
		KUNIT_EXPECT_EQ(test, d.packets, 1U);
		KUNIT_EXPECT_EQ(test, d.interval, 10000U);
		/* The same again, later */
		r.at += 10000;
		sstp_sample_report(&p, &r, 10000, 0, &d);
		KUNIT_EXPECT_NULL(test, p.more);
	}
	/* Reports that come while more is in flight need all marks. */
	for (i = 0; i < 3; i++) {
		r.at += 10000;
		r.delivered++;
		r.highest++;
		sstp_sample_report(&p, &r, 10000, 3, &d);
	}
	KUNIT_EXPECT_NOT_NULL(test, p.more);
	KUNIT_EXPECT_EQ(test, p.marks, 5U);
	sstp_sample_free(&p);
}

/* A pause of 40 minutes, after which a packet of before is still in flight: reports of then are no
 * base of a sample, and do not seem to be newer than those of now.
 */
static void sample_pause(struct kunit *test)
{
	static const u32 at[] = { 2400020000, 2400060000 };
	struct sstp_sampler p = {};
	struct sstp_delivery d;
	u32 i;

	sstp_sample_start(&p, 0, 0, 0);
	sstp_sample_idle(&p, 0);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		sstp_sample_report(&p, &(struct sstp_sample_mark){
			.at = at[i], .sent = at[i] - 20000, .came = at[i],
			.delivered = 100 * (i + 1), .highest = 100 * (i + 1),
		}, 20000, 100, &d);
		KUNIT_EXPECT_EQ_MSG(test, d.packets, 100 * i, "report %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, d.app_limited, "report %u", i);
	}
	sstp_sample_free(&p);
}

static struct kunit_case sample_cases[] = {
	KUNIT_CASE(sample_marks),
	KUNIT_CASE(sample_path),
	KUNIT_CASE(sample_flight),
	KUNIT_CASE(sample_idle),
	KUNIT_CASE(sample_few),
	KUNIT_CASE(sample_pause),
	{}
};

static struct kunit_suite sample_suite = {
	.name = "sstp_sample",
	.test_cases = sample_cases,
};

kunit_test_suite(sample_suite);
