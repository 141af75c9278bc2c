// SPDX-License-Identifier: GPL-2.0
/* Entries of SNAKs: lost packets that are due to be asked for */
#include <linux/bitrev.h>
#include "arrivals.h"
#include "rcv_snak.h"
#include "tolerance.h"

/* Does @segment, of which no packet came, have packets before @lost? It is then asked for as a
 * whole, as its number of packets is not known.
 */
static bool sstp_rcv_wholly_lost(struct sstp_pos lost, u32 segment)
{
	return segment == lost.segment ? lost.packet > 0 :
		sstp_before(segment, lost.segment);
}

/* Would the tolerance checker accept the segment without the packets that are missing before
 * packet @last, that is, known to be lost so far?
 */
static bool sstp_rseg_spared(const struct sstp_rseg *s, u32 last, u32 tolerance)
{
	u32 missing = last - s->next;

	if (!tolerance)
		return false;
	if (s->map)
		missing -= bitmap_weight(s->map, last) -
			   bitmap_weight(s->map, s->next);
	return sstp_tol_check(s->packets, missing, tolerance) == SSTP_TOL_ACCEPT;
}

/* Bits [@at, @at + 32) of a bitmap of @bits bits, bit @at lowest */
static u32 sstp_map_word(const unsigned long *map, u32 at, u32 bits)
{
	u32 i = at / BITS_PER_LONG, shift = at % BITS_PER_LONG;
	unsigned long v = map[i] >> shift;

	if (shift && i + 1 < BITS_TO_LONGS(bits))
		v |= map[i + 1] << (BITS_PER_LONG - shift);
	return v;
}

/* Write the bitmap of packets [@from, @to) in wire format: 1 = received. */
static void sstp_rseg_bitmap(const struct sstp_rseg *s, __be32 *p, u32 from,
			     u32 to)
{
	for (; from < to; from += 32) {
		u32 word = s->map ? sstp_map_word(s->map, from, s->packets) : 0;

		if (to - from < 32)
			word &= (1U << (to - from)) - 1;
		*p++ = cpu_to_be32(bitrev32(word));
	}
}

/* Is a request made at time @at due again? After job->retry, or if an unexplained gap came
 * since.
 */
static bool sstp_asked_due(const struct sstp_asked *q, u32 at, const struct sstp_snak_job *job)
{
	return (q->again && sstp_before(at, q->again_at)) ||
	       job->now - at >= job->retry;
}

/* Record that a request made at time @at is unanswered. */
static void sstp_asked_waits(struct sstp_asked *q, u32 at)
{
	if (!q->waits || sstp_before(at, q->oldest))
		q->oldest = at;
	q->waits = true;
}

/* Set q->look, the first segment to examine: @low (R_l) if the oldest request is due again or a
 * gap was @unexplained, else the first one that was not examined yet.
 */
static void sstp_asked_look_from(struct sstp_asked *q, u32 low, bool unexplained,
				 const struct sstp_snak_job *job)
{
	if (unexplained) {
		q->again = true;
		q->again_at = job->now;
	} else if (!q->waits || job->now - q->oldest < job->retry) {
		goto low;
	}
	q->waits = false;
	q->look = low;
	if (sstp_asked_due(q, q->bare_asked, job))
		q->bare_to = low;
low:
	if (sstp_before(q->look, low))
		q->look = low;
	if (!sstp_before(low, q->bare_to)) {
		q->bare_to = low;
		q->bare_asked = job->now;
	}
}

/* A SNAK that is being written: next entry at @p; @whole: last entry for whole segments, which
 * may be extended
 */
struct sstp_snak_room {
	u8	*p;
	u8	*end;
	struct sstp_snak_entry *whole;
	u16	entries;
};

/* Ask for the whole of @segment, of which no packet came. False without room. */
static bool sstp_rcv_snak_whole(struct sstp_asked *q, struct sstp_pos lost,
				struct sstp_rseg *s, u32 segment, u32 now,
				struct sstp_snak_room *r)
{
	struct sstp_snak_entry *e = r->whole;
	u32 last = sstp_pos_within(lost, segment, U16_MAX + 1);

	if (e && segment == be32_to_cpu(e->segment) + be16_to_cpu(e->first) &&
	    be16_to_cpu(e->first) < U16_MAX) {
		be16_add_cpu(&e->first, 1);
	} else {
		if (r->end - r->p < (long)sizeof(*e))
			return false;
		e = (void *)r->p;
		e->segment = cpu_to_be32(segment);
		e->first = cpu_to_be16(1);
		e->bits = 0;
		r->whole = e;
		r->p += sizeof(*e);
		r->entries++;
	}
	if (s) {
		s->asked = now;
		s->asked_to = last;
	} else {
		q->bare_to = segment + 1;
		q->bare_last = last;
	}
	sstp_asked_waits(q, s ? now : q->bare_asked);
	return true;
}

/* Ask for the packets of @segment, of which some came, that are missing before @lost and due.
 * False without room for all: a bitmap may be split into several entries, or several SNAKs.
 */
static bool sstp_rcv_snak_part(struct sstp_rcv_wnd *w, struct sstp_pos lost,
			       struct sstp_rseg *s, u32 segment,
			       const struct sstp_snak_job *job, struct sstp_snak_room *r)
{
	u32 last = sstp_pos_within(lost, segment, s->packets), from;
	bool due = !s->asked_to || sstp_asked_due(&w->asked, s->asked, job);

	if (s->next >= last || sstp_rseg_spared(s, last, w->tolerance))
		return true;
	from = sstp_rseg_missing(s, due ? 0 : s->asked_to);
	while (from < last) {
		long space = r->end - r->p - (long)sizeof(struct sstp_snak_entry);
		struct sstp_snak_entry *e = (void *)r->p;
		u32 n;

		if (space < 4)
			break;
		n = min_t(u32, last - from, space / 4 * 32);
		e->segment = cpu_to_be32(segment);
		e->first = cpu_to_be16(from);
		e->bits = cpu_to_be16(n);
		sstp_rseg_bitmap(s, (__be32 *)(e + 1), from, from + n);
		r->p += sizeof(*e) + DIV_ROUND_UP(n, 32) * 4;
		r->entries++;
		from += n;
		s->asked_to = from;
		/* If only new losses are asked for, the time of older requests stays, or they
		 * would never be due again.
		 */
		if (due)
			s->asked = job->now;
		due = false;
	}
	if (from < last)
		return false;
	sstp_asked_waits(&w->asked, s->asked);
	return true;
}

u32 sstp_rcv_snak(struct sstp_rcv_wnd *w, struct sstp_arrivals *a, u8 *p, u32 room,
		  struct sstp_snak_job *job)
{
	struct sstp_snak_room r = { .p = p, .end = p + room };
	struct sstp_asked *q = &w->asked;
	struct sstp_pos lost = a->lost;
	u32 segment;

	job->more = false;
	sstp_asked_look_from(q, w->low, a->unexplained, job);
	a->unexplained = false;
	for (segment = q->look; !sstp_after(segment, job->to) &&
	     !sstp_after(segment, lost.segment); segment++) {
		struct sstp_rseg *s = sstp_rcv_slot(w, segment);

		if (w->has_eos && segment == w->eos)
			break;
		if (s && s->state == SSTP_RSEG_ACCEPTED)
			continue;
		if (s && s->state == SSTP_RSEG_PARTIAL) {
			job->more = !sstp_rcv_snak_part(w, lost, s, segment, job, &r);
		} else if (!sstp_rcv_wholly_lost(lost, segment)) {
			break;
		} else if (s ? s->asked_to && !sstp_asked_due(q, s->asked, job) :
			       sstp_before(segment, q->bare_to)) {
			sstp_asked_waits(q, s ? s->asked : q->bare_asked);
		} else {
			job->more = !sstp_rcv_snak_whole(q, lost, s, segment, job->now, &r);
		}
		if (job->more)
			break;
	}
	/* More packets of segment lost.segment may be declared lost later. */
	q->look = sstp_after(segment, lost.segment) ? lost.segment : segment;
	if (!job->more)
		q->again = false;
	job->entries = r.entries;
	return r.p - p;
}
