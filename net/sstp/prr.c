// SPDX-License-Identifier: GPL-2.0
/* Proportional rate reduction (RFC 9937); prr.h describes it. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "prr.h"

void sstp_prr_start(struct sstp_prr *p, u32 flight, u32 recover)
{
	p->window = 0;
	p->flight = max(flight, 1U);
	p->delivered = 0;
	p->out = 0;
	p->recover = recover;
}

void sstp_prr_report(struct sstp_prr *p, u32 delivered, bool lost, u32 flight, u32 cwnd,
		     u32 highest)
{
	s64 count;

	/* The window may also have grown beyond what was in flight, as a cut was undone. */
	if (!p->flight || (s32)(highest - p->recover) >= 0 || cwnd >= p->flight) {
		p->flight = 0;
		return;
	}
	p->delivered = min_t(u64, (u64)p->delivered + delivered, p->flight);
	if (flight > cwnd) {
		count = (s64)DIV_ROUND_UP_ULL((u64)p->delivered * cwnd, p->flight) - p->out;
	} else {
		/* Slow start reduction bound; conservative where more is lost. */
		count = max((s64)p->delivered - p->out, (s64)delivered) + (delivered && !lost);
		count = min(count, (s64)cwnd - flight);
	}
	/* Something has to be in flight, or no report would come and open the window. */
	if (!flight || !p->out)
		count = max(count, 1LL);
	/* Never more than before the cut */
	p->window = min_t(s64, flight + max(count, 0LL), p->flight);
}
