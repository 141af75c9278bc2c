// SPDX-License-Identifier: GPL-2.0
/*
 * "bbr": BBR version 3 (draft-ietf-ccwg-bbr, whose sections and names are given below). The model
 * of the path is the highest delivery rate (max_bw) and the lowest round-trip time (min_rtt) of
 * late. Packets leave at about that rate, with about two bandwidth-delay products in flight at
 * most. Losses bound the model: for long if a probe for more caused more than 2% (the long-term
 * model), and until the next probe otherwise (the short-term model).
 *
 * Differences from the draft:
 *  - The draft knows for each packet what was in flight when it left. Here that is known of the
 *    packet that a report answers, which stands for all packets of the report, so there is no
 *    InflightAtLoss(). Rounds are counted by shipments, not by the number of packets delivered.
 *  - In the short-term model the delivery rate of a round trip is divided by the gain with which
 *    its packets were paced. Else each round trip with a loss, wherever it was, lowers the rate
 *    by what the sender itself held back, and a few chance losses reduce it to a fraction.
 *    The volume delivered in a round trip includes the packets of the report that ends it, as
 *    the window holds these as well.
 *    ProbeRTT and the two rounds after it, of which the same is true, say nothing about the path:
 *    no bound follows from their losses, and max_bw does not age. No bound rises in a cycle.
 *  - A rate below half of the model's with a round-trip time of more than twice min_rtt, three
 *    rounds long, means that the path carries less than max_bw now, or is longer than min_rtt.
 *    ProbeRTT is entered at once, as its few packets in flight tell which. In the draft
 *    max_bw expires two probes for bandwidth later, and ProbeRTT prevents these where the queue
 *    is long: the queue grew until it overflowed, for as long as the path remained so.
 *  - The core sends in recovery, so losses do not change the window, and it is not saved for them.
 *    After a time-out it is MinPipeCwnd until a packet is delivered that left later.
 *  - A connection with nothing in flight restarts from idle, for whatever reason.
 *  - The filter of extra_acked has two halves of five rounds. A quantum is what the core lets go
 *    at once. inflight_longterm that holds packets back is noticed before it is raised.
 */
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_window.h>

#define SSTP_BBR_BW		24	/* rates are in packets / us / 2^24 */
#define SSTP_BBR_GAIN		8	/* gains are in 1 / 2^8 */
#define SSTP_BBR_ONE		BIT(SSTP_BBR_GAIN)
#define SSTP_BBR_MARGIN		99U	/* percent: 100 - PacingMarginPercent */
#define SSTP_BBR_NONE		U32_MAX	/* a bound of the model that is not set */
#define SSTP_BBR_LOSS		50U	/* 1 / LossThresh */
#define SSTP_BBR_FULL_LOSS	6	/* ranges lost in a round that end Startup */
#define SSTP_BBR_FULL_ROUNDS	3	/* rounds without growth that show a full pipe */
#define SSTP_BBR_DRAIN_ROUNDS	3	/* longest Drain */
#define SSTP_BBR_MIN_CWND	4U	/* MinPipeCwnd, packets */
#define SSTP_BBR_RENO_ROUNDS	62U	/* rounds between two probes at most, or one more */
#define SSTP_BBR_WAIT		2000U	/* ms between two probes at most, or up to a second more */
#define SSTP_BBR_MIN_RTT	10000U	/* ms: MinRTTFilterLen */
#define SSTP_BBR_PROBE_RTT	5000U	/* ms: ProbeRTTInterval */
#define SSTP_BBR_PROBE_TIME	200U	/* ms: ProbeRTTDuration */
#define SSTP_BBR_EXTRA_ROUNDS	5	/* half of ExtraAckedFilterLen */
#define SSTP_BBR_OFF_ROUNDS	3	/* rounds that contradict the model until it is doubted */

enum sstp_bbr_state {
	SSTP_BBR_STARTUP,
	SSTP_BBR_DRAIN,
	SSTP_BBR_DOWN,
	SSTP_BBR_CRUISE,
	SSTP_BBR_REFILL,
	SSTP_BBR_UP,
	SSTP_BBR_PROBING_RTT,
};

/* Section 5.6.1: pacing_gain and cwnd_gain of each state */
static const struct {
	u16 pacing;
	u16 cwnd;
} sstp_bbr_gain[] = {
	[SSTP_BBR_STARTUP]	= { 709, 512 },	/* 2.77 */
	[SSTP_BBR_DRAIN]	= { 128, 512 },
	[SSTP_BBR_DOWN]		= { 230, 512 },	/* 0.9 */
	[SSTP_BBR_CRUISE]	= { 256, 512 },
	[SSTP_BBR_REFILL]	= { 256, 512 },
	[SSTP_BBR_UP]		= { 320, 576 },
	[SSTP_BBR_PROBING_RTT]	= { 256, 128 },
};

/* ack_phase, section 2.14: what reports say of the last probe for bandwidth */
enum sstp_bbr_phase {
	SSTP_BBR_ACKS_INIT,
	SSTP_BBR_ACKS_REFILLING,
	SSTP_BBR_ACKS_STARTING,
	SSTP_BBR_ACKS_FEEDBACK,
	SSTP_BBR_ACKS_STOPPING,
};

/**
 * struct sstp_bbr - state of the controller
 * @max_bw: highest delivery rate of this cycle and of the last one
 * @bw_latest: highest delivery rate of this loss round
 * @bw_shortterm: bound of the rate by the short-term model
 * @full_bw: delivery rate that a growing one must exceed by a quarter
 * @min_rtt: us
 * @min_rtt_stamp: when it was measured, ms
 * @probe_rtt_min: lowest round-trip time since the last ProbeRTT, us
 * @probe_rtt_stamp: when it was measured, ms
 * @probe_rtt_since: since when so few packets are in flight as ProbeRTT wants, ms; valid if
 *	@probe_rtt_low
 * @inflight_longterm: bound of the packets in flight by the long-term model
 * @inflight_shortterm: the same by the short-term model
 * @inflight_latest: most packets delivered in the time that one was in flight, and until the
 *	next report, of this loss round
 * @round_end: last shipment before this round began (serial number)
 * @loss_round_end: the same of the loss round
 * @extra_acked: packets delivered beyond what the rate makes expect: highest of this half of the
 *	filter's rounds and of the last
 * @extra_delivered: packets delivered since @extra_start
 * @extra_start: ns
 * @up_acked: bw_probe_up_acked, packets
 * @up_per_inc: probe_up_acked_per_inc, packets
 * @cycle_stamp: when Down began, ms
 * @probe_wait: time until the next probe from then on, ms
 * @undo_bw_shortterm: @bw_shortterm before the losses of the last loss round with some
 * @undo_inflight_shortterm: @inflight_shortterm, likewise
 * @undo_inflight_longterm: @inflight_longterm, likewise
 * @lost: packets lost in the last loss round with losses, and later; 0 = nothing to undo
 * @undue: packets of these that were only late
 * @path_rate: delivery rate of the last round that contradicted the model
 * @doubt_least: lowest round-trip time since the model is doubted, us
 * @doubt_most: the highest
 * @prior_cwnd: window before ProbeRTT or a time-out, packets
 * @state: enum sstp_bbr_state
 * @phase: enum sstp_bbr_phase
 * @undo_state: state that losses ended, SSTP_BBR_STARTUP or SSTP_BBR_UP; others = none
 * @full_rounds: rounds without growth of the delivery rate
 * @drain_rounds: rounds in Drain
 * @extra_rounds: rounds in this half of the filter of @extra_acked
 * @up_rounds: bw_probe_up_rounds
 * @since_up: rounds_since_probe_up
 * @loss_ranges: ranges lost in this loss round
 * @off_rounds: rounds in a row that contradict the model
 * @own_rounds: rounds until ProbeRTT no longer limits the delivery rate
 * @slow_gain: least pacing gain of this loss round and of the last
 * @slow_gain_now: least pacing gain of this loss round
 * @full_reached: full_bw_reached
 * @full_now: full_bw_now
 * @loss_in_round: is_loss_in_round
 * @probe_sample: is_bw_probe_sample
 * @too_high: prev_probe_too_high
 * @precautionary: prev_probe_precautionary
 * @idle_restart: no report has come since packets left after a pause
 * @probe_rtt_expired: ProbeRTT is due
 * @probe_rtt_low: see @probe_rtt_since
 * @probe_rtt_round: @probe_rtt_low has held for a round
 * @doubted: ProbeRTT is to tell which part of the model is wrong
 * @timeout: the window was cut by a time-out in this round
 */
struct sstp_bbr {
	u32	max_bw[2];
	u32	bw_latest;
	u32	bw_shortterm;
	u32	full_bw;
	u32	min_rtt;
	u32	min_rtt_stamp;
	u32	probe_rtt_min;
	u32	probe_rtt_stamp;
	u32	probe_rtt_since;
	u32	inflight_longterm;
	u32	inflight_shortterm;
	u32	inflight_latest;
	u32	round_end;
	u32	loss_round_end;
	u32	extra_acked[2];
	u32	extra_delivered;
	u64	extra_start;
	u32	up_acked;
	u32	up_per_inc;
	u32	cycle_stamp;
	u32	probe_wait;
	u32	undo_bw_shortterm;
	u32	undo_inflight_shortterm;
	u32	undo_inflight_longterm;
	u32	lost;
	u32	undue;
	u32	path_rate;
	u32	doubt_least;
	u32	doubt_most;
	u32	prior_cwnd;
	u8	state;
	u8	phase;
	u8	undo_state;
	u8	full_rounds;
	u8	drain_rounds;
	u8	extra_rounds;
	u8	up_rounds;
	u8	since_up;
	u8	loss_ranges;
	u8	off_rounds;
	u8	own_rounds;
	u16	slow_gain;
	u16	slow_gain_now;
	bool	full_reached;
	bool	full_now;
	bool	loss_in_round;
	bool	probe_sample;
	bool	too_high;
	bool	precautionary;
	bool	idle_restart;
	bool	probe_rtt_expired;
	bool	probe_rtt_low;
	bool	probe_rtt_round;
	bool	doubted;
	bool	timeout;
};

/**
 * struct sstp_bbr_ack - what a report says
 * @s: its sample
 * @ms: time
 * @rate: delivery rate; 0 = no sample
 * @limited: the rate is app-limited
 * @round_start: a round ends
 * @loss_round_start: a loss round ends
 * @longterm_limited: the long-term model holds packets back
 */
struct sstp_bbr_ack {
	const struct sstp_ctrl_sample *s;
	u32	ms;
	u32	rate;
	bool	limited;
	bool	round_start;
	bool	loss_round_start;
	bool	longterm_limited;
};

static struct sstp_bbr *sstp_bbr_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_bbr);
}

static u32 sstp_bbr_ms(const struct sstp_ctrl_sample *s)
{
	return div_u64(s->now, NSEC_PER_MSEC);
}

static u32 sstp_bbr_max_bw(const struct sstp_bbr *b)
{
	return max(b->max_bw[0], b->max_bw[1]);
}

/* Section 5.5.10.3: BoundBWForModel() */
static u32 sstp_bbr_bw(const struct sstp_bbr *b)
{
	return min(sstp_bbr_max_bw(b), b->bw_shortterm);
}

/* Section 5.6.4.2: BDPMultiple(), packets, rounded up */
static u32 sstp_bbr_bdp(const struct sstp_bbr *b, u32 bw, u32 gain)
{
	u64 v;

	if (b->min_rtt == SSTP_BBR_NONE)
		return SSTP_WINDOW_INIT;
	/* 8 binary places are left: 50 bits with the longest round-trip time */
	v = ((u64)bw * b->min_rtt >> (SSTP_BBR_BW - 8)) * gain;
	return min_t(u64, (v + BIT_ULL(8 + SSTP_BBR_GAIN) - 1) >> (8 + SSTP_BBR_GAIN),
		     SSTP_WINDOW_MAX);
}

/* Packets that leave in @us at @bw */
static u32 sstp_bbr_packets(u32 bw, u32 us)
{
	return min_t(u64, (u64)bw * us >> SSTP_BBR_BW, SSTP_WINDOW_MAX);
}

/* Section 5.6.4.2: QuantizationBudget(). The core lets go what is due in a millisecond, and two
 * packets at least, as one train.
 */
static u32 sstp_bbr_quantize(const struct sstp_bbr *b, u64 inflight)
{
	u32 quantum = clamp(sstp_bbr_packets(sstp_bbr_bw(b), USEC_PER_MSEC), 2U,
			    SSTP_TRAIN_PACKETS);

	inflight = max_t(u64, inflight, max(3 * quantum, SSTP_BBR_MIN_CWND));
	if (b->state == SSTP_BBR_UP)
		inflight += 2;
	return min_t(u64, inflight, SSTP_WINDOW_MAX);
}

static u32 sstp_bbr_inflight(const struct sstp_bbr *b, u32 bw, u32 gain)
{
	return sstp_bbr_quantize(b, sstp_bbr_bdp(b, bw, gain));
}

static u32 sstp_bbr_headroom(const struct sstp_bbr *b)
{
	u32 high = b->inflight_longterm;

	if (high == SSTP_BBR_NONE)
		return high;
	return max(high - max(1U, high / 20 * 3 + high % 20 * 3 / 20), SSTP_BBR_MIN_CWND);
}

static u32 sstp_bbr_beta(u32 v)
{
	return div_u64(v * 7ULL, 10);
}

static bool sstp_bbr_in_probe_bw(const struct sstp_bbr *b)
{
	return b->state >= SSTP_BBR_DOWN && b->state <= SSTP_BBR_UP;
}

static bool sstp_bbr_probes_bw(const struct sstp_bbr *b)
{
	return b->state == SSTP_BBR_STARTUP || b->state == SSTP_BBR_REFILL ||
	       b->state == SSTP_BBR_UP;
}

/* A number from 0 to @most - 1; shipments of connections start at random. */
static u32 sstp_bbr_draw(const struct sstp_ctrl_sample *s, u32 most)
{
	return ((u64)most * (u32)((s->shipped ^ (u32)s->now) * GOLDEN_RATIO_32)) >> 32;
}

static void sstp_bbr_start_round(struct sstp_bbr *b, const struct sstp_ctrl_sample *s)
{
	b->round_end = s->shipped;
}

static void sstp_bbr_set_state(struct sstp_bbr *b, enum sstp_bbr_state state)
{
	b->state = state;
	b->slow_gain_now = min(b->slow_gain_now, sstp_bbr_gain[state].pacing);
}

static void sstp_bbr_reset_shortterm(struct sstp_bbr *b)
{
	b->bw_shortterm = SSTP_BBR_NONE;
	b->inflight_shortterm = SSTP_BBR_NONE;
}

static void sstp_bbr_reset_full_bw(struct sstp_bbr *b, u32 bw)
{
	b->full_bw = bw;
	b->full_rounds = 0;
	b->full_now = false;
}

/* Section 5.6.2: the period, which follows the rate only upwards until the pipe was full */
static void sstp_bbr_pace(struct sstp_ctrl *c, const struct sstp_bbr *b, u32 gain)
{
	u64 period, rate = (u64)sstp_bbr_bw(b) * gain * SSTP_BBR_MARGIN;

	if (!rate)
		return;
	period = div64_u64((u64)NSEC_PER_USEC * 100 << (SSTP_BBR_BW + SSTP_BBR_GAIN), rate);
	period = max(period, 1ULL);
	if (b->full_reached || !c->period || period < c->period)
		c->period = period;
}

/* Section 5.2.1. A connection that had another controller starts with what is in flight. */
static void sstp_bbr_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bbr *b = sstp_bbr_priv(c);
	u32 ms = sstp_bbr_ms(s);

	b->min_rtt = s->srtt ?: SSTP_BBR_NONE;
	b->min_rtt_stamp = ms;
	b->probe_rtt_min = SSTP_BBR_NONE;
	b->probe_rtt_stamp = ms;
	b->extra_start = s->now;
	b->inflight_longterm = SSTP_BBR_NONE;
	b->up_per_inc = SSTP_BBR_NONE;
	b->undo_state = SSTP_BBR_PROBING_RTT;
	b->loss_round_end = s->shipped;
	b->slow_gain = SSTP_BBR_ONE;
	b->slow_gain_now = SSTP_BBR_ONE;
	sstp_bbr_reset_shortterm(b);
	sstp_bbr_start_round(b, s);
	c->cwnd = max_t(u32, s->in_flight, SSTP_WINDOW_INIT);
	c->period = div_u64((u64)(s->srtt ?: USEC_PER_MSEC) * NSEC_PER_USEC * SSTP_BBR_ONE,
			    SSTP_WINDOW_INIT * sstp_bbr_gain[SSTP_BBR_STARTUP].pacing);
}

/* Section 5.3.3.9: the cycle of ProbeBW */

static void sstp_bbr_start_down(struct sstp_bbr *b, const struct sstp_ctrl_sample *s)
{
	u32 draw = sstp_bbr_draw(s, 2 * MSEC_PER_SEC);

	b->loss_in_round = false;
	b->bw_latest = 0;
	b->inflight_latest = 0;
	b->up_per_inc = SSTP_BBR_NONE;
	b->since_up = draw % 2;
	b->probe_wait = SSTP_BBR_WAIT + draw / 2;
	b->cycle_stamp = sstp_bbr_ms(s);
	b->phase = SSTP_BBR_ACKS_STOPPING;
	sstp_bbr_start_round(b, s);
	sstp_bbr_set_state(b, SSTP_BBR_DOWN);
}

static void sstp_bbr_start_refill(struct sstp_bbr *b, const struct sstp_ctrl_sample *s)
{
	sstp_bbr_reset_shortterm(b);
	b->up_rounds = 0;
	b->up_acked = 0;
	b->precautionary = false;
	b->phase = SSTP_BBR_ACKS_REFILLING;
	sstp_bbr_start_round(b, s);
	sstp_bbr_set_state(b, SSTP_BBR_REFILL);
}

/* RaiseInflightLongtermSlope() */
static void sstp_bbr_raise_slope(const struct sstp_ctrl *c, struct sstp_bbr *b)
{
	b->up_per_inc = max(c->cwnd >> b->up_rounds, 1U);
	b->up_rounds = min(b->up_rounds + 1, 30);
}

static void sstp_bbr_start_up(const struct sstp_ctrl *c, struct sstp_bbr *b,
			      const struct sstp_bbr_ack *a)
{
	b->phase = SSTP_BBR_ACKS_STARTING;
	sstp_bbr_start_round(b, a->s);
	sstp_bbr_reset_full_bw(b, a->rate);
	sstp_bbr_set_state(b, SSTP_BBR_UP);
	sstp_bbr_raise_slope(c, b);
}

static void sstp_bbr_enter_drain(struct sstp_bbr *b)
{
	b->drain_rounds = 0;
	sstp_bbr_set_state(b, SSTP_BBR_DRAIN);
}

/* Sections 5.5.10 and 5.5.11: losses */

/* NoteLoss() and SaveStateUponLoss() */
static void sstp_bbr_note_loss(const struct sstp_ctrl *c, struct sstp_bbr *b,
			       const struct sstp_ctrl_sample *s)
{
	if (!b->loss_in_round) {
		b->loss_round_end = s->shipped;
		b->loss_in_round = true;
		b->lost = 0;
		b->undue = 0;
		b->undo_state = SSTP_BBR_PROBING_RTT;
		b->undo_bw_shortterm = b->bw_shortterm;
		b->undo_inflight_shortterm = b->inflight_shortterm;
		b->undo_inflight_longterm = b->inflight_longterm;
	}
	b->lost = min_t(u64, (u64)b->lost + s->lost, U32_MAX);
	b->loss_ranges = min(b->loss_ranges + max(s->lost_ranges, 1U), (u32)U8_MAX);
}

/* HandleSpuriousLossDetection() */
static void sstp_bbr_undo(struct sstp_bbr *b, const struct sstp_ctrl_sample *s)
{
	b->lost = 0;
	b->loss_in_round = false;
	b->loss_ranges = 0;
	b->bw_shortterm = max(b->bw_shortterm, b->undo_bw_shortterm);
	b->inflight_shortterm = max(b->inflight_shortterm, b->undo_inflight_shortterm);
	b->inflight_longterm = max(b->inflight_longterm, b->undo_inflight_longterm);
	if (b->undo_state == SSTP_BBR_STARTUP && b->state != SSTP_BBR_STARTUP) {
		b->full_reached = false;
		sstp_bbr_reset_full_bw(b, 0);
		if (b->state != SSTP_BBR_PROBING_RTT)
			sstp_bbr_set_state(b, SSTP_BBR_STARTUP);
	} else if (b->undo_state == SSTP_BBR_UP && b->state != SSTP_BBR_UP &&
		   b->state != SSTP_BBR_PROBING_RTT) {
		sstp_bbr_start_refill(b, s);
	}
	b->undo_state = SSTP_BBR_PROBING_RTT;
}

static void sstp_bbr_undue(struct sstp_bbr *b, const struct sstp_ctrl_sample *s)
{
	b->undue = min_t(u64, (u64)b->undue + s->undue, U32_MAX);
	if (b->lost && b->undue >= b->lost)
		sstp_bbr_undo(b, s);
}

static bool sstp_bbr_too_high(const struct sstp_ctrl_sample *s)
{
	return (u64)s->tx_lost * SSTP_BBR_LOSS > s->tx_in_flight;
}

/* HandleInflightTooHigh() */
static void sstp_bbr_handle_too_high(const struct sstp_ctrl *c, struct sstp_bbr *b,
				     const struct sstp_bbr_ack *a)
{
	const u32 target = min(sstp_bbr_bdp(b, sstp_bbr_bw(b), SSTP_BBR_ONE), c->cwnd);

	b->too_high = true;
	b->probe_sample = false;
	if (!a->limited)
		b->inflight_longterm = max3(a->s->tx_in_flight, sstp_bbr_beta(target),
					    SSTP_BBR_MIN_CWND);
	if (b->state == SSTP_BBR_UP) {
		b->undo_state = SSTP_BBR_UP;
		sstp_bbr_start_down(b, a->s);
	}
}

/* AdaptLowerBoundsFromCongestion(), once in a loss round */
static void sstp_bbr_adapt_shortterm(const struct sstp_ctrl *c, struct sstp_bbr *b)
{
	u64 latest;

	if (sstp_bbr_probes_bw(b) || !b->loss_in_round || b->own_rounds)
		return;
	if (b->bw_shortterm == SSTP_BBR_NONE)
		b->bw_shortterm = sstp_bbr_max_bw(b);
	if (b->inflight_shortterm == SSTP_BBR_NONE)
		b->inflight_shortterm = c->cwnd;
	latest = div_u64((u64)b->bw_latest * SSTP_BBR_ONE * 100,
			 min(b->slow_gain, b->slow_gain_now) * SSTP_BBR_MARGIN);
	b->bw_shortterm = clamp_t(u64, latest, max(sstp_bbr_beta(b->bw_shortterm), 1U),
				  max(b->bw_shortterm, 1U));
	b->inflight_shortterm = max3(min(b->inflight_latest, b->inflight_shortterm),
				     sstp_bbr_beta(b->inflight_shortterm), SSTP_BBR_MIN_CWND);
}

/* Sections 5.5.1 and 5.5.5: rounds and max_bw */
static void sstp_bbr_update_bw(struct sstp_bbr *b, struct sstp_bbr_ack *a)
{
	a->round_start = (s32)(a->s->highest - b->round_end) > 0;
	if (a->round_start) {
		sstp_bbr_start_round(b, a->s);
		b->since_up = min(b->since_up + 1, U8_MAX);
		b->own_rounds -= !!b->own_rounds;
		b->drain_rounds = min(b->drain_rounds + 1, U8_MAX);
	}
	if (a->rate && (a->rate >= sstp_bbr_max_bw(b) || !a->limited))
		b->max_bw[0] = max(b->max_bw[0], a->rate);
}

/* Packets delivered while the one was in flight that the report answers; and as many as a report
 * has, because a window holds those as well that have come but were not reported yet.
 */
static u32 sstp_bbr_delivered(const struct sstp_ctrl_sample *s)
{
	return s->tx_in_flight - s->tx_lost + s->delivered;
}

/* UpdateLatestDeliverySignals() and UpdateCongestionSignals() */
static void sstp_bbr_update_signals(const struct sstp_ctrl *c, struct sstp_bbr *b,
				    struct sstp_bbr_ack *a)
{
	const struct sstp_ctrl_sample *s = a->s;

	b->bw_latest = max(b->bw_latest, a->rate);
	b->inflight_latest = max(b->inflight_latest, sstp_bbr_delivered(s));
	a->loss_round_start = (s32)(s->highest - b->loss_round_end) > 0;
	if (a->loss_round_start)
		b->loss_round_end = s->shipped;
	sstp_bbr_update_bw(b, a);
	if (!a->loss_round_start)
		return;
	sstp_bbr_adapt_shortterm(c, b);
}

/* AdvanceLatestDeliverySignals(), and the end of a loss round */
static void sstp_bbr_advance_signals(struct sstp_bbr *b, const struct sstp_bbr_ack *a)
{
	if (!a->loss_round_start)
		return;
	b->bw_latest = a->rate;
	b->inflight_latest = sstp_bbr_delivered(a->s);
	b->loss_in_round = false;
	b->loss_ranges = 0;
	b->slow_gain = b->slow_gain_now;
	b->slow_gain_now = min_t(u16, sstp_bbr_gain[b->state].pacing, SSTP_BBR_ONE);
}

/* Section 5.5.9: extra_acked, as the highest of ten rounds, of one in Startup */
static void sstp_bbr_update_extra(const struct sstp_ctrl *c, struct sstp_bbr *b,
				  const struct sstp_bbr_ack *a)
{
	u64 us = div_u64(a->s->now - b->extra_start, NSEC_PER_USEC);
	u32 expected = sstp_bbr_packets(sstp_bbr_bw(b), min_t(u64, us, U32_MAX));

	if (a->round_start &&
	    ++b->extra_rounds >= (b->full_reached ? SSTP_BBR_EXTRA_ROUNDS : 1)) {
		b->extra_rounds = 0;
		b->extra_acked[1] = b->full_reached ? b->extra_acked[0] : 0;
		b->extra_acked[0] = 0;
	}
	if (b->extra_delivered <= expected) {
		b->extra_delivered = 0;
		b->extra_start = a->s->now;
		expected = 0;
	}
	b->extra_delivered = min(b->extra_delivered + a->s->delivered, (u32)SSTP_WINDOW_MAX);
	if (b->extra_delivered > expected)
		b->extra_acked[0] = max(b->extra_acked[0],
					min(b->extra_delivered - expected, c->cwnd));
}

/* Section 5.3.1.2: CheckFullBWReached() */
static void sstp_bbr_check_full(struct sstp_bbr *b, const struct sstp_bbr_ack *a)
{
	if (b->full_now || !a->round_start || a->limited || !a->rate)
		return;
	if (a->rate >= (u64)b->full_bw * 5 / 4) {
		sstp_bbr_reset_full_bw(b, a->rate);
		return;
	}
	b->full_now = ++b->full_rounds >= SSTP_BBR_FULL_ROUNDS;
	if (b->full_now)
		b->full_reached = true;
}

/* Sections 5.3.1.3 and 5.3.2: CheckStartupHighLoss(), and the ends of Startup and of Drain */
static void sstp_bbr_check_startup(struct sstp_bbr *b, const struct sstp_bbr_ack *a)
{
	if (b->state == SSTP_BBR_STARTUP && a->loss_round_start &&
	    b->loss_ranges >= SSTP_BBR_FULL_LOSS && sstp_bbr_too_high(a->s)) {
		b->undo_state = SSTP_BBR_STARTUP;
		b->full_reached = true;
		b->inflight_longterm = max3(sstp_bbr_bdp(b, sstp_bbr_bw(b), SSTP_BBR_ONE),
					    b->inflight_latest, SSTP_BBR_MIN_CWND);
	}
	if (b->state == SSTP_BBR_STARTUP && b->full_reached)
		sstp_bbr_enter_drain(b);
	if (b->state == SSTP_BBR_DRAIN &&
	    (a->s->in_flight <= sstp_bbr_inflight(b, sstp_bbr_bw(b), SSTP_BBR_ONE) ||
	     b->drain_rounds > SSTP_BBR_DRAIN_ROUNDS))
		sstp_bbr_start_down(b, a->s);
}

/* ProbeInflightLongtermUpward() */
static void sstp_bbr_probe_upward(const struct sstp_ctrl *c, struct sstp_bbr *b,
				  const struct sstp_bbr_ack *a)
{
	u32 delta;

	if (!a->longterm_limited)
		return;
	b->up_acked = min(b->up_acked + a->s->delivered, (u32)SSTP_WINDOW_MAX);
	delta = b->up_acked / b->up_per_inc;
	b->up_acked -= delta * b->up_per_inc;
	b->inflight_longterm = min(b->inflight_longterm + delta, (u32)SSTP_WINDOW_MAX);
	if (a->round_start)
		sstp_bbr_raise_slope(c, b);
}

/* AdaptLongTermModel(). True if the state has changed */
static bool sstp_bbr_adapt_longterm(const struct sstp_ctrl *c, struct sstp_bbr *b,
				    const struct sstp_bbr_ack *a)
{
	if (b->phase == SSTP_BBR_ACKS_STARTING && a->round_start)
		b->phase = SSTP_BBR_ACKS_FEEDBACK;
	if (b->phase == SSTP_BBR_ACKS_STOPPING && a->round_start && !b->own_rounds) {
		b->probe_sample = false;
		b->phase = SSTP_BBR_ACKS_INIT;
		if (sstp_bbr_in_probe_bw(b) && a->rate && !a->limited) {
			b->max_bw[1] = b->max_bw[0];
			b->max_bw[0] = 0;
		}
		if (sstp_bbr_in_probe_bw(b) && b->precautionary && !b->too_high) {
			sstp_bbr_start_refill(b, a->s);
			return true;
		}
	}
	if (sstp_bbr_too_high(a->s) || b->inflight_longterm == SSTP_BBR_NONE)
		return false;
	b->inflight_longterm = max(b->inflight_longterm, a->s->tx_in_flight);
	if (b->state == SSTP_BBR_UP)
		sstp_bbr_probe_upward(c, b, a);
	return false;
}

/* IsTimeToProbeBW(), which begins the probe */
static bool sstp_bbr_time_to_probe(const struct sstp_ctrl *c, struct sstp_bbr *b,
				   const struct sstp_bbr_ack *a)
{
	u32 rounds = min3(sstp_bbr_bdp(b, sstp_bbr_bw(b), SSTP_BBR_ONE), c->cwnd,
			  SSTP_BBR_RENO_ROUNDS + 1);

	if (a->ms - b->cycle_stamp <= b->probe_wait && b->since_up < rounds)
		return false;
	sstp_bbr_start_refill(b, a->s);
	return true;
}

/* IsTimeToGoDown() */
static bool sstp_bbr_time_to_go_down(struct sstp_bbr *b, const struct sstp_bbr_ack *a)
{
	if (b->too_high && a->s->in_flight >= b->inflight_longterm) {
		b->precautionary = true;
		return true;
	}
	if (a->longterm_limited) {
		sstp_bbr_reset_full_bw(b, a->rate);
		return false;
	}
	return b->full_now;
}

/* UpdateProbeBWCyclePhase() */
static void sstp_bbr_update_cycle(const struct sstp_ctrl *c, struct sstp_bbr *b,
				  const struct sstp_bbr_ack *a)
{
	if (!b->full_reached || sstp_bbr_adapt_longterm(c, b, a))
		return;
	switch (b->state) {
	case SSTP_BBR_DOWN:
		if (sstp_bbr_time_to_probe(c, b, a))
			break;
		if (a->s->in_flight <= sstp_bbr_headroom(b) &&
		    a->s->in_flight <= sstp_bbr_inflight(b, sstp_bbr_max_bw(b), SSTP_BBR_ONE))
			sstp_bbr_set_state(b, SSTP_BBR_CRUISE);
		break;
	case SSTP_BBR_CRUISE:
		sstp_bbr_time_to_probe(c, b, a);
		break;
	case SSTP_BBR_REFILL:
		if (a->round_start) {
			b->probe_sample = true;
			sstp_bbr_start_up(c, b, a);
		}
		break;
	case SSTP_BBR_UP:
		if (sstp_bbr_time_to_go_down(b, a)) {
			b->too_high = false;
			sstp_bbr_start_down(b, a->s);
		}
		break;
	}
}

/* Does this round contradict the model, as those before? */
static void sstp_bbr_check_model(struct sstp_bbr *b, const struct sstp_bbr_ack *a)
{
	if (!a->round_start || !a->rate || a->limited || !sstp_bbr_in_probe_bw(b))
		return;
	if (a->rate >= sstp_bbr_bw(b) / 2 || a->s->rtt / 2 <= b->min_rtt) {
		b->off_rounds = 0;
		return;
	}
	b->path_rate = a->rate;
	b->doubted = ++b->off_rounds >= SSTP_BBR_OFF_ROUNDS;
}

static void sstp_bbr_doubt(struct sstp_bbr *b, const struct sstp_bbr_ack *a)
{
	if (!a->s->rtt)
		return;
	b->doubt_least = min(b->doubt_least, a->s->rtt);
	b->doubt_most = max(b->doubt_most, a->s->rtt);
}

/* ProbeRTT has told which part of the model is wrong. If the round-trip time has become short, it
 * was this flow's packets that waited, as the path carries less. If it is always the same, the
 * path is longer. Else others' packets fill a queue, which says nothing new.
 */
static void sstp_bbr_mend_model(struct sstp_bbr *b)
{
	if (b->doubt_least / 2 <= b->min_rtt) {
		b->max_bw[0] = b->path_rate;
		b->max_bw[1] = 0;
	} else if (b->doubt_most - b->doubt_least <= b->doubt_least / 16) {
		b->min_rtt = b->doubt_least;
		b->min_rtt_stamp = b->probe_rtt_stamp;
		b->probe_rtt_min = b->doubt_least;
	}
	b->doubted = false;
}

/* Section 5.3.4.3: UpdateMinRTT() */
static void sstp_bbr_update_min_rtt(struct sstp_bbr *b, const struct sstp_bbr_ack *a)
{
	u32 rtt = a->s->rtt;

	/* A packet that overtook others says nothing about the path of most. */
	if (rtt && a->s->late)
		rtt = max(rtt, a->s->srtt);
	b->probe_rtt_expired = a->ms - b->probe_rtt_stamp > SSTP_BBR_PROBE_RTT;
	if (rtt && (rtt < b->probe_rtt_min || b->probe_rtt_expired)) {
		b->probe_rtt_min = rtt;
		b->probe_rtt_stamp = a->ms;
	}
	if (b->probe_rtt_min < b->min_rtt || a->ms - b->min_rtt_stamp > SSTP_BBR_MIN_RTT) {
		b->min_rtt = b->probe_rtt_min;
		b->min_rtt_stamp = b->probe_rtt_stamp;
	}
}

static void sstp_bbr_restore_cwnd(struct sstp_ctrl *c, const struct sstp_bbr *b)
{
	c->cwnd = max(c->cwnd, b->prior_cwnd);
}

/* ExitProbeRTT() */
static void sstp_bbr_exit_probe_rtt(struct sstp_ctrl *c, struct sstp_bbr *b,
				    const struct sstp_ctrl_sample *s)
{
	/* The next ProbeRTT that is due stays so: flows that share a path have theirs together. */
	if (b->doubted)
		sstp_bbr_mend_model(b);
	else
		b->probe_rtt_stamp = sstp_bbr_ms(s);
	sstp_bbr_restore_cwnd(c, b);
	sstp_bbr_reset_shortterm(b);
	if (!b->full_reached) {
		sstp_bbr_set_state(b, SSTP_BBR_STARTUP);
		return;
	}
	sstp_bbr_start_down(b, s);
	sstp_bbr_set_state(b, SSTP_BBR_CRUISE);
}

static u32 sstp_bbr_probe_rtt_cwnd(const struct sstp_bbr *b)
{
	u32 bw = b->doubted ? b->path_rate : sstp_bbr_bw(b);

	return max(sstp_bbr_bdp(b, bw, sstp_bbr_gain[SSTP_BBR_PROBING_RTT].cwnd),
		   SSTP_BBR_MIN_CWND);
}

/* HandleProbeRTT() */
static void sstp_bbr_in_probe_rtt(struct sstp_ctrl *c, struct sstp_bbr *b,
				  const struct sstp_bbr_ack *a)
{
	/* The low rates are the controller's own doing, as the draft's MarkConnectionAppLimited()
	 * says, until the packets that left later have filled the path again.
	 */
	b->own_rounds = 2;
	if (!b->probe_rtt_low) {
		if (a->s->in_flight > sstp_bbr_probe_rtt_cwnd(b))
			return;
		b->probe_rtt_low = true;
		b->probe_rtt_round = false;
		b->probe_rtt_since = a->ms;
		sstp_bbr_start_round(b, a->s);
		return;
	}
	if (a->round_start)
		b->probe_rtt_round = true;
	if (b->doubted)
		sstp_bbr_doubt(b, a);
	if (b->probe_rtt_round && a->ms - b->probe_rtt_since > SSTP_BBR_PROBE_TIME)
		sstp_bbr_exit_probe_rtt(c, b, a->s);
}

/* CheckProbeRTT() */
static void sstp_bbr_check_probe_rtt(struct sstp_ctrl *c, struct sstp_bbr *b,
				     const struct sstp_bbr_ack *a)
{
	if (b->state != SSTP_BBR_PROBING_RTT &&
	    (b->doubted || (b->probe_rtt_expired && !b->idle_restart))) {
		b->off_rounds = 0;
		b->doubt_least = SSTP_BBR_NONE;
		b->doubt_most = 0;
		sstp_bbr_set_state(b, SSTP_BBR_PROBING_RTT);
		b->prior_cwnd = b->timeout ? max(b->prior_cwnd, c->cwnd) : c->cwnd;
		b->probe_rtt_low = false;
		b->phase = SSTP_BBR_ACKS_STOPPING;
		sstp_bbr_start_round(b, a->s);
	}
	if (b->state == SSTP_BBR_PROBING_RTT)
		sstp_bbr_in_probe_rtt(c, b, a);
	if (a->s->delivered)
		b->idle_restart = false;
}

/* Section 5.6.4.7: BoundCwndForModel() */
static u32 sstp_bbr_bound_cwnd(const struct sstp_bbr *b, u32 cwnd)
{
	u32 cap = SSTP_BBR_NONE;

	if (b->state == SSTP_BBR_CRUISE || b->state == SSTP_BBR_PROBING_RTT)
		cap = sstp_bbr_headroom(b);
	else if (sstp_bbr_in_probe_bw(b))
		cap = b->inflight_longterm;
	cap = max(min(cap, b->inflight_shortterm), SSTP_BBR_MIN_CWND);
	return min(cwnd, cap);
}

/* Sections 5.6.4.2 and 5.6.4.6: SetCwnd() */
static void sstp_bbr_set_cwnd(struct sstp_ctrl *c, struct sstp_bbr *b,
			      const struct sstp_bbr_ack *a)
{
	u32 most, cwnd = min(c->cwnd + a->s->delivered, (u32)SSTP_WINDOW_MAX);

	if (b->timeout && a->round_start) {
		b->timeout = false;
		cwnd = max(cwnd, b->prior_cwnd);
	}
	most = sstp_bbr_quantize(b, (u64)sstp_bbr_bdp(b, sstp_bbr_bw(b),
						      sstp_bbr_gain[b->state].cwnd) +
				    max(b->extra_acked[0], b->extra_acked[1]));
	if (b->full_reached)
		c->cwnd = min(cwnd, most);
	else if (c->cwnd < most || a->s->total_delivered < SSTP_WINDOW_INIT)
		c->cwnd = cwnd;
	c->cwnd = max(c->cwnd, SSTP_BBR_MIN_CWND);
	if (b->state == SSTP_BBR_PROBING_RTT)
		c->cwnd = min(c->cwnd, sstp_bbr_probe_rtt_cwnd(b));
	c->cwnd = sstp_bbr_bound_cwnd(b, c->cwnd);
}

/* Section 5.2.3 */
static void sstp_bbr_on_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bbr_ack a = { .s = s, .ms = sstp_bbr_ms(s) };
	struct sstp_bbr *b = sstp_bbr_priv(c);

	if (s->rate_delivered)
		a.rate = min_t(u64, div_u64((u64)s->rate_delivered << SSTP_BBR_BW,
					    s->rate_interval), U32_MAX - 1);
	a.limited = s->app_limited || b->own_rounds;
	a.longterm_limited = s->cwnd_limited && c->cwnd >= b->inflight_longterm;
	if (s->undue)
		sstp_bbr_undue(b, s);
	if (s->lost) {
		sstp_bbr_note_loss(c, b, s);
		if (b->probe_sample && sstp_bbr_too_high(s))
			sstp_bbr_handle_too_high(c, b, &a);
	}
	sstp_bbr_update_signals(c, b, &a);
	sstp_bbr_update_extra(c, b, &a);
	sstp_bbr_check_full(b, &a);
	sstp_bbr_check_startup(b, &a);
	sstp_bbr_update_cycle(c, b, &a);
	sstp_bbr_check_model(b, &a);
	sstp_bbr_update_min_rtt(b, &a);
	sstp_bbr_check_probe_rtt(c, b, &a);
	sstp_bbr_advance_signals(b, &a);
	sstp_bbr_pace(c, b, sstp_bbr_gain[b->state].pacing);
	sstp_bbr_set_cwnd(c, b, &a);
}

/* Section 5.6.4.4: the window begins anew, and is restored once a packet was delivered that left
 * after the time-out.
 */
static void sstp_bbr_on_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_bbr *b = sstp_bbr_priv(c);

	if (!b->timeout && b->state != SSTP_BBR_PROBING_RTT)
		b->prior_cwnd = c->cwnd;
	b->timeout = true;
	c->cwnd = SSTP_BBR_MIN_CWND;
	sstp_bbr_start_round(b, s);
}

/* Section 5.4.1: HandleRestartFromIdle() */
static void sstp_bbr_on_pkt_sent(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				 const struct sstp_ctrl_packets *p)
{
	struct sstp_bbr *b = sstp_bbr_priv(c);

	if (s->in_flight != p->packets || p->again)
		return;
	b->idle_restart = true;
	b->extra_start = s->now;
	b->extra_delivered = 0;
	if (sstp_bbr_in_probe_bw(b))
		sstp_bbr_pace(c, b, SSTP_BBR_ONE);
	else if (b->state == SSTP_BBR_PROBING_RTT && b->probe_rtt_low &&
		 sstp_bbr_ms(s) - b->probe_rtt_since > SSTP_BBR_PROBE_TIME)
		sstp_bbr_exit_probe_rtt(c, b, s);
}

/* A rate in packets/s */
static s64 sstp_bbr_show(u32 bw)
{
	return bw == SSTP_BBR_NONE ? 0 : (u64)bw * USEC_PER_SEC >> SSTP_BBR_BW;
}

static s64 sstp_bbr_show_bound(u32 v)
{
	return v == SSTP_BBR_NONE ? 0 : v;
}

static void sstp_bbr_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_bbr *b = (const struct sstp_bbr *)c->priv;

	state[0] = b->state;
	state[1] = sstp_bbr_show(sstp_bbr_max_bw(b));
	state[2] = sstp_bbr_show_bound(b->min_rtt);
	state[3] = sstp_bbr_show(b->bw_shortterm);
	state[4] = sstp_bbr_show_bound(b->inflight_longterm);
	state[5] = sstp_bbr_show_bound(b->inflight_shortterm);
	state[6] = max(b->extra_acked[0], b->extra_acked[1]);
	state[7] = b->full_reached;
}

static struct sstp_ctrl_ops sstp_ctrl_bbr = {
	.init		= sstp_bbr_init,
	.on_ack		= sstp_bbr_on_ack,
	.on_timeout	= sstp_bbr_on_timeout,
	.on_pkt_sent	= sstp_bbr_on_pkt_sent,
	.name		= "bbr",
	.owner		= THIS_MODULE,
	.state		= { "state", "max_bw", "min_rtt", "bw_shortterm", "inflight_long",
			    "inflight_short", "extra_acked", "full_bw_reached" },
	.get_info	= sstp_bbr_get_info,
};
module_sstp_ctrl(sstp_ctrl_bbr);
MODULE_DESCRIPTION("SSTP controller: BBR version 3 (draft-ietf-ccwg-bbr)");
MODULE_LICENSE("GPL");
