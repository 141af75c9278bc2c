// SPDX-License-Identifier: GPL-2.0
/* hybrid: how the window grows and is drained, programs that do not use it, reordering, and hostile
 * reports. hybrid_loss_test.c has losses and marks, hybrid_probe_test.c the changes of mode, and
 * hybrid_line_test.c flows that share a line.
 */
#include "sstp_test.h"
#include "../ctrl_hybrid.c"
#include "hybrid_sim.h"

/* Packets by which the window grows in delay mode, from the integral of alpha: 25 a second for
 * 250 ms, and then 25 (t + 5 t^2 + t^3 / 12)
 */
static void hybrid_growth(struct kunit *test)
{
	static const struct {
		u32 ms, rtt, packets;
	} t[] = {
		{ 100, HYBRID_BASE + 4000, 2 }, { 1000, HYBRID_BASE + 4000, 96 },
		{ 5000, HYBRID_BASE + 4000, 3169 }, { 100, HYBRID_BASE, 10 },
		{ 1000, HYBRID_BASE, 385 }, { 5000, HYBRID_BASE, 12674 },
		{ 1000, HYBRID_BASE + HYBRID_SMALL, 96 },
		{ 1000, HYBRID_BASE + HYBRID_SMALL - 1, 385 },
	};
	struct ctrl_sim x;
	u32 i, grown;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		hybrid_start(&x, 1000000);
		/* Growth begins with the first report. */
		hybrid_run(&x, t[i].ms + 1, t[i].rtt);
		grown = x.c.cwnd - 1000000;
		KUNIT_EXPECT_LE_MSG(test, abs_diff(grown, t[i].packets), t[i].packets / 100 + 1,
				    "row %u: %u", i, grown);
	}
}

/* The rate of growth has bounds: after a minute, with a sixteenth of the window in a round trip,
 * and when no report comes for long
 */
static void hybrid_growth_bounds(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000000);
	u32 i, was;

	for (i = 0; i < 2; i++) {
		hybrid_run(&x, 1, HYBRID_BASE + 4000);
		h->waits.base[0] = HYBRID_BASE;
		h->growth.begun_ms = hybrid_ms(&x) - SSTP_HTCP_LONG - i * 60000;
		was = x.c.cwnd;
		hybrid_run(&x, 100, HYBRID_BASE + 4000);
		/* alpha(59.75 s) is 1491.0 */
		KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd - was, 3728U), 4U, "%u",
				    x.c.cwnd - was);
	}
	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, i ? 8 : 160);
		hybrid_run(&x, 1, HYBRID_BASE);
		h->growth.begun_ms -= SSTP_HTCP_LONG;
		/* One report more for what is rounded down */
		hybrid_run(&x, 41, HYBRID_BASE);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, i ? 9U : 170U);
		hybrid_wait(&x, 5000);
		was = x.c.cwnd;
		hybrid_run(&x, 1, HYBRID_BASE);
		KUNIT_EXPECT_LE(test, x.c.cwnd - was, 1U);
	}
	/* A part of a packet counts: 24 (1 + 1 / 16)^2 */
	h = hybrid_start(&x, 24);
	hybrid_run(&x, 1, HYBRID_BASE);
	h->growth.begun_ms -= SSTP_HTCP_LONG;
	hybrid_run(&x, 81, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 27U);
	/* A window that is not used does not grow, and growth goes on when it is. */
	was = hybrid_ms(&x) - h->growth.begun_ms;
	x.s.cwnd_limited = false;
	hybrid_run(&x, 1000, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 27U);
	KUNIT_EXPECT_LE(test, hybrid_ms(&x) - h->growth.begun_ms - was, 1U);
	x.s.cwnd_limited = true;
	hybrid_run(&x, 42, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 28U);
	hybrid_start(&x, SSTP_WINDOW_MAX - 1);
	hybrid_run(&x, 2000, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, (u32)SSTP_WINDOW_MAX);
}

/* A drain: window, round-trip time, window after it */
static void hybrid_drains(struct kunit *test)
{
	static const struct {
		u32 cwnd, rtt, after;
	} t[] = {
		{ 1000, 50000, 760 }, { 1000, 52000, 731 }, { 1000, 60000, 700 },
		{ 1000, 60 * USEC_PER_SEC, 700 }, { 1000, 30000, 1000 }, { 1000, 0, 700 },
		{ 26, 50000, 20 }, { 25, 50000, 19 }, { 6, 50000, 5 }, { 1, 50000, 2 },
		{ SSTP_WINDOW_MAX, 50000, 12750684 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, t[i].cwnd);
		sstp_hybrid_drain(&x.c, h, &x.s, t[i].rtt,
				  HYBRID_BASE * SSTP_HYBRID_LEAVE / 100);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].after, "row %u", i);
		KUNIT_EXPECT_EQ(test, h->prior, t[i].cwnd);
	}
}

/* A drain is due when packets wait for 10 ms, three of this flow among them, and the program does
 * not leave the window unused. 760 = 0.95 * 40 / 50 * 1000. If the receiver's window is smaller,
 * that counts.
 */
static void hybrid_drain_due(struct kunit *test)
{
	static const struct {
		u32 cwnd, rtt, flight;
		bool app_limited, due;
		u32 after;
		bool slow_start;
	} t[] = {
		{ 1000, 50000, 1000, false, true, 760 }, { 1000, 49999, 1000, false, false, 1000 },
		{ 14, 50000, 14, false, false, 14 }, { 15, 50000, 15, false, true, 11 },
		{ 1000, 50000, 500, true, false, 1000 }, { 1000, 50000, 501, true, true, 760 },
		{ 1000, 50000, 500, false, true, 380 }, { 1000, 50000, 14, false, false, 1000 },
		{ 1000, 49999, 500, false, false, 1000 },
		/* The receiver's window was closed: that says nothing about the path. */
		{ 1000, 50000, 100, false, true, 380 },
		/* In slow start the receiver's window counts only, once it had time to open. */
		{ 1000, 50000, 501, false, false, 1001, true },
		{ 1000, 50000, 500, false, true, 380, true },
		{ 1000, 49999, 500, false, false, 1000, true },
		{ 1000, 50000, 500, true, false, 1000, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, t[i].cwnd);
		if (t[i].slow_start)
			h->w.ssthresh = SSTP_WINDOW_MAX;
		x.s.flight = t[i].flight;
		x.s.app_limited = t[i].app_limited;
		x.s.cwnd_limited = t[i].flight * 2 > t[i].cwnd;
		for (k = t[i].slow_start ? SSTP_HYBRID_UNUSED : 1; k; k--) {
			KUNIT_EXPECT_EQ_MSG(test, (u32)h->check, 0U, "row %u", i);
			hybrid_round(&x, 1, 0, t[i].rtt);
		}
		KUNIT_EXPECT_EQ_MSG(test, h->check == 2, t[i].due, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, t[i].after), 2U, "row %u: %u", i,
				    x.c.cwnd);
		KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
	}
}

/* In competitive mode: the equation of RFC 9438, as in cubic_test.c. Packets wait all the time, so
 * that the window does not grow as in delay mode when it has reached W_max.
 */
static void hybrid_cubic(struct kunit *test)
{
	static const u32 t[][2] = { { 40, 947 }, { 91, 1000 }, { 120, 1009 }, { 200, 1520 } };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n = 0;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, 100000);
	ctrl_sim_avoid(&x, 1000);
	h = sstp_hybrid_priv(&x.c);
	h->waits.base[0] = 97000;
	h->probed_ms = hybrid_ms(&x);
	h->loss.overflow_ms = hybrid_ms(&x);
	hybrid_loss(&x, 120000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 1), 1LL);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 4), 1000LL);
	x.s.highest = x.s.shipped;
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		for (; n < t[i][0]; n++) {
			h->probed_ms = hybrid_ms(&x);
			h->waits.base[0] = 97000;
			ctrl_sim_round(&x, 4, 100000);
		}
		KUNIT_EXPECT_LE_MSG(test, abs_diff(x.c.cwnd, t[i][1]), 12U, "round trip %u: %u",
				    n, x.c.cwnd);
	}
}

/* The handshake measures less than data packets take on a slow line; a connection that had another
 * controller has measured those.
 */
static void hybrid_base(struct kunit *test)
{
	struct ctrl_sim x;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), 0LL);
	hybrid_round(&x, 10, 0, HYBRID_BASE + 3000);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), HYBRID_BASE + 3000LL);
	x.s.total_delivered = 1;
	sstp_hybrid_init(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), (s64)HYBRID_BASE);
}

/* A minute without data adds nothing to the growth, in either mode, also if the window is not used
 * for a while after that.
 */
static void hybrid_idles(struct kunit *test)
{
	u32 i, idle, cwnd[2][3];
	struct sstp_hybrid *h;
	struct ctrl_sim x;

	for (i = 0; i < 2; i++)
		for (idle = 0; idle < 3; idle++) {
			h = hybrid_start(&x, 1000);
			h->competes = i;
			h->fails = SSTP_HYBRID_FAILS;
			sstp_cubic_cut(&h->e, 1400, SSTP_CUBIC_BETA, false);
			hybrid_run(&x, 2000, HYBRID_BASE + 4000);
			if (idle)
				hybrid_wait(&x, 60000);
			if (idle == 2) {
				x.s.cwnd_limited = false;
				hybrid_run(&x, 2000, HYBRID_BASE + 4000);
				x.s.cwnd_limited = true;
			}
			hybrid_run(&x, 1000, HYBRID_BASE + 4000);
			KUNIT_EXPECT_FALSE(test, h->probes);
			cwnd[i][idle] = x.c.cwnd;
		}
	for (i = 0; i < 2; i++)
		for (idle = 1; idle < 3; idle++)
			KUNIT_EXPECT_LE_MSG(test, abs_diff(cwnd[i][0], cwnd[i][idle]), 20U,
					    "mode %u: %u, row %u: %u", i, cwnd[i][0], idle,
					    cwnd[i][idle]);
}

/* No report measures a round-trip time. */
static void hybrid_no_rtt(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, 0);
	h = sstp_hybrid_priv(&x.c);
	x.s.min_rtt = U32_MAX;
	x.ops->init(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), 0LL);
	for (i = 0; i < 20000; i++) {
		if (i == 100)
			ctrl_sim_avoid(&x, 1000);
		hybrid_wait(&x, 2);
		hybrid_round(&x, 10, !(i % 100), 0);
		if (i % 10 == 5)
			hybrid_loss(&x, 0, 0);
		KUNIT_ASSERT_FALSE(test, h->competes || h->probes || h->check);
		KUNIT_ASSERT_GE(test, x.c.cwnd, 10U);
	}
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 3), 0LL);
	sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
	for (i = 0; i < 200 && h->probes; i++) {
		hybrid_wait(&x, 2);
		hybrid_round(&x, 10, 0, 0);
	}
	KUNIT_EXPECT_FALSE(test, h->probes || h->competes);
}

/* Packets overtake others if more than an eighth of those in flight are late for longer than a
 * round trip; after a burst of losses they only seem to be late until the receiver is sure.
 */
static void hybrid_reorders(struct kunit *test)
{
	static const struct {
		u32 late, first, gap, second;	/* packets; ms with, without and with them */
		bool reorders;
	} t[] = {
		{ 101, 1, 0, 0, false }, { 101, 41, 0, 0, false }, { 101, 42, 0, 0, true },
		{ 100, 500, 0, 0, false }, { 101, 30, 1, 30, false }, { 101, 30, 1, 42, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 800);
		x.s.prior_in_flight = 800;
		x.s.late = t[i].late;
		hybrid_run(&x, t[i].first, HYBRID_BASE);
		x.s.late = 0;
		hybrid_run(&x, t[i].gap, HYBRID_BASE);
		x.s.late = t[i].late;
		hybrid_run(&x, t[i].second, HYBRID_BASE);
		KUNIT_EXPECT_EQ_MSG(test, sstp_hybrid_reorders(h, &x.s), t[i].reorders,
				    "row %u", i);
		/* A loss without a queue is the path's, but where the queue cannot be seen. */
		hybrid_loss(&x, HYBRID_BASE, 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, t[i].reorders, "row %u", i);
	}
}

/* Whatever a peer reports, the outputs stay in range, and nothing is divided by zero. */
static void hybrid_hostile(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(100000), competes = 0, probes = 0;
	struct sstp_ctrl_sample s = {};
	struct sstp_ctrl c = {};
	struct sstp_hybrid *h = sstp_hybrid_priv(&c);
	struct rnd_state r;

	sstp_test_seed_rnd(test, &r);
	s.min_rtt = U32_MAX;
	for (i = 0; i < n; i++) {
		if (sstp_rnd_one_in(&r, 1000)) {
			memset(c.priv, 0, sizeof(c.priv));
			sstp_ctrl_hybrid.init(&c, &s);
		}
		s.now += sstp_rnd_u64(&r) >> sstp_rnd_range(&r, 24, 63);
		s.srtt = min(prandom_u32_state(&r) >> sstp_rnd_range(&r, 0, 31),
			     (u32)(60 * USEC_PER_SEC));
		s.min_rtt = prandom_u32_state(&r) >> sstp_rnd_range(&r, 0, 31);
		s.shipped += prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31);
		s.highest = s.shipped - (prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31));
		s.lost_ship = s.shipped - (prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31));
		s.in_flight = sstp_rnd_edge(&r);
		s.flight = sstp_rnd_edge(&r);
		s.rtt = min(prandom_u32_state(&r) >> sstp_rnd_range(&r, 0, 31),
			    (u32)(60 * USEC_PER_SEC));
		s.delivered = sstp_rnd_edge(&r);
		s.rate_delivered = sstp_rnd_edge(&r);
		s.rate_interval = max(sstp_rnd_edge(&r), 1U);
		s.lost = sstp_rnd_edge(&r);
		s.undue = sstp_rnd_one_in(&r, 4) ? sstp_rnd_edge(&r) : 0;
		s.late = sstp_rnd_one_in(&r, 4);
		s.ce = sstp_rnd_one_in(&r, 4);
		s.cwnd_limited = sstp_rnd_one_in(&r, 2);
		s.app_limited = sstp_rnd_one_in(&r, 2);
		if (!i)
			sstp_ctrl_hybrid.init(&c, &s);
		/* Hardly any probe is the first event of a connection. */
		if (sstp_rnd_one_in(&r, 50)) {
			h->fresh = true;
			h->resumed = true;
			h->competes = sstp_rnd_one_in(&r, 2);
			h->w.ssthresh = max(prandom_u32_state(&r) >> sstp_rnd_range(&r, 8, 31), 1U);
		}
		sstp_ctrl_hybrid.on_ack(&c, &s);
		KUNIT_ASSERT_GE(test, c.cwnd, 1U);
		KUNIT_ASSERT_LE(test, c.cwnd, (u32)SSTP_WINDOW_MAX);
		if (sstp_rnd_one_in(&r, 4))
			sstp_ctrl_hybrid.on_loss(&c, &s);
		if (sstp_rnd_one_in(&r, 50))
			sstp_ctrl_hybrid.on_timeout(&c, &s);
		KUNIT_ASSERT_GE(test, c.cwnd, 1U);
		KUNIT_ASSERT_LE(test, c.cwnd, (u32)SSTP_WINDOW_MAX);
		competes += h->competes;
		probes += h->probes;
	}
	/* The reports led to competitive mode and to probes. */
	KUNIT_EXPECT_GT(test, competes, n / 100);
	KUNIT_EXPECT_GT(test, probes, n / 100);
}

static struct kunit_case hybrid_cases[] = {
	KUNIT_CASE(hybrid_growth),
	KUNIT_CASE(hybrid_growth_bounds),
	KUNIT_CASE(hybrid_drains),
	KUNIT_CASE(hybrid_drain_due),
	KUNIT_CASE(hybrid_cubic),
	KUNIT_CASE(hybrid_base),
	KUNIT_CASE(hybrid_idles),
	KUNIT_CASE(hybrid_no_rtt),
	KUNIT_CASE(hybrid_reorders),
	KUNIT_CASE(hybrid_hostile),
	{}
};

static struct kunit_suite hybrid_suite = {
	.name = "sstp_hybrid",
	.test_cases = hybrid_cases,
};

kunit_test_suite(hybrid_suite);
