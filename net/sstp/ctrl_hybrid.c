// SPDX-License-Identifier: GPL-2.0
/*
 * "hybrid": the default without a contract. A flow that has the path for itself, or shares it with
 * flows of its kind, keeps the queue short; beside flows that fill the queue it does as they do;
 * and losses that no queue explains do not slow it down. It has two modes, as Copa has
 * (Arun and Balakrishnan, NSDI 2018), whose words are used here.
 *
 * Delay mode: the window grows by a number of packets that depends on the time since the last cut
 * alone, as H-TCP's (Leith and Shorten, PFLDnet 2004), and is the same for all flows, whatever
 * their round-trip times. When packets wait for 10 ms (SSTP_HYBRID_TARGET) in the queue, each flow
 * takes its part out of it: the window is multiplied by the ratio of the lowest round-trip time to
 * the present one. All flows of a path see the same queue, so all of them do so in the same round
 * trip. Each takes out a part that is proportional to its rate, and all put in the same, so the
 * rates converge, and the queue becomes empty with each such cut: a flow that began later measures
 * the path's own round-trip time.
 *
 * Competitive mode: CUBIC (RFC 9438), which answers losses only. It begins when a queue overflows,
 * and when cuts do not empty it. From time to time, and when others make room,
 * the flow sends less for two round trips (a probe): flows of its kind join, the
 * queue becomes empty, and all are back in delay mode; others leave the queue full. On a short path
 * a probe lasts for many round trips, and leaves no more of the line unused than the queue needs,
 * or an eighth.
 *
 * A queue that overflows before it holds 10 ms, and a sixth of the round-trip time, is shallow.
 * Delay mode would never make room in it, and let it overflow more often than CUBIC does, so probes
 * are rare. Cuts are smaller than CUBIC's there, and the window grows slower, see
 * sstp_hybrid_law(). Packets are paced as in delay mode: paced faster, as they are in competitive
 * mode, a window of less than what the path holds makes such a queue overflow.
 *
 * Flows of CUBIC do not leave a queue empty for long once their windows have reached W_max. If the
 * queue is empty then, the window grows as in delay mode until packets wait.
 *
 * Where packets overtake others round-trip times say nothing about queues: it is competitive mode,
 * without probes. Packets overtake others where many are late for a whole round trip: after a burst
 * of losses many seem to be late too, but only until the receiver is sure that they are lost.
 *
 * Losses: waits_loss.h tells those of the path's own, for which the window stays, from those of a
 * queue. If they are many (waits_share.h) the window is cut in any case; if they are a quarter in
 * the mean of some round trips it is halved, or cut to what the path delivers if that is more.
 * Until losses tell whether a link that delivers in bursts loses packets, a loss cuts the window
 * but does not begin competitive mode, unless all packets of late have waited. A queue that no
 * round-trip time shows (waits_surge.h) is shallow.
 */
#include <linux/minmax.h>
#include "hybrid.h"

static void sstp_hybrid_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_hybrid *h = sstp_hybrid_priv(c);
	u32 ms = sstp_hybrid_ms(s), ago = ms - 2 * SSTP_HYBRID_MEMORY;

	sstp_window_init(c, &h->w, s);
	/* The handshake's packets are short: on a slow line those of data take longer. */
	sstp_waits_init(&h->waits, s->total_delivered ? s->min_rtt : U32_MAX, ms);
	sstp_waits_loss_init(&h->loss, ms);
	h->report_ms = ms;
	h->round_end = s->shipped;
	h->probed_ms = ago;
	h->alarm_ms = ago;
	h->reorder_ms = ago;
	h->left_ms = ago - SSTP_HYBRID_RELAPSE;
	h->fresh = !s->in_flight;
}

/* Until the pipe was full the window is paced as others are; in delay mode, and where the queue is
 * shallow, at little more than its own rate, so that pacing makes no queue.
 */
static void sstp_hybrid_pace(struct sstp_ctrl *c, const struct sstp_hybrid *h,
			     const struct sstp_ctrl_sample *s)
{
	sstp_window_pace(c, &h->w, s);
	if ((!h->competes || h->shallow) && !sstp_window_in_slow_start(c, &h->w))
		c->period = div_u64((u64)s->srtt * NSEC_PER_USEC * 25, c->cwnd * 26);
}

/* Reports count while the flow uses its window and nothing waits: else the share of lost packets
 * changes with what the program sends, or a queue that is seen loses them. Nor do those count of
 * packets that left before a cut, or that the tail of an overflow may have hit.
 */
static void sstp_hybrid_count_surge(const struct sstp_ctrl *c, struct sstp_hybrid *h,
				    const struct sstp_ctrl_sample *s)
{
	if (sstp_window_in_slow_start(c, &h->w) || !s->cwnd_limited || h->probes || h->w.cut ||
	    h->tail || sstp_hybrid_after_cut(h) || sstp_hybrid_reorders(h, s) ||
	    sstp_waits_queued(&h->waits, sstp_waits_most(&h->waits)))
		return;
	sstp_waits_surge_report(&h->surge, min_t(u64, (u64)s->delivered + s->lost, SSTP_WINDOW_MAX),
				s->lost);
}

static void sstp_hybrid_measure(const struct sstp_ctrl *c, struct sstp_hybrid *h,
				const struct sstp_ctrl_sample *s)
{
	u32 ms = sstp_hybrid_ms(s);

	sstp_waits_report(&h->waits, s, ms, sstp_hybrid_steady(c, h));
	if (s->late <= s->prior_in_flight / SSTP_HYBRID_LATE) {
		h->late = false;
	} else if (!h->late) {
		h->late = true;
		h->late_ms = ms;
	} else if ((u16)(ms - h->late_ms) > s->srtt / USEC_PER_MSEC) {
		h->reorder_ms = ms;
	}
	if (h->probes)
		sstp_waits_probe_report(&h->probe, s->rtt, s->srtt, ms);
	sstp_hybrid_count_surge(c, h, s);
}

static void sstp_hybrid_grow(struct sstp_ctrl *c, struct sstp_hybrid *h,
			     const struct sstp_ctrl_sample *s)
{
	bool queued = sstp_waits_queued(&h->waits, h->waits.least[1]);

	if (!h->growing)
		sstp_htcp_begin(&h->growth, s->now);
	h->growing = true;
	c->cwnd = sstp_htcp_grow(&h->growth, c->cwnd, s->srtt, s->now,
				 queued ? 1 : SSTP_HYBRID_EMPTY);
}

/* The window is not used: the time since the last report, a round trip at most, does not count for
 * its growth, which goes on then: with a new beginning each time it would hardly grow for programs
 * that send a window at a time.
 */
static void sstp_hybrid_rest(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	u32 us = min(sstp_htcp_past(&h->growth, s->now), s->srtt);

	if (h->competes) {
		if (h->e.start)
			h->e.start = min(s->now, h->e.start + us * (u64)NSEC_PER_USEC);
		sstp_hybrid_stop_growing(h, s);
	} else if (h->growing) {
		sstp_htcp_rest(&h->growth, us / USEC_PER_MSEC);
	}
}

/* Did no report come for a while, as nothing was sent? That time does not count for the growth of
 * the window (RFC 9438, section 5.8), and the queue that overflowed before it is no longer full.
 */
static bool sstp_hybrid_idled(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	u32 ms = sstp_hybrid_ms(s), past = ms - h->report_ms;

	h->report_ms = ms;
	if (past <= max(2 * s->srtt / (u32)USEC_PER_MSEC, SSTP_HYBRID_IDLE))
		return false;
	h->tail = false;
	if (h->e.start)
		h->e.start = min(s->now, h->e.start + past * (u64)NSEC_PER_MSEC);
	if (h->competes) {
		sstp_hybrid_stop_growing(h, s);
	} else if (h->growing) {
		sstp_htcp_rest(&h->growth, past);
		sstp_htcp_touch(&h->growth, s->now);
	}
	return true;
}

static void sstp_hybrid_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_hybrid *h = sstp_hybrid_priv(c);
	u32 packets = sstp_window_ack(c, &h->w, s);
	bool idled = !h->probes && sstp_hybrid_idled(h, s);
	u32 rtt;

	sstp_hybrid_measure(c, h, s);
	if (h->w.undone)
		h->e.max = max(h->e.max, h->e.prior);
	if (h->w.undone) {
		h->e.start = 0;
		h->tail = false;
		h->shallow = h->was_shallow;
		h->gentle = false;
		h->growing = false;
		h->surge = (struct sstp_waits_surge){};
	} else if (!idled && !s->cwnd_limited && !h->probes) {
		sstp_hybrid_rest(h, s);
	}
	if (idled || (h->w.undone && !h->competes))
		sstp_hybrid_end_resumed(c, h);
	if (h->w.undone && h->probes)
		sstp_hybrid_stop_probe(c, h, s);
	if ((s32)(s->highest - h->round_end) >= 0 && !sstp_hybrid_many_losses(c, h, s)) {
		rtt = h->waits.least[0];
		sstp_hybrid_round(c, h, s);
		sstp_hybrid_look(c, h, s, rtt);
	}
	if (h->probes) {
		if (sstp_waits_probe_over(&h->probe, &h->waits, c->cwnd, s->srtt,
					  sstp_hybrid_ms(s)))
			sstp_hybrid_end_probe(c, h, s);
	} else if (sstp_hybrid_probe_due(c, h, s)) {
		sstp_hybrid_probe(c, h, s, c->cwnd);
	} else if (packets) {
		if (h->competes)
			sstp_cubic_avoid(c, &h->w, &h->e, s, packets,
					 sstp_hybrid_law(h->gentle));
		if (s->cwnd_limited && sstp_hybrid_grows(h, s))
			sstp_hybrid_grow(c, h, s);
	}
	if (h->competes && !h->probes)
		sstp_htcp_touch(&h->growth, s->now);
	sstp_hybrid_pace(c, h, s);
}

static void sstp_hybrid_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_hybrid *h = sstp_hybrid_priv(c);
	bool many = h->many;

	h->many = false;
	h->fresh = false;
	if (!sstp_window_loss(c, &h->w, s) || h->probes)
		return;
	if (many) {
		sstp_hybrid_cut_many(c, h, s);
		return;
	}
	if (sstp_hybrid_in_tail(c, h, s))
		return;
	if (s->ce && !s->lost) {
		/* RFC 8511: a queue that marks is short. */
		sstp_hybrid_cut_to(c, h, s, sstp_hybrid_less(c));
		return;
	}
	if (s->ce || sstp_hybrid_reorders(h, s))
		sstp_hybrid_overflow(c, h, s);
	else
		sstp_hybrid_judge(c, h, s);
}

static void sstp_hybrid_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_hybrid *h = sstp_hybrid_priv(c);

	if (h->probes) {
		c->cwnd = h->prior;
		h->w.ssthresh = h->prior;
	}
	h->probes = false;
	h->report_ms = sstp_hybrid_ms(s);
	h->e = (struct sstp_cubic_epoch){};
	h->growing = false;
	h->check = 0;
	h->cuts = 0;
	h->tail = false;
	h->was_shallow = h->shallow;
	h->shallow = false;
	h->gentle = false;
	h->late = false;
	h->fresh = false;
	h->resumed = false;
	h->surge = (struct sstp_waits_surge){};
	sstp_window_timeout(c, &h->w, s, sstp_hybrid_part(c, SSTP_CUBIC_BETA));
}

static void sstp_hybrid_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_hybrid *h = (const struct sstp_hybrid *)c->priv;

	state[0] = h->w.ssthresh;
	state[1] = h->competes;
	state[2] = h->probes;
	state[3] = sstp_waits_base(&h->waits) == U32_MAX ? 0 : sstp_waits_base(&h->waits);
	state[4] = h->e.max;
	state[5] = h->share.mean;
}

struct sstp_ctrl_ops sstp_ctrl_hybrid = {
	.init		= sstp_hybrid_init,
	.on_ack		= sstp_hybrid_ack,
	.on_loss	= sstp_hybrid_loss,
	.on_timeout	= sstp_hybrid_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "hybrid",
	.owner		= THIS_MODULE,
	.state		= { "ssthresh", "competes", "probes", "base_rtt", "w_max", "loss_share" },
	.get_info	= sstp_hybrid_get_info,
};
