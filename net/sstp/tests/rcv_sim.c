// SPDX-License-Identifier: GPL-2.0
/*
 * A receive window and a model of it: bitmaps of packets, and indices that never
 * wrap. The data in the window is compared byte by byte.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include "rcv_sim.h"

#define RCV_JUNK	40	/* bytes around a run that is not alone in its skb */

static int rcv_skbs;	/* skbs that are not freed */
static long rcv_charged;	/* bytes of truesize charged for them */

static void rcv_skb_freed(struct sk_buff *skb)
{
	rcv_skbs--;
	rcv_charged -= skb->truesize;
}

static struct sk_buff *rcv_skb_counted(struct kunit *test, struct sk_buff *skb)
{
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->destructor = rcv_skb_freed;
	rcv_skbs++;
	rcv_charged += skb->truesize;
	return skb;
}

static u8 rcv_byte(u32 i, u32 packet)
{
	return i * 31 + packet * 7 + 1;
}

static u32 rcv_seg_bytes(const struct rcv_seg *m, u32 packet)
{
	return packet + 1 < m->packets ? m->size :
	       m->len - m->size * (m->packets - 1);
}

void rcv_start(struct rcv_sim *s, u32 first, u32 shipment)
{
	u32 i;

	memset(s->seg, 0, sizeof(s->seg));
	for (i = 0; i < RCV_SEGMENTS; i++) {
		struct rcv_seg *m = &s->seg[i];

		m->packets = sstp_rnd_one_in(&s->rnd, 4) ? 1 :
			     sstp_rnd_range(&s->rnd, 1, 40);
		if (sstp_rnd_one_in(&s->rnd, 30))
			m->packets = RCV_PACKETS;
		m->size = 8 * sstp_rnd_range(&s->rnd, 1, RCV_SIZE / 8);
		m->len = (m->packets - 1) * m->size +
			 sstp_rnd_range(&s->rnd, 1, m->size);
		m->eor = sstp_rnd_one_in(&s->rnd, 2);
	}
	s->first = first;
	s->read = 0;
	s->low = 0;
	s->high = 0;
	s->eos = S64_MAX;
	s->asked = 0;
	s->twice = 0;
	rcv_skbs = 0;
	rcv_charged = 0;
	KUNIT_ASSERT_EQ(s->test, sstp_rcv_init(&s->w, first, GFP_KERNEL), 0);
	sstp_arrivals_init(&s->arrivals, first, shipment);
}

void rcv_stop(struct rcv_sim *s)
{
	sstp_rcv_destroy(&s->w);
	/* All skbs are freed, and nothing is charged. */
	KUNIT_ASSERT_EQ(s->test, rcv_skbs, 0);
	KUNIT_ASSERT_EQ(s->test, rcv_charged, 0);
}

/* An skb with @len bytes of memory of kind @kind */
static struct sk_buff *rcv_skb(struct rcv_sim *s, u32 len, enum rcv_memory kind)
{
	u32 room = SKB_DATA_ALIGN(len);
	struct sk_buff *skb;
	struct page *page;

	if (kind == RCV_ANY)
		kind = sstp_rnd_range(&s->rnd, RCV_LINEAR, RCV_HEAD);
	if (kind == RCV_LINEAR || len > SKB_MAX_ORDER(0, 0))
		return rcv_skb_counted(s->test, alloc_skb(len, GFP_KERNEL));
	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(s->test, page);
	if (kind == RCV_HEAD) {
		skb = build_skb(page_address(page), room +
				SKB_DATA_ALIGN(sizeof(*skb_shinfo(skb))));
		rcv_skb_counted(s->test, skb);
		skb_reserve(skb, room - len);
		return skb;
	}
	skb = rcv_skb_counted(s->test, alloc_skb(0, GFP_KERNEL));
	skb_add_rx_frag(skb, 0, page, 0, len, PAGE_SIZE);
	rcv_charged += PAGE_SIZE;
	return skb;
}

/* The next @len bytes of @skb */
static void *rcv_skb_more(struct sk_buff *skb, u32 *at, u32 len)
{
	void *p = skb_is_nonlinear(skb) ?
		  skb_frag_address(&skb_shinfo(skb)->frags[0]) + *at :
		  skb_put(skb, len);

	*at += len;
	return p;
}

/* An skb with packets [@start, @start + @count) of segment @i, as UDP passes it up */
struct sk_buff *rcv_packets(struct rcv_sim *s, u32 i, u32 start, u32 count,
			    bool shared, struct sstp_rcv_run *run)
{
	const struct rcv_seg *m = &s->seg[i];
	struct sk_buff *skb;
	u32 k, at = 0;

	*run = (struct sstp_rcv_run){
		.segment = s->first + i, .len = m->len,
		.off = shared ? RCV_JUNK : 0,
		.stride = SSTP_DATA_HLEN + rcv_seg_bytes(m, start),
		.size = m->size, .packets = m->packets, .start = start,
		.count = count, .shared = shared,
	};
	if (m->eor)
		run->flags |= SSTP_F_EOR;
	for (k = start; k < start + count; k++)
		at += SSTP_DATA_HLEN + rcv_seg_bytes(m, k);
	skb = rcv_skb(s, 2 * run->off + at, s->memory);
	at = 0;
	memset(rcv_skb_more(skb, &at, run->off), 0xee, run->off);
	for (k = start; k < start + count; k++) {
		u32 bytes = rcv_seg_bytes(m, k);
		__be32 *h = rcv_skb_more(skb, &at, SSTP_DATA_HLEN);

		h[0] = cpu_to_be32(i);
		h[1] = cpu_to_be32(k);
		memset(rcv_skb_more(skb, &at, bytes), rcv_byte(i, k), bytes);
	}
	memset(rcv_skb_more(skb, &at, run->off), 0xee, run->off);
	return skb;
}

/* Check that the packet at @off of @skb is packet @packet of segment @i. */
static void rcv_check_packet(struct rcv_sim *s, const struct sk_buff *skb,
			     u32 off, u32 i, u32 packet, unsigned long *seen)
{
	const struct rcv_seg *m = &s->seg[i];
	struct kunit *test = s->test;
	__be32 h[(SSTP_DATA_HLEN + RCV_SIZE) / 4];
	u32 bytes;

	KUNIT_ASSERT_LT(test, packet, (u32)m->packets);
	bytes = rcv_seg_bytes(m, packet);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, off, h,
					    SSTP_DATA_HLEN + bytes), 0);
	KUNIT_ASSERT_EQ(test, be32_to_cpu(h[0]), i);
	KUNIT_ASSERT_EQ(test, be32_to_cpu(h[1]), packet);
	KUNIT_ASSERT_NULL(test, memchr_inv(h + SSTP_DATA_HLEN / 4,
					   rcv_byte(i, packet), bytes));
	KUNIT_ASSERT_FALSE(test, test_bit(packet, seen));
	__set_bit(packet, seen);
}

static u32 rcv_check_run(struct rcv_sim *s, const struct sk_buff *skb, u32 i,
			 unsigned long *seen)
{
	const struct sstp_rcb *cb = SSTP_RCB(skb);
	u32 k;

	KUNIT_ASSERT_GT(s->test, cb->count, 0);
	for (k = 0; k < cb->count; k++)
		rcv_check_packet(s, skb, cb->off + k * cb->stride, i,
				 cb->start + k, seen);
	return cb->start + cb->count;
}

static void rcv_check_kept(struct rcv_sim *s, u32 i,
			   const struct sstp_rseg *r, unsigned long *seen)
{
	const struct rcv_seg *m = &s->seg[i];
	u32 next = 0, bits, truesize = 0;
	struct kunit *test = s->test;
	const struct sk_buff *skb;
	struct rb_node *p;

	if (r->shared) {
		KUNIT_ASSERT_EQ(test, m->packets, 1);
		KUNIT_ASSERT_EQ(test, r->truesize,
				SSTP_DATA_HLEN + rcv_seg_bytes(m, 0));
		rcv_check_packet(s, r->head, r->off, i, 0, seen);
		return;
	}
	for (skb = r->head; skb; skb = skb->next) {
		if (!m->accepted)
			KUNIT_ASSERT_EQ(test, SSTP_RCB(skb)->start, next);
		KUNIT_ASSERT_GE(test, SSTP_RCB(skb)->start, next);
		next = rcv_check_run(s, skb, i, seen);
		truesize += skb->truesize;
		if (!skb->next)
			KUNIT_ASSERT_PTR_EQ(test, skb, r->tail);
	}
	KUNIT_ASSERT_EQ(test, r->next, next);
	if (m->accepted)
		KUNIT_ASSERT_TRUE(test, RB_EMPTY_ROOT(&r->ooo));
	for (p = rb_first(&r->ooo); p; p = rb_next(p)) {
		skb = rb_to_skb(p);
		bits = SSTP_RCB(skb)->start;
		/* Packets are joined as soon as the gap before them closes. */
		if (next == r->next)
			KUNIT_ASSERT_GT(test, bits, next);
		KUNIT_ASSERT_GE(test, bits, next);
		next = rcv_check_run(s, skb, i, seen);
		truesize += skb->truesize;
	}
	KUNIT_ASSERT_EQ(test, r->truesize, truesize);
}

void rcv_check_seg(struct rcv_sim *s, u32 i)
{
	const struct sstp_rseg *r = sstp_rcv_slot(&s->w, s->first + i);
	const struct rcv_seg *m = &s->seg[i];
	DECLARE_BITMAP(seen, RCV_PACKETS) = {};
	struct kunit *test = s->test;
	u8 state = m->accepted ? SSTP_RSEG_ACCEPTED :
		   m->got ? SSTP_RSEG_PARTIAL : SSTP_RSEG_EMPTY;

	if (!r) {
		KUNIT_ASSERT_EQ(test, state, SSTP_RSEG_EMPTY);
		return;
	}
	KUNIT_ASSERT_EQ(test, r->state, state);
	if (state == SSTP_RSEG_EMPTY)
		return;
	KUNIT_ASSERT_EQ(test, r->got, m->got);
	KUNIT_ASSERT_EQ(test, r->len, m->len);
	KUNIT_ASSERT_EQ(test, (bool)r->eor, m->eor);
	rcv_check_kept(s, i, r, seen);
	KUNIT_ASSERT_TRUE(test, bitmap_equal(seen, m->have, RCV_PACKETS));
}

void rcv_check(struct rcv_sim *s)
{
	const struct sstp_rcv_wnd *w = &s->w;
	struct kunit *test = s->test;

	KUNIT_ASSERT_EQ(test, w->read, s->first + (u32)s->read);
	KUNIT_ASSERT_EQ(test, w->low, s->first + (u32)s->low);
	KUNIT_ASSERT_EQ(test, w->high, s->first + (u32)s->high);
	KUNIT_ASSERT_EQ(test, sstp_rcv_finished(w), s->low == s->eos + 1);
	KUNIT_ASSERT_EQ(test, sstp_rcv_drained(w),
			s->low == s->eos + 1 && s->read == s->eos);
}

void rcv_check_all(struct rcv_sim *s)
{
	s64 i, end = min_t(s64, s->high + 1, RCV_SEGMENTS);

	rcv_check(s);
	for (i = s->read; i < end; i++)
		rcv_check_seg(s, i);
}

/* Is segment @i accepted: has each packet come or been declared lost, within the tolerance? */
static bool rcv_passes(const struct rcv_sim *s, s64 i)
{
	const struct rcv_seg *m = &s->seg[i];
	u64 missing = m->packets - m->got;
	struct sstp_pos lost = s->arrivals.lost;
	u32 number = s->first + (u32)i;

	if (!m->got || missing * 1000000 > m->packets * (u64)s->w.tolerance ||
	    sstp_before(lost.segment, number))
		return false;
	return lost.segment != number ||
	       find_next_zero_bit(m->have, m->packets, lost.packet) >=
	       m->packets;
}

/* Move R_l past accepted segments, and past the end of the stream. */
void rcv_advance(struct rcv_sim *s)
{
	u32 gapped = 0, gaps = 0;
	s64 was = s->low;
	bool moved;

	for (; s->low < min_t(s64, s->eos, RCV_SEGMENTS); s->low++) {
		struct rcv_seg *m = &s->seg[s->low];

		if (m->accepted)
			continue;
		if (!rcv_passes(s, s->low))
			break;
		m->accepted = true;
		gaps++;
	}
	if (s->low == s->eos)
		s->low++;
	moved = sstp_rcv_advance(&s->w, s->arrivals.lost, &gapped);
	KUNIT_ASSERT_EQ(s->test, moved, s->low != was);
	KUNIT_ASSERT_EQ(s->test, gapped, gaps);
	KUNIT_ASSERT_EQ(s->test, s->w.low, s->first + (u32)s->low);
}

/* Result that the window must return for @run. It must keep packets [@from, @to): from the first
 * that is missing to the next that is here.
 */
static enum sstp_rcv_verdict rcv_expect(struct rcv_sim *s, s64 i,
					const struct sstp_rcv_run *run,
					u32 *from, u32 *to)
{
	const struct rcv_seg *m = &s->seg[i];
	u32 end = run->start + run->count;

	if (i < s->low)
		return SSTP_RCV_DUP;
	if (i > s->high || i >= s->eos)
		return SSTP_RCV_OUTSIDE;
	if (end > run->packets)
		return SSTP_RCV_CONFLICT;
	if (m->accepted)
		return SSTP_RCV_DUP;
	if (m->got && (run->len != m->len || run->size != m->size ||
		       run->packets != m->packets))
		return SSTP_RCV_CONFLICT;
	*from = run->start;
	while (*from < end && test_bit(*from, m->have))
		++*from;
	*to = *from;
	if (*from == end)
		return SSTP_RCV_DUP;
	while (*to < end && !test_bit(*to, m->have))
		++*to;
	return run->packets == 1 && run->shared ? SSTP_RCV_SHARED :
						  SSTP_RCV_TAKEN;
}

enum sstp_rcv_verdict rcv_insert(struct rcv_sim *s, s64 i, struct sk_buff *skb,
				 const struct sstp_rcv_run *run)
{
	enum sstp_rcv_verdict want, got;
	struct rcv_seg *m = &s->seg[i];
	struct kunit *test = s->test;
	u32 from = 0, to = 0, fresh = 99;
	struct sk_buff *piece = skb;

	want = rcv_expect(s, i, run, &from, &to);
	if (run->shared && run->packets > 1)
		piece = rcv_skb_counted(test, skb_clone(skb, GFP_KERNEL));
	got = sstp_rcv_insert(&s->w, piece, run, &fresh);
	KUNIT_ASSERT_EQ_MSG(test, got, want, "segment %lld, %u + %u", i,
			    run->start, run->count);
	KUNIT_ASSERT_EQ_MSG(test, fresh, to - from, "segment %lld, %u + %u", i,
			    run->start, run->count);
	s->verdict[got]++;
	if (got != SSTP_RCV_TAKEN)
		consume_skb(piece);
	if (piece != skb)
		consume_skb(skb);
	if (!fresh)
		return got;
	bitmap_set(m->have, from, fresh);
	m->got += fresh;
	m->accepted = m->got == m->packets;
	return got;
}

/* Soft ACK discards a segment. */
void rcv_discard(struct rcv_sim *s, struct sstp_rseg *r, s64 i)
{
	struct rcv_seg *m = &s->seg[i];

	sstp_rcv_discard(&s->w, r, s->first + (u32)i);
	m->got = 0;
	m->accepted = false;
	bitmap_zero(m->have, RCV_PACKETS);
}

enum sstp_rcv_verdict rcv_put(struct rcv_sim *s, s64 i, u32 start, u32 count,
			      bool shared)
{
	struct sstp_rcv_run run;
	struct sk_buff *skb = rcv_packets(s, i, start, count, shared, &run);

	return rcv_insert(s, i, skb, &run);
}

static void rcv_ask(struct rcv_sim *s, u32 i, u32 packet)
{
	s->asked++;
	s->twice += __test_and_set_bit(packet, s->seg[i].asked);
}

/* Check that an entry of a SNAK asks for missing packets, and for no others. Returns the
 * segment after it.
 */
static s64 rcv_check_entry(struct rcv_sim *s, const struct sstp_snak_run *run,
			   s64 to)
{
	s64 i = s->low + (s32)(run->segment - s->first - (u32)s->low);
	struct kunit *test = s->test;
	struct rcv_seg *m;
	u32 k, n;

	KUNIT_ASSERT_GE(test, i, s->low);
	if (!run->bits) {
		KUNIT_ASSERT_GT(test, run->first, 0);
		for (n = 0; n < run->first; n++, i++) {
			KUNIT_ASSERT_LE(test, i, to);
			KUNIT_ASSERT_LT(test, i, s->eos);
			KUNIT_ASSERT_EQ(test, s->seg[i].got, 0);
			for (k = 0; k < s->seg[i].packets; k++)
				rcv_ask(s, i, k);
		}
		return i;
	}
	KUNIT_ASSERT_LE(test, i, to);
	m = &s->seg[i];
	KUNIT_ASSERT_FALSE(test, m->accepted);
	KUNIT_ASSERT_GT(test, m->got, 0);
	KUNIT_ASSERT_LE(test, run->first + run->bits, m->packets);
	for (k = 0; k < run->bits; k++) {
		bool wanted = sstp_snak_wanted(run, k);

		KUNIT_ASSERT_EQ_MSG(test, wanted,
				    !test_bit(run->first + k, m->have),
				    "segment %lld packet %u", i,
				    run->first + k);
		if (wanted)
			rcv_ask(s, i, run->first + k);
	}
	return i;
}

/* Reads a SNAK with @len bytes of entries at @p, after room for the header. */
void rcv_check_snak(struct rcv_sim *s, u8 *p, u32 len, u16 entries, s64 to)
{
	struct sstp_ack a = {
		.type = SSTP_SNAK, .entries = entries, .ack = s->w.low,
		.limit = s->w.high, .highest = s->arrivals.highest,
		.received = s->arrivals.received,
	};
	struct kunit *test = s->test;
	struct sstp_snak_iter it;
	struct sstp_snak_run run;
	s64 i = s->low, next;

	sstp_build_ack(p, &a);
	len += sizeof(struct sstp_ack_hdr);
	KUNIT_ASSERT_TRUE(test, sstp_parse_ack(p, len, &a));
	sstp_snak_start(&it, p, len, &a);
	while (sstp_snak_next(&it, &run)) {
		KUNIT_ASSERT_GE(test, (s32)(run.segment - s->first - (u32)i),
				0);
		next = rcv_check_entry(s, &run, to);
		KUNIT_ASSERT_GE(test, next, i);
		i = next;
	}
}

u32 rcv_snak(struct rcv_sim *s, s64 to, u32 now)
{
	u8 buf[sizeof(struct sstp_ack_hdr) + 1152];
	struct sstp_snak_job job = {
		.to = s->first + (u32)to, .now = now, .retry = RCV_RETRY, .more = true
	};
	u32 was = s->asked, n = 0, len;

	while (job.more) {
		KUNIT_ASSERT_LT(s->test, n++, 1000U);
		len = sstp_rcv_snak(&s->w, &s->arrivals, buf + sizeof(struct sstp_ack_hdr),
				    1152, &job);
		KUNIT_ASSERT_LE(s->test, len, 1152U);
		if (job.entries)
			rcv_check_snak(s, buf, len, job.entries, to);
		else
			KUNIT_ASSERT_EQ(s->test, len, 0U);
	}
	return s->asked - was;
}

void rcv_arrives(struct rcv_sim *s, u32 ship, u32 i, u32 packet, u8 flags)
{
	struct sstp_rcv_run run;
	struct sk_buff *skb = rcv_packets(s, i, packet, 1, false, &run);

	run.shipment = ship;
	run.flags |= flags;
	sstp_arrivals_add(&s->arrivals, &s->w, &run, s->now);
	rcv_insert(s, i, skb, &run);
	rcv_advance(s);
}

void rcv_uniform(struct rcv_sim *s, u32 first, u32 ship, u32 n, u32 packets)
{
	u32 i;

	rcv_start(s, first, ship);
	for (i = 0; i < n; i++) {
		s->seg[i].packets = packets;
		s->seg[i].size = 8;
		s->seg[i].len = 8 * packets;
	}
	s->high = n - 1;
	sstp_rcv_grant(&s->w, first + n - 1);
}

int rcv_sim_init(struct kunit *test)
{
	struct rcv_sim *s = kvzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	s->test = test;
	test->priv = s;
	return 0;
}

void rcv_sim_exit(struct kunit *test)
{
	kvfree(test->priv);
}
