// SPDX-License-Identifier: GPL-2.0
/* ar: models against floating point, the choice among forecasts, and bounds */
#include <linux/slab.h>
#include "sstp_test.h"
#include "../ar.c"
#include "ar_vectors.h"

/* Equation (7), fitted and extrapolated: within 0.4% of the mean of what floating point yields */
static void ar_models(struct kunit *test)
{
	static const u32 steps[] = { 1, 4, 8 };
	struct sstp_ar_fit *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	u32 i, j;

	KUNIT_ASSERT_NOT_NULL(test, f);
	for (i = 0; i < ARRAY_SIZE(ar_vectors); i++) {
		sstp_ar_begin(f, ar_vectors[i].sample, ar_vectors[i].count);
		while (f->order < ar_vectors[i].order)
			sstp_ar_raise(f);
		for (j = 0; j < ARRAY_SIZE(steps); j++) {
			s64 off = (s64)sstp_ar_ahead(f, steps[j]) - ar_vectors[i].ahead[j];

			KUNIT_EXPECT_LE_MSG(test, abs(off), ar_vectors[i].mean / 250 + 1,
					    "vector %u, %u ahead", i, steps[j]);
		}
	}
}

/* The root of a mean of squared errors, as of @error */
static u32 ar_root(u64 error)
{
	u32 root = 0;
	int bit;

	for (bit = 31; bit >= 0; bit--) {
		u64 next = root | 1U << bit;

		if (next * next <= error)
			root = next;
	}
	return root;
}

/* Sample @i of a program that reads in 20 of each 100 ms, in intervals of 10 ms */
static u32 ar_periodic(u32 i)
{
	return i % 10 < 2 ? 600000 : 0;
}

/* A share of CPU that is periodic: the model is chosen, and its error is a fifth of the others' */
static void ar_pays(struct kunit *test)
{
	struct sstp_ar *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	u64 model = 0, last = 0;
	u32 i, forecast = 0;

	KUNIT_ASSERT_NOT_NULL(test, a);
	for (i = 0; i < 400; i++) {
		s64 off = (s64)ar_periodic(i) - forecast;
		s64 off_last = (s64)ar_periodic(i) - ar_periodic(i - 1);

		if (i >= 200) {
			model += off * off;
			last += off_last * off_last;
		}
		forecast = sstp_ar_add(a, ar_periodic(i), 1);
	}
	KUNIT_EXPECT_GE(test, a->kind, SSTP_AR_MODELS);
	KUNIT_EXPECT_LT(test, ar_root(model), ar_root(last) / 5);
}

/* Several samples ahead: the forecast of a sample is made with those before it only. */
static void ar_horizon(struct kunit *test)
{
	struct sstp_ar *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	u32 *forecast = kunit_kcalloc(test, 400 + SSTP_AR_STEPS, sizeof(*forecast), GFP_KERNEL);
	u32 i, steps = 6;

	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, forecast);
	for (i = 0; i < 400; i++)
		forecast[i + steps] = sstp_ar_add(a, ar_periodic(i), steps);
	for (i = 360; i < 400; i++)
		KUNIT_EXPECT_LE_MSG(test, abs((s64)forecast[i] - ar_periodic(i)), 60000, "%u", i);
}

/* Where samples are random steps, and the last one is the best forecast, the choice costs at most
 * 5%; where they are noise around a mean, the average or a model of it is chosen.
 */
static void ar_choice(struct kunit *test)
{
	struct sstp_ar *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	u32 x = 300000, forecast = 0, was = 0, i;
	u64 chosen = 0, last = 0;
	struct rnd_state r;

	KUNIT_ASSERT_NOT_NULL(test, a);
	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < sstp_test_rounds(4000); i++) {
		if (sstp_rnd_one_in(&r, 40))
			x = 600000 / sstp_rnd_range(&r, 1, 3);
		if (i > 100) {
			chosen += (u64)((s64)x - forecast) * ((s64)x - forecast);
			last += (u64)((s64)x - was) * ((s64)x - was);
		}
		was = x;
		forecast = sstp_ar_add(a, x, 1);
	}
	KUNIT_EXPECT_LE(test, ar_root(chosen), ar_root(last) / 20 * 21);

	memset(a, 0, sizeof(*a));
	for (i = 0; i < 500; i++)
		sstp_ar_add(a, sstp_rnd_range(&r, 200000, 400000), 1);
	KUNIT_EXPECT_NE(test, a->kind, SSTP_AR_LAST);
}

/* Any samples and horizons: forecasts are bounded, and no sum overflows. */
static void ar_bounds(struct kunit *test)
{
	struct sstp_ar *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct rnd_state r;
	u32 i, j;

	KUNIT_ASSERT_NOT_NULL(test, a);
	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < sstp_test_rounds(3000); i++) {
		u32 x = sstp_rnd_edge(&r), steps = sstp_rnd_range(&r, 1, SSTP_AR_STEPS);

		KUNIT_ASSERT_LE(test, sstp_ar_add(a, x, steps), 2 * SSTP_AR_MAX);
		KUNIT_ASSERT_LT(test, a->kind, SSTP_AR_KINDS);
		for (j = 0; j < SSTP_AR_KINDS; j++)
			KUNIT_ASSERT_LE(test, a->expert[j].error, BIT_ULL(62));
		for (j = 0; j < a->fit.order; j++)
			KUNIT_ASSERT_LE(test, abs(a->fit.phi[j]), 71 << SSTP_AR_SHIFT);
	}
	/* Samples that do not change are forecast exactly. */
	for (i = 0; i < 2 * SSTP_AR_SAMPLES; i++)
		sstp_ar_add(a, 12345, 1);
	KUNIT_EXPECT_EQ(test, sstp_ar_add(a, 12345, SSTP_AR_STEPS), 12345U);
}

static struct kunit_case ar_cases[] = {
	KUNIT_CASE(ar_models),
	KUNIT_CASE(ar_pays),
	KUNIT_CASE(ar_horizon),
	KUNIT_CASE(ar_choice),
	KUNIT_CASE(ar_bounds),
	{}
};

static struct kunit_suite ar_suite = {
	.name = "sstp_ar",
	.test_cases = ar_cases,
};

kunit_test_suite(ar_suite);
