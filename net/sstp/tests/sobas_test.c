// SPDX-License-Identifier: GPL-2.0
/* The policy sobas: what it makes of measurements */
#include "sstp_test.h"
#include "../rbuf_sobas.c"

#define KB	1024u
#define MB	(1024u * 1024u)
#define RATE	12500000ULL	/* bytes/s: 100 Mbit/s */
#define RTT	40000U		/* us */
#define BDP	500000U		/* bytes */
#define PACKET	1448U
#define TARGET	(RTT / 10)	/* us, queue of a full path */
#define FULL	(BDP / 10 * 11)	/* bytes, window with that queue */

static struct sstp_rbuf_sample sobas_sample(void)
{
	return (struct sstp_rbuf_sample){
		.limit = 8 * MB, .least = 4 * KB, .first = 4 * MB, .ceiling = 64 * MB,
		.available = 1ULL << 30, .arrived = MB, .rtt = RTT, .rate = RATE,
		.segment = 4 * KB, .packet = PACKET, .granted = BDP,
	};
}

static void sobas_begin(struct sstp_rbuf *b, u32 mode)
{
	const struct sstp_rbuf_sample s = sobas_sample();

	*b = (struct sstp_rbuf){ .limit = s.limit, .param = { mode } };
	sstp_rbuf_sobas.init(b, &s);
}

static void sobas_epochs(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s, u32 n)
{
	while (n--)
		sstp_rbuf_sobas.update(b, s);
}

static enum sstp_sobas_state sobas_state(struct sstp_rbuf *b)
{
	s64 state[SSTP_STATE_MAX];

	sstp_rbuf_sobas.get_info(b, state);
	return state[0];
}

/* Bring @b into the state START, with the capacity as rate, and the window that fits it. */
static void sobas_started(struct kunit *test, struct sstp_rbuf *b, u32 mode)
{
	struct sstp_rbuf_sample s = sobas_sample();

	sobas_begin(b, mode);
	s.rate = RATE / 4;
	s.capacity = RATE;
	sobas_epochs(b, &s, 1);
	s.rate = RATE;
	if (!mode)
		sobas_epochs(b, &s, 4);
	KUNIT_ASSERT_EQ(test, sobas_state(b), SSTP_SOBAS_START);
	KUNIT_ASSERT_EQ(test, b->window, BDP);
}

/* The same with a window that was set by the rate */
static void sobas_set(struct kunit *test, struct sstp_rbuf *b)
{
	struct sstp_rbuf_sample s = sobas_sample();

	sobas_started(test, b, 0);
	sobas_epochs(b, &s, 1);
	s.rate = RATE / 2;
	s.queue = 5000;
	s.queue_most = 5000;
	s.rtt = RTT + 5000;
	sobas_epochs(b, &s, SSTP_FLAT_RATES + 1);
	KUNIT_ASSERT_EQ(test, sobas_state(b), SSTP_SOBAS_SET);
	KUNIT_ASSERT_EQ(test, b->window, FULL / 2);
	s.queue = 0;
	s.queue_most = 0;
	s.rtt = RTT;
	sobas_epochs(b, &s, SSTP_SOBAS_TRIAL);
	KUNIT_ASSERT_EQ(test, sobas_state(b), SSTP_SOBAS_SET);
	KUNIT_ASSERT_EQ(test, b->window, FULL / 2);
}

/* The first window grows with the data, until the capacity is known. */
static void sobas_start(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;

	sobas_begin(&b, 0);
	KUNIT_EXPECT_TRUE(test, b.measure && b.widen && b.exact);
	KUNIT_EXPECT_EQ(test, b.window, SSTP_SOBAS_FIRST);
	/* No round-trip time is known. */
	s.rtt = 0;
	s.capacity = RATE;
	sobas_epochs(&b, &s, 3);
	KUNIT_EXPECT_EQ(test, b.window, SSTP_SOBAS_FIRST);
	KUNIT_EXPECT_TRUE(test, b.widen);
	s.rtt = RTT;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 2);
	KUNIT_EXPECT_TRUE(test, b.small && !b.widen);
	/* It is half of what the path holds, as slow start doubles what is in flight, and grows
	 * by eighths as it is used.
	 */
	s.rate = RATE / 8;
	sobas_epochs(&b, &s, 4);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 2);
	s.rate = RATE / 2;
	s.queue_most = RTT / 2;
	sobas_epochs(&b, &s, 4);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 2);
	s.queue_most = 0;
	for (; s.rate < RATE; s.rate += RATE / 8) {
		u32 was = b.window;

		sobas_epochs(&b, &s, 1);
		KUNIT_EXPECT_EQ(test, b.window, was + BDP / 8);
	}
	sobas_epochs(&b, &s, 4);
	KUNIT_EXPECT_EQ(test, b.window, BDP);
	KUNIT_EXPECT_EQ(test, b.epoch, 80ULL * NSEC_PER_MSEC);
}

/* A constant rate is not enough: the path is full if something waits as well. */
static void sobas_full(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;

	sobas_started(test, &b, 0);
	s.rate = RATE / 2;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	KUNIT_EXPECT_EQ(test, b.window, BDP);
	/* A program that pauses is no sign of it, either. */
	s.queue = 10000;
	s.app_limited = true;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	s.app_limited = false;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	/* The window has room for a queue of a tenth of the round trip: else the line pauses. */
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 2);
	/* That is also the shortest queue of a full path. */
	sobas_started(test, &b, 0);
	s.queue = TARGET - 1;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	s.queue++;
	sobas_epochs(&b, &s, 2);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 2);
	/* Segments are large beside the window: the queue of one and a half of them. */
	sobas_started(test, &b, 0);
	s.segment = 64 * KB;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
}

/* Others send in bursts: in one of these the path is full, but the window stays as large as fits
 * the time between them.
 */
static void sobas_bursts(struct kunit *test)
{
	struct sstp_rbuf_sample calm = sobas_sample(), burst = calm;
	struct sstp_rbuf b;
	u32 i;

	calm.rate = RATE / 4 * 3;
	burst.rate = RATE / 2;
	burst.queue = 8000;
	sobas_started(test, &b, 0);
	sobas_epochs(&b, &calm, SSTP_FLAT_RATES);
	for (i = 0; i < 20; i++) {
		sobas_epochs(&b, &burst, 4);
		KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
		KUNIT_EXPECT_EQ(test, b.window, FULL / 4 * 3);
		sobas_epochs(&b, &calm, 4);
	}
	/* A burst that goes on is no burst, nor is one after which all packets wait long. */
	sobas_epochs(&b, &burst, SSTP_FLAT_RATES + 1);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 2);
	sobas_started(test, &b, 0);
	sobas_epochs(&b, &calm, SSTP_FLAT_RATES);
	burst.queue = RTT / 4;
	sobas_epochs(&b, &burst, 2);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 8 * 5);
	/* A larger window is not tried while the rate varies. */
	sobas_started(test, &b, 0);
	burst.capacity = RATE;
	burst.window_limited = true;
	burst.queue = TARGET;
	calm = burst;
	calm.rate = RATE / 4 * 3;
	for (i = 0; i < 50; i++) {
		sobas_epochs(&b, &burst, 4);
		KUNIT_EXPECT_NE(test, sobas_state(&b), SSTP_SOBAS_PROBE);
		sobas_epochs(&b, &calm, 4);
		KUNIT_EXPECT_NE(test, sobas_state(&b), SSTP_SOBAS_PROBE);
	}
}

/* Others leave: nothing waits, and the window is used up. Within 10 epochs it has grown from half
 * of what the path holds to all of it, but not where the sender does not use it.
 */
static void sobas_follows(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;
	u32 i;

	sobas_set(test, &b);
	s.rate = RATE / 2;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 2);
	s.window_limited = true;
	for (i = 0; i < 10 && b.window < BDP; i++) {
		u32 was = b.window;

		sobas_epochs(&b, &s, 1);
		KUNIT_EXPECT_LE(test, b.window, was + was / 8 + PACKET);
	}
	KUNIT_EXPECT_GE(test, b.window, BDP);
	sobas_epochs(&b, &s, 1000);
	KUNIT_EXPECT_EQ(test, b.window, (u32)SSTP_SOBAS_WINDOW_MAX);
	/* Beside others that send in bursts it grows as well, but slowly. */
	sobas_set(test, &b);
	s.queue_most = 2 * TARGET;
	for (i = 0; i < 10; i++) {
		u32 was = b.window;

		sobas_epochs(&b, &s, 1);
		KUNIT_EXPECT_LE(test, b.window, was + was / 32 + PACKET);
	}
	KUNIT_EXPECT_GT(test, b.window, FULL / 8 * 5);
	KUNIT_EXPECT_LT(test, b.window, BDP);
	/* Fast growth ends as they begin to send. */
	sobas_set(test, &b);
	s.queue_most = 0;
	sobas_epochs(&b, &s, 3);
	s.queue_most = 2 * TARGET;
	sobas_epochs(&b, &s, 2);
	for (i = 0; i < 2; i++) {
		u32 was = b.window;

		sobas_epochs(&b, &s, 1);
		KUNIT_EXPECT_LE(test, b.window, was + was / 32 + PACKET);
	}
}

/* The capacity bounds the growth: no more comes of a window that is larger. If more comes, the path
 * has become faster.
 */
static void sobas_capacity(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;
	u32 i;

	sobas_set(test, &b);
	s.window_limited = true;
	s.capacity = RATE;
	sobas_epochs(&b, &s, 1000);
	KUNIT_EXPECT_EQ(test, b.window, FULL + (FULL - BDP) / 2);
	sobas_set(test, &b);
	s.capacity = RATE / 10;
	for (i = 0; i < 100; i++) {
		s.rate = min_t(u64, div_u64(b.window * (u64)USEC_PER_SEC, RTT), RATE);
		sobas_epochs(&b, &s, 1);
	}
	KUNIT_EXPECT_EQ(test, b.window, FULL + (FULL - BDP) / 2);
}

/* Losses: with a queue, the rate before them or their mean rate counts; without, nothing. */
static void sobas_losses(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;

	sobas_started(test, &b, 0);
	s.rate = RATE / 2;
	sobas_epochs(&b, &s, 2);
	s.rate = RATE / 4;
	s.lost = 9;
	s.lost_queue = 100;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	s.rate = RATE / 2;
	s.lost = 0;
	sobas_epochs(&b, &s, 2);
	s.rate = RATE / 4;
	s.lost = 9;
	s.lost_queue = 12000;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 2);
	/* They go on, and the rate varies: the mean of four counts. */
	sobas_started(test, &b, 0);
	s.rate = RATE / 4;
	s.lost = 0;
	sobas_epochs(&b, &s, 2);
	s.lost = 9;
	sobas_epochs(&b, &s, 1);
	s.rate = RATE / 2;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 16 * 5);
}

/* A long queue that a smaller window leaves as it was belongs to others. */
static void sobas_aside(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;
	u32 was;

	sobas_started(test, &b, 0);
	s.rate = RATE / 4;
	sobas_epochs(&b, &s, SSTP_FLAT_RATES);
	s.queue = RTT / 4;
	s.queue_most = RTT / 4;
	s.rtt = RTT + RTT / 4;
	sobas_epochs(&b, &s, 2);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	sobas_epochs(&b, &s, SSTP_SOBAS_TRIAL - 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_ASIDE);
	/* The window opens step by step, as far as it is used, until packets are lost. */
	was = b.window;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.window, was);
	s.window_limited = true;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.window, was + was / 8);
	s.lost = 1;
	s.lost_queue = RTT;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.window, 0U);
	/* It stands aside while the queue lasts, and for 64 epochs. */
	s.lost = 0;
	s.window_limited = false;
	sobas_epochs(&b, &s, 100);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_ASIDE);
	s.queue = 0;
	s.rtt = RTT;
	s.capacity = RATE;
	sobas_epochs(&b, &s, 2);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	/* The sender has left slow start, so the window need not open slowly. */
	KUNIT_EXPECT_EQ(test, b.window, BDP);
	/* Packets are lost while the sender uses less than a quarter of its window. */
	sobas_begin(&b, 0);
	s.lost = 1;
	s.lost_queue = RTT;
	s.capacity = 0;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_OPEN);
	s.rate = RATE / 5;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_ASIDE);
	KUNIT_EXPECT_EQ(test, b.window, 0U);
	s.lost = 0;
	s.rate = RATE / 4;
	/* Its own queue becomes shorter with the window. */
	sobas_set(test, &b);
	s.queue = 1000;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
}

/**
 * struct sobas_line - a path of capacity RATE, in the balance that a window leads to
 * @udp: rate of others that do not yield, bytes/s
 * @tcp: what others with a window keep in flight, bytes
 * @limit: longest queue, us
 * @rtt: without a queue, us; 0 = RTT
 * @lost: epochs in which it overflowed
 */
struct sobas_line {
	u64	udp;
	u32	tcp;
	u32	limit;
	u32	rtt;
	u32	lost;
};

/* An epoch on the line; returns the rate. */
static u64 sobas_line_epoch(struct sstp_rbuf *b, struct sobas_line *l)
{
	struct sstp_rbuf_sample s = sobas_sample();
	u64 flight = (u64)b->window + l->tcp, left = RATE - l->udp;
	u32 rtt = l->rtt ?: RTT;
	u64 trip = max_t(u64, div64_u64(flight * USEC_PER_SEC, left), rtt);

	s.capacity = RATE;
	s.queue = min(trip - rtt, (u64)l->limit);
	s.queue_most = s.queue + rtt / 50;
	s.rtt = rtt + s.queue;
	s.lost = trip - rtt > l->limit;
	s.lost_queue = s.lost ? s.queue : 0;
	l->lost += s.lost;
	s.rate = min(div_u64((u64)b->window * USEC_PER_SEC, s.rtt), left);
	s.granted = b->window;
	s.window_limited = true;
	sobas_epochs(b, &s, 1);
	return s.rate;
}

static u64 sobas_line(struct sstp_rbuf *b, struct sobas_line *l, u32 epochs)
{
	u64 rate = 0;

	while (epochs--)
		rate = sobas_line_epoch(b, l);
	return rate;
}

/* Others that do not yield: nearly all that they leave, with a short queue and without a loss. When
 * they leave, 0.9 of the path within 20 round trips, which are 10 epochs.
 */
static void sobas_beside_udp(struct kunit *test)
{
	struct sobas_line l = { .udp = RATE / 2, .limit = RTT };
	struct sstp_rbuf b;
	u32 i;

	sobas_begin(&b, 0);
	for (i = 0; i < 500; i++) {
		u64 rate = sobas_line_epoch(&b, &l);

		if (i > 20)
			KUNIT_EXPECT_GE(test, rate, RATE / 2 / 100 * 95);
		KUNIT_EXPECT_NE(test, sobas_state(&b), SSTP_SOBAS_SHARE);
		if (i > 20 && sobas_state(&b) == SSTP_SOBAS_SET)
			KUNIT_EXPECT_LE(test, b.window, BDP / 2 / 100 * 125);
	}
	KUNIT_EXPECT_EQ(test, l.lost, 0U);
	l.udp = 0;
	KUNIT_EXPECT_GE(test, sobas_line(&b, &l, 11), RATE / 10 * 9);
	KUNIT_EXPECT_EQ(test, l.lost, 0U);
	/* The queue is too short for a window that is larger by a quarter: that is tried once. */
	sobas_begin(&b, 0);
	l = (struct sobas_line){ .udp = RATE / 2, .limit = RTT / 10 * 3 };
	sobas_line(&b, &l, 500);
	KUNIT_EXPECT_EQ(test, l.lost, 1U);
}

/* Epochs, up to @most, until a larger window is tried */
static u32 sobas_line_tries(struct sstp_rbuf *b, struct sobas_line *l, u32 most)
{
	u32 i;

	for (i = 0; i < most && sobas_state(b) != SSTP_SOBAS_PROBE; i++)
		sobas_line_epoch(b, l);
	return i;
}

/* A path whose queue has no room for a larger window, of which @b knows that */
static struct sobas_line sobas_shallow(struct kunit *test, struct sstp_rbuf *b)
{
	struct sobas_line l = { .udp = RATE / 2, .limit = RTT / 10 * 3 };

	sobas_begin(b, 0);
	sobas_line(b, &l, 100);
	KUNIT_ASSERT_EQ(test, l.lost, 1U);
	KUNIT_ASSERT_EQ(test, sobas_state(b), SSTP_SOBAS_SET);
	return l;
}

/* The queue may have become longer: a larger window is tried again after some thousand round
 * trips, and soon where the path has become much longer, or shorter.
 */
static void sobas_forgets(struct kunit *test)
{
	const u32 hold = sstp_sobas_defaults[SSTP_SOBAS_HOLD];
	struct sstp_rbuf_sample s = sobas_sample();
	struct sobas_line l;
	struct sstp_rbuf b;

	l = sobas_shallow(test, &b);
	l.limit = RTT;
	KUNIT_EXPECT_GT(test, sobas_line_tries(&b, &l, 2000), SSTP_SOBAS_RISKY * hold - 100);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_PROBE);
	KUNIT_EXPECT_EQ(test, l.lost, 1U);

	l = sobas_shallow(test, &b);
	l.rtt = 5 * RTT;
	l.limit = l.rtt;
	KUNIT_EXPECT_LT(test, sobas_line_tries(&b, &l, 2000), 2 * hold);
	KUNIT_EXPECT_EQ(test, l.lost, 1U);

	sobas_shallow(test, &b);
	s.rate = RATE / 2;
	s.rtt = RTT / 2;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_GT(test, sstp_sobas(&b)->risky, 0);
	s.rtt = RTT / 5;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sstp_sobas(&b)->risky, 0);
}

/* Others whose window leaves what this end takes: the queue may be long, but nothing is lost. When
 * they leave it becomes short again.
 */
static void sobas_beside_tcp(struct kunit *test)
{
	struct sobas_line l = { .tcp = BDP / 2, .limit = RTT };
	struct sstp_rbuf b;

	sobas_begin(&b, 0);
	KUNIT_EXPECT_GE(test, sobas_line(&b, &l, 60), RATE / 100 * 68);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SHARE);
	KUNIT_EXPECT_GE(test, sobas_line(&b, &l, 40), RATE / 100 * 68);
	KUNIT_EXPECT_EQ(test, l.lost, 0U);
	l.tcp = 0;
	KUNIT_EXPECT_GE(test, sobas_line(&b, &l, 2 * 64 + 10), RATE / 100 * 95);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_LE(test, b.window, BDP / 100 * 125);
	KUNIT_EXPECT_EQ(test, l.lost, 0U);
}

/* The path has become longer: little is sent for two epochs, and then the window fits it. */
static void sobas_longer(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;
	u32 i;

	sobas_set(test, &b);
	s.rtt = 2 * RTT;
	s.rate = RATE / 2;
	for (i = 0; i < 40 && sobas_state(&b) != SSTP_SOBAS_DRAIN; i++)
		sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_DRAIN);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 4);
	s.rate = RATE / 4;
	sobas_epochs(&b, &s, 2);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, BDP);
	/* At first it looks like a queue, for which the window is no smaller. */
	sobas_set(test, &b);
	s.rtt = 10 * RTT;
	s.queue = 5 * RTT;
	s.queue_most = s.queue;
	s.rate = RATE / 20;
	s.capacity = RATE;
	sobas_epochs(&b, &s, SSTP_SOBAS_LONGER - 1);
	KUNIT_EXPECT_EQ(test, b.window, FULL / 2);
	/* It is much longer, so the window is by the capacity. */
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_DRAIN);
	sobas_epochs(&b, &s, 2);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	KUNIT_EXPECT_EQ(test, b.window, 10 * BDP);
}

/* The paper's rules: five equal rates, or two in slow start; once; and a congested path */
static void sobas_paper(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;

	sobas_begin(&b, 1);
	sobas_epochs(&b, &s, 4);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_OPEN);
	s.rtt = 2 * RTT;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, 2 * BDP);
	KUNIT_EXPECT_FALSE(test, b.small);
	/* Once */
	s.queue = 10000;
	s.rate = RATE / 2;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, b.window, 2 * BDP);
	/* Limited by the window, it grows by a packet in a round trip. */
	sobas_started(test, &b, 1);
	s = sobas_sample();
	s.rate = RATE / 2;
	s.window_limited = true;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_LINEAR);
	KUNIT_EXPECT_EQ(test, b.window, BDP + 2 * PACKET);
	s.rate = RATE / 2 + RATE / 50;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 2 + BDP / 100);
	/* A rate that drops after two equal ones; a request that was lost is of no moment then. */
	sobas_begin(&b, 1);
	sobas_epochs(&b, &s, 2);
	s.rate = RATE / 4;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 2 + BDP / 50);
	/* A request was lost: the path is congested. */
	sobas_begin(&b, 1);
	s.unanswered = 1;
	sobas_epochs(&b, &s, 1);
	s.unanswered = 0;
	sobas_epochs(&b, &s, 4);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_ASIDE);
	KUNIT_EXPECT_EQ(test, b.window, 0U);
}

/* The mode changes: no state of the other one remains, in which the window would stay as it is. */
static void sobas_mode(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;
	u32 was;

	sobas_started(test, &b, 1);
	s.rate = RATE / 2;
	s.window_limited = true;
	sobas_epochs(&b, &s, 1);
	KUNIT_ASSERT_EQ(test, sobas_state(&b), SSTP_SOBAS_LINEAR);
	was = b.window;
	b.param[SSTP_SOBAS_MODE] = 0;
	sobas_epochs(&b, &s, 10);
	KUNIT_EXPECT_GT(test, b.window, was + was / 8);
	sobas_set(test, &b);
	s.rtt = 3 * RTT;
	s.rate = RATE / 4;
	sobas_epochs(&b, &s, SSTP_SOBAS_LONGER);
	KUNIT_ASSERT_EQ(test, sobas_state(&b), SSTP_SOBAS_DRAIN);
	b.param[SSTP_SOBAS_MODE] = 1;
	s.rate = RATE;
	sobas_epochs(&b, &s, 2);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, 3 * BDP);
}

/* Memory follows what comes in an epoch, and is given back when nothing does. */
static void sobas_memory(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;

	sobas_begin(&b, 0);
	s.arrived = 7 * MB;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.limit, 14 * MB);
	s.lacked = 1;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.limit, 16 * MB);
	s.arrived = 1ULL << 40;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.limit, 64 * MB);
	s.available = 20 * MB;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.limit, 10 * MB);
	s.used = SSTP_RBUF_ONE;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, b.limit, 4 * MB);
	s = (struct sstp_rbuf_sample){ .limit = 8 * MB, .first = 4 * MB, .ceiling = 64 * MB };
	sobas_epochs(&b, &s, SSTP_SOBAS_IDLE - 1);
	KUNIT_EXPECT_FALSE(test, b.rest);
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_TRUE(test, b.rest);
	KUNIT_EXPECT_EQ(test, b.limit, 4 * MB);
}

/* Whatever a peer makes this end measure: some packets may always be in flight. */
static void sobas_hostile(struct kunit *test)
{
	struct rnd_state rnd;
	struct sstp_rbuf b;
	u32 i, states = 0;

	sstp_test_seed_rnd(test, &rnd);
	sobas_begin(&b, 0);
	for (i = 0; i < sstp_test_rounds(200000); i++) {
		struct sstp_rbuf_sample s = sobas_sample();
		bool steady = i % 100 >= 20;

		s.rtt = steady ? RTT + i % 100 * 1000 : sstp_rnd_edge(&rnd) % 60000001;
		/* As beside others that yield */
		s.rate = steady ? RATE / 4 + b.window * 8ULL :
			 min(sstp_rnd_u64(&rnd) >> 23, SSTP_FLAT_RATE_MAX);
		s.queue = sstp_rnd_one_in(&rnd, 30) ? sstp_rnd_below(&rnd, 10000001) :
			  i / 1000 % 2 * 5000;
		s.capacity = sstp_rnd_one_in(&rnd, 2) ? SSTP_FLAT_RATE_MAX : 0;
		s.lost = sstp_rnd_one_in(&rnd, 20) ? sstp_rnd_edge(&rnd) : 0;
		s.lost_queue = sstp_rnd_below(&rnd, 10000001);
		s.segment = sstp_rnd_edge(&rnd) % (SSTP_SEGMENT_MAX + 1);
		s.packet = sstp_rnd_edge(&rnd);
		s.unanswered = sstp_rnd_one_in(&rnd, 100);
		s.window_limited = sstp_rnd_one_in(&rnd, 2);
		s.app_limited = !s.window_limited && sstp_rnd_one_in(&rnd, 2);
		if (sstp_rnd_one_in(&rnd, 1000))
			sobas_begin(&b, sstp_rnd_below(&rnd, 2));
		sstp_rbuf_sobas.update(&b, &s);
		KUNIT_EXPECT_TRUE(test, !b.window || b.window >= SSTP_SOBAS_FLOOR * 512);
		KUNIT_EXPECT_LE(test, b.window, (u32)SSTP_SOBAS_WINDOW_MAX);
		KUNIT_EXPECT_LE(test, b.epoch, SSTP_SOBAS_EPOCH_MAX);
		KUNIT_EXPECT_GE(test, b.epoch, (u64)SSTP_SOBAS_EPOCH_MIN);
		states |= 1U << sobas_state(&b);
	}
	KUNIT_EXPECT_EQ(test, states, 0x1ffU);
}

static struct kunit_case sobas_cases[] = {
	KUNIT_CASE(sobas_start),
	KUNIT_CASE(sobas_full),
	KUNIT_CASE(sobas_bursts),
	KUNIT_CASE(sobas_follows),
	KUNIT_CASE(sobas_capacity),
	KUNIT_CASE(sobas_losses),
	KUNIT_CASE(sobas_aside),
	KUNIT_CASE(sobas_beside_udp),
	KUNIT_CASE(sobas_forgets),
	KUNIT_CASE(sobas_beside_tcp),
	KUNIT_CASE(sobas_longer),
	KUNIT_CASE(sobas_paper),
	KUNIT_CASE(sobas_mode),
	KUNIT_CASE(sobas_memory),
	KUNIT_CASE(sobas_hostile),
	{ }
};

static struct kunit_suite sobas_suite = {
	.name = "sstp_sobas",
	.test_cases = sobas_cases,
};

kunit_test_suite(sobas_suite);
