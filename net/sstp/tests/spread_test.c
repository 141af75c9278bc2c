// SPDX-License-Identifier: GPL-2.0
/* Capacity of a path from the dispersion of trains */
#include "sstp_test.h"
#include "../spread.c"

/**
 * struct spread_path - a path that is simulated packet by packet
 * @rate: bytes/s of the narrowest link
 * @cross: packets of others that the link carries between two of ours
 * @push: packets of a push
 * @every: us between two pushes
 * @coalesce: ns of an interval of interrupts; 0 = each packet comes at once
 * @least: lowest estimate that is right, in thousandths of @rate; 0 = there must be none
 * @most: highest
 */
struct spread_path {
	u64 rate;
	u32 cross;
	u32 push;
	u32 every;
	u64 coalesce;
	u32 least;
	u32 most;
};

static const struct spread_path spread_paths[] = {
	/* 100 Mbit/s, 1 Gbit/s, 10 Gbit/s; pushes of 64 packets */
	{ 12500000, 0, 64, 100000, 0, 999, 1001 },
	{ 125000000, 0, 64, 100000, 0, 998, 1002 },
	{ 1250000000, 0, 64, 100000, 0, 990, 1010 },
	/* As many packets of others: half of the capacity */
	{ 125000000, 1, 64, 100000, 0, 498, 502 },
	/* Pushes of four packets at twice the rate join; at the link's rate they do not. */
	{ 12500000, 0, 4, 240, 0, 950, 1050 },
	{ 12500000, 0, 4, 480, 0, 0, 0 },
	/* Six packets have five gaps. */
	{ 12500000, 0, 6, 100000, 0, 0, 0 },
	{ 12500000, 0, 7, 100000, 0, 998, 1002 },
	/* Interrupts every 125 us: a push of 64 packets is too short at 1 Gbit/s, longer trains are
	 * right; at 10 Gbit/s there are ten intervals in a thousand packets.
	 */
	{ 125000000, 0, 64, 100000, 125000, 0, 0 },
	{ 125000000, 0, 16, 96, 125000, 900, 1100 },
	{ 1250000000, 0, 1024, 100000, 125000, 0, 0 },
	{ 1250000000, 0, 2048, 100000, 125000, 900, 1100 },
};

static void spread_run(struct sstp_spread *t, const struct spread_path *p, u32 packets)
{
	const u32 bytes = 1500;
	u64 free = 0, at, now = 0;
	u32 i;

	for (i = 0; i < packets; i++) {
		u32 stamp = i / p->push * p->every;

		at = max((u64)stamp * NSEC_PER_USEC, free);
		free = at + div64_u64((1 + p->cross) * bytes * NSEC_PER_SEC, p->rate);
		now = free + NSEC_PER_SEC;
		if (p->coalesce)
			now = div64_u64(now + p->coalesce - 1, p->coalesce) * p->coalesce;
		sstp_spread_add(t, now, stamp, 1, bytes);
	}
}

static void spread_dispersion(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(spread_paths); i++) {
		const struct spread_path *p = spread_paths + i;
		struct sstp_spread t = {};
		u64 got;

		spread_run(&t, p, 20000);
		got = div64_u64(sstp_spread_capacity(&t) * 1000, p->rate);
		KUNIT_EXPECT_GE_MSG(test, got, p->least, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, got, p->most, "row %u", i);
	}
}

/* Packets come to the narrowest link over another one, and others' between them: the line carries
 * r C / (r + cross) of ours, as Prasad et al. have it. Rates in hundredths of C = 1 Gbit/s
 */
static const struct spread_access {
	u32 access;
	u32 cross;
} spread_accesses[] = {
	{ 1000, 0 }, { 1000, 42 }, { 200, 42 }, { 100, 0 }, { 100, 42 }, { 100, 80 }, { 60, 50 },
	{ 50, 80 },
};

static void spread_access(struct kunit *test)
{
	const u64 packet = 12000;	/* ns that a packet of 1500 bytes takes at C */
	u32 i, k, n;

	for (i = 0; i < ARRAY_SIZE(spread_accesses); i++) {
		const struct spread_access *p = spread_accesses + i;
		u64 want = div_u64(125000000ULL * p->access, max(p->access + p->cross, 100U)), got;
		u64 gap = p->cross ? div_u64(packet * 100, p->cross) : NSEC_PER_SEC;
		struct sstp_spread t = {};

		for (k = 0; k < SSTP_SPREAD_TRAINS + 1; k++) {
			u64 at = k * (u64)NSEC_PER_SEC, other = at + k * 1111, free = 0;
			u32 stamp = k * USEC_PER_SEC;

			for (n = 0; n < 64; n++, at += div_u64(packet * 100, p->access)) {
				for (; other <= at; other += gap)
					free = max(free, other) + packet;
				free = max(free, at) + packet;
				sstp_spread_add(&t, free + NSEC_PER_SEC, stamp, 1, 1500);
			}
			sstp_spread_break(&t);
		}
		got = sstp_spread_capacity(&t);
		KUNIT_EXPECT_GE_MSG(test, got, div_u64(want, 10) * 9, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, got, div_u64(want, 10) * 11, "row %u", i);
	}
}

/* An estimate needs five trains; a gap ends a train, which then counts if it is long enough. */
static void spread_count(struct kunit *test)
{
	struct sstp_spread t = {};
	u32 i, k;

	for (k = 0; k < SSTP_SPREAD_TRAINS; k++) {
		KUNIT_EXPECT_EQ(test, sstp_spread_capacity(&t), 0ULL);
		for (i = 0; i < 12; i++)
			sstp_spread_add(&t, k * (u64)NSEC_PER_SEC + i * 1000, k, 1, 1000);
		sstp_spread_break(&t);
		sstp_spread_break(&t);
	}
	KUNIT_EXPECT_EQ(test, sstp_spread_capacity(&t), 1000000000ULL);
	/* A short one does not. */
	for (i = 0; i < 5; i++)
		sstp_spread_add(&t, 100ULL * NSEC_PER_SEC + i * 9000, k, 1, 1000);
	sstp_spread_break(&t);
	KUNIT_EXPECT_EQ(test, sstp_spread_capacity(&t), 1000000000ULL);
}

/* Trains 90 minutes after a packet of another one: stamps have wrapped, so that they are later. */
static void spread_pause(struct kunit *test)
{
	const u64 pause = 5400;
	struct sstp_spread t = {};
	u32 i, k;

	sstp_spread_add(&t, 0, 0, 1, 1000);
	for (k = 0; k < SSTP_SPREAD_TRAINS; k++)
		for (i = 0; i < 12; i++)
			sstp_spread_add(&t, (pause + k) * NSEC_PER_SEC + i * 1000,
					(pause + k) * USEC_PER_SEC, 1, 1000);
	sstp_spread_break(&t);
	KUNIT_EXPECT_EQ(test, sstp_spread_capacity(&t), 1000000000ULL);
}

/* One skb of a whole train has no dispersion: its packets are the first arrival of the next. */
static void spread_joined(struct kunit *test)
{
	struct sstp_spread t = {};
	u32 i;

	for (i = 0; i < 200; i++)
		sstp_spread_add(&t, NSEC_PER_SEC + i * 512000ULL, i * 256, 44, 64000);
	KUNIT_EXPECT_EQ(test, sstp_spread_capacity(&t), 125000000ULL);
	t = (struct sstp_spread){};
	for (i = 0; i < 200; i++)
		sstp_spread_add(&t, NSEC_PER_SEC, i, 44, 64000);
	KUNIT_EXPECT_EQ(test, sstp_spread_capacity(&t), 0ULL);
}

/* Any stamps, times and sizes: no division by zero, and an estimate in range */
static void spread_hostile(struct kunit *test)
{
	struct sstp_spread t = {};
	struct rnd_state rnd;
	u64 now = 0;
	u32 i;

	sstp_test_seed_rnd(test, &rnd);
	for (i = 0; i < 200000; i++) {
		/* In half of the time few packets are wild, so that trains are long enough. */
		u32 tame = i / 1000 % 2 ? 30 : 1;

		now += sstp_rnd_one_in(&rnd, 4 * tame) ? sstp_rnd_edge(&rnd) :
							 sstp_rnd_below(&rnd, 3);
		if (sstp_rnd_one_in(&rnd, 1000))
			now = sstp_rnd_u64(&rnd);
		sstp_spread_add(&t, now, sstp_rnd_one_in(&rnd, 3 * tame) ? sstp_rnd_edge(&rnd) :
									  t.stamp,
				sstp_rnd_one_in(&rnd, tame) ? sstp_rnd_edge(&rnd) : 1,
				sstp_rnd_one_in(&rnd, tame) ? sstp_rnd_edge(&rnd) : 1000);
		if (sstp_rnd_one_in(&rnd, 50))
			sstp_spread_break(&t);
		KUNIT_EXPECT_LE(test, sstp_spread_capacity(&t), SSTP_SPREAD_RATE_MAX);
	}
	KUNIT_EXPECT_EQ(test, t.trains, SSTP_SPREAD_TRAINS);
}

static struct kunit_case spread_cases[] = {
	KUNIT_CASE(spread_dispersion),
	KUNIT_CASE(spread_access),
	KUNIT_CASE(spread_count),
	KUNIT_CASE(spread_pause),
	KUNIT_CASE(spread_joined),
	KUNIT_CASE(spread_hostile),
	{ }
};

static struct kunit_suite spread_suite = {
	.name = "sstp_spread",
	.test_cases = spread_cases,
};

kunit_test_suite(spread_suite);
