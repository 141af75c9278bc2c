// SPDX-License-Identifier: GPL-2.0
/*
 * "paptc": after Performance-Adaptive Prediction-Based Transport Control (Lu, Wu, Rao and Wang,
 * "Performance-Adaptive Prediction-Based Transport Control over Dedicated Links"), for receivers
 * whose program is the bottleneck: the sender sends as fast as the program will read, before its
 * buffer is full. Numbers in parentheses are the paper's.
 *
 * Receiving half: it measures in epochs the rate at which the program reads (meter.h) and forecasts
 * it (7, ar.h) for the time when packets come that leave after its report. It reports that
 * forecast, mu, and the least number of bytes that waited for the program, q, in each epoch. A
 * program that reads in bursts, as one with a quota of CPU time, leaves a queue that is no reason
 * to send less: then mu is the mean of the last two bursts, 200 ms at least and a second at most, q
 * the least in them, and T longer by that.
 *
 * Sending half, with T = round-trip time + epoch, and q* the bytes that shall wait:
 *
 *	r = mu + (q* - q')/T
 *
 * where q' is q and what is on its way beyond that which the program reads in a round trip: it
 * will wait before r has any effect, and r would swing if q alone counted. It is 5/4 mu at least
 * where nothing waited, as the program may be faster than what it got.
 * With law 1 it has the paper's equations, where x is the share of retransmissions, r_S the rate
 * sent, and mu_R the rate at which the program read:
 *
 *	mu* = sqrt(r_S (1 - x) mu_R)			(11), beta = 1/2
 *	r_S(k + 1) = r_S(k) - rho_k (mu_R - mu*)	(12), rho_k = b/k^gamma, or constant
 *
 * They have no equilibrium: where no packet is lost, mu_R is r_S or the window stops the sender,
 * so mu_R = mu*, and the rate remains whatever it was; and a step that decreases cannot follow a
 * program that becomes slower.
 *
 * The paper is for dedicated links. Here the rate only bounds the default controller (hybrid,
 * ctrl_hybrid.c), which answers losses and marks of the path as on any path: what leaves is the
 * lower of both rates. A contract is no reason to do without: a program may declare any. The
 * connection begins in slow start, within the contract if there is one. The rate applies from the
 * first report on in which data waited or found no room, or when slow start has ended. Without
 * reports of the other half for a time hybrid alone decides.
 */
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <net/sstp_window.h>
#include "ar.h"
#include "compat.h"
#include "ctrl.h"
#include "meter.h"

#define SSTP_PAPTC_RATE_MAX	SSTP_AR_MAX	/* kbit/s */
#define SSTP_PAPTC_HEADERS	66U	/* bytes of a frame that are no payload */
#define SSTP_PAPTC_SIZE_MIN	64U	/* bytes of payload */
#define SSTP_PAPTC_SIZE_MAX	65536U
#define SSTP_PAPTC_SLACK	USEC_PER_MSEC	/* us: T is longer than a round trip by that */
#define SSTP_PAPTC_EPOCHS	USEC_PER_SEC	/* us: and not by much more */
#define SSTP_PAPTC_PART		4	/* of T: data that shall wait, and raise of the rate */
#define SSTP_PAPTC_WAIT_MAX	(5 * USEC_PER_MSEC)	/* us: more data than that need not wait */
#define SSTP_PAPTC_QUEUE_MIN	16U	/* packets: fewer need not wait either */
#define SSTP_PAPTC_COUNT_MAX	BIT(21)	/* packets: times 1024 they fit 32 bits */
#define SSTP_PAPTC_MANY		16U	/* packets that show what is in a packet */
#define SSTP_PAPTC_LEAST	2U	/* packets in T at least */
#define SSTP_PAPTC_PATIENCE	8	/* T without a report, and at least: */
#define SSTP_PAPTC_PATIENCE_MIN	(200 * NSEC_PER_MSEC)
#define SSTP_PAPTC_SHIFT	24	/* fractional bits of steps */
#define SSTP_PAPTC_GAMMA	700U	/* 1/1000, (12) */
#define SSTP_PAPTC_GAIN		1000U	/* b, 1/1000 */
#define SSTP_PAPTC_PAST		NSEC_PER_SEC	/* ns in which bursts are looked for */
#define SSTP_PAPTC_PAST_MIN	(200 * NSEC_PER_MSEC)	/* ns that count at least */
#define SSTP_PAPTC_EPOCHS_MAX	100U	/* epochs in SSTP_PAPTC_PAST, at most */
#define SSTP_PAPTC_BURSTS	2	/* of the longest times between bursts: what counts */
#define SSTP_PAPTC_BURST	4	/* a burst is so many times as fast as the times between */
#define SSTP_PAPTC_BACK_OFF	5	/* doublings of the wait for a resting program */

enum {
	SSTP_PAPTC_LAW,		/* 1: (11) and (12) */
	SSTP_PAPTC_STEP,	/* constant step, 1/1000; 0 = a decreasing one */
	SSTP_PAPTC_STEP_GAMMA,	/* 1/1000 */
	SSTP_PAPTC_STEP_GAIN,	/* b, 1/1000 */
	SSTP_PAPTC_WAIT,	/* us: data that shall wait, at the rate of the forecast */
};

/**
 * struct sstp_paptc - state of the sending half; rates are in kbit/s
 * @hybrid: the controller that answers the path; NULL: no memory, so the window stays as small as
 *	at first
 * @rate: r; 0 = none
 * @forecast: mu
 * @horizon: T, us
 * @round: the least T, us: a round trip, with little more
 * @queue: q, bytes
 * @ahead: q', bytes
 * @wanted: q*, bytes
 * @refused: packets that found no room at the receiver
 * @steps: k
 * @sent: r_S
 * @again: x, 1/1024
 * @payload: bytes of a packet
 * @packets: that left since the last report of the other half
 * @retrans: retransmissions among them
 * @bytes: of payload in them
 * @told_at: when that report came, ns; 0 = none came
 * @following: the rate applies
 */
struct sstp_paptc {
	struct sstp_ctrl *hybrid;
	u32	rate;
	u32	forecast;
	u32	horizon;
	u32	round;
	u32	queue;
	u32	ahead;
	u32	wanted;
	u32	refused;
	u32	steps;
	u32	sent;
	u32	again;
	u32	payload;
	u32	packets;
	u32	retrans;
	u32	bytes;
	u64	told_at;
	bool	following;
};

/**
 * struct sstp_paptc_past - an epoch
 * @rate: at which the program could read
 * @lowest: least bytes that waited for it
 */
struct sstp_paptc_past {
	u32	rate;
	u32	lowest;
};

/**
 * struct sstp_paptc_half - state of the receiving half
 * @ar: forecast of the rates of epochs
 * @meter: measurement of these
 * @past: the last epochs, by their number
 * @epochs: number of the next epoch, and how many there were
 * @length: of an epoch, ns
 * @received: packets that had come when the epoch began
 * @quiet: epochs in a row in which nothing came and the program read nothing
 */
struct sstp_paptc_half {
	struct sstp_ar ar;
	struct sstp_meter meter;
	struct sstp_paptc_past past[SSTP_PAPTC_EPOCHS_MAX];
	u32	epochs;
	u32	length;
	u32	received;
	u32	quiet;
};

struct sstp_paptc_recv {
	struct sstp_paptc_half *half;	/* NULL: no memory */
};

static struct sstp_paptc *sstp_paptc_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_paptc);
}

/* The sending half: arithmetic */

/* kbit/s at which @bytes leave in @us */
static u32 sstp_paptc_rate(u64 bytes, u32 us)
{
	return min_t(u64, div_u64(min_t(u64, bytes, BIT_ULL(40)) * 8 * MSEC_PER_SEC, max(us, 1U)),
		     SSTP_PAPTC_RATE_MAX);
}

/* Bytes that leave at @rate in @us */
static u64 sstp_paptc_bytes(u32 rate, u32 us)
{
	return div_u64((u64)rate * us, 8 * MSEC_PER_SEC);
}

/* q* with a forecast of @rate: data of a part of T, or of @us if that is not 0 */
static u32 sstp_paptc_wanted(u32 rate, u32 horizon, u32 payload, u32 us)
{
	if (!us)
		us = min_t(u32, horizon / SSTP_PAPTC_PART, SSTP_PAPTC_WAIT_MAX);
	return clamp_t(u64, sstp_paptc_bytes(rate, us), SSTP_PAPTC_QUEUE_MIN * payload, S32_MAX);
}

/* q', with @flight bytes on their way and a round-trip time of @rtt (us) */
static u32 sstp_paptc_ahead(const struct sstp_paptc *p, u64 flight, u32 rtt)
{
	s64 more = min_t(u64, flight, S32_MAX) - min_t(u64, sstp_paptc_bytes(p->forecast, rtt),
						       S32_MAX);

	return clamp_t(s64, p->queue + more, 0, S32_MAX);
}

/* r = mu + (q* - q')/T. Where nothing waited, it rises by a part of mu at least. Where packets
 * found no room, the buffer is too small for q*: only a half of q shall wait.
 */
static u32 sstp_paptc_law(const struct sstp_paptc *p)
{
	s64 wanted = p->refused ? min(p->wanted, p->queue / 2) : p->wanted, rate;
	s64 least = sstp_paptc_rate(SSTP_PAPTC_LEAST * p->payload, p->horizon) ?: 1;

	rate = div_s64((wanted - p->ahead) * (s64)(8 * MSEC_PER_SEC), max(p->horizon, 1U));
	if (!p->queue && !p->ahead && !p->refused)
		rate = max_t(s64, rate, p->forecast / SSTP_PAPTC_PART);
	return clamp_t(s64, p->forecast + rate, least, SSTP_PAPTC_RATE_MAX);
}

/* (11): mu* */
static u32 sstp_paptc_attainable(u32 sent, u32 again, u32 read)
{
	return int_sqrt64(((u64)sent * (1024 - min(again, 1024U)) >> 10) * read);
}

/* log2(@v), 16 fractional bits; @v is at least 1. */
static u32 sstp_paptc_log2(u32 v)
{
	u32 log = ilog2(v), i;
	u64 x = (u64)v << (31 - log);	/* 31 fractional bits, in [1, 2) */

	for (i = 0; i < 16; i++) {
		x = x * x >> 31;
		log = log << 1 | (x >> 32);
		x >>= x >> 32;
	}
	return log;
}

/* 2^-@y with SSTP_PAPTC_SHIFT fractional bits; @y has 16. */
static u32 sstp_paptc_exp2(u32 y)
{
	/* 2^-(1/2), 2^-(1/4) and so on, 31 fractional bits */
	static const u32 root[16] = {
		1518500250, 1805811301, 1969251188, 2056437387, 2101467502, 2124350982,
		2135885998, 2141676973, 2144578345, 2146030505, 2146756953, 2147120270,
		2147301951, 2147392798, 2147438222, 2147460935,
	};
	u64 x = BIT_ULL(31);
	u32 i;

	for (i = 0; i < 16; i++)
		if (y & BIT(15 - i))
			x = x * root[i] >> 31;
	return x >> (31 - SSTP_PAPTC_SHIFT) >> min(y >> 16, 31U);
}

/* (12): rho_k = b/k^gamma, or a constant; SSTP_PAPTC_SHIFT fractional bits */
static u64 sstp_paptc_step(const struct sstp_ctrl *c, u32 k)
{
	u32 gamma = c->param[SSTP_PAPTC_STEP_GAMMA] ?: SSTP_PAPTC_GAMMA;
	u32 gain = c->param[SSTP_PAPTC_STEP_GAIN] ?: SSTP_PAPTC_GAIN;
	u64 power;

	if (c->param[SSTP_PAPTC_STEP])
		return div_u64((u64)c->param[SSTP_PAPTC_STEP] << SSTP_PAPTC_SHIFT, 1000);
	power = sstp_paptc_exp2(div_u64((u64)sstp_paptc_log2(max(k, 1U)) * gamma, 1000));
	return div_u64(power * gain, 1000);
}

/* (12) with a step of @rho: the next rate. @read: mu_R */
static u32 sstp_paptc_paper(const struct sstp_paptc *p, u32 read, u64 rho)
{
	s64 less = (s64)read - sstp_paptc_attainable(p->sent, p->again, read);
	s64 least = sstp_paptc_rate(SSTP_PAPTC_LEAST * p->payload, p->horizon) ?: 1;

	return clamp_t(s64, p->sent - ((less * (s64)rho) >> SSTP_PAPTC_SHIFT), least,
		       SSTP_PAPTC_RATE_MAX);
}

/* The sending half */

/* Packets leave. */
static void sstp_paptc_sent(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			    const struct sstp_ctrl_packets *sent)
{
	struct sstp_paptc *p = sstp_paptc_priv(c);

	p->packets = min_t(u64, (u64)p->packets + sent->packets, SSTP_PAPTC_COUNT_MAX);
	p->bytes = min_t(u64, (u64)p->bytes + sent->bytes, U32_MAX);
	if (sent->again)
		p->retrans = min(p->retrans + sent->packets, p->packets);
}

/* Evaluate what left since the last report of the other half. */
static void sstp_paptc_count(struct sstp_paptc *p, u64 now)
{
	u64 us = div_u64(now - p->told_at, NSEC_PER_USEC);

	if (p->packets >= SSTP_PAPTC_MANY)
		p->payload = clamp(p->bytes / p->packets, SSTP_PAPTC_SIZE_MIN,
				   SSTP_PAPTC_SIZE_MAX);
	if (p->packets && p->told_at) {
		p->again = p->retrans * 1024 / p->packets;
		p->sent = sstp_paptc_rate(p->bytes, min_t(u64, us, U32_MAX));
	}
	p->packets = 0;
	p->retrans = 0;
	p->bytes = 0;
}

static bool sstp_paptc_slow_start(const struct sstp_paptc *p)
{
	const struct sstp_ctrl *c = p->hybrid;

	return c && sstp_window_in_slow_start(c, (const struct sstp_window *)c->priv);
}

/* The other half reported. */
static void sstp_paptc_feedback(struct sstp_ctrl *c, struct sstp_paptc *p,
				const struct sstp_ctrl_sample *s)
{
	const struct sstp_feedback *f = &s->feedback;
	u64 us = f->horizon * (u64)USEC_PER_MSEC;
	u32 read;

	sstp_paptc_count(p, s->now);
	p->told_at = s->now;
	p->forecast = f->forecast;
	p->round = s->srtt + SSTP_PAPTC_SLACK;
	p->horizon = clamp_t(u64, us, p->round, 2ULL * p->round + SSTP_PAPTC_EPOCHS);
	p->queue = f->queue;
	p->refused = f->refused;
	p->ahead = sstp_paptc_ahead(p, (u64)s->in_flight * p->payload, s->srtt);
	p->wanted = sstp_paptc_wanted(f->forecast, p->horizon, p->payload,
				      c->param[SSTP_PAPTC_WAIT]);
	if (f->queue >= p->wanted || f->refused || !sstp_paptc_slow_start(p))
		p->following = true;
	if (!p->following)
		return;
	if (!c->param[SSTP_PAPTC_LAW]) {
		p->rate = sstp_paptc_law(p);
		return;
	}
	if (!p->sent)
		return;
	read = min_t(u64, div_u64(s->service_rate, 1000), SSTP_PAPTC_RATE_MAX);
	p->steps = min_t(u32, p->steps + 1, S32_MAX);
	p->rate = sstp_paptc_paper(p, read, sstp_paptc_step(c, p->steps));
}

/* ns without a report of the other half after which the rate is forgotten. Reports come each epoch,
 * so what T is longer by for bursts does not count.
 */
static u64 sstp_paptc_patience(const struct sstp_paptc *p)
{
	u64 us = min_t(u64, p->horizon, 2ULL * p->round);

	return max(SSTP_PAPTC_PATIENCE * us * NSEC_PER_USEC, (u64)SSTP_PAPTC_PATIENCE_MIN);
}

/* Pace by the slower of hybrid and the rate. */
static void sstp_paptc_pace(struct sstp_ctrl *c, const struct sstp_paptc *p)
{
	u64 period = p->rate ? div_u64((u64)p->payload * 8 * USEC_PER_SEC, p->rate) : 0;

	if (p->hybrid) {
		c->cwnd = p->hybrid->cwnd;
		period = max(period, p->hybrid->period);
	} else {
		c->cwnd = SSTP_WINDOW_INIT;
	}
	c->period = period;
}

/* Pass a callback on to hybrid; the core may have changed the window. */
static void sstp_paptc_hybrid(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			      void (*call)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s))
{
	struct sstp_paptc *p = sstp_paptc_priv(c);

	if (p->hybrid) {
		p->hybrid->cwnd = c->cwnd;
		call(p->hybrid, s);
	}
}

static void sstp_paptc_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_paptc *p = sstp_paptc_priv(c);

	p->hybrid = kzalloc_obj(*p->hybrid, GFP_ATOMIC | __GFP_NOWARN);
	sstp_paptc_hybrid(c, s, sstp_ctrl_hybrid.init);
	sstp_paptc_pace(c, p);
	p->payload = clamp(s->packet_size, SSTP_PAPTC_HEADERS + SSTP_PAPTC_SIZE_MIN,
			   SSTP_PAPTC_SIZE_MAX) - SSTP_PAPTC_HEADERS;
	p->following = s->in_flight;
}

static void sstp_paptc_release(struct sstp_ctrl *c)
{
	kfree(sstp_paptc_priv(c)->hybrid);
}

static void sstp_paptc_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_paptc *p = sstp_paptc_priv(c);

	sstp_paptc_hybrid(c, s, sstp_ctrl_hybrid.on_ack);
	if (s->feedback.valid)
		sstp_paptc_feedback(c, p, s);
	else if (p->rate && s->now - p->told_at > sstp_paptc_patience(p))
		p->rate = 0;
	sstp_paptc_pace(c, p);
}

static void sstp_paptc_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_paptc_hybrid(c, s, sstp_ctrl_hybrid.on_loss);
	sstp_paptc_pace(c, sstp_paptc_priv(c));
}

static void sstp_paptc_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_paptc *p = sstp_paptc_priv(c);

	p->rate = 0;
	sstp_paptc_hybrid(c, s, sstp_ctrl_hybrid.on_timeout);
	sstp_paptc_pace(c, p);
}

static void sstp_paptc_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_paptc *p = (const struct sstp_paptc *)c->priv;

	state[0] = p->rate;
	state[1] = p->forecast;
	state[2] = p->horizon;
	state[3] = p->queue;
	state[4] = p->wanted;
	state[5] = p->refused;
	state[6] = p->steps;
	state[7] = p->hybrid ? ((const struct sstp_window *)p->hybrid->priv)->ssthresh : 0;
}

/* The receiving half */

static struct sstp_paptc_half *sstp_paptc_half(struct sstp_recv *r)
{
	return sstp_ctrl_priv(r, struct sstp_paptc_recv)->half;
}

static void sstp_paptc_counts(const struct sstp_recv_sample *s, struct sstp_meter_counts *c)
{
	c->served = s->served;
	c->unread = s->unread;
	c->refused = s->refused;
}

static void sstp_paptc_recv_init(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	struct sstp_paptc_half *h = kzalloc_obj(*h, GFP_ATOMIC | __GFP_NOWARN);

	sstp_ctrl_priv(r, struct sstp_paptc_recv)->half = h;
	if (h)
		h->received = s->received;
}

static void sstp_paptc_recv_release(struct sstp_recv *r)
{
	kfree(sstp_paptc_half(r));
}

/* Let epochs have the length that suits the round-trip time @rtt (us), if theirs is twice that or a
 * quarter: the first ones may have begun when the round-trip time was a guess. Rates of epochs of
 * another length are of no use for a forecast, so a round-trip time that swings changes nothing.
 */
static void sstp_paptc_length(struct sstp_paptc_half *h, u32 rtt)
{
	u32 length = sstp_meter_length(rtt);

	if (length > h->length / 2 && length / 4 < h->length)
		return;
	h->length = length;
	h->epochs = 0;
	memset(&h->ar, 0, sizeof(h->ar));
}

/* Epochs begin with the first packet, and with the next one after a time in which nothing came
 * and nothing waited.
 */
static void sstp_paptc_recv_packets(struct sstp_recv *r, const struct sstp_recv_sample *s,
				    const struct sstp_ctrl_packets *p)
{
	struct sstp_paptc_half *h = sstp_paptc_half(r);
	struct sstp_meter_counts counts;
	u32 rate;

	if (!h || (r->timer && !h->quiet))
		return;
	sstp_paptc_length(h, s->srtt);
	h->quiet = 0;
	rate = h->meter.rate;
	sstp_paptc_counts(s, &counts);
	sstp_meter_start(&h->meter, &counts, s->now);
	h->meter.rate = rate;
	r->timer = s->now + h->length;
}

/* Epoch @ago before the last one */
static const struct sstp_paptc_past *sstp_paptc_past(const struct sstp_paptc_half *h, u32 ago)
{
	return &h->past[(h->epochs - 1 - ago) % SSTP_PAPTC_EPOCHS_MAX];
}

/* Did the program read in bursts in the last @count epochs? It did if it was fast, and slow, and
 * fast again, or the other way round: a single change is to be followed. Returns the epochs from
 * one end of a burst to the next one, or to now, the most there are; 0 = no bursts.
 */
static u32 sstp_paptc_bursts(const struct sstp_paptc_half *h, u32 count)
{
	u32 most = 0, changes = 0, longest = 0, begun = 0, i;
	bool fast = false, was;

	for (i = 0; i < count; i++)
		most = max(most, sstp_paptc_past(h, i)->rate);
	for (i = 0; i < count; i++) {
		u32 rate = sstp_paptc_past(h, count - 1 - i)->rate;

		was = fast;
		if (rate <= most / SSTP_PAPTC_BURST)
			fast = false;
		else if (rate >= most / 2)
			fast = true;
		if (!i || fast == was)
			continue;
		changes++;
		if (fast)
			continue;
		longest = max(longest, i - begun);
		begun = i;
	}
	return changes < 2 ? 0 : max(longest, count - begun);
}

/* If the program read in bursts, let @f have the mean rate of the last ones, the least queue in
 * them, and their time.
 */
static void sstp_paptc_smooth(const struct sstp_paptc_half *h, struct sstp_feedback *f)
{
	u32 past = clamp_t(u32, SSTP_PAPTC_PAST / h->length, 1, SSTP_PAPTC_EPOCHS_MAX);
	u32 least = max_t(u32, SSTP_PAPTC_PAST_MIN / h->length, 1), lowest = U32_MAX, count, i;
	u64 sum = 0;

	past = min(past, h->epochs);
	count = past < least ? 0 : sstp_paptc_bursts(h, past);
	if (!count)
		return;
	count = clamp(SSTP_PAPTC_BURSTS * count, least, past);
	for (i = 0; i < count; i++) {
		sum += sstp_paptc_past(h, i)->rate;
		lowest = min(lowest, sstp_paptc_past(h, i)->lowest);
	}
	f->forecast = div_u64(sum, count);
	f->horizon += div_u64((u64)count * h->length, NSEC_PER_MSEC);
	f->queue = lowest;
}

/* The rate that is to be expected after @steps epochs. Before the first one in which data waited
 * all the time the rate is that of a sender that begins, and the program keeps up: no need to know
 * more.
 */
static u32 sstp_paptc_expect(struct sstp_paptc_half *h, const struct sstp_meter_epoch *e,
			     u32 lowest, u32 steps)
{
	u32 rate = e->rate, i;

	if (!h->epochs && !lowest)
		return rate;
	for (i = 0; i < e->samples; i++)
		rate = sstp_ar_add(&h->ar, e->rate, steps);
	h->past[h->epochs++ % SSTP_PAPTC_EPOCHS_MAX] = (struct sstp_paptc_past){
		.rate = e->rate, .lowest = lowest,
	};
	return rate;
}

/* Report an epoch: @e, and the forecast for the time when packets come that its report lets go. */
static void sstp_paptc_report(struct sstp_recv *r, struct sstp_paptc_half *h,
			      const struct sstp_recv_sample *s, const struct sstp_meter_epoch *e)
{
	u64 rtt = s->srtt * (u64)NSEC_PER_USEC;
	u32 steps = min_t(u64, div_u64(rtt, h->length) + 1, SSTP_AR_STEPS);

	r->feedback.forecast = sstp_paptc_expect(h, e, s->lowest, steps);
	r->feedback.horizon = div_u64(rtt + h->length + NSEC_PER_MSEC - 1, NSEC_PER_MSEC);
	r->feedback.queue = s->lowest;
	r->feedback.refused = e->refused;
	sstp_paptc_smooth(h, &r->feedback);
	r->feedback.valid = true;
}

static void sstp_paptc_recv_timer(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	struct sstp_paptc_half *h = sstp_paptc_half(r);
	struct sstp_meter_counts counts;
	struct sstp_meter_epoch e;
	bool moved;

	if (!h)
		return;
	moved = h->received != s->received || h->meter.was.served != s->served;
	sstp_paptc_counts(s, &counts);
	sstp_meter_end(&h->meter, &counts, s->now, h->length, &e);
	h->received = s->received;
	h->quiet = moved ? 0 : min_t(u32, h->quiet + 1, SSTP_PAPTC_BACK_OFF);
	if (h->quiet <= 1)
		sstp_paptc_report(r, h, s, &e);
	sstp_paptc_length(h, s->srtt);
	/* A program that rests while data waits is looked at less and less often. */
	if (moved || s->lowest)
		r->timer = s->now + ((u64)h->length << h->quiet);
}

static struct sstp_ctrl_ops sstp_ctrl_paptc = {
	.init		= sstp_paptc_init,
	.release	= sstp_paptc_release,
	.on_ack		= sstp_paptc_ack,
	.on_loss	= sstp_paptc_loss,
	.on_timeout	= sstp_paptc_timeout,
	.on_pkt_sent	= sstp_paptc_sent,
	.recv_init	= sstp_paptc_recv_init,
	.recv_release	= sstp_paptc_recv_release,
	.recv_packets	= sstp_paptc_recv_packets,
	.recv_timer	= sstp_paptc_recv_timer,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.name		= "paptc",
	.owner		= THIS_MODULE,
	.params		= {
		[SSTP_PAPTC_LAW] = { "law", 1, 1 },
		[SSTP_PAPTC_STEP] = { "step", 1, 10000 },
		[SSTP_PAPTC_STEP_GAMMA] = { "gamma", 501, 999 },
		[SSTP_PAPTC_STEP_GAIN] = { "gain", 1, 10000 },
		[SSTP_PAPTC_WAIT] = { "wait", 100, USEC_PER_SEC },
	},
	.state		= { "rate", "forecast", "horizon", "queue", "wanted", "refused", "steps",
			    "ssthresh" },
	.get_info	= sstp_paptc_get_info,
};
module_sstp_ctrl(sstp_ctrl_paptc);
MODULE_DESCRIPTION("SSTP controller: performance-adaptive prediction-based transport control");
MODULE_LICENSE("GPL");
