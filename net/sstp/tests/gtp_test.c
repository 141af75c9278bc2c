// SPDX-License-Identifier: GPL-2.0
/* gtp: water filling against exact shares, and groups behind a simulated link */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_gtp.c"
#include "gtp_vectors.h"

#define GTP_FRAME	1500
#define GTP_BITS	(GTP_FRAME * BITS_PER_BYTE)
#define GTP_LINK	100000		/* kbit/s */
#define GTP_PACKET_NS	120000		/* of the link */
#define GTP_QUEUE	512		/* packets: 60 ms */
#define GTP_NARROW	16		/* packets of a path of one sender's own */
#define GTP_SENDERS	16

struct gtp_member {
	struct sstp_group_member m;
	u32 want;
};

/* A group of @count members, of which nothing is known */
static struct gtp_member *gtp_group(struct kunit *test, struct sstp_group *g, u32 count)
{
	struct gtp_member *m = kunit_kcalloc(test, count, sizeof(*m), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	*g = (struct sstp_group){ .count = count };
	INIT_LIST_HEAD(&g->members);
	for (i = 0; i < count; i++)
		list_add_tail(&m[i].m.list, &g->members);
	return m;
}

/* Wants and C, and the share of those that are not satisfied, worked out by hand */
static void gtp_fill(struct kunit *test)
{
	static const struct {
		u32 count, want[6], capacity, level;
	} t[] = {
		{ 0, {}, 1000, SSTP_GTP_MAX },
		{ 1, { 0 }, 1000, SSTP_GTP_MAX },
		{ 1, { 1000 }, 1000, SSTP_GTP_MAX },
		{ 1, { 1001 }, 1000, 1000 },
		{ 1, { SSTP_GTP_MAX }, 1000, 1000 },
		{ 3, { 0, 0, 0 }, 0, SSTP_GTP_MAX },
		{ 3, { 1, 0, 1 }, 0, 0 },
		/* None is satisfied. */
		{ 4, { 500, 500, 500, 500 }, 1000, 250 },
		{ 4, { 251, SSTP_GTP_MAX, 400, 300 }, 1000, 250 },
		/* All are. */
		{ 4, { 250, 100, 200, 250 }, 1000, SSTP_GTP_MAX },
		{ 3, { 100, 200, 700 }, 1000, SSTP_GTP_MAX },
		/* (1000 - 100) / 3 = 300, then (900 - 200) / 2 = 350, whatever the order */
		{ 4, { 900, 100, 400, 200 }, 1000, 350 },
		{ 4, { 100, 200, 400, 900 }, 1000, 350 },
		{ 4, { 900, 400, 200, 100 }, 1000, 350 },
		/* One that is satisfied in each round: 100, 200, 300, 400, then what is left */
		{ 5, { 100, 200, 300, 400, 9999 }, 2000, 1000 },
		{ 6, { 1, 2, 4, 8, 16, 32 }, 60, 29 },
		{ 3, { 10, 1000, 1000 }, 1001, 495 },
	};
	struct sstp_group g;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct gtp_member *m = gtp_group(test, &g, max(t[i].count, 1U));

		g.count = t[i].count;
		if (!g.count)
			INIT_LIST_HEAD(&g.members);
		for (n = 0; n < g.count; n++)
			sstp_gtp_share_of(&m[n].m)->want = t[i].want[n];
		KUNIT_EXPECT_EQ_MSG(test, sstp_gtp_fill(&g, t[i].capacity), t[i].level,
				    "row %u", i);
	}
}

/* The sequence of gtp_reference.py */
static u32 gtp_below(u64 *state, u32 n)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(*state >> 33) % n;
}

static u32 gtp_random_want(u64 *state, u32 bits)
{
	u32 kind = gtp_below(state, 16), order;

	if (kind < 2)
		return kind ? SSTP_GTP_MAX : 0;
	order = 1U << gtp_below(state, bits);
	return order + gtp_below(state, 1U << gtp_below(state, bits));
}

static u64 gtp_sum(struct sstp_group *g, u32 level)
{
	struct sstp_group_member *m;
	u64 sum = 0;

	list_for_each_entry(m, &g->members, list)
		sum += min(sstp_gtp_share_of(m)->want, level);
	return sum;
}

/* Shares of up to 4096 members are exact; and the sum of shares is never more than C, also with
 * wants that need more rounds than there are.
 */
static void gtp_fill_many(struct kunit *test)
{
	struct gtp_member *m;
	struct sstp_group g;
	u32 i, n, level;

	for (i = 0; i < ARRAY_SIZE(gtp_fills); i++) {
		u64 state = gtp_fills[i].seed;

		m = gtp_group(test, &g, gtp_fills[i].count);
		for (n = 0; n < g.count; n++)
			sstp_gtp_share_of(&m[n].m)->want =
				gtp_random_want(&state, gtp_fills[i].bits);
		level = sstp_gtp_fill(&g, gtp_fills[i].capacity);
		KUNIT_EXPECT_EQ_MSG(test, level, gtp_fills[i].level, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, gtp_sum(&g, level), gtp_fills[i].sum, "row %u", i);
	}
	/* 29 rounds: each want is just satisfied after the one below it. */
	m = gtp_group(test, &g, 30);
	for (n = 0; n < 30; n++)
		sstp_gtp_share_of(&m[n].m)->want = 1U << n;
	for (i = 1; i < 1000000000; i += i / 7 + 1)
		KUNIT_EXPECT_LE(test, gtp_sum(&g, sstp_gtp_fill(&g, i)), (u64)i);
}

/**
 * struct gtp_sender - a sender, and the receiving half of its connection
 * @r: outputs and state of the half
 * @m: its member of the group
 * @limit: what its program writes, kbit/s; 0 = any
 * @narrow: rate of a path of its own, kbit/s; 0 = none
 * @rtt: ms
 * @start: when it starts, ms
 * @stop: when it stops, ms; 0 = never
 * @rate: at which it sends, kbit/s
 * @told: that rate is its receiver's
 * @coming: the next rate, kbit/s; it comes at @due
 * @due: ns; 0 = none comes
 * @may: when the receiver may tell the next, ns
 * @doubles: when slow start doubles the rate, ms
 * @credit: bits that it may send
 * @drain: bits that its own path may pass
 * @ship: next shipment
 * @expect: next shipment at the receiver
 * @queue: stamps and shipments of packets in its own path
 * @head: of @queue
 * @queued: packets in @queue
 * @packets: that came
 */
struct gtp_sender {
	struct sstp_recv r;
	struct sstp_group_member m;
	u32 limit;
	u32 narrow;
	u32 rtt;
	u32 start;
	u32 stop;
	u32 rate;
	bool told;
	u32 coming;
	u64 due;
	u64 may;
	u32 doubles;
	u32 credit;
	u32 drain;
	u32 ship;
	u32 expect;
	struct { u32 stamp, ship; } queue[GTP_NARROW];
	u32 head;
	u32 queued;
	u32 packets;
};

/**
 * struct gtp_net - senders, and a link to their receivers
 * @g: the group
 * @s: the senders
 * @count: how many
 * @ms: time
 * @tick: when the group ticks next, ns
 * @credit: bits that the link may pass
 * @queue: packets in the queue of the link
 * @head: of @queue
 * @queued: packets in @queue
 * @rnd: order of the senders
 */
struct gtp_net {
	struct sstp_group g;
	struct gtp_sender s[GTP_SENDERS];
	u32 count;
	u32 ms;
	u64 tick;
	u32 credit;
	struct { u32 sender, stamp, ship; } queue[GTP_QUEUE];
	u32 head;
	u32 queued;
	struct rnd_state rnd;
};

static u64 gtp_now(const struct gtp_net *w)
{
	return NSEC_PER_SEC + w->ms * (u64)NSEC_PER_MSEC;
}

static void gtp_sample(const struct gtp_sender *z, struct sstp_recv_sample *s, u64 now)
{
	*s = (struct sstp_recv_sample){
		.now = now, .srtt = z->rtt * USEC_PER_MSEC, .packet_size = GTP_FRAME,
	};
}

static struct gtp_net *gtp_net(struct kunit *test, u32 count)
{
	struct gtp_net *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct sstp_recv_sample s;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	prandom_seed_state(&w->rnd, sstp_test_seed);
	INIT_LIST_HEAD(&w->g.members);
	w->count = count;
	for (i = 0; i < count; i++) {
		w->s[i].rtt = 40;
		gtp_sample(&w->s[i], &s, gtp_now(w));
		sstp_ctrl_gtp.recv_init(&w->s[i].r, &s);
		list_add_tail(&w->s[i].m.list, &w->g.members);
		w->g.count++;
	}
	w->tick = gtp_now(w) + NSEC_PER_MSEC;
	return w;
}

static void gtp_enqueue(struct gtp_net *w, u32 sender, u32 stamp, u32 ship)
{
	u32 at = (w->head + w->queued) % GTP_QUEUE;

	if (w->queued == GTP_QUEUE)
		return;
	w->queue[at].sender = sender;
	w->queue[at].stamp = stamp;
	w->queue[at].ship = ship;
	w->queued++;
}

/* Slow start, until a rate comes: ten packets in the first round trip, then twice as many in each
 * other
 */
static void gtp_pace(struct gtp_net *w, struct gtp_sender *z)
{
	if (z->due && gtp_now(w) >= z->due) {
		z->rate = z->coming;
		z->told = true;
		z->due = 0;
	}
	if (!z->rate)
		z->rate = 10 * GTP_BITS / z->rtt;
	else if (!z->told && w->ms >= z->doubles)
		z->rate = min(2 * z->rate, (u32)GTP_LINK);
	else
		return;
	z->doubles = w->ms + z->rtt;
}

static void gtp_send(struct gtp_net *w, u32 i)
{
	struct gtp_sender *z = &w->s[i];
	u32 stamp = (u32)div_u64(gtp_now(w), NSEC_PER_USEC) + i * 1000000;

	if (w->ms < z->start || (z->stop && w->ms >= z->stop))
		return;
	gtp_pace(w, z);
	z->credit += z->limit ? min(z->limit, z->rate) : z->rate;
	while (z->credit >= GTP_BITS) {
		z->credit -= GTP_BITS;
		if (!z->narrow) {
			gtp_enqueue(w, i, stamp, z->ship);
		} else if (z->queued < GTP_NARROW) {
			u32 at = (z->head + z->queued++) % GTP_NARROW;

			z->queue[at].stamp = stamp;
			z->queue[at].ship = z->ship;
		}
		z->ship++;
	}
	z->drain = min(z->drain + z->narrow, z->queued ? U32_MAX : GTP_BITS);
	for (; z->queued && z->drain >= GTP_BITS; z->queued--) {
		gtp_enqueue(w, i, z->queue[z->head].stamp, z->queue[z->head].ship);
		z->head = (z->head + 1) % GTP_NARROW;
		z->drain -= GTP_BITS;
	}
}

static void gtp_receive(struct gtp_net *w)
{
	struct sstp_recv_sample s;
	u32 n;

	w->credit = min(w->credit + GTP_LINK, w->queued ? U32_MAX : GTP_BITS);
	for (n = 0; w->queued && w->credit >= GTP_BITS; n++) {
		struct gtp_sender *z = &w->s[w->queue[w->head].sender];
		struct sstp_ctrl_packets p = {
			.shipment = w->queue[w->head].ship, .packets = 1, .bytes = GTP_FRAME - 80,
			.stamp = w->queue[w->head].stamp,
		};

		p.gap = p.shipment - z->expect;
		z->expect = p.shipment + 1;
		z->packets++;
		gtp_sample(z, &s, gtp_now(w) + n * GTP_PACKET_NS);
		sstp_ctrl_gtp.recv_packets(&z->r, &s, &p);
		w->head = (w->head + 1) % GTP_QUEUE;
		w->queued--;
		w->credit -= GTP_BITS;
	}
}

/* The receiver tells the sender of a rate once in a round trip; it takes effect a round trip later,
 * as far as the receiver sees.
 */
static void gtp_tell(struct gtp_net *w, struct gtp_sender *z)
{
	struct sstp_recv_sample s;
	u64 now = gtp_now(w);

	if (z->r.timer && now >= z->r.timer) {
		z->r.timer = 0;
		gtp_sample(z, &s, now);
		sstp_ctrl_gtp.recv_timer(&z->r, &s);
		memcpy(z->m.report, z->r.report, sizeof(z->m.report));
		z->r.rate = z->m.rate;
	}
	if (!z->r.rate || z->due || now < z->may)
		return;
	z->coming = div_u64(z->r.rate, 1000);
	z->due = now + z->rtt * NSEC_PER_MSEC;
	z->may = z->due;
}

static void gtp_run(struct gtp_net *w, u32 ms)
{
	u32 i, first;

	for (ms += w->ms; w->ms < ms; w->ms++) {
		first = sstp_rnd_below(&w->rnd, w->count);
		for (i = 0; i < w->count; i++)
			gtp_send(w, (first + i) % w->count);
		gtp_receive(w);
		for (i = 0; i < w->count; i++)
			gtp_tell(w, &w->s[i]);
		if (gtp_now(w) >= w->tick) {
			w->g.now = gtp_now(w);
			sstp_ctrl_gtp.group_tick(&w->g);
			w->tick = gtp_now(w) + w->g.tick;
		}
	}
}

/* For 2 s sender i gets @share[i] kbit/s, or 1/20 more or less. */
static void gtp_expect(struct kunit *test, struct gtp_net *w, const u32 *share)
{
	u32 i, rate;

	for (i = 0; i < w->count; i++)
		w->s[i].packets = 0;
	gtp_run(w, 2000);
	for (i = 0; i < w->count; i++) {
		rate = w->s[i].packets * (GTP_BITS / 1000) / 2;
		KUNIT_EXPECT_LE_MSG(test, abs_diff(rate, share[i]), share[i] / 20 + 6,
				    "sender %u: %u kbit/s, not %u", i, rate, share[i]);
	}
}

/* 2 s after all start, they have equal shares: 2, 8 and 16 senders. */
static void gtp_equal(struct kunit *test)
{
	static const u32 counts[] = { 1, 2, 8, 16 };
	u32 i, n, share[GTP_SENDERS];

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct gtp_net *w = gtp_net(test, counts[i]);

		for (n = 0; n < counts[i]; n++)
			share[n] = GTP_LINK / counts[i];
		gtp_run(w, 2000);
		gtp_expect(test, w, share);
	}
}

/* Four programs write less than a share: the others have (100 - 25) / 4 Mbit/s. */
static void gtp_limits(struct kunit *test)
{
	static const u32 share[] = { 2500, 18750, 5000, 18750, 7500, 18750, 10000, 18750 };
	struct gtp_net *w = gtp_net(test, 8);
	u32 i;

	for (i = 0; i < 8; i += 2)
		w->s[i].limit = share[i];
	gtp_run(w, 2000);
	gtp_expect(test, w, share);
	/* One of them writes more: (100 - 22.5) / 5 */
	w->s[0].limit = 0;
	gtp_run(w, 2000);
	gtp_expect(test, w, (u32[]){ 15500, 15500, 5000, 15500, 7500, 15500, 10000, 15500 });
}

/* Round-trip times of 10 to 80 ms do not matter. */
static void gtp_rtts(struct kunit *test)
{
	static const u32 share[] = { 12500, 12500, 12500, 12500, 12500, 12500, 12500, 12500 };
	struct gtp_net *w = gtp_net(test, 8);
	u32 i;

	for (i = 0; i < 8; i++)
		w->s[i].rtt = 10 * (i + 1);
	gtp_run(w, 2000);
	gtp_expect(test, w, share);
}

/* Four senders come after 3 s, when the others have filled the link; those leave after 6 s. */
static void gtp_come_and_go(struct kunit *test)
{
	struct gtp_net *w = gtp_net(test, 8);
	u32 i;

	for (i = 0; i < 8; i++) {
		if (i < 4)
			w->s[i].stop = 7000;
		else
			w->s[i].start = 3000;
	}
	gtp_run(w, 2900);
	gtp_run(w, 2100);
	gtp_expect(test, w, (u32[]){ 12500, 12500, 12500, 12500, 12500, 12500, 12500, 12500 });
	gtp_run(w, 2000);
	gtp_expect(test, w, (u32[]){ 0, 0, 0, 0, 25000, 25000, 25000, 25000 });
}

/* A sender behind a link of 5 Mbit/s of its own does not hold the others back, and hardly sends
 * more than that.
 */
static void gtp_narrow(struct kunit *test)
{
	static const u32 share[] = { 5000, 31667, 31667, 31667 };
	struct gtp_net *w = gtp_net(test, 4);
	u32 ship;

	w->s[0].narrow = 5000;
	gtp_run(w, 3000);
	ship = w->s[0].ship;
	gtp_expect(test, w, share);
	KUNIT_EXPECT_LE(test, w->s[0].ship - ship, w->s[0].packets * 11 / 10);
}

/* The queue has to go at first, after 200 ticks without a cause, and after 50 with one. */
static void gtp_pauses(struct kunit *test)
{
	struct sstp_gtp_group q = {};
	u32 n;

	for (n = 0; n < 400; n++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_gtp_pause(&q, false), n % 200 < 10, "tick %u", n);
	for (n = 0; n < 60; n++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_gtp_pause(&q, n == 3), n < 10 || n >= 50,
				    "tick %u", n);
	for (n = 10; n < 200; n++)
		KUNIT_EXPECT_FALSE(test, sstp_gtp_pause(&q, false));
	/* In it the members send 7/8 of C. */
	q = (struct sstp_gtp_group){ .started = true, .link.rate = 80000 };
	KUNIT_EXPECT_EQ(test, sstp_gtp_capacity(&q, &(struct sstp_gtp_sum){}, false), 70000U);
}

/* Nothing comes: the group rests, nobody is told a rate, and nothing is divided by zero. */
static void gtp_silent(struct kunit *test)
{
	struct sstp_group g;
	struct gtp_member *m = gtp_group(test, &g, 3);
	u32 n;

	for (n = 0; n < 100; n++)
		sstp_ctrl_gtp.group_tick(&g);
	KUNIT_EXPECT_EQ(test, g.tick, (u64)SSTP_GTP_TICK_IDLE);
	for (n = 0; n < 3; n++)
		KUNIT_EXPECT_EQ(test, m[n].m.rate, 0ULL);
	m[1].m.report[0] = 1000000;
	sstp_ctrl_gtp.group_tick(&g);
	KUNIT_EXPECT_EQ(test, g.tick, (u64)SSTP_GTP_TICK);
	KUNIT_EXPECT_EQ(test, m[1].m.rate, 10000000ULL);
	KUNIT_EXPECT_EQ(test, m[0].m.rate, 0ULL);
	/* It keeps its rate in silence. */
	m[1].m.report[0] = 0;
	sstp_ctrl_gtp.group_tick(&g);
	KUNIT_EXPECT_EQ(test, m[1].m.rate, 10000000ULL);
}

/* The largest group: all have equal shares. */
static void gtp_many(struct kunit *test)
{
	struct sstp_group g;
	struct gtp_member *m = gtp_group(test, &g, SSTP_GROUP_MEMBERS);
	u32 n;

	for (n = 0; n < g.count; n++)
		m[n].m.report[0] = 1000000;
	sstp_ctrl_gtp.group_tick(&g);
	for (n = 0; n < g.count; n++)
		KUNIT_ASSERT_EQ(test, m[n].m.rate, 2000000ULL);
}

/* Whatever is reported, members are told rates in range, and none above C but the lowest. */
static void gtp_any_report(struct kunit *test)
{
	struct sstp_gtp_group *q;
	struct sstp_group g;
	struct gtp_member *m = gtp_group(test, &g, 64);
	struct rnd_state rnd;
	u32 n, i;

	sstp_test_seed_rnd(test, &rnd);
	q = (struct sstp_gtp_group *)g.priv;
	for (n = 0; n < sstp_test_rounds(20000); n++) {
		for (i = sstp_rnd_below(&rnd, 64); i < 64; i += 1 + sstp_rnd_below(&rnd, 8)) {
			m[i].m.report[0] = sstp_rnd_u64(&rnd) >> sstp_rnd_below(&rnd, 64);
			m[i].m.report[1] = sstp_rnd_u64(&rnd) >> sstp_rnd_below(&rnd, 64);
		}
		sstp_ctrl_gtp.group_tick(&g);
		KUNIT_ASSERT_LE(test, q->link.rate, SSTP_GTP_MAX);
		KUNIT_ASSERT_GE(test, q->link.rate, SSTP_GTP_FLOOR);
		for (i = 0; i < 64; i++) {
			KUNIT_ASSERT_LE(test, m[i].m.rate, SSTP_GTP_RATE_MAX);
			KUNIT_ASSERT_TRUE(test, !m[i].m.rate ||
					  m[i].m.rate >= SSTP_GTP_RATE_MIN);
		}
	}
}

/* Of a sender whose clock is seconds ahead, @packets came at @now, @late us later than they might
 * have, after @gap others were lost.
 */
static void gtp_packets(struct sstp_recv *r, u64 now, u32 packets, u32 late, u32 gap, u32 ship)
{
	struct sstp_recv_sample s = { .now = now, .srtt = 20000, .packet_size = 1500 };
	struct sstp_ctrl_packets p = {
		.shipment = ship, .packets = packets, .bytes = packets * 1400, .gap = gap,
		.stamp = (u32)div_u64(now, NSEC_PER_USEC) + 7000000 - late,
	};

	sstp_ctrl_gtp.recv_packets(r, &s, &p);
}

static void gtp_timer(struct sstp_recv *r, u64 now)
{
	struct sstp_recv_sample s = { .now = now, .srtt = 20000, .packet_size = 1500 };

	r->timer = 0;
	sstp_ctrl_gtp.recv_timer(r, &s);
}

static void gtp_measures(struct kunit *test)
{
	struct sstp_recv_sample s = { .now = NSEC_PER_SEC, .packet_size = 1500 };
	u64 now = NSEC_PER_SEC;
	struct sstp_recv r = {};
	u32 ship = 0xffffff00, n;

	sstp_ctrl_gtp.recv_init(&r, &s);
	/* 4 packets every ms: 48 Mbit/s */
	for (n = 0; n < 11; n++, now += NSEC_PER_MSEC, ship += 4)
		gtp_packets(&r, now, 4, 300 + n, 0, ship);
	KUNIT_EXPECT_EQ(test, r.timer, (u64)NSEC_PER_SEC + SSTP_GTP_SAMPLE);
	gtp_timer(&r, now);
	KUNIT_EXPECT_EQ(test, r.report[0], 48000000ULL);
	KUNIT_EXPECT_EQ(test, r.report[1], FIELD_PREP(SSTP_GTP_RTT, 20000));
	KUNIT_EXPECT_EQ(test, r.timer, now + SSTP_GTP_SAMPLE);
	/* Twice the rate, of which the mean with the last is reported; 5 ms of queue at least; five
	 * packets are lost.
	 */
	now -= NSEC_PER_MSEC;
	for (n = 1; n <= 10; n++) {
		gtp_packets(&r, now + n * NSEC_PER_MSEC, 8, 5300 + n % 3, n % 2, ship + n % 2);
		ship += 8 + n % 2;
	}
	now += 10 * NSEC_PER_MSEC;
	gtp_timer(&r, now);
	KUNIT_EXPECT_EQ(test, r.report[0], 72000000ULL);
	KUNIT_EXPECT_EQ(test, FIELD_GET(SSTP_GTP_DELAY, r.report[1]), 5000ULL);
	KUNIT_EXPECT_EQ(test, FIELD_GET(SSTP_GTP_LOST, r.report[1]), 5ULL * 1024 / 85);
	/* 3 that are missing at first are only late, and two losses may be chance. */
	gtp_packets(&r, now + NSEC_PER_MSEC, 20, 300, 3, ship + 3);
	gtp_packets(&r, now + 2 * NSEC_PER_MSEC, 3, 300, 0, ship);
	gtp_packets(&r, now + 3 * NSEC_PER_MSEC, 3, 300, 2, ship + 25);
	gtp_timer(&r, now + SSTP_GTP_SAMPLE);
	KUNIT_EXPECT_EQ(test, FIELD_GET(SSTP_GTP_LOST, r.report[1]), 0ULL);
	KUNIT_EXPECT_EQ(test, FIELD_GET(SSTP_GTP_DELAY, r.report[1]), 0ULL);
	/* Then nothing comes: first it may be a pause. */
	now += SSTP_GTP_SAMPLE;
	gtp_timer(&r, now);
	KUNIT_EXPECT_EQ(test, r.timer, now + SSTP_GTP_SAMPLE);
	KUNIT_EXPECT_NE(test, r.report[0], 0ULL);
	gtp_timer(&r, now + SSTP_GTP_SAMPLE_MAX);
	KUNIT_EXPECT_EQ(test, r.report[0], 0ULL);
	KUNIT_EXPECT_EQ(test, r.timer, 0ULL);
}

/* A few packets in a second are no silence, and make a rate. */
static void gtp_slow(struct kunit *test)
{
	struct sstp_recv_sample s = { .now = NSEC_PER_SEC, .packet_size = 1500 };
	u64 now = NSEC_PER_SEC;
	struct sstp_recv r = {};
	u32 n;

	sstp_ctrl_gtp.recv_init(&r, &s);
	for (n = 0; n < 2000; n++, now += NSEC_PER_MSEC) {
		if (n % 200 == 0)
			gtp_packets(&r, now, 1, 0, 0, n / 200);
		if (r.timer && now >= r.timer)
			gtp_timer(&r, now);
		if (n > 210)
			KUNIT_ASSERT_EQ(test, r.report[0], 60000ULL);
	}
}

/* The lowest delay counts for 5 to 10 s. */
static void gtp_drift(struct kunit *test)
{
	struct sstp_recv_sample s = { .now = NSEC_PER_SEC, .packet_size = 1500 };
	u64 now = NSEC_PER_SEC;
	struct sstp_recv r = {};
	u64 at;
	u32 n;

	sstp_ctrl_gtp.recv_init(&r, &s);
	/* The clocks drift apart by 100 us in a second. */
	for (n = 0; n < 60000; n++, now += NSEC_PER_MSEC) {
		gtp_packets(&r, now, 2, n / 10, 0, 2 * n);
		if (now >= r.timer)
			gtp_timer(&r, now);
		KUNIT_ASSERT_LE(test, FIELD_GET(SSTP_GTP_DELAY, r.report[1]), 1000ULL);
	}
	/* After a pause the old time does not count. */
	now += 60ULL * NSEC_PER_SEC;
	for (n = 0; n < 20; n++)
		gtp_packets(&r, now + n * NSEC_PER_MSEC, 2, 20000, 0, 2 * n);
	gtp_timer(&r, now + 20 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, FIELD_GET(SSTP_GTP_DELAY, r.report[1]), 0ULL);
	/* Then there is a queue of 5 ms for 12 s. */
	for (n = 20, at = now + 20 * NSEC_PER_MSEC; n < 12000; n++, at += NSEC_PER_MSEC) {
		gtp_packets(&r, at, 2, 25000, 0, 2 * n);
		if (at >= r.timer)
			gtp_timer(&r, at);
		if (n > 40 && n < 9900)
			KUNIT_ASSERT_EQ(test, FIELD_GET(SSTP_GTP_DELAY, r.report[1]), 5000ULL);
	}
	KUNIT_EXPECT_EQ(test, FIELD_GET(SSTP_GTP_DELAY, r.report[1]), 0ULL);
}

/* Whatever packets come, reports are in range. */
static void gtp_any_packets(struct kunit *test)
{
	struct sstp_recv_sample s = {};
	struct sstp_ctrl_packets p = {};
	struct sstp_recv r = {};
	struct rnd_state rnd;
	u32 n;

	sstp_test_seed_rnd(test, &rnd);
	sstp_ctrl_gtp.recv_init(&r, &s);
	for (n = 0; n < sstp_test_rounds(100000); n++) {
		s.now += sstp_rnd_edge(&rnd);
		s.srtt = sstp_rnd_edge(&rnd);
		s.packet_size = sstp_rnd_edge(&rnd);
		p.shipment = sstp_rnd_edge(&rnd);
		p.packets = sstp_rnd_edge(&rnd);
		p.bytes = sstp_rnd_edge(&rnd);
		p.gap = sstp_rnd_edge(&rnd);
		p.stamp = sstp_rnd_edge(&rnd);
		sstp_ctrl_gtp.recv_packets(&r, &s, &p);
		if (sstp_rnd_one_in(&rnd, 3)) {
			s.now += sstp_rnd_edge(&rnd);
			r.timer = 0;
			sstp_ctrl_gtp.recv_timer(&r, &s);
		}
		KUNIT_ASSERT_LE(test, r.report[0], SSTP_GTP_RATE_MAX);
		KUNIT_ASSERT_LE(test, FIELD_GET(SSTP_GTP_DELAY, r.report[1]),
				(u64)SSTP_GTP_TIME_MAX);
		KUNIT_ASSERT_LE(test, FIELD_GET(SSTP_GTP_LOST, r.report[1]), 1024ULL);
	}
}

/* The sender paces at the rate that it is told, and the window is twice what that has in flight. */
static void gtp_sender(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_gtp, 38000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 10U);
	x.s.peer_rate = 12000000;
	ctrl_sim_ack(&x, 1, 38000);
	KUNIT_EXPECT_EQ(test, x.c.period, 1000000ULL);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2 * 40 + 10U);
	/* Losses change nothing; the receiver sees them as well. */
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.period, 1000000ULL);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 90U);
	/* Each time-out halves the rate, each round trip after it doubles it. */
	x.s.shipped += 40;
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.period, 2000000ULL);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 50U);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.period, 4000000ULL);
	ctrl_sim_ack(&x, 39, 38000);
	KUNIT_EXPECT_EQ(test, x.c.period, 4000000ULL);
	x.s.shipped += 20;
	ctrl_sim_ack(&x, 1, 38000);
	KUNIT_EXPECT_EQ(test, x.c.period, 2000000ULL);
	ctrl_sim_ack(&x, 19, 38000);
	KUNIT_EXPECT_EQ(test, x.c.period, 2000000ULL);
	ctrl_sim_ack(&x, 1, 38000);
	KUNIT_EXPECT_EQ(test, x.c.period, 1000000ULL);
	ctrl_sim_ack(&x, 1, 38000);
	KUNIT_EXPECT_EQ(test, x.c.period, 1000000ULL);
	/* The receiver's half is gone: newreno, in slow start to what is in flight */
	x.s.peer_rate = 0;
	x.s.in_flight = 30;
	ctrl_sim_ack(&x, 1, 38000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 11U);
	ctrl_sim_round(&x, 1, 38000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 22U);
	ctrl_sim_avoid(&x, 30);
	ctrl_sim_round(&x, 1, 38000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 31U);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 15U);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
}

/* A round trip of 20 packets: @delivered of them and one are delivered, 10 are lost. */
static void gtp_lossy_round(struct ctrl_sim *x, u32 delivered)
{
	struct sstp_ctrl_sample s;

	ctrl_sim_ack(x, delivered, 38000);
	s = x->s;
	s.lost = 10;
	x->ops->on_loss(&x->c, &s);
	/* The report that ends it comes when 20 more have left. */
	x->s.highest = x->s.shipped - 1;
	x->s.shipped += 20;
	ctrl_sim_ack(x, 1, 38000);
}

/* Where more is lost than delivered, the rate is halved each round trip, and comes back. */
static void gtp_lossy(struct kunit *test, u32 first)
{
	struct ctrl_sim x;
	u32 n;

	ctrl_sim_start(&x, &sstp_ctrl_gtp, 38000);
	x.s.highest = first;
	x.s.shipped = first;
	/* Newreno first */
	ctrl_sim_ack(&x, 0, 38000);
	x.s.peer_rate = 12000000;
	x.s.shipped += 20;
	ctrl_sim_ack(&x, 0, 38000);
	for (n = 0; n < 4; n++) {
		u64 period = x.c.period;

		gtp_lossy_round(&x, 5);
		KUNIT_EXPECT_EQ(test, x.c.period, 2 * period);
	}
	/* As many delivered as lost */
	for (; n > 0; n--) {
		u64 period = x.c.period;

		gtp_lossy_round(&x, 9);
		KUNIT_EXPECT_EQ(test, x.c.period, period / 2);
	}
	KUNIT_EXPECT_EQ(test, x.c.period, 1000000ULL);
}

/* Wherever the numbers of shipments start */
static void gtp_sender_losses(struct kunit *test)
{
	static const u32 first[] = { 0, 1, S32_MAX, BIT(31), 3 * BIT(30), -30, U32_MAX };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(first); i++)
		gtp_lossy(test, first[i]);
}

/* Whatever rate the peer wants, outputs are in range. */
static void gtp_any_rate(struct kunit *test)
{
	struct rnd_state rnd;
	struct ctrl_sim x;
	u32 n;

	sstp_test_seed_rnd(test, &rnd);
	ctrl_sim_start(&x, &sstp_ctrl_gtp, 40000);
	for (n = 0; n < sstp_test_rounds(100000); n++) {
		x.s.peer_rate = sstp_rnd_u64(&rnd) >> sstp_rnd_below(&rnd, 64);
		if (sstp_rnd_one_in(&rnd, 8))
			x.s.peer_rate = 0;
		x.s.srtt = min_t(u32, sstp_rnd_edge(&rnd), 60 * USEC_PER_SEC);
		x.s.packet_size = sstp_rnd_edge(&rnd);
		x.s.highest = sstp_rnd_edge(&rnd);
		x.s.shipped = sstp_rnd_edge(&rnd);
		x.s.flight = sstp_rnd_edge(&rnd);
		ctrl_sim_ack(&x, sstp_rnd_below(&rnd, 10000), 40000);
		if (sstp_rnd_one_in(&rnd, 4))
			ctrl_sim_loss(&x);
		if (sstp_rnd_one_in(&rnd, 16))
			x.ops->on_timeout(&x.c, &x.s);
		KUNIT_ASSERT_GE(test, x.c.cwnd, (u32)SSTP_WINDOW_MIN);
		KUNIT_ASSERT_LE(test, x.c.cwnd, (u32)SSTP_WINDOW_MAX);
		if (sstp_gtp_priv(&x.c)->rate)
			KUNIT_ASSERT_LE(test, x.c.period, 9ULL * NSEC_PER_SEC);
	}
}

static struct kunit_case gtp_cases[] = {
	KUNIT_CASE(gtp_fill),
	KUNIT_CASE(gtp_fill_many),
	KUNIT_CASE(gtp_equal),
	KUNIT_CASE(gtp_limits),
	KUNIT_CASE(gtp_rtts),
	KUNIT_CASE(gtp_come_and_go),
	KUNIT_CASE(gtp_narrow),
	KUNIT_CASE(gtp_pauses),
	KUNIT_CASE(gtp_silent),
	KUNIT_CASE(gtp_many),
	KUNIT_CASE(gtp_any_report),
	KUNIT_CASE(gtp_measures),
	KUNIT_CASE(gtp_slow),
	KUNIT_CASE(gtp_drift),
	KUNIT_CASE(gtp_any_packets),
	KUNIT_CASE(gtp_sender),
	KUNIT_CASE(gtp_sender_losses),
	KUNIT_CASE(gtp_any_rate),
	{}
};

static struct kunit_suite gtp_suite = {
	.name = "sstp_gtp",
	.test_cases = gtp_cases,
};

kunit_test_suite(gtp_suite);
