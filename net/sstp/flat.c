// SPDX-License-Identifier: GPL-2.0
/* Conditions of the rate at which data comes: flat-rate, const-rate-drop */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "flat.h"

void sstp_flat_add(struct sstp_flat *f, u64 rate)
{
	memmove(f->rate + 1, f->rate, (SSTP_FLAT_RATES - 1) * sizeof(*f->rate));
	f->rate[0] = min(rate, SSTP_FLAT_RATE_MAX);
	f->count = min(f->count + 1U, SSTP_FLAT_RATES);
}

void sstp_flat_reset(struct sstp_flat *f)
{
	f->count = 0;
}

/* Are there @n rates, and @skip newer ones? The compiler does not know the bound of the count. */
static bool sstp_flat_has(const struct sstp_flat *f, u32 skip, u32 n)
{
	return n && skip + n <= min_t(u32, f->count, SSTP_FLAT_RATES);
}

/* Are the @n rates that are not the @skip newest almost equal? Rates of 0 are no rates. */
static bool sstp_flat_equal(const struct sstp_flat *f, u32 skip, u32 n, u32 share)
{
	u64 least = U64_MAX, most = 0;
	u32 i;

	if (!sstp_flat_has(f, skip, n))
		return false;
	for (i = skip; i < skip + n; i++) {
		least = min(least, f->rate[i]);
		most = max(most, f->rate[i]);
	}
	return least && (most - least) * SSTP_FLAT_ONE <= most * share;
}

bool sstp_flat_rate(const struct sstp_flat *f, u32 n, u32 share)
{
	return sstp_flat_equal(f, 0, n, share);
}

bool sstp_flat_drop(const struct sstp_flat *f, u32 share, u32 drop)
{
	u64 before = sstp_flat_mean(f, 1, SSTP_FLAT_CONST);

	if (!sstp_flat_equal(f, 1, SSTP_FLAT_CONST, share))
		return false;
	return before > f->rate[0] && (before - f->rate[0]) * SSTP_FLAT_ONE > before * drop;
}

u64 sstp_flat_mean(const struct sstp_flat *f, u32 skip, u32 n)
{
	u64 sum = 0;
	u32 i;

	if (!sstp_flat_has(f, skip, n))
		return 0;
	for (i = skip; i < skip + n; i++)
		sum += f->rate[i];
	return div_u64(sum, n);
}

u64 sstp_flat_most(const struct sstp_flat *f, u32 n)
{
	u64 most = 0;
	u32 i;

	for (i = 0; i < min3(n, (u32)f->count, SSTP_FLAT_RATES); i++)
		most = max(most, f->rate[i]);
	return most;
}

u64 sstp_flat_least(const struct sstp_flat *f, u32 n)
{
	u64 least = U64_MAX;
	u32 i;

	for (i = 0; i < min3(n, (u32)f->count, SSTP_FLAT_RATES); i++)
		least = min(least, f->rate[i]);
	return least;
}
