// SPDX-License-Identifier: GPL-2.0
/* What controllers with a congestion window have in common: include/net/sstp_window.h */
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <net/sstp_window.h>

/* Shipments: a loss that is older is never reported. */
#define SSTP_WINDOW_LATE	16000000

/* RFC 9406, section 4.3; L is infinity, as packets are paced */
#define SSTP_HYSTART_RTT_MIN	(4 * USEC_PER_MSEC)	/* MIN_RTT_THRESH, us */
#define SSTP_HYSTART_RTT_MAX	(16 * USEC_PER_MSEC)	/* MAX_RTT_THRESH, us */
#define SSTP_HYSTART_DIVISOR	8	/* MIN_RTT_DIVISOR */
#define SSTP_HYSTART_SAMPLES	8U	/* N_RTT_SAMPLE, at most */
#define SSTP_HYSTART_FEW	2U	/* the same on the shortest paths */
#define SSTP_HYSTART_REPORTS	500U	/* us in which two reports come: see sstp_ctrl_interval() */
#define SSTP_HYSTART_GROWTH	4	/* CSS_GROWTH_DIVISOR */
#define SSTP_HYSTART_ROUNDS	5	/* CSS_ROUNDS */

void sstp_window_init(struct sstp_ctrl *c, struct sstp_window *w,
		      const struct sstp_ctrl_sample *s)
{
	memset(w, 0, sizeof(*w));
	w->ssthresh = SSTP_WINDOW_MAX;
	w->hystart = (struct sstp_hystart){
		.round_end = s->shipped,
		.rtt = U32_MAX,
		.last_rtt = U32_MAX,
		.baseline = U32_MAX,
	};
	if (s->in_flight) {
		w->ssthresh = clamp(s->in_flight, (u32)SSTP_WINDOW_MIN, w->ssthresh);
		w->recover = s->shipped;
		w->late = true;
	}
	c->cwnd = SSTP_WINDOW_INIT;
	c->period = 0;
}
EXPORT_SYMBOL_GPL(sstp_window_init);

/* @undue packets were only late. If that is as many as the last cut was made for, undo it. */
static void sstp_window_undo(struct sstp_ctrl *c, struct sstp_window *w, u32 undue)
{
	w->undue += undue;
	if (!w->lost || w->undue < w->lost)
		return;
	c->cwnd = max(c->cwnd, w->was);
	w->ssthresh = max(w->ssthresh, w->was_ssthresh);
	w->lost = 0;
	w->cut = false;
	w->undone = true;
}

/* RFC 9406, section 4.2: a round trip is over. True after the last one of CSS */
static bool sstp_hystart_round(struct sstp_hystart *h, const struct sstp_ctrl_sample *s)
{
	h->round_end = s->shipped;
	h->last_rtt = h->rtt;
	h->rtt = U32_MAX;
	h->samples = 0;
	return h->baseline != U32_MAX && ++h->rounds >= SSTP_HYSTART_ROUNDS;
}

/* RFC 9406, section 4.2: CSS begins when the round-trip time has grown. If it falls below the one
 * with which CSS began, it had grown by chance, and slow start goes on. On a path with a round-trip
 * time of @min_rtt us a window is reported only 4 to 16 times: half of these samples suffice.
 */
static void sstp_hystart_sample(struct sstp_hystart *h, u32 rtt, u32 min_rtt)
{
	u32 few = clamp(min_rtt / SSTP_HYSTART_REPORTS, SSTP_HYSTART_FEW, SSTP_HYSTART_SAMPLES);
	u32 more;

	h->rtt = min(h->rtt, rtt);
	h->samples = min(h->samples + 1U, SSTP_HYSTART_SAMPLES);
	if (h->samples < few)
		return;
	if (h->rtt < h->baseline && h->baseline != U32_MAX) {
		h->baseline = U32_MAX;
	} else if (h->baseline == U32_MAX && h->last_rtt != U32_MAX) {
		more = clamp_t(u32, h->last_rtt / SSTP_HYSTART_DIVISOR, SSTP_HYSTART_RTT_MIN,
			       SSTP_HYSTART_RTT_MAX);
		if (h->rtt < h->last_rtt + more)
			return;
		h->baseline = h->rtt;
		h->rounds = 0;
		h->count = 0;
	}
}

/* Packets by which the window may grow in slow start for @delivered ones: a quarter in CSS */
static u32 sstp_hystart_growth(struct sstp_hystart *h, u32 delivered)
{
	u32 packets = delivered + h->count;

	if (h->baseline == U32_MAX)
		return delivered;
	h->count = packets % SSTP_HYSTART_GROWTH;
	return packets / SSTP_HYSTART_GROWTH;
}

static void sstp_window_hystart(const struct sstp_ctrl *c, struct sstp_window *w,
				const struct sstp_ctrl_sample *s)
{
	if (s->rtt)
		sstp_hystart_sample(&w->hystart, s->rtt, s->min_rtt);
	if ((s32)(s->highest - w->hystart.round_end) >= 0 && sstp_hystart_round(&w->hystart, s))
		w->ssthresh = c->cwnd;
}

u32 sstp_window_ack(struct sstp_ctrl *c, struct sstp_window *w,
		    const struct sstp_ctrl_sample *s)
{
	u32 delivered = s->delivered, grow;

	w->undone = false;
	if (s->undue)
		sstp_window_undo(c, w, s->undue);
	if ((s32)(s->highest - w->recover) >= 0)
		w->cut = false;
	if ((s32)(s->highest - w->recover) >= SSTP_WINDOW_LATE)
		w->late = false;
	if (w->ssthresh == SSTP_WINDOW_MAX)
		sstp_window_hystart(c, w, s);
	/* The window does not grow in recovery, except in slow start after a time-out. */
	if (w->cut && c->cwnd >= w->ssthresh)
		return 0;
	/* In slow start the window grows without being cwnd-limited, as pacing may hold packets
	 * back; but never beyond about twice the packets in flight, as unused window proves
	 * nothing about the path.
	 */
	if (!(s->cwnd_limited || c->cwnd < w->ssthresh) || c->cwnd / 2 >= s->flight)
		return 0;
	if (c->cwnd < w->ssthresh) {
		grow = w->ssthresh == SSTP_WINDOW_MAX ?
		       sstp_hystart_growth(&w->hystart, delivered) : delivered;
		delivered -= min(delivered, w->ssthresh - c->cwnd);
		c->cwnd += min(grow, w->ssthresh - c->cwnd);
	}
	return delivered;
}
EXPORT_SYMBOL_GPL(sstp_window_ack);

void sstp_window_grow(struct sstp_ctrl *c, struct sstp_window *w, u32 packets, u32 per)
{
	u32 grow;

	/* Packets counted while @per was larger must not add up to several packets of growth. */
	w->count = min(w->count, per) + packets;
	grow = w->count / per;
	w->count -= grow * per;
	c->cwnd = min(c->cwnd + grow, (u32)SSTP_WINDOW_MAX);
}
EXPORT_SYMBOL_GPL(sstp_window_grow);

bool sstp_window_loss(const struct sstp_ctrl *c, struct sstp_window *w,
		      const struct sstp_ctrl_sample *s)
{
	if (!w->late || (s32)(s->lost_ship - w->recover) > 0)
		return true;
	/* Undo the cut only if these packets were late as well, and never after a mark. */
	if (s->ce)
		w->lost = 0;
	if (w->lost)
		w->lost += s->lost;
	return false;
}
EXPORT_SYMBOL_GPL(sstp_window_loss);

/* Packets shipped before the cut may be lost for the same cause: their loss causes no cut. */
static void sstp_window_begin(struct sstp_window *w, const struct sstp_ctrl_sample *s)
{
	w->count = 0;
	w->recover = s->shipped;
	w->cut = true;
	w->late = true;
}

void sstp_window_cut(struct sstp_ctrl *c, struct sstp_window *w,
		     const struct sstp_ctrl_sample *s, u32 ssthresh)
{
	w->was = c->cwnd;
	w->was_ssthresh = w->ssthresh;
	w->lost = s->ce ? 0 : s->lost;
	w->undue = 0;
	w->ssthresh = max_t(u32, ssthresh, SSTP_WINDOW_MIN);
	sstp_window_begin(w, s);
	c->cwnd = w->ssthresh;
	sstp_window_pace(c, w, s);
}
EXPORT_SYMBOL_GPL(sstp_window_cut);

void sstp_window_timeout(struct sstp_ctrl *c, struct sstp_window *w,
			 const struct sstp_ctrl_sample *s, u32 ssthresh)
{
	if (!w->cut)
		w->ssthresh = max_t(u32, ssthresh, SSTP_WINDOW_MIN);
	sstp_window_begin(w, s);
	w->lost = 0;
	c->cwnd = SSTP_WINDOW_MIN;
	sstp_window_pace(c, w, s);
}
EXPORT_SYMBOL_GPL(sstp_window_timeout);

void sstp_window_pace(struct sstp_ctrl *c, const struct sstp_window *w,
		      const struct sstp_ctrl_sample *s)
{
	u64 round = (u64)s->srtt * NSEC_PER_USEC;

	/* At twice the rate of the reports, slow start doubles a window in a round trip and a half,
	 * which a short answer would take longer than with TCP. A window of a train is doubled
	 * in one: as many packets may leave at once in any case. A larger window is not paced
	 * more slowly than that.
	 */
	if (c->cwnd < w->ssthresh)
		c->period = div_u64(round, max(c->cwnd * 2, min(c->cwnd, SSTP_TRAIN_PACKETS) * 4));
	else
		c->period = div_u64(round * 5, c->cwnd * 6);
}
EXPORT_SYMBOL_GPL(sstp_window_pace);
