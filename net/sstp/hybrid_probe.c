// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of "hybrid": when one begins, how much it sends, and what follows from what it has found
 */
#include <linux/minmax.h>
#include "hybrid.h"

/* Is the path short, and was the last probe of late, or is this the first one? A probe takes many
 * round trips of a short path, whose queues hold little. But the lowest round-trip time is
 * forgotten, and the queue may not have been empty since: a probe that leaves out little would not
 * find it again.
 */
static bool sstp_hybrid_brief(const struct sstp_hybrid *h, u32 ms)
{
	return sstp_waits_base(&h->waits) < SSTP_HYBRID_NEAR &&
	       (!h->probed || ms - h->probed_ms <= SSTP_WAITS_MEMORY);
}

/* Percent of the rate that empty the queue which makes the round-trip time @rtt, us, in a quarter
 * of a probe
 */
static u32 sstp_hybrid_room(const struct sstp_hybrid *h, u32 rtt)
{
	u64 percent = div_u64(sstp_waits_time(&h->waits, rtt) * 400ULL,
			      sstp_waits_probe_ms(rtt) * USEC_PER_MSEC);

	return clamp_t(u64, percent, SSTP_HYBRID_ROOM / 4, SSTP_HYBRID_ROOM);
}

void sstp_hybrid_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s, u32 was)
{
	u32 rtt = max(s->srtt, 1U), ms = sstp_hybrid_ms(s);
	bool brief = sstp_hybrid_brief(h, ms);
	u32 room = brief ? sstp_hybrid_room(h, rtt) : SSTP_HYBRID_ROOM;
	u32 cwnd = brief ? was : c->cwnd;

	h->probes = true;
	sstp_hybrid_stop_growing(h, s);
	h->prior = c->cwnd;
	/* A flow that joins a probe has just seen a shorter queue: the mean is of before that. */
	sstp_waits_probe_begin(&h->probe,
			       h->competes ? rtt : min(sstp_waits_least(&h->waits), rtt), ms);
	cwnd = div_u64((u64)cwnd * min(sstp_waits_base(&h->waits), rtt), rtt);
	cwnd = div_u64((u64)cwnd * (100 - room), 100);
	c->cwnd = max(min(cwnd, c->cwnd), SSTP_HYBRID_CWND);
	h->w.ssthresh = c->cwnd;
}

void sstp_hybrid_stop_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
			    const struct sstp_ctrl_sample *s)
{
	h->probes = false;
	h->probed = true;
	h->probed_ms = sstp_hybrid_ms(s);
	h->report_ms = h->probed_ms;
	c->cwnd = max(c->cwnd, h->prior);
}

void sstp_hybrid_end_resumed(const struct sstp_ctrl *c, struct sstp_hybrid *h)
{
	if (h->resumed && sstp_window_in_slow_start(c, &h->w))
		h->w.ssthresh = c->cwnd;
}

/* us of round-trip time whose packets fill the line: the lowest of late, and on short paths part of
 * a wait that is no queue, as trains and reports take a part of the round-trip time there
 */
static u32 sstp_hybrid_line(const struct sstp_hybrid *h)
{
	u32 base = sstp_waits_base(&h->waits);
	u32 near = SSTP_HYBRID_NEAR - min(base, SSTP_HYBRID_NEAR);
	u32 spare = sstp_waits_small(&h->waits) * SSTP_HYBRID_SPARE / 100;

	return base + div_u64((u64)spare * near, SSTP_HYBRID_NEAR);
}

void sstp_hybrid_end_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
			   const struct sstp_ctrl_sample *s)
{
	const struct sstp_waits_probe p = h->probe;
	u32 rtt, ms = sstp_hybrid_ms(s), base = sstp_waits_base(&h->waits);
	u32 cwnd = h->prior, times = 1;
	bool fresh = h->fresh && !h->competes, sure;

	h->fresh = false;
	/* To undo the cut of slow start that has gone on is no reason to go on with it later. */
	if (h->resumed)
		h->w.was_ssthresh = min(h->w.was_ssthresh, h->w.was);
	h->resumed = false;
	switch (sstp_waits_probe_found(&p, &h->waits, c->cwnd)) {
	case SSTP_WAITS_FOUND_EMPTY:
		sure = h->competes && sstp_waits_probe_sure(&p, &h->waits);
		rtt = h->competes && !sure && h->waits.least[1] != U32_MAX ?
		      h->waits.least[1] : p.before;
		if (p.low != U32_MAX)
			cwnd = div_u64((u64)cwnd * min(sstp_hybrid_line(h), rtt), max(rtt, 1U));
		sstp_hybrid_relax(h, s);
		if (sure)
			h->left_ms -= SSTP_HYBRID_RELAPSE + 1;
		break;
	case SSTP_WAITS_FOUND_LONGER:
		times = clamp(p.low / max(base, 1U), 2U, SSTP_HYBRID_LONGER);
		sstp_waits_longer(&h->waits, p.low, ms);
		h->surge = (struct sstp_waits_surge){};
		sstp_hybrid_relax(h, s);
		h->fails = 0;
		break;
	case SSTP_WAITS_FOUND_FULL:
		h->resumed = fresh;
		if (fresh)
			times = SSTP_HYBRID_RESUME;
		sstp_hybrid_compete(h, s);
		h->fails = min(h->fails + 1U, SSTP_HYBRID_FAILS);
		if (h->e.start)
			h->e.start = min(s->now, h->e.start +
					 (u64)(ms - p.begun_ms) * NSEC_PER_MSEC);
		break;
	}
	h->probes = false;
	h->probed = true;
	h->probed_ms = ms;
	h->report_ms = ms;
	c->cwnd = max(cwnd, SSTP_HYBRID_CWND);
	/* SSTP_WINDOW_MAX would say that HyStart++ may end slow start. */
	h->w.ssthresh = min_t(u32, c->cwnd * times, SSTP_WINDOW_MAX - 1);
}

/* How often the time between probes doubles: as often as it may where the queue is shallow. Flows
 * that share it then probe when the same overflow has come to all of them.
 */
static u32 sstp_hybrid_doublings(const struct sstp_hybrid *h)
{
	return h->shallow ? SSTP_HYBRID_FAILS : h->fails;
}

u32 sstp_hybrid_overflow_ms(const struct sstp_hybrid *h)
{
	return (h->shallow ? SSTP_HYBRID_MEMORY / 2 : SSTP_HYBRID_OVERFLOW) <<
	       sstp_hybrid_doublings(h);
}

bool sstp_hybrid_probe_due(const struct sstp_ctrl *c, const struct sstp_hybrid *h,
			   const struct sstp_ctrl_sample *s)
{
	u32 since = sstp_hybrid_ms(s) - h->probed_ms, alarm = sstp_hybrid_ms(s) - h->alarm_ms;
	u32 waited;

	if (!h->competes || h->w.cut || sstp_waits_surge_unseen(&h->surge) ||
	    sstp_hybrid_reorders(h, s) || sstp_window_in_slow_start(c, &h->w))
		return false;
	if (since > SSTP_HYBRID_MEMORY << sstp_hybrid_doublings(h))
		return true;
	waited = sstp_waits_time(&h->waits, h->waits.most[1]);
	return !h->shallow && s->rtt &&
	       sstp_waits_time(&h->waits, s->rtt) < waited / 4 * 3 &&
	       (since > SSTP_HYBRID_JOIN << h->fails ||
		(alarm <= sstp_waits_probe_ms(s->srtt) && since > alarm));
}

void sstp_hybrid_alarm(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s)
{
	u32 ms = sstp_hybrid_ms(s);

	h->cuts = 0;
	h->resumed = false;
	h->e.max = ms - h->left_ms > SSTP_HYBRID_RELAPSE ? h->prior : max(h->e.max, h->prior);
	c->cwnd = h->prior;
	h->w.ssthresh = c->cwnd;
	if (ms - h->alarm_ms > SSTP_HYBRID_MEMORY)
		h->alarms = 0;
	h->alarm_ms = ms;
	if (++h->alarms > SSTP_HYBRID_ALARMS || ms - h->left_ms < SSTP_HYBRID_RELAPSE) {
		h->alarms = SSTP_HYBRID_ALARMS;
		sstp_hybrid_compete(h, s);
		h->w.ssthresh = max_t(u32, c->cwnd,
				      (u64)h->e.max * SSTP_CUBIC_BETA / SSTP_CUBIC_ONE);
	} else {
		sstp_hybrid_probe(c, h, s, c->cwnd);
	}
}
