// SPDX-License-Identifier: GPL-2.0
/* Estimate of the round-trip time (RFC 6298) */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "rtt.h"

#define SSTP_RTT_HALF	(5 * USEC_PER_SEC)	/* of the window of the minimum */

void sstp_rtt_init(struct sstp_rtt *r)
{
	memset(r, 0, sizeof(*r));
	r->min = U32_MAX;
	r->low = U32_MAX;
	r->next_min = U32_MAX;
}

void sstp_rtt_sample(struct sstp_rtt *r, u32 us, u32 now)
{
	u32 diff;

	if (us > SSTP_RTT_MAX)
		return;
	if (r->guess)
		sstp_rtt_init(r);
	us = max(us, 1U);
	r->latest = us;
	r->at = now;
	r->low = min(r->low, us);
	if (!r->srtt) {
		r->srtt = us << 3;
		r->var = us << 1;
	} else {
		u32 s = r->srtt >> 3;

		diff = us > s ? us - s : s - us;
		r->var += diff - (r->var >> 2);
		r->srtt += us - s;
	}
	/* Keep the lowest sample of this half window and the one before. */
	if (now - r->half_start >= 2 * SSTP_RTT_HALF) {
		r->min = U32_MAX;
		r->next_min = U32_MAX;
		r->half_start = now;
	} else if (now - r->half_start >= SSTP_RTT_HALF) {
		r->min = r->next_min;
		r->next_min = U32_MAX;
		r->half_start += SSTP_RTT_HALF;
	}
	r->next_min = min(r->next_min, us);
	r->min = min(r->min, us);
}

void sstp_rtt_guess(struct sstp_rtt *r, u32 us, u32 now)
{
	sstp_rtt_sample(r, us, now);
	r->guess = true;
}

u32 sstp_rtt_timeout(const struct sstp_rtt *r, u32 margin, u32 most)
{
	if (!r->srtt)
		return min_t(u32, USEC_PER_SEC, most);
	/* r->var is four times the deviation already. On a path that never varies it is 0:
	 * without @margin the timer would expire as the answer comes.
	 */
	return min((r->srtt >> 3) + max(r->var, margin), most);
}
