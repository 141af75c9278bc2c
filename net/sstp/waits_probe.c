// SPDX-License-Identifier: GPL-2.0
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "waits_probe.h"

u32 sstp_waits_probe_ms(u32 srtt)
{
	return SSTP_WAITS_PROBE + 2 * (srtt / USEC_PER_MSEC);
}

void sstp_waits_probe_begin(struct sstp_waits_probe *p, u32 before, u32 ms)
{
	*p = (struct sstp_waits_probe){
		.low = U32_MAX,
		.before = before,
		.begun_ms = ms,
	};
}

void sstp_waits_probe_report(struct sstp_waits_probe *p, u32 rtt, u32 srtt, u32 ms)
{
	if (!rtt)
		return;
	p->low = min(p->low, rtt);
	if (ms - p->begun_ms > srtt * 3 / (2 * USEC_PER_MSEC))
		p->high = max(p->high, rtt);
}

/* No round-trip time was measured if hardly anything was sent: nothing waits then. */
static bool sstp_waits_probe_empty(const struct sstp_waits_probe *p, const struct sstp_waits *w,
				   u32 cwnd)
{
	return p->low == U32_MAX ||
	       !sstp_waits_holds(w, cwnd, p->low, SSTP_WAITS_EMPTY, SSTP_WAITS_ALONE);
}

bool sstp_waits_probe_over(const struct sstp_waits_probe *p, const struct sstp_waits *w, u32 cwnd,
			   u32 srtt, u32 ms)
{
	u32 past = ms - p->begun_ms, due = sstp_waits_probe_ms(srtt);

	if (past <= due)
		return false;
	return past > 2 * due || sstp_waits_probe_empty(p, w, cwnd) ||
	       sstp_waits_time(w, p->low) >= sstp_waits_time(w, p->before) / SSTP_WAITS_MOST;
}

enum sstp_waits_found sstp_waits_probe_found(const struct sstp_waits_probe *p,
					     const struct sstp_waits *w, u32 cwnd)
{
	if (sstp_waits_probe_empty(p, w, cwnd))
		return SSTP_WAITS_FOUND_EMPTY;
	/* The path is longer if the round-trip time did not change, neither when this flow sent
	 * little nor during the probe.
	 */
	if (p->high && p->high - p->low < p->low / 32 && p->low > p->before / 32 * 31)
		return SSTP_WAITS_FOUND_LONGER;
	return SSTP_WAITS_FOUND_FULL;
}

bool sstp_waits_probe_sure(const struct sstp_waits_probe *p, const struct sstp_waits *w)
{
	return p->low != U32_MAX &&
	       p->before / SSTP_WAITS_SURE >= sstp_waits_base(w) + SSTP_WAITS_EMPTY;
}
