// SPDX-License-Identifier: GPL-2.0
/* paptc: its equations, with the paper's numbers, and both halves around a program that reads */
#include <linux/slab.h>
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_paptc.c"

/* (12): k^-gamma, gamma in 1/1000, as floating point has it, 24 fractional bits */
static void paptc_steps(struct kunit *test)
{
	static const struct {
		u32 k, gamma, power;
	} t[] = {
		{ 1, 501, 16777216 }, { 1, 700, 16777216 }, { 1, 999, 16777216 },
		{ 2, 501, 11855063 }, { 2, 700, 10327588 }, { 2, 999, 8394425 },
		{ 3, 501, 9675694 }, { 3, 700, 7775620 }, { 3, 999, 5598553 },
		{ 10, 501, 5293219 }, { 10, 700, 3347495 }, { 10, 999, 1681589 },
		{ 200, 501, 1180059 }, { 200, 700, 411149 }, { 200, 999, 84332 },
		{ 1000, 501, 526890 }, { 1000, 700, 133266 }, { 1000, 999, 16894 },
		{ 65537, 501, 64813 }, { 65537, 700, 7131 }, { 65537, 999, 259 },
		{ U32_MAX, 501, 250 }, { U32_MAX, 700, 3 }, { U32_MAX, 999, 0 },
	};
	struct sstp_ctrl c = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s64 off;

		c.param[SSTP_PAPTC_STEP_GAMMA] = t[i].gamma;
		off = (s64)sstp_paptc_step(&c, t[i].k) - t[i].power;
		KUNIT_EXPECT_LE_MSG(test, abs(off), t[i].power / 5000 + 2, "row %u: %lld", i, off);
	}
	c.param[SSTP_PAPTC_STEP_GAIN] = 2500;
	KUNIT_EXPECT_EQ(test, sstp_paptc_step(&c, 1), BIT_ULL(24) * 5 / 2);
	c.param[SSTP_PAPTC_STEP] = 500;
	KUNIT_EXPECT_EQ(test, sstp_paptc_step(&c, 1000), BIT_ULL(23));
}

/* (11): r_S, x of 1024, mu_R; mu* */
static void paptc_attainable(struct kunit *test)
{
	static const struct {
		u32 sent, again, read, found;
	} t[] = {
		{ 600000, 0, 600000, 600000 }, { 800000, 0, 200000, 400000 },
		{ 800000, 512, 400000, 400000 }, { 900000, 256, 300000, 450000 },
		{ 600000, 1024, 600000, 0 }, { 600000, U32_MAX, 600000, 0 },
		{ 0, 0, 600000, 0 }, { 600000, 0, 0, 0 },
		{ SSTP_PAPTC_RATE_MAX, 0, SSTP_PAPTC_RATE_MAX, SSTP_PAPTC_RATE_MAX },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_paptc_attainable(t[i].sent, t[i].again, t[i].read),
				    t[i].found, "row %u", i);
}

/* (12) with a step of 1/2: the rate falls where the program reads more than mu*, and rises where it
 * reads less. Without drift where no packet is sent again: whatever the rate is, it remains.
 */
static void paptc_paper(struct kunit *test)
{
	static const struct {
		u32 sent, again, read, rate;
	} t[] = {
		{ 800000, 512, 600000, 744948 }, { 800000, 0, 200000, 900000 },
		{ 600000, 0, 600000, 600000 }, { 100000, 0, 100000, 100000 },
		{ 800000, 256, 600000, 800000 }, { 600000, 0, 0, 600000 },
		/* Bounds */
		{ 1000, 1024, 600000, 2240 }, { SSTP_PAPTC_RATE_MAX, 0, 1, SSTP_PAPTC_RATE_MAX },
	};
	struct sstp_paptc p = { .payload = 1400, .horizon = 10000 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s64 off;

		p.sent = t[i].sent;
		p.again = t[i].again;
		off = sstp_paptc_paper(&p, t[i].read, BIT_ULL(SSTP_PAPTC_SHIFT - 1));
		off -= t[i].rate;
		KUNIT_EXPECT_LE_MSG(test, abs(off), 1, "row %u: %lld", i, off);
	}
}

/* mu, T, q*, q, packets refused; r */
static void paptc_law(struct kunit *test)
{
	static const struct {
		u32 forecast, horizon, wanted, queue, refused, rate;	/* q' is q here */
	} t[] = {
		{ 600000, 10000, 100000, 100000, 0, 600000 },
		{ 600000, 10000, 100000, 50000, 0, 640000 },
		{ 600000, 10000, 100000, 200000, 0, 520000 },
		/* Nothing waited: by a part of mu at least, or by more to fill the queue */
		{ 600000, 50000, 100000, 0, 0, 750000 },
		{ 100000, 10000, 100000, 0, 0, 180000 },
		/* No room: half of what waits is wanted. */
		{ 600000, 10000, 500000, 100000, 1, 560000 },
		{ 600000, 10000, 20000, 100000, 1, 536000 },
		/* Bounds: two packets in T */
		{ 600000, 10000, 100000, 10000000, 0, 2240 }, { 0, 10000, 0, 1, 0, 2240 },
		{ 0, 10000, 22400, 0, 0, 17920 },
		{ SSTP_PAPTC_RATE_MAX, 1000, S32_MAX, 0, 0, SSTP_PAPTC_RATE_MAX },
	};
	struct sstp_paptc p = { .payload = 1400 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		p.forecast = t[i].forecast;
		p.horizon = t[i].horizon;
		p.wanted = t[i].wanted;
		p.queue = t[i].queue;
		p.ahead = t[i].queue;
		p.refused = t[i].refused;
		KUNIT_EXPECT_EQ_MSG(test, sstp_paptc_law(&p), t[i].rate, "row %u", i);
	}
	KUNIT_EXPECT_EQ(test, sstp_paptc_wanted(600000, 12000, 1400, 0), 225000U);
	KUNIT_EXPECT_EQ(test, sstp_paptc_wanted(600000, 100000, 1400, 0), 375000U);
	KUNIT_EXPECT_EQ(test, sstp_paptc_wanted(600000, 100000, 1400, 1000), 75000U);
	KUNIT_EXPECT_EQ(test, sstp_paptc_wanted(1000, 12000, 1400, 0), 22400U);
}

/* mu, round-trip time, q, bytes on their way; q' */
static void paptc_ahead(struct kunit *test)
{
	static const struct {
		u32 forecast, rtt, queue;
		u64 flight;
		u32 ahead;
	} t[] = {
		{ 600000, 20000, 100000, 1500000, 100000 },
		/* The program became slower: what is on its way will wait. */
		{ 300000, 20000, 100000, 1500000, 850000 },
		{ 300000, 20000, 850000, 0, 100000 },
		/* It became faster, or the sender has nothing to send. */
		{ 600000, 20000, 100000, 750000, 0 }, { 600000, 20000, 2000000, 750000, 1250000 },
		{ 0, 0, 1, 2, 3 }, { 0, 1, 0, U64_MAX, S32_MAX },
		{ SSTP_PAPTC_RATE_MAX, 60000000, 7, 7, 0 },
	};
	struct sstp_paptc p = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		p.forecast = t[i].forecast;
		p.queue = t[i].queue;
		KUNIT_EXPECT_EQ_MSG(test, sstp_paptc_ahead(&p, t[i].flight, t[i].rtt), t[i].ahead,
				    "row %u", i);
	}
}

#define PAPTC_MS	4096U	/* of history, more than any way takes */

/**
 * struct paptc_sim - a sender, a path without losses, and a program that reads, in steps of 1 ms
 * @x: the sending half
 * @r: the receiving half
 * @s: its sample
 * @way: ms of a way
 * @buffer: bytes that may be sent and not read, as far as the sender knows
 * @rate: kbit/s at which the program reads
 * @ms: time
 * @time: ns in which packets could have left
 * @sent: bytes in all, by time
 * @read: the same that the program read
 * @told: feedback, by the time when it left
 * @lost: feedback is lost
 */
struct paptc_sim {
	struct ctrl_sim x;
	struct sstp_recv r;
	struct sstp_recv_sample s;
	u32	way;
	u32	buffer;
	u32	rate;
	u32	ms;
	u64	time;
	u64	sent[PAPTC_MS];
	u64	read[PAPTC_MS];
	struct sstp_feedback told[PAPTC_MS];
	bool	lost;
};

/* The number at @of that belongs to @ago ms before now */
static u64 paptc_was(const struct paptc_sim *q, const u64 *of, u32 ago)
{
	return q->ms >= ago ? of[(q->ms - ago) % PAPTC_MS] : 0;
}

static struct paptc_sim *paptc_start(struct kunit *test, u32 way, u32 rate)
{
	struct paptc_sim *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, q);
	ctrl_sim_start(&q->x, &sstp_ctrl_paptc, 2 * way * USEC_PER_MSEC);
	q->way = way;
	q->buffer = 1000000 + rate / 8 * 2 * way;
	q->rate = rate;
	q->s.srtt = 2 * way * USEC_PER_MSEC;
	q->s.packet_size = 1500;
	sstp_ctrl_paptc.recv_init(&q->r, &q->s);
	return q;
}

static void paptc_end(struct paptc_sim *q)
{
	sstp_ctrl_paptc.recv_release(&q->r);
	sstp_ctrl_paptc.release(&q->x.c);
}

/* Send for 1 ms: by the period, the window, and what the receiver has room for. */
static void paptc_send(struct paptc_sim *q)
{
	u64 sent = paptc_was(q, q->sent, 1), known = paptc_was(q, q->read, q->way + 1);
	u64 acked = paptc_was(q, q->sent, 2 * q->way + 1), most, packets;
	struct sstp_ctrl_packets left = {};

	most = min(known + q->buffer, acked + q->x.c.cwnd * 1434ULL);
	packets = div_u64(most - min(sent, most), 1434);
	q->time += NSEC_PER_MSEC;
	if (q->x.c.period)
		packets = min(packets, div64_u64(q->time, q->x.c.period));
	q->time = min(q->time - packets * q->x.c.period, max(q->x.c.period, 1ULL * NSEC_PER_MSEC));
	q->sent[q->ms % PAPTC_MS] = sent + packets * 1434;
	left.packets = packets;
	left.bytes = packets * 1434;
	sstp_ctrl_paptc.on_pkt_sent(&q->x.c, &q->x.s, &left);
	q->x.s.shipped += packets;
}

/* Data comes, and the program reads for 1 ms, and then the timer. */
static void paptc_receive(struct paptc_sim *q)
{
	u64 came = paptc_was(q, q->sent, q->way), was = paptc_was(q, q->sent, q->way + 1);
	u64 read = paptc_was(q, q->read, 1), most = read + q->rate / 8;
	const struct sstp_ctrl_packets p = { .packets = 1, .bytes = 1434 };

	q->s.now = q->x.s.now;
	q->s.received += div_u64(came - was + 1433, 1434);
	q->s.bytes = came;
	if (came > was)
		sstp_ctrl_paptc.recv_packets(&q->r, &q->s, &p);
	q->s.unread += came >= most ? NSEC_PER_MSEC :
			div_u64((came - read) * NSEC_PER_MSEC, max(most - read, 1ULL));
	read = min(came, most);
	q->s.served = read;
	q->s.lowest = min_t(u64, q->s.lowest, came - read);
	q->read[q->ms % PAPTC_MS] = read;
	q->told[q->ms % PAPTC_MS].valid = false;
	if (!q->r.timer || q->s.now < q->r.timer)
		return;
	q->r.timer = 0;
	sstp_ctrl_paptc.recv_timer(&q->r, &q->s);
	q->s.lowest = came - read;
	q->told[q->ms % PAPTC_MS] = q->r.feedback;
	q->r.feedback.valid = false;
}

/* A report each ms; the service rate is that of the last 10 ms. */
static void paptc_report(struct paptc_sim *q)
{
	u64 acked = paptc_was(q, q->sent, 2 * q->way), was = paptc_was(q, q->sent, 2 * q->way + 1);
	struct sstp_ctrl_sample *s = &q->x.s;

	memset(&s->feedback, 0, sizeof(s->feedback));
	if (!q->lost && q->ms >= q->way)
		s->feedback = q->told[(q->ms - q->way) % PAPTC_MS];
	s->service_rate = (paptc_was(q, q->read, q->way) - paptc_was(q, q->read, q->way + 10)) *
			  800;
	s->flight = div_u64(paptc_was(q, q->sent, 0) - was, 1434);
	s->in_flight = div_u64(paptc_was(q, q->sent, 0) - acked, 1434);
	ctrl_sim_ack(&q->x, div_u64(acked - was + 1433, 1434), s->srtt);
}

static void paptc_run(struct paptc_sim *q, u32 ms)
{
	for (; ms; ms--) {
		q->ms++;
		q->x.s.now += NSEC_PER_MSEC;
		paptc_send(q);
		paptc_receive(q);
		paptc_report(q);
	}
}

/* kbit/s that was sent in the last @ms */
static u32 paptc_sent(const struct paptc_sim *q, u32 ms)
{
	return div_u64((paptc_was(q, q->sent, 0) - paptc_was(q, q->sent, ms)) * 8, ms);
}

/* Bytes that wait for the program */
static u32 paptc_queue(const struct paptc_sim *q)
{
	return paptc_was(q, q->sent, q->way) - paptc_was(q, q->read, 0);
}

/* The program reads @rate from now on; T is @round ms. */
static void paptc_change(struct kunit *test, struct paptc_sim *q, u32 rate, u32 round)
{
	u32 wanted = rate / 8 / 4 * min(round, 20U), sent, i;
	u64 queue = 0;
	s64 off;

	q->rate = rate;
	paptc_run(q, 6 * round);
	sent = paptc_sent(q, round);
	off = abs((s64)sent - rate);
	KUNIT_EXPECT_LE_MSG(test, off, rate / 10, "way %u: %u", q->way, sent);
	for (i = 0; i < 1000; i++) {
		paptc_run(q, 1);
		queue += paptc_queue(q);
	}
	sent = paptc_sent(q, 1000);
	off = (s64)rate - sent;
	KUNIT_EXPECT_LE_MSG(test, off, rate / 50, "way %u: %u", q->way, sent);
	queue = div_u64(queue, 1000);
	KUNIT_EXPECT_LE_MSG(test, queue, 2 * wanted, "way %u", q->way);
}

/* A program reads 600, then 300, then 600 Mbit/s: after 5 T the rate is within 10% of that, and
 * what waits is twice q* on average at most, where the buffer is full with a window alone.
 */
static void paptc_follows(struct kunit *test)
{
	static const u32 ways[] = { 1, 5, 10, 25, 50 }, rates[] = { 600000, 300000, 600000 };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		struct paptc_sim *q = paptc_start(test, ways[i], rates[0]);
		u32 length = sstp_meter_length(q->s.srtt) / NSEC_PER_MSEC;
		u32 round = 2 * ways[i] + length;

		paptc_run(q, 2000);
		for (j = 0; j < ARRAY_SIZE(rates); j++)
			paptc_change(test, q, rates[j], round);
		paptc_end(q);
	}
}

/* Without feedback hybrid decides: the rate is forgotten, the buffer is full, and nothing stops. */
static void paptc_lost(struct kunit *test)
{
	struct paptc_sim *q = paptc_start(test, 10, 600000);

	paptc_run(q, 2000);
	KUNIT_EXPECT_GT(test, ctrl_sim_state(&q->x, 0), 0LL);
	q->lost = true;
	q->rate = 300000;
	paptc_run(q, 1000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&q->x, 0), 0LL);
	q->rate = 600000;
	paptc_run(q, 1000);
	KUNIT_EXPECT_GE(test, paptc_sent(q, 500), 590000U);
	KUNIT_EXPECT_GE(test, paptc_queue(q), 900000U);
	q->lost = false;
	paptc_run(q, 2000);
	KUNIT_EXPECT_LE(test, paptc_queue(q), 500000U);
	KUNIT_EXPECT_GE(test, paptc_sent(q, 500), 590000U);
	paptc_end(q);
}

/* The paper's law does not find what the program reads: it began with 100 of 600 Mbit/s, and
 * uses no more.
 */
static void paptc_paper_rests(struct kunit *test)
{
	struct paptc_sim *q = paptc_start(test, 10, 600000);
	struct sstp_paptc *p = sstp_paptc_priv(&q->x.c);

	q->x.c.param[SSTP_PAPTC_LAW] = 1;
	q->x.c.param[SSTP_PAPTC_STEP] = 500;
	p->following = true;
	p->rate = 100000;
	p->told_at = q->x.s.now;
	paptc_run(q, 3000);
	KUNIT_EXPECT_LE(test, paptc_sent(q, 500), 110000U);
	KUNIT_EXPECT_GT(test, p->steps, 200U);
	paptc_end(q);
}

/* Any feedback: the rate is never so low that nothing leaves, nor beyond the window. */
static void paptc_hostile(struct kunit *test)
{
	struct sstp_ctrl_packets left = {};
	struct ctrl_sim x;
	struct rnd_state r;
	u32 i;

	sstp_test_seed_rnd(test, &r);
	ctrl_sim_start(&x, &sstp_ctrl_paptc, 20000);
	for (i = 0; i < sstp_test_rounds(20000); i++) {
		x.s.now += sstp_rnd_range(&r, 1, 50 * NSEC_PER_MSEC);
		left.packets = sstp_rnd_range(&r, 1, 64);
		left.bytes = sstp_rnd_range(&r, left.packets, 65536 * left.packets);
		left.again = sstp_rnd_below(&r, 2);
		sstp_ctrl_paptc.on_pkt_sent(&x.c, &x.s, &left);
		x.c.param[SSTP_PAPTC_LAW] = sstp_rnd_below(&r, 2);
		x.s.service_rate = sstp_rnd_edge(&r) * 1000ULL;
		x.s.feedback = (struct sstp_feedback){
			.valid = true,
			.forecast = min(sstp_rnd_edge(&r), 1000000000U),
			.horizon = clamp(sstp_rnd_edge(&r), 1U, 60000U),
			.queue = min(sstp_rnd_edge(&r), 1U << 30),
			.refused = min(sstp_rnd_edge(&r), 1U << 30),
		};
		ctrl_sim_ack(&x, sstp_rnd_below(&r, 100), 20000);
		/* A packet in 2 (20 + 1) ms + 1 s: two, at a rate rounded down to kbit/s */
		KUNIT_ASSERT_LE(test, x.c.period, 1042 * NSEC_PER_MSEC);
		KUNIT_ASSERT_GE(test, x.c.period, 20000000ULL * 5 / 6 / x.c.cwnd / 4);
	}
	sstp_ctrl_paptc.release(&x.c);
}

/* Without memory for hybrid the window is as small as at first, also if the core has raised it to
 * what the controller before had in flight.
 */
static void paptc_no_memory(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_paptc, 20000);
	sstp_ctrl_paptc.release(&x.c);
	sstp_paptc_priv(&x.c)->hybrid = NULL;
	x.c.cwnd = 10000;
	ctrl_sim_ack(&x, 10, 20000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, (u32)SSTP_WINDOW_INIT);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 7), 0LL);
	sstp_ctrl_paptc.release(&x.c);
}

/* Rates of a second in steps of 50 ms, in Mbit/s: bursts, and what is none */
static void paptc_bursts(struct kunit *test)
{
	static const struct {
		u32 epochs;	/* that count; 0 = no bursts */
		u16 rate[20];
	} t[] = {
		{ 100, { 500, 500, 0, 0, 0, 0, 0, 0, 0, 0, 500, 500 } },
		{ 100, { 0, 0, 0, 0, 0, 0, 0, 0, 500, 500, 0, 0, 0, 0, 0, 0, 0, 0, 500, 500 } },
		{ 100, { 0, 0, 0, 0, 0, 500, 500, 0 } },
		/* Twice the time between ends of bursts, or since the last; 20 epochs at least */
		{ 20, { 500, 0, 500, 0, 500, 0, 500, 0, 500, 0, 500, 0, 500, 0, 500, 0, 500, 0,
			500, 0 } },
		{ 40, { 500, 500, 500, 0, 500, 500, 500, 0, 500, 500, 500, 0, 500, 500, 500, 0,
			500, 500, 500, 0 } },
		{ 60, { 500, 500, 500, 0, 500, 500, 500, 0, 500, 500, 500, 0, 500, 500, 0, 500,
			500, 500, 500, 500 } },
		/* A single change, or too small ones */
		{ 0, { 500, 500, 500, 500, 500, 500, 500, 500 } },
		{ 0, { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
		{ 0, { 5, 3, 5, 2, 5, 2, 5, 2, 5, 2, 5, 3, 5, 2, 5, 2, 5, 2, 5, 2 } },
		{ 0, {} },
	};
	u32 i, j, turn;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		/* The ring may begin anywhere. */
		for (turn = 0; turn < SSTP_PAPTC_EPOCHS_MAX; turn++) {
			struct sstp_feedback f = { .forecast = 7, .horizon = 20, .queue = 1000 };
			struct sstp_paptc_half *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
			u32 sum = 0, n = t[i].epochs;

			KUNIT_ASSERT_NOT_NULL(test, h);
			h->length = SSTP_METER_EPOCH_MIN;
			h->epochs = SSTP_PAPTC_EPOCHS_MAX + turn;
			for (j = 0; j < SSTP_PAPTC_EPOCHS_MAX; j++) {
				u32 rate = t[i].rate[j / 5] * 1000;

				h->past[(turn + j) % SSTP_PAPTC_EPOCHS_MAX] =
					(struct sstp_paptc_past){ rate, 500 + j };
				sum += j + n >= SSTP_PAPTC_EPOCHS_MAX ? rate : 0;
			}
			sstp_paptc_smooth(h, &f);
			KUNIT_EXPECT_EQ_MSG(test, f.forecast, n ? sum / n : 7,
					    "row %u, turn %u", i, turn);
			KUNIT_EXPECT_EQ(test, f.queue, n ? 600 - n : 1000U);
			KUNIT_EXPECT_EQ(test, f.horizon, 20 + 10 * n);
		}
	}
}

/* The receiving half looks at a program that rests less and less often, and tells it once; with
 * nothing left to read it stops until something comes.
 */
static void paptc_rests(struct kunit *test)
{
	struct paptc_sim *q = paptc_start(test, 10, 600000);
	u32 told = 0, buffer = q->buffer, i;

	paptc_run(q, 1000);
	q->rate = 0;
	q->buffer = 0;
	paptc_run(q, 200);
	for (i = 0; i < 1000; i++) {
		paptc_run(q, 1);
		told += q->told[q->ms % PAPTC_MS].valid;
	}
	KUNIT_EXPECT_EQ(test, told, 0U);
	KUNIT_EXPECT_GE(test, q->r.timer, q->s.now);
	/* It reads again: the sender goes on. */
	q->rate = 600000;
	q->buffer = buffer;
	paptc_run(q, 700);
	KUNIT_EXPECT_GE(test, paptc_sent(q, 100), 540000U);
	/* Nothing more comes. */
	q->buffer = 0;
	paptc_run(q, 1000);
	KUNIT_EXPECT_EQ(test, q->r.timer, 0ULL);
	paptc_end(q);
}

/* The round-trip time is a guess at first: epochs do not remain too long, or too short. */
static void paptc_guess(struct kunit *test)
{
	static const u32 guesses[] = { USEC_PER_SEC, 0 };
	u32 i, rtt;

	for (i = 0; i < ARRAY_SIZE(guesses); i++) {
		struct paptc_sim *q = paptc_start(test, 100, 600000);

		rtt = q->s.srtt;
		q->s.srtt = guesses[i];
		paptc_run(q, 1000);
		KUNIT_EXPECT_EQ(test, sstp_paptc_half(&q->r)->length,
				sstp_meter_length(guesses[i]));
		q->s.srtt = rtt;
		paptc_run(q, 200);
		KUNIT_EXPECT_EQ(test, sstp_paptc_half(&q->r)->length, sstp_meter_length(rtt));
		paptc_end(q);
	}
}

/* The round-trip time doubles and halves: epochs keep their length, and the forecast its past. */
static void paptc_swings(struct kunit *test)
{
	struct paptc_sim *q = paptc_start(test, 100, 600000);
	u32 rtt = q->s.srtt, epochs, i;

	paptc_run(q, 2000);
	q->s.srtt = rtt / 2;
	paptc_run(q, 500);
	epochs = sstp_paptc_half(&q->r)->epochs;
	for (i = 0; i < 20; i++) {
		q->s.srtt = i % 2 ? rtt / 2 : rtt;
		paptc_run(q, 100);
	}
	KUNIT_EXPECT_GE(test, sstp_paptc_half(&q->r)->epochs, epochs + 50);
	paptc_end(q);
}

static struct kunit_case paptc_cases[] = {
	KUNIT_CASE(paptc_steps),
	KUNIT_CASE(paptc_attainable),
	KUNIT_CASE(paptc_paper),
	KUNIT_CASE(paptc_law),
	KUNIT_CASE(paptc_ahead),
	KUNIT_CASE(paptc_follows),
	KUNIT_CASE(paptc_lost),
	KUNIT_CASE(paptc_paper_rests),
	KUNIT_CASE(paptc_hostile),
	KUNIT_CASE(paptc_no_memory),
	KUNIT_CASE(paptc_bursts),
	KUNIT_CASE(paptc_rests),
	KUNIT_CASE(paptc_guess),
	KUNIT_CASE(paptc_swings),
	{}
};

static struct kunit_suite paptc_suite = {
	.name = "sstp_paptc",
	.test_cases = paptc_cases,
};

kunit_test_suite(paptc_suite);
