// SPDX-License-Identifier: GPL-2.0
/*
 * "sobas": a window that lets a transfer use the path but not overflow its queue, after Prasad,
 * Jain and Dovrolis, "Socket buffer auto-sizing for high-performance data transfers" (Journal of
 * Grid Computing 1(4), 2003). With mode=1 it does as the paper says; the default differs as the
 * functions below say, mainly in that a constant rate alone is no sign of a path that is full, as
 * a congestion window that grows slowly looks like it, and that the window follows the path.
 *
 * The paper measures rates in windows of two round-trip times, here epochs. The core measures the
 * rest: see struct sstp_rbuf_sample. The window is apart from the limit of memory, which is always
 * a multiple of what comes in an epoch.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp.h>
#include "flat.h"

/* Parameters: 1 = the paper's rules; shares in thousandths; epochs */
enum sstp_sobas_param {
	SSTP_SOBAS_MODE,
	SSTP_SOBAS_FLAT,	/* rates that differ by less are equal */
	SSTP_SOBAS_DROP,	/* a rate that falls by more has dropped */
	SSTP_SOBAS_TARGET,	/* of the lowest round-trip time: queue of a path that is full */
	SSTP_SOBAS_HOLD,	/* epochs for which the policy stands aside */
};

static const u32 sstp_sobas_defaults[] = {
	[SSTP_SOBAS_FLAT] = 50,
	[SSTP_SOBAS_DROP] = 100,
	[SSTP_SOBAS_TARGET] = 100,
	[SSTP_SOBAS_HOLD] = 64,
};

enum sstp_sobas_state {
	SSTP_SOBAS_OPEN,	/* the capacity is not known: a window that grows with the data */
	SSTP_SOBAS_START,	/* a window by the capacity */
	SSTP_SOBAS_LINEAR,	/* mode=1: such a window was too small, and grows */
	SSTP_SOBAS_SET,		/* a window by the rate of a path that was full */
	SSTP_SOBAS_DRAIN,	/* half of it, to measure the lowest round-trip time */
	SSTP_SOBAS_ASIDE,	/* the path is congested: no window */
	SSTP_SOBAS_PROBE,	/* a larger window: does the rate rise with it? */
	SSTP_SOBAS_BACK,	/* a smaller one: does it fall? */
	SSTP_SOBAS_SHARE,	/* others yield to a larger window: one with a long queue */
};

#define SSTP_SOBAS_EPOCH	(100 * NSEC_PER_MSEC)	/* ns, before a round-trip time is known */
#define SSTP_SOBAS_EPOCH_MIN	(10 * NSEC_PER_MSEC)
#define SSTP_SOBAS_EPOCH_MAX	(2ULL * NSEC_PER_SEC)
#define SSTP_SOBAS_TARGET_MIN	1000U	/* us: less is noise */
#define SSTP_SOBAS_FLOOR	4U	/* packets: smallest window */
#define SSTP_SOBAS_FIRST	16384U	/* bytes: first window, which grows as slow start does */
#define SSTP_SOBAS_WINDOW_MAX	BIT(30)	/* bytes */
#define SSTP_SOBAS_SLOW		5U	/* equal rates that make a flat one, and */
#define SSTP_SOBAS_FAST		2U	/* the same while the transfer starts */
#define SSTP_SOBAS_LOSSY	2U	/* epochs with losses, by too large a window */
#define SSTP_SOBAS_MEAN		4U	/* rates whose mean counts then, as losses make them vary */
#define SSTP_SOBAS_EFFECT	3U	/* epochs until a smaller window has emptied the queue */
#define SSTP_SOBAS_TRIAL	6U	/* epochs with a window: two, and those of the mean */
#define SSTP_SOBAS_YIELD	25U	/* part of a rate by which it differs from another */
#define SSTP_SOBAS_WAIT		2U	/* epochs after which a window that is used up may grow */
#define SSTP_SOBAS_RAMP		8U	/* epochs after which it does though START is not over */
#define SSTP_SOBAS_STEP_MAX	4U	/* growth in an epoch, parts of 32 */
#define SSTP_SOBAS_RISKY	16U	/* times HOLD: epochs without a larger window */
#define SSTP_SOBAS_STALE	16U	/* epochs until the lowest round-trip time is doubted */
#define SSTP_SOBAS_LONGER	4U	/* the same if it has more than doubled */
#define SSTP_SOBAS_IDLE		8U	/* epochs in which nothing came or was read: a rest */
#define SSTP_SOBAS_MEMORY	2U	/* times the memory that an epoch's data needs */
#define SSTP_SOBAS_SCARCE	(SSTP_RBUF_ONE / 4 * 3)	/* share of memory in use */

/**
 * struct sstp_sobas - state of the policy for one buffer
 * @flat: rates of the last epochs
 * @window: S, bytes; 0 = none
 * @base: lowest round-trip time, us; 0 = none yet
 * @low: DRAIN: the same since the window was halved; else the shortest queue with a window that was
 *	cut, us
 * @queue: queue for which the window was last cut, us; 0 = that has been judged
 * @other: window before the one that is tried, bytes
 * @rate: a rate with that window, bytes/s: PROBE: the highest, BACK: the lowest
 * @sets: times that the window was set by the rate
 * @asides: times that the policy stood aside
 * @state: enum sstp_sobas_state
 * @step: growth of the window in the next epoch, parts of 32
 * @epochs: in this state, 65535 at most
 * @alone: epochs in OPEN, START and SET since a larger window was last tried, or since the begin
 * @lossy: epochs in a row in which packets that had waited were lost
 * @waits: epochs in a row in which all packets waited
 * @eighths: START: of the window by the capacity, up to 8
 * @asked: a larger window was tried
 * @risky: epochs left in which none is tried, as packets were lost meanwhile, or by a short queue:
 *	it had no room for that
 * @stale: epochs in a row with a round trip that is longer than the queue explains
 * @idle: epochs in a row in which nothing came or was read
 * @congested: mode=1: a request for a round-trip time was lost
 */
struct sstp_sobas {
	struct sstp_flat flat;
	u32	window;
	u32	base;
	u32	low;
	u32	queue;
	u32	other;
	u64	rate;
	u32	sets;
	u32	asides;
	u8	state;
	u8	step;
	u16	epochs;
	u16	alone;
	u8	lossy;
	u8	waits;
	u8	eighths;
	u16	risky;
	bool	asked;
	u8	stale;
	u8	idle;
	bool	congested;
};

static struct sstp_sobas *sstp_sobas(struct sstp_rbuf *b)
{
	return (void *)b->priv;
}

static u32 sstp_sobas_param(const struct sstp_rbuf *b, enum sstp_sobas_param i)
{
	return b->param[i] ?: sstp_sobas_defaults[i];
}

static void sstp_sobas_enter(struct sstp_sobas *u, enum sstp_sobas_state state)
{
	u->state = state;
	u->epochs = 0;
	u->step = 1;
	u->eighths = 8;
}

static void sstp_sobas_init(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	BUILD_BUG_ON(sizeof(struct sstp_sobas) > sizeof(b->priv));
	b->epoch = SSTP_SOBAS_EPOCH;
	b->exact = true;
	b->measure = true;
	b->widen = true;
	b->window = SSTP_SOBAS_FIRST;
	sstp_sobas(b)->window = SSTP_SOBAS_FIRST;
	sstp_sobas_enter(sstp_sobas(b), SSTP_SOBAS_OPEN);
}

/* The smallest window: nothing that the peer makes this end measure may close it. */
static u32 sstp_sobas_least(const struct sstp_rbuf_sample *s)
{
	return SSTP_SOBAS_FLOOR * clamp(s->packet, 512U, 65536U);
}

/* Bytes that @rate (bytes/s) carries in @us, as a window */
static u32 sstp_sobas_bytes(const struct sstp_rbuf_sample *s, u64 rate, u32 us)
{
	u64 bytes = mul_u64_u64_div_u64(rate, us, USEC_PER_SEC);

	return clamp_t(u64, bytes, sstp_sobas_least(s), SSTP_SOBAS_WINDOW_MAX);
}

/* The capacity is known: a window that the path holds without a queue */
static void sstp_sobas_start(struct sstp_sobas *u, const struct sstp_rbuf_sample *s, u32 us)
{
	sstp_sobas_enter(u, SSTP_SOBAS_START);
	sstp_flat_reset(&u->flat);
	u->window = sstp_sobas_bytes(s, s->capacity, us);
}

/* The window grows to that of the capacity by eighths, from half of it, as far as it is used and
 * the queue stays short: all of it at once would end slow start with half of it in the queue.
 */
static void sstp_sobas_ramp(struct sstp_sobas *u, const struct sstp_rbuf_sample *s, u32 target)
{
	u32 flight = sstp_sobas_bytes(s, s->rate, u->base);

	if (u->eighths == 8 || !s->capacity || u->waits || flight < u->window / 2 ||
	    s->queue_most > max(u->base / 4, 2 * target))
		return;
	u->eighths++;
	u->window = max(u->window, sstp_sobas_bytes(s, s->capacity / 8 * u->eighths, u->base));
}

static u32 sstp_sobas_add(u32 window, u64 bytes)
{
	return min_t(u64, window + bytes, SSTP_SOBAS_WINDOW_MAX);
}

/* The policy stands aside, as others keep the queue full: a small window would only lose. */
static void sstp_sobas_aside(struct sstp_sobas *u)
{
	sstp_sobas_enter(u, SSTP_SOBAS_ASIDE);
	u->queue = 0;
	u->asides++;
}

/* Set the window by @rate (bytes/s) in a round trip of @us. */
static void sstp_sobas_set(struct sstp_sobas *u, const struct sstp_rbuf_sample *s, u64 rate, u32 us)
{
	sstp_sobas_enter(u, SSTP_SOBAS_SET);
	u->window = sstp_sobas_bytes(s, rate, us);
	u->sets++;
}

/* An epoch by the paper's rules. What it leaves open: a path is congested if a report that this
 * end asked for did not come. The states of figure 8 in which two equal rates are enough are taken
 * to be those with a window by the capacity.
 */
static void sstp_sobas_paper(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	struct sstp_sobas *u = sstp_sobas(b);
	u32 share = sstp_sobas_param(b, SSTP_SOBAS_FLAT), n;
	bool drop;

	u->congested |= s->unanswered;
	if (u->state > SSTP_SOBAS_LINEAR)
		return;
	n = u->state == SSTP_SOBAS_OPEN ? SSTP_SOBAS_SLOW : SSTP_SOBAS_FAST;
	drop = sstp_flat_drop(&u->flat, share, sstp_sobas_param(b, SSTP_SOBAS_DROP));
	if (drop || sstp_flat_rate(&u->flat, n, share)) {
		if (u->congested) {
			sstp_sobas_aside(u);
			u->window = 0;
		} else {
			sstp_sobas_set(u, s, drop ? sstp_flat_mean(&u->flat, 1, SSTP_FLAT_CONST) :
				       sstp_flat_mean(&u->flat, 0, n), s->rtt);
		}
	} else if (u->state == SSTP_SOBAS_OPEN && s->capacity) {
		sstp_sobas_start(u, s, s->rtt);
	} else if (u->state != SSTP_SOBAS_OPEN && s->window_limited) {
		/* A packet in a round trip; an epoch has two. */
		u->state = SSTP_SOBAS_LINEAR;
		u->window = sstp_sobas_add(u->window, 2ULL * s->packet);
	}
}

/* Queue that a full path has, us: not less than that of a segment and a half, as the window moves
 * by whole ones, whose packets come in bursts.
 */
static u32 sstp_sobas_target(const struct sstp_rbuf *b, const struct sstp_rbuf_sample *s, u32 base)
{
	u64 share = div_u64((u64)base * sstp_sobas_param(b, SSTP_SOBAS_TARGET), SSTP_FLAT_ONE);
	u64 segment = mul_u64_u64_div_u64(s->segment / 2 * 3, USEC_PER_SEC, max(s->rate, 1ULL));

	return clamp_t(u64, max(share, min_t(u64, segment, base)), SSTP_SOBAS_TARGET_MIN,
		       USEC_PER_SEC);
}

/* Is the path full? What is in flight waits all the time, though the rate does not rise. A long
 * round trip alone is no sign of it: the path, or that of the reports, may have become longer.
 */
static bool sstp_sobas_full(const struct sstp_rbuf *b, const struct sstp_sobas *u)
{
	u64 before = sstp_flat_mean(&u->flat, 1, 1), rise;

	rise = div_u64(before * sstp_sobas_param(b, SSTP_SOBAS_FLAT), SSTP_FLAT_ONE);
	return u->waits >= SSTP_SOBAS_WAIT && before && u->flat.rate[0] <= before + rise;
}

/* Make the window smaller. If it was much larger, the next epochs show whose the queue is. */
static void sstp_sobas_cut(struct sstp_sobas *u, const struct sstp_rbuf_sample *s, u64 rate, u32 us)
{
	u32 window = sstp_sobas_bytes(s, rate, us);
	bool open = u->state == SSTP_SOBAS_OPEN;

	if (!open && window >= u->window)
		return;
	if (!open && window < u->window - u->window / 8)
		u->queue = max3(s->queue, s->lost_queue, 1U);
	sstp_sobas_enter(u, SSTP_SOBAS_SET);
	u->window = window;
	u->sets++;
}

/* Is the window used up, and little waits? */
static bool sstp_sobas_room(const struct sstp_sobas *u, const struct sstp_rbuf_sample *s,
			    u32 target)
{
	u32 wait = u->eighths == 8 ? SSTP_SOBAS_WAIT : SSTP_SOBAS_RAMP;

	return u->state != SSTP_SOBAS_OPEN && u->epochs >= wait && s->window_limited &&
	       s->queue < target / 2 + 1 && s->queue_most < 4ULL * target;
}

/* The window is used up, and little waits: the path may carry more, as when others have left it.
 * Growth becomes faster as long as no packet waits long, else slower: then others, or this end's
 * peer, send in bursts, and may only pause. It ends at what the capacity needs with one and a half
 * times the queue of a full path. The capacity may be known no more: a path may have become faster
 * since, and a small window has no trains that show it. Then the rate of two epochs exceeds it.
 */
static void sstp_sobas_grow(struct sstp_sobas *u, const struct sstp_rbuf_sample *s, u32 target)
{
	u32 window = sstp_sobas_add(u->window, (u64)u->window * u->step / 32 + s->packet), most;
	u64 rate = max(s->capacity, sstp_flat_least(&u->flat, SSTP_SOBAS_WAIT));

	most = s->capacity ? sstp_sobas_bytes(s, rate, u->base + target / 2 * 3) : U32_MAX;
	u->window = max(u->window, min(window, most));
	u->step = s->queue_most < 2ULL * target ?
		  min(2U * u->step, SSTP_SOBAS_STEP_MAX) : max(u->step / 2, 1);
}

/* The round trip is longer than the queue explains: the path has become longer, or the queue has
 * stood for so long that the lowest one-way delay contains it. Send little to find out.
 */
static void sstp_sobas_stale(struct sstp_sobas *u, const struct sstp_rbuf_sample *s)
{
	bool twice = s->rtt / 2 > u->base + s->queue_most / 2;

	if (u->stale < (twice ? SSTP_SOBAS_LONGER : SSTP_SOBAS_STALE))
		return;
	sstp_sobas_enter(u, SSTP_SOBAS_DRAIN);
	u->window = sstp_sobas_bytes(s, s->rate / 2, u->base);
	u->low = s->rtt;
	u->queue = 0;
}

/* The lowest round-trip time is known anew. If the path is much longer, the capacity counts again.
 */
static void sstp_sobas_drained(struct sstp_sobas *u, const struct sstp_rbuf_sample *s)
{
	bool longer = u->low / 2 > u->base;

	if (longer)
		u->risky = 0;
	u->base = u->low;
	if (longer && s->capacity)
		sstp_sobas_start(u, s, u->base);
	else
		sstp_sobas_set(u, s, sstp_flat_mean(&u->flat, SSTP_SOBAS_WAIT, 1), u->base);
}

/* A much smaller window was in force for some epochs. If the queue is long nevertheless, others
 * keep it so.
 */
static void sstp_sobas_judge(struct sstp_sobas *u, const struct sstp_rbuf_sample *s)
{
	if (u->epochs <= SSTP_SOBAS_EFFECT)
		u->low = U32_MAX;
	u->low = min(u->low, s->queue);
	if (u->epochs < SSTP_SOBAS_TRIAL)
		return;
	if (u->low >= max(u->queue / 4 * 3, u->base / 4))
		sstp_sobas_aside(u);
	u->queue = 0;
}

/* Begin to try a window that is larger (PROBE) or smaller (BACK) than that which gave @rate. */
static void sstp_sobas_try(struct sstp_sobas *u, enum sstp_sobas_state state, u32 window, u64 rate)
{
	sstp_sobas_enter(u, state);
	u->other = u->window;
	u->window = window;
	u->rate = rate;
}

static void sstp_sobas_probe(struct sstp_sobas *u)
{
	sstp_sobas_try(u, SSTP_SOBAS_PROBE, sstp_sobas_add(u->window, u->window / 4),
		       sstp_flat_most(&u->flat, SSTP_SOBAS_MEAN));
	u->asked = true;
	u->alone = 0;
}

/* Is @rate far below the capacity? Then others have a part of it. */
static bool sstp_sobas_shared(const struct sstp_rbuf_sample *s, u64 rate)
{
	return rate < div_u64(s->capacity, 10) * 9;
}

/* The queue has no room for a larger window. It may have later: others come and go, and the path
 * may become another.
 */
static void sstp_sobas_risk(struct sstp_rbuf *b)
{
	u32 epochs = SSTP_SOBAS_RISKY * sstp_sobas_param(b, SSTP_SOBAS_HOLD);

	sstp_sobas(b)->risky = min_t(u32, epochs, U16_MAX);
}

/* Is it time to try whether others yield to a larger window? Beside others that send in bursts it
 * would be lost, and would show nothing: the rate has to be constant.
 */
static bool sstp_sobas_wonders(const struct sstp_rbuf *b, const struct sstp_sobas *u,
			       const struct sstp_rbuf_sample *s, u32 target)
{
	return !u->risky && s->window_limited && u->state == SSTP_SOBAS_SET &&
	       s->queue > target / 2 && s->queue_most < u->base / 3 &&
	       sstp_flat_rate(&u->flat, SSTP_SOBAS_TRIAL,
			      2 * sstp_sobas_param(b, SSTP_SOBAS_FLAT)) &&
	       u->alone >= (u->asked ? sstp_sobas_param(b, SSTP_SOBAS_HOLD) : SSTP_SOBAS_TRIAL) &&
	       sstp_sobas_shared(s, sstp_flat_most(&u->flat, SSTP_SOBAS_MEAN));
}

/* Is @rate more than @other, beyond what is noise? */
static bool sstp_sobas_more(u64 rate, u64 other)
{
	return rate > other + div_u64(other, SSTP_SOBAS_YIELD);
}

/* An epoch with a window that is tried. If others yield to a larger window the rate changes with
 * it: all rates with the one window are higher than all with the other. Both trials must show that,
 * as the traffic of others varies.
 */
static void sstp_sobas_trial(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s, u32 target)
{
	struct sstp_sobas *u = sstp_sobas(b);
	u64 least = sstp_flat_least(&u->flat, SSTP_SOBAS_MEAN);
	u64 most = sstp_flat_most(&u->flat, SSTP_SOBAS_MEAN);
	bool probe = u->state == SSTP_SOBAS_PROBE, ends = u->lossy && probe;

	if (ends)
		sstp_sobas_risk(b);
	if (sstp_sobas_room(u, s, target)) {
		/* Others have left. */
		sstp_sobas_enter(u, SSTP_SOBAS_SET);
		return;
	}
	if (!ends && u->epochs < SSTP_SOBAS_TRIAL)
		return;
	if (!ends && probe && sstp_sobas_more(least, u->rate)) {
		sstp_sobas_try(u, SSTP_SOBAS_BACK, u->other, least);
	} else if (!probe && sstp_sobas_more(u->rate, most)) {
		u->window = u->other;
		sstp_sobas_enter(u, SSTP_SOBAS_SHARE);
	} else {
		u->window = min(u->window, u->other);
		sstp_sobas_enter(u, SSTP_SOBAS_SET);
	}
}

/* An epoch beside others that yield: what is left undone is theirs, so the queue may be long, but
 * not so long that a queue of a bandwidth-delay product overflows.
 */
static void sstp_sobas_share(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s, u32 target)
{
	struct sstp_sobas *u = sstp_sobas(b);
	u32 most = u->base / 8 * 7;

	if (u->lossy)
		sstp_sobas_aside(u);
	else if (u->epochs >= min(2 * sstp_sobas_param(b, SSTP_SOBAS_HOLD), U16_MAX) ||
		 (u->epochs >= SSTP_SOBAS_TRIAL && s->capacity && !sstp_sobas_shared(s, s->rate)))
		sstp_sobas_try(u, SSTP_SOBAS_BACK, sstp_sobas_bytes(s, s->rate, u->base + target),
			       sstp_flat_least(&u->flat, SSTP_SOBAS_MEAN));
	else if (s->queue_most > most)
		u->window = max(u->window - u->window / 16, sstp_sobas_least(s));
	else if (s->window_limited && s->queue_most < most / 2)
		u->window = sstp_sobas_add(u->window, u->window / 8);
	else if (s->window_limited && s->queue_most < most / 16 * 15)
		u->window = sstp_sobas_add(u->window, u->window / 16);
}

/* The rate that the path has for this end. Others come and go: by a rate lower than the highest of
 * late the window would be too small between their bursts. But if all packets wait long, it is too
 * large already.
 */
static u64 sstp_sobas_rate(const struct sstp_sobas *u, const struct sstp_rbuf_sample *s)
{
	u32 n = min_t(u32, u->flat.count, SSTP_SOBAS_MEAN);

	return s->queue < u->base / 4 ? sstp_flat_most(&u->flat, SSTP_FLAT_RATES) :
					sstp_flat_mean(&u->flat, 0, n);
}

/* Were packets lost though the sender used less than a quarter of its window? Then it was not the
 * window that filled the queue.
 */
static bool sstp_sobas_crowded(const struct sstp_sobas *u, const struct sstp_rbuf_sample *s)
{
	return u->lossy && mul_u64_u64_div_u64(s->rate, s->rtt, USEC_PER_SEC) < s->granted / 4;
}

/* An epoch with the window in force, in START or SET */
static void sstp_sobas_follow(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s, u32 target)
{
	struct sstp_sobas *u = sstp_sobas(b);
	u32 share = sstp_sobas_param(b, SSTP_SOBAS_FLAT);
	bool drop = sstp_flat_drop(&u->flat, share, sstp_sobas_param(b, SSTP_SOBAS_DROP));
	u32 us = u->base + target, n = min_t(u32, u->flat.count, SSTP_SOBAS_MEAN);

	u->alone = min(u->alone + 1U, U16_MAX);
	if (sstp_sobas_crowded(u, s)) {
		sstp_sobas_aside(u);
		u->window = 0;
	} else if (drop && u->lossy) {
		/* This end's packets overflowed the queue: keep to the rate before. */
		sstp_sobas_cut(u, s, sstp_flat_mean(&u->flat, 1, SSTP_FLAT_CONST), us);
	} else if (!u->queue && u->lossy == SSTP_SOBAS_LOSSY) {
		sstp_sobas_cut(u, s, sstp_flat_mean(&u->flat, 0, n), us);
	} else if (u->queue) {
		sstp_sobas_judge(u, s);
	} else if (sstp_sobas_wonders(b, u, s, target)) {
		sstp_sobas_probe(u);
	} else if (sstp_sobas_full(b, u)) {
		sstp_sobas_cut(u, s, sstp_sobas_rate(u, s), us);
	} else if (sstp_sobas_room(u, s, target)) {
		sstp_sobas_grow(u, s, target);
	}
	if (u->window && (u->state == SSTP_SOBAS_SET || u->state == SSTP_SOBAS_START))
		sstp_sobas_stale(u, s);
}

/* No window, but it opens step by step: a sender in slow start would overflow the queue at once. */
static void sstp_sobas_apart(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s, u32 target)
{
	struct sstp_sobas *u = sstp_sobas(b);

	if (u->lossy)
		u->window = 0;
	else if (u->window && s->window_limited)
		u->window = sstp_sobas_add(u->window, u->window / 8);
	if (u->epochs >= sstp_sobas_param(b, SSTP_SOBAS_HOLD) && s->queue < target) {
		sstp_sobas_enter(u, SSTP_SOBAS_OPEN);
		u->window = 0;
	}
}

/* An epoch by the rules of the default */
static void sstp_sobas_epoch(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	struct sstp_sobas *u = sstp_sobas(b);
	u32 target;

	/* A path that is so much shorter is another one. */
	if (s->rtt < u->base / 2)
		u->risky = 0;
	else if (u->risky)
		u->risky--;
	u->base = min(u->base ?: U32_MAX, s->rtt);
	target = sstp_sobas_target(b, s, u->base);
	u->lossy = s->lost && s->lost_queue >= target ? min(u->lossy + 1U, SSTP_SOBAS_LOSSY) : 0;
	if (u->lossy && s->lost_queue < u->base / 2)
		sstp_sobas_risk(b);
	/* A round trip that is longer than the queue explains: that may be the path's, too. */
	u->stale = s->rtt - u->base >= (u64)s->queue_most + target ?
		   min(u->stale + 1U, SSTP_SOBAS_STALE) : 0;
	u->waits = !s->app_limited && !u->stale && s->queue >= target ?
		   min(u->waits + 1U, SSTP_SOBAS_WAIT) : 0;
	switch (u->state) {
	case SSTP_SOBAS_OPEN:
		if (s->capacity) {
			sstp_sobas_start(u, s, u->base);
			/* A sender that has lost packets is not in slow start any more. */
			if (!u->asides) {
				u->window = sstp_sobas_bytes(s, s->capacity / 2, u->base);
				u->eighths = 4;
			}
			break;
		}
		sstp_sobas_follow(b, s, target);
		break;
	case SSTP_SOBAS_START:
		sstp_sobas_ramp(u, s, target);
		fallthrough;
	case SSTP_SOBAS_SET:
		sstp_sobas_follow(b, s, target);
		break;
	case SSTP_SOBAS_DRAIN:
		u->low = min(u->low, s->rtt);
		if (u->epochs < SSTP_SOBAS_WAIT)
			break;
		sstp_sobas_drained(u, s);
		break;
	case SSTP_SOBAS_PROBE:
	case SSTP_SOBAS_BACK:
		sstp_sobas_trial(b, s, target);
		break;
	case SSTP_SOBAS_SHARE:
		sstp_sobas_share(b, s, target);
		break;
	case SSTP_SOBAS_ASIDE:
		sstp_sobas_apart(b, s, target);
		break;
	}
}

/* Is this a state of the other mode, which has changed? With this one it would not end. */
static bool sstp_sobas_foreign(const struct sstp_sobas *u, bool paper)
{
	if (!paper)
		return u->state == SSTP_SOBAS_LINEAR;
	return u->state == SSTP_SOBAS_DRAIN || u->state >= SSTP_SOBAS_PROBE ||
	       (u->state == SSTP_SOBAS_ASIDE && u->window);
}

/* Memory of the buffer: room for more than the window */
static u32 sstp_sobas_memory(const struct sstp_rbuf_sample *s)
{
	u64 need = SSTP_SOBAS_MEMORY * max_t(u64, s->arrived, s->path);
	u64 most = max_t(u64, s->available / 2, s->limit);

	if (s->used > SSTP_SOBAS_SCARCE)
		return min(s->limit, s->first);
	if (s->lacked || s->drained)
		need = max(need, 2ULL * s->limit);
	return min3(max_t(u64, need, s->limit), most, (u64)s->ceiling);
}

static void sstp_sobas_update(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	struct sstp_sobas *u = sstp_sobas(b);
	bool paper = b->param[SSTP_SOBAS_MODE];

	b->measure = true;
	u->idle = s->arrived || s->served || s->lacked ? 0 : min(u->idle + 1U, SSTP_SOBAS_IDLE);
	b->rest = u->idle == SSTP_SOBAS_IDLE;
	b->limit = b->rest ? min(s->limit, s->first) : sstp_sobas_memory(s);
	if (!s->rtt || !s->rate)
		return;
	b->epoch = clamp(2ULL * s->rtt * NSEC_PER_USEC, (u64)SSTP_SOBAS_EPOCH_MIN,
			 SSTP_SOBAS_EPOCH_MAX);
	sstp_flat_add(&u->flat, s->rate);
	if (u->epochs < U16_MAX)
		u->epochs++;
	if (sstp_sobas_foreign(u, paper))
		sstp_sobas_enter(u, SSTP_SOBAS_START);
	if (paper)
		sstp_sobas_paper(b, s);
	else
		sstp_sobas_epoch(b, s);
	b->window = u->window;
	b->widen = u->state == SSTP_SOBAS_OPEN;
	b->small = !paper;
}

static void sstp_sobas_get_info(const struct sstp_rbuf *b, s64 *state)
{
	const struct sstp_sobas *u = (const void *)b->priv;

	state[0] = u->state;
	state[1] = u->base;
	state[2] = u->sets;
	state[3] = u->asides;
}

static struct sstp_rbuf_ops sstp_rbuf_sobas = {
	.init	= sstp_sobas_init,
	.update	= sstp_sobas_update,
	.name	= "sobas",
	.owner	= THIS_MODULE,
	.params	= {
		[SSTP_SOBAS_MODE] = { "mode", 1, 1 },
		[SSTP_SOBAS_FLAT] = { "flat", 1, SSTP_FLAT_ONE },
		[SSTP_SOBAS_DROP] = { "drop", 1, SSTP_FLAT_ONE },
		[SSTP_SOBAS_TARGET] = { "target", 1, SSTP_FLAT_ONE },
		[SSTP_SOBAS_HOLD] = { "hold", 1, U16_MAX },
	},
	.state	= { "phase", "base", "sets", "asides" },
	.get_info = sstp_sobas_get_info,
};

module_sstp_rbuf(sstp_rbuf_sobas);
MODULE_DESCRIPTION("SSTP receive buffer policy: SOBAS");
MODULE_LICENSE("GPL");
