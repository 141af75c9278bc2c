// SPDX-License-Identifier: GPL-2.0
/* ECN: marks are counted exactly whatever is lost, and a path that changes them is found out */
#include <net/inet_ecn.h>
#include "sstp_test.h"
#include "../ecn.c"

/**
 * struct ecn_sim - a sender, a path and a receiver
 * @e: the sender's state
 * @in: the receiver's state
 * @r: the next report
 * @sum: packets that the sender was told of as marked
 */
struct ecn_sim {
	struct sstp_ecn e;
	struct sstp_ecn_in in;
	struct sstp_ecn_report r;
	u64	sum;
};

static void ecn_start(struct ecn_sim *x, u32 first, u32 flight)
{
	memset(x, 0, sizeof(*x));
	x->r.highest = first - 1;
	x->r.settled = first - 1;
	x->r.shipped = first - 1;
	x->r.rtt = 1000;
	x->r.min_rtt = 1000;
	sstp_ecn_start(&x->e, first, 0, flight);
}

/* @packets leave and come with @ecn; no report follows yet. */
static bool ecn_comes(struct ecn_sim *x, u8 ecn, u32 packets)
{
	x->r.delivered += packets;
	x->r.received += packets;
	x->r.highest += packets;
	x->r.settled += packets;
	x->r.shipped = x->r.highest + 10;
	return ecn && sstp_ecn_came(&x->in, ecn, packets);
}

static u32 ecn_reports(struct ecn_sim *x)
{
	u32 ce;

	x->r.ect = x->in.ect;
	x->r.ce = x->in.ce;
	ce = sstp_ecn_update(&x->e, &x->r);
	x->sum += ce;
	x->r.delivered = 0;
	return ce;
}

/* The receiver reports the first mark after packets without one at once, and no others. */
static void ecn_at_once(struct kunit *test)
{
	struct sstp_ecn_in in = {};

	KUNIT_EXPECT_FALSE(test, sstp_ecn_came(&in, INET_ECN_ECT_0, 64));
	KUNIT_EXPECT_TRUE(test, sstp_ecn_came(&in, INET_ECN_CE, 3));
	KUNIT_EXPECT_FALSE(test, sstp_ecn_came(&in, INET_ECN_CE, 64));
	KUNIT_EXPECT_FALSE(test, sstp_ecn_came(&in, INET_ECN_ECT_0, 1));
	KUNIT_EXPECT_FALSE(test, sstp_ecn_came(&in, INET_ECN_ECT_1, 5));
	KUNIT_EXPECT_TRUE(test, sstp_ecn_came(&in, INET_ECN_CE, 1));
	/* Copies neither count nor cause reports. */
	KUNIT_EXPECT_FALSE(test, sstp_ecn_came(&in, INET_ECN_ECT_0, 0));
	KUNIT_EXPECT_FALSE(test, sstp_ecn_came(&in, INET_ECN_CE, 0));
	KUNIT_EXPECT_EQ(test, in.ect, 65U);
	KUNIT_EXPECT_EQ(test, in.ce, 68U);
	KUNIT_EXPECT_EQ(test, in.marks, 68ULL);
}

/* Random marks, losses of packets and of half of the reports, with counts and shipments that
 * wrap: the sender learns of every mark that came, and never gives up.
 */
static void ecn_honest(struct kunit *test)
{
	struct ecn_sim x;
	struct rnd_state r;
	u32 i, n, k;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 200; i++) {
		ecn_start(&x, sstp_rnd_edge(&r), 0);
		x.in.ect = sstp_rnd_edge(&r);
		x.in.ce = sstp_rnd_edge(&r);
		x.e.ect = x.in.ect;
		x.e.ce = x.in.ce;
		for (n = 0; n < 500; n++) {
			for (k = sstp_rnd_below(&r, 4); k; k--)
				ecn_comes(&x, sstp_rnd_one_in(&r, 3) ? INET_ECN_CE :
					  INET_ECN_ECT_0, sstp_rnd_below(&r, 65));
			x.r.highest += sstp_rnd_below(&r, 3);
			if (sstp_rnd_one_in(&r, 2))
				ecn_reports(&x);
			if (n > 20)
				KUNIT_ASSERT_EQ(test, x.e.state, SSTP_ECN_USED);
		}
		ecn_reports(&x);
		KUNIT_ASSERT_EQ(test, x.sum, x.in.marks);
	}
}

/* Packets, the field with which they come, and what the sender concludes from their report */
static void ecn_mangled(struct kunit *test)
{
	static const struct {
		u32 good;
		u8 ecn;
		u32 packets;
		enum sstp_ecn_state then;
	} t[] = {
		{ 0, INET_ECN_ECT_0, 1, SSTP_ECN_USED },
		{ 0, INET_ECN_CE, 1, SSTP_ECN_USED },
		{ 0, INET_ECN_NOT_ECT, 1, SSTP_ECN_BLEACHED },
		{ 0, INET_ECN_ECT_1, 1, SSTP_ECN_BLEACHED },
		/* Later, when the path has changed */
		{ 100000, INET_ECN_NOT_ECT, 1, SSTP_ECN_BLEACHED },
		{ 100000, INET_ECN_ECT_1, 64, SSTP_ECN_BLEACHED },
		{ 100000, INET_ECN_CE, 64, SSTP_ECN_USED },
	};
	struct ecn_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ecn_start(&x, -5, 0);
		KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_TESTED);
		ecn_comes(&x, INET_ECN_ECT_0, t[i].good);
		if (t[i].good)
			ecn_reports(&x);
		ecn_comes(&x, t[i].ecn, t[i].packets);
		ecn_reports(&x);
		KUNIT_EXPECT_EQ_MSG(test, x.e.state, t[i].then, "row %u", i);
		KUNIT_EXPECT_EQ(test, sstp_ecn_works(&x.e), t[i].then == SSTP_ECN_USED);
		/* A sender that gave ECN up takes no further marks. */
		if (sstp_ecn_works(&x.e))
			continue;
		ecn_comes(&x, INET_ECN_CE, 1);
		KUNIT_EXPECT_EQ(test, ecn_reports(&x), 0U);
		KUNIT_EXPECT_EQ(test, x.e.state, t[i].then);
	}
}

/* All packets marked: a queue does that for some round trips, however many packets they have, but
 * not for SSTP_ECN_ROUNDS of them, with SSTP_ECN_RUN packets. One with ECT(0) begins anew.
 */
static void ecn_all_marked(struct kunit *test)
{
	static const struct {
		u32 packets, good_at, rounds;
	} t[] = {
		{ 100, 0, SSTP_ECN_ROUNDS }, { 10000, 0, SSTP_ECN_ROUNDS },
		{ 4, 0, SSTP_ECN_ROUNDS }, { 2, 0, SSTP_ECN_RUN / 2 }, { 1, 0, SSTP_ECN_RUN },
		{ 100, 10, SSTP_ECN_ROUNDS + 10 },
	};
	struct ecn_sim x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ecn_start(&x, 4711, 0);
		for (n = 1; n <= t[i].rounds; n++) {
			KUNIT_ASSERT_TRUE(test, sstp_ecn_works(&x.e));
			if (n == t[i].good_at)
				ecn_comes(&x, INET_ECN_ECT_0, 1);
			else
				ecn_comes(&x, INET_ECN_CE, t[i].packets);
			x.r.shipped = x.r.highest;
			ecn_reports(&x);
		}
		KUNIT_EXPECT_EQ_MSG(test, x.e.state, SSTP_ECN_ALL_MARKED, "row %u", i);
	}
	/* Within one round trip */
	ecn_start(&x, 4711, 0);
	x.r.shipped = 4711 + BIT(20);
	x.e.round_ship = x.r.shipped;
	for (n = 0; n < 1000; n++) {
		ecn_comes(&x, INET_ECN_CE, 64);
		x.r.shipped = 4711 + BIT(20);
		KUNIT_ASSERT_EQ(test, ecn_reports(&x), 64U);
	}
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
}

/* Flows with the smallest window, but many, keep a queue above any threshold: all packets are
 * marked for as long as that goes on. The round-trip time tells it from a path that marks all.
 */
static void ecn_queue_of_others(struct kunit *test)
{
	static const struct {
		u32 min, rtt, twice;
		bool given_up;
	} t[] = {
		{ 1000, 1000, 1000, true },
		{ 1000, 1125, 1125, true },
		{ 1000, 1126, 1126, false },
		{ 1000, 3000, 3000, false },
		{ 1000, 3000, 1100, true },	/* the lowest of a round trip counts */
		{ 1000, 3000, 0, false },	/* of those that are known */
		{ 1000, 0, 0, false },
		{ 0, 1000, 1000, true },	/* the lowest is that of a report itself */
	};
	struct ecn_sim x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ecn_start(&x, 4711, 0);
		x.r.min_rtt = t[i].min ?: U32_MAX;
		for (n = 0; n < 1000; n++) {
			x.r.rtt = t[i].rtt;
			ecn_comes(&x, INET_ECN_CE, 1);
			ecn_reports(&x);
			x.r.rtt = t[i].twice;
			ecn_comes(&x, INET_ECN_CE, 1);
			x.r.shipped = x.r.highest;
			ecn_reports(&x);
			/* Only the lowest of the last seconds is known. */
			x.r.min_rtt = max(t[i].rtt, t[i].min);
		}
		KUNIT_EXPECT_EQ_MSG(test, x.e.state, t[i].given_up ? SSTP_ECN_ALL_MARKED :
				    SSTP_ECN_USED, "row %u", i);
	}
	/* The queue goes: round trips are counted from then on. */
	ecn_start(&x, 4711, 0);
	x.r.rtt = 3000;
	ecn_comes(&x, INET_ECN_CE, 1000);
	ecn_reports(&x);
	x.r.rtt = 1000;
	for (n = 0; n < SSTP_ECN_ROUNDS; n++) {
		KUNIT_EXPECT_TRUE(test, sstp_ecn_works(&x.e));
		ecn_comes(&x, INET_ECN_CE, 10);
		x.r.shipped = x.r.highest;
		ecn_reports(&x);
	}
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_ALL_MARKED);
}

/* @rounds round trips, in each of which two packets are lost */
static void ecn_lost_rounds(struct ecn_sim *x, u32 rounds)
{
	for (; rounds; rounds--) {
		x->r.shipped += 2;
		x->r.highest = x->r.shipped;
		x->r.settled = x->r.shipped - 1;
		ecn_reports(x);
		x->r.settled++;
		ecn_reports(x);
	}
}

/* The first packets are lost, all of them: perhaps as they had ECT. */
static void ecn_dropped(struct kunit *test)
{
	struct ecn_sim x;
	u32 n;

	ecn_start(&x, -3, 0);
	for (n = 1; n <= SSTP_ECN_LOST; n++) {
		KUNIT_ASSERT_EQ(test, x.e.state, SSTP_ECN_TESTED);
		x.r.settled++;
		x.r.highest++;
		ecn_reports(&x);
	}
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_DROPPED);
	/* After one has come the loss of many is not enough: it has to go on for some round trips
	 * in which nothing comes.
	 */
	ecn_start(&x, -3, 0);
	ecn_comes(&x, INET_ECN_ECT_0, 1);
	ecn_reports(&x);
	for (n = 0; n < 100; n++) {
		x.r.settled += n < 10;	/* as many as were on their way */
		ecn_reports(&x);
	}
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
	ecn_lost_rounds(&x, SSTP_ECN_VAIN - 1);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
	ecn_comes(&x, INET_ECN_CE, 1);
	ecn_reports(&x);
	x.r.settled = x.r.shipped;
	ecn_lost_rounds(&x, SSTP_ECN_VAIN - 1);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
	ecn_lost_rounds(&x, 1);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_DROPPED);
}

/* Reports that cannot be: what the sender takes from them is bounded. */
static void ecn_invalid(struct kunit *test)
{
	static const struct {
		u32 delivered, ect, ce, told;
	} t[] = {
		{ 10, 11, 0, 0 }, { 10, 0, 11, 10 }, { 10, 6, 5, 5 }, { 0, 0, 1, 0 },
		{ 10, U32_MAX, 1, 1 }, { 10, 0, U32_MAX, 10 }, { 10, U32_MAX, U32_MAX, 10 },
		{ 10, 0x80000000, 0x80000000, 10 },
	};
	struct ecn_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ecn_start(&x, 1, 0);
		x.r.delivered = t[i].delivered;
		x.r.received = t[i].delivered;
		x.r.ect = t[i].ect;
		x.r.ce = t[i].ce;
		KUNIT_EXPECT_EQ_MSG(test, sstp_ecn_update(&x.e, &x.r), t[i].told, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, x.e.state, SSTP_ECN_INVALID, "row %u", i);
	}
}

/* More packets come late than the sender counts as delivered: this is no reason to give up, but
 * no more marks are told than packets are counted.
 */
static void ecn_late_burst(struct kunit *test)
{
	struct ecn_sim x;

	ecn_start(&x, 1, 0);
	ecn_comes(&x, INET_ECN_ECT_0, 2000);
	ecn_comes(&x, INET_ECN_CE, 3000);
	x.r.delivered = 1024;
	KUNIT_EXPECT_EQ(test, ecn_reports(&x), 1024U);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
	ecn_comes(&x, INET_ECN_NOT_ECT, 1);
	x.r.delivered = 0;
	ecn_reports(&x);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_BLEACHED);
}

/* ECT is switched on while packets without it are on their way: these are no bleached ones. */
static void ecn_on_the_way(struct kunit *test)
{
	struct ecn_sim x;

	ecn_start(&x, 101, 100);
	x.r.settled = 50;
	x.r.highest = 50;
	ecn_comes(&x, INET_ECN_NOT_ECT, 30);
	ecn_reports(&x);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_TESTED);
	ecn_comes(&x, INET_ECN_NOT_ECT, 20);
	ecn_comes(&x, INET_ECN_CE, 1);
	KUNIT_EXPECT_EQ(test, ecn_reports(&x), 1U);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
	ecn_comes(&x, INET_ECN_ECT_0, 1);
	ecn_reports(&x);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
	/* 50 of the 100 were declared lost. They are late, and no more can be. */
	ecn_comes(&x, INET_ECN_NOT_ECT, 20);
	ecn_comes(&x, INET_ECN_CE, 5);
	KUNIT_EXPECT_EQ(test, ecn_reports(&x), 5U);
	ecn_comes(&x, INET_ECN_NOT_ECT, 30);
	ecn_reports(&x);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
	ecn_comes(&x, INET_ECN_NOT_ECT, 1);
	ecn_reports(&x);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_BLEACHED);

	/* One report says that packets with and without ECT have come, the next has no news. */
	ecn_start(&x, 101, 10);
	ecn_comes(&x, INET_ECN_NOT_ECT, 10);
	ecn_comes(&x, INET_ECN_ECT_0, 2 * SSTP_ECN_LOST);
	ecn_reports(&x);
	ecn_reports(&x);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);

	/* Switched off and on again: marks that came meanwhile are not told later. */
	ecn_start(&x, 1, 0);
	sstp_ecn_stop(&x.e);
	ecn_comes(&x, INET_ECN_CE, 5);
	KUNIT_EXPECT_EQ(test, ecn_reports(&x), 0U);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_OFF);
	sstp_ecn_start(&x.e, x.r.highest + 1, x.r.received, 0);
	ecn_comes(&x, INET_ECN_CE, 2);
	KUNIT_EXPECT_EQ(test, ecn_reports(&x), 2U);
	KUNIT_EXPECT_EQ(test, x.e.state, SSTP_ECN_USED);
}

static struct kunit_case ecn_cases[] = {
	KUNIT_CASE(ecn_at_once),
	KUNIT_CASE(ecn_honest),
	KUNIT_CASE(ecn_mangled),
	KUNIT_CASE(ecn_all_marked),
	KUNIT_CASE(ecn_queue_of_others),
	KUNIT_CASE(ecn_dropped),
	KUNIT_CASE(ecn_invalid),
	KUNIT_CASE(ecn_late_burst),
	KUNIT_CASE(ecn_on_the_way),
	{}
};

static struct kunit_suite ecn_suite = {
	.name = "sstp_ecn",
	.test_cases = ecn_cases,
};

kunit_test_suite(ecn_suite);
