// SPDX-License-Identifier: GPL-2.0
/* Forecast of a series of samples; ar.h describes it. */
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "ar.h"

#define SSTP_AR_BITS	18	/* of the largest deviation, once it is scaled */
#define SSTP_AR_LEAST	4	/* samples for each of the coefficients, at least */
#define SSTP_AR_DECAY	32	/* samples after which an error counts 1/e */
#define SSTP_AR_DEV_MAX	BIT(24)	/* of a forecast deviation, scaled */

/* Models: p and N of each, in the order in which one fit after the other yields them */
static const struct {
	u8	samples;
	u8	order;
} sstp_ar_model[] = {
	{ 32, 2 }, { 32, 4 }, { 32, 8 }, { 64, 2 }, { 64, 4 }, { 64, 8 },
};

/* @v / 2^@bits, rounded to the nearest */
static s64 sstp_ar_round(s64 v, u32 bits)
{
	return (v + (1LL << (bits - 1))) >> bits;
}

/* @v with @shift bits fewer, or more if @shift is negative */
static s64 sstp_ar_scale(s64 v, s32 shift)
{
	if (shift > 0)
		return sstp_ar_round(v, shift);
	return v * (1LL << -shift);
}

void sstp_ar_begin(struct sstp_ar_fit *f, const u32 *x, u32 n)
{
	u32 low = x[0], most = x[0], i;
	u64 sum = 0;

	for (i = 0; i < n; i++) {
		sum += x[i];
		low = min(low, x[i]);
		most = max(most, x[i]);
	}
	f->count = n;
	f->order = 0;
	f->most = most;
	f->mean = div_u64(sum, n);
	f->shift = fls(max(most - f->mean, f->mean - low)) - SSTP_AR_BITS;
	for (i = 0; i < n; i++) {
		f->dev[i] = sstp_ar_scale((s64)x[i] - f->mean, f->shift);
		f->forward[i] = f->dev[i];
		f->backward[i] = f->dev[i];
	}
}

/* Burg's reflection coefficient: the k that makes the errors of both predictions least. Its
 * magnitude is 1 at most, so the model is stable, and the sums never grow: with SSTP_AR_SAMPLES
 * deviations of SSTP_AR_BITS they have 43 bits.
 */
static s32 sstp_ar_reflect(const struct sstp_ar_fit *f)
{
	s64 both = 0, power = 0;
	u32 i;

	for (i = f->order + 1; i < f->count; i++) {
		s64 forward = f->forward[i], backward = f->backward[i - 1];

		both += forward * backward;
		power += forward * forward + backward * backward;
	}
	return power ? div64_s64(both * (2LL << SSTP_AR_SHIFT), power) : 0;
}

void sstp_ar_raise(struct sstp_ar_fit *f)
{
	s64 k = sstp_ar_reflect(f);
	s32 was[SSTP_AR_ORDER];
	u32 i;

	for (i = f->count - 1; i > f->order; i--) {
		s64 forward = f->forward[i], backward = f->backward[i - 1];

		f->forward[i] = forward - sstp_ar_round(k * backward, SSTP_AR_SHIFT);
		f->backward[i] = backward - sstp_ar_round(k * forward, SSTP_AR_SHIFT);
	}
	/* Levinson's recursion */
	memcpy(was, f->phi, sizeof(was));
	for (i = 0; i < f->order; i++)
		f->phi[i] -= sstp_ar_round(k * was[f->order - 1 - i], SSTP_AR_SHIFT);
	f->phi[f->order++] = k;
}

u32 sstp_ar_ahead(const struct sstp_ar_fit *f, u32 steps)
{
	s32 dev[SSTP_AR_ORDER + SSTP_AR_STEPS];
	u32 end = f->order, i;
	s64 sum;

	memcpy(dev, &f->dev[f->count - f->order], f->order * sizeof(*dev));
	for (; end < f->order + steps; end++) {
		sum = 0;
		for (i = 0; i < f->order; i++)
			sum += (s64)f->phi[i] * dev[end - 1 - i];
		dev[end] = clamp_t(s64, sstp_ar_round(sum, SSTP_AR_SHIFT),
				   -(s64)SSTP_AR_DEV_MAX, SSTP_AR_DEV_MAX);
	}
	sum = f->mean + sstp_ar_scale(dev[end - 1], -f->shift);
	return clamp_t(s64, sum, 0, 2 * (s64)f->most);
}

/* Forecasts of all models. One that has too few samples yet forecasts the last one. */
static void sstp_ar_models(struct sstp_ar *a, u32 slot, u32 steps)
{
	u32 last = a->sample[a->count - 1], n, i;

	for (i = 0; i < ARRAY_SIZE(sstp_ar_model); i++) {
		u32 order = sstp_ar_model[i].order;

		if (!i || sstp_ar_model[i].samples != sstp_ar_model[i - 1].samples) {
			n = min_t(u32, a->count, sstp_ar_model[i].samples);
			sstp_ar_begin(&a->fit, &a->sample[a->count - n], n);
		}
		a->expert[SSTP_AR_MODELS + i].ahead[slot] = last;
		if (a->fit.count < SSTP_AR_LEAST * order)
			continue;
		while (a->fit.order < order)
			sstp_ar_raise(&a->fit);
		a->expert[SSTP_AR_MODELS + i].ahead[slot] = sstp_ar_ahead(&a->fit, steps);
	}
}

/* The forecast with the least error; of models, only if the error is well below */
static u32 sstp_ar_choose(const struct sstp_ar *a)
{
	u32 best = a->expert[SSTP_AR_MEAN].error < a->expert[SSTP_AR_LAST].error ?
		   SSTP_AR_MEAN : SSTP_AR_LAST, i;
	u64 least = a->expert[best].error / 4 * 3;

	for (i = SSTP_AR_MODELS; i < SSTP_AR_KINDS; i++) {
		if (a->expert[i].error < least) {
			best = i;
			least = a->expert[i].error;
		}
	}
	return best;
}

/* Sample @x has come: account the errors of what was forecast for it. */
static void sstp_ar_judge(struct sstp_ar *a, u32 x)
{
	u32 slot = (u32)a->time % SSTP_AR_STEPS, i;

	if (!(a->due & BIT(slot)))
		return;
	a->due &= ~BIT(slot);
	for (i = 0; i < SSTP_AR_KINDS; i++) {
		struct sstp_ar_expert *e = &a->expert[i];
		u64 off = max(e->ahead[slot], x) - min(e->ahead[slot], x);

		e->error += off * off / SSTP_AR_DECAY - e->error / SSTP_AR_DECAY;
	}
}

u32 sstp_ar_add(struct sstp_ar *a, u32 x, u32 steps)
{
	u32 slot;

	BUILD_BUG_ON(ARRAY_SIZE(sstp_ar_model) != SSTP_AR_KINDS - SSTP_AR_MODELS);
	BUILD_BUG_ON(SSTP_AR_STEPS > 8 * sizeof(a->due));
	x = min_t(u32, x, SSTP_AR_MAX);
	sstp_ar_judge(a, x);
	if (a->count == SSTP_AR_SAMPLES)
		memmove(a->sample, a->sample + 1, --a->count * sizeof(*a->sample));
	a->sample[a->count++] = x;
	a->average = a->time ? a->average - a->average / 4 + x : 4ULL * x;
	slot = (u32)(a->time + steps) % SSTP_AR_STEPS;
	a->time++;
	a->expert[SSTP_AR_LAST].ahead[slot] = x;
	a->expert[SSTP_AR_MEAN].ahead[slot] = a->average / 4;
	sstp_ar_models(a, slot, steps);
	a->due |= BIT(slot);
	a->kind = sstp_ar_choose(a);
	return a->expert[a->kind].ahead[slot];
}
