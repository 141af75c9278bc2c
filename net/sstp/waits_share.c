// SPDX-License-Identifier: GPL-2.0
#include <linux/math64.h>
#include <linux/minmax.h>
#include "waits_share.h"

bool sstp_waits_share_round(struct sstp_waits_share *x, const struct sstp_waits *w, bool first)
{
	u32 lost = w->lost, all = max(lost + w->delivered, 1U);
	u32 share = div_u64((u64)lost << 16, all);
	bool burst = first && all < SSTP_WAITS_SHARE_FEW && x->mean < SSTP_WAITS_SHARE_HARDLY;

	x->mean += (s32)(share - x->mean) / 4;
	if (lost < SSTP_WAITS_SHARE_LEAST && !sstp_waits_share_halves(x))
		return false;
	if (burst)
		return (lost << 16) / SSTP_WAITS_SHARE_FEW > SSTP_WAITS_SHARE_MANY;
	return share > SSTP_WAITS_SHARE_MANY ||
	       (share > SSTP_WAITS_SHARE_MEAN / 2 && x->mean > SSTP_WAITS_SHARE_MEAN);
}

bool sstp_waits_share_halves(const struct sstp_waits_share *x)
{
	return x->mean > SSTP_WAITS_SHARE_HALVES;
}
