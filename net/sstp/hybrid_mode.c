// SPDX-License-Identifier: GPL-2.0
/*
 * Modes of "hybrid": when it begins to compete with flows that fill the queue, and when it returns
 * to delay mode
 */
#include <linux/minmax.h>
#include "hybrid.h"

bool sstp_hybrid_drained(const struct sstp_ctrl *c, const struct sstp_hybrid *h, u32 rtt)
{
	return !sstp_waits_holds(&h->waits, c->cwnd, rtt, SSTP_HYBRID_DRAINED, SSTP_HYBRID_LEFT);
}

bool sstp_hybrid_grows(const struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	return !h->competes ||
	       (h->growing && sstp_hybrid_ms(s) - h->growth.begun_ms > SSTP_HYBRID_VACANT);
}

void sstp_hybrid_stop_growing(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	if (h->competes && sstp_hybrid_grows(h, s))
		h->e.start = 0;
	h->growing = false;
}

void sstp_hybrid_compete(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	if (h->competes)
		return;
	h->competes = true;
	h->growing = false;
	h->e.start = 0;
	h->fails = sstp_hybrid_ms(s) - h->left_ms > SSTP_HYBRID_RELAPSE ?
		   0 : min(h->fails + 1U, SSTP_HYBRID_FAILS);
}

void sstp_hybrid_relax(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	if (h->competes)
		h->left_ms = sstp_hybrid_ms(s);
	h->competes = false;
	h->growing = false;
	h->check = 0;
	h->cuts = 0;
}

void sstp_hybrid_count_empty(struct sstp_ctrl *c, struct sstp_hybrid *h,
			     const struct sstp_ctrl_sample *s, u32 rtt)
{
	if (!sstp_hybrid_drained(c, h, rtt)) {
		h->full = true;
	} else if (h->full) {
		h->full = false;
		h->empties = min(h->empties + 1, SSTP_HYBRID_EMPTIES);
		if (h->empties == SSTP_HYBRID_EMPTIES)
			sstp_hybrid_relax(h, s);
	}
}

void sstp_hybrid_count_vacant(const struct sstp_ctrl *c, struct sstp_hybrid *h,
			      const struct sstp_ctrl_sample *s, u32 rtt)
{
	if (!h->e.max || c->cwnd < h->e.max || sstp_waits_surge_unseen(&h->surge) ||
	    sstp_waits_queued(&h->waits, rtt)) {
		sstp_hybrid_stop_growing(h, s);
	} else if (!h->growing) {
		h->growing = true;
		sstp_htcp_begin(&h->growth, s->now);
	}
}
