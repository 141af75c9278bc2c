// SPDX-License-Identifier: GPL-2.0
/* Rate and resource detection (Liu et al., section III; cited in sstp.rst) */
#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "rrda.h"

/* Largest number of bytes in an epoch, far above any ceiling: products stay below 2^63 */
#define SSTP_RRDA_RATE	BIT_ULL(34)

void sstp_rrda_init(struct sstp_rrda *r, u32 size)
{
	*r = (struct sstp_rrda){ .size = (s64)size * SSTP_RRDA_ONE };
}

/* Equation 1: v' = omega * v + (1 - omega) * v', rounded to the nearest, so that errors do not
 * add up
 */
static void sstp_rrda_smooth(struct sstp_rrda *r, s64 v, u32 omega)
{
	s64 d = v * SSTP_RRDA_BYTE - r->surplus;
	s64 part = (mul_u64_u64_div_u64(2 * abs(d), omega, 1000) + 1) / 2;

	r->surplus += d < 0 ? -part : part;
}

/* Equation 2: f, the sign of v' in the newest epoch and the k - 1 before it; 0 if it changed */
static int sstp_rrda_trend(struct sstp_rrda *r, u32 k)
{
	s8 sign = r->surplus >= SSTP_RRDA_BYTE ? 1 :
		  r->surplus <= -SSTP_RRDA_BYTE ? -1 : 0;

	if (sign != r->sign)
		r->same = 0;
	r->sign = sign;
	if (r->same < U8_MAX)
		r->same++;
	return r->same >= k ? sign : 0;
}

static u32 sstp_rrda_clamp(struct sstp_rrda *r, const struct sstp_rrda_params *p)
{
	r->size = clamp(r->size, (s64)p->floor * SSTP_RRDA_ONE,
			(s64)p->ceiling * SSTP_RRDA_ONE);
	return r->size / SSTP_RRDA_ONE;
}

u32 sstp_rrda_epoch(struct sstp_rrda *r, const struct sstp_rrda_params *p,
		    u64 arrived, u64 served, u32 used)
{
	s64 v = (s64)min_t(u64, arrived, SSTP_RRDA_RATE) -
		(s64)min_t(u64, served, SSTP_RRDA_RATE);
	u64 step, share;
	int trend;

	sstp_rrda_smooth(r, v, p->omega);
	trend = sstp_rrda_trend(r, p->k);
	/* Equation 4: the step grows with the share of free memory, a step down with that in use */
	share = trend > 0 && p->held ? 0 : p->blind ? SSTP_RRDA_ONE :
		trend > 0 ? SSTP_RRDA_ONE - used : used;
	step = mul_u64_u64_shr(abs(r->surplus), share * p->beta, 23);
	r->size += trend * (s64)((step + 1) / 2);
	return sstp_rrda_clamp(r, p);
}

u32 sstp_rrda_add(struct sstp_rrda *r, const struct sstp_rrda_params *p, u64 bytes,
		  u32 used)
{
	u32 share = p->blind ? SSTP_RRDA_ONE : SSTP_RRDA_ONE - used;

	r->size += min(bytes, SSTP_RRDA_RATE) * share;
	return sstp_rrda_clamp(r, p);
}
