// SPDX-License-Identifier: GPL-2.0
/* Flows over a simulated bottleneck: line_sim.h */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "line_sim.h"

void line_sample(const struct line_flow *x, struct sstp_ctrl_sample *s)
{
	*s = (struct sstp_ctrl_sample){
		.now = x->line->now, .srtt = x->srtt, .min_rtt = x->rtt, .packet_size = 1500,
		.in_flight = x->shipped - x->highest, .shipped = x->shipped,
		.highest = x->highest, .total_delivered = x->delivered,
		.cwnd_limited = x->limited, .flight = x->shipped - x->highest,
	};
}

/* The handshake has measured a round-trip time. */
static void line_begin(struct line_flow *x)
{
	struct line_sim *l = x->line;
	struct sstp_ctrl_sample s;

	x->start = 0;
	x->srtt = x->rtt;
	if (l->waits)
		x->srtt += div_u64(l->free - min(l->free, l->now), NSEC_PER_USEC);
	line_sample(x, &s);
	s.min_rtt = x->srtt;
	x->ops->init(&x->c, &s);
}

struct line_sim *line_start(struct kunit *test, u32 rate, u32 queue)
{
	struct line_sim *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	sstp_test_seed_rnd(test, &l->rnd);
	l->rate = rate;
	l->queue = queue;
	l->now = NSEC_PER_SEC;
	return l;
}

struct line_flow *line_add(struct kunit *test, struct line_sim *l,
			   const struct sstp_ctrl_ops *ops, u32 rtt, u32 ms)
{
	struct line_flow *x = kunit_kzalloc(test, sizeof(*x), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, x);
	x->sent = kunit_kcalloc(test, LINE_RING, sizeof(u64), GFP_KERNEL);
	x->came = kunit_kcalloc(test, LINE_RING, sizeof(u64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x->sent);
	KUNIT_ASSERT_NOT_NULL(test, x->came);
	x->report = kunit_kcalloc(test, LINE_REPORTS, sizeof(*x->report), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x->report);
	/* The test frees the marks, as it frees all of the flow. */
	x->p.more = kunit_kcalloc(test, SSTP_SAMPLE_MARKS, sizeof(*x->p.more), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x->p.more);
	x->ops = ops;
	x->line = l;
	x->rtt = rtt;
	x->start = l->now + (u64)ms * NSEC_PER_MSEC;
	x->shipped = prandom_u32_state(&l->rnd);
	x->arrived = x->shipped;
	x->highest = x->shipped;
	x->limited_ship = x->shipped;
	x->told = x->shipped;
	if (!ms)
		line_begin(x);
	l->flow[l->flows++] = x;
	return x;
}

void line_set_rate(struct line_sim *l, u32 rate)
{
	u64 wait = l->free - min(l->free, l->now);

	l->free = l->now + div_u64(wait * l->rate, rate);
	l->rate = rate;
}

/* A packet leaves: it waits in the queue, or finds it full, or is lost. */
static void line_ship(struct line_flow *x)
{
	struct line_sim *l = x->line;
	u64 packet = div_u64(NSEC_PER_SEC, l->rate), wait = l->free - min(l->free, l->now);
	u32 n = ++x->shipped % LINE_RING, queued = div64_u64(wait, packet);
	u64 sent;

	x->sent[n] = l->now;
	x->came[n] = 0;
	l->shipped++;
	l->waited += queued;
	l->most = max(l->most, queued);
	if (queued >= l->queue)
		return;
	l->free = max(l->free, l->now) + packet;
	sent = l->burst ? (u64)DIV_ROUND_UP_ULL(l->free, l->burst) * l->burst : l->free;
	if (!l->loss || sstp_rnd_below(&l->rnd, l->loss))
		x->came[n] = sent + (u64)x->rtt * NSEC_PER_USEC / 2;
}

/* All packets that may leave now, in trains as the core makes them */
static void line_push(struct line_flow *x)
{
	u64 now = x->line->now;
	struct sstp_ctrl_packets p = {};
	struct sstp_ctrl_sample s;
	u32 flight, i;

	while ((flight = x->shipped - x->highest) < x->c.cwnd && now >= x->next) {
		p.packets = min(x->c.cwnd - flight, SSTP_TRAIN_PACKETS);
		p.packets = min_t(u64, p.packets,
				  max(div64_u64(NSEC_PER_MSEC, max(x->c.period, 1ULL)), 2));
		if (!flight)
			sstp_sample_start(&x->p, div_u64(now, NSEC_PER_USEC), x->delivered,
					  x->highest);
		for (i = 0; i < p.packets; i++)
			line_ship(x);
		x->next = max(x->next + NSEC_PER_MSEC / 2, now) - NSEC_PER_MSEC / 2 +
			  p.packets * x->c.period;
		line_sample(x, &s);
		if (x->ops->on_pkt_sent)
			x->ops->on_pkt_sent(&x->c, &s, &p);
	}
	x->held |= x->shipped - x->highest >= x->c.cwnd;
}

static void line_make_report(struct line_flow *x, u64 came)
{
	x->told = x->arrived;
	x->report[x->made++ % LINE_REPORTS] = (struct line_report){
		.at = came + (u64)x->rtt * NSEC_PER_USEC / 2,
		.highest = x->arrived, .count = x->count,
	};
}

/* A packet comes. A report is due after a sixteenth of the window, at once after a loss, and when
 * no packet is under way.
 */
static void line_arrive(struct line_flow *x)
{
	u32 n = ++x->arrived % LINE_RING;
	bool gap = !x->came[(x->arrived - 1) % LINE_RING];

	x->count++;
	if (gap || x->arrived == x->shipped || x->arrived - x->told >= max(x->c.cwnd / 16, 2U))
		line_make_report(x, x->came[n]);
}

/* The report that has come, as the sample of the callbacks */
static void line_report_sample(struct line_flow *x, const struct line_report *q,
			       struct sstp_ctrl_sample *s)
{
	u32 at = div_u64(x->line->now, NSEC_PER_USEC), flight = x->shipped - x->highest, rtt;
	u32 was = x->highest, had = x->delivered, ship;
	struct sstp_sample_mark r;
	struct sstp_delivery d;
	bool limited;

	x->highest = q->highest;
	x->delivered = q->count;
	r = (struct sstp_sample_mark){
		.at = at, .came = at, .delivered = x->delivered, .highest = x->highest,
		.sent = div_u64(x->sent[x->highest % LINE_RING], NSEC_PER_USEC),
	};
	rtt = at - r.sent;
	sstp_sample_report(&x->p, &r, rtt, flight, &d);
	limited = x->held || x->limited;
	if (x->held || (s32)(x->highest - x->limited_ship) >= 0) {
		x->limited = x->held;
		x->limited_ship = x->shipped;
	}
	x->held = false;
	/* The answer to a probe for lost packets measures no round-trip time. */
	if (!x->came[x->highest % LINE_RING])
		rtt = 0;
	else
		x->srtt = x->srtt - x->srtt / 8 + rtt / 8;
	line_sample(x, s);
	s->cwnd_limited = limited;
	s->flight = flight;
	s->rtt = rtt;
	s->prior_in_flight = flight;
	s->delivered = x->delivered - had;
	s->lost = x->highest - was - s->delivered;
	s->lost_ranges = min(s->lost, SSTP_SHIP_RANGES);
	for (ship = x->highest; s->lost && x->came[ship % LINE_RING]; ship--)
		;
	s->lost_ship = ship;
	s->rate_delivered = d.packets;
	s->rate_interval = d.interval;
	s->rate_prior = d.prior;
	s->tx_in_flight = d.flight;
	s->tx_lost = d.lost;
}

static void line_take_report(struct line_flow *x)
{
	struct sstp_ctrl_sample s;

	line_report_sample(x, &x->report[x->taken % LINE_REPORTS], &s);
	x->taken++;
	x->ops->on_ack(&x->c, &s);
	if (s.lost && x->ops->on_loss)
		x->ops->on_loss(&x->c, &s);
	if (x->look)
		x->look(x);
}

/* When the next packet of @x comes, ns. A lost packet is noticed when the next one comes; if all
 * that are under way were lost, a probe asks for a report.
 */
static u64 line_comes(struct line_flow *x)
{
	while (x->arrived != x->shipped && !x->came[(x->arrived + 1) % LINE_RING])
		x->arrived++;
	if (x->arrived == x->shipped && x->told != x->shipped &&
	    x->shipped - x->highest >= x->c.cwnd)
		line_make_report(x, x->line->now + 2ULL * x->srtt * NSEC_PER_USEC);
	return x->arrived == x->shipped ? U64_MAX : x->came[(x->arrived + 1) % LINE_RING];
}

static u64 line_reported(const struct line_flow *x)
{
	return x->taken == x->made ? U64_MAX : x->report[x->taken % LINE_REPORTS].at;
}

/* Let @x do what is due now. Returns when something is due next, ns. */
static u64 line_step(struct line_flow *x)
{
	u64 now = x->line->now;

	if (now < x->start)
		return x->start;
	if (x->start)
		line_begin(x);
	if (line_comes(x) <= now)
		line_arrive(x);
	if (line_reported(x) <= now)
		line_take_report(x);
	line_push(x);
	now = x->shipped - x->highest < x->c.cwnd ? x->next : U64_MAX;
	return min3(now, line_comes(x), line_reported(x));
}

u32 line_run(struct line_sim *l, u32 ms)
{
	u64 end = l->now + (u64)ms * NSEC_PER_MSEC, next;
	u32 count = 0, i;

	for (i = 0; i < l->flows; i++)
		l->flow[i]->got = -l->flow[i]->count;
	l->shipped = 0;
	l->waited = 0;
	l->most = 0;
	while (l->now < end) {
		next = end;
		for (i = 0; i < l->flows; i++)
			next = min(next, line_step(l->flow[i]));
		l->now = max(next, l->now);
	}
	for (i = 0; i < l->flows; i++) {
		l->flow[i]->got += l->flow[i]->count;
		count += l->flow[i]->got;
	}
	return div64_u64((u64)count * 1000000, (u64)l->rate * ms);
}

u32 line_queue(const struct line_sim *l)
{
	return div_u64(l->waited, max(l->shipped, 1U));
}
