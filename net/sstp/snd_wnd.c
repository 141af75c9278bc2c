// SPDX-License-Identifier: GPL-2.0
/* Send window */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "snd_wnd.h"

int sstp_snd_init(struct sstp_snd_wnd *w, u32 segment, u32 shipment, gfp_t gfp)
{
	memset(w, 0, sizeof(*w));
	w->mask = SSTP_SND_RING - 1;
	w->ring = kcalloc(w->mask + 1, sizeof(*w->ring), gfp);
	if (!w->ring)
		return -ENOMEM;
	w->low = segment;
	w->high = segment - 1;
	w->next = segment;
	w->end = segment;
	w->shipment = shipment;
	w->credit = SSTP_SND_CREDIT;
	w->vain = w->credit;
	return 0;
}

void sstp_snd_destroy(struct sstp_snd_wnd *w)
{
	u32 n;

	for (n = w->low; w->ring && n != w->end; n++)
		if (sstp_snd_segment(w, n))
			sstp_sseg_free(sstp_snd_segment(w, n));
	kvfree(w->ring);
	w->ring = NULL;
	w->end = w->low;
	w->next = w->low;
	w->pending = 0;
	w->whole = w->whole_end;
	w->again = RB_ROOT_CACHED;
}

int sstp_snd_reserve(struct sstp_snd_wnd *w, gfp_t gfp)
{
	u32 used = w->end - w->low, mask = w->mask * 2 + 1, n;
	struct sstp_sseg **ring;

	if (used <= w->mask)
		return 0;
	if (used >= SSTP_SND_SEGMENTS)
		return -EAGAIN;
	ring = kvcalloc(mask + 1, sizeof(*ring), gfp);
	if (!ring)
		return -ENOMEM;
	for (n = w->low; n != w->end; n++)
		ring[n & mask] = sstp_snd_segment(w, n);
	kvfree(w->ring);
	w->ring = ring;
	w->mask = mask;
	return 0;
}

void sstp_snd_add(struct sstp_snd_wnd *w, struct sstp_sseg *s)
{
	s->number = w->end;
	w->ring[w->end++ & w->mask] = s;
}

struct sstp_sseg *sstp_snd_new(const struct sstp_snd_wnd *w)
{
	if (w->next == w->end || sstp_after(w->next, w->high))
		return NULL;
	return sstp_snd_segment(w, w->next);
}

void sstp_snd_begin(struct sstp_snd_wnd *w, bool refill)
{
	if (refill)
		w->credit = max_t(u32, w->credit, SSTP_SND_LOOK);
	w->vain = min_t(u32, w->credit, SSTP_SND_LOOK);
	w->spare = w->vain / 16;
}

/* Charge one look at a packet that need not be shipped again. False when no look is left, or there
 * was no memory to note the packet: the next would lack it, too.
 */
static bool sstp_snd_in_vain(struct sstp_snd_wnd *w)
{
	if (!w->vain)
		return false;
	w->credit--;
	return --w->vain;
}

static void sstp_snd_earn(struct sstp_snd_wnd *w, u32 count)
{
	w->credit = min_t(u32, w->credit + 2 * count, SSTP_SND_CREDIT);
}

void sstp_snd_shipped(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 count)
{
	if (!s->next)
		s->ship = w->shipment;
	s->next += count;
	w->shipment += count;
	sstp_snd_earn(w, count);
	if (s->next == s->packets && s->sealed)
		w->next++;
}

static void sstp_rtx_forget(struct sstp_snd_wnd *w, struct sstp_sseg *s)
{
	struct sstp_rtx *r = s->rtx;

	if (!r || !r->count)
		return;
	w->pending -= r->count;
	r->count = 0;
	bitmap_zero(r->pending, s->packets);
	rb_erase_cached(&r->node, &w->again);
}

bool sstp_snd_ack(struct sstp_snd_wnd *w, u32 ack, u32 limit,
		  void (*release)(void *arg, struct sstp_sseg *s), void *arg)
{
	/* Segment w->next was not shipped in full, so the peer cannot have it yet. */
	if (ack - w->low > w->next - w->low ||
	    sstp_after(limit, w->next + 4 * SSTP_SND_SEGMENTS))
		return false;
	while (w->low != ack) {
		struct sstp_sseg *s = sstp_snd_segment(w, w->low);

		w->ring[w->low++ & w->mask] = NULL;
		if (s) {
			sstp_rtx_forget(w, s);
			release(arg, s);
		}
	}
	if (sstp_after(limit, w->high))
		w->high = limit;
	return true;
}

u32 sstp_snd_granted(const struct sstp_snd_wnd *w, u32 packets)
{
	const struct sstp_sseg *s = w->low == w->end ? NULL : sstp_snd_segment(w, w->low);
	u32 segments = w->high - w->low + 1;

	if (s)
		packets = max(packets, s->packets);
	return min(max(segments + 1ULL, SSTP_SND_GRANTED) * packets, U32_MAX);
}

bool sstp_snd_accept(struct sstp_snd_wnd *w, u32 segment, bool soft,
		     void (*release)(void *arg, struct sstp_sseg *s), void *arg)
{
	struct sstp_sseg *s;
	bool known;

	if (sstp_before(segment, w->low) || !sstp_before(segment, w->next))
		return false;
	s = sstp_snd_segment(w, segment);
	if (!s)
		return false;
	sstp_rtx_forget(w, s);
	known = s->accepted;
	s->accepted = 1;
	if (!soft) {
		w->ring[segment & w->mask] = NULL;
		release(arg, s);
	}
	return !known;
}

static struct sstp_rtx *sstp_rtx_get(struct sstp_sseg *s, gfp_t gfp)
{
	struct sstp_rtx *r = s->rtx;

	if (r)
		return r;
	/* The number of packets is final: the caller checks that the segment is sealed. */
	r = kzalloc(struct_size(r, ship,
				DIV_ROUND_UP(s->packets, SSTP_RTX_CHUNK)), gfp);
	if (!r)
		return NULL;
	r->pending = bitmap_zalloc(s->packets, gfp);
	if (!r->pending) {
		kfree(r);
		return NULL;
	}
	r->seg = s;
	s->rtx = r;
	return r;
}

static struct sstp_rtx *sstp_rtx_of(struct rb_node *node)
{
	return rb_entry(node, struct sstp_rtx, node);
}

/* The oldest go first, as they hold the reader up. */
static bool sstp_rtx_before(struct rb_node *a, const struct rb_node *b)
{
	return sstp_before(sstp_rtx_of(a)->seg->number,
			   rb_entry(b, struct sstp_rtx, node)->seg->number);
}

/* A struct sstp_rtx with all of @packets pending and all chunks allocated, or NULL. */
static struct sstp_rtx *sstp_rtx_all(struct sstp_sseg *s, u32 packets, gfp_t gfp)
{
	u32 chunks = DIV_ROUND_UP(packets, SSTP_RTX_CHUNK), i;
	struct sstp_rtx *r;

	r = kzalloc(struct_size(r, ship, chunks), gfp);
	if (!r)
		return NULL;
	r->seg = s;
	r->pending = bitmap_alloc(packets, gfp);
	for (i = 0; r->pending && i < chunks; i++) {
		r->ship[i] = kcalloc(SSTP_RTX_CHUNK, sizeof(u32), gfp);
		if (!r->ship[i])
			break;
	}
	if (i < chunks) {
		sstp_rtx_free(r, packets);
		return NULL;
	}
	bitmap_fill(r->pending, packets);
	r->count = packets;
	return r;
}

bool sstp_snd_recut(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 size, gfp_t gfp)
{
	u32 packets = DIV_ROUND_UP(s->len, size);
	bool again = sstp_before(s->number, w->next);
	struct sstp_rtx *r = NULL;

	if (!s->sealed || packets > SSTP_PACKETS_MAX)
		return false;
	if (again) {
		r = sstp_rtx_all(s, packets, gfp);
		if (!r)
			return false;
	}
	sstp_rtx_forget(w, s);
	if (s->rtx)
		sstp_rtx_free(s->rtx, s->packets);
	s->rtx = r;
	s->size = size;
	s->packets = packets;
	s->next = again ? packets : 0;
	if (s->refs) {
		s->mem = size;
		s->cur = 0;
		s->cur_off = 0;
	}
	if (again) {
		w->pending += packets;
		rb_add_cached(&r->node, &w->again, sstp_rtx_before);
	}
	return true;
}

/* The peer asks for @ship again. */
static void sstp_snd_note_lost(struct sstp_snd_wnd *w, u32 ship)
{
	struct sstp_ship_range *last = w->ranges ? &w->range[w->ranges - 1] : NULL;

	if (sstp_after(ship, w->lost))
		w->lost = ship;
	if (last && ship == last->first + last->count)
		last->count++;
	else if (w->ranges < SSTP_SHIP_RANGES)
		w->range[w->ranges++] = (struct sstp_ship_range){ ship, 1 };
}

bool sstp_snd_want(struct sstp_snd_wnd *w, struct sstp_sseg *s, u32 packet,
		   u32 settled, gfp_t gfp)
{
	u32 chunk = packet / SSTP_RTX_CHUNK, ship = s->ship + packet;
	struct sstp_rtx *r;

	if (packet >= s->next || !s->sealed)
		return false;
	r = sstp_rtx_get(s, gfp);
	if (!r) {
		w->vain = 0;
		return false;
	}
	if (test_bit(packet, r->pending))
		return false;
	/* The packet's last shipment may still be on its way if it is after @settled. */
	if (r->ship[chunk]) {
		u32 again = r->ship[chunk][packet % SSTP_RTX_CHUNK];

		if (again && sstp_after(again, settled))
			return false;
		if (again)
			ship = again;
	} else {
		u32 n = min_t(u32, SSTP_RTX_CHUNK,
			      s->packets - chunk * SSTP_RTX_CHUNK);

		/* sstp_snd_shipped_rtx() cannot fail. Without memory the peer asks again. */
		r->ship[chunk] = kcalloc(n, sizeof(u32), gfp);
		if (!r->ship[chunk]) {
			w->vain = 0;
			return false;
		}
	}
	__set_bit(packet, r->pending);
	if (!r->count++)
		rb_add_cached(&r->node, &w->again, sstp_rtx_before);
	if (packet < r->scan || r->count == 1)
		r->scan = packet;
	w->pending++;
	sstp_snd_note_lost(w, ship);
	return true;
}

/* Remember @count segments from @n on, which sstp_snd_look() looks at later. Only one range
 * is kept: of two that do not touch, the lower one, as it holds the reader up. The peer will
 * ask for the other again.
 */
static void sstp_snd_defer(struct sstp_snd_wnd *w, u32 n, u32 count, u32 settled)
{
	u32 shipped = w->next + (w->next != w->end), end;

	if (!sstp_before(n, shipped))
		return;
	end = n + min(count, shipped - n);
	if (w->whole != w->whole_end && !sstp_before(end, w->whole) &&
	    !sstp_after(n, w->whole_end)) {
		/* Merge both: segments before @n have just been looked at. */
		n = w->whole;
		if (sstp_after(w->whole_end, end))
			end = w->whole_end;
	} else if (w->whole != w->whole_end && sstp_before(w->whole, n)) {
		return;
	}
	w->whole = n;
	w->whole_end = end;
	w->whole_settled = settled;
}

/* Look at the segments that the peer asked for as a whole, up to one that has packets to ship
 * again. After too many looks in vain the rest is dropped, and the peer has to ask again: a
 * SNAK for packets that are still on their way must not cost much CPU time.
 */
static void sstp_snd_look(struct sstp_snd_wnd *w)
{
	bool goes_on = w->vain;
	u32 i;

	if (!goes_on)
		return;
	while (w->whole != w->whole_end && RB_EMPTY_ROOT(&w->again.rb_root) &&
	       goes_on) {
		struct sstp_sseg *s = NULL;

		if (!sstp_before(w->whole, w->low))
			s = sstp_snd_segment(w, w->whole);
		if (!s || !s->next)
			goes_on = sstp_snd_in_vain(w);
		for (i = 0; s && i < s->next && goes_on; i++)
			if (!sstp_snd_want(w, s, i, w->whole_settled,
					   GFP_ATOMIC | __GFP_NOWARN))
				goes_on = sstp_snd_in_vain(w);
		w->whole++;
	}
	if (RB_EMPTY_ROOT(&w->again.rb_root))
		w->whole = w->whole_end;
}

/* Packets [0, @count) of @run, all of them in @s, are asked for. Returns those that will
 * be shipped again.
 */
static u32 sstp_snd_snak_part(struct sstp_snd_wnd *w, struct sstp_sseg *s,
			      const struct sstp_snak_run *run, u32 count,
			      u32 settled, u32 *budget)
{
	u32 wanted = 0, i;

	for (i = 0; i < count && *budget && sstp_snd_may_look(w); i++) {
		if (run->bits && !(i % 32) &&
		    run->map[i / 32] == cpu_to_be32(U32_MAX)) {
			i += 31;
			continue;
		}
		if (run->bits && !sstp_snak_wanted(run, i))
			continue;
		--*budget;
		if (sstp_snd_want(w, s, (run->bits ? run->first : 0) + i,
				  settled, GFP_ATOMIC | __GFP_NOWARN))
			wanted++;
		else
			sstp_snd_in_vain(w);
	}
	return wanted;
}

u32 sstp_snd_snak(struct sstp_snd_wnd *w, const struct sstp_snak_run *run,
		  u32 settled, u32 *budget)
{
	u32 n = run->segment, last = run->bits ? 1 : run->first, wanted = 0;

	/* Skip segments acknowledged meanwhile in one step, however many they are. */
	if (sstp_before(n, w->low)) {
		if (w->low - n >= last)
			return 0;
		last -= w->low - n;
		n = w->low;
	}
	for (; last && *budget && sstp_snd_may_look(w); n++, last--) {
		struct sstp_sseg *s;

		if (n == w->end || sstp_after(n, w->next))
			break;
		s = sstp_snd_segment(w, n);
		if (!s) {
			--*budget;
			sstp_snd_in_vain(w);
			continue;
		}
		if (!run->bits && s->next > *budget)
			break;
		wanted += sstp_snd_snak_part(w, s, run, run->bits ?: s->next,
					     settled, budget);
	}
	if (last && !run->bits)
		sstp_snd_defer(w, n, last, settled);
	return wanted;
}

struct sstp_sseg *sstp_snd_rtx(struct sstp_snd_wnd *w, u32 *packet)
{
	struct rb_node *first;
	struct sstp_rtx *r;

	if (RB_EMPTY_ROOT(&w->again.rb_root))
		sstp_snd_look(w);
	first = rb_first_cached(&w->again);
	if (!first)
		return NULL;
	r = sstp_rtx_of(first);
	r->scan = find_next_bit(r->pending, r->seg->packets, r->scan);
	*packet = r->scan;
	return r->seg;
}

void sstp_snd_shipped_rtx(struct sstp_snd_wnd *w, struct sstp_sseg *s,
			  u32 packet, u32 shipment)
{
	struct sstp_rtx *r = s->rtx;

	/* 0 means "never shipped again": a packet with this shipment number, one in 2^32, may
	 * be shipped once more too early.
	 */
	r->ship[packet / SSTP_RTX_CHUNK][packet % SSTP_RTX_CHUNK] = shipment;
	__clear_bit(packet, r->pending);
	sstp_snd_earn(w, 1);
	w->pending--;
	if (!--r->count)
		rb_erase_cached(&r->node, &w->again);
}
