// SPDX-License-Identifier: GPL-2.0
/*
 * Cuts of "hybrid": by how much the window shrinks for a queue that is too long, for one that has
 * overflowed, and for many losses
 */
#include <linux/minmax.h>
#include "hybrid.h"

void sstp_hybrid_cut(struct sstp_ctrl *c, struct sstp_hybrid *h,
		     const struct sstp_ctrl_sample *s, u32 cwnd)
{
	h->e.start = 0;
	h->growing = false;
	h->check = 0;
	h->cuts = 0;
	h->tail = false;
	h->was_shallow = h->shallow;
	h->gentle = false;
	h->empties = 0;
	h->full = false;
	h->round_end = s->shipped;
	sstp_waits_cut(&h->waits, sstp_hybrid_steady(c, h));
	sstp_waits_surge_cut(&h->surge);
	/* After a time-out the window may be smaller: a cut does not raise it. */
	sstp_window_cut(c, &h->w, s, max(cwnd, min(c->cwnd, SSTP_HYBRID_CWND)));
}

void sstp_hybrid_drain(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s, u32 rtt, u32 left)
{
	u32 all = max(rtt, 1U), cwnd = div_u64((u64)c->cwnd * min(left, rtt) + all / 2, all);
	struct sstp_waits_surge surge = h->surge;
	u32 cuts = h->cuts;

	/* If neither this drain nor the one before it helps, sstp_hybrid_alarm() undoes both. */
	h->prior = cuts ? max(h->prior, c->cwnd) : c->cwnd;
	/* Rounded to the nearest: a packet is much of the window of one of many flows. */
	sstp_hybrid_cut(c, h, s, max_t(u32, cwnd, div_u64(c->cwnd * 7ULL, 10)));
	h->cuts = cuts;
	/* Drains are frequent, and chance losses may look like a surge in a count that is new. */
	h->surge = surge;
	h->check = 2;
}

/* A queue may have overflowed, or the path has lost a packet. If it does so often, such cuts are
 * frequent: they leave most of a wait that is no queue yet, since packets leave in trains, and a
 * window of what is on the path alone does not use the whole line.
 */
static void sstp_hybrid_drain_either(struct sstp_ctrl *c, struct sstp_hybrid *h,
				     const struct sstp_ctrl_sample *s)
{
	u32 left = sstp_waits_base(&h->waits);

	if (sstp_waits_loss_random(&h->loss, sstp_hybrid_ms(s)))
		left += sstp_waits_small(&h->waits) * SSTP_HYBRID_SPARE / 100;
	sstp_hybrid_drain(c, h, s, sstp_waits_least(&h->waits), left);
}

u32 sstp_hybrid_less(const struct sstp_ctrl *c)
{
	return div_u64((u64)c->cwnd * SSTP_HYBRID_LESS, 100);
}

u32 sstp_hybrid_part(const struct sstp_ctrl *c, u32 beta)
{
	return (u64)c->cwnd * beta / SSTP_CUBIC_ONE;
}

const struct sstp_cubic_law *sstp_hybrid_law(bool gentle)
{
	static const struct sstp_cubic_law laws[] = {
		{ SSTP_CUBIC_BETA, SSTP_CUBIC_C },
		{ SSTP_CUBIC_ONE * SSTP_HYBRID_LESS / 100, SSTP_HYBRID_C },
	};

	return &laws[gentle];
}

/* SSTP_HYBRID_LEAVE of the packets that the path delivers in its lowest round-trip time, 0 = not
 * known
 */
static u32 sstp_hybrid_carried(const struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	u32 base = sstp_waits_base(&h->waits);

	if (!s->rate_delivered || base == U32_MAX)
		return 0;
	return min_t(u64, div64_u64((u64)s->rate_delivered * base * SSTP_HYBRID_LEAVE,
				    s->rate_interval * 100ULL), SSTP_WINDOW_MAX);
}

void sstp_hybrid_cut_to(struct sstp_ctrl *c, struct sstp_hybrid *h,
			const struct sstp_ctrl_sample *s, u32 cwnd)
{
	if (h->competes)
		sstp_cubic_cut(&h->e, c->cwnd, div_u64((u64)cwnd * SSTP_CUBIC_ONE, c->cwnd),
			       s->ce || !h->shallow);
	sstp_hybrid_cut(c, h, s, cwnd);
}

void sstp_hybrid_cut_many(struct sstp_ctrl *c, struct sstp_hybrid *h,
			  const struct sstp_ctrl_sample *s)
{
	u32 cwnd = sstp_hybrid_less(c);

	if (sstp_waits_share_halves(&h->share))
		cwnd = clamp(sstp_hybrid_carried(h, s), c->cwnd / 2, cwnd);
	sstp_hybrid_cut_to(c, h, s, cwnd);
}

/* Do losses come of the window that left after slow start's cut? It may still be too large. */
static bool sstp_hybrid_overshoots(const struct sstp_ctrl *c, const struct sstp_hybrid *h,
				   const struct sstp_ctrl_sample *s)
{
	return h->w.late && h->w.was < h->w.was_ssthresh &&
	       s->lost_ship - h->w.recover <= c->cwnd;
}

void sstp_hybrid_overflow(struct sstp_ctrl *c, struct sstp_hybrid *h,
			  const struct sstp_ctrl_sample *s)
{
	u32 ms = sstp_hybrid_ms(s);
	bool overshoots = sstp_hybrid_overshoots(c, h, s);
	bool slow_start = sstp_window_in_slow_start(c, &h->w) || overshoots;
	bool reorders = sstp_hybrid_reorders(h, s);
	enum sstp_waits_depth depth = reorders ? SSTP_WAITS_DEPTH_DEEP :
		sstp_waits_loss_depth(&h->loss, &h->waits, &h->surge, s->rtt, ms);
	bool deep = depth == SSTP_WAITS_DEPTH_DEEP;
	bool shallow = depth == SSTP_WAITS_DEPTH_SHALLOW;
	bool gentle = shallow && !slow_start;
	u32 beta = sstp_hybrid_law(gentle)->beta, cwnd = sstp_hybrid_part(c, beta), was = c->cwnd;

	sstp_cubic_cut(&h->e, c->cwnd, beta, deep);
	if (!slow_start)
		sstp_hybrid_compete(h, s);
	if (slow_start && deep && !reorders && !h->competes &&
	    sstp_waits_base(&h->waits) < SSTP_HYBRID_NEAR)
		cwnd = clamp(sstp_hybrid_carried(h, s) ?: cwnd, c->cwnd / 2, cwnd);
	sstp_hybrid_cut(c, h, s, cwnd);
	h->tail = !reorders && (!slow_start || overshoots || !deep);
	h->shallow = shallow;
	h->gentle = gentle;
	if (!slow_start && !reorders && !sstp_waits_surge_unseen(&h->surge) &&
	    ms - h->probed_ms > sstp_hybrid_overflow_ms(h))
		sstp_hybrid_probe(c, h, s, was);
}

bool sstp_hybrid_in_tail(const struct sstp_ctrl *c, struct sstp_hybrid *h,
			 const struct sstp_ctrl_sample *s)
{
	if (!h->tail || s->ce || s->lost_ship - h->w.recover > c->cwnd / SSTP_HYBRID_TAIL)
		return false;
	if (h->w.lost)
		h->w.lost += s->lost;
	return true;
}

void sstp_hybrid_judge(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s)
{
	u32 ms = sstp_hybrid_ms(s);
	const struct sstp_waits_lossy l = {
		.rtt = s->rtt,
		.ms = ms,
		.lost = s->lost,
		.slow_start = sstp_window_in_slow_start(c, &h->w),
		.competes = h->competes,
		.relapse = ms - h->left_ms <= SSTP_HYBRID_RELAPSE,
	};

	switch (sstp_waits_loss_cause(&h->loss, &h->waits, &h->surge, &l)) {
	case SSTP_WAITS_CAUSE_PATH:
		if (h->competes && !sstp_waits_queue_loses(&h->waits)) {
			sstp_hybrid_end_resumed(c, h);
			sstp_hybrid_relax(h, s);
		}
		break;
	case SSTP_WAITS_CAUSE_QUEUE:
		sstp_hybrid_overflow(c, h, s);
		break;
	case SSTP_WAITS_CAUSE_UNSEEN:
		break;
	case SSTP_WAITS_CAUSE_BURSTS:
		if (h->competes)
			sstp_hybrid_relax(h, s);
		sstp_cubic_cut(&h->e, c->cwnd, SSTP_CUBIC_BETA, true);
		sstp_hybrid_cut(c, h, s, sstp_hybrid_part(c, SSTP_CUBIC_BETA));
		break;
	case SSTP_WAITS_CAUSE_EITHER:
		if (!h->check && sstp_waits_loss_all_waited(&h->loss, &h->waits, ms))
			sstp_hybrid_drain_either(c, h, s);
		break;
	}
}
