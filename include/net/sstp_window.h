/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segment streaming transport protocol: what controllers with a congestion window have in
 * common: slow start, of which the first ends when the round-trip time grows (HyStart++), one cut
 * for the losses of a round trip, undo of a cut for packets that were only late, and pacing. A
 * controller puts struct sstp_window first into its private state, and adds how the window
 * grows in congestion avoidance and by how much it is cut.
 *
 * Windows and thresholds are in packets. Callers hold the socket lock.
 */
#ifndef _NET_SSTP_WINDOW_H
#define _NET_SSTP_WINDOW_H

#include <linux/build_bug.h>
#include <net/sstp.h>

#define SSTP_WINDOW_INIT	10	/* packets, RFC 6928 */
#define SSTP_WINDOW_MIN		2	/* packets */
#define SSTP_WINDOW_MAX		BIT(24)	/* packets */

/**
 * struct sstp_hystart - HyStart++ (RFC 9406): the end of the first slow start, without a loss
 * @round_end: last shipment before this round trip (serial number), windowEnd of the RFC
 * @rtt: lowest round-trip time in this round trip, us; U32_MAX = none, currentRoundMinRTT
 * @last_rtt: the same of the last one, lastRoundMinRTT
 * @baseline: the same when the conservative slow start (CSS) began, cssBaselineMinRtt; U32_MAX =
 *	not in CSS
 * @samples: round-trip times measured in this round trip, rttSampleCount
 * @rounds: round trips in CSS
 * @count: packets delivered in CSS that the window has not grown for yet
 */
struct sstp_hystart {
	u32	round_end;
	u32	rtt;
	u32	last_rtt;
	u32	baseline;
	u8	samples;
	u8	rounds;
	u8	count;
};

/**
 * struct sstp_window - state of a congestion window
 * @ssthresh: slow start threshold, packets
 * @count: packets delivered since the window last grew in congestion avoidance
 * @recover: last shipment before the last cut (serial number)
 * @was: window before the last cut, packets
 * @was_ssthresh: @ssthresh before the last cut, packets
 * @lost: lost packets that the last cut was made for; 0 = it cannot be undone, as after a mark
 * @undue: packets that were only late, since the last cut
 * @cut: in recovery: shipments up to @recover are not all reported yet
 * @late: shipments up to @recover may still be reported lost
 * @undone: this report undid the last cut
 * @hystart: valid while @ssthresh is SSTP_WINDOW_MAX, in the first slow start
 */
struct sstp_window {
	u32	ssthresh;
	u32	count;
	u32	recover;
	u32	was;
	u32	was_ssthresh;
	u32	lost;
	u32	undue;
	bool	cut;
	bool	late;
	bool	undone;
	struct sstp_hystart hystart;
};

/* Private state of controller @c, as a pointer to @type */
#define sstp_ctrl_priv(c, type) ({					\
	BUILD_BUG_ON(sizeof(type) > sizeof((c)->priv));			\
	(type *)(c)->priv;						\
})

static inline bool sstp_window_in_slow_start(const struct sstp_ctrl *c,
					     const struct sstp_window *w)
{
	return c->cwnd < w->ssthresh;
}

/* Start with SSTP_WINDOW_INIT packets. On a connection with packets in flight, which had another
 * controller, slow start ends at their number, and losses among them cause no cut.
 */
void sstp_window_init(struct sstp_ctrl *c, struct sstp_window *w,
		      const struct sstp_ctrl_sample *s);
/* A report came: undo a cut, end recovery, grow in slow start. Returns the number of packets
 * delivered by which congestion avoidance may grow the window; 0 in recovery, and if the
 * window is not used.
 */
u32 sstp_window_ack(struct sstp_ctrl *c, struct sstp_window *w,
		    const struct sstp_ctrl_sample *s);
/* Grow by one packet for each @per of the @packets delivered, and of those before, which give one
 * packet at most. @per: at least 1
 */
void sstp_window_grow(struct sstp_ctrl *c, struct sstp_window *w, u32 packets, u32 per);
/* A report has losses or marks. True if the controller has to cut the window for them, which it
 * does by sstp_window_cut(); false if they are of a round trip for which it was cut.
 */
bool sstp_window_loss(const struct sstp_ctrl *c, struct sstp_window *w,
		      const struct sstp_ctrl_sample *s);
/* Cut the window and the threshold to @ssthresh. */
void sstp_window_cut(struct sstp_ctrl *c, struct sstp_window *w,
		     const struct sstp_ctrl_sample *s, u32 ssthresh);
/* Start again with SSTP_WINDOW_MIN packets, and in slow start up to @ssthresh; a threshold set
 * for losses of this round trip stays.
 */
void sstp_window_timeout(struct sstp_ctrl *c, struct sstp_window *w,
			 const struct sstp_ctrl_sample *s, u32 ssthresh);
/* Spread the window over a round trip: at twice its rate in slow start, at 1.2 times later, as
 * TCP paces; in slow start at four times with a window of up to SSTP_TRAIN_PACKETS, and at no
 * lower rate with a larger one.
 */
void sstp_window_pace(struct sstp_ctrl *c, const struct sstp_window *w,
		      const struct sstp_ctrl_sample *s);

#endif /* _NET_SSTP_WINDOW_H */
