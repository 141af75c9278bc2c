// SPDX-License-Identifier: GPL-2.0
/*
 * newreno: growth packet by packet, and a path whose every loss is known, so that each cut of
 * the window can be compared with the losses.
 */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_newreno.c"
#include "../window.c"

#define NEWRENO_PATH	4096	/* shipments remembered; a power of two */

/**
 * struct newreno_conn - a connection
 * @c: its controller
 * @s: sample, without the members of a single report
 */
struct newreno_conn {
	struct sstp_ctrl c;
	struct sstp_ctrl_sample s;
};

static void newreno_start(struct newreno_conn *n)
{
	memset(n, 0, sizeof(*n));
	n->s.min_rtt = U32_MAX;
	n->s.cwnd_limited = true;
	n->s.flight = SSTP_WINDOW_MAX;
	sstp_ctrl_newreno.init(&n->c, &n->s);
}

/* A PACK. */
static void newreno_ack(struct newreno_conn *n, u32 delivered, u32 highest)
{
	struct sstp_ctrl_sample s = n->s;

	s.delivered = delivered;
	s.highest = highest;
	sstp_ctrl_newreno.on_ack(&n->c, &s);
}

/* A SNAK. */
static void newreno_snak(struct newreno_conn *n, u32 lost, u32 highest)
{
	struct sstp_ctrl_sample s = n->s;

	s.lost = lost;
	s.lost_ship = highest;
	s.highest = highest;
	sstp_ctrl_newreno.on_ack(&n->c, &s);
	sstp_ctrl_newreno.on_loss(&n->c, &s);
}

static void newreno_timeout(struct newreno_conn *n)
{
	sstp_ctrl_newreno.on_timeout(&n->c, &n->s);
}

/* Growth for one acknowledged packet by RFC 5681 */
static void newreno_packet(u32 *cwnd, u32 *count, u32 ssthresh)
{
	if (*cwnd < ssthresh) {
		++*cwnd;
	} else if (++*count == *cwnd) {
		++*cwnd;
		*count = 0;
	}
}

/* The window grows by one for each packet up to ssthresh, then by one for each window, however
 * few reports there are.
 */
static void newreno_growth(struct kunit *test)
{
	u32 n, i, k, cwnd, count, ssthresh, delivered, highest;
	struct newreno_conn x;
	struct rnd_state r;

	sstp_test_seed_rnd(test, &r);
	for (n = 0; n < 200; n++) {
		newreno_start(&x);
		highest = sstp_rnd_edge(&r);
		cwnd = 10;
		count = 0;
		ssthresh = SSTP_WINDOW_MAX;
		if (n % 4) {
			/* Grow to some window, then halve it. */
			delivered = sstp_rnd_below(&r, 2000);
			newreno_ack(&x, delivered, highest);
			x.s.shipped = highest;
			newreno_snak(&x, 1, highest);
			ssthresh = (10 + delivered) / 2;
			cwnd = ssthresh;
			if (n % 4 == 3) {
				newreno_start(&x);
				newreno_ack(&x, delivered, highest);
				x.s.shipped = highest;
				newreno_timeout(&x);
				cwnd = 2;
			}
			/* The round of the cut passes. */
			highest += 100;
			newreno_ack(&x, 0, highest);
			newreno_ack(&x, 0, ++highest);
		}
		for (i = 0; i < 2000; i++) {
			KUNIT_ASSERT_EQ_MSG(test, x.c.cwnd, cwnd,
					    "run %u, report %u", n, i);
			if (n % 4 == 0 && i > 20)
				break;
			delivered = sstp_rnd_below(&r, cwnd + 1);
			x.s.cwnd_limited = !sstp_rnd_one_in(&r, 4);
			x.s.flight = x.s.cwnd_limited ? cwnd : cwnd / 2;
			for (k = 0; x.s.cwnd_limited && k < delivered; k++)
				newreno_packet(&cwnd, &count, ssthresh);
			highest += delivered;
			newreno_ack(&x, delivered, highest);
		}
	}
}

/* If pacing keeps the window from being used, slow start goes on as long as half of the window
 * is used, but congestion avoidance does not. Below that nothing grows.
 */
static void newreno_paced(struct kunit *test)
{
	static const struct {
		u32 flight;
		u32 cwnd, later;	/* of 20, in slow start; later, if held back */
	} t[] = {
		{ 0, 20, 20 }, { 10, 20, 20 }, { 11, 25, 21 }, { 20, 25, 21 },
		{ U32_MAX, 25, 21 },
	};
	struct newreno_conn x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		newreno_start(&x);
		x.c.cwnd = 20;
		x.s.cwnd_limited = false;
		x.s.flight = t[i].flight;
		newreno_ack(&x, 5, 7);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
		x.c.cwnd = 20;
		sstp_newreno(&x.c)->ssthresh = 20;
		newreno_ack(&x, 20, 7);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, 20U, "row %u", i);
		x.s.cwnd_limited = true;
		newreno_ack(&x, 20, 7);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].later, "row %u", i);
	}
}

static void newreno_cuts(struct kunit *test)
{
	static const struct {
		u32 cwnd;
		u32 loss;
	} t[] = {
		{ 2, 2 }, { 3, 2 }, { 4, 2 }, { 5, 2 }, { 6, 3 }, { 7, 3 },
		{ 10, 5 }, { 1001, 500 }, { SSTP_WINDOW_MAX,
		  SSTP_WINDOW_MAX / 2 },
	};
	struct newreno_conn x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		newreno_start(&x);
		x.c.cwnd = t[i].cwnd;
		newreno_snak(&x, 1, 7);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].loss, "row %u", i);

		/* A time-out: slow start to half of the old window. */
		newreno_start(&x);
		x.c.cwnd = t[i].cwnd;
		newreno_timeout(&x);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, 2U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_newreno(&x.c)->ssthresh,
				    t[i].loss, "row %u", i);
		/* Another time-out, and losses before it, are no new sign of
		 * congestion.
		 */
		newreno_timeout(&x);
		newreno_snak(&x, 1, x.s.shipped);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, 2U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_newreno(&x.c)->ssthresh,
				    t[i].loss, "row %u", i);

		/* A time-out in the round of a cut. */
		newreno_start(&x);
		x.c.cwnd = t[i].cwnd;
		newreno_snak(&x, 1, 7);
		newreno_timeout(&x);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, 2U, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_newreno(&x.c)->ssthresh,
				    t[i].loss, "row %u", i);
	}
}

/* In the round of a cut the window does not grow, and packets counted before are forgotten;
 * after a time-out it grows at once.
 */
static void newreno_held(struct kunit *test)
{
	struct newreno_conn x;
	u32 base;

	for (base = -100; base != 20; base += 10) {
		newreno_start(&x);
		x.c.cwnd = 10;
		sstp_newreno(&x.c)->ssthresh = 10;
		newreno_ack(&x, 9, base);
		x.s.shipped = base + 20;
		newreno_snak(&x, 1, base + 10);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 5U);
		newreno_ack(&x, 9, base + 19);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 5U);
		newreno_ack(&x, 4, base + 20);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 5U);
		newreno_ack(&x, 1, base + 21);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 6U);
		x.s.shipped = base + 60;
		newreno_timeout(&x);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
		newreno_ack(&x, 1, base + 40);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 3U);
	}
}

/* The window never leaves its bounds, whatever a peer reports. */
static void newreno_any(struct kunit *test)
{
	struct newreno_conn x;
	struct rnd_state r;
	u32 i;

	sstp_test_seed_rnd(test, &r);
	newreno_start(&x);
	for (i = 0; i < 100000; i++) {
		x.s.shipped = sstp_rnd_edge(&r);
		x.s.srtt = sstp_rnd_below(&r, 60000001);
		x.s.cwnd_limited = sstp_rnd_one_in(&r, 2);
		switch (sstp_rnd_below(&r, 16)) {
		case 0:
			newreno_timeout(&x);
			break;
		case 1:
			newreno_snak(&x, sstp_rnd_edge(&r), sstp_rnd_edge(&r));
			break;
		default:
			newreno_ack(&x, sstp_rnd_edge(&r), sstp_rnd_edge(&r));
		}
		KUNIT_ASSERT_GE(test, x.c.cwnd, SSTP_WINDOW_MIN);
		KUNIT_ASSERT_LE(test, x.c.cwnd, SSTP_WINDOW_MAX);
	}
}

/* The period sends a window in half a round trip during slow start, later in 5/6 of one. */
static void newreno_period(struct kunit *test)
{
	static const struct {
		u32 cwnd;
		u32 ssthresh;
		u32 srtt;
		u64 period;
	} t[] = {
		{ 10, 20, 0, 0 },
		{ 10, 20, 10000, 250000 },
		{ 64, 65, 10000, 39062 },
		{ 65, 66, 10000, 39062 },
		{ 128, 129, 10000, 39062 },
		{ 129, 130, 10000, 38759 },
		{ 20, 20, 10000, 416666 },
		{ 2, 2, 60000000, 25000000000ULL },
		{ SSTP_WINDOW_MAX, SSTP_WINDOW_MAX, 60000000, 2980 },
		{ SSTP_WINDOW_MAX - 1, SSTP_WINDOW_MAX, 60000000, 1788 },
	};
	struct newreno_conn x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		newreno_start(&x);
		x.c.cwnd = t[i].cwnd;
		sstp_newreno(&x.c)->ssthresh = t[i].ssthresh;
		x.s.srtt = t[i].srtt;
		newreno_ack(&x, 0, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.period, t[i].period, "row %u", i);
	}
}

/**
 * struct newreno_path - a sender whose packets arrive in order, or not at all
 * @loss: one in so many packets begins a row of losses
 * @row: most packets in such a row
 * @train: packets that arrive together
 * @every: packets to a report, if nothing is lost
 * @first: number of shipment 0
 * @shipped: index of the next shipment
 * @arrived: all shipments below this index have arrived or are lost
 * @reported: losses below this index were reported
 * @cut: shipments below this index left before the last cut
 */
struct newreno_path {
	u32	loss;
	u32	row;
	u32	train;
	u32	every;
	u32	first;
	u32	shipped;
	u32	arrived;
	u32	reported;
	u32	told;
	u32	delivered;
	u32	cut;
	u32	cuts;
	struct newreno_conn x;
	bool	lost[NEWRENO_PATH];
};

/* Report arrivals; a packet counts as lost when three later ones have come. */
static void newreno_report(struct kunit *test, struct newreno_path *p)
{
	u32 certain = p->arrived > 3 ? p->arrived - 3 : 0, last = 0, was;
	struct sstp_ctrl_sample s = p->x.s;

	s.delivered = p->delivered;
	s.highest = p->first + p->arrived - 1;
	for (; p->reported < certain; p->reported++)
		if (p->lost[p->reported % NEWRENO_PATH]) {
			s.lost++;
			last = p->reported;
		}
	if (!s.lost && p->arrived - p->told < p->every)
		return;
	p->told = p->arrived;
	p->delivered = 0;
	s.shipped = p->first + p->shipped - 1;
	sstp_ctrl_newreno.on_ack(&p->x.c, &s);
	if (!s.lost)
		return;
	was = p->x.c.cwnd;
	s.lost_ship = p->first + last;
	sstp_ctrl_newreno.on_loss(&p->x.c, &s);
	if (last < p->cut) {
		KUNIT_ASSERT_EQ(test, p->x.c.cwnd, was);
		return;
	}
	KUNIT_ASSERT_EQ_MSG(test, p->x.c.cwnd, max(was / 2, 2U),
			    "%u packets in a train, %u to a report", p->train,
			    p->every);
	p->cut = p->shipped;
	p->cuts++;
}

static void newreno_run(struct kunit *test, struct newreno_path *p,
			struct rnd_state *r)
{
	u32 row = 0, n, k;

	newreno_start(&p->x);
	while (p->shipped < 20000) {
		bool full = p->shipped - p->arrived >= p->x.c.cwnd ||
			    p->shipped - p->arrived >= NEWRENO_PATH / 2;

		if (!full) {
			if (!row && sstp_rnd_one_in(r, p->loss))
				row = sstp_rnd_range(r, 1, p->row);
			p->lost[p->shipped++ % NEWRENO_PATH] = row;
			row -= row > 0;
			continue;
		}
		p->x.s.cwnd_limited = true;
		n = min(p->train, p->shipped - p->arrived);
		for (k = 0; k < n; k++)
			p->delivered += !p->lost[(p->arrived + k) %
						 NEWRENO_PATH];
		p->arrived += n;
		newreno_report(test, p);
	}
}

/* Each cut is for a loss after the previous cut, and no such loss is left without one. */
static void newreno_rounds(struct kunit *test)
{
	struct newreno_path *p;
	struct rnd_state r;
	u32 n, cuts = 0;

	p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	sstp_test_seed_rnd(test, &r);
	for (n = 0; n < 200; n++) {
		memset(p, 0, sizeof(*p));
		p->loss = sstp_rnd_range(&r, 10, 2000);
		p->row = sstp_rnd_range(&r, 1, n % 2 ? 2 : 100);
		p->train = sstp_rnd_range(&r, 1, n % 3 ? 4 : 44);
		p->every = sstp_rnd_range(&r, 1, 64);
		p->first = sstp_rnd_edge(&r);
		newreno_run(test, p, &r);
		cuts += p->cuts;
	}
	KUNIT_EXPECT_GT(test, cuts, 1000U);
}

/* Packets declared lost turn out to be late: all or some, before or after other losses. */
static void newreno_undone(struct kunit *test)
{
	static const struct {
		u32 lost[2];
		u32 undue[2];
		bool timeout;
		u32 cwnd;
		u32 ssthresh;
	} t[] = {
		{ { 30 }, { 30 }, false, 100, SSTP_WINDOW_MAX },
		{ { 30 }, { 29, 1 }, false, 100, SSTP_WINDOW_MAX },
		{ { 30 }, { 29 }, false, 50, 50 },
		{ { 30, 1 }, { 30 }, false, 50, 50 },
		{ { 30, 1 }, { 30, 1 }, false, 100, SSTP_WINDOW_MAX },
		{ { 30 }, { 30 }, true, SSTP_WINDOW_MIN, 50 },
	};
	struct sstp_ctrl_sample late;
	struct newreno_conn x;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		newreno_start(&x);
		newreno_ack(&x, 90, 0);
		KUNIT_ASSERT_EQ(test, x.c.cwnd, 100U);
		x.s.shipped = 200;
		newreno_snak(&x, t[i].lost[0], 100);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 50U);
		/* Of the same flight */
		if (t[i].lost[1])
			newreno_snak(&x, t[i].lost[1], 150);
		if (t[i].timeout)
			newreno_timeout(&x);
		for (k = 0; k < 2; k++) {
			late = x.s;
			late.undue = t[i].undue[k];
			late.highest = 160;
			sstp_ctrl_newreno.on_ack(&x.c, &late);
		}
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_newreno(&x.c)->ssthresh,
				    t[i].ssthresh, "row %u", i);
	}
}

/* A mark halves the window once in a round trip, as a loss, and cannot be undone. */
static void newreno_marked(struct kunit *test)
{
	struct sstp_ctrl_sample s;
	struct newreno_conn x;
	u32 i;

	newreno_start(&x);
	newreno_ack(&x, 90, 0);
	for (i = 0; i < 3; i++) {
		x.s.shipped = 200;
		s = x.s;
		s.ce = 1;
		s.highest = 100 + i;
		s.lost_ship = s.highest;
		sstp_ctrl_newreno.on_ack(&x.c, &s);
		sstp_ctrl_newreno.on_loss(&x.c, &s);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 50U);
	}
	s = x.s;
	s.undue = 10;
	s.highest = 150;
	sstp_ctrl_newreno.on_ack(&x.c, &s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 50U);
	/* A mark confirms the cut for losses, which may have been only late. */
	x.s.shipped = 400;
	newreno_snak(&x, 2, 250);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 25U);
	s = x.s;
	s.ce = 1;
	s.highest = 260;
	s.lost_ship = 260;
	sstp_ctrl_newreno.on_loss(&x.c, &s);
	s.ce = 0;
	s.undue = 2;
	sstp_ctrl_newreno.on_ack(&x.c, &s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 25U);
}

/* A round trip as ctrl_sim_round() has it, after which a window has left */
static void newreno_round(struct ctrl_sim *x, u32 reports, u32 rtt)
{
	struct sstp_window *w = (struct sstp_window *)x->c.priv;

	ctrl_sim_round(x, reports, rtt);
	w->hystart.round_end = x->s.highest + x->c.cwnd;
}

/* HyStart++: in the first slow start the window doubles in each round trip while the lowest
 * round-trip time of one is less than an eighth above that of the one before, 4 ms at least and
 * 16 ms at most. From the eighth sample that is more, it grows by a quarter of the packets
 * delivered, for five round trips, unless the time was longer by chance.
 */
static void newreno_hystart(struct kunit *test)
{
	static const struct {
		u32 rtt, longer;	/* us */
		bool ends;
	} t[] = {
		{ 100000, 112499, false }, { 100000, 112500, true }, { 8000, 11999, false },
		{ 8000, 12000, true }, { 200000, 215999, false }, { 200000, 216000, true },
		{ 100000, 90000, false },
	};
	struct ctrl_sim x;
	u32 i, n, cwnd;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_newreno, t[i].rtt);
		x.c.cwnd = 32;
		for (n = 0; n < 3; n++)
			newreno_round(&x, 16, t[i].rtt);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, 256U, "row %u", i);
		/* Seven sixteenths of the round trip count in full, and a quarter of the others. */
		newreno_round(&x, 16, t[i].longer);
		cwnd = t[i].ends ? 256 + 7 * 16 + 9 * 4 : 512;
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, cwnd, "row %u", i);
		if (!t[i].ends)
			continue;
		for (n = 1; n < 5; n++) {
			KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), (s64)SSTP_WINDOW_MAX);
			newreno_round(&x, 16, t[i].longer);
			/* The last report ends it. */
			cwnd += cwnd / 4 * (n < 4 ? 16 : 15) / 16;
			KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, cwnd), 1U, "row %u", i);
			cwnd = x.c.cwnd;
		}
		KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), (s64)x.c.cwnd);
		cwnd = x.c.cwnd;
		newreno_round(&x, 16, t[i].longer);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd + 1);
	}
	/* By chance; and too few samples */
	ctrl_sim_start(&x, &sstp_ctrl_newreno, 50000);
	x.c.cwnd = 32;
	newreno_round(&x, 16, 50000);
	newreno_round(&x, 16, 80000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 64 + 7 * 4 + 9U);
	newreno_round(&x, 16, 50000);
	cwnd = x.c.cwnd;
	newreno_round(&x, 16, 50000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2 * cwnd);
	cwnd = x.c.cwnd;
	newreno_round(&x, 7, 200000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2 * cwnd);
	/* On a short path fewer samples come: half of 12 at 3 ms, and of 4 at 1 ms and less. */
	for (i = 0; i < 3; i++) {
		static const u32 rtt[] = { 3000, 1000, 50 };

		n = i ? 4 : 12;
		ctrl_sim_start(&x, &sstp_ctrl_newreno, rtt[i]);
		x.c.cwnd = 96;
		newreno_round(&x, n, rtt[i]);
		newreno_round(&x, n, rtt[i] + 4000);
		cwnd = 192 + 192 / n * (n / 2 - 1);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, cwnd + (192 - 192 / n * (n / 2 - 1)) / 4,
				    "row %u", i);
	}
}

static struct kunit_case newreno_cases[] = {
	KUNIT_CASE(newreno_growth),
	KUNIT_CASE(newreno_hystart),
	KUNIT_CASE(newreno_paced),
	KUNIT_CASE(newreno_cuts),
	KUNIT_CASE(newreno_held),
	KUNIT_CASE(newreno_any),
	KUNIT_CASE(newreno_period),
	KUNIT_CASE(newreno_rounds),
	KUNIT_CASE(newreno_undone),
	KUNIT_CASE(newreno_marked),
	{ }
};

static struct kunit_suite newreno_suite = {
	.name = "sstp_newreno",
	.test_cases = newreno_cases,
};

kunit_test_suite(newreno_suite);
