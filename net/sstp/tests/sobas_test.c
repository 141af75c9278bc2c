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

static struct sstp_rbuf_sample sobas_sample(void)
{
	return (struct sstp_rbuf_sample){
		.limit = 8 * MB, .least = 4 * KB, .first = 4 * MB, .ceiling = 64 * MB,
		.available = 1ULL << 30, .arrived = MB, .rtt = RTT, .rate = RATE,
		.segment = 8 * KB, .packet = PACKET, .granted = BDP,
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

/* Bring @b into the state START, with the capacity as rate. */
static void sobas_started(struct kunit *test, struct sstp_rbuf *b, u32 mode)
{
	struct sstp_rbuf_sample s = sobas_sample();

	sobas_begin(b, mode);
	s.rate = RATE / 4;
	s.capacity = RATE;
	sobas_epochs(b, &s, 1);
	KUNIT_ASSERT_EQ(test, sobas_state(b), SSTP_SOBAS_START);
}

/* The same with a window that was set by the rate */
static void sobas_set(struct kunit *test, struct sstp_rbuf *b)
{
	struct sstp_rbuf_sample s = sobas_sample();

	sobas_started(test, b, 0);
	s.queue = 10000;
	s.rtt = RTT + 10000;
	sobas_epochs(b, &s, 2);
	KUNIT_ASSERT_EQ(test, sobas_state(b), SSTP_SOBAS_SET);
	KUNIT_ASSERT_EQ(test, b->window, BDP);
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
	KUNIT_EXPECT_EQ(test, b.window, BDP);
	KUNIT_EXPECT_FALSE(test, b.widen);
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
	/* A program that pauses is no sign of it, either; nor is a rate that varies. */
	s.queue = 10000;
	s.app_limited = true;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	s.app_limited = false;
	s.rate = RATE / 4;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 4);
	/* The queue of a full path is 6% of the round trip at least. */
	sobas_started(test, &b, 0);
	s = sobas_sample();
	s.queue = RTT / 50 * 3 - 1;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	s.queue++;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, BDP);
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
	KUNIT_EXPECT_EQ(test, b.window, BDP);
	s.window_limited = true;
	for (i = 0; i < 10 && b.window < 2 * BDP; i++) {
		u32 was = b.window;

		sobas_epochs(&b, &s, 1);
		KUNIT_EXPECT_LE(test, b.window, was + was / 8 + PACKET);
	}
	KUNIT_EXPECT_GE(test, b.window, 2 * BDP);
	sobas_epochs(&b, &s, 1000);
	KUNIT_EXPECT_EQ(test, b.window, (u32)SSTP_SOBAS_WINDOW_MAX);
}

/* Losses: with a queue, the rate before them or their mean rate counts; without, nothing. */
static void sobas_losses(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;

	sobas_started(test, &b, 0);
	sobas_epochs(&b, &s, 2);
	s.rate = RATE / 2;
	s.lost = 9;
	s.lost_queue = 100;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	s.rate = RATE;
	s.lost = 0;
	sobas_epochs(&b, &s, 2);
	s.rate = RATE / 2;
	s.lost = 9;
	s.lost_queue = 12000;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, BDP);
	/* They go on, and the rate varies: the mean of four counts. */
	sobas_started(test, &b, 0);
	s.rate = RATE / 4;
	sobas_epochs(&b, &s, 1);
	s.rate = RATE / 2;
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	KUNIT_EXPECT_EQ(test, b.window, BDP / 8 * 3);
	/* They go on with this window: others keep the queue full. */
	sobas_epochs(&b, &s, SSTP_SOBAS_EFFECT);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_ASIDE);
	KUNIT_EXPECT_EQ(test, b.window, 0U);
}

/* A queue that a smaller window leaves as it was belongs to others. */
static void sobas_aside(struct kunit *test)
{
	struct sstp_rbuf_sample s = sobas_sample();
	struct sstp_rbuf b;

	sobas_set(test, &b);
	s.queue = 9000;
	s.rtt = RTT + 9000;
	sobas_epochs(&b, &s, SSTP_SOBAS_EFFECT - 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
	sobas_epochs(&b, &s, 1);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_ASIDE);
	KUNIT_EXPECT_EQ(test, b.window, 0U);
	/* It stands aside while the queue lasts, and for 64 epochs. */
	sobas_epochs(&b, &s, 100);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_ASIDE);
	s.queue = 0;
	s.rtt = RTT;
	s.capacity = RATE;
	sobas_epochs(&b, &s, 2);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_START);
	/* Its own queue becomes shorter with the window. */
	sobas_set(test, &b);
	s.queue = 1000;
	sobas_epochs(&b, &s, 20);
	KUNIT_EXPECT_EQ(test, sobas_state(&b), SSTP_SOBAS_SET);
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
		s.rate = steady ? RATE : min(sstp_rnd_u64(&rnd) >> 23, SSTP_FLAT_RATE_MAX);
		s.queue = sstp_rnd_one_in(&rnd, 30) ? sstp_rnd_below(&rnd, 10000001) : 0;
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
	KUNIT_EXPECT_EQ(test, states, 0x3fU);
}

static struct kunit_case sobas_cases[] = {
	KUNIT_CASE(sobas_start),
	KUNIT_CASE(sobas_full),
	KUNIT_CASE(sobas_follows),
	KUNIT_CASE(sobas_losses),
	KUNIT_CASE(sobas_aside),
	KUNIT_CASE(sobas_longer),
	KUNIT_CASE(sobas_paper),
	KUNIT_CASE(sobas_memory),
	KUNIT_CASE(sobas_hostile),
	{ }
};

static struct kunit_suite sobas_suite = {
	.name = "sstp_sobas",
	.test_cases = sobas_cases,
};

kunit_test_suite(sobas_suite);
