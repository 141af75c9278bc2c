// SPDX-License-Identifier: GPL-2.0
/* dctcp: alpha against exact values, and the cuts that follow from it */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_dctcp.c"

#define DCTCP_ONE	BIT(SSTP_DCTCP_SHIFT)

/* A report of @delivered packets, @ce of them marked, and @lost others lost. */
static void dctcp_report(struct ctrl_sim *x, u32 delivered, u32 ce, u32 lost)
{
	struct sstp_ctrl_sample s;

	x->s.highest += delivered + lost;
	s = x->s;
	s.delivered = delivered;
	s.ce = ce;
	s.lost = lost;
	s.lost_ship = s.highest;
	x->ops->on_ack(&x->c, &s);
	if (ce || lost)
		x->ops->on_loss(&x->c, &s);
}

/* A round trip: @delivered packets in @reports reports; the first @ce of them come marked. */
static void dctcp_round(struct ctrl_sim *x, u32 delivered, u32 ce, u32 reports)
{
	u32 done = 0, i;

	x->s.shipped = x->s.highest + delivered;
	for (i = 1; i <= reports; i++) {
		u32 n = delivered * i / reports - done, marked = min(n, ce);

		/* The report that ends the round trip sees what was shipped in it. */
		if (i == reports)
			x->s.shipped += delivered;
		dctcp_report(x, n, marked, 0);
		done += n;
		ce -= marked;
	}
}

/* Windows of packets with marks, and alpha after each in millionths, with g = 1/16 and 1/4.
 * Computed with fractions: a = Fraction(1); a += (Fraction(ce, 1000) - a) * g
 */
static void dctcp_alpha(struct kunit *test)
{
	static const struct {
		u32 ce, alpha, quick;
	} t[] = {
		{ 0, 937500, 750000 }, { 0, 878906, 562500 }, { 0, 823974, 421875 },
		{ 1000, 834976, 566406 }, { 500, 814040, 549804 }, { 500, 794412, 537353 },
		{ 100, 751011, 428015 }, { 0, 704073, 321011 }, { 0, 660069, 240758 },
		{ 0, 618814, 180568 }, { 7, 580576, 137176 }, { 0, 544290, 102882 },
		{ 0, 510272, 77161 }, { 1000, 540880, 307871 }, { 1000, 569575, 480903 },
		{ 1000, 596476, 610677 }, { 3, 559384, 458758 }, { 250, 540047, 406568 },
		{ 250, 521919, 367426 }, { 250, 504924, 338069 }, { 250, 488992, 316052 },
		{ 250, 474055, 299539 }, { 0, 444426, 224654 }, { 0, 416649, 168490 },
		{ 0, 390609, 126368 }, { 0, 366196, 94776 }, { 1, 343371, 71332 },
		{ 1, 321973, 53749 }, { 1, 301912, 40561 }, { 1, 283105, 30671 },
	};
	struct ctrl_sim x;
	u32 i, k;

	for (k = 0; k < 2; k++) {
		ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
		x.c.param[SSTP_DCTCP_INVERSE_GAIN] = k ? 4 : 0;
		KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 1000000LL);
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			u32 want = k ? t[i].quick : t[i].alpha;

			ctrl_sim_avoid(&x, 1000);
			/* Alpha does not depend on how many reports there are. */
			dctcp_round(&x, 1000, t[i].ce, 1 + i % 7);
			KUNIT_EXPECT_LE_MSG(test, abs((s32)ctrl_sim_state(&x, 1) - (s32)want),
					    1, "row %u, want %u", i, want);
		}
	}
}

/* The largest inverse gain: small shares of marks count, and alpha falls without them. */
static void dctcp_slow(struct kunit *test)
{
	static const struct {
		u32 ce, rounds, alpha;
	} t[] = {
		/* (1 - 2^-16)^rounds, and 1% of (1 - that) in addition */
		{ 0, 3 << 16, 49786 }, { 0, 3 << 16, 2479 }, { 10, 1 << 16, 7233 },
	};
	struct ctrl_sim x;
	u32 i, n;

	ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
	x.c.param[SSTP_DCTCP_INVERSE_GAIN] = 65536;
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		for (n = 0; n < t[i].rounds; n++)
			dctcp_round(&x, 1000, t[i].ce, 1);
		/* An update loses up to two 2^-31, which add up to 2^-15 / 2^-31. */
		KUNIT_EXPECT_LE_MSG(test, abs((s32)ctrl_sim_state(&x, 1) - (s32)t[i].alpha), 63,
				    "row %u, is %lld", i, ctrl_sim_state(&x, 1));
	}
}

/* Alpha stays in [0, 1], comes down to 0 but for rounding, and ignores windows without reports. */
static void dctcp_bounds(struct kunit *test)
{
	struct ctrl_sim x;
	u32 i;

	ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
	for (i = 0; i < 100; i++) {
		dctcp_round(&x, 100, 100, 4);
		KUNIT_ASSERT_LE(test, sstp_dctcp_priv(&x.c)->alpha, DCTCP_ONE);
	}
	KUNIT_EXPECT_GE(test, sstp_dctcp_priv(&x.c)->alpha, DCTCP_ONE - 32);
	for (i = 0; i < 300; i++)
		dctcp_round(&x, 100, 0, 4);
	KUNIT_EXPECT_LE(test, sstp_dctcp_priv(&x.c)->alpha, SSTP_DCTCP_GAIN);
	for (i = 0; i < 10; i++)
		dctcp_round(&x, 0, 0, 1);
	KUNIT_EXPECT_LE(test, sstp_dctcp_priv(&x.c)->alpha, SSTP_DCTCP_GAIN);
}

/* A window, alpha, marks and losses of a report, and the window that they leave */
static void dctcp_cuts(struct kunit *test)
{
	static const struct {
		u32 cwnd, alpha, ce, lost, then;
	} t[] = {
		{ 1000, DCTCP_ONE, 1, 0, 500 },
		{ 1000, DCTCP_ONE / 2, 1, 0, 750 },
		{ 1000, DCTCP_ONE / 8, 1, 0, 938 },
		{ 1000, DCTCP_ONE / 1024, 1, 0, 1000 },
		{ 100000, DCTCP_ONE / 1024, 1, 0, 99952 },
		{ 1000, 0, 1, 0, 1000 },
		{ SSTP_WINDOW_MAX, DCTCP_ONE, 1, 0, SSTP_WINDOW_MAX / 2 },
		{ 3, DCTCP_ONE, 1, 0, 2 }, { 2, DCTCP_ONE, 1, 0, 2 },
		/* A loss halves it, section 3.5. */
		{ 1000, DCTCP_ONE / 8, 0, 1, 500 },
		{ 1000, DCTCP_ONE / 8, 1, 1, 500 },
		{ 1000, DCTCP_ONE / 8, 0, 0, 1000 },
	};
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
		ctrl_sim_avoid(&x, t[i].cwnd);
		sstp_dctcp_priv(&x.c)->alpha = t[i].alpha;
		/* The observation window does not end in this report. */
		sstp_dctcp_priv(&x.c)->end = 1000;
		x.s.shipped = 1000;
		dctcp_report(&x, 1, t[i].ce, t[i].lost);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u", i);
		/* Once in a window */
		dctcp_report(&x, 1, t[i].ce, t[i].lost);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].then, "row %u, again", i);
	}
}

/* A report that has the loss of shipment @ship; the window is then expected to be @then. */
static void dctcp_lost(struct kunit *test, struct ctrl_sim *x, u32 ship, u32 then)
{
	struct sstp_ctrl_sample s = x->s;

	s.lost = 1;
	s.lost_ship = ship;
	x->ops->on_ack(&x->c, &s);
	x->ops->on_loss(&x->c, &s);
	KUNIT_EXPECT_EQ_MSG(test, x->c.cwnd, then, "shipment %u", ship);
}

/* A round trip begins with a window of @cwnd, which marks cut, but by nothing as alpha is 0. */
static void dctcp_marked(struct ctrl_sim *x, u32 cwnd)
{
	x->s.highest = x->s.shipped + 10;
	x->s.shipped = x->s.highest + cwnd;
	ctrl_sim_avoid(x, cwnd);
	sstp_dctcp_priv(&x->c)->alpha = 0;
	sstp_dctcp_priv(&x->c)->end = x->s.shipped + 1;
	dctcp_report(x, 1, 1, 0);
}

/* Marks in every round trip: a loss of a packet shipped before the last cut for them halves the
 * window all the same, but losses of one window do so once.
 */
static void dctcp_loss_among_marks(struct kunit *test)
{
	struct ctrl_sim x;
	u32 i;

	ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
	for (i = 0; i < 10; i++)
		dctcp_marked(&x, 1000);
	dctcp_lost(test, &x, x.s.highest - 100, 500);
	/* More of the same window */
	dctcp_lost(test, &x, x.s.highest - 50, 500);
	dctcp_lost(test, &x, x.s.shipped, 500);
	/* Marks in the next round trip do not make them new losses. */
	dctcp_marked(&x, 500);
	dctcp_lost(test, &x, x.s.highest - 20, 500);
	dctcp_lost(test, &x, x.s.highest - 1, 250);
	/* A time-out begins anew at half of the window, although marks had just cut it. */
	dctcp_marked(&x, 1000);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 500LL);
	/* Losses of packets that the former controller shipped cut no window, nor after marks. */
	memset(&x.s, 0, sizeof(x.s));
	x.s.in_flight = 100;
	x.s.shipped = 100;
	x.ops->init(&x.c, &x.s);
	dctcp_marked(&x, 1000);
	dctcp_lost(test, &x, 99, 1000);
	dctcp_lost(test, &x, 101, 500);
	/* Nor are old shipments new ones after so many that serial numbers wrap. */
	for (i = 0; i < 300; i++) {
		x.s.highest += 10000000;
		dctcp_round(&x, 10, 0, 1);
	}
	dctcp_marked(&x, 1000);
	dctcp_lost(test, &x, x.s.highest - 1, 500);
}

/* One flow at a queue that marks from 20 packets on, behind a path of 80 packets: alpha and
 * window settle, the queue is never empty once it has filled, and stays near the threshold.
 */
static void dctcp_settles(struct kunit *test)
{
	u32 i, queue, marked, least = U32_MAX, most = 0;
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_dctcp, 1000);
	for (i = 0; i < 400; i++) {
		u32 cwnd = x.c.cwnd;

		queue = cwnd > 80 ? cwnd - 80 : 0;
		marked = queue > 20 ? min(cwnd, (queue - 20) * 8) : 0;
		dctcp_round(&x, cwnd, marked, 4);
		if (i < 200)
			continue;
		least = min(least, queue);
		most = max(most, queue);
	}
	kunit_info(test, "queue of %u to %u packets, alpha %lld", least, most,
		   ctrl_sim_state(&x, 1));
	KUNIT_EXPECT_GE(test, least, 1U);
	KUNIT_EXPECT_LE(test, most, 30U);
}

static struct kunit_case dctcp_cases[] = {
	KUNIT_CASE(dctcp_alpha),
	KUNIT_CASE(dctcp_slow),
	KUNIT_CASE(dctcp_bounds),
	KUNIT_CASE(dctcp_cuts),
	KUNIT_CASE(dctcp_loss_among_marks),
	KUNIT_CASE(dctcp_settles),
	{}
};

static struct kunit_suite dctcp_suite = {
	.name = "sstp_dctcp",
	.test_cases = dctcp_cases,
};

kunit_test_suite(dctcp_suite);
