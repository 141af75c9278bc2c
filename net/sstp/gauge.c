// SPDX-License-Identifier: GPL-2.0
/* Measurements of the path at the receiver, for the policy of its buffer */
#include <linux/math64.h>
#include <linux/string.h>
#include "gauge.h"

#define SSTP_GAUGE_MORE		2U	/* segments beyond what a window holds */
#define SSTP_GAUGE_SEGMENTS	BIT(20)	/* far more than any window has */
#define SSTP_GAUGE_PARTS	32U	/* segments that a window is to have, or of a packet each */

static void sstp_gauge_begin(struct sstp_gauge *m)
{
	m->packet = 0;
	m->queue = 0;
	m->queue_most = 0;
	m->gaps = 0;
	m->gap_queue = 0;
	m->pause = 0;
	m->unanswered = 0;
	m->timed = false;
	m->news = false;
}

void sstp_gauge_init(struct sstp_gauge *m, u64 bytes)
{
	memset(m, 0, sizeof(*m));
	m->since = bytes;
}

void sstp_gauge_packets(struct sstp_gauge *m, const struct sstp_gauge_packets *p)
{
	u32 delay = (u32)div_u64(p->now, NSEC_PER_USEC) - p->stamp, queue;
	u8 trains = m->spread.trains;

	if (!p->packets)
		return;
	if (m->last && p->now > m->last)
		m->pause = max(m->pause, p->now - m->last);
	m->last = max(m->last, p->now);
	m->packet = max(m->packet, p->bytes / p->packets);
	sstp_owd_add(&m->owd, p->now, delay);
	queue = sstp_owd_queue(&m->owd, delay);
	m->queue = m->timed ? min(m->queue, queue) : queue;
	m->queue_most = max(m->queue_most, queue);
	m->timed = true;
	if (p->gap) {
		u32 gap = min(p->gap, U32_MAX - m->gaps);

		m->gaps += gap;
		m->gap_queue += (u64)gap * queue;
	}
	/* A train ends where packets are missing. Retransmissions wait for requests, so that
	 * packets that leave at once need not be a train of the path's.
	 */
	if (p->gap || p->again)
		sstp_spread_break(&m->spread);
	if (!p->again)
		sstp_spread_add(&m->spread, p->now, p->stamp, p->packets, p->bytes);
	if (trains < SSTP_SPREAD_TRAINS && m->spread.trains == SSTP_SPREAD_TRAINS)
		m->news = true;
}

bool sstp_gauge_ask(struct sstp_gauge *m, u64 now, u32 rtt)
{
	u64 gap = max(2ULL * rtt * NSEC_PER_USEC, (u64)SSTP_GAUGE_RTT_GAP);

	if (m->asked && now - m->asked < gap)
		return false;
	if (m->waits && m->unanswered < U32_MAX)
		m->unanswered++;
	m->asked = now;
	m->waits = true;
	return true;
}

void sstp_gauge_bound(struct sstp_gauge *m, u32 bytes)
{
	u32 most = SSTP_SEGMENT_MAX;

	/* A sender makes no segment of less than a packet. */
	if (bytes)
		most = max3(bytes / SSTP_GAUGE_PARTS, m->seen.packet, 1U);
	/* Grants count segments, so those in force hold half as much when segments are halved. */
	most = max(most, m->segment / 2);
	/* Segments that are small enough need no bound. */
	if (m->most || most < m->segment)
		m->most = min(most, SSTP_SEGMENT_MAX);
}

u32 sstp_gauge_segments(const struct sstp_gauge *m, u32 bytes, u32 guess)
{
	u32 segment = max(m->segment ?: guess, 1U);

	return min_t(u32, bytes / segment, SSTP_GAUGE_SEGMENTS) + SSTP_GAUGE_MORE;
}

/* Was the sender held back by the window? It had as much in flight as a window holds but for the
 * segments that sstp_gauge_segments() adds. @s has the rate, which is that of a whole epoch: if the
 * window has grown from @before, packets of the first part of the epoch left by the smaller one.
 */
static bool sstp_gauge_limited(const struct sstp_gauge_epoch *e, const struct sstp_rbuf_seen *s,
			       u32 before)
{
	u64 flight = mul_u64_u64_div_u64(s->rate, e->rtt, USEC_PER_SEC);
	u32 grown = s->granted - min(before, s->granted);

	return e->rtt && flight + SSTP_GAUGE_MORE * s->segment >= s->granted - grown / 2;
}

void sstp_gauge_end(struct sstp_gauge *m, const struct sstp_gauge_epoch *e)
{
	struct sstp_rbuf_seen *s = &m->seen;
	u64 silent = m->last && e->now > m->last ? e->now - m->last : 0;
	/* Without a segment in the last epoch its grant is not known in bytes. */
	u32 before = m->counted && s->segment ? s->granted : U32_MAX;

	s->rtt = e->rtt;
	s->rate = min(mul_u64_u64_div_u64(e->bytes, NSEC_PER_SEC, max(e->elapsed, 1ULL)),
		      SSTP_SPREAD_RATE_MAX);
	s->capacity = sstp_spread_capacity(&m->spread);
	s->queue = m->queue;
	s->queue_most = m->queue_most;
	s->lost = m->counted ? max_t(s32, e->lost - m->lost, 0) : 0;
	/* Without a gap in this epoch they were skipped in the one before. */
	if (m->gaps)
		s->lost_queue = div_u64(m->gap_queue, m->gaps);
	else if (!s->lost)
		s->lost_queue = 0;
	s->unanswered = m->unanswered;
	s->segment = m->segment;
	s->packet = m->packet;
	s->granted = min_t(u64, (u64)e->granted * s->segment, U32_MAX);
	s->window_limited = sstp_gauge_limited(e, s, before);
	s->app_limited = !s->window_limited && e->rtt &&
			 max(m->pause, silent) > (u64)e->rtt * (NSEC_PER_USEC / 2);
	m->lost = e->lost;
	m->counted = true;
	sstp_gauge_begin(m);
}
