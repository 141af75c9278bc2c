// SPDX-License-Identifier: GPL-2.0
/* Receive window and reassembly */
#include <linux/slab.h>
#include "rcv_wnd.h"
#include "tolerance.h"

/* Give @w->chunk @chunks entries, a power of two, from that of C on. Entries that go are NULL. */
static bool sstp_rcv_resize(struct sstp_rcv_wnd *w, u32 chunks)
{
	struct sstp_rseg **chunk = kcalloc(chunks, sizeof(*chunk), GFP_ATOMIC | __GFP_NOWARN);
	u32 i, c = w->read / SSTP_RCV_CHUNK;

	if (!chunk)
		return false;
	for (i = 0; i < min(chunks, w->chunks); i++, c++)
		chunk[c & (chunks - 1)] = w->chunk[c & (w->chunks - 1)];
	kfree(w->chunk);
	w->chunk = chunk;
	w->bytes += (chunks - w->chunks) * sizeof(*chunk);
	w->chunks = chunks;
	return true;
}

/* Entries of @w->chunk that @segment needs */
static u32 sstp_rcv_entries(const struct sstp_rcv_wnd *w, u32 segment)
{
	return max(w->chunks, roundup_pow_of_two(sstp_rcv_distance(w, segment) + 1));
}

/* Only a SNAK moves @q on. Before 2^31 segments without any it follows @low (R_l), or serial number
 * arithmetic would take it to be ahead.
 */
static void sstp_asked_follow(struct sstp_asked *q, u32 low)
{
	if (sstp_after(low, q->look + BIT(30)))
		q->look = low;
	if (sstp_after(low, q->bare_to + BIT(30)))
		q->bare_to = low;
}

static struct sstp_rseg *sstp_rcv_slot_make(struct sstp_rcv_wnd *w, u32 segment)
{
	u32 n, i;

	if (sstp_rcv_distance(w, segment) >= w->chunks &&
	    !sstp_rcv_resize(w, sstp_rcv_entries(w, segment)))
		return NULL;
	n = (segment / SSTP_RCV_CHUNK) & (w->chunks - 1);
	if (!w->chunk[n]) {
		w->chunk[n] = w->spare;
		w->spare = NULL;
		if (!w->chunk[n]) {
			w->chunk[n] = kcalloc(SSTP_RCV_CHUNK,
					      sizeof(struct sstp_rseg),
					      GFP_ATOMIC | __GFP_NOWARN);
			if (!w->chunk[n])
				return NULL;
			w->bytes += SSTP_RCV_CHUNK_BYTES;
		}
		sstp_asked_follow(&w->asked, w->low);
		/* Move requests for segments without slots from w->asked to the new slots. */
		for (i = 0; i < SSTP_RCV_CHUNK; i++) {
			struct sstp_rseg *s = &w->chunk[n][i];
			u32 k = segment - segment % SSTP_RCV_CHUNK + i;

			if (sstp_before(k, w->low) ||
			    !sstp_before(k, w->asked.bare_to))
				continue;
			s->asked_to = k + 1 == w->asked.bare_to ? w->asked.bare_last :
				      SSTP_PACKETS_MAX + 1;
			s->asked = w->asked.bare_asked;
		}
	}
	return &w->chunk[n][segment % SSTP_RCV_CHUNK];
}

int sstp_rcv_init(struct sstp_rcv_wnd *w, u32 segment, gfp_t gfp)
{
	memset(w, 0, sizeof(*w));
	w->chunks = SSTP_RCV_ENTRIES;
	w->chunk = kcalloc(w->chunks, sizeof(*w->chunk), gfp);
	if (!w->chunk)
		return -ENOMEM;
	w->read = segment;
	w->low = segment;
	w->high = segment;
	w->top = segment;
	w->asked.bare_to = segment;
	w->asked.look = segment;
	return 0;
}

static void sstp_rcv_clear(struct sstp_rseg *s)
{
	struct sk_buff *skb, *next;
	struct rb_node *p;

	for (skb = s->head; skb; skb = next) {
		/* A shared skb is not chained, as several segments refer to it. */
		next = s->shared ? NULL : skb->next;
		if (!s->shared)
			skb_mark_not_on_list(skb);
		consume_skb(skb);
	}
	while ((p = rb_first(&s->ooo))) {
		skb = rb_to_skb(p);
		rb_erase(p, &s->ooo);
		RB_CLEAR_NODE(&skb->rbnode);
		consume_skb(skb);
	}
	bitmap_free(s->map);
	memset(s, 0, sizeof(*s));
}

void sstp_rcv_discard(struct sstp_rcv_wnd *w, struct sstp_rseg *s, u32 segment)
{
	sstp_rcv_clear(s);
	sstp_asked_look(&w->asked, segment);
}

void sstp_rcv_destroy(struct sstp_rcv_wnd *w)
{
	u32 i, k;

	for (i = 0; w->chunk && i < w->chunks; i++) {
		for (k = 0; w->chunk[i] && k < SSTP_RCV_CHUNK; k++) {
			struct sstp_rseg *s = &w->chunk[i][k];

			if (s->head || s->map)
				sstp_rcv_clear(s);
		}
		kfree(w->chunk[i]);
	}
	kfree(w->chunk);
	kfree(w->spare);
	w->chunk = NULL;
	w->spare = NULL;
	w->chunks = 0;
	w->bytes = 0;
}

bool sstp_rcv_grant(struct sstp_rcv_wnd *w, u32 high)
{
	if (sstp_after(high, w->read + SSTP_RCV_SEGMENTS - 1))
		high = w->read + SSTP_RCV_SEGMENTS - 1;
	if (!sstp_after(high, w->high))
		return false;
	w->high = high;
	return true;
}

bool sstp_rcv_geometry(const struct sstp_data *d, struct sstp_rcv_run *run)
{
	if (d->flags & SSTP_F_LAST) {
		run->packets = d->packet + 1;
		run->size = d->packet ? (d->len - d->bytes) / d->packet :
					d->bytes;
		if (d->packet == U16_MAX ||
		    (d->packet && (d->len - d->bytes) / d->packet > U16_MAX))
			return false;
	} else {
		if (d->bytes > U16_MAX)
			return false;
		run->size = d->bytes;
		run->packets = DIV_ROUND_UP(d->len, d->bytes);
	}
	run->segment = d->segment;
	run->len = d->len;
	run->shipment = d->shipment;
	run->start = d->packet;
	run->count = 1;
	run->flags = d->flags;
	return true;
}

static void sstp_rseg_append(struct sstp_rseg *s, struct sk_buff *skb)
{
	skb->next = NULL;
	if (s->tail)
		s->tail->next = skb;
	else
		s->head = skb;
	s->tail = skb;
	s->next = SSTP_RCB(skb)->start + SSTP_RCB(skb)->count;
}

static void sstp_rseg_trim_head(struct sk_buff *skb, u32 packets)
{
	struct sstp_rcb *cb = SSTP_RCB(skb);

	cb->off += packets * cb->stride;
	cb->start += packets;
	cb->count -= packets;
}

/* Append out-of-order packets that follow in order now. */
static void sstp_rseg_collapse(struct sstp_rseg *s)
{
	struct rb_node *p;

	while ((p = rb_first(&s->ooo))) {
		struct sk_buff *skb = rb_to_skb(p);

		if (SSTP_RCB(skb)->start != s->next)
			break;
		rb_erase(p, &s->ooo);
		RB_CLEAR_NODE(&skb->rbnode);
		sstp_rseg_append(s, skb);
	}
}

/* Coalesce @skb, whose packets follow those of @to, into @to, as skbs of few packets need much more
 * memory than their data. Both are charged to the same socket, so the charge does not change.
 */
static bool sstp_rseg_join(struct sstp_rseg *s, struct sk_buff *to,
			   struct sk_buff *skb)
{
	struct sstp_rcb *a = SSTP_RCB(to), *b = SSTP_RCB(skb);
	bool stolen;
	int delta;

	if (b->off || skb->len > b->count * b->stride ||
	    (b->count > 1 ? b->stride != a->stride : b->stride > a->stride) ||
	    a->off + a->count * a->stride != to->len)
		return false;
	/* skb_try_coalesce() warns if a driver has set a truesize that is too small. */
	if (skb->truesize < SKB_TRUESIZE(skb_end_offset(skb)) + skb->data_len ||
	    !skb_try_coalesce(to, skb, &stolen, &delta))
		return false;
	a->count += b->count;
	s->truesize += delta;
	skb->truesize -= delta;
	kfree_skb_partial(skb, stolen);
	return true;
}

/* Insert @skb at the end of a segment without a gap. */
static void sstp_rseg_insert(struct sstp_rseg *s, struct sk_buff *skb)
{
	u32 count = SSTP_RCB(skb)->count;

	if (s->tail && sstp_rseg_join(s, s->tail, skb)) {
		s->next += count;
		return;
	}
	s->truesize += skb->truesize;
	sstp_rseg_append(s, skb);
}

/* Insert @skb after a gap, less the packets that are there already. If older packets are in the
 * middle of @skb, it is cut off at the first of them, and SNAKs ask for the rest again: no
 * conforming sender causes that. Returns the number of packets inserted.
 */
static u32 sstp_rseg_insert_ooo(struct sstp_rseg *s, struct sk_buff *skb)
{
	struct rb_node **p = &s->ooo.rb_node, *parent = NULL;
	struct sk_buff *prev = NULL, *next = NULL, *o;
	struct sstp_rcb *cb = SSTP_RCB(skb);
	u32 count, end;

	while (*p) {
		parent = *p;
		o = rb_to_skb(parent);
		end = SSTP_RCB(o)->start + SSTP_RCB(o)->count;
		if (cb->start < SSTP_RCB(o)->start) {
			next = o;
			p = &parent->rb_left;
		} else if (cb->start >= end) {
			prev = o;
			p = &parent->rb_right;
		} else {
			if (cb->start + cb->count <= end)
				return 0;
			/* Trimmed, @skb may overlap the next one: search again. */
			sstp_rseg_trim_head(skb, end - cb->start);
			p = &s->ooo.rb_node;
			parent = NULL;
			prev = NULL;
			next = NULL;
		}
	}
	if (next)
		cb->count = min_t(u32, cb->count,
				  SSTP_RCB(next)->start - cb->start);
	count = cb->count;
	bitmap_set(s->map, cb->start, count);
	if (prev &&
	    SSTP_RCB(prev)->start + SSTP_RCB(prev)->count == cb->start &&
	    sstp_rseg_join(s, prev, skb))
		return count;
	s->truesize += skb->truesize;
	rb_link_node(&skb->rbnode, parent, p);
	rb_insert_color(&skb->rbnode, &s->ooo);
	return count;
}

/* Packets came out of order: append those after gaps, if the tolerance checker let the segment
 * pass, and free the map.
 */
static void sstp_rseg_close(struct sstp_rseg *s)
{
	struct rb_node *p;

	while ((p = rb_first(&s->ooo))) {
		struct sk_buff *skb = rb_to_skb(p);

		rb_erase(p, &s->ooo);
		sstp_rseg_append(s, skb);
	}
	bitmap_free(s->map);
	s->map = NULL;
}

static void sstp_rseg_accept(struct sstp_rcv_wnd *w, struct sstp_rseg *s)
{
	if (s->map)
		sstp_rseg_close(s);
	s->state = SSTP_RSEG_ACCEPTED;
	w->mean += s->truesize - (w->mean >> 3);
	w->payload += s->len - (w->payload >> 3);
}

/* Does @run have the same geometry as the packets of @s? */
static bool sstp_rseg_alike(const struct sstp_rseg *s,
			    const struct sstp_rcv_run *run)
{
	return s->len == run->len && s->size == run->size &&
	       s->packets == run->packets;
}

/* Was the segment split anew, as after a path MTU decrease, or were its earlier packets forged?
 * The latest shipment decides in both cases.
 */
static bool sstp_rseg_recut(const struct sstp_rseg *s,
			    const struct sstp_rcv_run *run)
{
	return s->state == SSTP_RSEG_PARTIAL && !sstp_rseg_alike(s, run) &&
	       sstp_after(run->shipment, s->ship);
}

/* First missing packet of the segment, as it will be when @run is inserted */
static u32 sstp_rseg_next(const struct sstp_rseg *s,
			  const struct sstp_rcv_run *run)
{
	return s && !sstp_rseg_recut(s, run) ? s->next : 0;
}

u32 sstp_rcv_map_bytes(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run)
{
	struct sstp_rseg *s = sstp_rcv_slot(w, run->segment);

	if (run->start <= sstp_rseg_next(s, run) ||
	    (s && s->map && !sstp_rseg_recut(s, run)))
		return 0;
	return BITS_TO_LONGS(run->packets) * sizeof(long);
}

u32 sstp_rcv_slot_bytes(struct sstp_rcv_wnd *w, u32 segment)
{
	u32 bytes = sstp_rcv_chunk(w, segment) || w->spare ? 0 : SSTP_RCV_CHUNK_BYTES;

	if (sstp_before(segment, w->low))
		return 0;
	if (sstp_rcv_distance(w, segment) < w->chunks)
		return bytes;
	return bytes + (sstp_rcv_entries(w, segment) - w->chunks) * sizeof(*w->chunk);
}

/* Discard the packets of @s, as the segment was split anew. If packets of it were asked for, all
 * new ones count as asked for.
 */
static void sstp_rcv_recut(struct sstp_rcv_wnd *w, struct sstp_rseg *s, u32 segment)
{
	u32 asked_to = s->asked_to ? SSTP_PACKETS_MAX + 1 : 0;
	u32 asked = s->asked;

	w->recut += s->got;
	sstp_rcv_clear(s);
	s->asked_to = asked_to;
	s->asked = asked;
	/* Examine the segment again for SNAKs, as discarded packets are missing now. */
	sstp_asked_look(&w->asked, segment);
}

/* Give segment @s the geometry of @run. Returns SSTP_RCV_TAKEN, or the reason why @run cannot be
 * inserted.
 */
static enum sstp_rcv_verdict sstp_rcv_shape(struct sstp_rcv_wnd *w,
					    struct sstp_rseg *s,
					    const struct sstp_rcv_run *run)
{
	u32 last = run->shipment + run->count - 1;

	if (s->state == SSTP_RSEG_ACCEPTED)
		return SSTP_RCV_DUP;
	if (sstp_rseg_recut(s, run))
		sstp_rcv_recut(w, s, run->segment);
	if (s->state == SSTP_RSEG_EMPTY) {
		if (sstp_after(run->segment, w->top))
			w->top = run->segment;
		s->len = run->len;
		s->size = run->size;
		s->packets = run->packets;
		s->ship = last;
	} else if (!sstp_rseg_alike(s, run)) {
		return SSTP_RCV_CONFLICT;
	} else if (sstp_after(last, s->ship)) {
		s->ship = last;
	}
	return SSTP_RCV_TAKEN;
}

/* Segment @s is a single packet of @skb, which holds packets of other segments, too. */
static void sstp_rseg_share(struct sstp_rseg *s, struct sk_buff *skb,
			    const struct sstp_rcv_run *run)
{
	s->head = skb_get(skb);
	s->off = run->off;
	s->shared = 1;
	s->next = 1;
	s->got = 1;
	s->eor = !!(run->flags & SSTP_F_EOR);
	s->truesize = run->stride;
}

enum sstp_rcv_verdict sstp_rcv_insert(struct sstp_rcv_wnd *w,
				      struct sk_buff *skb,
				      const struct sstp_rcv_run *run,
				      u32 *fresh)
{
	struct sstp_rcb *cb = SSTP_RCB(skb);
	enum sstp_rcv_verdict verdict;
	struct sstp_rseg *s;

	*fresh = 0;
	if (sstp_before(run->segment, w->low))
		return SSTP_RCV_DUP;
	if (sstp_after(run->segment, w->high) ||
	    (w->has_eos && !sstp_before(run->segment, w->eos)))
		return SSTP_RCV_OUTSIDE;
	if ((u32)run->start + run->count > run->packets)
		return SSTP_RCV_CONFLICT;
	s = sstp_rcv_slot_make(w, run->segment);
	if (!s)
		return SSTP_RCV_NOMEM;
	verdict = sstp_rcv_shape(w, s, run);
	if (verdict != SSTP_RCV_TAKEN)
		return verdict;
	if (s->packets == 1 && run->shared) {
		sstp_rseg_share(s, skb, run);
		*fresh = 1;
		sstp_rseg_accept(w, s);
		return SSTP_RCV_SHARED;
	}

	cb->off = run->off;
	cb->stride = run->stride;
	cb->start = run->start;
	cb->count = run->count;
	if (cb->start < s->next) {
		u32 dup = s->next - cb->start;

		if (dup >= cb->count)
			return SSTP_RCV_DUP;
		sstp_rseg_trim_head(skb, dup);
	}
	if (cb->start == s->next && RB_EMPTY_ROOT(&s->ooo)) {
		*fresh = cb->count;
		sstp_rseg_insert(s, skb);
	} else {
		if (!s->map)
			s->map = bitmap_zalloc(s->packets,
					       GFP_ATOMIC | __GFP_NOWARN);
		if (!s->map)
			return SSTP_RCV_NOMEM;
		*fresh = sstp_rseg_insert_ooo(s, skb);
		if (!*fresh)
			return SSTP_RCV_DUP;
	}
	s->got += *fresh;
	s->state = SSTP_RSEG_PARTIAL;
	if (run->flags & SSTP_F_EOR)
		s->eor = 1;
	if (!RB_EMPTY_ROOT(&s->ooo))
		sstp_rseg_collapse(s);
	if (s->got == s->packets)
		sstp_rseg_accept(w, s);
	return SSTP_RCV_TAKEN;
}

bool sstp_rcv_had(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run)
{
	struct sstp_rseg *s;

	if (sstp_before(run->segment, w->low))
		return true;
	if (sstp_after(run->segment, w->high))
		return false;
	s = sstp_rcv_slot(w, run->segment);
	return s && (s->state == SSTP_RSEG_ACCEPTED ||
		     run->start + run->count <= sstp_rseg_next(s, run));
}

bool sstp_rcv_is_next(struct sstp_rcv_wnd *w, const struct sstp_rcv_run *run)
{
	struct sstp_rseg *s = sstp_rcv_slot(w, run->segment);

	return run->start == sstp_rseg_next(s, run);
}

bool sstp_rcv_squeeze(struct sstp_rcv_wnd *w, const struct sk_buff *skb,
		      const struct sstp_rcv_run *run, u32 len)
{
	struct sstp_rseg *s = sstp_rcv_slot(w, run->segment);
	struct sstp_rcb *cb;

	if (!s || s->state != SSTP_RSEG_PARTIAL || !s->tail ||
	    !sstp_rseg_alike(s, run) || run->start != s->next ||
	    (u32)run->start + run->count > run->packets)
		return false;
	/* @run must not overlap out-of-order packets. */
	if (!RB_EMPTY_ROOT(&s->ooo) &&
	    run->start + run->count > SSTP_RCB(rb_to_skb(rb_first(&s->ooo)))->start)
		return false;
	cb = SSTP_RCB(s->tail);
	if (skb_cloned(s->tail) || skb_tailroom(s->tail) < (int)len ||
	    cb->stride < run->stride ||
	    (cb->stride > run->stride && run->count > 1) ||
	    cb->off + cb->count * cb->stride != s->tail->len)
		return false;
	if (skb_copy_bits(skb, run->off, skb_put(s->tail, len), len))
		return false;
	cb->count += run->count;
	s->next += run->count;
	s->got += run->count;
	if (sstp_after(run->shipment + run->count - 1, s->ship))
		s->ship = run->shipment + run->count - 1;
	if (run->flags & SSTP_F_EOR)
		s->eor = 1;
	sstp_rseg_collapse(s);
	if (s->got == s->packets)
		sstp_rseg_accept(w, s);
	return true;
}

/* May @s be accepted with gaps? Only if all missing packets are lost, not late. */
static bool sstp_rseg_passes(const struct sstp_rseg *s, u32 segment, struct sstp_pos lost,
			     u32 tolerance)
{
	return s->state == SSTP_RSEG_PARTIAL && tolerance &&
	       sstp_tol_check(s->packets, s->packets - s->got, tolerance) ==
	       SSTP_TOL_ACCEPT &&
	       sstp_rseg_missing(s, sstp_pos_within(lost, segment, s->packets)) >=
	       s->packets;
}

bool sstp_rcv_advance(struct sstp_rcv_wnd *w, struct sstp_pos lost, u32 *gapped)
{
	u32 was = w->low;

	while (!sstp_after(w->low, w->high)) {
		struct sstp_rseg *s = sstp_rcv_slot(w, w->low);

		if (!s)
			break;
		if (sstp_rseg_passes(s, w->low, lost, w->tolerance)) {
			sstp_rseg_accept(w, s);
			++*gapped;
		}
		if (s->state != SSTP_RSEG_ACCEPTED)
			break;
		w->low++;
	}
	if (w->has_eos && w->low == w->eos)
		w->low++;
	return w->low != was;
}

struct sstp_rseg *sstp_rcv_peek(struct sstp_rcv_wnd *w)
{
	struct sstp_rseg *s;

	if (!sstp_before(w->read, w->low) || (w->has_eos && w->read == w->eos))
		return NULL;
	s = sstp_rcv_slot(w, w->read);
	return s && s->state == SSTP_RSEG_ACCEPTED ? s : NULL;
}

void sstp_rcv_pop(struct sstp_rcv_wnd *w)
{
	u32 n = (w->read / SSTP_RCV_CHUNK) & (w->chunks - 1);

	sstp_rcv_clear(&w->chunk[n][w->read % SSTP_RCV_CHUNK]);
	if (++w->read % SSTP_RCV_CHUNK)
		return;
	/* It was the last slot of the chunk, all of whose slots are clear now. */
	if (w->spare) {
		kfree(w->chunk[n]);
		w->bytes -= SSTP_RCV_CHUNK_BYTES;
	} else {
		w->spare = w->chunk[n];
	}
	w->chunk[n] = NULL;
}

/* Free the chunk of the segment that is read next, if its slots are clear. */
static void sstp_rcv_trim_chunk(struct sstp_rcv_wnd *w)
{
	struct sstp_rseg **chunk = &w->chunk[(w->read / SSTP_RCV_CHUNK) & (w->chunks - 1)];
	u32 i;

	if (!*chunk)
		return;
	for (i = 0; i < SSTP_RCV_CHUNK; i++) {
		const struct sstp_rseg *s = &(*chunk)[i];

		/* A segment with gaps may be accepted, and have no packets that are not read. */
		if (s->state != SSTP_RSEG_EMPTY || s->asked_to)
			return;
	}
	kfree(*chunk);
	*chunk = NULL;
	w->bytes -= SSTP_RCV_CHUNK_BYTES;
}

void sstp_rcv_trim(struct sstp_rcv_wnd *w)
{
	w->bytes -= w->spare ? SSTP_RCV_CHUNK_BYTES : 0;
	kfree(w->spare);
	w->spare = NULL;
	sstp_rcv_trim_chunk(w);
	/* Without memory for a smaller array the larger one stays. */
	if (w->chunks > SSTP_RCV_ENTRIES &&
	    w->bytes == (w->chunks - SSTP_RCV_ENTRIES) * sizeof(*w->chunk))
		sstp_rcv_resize(w, SSTP_RCV_ENTRIES);
}

struct sstp_rseg *sstp_rcv_largest(struct sstp_rcv_wnd *w, u32 above,
				   u32 *segment)
{
	u32 last = round_down(w->read, SSTP_RCV_CHUNK) + w->chunks * SSTP_RCV_CHUNK - 1;
	u32 n = sstp_after(w->top, last) ? last : w->top, steps;

	/* @top is lowered on the way, so that the next call continues there. */
	for (steps = 0; sstp_after(n, above) && steps < 1024; steps++) {
		struct sstp_rseg *s = sstp_rcv_slot(w, n);

		w->top = n;
		if (!s) {
			/* Continue at the last slot of the previous chunk. */
			n -= n % SSTP_RCV_CHUNK + 1;
			continue;
		}
		if (s->state != SSTP_RSEG_EMPTY) {
			*segment = n;
			return s;
		}
		n--;
	}
	return NULL;
}
