/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of "hybrid", ctrl_hybrid.c, and the parts that it is made of: round trips, modes,
 * probes and cuts. All functions have the context of the controller's callbacks, which call
 * them.
 */
#ifndef _SSTP_HYBRID_H
#define _SSTP_HYBRID_H

#include <linux/math64.h>
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
#define SSTP_HYBRID_TAIL	4U	/* part of the window behind a cut: sstp_hybrid_in_tail() */
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
 * @probed: a probe has ended
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
	bool	probed : 1;
};

static inline struct sstp_hybrid *sstp_hybrid_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_hybrid);
}

static inline u32 sstp_hybrid_ms(const struct sstp_ctrl_sample *s)
{
	return div_u64(s->now, NSEC_PER_MSEC);
}

static inline bool sstp_hybrid_reorders(const struct sstp_hybrid *h,
					const struct sstp_ctrl_sample *s)
{
	return sstp_hybrid_ms(s) - h->reorder_ms <= SSTP_HYBRID_MEMORY;
}

/* Did this round trip begin with a cut, or before it? The losses in it left before the cut. */
static inline bool sstp_hybrid_after_cut(const struct sstp_hybrid *h)
{
	return h->w.late && (s32)(h->round_end - h->w.recover) <= 0;
}

/* Slow start and a probe move round-trip times apart without a link that delivers in bursts, and
 * slow start may end with many losses, which are reported in the round trip after its cut. Nor do
 * such round trips tell whether a queue loses packets or the path does.
 */
static inline bool sstp_hybrid_steady(const struct sstp_ctrl *c, const struct sstp_hybrid *h)
{
	return !h->probes && !sstp_window_in_slow_start(c, &h->w) &&
	       !(sstp_hybrid_after_cut(h) && h->w.was < h->w.was_ssthresh);
}

/* hybrid_mode.c */
/* Does @rtt show that packets wait for less than SSTP_HYBRID_DRAINED, or that fewer than
 * SSTP_HYBRID_LEFT of this flow do?
 */
bool sstp_hybrid_drained(const struct sstp_ctrl *c, const struct sstp_hybrid *h, u32 rtt);
/* Does the window grow as in delay mode? In competitive mode it does when the queue has been empty
 * for SSTP_HYBRID_VACANT, although the window has reached W_max.
 */
bool sstp_hybrid_grows(const struct sstp_hybrid *h, const struct sstp_ctrl_sample *s);
/* An epoch of CUBIC begins with the window as it is if the window has grown faster. */
void sstp_hybrid_stop_growing(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s);
/* Enter competitive mode, unless the flow is in it. */
void sstp_hybrid_compete(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s);
/* Return to delay mode. */
void sstp_hybrid_relax(struct sstp_hybrid *h, const struct sstp_ctrl_sample *s);
/* In competitive mode the queue becomes empty again and again without a loss. Flows in competitive
 * mode reduce their windows for losses only, so the others are in delay mode: return to it.
 */
void sstp_hybrid_count_empty(struct sstp_ctrl *c, struct sstp_hybrid *h,
			     const struct sstp_ctrl_sample *s, u32 rtt);
/* In competitive mode, at the end of a round trip whose lowest round-trip time was @rtt */
void sstp_hybrid_count_vacant(const struct sstp_ctrl *c, struct sstp_hybrid *h,
			      const struct sstp_ctrl_sample *s, u32 rtt);

/* hybrid_probe.c */
/* Begin a probe. @was: the window, or that before the cut of an overflow */
void sstp_hybrid_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s, u32 was);
/* The window is back at what it was before a cut, so the probe sends too much to show anything. */
void sstp_hybrid_stop_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
			    const struct sstp_ctrl_sample *s);
/* Slow start that has gone on ends. */
void sstp_hybrid_end_resumed(const struct sstp_ctrl *c, struct sstp_hybrid *h);
/* The probe is over. The queue became empty: the flows that filled it are of this kind and have
 * joined the probe. The window leaves out all that waited then, and where that is
 * sure it is no relapse if a flow that joined too late fills the queue once more. The path has
 * become longer: slow start goes up to a window that is larger by as much. Other flows fill the
 * queue: if they have filled it since slow start, it was their queue that ended slow start, before
 * this flow had its share, so slow start goes on until a packet is lost, to SSTP_HYBRID_RESUME
 * times the window at most. Flows of CUBIC whose slow start the queue did not end do the same.
 */
void sstp_hybrid_end_probe(struct sstp_ctrl *c, struct sstp_hybrid *h,
			   const struct sstp_ctrl_sample *s);
/* ms after a probe until an overflow begins one: where the queue is shallow, half of the time after
 * which one is due in any case
 */
u32 sstp_hybrid_overflow_ms(const struct sstp_hybrid *h);
/* In competitive mode: is a probe due, or does the queue become short because others probe? A cut
 * makes a shallow queue as short. Not in slow start, as after a time-out, which a probe would end,
 * nor with a queue that is not seen, which a probe would always find empty.
 * An alarm begins a probe in some flows, and competitive mode in those that had left it of late. As
 * it comes to all flows of this kind at once, the latter join the probe.
 */
bool sstp_hybrid_probe_due(const struct sstp_ctrl *c, const struct sstp_hybrid *h,
			   const struct sstp_ctrl_sample *s);
/* Cuts did not empty the queue. That is also so for a while when another flow begins, or when the
 * path has become longer, so a probe tells these apart from flows that fill the queue; but not
 * again and again.
 */
void sstp_hybrid_alarm(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s);

/* hybrid_cut.c */
/* Cut the window to @cwnd, but not below SSTP_HYBRID_CWND or, if that is less, what it is. */
void sstp_hybrid_cut(struct sstp_ctrl *c, struct sstp_hybrid *h,
		     const struct sstp_ctrl_sample *s, u32 cwnd);
/* Take the packets of this flow out of the queue that makes the round-trip time @rtt, and leave
 * those of a round-trip time of @left us.
 */
void sstp_hybrid_drain(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s, u32 rtt, u32 left);
/* The window after marks and many losses */
u32 sstp_hybrid_less(const struct sstp_ctrl *c);
/* @beta of the window, in SSTP_CUBIC_ONE */
u32 sstp_hybrid_part(const struct sstp_ctrl *c, u32 beta);
/* A cut to 85% empties a shallow queue; one to 70% would leave part of the line unused for most of
 * the epoch. After such a @gentle cut the window grows so much slower that the mean window is that
 * of CUBIC.
 */
const struct sstp_cubic_law *sstp_hybrid_law(bool gentle);
/* A cut to @cwnd, which begins an epoch of competitive mode as that of CUBIC does */
void sstp_hybrid_cut_to(struct sstp_ctrl *c, struct sstp_hybrid *h,
			const struct sstp_ctrl_sample *s, u32 cwnd);
/* The cut for many losses. If the window was far too large, as at the end of slow start, packets
 * are lost for several round trips, and several such cuts follow: those to a half leave what is
 * delivered, but no more than other cuts do, as a delivery rate may be somewhat too high.
 */
void sstp_hybrid_cut_many(struct sstp_ctrl *c, struct sstp_hybrid *h,
			  const struct sstp_ctrl_sample *s);
/* A queue has overflowed: make the cut of CUBIC, or that for a shallow queue. The first packets
 * after it come to a queue that is full of those before, and a train of them may be lost as well:
 * that is the same overflow, and causes a cut only if many are lost. Not in slow start with a deep
 * queue, as one cut may leave the window too large: on a short path, where HyStart++ seldom ends
 * slow start before the queue is full, what the path delivers is left, but half at least. Where the
 * queue is short W_max stays at what the path holds, without the fast convergence of CUBIC. If the
 * last probe was long ago, begin one at once, as other flows have lost packets too, and reduce
 * their windows.
 */
void sstp_hybrid_overflow(struct sstp_ctrl *c, struct sstp_hybrid *h,
			  const struct sstp_ctrl_sample *s);
/* Do the losses of @s belong to the last overflow of a queue? Its cut is undone only if the packets
 * of all of them were only late.
 */
bool sstp_hybrid_in_tail(const struct sstp_ctrl *c, struct sstp_hybrid *h,
			 const struct sstp_ctrl_sample *s);
/* Answer losses that are neither many nor the tail of an overflow by their cause. */
void sstp_hybrid_judge(struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s);

/* hybrid_round.c */
/* A round trip ends, and the next one begins. */
void sstp_hybrid_round(const struct sstp_ctrl *c, struct sstp_hybrid *h,
		       const struct sstp_ctrl_sample *s);
/* The end of a round trip whose lowest round-trip time was @rtt, U32_MAX = none */
void sstp_hybrid_look(struct sstp_ctrl *c, struct sstp_hybrid *h,
		      const struct sstp_ctrl_sample *s, u32 rtt);
/* Losses that have caused no cut, but are many. Those of the round trip that begins with a cut left
 * before the cut: the cause is the same. The cut is made in the next callback if that is told of
 * losses, so that they are counted once for its undo. Returns true if the round trip has ended
 * here.
 */
bool sstp_hybrid_many_losses(struct sstp_ctrl *c, struct sstp_hybrid *h,
			     const struct sstp_ctrl_sample *s);

#endif /* _SSTP_HYBRID_H */
