// SPDX-License-Identifier: GPL-2.0
/* A probe: how long it takes, and what it finds */
#include "sstp_test.h"
#include "../waits_probe.c"

#define PROBE_BASE	40000U	/* us */
#define PROBE_BEFORE	60000U	/* us: 20 ms of queue */
#define PROBE_EMPTY	(PROBE_BASE + SSTP_WAITS_EMPTY - 1)
#define PROBE_CWND	100U	/* packets */
#define PROBE_MS	(SSTP_WAITS_PROBE + 2 * PROBE_BEFORE / 1000)

static struct sstp_waits probe_waits(u32 base)
{
	struct sstp_waits w;

	sstp_waits_init(&w, base, 0);
	return w;
}

static bool probe_over(const struct sstp_waits_probe *p, const struct sstp_waits *w, u32 past)
{
	return sstp_waits_probe_over(p, w, PROBE_CWND, PROBE_BEFORE, p->begun_ms + past);
}

/* Lowest round-trip times of probes that end as most do, us; 0 = none was measured */
static void probe_time(struct kunit *test)
{
	static const u32 low[] = {
		0, PROBE_BASE, PROBE_EMPTY,
		/* 5 ms wait, a quarter of what waited before it */
		PROBE_EMPTY + 1, PROBE_BEFORE,
	};
	struct sstp_waits w = probe_waits(PROBE_BASE);
	struct sstp_waits_probe p;
	u32 i;

	KUNIT_EXPECT_EQ(test, sstp_waits_probe_ms(PROBE_BEFORE), PROBE_MS);
	for (i = 0; i < ARRAY_SIZE(low); i++) {
		sstp_waits_probe_begin(&p, PROBE_BEFORE, U32_MAX - 100);
		sstp_waits_probe_report(&p, low[i], PROBE_BEFORE, p.begun_ms + 10);
		KUNIT_EXPECT_FALSE_MSG(test, probe_over(&p, &w, PROBE_MS), "row %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, probe_over(&p, &w, PROBE_MS + 1), "row %u", i);
	}
}

/* Most of the queue is gone: others have joined late. */
static void probe_goes_on(struct kunit *test)
{
	struct sstp_waits w = probe_waits(PROBE_BASE);
	struct sstp_waits_probe p;

	sstp_waits_probe_begin(&p, PROBE_BASE + 100000, 0);
	sstp_waits_probe_report(&p, PROBE_BASE + 25000, PROBE_BEFORE, 10);
	KUNIT_EXPECT_TRUE(test, probe_over(&p, &w, PROBE_MS + 1));
	sstp_waits_probe_report(&p, PROBE_BASE + 24999, PROBE_BEFORE, 20);
	KUNIT_EXPECT_FALSE(test, probe_over(&p, &w, PROBE_MS + 1));
	KUNIT_EXPECT_FALSE(test, probe_over(&p, &w, 2 * PROBE_MS));
	KUNIT_EXPECT_TRUE(test, probe_over(&p, &w, 2 * PROBE_MS + 1));
	sstp_waits_probe_report(&p, PROBE_EMPTY, PROBE_BEFORE, 30);
	KUNIT_EXPECT_TRUE(test, probe_over(&p, &w, PROBE_MS + 1));
}

/* Round-trip times before the probe, early in it and late, us; the window; what is found */
static void probe_found(struct kunit *test)
{
	static const struct {
		u32 before, early, late, cwnd;
		enum sstp_waits_found found;
	} t[] = {
		{ PROBE_BEFORE, PROBE_BEFORE, PROBE_EMPTY, PROBE_CWND, SSTP_WAITS_FOUND_EMPTY },
		/* Less than one packet of this flow waits. */
		{ PROBE_BEFORE, PROBE_BEFORE, PROBE_BASE + 10000, 4, SSTP_WAITS_FOUND_EMPTY },
		{ PROBE_BEFORE, PROBE_BEFORE, PROBE_BASE + 10000, 6, SSTP_WAITS_FOUND_FULL },
		{ PROBE_BEFORE, PROBE_BEFORE, PROBE_BEFORE, PROBE_CWND, SSTP_WAITS_FOUND_LONGER },
		/* It has become shorter by a 32nd, as this flow made room. */
		{ PROBE_BEFORE, 58125, 58125, PROBE_CWND, SSTP_WAITS_FOUND_FULL },
		{ PROBE_BEFORE, 58126, 58126, PROBE_CWND, SSTP_WAITS_FOUND_LONGER },
		/* Others fill the room. */
		{ PROBE_BEFORE, 59000, 60843, PROBE_CWND, SSTP_WAITS_FOUND_FULL },
		{ PROBE_BEFORE, 59000, 60842, PROBE_CWND, SSTP_WAITS_FOUND_LONGER },
		/* No late round-trip time */
		{ PROBE_BEFORE, PROBE_BEFORE, 0, PROBE_CWND, SSTP_WAITS_FOUND_FULL },
		{ PROBE_BEFORE, 0, 0, PROBE_CWND, SSTP_WAITS_FOUND_EMPTY },
	};
	struct sstp_waits w = probe_waits(PROBE_BASE);
	struct sstp_waits_probe p;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		sstp_waits_probe_begin(&p, t[i].before, 1000);
		sstp_waits_probe_report(&p, t[i].early, PROBE_BEFORE, 1000 + 90);
		sstp_waits_probe_report(&p, t[i].late, PROBE_BEFORE, 1000 + 91);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_probe_found(&p, &w, t[i].cwnd), t[i].found,
				    "row %u", i);
	}
}

/* A queue of twice what the wire holds, and of what counts as empty */
static void probe_sure(struct kunit *test)
{
	u32 full = 3 * (PROBE_BASE + SSTP_WAITS_EMPTY);
	struct sstp_waits w = probe_waits(PROBE_BASE);
	struct sstp_waits_probe p;

	sstp_waits_probe_begin(&p, full, 0);
	KUNIT_EXPECT_FALSE(test, sstp_waits_probe_sure(&p, &w));
	sstp_waits_probe_report(&p, PROBE_BASE, full, 10);
	KUNIT_EXPECT_TRUE(test, sstp_waits_probe_sure(&p, &w));
	p.before--;
	KUNIT_EXPECT_FALSE(test, sstp_waits_probe_sure(&p, &w));
}

static struct kunit_case waits_probe_cases[] = {
	KUNIT_CASE(probe_time),
	KUNIT_CASE(probe_goes_on),
	KUNIT_CASE(probe_found),
	KUNIT_CASE(probe_sure),
	{}
};

static struct kunit_suite waits_probe_suite = {
	.name = "sstp_waits_probe",
	.test_cases = waits_probe_cases,
};

kunit_test_suite(waits_probe_suite);
