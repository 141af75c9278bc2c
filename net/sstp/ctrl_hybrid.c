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
 * the flow sends little for two round trips (a probe): flows of its kind join, the
 * queue becomes empty, and all are back in delay mode; others leave the queue full. On a short path
 * a probe lasts for many round trips, and leaves no more of the line unused than the queue needs.
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
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_cubic.h>
#include "ctrl.h"
#include "htcp.h"
#include "waits.h"
#include "waits_loss.h"
#include "waits_probe.h"
#include "waits_share.h"
#include "waits_surge.h"

#define SSTP_HYBRID_CWND	4U	/* packets: smallest window but after a time-out */
#define SSTP_HYBRID_TARGET	SSTP_WAITS_TARGET	/* us that packets wait before a cut */
#define SSTP_HYBRID_OWN		3	/* packets of a flow that wait at least before it cuts */
#define SSTP_HYBRID_DRAINED	SSTP_WAITS_EMPTY	/* us: the cut has helped */
#define SSTP_HYBRID_LEAVE	95U	/* percent of what the path holds that a cut leaves */
#define SSTP_HYBRID_SPARE	75U	/* percent of a wait that is no queue */
#define SSTP_HYBRID_NEAR	20000U	/* us: lowest round-trip time of paths that are not short */
#define SSTP_HYBRID_LEFT	2	/* packets of a flow that wait in a drained queue */
#define SSTP_HYBRID_CUTS	2	/* cuts in a row that do not help before a probe */
#define SSTP_HYBRID_ALARMS	3	/* probes in a row for that reason */
#define SSTP_HYBRID_EMPTIES	3	/* times that an empty queue says that others give way */
#define SSTP_HYBRID_VACANT	1000U	/* ms of an empty queue until the window grows faster */
#define SSTP_HYBRID_UNUSED	8U	/* round trips in which half of the window is not used */
#define SSTP_HYBRID_MEMORY	SSTP_WAITS_MEMORY	/* ms that what was seen counts */
#define SSTP_HYBRID_RELAPSE	20000U	/* ms in which the end of competitive mode may be wrong */
#define SSTP_HYBRID_LONGER	8U	/* times that a path becomes longer at once, at most */
#define SSTP_HYBRID_JOIN	3000U	/* ms after a probe until one that others began is joined */
#define SSTP_HYBRID_TAIL	4U	/* part of the window behind a cut: see in_tail() */
#define SSTP_HYBRID_ROOM	50U	/* percent of its rate that a probe leaves out at most */
#define SSTP_HYBRID_OVERFLOW	1000U	/* ms after a probe until an overflow begins one */
#define SSTP_HYBRID_FAILS	4U	/* times that the time between probes doubles */
#define SSTP_HYBRID_RESUME	16U	/* times that slow start which goes on grows at most */
#define SSTP_HYBRID_EMPTY	4U	/* times the rate while the queue is empty */
#define SSTP_HYBRID_LATE	8	/* part of the packets in flight that may be late */
#define SSTP_HYBRID_LESS	85U	/* percent: after marks, many losses, in a shallow queue */
#define SSTP_HYBRID_C	5200000000ULL	/* 1 / C, ms^3 for a packet, in a shallow queue */
#define SSTP_HYBRID_IDLE	250U	/* ms without a report that are no part of an epoch */

/**
 * struct sstp_hybrid - state of the controller
 * @w: the window
 * @e: congestion avoidance epoch of competitive mode
 * @waits: round-trip times and losses
 * @surge: surges of losses, and the queue that is not seen
 * @loss: what is known of losses
 * @round_end: last shipment before this round trip began (serial number)
 * @share: share of lost packets
 * @growth: growth in delay mode, and in competitive mode since the queue became empty: valid if
 *	@growing; in competitive mode each report touches it
 * @report_ms: when the last report came
 * @probe: the probe; valid if @probes
 * @prior: window before the cuts in a row that were to empty the queue, or before the probe
 * @left_ms: when competitive mode ended, or earlier if that was right for sure
 * @probed_ms: when the last probe ended
 * @alarm_ms: when the last cuts in a row did not help
 * @late_ms: since when many packets are late, modulo 2^16; valid if @late
 * @reorder_ms: when many packets had been late for a round trip
 * @check: round trips until the effect of the last cut is judged; 0 = no cut is to be judged
 * @cuts: cuts in a row that have not helped
 * @alarms: how often that led to a probe of late
 * @fails: the time between probes is longer by a factor of 2^@fails
 * @empties: how often the queue has become empty since the last cut in competitive mode
 * @unused: round trips of slow start in a row that used less than half of the window,
 *	SSTP_HYBRID_UNUSED at most
 * @competes: competitive mode
 * @probes: a probe is under way
 * @growing: @growth is valid; in competitive mode: the queue is empty, the window
 *	has reached W_max and is used
 * @full: the queue was full since it became empty
 * @late: many packets were late in the last report
 * @many: @on_loss, which follows, cuts the window for many losses
 * @fresh: no packet was in flight when the controller began, nothing was lost or marked yet, no
 *	probe has ended, and since slow start no round trip was without a queue and no cut has
 *	helped
 * @tail: a queue has overflowed in this round trip or in the last one, so losses of packets that
 *	left soon after the cut cause no other cut
 * @shallow: the queue was short, and held less than SSTP_HYBRID_TARGET, when it last overflowed
 * @was_shallow: @shallow before the last cut, for its undo
 * @gentle: the last cut was that for a shallow queue, and so is the growth of the window after it
 * @resumed: slow start has gone on after the last probe that has ended; a time-out and an alarm
 *	reset that
 */
struct sstp_hybrid {
	struct sstp_window w;
	u32	round_end;
	struct sstp_cubic_epoch e;
	struct sstp_waits waits;
	struct sstp_waits_surge surge;
	struct sstp_waits_loss loss;
	union {		/* in both modes, and in a probe */
		struct {
			struct sstp_htcp growth;
			u32	report_ms;
		};
		struct sstp_waits_probe probe;
	};
	u32	prior;
	u32	left_ms;
	u32	probed_ms;
	u32	alarm_ms;
	u32	reorder_ms;
	u16	late_ms;
	struct sstp_waits_share share;
	u32	check : 2;
	u32	cuts : 2;
	u32	fails : 3;
	u32	alarms : 3;
	u32	empties : 2;
	u32	unused : 4;
	bool	competes : 1;
	bool	probes : 1;
	bool	growing : 1;
	bool	full : 1;
	bool	late : 1;
	bool	many : 1;
	bool	fresh : 1;
	bool	resumed : 1;
	bool	tail : 1;
	bool	shallow : 1;
	bool	was_shallow : 1;
	bool	gentle : 1;
};

static struct sstp_hybrid *sstp_hybrid_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_hybrid);
}

static u32 sstp_hybrid_ms(const struct sstp_ctrl_sample *s)
{
	return div_u64(s->now, NSEC_PER_MSEC);
}

static bool sstp_hybrid_drained(const struct sstp_ctrl *c, const struct sstp_hybrid *h, u32 rtt)
{
	return !sstp_waits_holds(&h->waits, c->cwnd, rtt, SSTP_HYBRID_DRAINED, SSTP_HYBRID_LEFT);
}

static bool sstp_hybrid_reorders(const struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	return sstp_hybrid_ms(s) - h->reorder_ms <= SSTP_HYBRID_MEMORY;
}

/* Did this round trip begin with a cut, or before it? The losses in it left before the cut. */
static bool sstp_hybrid_after_cut(const struct sstp_hybrid *h)
{
	return h->w.late && (s32)(h->round_end - h->w.recover) <= 0;
}

/* Slow start and a probe move round-trip times apart without a link that delivers in bursts, and
 * slow start may end with many losses, which are reported in the round trip after its cut. Nor do
 * such round trips tell whether a queue loses packets or the path does.
 */
static bool sstp_hybrid_steady(const struct sstp_ctrl *c, const struct sstp_hybrid *h)
{
	return !h->probes && !sstp_window_in_slow_start(c, &h->w) &&
	       !(sstp_hybrid_after_cut(h) && h->w.was < h->w.was_ssthresh);
}

static void sstp_hybrid_round(const struct sstp_ctrl *c, struct sstp_hybrid *h,
			      const struct sstp_ctrl_sample *s)
{
	sstp_waits_round(&h->waits, sstp_hybrid_steady(c, h));
	if (!sstp_hybrid_after_cut(h))
		h->tail = false;
	h->round_end = s->shipped;
}

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

static void sstp_hybrid_cut(struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* Take the packets of this flow out of the queue that makes the round-trip time @rtt, and leave
 * those of a round-trip time of @left us.
 */
static void sstp_hybrid_drain(struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* Does the window grow as in delay mode? In competitive mode it does when the queue has been empty
 * for SSTP_HYBRID_VACANT, although the window has reached W_max.
 */
static bool sstp_hybrid_grows(const struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	return !h->competes ||
	       (h->growing && sstp_hybrid_ms(s) - h->growth.begun_ms > SSTP_HYBRID_VACANT);
}

/* An epoch of CUBIC begins with the window as it is if the window has grown faster. */
static void sstp_hybrid_stop_growing(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	if (h->competes && sstp_hybrid_grows(h, s))
		h->e.start = 0;
	h->growing = false;
}

static void sstp_hybrid_compete(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	if (h->competes)
		return;
	h->competes = true;
	h->growing = false;
	h->e.start = 0;
	h->fails = sstp_hybrid_ms(s) - h->left_ms > SSTP_HYBRID_RELAPSE ?
		   0 : min(h->fails + 1U, SSTP_HYBRID_FAILS);
}

static void sstp_hybrid_relax(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s)
{
	if (h->competes)
		h->left_ms = sstp_hybrid_ms(s);
	h->competes = false;
	h->growing = false;
	h->check = 0;
	h->cuts = 0;
}

/* Percent of its rate that a flow does not send in a probe. On short paths it is what empties the
 * queue that makes the round-trip time @rtt in a quarter of the probe: a probe takes many of their
 * round trips, and their queues hold little.
 */
static u32 sstp_hybrid_makes_room(const struct sstp_hybrid *h, const struct sstp_ctrl_sample *s,
				  u32 rtt)
{
	u64 percent = div_u64(sstp_waits_time(&h->waits, rtt) * 400ULL,
			      sstp_waits_probe_ms(s->srtt) * USEC_PER_MSEC);

	if (sstp_waits_base(&h->waits) >= SSTP_HYBRID_NEAR)
		return SSTP_HYBRID_ROOM;
	return clamp_t(u64, percent, SSTP_HYBRID_ROOM / 4, SSTP_HYBRID_ROOM);
}

/* Begin a probe. @was: the window that made the round-trip time of late, which an overflow may have
 * cut
 */
static void sstp_hybrid_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
			      const struct sstp_ctrl_sample *s, u32 was)
{
	u32 rtt = max(s->srtt, 1U);

	h->probes = true;
	sstp_hybrid_stop_growing(h, s);
	h->prior = c->cwnd;
	/* A flow that joins a probe has just seen a shorter queue: the mean is of before that. */
	sstp_waits_probe_begin(&h->probe,
			       h->competes ? rtt : min(sstp_waits_least(&h->waits), rtt),
			       sstp_hybrid_ms(s));
	was = div_u64((u64)was * min(sstp_waits_base(&h->waits), rtt), rtt);
	was = div_u64((u64)was * (100 - sstp_hybrid_makes_room(h, s, rtt)), 100);
	c->cwnd = max(min(was, c->cwnd), SSTP_HYBRID_CWND);
	h->w.ssthresh = c->cwnd;
}

/* The window is back at what it was before a cut, so the probe sends too much to show anything. */
static void sstp_hybrid_stop_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
				   const struct sstp_ctrl_sample *s)
{
	h->probes = false;
	h->probed_ms = sstp_hybrid_ms(s);
	h->report_ms = h->probed_ms;
	c->cwnd = max(c->cwnd, h->prior);
}

/* Slow start that has gone on ends. */
static void sstp_hybrid_end_resumed(const struct sstp_ctrl *c, struct sstp_hybrid *h)
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

/* The probe is over. The queue became empty: the flows that filled it are of this
 * kind and have joined the probe. The window leaves out all that waited then, and where that is
 * sure it is no relapse if a flow that joined too late fills the queue once more. The path has
 * become longer: slow start goes up to a window that is larger by as much. Other flows fill the
 * queue: if they have filled it since slow start, it was their queue that ended slow start, before
 * this flow had its share, so slow start goes on until a packet is lost, to SSTP_HYBRID_RESUME
 * times the window at most. Flows of CUBIC whose slow start the queue did not end do the same.
 */
static void sstp_hybrid_end_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* ms after a probe until an overflow begins one: where the queue is shallow, half of the time after
 * which one is due in any case
 */
static u32 sstp_hybrid_overflow_ms(const struct sstp_hybrid *h)
{
	return (h->shallow ? SSTP_HYBRID_MEMORY / 2 : SSTP_HYBRID_OVERFLOW) <<
	       sstp_hybrid_doublings(h);
}

/* In competitive mode: is a probe due, or does the queue become short because others probe? A cut
 * makes a shallow queue as short. Not in slow start, as after a time-out, which a probe would end,
 * nor with a queue that is not seen, which a probe would always find empty.
 * An alarm begins a probe in some flows, and competitive mode in those that had left it of late. As
 * it comes to all flows of this kind at once, the latter join the probe.
 */
static bool sstp_hybrid_probe_due(const struct sstp_ctrl *c, const struct sstp_hybrid *h,
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

/* Cuts did not empty the queue. That is also so for a while when another flow begins, or when the
 * path has become longer, so a probe tells these apart from flows that fill the queue; but not
 * again and again.
 */
static void sstp_hybrid_alarm(struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* In competitive mode the queue becomes empty again and again without a loss. Flows in competitive
 * mode reduce their windows for losses only, so the others are in delay mode: return to it.
 */
static void sstp_hybrid_count_empty(struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* In competitive mode, at the end of a round trip whose lowest round-trip time was @rtt */
static void sstp_hybrid_count_vacant(const struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* Packets that this flow keeps in flight: the window or, where the receiver's window holds the
 * sender back, fewer, which may fill a queue all the same; 0 if the program sends too little.
 */
static u32 sstp_hybrid_kept(const struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (c->cwnd / 2 < s->flight)
		return c->cwnd;
	return s->app_limited ? 0 : s->flight;
}

/* The end of a round trip whose lowest round-trip time was @rtt, U32_MAX = none */
static void sstp_hybrid_look(struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* A cut to @cwnd, which begins an epoch of competitive mode as that of CUBIC does */
static void sstp_hybrid_cut_to(struct sstp_ctrl *c, struct sstp_hybrid *h,
			       const struct sstp_ctrl_sample *s, u32 cwnd)
{
	if (h->competes)
		sstp_cubic_cut(&h->e, c->cwnd, div_u64((u64)cwnd * SSTP_CUBIC_ONE, c->cwnd),
			       s->ce || !h->shallow);
	sstp_hybrid_cut(c, h, s, cwnd);
}

static u32 sstp_hybrid_less(const struct sstp_ctrl *c)
{
	return div_u64((u64)c->cwnd * SSTP_HYBRID_LESS, 100);
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

/* The cut for many losses. If the window was far too large, as at the end of slow start, packets
 * are lost for several round trips, and several such cuts follow: those to a half leave what is
 * delivered, but no more than other cuts do, as a delivery rate may be somewhat too high.
 */
static void sstp_hybrid_cut_many(struct sstp_ctrl *c, struct sstp_hybrid *h,
				 const struct sstp_ctrl_sample *s)
{
	u32 cwnd = sstp_hybrid_less(c);

	if (sstp_waits_share_halves(&h->share))
		cwnd = clamp(sstp_hybrid_carried(h, s), c->cwnd / 2, cwnd);
	sstp_hybrid_cut_to(c, h, s, cwnd);
}

/* Losses that have caused no cut, but are many. Those of the round trip that begins with a cut left
 * before the cut: the cause is the same. The cut is made in the next callback if that is told of
 * losses, so that they are counted once for its undo.
 */
static bool sstp_hybrid_many_losses(struct sstp_ctrl *c, struct sstp_hybrid *h,
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

/* A cut to 85% empties a shallow queue; one to 70% would leave part of the line unused for most of
 * the epoch. After such a @gentle cut the window grows so much slower that the mean window is that
 * of CUBIC.
 */
static const struct sstp_cubic_law *sstp_hybrid_law(bool gentle)
{
	static const struct sstp_cubic_law laws[] = {
		{ SSTP_CUBIC_BETA, SSTP_CUBIC_C },
		{ SSTP_CUBIC_ONE * SSTP_HYBRID_LESS / 100, SSTP_HYBRID_C },
	};

	return &laws[gentle];
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

static u32 sstp_hybrid_part(const struct sstp_ctrl *c, u32 beta)
{
	return (u64)c->cwnd * beta / SSTP_CUBIC_ONE;
}

/* Do losses come of the window that left after slow start's cut? It may still be too large. */
static bool sstp_hybrid_overshoots(const struct sstp_ctrl *c, const struct sstp_hybrid *h,
				   const struct sstp_ctrl_sample *s)
{
	return h->w.late && h->w.was < h->w.was_ssthresh &&
	       s->lost_ship - h->w.recover <= c->cwnd;
}

/* A queue has overflowed: make the cut of CUBIC, or that for a shallow queue. The first packets
 * after it come to a queue that is full of those before, and a train of them may be lost as well:
 * that is the same overflow, and causes a cut only if many are lost. Not in slow start with a deep
 * queue, as one cut may leave the window too large: on a short path, where HyStart++ seldom ends
 * slow start before the queue is full, what the path delivers is left, but half at least. Where the
 * queue is short W_max stays at what the path holds, without the fast convergence of CUBIC. If the
 * last probe was long ago, begin one at once, as other flows have lost packets too, and reduce
 * their windows.
 */
static void sstp_hybrid_overflow(struct sstp_ctrl *c, struct sstp_hybrid *h,
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
	bool short_path = sstp_waits_base(&h->waits) < SSTP_HYBRID_NEAR;
	u32 beta = sstp_hybrid_law(gentle)->beta, cwnd = sstp_hybrid_part(c, beta), was = c->cwnd;

	sstp_cubic_cut(&h->e, c->cwnd, beta, deep);
	if (!slow_start)
		sstp_hybrid_compete(h, s);
	if (slow_start && deep && !reorders && !h->competes && short_path)
		cwnd = clamp(sstp_hybrid_carried(h, s) ?: cwnd, c->cwnd / 2, cwnd);
	sstp_hybrid_cut(c, h, s, cwnd);
	h->tail = !reorders && (!slow_start || overshoots || !deep);
	h->shallow = shallow;
	h->gentle = gentle;
	if (!slow_start && !reorders && !sstp_waits_surge_unseen(&h->surge) &&
	    ms - h->probed_ms > sstp_hybrid_overflow_ms(h))
		sstp_hybrid_probe(c, h, s, short_path ? was : c->cwnd);
}

/* Do the losses of @s belong to the last overflow of a queue? Its cut is undone only if the packets
 * of all of them were only late.
 */
static bool sstp_hybrid_in_tail(const struct sstp_ctrl *c, struct sstp_hybrid *h,
				const struct sstp_ctrl_sample *s)
{
	if (!h->tail || s->ce || s->lost_ship - h->w.recover > c->cwnd / SSTP_HYBRID_TAIL)
		return false;
	if (h->w.lost)
		h->w.lost += s->lost;
	return true;
}

/* Answer losses that are neither many nor the tail of an overflow by their cause. */
static void sstp_hybrid_judge(struct sstp_ctrl *c, struct sstp_hybrid *h,
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
