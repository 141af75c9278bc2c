// SPDX-License-Identifier: GPL-2.0
/*
 * A send window and a model of it: each operation on the window is done to the model as well,
 * plain arrays with indices that never wrap, and both must agree.
 */
#include <linux/mm.h>
#include <linux/sizes.h>
#include "snd_sim.h"

#define SND_WORDS	100	/* of a SNAK's bitmap */

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

void snd_release(void *arg, struct sstp_sseg *seg)
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

void snd_start(struct snd_sim *s, u32 first, u32 shipment)
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

void snd_stop(struct snd_sim *s)
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

void snd_add(struct snd_sim *s, u32 packets, bool sealed)
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

void snd_check(struct snd_sim *s)
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

void snd_check_all(struct snd_sim *s)
{
	s64 i;

	snd_check(s);
	for (i = s->low; i < s->end; i++)
		snd_check_seg(s, i);
}

bool snd_op_add(struct snd_sim *s)
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

bool snd_op_ship(struct snd_sim *s)
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

bool snd_op_ship_again(struct snd_sim *s)
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

bool snd_op_ack(struct snd_sim *s)
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

bool snd_op_accept(struct snd_sim *s)
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

bool snd_op_snak(struct snd_sim *s)
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

int snd_sim_init(struct kunit *test)
{
	struct snd_sim *s = kvzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	test->priv = s;
	s->test = test;
	s->page = alloc_page(GFP_KERNEL);
	return s->page ? 0 : -ENOMEM;
}

void snd_sim_exit(struct kunit *test)
{
	struct snd_sim *s = test->priv;

	if (s && s->page)
		put_page(s->page);
	kvfree(s);
}
