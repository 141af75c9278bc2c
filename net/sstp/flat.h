/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conditions of the rate at which data comes, after Prasad et al. (SOBAS, cited in sstp.rst):
 * flat-rate, the last rates are almost equal; const-rate-drop, the last one is far below those
 * before it, which were almost equal. Pure mechanism.
 */
#ifndef _SSTP_FLAT_H
#define _SSTP_FLAT_H

#include <linux/bits.h>
#include <linux/types.h>

#define SSTP_FLAT_RATES		8U		/* rates that are remembered */
#define SSTP_FLAT_CONST		2U		/* rates before a drop */
#define SSTP_FLAT_ONE		1000U		/* of shares */
#define SSTP_FLAT_RATE_MAX	BIT_ULL(40)	/* bytes/s */

/**
 * struct sstp_flat - rates of the last epochs
 * @rate: bytes/s, the newest first
 * @count: entries of @rate
 */
struct sstp_flat {
	u64	rate[SSTP_FLAT_RATES];
	u8	count;
};

/* Take the rate of an epoch, SSTP_FLAT_RATE_MAX at most. */
void sstp_flat_add(struct sstp_flat *f, u64 rate);
/* Forget all rates. */
void sstp_flat_reset(struct sstp_flat *f);
/* Flat-rate: do the last @n rates differ by @share (thousandths) of the highest at most? */
bool sstp_flat_rate(const struct sstp_flat *f, u32 n, u32 share);
/* Const-rate-drop: is the last rate below the mean of the SSTP_FLAT_CONST before it, which were
 * flat by @share, by more than @drop (thousandths)?
 */
bool sstp_flat_drop(const struct sstp_flat *f, u32 share, u32 drop);
/* Mean of the last @n rates that are not the @skip newest, bytes/s; 0 = there are fewer */
u64 sstp_flat_mean(const struct sstp_flat *f, u32 skip, u32 n);
/* Highest and lowest of the last @n rates, or of all if there are fewer, bytes/s; 0 and U64_MAX =
 * there are none
 */
u64 sstp_flat_most(const struct sstp_flat *f, u32 n);
u64 sstp_flat_least(const struct sstp_flat *f, u32 n);

#endif /* _SSTP_FLAT_H */
