// SPDX-License-Identifier: GPL-2.0
/* Delivery rate of a sender; sample.h describes it. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "sample.h"

/* The newest mark that had come when @r's packet left, or NULL. @next: the one after it, or @r */
static const struct sstp_sample_mark *sstp_sample_base(const struct sstp_sampler *p,
						       const struct sstp_sample_mark *r,
						       const struct sstp_sample_mark **next)
{
	u32 i;

	*next = r;
	for (i = 0; i < p->marks; i++) {
		const struct sstp_sample_mark *m;

		m = &p->mark[(p->newest + SSTP_SAMPLE_MARKS - i) %
			     SSTP_SAMPLE_MARKS];
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

	flight -= div_s64((s64)(s32)(next->highest - m->highest) * past, span);
	delivered -= div_s64((s64)(s32)(next->delivered - m->delivered) * past, span);
	d->flight = max(flight, 0);
	d->lost = max(min(flight, flight - delivered), 0);
}

/* Remember @r, unless the newest mark is too near. */
static void sstp_sample_remember(struct sstp_sampler *p, const struct sstp_sample_mark *r,
				 u32 srtt, u32 flight)
{
	const struct sstp_sample_mark *last = &p->mark[p->newest], *first;

	if (p->marks && r->at - last->at < srtt / SSTP_SAMPLE_SPACING &&
	    r->delivered - last->delivered < max(flight / SSTP_SAMPLE_SPACING, 1U))
		return;
	p->newest = (p->newest + 1) % SSTP_SAMPLE_MARKS;
	p->mark[p->newest] = *r;
	p->marks = min(p->marks + 1, SSTP_SAMPLE_MARKS);
	first = &p->mark[(p->newest + 1 + SSTP_SAMPLE_MARKS - p->marks) % SSTP_SAMPLE_MARKS];
	if (p->idled && (s32)(p->idle_at - first->sent) < 0)
		p->idled = false;
}

void sstp_sample_start(struct sstp_sampler *p, u32 now, u32 delivered, u32 highest)
{
	p->mark[p->newest] = (struct sstp_sample_mark){
		.at = now, .sent = now, .came = now, .delivered = delivered, .highest = highest,
	};
	p->marks = 1;
	p->idled = false;
}

void sstp_sample_report(struct sstp_sampler *p, const struct sstp_sample_mark *r, u32 srtt,
			u32 flight, struct sstp_delivery *d)
{
	const struct sstp_sample_mark *next, *m = sstp_sample_base(p, r, &next);

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
