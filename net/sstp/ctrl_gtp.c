// SPDX-License-Identifier: GPL-2.0
/*
 * "gtp": after the Group Transport Protocol (Wu and Chien, "GTP: Group Transport Protocol for
 * Lambda-Grids", CCGrid 2004), for many senders to one receiver, where the receiver's link is the
 * bottleneck. The receiver divides the capacity of that link, C, among the connections of a port
 * max-min fairly, and tells each sender its rate. With r_i, what connection i wants, ascending:
 *
 *	x_i = min(r_i, (C - sum of x_j, j < i) / (number of those left))
 *
 * The paper's constants are not published; all of those below are choices.
 *
 * Receiving half: it measures the rate at which packets arrive, the packets lost, and the lowest
 * queueing delay of an interval: the one-way delay less the lowest of the last 5 to 10 s.
 *
 * Group, each tick:
 *  - r_i is twice the arrival rate of a member that uses its share. Of one that does not, C has
 *    to hold the arrival rate only, but it may send a quarter more. A member that sees congestion
 *    which the others do not see has a narrow path of its own, whose capacity limits r_i.
 *  - C doubles at first, as soon as that much arrives without congestion. Once there was
 *    congestion, it grows by 1/256 in a tick, and the faster, the longer there is none. It is
 *    congestion of the link that all share if it is that of the mean packet; then C becomes what
 *    arrives, less 1/32, and the shares are smaller in proportion to the queue, until it is gone.
 *  - Every few seconds, and for new members, shares are smaller for a moment, so that all measure
 *    their lowest delay without a queue.
 *
 * Sending half: it paces at the rate that it is told, 64 kbit/s at least, with a window of twice
 * what that rate has in flight, so that little is sent without reports. Where more is lost than
 * delivered, it halves the rate each round trip. Until a rate comes, without a receiving half at
 * the peer, or in no group, it is newreno.
 *
 * The receiver takes packets for full frames of the largest size that it has seen or has itself:
 * where a sender's frames are larger, and full of less, its share is too small, and where they
 * have become smaller, too large.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/sstp_window.h>
#include "owd.h"

/* The sending half */
#define SSTP_GTP_RATE_MIN	64000ULL	/* bit/s */
#define SSTP_GTP_RATE_MAX	1000000000000ULL
#define SSTP_GTP_SLACK		(2 * USEC_PER_MSEC)	/* us of late timers */
#define SSTP_GTP_SIZE_MIN	64U	/* bytes of a packet */
#define SSTP_GTP_SIZE_MAX	65536U

/* The receiving half. An interval ends when it has SSTP_GTP_PACKETS packets, but not before the
 * shortest time and not after the longest.
 */
#define SSTP_GTP_SAMPLE		(10 * NSEC_PER_MSEC)	/* ns, shortest interval */
#define SSTP_GTP_SAMPLE_MAX	(100 * NSEC_PER_MSEC)	/* ns, longest */
#define SSTP_GTP_PACKETS	16U
#define SSTP_GTP_HEADERS	62U	/* bytes before the payload */
#define SSTP_GTP_LOSSES		3U	/* packets: fewer in an interval may be chance */

/* Report 0: arrival rate, bit/s; 0 = nothing comes. Report 1: */
#define SSTP_GTP_DELAY		GENMASK_ULL(31, 0)	/* queueing delay, us */
#define SSTP_GTP_LOST		GENMASK_ULL(42, 32)	/* packets lost, of 1024 */
#define SSTP_GTP_RTT		GENMASK_ULL(62, 43)	/* round-trip time, us */
#define SSTP_GTP_TIME_MAX	(USEC_PER_SEC - 1)	/* of both times */
#define SSTP_GTP_RTT_DEFAULT	(50 * USEC_PER_MSEC)	/* us, where none was measured */

/* The group: rates in kbit/s, most times in ticks */
#define SSTP_GTP_TICK		(20 * NSEC_PER_MSEC)	/* ns */
#define SSTP_GTP_TICK_IDLE	(100 * NSEC_PER_MSEC)	/* ns, while no member sends */
#define SSTP_GTP_KBIT		1000U
#define SSTP_GTP_MAX		1000000000U	/* SSTP_GTP_RATE_MAX */
#define SSTP_GTP_FLOOR		64U	/* SSTP_GTP_RATE_MIN */
#define SSTP_GTP_START		10000U	/* least C at first */
#define SSTP_GTP_START_EACH	2000U	/* least C at first for each member that sends */
#define SSTP_GTP_ONE		256U	/* degree from which congestion counts */
#define SSTP_GTP_QUEUE		4000U	/* us: queueing delay of that degree */
#define SSTP_GTP_LOSS		20U	/* packets lost of 1024, of that degree */
#define SSTP_GTP_CUT		32	/* a path carries what arrives in congestion, less 1/32 */
#define SSTP_GTP_DRAIN		256000U	/* us: time in which rates below C empty a queue */
#define SSTP_GTP_EPISODE	25	/* ticks of congestion until the next cut of an estimate */
#define SSTP_GTP_PERSIST	100	/* ticks: longer congestion is not of a member's own path */
#define SSTP_GTP_RAISE		256	/* an estimate grows by 1/256 in a tick */
#define SSTP_GTP_QUIET		8	/* after as many ticks it grows by another 1/256 */
#define SSTP_GTP_QUIET_MAX	248	/* ticks after which it grows no faster, by 1/8 */
#define SSTP_GTP_USED		16	/* it grows only while 15/16 of it arrive */
#define SSTP_GTP_CALM		32	/* ticks without congestion after which 3/4 are enough */
#define SSTP_GTP_USED_CALM	4	/* 1/4 may be missing then */
#define SSTP_GTP_PAUSE		10	/* ticks with 7/8 of C, in which the queue becomes empty */
#define SSTP_GTP_PAUSE_MIN	50	/* ticks from one such pause to the next, at least */
#define SSTP_GTP_PAUSE_MAX	200	/* the same, at most */
#define SSTP_GTP_ALONE		24	/* points that make congestion a member's own */
#define SSTP_GTP_ALONE_FAST	3	/* points of a tick if others see no congestion; else 1 */
#define SSTP_GTP_SPARE		16	/* no member gets less than 1/16 of an equal share */
#define SSTP_GTP_NEAR		128	/* no member is told of a change by less than 1/128 */
#define SSTP_GTP_ROUNDS		16	/* of water filling */

/**
 * struct sstp_gtp - state of the sending half
 * @w: the window where there is no rate
 * @rate: rate in force, bit/s; 0 = none
 * @limit: highest rate after a time-out, or where most is lost, bit/s; 0 = none
 * @end: shipment whose report ends the round trip (serial number)
 * @delivered: packets reported received in this round trip
 * @lost: packets reported lost in it
 */
struct sstp_gtp {
	struct sstp_window w;
	u64	rate;
	u64	limit;
	u32	end;
	u32	delivered;
	u32	lost;
};

/**
 * struct sstp_gtp_recv - state of the receiving half
 * @since: end of the last interval, ns; 0 = nothing comes
 * @last: when the last packets came, ns
 * @owd: lowest one-way delay of the last 5 to 10 s
 * @next: shipment expected next
 * @packets: came in this interval
 * @lost: shipments skipped in this interval, less those that were only late
 * @frame: bytes of a full frame of the sender
 * @delay: lowest one-way delay of this interval, us, plus a constant, modulo 2^32
 * @timed: @delay was measured
 */
struct sstp_gtp_recv {
	u64	since;
	u64	last;
	struct sstp_owd owd;
	u32	next;
	u32	packets;
	u32	lost;
	u32	frame;
	u32	delay;
	bool	timed;
};

/**
 * struct sstp_gtp_path - estimate of what a path carries
 * @rate: kbit/s; 0 = no estimate
 * @ticks: of the congestion that lasts, or used without congestion since
 * @congested: at the last tick
 *
 * Packed for the sake of struct sstp_gtp_share.
 */
struct sstp_gtp_path {
	u32	rate;
	u8	ticks;
	bool	congested;
} __packed __aligned(2);

/**
 * struct sstp_gtp_share - state of a member
 * @want: r_i, kbit/s
 * @due: rate that its sender has followed by now, or does after @wait, kbit/s
 * @own: its path, where that is narrower than its share; without an estimate @ticks counts
 *	towards one
 * @wait: ticks
 * @spare: it does not use its share
 */
struct sstp_gtp_share {
	u32	want;
	u32	due;
	struct sstp_gtp_path own;
	u8	wait;
	bool	spare;
};

/**
 * struct sstp_gtp_group - state of the group
 * @link: C
 * @most: C when the congestion that lasts began, kbit/s
 * @pause: ticks since the queue last had to go
 * @doubt: members may have measured their lowest delay with a queue
 * @started: congestion ended the doubling of C
 */
struct sstp_gtp_group {
	struct sstp_gtp_path link;
	u32	most;
	u8	pause;
	bool	doubt;
	bool	started;
};

/**
 * struct sstp_gtp_sum - what members report, those whose share limits them, or all if there are
 * none
 * @arrival: rate at which the data of all members arrives, kbit/s
 * @weight: the same of those that count
 * @degree: degrees of congestion times arrival rates
 * @delay: queueing delays times arrival rates
 * @active: members that send
 * @fresh: a member has begun to
 */
struct sstp_gtp_sum {
	u64	arrival;
	u64	weight;
	u64	degree;
	u64	delay;
	u32	active;
	bool	fresh;
};

static struct sstp_gtp *sstp_gtp_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_gtp);
}

/* The sending half */

static void sstp_gtp_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, &sstp_gtp_priv(c)->w, s);
}

/* Send at the rate that the receiver wants, or at @limit if that is lower. */
static void sstp_gtp_pace(struct sstp_ctrl *c, struct sstp_gtp *g,
			  const struct sstp_ctrl_sample *s)
{
	u32 bits = clamp(s->packet_size, SSTP_GTP_SIZE_MIN, SSTP_GTP_SIZE_MAX) * BITS_PER_BYTE;
	u64 flight;

	g->rate = clamp(s->peer_rate, SSTP_GTP_RATE_MIN, SSTP_GTP_RATE_MAX);
	if (g->limit)
		g->rate = min(g->rate, g->limit);
	c->period = div64_u64((u64)bits * NSEC_PER_SEC, g->rate);
	flight = div_u64(div_u64(g->rate, bits) * (s->srtt + SSTP_GTP_SLACK), USEC_PER_SEC);
	c->cwnd = min_t(u64, 2 * flight + SSTP_WINDOW_INIT, SSTP_WINDOW_MAX);
}

static void sstp_gtp_newreno(struct sstp_ctrl *c, struct sstp_gtp *g,
			     const struct sstp_ctrl_sample *s)
{
	u32 packets;

	if (g->rate) {
		sstp_window_init(c, &g->w, s);
		g->rate = 0;
		g->limit = 0;
	}
	packets = sstp_window_ack(c, &g->w, s);
	if (packets)
		sstp_window_grow(c, &g->w, packets, c->cwnd);
	sstp_window_pace(c, &g->w, s);
}

/* A round trip is over. If more was lost than delivered, the receiver does not adapt the rate to
 * the path, or its messages are lost: halve the rate. Else double the limit that was set so, or by
 * a time-out.
 */
static void sstp_gtp_round(struct sstp_gtp *g, const struct sstp_ctrl_sample *s)
{
	if (g->lost > g->delivered)
		g->limit = max(g->rate / 2, SSTP_GTP_RATE_MIN);
	else
		g->limit = 2 * g->limit < SSTP_GTP_RATE_MAX ? 2 * g->limit : 0;
	g->end = s->shipped;
	g->delivered = 0;
	g->lost = 0;
}

static void sstp_gtp_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_gtp *g = sstp_gtp_priv(c);

	if (!s->peer_rate) {
		sstp_gtp_newreno(c, g, s);
		return;
	}
	/* The first report with a rate begins a round trip: a stale @end may be far ahead, as
	 * numbers of shipments start anywhere.
	 */
	if (!g->rate) {
		g->end = s->shipped;
		g->delivered = 0;
		g->lost = 0;
	}
	g->delivered = min_t(u64, (u64)g->delivered + s->delivered, U32_MAX);
	if ((s32)(s->highest - g->end) >= 0)
		sstp_gtp_round(g, s);
	sstp_gtp_pace(c, g, s);
}

/* While there is a rate, the receiver reacts to losses; sstp_gtp_round() does if most is lost. */
static void sstp_gtp_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_gtp *g = sstp_gtp_priv(c);

	if (g->rate)
		g->lost = min_t(u64, (u64)g->lost + s->lost, U32_MAX);
	else if (sstp_window_loss(c, &g->w, s))
		sstp_window_cut(c, &g->w, s, c->cwnd / 2);
}

static void sstp_gtp_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_gtp *g = sstp_gtp_priv(c);

	if (!g->rate) {
		sstp_window_timeout(c, &g->w, s, c->cwnd / 2);
		return;
	}
	g->limit = max(g->rate / 2, SSTP_GTP_RATE_MIN);
	g->end = s->shipped;
	sstp_gtp_pace(c, g, s);
}

static void sstp_gtp_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_gtp *g = (const struct sstp_gtp *)c->priv;

	state[0] = g->rate;
	state[1] = g->limit;
	state[2] = g->rate ? 0 : g->w.ssthresh;
}

/* The receiving half */

static struct sstp_gtp_recv *sstp_gtp_recv_priv(struct sstp_recv *r)
{
	return sstp_ctrl_priv(r, struct sstp_gtp_recv);
}

static void sstp_gtp_recv_init(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	sstp_gtp_recv_priv(r)->frame = SSTP_GTP_SIZE_MIN;
}

/* A one-way delay */
static void sstp_gtp_delay(struct sstp_gtp_recv *u, u64 now, u32 delay)
{
	sstp_owd_add(&u->owd, now, delay);
	u->delay = u->timed ? sstp_owd_lower(u->delay, delay) : delay;
	u->timed = true;
}

static void sstp_gtp_begin(struct sstp_gtp_recv *u, u64 end)
{
	u->since = end;
	u->packets = 0;
	u->lost = 0;
	u->timed = false;
}

/* Each packet counts as a full frame, as in the sender's pacing. */
static void sstp_gtp_recv_packets(struct sstp_recv *r, const struct sstp_recv_sample *s,
				  const struct sstp_ctrl_packets *p)
{
	struct sstp_gtp_recv *u = sstp_gtp_recv_priv(r);

	if (!p->packets)
		return;
	u->frame = max(u->frame, min(p->bytes / p->packets + SSTP_GTP_HEADERS,
				     SSTP_GTP_SIZE_MAX));
	u->frame = max(u->frame, min(s->packet_size, SSTP_GTP_SIZE_MAX));
	if (!r->timer)
		r->timer = s->now + SSTP_GTP_SAMPLE;
	if (!u->since) {
		sstp_gtp_begin(u, s->now);
		u->next = p->shipment + p->packets;
	} else {
		u->packets = min_t(u64, (u64)u->packets + p->packets, BIT(24));
		if ((s32)(p->shipment - u->next) >= 0) {
			u->lost = min_t(u64, (u64)u->lost + p->gap, BIT(20));
			u->next = p->shipment + p->packets;
		} else {
			u->lost -= min(u->lost, p->packets);
		}
	}
	u->last = s->now;
	sstp_gtp_delay(u, s->now, (u32)div_u64(s->now, NSEC_PER_USEC) - p->stamp);
}

static u64 sstp_gtp_rate(u32 packets, u32 frame, u64 ns)
{
	u64 bits = (u64)packets * frame * BITS_PER_BYTE;

	return min(div64_u64(bits * USEC_PER_SEC, max(div_u64(ns, NSEC_PER_USEC), 1ULL)),
		   SSTP_GTP_RATE_MAX);
}

/* Report an interval of @ns. */
static void sstp_gtp_report(struct sstp_recv *r, struct sstp_gtp_recv *u, u32 srtt, u64 ns)
{
	u64 rate = sstp_gtp_rate(u->packets, u->frame, ns);
	u32 delay = 0, lost = 0;

	if (u->timed)
		delay = min_t(u32, sstp_owd_queue(&u->owd, u->delay), SSTP_GTP_TIME_MAX);
	if (u->lost >= SSTP_GTP_LOSSES)
		lost = u->lost * 1024 / (u->lost + u->packets);
	r->report[0] = r->report[0] && rate ? (r->report[0] + rate) / 2 : rate;
	r->report[1] = FIELD_PREP(SSTP_GTP_DELAY, delay) |
		       FIELD_PREP(SSTP_GTP_LOST, lost) |
		       FIELD_PREP(SSTP_GTP_RTT, min_t(u32, srtt ?: SSTP_GTP_RTT_DEFAULT,
						      SSTP_GTP_TIME_MAX));
}

/* ns without packets after which a sender of @rate (bit/s) is silent: the time of some packets */
static u64 sstp_gtp_patience(const struct sstp_gtp_recv *u, u64 rate)
{
	u64 bits = SSTP_GTP_PACKETS * (u64)u->frame * BITS_PER_BYTE;
	u64 ns = rate ? div64_u64(bits * NSEC_PER_SEC, rate) : NSEC_PER_SEC;

	return clamp_t(u64, ns, SSTP_GTP_SAMPLE_MAX, NSEC_PER_SEC);
}

/* The timer runs while packets come. */
static void sstp_gtp_recv_timer(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	struct sstp_gtp_recv *u = sstp_gtp_recv_priv(r);
	u64 age = s->now - u->since;

	if (!u->since)
		return;
	if (!u->packets && s->now - u->last >= sstp_gtp_patience(u, r->report[0])) {
		sstp_gtp_report(r, u, s->srtt, age);
		u->since = 0;
		return;
	}
	r->timer = s->now + SSTP_GTP_SAMPLE;
	if (!u->packets || (u->packets < SSTP_GTP_PACKETS && age < SSTP_GTP_SAMPLE_MAX))
		return;
	sstp_gtp_report(r, u, s->srtt, u->last > u->since ? u->last - u->since : age);
	sstp_gtp_begin(u, u->last);
}

/* The group */

static struct sstp_gtp_share *sstp_gtp_share_of(struct sstp_group_member *m)
{
	BUILD_BUG_ON(sizeof(struct sstp_gtp_share) > sizeof(m->priv));
	return (struct sstp_gtp_share *)m->priv;
}

static u32 sstp_gtp_arrival(const struct sstp_group_member *m)
{
	return div_u64(min(m->report[0], SSTP_GTP_RATE_MAX), SSTP_GTP_KBIT);
}

static u32 sstp_gtp_queue(const struct sstp_group_member *m)
{
	return min_t(u64, FIELD_GET(SSTP_GTP_DELAY, m->report[1]), SSTP_GTP_TIME_MAX);
}

/* How congested is the path of a member? The degree is bounded, so that a member counts by its
 * traffic, whatever is measured of it.
 */
static u32 sstp_gtp_degree(const struct sstp_group_member *m)
{
	u32 lost = FIELD_GET(SSTP_GTP_LOST, m->report[1]);

	return min(max(sstp_gtp_queue(m) * SSTP_GTP_ONE / SSTP_GTP_QUEUE,
		       lost * SSTP_GTP_ONE / SSTP_GTP_LOSS), 2 * SSTP_GTP_ONE);
}

/**
 * sstp_gtp_adapt - adapt the estimate of what a path carries
 * @p: path
 * @arrival: what arrives, kbit/s
 * @delay: queueing delay, us
 * @congested: it is congested
 * @used: nearly as much arrives as the path is believed to carry
 * @most: while it is congested, the estimate follows what arrives up to this, kbit/s
 *
 * Return: what to send at most now, kbit/s: less while a queue has to go.
 */
static u32 sstp_gtp_adapt(struct sstp_gtp_path *p, u32 arrival, u32 delay, bool congested,
			  bool used, u32 most)
{
	u32 carries = max(arrival - arrival / SSTP_GTP_CUT, SSTP_GTP_FLOOR), step;

	if (congested != p->congested) {
		p->congested = congested;
		p->ticks = 0;
	}
	if (!congested) {
		if (used) {
			p->ticks = min(p->ticks + 1, SSTP_GTP_QUIET_MAX);
			step = p->rate / SSTP_GTP_RAISE + 1;
			p->rate += step * (1 + p->ticks / SSTP_GTP_QUIET);
			p->rate = min(p->rate, SSTP_GTP_MAX);
		}
		return p->rate;
	}
	if (p->ticks % SSTP_GTP_EPISODE == 0)
		p->rate = min(p->rate, carries);
	p->rate = max(p->rate, min(most, carries));
	p->ticks = (p->ticks + 1) % SSTP_GTP_PERSIST;
	delay = min(delay, SSTP_GTP_DRAIN / 2);
	return p->rate - (u32)div_u64((u64)p->rate * delay, SSTP_GTP_DRAIN);
}

static void sstp_gtp_add(struct sstp_gtp_sum *sum, const struct sstp_group_member *m)
{
	u32 arrival = sstp_gtp_arrival(m);

	sum->weight += arrival;
	sum->degree += (u64)arrival * sstp_gtp_degree(m);
	sum->delay += (u64)arrival * sstp_gtp_queue(m);
}

static void sstp_gtp_gather(struct sstp_group *g, struct sstp_gtp_sum *sum)
{
	struct sstp_gtp_sum all = {};
	struct sstp_group_member *m;

	*sum = all;
	list_for_each_entry(m, &g->members, list) {
		sstp_gtp_add(&all, m);
		if (!sstp_gtp_share_of(m)->own.rate)
			sstp_gtp_add(sum, m);
		all.active += sstp_gtp_arrival(m) > 0;
		all.fresh |= sstp_gtp_arrival(m) && !m->rate;
	}
	if (!sum->weight)
		*sum = all;
	sum->arrival = all.weight;
	sum->active = all.active;
	sum->fresh = all.fresh;
}

/* Is the traffic of all on average congested: is it the link that they share? */
static bool sstp_gtp_shared(const struct sstp_gtp_sum *sum)
{
	return sum->degree >= sum->weight * SSTP_GTP_ONE && sum->weight;
}

/* Is hardly any of the traffic congested? */
static bool sstp_gtp_calm(u64 degree, u64 weight)
{
	return degree < weight * (SSTP_GTP_ONE / 2);
}

/* How surely is the congestion that a member sees that of a path of its own? */
static u32 sstp_gtp_alone(const struct sstp_group_member *m, const struct sstp_gtp_sum *sum)
{
	u32 arrival = sstp_gtp_arrival(m);

	return sstp_gtp_calm(sum->degree - (u64)arrival * sstp_gtp_degree(m),
			     sum->weight - arrival) ? SSTP_GTP_ALONE_FAST : 1;
}

/* Must the members send less now, so that the queue becomes empty? Each has to measure its lowest
 * delay without a queue: in each window of that minimum, when there are new members, and when a
 * member may have measured it with a queue.
 */
static bool sstp_gtp_pause(struct sstp_gtp_group *q, bool fresh)
{
	q->doubt |= fresh;
	if (q->pause >= SSTP_GTP_PAUSE_MAX || (q->pause >= SSTP_GTP_PAUSE_MIN && q->doubt)) {
		q->pause = 0;
		q->doubt = false;
	}
	return q->pause++ < SSTP_GTP_PAUSE;
}

/* C before the first congestion. Senders in slow start may send more than it. */
static void sstp_gtp_start(struct sstp_gtp_group *q, const struct sstp_gtp_sum *sum, u32 arrival)
{
	u32 rate = max3(q->link.rate, SSTP_GTP_START, sum->active * SSTP_GTP_START_EACH);

	rate = max(rate, arrival);
	if (sstp_gtp_calm(sum->degree, sum->weight) && arrival >= rate - rate / 4)
		rate = 2 * arrival;
	q->link.rate = min(rate, SSTP_GTP_MAX);
}

/* What the members are to send together now, kbit/s */
static u32 sstp_gtp_capacity(struct sstp_gtp_group *q, const struct sstp_gtp_sum *sum,
			     bool shared)
{
	u32 arrival = min_t(u64, sum->arrival, SSTP_GTP_MAX);
	u32 delay = sum->weight ? div64_u64(sum->delay, sum->weight) : 0;
	u32 part = q->link.ticks < SSTP_GTP_CALM ? SSTP_GTP_USED : SSTP_GTP_USED_CALM;
	u32 rate;

	if (!q->started) {
		sstp_gtp_start(q, sum, arrival);
		if (!shared)
			return q->link.rate;
		/* When the first congestion is seen, not all that arrives is measured yet. */
		q->started = true;
		q->most = SSTP_GTP_MAX;
	} else if (!q->link.congested) {
		q->most = q->link.rate;
	}
	rate = sstp_gtp_adapt(&q->link, arrival, delay, shared,
			      arrival >= q->link.rate - q->link.rate / part &&
			      sstp_gtp_calm(sum->degree, sum->weight), q->most);
	return sstp_gtp_pause(q, sum->fresh) ? rate - rate / 8 : rate;
}

/* Does a member use its share? A sender that has not had time to follow its last rate is not
 * judged, and in congestion a low arrival rate proves nothing. A member that did not use its share
 * has to use nearly all of it to count as using it again.
 */
static void sstp_gtp_use(struct sstp_gtp_share *x, u32 arrival, bool congested)
{
	bool used = arrival >= x->due - x->due / (x->spare ? 32 : 8);

	if (!x->wait && (used || !congested))
		x->spare = !used && arrival;
	x->wait -= x->wait > 0;
}

/* Adapt the estimate of a member's own path, if it has one. False if the congestion persisted
 * although the member slowed down, so that path may not be its cause.
 */
static bool sstp_gtp_own(struct sstp_group_member *m, const struct sstp_gtp_sum *sum)
{
	bool congested = sstp_gtp_degree(m) >= SSTP_GTP_ONE;
	struct sstp_gtp_share *x = sstp_gtp_share_of(m);
	u32 arrival = sstp_gtp_arrival(m), limit;

	if (!x->own.rate) {
		x->own.ticks = congested ? x->own.ticks + sstp_gtp_alone(m, sum) : 0;
		if (x->own.ticks < SSTP_GTP_ALONE)
			return true;
		x->own.rate = arrival;
	}
	if (congested && x->own.congested && x->own.ticks == SSTP_GTP_PERSIST - 1) {
		x->own = (struct sstp_gtp_path){};
		return false;
	}
	limit = sstp_gtp_adapt(&x->own, arrival, sstp_gtp_queue(m), congested, !x->spare, 0);
	x->want = min(x->want, limit);
	if (x->own.rate >= 2 * arrival)
		x->own = (struct sstp_gtp_path){};
	return true;
}

/* Find what a member wants. @shared: congestion is in the link that all share. Returns as
 * sstp_gtp_own().
 */
static bool sstp_gtp_want(struct sstp_group_member *m, const struct sstp_gtp_sum *sum,
			  bool shared)
{
	struct sstp_gtp_share *x = sstp_gtp_share_of(m);
	u32 arrival = sstp_gtp_arrival(m);
	bool waits = x->wait;

	sstp_gtp_use(x, arrival, sstp_gtp_degree(m) >= SSTP_GTP_ONE);
	if (!arrival || x->spare)
		x->want = arrival;
	else if (!m->rate)
		x->want = SSTP_GTP_MAX;
	else
		x->want = max(waits ? x->want : 0, 2 * arrival);
	if (!arrival)
		return true;
	if (!shared)
		return sstp_gtp_own(m, sum);
	if (x->own.rate)
		x->want = min(x->want, x->own.rate);
	return true;
}

/* Water filling, without sorting: wants up to an equal share of @capacity are satisfied; then those
 * up to an equal share, among the others, of what is left, and so on. After the last round some
 * of @capacity may be left. Returns the share of those whose wants are not satisfied.
 */
static u32 sstp_gtp_fill(struct sstp_group *g, u64 capacity)
{
	u32 left = g->count, level = 0, done, i;
	struct sstp_group_member *m;

	for (i = 0; left && i < SSTP_GTP_ROUNDS; i++) {
		u32 next = min_t(u64, div_u64(capacity, left), SSTP_GTP_MAX);

		done = 0;
		list_for_each_entry(m, &g->members, list) {
			u32 want = sstp_gtp_share_of(m)->want;

			if (want > next || (i && want <= level))
				continue;
			capacity -= want;
			done++;
		}
		left -= done;
		level = next;
		if (!done)
			return level;
	}
	return left ? level : SSTP_GTP_MAX;
}

/* Ticks until reports show what a sender does with a new rate */
static u8 sstp_gtp_wait(const struct sstp_group_member *m)
{
	u64 ns = 2 * FIELD_GET(SSTP_GTP_RTT, m->report[1]) * NSEC_PER_USEC;

	return min_t(u64, div_u64(ns + SSTP_GTP_SAMPLE_MAX, SSTP_GTP_TICK) + 2, U8_MAX);
}

/* Tell a member its rate. @level: share of those whose wants are not satisfied; @least: lowest
 * share. One that is silent keeps its rate for the time when it sends again; at first it has none.
 */
static void sstp_gtp_assign(struct sstp_group_member *m, u32 level, u32 least)
{
	struct sstp_gtp_share *x = sstp_gtp_share_of(m);
	u32 told = div_u64(m->rate, SSTP_GTP_KBIT), rate = x->want, near = told / SSTP_GTP_NEAR;

	if (!x->want)
		rate = told;
	else if (x->spare)
		rate += rate / 4;
	if (rate)
		rate = clamp(rate, least, max(level, least));
	if (rate <= told + near && rate + near >= told)
		return;
	if (rate > x->due + x->due / 16) {
		x->due = rate;
		x->wait = sstp_gtp_wait(m);
	}
	x->due = min(x->due, rate);
	m->rate = (u64)rate * SSTP_GTP_KBIT;
}

static void sstp_gtp_tick(struct sstp_group *g)
{
	struct sstp_gtp_group *q = sstp_ctrl_priv(g, struct sstp_gtp_group);
	struct sstp_group_member *m;
	struct sstp_gtp_sum sum;
	u32 capacity, level, least;
	bool shared;

	sstp_gtp_gather(g, &sum);
	g->tick = sum.active ? SSTP_GTP_TICK : SSTP_GTP_TICK_IDLE;
	shared = sstp_gtp_shared(&sum);
	capacity = sstp_gtp_capacity(q, &sum, shared);
	list_for_each_entry(m, &g->members, list)
		q->doubt |= !sstp_gtp_want(m, &sum, shared);
	level = sstp_gtp_fill(g, capacity);
	least = max(capacity / (SSTP_GTP_SPARE * max(sum.active, 1U)), SSTP_GTP_FLOOR);
	list_for_each_entry(m, &g->members, list)
		sstp_gtp_assign(m, level, least);
}

static struct sstp_ctrl_ops sstp_ctrl_gtp = {
	.init		= sstp_gtp_init,
	.on_ack		= sstp_gtp_ack,
	.on_loss	= sstp_gtp_loss,
	.on_timeout	= sstp_gtp_timeout,
	.recv_init	= sstp_gtp_recv_init,
	.recv_packets	= sstp_gtp_recv_packets,
	.recv_timer	= sstp_gtp_recv_timer,
	.group_tick	= sstp_gtp_tick,
	.name		= "gtp",
	.owner		= THIS_MODULE,
	.state		= { "rate", "limit", "ssthresh" },
	.get_info	= sstp_gtp_get_info,
	.group		= SSTP_GROUP_PORT,
};
module_sstp_ctrl(sstp_ctrl_gtp);
MODULE_DESCRIPTION("SSTP controller: Group Transport Protocol");
MODULE_LICENSE("GPL");
