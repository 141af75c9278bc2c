// SPDX-License-Identifier: GPL-2.0
/* bbr: its arithmetic, its states, and flows over a simulated bottleneck */
#include <linux/prandom.h>
#include "sstp_test.h"
#include "../sample.h"
#include "../ctrl_bbr.c"

#define BBR_RING	65536	/* packets in flight at most */
#define BBR_REPORTS	1024	/* reports under way at most */
#define BBR_FLOWS	16

struct bbr_report {
	u64	at;	/* when it comes, ns */
	u32	highest;
	u32	count;
};

/**
 * struct bbr_line - a line with a queue
 * @rate: packets/s
 * @queue: packets that the queue holds
 * @loss: one packet in this many is lost; 0 = none
 * @rnd: losses by chance
 * @now: ns
 * @free: when the line has sent all of its queue, ns
 * @shipped: packets that came to the line
 * @waited: sum of the packets in the queue that each of them found
 * @most: the most
 * @flow: senders
 * @flows: their number
 */
struct bbr_line {
	u32	rate;
	u32	queue;
	u32	loss;
	struct rnd_state rnd;
	u64	now;
	u64	free;
	u32	shipped;
	u64	waited;
	u32	most;
	struct bbr_sim *flow[BBR_FLOWS];
	u32	flows;
};

/**
 * struct bbr_sim - a sender that always has data, and its receiver
 * @c: outputs and state of the controller
 * @p: its delivery rate
 * @line: the line between them
 * @rtt: without the queue, us
 * @start: when it begins, ns
 * @next: when the next packet may leave, ns
 * @sent: when packets left, ns, by shipment
 * @came: when packets come, ns, by shipment; 0 = lost
 * @shipped: newest shipment
 * @arrived: newest shipment that came or was lost
 * @report: reports under way, a ring
 * @made: number of reports that the receiver made
 * @taken: number of these that have come
 * @told: newest shipment in a report that the receiver made
 * @highest: newest shipment reported
 * @count: packets received
 * @delivered: packets received, as reported
 * @held: the window held back a packet since the last report
 * @limited_ship: shipment whose report ends the round trip of @limited
 * @limited: within a round trip the window held back a packet
 * @states: states that the controller was in, a bit for each
 * @unknown: the model was doubted, but the rate forgotten that is to replace it
 */
struct bbr_sim {
	struct sstp_ctrl c;
	struct sstp_sampler p;
	struct bbr_line *line;
	u32	rtt;
	u64	start;
	u64	next;
	u64	*sent;
	u64	*came;
	u32	shipped;
	u32	arrived;
	struct bbr_report *report;
	u32	made;
	u32	taken;
	u32	told;
	u32	highest;
	u32	count;
	u32	delivered;
	bool	held;
	u32	limited_ship;
	bool	limited;
	u32	states;
	bool	unknown;
};

static struct sstp_bbr *bbr_of(struct bbr_sim *x)
{
	return sstp_bbr(&x->c);
}

static void bbr_sample(const struct bbr_sim *x, struct sstp_ctrl_sample *s)
{
	*s = (struct sstp_ctrl_sample){
		.now = x->line->now, .srtt = x->rtt, .min_rtt = x->rtt, .packet_size = 1500,
		.in_flight = x->shipped - x->highest, .shipped = x->shipped,
		.highest = x->highest, .total_delivered = x->delivered,
		.cwnd_limited = x->limited,
	};
}

/* Add a flow with a round-trip time of @rtt us to @l, which begins after @ms. */
static struct bbr_sim *bbr_add(struct kunit *test, struct bbr_line *l, u32 rtt, u32 ms)
{
	struct bbr_sim *x = kunit_kzalloc(test, sizeof(*x), GFP_KERNEL);
	struct sstp_ctrl_sample s;

	KUNIT_ASSERT_NOT_NULL(test, x);
	x->sent = kunit_kcalloc(test, BBR_RING, sizeof(u64), GFP_KERNEL);
	x->came = kunit_kcalloc(test, BBR_RING, sizeof(u64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x->sent);
	KUNIT_ASSERT_NOT_NULL(test, x->came);
	x->report = kunit_kcalloc(test, BBR_REPORTS, sizeof(*x->report), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x->report);
	x->line = l;
	x->rtt = rtt;
	x->start = l->now + (u64)ms * NSEC_PER_MSEC;
	x->shipped = prandom_u32_state(&l->rnd);
	x->arrived = x->shipped;
	x->highest = x->shipped;
	x->limited_ship = x->shipped;
	x->told = x->shipped;
	bbr_sample(x, &s);
	sstp_ctrl_bbr.init(&x->c, &s);
	l->flow[l->flows++] = x;
	return x;
}

/* A line of @rate packets/s with @queue packets, and a flow with a round-trip time of @rtt us */
static struct bbr_sim *bbr_start(struct kunit *test, u32 rate, u32 rtt, u32 queue)
{
	struct bbr_line *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	sstp_test_seed_rnd(test, &l->rnd);
	l->rate = rate;
	l->queue = queue;
	l->now = NSEC_PER_SEC;
	return bbr_add(test, l, rtt, 0);
}

/* A packet leaves: it waits in the queue, or finds it full, or is lost. */
static void bbr_ship(struct bbr_sim *x)
{
	struct bbr_line *l = x->line;
	u64 packet = div_u64(NSEC_PER_SEC, l->rate), wait = l->free - min(l->free, l->now);
	u32 n = ++x->shipped % BBR_RING, queued = div64_u64(wait, packet);

	x->sent[n] = l->now;
	x->came[n] = 0;
	l->shipped++;
	l->waited += queued;
	l->most = max(l->most, queued);
	if (queued >= l->queue)
		return;
	l->free = max(l->free, l->now) + packet;
	if (!l->loss || sstp_rnd_below(&l->rnd, l->loss))
		x->came[n] = l->free + (u64)x->rtt * NSEC_PER_USEC / 2;
}

/* All packets that may leave now, in trains as the core makes them */
static void bbr_push(struct bbr_sim *x)
{
	u64 now = x->line->now;
	struct sstp_ctrl_packets p = {};
	struct sstp_ctrl_sample s;
	u32 flight, i;

	while ((flight = x->shipped - x->highest) < x->c.cwnd && now >= x->next) {
		p.packets = min(x->c.cwnd - flight, SSTP_TRAIN_PACKETS);
		p.packets = min_t(u64, p.packets, max(div64_u64(NSEC_PER_MSEC, x->c.period), 2));
		if (!flight)
			sstp_sample_start(&x->p, div_u64(now, NSEC_PER_USEC), x->delivered,
					  x->highest);
		for (i = 0; i < p.packets; i++)
			bbr_ship(x);
		x->next = max(x->next + NSEC_PER_MSEC / 2, now) - NSEC_PER_MSEC / 2 +
			  p.packets * x->c.period;
		bbr_sample(x, &s);
		sstp_ctrl_bbr.on_pkt_sent(&x->c, &s, &p);
	}
	x->held |= x->shipped - x->highest >= x->c.cwnd;
}

/* A packet comes. A report is due after a sixteenth of the window, at once after a loss, and when
 * no packet is under way.
 */
static void bbr_arrive(struct bbr_sim *x)
{
	u32 n = ++x->arrived % BBR_RING;
	bool gap = !x->came[(x->arrived - 1) % BBR_RING];

	x->count++;
	if (!gap && x->arrived != x->shipped && x->arrived - x->told < max(x->c.cwnd / 16, 2U))
		return;
	x->told = x->arrived;
	x->report[x->made++ % BBR_REPORTS] = (struct bbr_report){
		.at = x->came[n] + (u64)x->rtt * NSEC_PER_USEC / 2,
		.highest = x->arrived, .count = x->count,
	};
}

static void bbr_report(struct bbr_sim *x)
{
	u32 at = div_u64(x->line->now, NSEC_PER_USEC), flight = x->shipped - x->highest, rtt;
	u32 was = x->highest, had = x->delivered;
	struct sstp_ctrl_sample s;
	struct sstp_sample_mark r;
	struct sstp_delivery d;
	bool limited;

	x->highest = x->report[x->taken % BBR_REPORTS].highest;
	x->delivered = x->report[x->taken++ % BBR_REPORTS].count;
	r = (struct sstp_sample_mark){
		.at = at, .came = at, .delivered = x->delivered, .highest = x->highest,
		.sent = div_u64(x->sent[x->highest % BBR_RING], NSEC_PER_USEC),
	};
	rtt = at - r.sent;
	sstp_sample_report(&x->p, &r, rtt, flight, &d);
	limited = x->held || x->limited;
	if (x->held || (s32)(x->highest - x->limited_ship) >= 0) {
		x->limited = x->held;
		x->limited_ship = x->shipped;
	}
	x->held = false;
	bbr_sample(x, &s);
	s.cwnd_limited = limited;
	s.rtt = rtt;
	s.srtt = rtt;
	s.delivered = x->delivered - had;
	s.lost = x->highest - was - s.delivered;
	s.lost_ranges = min(s.lost, SSTP_SHIP_RANGES);
	s.rate_delivered = d.packets;
	s.rate_interval = d.interval;
	s.rate_prior = d.prior;
	s.tx_in_flight = d.flight;
	s.tx_lost = d.lost;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	x->states |= BIT(bbr_of(x)->state);
	x->unknown |= bbr_of(x)->doubted && !bbr_of(x)->path_rate;
}

/* When the next packet of @x comes, ns. A lost packet is noticed when the next one comes. */
static u64 bbr_comes(struct bbr_sim *x)
{
	while (x->arrived != x->shipped && !x->came[(x->arrived + 1) % BBR_RING])
		x->arrived++;
	return x->arrived == x->shipped ? U64_MAX : x->came[(x->arrived + 1) % BBR_RING];
}

static u64 bbr_reported(const struct bbr_sim *x)
{
	return x->taken == x->made ? U64_MAX : x->report[x->taken % BBR_REPORTS].at;
}

/* Let @x do what is due now. Returns when something is due next, ns. */
static u64 bbr_step(struct bbr_sim *x)
{
	u64 now = x->line->now;

	if (now < x->start)
		return x->start;
	if (bbr_comes(x) <= now)
		bbr_arrive(x);
	if (bbr_reported(x) <= now)
		bbr_report(x);
	bbr_push(x);
	now = x->shipped - x->highest < x->c.cwnd ? x->next : U64_MAX;
	return min3(now, bbr_comes(x), bbr_reported(x));
}

/* Run for @ms. Returns the share of the line that is used, in thousandths. */
static u32 bbr_run(struct bbr_line *l, u32 ms)
{
	u64 end = l->now + (u64)ms * NSEC_PER_MSEC, next;
	u32 count = 0, i;

	for (i = 0; i < l->flows; i++) {
		count -= l->flow[i]->count;
		l->flow[i]->states = 0;
	}
	l->shipped = 0;
	l->waited = 0;
	l->most = 0;
	while (l->now < end) {
		next = end;
		for (i = 0; i < l->flows; i++)
			next = min(next, bbr_step(l->flow[i]));
		l->now = max(next, l->now);
	}
	for (i = 0; i < l->flows; i++)
		count += l->flow[i]->count;
	return div64_u64((u64)count * 1000000, (u64)l->rate * ms);
}

/* Mean number of packets in the queue in the last run */
static u32 bbr_queue(const struct bbr_line *l)
{
	return div_u64(l->waited, max(l->shipped, 1U));
}

/* Windows and bounds, computed exactly: 1 packet/us is 2^24. */
static void bbr_arithmetic(struct kunit *test)
{
	static const struct {
		u32 bw, min_rtt, gain, packets;
	} t[] = {
		{ 1 << 24, 1000, SSTP_BBR_ONE, 1000 }, { 1 << 24, 1000, 512, 2000 },
		{ 1 << 24, 1000, 128, 500 }, { 1 << 20, 1000, SSTP_BBR_ONE, 63 },
		{ 1 << 16, 1000, 128, 2 }, { 0, 1000, SSTP_BBR_ONE, 0 },
		{ U32_MAX - 1, 60 * USEC_PER_SEC, 709, SSTP_WINDOW_MAX },
		{ 1 << 24, SSTP_BBR_NONE, 512, SSTP_WINDOW_INIT },
	};
	static const u32 high[][2] = {
		{ SSTP_BBR_NONE, SSTP_BBR_NONE }, { 100, 85 }, { 1000, 850 }, { 7, 6 }, { 4, 4 },
		{ 1, 4 }, { SSTP_WINDOW_MAX, 14260634 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_bbr b = { .min_rtt = t[i].min_rtt };

		KUNIT_EXPECT_EQ_MSG(test, sstp_bbr_bdp(&b, t[i].bw, t[i].gain), t[i].packets,
				    "row %u", i);
	}
	for (i = 0; i < ARRAY_SIZE(high); i++) {
		struct sstp_bbr b = { .inflight_longterm = high[i][0] };

		KUNIT_EXPECT_EQ_MSG(test, sstp_bbr_headroom(&b), high[i][1], "row %u", i);
	}
	KUNIT_EXPECT_EQ(test, sstp_bbr_beta(1000), 700U);
	KUNIT_EXPECT_EQ(test, sstp_bbr_beta(U32_MAX), 3006477106U);
}

/* Startup doubles the rate in each round trip, ends on the plateau with the rate of the line, and
 * Drain empties the queue. Then the cycle goes on, and ProbeRTT comes once in 5 s.
 */
static void bbr_states(struct kunit *test)
{
	struct bbr_sim *x = bbr_start(test, 4000, 50000, 400);
	u32 all = BIT(SSTP_BBR_DOWN) | BIT(SSTP_BBR_CRUISE) | BIT(SSTP_BBR_REFILL) |
		  BIT(SSTP_BBR_UP);
	struct sstp_bbr *b = bbr_of(x);

	bbr_run(x->line, 250);
	KUNIT_EXPECT_EQ(test, b->state, SSTP_BBR_STARTUP);
	KUNIT_EXPECT_FALSE(test, b->full_reached);
	bbr_run(x->line, 750);
	KUNIT_EXPECT_TRUE(test, b->full_reached);
	KUNIT_EXPECT_TRUE(test, x->states & BIT(SSTP_BBR_DRAIN));
	KUNIT_EXPECT_GE(test, b->state, SSTP_BBR_DOWN);
	KUNIT_EXPECT_LE(test, abs_diff(sstp_bbr_show(sstp_bbr_max_bw(b)), 4000LL), 80LL);
	KUNIT_EXPECT_EQ(test, b->inflight_longterm, SSTP_BBR_NONE);
	bbr_run(x->line, 3800);
	KUNIT_EXPECT_EQ(test, x->states & all, all);
	KUNIT_EXPECT_FALSE(test, x->states & BIT(SSTP_BBR_PROBING_RTT));
	bbr_run(x->line, 2000);
	KUNIT_EXPECT_TRUE(test, x->states & BIT(SSTP_BBR_PROBING_RTT));
	KUNIT_EXPECT_NE(test, b->state, SSTP_BBR_PROBING_RTT);
	KUNIT_EXPECT_LE(test, abs_diff(b->min_rtt, 50250U), 260U);
}

/* Use of the line, from 2 s on, with a queue of so many packets and a loss of one in so many */
static void bbr_lines(struct kunit *test)
{
	static const struct {
		u32 rate, rtt, queue, loss;
		u32 least;	/* share, thousandths */
		u32 wait;	/* most packets in the queue on average */
	} t[] = {
		{ 4000, 50000, 200, 0, 960, 60 }, { 4000, 50000, 2000, 0, 960, 60 },
		{ 4000, 50000, 50, 0, 880, 30 }, { 4000, 50000, 20, 0, 800, 15 },
		{ 4000, 50000, 200, 1000, 950, 60 }, { 4000, 50000, 200, 100, 870, 60 },
		{ 500, 10000, 40, 0, 950, 20 }, { 100, 300000, 60, 0, 900, 30 },
		{ 20000, 5000, 100, 0, 960, 60 }, { 50, 1000, 20, 0, 900, 10 },
	};
	u32 i, share;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct bbr_sim *x = bbr_start(test, t[i].rate, t[i].rtt, t[i].queue);

		x->line->loss = t[i].loss;
		bbr_run(x->line, 2000);
		share = bbr_run(x->line, 10000);
		kunit_info(test, "row %u: share %u, queue %u", i, share, bbr_queue(x->line));
		KUNIT_EXPECT_GE_MSG(test, share, t[i].least, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, bbr_queue(x->line), t[i].wait, "row %u", i);
	}
}

/* The line has a tenth of its rate from some time in the cycle on, and a queue that holds all that
 * is in flight for long: within 10 s the queue is short again, and the line used.
 */
static void bbr_drop(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(20), share;

	for (i = 0; i < n; i++) {
		struct bbr_sim *x = bbr_start(test, 4000, 40000, 4000);

		bbr_run(x->line, 4000 + i * 193);
		x->line->rate = 400;
		x->line->free += 9 * (x->line->free - min(x->line->free, x->line->now));
		bbr_run(x->line, 10000);
		share = bbr_run(x->line, 6000);
		KUNIT_EXPECT_FALSE(test, x->unknown);
		KUNIT_EXPECT_LE_MSG(test, x->line->most, 64U, "run %u", i);
		KUNIT_EXPECT_GE_MSG(test, share, 850U, "run %u", i);
	}
}

/* The line has ten times its rate from some time in the cycle on. */
static void bbr_rise(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(20);

	for (i = 0; i < n; i++) {
		struct bbr_sim *x = bbr_start(test, 400, 40000, 16);

		bbr_run(x->line, 4000 + i * 193);
		x->line->rate = 4000;
		x->line->queue = 160;
		bbr_run(x->line, 6000);
		KUNIT_EXPECT_GE_MSG(test, bbr_run(x->line, 4000), 850U, "run %u", i);
	}
}

/* The path is longer from some time in the cycle on: within 3 s min_rtt follows. A packet that was
 * under way then came earlier, so min_rtt may be less than the round-trip time now, but not so
 * much less that a window of two bandwidth-delay products would not fill the path.
 */
static void bbr_longer(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(20);

	for (i = 0; i < n; i++) {
		struct bbr_sim *x = bbr_start(test, 4000, 20000, 200);

		bbr_run(x->line, 4000 + i * 193);
		x->rtt = 100000;
		bbr_run(x->line, 3000);
		KUNIT_EXPECT_GE_MSG(test, bbr_of(x)->min_rtt, 50000U, "run %u", i);
		KUNIT_EXPECT_GE_MSG(test, bbr_run(x->line, 4000), 850U, "run %u", i);
	}
}

/* Sixteen flows begin one after the other, and share a line whose queue holds 20 bandwidth-delay
 * products: none of them takes the others' packets in the queue for a longer path.
 */
static void bbr_shares(struct kunit *test)
{
	struct bbr_sim *x = bbr_start(test, 8000, 40000, 6400);
	struct bbr_line *l = x->line;
	u32 i, share;

	for (i = 1; i < BBR_FLOWS; i++)
		bbr_add(test, l, 40000, i * 500);
	bbr_run(l, 20000);
	share = bbr_run(l, 10000);
	kunit_info(test, "share %u, queue %u, at most %u", share, bbr_queue(l), l->most);
	KUNIT_EXPECT_GE(test, share, 970U);
	/* Windows of two products leave one in the queue, rates that sum up to more a second. */
	KUNIT_EXPECT_LE(test, bbr_queue(l), 2 * 320U);
	for (i = 0; i < BBR_FLOWS; i++)
		KUNIT_EXPECT_LT_MSG(test, bbr_of(l->flow[i])->min_rtt, 80000U, "flow %u", i);
}

/* A burst of losses in Startup that were only late: Startup goes on, without a bound. */
static void bbr_undoes(struct kunit *test)
{
	struct bbr_sim *x = bbr_start(test, 4000, 50000, 400);
	struct sstp_bbr *b = bbr_of(x);
	struct sstp_ctrl_sample s;

	bbr_run(x->line, 200);
	KUNIT_ASSERT_EQ(test, b->state, SSTP_BBR_STARTUP);
	bbr_sample(x, &s);
	s.lost = 8;
	s.lost_ranges = 4;
	s.tx_in_flight = 40;
	s.tx_lost = 8;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	s.shipped += 2;
	s.highest = s.shipped - 1;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_TRUE(test, b->full_reached);
	KUNIT_EXPECT_NE(test, b->inflight_longterm, SSTP_BBR_NONE);
	s.lost = 0;
	s.tx_lost = 0;
	s.undue = 23;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_TRUE(test, b->full_reached);
	s.undue = 1;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_EQ(test, b->state, SSTP_BBR_STARTUP);
	KUNIT_EXPECT_FALSE(test, b->full_reached);
	KUNIT_EXPECT_EQ(test, b->inflight_longterm, SSTP_BBR_NONE);
	KUNIT_EXPECT_EQ(test, b->inflight_shortterm, SSTP_BBR_NONE);
}

/* After a pause no ProbeRTT is needed, and the model is kept. */
static void bbr_idle(struct kunit *test)
{
	struct bbr_sim *x = bbr_start(test, 4000, 50000, 400);
	u32 bw;

	bbr_run(x->line, 4000);
	bw = sstp_bbr_max_bw(bbr_of(x));
	x->line->now += 20ULL * NSEC_PER_SEC;
	x->highest = x->shipped;
	x->arrived = x->shipped;
	x->delivered = x->count;
	x->taken = x->made;
	bbr_run(x->line, 1000);
	KUNIT_EXPECT_FALSE(test, x->states & BIT(SSTP_BBR_PROBING_RTT));
	KUNIT_EXPECT_LE(test, abs_diff(sstp_bbr_max_bw(bbr_of(x)), bw), bw / 50);
	KUNIT_EXPECT_GE(test, bbr_run(x->line, 2000), 850U);
}

/* A time-out cuts the window, until a packet that left later is delivered. */
static void bbr_timeout(struct kunit *test)
{
	struct bbr_sim *x = bbr_start(test, 4000, 50000, 400);
	struct sstp_ctrl_sample s;
	u32 cwnd;

	bbr_run(x->line, 3000);
	cwnd = x->c.cwnd;
	bbr_sample(x, &s);
	sstp_ctrl_bbr.on_timeout(&x->c, &s);
	sstp_ctrl_bbr.on_timeout(&x->c, &s);
	KUNIT_EXPECT_EQ(test, x->c.cwnd, SSTP_BBR_MIN_CWND);
	s.delivered = 3;
	s.highest = s.shipped;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_EQ(test, x->c.cwnd, SSTP_BBR_MIN_CWND + 3);
	s.shipped++;
	s.highest = s.shipped;
	sstp_ctrl_bbr.on_ack(&x->c, &s);
	KUNIT_EXPECT_GE(test, x->c.cwnd, cwnd);
}

/* Whatever a peer reports, the outputs stay in range, and nothing is divided by zero. */
static void bbr_hostile(struct kunit *test)
{
	struct bbr_sim *x = bbr_start(test, 4000, 50000, 400);
	u32 i, n = sstp_test_rounds(200000);
	struct sstp_ctrl_packets p = {};
	struct rnd_state *r = &x->line->rnd;
	struct sstp_ctrl_sample s;

	for (i = 0; i < n; i++) {
		bbr_sample(x, &s);
		s.now += sstp_rnd_u64(r) >> sstp_rnd_range(r, 24, 63);
		x->line->now = s.now;
		x->shipped += prandom_u32_state(r) >> sstp_rnd_range(r, 8, 31);
		s.highest = x->shipped - (prandom_u32_state(r) >> sstp_rnd_range(r, 8, 31));
		s.rtt = min(prandom_u32_state(r) >> sstp_rnd_range(r, 0, 31),
			    (u32)(60 * USEC_PER_SEC));
		s.delivered = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.lost = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.undue = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.lost_ranges = sstp_rnd_below(r, 5);
		s.rate_delivered = prandom_u32_state(r) >> sstp_rnd_range(r, 0, 31);
		s.rate_interval = max(prandom_u32_state(r) >> sstp_rnd_range(r, 0, 31), 1U);
		s.tx_in_flight = prandom_u32_state(r) >> sstp_rnd_range(r, 1, 31);
		s.tx_lost = sstp_rnd_range(r, 0, s.tx_in_flight);
		s.in_flight = prandom_u32_state(r) >> sstp_rnd_range(r, 2, 31);
		s.app_limited = sstp_rnd_one_in(r, 4);
		s.cwnd_limited = sstp_rnd_one_in(r, 2);
		sstp_ctrl_bbr.on_ack(&x->c, &s);
		if (sstp_rnd_one_in(r, 50))
			sstp_ctrl_bbr.on_timeout(&x->c, &s);
		p.packets = sstp_rnd_one_in(r, 4) ? s.in_flight : 1;
		sstp_ctrl_bbr.on_pkt_sent(&x->c, &s, &p);
		KUNIT_ASSERT_GE(test, x->c.cwnd, SSTP_BBR_MIN_CWND);
		KUNIT_ASSERT_LE(test, x->c.cwnd, (u32)SSTP_WINDOW_MAX);
		KUNIT_ASSERT_GE(test, x->c.period, 1ULL);
		KUNIT_ASSERT_LE(test, bbr_of(x)->state, SSTP_BBR_PROBING_RTT);
	}
}

static struct kunit_case bbr_cases[] = {
	KUNIT_CASE(bbr_arithmetic),
	KUNIT_CASE(bbr_states),
	KUNIT_CASE(bbr_lines),
	KUNIT_CASE(bbr_drop),
	KUNIT_CASE(bbr_rise),
	KUNIT_CASE(bbr_longer),
	KUNIT_CASE(bbr_shares),
	KUNIT_CASE(bbr_undoes),
	KUNIT_CASE(bbr_idle),
	KUNIT_CASE(bbr_timeout),
	KUNIT_CASE(bbr_hostile),
	{}
};

static struct kunit_suite bbr_suite = {
	.name = "sstp_bbr",
	.test_cases = bbr_cases,
};

kunit_test_suite(bbr_suite);
