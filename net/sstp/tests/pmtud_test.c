// SPDX-License-Identifier: GPL-2.0
/* Path MTU discovery: the MTU that it finds on paths of any kind, and how soon. */
#include "sstp_test.h"
#include "../pmtud.c"

#define PMTUD_RTT	(20 * NSEC_PER_MSEC)

/* A path that takes packets of @takes bytes, and the time */
struct pmtud_path {
	struct sstp_pmtud p;
	u32	takes;
	bool	tells;		/* routers send ICMP errors */
	u32	probes;
	u64	now;
};

static void pmtud_begin(struct pmtud_path *path, u32 route, u32 takes, bool v6)
{
	memset(path, 0, sizeof(*path));
	path->takes = takes;
	path->now = 77ULL * NSEC_PER_SEC;
	sstp_pmtud_route(&path->p, route, false, v6);
}

/* One round trip: a probe passes, is lost, or causes an ICMP error. */
static void pmtud_round(struct pmtud_path *path)
{
	u32 size = sstp_pmtud_next(&path->p, path->now), stamp;

	stamp = div_u64(path->now, NSEC_PER_USEC);
	if (size) {
		path->probes++;
		sstp_pmtud_sent(&path->p, size, stamp, path->now + 2 * PMTUD_RTT);
	}
	path->now += PMTUD_RTT;
	if (size && size <= path->takes)
		sstp_pmtud_echo(&path->p, stamp);
	else if (size && path->tells)
		sstp_pmtud_hint(&path->p, path->takes);
}

static void pmtud_rounds(struct pmtud_path *path, u32 n)
{
	while (n--)
		pmtud_round(path);
}

static void pmtud_starts(struct kunit *test)
{
	static const struct {
		u32 route;
		bool local;
		bool v6;
		u32 mtu;
	} t[] = {
		{ 1500, false, false, 1500 },
		{ 9000, false, false, 1500 },
		{ 1400, false, false, 1400 },
		{ 300, false, false, 300 },
		{ 1500, false, true, 1280 },
		{ 9000, false, true, 1280 },
		{ 1280, false, true, 1280 },
		{ 65535, true, false, 65535 },
		{ 65535, true, true, 65535 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_pmtud p = {};

		sstp_pmtud_route(&p, t[i].route, t[i].local, t[i].v6);
		KUNIT_EXPECT_EQ_MSG(test, p.mtu, t[i].mtu, "row %u", i);
	}
}

/* The MTU found, and the round trips of 20 ms that this takes, with ICMP errors and without. A
 * path that takes less than the first size shows by ICMP errors, or as a black hole: see below.
 */
static void pmtud_finds(struct kunit *test)
{
	static const struct {
		u32 route;
		u32 takes;
		bool v6;
		u32 told;	/* MTU found with ICMP errors */
		u32 found;	/* MTU found without */
		u32 rounds;	/* round trips until then */
	} t[] = {
		{ 1500, 1500, false, 1500, 1500, 1 },
		{ 9000, 9000, false, 9000, 9000, 1 },
		{ 1500, 1500, true, 1500, 1500, 1 },
		{ 9000, 1500, false, 1500, 1500, 16 },
		{ 9000, 5000, false, 5000, 4352, 10 },
		{ 65535, 9000, false, 9000, 9000, 10 },
		{ 1500, 1480, true, 1480, 1472, 20 },
		{ 1500, 1420, true, 1420, 1400, 40 },
		{ 1500, 1280, true, 1280, 1280, 60 },
	};
	struct pmtud_path path;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		pmtud_begin(&path, t[i].route, t[i].takes, t[i].v6);
		path.tells = true;
		pmtud_rounds(&path, 2);
		KUNIT_EXPECT_EQ_MSG(test, path.p.mtu, t[i].told, "row %u", i);
		pmtud_begin(&path, t[i].route, t[i].takes, t[i].v6);
		pmtud_rounds(&path, t[i].rounds);
		KUNIT_EXPECT_EQ_MSG(test, path.p.mtu, t[i].found, "row %u", i);
		/* For ten minutes no probe is sent; then a new search finds a larger MTU. */
		pmtud_rounds(&path, 100);
		path.probes = 0;
		pmtud_rounds(&path, 1000);
		KUNIT_EXPECT_EQ_MSG(test, path.probes, 0U, "row %u", i);
		path.takes = t[i].route;
		path.now += SSTP_PMTU_RAISE;
		pmtud_rounds(&path, 2);
		KUNIT_EXPECT_EQ_MSG(test, path.p.mtu, t[i].route, "row %u", i);
	}
}

/* Any route and path: once a probe was sent, the MTU is never more than the path takes, and no
 * more than three probes are sent of each size.
 */
static void pmtud_any(struct kunit *test)
{
	struct pmtud_path path;
	struct rnd_state r;
	u32 i;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < sstp_test_rounds(2000); i++) {
		u32 route = sstp_rnd_range(&r, 1500, 20000);
		u32 takes = sstp_rnd_range(&r, 1500, route);

		pmtud_begin(&path, route, takes, sstp_rnd_one_in(&r, 2));
		path.tells = sstp_rnd_one_in(&r, 2);
		pmtud_rounds(&path, 200);
		KUNIT_ASSERT_LE(test, path.p.mtu, takes);
		KUNIT_ASSERT_GE(test, path.p.mtu, 1500U);
		if (path.tells)
			KUNIT_ASSERT_GT(test, path.p.mtu + SSTP_PMTU_STEP, takes);
		KUNIT_ASSERT_LE(test, path.probes,
				SSTP_PMTU_PROBES * (ARRAY_SIZE(sstp_pmtud_common) + 1));
	}
}

/* The peer asks for @packet, of @size bytes, and knows of all shipments up to @ship. */
static bool pmtud_ask(struct sstp_pmtud *p, u32 packet, u32 size, u32 received, u32 ship)
{
	const struct sstp_pmtud_report r = {
		.segment = 5, .packet = packet, .size = size, .received = received,
		.highest = ship, .settled = ship, .shipment = ship,
	};

	return sstp_pmtud_bh(p, &r);
}

static void pmtud_holes(struct kunit *test)
{
	struct sstp_pmtud p = {};
	u32 i;

	sstp_pmtud_route(&p, 1500, false, false);
	/* No packet comes at all: an outage. */
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 7, 1500, 10, 1));
	/* Other packets come each time: the peer has no room, or some are lost. */
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 7, 1500, 11 + i, 2 + i));
	/* Some come, some are lost, but not each time. */
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 8, 1500, 120 + i, 102 + i + i / 2));
	/* Another packet each time */
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, i, 1500, 200, 200 + i));
	KUNIT_ASSERT_FALSE(test, sstp_pmtud_suspect(&p, 200));
	/* While other packets come, the path is not suspected until all are lost again. */
	for (i = 0; i < SSTP_PMTU_BH_LOST; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 6, 1500, 250, 250 + i));
	KUNIT_ASSERT_TRUE(test, sstp_pmtud_suspect(&p, 250));
	KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 6, 1500, 251, 260));
	KUNIT_ASSERT_FALSE(test, sstp_pmtud_suspect(&p, 251));
	KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 6, 1500, 251, 261));
	KUNIT_ASSERT_TRUE(test, sstp_pmtud_suspect(&p, 251));
	KUNIT_ASSERT_EQ(test, p.mtu, 1500U);
	/* Small packets pass, those of the MTU do not. A black hole is suspected from the second
	 * loss on, while no packet comes.
	 */
	for (i = 0; i < SSTP_PMTU_BH_LOST; i++) {
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 7, 1500, 300, 300 + i));
		KUNIT_ASSERT_EQ(test, sstp_pmtud_suspect(&p, 300), i > 0);
		KUNIT_ASSERT_FALSE(test, sstp_pmtud_suspect(&p, 301));
	}
	KUNIT_ASSERT_TRUE(test, pmtud_ask(&p, 7, 1500, 300, 999));
	KUNIT_ASSERT_EQ(test, p.mtu, 1280U);
	KUNIT_ASSERT_TRUE(test, sstp_pmtud_suspect(&p, 300));
	/* Loss of an old packet of that size is no news. */
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 7, 1500, 300, 1000 + i));
	for (i = 0; i < SSTP_PMTU_BH_LOST; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 9, 1280, 300, 2000 + i));
	KUNIT_ASSERT_TRUE(test, pmtud_ask(&p, 9, 1280, 300, 2999));
	KUNIT_ASSERT_EQ(test, p.mtu, 552U);
	KUNIT_ASSERT_TRUE(test, sstp_pmtud_least(&p));
	for (i = 0; i < 100; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 9, 552, 300, 3000 + i));
	/* If 1280 bytes do not pass either, that shows at once. */
	p.mtu = 1500;
	for (i = 0; i < SSTP_PMTU_BH_LOST; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 11, 1500, 400, 4000 + i));
	KUNIT_ASSERT_TRUE(test, pmtud_ask(&p, 11, 1500, 400, 4100));
	KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 11, 1280, 400, 4100));
	KUNIT_ASSERT_TRUE(test, pmtud_ask(&p, 11, 1280, 400, 4101));
	KUNIT_ASSERT_EQ(test, p.mtu, 552U);
	/* The suspicion was wrong: the old MTU is probed at once. */
	KUNIT_ASSERT_EQ(test, sstp_pmtud_next(&p, 0), 1500U);
	sstp_pmtud_sent(&p, 1500, -1, 5);
	sstp_pmtud_sent(&p, 1500, 9, 15);
	KUNIT_ASSERT_FALSE(test, sstp_pmtud_echo(&p, -2));
	KUNIT_ASSERT_FALSE(test, sstp_pmtud_echo(&p, 10));
	KUNIT_ASSERT_TRUE(test, sstp_pmtud_echo(&p, -1));
	KUNIT_ASSERT_EQ(test, p.mtu, 1500U);
	KUNIT_ASSERT_FALSE(test, sstp_pmtud_echo(&p, -1));
}

/* Small packets pass: how likely is it that only losses of the path hit the packet? */
static void pmtud_odds(struct kunit *test)
{
	struct sstp_pmtud p = {};
	u32 i;

	sstp_pmtud_route(&p, 1500, false, false);
	/* As many as come are lost. */
	for (i = 0; i < SSTP_PMTU_BH_ODDS; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 12, 1500, 500 + i, 5000 + 2 * i));
	KUNIT_ASSERT_TRUE(test, pmtud_ask(&p, 12, 1500, 500 + i, 5000 + 2 * i));
	KUNIT_ASSERT_EQ(test, p.mtu, 1280U);
	KUNIT_ASSERT_FALSE(test, sstp_pmtud_suspect(&p, 500 + i));
	/* Few others are lost. */
	p.mtu = 1500;
	for (i = 0; i < SSTP_PMTU_BH_ODDS / 4; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 15, 1500, 800 + 50 * i, 8000 + 51 * i));
	KUNIT_ASSERT_TRUE(test, pmtud_ask(&p, 15, 1500, 800 + 50 * i, 8000 + 51 * i));
	/* Four of five are lost. */
	p.mtu = 1500;
	for (i = 0; i < 4 * SSTP_PMTU_BH_ODDS; i++)
		KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 16, 1500, 2000 + 2 * i, 9000 + 10 * i));
	/* Within a round trip the packet may be on its way again, whatever was lost: 20 shipments
	 * are under way.
	 */
	p.mtu = 1500;
	for (i = 0; i < 2 * SSTP_PMTU_BH_ODDS; i++) {
		const struct sstp_pmtud_report r = {
			.segment = 5, .packet = 13, .size = 1500, .received = 600 + i,
			.highest = 6000 + 2 * i, .settled = 6000 + 2 * i,
			.shipment = 6020 + 2 * i,
		};

		KUNIT_ASSERT_FALSE(test, sstp_pmtud_bh(&p, &r));
	}
	/* A peer whose sums go back shows nothing. */
	KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 17, 1500, 650, 6200));
	KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 17, 1500, 649, 6200));
	KUNIT_ASSERT_FALSE(test, pmtud_ask(&p, 17, 1500, 648, 6201));
	/* Late packets are not lost. */
	for (i = 0; i < 2 * SSTP_PMTU_BH_ODDS; i++) {
		const struct sstp_pmtud_report r = {
			.segment = 5, .packet = 14, .size = 1500, .received = 700 + i,
			.highest = 7000 + 2 * i, .late = i, .settled = 7000 + i,
			.shipment = 7000 + 2 * i,
		};

		KUNIT_ASSERT_FALSE(test, sstp_pmtud_bh(&p, &r));
	}
}

static void pmtud_hints(struct kunit *test)
{
	struct pmtud_path path;

	/* A forged ICMP error: the size that it denies is probed, and passes. */
	pmtud_begin(&path, 1500, 1500, false);
	KUNIT_EXPECT_TRUE(test, sstp_pmtud_hint(&path.p, 0));
	KUNIT_EXPECT_EQ(test, path.p.mtu, 552U);
	pmtud_round(&path);
	KUNIT_EXPECT_EQ(test, path.p.mtu, 1500U);
	KUNIT_EXPECT_FALSE(test, sstp_pmtud_hint(&path.p, 1500));
	KUNIT_EXPECT_FALSE(test, sstp_pmtud_hint(&path.p, U32_MAX));
	KUNIT_EXPECT_EQ(test, path.p.mtu, 1500U);
	/* A true ICMP error */
	path.takes = 1400;
	path.tells = true;
	KUNIT_EXPECT_TRUE(test, sstp_pmtud_hint(&path.p, 1400));
	path.probes = 0;
	pmtud_rounds(&path, 10);
	KUNIT_EXPECT_EQ(test, path.p.mtu, 1400U);
	KUNIT_EXPECT_EQ(test, path.probes, 1U);
	/* No IPv6 link takes less than 1280. */
	pmtud_begin(&path, 1500, 1500, true);
	pmtud_round(&path);
	KUNIT_EXPECT_TRUE(test, sstp_pmtud_hint(&path.p, 1000));
	KUNIT_EXPECT_EQ(test, path.p.mtu, 1280U);
}

/* The MTU of the route changes, with another device or in place. */
static void pmtud_routes(struct kunit *test)
{
	struct pmtud_path path;

	pmtud_begin(&path, 1500, 1500, false);
	sstp_pmtud_route(&path.p, 600, false, false);
	KUNIT_EXPECT_EQ(test, path.p.mtu, 600U);
	path.takes = 600;
	pmtud_rounds(&path, 10);
	KUNIT_EXPECT_EQ(test, path.probes, 0U);
	sstp_pmtud_route(&path.p, 1500, false, false);
	KUNIT_EXPECT_EQ(test, path.p.mtu, 600U);
	path.takes = 1500;
	pmtud_round(&path);
	KUNIT_EXPECT_EQ(test, path.p.mtu, 1500U);
	/* While a probe is on its way */
	sstp_pmtud_route(&path.p, 9000, false, false);
	KUNIT_EXPECT_EQ(test, sstp_pmtud_next(&path.p, path.now), 9000U);
	sstp_pmtud_sent(&path.p, 9000, 1, path.now + PMTUD_RTT);
	sstp_pmtud_route(&path.p, 1500, false, false);
	KUNIT_EXPECT_FALSE(test, sstp_pmtud_echo(&path.p, 1));
	KUNIT_EXPECT_EQ(test, path.p.mtu, 1500U);
}

static struct kunit_case pmtud_cases[] = {
	KUNIT_CASE(pmtud_starts),
	KUNIT_CASE(pmtud_finds),
	KUNIT_CASE(pmtud_any),
	KUNIT_CASE(pmtud_holes),
	KUNIT_CASE(pmtud_odds),
	KUNIT_CASE(pmtud_hints),
	KUNIT_CASE(pmtud_routes),
	{ }
};

static struct kunit_suite pmtud_suite = {
	.name = "sstp_pmtud",
	.test_cases = pmtud_cases,
};

kunit_test_suite(pmtud_suite);
