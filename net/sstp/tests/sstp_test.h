/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the KUnit suites. Each suite includes the file that it tests, so
 * that no function has to be exported.
 */
#ifndef _SSTP_TEST_H
#define _SSTP_TEST_H

#include <kunit/test.h>
#include <linux/export.h>
#include <linux/prandom.h>
#include <linux/types.h>

#include <net/sstp.h>

/* The suites' copies of functions must not be exported once more, and the controllers that they
 * include are no modules here.
 */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)
#undef module_sstp_ctrl
#define module_sstp_ctrl(ops)
#undef module_sstp_rbuf
#define module_sstp_rbuf(ops)

/* Seed of random runs: with the same seed a failure occurs again. */
extern unsigned int sstp_test_seed;

static inline void sstp_test_seed_rnd(struct kunit *test, struct rnd_state *r)
{
	prandom_seed_state(r, sstp_test_seed);
	kunit_info(test, "seed %u", sstp_test_seed);
}

/* Number of rounds: fewer with KASAN and lockdep, which make a round take much longer */
static inline u32 sstp_test_rounds(u32 n)
{
	return IS_ENABLED(CONFIG_KASAN) ? DIV_ROUND_UP(n, 10) : n;
}

/* A random number in [0, n) */
static inline u32 sstp_rnd_below(struct rnd_state *r, u32 n)
{
	return ((u64)prandom_u32_state(r) * n) >> 32;
}

/* A random number in [lo, hi] */
static inline u32 sstp_rnd_range(struct rnd_state *r, u32 lo, u32 hi)
{
	return lo + sstp_rnd_below(r, hi - lo + 1);
}

static inline bool sstp_rnd_one_in(struct rnd_state *r, u32 n)
{
	return !sstp_rnd_below(r, n);
}

static inline u64 sstp_rnd_u64(struct rnd_state *r)
{
	return (u64)prandom_u32_state(r) << 32 | prandom_u32_state(r);
}

/* A random number: any, or a power of two, one less, or the negative of one */
static inline u32 sstp_rnd_edge(struct rnd_state *r)
{
	u32 v = 1U << sstp_rnd_below(r, 32);

	switch (sstp_rnd_below(r, 4)) {
	case 0:
		return prandom_u32_state(r);
	case 1:
		return v - 1;
	case 2:
		return v;
	default:
		return -v;
	}
}

#endif /* _SSTP_TEST_H */
