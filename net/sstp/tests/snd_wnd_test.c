// SPDX-License-Identifier: GPL-2.0
/* Send window: random operations against the model, and edges */
#include <linux/mm.h>
#include "snd_sim.h"
#include "../snd_wnd.c"

#define SND_STEPS	6000

static bool (*const snd_op[])(struct snd_sim *s) = {
	snd_op_add, snd_op_ship, snd_op_ship_again, snd_op_ack,
	snd_op_accept, snd_op_snak,
};

static void snd_random_of(struct snd_sim *s, u32 first, u32 shipment)
{
	/* Weights of operations in turns in which the window fills, is repaired, and empties */
	static const u8 weight[][ARRAY_SIZE(snd_op)] = {
		{ 20, 20, 2, 5, 2, 5 },
		{ 5, 10, 30, 5, 2, 15 },
		{ 2, 25, 10, 15, 4, 5 },
	};
	u32 i, step;

	snd_start(s, first, shipment);
	for (step = 0; step < SND_STEPS; step++) {
		const u8 *now = weight[step / 64 % ARRAY_SIZE(weight)];
		u32 total = 0, pick;

		for (i = 0; i < ARRAY_SIZE(snd_op); i++)
			total += now[i];
		pick = sstp_rnd_below(&s->rnd, total);
		for (i = 0; pick >= now[i]; i++)
			pick -= now[i];
		s->calls[i] += snd_op[i](s);
		if (step % 64)
			snd_check(s);
		else
			snd_check_all(s);
	}
	/* All packets that wait are shipped in the end. */
	while (snd_op_ship_again(s))
		;
	snd_check_all(s);
	snd_stop(s);
}

static void snd_random(struct kunit *test)
{
	static const u32 first[] = {
		-300, 0, 1, -1, -50, 0x7fffff80, 0x80000000, 0x12345678,
	};
	static const u32 shipment[] = { 0, 1, -1, -2000, 0x7ffffc00 };
	struct snd_sim *s = test->priv;
	u32 i, k;

	sstp_test_seed_rnd(test, &s->rnd);
	memset(s->calls, 0, sizeof(s->calls));
	for (i = 0; i < sstp_test_rounds(ARRAY_SIZE(first)); i++)
		for (k = 0; k < ARRAY_SIZE(shipment); k++)
			snd_random_of(s, first[i], shipment[k]);
	for (i = 0; i < ARRAY_SIZE(snd_op); i++)
		KUNIT_EXPECT_GT_MSG(test, s->calls[i],
				    sstp_test_rounds(1000), "operation %u", i);
}

/* Segments 0 to 9 shipped, 10 to 19 wait, S_l = 4, S_h = 9. */
static void snd_ack_edges(struct kunit *test)
{
	static const struct {
		s32 ack;
		s32 limit;
		bool ok;
		s32 low;
		s32 high;
	} t[] = {
		{ 4, 9, true, 4, 9 },
		{ 10, 9, true, 10, 9 },
		{ 11, 9, false, 4, 9 },
		{ 20, 30, false, 4, 9 },
		{ 4, 8, true, 4, 9 },		/* a grant is not taken back */
		{ 4, 0, true, 4, 9 },
		{ 4, -1, true, 4, 9 },
		{ 3, 9, false, 4, 9 },		/* nor is R_l */
		{ 0, 9, false, 4, 9 },
		{ -1, 9, false, 4, 9 },
		{ 5, 10, true, 5, 10 },
		{ 4, 10 + SND_LIMIT, true, 4, 10 + SND_LIMIT },
		{ 4, 11 + SND_LIMIT, false, 4, 9 },
		{ 9, 11 + SND_LIMIT, false, 4, 9 },
		{ 4, S32_MAX, false, 4, 9 },
		{ 4, S32_MIN + 10, false, 4, 9 },
		{ 4, S32_MIN + 10 + SND_LIMIT, true, 4, 9 },
		{ S32_MIN + 3, 9, false, 4, 9 },
		{ S32_MIN + 4, 9, false, 4, 9 },
		{ S32_MIN + 9, 9, false, 4, 9 },
		{ S32_MIN + 10, 9, false, 4, 9 },
		{ S32_MAX, 9, false, 4, 9 },
	};
	struct snd_sim *s = test->priv;
	u32 i, k;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		for (k = 0; k < 32; k += 5) {
			bool ok;

			snd_start(s, -k, 0);
			while (s->end < 20)
				snd_add(s, 1, true);
			sstp_snd_ack(&s->w, s->first, s->first + 9, snd_release,
				     s);
			s->high = 9;
			while (snd_op_ship(s))
				;
			KUNIT_ASSERT_EQ(test, s->next, 10LL);
			sstp_snd_ack(&s->w, s->first + 4, s->first + 9,
				     snd_release, s);
			ok = sstp_snd_ack(&s->w, s->first + t[i].ack,
					  s->first + t[i].limit, snd_release,
					  s);
			KUNIT_EXPECT_EQ_MSG(test, ok, t[i].ok, "row %u", i);
			s->low = t[i].low;
			s->high = t[i].high;
			snd_check_all(s);
			snd_stop(s);
		}
}

/* Segments are repaired in their order, whatever the order of requests. */
static void snd_order(struct kunit *test)
{
	static const struct {
		u8 n;
		u8 ask[4];
		u8 get[4];
	} t[] = {
		{ 3, { 1, 2, 3 }, { 1, 2, 3 } },
		{ 3, { 2, 3, 1 }, { 1, 2, 3 } },
		{ 4, { 3, 4, 0, 5 }, { 0, 3, 4, 5 } },
		{ 2, { 5, 0 }, { 0, 5 } },
	};
	struct snd_sim *s = test->priv;
	struct sstp_sseg *seg;
	u32 i, k, base;
	bool got;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		for (base = 0; base < 8; base++) {
			snd_start(s, -base, 1);
			for (k = 0; k < 6; k++)
				snd_add(s, 2, true);
			sstp_snd_ack(&s->w, s->first, s->first + 5, snd_release,
				     s);
			s->high = 5;
			while (snd_op_ship(s))
				;
			/* Both packets of each segment, the second first */
			for (k = 0; k < 2 * t[i].n; k++) {
				seg = sstp_snd_segment(&s->w, s->first +
						       t[i].ask[k % t[i].n]);
				got = sstp_snd_want(&s->w, seg, k < t[i].n, 12,
						    GFP_KERNEL);
				KUNIT_ASSERT_TRUE(test, got);
			}
			for (k = 0; k < 2 * t[i].n; k++) {
				u32 packet = 9;

				seg = sstp_snd_rtx(&s->w, &packet);
				KUNIT_ASSERT_NOT_NULL(test, seg);
				KUNIT_EXPECT_EQ(test, seg->number - s->first,
						(u32)t[i].get[k / 2]);
				KUNIT_EXPECT_EQ(test, packet, k % 2);
				sstp_snd_shipped_rtx(&s->w, seg, packet, 13);
			}
			snd_stop(s);
		}
}

static void snd_count(void *arg, struct sstp_sseg *seg)
{
	++*(u32 *)arg;
}

/* The ring grows to its largest size and not beyond, whatever number it begins at. */
static void snd_ring(struct kunit *test)
{
	static const u32 first[] = { 0, 5, -1, -16, -40000, 0x7fffffff };
	u32 n = SSTP_SND_SEGMENTS, i, k, freed, wrong = 0;
	struct sstp_snd_wnd w;
	struct sstp_sseg *seg;

	seg = kvcalloc(n, sizeof(*seg), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seg);
	for (i = 0; i < ARRAY_SIZE(first); i++) {
		freed = 0;
		KUNIT_EXPECT_EQ(test, sstp_snd_init(&w, first[i], 0,
						    GFP_KERNEL), 0);
		for (k = 0; k < n && !sstp_snd_reserve(&w, GFP_KERNEL); k++)
			sstp_snd_add(&w, &seg[k]);
		KUNIT_EXPECT_EQ(test, k, n);
		KUNIT_EXPECT_EQ(test, sstp_snd_reserve(&w, GFP_KERNEL),
				-EAGAIN);
		for (k = 0; k < n; k++)
			wrong += sstp_snd_segment(&w, first[i] + k) !=
				 &seg[k] || seg[k].number != first[i] + k;
		KUNIT_EXPECT_EQ(test, wrong, 0U);
		/* After one acknowledgment there is room for one segment. */
		w.next = w.end;
		KUNIT_EXPECT_TRUE(test, sstp_snd_ack(&w, first[i] + 1, first[i],
						     snd_count, &freed));
		KUNIT_EXPECT_EQ(test, sstp_snd_reserve(&w, GFP_KERNEL), 0);
		sstp_snd_add(&w, &seg[0]);
		w.next = w.end;
		KUNIT_EXPECT_EQ(test, sstp_snd_reserve(&w, GFP_KERNEL),
				-EAGAIN);
		KUNIT_EXPECT_TRUE(test, sstp_snd_ack(&w, w.end, first[i],
						     snd_count, &freed));
		KUNIT_EXPECT_EQ(test, freed, n + 1);
		sstp_snd_destroy(&w);
	}
	kvfree(seg);
}

/* A segment of @len bytes in packets of @size bytes, in three fragments of two pages. The bytes
 * depend on their offset.
 */
static struct sstp_sseg *snd_filled(struct kunit *test, u32 len, u32 size)
{
	u32 packets = DIV_ROUND_UP(len, size), bytes = len + packets * SSTP_DATA_HLEN;
	struct sstp_sseg *s = sstp_sseg_alloc(len, size, GFP_KERNEL);
	u8 *p[2], *at;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_GT(test, bytes, (u32)PAGE_SIZE);
	KUNIT_ASSERT_LE(test, bytes, 2 * (u32)PAGE_SIZE);
	KUNIT_ASSERT_GE(test, s->alloc, 3U);
	for (i = 0; i < 2; i++) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

		KUNIT_ASSERT_NOT_NULL(test, page);
		p[i] = page_address(page);
		bvec_set_page(&s->frag[2 * i], page, i ? bytes - PAGE_SIZE : 1000, 0);
	}
	bvec_set_page(&s->frag[1], s->frag[0].bv_page, PAGE_SIZE - 1000, 1000);
	get_page(s->frag[0].bv_page);
	s->frags = 3;
	for (i = 0; i < len; i++) {
		u32 off = i / size * (SSTP_DATA_HLEN + size) + SSTP_DATA_HLEN + i % size;

		at = &p[off / PAGE_SIZE][off % PAGE_SIZE];
		*at = i % 251;
	}
	s->len = len;
	s->packets = packets;
	s->sealed = 1;
	return s;
}

/* Check that packets of any size have the bytes of their offsets. */
static void snd_check_bytes(struct kunit *test, const struct sstp_sseg *s, u8 *buf)
{
	u32 packet, i;

	for (packet = 0; packet < s->packets; packet++) {
		u32 bytes = sstp_sseg_bytes(s, packet);

		sstp_sseg_copy(s, packet * s->size, buf, bytes);
		for (i = 0; i < bytes; i++)
			KUNIT_ASSERT_EQ(test, buf[i], (packet * s->size + i) % 251);
	}
}

static void snd_recut_of(struct kunit *test, u32 first, u32 size, u32 again)
{
	struct sstp_sseg *s[4];
	struct sstp_snd_wnd w;
	u32 i, packet, n, asked = 1000;
	u8 *buf = kunit_kzalloc(test, 6000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, sstp_snd_init(&w, first, 100, GFP_KERNEL), 0);
	for (i = 0; i < 4; i++) {
		s[i] = snd_filled(test, 6000, size);
		sstp_snd_add(&w, s[i]);
	}
	s[3]->sealed = 0;
	w.high = first + 3;
	/* Ship the first wholly and the second in part, and ask for packets of the first. */
	sstp_snd_shipped(&w, s[0], s[0]->packets);
	sstp_snd_shipped(&w, s[1], 1);
	for (i = 0; i < 2; i++)
		sstp_snd_want(&w, s[0], i, w.shipment - 1, GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, w.pending, 2U);
	KUNIT_ASSERT_PTR_EQ(test, sstp_snd_rtx(&w, &packet), s[0]);
	sstp_snd_shipped_rtx(&w, s[0], packet, w.shipment++);

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_TRUE(test, sstp_snd_recut(&w, s[i], again, GFP_KERNEL));
		KUNIT_ASSERT_EQ(test, s[i]->packets, DIV_ROUND_UP(6000, again));
		snd_check_bytes(test, s[i], buf);
	}
	/* An open segment may grow. */
	KUNIT_ASSERT_FALSE(test, sstp_snd_recut(&w, s[3], again, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, s[3]->size, size);

	/* All packets of a shipped segment are shipped again, in order, whatever was asked for. */
	KUNIT_ASSERT_EQ(test, w.pending, s[0]->packets);
	KUNIT_ASSERT_EQ(test, sstp_snd_snak(&w, &(struct sstp_snak_run){
			.segment = first, .first = 2 }, w.shipment - 1, &asked), 0U);
	for (n = 0; n < s[0]->packets; n++) {
		KUNIT_ASSERT_PTR_EQ(test, sstp_snd_rtx(&w, &packet), s[0]);
		KUNIT_ASSERT_EQ(test, packet, n);
		sstp_snd_shipped_rtx(&w, s[0], packet, w.shipment++);
	}
	KUNIT_ASSERT_NULL(test, sstp_snd_rtx(&w, &packet));
	KUNIT_ASSERT_EQ(test, w.pending, 0U);
	/* Packets of the other segments are new. */
	for (i = 1; i < 3; i++) {
		KUNIT_ASSERT_PTR_EQ(test, sstp_snd_new(&w), s[i]);
		KUNIT_ASSERT_EQ(test, s[i]->next, 0U);
		sstp_snd_shipped(&w, s[i], s[i]->packets);
	}
	KUNIT_ASSERT_PTR_EQ(test, sstp_snd_new(&w), s[3]);
	/* Each packet may be lost and asked for again. */
	asked = 10000;
	n = sstp_snd_snak(&w, &(struct sstp_snak_run){ .segment = first, .first = 3 },
			  w.shipment - 1, &asked);
	KUNIT_ASSERT_EQ(test, n, 3 * s[0]->packets);
	/* Too many packets: the segment stays as it is. */
	KUNIT_ASSERT_TRUE(test, sstp_snd_recut(&w, s[0], 1, GFP_KERNEL));
	s[0]->len = SSTP_PACKETS_MAX + 1;
	KUNIT_ASSERT_FALSE(test, sstp_snd_recut(&w, s[0], 1, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, s[0]->packets, 6000U);
	sstp_snd_destroy(&w);
	kunit_kfree(test, buf);
}

/* Segments of which all packets, some or none were shipped are cut anew. */
static void snd_recut(struct kunit *test)
{
	static const struct {
		u32 size;
		u32 again;
	} t[] = {
		{ 1448, 952 }, { 2000, 8 }, { 4000, 1448 }, { 400, 80 }, { 1000, 1000 },
		{ 160, 152 }, { 1448, 3 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		snd_recut_of(test, 5, t[i].size, t[i].again);
		snd_recut_of(test, -1, t[i].size, t[i].again);
		snd_recut_of(test, -3, t[i].size, t[i].again);
	}
}

static struct kunit_case snd_wnd_cases[] = {
	KUNIT_CASE(snd_ack_edges),
	KUNIT_CASE(snd_order),
	KUNIT_CASE(snd_ring),
	KUNIT_CASE(snd_recut),
	KUNIT_CASE(snd_random),
	{ }
};

static struct kunit_suite snd_wnd_suite = {
	.name = "sstp_snd_wnd",
	.init = snd_sim_init,
	.exit = snd_sim_exit,
	.test_cases = snd_wnd_cases,
};

kunit_test_suite(snd_wnd_suite);
