// SPDX-License-Identifier: GPL-2.0
/*
 * Both windows, and between them a path that loses, delays and repeats packets
 * and reports. All segments must come whole, and where no packet overtakes another,
 * each loss must cost one shipment. Whatever the buffer, its policy and the reader do,
 * data moves within some round trips, or poll() tells the program to read.
 */
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include "rcv_sim.h"
#include "../snd_wnd.h"
#include "../want.c"

#define PATH_DELAY	500	/* us, one way; a packet takes 10 */
#define PATH_RTT	(2 * PATH_DELAY)
#define PATH_MEM	2	/* memory of a packet */
/* us without progress that fail a run: so many losses in a row are too unlikely */
#define PATH_STILL	(60 * PATH_RTT)

enum path_kind {
	PATH_DATA,
	PATH_CONTEXT,		/* KEEPALIVE or EOS */
	PATH_REPORT,		/* PACK or SNAK */
};

/* A packet or report on its way */
struct path_packet {
	struct list_head node;
	u32	at;
	enum path_kind kind;
	u32	segment;
	u32	packet;		/* REPORT: bytes */
	u32	count;
	u32	ship;
	u8	flags;		/* CONTEXT: it is EOS */
	u8	report[];
};

/**
 * struct path_sim - a sender, its receiver, and the path between them
 * @loss: of packets, in a million
 * @report_loss: of PACK and SNAK
 * @jitter: us by which a packet may be late
 * @dup: of packets, in a million, that come twice
 * @b: packets that fit into the buffer, or 0: all of the window
 * @b_least: with a policy, the fewest that it lets fit
 * @policy: us between two decisions of the policy, 0 = none
 * @window: W
 * @soft: ACK strategy
 * @pool: other connections use the buffer, too
 * @wide: the window is larger than the buffer (SSTP_WINDOW_FACTOR)
 * @slow: longest time between two segments that the reader takes, us
 * @lowat: the reader waits for so many packets, 0 = for any segment
 * @limit: us until all must have been read
 */
struct path_sim {
	u32	loss;
	u32	report_loss;
	u32	jitter;
	u32	dup;
	u32	b;
	u32	b_least;
	u32	policy;
	u32	window;
	u32	tolerance;
	u32	slow;
	u32	lowat;
	bool	soft;
	bool	pool;
	bool	wide;
	u32	limit;
	u32	segments;

	struct rcv_sim *s;
	struct sstp_snd_wnd snd;
	struct list_head flying;
	u32	now;
	u32	shipped_at;	/* us: last shipment */
	u32	context_at;
	u32	snak_at;
	u32	timer_at;
	u32	read_at;
	bool	snak_now;
	bool	report_now;
	bool	done;		/* the sender knows that all has come */
	u32	control;	/* lowest control number that the sender accepts */
	u32	control_next;
	u32	dropped;
	u32	unsure;
	u32	ship;		/* first shipment number */
	u32	packets;	/* in all segments */
	u32	limit_now;	/* packets that the policy lets fit */
	u32	policy_at;
	u32	others;		/* packets of other connections in the buffer */
	u32	burst;		/* segments to read before the reader waits again */
	u32	moved_at;	/* us: last progress */
	bool	full;		/* a packet had no room since the last read */
	u32	lacked;		/* memory of the last retransmission that had none */
	u32	vain;		/* packets that had no room since the last read */
};

static void path_send(struct path_sim *p, const struct path_packet *what,
		      const void *report, u32 len)
{
	struct rnd_state *r = &p->s->rnd;
	struct path_packet *q, *o;

	q = kmalloc(struct_size(q, report, len), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(p->s->test, q);
	*q = *what;
	memcpy(q->report, report, len);
	q->at = p->now + PATH_DELAY;
	if (p->jitter && sstp_rnd_one_in(r, 10))
		q->at += sstp_rnd_below(r, p->jitter + 1);
	list_for_each_entry_reverse(o, &p->flying, node)
		if (!sstp_before(q->at, o->at))
			break;
	list_add(&q->node, &o->node);
}

static bool path_chance(struct path_sim *p, u32 million)
{
	return sstp_rnd_below(&p->s->rnd, 1000000) < million;
}

/* Put the packets of a train on the wire: some get lost, some come twice. */
static void path_data(struct path_sim *p, u32 segment, u32 packet, u32 count,
		      u32 ship, u8 flags)
{
	struct path_packet d = {
		.kind = PATH_DATA, .segment = segment, .flags = flags,
	};
	u32 k;

	for (k = 0; k <= count; k++) {
		bool lost = k < count && path_chance(p, p->loss);

		p->dropped += lost;
		if (k < count && !lost) {
			d.count++;
			continue;
		}
		d.packet = packet + k - d.count;
		d.ship = ship + k - d.count;
		if (d.count) {
			path_send(p, &d, NULL, 0);
			if (path_chance(p, p->dup))
				path_send(p, &d, NULL, 0);
		}
		d.count = 0;
	}
}

/* --- sender */

static void path_context(struct path_sim *p)
{
	const struct sstp_snd_wnd *w = &p->snd;
	struct path_packet c = {
		.kind = PATH_CONTEXT, .segment = w->next,
		.ship = w->shipment - 1,
	};

	if (w->next != w->end)
		c.packet = sstp_snd_segment(w, w->next)->next;
	else
		c.flags = 1;
	p->context_at = p->now;
	if (!path_chance(p, p->loss))
		path_send(p, &c, NULL, 0);
}

static void path_ship(struct path_sim *p)
{
	struct sstp_snd_wnd *w = &p->snd;
	struct sstp_sseg *seg;
	u32 packet, n;

	seg = sstp_snd_rtx(w, &packet);
	if (seg) {
		/* Number 0 is not remembered: it may be shipped once more. */
		p->unsure += !w->shipment;
		path_data(p, seg->number, packet, 1, w->shipment, SSTP_F_AGAIN);
		sstp_snd_shipped_rtx(w, seg, packet, w->shipment++);
		p->shipped_at = p->now;
		return;
	}
	seg = sstp_snd_new(w);
	if (!seg) {
		/* Nothing to ship: send a KEEPALIVE, at once or in a while. */
		if ((w->next == w->end && p->shipped_at == p->now - 10) ||
		    min(p->now - p->shipped_at, p->now - p->context_at) >
		    PATH_RTT * 3)
			path_context(p);
		return;
	}
	n = min(sstp_rnd_range(&p->s->rnd, 1, 8), seg->packets - seg->next);
	path_data(p, seg->number, seg->next, n, w->shipment, 0);
	sstp_snd_shipped(w, seg, n);
	p->shipped_at = p->now;
}

static void path_release(void *arg, struct sstp_sseg *seg)
{
	sstp_sseg_free(seg);
}

static void path_report_comes(struct path_sim *p, const struct path_packet *q)
{
	struct sstp_snd_wnd *w = &p->snd;
	struct kunit *test = p->s->test;
	struct sstp_snak_iter it;
	struct sstp_snak_run run;
	u32 budget = U32_MAX;
	struct sstp_ack a;

	KUNIT_ASSERT_TRUE(test, sstp_parse_ack(q->report, q->packet, &a));
	if (a.control - p->control > 1U << 30)
		return;
	p->control = a.control + 1;
	if (a.ack == w->end + 1) {
		p->done = true;
		a.ack--;
	}
	/* Reports are true. */
	KUNIT_ASSERT_FALSE(test, sstp_before(a.limit, w->high));
	KUNIT_ASSERT_TRUE(test, sstp_snd_ack(w, a.ack, a.limit, path_release,
					     p));
	if (a.flags & SSTP_F_SEGMENT)
		sstp_snd_accept(w, a.segment, a.flags & SSTP_F_SOFT,
				path_release, p);
	sstp_snak_start(&it, q->report, q->packet, &a);
	sstp_snd_begin(w, true);
	while (sstp_snak_next(&it, &run))
		sstp_snd_snak(w, &run, a.highest - a.unsettled, &budget);
}

/* --- receiver */

static u32 path_used(const struct path_sim *p)
{
	u32 used = 0;
	s64 i;

	for (i = p->s->read; i <= min_t(s64, p->s->high, p->segments - 1); i++)
		used += p->s->seg[i].got;
	return used;
}

static void path_want(const struct path_sim *p, struct sstp_want *w)
{
	const struct rcv_sim *s = p->s;
	u32 mean = max(p->packets / p->segments, 1U), reach;

	reach = p->b && !p->wide ? s->w.read + max(p->limit_now / mean, 1U) - 1 : s->w.high;
	*w = (struct sstp_want) {
		.read = s->w.read,
		.low = s->w.low,
		.high = s->w.high,
		.top = s->w.top,
		.reach = sstp_before(reach, s->w.high) ? reach : s->w.high,
		.mean = PATH_MEM * mean,
		.used = PATH_MEM * (path_used(p) + p->others),
		/* The last packet may lack a part of its memory. */
		.limit = p->b ? PATH_MEM * p->limit_now + PATH_MEM - 1 : U64_MAX,
		.soft = p->soft,
		.pool = p->pool,
		.lacked = p->full && !p->pool ? p->lacked : 0,
	};
}

/* Is there room for @count packets of segment @i? */
static bool path_room(struct path_sim *p, s64 i, u32 count, bool again)
{
	struct rcv_sim *s = p->s;
	struct sstp_rseg *r;
	struct sstp_want w;
	u32 old;

	path_want(p, &w);
	while (!sstp_want_fits(&w, s->first + (u32)i, PATH_MEM * count)) {
		r = p->soft && i >= s->low ? sstp_rcv_largest(&s->w, s->first + (u32)i, &old) :
		    NULL;
		if (!r) {
			if (again && w.used + PATH_MEM * count > w.limit)
				p->lacked = PATH_MEM * count;
			return false;
		}
		rcv_discard(s, r, old - s->first);
		w.used = PATH_MEM * (path_used(p) + p->others);
	}
	return true;
}

static void path_report(struct path_sim *p, u32 len, u16 entries, u8 *buf)
{
	struct sstp_ack a = {
		.type = entries ? SSTP_SNAK : SSTP_PACK, .entries = entries,
		.flags = p->soft ? SSTP_F_SOFT : 0,
		.control = p->control_next++, .ack = p->s->w.low,
		.limit = p->s->w.high, .highest = p->s->arrivals.highest,
		.received = p->s->arrivals.received,
		.unsettled = p->s->arrivals.highest - sstp_arrivals_settled(&p->s->arrivals),
	};
	struct path_packet q = { .kind = PATH_REPORT };
	struct sstp_rcv_wnd *w = &p->s->w;
	struct sstp_rseg *r;
	u32 n;

	/* Any segment that was accepted beyond R_l may be named. */
	for (n = w->low; !sstp_after(n, w->top); n++) {
		r = sstp_rcv_slot(w, n);
		if (r && r->state == SSTP_RSEG_ACCEPTED &&
		    sstp_rnd_one_in(&p->s->rnd, 4)) {
			a.flags |= SSTP_F_SEGMENT;
			a.segment = n;
			break;
		}
	}
	q.packet = sizeof(struct sstp_ack_hdr) + len;
	sstp_build_ack(buf, &a);
	if (!path_chance(p, p->report_loss))
		path_send(p, &q, buf, q.packet);
	p->report_now = false;
}

/* Ask for what is due. */
static void path_snak(struct path_sim *p)
{
	u8 buf[sizeof(struct sstp_ack_hdr) + 200];
	struct rcv_sim *s = p->s;
	struct sstp_want want;
	u32 len, n = 0;
	struct sstp_snak_job job = { .now = p->now, .retry = 2 * PATH_RTT, .more = true };
	s64 to;

	path_want(p, &want);
	to = s->low + (s32)(sstp_want_to(&want) - s->w.low);

	p->snak_now = false;
	p->snak_at = p->now;
	job.to = s->first + (u32)to;
	while (job.more && s->low <= to) {
		KUNIT_ASSERT_LT(s->test, n++, 1000U);
		len = sstp_rcv_snak(&s->w, &s->arrivals, buf + sizeof(struct sstp_ack_hdr),
				    200, &job);
		if (!job.entries)
			break;
		rcv_check_snak(s, buf, len, job.entries, to);
		path_report(p, len, job.entries, buf);
	}
}

/* @count packets had no room. They are not shipped again and again until the reader goes on: only
 * when they are new, and when a read or another packet let them be asked for, which with soft ACK
 * has discarded others; and when they come twice, or late.
 */
static void path_refuse(struct path_sim *p, u32 count)
{
	const struct rcv_sim *s = p->s;
	u32 packets = 0;
	s64 i;

	p->full = true;
	p->vain += count;
	for (i = s->read; i <= min_t(s64, s->high, p->segments - 1); i++)
		packets += s->seg[i].packets;
	if (!p->policy && !p->jitter && !p->dup && !p->loss && p->vain > 6 * packets)
		KUNIT_FAIL_AND_ABORT(s->test, "%u of %u packets in vain: read %lld, low %lld",
				     p->vain, packets, s->read, s->low);
}

static void path_data_comes(struct path_sim *p, const struct path_packet *q)
{
	s64 i = p->s->low + (s32)(q->segment - p->s->w.low);
	struct rcv_sim *s = p->s;
	enum sstp_rcv_verdict v;
	struct sstp_rcv_run run;
	struct sk_buff *skb;

	skb = rcv_packets(s, i, q->packet, q->count, sstp_rnd_one_in(&s->rnd,
								     3), &run);
	run.shipment = q->ship;
	run.flags |= q->flags;
	sstp_arrivals_add(&s->arrivals, &s->w, &run, p->now);
	if (!path_room(p, i, q->count, q->flags & SSTP_F_AGAIN)) {
		path_refuse(p, q->count);
		consume_skb(skb);
		return;
	}
	v = rcv_insert(s, i, skb, &run);
	if (v == SSTP_RCV_TAKEN || v == SSTP_RCV_SHARED)
		p->moved_at = p->now;
	/* The sender keeps to its window, and does not contradict itself. */
	KUNIT_ASSERT_NE(s->test, v, SSTP_RCV_OUTSIDE);
	KUNIT_ASSERT_NE(s->test, v, SSTP_RCV_CONFLICT);
}

static void path_context_comes(struct path_sim *p, const struct path_packet *q)
{
	struct sstp_pos pos = { q->segment, q->packet };
	struct sstp_rcv_wnd *w = &p->s->w;

	p->report_now = true;
	/* A packet of a segment that was accepted */
	if (sstp_before(q->segment, w->low))
		return;
	if (q->flags) {
		w->eos = q->segment;
		w->has_eos = true;
		p->s->eos = p->segments;
	}
	sstp_arrivals_context(&p->s->arrivals, q->ship, pos, p->now);
}

static void path_comes(struct path_sim *p, const struct path_packet *q)
{
	struct rcv_sim *s = p->s;

	switch (q->kind) {
	case PATH_REPORT:
		path_report_comes(p, q);
		return;
	case PATH_DATA:
		path_data_comes(p, q);
		break;
	case PATH_CONTEXT:
		path_context_comes(p, q);
		break;
	}
	rcv_advance(s);
	if (rcv_confirm(s, p->now, PATH_RTT / 4)) {
		rcv_advance(s);
		p->snak_now = true;
	}
}

/* Does poll() say that there is something to read? */
static bool path_told(const struct path_sim *p)
{
	const struct rcv_sim *s = p->s;
	struct sstp_want w;
	u32 ready = 0;
	s64 i;

	for (i = s->read; i < min_t(s64, s->low, p->segments); i++)
		ready += s->seg[i].packets;
	if (!ready)
		return false;
	path_want(p, &w);
	return ready >= p->lowat || s->low > s->eos || p->full || sstp_want_held(&w);
}

static void path_read(struct path_sim *p)
{
	struct rcv_sim *s = p->s;
	u32 high;

	if (!p->burst && path_told(p))
		p->burst = sstp_rnd_range(&s->rnd, 1, s->low - s->read);
	if (!p->burst || p->now - p->read_at < p->slow)
		return;
	if (!sstp_rcv_peek(&s->w)) {
		p->burst = 0;
		return;
	}
	p->burst--;
	p->read_at = p->now;
	p->moved_at = p->now;
	p->full = false;
	p->lacked = 0;
	p->vain = 0;
	rcv_check_seg(s, s->read);
	sstp_rcv_pop(&s->w);
	s->read++;
	high = s->first + (u32)s->read + p->window - 1;
	s->high = max(s->high, s->read + p->window - 1);
	if (sstp_rcv_grant(&s->w, high) && s->read % 4 == 0)
		p->report_now = true;
	rcv_check(s);
}

/* The buffer shrinks and grows, also below what it holds; others come and go. */
static void path_policy(struct path_sim *p)
{
	struct rnd_state *r = &p->s->rnd;

	if (!p->policy || p->now - p->policy_at < p->policy)
		return;
	p->policy_at = p->now;
	p->limit_now = sstp_rnd_range(r, p->b_least, p->b);
	if (p->pool)
		p->others = sstp_rnd_below(r, p->limit_now + 1);
}

static void path_receiver(struct path_sim *p)
{
	u8 buf[sizeof(struct sstp_ack_hdr)];
	struct rcv_sim *s = p->s;

	path_policy(p);
	path_read(p);
	if (p->now - p->timer_at >= PATH_RTT / 4) {
		p->timer_at = p->now;
		if (rcv_confirm(s, p->now, PATH_RTT / 4))
			rcv_advance(s);
		p->snak_now = true;
		p->report_now |= s->low != s->eos + 1;
	}
	if (p->snak_now && p->now - p->snak_at >= PATH_RTT / 16)
		path_snak(p);
	if (p->report_now)
		path_report(p, 0, 0, buf);
}

static void path_start(struct path_sim *p)
{
	struct rcv_sim *s = p->s;
	u32 first = sstp_rnd_edge(&s->rnd), ship = sstp_rnd_edge(&s->rnd), i;
	struct sstp_sseg *seg;

	rcv_start(s, first, ship);
	p->ship = ship;
	s->w.tolerance = p->tolerance;
	s->high = p->window - 1;
	if (s->high)
		sstp_rcv_grant(&s->w, first + p->window - 1);
	INIT_LIST_HEAD(&p->flying);
	p->now = sstp_rnd_edge(&s->rnd);
	p->shipped_at = p->now;
	p->context_at = p->now;
	p->snak_at = p->now;
	p->timer_at = p->now;
	p->read_at = p->now;
	p->policy_at = p->now;
	p->moved_at = p->now;
	p->limit_now = p->b;
	KUNIT_ASSERT_EQ(s->test, sstp_snd_init(&p->snd, first, ship,
					       GFP_KERNEL), 0);
	sstp_snd_ack(&p->snd, first, first + p->window - 1, path_release, p);
	for (i = 0; i < p->segments; i++) {
		const struct rcv_seg *m = &s->seg[i];

		KUNIT_ASSERT_EQ(s->test, sstp_snd_reserve(&p->snd, GFP_KERNEL),
				0);
		seg = sstp_sseg_alloc(m->len, m->size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(s->test, seg);
		seg->len = m->len;
		seg->packets = m->packets;
		seg->sealed = 1;
		sstp_snd_add(&p->snd, seg);
		p->packets += m->packets;
	}
}

/* Run until all has been read. Returns the time that passed, us. */
static u32 path_run(struct path_sim *p)
{
	struct path_packet *q, *n;
	struct rcv_sim *s = p->s;
	u32 start, again;

	path_start(p);
	start = p->now;
	while (!p->done || s->read < p->segments) {
		p->now += 10;
		if (p->now - start > p->limit)
			KUNIT_FAIL_AND_ABORT(s->test, "segment %lld at the end",
					     s->low);
		/* The invariant: something moves, or waits for a reader that poll() has told. */
		if (p->now - p->moved_at > PATH_STILL + p->slow)
			KUNIT_FAIL_AND_ABORT(s->test,
					     "stands still: read %lld, low %lld, high %lld, limit %u of %u, full %d",
					     s->read, s->low, s->high, p->limit_now, p->b,
					     p->full);
		list_for_each_entry_safe(q, n, &p->flying, node) {
			if (sstp_after(q->at, p->now))
				break;
			list_del(&q->node);
			path_comes(p, q);
			kfree(q);
		}
		if (!p->done)
			path_ship(p);
		path_receiver(p);
	}
	KUNIT_ASSERT_EQ(s->test, p->snd.low, p->snd.end);
	KUNIT_ASSERT_TRUE(s->test, sstp_rcv_drained(&s->w));
	again = p->snd.shipment - p->ship - p->packets;
	/* Where no packet overtakes another, only lost ones are shipped again. */
	if (!p->jitter && !p->dup && !p->b) {
		KUNIT_ASSERT_LE(s->test, again, p->dropped + p->unsure);
		if (!p->tolerance)
			KUNIT_ASSERT_GE(s->test, again, p->dropped);
	}
	list_for_each_entry_safe(q, n, &p->flying, node)
		kfree(q);
	sstp_snd_destroy(&p->snd);
	rcv_stop(s);
	return p->now - start;
}

static void path_repair(struct kunit *test)
{
	static const struct path_sim row[] = {
		{ .limit = 30000, .window = 40 },
		{ .limit = 300000, .window = 1 },
		{ .limit = 600000, .window = 40, .slow = 3000 },
		{ .limit = 40000, .window = 40, .loss = 10000 },
		{ .limit = 120000, .window = 5, .loss = 10000, .slow = 500 },
		{ .limit = 60000, .window = 100, .loss = 100000,
		  .report_loss = 100000 },
		{ .limit = 150000, .window = 40, .loss = 300000,
		  .report_loss = 300000 },
		{ .limit = 30000, .window = 40, .jitter = 30 },
		{ .limit = 40000, .window = 40, .jitter = 1000 },
		{ .limit = 30000, .window = 40, .dup = 50000 },
		{ .limit = 60000, .window = 40, .jitter = 300, .dup = 50000,
		  .loss = 20000, .report_loss = 50000 },
		{ .limit = 40000, .window = 40, .tolerance = 50000,
		  .loss = 30000 },
		{ .limit = 60000, .window = 40, .tolerance = 300000,
		  .loss = 200000, .report_loss = 20000, .jitter = 100 },
		{ .limit = 120000, .window = 24, .b = 120, .loss = 20000,
		  .slow = 200 },
		{ .limit = 120000, .window = 24, .b = 120, .loss = 20000,
		  .slow = 200, .soft = true },
		{ .limit = 120000, .window = 100, .b = 150, .loss = 50000,
		  .jitter = 500 },
		{ .limit = 400000, .window = 100, .b = 150, .loss = 50000,
		  .jitter = 500, .soft = true, .report_loss = 50000 },
		{ .limit = 400000, .window = 10, .b = 15, .loss = 10000,
		  .slow = 100 },
		{ .limit = 300000, .window = 10, .b = 15, .loss = 10000,
		  .slow = 100, .soft = true },
		{ .limit = 60000000, .window = 4, .b = 30, .slow = 300 * PATH_RTT },
		{ .limit = 60000000, .window = 4, .b = 30, .slow = 300 * PATH_RTT,
		  .soft = true },
		{ .limit = 60000000, .window = 4, .b = 30, .slow = 300 * PATH_RTT,
		  .pool = true },
		{ .limit = 60000000, .window = 10, .b = 30, .slow = 300 * PATH_RTT,
		  .wide = true },
	};
	struct rcv_sim *s = test->priv;
	struct path_sim p;
	u32 i, n, us;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(row); i++)
		for (n = 0; n < sstp_test_rounds(3); n++) {
			p = row[i];
			p.s = s;
			p.segments = sstp_test_rounds(150) + 10;
			us = path_run(&p);
			kunit_info(test, "row %u: %u packets, %u lost, %u us",
				   i, p.packets, p.dropped, us);
		}
}

/* Random paths, buffers and readers */
static void path_any(struct kunit *test)
{
	struct rcv_sim *s = test->priv;
	struct rnd_state *r = &s->rnd;
	u32 n, rounds = sstp_test_rounds(150);

	sstp_test_seed_rnd(test, r);
	for (n = 0; n < rounds; n++) {
		struct path_sim p = {
			.s = s,
			.limit = 60 * USEC_PER_SEC,
			.segments = sstp_rnd_range(r, 20, 120),
			.window = sstp_rnd_range(r, 1, 100),
			.soft = sstp_rnd_one_in(r, 2),
			.pool = sstp_rnd_one_in(r, 3),
			.wide = sstp_rnd_one_in(r, 3),
			.b = sstp_rnd_range(r, 1, 1000),
		};

		p.b_least = sstp_rnd_range(r, 1, p.b);
		if (!sstp_rnd_one_in(r, 4))
			p.policy = sstp_rnd_range(r, 1, 20) * PATH_RTT;
		if (!sstp_rnd_one_in(r, 3)) {
			p.loss = sstp_rnd_below(r, 200000);
			p.report_loss = sstp_rnd_below(r, 200000);
		}
		if (sstp_rnd_one_in(r, 2))
			p.jitter = sstp_rnd_below(r, PATH_RTT);
		if (sstp_rnd_one_in(r, 4))
			p.dup = 20000;
		if (sstp_rnd_one_in(r, 3))
			p.slow = sstp_rnd_below(r, 2 * PATH_RTT);
		/* From one packet to more than ever fit */
		if (!sstp_rnd_one_in(r, 4))
			p.lowat = sstp_rnd_below(r, 2 * p.b) + 1;
		kunit_info(test,
			   "%u: window %u, b %u to %u each %u us, lowat %u, soft %d, pool %d, loss %u + %u",
			   n, p.window, p.b_least, p.b, p.policy, p.lowat, p.soft, p.pool,
			   p.loss, p.report_loss);
		path_run(&p);
	}
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(path_any),
	KUNIT_CASE(path_repair),
	{ }
};

static struct kunit_suite path_suite = {
	.name = "sstp_path",
	.init = rcv_sim_init,
	.exit = rcv_sim_exit,
	.test_cases = path_cases,
};

kunit_test_suite(path_suite);
