// SPDX-License-Identifier: GPL-2.0
/* Tolerance checker: exactly as many packets may be missing as the tolerance allows. */
#include <linux/math64.h>
#include "sstp_test.h"
#include "../tolerance.c"

static enum sstp_tol_verdict tol_expect(u32 packets, u32 missing, u32 tolerance)
{
	u64 allowed = div_u64((u64)packets * tolerance, 1000000);

	return !missing ? SSTP_TOL_COMPLETE :
	       missing <= allowed ? SSTP_TOL_ACCEPT : SSTP_TOL_REPAIR;
}

static void tol_table(struct kunit *test)
{
	static const struct {
		u32 packets;
		u32 tolerance;
		u32 allowed;
	} t[] = {
		{ 1, 0, 0 },
		{ 1, 999999, 0 },
		{ 1, 1000000, 1 },
		{ 2, 499999, 0 },
		{ 2, 500000, 1 },
		{ 3, 333333, 0 },
		{ 3, 333334, 1 },
		{ 3, 666666, 1 },
		{ 3, 666667, 2 },
		{ 99, 10000, 0 },
		{ 100, 10000, 1 },
		{ 199, 10000, 1 },
		{ 200, 10000, 2 },
		{ 1000, 1000, 1 },
		{ 999, 1000, 0 },
		{ 65535, 0, 0 },
		{ 65535, 15, 0 },
		{ 65535, 16, 1 },
		{ 65535, 999999, 65534 },
		{ 65535, 1000000, 65535 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		u32 n = t[i].packets, tol = t[i].tolerance, ok = t[i].allowed;

		KUNIT_EXPECT_EQ_MSG(test, sstp_tol_check(n, 0, tol),
				    SSTP_TOL_COMPLETE, "row %u", i);
		if (ok)
			KUNIT_EXPECT_EQ_MSG(test, sstp_tol_check(n, ok, tol),
					    SSTP_TOL_ACCEPT, "row %u", i);
		if (ok < n)
			KUNIT_EXPECT_EQ_MSG(test, sstp_tol_check(n, ok + 1,
								 tol),
					    SSTP_TOL_REPAIR, "row %u", i);
	}
}

/* All losses of small segments, with tolerances where the verdict changes */
static void tol_small(struct kunit *test)
{
	enum sstp_tol_verdict got, want;
	u32 packets, missing, k, n;

	for (packets = 1; packets <= 64; packets++)
		for (missing = 0; missing <= packets; missing++)
			for (k = 0; k < 3 * (packets + 1); k++) {
				/* tolerances around a whole number of packets */
				n = k / 3 * 1000000 / packets + k % 3 - 1;
				if (n > SSTP_TOLERANCE_MAX)
					continue;
				got = sstp_tol_check(packets, missing, n);
				want = tol_expect(packets, missing, n);
				KUNIT_ASSERT_EQ_MSG(test, got, want,
						    "%u of %u at %u", missing,
						    packets, n);
			}
}

static void tol_random(struct kunit *test)
{
	u32 i, packets, missing, tolerance, count[3] = {};
	enum sstp_tol_verdict got;
	struct rnd_state r;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 300000; i++) {
		packets = sstp_rnd_range(&r, 1, 65535 >> sstp_rnd_below(&r, 16));
		tolerance = sstp_rnd_below(&r, SSTP_TOLERANCE_MAX + 1);
		if (sstp_rnd_one_in(&r, 2))
			tolerance >>= sstp_rnd_below(&r, 20);
		/* About as many packets as are allowed, or any number */
		missing = div_u64((u64)packets * tolerance, 1000000);
		missing = min(missing + sstp_rnd_below(&r, 4), packets);
		if (sstp_rnd_one_in(&r, 4))
			missing = sstp_rnd_below(&r, packets + 1);
		got = sstp_tol_check(packets, missing, tolerance);
		KUNIT_ASSERT_EQ_MSG(test, got, tol_expect(packets, missing,
							  tolerance),
				    "%u of %u at %u", missing, packets,
				    tolerance);
		count[got]++;
	}
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_GT(test, count[i], 10000U);
}

static struct kunit_case tol_cases[] = {
	KUNIT_CASE(tol_table),
	KUNIT_CASE(tol_small),
	KUNIT_CASE(tol_random),
	{ }
};

static struct kunit_suite tol_suite = {
	.name = "sstp_tolerance",
	.test_cases = tol_cases,
};

kunit_test_suite(tol_suite);
