// SPDX-License-Identifier: GPL-2.0
/* Delivery rate of a sender; sample.h describes it. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "sample.h"

static u32 sstp_sample_size(const struct sstp_sampler *p)
{
	return p->more ? SSTP_SAMPLE_MARKS : SSTP_SAMPLE_FEW;
}

/* The mark @back before the newest one, which is remembered */
static struct sstp_sample_mark *sstp_sample_mark(struct sstp_sampler *p, u32 back)
{
	struct sstp_sample_mark *ring = p->more ?: p->few;

	return &ring[p->newest >= back ? p->newest - back : p->newest + sstp_sample_size(p) - back];
}

/* Make room for all marks. */
static void sstp_sample_grow(struct sstp_sampler *p)
{
	struct sstp_sample_mark *more;
	u32 i;

	more = kmalloc_array(SSTP_SAMPLE_MARKS, sizeof(*more), GFP_ATOMIC | __GFP_NOWARN);
	if (!more)
		return;
	for (i = 0; i < p->marks; i++)
		more[p->marks - 1 - i] = *sstp_sample_mark(p, i);
	p->newest = p->marks - 1;
	p->more = more;
}

/* The newest mark that had come when @r's packet left, or NULL. @next: the one after it, or @r */
static const struct sstp_sample_mark *sstp_sample_base(struct sstp_sampler *p,
						       const struct sstp_sample_mark *r,
						       const struct sstp_sample_mark **next)
{
	u32 i;

	*next = r;
	for (i = 0; i < p->marks; i++) {
		const struct sstp_sample_mark *m = sstp_sample_mark(p, i);

		if ((s32)(m->at - r->sent) <= 0)
			return m;
		*next = m;
	}
	return NULL;
}

/* Set @d->flight and @d->lost. Between the reports @m and @next the packet of @r left. */
static void sstp_sample_flight(const struct sstp_sample_mark *m,
			       const struct sstp_sample_mark *next,
			       const struct sstp_sample_mark *r, struct sstp_delivery *d)
{
	u32 span = max(next->at - m->at, 1U), past = min(r->sent - m->at, span);
	s32 flight = r->highest - m->highest, delivered = r->delivered - m->delivered;

	if (past) {
		flight -= div_s64((s64)(s32)(next->highest - m->highest) * past, span);
		delivered -= div_s64((s64)(s32)(next->delivered - m->delivered) * past, span);
	}
	d->flight = max(flight, 0);
	d->lost = max(min(flight, flight - delivered), 0);
}

/* Remember @r, unless the newest mark is too near. */
static void sstp_sample_remember(struct sstp_sampler *p, const struct sstp_sample_mark *r,
				 u32 srtt, u32 flight)
{
	const struct sstp_sample_mark *last = sstp_sample_mark(p, 0), *first;

	if (p->marks && r->at - last->at < srtt / SSTP_SAMPLE_SPACING &&
	    r->delivered - last->delivered < max(flight / SSTP_SAMPLE_SPACING, 1U))
		return;
	if (p->marks == SSTP_SAMPLE_FEW && !p->more) {
		/* A report of nothing new is not worth the memory. */
		if (r->delivered == last->delivered)
			return;
		sstp_sample_grow(p);
	}
	if (++p->newest == sstp_sample_size(p))
		p->newest = 0;
	p->marks = min(p->marks + 1, sstp_sample_size(p));
	*sstp_sample_mark(p, 0) = *r;
	first = sstp_sample_mark(p, p->marks - 1);
	if (p->idled && (s32)(p->idle_at - first->sent) < 0)
		p->idled = false;
}

void sstp_sample_start(struct sstp_sampler *p, u32 now, u32 delivered, u32 highest)
{
	*sstp_sample_mark(p, 0) = (struct sstp_sample_mark){
		.at = now, .sent = now, .came = now, .delivered = delivered, .highest = highest,
	};
	p->marks = 1;
	p->idled = false;
}

void sstp_sample_report(struct sstp_sampler *p, const struct sstp_sample_mark *r, u32 srtt,
			u32 flight, struct sstp_delivery *d)
{
	const struct sstp_sample_mark *next, *m;

	/* Marks of before a long pause: 2^31 us later they would seem to be newer than @r. */
	if (p->marks && r->at - sstp_sample_mark(p, 0)->at > SSTP_SAMPLE_OLD)
		p->marks = 0;
	if (r->at - p->idle_at > SSTP_SAMPLE_OLD)
		p->idled = false;
	m = sstp_sample_base(p, r, &next);
	*d = (struct sstp_delivery){};
	if (m)
		sstp_sample_flight(m, next, r, d);
	if (m && (s32)(r->sent - m->sent) >= 0 && (s32)(r->came - m->came) >= 0 &&
	    (s32)(r->delivered - m->delivered) > 0) {
		d->packets = r->delivered - m->delivered;
		d->interval = max3(r->sent - m->sent, r->came - m->came, 1U);
		d->prior = m->delivered;
		d->app_limited = p->idled && (s32)(p->idle_at - m->sent) >= 0;
	}
	/* The packet left before all that is remembered: it is late, or was sent long ago. */
	if (m || !p->marks)
		sstp_sample_remember(p, r, srtt, flight);
}

void sstp_sample_idle(struct sstp_sampler *p, u32 now)
{
	p->idle_at = now;
	p->idled = true;
}

void sstp_sample_free(struct sstp_sampler *p)
{
	kfree(p->more);
	memset(p, 0, sizeof(*p));
}
