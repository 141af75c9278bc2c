/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forecast of a series of samples that are equally far apart, as of the rate at which a program
 * reads: the autoregressive model of Lu, Wu, Rao and Wang ("Performance-Adaptive
 * Prediction-Based Transport Control over Dedicated Links"), equation (7),
 *
 *	X_t = delta + phi_1 X_(t-1) + ... + phi_p X_(t-p) + A_t
 *
 * beside the last sample and a moving average. The paper leaves p, the number of samples and the
 * fit open. Here Burg's method fits the model, which is always stable, to deviations from the
 * mean of the last samples; p and their number are chosen by the error, as is what is used: the
 * model only if its running mean squared error is well below that of both simple forecasts, so
 * that a forecast is never much worse than the best of them.
 *
 * Pure mechanism in integers: no socket, no clock, no lock. tools/bench/forecast has the same
 * arithmetic, compares it with floating point, and shows what the model is worth.
 */
#ifndef _SSTP_AR_H
#define _SSTP_AR_H

#include <linux/bits.h>
#include <linux/types.h>

#define SSTP_AR_SAMPLES		64U	/* N, at most */
#define SSTP_AR_ORDER		8U	/* p, at most */
#define SSTP_AR_STEPS		16U	/* samples ahead, at most */
#define SSTP_AR_SHIFT		14	/* fractional bits of phi */
#define SSTP_AR_MAX		BIT(30)	/* largest sample */

enum sstp_ar_kind {
	SSTP_AR_LAST,		/* the last sample */
	SSTP_AR_MEAN,		/* exponentially weighted moving average, gain 1/4 */
	SSTP_AR_MODELS,		/* the first of the models */
	SSTP_AR_KINDS = SSTP_AR_MODELS + 6,
};

/**
 * struct sstp_ar_fit - a model
 * @dev: deviations of the samples from @mean, with @shift fewer bits
 * @forward: errors of the forward prediction; those from index @order on are valid
 * @backward: the same of the backward prediction
 * @phi: coefficients, SSTP_AR_SHIFT fractional bits
 * @count: samples
 * @order: p so far
 * @shift: bits by which @dev is smaller than the deviations; negative: larger
 * @mean: of the samples
 * @most: the largest sample
 */
struct sstp_ar_fit {
	s32	dev[SSTP_AR_SAMPLES];
	s32	forward[SSTP_AR_SAMPLES];
	s32	backward[SSTP_AR_SAMPLES];
	s32	phi[SSTP_AR_ORDER];
	u32	count;
	u32	order;
	s32	shift;
	u32	mean;
	u32	most;
};

/**
 * struct sstp_ar_expert - one of the forecasts
 * @error: running mean of its squared errors
 * @ahead: what it forecast, by the number of the sample modulo SSTP_AR_STEPS
 */
struct sstp_ar_expert {
	u64	error;
	u32	ahead[SSTP_AR_STEPS];
};

/**
 * struct sstp_ar - state of the forecast; begins as zeros
 * @expert: all forecasts, by enum sstp_ar_kind
 * @fit: the model that was fitted last
 * @sample: the last @count samples, oldest first
 * @average: the moving average, times 4
 * @time: number of the next sample
 * @due: samples, by their numbers modulo SSTP_AR_STEPS, that there are forecasts of
 * @count: samples in @sample
 * @kind: what the last forecast was taken from, enum sstp_ar_kind
 */
struct sstp_ar {
	struct sstp_ar_expert expert[SSTP_AR_KINDS];
	struct sstp_ar_fit fit;
	u32	sample[SSTP_AR_SAMPLES];
	u64	average;
	u64	time;
	u16	due;
	u8	count;
	u8	kind;
};

/* Begin a model of order 0 of @n samples at @x, 1 to SSTP_AR_SAMPLES. */
void sstp_ar_begin(struct sstp_ar_fit *f, const u32 *x, u32 n);
/* Raise the order by one; it must remain below the number of samples. */
void sstp_ar_raise(struct sstp_ar_fit *f);
/* The sample that follows @steps after the last, 1 to SSTP_AR_STEPS, as the model has it: 0 to
 * twice the largest one
 */
u32 sstp_ar_ahead(const struct sstp_ar_fit *f, u32 steps);
/* Add sample @x, and return the forecast of the one that follows it after @steps, 1 to
 * SSTP_AR_STEPS. Larger samples than SSTP_AR_MAX count as that.
 */
u32 sstp_ar_add(struct sstp_ar *a, u32 x, u32 steps);

#endif /* _SSTP_AR_H */
