// SPDX-License-Identifier: GPL-2.0
/* Send window: which packets SNAKs have shipped again, and how many are examined for that */
#include "snd_sim.h"

/* A receiver that has seen @highest asks for a packet that was shipped again as @ship: the packet
 * is on its way, or lost again.
 */
static void snd_suppression(struct kunit *test)
{
	static const u32 start[] = { 1, 1000, 0x7ffffffe, 0xfffffff0 };
	static const struct {
		u32 ship;
		u32 highest;
		bool want;
	} t[] = {
		{ 0, 0, true },		/* never shipped again */
		{ 5, 0, false },
		{ 5, 4, false },
		{ 5, 5, true },
		{ 5, 6, true },
		{ 100000, 99999, false },
		{ 100000, 100001, true },
	};
	struct snd_sim *s = test->priv;
	struct sstp_sseg *seg;
	u32 i, k, n;
	bool got;

	sstp_test_seed_rnd(test, &s->rnd);
	for (n = 0; n < ARRAY_SIZE(t) * ARRAY_SIZE(start); n++) {
		i = n % ARRAY_SIZE(t);
		k = start[n / ARRAY_SIZE(t)];
		snd_start(s, 7, k);
		snd_add(s, 1, true);
		sstp_snd_ack(&s->w, 7, 7, snd_release, s);
		seg = sstp_snd_new(&s->w);
		KUNIT_ASSERT_NOT_NULL(test, seg);
		sstp_snd_shipped(&s->w, seg, 1);
		if (t[i].ship) {
			got = sstp_snd_want(&s->w, seg, 0, k, GFP_KERNEL);
			KUNIT_ASSERT_TRUE(test, got);
			sstp_snd_shipped_rtx(&s->w, seg, 0, k + t[i].ship);
		}
		got = sstp_snd_want(&s->w, seg, 0, k + t[i].highest,
				    GFP_KERNEL);
		KUNIT_EXPECT_EQ_MSG(test, got, t[i].want, "row %u start %u", i,
				    k);
		/* The packet waits already. */
		got = got && sstp_snd_want(&s->w, seg, 0, k + 200000,
					   GFP_KERNEL);
		KUNIT_EXPECT_FALSE(test, got);
		snd_stop(s);
	}
}

/* The ring is full: the slot after the last segment is that of the first. */
static void snd_snak_edges(struct kunit *test)
{
	static const struct {
		s32 segment;
		u16 first;
		u16 bits;
		u32 want;
	} t[] = {
		{ 0, 1, 0, 2 },
		{ 15, 1, 0, 2 },
		{ 15, 2, 0, 2 },
		{ 16, 1, 0, 0 },
		{ -1, 1, 0, 0 },
		{ -1, 2, 0, 2 },
		{ -5, U16_MAX, 0, 32 },
		{ 0, 0, 0, 0 },
		{ 0, 0, 1, 1 },
		{ 0, 0, 32, 2 },
		{ 15, 1, 32, 1 },
		{ 15, 2, 32, 0 },
		{ 15, U16_MAX - 31, 32, 0 },
		{ 16, 0, 32, 0 },
		{ -1, 0, 32, 0 },
		{ S32_MAX, 0, 32, 0 },
		{ S32_MIN, 0, 32, 0 },
	};
	static const __be32 map[1];
	struct snd_sim *s = test->priv;
	u32 i, k, got, budget;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		for (k = 0; k < 32; k += 5) {
			const struct sstp_snak_run run = {
				-k + t[i].segment, t[i].first, t[i].bits, map,
			};

			snd_start(s, -k, 1);
			while (s->end < 16)
				snd_add(s, 2, true);
			KUNIT_ASSERT_EQ(test, s->w.mask, 15U);
			sstp_snd_ack(&s->w, s->first, s->first + 20, snd_release,
				     s);
			s->high = 20;
			while (snd_op_ship(s))
				;
			KUNIT_ASSERT_EQ(test, s->next, 16LL);
			budget = U32_MAX;
			got = sstp_snd_snak(&s->w, &run, 32, &budget);
			KUNIT_EXPECT_EQ_MSG(test, got, t[i].want, "row %u", i);
			KUNIT_EXPECT_EQ(test, s->w.pending, got);
			snd_stop(s);
		}
}

/* Packets that the sender examines for a run, now and later: four segments of three packets */
static void snd_snak_budget(struct kunit *test)
{
	static const struct {
		s32 segment;
		u16 first;
		u16 bits;
		u32 budget;
		u32 want;
		u32 left;
		u32 later;
	} t[] = {
		/* No segments are before S_l and after the last. */
		{ -60000, 60000, 0, 1, 0, 1 },
		{ -60000, 60001, 0, 3, 3, 0 },
		{ -1, 0, 32, 5, 0, 5 },
		{ 4, U16_MAX, 0, 5, 0, 5 },
		/* Segment 1 is gone. */
		{ 1, 1, 0, 5, 0, 4 },
		{ 0, 2, 0, 9, 3, 5 },
		{ 0, U16_MAX, 0, 20, 9, 10 },
		{ 0, U16_MAX, 0, 10, 9, 0 },
		{ 0, U16_MAX, 0, 9, 6, 2, 3 },
		{ 0, U16_MAX, 0, 4, 3, 0, 6 },
		{ 0, U16_MAX, 0, 3, 3, 0, 6 },
		{ 0, U16_MAX, 0, 2, 0, 2, 9 },
		{ 0, U16_MAX, 0, 0, 0, 0, 9 },
		/* Bits count even if the segment has no such packet. */
		{ 0, 0, 32, 40, 3, 8 },
		{ 0, 0, 32, 2, 2, 0 },
		{ 0, 2, 32, 2, 1, 0 },
		{ 0, 0, 32, 0, 0, 0 },
	};
	static const __be32 map[1];
	struct snd_sim *s = test->priv;
	u32 i, got, budget, packet, again;
	struct sstp_sseg *seg;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		const struct sstp_snak_run run = {
			t[i].segment, t[i].first, t[i].bits, map,
		};

		snd_start(s, 0, 1);
		while (s->end < 4)
			snd_add(s, 3, true);
		sstp_snd_ack(&s->w, 0, 20, snd_release, s);
		s->high = 20;
		while (snd_op_ship(s))
			;
		sstp_snd_accept(&s->w, 1, false, snd_release, s);
		budget = t[i].budget;
		got = sstp_snd_snak(&s->w, &run, 32, &budget);
		KUNIT_EXPECT_EQ_MSG(test, got, t[i].want, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, budget, t[i].left, "row %u", i);
		KUNIT_EXPECT_EQ(test, s->w.pending, got);
		for (again = 0; (seg = sstp_snd_rtx(&s->w, &packet)); again++)
			sstp_snd_shipped_rtx(&s->w, seg, packet,
					     s->w.shipment++);
		KUNIT_EXPECT_EQ_MSG(test, again, got + t[i].later, "row %u", i);
		snd_stop(s);
	}
}

/* Segments asked for again while all of them are on their way are not examined for long. */
static void snd_whole_in_vain(struct kunit *test)
{
	static const struct sstp_snak_run run = { 0, U16_MAX, 0, NULL };
	struct snd_sim *s = test->priv;
	u32 packet, again, round, budget;
	struct sstp_sseg *seg;

	sstp_test_seed_rnd(test, &s->rnd);
	snd_start(s, 0, 1);
	while (s->end < 8)
		snd_add(s, SSTP_SND_LOOK / 4, true);
	sstp_snd_ack(&s->w, 0, 20, snd_release, s);
	s->high = 20;
	while (snd_op_ship(s))
		;
	for (round = 0; round < 2; round++) {
		budget = 0;
		sstp_snd_begin(&s->w, false);
		KUNIT_EXPECT_EQ(test, sstp_snd_snak(&s->w, &run, 32, &budget),
				0U);
		KUNIT_EXPECT_NE(test, s->w.whole, s->w.whole_end);
		for (again = 0; (seg = sstp_snd_rtx(&s->w, &packet)); again++)
			sstp_snd_shipped_rtx(&s->w, seg, packet,
					     s->w.shipment++);
		KUNIT_EXPECT_EQ(test, again, round ? 0 : 2 * SSTP_SND_LOOK);
		KUNIT_EXPECT_EQ(test, s->w.whole, s->w.whole_end);
		KUNIT_EXPECT_EQ(test, s->w.vain, round ? 0 : SSTP_SND_LOOK);
	}
	snd_stop(s);
}

/* An skb has @n SNAKs that ask for packets on their way. Returns the packets examined. */
static u32 snd_ask_in_vain(struct snd_sim *s, u32 n)
{
	static const struct sstp_snak_run whole = { 0, U16_MAX, 0, NULL };
	static const __be32 map[32];
	const struct sstp_snak_run bits = { 1, 0, 1024, map };
	u32 was = s->w.credit, budget = U32_MAX, packet;

	while (n--) {
		KUNIT_ASSERT_EQ(s->test, sstp_snd_snak(&s->w, n % 2 ? &whole : &bits,
						       32, &budget), 0U);
		KUNIT_ASSERT_NULL(s->test, sstp_snd_rtx(&s->w, &packet));
	}
	return was - s->w.credit;
}

/* However many SNAKs come, and however often: more packets are examined in vain only when more
 * were shipped or time has passed.
 */
static void snd_vain(struct kunit *test)
{
	struct snd_sim *s = test->priv;
	struct sstp_sseg *seg;
	u32 i, packet, n;

	sstp_test_seed_rnd(test, &s->rnd);
	snd_start(s, 0, 1);
	while (s->end < 16)
		snd_add(s, 1024, true);
	sstp_snd_ack(&s->w, 0, 20, snd_release, s);
	s->high = 20;
	while (snd_op_ship(s))
		;
	for (i = 0; i < 16; i++)
		for (n = 0; n < 1024; n++)
			sstp_snd_want(&s->w, sstp_snd_segment(&s->w, i), n, 32,
				      GFP_KERNEL);
	while ((seg = sstp_snd_rtx(&s->w, &packet)))
		sstp_snd_shipped_rtx(&s->w, seg, packet, s->w.shipment++);
	KUNIT_EXPECT_EQ(test, s->w.credit, SSTP_SND_CREDIT);
	for (i = 0; i < 2 * SSTP_SND_CREDIT / SSTP_SND_LOOK; i++) {
		bool left = i < SSTP_SND_CREDIT / SSTP_SND_LOOK;

		sstp_snd_begin(&s->w, false);
		KUNIT_EXPECT_EQ(test, snd_ask_in_vain(s, 60),
				left ? SSTP_SND_LOOK : 0);
	}
	/* A round trip later */
	sstp_snd_begin(&s->w, true);
	KUNIT_EXPECT_EQ(test, snd_ask_in_vain(s, 60), SSTP_SND_LOOK);
	KUNIT_EXPECT_EQ(test, s->w.credit, 0U);
	/* Packets shipped meanwhile may be asked for too early. */
	snd_add(s, 100, true);
	seg = sstp_snd_new(&s->w);
	KUNIT_ASSERT_NOT_NULL(test, seg);
	sstp_snd_shipped(&s->w, seg, 100);
	sstp_snd_begin(&s->w, false);
	KUNIT_EXPECT_EQ(test, snd_ask_in_vain(s, 60), 200U);
	snd_stop(s);
}

/* A range is asked for again while its first part is on its way: the part that was not examined
 * is neither dropped for that nor has to wait for another report, though the SNAK may have
 * @budget packets examined in vain.
 */
static void snd_resume(struct kunit *test, u32 budget)
{
	static const struct sstp_snak_run run = { 0, U16_MAX, 0, NULL };
	const u32 size = SSTP_SND_LOOK / 4, segments = 16;
	struct snd_sim *s = test->priv;
	u32 packet, again = 0, none = 0;
	struct sstp_sseg *seg;

	snd_start(s, 0, 1);
	while (s->end < segments)
		snd_add(s, size, true);
	sstp_snd_ack(&s->w, 0, segments + 20, snd_release, s);
	s->high = segments + 20;
	while (snd_op_ship(s))
		;
	sstp_snd_snak(&s->w, &run, segments * size, &none);
	while (again < 10 * size && (seg = sstp_snd_rtx(&s->w, &packet))) {
		sstp_snd_shipped_rtx(&s->w, seg, packet, s->w.shipment++);
		again++;
	}
	/* No packet of the range has come when it is asked for again. */
	sstp_snd_begin(&s->w, false);
	sstp_snd_snak(&s->w, &run, segments * size, &budget);
	while ((seg = sstp_snd_rtx(&s->w, &packet))) {
		sstp_snd_shipped_rtx(&s->w, seg, packet, s->w.shipment++);
		again++;
	}
	KUNIT_EXPECT_EQ(test, again, segments * size);
	snd_stop(s);
}

static void snd_whole_resumed(struct kunit *test)
{
	struct snd_sim *s = test->priv;

	sstp_test_seed_rnd(test, &s->rnd);
	snd_resume(test, 0);
	snd_resume(test, U32_MAX);
}

static struct kunit_case snd_snak_cases[] = {
	KUNIT_CASE(snd_suppression),
	KUNIT_CASE(snd_snak_edges),
	KUNIT_CASE(snd_snak_budget),
	KUNIT_CASE(snd_whole_in_vain),
	KUNIT_CASE(snd_vain),
	KUNIT_CASE(snd_whole_resumed),
	{ }
};

static struct kunit_suite snd_snak_suite = {
	.name = "sstp_snd_snak",
	.init = snd_sim_init,
	.exit = snd_sim_exit,
	.test_cases = snd_snak_cases,
};

kunit_test_suite(snd_snak_suite);
