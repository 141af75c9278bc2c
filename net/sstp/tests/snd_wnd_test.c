// SPDX-License-Identifier: GPL-2.0
/*
 * Send window: each operation on it is done to a model as well, plain arrays with
 * indices that never wrap, and both must agree.
 */
#include <linux/mm.h>
#include <linux/sizes.h>
#include "sstp_test.h"
#include "../snd_wnd.c"

#define SND_SEGMENTS	1000	/* in a run */
#define SND_STEPS	6000
#define SND_PACKETS	5U	/* of a segment that is granted, or more */
#define SND_WORDS	100	/* of a SNAK's bitmap */
#define SND_LIMIT	(4 * SSTP_SND_SEGMENTS)	/* a peer may grant so many */

struct snd_packet {
	bool	want;
	bool	again;		/* shipped more than once */
	s64	first;		/* first shipment */
	s64	ship;		/* last shipment */
};

/* Segment @first + its index */
struct snd_seg {
	struct snd_packet *packet;
	u32	packets;
	u32	shipped;
	u32	wanted;
	bool	sealed;
	bool	accepted;	/* and reported so */
	bool	kept;		/* neither acknowledged nor freed */
};

/**
 * struct snd_sim - the window and the model of it
 * @first: number of segment 0
 * @first_ship: number of shipment 0
 * @low: S_l, an index, as are the next three
 * @high: S_h
 * @shipment: index of the next shipment
 * @wanted: packets to ship again
 * @lost: newest shipment that the running operation asked for again
 * @kept: segments that were not freed
 * @page: page of data, on which each segment of the window has a reference
 * @released: segments that the running operation released
 * @calls: operations that had something to do
 */
struct snd_sim {
	struct kunit *test;
	struct rnd_state rnd;
	struct sstp_snd_wnd w;
	u32	first;
	u32	first_ship;
	s64	low;
	s64	high;
	s64	next;
	s64	end;
	s64	shipment;
	u32	wanted;
	s64	lost;
	u32	kept;
	struct page *page;
	u32	released;
	u32	calls[8];
	struct snd_seg seg[SND_SEGMENTS];
};

static struct snd_seg *snd_seg(struct snd_sim *s, const struct sstp_sseg *seg)
{
	u32 i = seg->number - s->first;

	return i < s->end ? &s->seg[i] : NULL;
}

static void snd_forget(struct snd_sim *s, struct snd_seg *m)
{
	u32 i;

	for (i = 0; m->wanted && i < m->packets; i++) {
		m->wanted -= m->packet[i].want;
		s->wanted -= m->packet[i].want;
		m->packet[i].want = false;
	}
}

/* The window releases a segment. */
static void snd_release(void *arg, struct sstp_sseg *seg)
{
	struct snd_sim *s = arg;
	struct snd_seg *m = snd_seg(s, seg);

	KUNIT_ASSERT_NOT_NULL(s->test, m);
	KUNIT_ASSERT_TRUE(s->test, m->kept);
	KUNIT_ASSERT_EQ(s->test, seg->packets, m->packets);
	m->kept = false;
	s->kept--;
	s->released++;
	snd_forget(s, m);
	sstp_sseg_free(seg);
}

static void snd_start(struct snd_sim *s, u32 first, u32 shipment)
{
	s->first = first;
	s->first_ship = shipment;
	s->low = 0;
	s->high = -1;
	s->next = 0;
	s->end = 0;
	s->shipment = 0;
	s->wanted = 0;
	s->kept = 0;
	KUNIT_ASSERT_EQ(s->test, sstp_snd_init(&s->w, first, shipment,
					       GFP_KERNEL), 0);
}

static void snd_stop(struct snd_sim *s)
{
	u32 i;

	sstp_snd_destroy(&s->w);
	/* No segment holds the page any more. */
	KUNIT_EXPECT_EQ(s->test, page_count(s->page), 1);
	for (i = 0; i < s->end; i++) {
		kvfree(s->seg[i].packet);
		s->seg[i].packet = NULL;
	}
	s->end = 0;
}

static void snd_add(struct snd_sim *s, u32 packets, bool sealed)
{
	u32 size = 8 * sstp_rnd_range(&s->rnd, 1, 8);
	u32 len = (packets - 1) * size + sstp_rnd_range(&s->rnd, 1, size);
	struct snd_seg *m = &s->seg[s->end];
	struct kunit *test = s->test;
	struct sstp_sseg *seg;

	KUNIT_ASSERT_EQ(test, sstp_snd_reserve(&s->w, GFP_KERNEL), 0);
	seg = sstp_sseg_alloc(len, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seg);
	seg->len = len;
	seg->packets = packets;
	seg->sealed = sealed;
	get_page(s->page);
	seg->frag[seg->frags++].bv_page = s->page;
	m->packet = kvcalloc(packets, sizeof(*m->packet), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->packet);
	m->packets = packets;
	m->shipped = 0;
	m->wanted = 0;
	m->sealed = sealed;
	m->accepted = false;
	m->kept = true;
	sstp_snd_add(&s->w, seg);
	s->end++;
	s->kept++;
}

static void snd_check(struct snd_sim *s)
{
	const struct snd_seg *m = s->next < s->end ? &s->seg[s->next] : NULL;
	const struct snd_seg *low = s->low < s->end ? &s->seg[s->low] : NULL;
	u32 packets = low && low->kept ? max(low->packets, SND_PACKETS) : SND_PACKETS;
	const struct sstp_snd_wnd *w = &s->w;
	struct kunit *test = s->test;

	KUNIT_ASSERT_EQ(test, sstp_snd_granted(w, SND_PACKETS),
			min(max(s->high - s->low + 2, 8LL) * packets, (s64)U32_MAX));
	KUNIT_ASSERT_EQ(test, w->low, s->first + (u32)s->low);
	KUNIT_ASSERT_EQ(test, w->high, s->first + (u32)s->high);
	KUNIT_ASSERT_EQ(test, w->next, s->first + (u32)s->next);
	KUNIT_ASSERT_EQ(test, w->end, s->first + (u32)s->end);
	KUNIT_ASSERT_EQ(test, w->shipment, s->first_ship + (u32)s->shipment);
	KUNIT_ASSERT_EQ(test, w->pending, s->wanted);
	KUNIT_ASSERT_EQ(test, RB_EMPTY_ROOT(&w->again.rb_root), !s->wanted);
	KUNIT_ASSERT_EQ(test, sstp_snd_outstanding(w),
			s->next != s->low || (m && m->shipped));
	KUNIT_ASSERT_EQ(test, page_count(s->page), 1 + (int)s->kept);
}

/* Compare a segment with the model, packet by packet. */
static void snd_check_seg(struct snd_sim *s, u32 i)
{
	const struct snd_seg *m = &s->seg[i];
	const struct sstp_sseg *seg;
	struct kunit *test = s->test;
	u32 k;

	seg = sstp_snd_segment(&s->w, s->first + i);
	KUNIT_ASSERT_EQ(test, !!seg, m->kept);
	if (!seg)
		return;
	KUNIT_ASSERT_EQ(test, seg->number, s->first + i);
	KUNIT_ASSERT_EQ(test, seg->next, m->shipped);
	if (!seg->rtx) {
		KUNIT_ASSERT_EQ(test, m->wanted, 0U);
		return;
	}
	KUNIT_ASSERT_EQ(test, seg->rtx->count, m->wanted);
	for (k = 0; k < m->packets; k++)
		KUNIT_ASSERT_EQ(test, !!test_bit(k, seg->rtx->pending),
				m->packet[k].want);
}

static void snd_check_all(struct snd_sim *s)
{
	s64 i;

	snd_check(s);
	for (i = s->low; i < s->end; i++)
		snd_check_seg(s, i);
}

/* --- what can be done: true if there was something to do --------------------- */

static bool snd_op_add(struct snd_sim *s)
{
	u32 packets = sstp_rnd_range(&s->rnd, 1, 30);
	bool sealed = !sstp_rnd_one_in(&s->rnd, 6);

	if (s->end == SND_SEGMENTS)
		return false;
	/* Only the last segment may be open. */
	if (s->end && !s->seg[s->end - 1].sealed) {
		sstp_snd_segment(&s->w, s->w.end - 1)->sealed = 1;
		s->seg[s->end - 1].sealed = true;
	}
	if (sstp_rnd_one_in(&s->rnd, 40))
		packets = sstp_rnd_range(&s->rnd, SSTP_RTX_CHUNK - 2,
					 SSTP_RTX_CHUNK * 5 / 2);
	snd_add(s, packets, sealed);
	return true;
}

static void snd_shipped(struct snd_packet *p, s64 ship)
{
	p->first = ship;
	p->ship = ship;
}

static bool snd_op_ship(struct snd_sim *s)
{
	struct sstp_sseg *seg = sstp_snd_new(&s->w);
	struct kunit *test = s->test;
	struct snd_seg *m;
	u32 n, k;

	KUNIT_ASSERT_EQ(test, !!seg, s->next < s->end && s->next <= s->high);
	if (!seg)
		return false;
	KUNIT_ASSERT_EQ(test, seg->number, s->first + (u32)s->next);
	m = &s->seg[s->next];
	seg->sealed = 1;
	m->sealed = true;
	n = sstp_rnd_range(&s->rnd, 1, m->packets - m->shipped);
	sstp_snd_shipped(&s->w, seg, n);
	for (k = 0; k < n; k++)
		snd_shipped(&m->packet[m->shipped++], s->shipment++);
	if (m->shipped == m->packets)
		s->next++;
	return true;
}

static bool snd_op_ship_again(struct snd_sim *s)
{
	struct kunit *test = s->test;
	struct sstp_sseg *seg;
	struct snd_packet *p;
	struct snd_seg *m;
	u32 packet, i;

	seg = sstp_snd_rtx(&s->w, &packet);
	KUNIT_ASSERT_EQ(test, !!seg, s->wanted > 0);
	if (!seg)
		return false;
	m = snd_seg(s, seg);
	KUNIT_ASSERT_NOT_NULL(test, m);
	KUNIT_ASSERT_TRUE(test, m->kept);
	KUNIT_ASSERT_LT(test, packet, m->shipped);
	p = &m->packet[packet];
	KUNIT_ASSERT_TRUE(test, p->want);
	for (i = 0; i < packet; i++)
		KUNIT_ASSERT_FALSE(test, m->packet[i].want);
	for (i = s->low; &s->seg[i] != m; i++)
		KUNIT_ASSERT_EQ(test, s->seg[i].wanted, 0U);
	sstp_snd_shipped_rtx(&s->w, seg, packet, s->w.shipment++);
	p->want = false;
	p->again = true;
	p->ship = s->shipment++;
	m->wanted--;
	s->wanted--;
	return true;
}

static bool snd_op_ack(struct snd_sim *s)
{
	u32 next = s->first + (u32)s->next, ack, limit;
	struct kunit *test = s->test;
	s64 to, high, i;
	bool ok, said;

	ack = s->first + (u32)s->low + sstp_rnd_below(&s->rnd, 4);
	if (sstp_rnd_one_in(&s->rnd, 16))
		ack = next + 3 - sstp_rnd_below(&s->rnd, s->next - s->low + 6);
	if (sstp_rnd_one_in(&s->rnd, 8))
		ack = next + sstp_rnd_edge(&s->rnd);
	limit = next + sstp_rnd_below(&s->rnd, 50) - 10;
	if (sstp_rnd_one_in(&s->rnd, 16))
		limit = next + sstp_rnd_edge(&s->rnd);
	else if (sstp_rnd_one_in(&s->rnd, 100))
		limit = next + SND_LIMIT + 2 - sstp_rnd_below(&s->rnd, 4);

	/* Indices of the numbers, the nearer way round */
	to = s->next + (s32)(ack - next);
	high = s->next + SND_LIMIT + (s32)(limit - next - SND_LIMIT);
	ok = to >= s->low && to <= s->next && high <= s->next + SND_LIMIT;
	s->released = 0;
	said = sstp_snd_ack(&s->w, ack, limit, snd_release, s);
	KUNIT_ASSERT_EQ_MSG(test, said, ok, "next %u ack %u limit %u", next,
			    ack, limit);
	if (!ok) {
		KUNIT_ASSERT_EQ(test, s->released, 0U);
		return false;
	}
	for (i = s->low; i < to; i++)
		KUNIT_ASSERT_FALSE(test, s->seg[i].kept);
	s->low = to;
	s->high = max(s->high, high);
	return true;
}

static bool snd_op_accept(struct snd_sim *s)
{
	s64 i = s->low - 2 + sstp_rnd_below(&s->rnd, s->next - s->low + 4);
	bool soft = sstp_rnd_one_in(&s->rnd, 2), held, said;
	struct kunit *test = s->test;

	held = i >= s->low && i < s->next && s->seg[i].kept;
	s->released = 0;
	said = sstp_snd_accept(&s->w, s->first + (u32)i, soft, snd_release, s);
	KUNIT_ASSERT_EQ(test, said, held && !s->seg[i].accepted);
	KUNIT_ASSERT_EQ(test, s->released, held && !soft ? 1U : 0U);
	if (!held)
		return false;
	KUNIT_ASSERT_EQ(test, s->seg[i].kept, soft);
	s->seg[i].accepted = true;
	snd_forget(s, &s->seg[i]);
	return true;
}

/* Returns 1 if the packet is to be shipped again for this request. */
static u32 snd_want(struct snd_sim *s, s64 i, u32 packet, s64 highest)
{
	struct snd_packet *p;
	struct snd_seg *m;
	s64 ship;

	if (i < s->low || i > s->next || i >= s->end)
		return 0;
	m = &s->seg[i];
	if (!m->kept || packet >= m->shipped)
		return 0;
	p = &m->packet[packet];
	if (p->want)
		return 0;
	if (p->again && p->ship > highest && s->first_ship + (u32)p->ship)
		return 0;
	/* As if no other packets had been shipped between those of the segment */
	ship = m->packet[0].first + packet;
	KUNIT_ASSERT_LE(s->test, ship, p->ship);
	if (p->again && s->first_ship + (u32)p->ship)
		ship = p->ship;
	s->lost = max(s->lost, ship);
	p->want = true;
	m->wanted++;
	s->wanted++;
	return 1;
}

static u32 snd_want_whole(struct snd_sim *s, s64 i, u32 n, s64 highest)
{
	s64 end = min(i + n, s->end);
	u32 k, want = 0;

	for (i = max(i, 0LL); i < end; i++)
		for (k = 0; k < s->seg[i].packets; k++)
			want += snd_want(s, i, k, highest);
	return want;
}

static bool snd_op_snak(struct snd_sim *s)
{
	s64 i = s->low - 3 + sstp_rnd_below(&s->rnd, s->next - s->low + 6);
	struct sstp_snak_run run = {};
	struct rnd_state *r = &s->rnd;
	__be32 map[SND_WORDS];
	u32 k, want = 0, got, budget = U32_MAX;
	s64 highest;

	s->lost = -1;
	highest = s->shipment - 1 - sstp_rnd_below(r, 100);
	if (sstp_rnd_one_in(r, 16))
		i = s->low + (s32)sstp_rnd_edge(r);
	run.segment = s->first + (u32)i;
	run.map = map;
	if (sstp_rnd_one_in(r, 8)) {
		run.first = sstp_rnd_one_in(r, 20) ? U16_MAX :
			    sstp_rnd_below(r, 6);
		want = snd_want_whole(s, i, run.first, highest);
	} else {
		run.first = sstp_rnd_below(r, sstp_rnd_one_in(r, 4) ?
					   SSTP_RTX_CHUNK * 2 : 30);
		run.bits = sstp_rnd_range(r, 1, sstp_rnd_one_in(r, 4) ?
					  SND_WORDS * 32 : 60);
		prandom_bytes_state(r, map, sizeof(map));
		for (k = 0; k < run.bits; k++)
			if (!(be32_to_cpu(map[k / 32]) << k % 32 >> 31))
				want += snd_want(s, i, run.first + k, highest);
	}
	s->w.lost = s->first_ship - 1;
	s->w.credit = U32_MAX;
	s->w.vain = U32_MAX;
	got = sstp_snd_snak(&s->w, &run, s->first_ship + (u32)highest, &budget);
	KUNIT_ASSERT_EQ(s->test, s->w.lost, s->first_ship + (u32)s->lost);
	KUNIT_ASSERT_EQ_MSG(s->test, got, want,
			    "segment %u first %u bits %u highest %lld",
			    run.segment, run.first, run.bits, highest);
	return want;
}

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

/* --- edges ------------------------------------------------------------------ */

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

/* Fragments that a segment takes if each is a page, of which the first has @room bytes left, and
 * no header is in two of them
 */
static u32 snd_frags_needed(u32 len, u32 size, u32 room)
{
	u32 frags = 0, used = 0, left = 0;

	while (len) {
		u32 head = left ? 0 : SSTP_DATA_HLEN, copy;

		if (room <= head) {
			frags += used > 0;
			used = 0;
			room = PAGE_SIZE;
			continue;
		}
		if (!left)
			left = min(size, len);
		copy = min(left, room - head);
		room -= head + copy;
		used += head + copy;
		left -= copy;
		len -= copy;
	}
	return frags + (used > 0);
}

static void snd_frags(struct kunit *test)
{
	static const u32 size[] = { 8, 24, 480, 1400, 1448, 4072, 8936, 65456 };
	static const u32 len[] = {
		1, 8, 100, 1448, 4096, 10000, SZ_64K, SZ_1M, SSTP_SEGMENT_MAX,
	};
	u32 i, k, room, n, bytes;
	struct sstp_sseg *seg;

	for (n = 0; n < ARRAY_SIZE(size) * ARRAY_SIZE(len); n++) {
		i = n % ARRAY_SIZE(size);
		k = n / ARRAY_SIZE(size);
		if (DIV_ROUND_UP(len[k], size[i]) > SSTP_PACKETS_MAX)
			continue;
		seg = sstp_sseg_alloc(len[k], size[i], GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, seg);
		KUNIT_EXPECT_EQ(test, seg->size, size[i]);
		for (room = 32; room <= PAGE_SIZE; room += 508) {
			u32 frags = snd_frags_needed(len[k], size[i], room);

			KUNIT_EXPECT_LE_MSG(test, frags, seg->alloc,
					    "len %u size %u room %u", len[k],
					    size[i], room);
		}
		seg->len = len[k];
		seg->packets = DIV_ROUND_UP(len[k], size[i]);
		/* The packets add up to the segment. */
		for (bytes = 0, i = 0; i < seg->packets; i++)
			bytes += sstp_sseg_bytes(seg, i);
		KUNIT_EXPECT_EQ(test, bytes, len[k]);
		sstp_sseg_free(seg);
	}
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

#define SND_REFS	20000	/* bytes of a segment by reference, at most */

/* Byte @i of such a segment; a compound page of them is @page. */
static u8 snd_ref_byte(u32 i)
{
	return i * 7 + (i >> 8);
}

/* Add pieces of random sizes, in order, with gaps in memory or without. Returns their bytes. */
static u32 snd_ref_fill(struct snd_sim *s, struct sstp_sseg *seg, struct page *page)
{
	u32 len = seg->len, off = 0, room = PAGE_SIZE << 4;

	while (seg->frags < seg->alloc && len < SND_REFS) {
		u32 n = sstp_rnd_range(&s->rnd, 1, 1 + sstp_rnd_range(&s->rnd, 1, 6000)), i;
		u32 frags = seg->frags;
		bool joins;

		n = min(n, SND_REFS - len);
		if (sstp_rnd_one_in(&s->rnd, 3))
			off += sstp_rnd_range(&s->rnd, 1, 500);
		if (off + n > room)
			break;
		joins = sstp_sseg_joins(seg, page, off);
		for (i = 0; i < n; i++)
			((u8 *)page_address(page))[off + i] = snd_ref_byte(len + i);
		get_page(page);
		sstp_sseg_add(seg, page, off, n);
		KUNIT_ASSERT_EQ(s->test, seg->frags, frags + !joins);
		off += n;
		len += n;
		KUNIT_ASSERT_EQ(s->test, seg->len, len);
		KUNIT_ASSERT_EQ(s->test, seg->packets, DIV_ROUND_UP(len, seg->size));
	}
	return len;
}

/* Go through bytes [@from, @from + @len) by pieces, and by a copy. */
static void snd_ref_range(struct snd_sim *s, const struct sstp_sseg *seg, u32 from, u32 len,
			  u8 *buf)
{
	struct sstp_spos p = sstp_sseg_seek(seg, from);
	u32 pieces = sstp_sseg_pieces(seg, p, len), at = from, left = len, i, n;
	struct bio_vec piece;

	for (n = 0; left; n++) {
		u32 got = sstp_sseg_take(seg, &p, left, &piece);
		const u8 *b = (u8 *)page_address(piece.bv_page) + piece.bv_offset;

		KUNIT_ASSERT_GT(s->test, got, 0U);
		KUNIT_ASSERT_LE(s->test, got, left);
		KUNIT_ASSERT_EQ(s->test, got, piece.bv_len);
		for (i = 0; i < got; i++)
			KUNIT_ASSERT_EQ(s->test, b[i], snd_ref_byte(at + i));
		at += got;
		left -= got;
	}
	KUNIT_ASSERT_EQ(s->test, n, pieces);
	memset(buf, 0, len);
	sstp_sseg_copy(seg, from, buf, len);
	for (i = 0; i < len; i++)
		KUNIT_ASSERT_EQ(s->test, buf[i], snd_ref_byte(from + i));
}

/* A segment that begins with @head copied bytes, and goes on by reference */
static void snd_ref_of(struct snd_sim *s, struct page *page, u8 *buf, u32 head)
{
	u32 size = 8 * sstp_rnd_range(&s->rnd, 20, 1100), len, i;
	struct sstp_sseg *seg = sstp_sseg_alloc(SND_REFS, size, GFP_KERNEL);
	u8 *p = page_address(s->page);
	struct kunit *test = s->test;

	KUNIT_ASSERT_NOT_NULL(test, seg);
	if (head) {
		for (i = 0; i < head; i++)
			p[SSTP_DATA_HLEN + i] = snd_ref_byte(i);
		get_page(s->page);
		bvec_set_page(&seg->frag[seg->frags++], s->page, SSTP_DATA_HLEN + head, 0);
		seg->len = head;
		seg->packets = 1;
		seg->fill = SSTP_DATA_HLEN + head;
	}
	KUNIT_ASSERT_TRUE(test, sstp_sseg_refer(seg));
	KUNIT_ASSERT_EQ(test, seg->fill, 0U);
	KUNIT_ASSERT_TRUE(test, sstp_sseg_refer(seg));
	len = snd_ref_fill(s, seg, page);
	snd_ref_range(s, seg, 0, len, buf);
	for (i = 0; i < 30; i++) {
		u32 from = sstp_rnd_range(&s->rnd, 0, len - 1);

		snd_ref_range(s, seg, from, sstp_rnd_range(&s->rnd, 1, len - from), buf);
	}
	sstp_sseg_free(seg);
	KUNIT_ASSERT_EQ(test, page_count(page), 1);
	KUNIT_ASSERT_EQ(test, page_count(s->page), 1);
}

/* Segments by reference: their pieces, copies of them, and their pages' references */
static void snd_refs(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, SND_REFS, GFP_KERNEL);
	struct snd_sim *s = test->priv;
	struct sstp_sseg *seg;
	struct page *page;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	page = alloc_pages(GFP_KERNEL | __GFP_COMP, 4);
	KUNIT_ASSERT_NOT_NULL(test, page);
	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < sstp_test_rounds(100); i++)
		snd_ref_of(s, page, buf, i % 4 ? 0 : sstp_rnd_range(&s->rnd, 1, 160));
	put_page(page);
	/* A segment of two copied packets stays as it is. */
	seg = sstp_sseg_alloc(100, 48, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seg);
	seg->packets = 2;
	KUNIT_ASSERT_FALSE(test, sstp_sseg_refer(seg));
	KUNIT_ASSERT_FALSE(test, seg->refs);
	sstp_sseg_free(seg);
}

static int snd_init(struct kunit *test)
{
	struct snd_sim *s = kvzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	test->priv = s;
	s->test = test;
	s->page = alloc_page(GFP_KERNEL);
	return s->page ? 0 : -ENOMEM;
}

static void snd_exit(struct kunit *test)
{
	struct snd_sim *s = test->priv;

	if (s && s->page)
		put_page(s->page);
	kvfree(s);
}

static struct kunit_case snd_cases[] = {
	KUNIT_CASE(snd_ack_edges),
	KUNIT_CASE(snd_suppression),
	KUNIT_CASE(snd_order),
	KUNIT_CASE(snd_snak_edges),
	KUNIT_CASE(snd_snak_budget),
	KUNIT_CASE(snd_whole_in_vain),
	KUNIT_CASE(snd_whole_resumed),
	KUNIT_CASE(snd_vain),
	KUNIT_CASE(snd_ring),
	KUNIT_CASE(snd_frags),
	KUNIT_CASE(snd_recut),
	KUNIT_CASE(snd_refs),
	KUNIT_CASE(snd_random),
	{ }
};

static struct kunit_suite snd_suite = {
	.name = "sstp_snd_wnd",
	.init = snd_init,
	.exit = snd_exit,
	.test_cases = snd_cases,
};

kunit_test_suite(snd_suite);
