// SPDX-License-Identifier: GPL-2.0
/*
 * Round trips of "hybrid": what the lowest round-trip time and the losses of one say
 */
#include <linux/minmax.h>
#include "hybrid.h"

void sstp_hybrid_round(const struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s)
{
	sstp_waits_round(&h->waits, sstp_hybrid_steady(c, h));
	if (!sstp_hybrid_after_cut(h))
		h->tail = false;
	h->round_end = s->shipped;
}

/* Packets that this flow keeps in flight: the window or, where the receiver's window holds the
 * sender back, fewer, which may fill a queue all the same; 0 if the program sends too little.
 */
static u32 sstp_hybrid_kept(const struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (c->cwnd / 2 < s->flight)
		return c->cwnd;
	return s->app_limited ? 0 : s->flight;
}

void sstp_hybrid_look(struct sstp_ctrl *c, struct sstp_hybrid *h,
		      const struct sstp_ctrl_sample *s, u32 rtt)
{
	bool slow_start = sstp_window_in_slow_start(c, &h->w);
	u32 kept;

	if (rtt == U32_MAX || h->probes)
		return;
	/* Slow start ends with a loss or a longer round-trip time, but goes on for ever if the
	 * receiver's window holds the sender back and the queue has room for that. Slow start that
	 * goes on in competitive mode puts probes off, so it also ends if the program sends little.
	 */
	h->unused = slow_start && !s->cwnd_limited && (h->resumed || !s->app_limited) &&
		    c->cwnd / 2 >= s->flight ?
		    min(h->unused + 1U, SSTP_HYBRID_UNUSED) : 0;
	if (slow_start && h->unused < SSTP_HYBRID_UNUSED)
		return;
	sstp_hybrid_end_resumed(c, h);
	if (!slow_start && !sstp_waits_queued(&h->waits, rtt))
		h->fresh = false;
	if (sstp_hybrid_reorders(h, s)) {
		h->check = 0;
		sstp_hybrid_stop_growing(h, s);
		sstp_hybrid_compete(h, s);
		return;
	}
	/* The queue holds what delay mode makes room at, so it is not shallow (any more). */
	if (sstp_waits_time(&h->waits, rtt) >= SSTP_HYBRID_TARGET) {
		h->shallow = false;
		h->was_shallow = false;
		h->surge = (struct sstp_waits_surge){};
	}
	if (h->check) {
		if (--h->check)
			return;
		if (sstp_hybrid_drained(c, h, rtt)) {
			h->cuts = 0;
			h->fresh = false;
		} else if (++h->cuts >= SSTP_HYBRID_CUTS) {
			sstp_hybrid_alarm(c, h, s);
		}
		return;
	}
	if (h->competes)
		sstp_hybrid_count_empty(c, h, s, rtt);
	if (h->competes)
		sstp_hybrid_count_vacant(c, h, s, rtt);
	kept = sstp_hybrid_kept(c, s);
	if (!h->competes && !h->w.cut &&
	    sstp_waits_holds(&h->waits, kept, rtt, SSTP_HYBRID_TARGET, SSTP_HYBRID_OWN)) {
		h->loss.target_ms = sstp_hybrid_ms(s);
		/* The window grows to twice what is in flight at most; if that is less than half of
		 * it, the receiver's window was closed for a while.
		 */
		c->cwnd = min(c->cwnd, max3(kept, c->cwnd / 2, SSTP_HYBRID_CWND));
		sstp_hybrid_drain(c, h, s, rtt, div_u64((u64)sstp_waits_base(&h->waits) *
							SSTP_HYBRID_LEAVE, 100));
	}
}

bool sstp_hybrid_many_losses(struct sstp_ctrl *c, struct sstp_hybrid *h,
			     const struct sstp_ctrl_sample *s)
{
	bool first = h->w.ssthresh == SSTP_WINDOW_MAX;
	bool many = sstp_waits_share_round(&h->share, &h->waits, first);
	u32 lost = h->waits.lost;

	if (sstp_hybrid_steady(c, h) && h->share.mean <= SSTP_WAITS_SHARE_MEAN)
		sstp_waits_count_round(&h->waits);
	if (!many || h->w.cut || h->probes || sstp_hybrid_after_cut(h) ||
	    sstp_hybrid_reorders(h, s))
		return false;
	h->many = s->lost;
	if (h->many) {
		sstp_hybrid_round(c, h, s);
		return true;
	}
	sstp_hybrid_cut_many(c, h, s);
	h->w.lost = lost;
	return true;
}
