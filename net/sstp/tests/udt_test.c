// SPDX-License-Identifier: GPL-2.0
/* udt: its equations against exact arithmetic, loss epochs, and both halves on simulated paths */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_udt.c"
#include "udt_vectors.h"

static void udt_tell(struct ctrl_sim *x, u32 arrival, u32 capacity)
{
	struct sstp_ctrl_msg m = { .kind = SSTP_UDT_RATES, .len = 2 * sizeof(__be32) };
	__be32 v[2] = { cpu_to_be32(arrival), cpu_to_be32(capacity) };

	memcpy(m.data, v, sizeof(v));
	x->ops->on_message(&x->c, &x->s, &m);
}

/* A SYN passes, in which @delivered packets are delivered. */
static void udt_syn(struct ctrl_sim *x, u32 delivered)
{
	ctrl_sim_ack(x, delivered, 0);
	x->s.now += SSTP_UDT_SYN;
	x->c.timer = 0;
	x->ops->on_timer(&x->c, &x->s);
}

/* A report of losses, the newest of them @ship */
static void udt_nak(struct ctrl_sim *x, u32 ship)
{
	struct sstp_ctrl_sample s = x->s;

	s.lost = 1;
	s.lost_ship = ship;
	x->ops->on_loss(&x->c, &s);
}

/* A connection after slow start, that sends @rate packets/s, knows A and L, and had another rate
 * before the last decrease
 */
static void udt_run(struct ctrl_sim *x, u32 rate, u32 last, u32 capacity, u32 size)
{
	struct sstp_udt *u;

	ctrl_sim_start(x, &sstp_ctrl_udt, 40000);
	x->s.packet_size = size;
	udt_tell(x, rate, capacity);
	u = sstp_udt_priv(&x->c);
	u->slow_start = false;
	u->last_rate = (u64)last << SSTP_UDT_SHIFT;
	sstp_udt_set_rate(&x->c, u, (u64)rate << SSTP_UDT_SHIFT);
}

static void udt_increase(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(udt_steps); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_udt_step(udt_steps[i].spare, udt_steps[i].size),
				    udt_steps[i].step, "row %u", i);
}

/* Rate, rate before the last decrease, L, and B */
static void udt_spare(struct kunit *test)
{
	static const struct {
		u64 rate, last;
		u32 capacity, spare;
	} t[] = {
		{ 5000, 8000, 9000, 1000 }, { 5000, 5000, 9000, 4000 }, { 5000, 4000, 9000, 4000 },
		{ 8500, 8800, 9000, 500 }, { 9000, 9999, 9000, 0 }, { 12000, 9000, 9000, 0 },
		{ 5000, 8000, 0, 0 }, { 1, 100, 8, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_udt u = {
			.rate = t[i].rate << SSTP_UDT_SHIFT,
			.last_rate = t[i].last << SSTP_UDT_SHIFT,
			.capacity = t[i].capacity,
		};

		KUNIT_EXPECT_EQ_MSG(test, sstp_udt_spare(&u), t[i].spare, "row %u", i);
	}
}

static void udt_window(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(udt_windows); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_udt_window(udt_windows[i].arrival,
							  udt_windows[i].srtt),
				    udt_windows[i].window, "row %u", i);
}

/* The rate after any number of SYN is that of the recursion of P, but for rounding of the steps. */
static void udt_growth(struct kunit *test)
{
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(udt_growths); i++) {
		struct ctrl_sim x;
		u64 milli;

		udt_run(&x, udt_growths[i].rate, udt_growths[i].last, udt_growths[i].capacity,
			udt_growths[i].size);
		for (n = 0; n < udt_growths[i].syns; n++)
			udt_syn(&x, 2000000);
		milli = sstp_udt_priv(&x.c)->rate * 1000 >> SSTP_UDT_SHIFT;
		KUNIT_EXPECT_LE_MSG(test, abs_diff(milli, udt_growths[i].milli),
				    div_u64(udt_growths[i].milli, 1000000) + 1,
				    "row %u: %llu", i, milli);
		KUNIT_EXPECT_EQ_MSG(test, x.c.period,
				    div64_u64((u64)NSEC_PER_SEC << SSTP_UDT_SHIFT,
					      sstp_udt_priv(&x.c)->rate), "row %u", i);
	}
}

/* The rate does not grow in a SYN with losses, without deliveries, or if it is not used. */
static void udt_no_growth(struct kunit *test)
{
	struct ctrl_sim x;
	u64 rate;

	udt_run(&x, 10000, 0, 20000, 1500);
	rate = sstp_udt_priv(&x.c)->rate;
	udt_syn(&x, 0);
	KUNIT_EXPECT_EQ(test, sstp_udt_priv(&x.c)->rate, rate);
	KUNIT_EXPECT_EQ_MSG(test, x.c.timer, 0ULL, "the timer rests");
	udt_syn(&x, 49);
	KUNIT_EXPECT_EQ(test, sstp_udt_priv(&x.c)->rate, rate);
	KUNIT_EXPECT_EQ(test, x.c.timer, x.s.now + SSTP_UDT_SYN);
	udt_syn(&x, 50);
	KUNIT_EXPECT_GT(test, sstp_udt_priv(&x.c)->rate, rate);
	/* A late report of a loss from before the last decrease, which changes no rate */
	sstp_udt_priv(&x.c)->epoch = x.s.shipped;
	sstp_udt_priv(&x.c)->every = 10;
	sstp_udt_priv(&x.c)->naks = 1;
	rate = sstp_udt_priv(&x.c)->rate;
	udt_nak(&x, x.s.shipped);
	udt_syn(&x, 100);
	KUNIT_EXPECT_EQ(test, sstp_udt_priv(&x.c)->rate, rate);
	udt_syn(&x, 100);
	KUNIT_EXPECT_GT(test, sstp_udt_priv(&x.c)->rate, rate);
}

/* Slow start: the window grows by what is delivered in a SYN, and doubles at most, until it is
 * not used.
 */
static void udt_slow_start(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 16U);
	KUNIT_EXPECT_EQ(test, x.c.period, 0ULL);
	KUNIT_EXPECT_EQ(test, x.c.ack_timer, 10000U);
	udt_syn(&x, 5);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 21U);
	udt_syn(&x, 100);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 42U);
	x.s.flight = 21;
	udt_syn(&x, 10);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 42U);
	x.s.flight = SSTP_WINDOW_MAX;
	/* A loss ends it: 42 packets in 50 ms. */
	udt_nak(&x, ++x.s.shipped);
	KUNIT_EXPECT_FALSE(test, sstp_udt_priv(&x.c)->slow_start);
	/* and, as that is only guessed, begins a loss epoch. */
	KUNIT_EXPECT_EQ(test, sstp_udt_priv(&x.c)->last_rate, 840ULL << SSTP_UDT_SHIFT);
	KUNIT_EXPECT_EQ(test, x.c.period, NSEC_PER_SEC * 9ULL / 8 / 840);

	/* If A is known, it is the rate. */
	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	udt_tell(&x, 8000, 9000);
	udt_nak(&x, ++x.s.shipped);
	KUNIT_EXPECT_EQ(test, x.c.period, 125000ULL);
	KUNIT_EXPECT_EQ(test, sstp_udt_priv(&x.c)->last_rate, U64_MAX);
	udt_syn(&x, 100);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 8000 / 20 + 16U);

	/* So does a time-out, which changes nothing later. */
	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	udt_tell(&x, 8000, 9000);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.period, 125000ULL);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.period, 125000ULL);

	/* So does the largest window. */
	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	udt_tell(&x, 8000, 9000);
	x.c.cwnd = SSTP_WINDOW_MAX - 1;
	udt_syn(&x, 2);
	KUNIT_EXPECT_FALSE(test, sstp_udt_priv(&x.c)->slow_start);
	KUNIT_EXPECT_LE(test, x.c.period, 125000ULL);

	/* A live connection goes on with 100 packets in 40 ms. */
	x = (struct ctrl_sim){ .ops = &sstp_ctrl_udt,
			       .s.srtt = 40000, .s.in_flight = 100, .s.shipped = 7 };
	x.ops->init(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 100U);
	KUNIT_EXPECT_EQ(test, x.c.period, 400000ULL);
	udt_nak(&x, 7);
	KUNIT_EXPECT_EQ(test, sstp_udt_priv(&x.c)->last_rate, U64_MAX);
	udt_nak(&x, 8);
	KUNIT_EXPECT_EQ(test, sstp_udt_priv(&x.c)->last_rate, 2500ULL << SSTP_UDT_SHIFT);
}

/* (8/9)^@n of @rate */
static u64 udt_decreased(u64 rate, u32 n)
{
	while (n--)
		rate = div_u64(rate * 8, 9);
	return rate;
}

/* A loss epoch: six decreases at most, one for each @every-th report */
static void udt_epochs(struct kunit *test)
{
	const u64 rate = 80000ULL << SSTP_UDT_SHIFT;
	u32 every, n, ship;
	struct sstp_udt *u;
	struct ctrl_sim x;

	for (every = 1; every <= 7; every++) {
		udt_run(&x, 80000, 0, 90000, 1500);
		u = sstp_udt_priv(&x.c);
		x.s.shipped = U32_MAX - 3;	/* numbers wrap */
		u->epoch = x.s.shipped - 10;
		ship = x.s.shipped;
		udt_nak(&x, ship);
		KUNIT_EXPECT_EQ(test, u->last_rate, rate);
		KUNIT_EXPECT_EQ(test, u->rate, udt_decreased(rate, 1));
		KUNIT_EXPECT_EQ(test, u->every, 1U);
		u->every = every;
		x.s.shipped += 10;
		for (n = 2; n <= 100; n++) {
			udt_nak(&x, ship);
			KUNIT_EXPECT_EQ_MSG(test, u->rate,
					    udt_decreased(rate, 1 + min(every == 1 ? n - 1 :
									n / every, 5U)),
					    "every %u, report %u", every, n);
		}
		KUNIT_EXPECT_EQ(test, u->naks, 100U);
		KUNIT_EXPECT_EQ(test, u->decreases, 5U);
		KUNIT_EXPECT_EQ(test, u->epoch, x.s.shipped);
		KUNIT_EXPECT_EQ(test, u->last_rate, rate);
		/* The next epoch: a mean of ceil((7 * 1 + 100) / 8) reports */
		KUNIT_EXPECT_EQ(test, u->avg_naks, 0U);
		udt_nak(&x, ++x.s.shipped);
		KUNIT_EXPECT_EQ(test, u->avg_naks, 13U);
		KUNIT_EXPECT_EQ(test, u->naks, 1U);
		KUNIT_EXPECT_EQ(test, u->decreases, 0U);
		KUNIT_EXPECT_EQ(test, u->rate, udt_decreased(rate, 7));
		KUNIT_EXPECT_EQ(test, u->last_rate, udt_decreased(rate, 6));
		KUNIT_EXPECT_GE(test, u->every, 1U);
		KUNIT_EXPECT_LE(test, u->every, 13U);
	}
	/* The last decrease does not seem to lie ahead after 2^31 shipments. */
	for (n = 0; n < 300; n++) {
		x.s.shipped += 15000000;
		x.s.highest = x.s.shipped;
		udt_syn(&x, 1);
	}
	udt_nak(&x, x.s.shipped);
	KUNIT_EXPECT_EQ(test, u->epoch, x.s.shipped);
}

/* Draws of consecutive numbers are spread evenly. */
static void udt_draws(struct kunit *test)
{
	u32 count[10] = {}, i;

	for (i = 0; i < 10000; i++) {
		u32 n = sstp_udt_draw(0xfffff000 + i, ARRAY_SIZE(count));

		KUNIT_ASSERT_GE(test, n, 1U);
		KUNIT_ASSERT_LE(test, n, (u32)ARRAY_SIZE(count));
		count[n - 1]++;
	}
	for (i = 0; i < ARRAY_SIZE(count); i++)
		KUNIT_EXPECT_LE_MSG(test, abs_diff(count[i], 1000U), 20U, "%u: %u", i + 1,
				    count[i]);
	KUNIT_EXPECT_EQ(test, sstp_udt_draw(U32_MAX, 0), 1U);
	KUNIT_EXPECT_EQ(test, sstp_udt_draw(U32_MAX, 1), 1U);
	KUNIT_EXPECT_LE(test, sstp_udt_draw(12345, U32_MAX), U32_MAX);
}

static void udt_filter(struct kunit *test)
{
	struct sstp_udt_ring g;
	u32 i, n, e, v;

	for (i = 0; i < ARRAY_SIZE(udt_filters); i++) {
		g = (struct sstp_udt_ring){};
		/* Older values are forgotten. */
		for (n = 0; udt_filters[i].count == SSTP_UDT_VALUES && n < i; n++)
			sstp_udt_add(&g, 123);
		for (n = 0; n < udt_filters[i].count; n++)
			sstp_udt_add(&g, udt_filters[i].value[n]);
		KUNIT_EXPECT_EQ_MSG(test, sstp_udt_filter(&g, g.count / 2), udt_filters[i].half,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_udt_filter(&g, 0), udt_filters[i].any, "row %u", i);
	}
	g = (struct sstp_udt_ring){};
	KUNIT_EXPECT_EQ(test, sstp_udt_filter(&g, 0), 0U);
	sstp_udt_add(&g, 0);
	KUNIT_EXPECT_EQ(test, sstp_udt_filter(&g, 0), SSTP_UDT_MAX);
	/* Packed values are rounded down by less than 1/1024, and keep their order. */
	for (e = 0; e < 32; e++) {
		for (n = 0; n < 100; n++) {
			v = (1U << e) + (u32)(((u64)n << e) / 100);
			KUNIT_EXPECT_LE(test, sstp_udt_unpack(sstp_udt_pack(v)), v);
			KUNIT_EXPECT_LE(test, v - sstp_udt_unpack(sstp_udt_pack(v)), v / 1024);
			KUNIT_EXPECT_LE(test, sstp_udt_pack(v - 1), sstp_udt_pack(v));
		}
	}
	KUNIT_EXPECT_EQ(test, sstp_udt_unpack(sstp_udt_pack(U32_MAX)), 2047U << 21);
}

/**
 * struct udt_link - a receiving half behind a bottleneck
 * @r: outputs and state of the half
 * @s: its connection
 * @now: time when the bottleneck is idle again, ns
 * @ship: next shipment
 */
struct udt_link {
	struct sstp_recv r;
	struct sstp_recv_sample s;
	u64 now;
	u32 ship;
};

/* At @left (ns) a train of @packets of 1400 bytes leaves; the bottleneck needs @each ns for one.
 * They come one by one, or as one train.
 */
static void udt_train(struct udt_link *l, u64 left, u32 packets, u32 each, bool joined)
{
	struct sstp_ctrl_packets p = { .stamp = (u32)div_u64(left, NSEC_PER_USEC) - 5000 };
	u32 n;

	l->now = max(l->now, left);
	for (n = 0; n < packets; n += p.packets) {
		p.packets = joined ? packets : 1;
		p.bytes = p.packets * 1400;
		p.shipment = l->ship;
		l->ship += p.packets;
		l->now += each * p.packets;
		l->s.now = l->now;
		sstp_ctrl_udt.recv_packets(&l->r, &l->s, &p);
		if (l->r.timer && l->r.timer <= l->now) {
			l->r.timer = 0;
			sstp_ctrl_udt.recv_timer(&l->r, &l->s);
		}
	}
}

static u32 udt_told(const struct udt_link *l, u32 n)
{
	__be32 v[2];

	memcpy(v, l->r.msg.data, sizeof(v));
	return be32_to_cpu(v[n]);
}

/* Trains every ms at half of the capacity: A is that rate, and L the capacity. */
static void udt_measures(struct kunit *test)
{
	static const struct {
		u32 each, packets;
	} t[] = {
		{ 120000, 4 }, { 12000, 40 }, { 1200, 400 }, { 300000, 2 }, { 2000000, 2 },
	};
	u32 i, n, joined, arrival, capacity;

	for (i = 0; i < 2 * ARRAY_SIZE(t); i++) {
		u32 each = t[i / 2].each, packets = t[i / 2].packets;
		struct udt_link l = { .ship = 0xfffffff0, .now = NSEC_PER_SEC };
		u64 gap = 2ULL * each * packets, start = NSEC_PER_SEC;

		joined = i % 2;
		l.s.packet_size = 1500;
		sstp_ctrl_udt.recv_init(&l.r, &l.s);
		for (n = 0; n < 200; n++) {
			/* Halves of a train leave together, so even joined ones form pairs. */
			udt_train(&l, start + n * gap, packets / 2, each, joined);
			udt_train(&l, start + n * gap + 1000, packets - packets / 2, each, joined);
		}
		arrival = NSEC_PER_SEC / each / 2;
		capacity = NSEC_PER_SEC / each;
		KUNIT_EXPECT_EQ(test, l.r.msg.kind, (u16)SSTP_UDT_RATES);
		KUNIT_EXPECT_EQ(test, l.r.msg.len, (u16)8);
		KUNIT_EXPECT_LE_MSG(test, abs_diff(udt_told(&l, 1), capacity), capacity / 50 + 1,
				    "row %u: L %u", i, udt_told(&l, 1));
		/* A slow link's intervals are those within a train and those between trains. */
		if (each < 100000)
			KUNIT_EXPECT_LE_MSG(test, abs_diff(udt_told(&l, 0), arrival), arrival / 10,
					    "row %u: A %u", i, udt_told(&l, 0));
		else
			KUNIT_EXPECT_GE_MSG(test, udt_told(&l, 0), arrival * 9 / 10,
					    "row %u: A %u", i, udt_told(&l, 0));
	}
}

/* Without a queue, with losses, and after a pause there is no sample of L. */
static void udt_no_pairs(struct kunit *test)
{
	struct udt_link l = { .now = NSEC_PER_SEC };
	struct sstp_udt_recv *u = sstp_udt_recv_priv(&l.r);
	u32 n;

	for (n = 0; n < 100; n++) {
		udt_train(&l, l.now + NSEC_PER_MSEC, 1, 1000, false);
		KUNIT_EXPECT_EQ(test, u->capacity.count, 0);
	}
	for (n = 0; n < 100; n++) {
		l.ship++;
		udt_train(&l, l.now, 1, 200000, false);
	}
	KUNIT_EXPECT_EQ(test, u->capacity.count, 0);
	/* The stamps lie: a train that left before the last, and one that waited for seconds */
	udt_train(&l, NSEC_PER_SEC, 1, 200000, false);
	udt_train(&l, NSEC_PER_SEC, 1, 3000000000U, false);
	KUNIT_EXPECT_EQ(test, u->capacity.count, 0);
	/* 1400 bytes in 200 us */
	udt_train(&l, l.now, 2, 200000, false);
	KUNIT_EXPECT_GE(test, u->capacity.count, 1);
	KUNIT_EXPECT_LE(test, abs_diff(sstp_udt_filter(&u->capacity, 0), 5000U), 5U);
}

/* A message every SYN in which something came, and none else */
static void udt_reports(struct kunit *test)
{
	struct udt_link l = { .now = NSEC_PER_SEC };
	u32 n;

	udt_train(&l, l.now, 40, 100000, false);
	KUNIT_EXPECT_NE(test, l.r.timer, 0ULL);
	for (n = 0; n < 3; n++) {
		l.r.msg.kind = 0;
		l.s.now += SSTP_UDT_SYN;
		l.r.timer = 0;
		sstp_ctrl_udt.recv_timer(&l.r, &l.s);
		KUNIT_EXPECT_EQ(test, l.r.msg.kind, (u16)(n ? 0 : SSTP_UDT_RATES));
		KUNIT_EXPECT_EQ(test, l.r.timer, n ? 0 : l.s.now + SSTP_UDT_SYN);
	}
	l.now = l.s.now;
	udt_train(&l, l.now, 1, 100000, false);
	KUNIT_EXPECT_EQ(test, l.r.timer, l.now + SSTP_UDT_SYN);
}

/* What the receiver sends is what the sender takes, smoothed by 7/8; it ignores all else. */
static void udt_messages(struct kunit *test)
{
	struct sstp_ctrl_msg m = { .kind = SSTP_UDT_RATES, .len = 8 };
	struct sstp_udt *u;
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	u = sstp_udt_priv(&x.c);
	memcpy(m.data, "\x00\x00\x10\x00\x00\x01\x00\x00", 8);
	x.ops->on_message(&x.c, &x.s, &m);
	KUNIT_EXPECT_EQ(test, u->arrival, 0x1000U);
	KUNIT_EXPECT_EQ(test, u->capacity, 0x10000U);
	udt_tell(&x, 0x2000, 0);
	KUNIT_EXPECT_EQ(test, u->arrival, 0x1200U);
	KUNIT_EXPECT_EQ(test, u->capacity, 0x10000U);
	udt_tell(&x, 0, 0x8000);
	KUNIT_EXPECT_EQ(test, u->arrival, 0x1200U);
	KUNIT_EXPECT_EQ(test, u->capacity, 0xf000U);
	m.kind = 2;
	x.ops->on_message(&x.c, &x.s, &m);
	m.kind = SSTP_UDT_RATES;
	m.len = 7;
	x.ops->on_message(&x.c, &x.s, &m);
	KUNIT_EXPECT_EQ(test, u->arrival, 0x1200U);
	/* A later version may add to it. */
	m.len = 12;
	x.ops->on_message(&x.c, &x.s, &m);
	KUNIT_EXPECT_EQ(test, u->arrival, 0x11c0U);
	udt_tell(&x, U32_MAX, U32_MAX);
	KUNIT_EXPECT_LE(test, u->arrival, SSTP_UDT_MAX);
	KUNIT_EXPECT_LE(test, u->capacity, SSTP_UDT_MAX);
}

static void udt_sample(struct ctrl_sim *x, u32 delivered, u32 us, bool app_limited)
{
	struct sstp_ctrl_sample s = x->s;

	s.delivered = delivered;
	s.rate_delivered = delivered;
	s.rate_interval = us;
	s.app_limited = app_limited;
	x->ops->on_ack(&x->c, &s);
}

/* Without a receiving half: A is the mean delivery rate, L the highest of two loss epochs. */
static void udt_alone(struct kunit *test)
{
	struct sstp_udt *u;
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	u = sstp_udt_priv(&x.c);
	udt_sample(&x, 100, 10000, false);
	KUNIT_EXPECT_EQ(test, u->arrival, 10000U);
	KUNIT_EXPECT_EQ(test, u->capacity, 10000U);
	udt_sample(&x, 80, 10000, false);
	KUNIT_EXPECT_EQ(test, u->arrival, 10000U);
	/* A sample with a program that writes little says nothing, unless it is larger. */
	udt_sample(&x, 10, 10000, true);
	KUNIT_EXPECT_EQ(test, u->arrival, 10000U);
	udt_sample(&x, 110, 10000, true);
	KUNIT_EXPECT_EQ(test, u->arrival, 11000U);
	KUNIT_EXPECT_EQ(test, u->capacity, 11000U);
	/* Slow start ends; then two loss epochs */
	udt_nak(&x, ++x.s.shipped);
	KUNIT_EXPECT_EQ(test, u->rate, 11000ULL << SSTP_UDT_SHIFT);
	udt_sample(&x, 190, 10000, false);
	KUNIT_EXPECT_EQ(test, u->arrival, 12000U);
	KUNIT_EXPECT_EQ(test, u->capacity, 19000U);
	udt_nak(&x, x.s.shipped);
	udt_sample(&x, 120, 10000, false);
	KUNIT_EXPECT_EQ(test, u->capacity, 19000U);
	udt_nak(&x, ++x.s.shipped);
	udt_sample(&x, 110, 10000, false);
	KUNIT_EXPECT_EQ(test, u->capacity, 12000U);
	/* A message replaces them. */
	udt_tell(&x, 5000, 0);
	KUNIT_EXPECT_EQ(test, u->arrival, 5000U);
	KUNIT_EXPECT_EQ(test, u->capacity, 0U);
	udt_sample(&x, 110, 10000, false);
	KUNIT_EXPECT_EQ(test, u->arrival, 5000U);
}

static void udt_info(struct kunit *test)
{
	s64 state[SSTP_STATE_MAX] = {};
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	x.ops->get_info(&x.c, state);
	KUNIT_EXPECT_EQ(test, state[0], 1LL);
	KUNIT_EXPECT_EQ(test, state[3], 0LL);
	udt_tell(&x, 1000, 2000);
	udt_nak(&x, ++x.s.shipped);
	udt_nak(&x, x.s.shipped);
	x.ops->get_info(&x.c, state);
	KUNIT_EXPECT_EQ(test, state[0], 0LL);
	KUNIT_EXPECT_EQ(test, state[1], 1000LL);
	KUNIT_EXPECT_EQ(test, state[2], 2000LL);
	KUNIT_EXPECT_EQ(test, state[3], 1000000LL);
	KUNIT_EXPECT_EQ(test, state[4], 1LL);
	KUNIT_EXPECT_EQ(test, state[6], 1LL);
	KUNIT_EXPECT_EQ(test, state[7], 0LL);
}

/* Whatever the network brings, outputs stay in range. */
static void udt_any(struct kunit *test)
{
	struct sstp_recv_sample rs = { .packet_size = 1500 };
	struct sstp_ctrl_packets p = {};
	struct sstp_recv r = {};
	struct ctrl_sim x;
	struct rnd_state rnd;
	u32 n;

	sstp_test_seed_rnd(test, &rnd);
	ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
	for (n = 0; n < sstp_test_rounds(100000); n++) {
		struct sstp_ctrl_sample s = x.s;

		if (sstp_rnd_one_in(&rnd, 1000))
			ctrl_sim_start(&x, &sstp_ctrl_udt, 40000);
		x.s.now += sstp_rnd_edge(&rnd);
		x.s.srtt = min_t(u32, sstp_rnd_edge(&rnd), 60 * USEC_PER_SEC);
		x.s.shipped += sstp_rnd_edge(&rnd);
		x.s.flight = sstp_rnd_edge(&rnd);
		x.s.packet_size = sstp_rnd_edge(&rnd);
		x.s.highest = sstp_rnd_edge(&rnd);
		s = x.s;
		s.delivered = sstp_rnd_edge(&rnd);
		s.rate_delivered = sstp_rnd_edge(&rnd);
		s.rate_interval = max(sstp_rnd_edge(&rnd), 1U);
		s.lost_ship = sstp_rnd_edge(&rnd);
		s.lost = 1;
		x.ops->on_ack(&x.c, &s);
		if (sstp_rnd_one_in(&rnd, 4))
			x.ops->on_loss(&x.c, &s);
		if (sstp_rnd_one_in(&rnd, 50))
			x.ops->on_timeout(&x.c, &x.s);
		if (sstp_rnd_one_in(&rnd, 8))
			udt_tell(&x, sstp_rnd_edge(&rnd), sstp_rnd_edge(&rnd));
		x.c.timer = 0;
		x.ops->on_timer(&x.c, &x.s);
		KUNIT_ASSERT_GE(test, x.c.cwnd, SSTP_UDT_WINDOW);
		KUNIT_ASSERT_LE(test, x.c.cwnd, (u32)SSTP_WINDOW_MAX);
		KUNIT_ASSERT_LE(test, x.c.period, (u64)NSEC_PER_SEC);
		KUNIT_ASSERT_TRUE(test, x.c.period || sstp_udt_priv(&x.c)->slow_start);

		rs.now += sstp_rnd_edge(&rnd);
		p.shipment = sstp_rnd_one_in(&rnd, 4) ? sstp_rnd_edge(&rnd) :
			     p.shipment + p.packets;
		p.packets = sstp_rnd_edge(&rnd);
		p.bytes = sstp_rnd_edge(&rnd);
		p.stamp = sstp_rnd_edge(&rnd);
		sstp_ctrl_udt.recv_packets(&r, &rs, &p);
		r.timer = 0;
		sstp_ctrl_udt.recv_timer(&r, &rs);
		KUNIT_ASSERT_LE(test, sstp_udt_filter(&sstp_udt_recv_priv(&r)->capacity, 0),
				SSTP_UDT_MAX);
	}
}

static struct kunit_case udt_cases[] = {
	KUNIT_CASE(udt_increase),
	KUNIT_CASE(udt_spare),
	KUNIT_CASE(udt_window),
	KUNIT_CASE(udt_growth),
	KUNIT_CASE(udt_no_growth),
	KUNIT_CASE(udt_slow_start),
	KUNIT_CASE(udt_epochs),
	KUNIT_CASE(udt_draws),
	KUNIT_CASE(udt_filter),
	KUNIT_CASE(udt_measures),
	KUNIT_CASE(udt_no_pairs),
	KUNIT_CASE(udt_reports),
	KUNIT_CASE(udt_messages),
	KUNIT_CASE(udt_alone),
	KUNIT_CASE(udt_info),
	KUNIT_CASE(udt_any),
	{}
};

static struct kunit_suite udt_suite = {
	.name = "sstp_udt",
	.test_cases = udt_cases,
};

kunit_test_suite(udt_suite);
