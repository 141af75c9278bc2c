// SPDX-License-Identifier: GPL-2.0
/* Calls of a controller: samples that it gets, and ranges of its outputs */
#include "sstp_test.h"
#include "../ctrl_call.c"

/* Reports that show that the window limits the sender, over a few round trips */
static void ctrl_used(struct kunit *test)
{
	const u32 first = -30;		/* the shipment; it wraps */
	static const struct {
		bool held_back;
		u32 flight, shipped, highest;
		bool limited;
		u32 most;
	} t[] = {
		{ false, 10, 10, 5, false, 10 },
		{ false, 12, 20, 9, false, 12 },	/* more in flight */
		{ true, 15, 30, 15, true, 15 },
		{ false, 40, 40, 20, true, 15 },	/* same round trip */
		{ false, 11, 45, 29, true, 15 },
		{ false, 9, 50, 30, true, 15 },		/* end of that round trip */
		{ false, 8, 55, 49, false, 9 },
		{ false, 7, 60, 50, false, 9 },		/* likewise */
		{ false, 7, 60, 51, false, 7 },		/* fewer, in another */
		{ true, 6, 61, 51, true, 6 },
		{ true, 5, 62, 52, true, 5 },
	};
	struct sstp_ctrl_core c = {};
	struct sstp_ctrl_sample s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.held_back = t[i].held_back;
		s = (struct sstp_ctrl_sample){
			.shipped = first + t[i].shipped, .highest = first + t[i].highest,
		};
		sstp_ctrl_used(&c, &s, t[i].flight);
		KUNIT_EXPECT_FALSE_MSG(test, c.held_back, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, s.cwnd_limited, t[i].limited, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, s.flight, t[i].most, "row %u", i);
	}
}

/* The send buffer follows what is in flight, whatever the controller says. */
static void ctrl_buffered(struct kunit *test)
{
	static const struct {
		u32 cwnd;
		u64 period;
		u32 flight;
		u64 round, packets;
	} t[] = {
		{ 10, 0, 10, NSEC_PER_MSEC, 20 },
		{ 10, 1, 10, NSEC_PER_SEC, 20 },	/* a period does not matter beside it */
		{ 1000, 0, 500, NSEC_PER_MSEC, 2000 },
		{ 1000, 0, 100, NSEC_PER_MSEC, 600 },
		{ SSTP_CWND_LIMIT, 0, 0, NSEC_PER_SEC, 0 },
		{ SSTP_CWND_LIMIT, 0, 10, NSEC_PER_SEC, 60 },
		{ SSTP_CWND_LIMIT, 1, 10, 1, 60 },
		{ SSTP_CWND_MAX, 0, 10, NSEC_PER_SEC, 60 },
		{ SSTP_CWND_MAX, NSEC_PER_MSEC, 200, 100 * NSEC_PER_MSEC, 600 },
		{ SSTP_CWND_MAX, NSEC_PER_MSEC, 20, 100 * NSEC_PER_MSEC, 120 },
		{ SSTP_CWND_MAX, NSEC_PER_MSEC, 20, 0, 0 },
		{ SSTP_CWND_MAX, 1, 10, NSEC_PER_SEC, 60 },
		{ SSTP_CWND_MAX, 1, U32_MAX, U32_MAX * 1000ULL, 6ULL * U32_MAX },
		{ SSTP_CWND_MAX, NSEC_PER_SEC, U32_MAX, NSEC_PER_MSEC, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		const struct sstp_ctrl_core c = {
			.flight = t[i].flight,
			.out.cwnd = t[i].cwnd, .out.period = t[i].period,
		};

		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_buffered(&c, t[i].round), t[i].packets,
				    "row %u", i);
	}
}

/* Outputs that a controller leaves, and the values they are clamped to */
static const struct ctrl_range {
	u32 srtt;
	u32 cwnd, cwnd_bound;
	u64 period, period_bound;
} ctrl_ranges[] = {
	{ 0, 0, 1, 0, 0 },
	{ 0, 1, 1, 1, 1 },
	{ 10000, 10, 10, NSEC_PER_MSEC, NSEC_PER_MSEC },
	{ 0, BIT(30), BIT(30), NSEC_PER_SEC, NSEC_PER_SEC },
	{ 0, BIT(30) + 1, BIT(30), NSEC_PER_SEC + 1, NSEC_PER_SEC },
	{ 1000000, S32_MAX, BIT(30), U64_MAX, NSEC_PER_SEC },
	/* As a signed number, below any count of packets in flight */
	{ 1000001, BIT(31), BIT(30), U64_MAX, 1000001000ULL },
	{ 60000000, U32_MAX - 1, BIT(30), 60000000001ULL, 60000000000ULL },
	{ 60000000, U32_MAX, U32_MAX, 60000000000ULL, 60000000000ULL },
	{ U32_MAX, 2, 2, U64_MAX, U32_MAX * 1000ULL },
};

static const struct ctrl_range *ctrl_says;
static u32 ctrl_calls;

static void ctrl_say(struct sstp_ctrl *c)
{
	c->cwnd = ctrl_says->cwnd;
	c->period = ctrl_says->period;
	c->rto = ctrl_says->cwnd;
	c->rtt = ctrl_says->cwnd;
	c->ack_interval = ctrl_says->cwnd;
	c->ack_timer = ctrl_says->cwnd;
	c->timer = ctrl_says->period;
	c->msg.kind = 1;
	c->msg.len = ctrl_says->cwnd;
	ctrl_calls++;
}

static void ctrl_on_any(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	ctrl_say(c);
}

static void ctrl_on_packets(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			    const struct sstp_ctrl_packets *p)
{
	ctrl_say(c);
}

static void ctrl_on_message(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			    const struct sstp_ctrl_msg *m)
{
	ctrl_say(c);
}

static void ctrl_bounded(struct kunit *test, struct sstp_ctrl_core *c, const char *call)
{
	KUNIT_EXPECT_EQ_MSG(test, ctrl_calls, 1U, "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.cwnd, ctrl_says->cwnd_bound, "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.period, ctrl_says->period_bound, "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.rto, ctrl_says->cwnd ?
			    clamp_t(u32, ctrl_says->cwnd, 1000, 60000000) : 0, "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.rtt, min(ctrl_says->cwnd, 3000000U), "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.ack_interval, min(ctrl_says->cwnd, 65535U), "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.ack_timer, ctrl_says->cwnd ?
			    clamp_t(u32, ctrl_says->cwnd, 1000, 1000000) : 0, "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.timer, min(ctrl_says->period, 61ULL * NSEC_PER_SEC),
			    "%s", call);
	KUNIT_EXPECT_EQ_MSG(test, c->out.msg.len, min_t(u16, ctrl_says->cwnd, 64), "%s", call);
	c->out.cwnd = 10;
	c->out.period = 0;
	ctrl_calls = 0;
}

/* Each callback alone leaves outputs out of range, after a reset of the others'. */
static void ctrl_hostile(struct kunit *test)
{
	static const struct sstp_ctrl_ops all = {
		.init = ctrl_on_any, .on_ack = ctrl_on_any, .on_timeout = ctrl_on_any,
		.on_pkt_sent = ctrl_on_packets, .on_timer = ctrl_on_any,
		.on_message = ctrl_on_message,
	};
	static const struct sstp_ctrl_ops losses = {
		.init = ctrl_on_any, .on_loss = ctrl_on_any,
	};
	struct sstp_ctrl_packets p = { .packets = 1 };
	struct sstp_ctrl_sample s = { .now = NSEC_PER_SEC, .lost = 1 };
	struct sstp_ctrl_msg m = { .kind = 1 };
	const struct sstp_plugin_conf none = {};
	struct sstp_ctrl_core c = {};
	u32 i;

	ctrl_calls = 0;
	for (i = 0; i < ARRAY_SIZE(ctrl_ranges); i++) {
		ctrl_says = &ctrl_ranges[i];
		s.srtt = ctrl_says->srtt;
		c.next = U64_MAX;
		sstp_ctrl_begin(&c, &losses, &none, &s);
		/* The new controller does not wait for packets sent under the old one. */
		KUNIT_EXPECT_EQ(test, c.next, 0ULL);
		ctrl_bounded(test, &c, "init");
		sstp_ctrl_report(&c, &s);
		ctrl_bounded(test, &c, "on_loss");
		sstp_ctrl_begin(&c, &all, &none, &s);
		ctrl_bounded(test, &c, "init of another");
		sstp_ctrl_report(&c, &s);
		ctrl_bounded(test, &c, "on_ack");
		sstp_ctrl_timeout(&c, &s);
		ctrl_bounded(test, &c, "on_timeout");
		sstp_ctrl_sent(&c, &s, &p);
		ctrl_bounded(test, &c, "on_pkt_sent");
		sstp_ctrl_message(&c, &s, &m);
		ctrl_bounded(test, &c, "on_message");
		sstp_ctrl_timer(&c, &s);
		ctrl_bounded(test, &c, "on_timer");
		KUNIT_EXPECT_EQ(test, c.timer_at, s.now + NSEC_PER_MSEC);
	}
}

/* Values that the controller's on_pkt_sent() sets, one row for each call of it. @news: then
 * sstp_ctrl_sent() has to return true, so that its caller calls sstp_message_arm().
 */
static const struct ctrl_change {
	u64	timer;
	u64	period;
	u32	ack_interval;
	u32	ack_timer;
	u8	kind;
	bool	news;
} ctrl_changes[] = {
	{ 0, 0, 0, 0, 0, false },
	{ 0, 1000, 0, 0, 0, false },
	{ NSEC_PER_MSEC, 1000, 0, 0, 0, true },
	{ NSEC_PER_MSEC, 2000, 0, 0, 0, false },
	{ NSEC_PER_MSEC, 2000, 2, 0, 0, true },
	{ NSEC_PER_MSEC, 2000, 2, 5000, 0, true },
	{ NSEC_PER_MSEC, 2000, 2, 5000, 0, false },
	{ NSEC_PER_MSEC, 2000, 2, 5000, 1, true },
	{ NSEC_PER_MSEC, 2000, 2, 5000, 1, true },	/* It has not left yet. */
	{ NSEC_PER_MSEC, 2000, 2, 5000, 0, false },
	{ 0, 2000, 2, 5000, 0, true },
};

static const struct ctrl_change *ctrl_change;

static void ctrl_on_change(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			   const struct sstp_ctrl_packets *p)
{
	c->timer = ctrl_change->timer;
	c->period = ctrl_change->period;
	c->ack_interval = ctrl_change->ack_interval;
	c->ack_timer = ctrl_change->ack_timer;
	c->msg.kind = ctrl_change->kind;
}

static void ctrl_sent(struct kunit *test)
{
	static const struct sstp_ctrl_ops ops = { .on_pkt_sent = ctrl_on_change };
	const struct sstp_ctrl_packets p = { .packets = 1 };
	const struct sstp_ctrl_sample s = {};
	struct sstp_ctrl_core c = { .ops = &ops };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ctrl_changes); i++) {
		ctrl_change = &ctrl_changes[i];
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_sent(&c, &s, &p), ctrl_change->news,
				    "row %u", i);
	}
}

#define US	1000LL
#define MS	(1000 * US)
#define SEC	(1000 * MS)

/* A period, and packets that leave at a time: when may the next one leave, relative to that?
 * And how many leave before the period counts?
 */
static void ctrl_pace(struct kunit *test)
{
	static const struct {
		s64 period, srtt;
		u32 packets;
		s64 due, next;
		u32 unpaced;
	} t[] = {
		{ 10 * US, MS, 64, 0, 640 * US, 10 },
		{ 10 * US, MS, 10, 2 * MS, 2100 * US, 10 },
		{ 10 * US, MS, 10, -200 * US, -100 * US, 10 },
		{ 10 * US, MS, 10, -SEC, -400 * US, 10 },
		{ 2 * MS, MS, 2, 0, 4 * MS, 10 },
		{ 2 * MS, MS, 10, 0, 20 * MS, 10 },
		{ 100 * MS, MS, 10, 0, SEC, 10 },
		{ 150 * MS, 1500 * MS, 10, 0, 1500 * MS, 10 },
		/* Packets of a second or of a round trip at most, and two at least */
		{ 101 * MS, MS, 9, 0, 909 * MS, 9 },
		{ 300 * MS, MS, 3, 0, 900 * MS, 3 },
		{ SEC, MS, 2, 0, 2 * SEC, 2 },
		{ 60 * SEC, 60 * SEC, 2, 0, 120 * SEC, 2 },
		/* The pause is bounded, however many packets left. */
		{ 100 * MS, MS, 10, 10 * MS, SEC, 10 },
		{ SEC, MS, 10, 0, 2 * SEC, 2 },
		{ SEC, MS, 1, 2 * SEC, 2 * SEC, 2 },
		{ 60 * SEC, 60 * SEC, 64, 0, 120 * SEC, 2 },
		/* A period that became shorter */
		{ 10 * US, MS, 1, 120 * SEC, SEC, 10 },
	};
	const u64 now = 1000 * SEC;
	struct sstp_ctrl_core c = { .out.cwnd = SSTP_CWND_MAX };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.out.period = t[i].period;
		c.next = now + t[i].due;
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_unpaced(&c, t[i].srtt, now), t[i].unpaced,
				    "row %u", i);
		sstp_ctrl_pace(&c, t[i].packets, 0, t[i].srtt, now);
		KUNIT_EXPECT_EQ_MSG(test, (s64)(c.next - now), t[i].next, "row %u", i);
	}
	/* Without a period nothing waits. */
	c.out.period = 0;
	c.next = 5;
	sstp_ctrl_pace(&c, 64, 0, MS, now);
	KUNIT_EXPECT_EQ(test, c.next, 5ULL);
	/* Soon after boot */
	c.out.period = US;
	c.next = 0;
	sstp_ctrl_pace(&c, 1, 0, MS, 1);
	KUNIT_EXPECT_EQ(test, c.next, 1000ULL);
}

/* Packets that leave at once after all was reported: as many as in a quarter of a round trip, an
 * initial window at least, a train at most; after a pause an initial window. The next packet
 * need not wait for them, but they are paid for before others may leave so.
 */
static void ctrl_unpaced(struct kunit *test)
{
	static const struct {
		s64 period, srtt, pause;
		u32 unpaced;
	} t[] = {
		{ 500 * US, 20 * MS, 0, 10 },
		{ 200 * US, 20 * MS, 0, 25 },
		{ 200 * US, 20 * MS, 200 * MS - 1, 25 },
		{ 200 * US, 20 * MS, 200 * MS, 10 },
		{ 2 * MS, 200 * MS, 400 * MS - 1, 25 },
		{ 2 * MS, 200 * MS, 400 * MS, 10 },
		{ US, 20 * MS, 0, 64 },
		{ US, 20 * MS, SEC, 10 },
		{ SEC, 20 * MS, 0, 2 },
		{ 8 * SEC, 60 * SEC, 0, 7 },	/* more than 2^32 ns are owed */
	};
	const u64 now = 1000 * SEC;
	struct sstp_ctrl_core c = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.out.period = t[i].period;
		c.out.cwnd = 100;
		c.next = now - t[i].pause;
		c.owed = 0;
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_unpaced(&c, t[i].srtt, now), t[i].unpaced,
				    "row %u", i);
		sstp_ctrl_pace(&c, t[i].unpaced, t[i].unpaced, t[i].srtt, now);
		KUNIT_EXPECT_LE_MSG(test, c.next, now, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_paid(&c), now + t[i].unpaced * t[i].period,
				    "row %u", i);
		/* Without a congestion window all are charged. */
		c.out.cwnd = SSTP_CWND_MAX;
		c.next = now;
		c.owed = 0;
		KUNIT_EXPECT_LE_MSG(test, sstp_ctrl_unpaced(&c, t[i].srtt, now), 10U, "row %u", i);
		sstp_ctrl_pace(&c, 2, 2, t[i].srtt, now);
		KUNIT_EXPECT_EQ_MSG(test, c.next, now + 2 * t[i].period, "row %u", i);
	}
}

/* sstp_ctrl_grant() sets a period that spreads the granted packets over 5/6 of a round trip. It is
 * in force if the controller's period is shorter. sstp_ctrl_peer_paced() tells if it is, and the
 * congestion window is larger than the number of packets granted.
 */
static void ctrl_grant(struct kunit *test)
{
	static const struct {
		u64 packets, srtt;
		u32 cwnd;
		u64 period, paced;
		bool peer;
	} t[] = {
		{ 0, 10 * NSEC_PER_MSEC, 1000, 1, 1, false },
		{ 1001, 10 * NSEC_PER_MSEC, 1000, 1, 8325, false },
		{ 999, 10 * NSEC_PER_MSEC, 1000, 1, 8341, true },
		{ 100, 10 * NSEC_PER_MSEC, 1000, 0, 0, false },
		{ 100, 10 * NSEC_PER_MSEC, 1000, 1, 83333, true },
		{ 100, 10 * NSEC_PER_MSEC, 1000, 83333, 83333, false },
		{ 100, 10 * NSEC_PER_MSEC, 1000, 83334, 83334, false },
		{ 100, 10 * NSEC_PER_MSEC, 1, 1, 83333, false },
		{ 100, 10 * NSEC_PER_MSEC, SSTP_CWND_MAX, 1, 1, false },
		{ 100, 0, 1000, 7, 7, false },
		{ 1, 5000000000ULL, 1000, 1, 4166666666ULL, true },
		{ 1, 60000000000ULL, 1000, 1, U32_MAX, true },
		{ SSTP_CWND_LIMIT - 1, 60000000000ULL, SSTP_CWND_LIMIT, 1, 46, false },
		{ U32_MAX, 60000000000ULL, SSTP_CWND_LIMIT, 1, 11, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct sstp_ctrl_core c = { .out.period = t[i].period, .out.cwnd = t[i].cwnd };

		sstp_ctrl_grant(&c, t[i].packets, t[i].srtt);
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_period(&c), t[i].paced, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_peer_paced(&c, t[i].srtt), t[i].peer, "row %u",
				    i);
		sstp_ctrl_pace(&c, 2, 0, t[i].srtt, NSEC_PER_SEC);
		KUNIT_EXPECT_EQ_MSG(test, c.next, t[i].paced ? NSEC_PER_SEC -
				    NSEC_PER_MSEC / 2 + 2 * t[i].paced : 0, "row %u", i);
		/* A grant of 0 packets leaves the controller's period in force. */
		sstp_ctrl_grant(&c, 0, t[i].srtt);
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_period(&c), t[i].period, "row %u", i);
	}
}

/* By default there is a report in 250 us, 4 to 16 of a window. */
static void ctrl_interval(struct kunit *test)
{
	static const struct {
		u32 cwnd, wish, min_rtt, interval;
	} t[] = {
		{ 1, 0, 100 * 1000, 1 },
		{ 7, 0, 100 * 1000, 1 },
		{ 8, 0, 100 * 1000, 2 },
		{ 47, 0, 100 * 1000, 2 },
		{ 48, 0, 100 * 1000, 3 },
		{ 64, 0, 100 * 1000, 4 },
		{ 64, 0, 4 * 1000, 4 },
		{ 64, 0, 2 * 1000, 8 },
		{ 64, 0, 1000, 16 },
		{ 64, 0, 1, 16 },
		{ 7, 0, 1, 1 },
		{ 2000, 0, 1, 256 },
		{ 5000, 0, 100 * 1000, 256 },
		{ SSTP_CWND_LIMIT, 0, U32_MAX, 256 },
		{ SSTP_CWND_MAX, 0, 100 * 1000, 0 },
		{ SSTP_CWND_MAX, 9, 100 * 1000, 9 },
		{ 64, 9, 100 * 1000, 9 },
		{ 4, 9, 1, 4 },
	};
	struct sstp_ctrl_core c = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.out.cwnd = t[i].cwnd;
		c.out.ack_interval = t[i].wish;
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_interval(&c, t[i].min_rtt), t[i].interval,
				    "row %u", i);
	}
}

/* A train is an interval, but 10 packets if that is less and the window has them. On a path of less
 * than 512 us it is half of the window if that is more.
 */
static void ctrl_train(struct kunit *test)
{
	static const struct {
		u32 cwnd, wish, min_rtt, train;
	} t[] = {
		{ 1, 0, 1000, 1 },
		{ 9, 0, 1000, 9 },
		{ 10, 0, 1000, 10 },
		{ 40, 0, 1000, 10 },
		{ 80, 0, 1000, 20 },
		{ 80, 0, 100 * 1000, 10 },
		{ 320, 0, 100 * 1000, 20 },
		{ 80, 1, 1000, 10 },
		{ 80, 30, 1000, 30 },
		{ 80, 0, 512, 20 },
		{ 80, 0, 511, 40 },
		{ 18, 0, 0, 10 },
		{ 1, 0, 0, 1 },
		{ 2000, 0, 0, 1000 },
		{ SSTP_CWND_LIMIT, 0, U32_MAX, 256 },
	};
	struct sstp_ctrl_core c = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.out.cwnd = t[i].cwnd;
		c.out.ack_interval = t[i].wish;
		KUNIT_EXPECT_EQ_MSG(test, sstp_ctrl_train(&c, t[i].min_rtt), t[i].train, "row %u",
				    i);
	}
}

static void ctrl_obey(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = c->param[1];
}

static void ctrl_tell(const struct sstp_ctrl *c, s64 *state)
{
	state[0] = -(s64)c->cwnd;
}

/* Parameters are there before init, and changed ones at the next callback. */
static void ctrl_params(struct kunit *test)
{
	static const struct sstp_ctrl_ops ops = {
		.init = ctrl_obey, .on_ack = ctrl_obey, .name = "obey",
		.params = { { "unused" }, { "cwnd", 1, 100 } },
		.state = { "told" }, .get_info = ctrl_tell,
	};
	static const struct sstp_ctrl_ops silent = { .init = ctrl_obey, .name = "silent" };
	struct sstp_plugin_conf conf = { .name = "obey", .param = { 0, 50 } };
	const struct sstp_plugin_conf other = { .name = "other", .param = { 0, 70 } };
	s64 state[SSTP_STATE_MAX] = { 1, 1 };
	struct sstp_ctrl_sample s = {};
	struct sstp_ctrl_core c = {};

	/* Without a controller they wait for one. */
	sstp_ctrl_tune(&c, &conf, &s);
	sstp_ctrl_begin(&c, &ops, &conf, &s);
	KUNIT_EXPECT_EQ(test, c.out.cwnd, 50U);
	conf.param[1] = 60;
	sstp_ctrl_tune(&c, &conf, &s);
	KUNIT_EXPECT_EQ(test, c.out.cwnd, 50U);
	sstp_ctrl_report(&c, &s);
	KUNIT_EXPECT_EQ(test, c.out.cwnd, 60U);
	sstp_ctrl_tune(&c, &other, &s);
	sstp_ctrl_report(&c, &s);
	KUNIT_EXPECT_EQ(test, c.out.cwnd, 60U);
	sstp_ctrl_get_info(&c, state);
	KUNIT_EXPECT_EQ(test, state[0], -60LL);
	KUNIT_EXPECT_EQ(test, state[1], 0LL);
	sstp_ctrl_begin(&c, &silent, &conf, &s);
	KUNIT_EXPECT_EQ(test, c.out.param[1], 0U);
	sstp_ctrl_get_info(&c, state);
	KUNIT_EXPECT_EQ(test, state[0], 0LL);
}

static void ctrl_obey_period(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->period = c->param[0] * (u64)NSEC_PER_MSEC;
	c->cwnd = 0;
}

/* on_param is called at once, its outputs are clamped, and only a shorter period changes the
 * time of the next packet.
 */
static void ctrl_on_param(struct kunit *test)
{
	static const struct sstp_ctrl_ops ops = {
		.init = ctrl_obey_period, .on_param = ctrl_obey_period, .name = "obey",
		.params = { { "ms", 1, U32_MAX } },
	};
	static const struct {
		u32 ms;
		u64 period, next;
	} t[] = {
		{ 100, 100 * NSEC_PER_MSEC, 500 * NSEC_PER_MSEC },
		{ 1000, NSEC_PER_SEC, 900 * NSEC_PER_MSEC },
		{ 5000, NSEC_PER_SEC, 900 * NSEC_PER_MSEC },
		{ 0, 0, 400 * NSEC_PER_MSEC },
	};
	struct sstp_plugin_conf conf = { .name = "obey", .param = { 500 } };
	struct sstp_ctrl_sample s = { .now = 400 * NSEC_PER_MSEC };
	struct sstp_ctrl_core c = {};
	u32 i;

	sstp_ctrl_begin(&c, &ops, &conf, &s);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		c.next = 900 * NSEC_PER_MSEC;
		conf.param[0] = t[i].ms;
		sstp_ctrl_tune(&c, &conf, &s);
		KUNIT_EXPECT_EQ_MSG(test, c.out.period, t[i].period, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, c.out.cwnd, 1U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, c.next, t[i].next, "row %u", i);
	}
}

static struct kunit_case ctrl_cases[] = {
	KUNIT_CASE(ctrl_used),
	KUNIT_CASE(ctrl_buffered),
	KUNIT_CASE(ctrl_hostile),
	KUNIT_CASE(ctrl_sent),
	KUNIT_CASE(ctrl_params),
	KUNIT_CASE(ctrl_on_param),
	KUNIT_CASE(ctrl_pace),
	KUNIT_CASE(ctrl_unpaced),
	KUNIT_CASE(ctrl_grant),
	KUNIT_CASE(ctrl_interval),
	KUNIT_CASE(ctrl_train),
	{}
};

static struct kunit_suite ctrl_suite = {
	.name = "sstp_ctrl",
	.test_cases = ctrl_cases,
};

kunit_test_suite(ctrl_suite);
