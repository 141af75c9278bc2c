// SPDX-License-Identifier: GPL-2.0
/* Talk of two ends about control, on a path that loses and delays messages */
#include "sstp_test.h"
#include "../talk.c"

#define TALK_RTT	(40 * NSEC_PER_MSEC)
#define TALK_WAY	64	/* messages on their way, at most */

/* Two ends, and messages on their way from each */
struct talk_path {
	struct sstp_talk end[2];
	struct {
		struct sstp_message m;
		u64	at;
	} way[2][TALK_WAY];
	u32	count[2];
	u32	states;		/* states that left */
	u64	now;
	u32	loss;		/* one of as many messages is lost; 0 = none */
	struct rnd_state rnd;
};

static struct talk_path *talk_path(struct kunit *test)
{
	struct talk_path *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	sstp_test_seed_rnd(test, &p->rnd);
	sstp_talk_init(&p->end[0], 5, 0xfffffff0);
	sstp_talk_init(&p->end[1], 0xfffffff0, 5);
	p->now = NSEC_PER_SEC;
	return p;
}

static struct sstp_state talk_state(const char *name, u64 rate)
{
	struct sstp_state s = { .rate = rate };

	strscpy(s.name, name, SSTP_NAME_MAX);
	return s;
}

static void talk_leaves(struct kunit *test, struct talk_path *p, u32 e, struct sstp_message *m)
{
	sstp_talk_send(&p->end[e], m, p->now);
	if (p->loss && sstp_rnd_one_in(&p->rnd, p->loss))
		return;
	KUNIT_ASSERT_LT(test, p->count[e], TALK_WAY);
	p->way[e][p->count[e]].m = *m;
	p->way[e][p->count[e]++].at = p->now + TALK_RTT / 2;
}

/* A millisecond passes: what is due leaves, and what has travelled half a round trip arrives. */
static void talk_step(struct kunit *test, struct talk_path *p)
{
	struct sstp_message m;
	u32 e, i, kept;
	u64 due;

	p->now += NSEC_PER_MSEC;
	for (e = 0; e < 2; e++) {
		due = sstp_talk_due(&p->end[e], TALK_RTT);
		if (due && due <= p->now) {
			m = (struct sstp_message){};
			talk_leaves(test, p, e, &m);
			p->states++;
		}
	}
	for (e = 0; e < 2; e++) {
		for (i = 0, kept = 0; i < p->count[e]; i++) {
			if (p->way[e][i].at > p->now)
				p->way[e][kept++] = p->way[e][i];
			else
				sstp_talk_rcv(&p->end[!e], &p->way[e][i].m, p->now);
		}
		p->count[e] = kept;
	}
}

static bool talk_agree(const struct talk_path *p)
{
	u32 e;

	for (e = 0; e < 2; e++) {
		const struct sstp_talk *a = &p->end[e], *b = &p->end[!e];

		if (a->confirmed != a->number || b->peer_number != a->number ||
		    b->peer_ctrl != a->ctrl || b->peer.rate != a->own.rate ||
		    strcmp(b->peer.name, a->own.name))
			return false;
	}
	return true;
}

/* States arrive, whatever is lost, and are repeated no more once they are confirmed. */
static void talk_arrives(struct kunit *test)
{
	static const u32 loss[] = { 0, 10, 3, 2 };
	const char * const name[] = { "cubic", "udt" };
	struct talk_path *p = talk_path(test);
	struct sstp_state s;
	u32 k, n, round, was;

	for (k = 0; k < ARRAY_SIZE(loss); k++) {
		p->loss = loss[k];
		for (round = 0; round < 50; round++) {
			s = talk_state(name[sstp_rnd_below(&p->rnd, 2)],
				       1000ULL * sstp_rnd_below(&p->rnd, 5));
			sstp_talk_update(&p->end[sstp_rnd_below(&p->rnd, 2)], &s);
			for (n = 0; n < 60000 && !talk_agree(p); n++)
				talk_step(test, p);
			KUNIT_ASSERT_TRUE_MSG(test, talk_agree(p), "loss of 1 in %u, round %u",
					      loss[k], round);
			/* A state and its confirmation take a round trip and a little. */
			if (!loss[k])
				KUNIT_ASSERT_LE(test, n, 90U);
			/* What was sent meanwhile is confirmed in a round trip or two. */
			for (n = 0; n < 20000; n++)
				talk_step(test, p);
			was = p->states;
			for (n = 0; n < 20000; n++)
				talk_step(test, p);
			KUNIT_ASSERT_EQ(test, p->states, was);
		}
	}
}

/* Without an answer a state is repeated for some time, and the peer may then still learn it. */
static void talk_silent(struct kunit *test)
{
	struct talk_path *p = talk_path(test);
	struct sstp_state s = talk_state("udt", 0);
	u32 n;

	sstp_talk_update(&p->end[0], &s);
	p->loss = 1;
	for (n = 0; n < 1000000; n++)
		talk_step(test, p);
	KUNIT_EXPECT_EQ(test, p->states, SSTP_TALK_TRIES + 1U);
	/* The peer is heard again. */
	p->loss = 0;
	sstp_talk_heard(&p->end[0], p->now);
	for (n = 0; n < 200; n++)
		talk_step(test, p);
	KUNIT_EXPECT_TRUE(test, talk_agree(p));
	/* The next change is told. */
	s.ack_timer = 2000;
	sstp_talk_update(&p->end[0], &s);
	for (n = 0; n < 200; n++)
		talk_step(test, p);
	KUNIT_EXPECT_EQ(test, p->end[1].peer.ack_timer, 2000U);
	KUNIT_EXPECT_STREQ(test, p->end[1].peer.name, "udt");
}

/* A state that changes all the time leaves once in a round trip. */
static void talk_often(struct kunit *test)
{
	struct talk_path *p = talk_path(test);
	struct sstp_state s;
	u32 n;

	for (n = 0; n < 4000; n++) {
		s = talk_state("udt", 1000ULL * n);
		sstp_talk_update(&p->end[0], &s);
		talk_step(test, p);
	}
	/* 100 round trips, and as many confirmations */
	KUNIT_EXPECT_LE(test, p->states, 204U);
	KUNIT_EXPECT_GE(test, p->states, 180U);
	for (n = 0; n < 200; n++)
		talk_step(test, p);
	KUNIT_EXPECT_EQ(test, p->end[1].peer.rate, 1000ULL * 3999);
}

/* However often a state changes, its number passes no faster than states leave. */
static void talk_numbers(struct kunit *test)
{
	struct talk_path *p = talk_path(test);
	struct sstp_state s;
	u32 n;

	for (n = 0; n < 70000; n++) {
		s = talk_state(n % 2 ? "udt" : "gtp", 1000ULL * n);
		sstp_talk_update(&p->end[0], &s);
		if (n % 1000 == 0)
			talk_step(test, p);
	}
	for (n = 0; n < 200; n++)
		talk_step(test, p);
	KUNIT_EXPECT_EQ(test, p->end[1].peer.rate, 1000ULL * 69999);
	KUNIT_EXPECT_STREQ(test, p->end[1].peer.name, "udt");
	KUNIT_EXPECT_LE(test, p->end[0].number, 10);
	KUNIT_EXPECT_TRUE(test, talk_agree(p));
}

/* Messages come once, in order, and only to the controller that they were meant for. */
static void talk_messages(struct kunit *test)
{
	struct sstp_message a = { .kind = 1 }, b = { .kind = 1 }, back = { .kind = 2 }, again;
	struct talk_path *p = talk_path(test);
	struct sstp_state s = talk_state("udt", 0);
	struct sstp_talk *t = &p->end[0], *peer = &p->end[1];
	u32 n;

	KUNIT_EXPECT_EQ(test, sstp_talk_free(t, false, TALK_RTT), 0ULL);
	sstp_talk_send(t, &a, p->now);
	KUNIT_EXPECT_EQ(test, sstp_talk_free(t, false, TALK_RTT), p->now + TALK_RTT / 8);
	KUNIT_EXPECT_EQ(test, sstp_talk_free(t, false, 0), p->now + NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, sstp_talk_free(t, true, TALK_RTT), 0ULL);
	sstp_talk_send(t, &b, p->now);
	KUNIT_EXPECT_EQ(test, a.seq, 5U);
	again = b;
	KUNIT_EXPECT_EQ(test, sstp_talk_rcv(peer, &b, p->now), SSTP_TALK_TAKEN);
	KUNIT_EXPECT_TRUE(test, sstp_talk_current(peer, &b));
	KUNIT_EXPECT_EQ(test, sstp_talk_rcv(peer, &a, p->now), SSTP_TALK_OLD);
	KUNIT_EXPECT_EQ(test, sstp_talk_rcv(peer, &again, p->now), SSTP_TALK_OLD);
	again.seq += SSTP_TALK_LEAP + 1;
	KUNIT_EXPECT_EQ(test, sstp_talk_rcv(peer, &again, p->now), SSTP_TALK_OLD);
	again.seq--;
	KUNIT_EXPECT_EQ(test, sstp_talk_rcv(peer, &again, p->now), SSTP_TALK_TAKEN);
	t->seq = again.seq + 1;

	/* A message of the half of another controller: it left before the state came. */
	back.flags = SSTP_F_BACK;
	sstp_talk_send(peer, &back, p->now);
	KUNIT_EXPECT_EQ(test, sstp_talk_rcv(t, &back, p->now), SSTP_TALK_TAKEN);
	KUNIT_EXPECT_TRUE(test, sstp_talk_current(t, &back));
	sstp_talk_update(t, &s);
	KUNIT_EXPECT_FALSE(test, sstp_talk_current(t, &back));
	s.half = true;
	sstp_talk_update(peer, &s);
	KUNIT_EXPECT_FALSE(test, sstp_talk_peer_half(t));
	for (n = 0; n < 200; n++)
		talk_step(test, p);
	KUNIT_EXPECT_TRUE(test, sstp_talk_peer_half(t));
	KUNIT_EXPECT_FALSE(test, sstp_talk_peer_half(peer));
	sstp_talk_send(peer, &back, p->now);
	KUNIT_EXPECT_TRUE(test, sstp_talk_current(t, &back));
	/* Another rate is no other controller. */
	s = t->own;
	s.rate = 1000;
	sstp_talk_update(t, &s);
	KUNIT_EXPECT_TRUE(test, sstp_talk_current(t, &back));
	KUNIT_EXPECT_TRUE(test, sstp_talk_peer_half(t));
	strscpy(s.name, "cubic", SSTP_NAME_MAX);
	sstp_talk_update(t, &s);
	KUNIT_EXPECT_FALSE(test, sstp_talk_peer_half(t));
}

/* One controller tells more states than numbers compare: the peer runs its half all the time. */
static void talk_long(struct kunit *test)
{
	struct talk_path *p = talk_path(test);
	struct sstp_talk *t = &p->end[0], *peer = &p->end[1];
	struct sstp_state s = talk_state("gtp", 0);
	struct sstp_message m;
	u32 n;

	s.half = true;
	sstp_talk_update(peer, &s);
	for (n = 1; n < 70000; n++) {
		s.rate = n * 1000ULL;
		sstp_talk_update(t, &s);
		m = (struct sstp_message){};
		sstp_talk_send(t, &m, p->now);
		KUNIT_ASSERT_EQ(test, sstp_talk_rcv(peer, &m, p->now), SSTP_TALK_TAKEN);
		m = (struct sstp_message){};
		sstp_talk_send(peer, &m, p->now);
		KUNIT_ASSERT_EQ(test, sstp_talk_rcv(t, &m, p->now), SSTP_TALK_TAKEN);
		KUNIT_ASSERT_TRUE_MSG(test, sstp_talk_peer_half(t), "state %u", n);
		p->now += NSEC_PER_MSEC;
	}
}

/* Of a flood of messages four in a millisecond are taken, and of numbers never sent none. */
static void talk_flood(struct kunit *test)
{
	struct talk_path *p = talk_path(test);
	struct sstp_message m = { .kind = 1 };
	u32 n, taken = 0;

	for (n = 0; n < 100000; n++) {
		m.seq = 5 + n;
		taken += sstp_talk_rcv(&p->end[1], &m, p->now) == SSTP_TALK_TAKEN;
		p->now += 10 * NSEC_PER_USEC;
	}
	KUNIT_EXPECT_GE(test, taken, 4000U);
	KUNIT_EXPECT_LE(test, taken, 4000U + 34);
	/* Confirmations of what was not told */
	m = (struct sstp_message){ .seq = 5 + n, .seen = 7 };
	p->now += NSEC_PER_SEC;
	KUNIT_EXPECT_EQ(test, sstp_talk_rcv(&p->end[1], &m, p->now), SSTP_TALK_TAKEN);
	KUNIT_EXPECT_EQ(test, p->end[1].confirmed, 0);
}

static struct kunit_case talk_cases[] = {
	KUNIT_CASE(talk_arrives),
	KUNIT_CASE(talk_silent),
	KUNIT_CASE(talk_often),
	KUNIT_CASE(talk_numbers),
	KUNIT_CASE(talk_long),
	KUNIT_CASE(talk_messages),
	KUNIT_CASE(talk_flood),
	{}
};

static struct kunit_suite talk_suite = {
	.name = "sstp_talk",
	.test_cases = talk_cases,
};

kunit_test_suite(talk_suite);
