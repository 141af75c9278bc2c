// SPDX-License-Identifier: GPL-2.0
/* hybrid: cuts that do not help, probes, and the changes between its modes */
#include "sstp_test.h"
#include "../hybrid_probe.c"
#include "../hybrid_mode.c"
#include "hybrid_sim.h"

/* Two cuts that do not make the queue short begin a probe with the window before both. */
static struct sstp_hybrid *hybrid_alarmed(struct kunit *test, struct ctrl_sim *x, u32 rtt)
{
	struct sstp_hybrid *h = hybrid_start(x, 1000);
	u32 n, was = 0;

	for (n = 0; n < 20 && !h->probes; n++) {
		if (!h->check && !h->cuts)
			was = x->c.cwnd;
		hybrid_round(x, 10, 0, rtt);
		KUNIT_EXPECT_FALSE(test, h->competes);
	}
	/* A drain and two round trips, both twice */
	KUNIT_EXPECT_EQ(test, n, 6U);
	KUNIT_EXPECT_TRUE(test, h->probes);
	KUNIT_EXPECT_GE(test, was, 1000U);
	KUNIT_EXPECT_LE(test, abs_diff(h->prior, was), 2U);
	KUNIT_EXPECT_EQ(test, x->c.cwnd, (u32)div_u64((u64)h->prior * HYBRID_BASE, 2 * rtt));
	return h;
}

/* An alarm sets the window to h->prior: after a second drain that is the window before the first
 * one, or that before the second if the window has become larger.
 */
static void hybrid_prior(struct kunit *test)
{
	static const struct {
		u32 cuts, before, prior;
	} t[] = {
		{ 0, 1200, 1000 }, { 1, 1200, 1200 }, { 1, 900, 1000 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->cuts = t[i].cuts;
		h->prior = t[i].before;
		sstp_hybrid_drain(&x.c, h, &x.s, 60000, HYBRID_BASE);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
		KUNIT_EXPECT_EQ_MSG(test, h->prior, t[i].prior, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (u32)h->cuts, t[i].cuts, "row %u", i);
	}
	/* A cut for marks, and a time-out, end the row of drains that an alarm undoes. */
	h->check = 0;
	hybrid_loss(&x, HYBRID_BASE, 1);
	KUNIT_EXPECT_EQ(test, (u32)h->cuts, 0U);
	h->cuts = 1;
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, (u32)h->cuts, 0U);
}

/* With the smallest window, as a probe may have, two packets of the flow never wait in a queue that
 * is shorter than the path: it is not empty for that.
 */
static void hybrid_probes_alone(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 8);
	u32 n;

	h->competes = true;
	x.s.srtt = HYBRID_BASE + 20000;
	sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, SSTP_HYBRID_CWND);
	for (n = 0; n < 20 && h->probes; n++)
		hybrid_round(&x, 4, 0, HYBRID_BASE + 20000 + n * 1000);
	KUNIT_EXPECT_TRUE(test, h->competes);
}

/* How a probe ends: the queue became short; the path is longer; others fill the queue. */
static void hybrid_probes(struct kunit *test)
{
	static const struct {
		u32 early, late;	/* round-trip times in the probe */
		u32 base;
		bool competes;
	} t[] = {
		{ 55000, 44000, HYBRID_BASE, false }, { 44000, 60000, HYBRID_BASE, false },
		{ 55000, 55000, 55000, false }, { 55000, 54000, 54000, false },
		{ 55000, 48000, HYBRID_BASE, true }, { 55000, 58000, HYBRID_BASE, true },
		{ 70000, 60000, 60000, false }, { 200000, 200000, 200000, false },
		{ 400000, 400000, 400000, false },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n, ms, prior, times;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_alarmed(test, &x, 55000);
		ms = hybrid_ms(&x);
		prior = h->prior;
		for (n = 0; n < 20 && h->probes; n++)
			hybrid_round(&x, 10, 0, n ? t[i].late : t[i].early);
		KUNIT_EXPECT_FALSE(test, h->probes);
		KUNIT_EXPECT_GT(test, hybrid_ms(&x) - ms,
				SSTP_WAITS_PROBE + 2 * t[i].late / 1000);
		KUNIT_EXPECT_LE(test, hybrid_ms(&x) - ms,
				SSTP_WAITS_PROBE + 3 * t[i].late / 1000);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, t[i].competes, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, sstp_waits_base(&h->waits), t[i].base, "row %u", i);
		if (t[i].competes || t[i].base != HYBRID_BASE)
			KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, prior, "row %u", i);
		times = t[i].base == HYBRID_BASE ? 1 : clamp(t[i].base / HYBRID_BASE, 2U,
							     SSTP_HYBRID_LONGER);
		if (t[i].competes)
			times = SSTP_HYBRID_RESUME;
		KUNIT_EXPECT_EQ_MSG(test, h->w.ssthresh, x.c.cwnd * times, "row %u", i);
		KUNIT_EXPECT_EQ(test, h->probed_ms, hybrid_ms(&x));
	}
}

/* A probe goes on if most of the queue is gone, until it is empty. */
static void hybrid_probe_goes_on(struct kunit *test)
{
	static const struct {
		u32 low, then;		/* round-trip times in the probe, and after its time */
		u32 ms;			/* when it ends, at most two round trips later */
	} t[] = { { 60000, 60000, 640 }, { 60000, 44000, 320 }, { 79000, 79000, 716 },
		  { 81000, 81000, 362 }, { 44000, 44000, 288 } };
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n, ms;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		x.s.srtt = HYBRID_BASE + 160000;
		sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
		ms = hybrid_ms(&x);
		for (n = 0; n < 50 && h->probes; n++)
			hybrid_round(&x, 10, 0, hybrid_ms(&x) - ms < 320 ? t[i].low : t[i].then);
		KUNIT_EXPECT_FALSE_MSG(test, h->probes, "row %u", i);
		ms = hybrid_ms(&x) - ms;
		KUNIT_EXPECT_GT_MSG(test, ms, t[i].ms, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, ms, t[i].ms + 2 * t[i].low / 1000, "row %u", i);
	}
}

/* A probe that empties a long queue ends competitive mode for sure, others may be wrong. */
static void hybrid_sure(struct kunit *test)
{
	static const struct {
		u32 base, rtt, low;	/* us; a @low of 0 is not known */
		bool sure;
		u32 cwnd;
	} t[] = {
		{ HYBRID_BASE, 3 * (HYBRID_BASE + 5000), HYBRID_BASE, true, 296 },
		/* The last round trip of the probe has none of the queue. */
		{ HYBRID_BASE, 3 * (HYBRID_BASE + 5000) - 1, HYBRID_BASE, false, 1000 },
		{ HYBRID_BASE, 3 * (HYBRID_BASE + 5000), 0, false, 1000 },
		/* A short path: 1.712 of 5.5 ms, with part of a wait that is no queue */
		{ 1000, 5500, 5500, false, 311 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->waits.base[0] = t[i].base;
		sstp_hybrid_compete(h, &x.s);
		h->fails = 3;
		x.s.srtt = t[i].rtt;
		sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
		for (n = 0; n < 500 && h->probes; n++) {
			hybrid_wait(&x, 1);
			hybrid_round(&x, 10, 0, t[i].low);
		}
		KUNIT_EXPECT_FALSE_MSG(test, h->competes || h->probes, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, hybrid_ms(&x) - h->left_ms > SSTP_HYBRID_RELAPSE,
				    t[i].sure, "row %u", i);
		sstp_hybrid_compete(h, &x.s);
		KUNIT_EXPECT_EQ_MSG(test, (u32)h->fails, t[i].sure ? 0U : 4U, "row %u", i);
	}
}

/* The probe that is under way fails: others fill the queue. */
static void hybrid_fail(struct kunit *test, struct ctrl_sim *x, struct sstp_hybrid *h)
{
	u32 n;

	KUNIT_ASSERT_TRUE(test, h->probes);
	for (n = 0; n < 20 && h->probes; n++)
		hybrid_round(x, 10, 0, 55000 + 1000 * n);
	KUNIT_ASSERT_TRUE(test, h->competes && !h->probes);
}

/* Others have filled the queue since slow start: it goes on after the probe. */
static struct sstp_hybrid *hybrid_resumed(struct kunit *test, struct ctrl_sim *x)
{
	struct sstp_hybrid *h = hybrid_alarmed(test, x, 55000);
	u32 prior = h->prior;

	hybrid_fail(test, x, h);
	KUNIT_ASSERT_EQ(test, x->c.cwnd, prior);
	KUNIT_ASSERT_EQ(test, h->w.ssthresh, prior * SSTP_HYBRID_RESUME);
	x->s.flight = prior;
	hybrid_round(x, 100, 0, 60000);
	KUNIT_ASSERT_EQ(test, x->c.cwnd, prior + 100);
	return h;
}

/* Slow start goes on to a multiple of the window, and only once. */
static void hybrid_resumes(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_resumed(test, &x);
	u32 n, most = h->w.ssthresh;

	for (n = 0; n < 10 && x.c.cwnd < most; n++) {
		x.s.flight = x.c.cwnd;
		hybrid_round(&x, x.c.cwnd, 0, 60000);
	}
	KUNIT_EXPECT_EQ(test, n, 4U);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, most);
	sstp_hybrid_relax(h, &x.s);
	sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
	hybrid_fail(test, &x, h);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	/* Round trips of slow start without a queue say nothing about others. */
	h = hybrid_start(&x, 1000);
	h->w.ssthresh = SSTP_WINDOW_MAX;
	h->unused = SSTP_HYBRID_UNUSED - 1;
	x.s.flight = 10;
	x.s.cwnd_limited = false;
	sstp_hybrid_look(&x.c, h, &x.s, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, (u32)h->unused, SSTP_HYBRID_UNUSED);
	KUNIT_EXPECT_TRUE(test, h->fresh);
}

/* Slow start that goes on ends with a loss, which is also undone; with a loss of the path; with a
 * mark or a time-out; if half of the window is not used, whoever limits that; and if nothing was
 * sent for a while.
 */
static void hybrid_resumed_ends(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_resumed(test, &x);
	u32 i, n, cwnd = x.c.cwnd, most = h->w.ssthresh;

	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_TRUE(test, h->competes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd * SSTP_CUBIC_BETA / SSTP_CUBIC_ONE);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	x.s.undue = 1;
	hybrid_round(&x, 0, 0, 60000);
	x.s.undue = 0;
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, most);
	for (n = 0; n < 3; n++)
		hybrid_round(&x, 10, 0, HYBRID_BASE);
	KUNIT_EXPECT_GT(test, h->w.ssthresh, x.c.cwnd);
	hybrid_loss(&x, HYBRID_BASE, 0);
	KUNIT_EXPECT_FALSE(test, h->competes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd + 30);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	h = hybrid_resumed(test, &x);
	hybrid_loss(&x, 60000, 1);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd * SSTP_HYBRID_LESS / 100);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
	h = hybrid_resumed(test, &x);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->resumed);
	KUNIT_EXPECT_LE(test, h->w.ssthresh, cwnd);
	for (i = 0; i < 2; i++) {
		h = hybrid_resumed(test, &x);
		x.s.flight = 10;
		x.s.cwnd_limited = false;
		x.s.app_limited = i;
		for (n = 1; n < SSTP_HYBRID_UNUSED; n++)
			hybrid_round(&x, 10, 0, 60000);
		KUNIT_EXPECT_GT(test, h->w.ssthresh, x.c.cwnd);
		hybrid_round(&x, 10, 0, 60000);
		KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
		KUNIT_EXPECT_TRUE(test, h->competes);
	}
	h = hybrid_resumed(test, &x);
	hybrid_wait(&x, SSTP_HYBRID_IDLE);
	hybrid_round(&x, 10, 0, 60000);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, x.c.cwnd);
}

/* The cut of slow start that goes on is undone in delay mode, or after another probe: slow start
 * does not go on once more.
 */
static void hybrid_resumed_undone(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_resumed(test, &x);
	u32 cwnd = x.c.cwnd;

	hybrid_loss(&x, 60000, 0);
	sstp_hybrid_relax(h, &x.s);
	x.s.undue = 1;
	hybrid_round(&x, 0, 0, HYBRID_BASE);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, cwnd);
	h = hybrid_resumed(test, &x);
	hybrid_loss(&x, 60000, 0);
	sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
	hybrid_fail(test, &x, h);
	x.s.undue = 1;
	hybrid_round(&x, 0, 0, 60000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, cwnd);
	KUNIT_EXPECT_EQ(test, h->w.ssthresh, cwnd);
}

/* Slow start does not go on after a loss, also one in a probe, a mark, a time-out, a round trip
 * without a queue, a cut that has helped, or a probe that did not fail; in competitive mode; and if
 * packets were in flight when the controller began.
 */
static void hybrid_resumes_not(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 9; i++) {
		h = hybrid_start(&x, 1000);
		if (i == 2)
			x.ops->on_timeout(&x.c, &x.s);
		else if (i == 3)
			h->check = 1;
		else if (i == 5)
			x.s.in_flight = 10;
		else if (i == 7)
			sstp_hybrid_compete(h, &x.s);
		if (i < 2)
			hybrid_loss(&x, HYBRID_BASE, i);
		else if (i == 3 || i == 4)
			sstp_hybrid_look(&x.c, h, &x.s,
					 HYBRID_BASE + (i == 3 ? HYBRID_SMALL + 1 : 0));
		else if (i == 5)
			x.ops->init(&x.c, &x.s);
		x.s.srtt = 55000;
		h->waits.base[0] = HYBRID_BASE;
		sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
		if (i == 6)
			hybrid_loss(&x, HYBRID_BASE, 0);
		if (i == 8) {
			while (h->probes)
				hybrid_round(&x, 10, 0, HYBRID_BASE);
			sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
		}
		hybrid_fail(test, &x, h);
		KUNIT_EXPECT_EQ_MSG(test, h->w.ssthresh, x.c.cwnd, "row %u", i);
	}
}

/* SSTP_WINDOW_MAX as threshold would let HyStart++ end slow start. */
static void hybrid_resumes_most(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h;
	u32 i;

	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, SSTP_WINDOW_MAX / 2 + 1);
		x.s.srtt = 90000;
		sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
		while (h->probes)
			hybrid_round(&x, 10, 0, i ? 90000 : 55000);
		KUNIT_EXPECT_EQ(test, (bool)h->competes, !i);
		KUNIT_EXPECT_EQ(test, h->w.ssthresh, SSTP_WINDOW_MAX - 1U);
	}
}

/* The epoch rests in a probe that fails, and does not begin after the end of it. */
static void hybrid_rests(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);

	h->competes = true;
	x.s.now += 950 * NSEC_PER_USEC;
	h->e.start = x.s.now - 50 * NSEC_PER_USEC;
	sstp_hybrid_probe(&x.c, h, &x.s, x.c.cwnd);
	h->probe.low = 60000;
	x.s.now += 300 * NSEC_PER_MSEC + 150 * NSEC_PER_USEC;
	sstp_hybrid_end_probe(&x.c, h, &x.s);
	KUNIT_EXPECT_TRUE(test, h->competes);
	KUNIT_EXPECT_LE(test, h->e.start, x.s.now);
	KUNIT_EXPECT_GE(test, h->e.start, x.s.now - NSEC_PER_MSEC);
}

/* In competitive mode a flow joins the probe of others, or begins one after 10 s. */
static void hybrid_joins(struct kunit *test)
{
	static const struct {
		u32 ms, rtt, fails;
		bool probes;
	} t[] = {
		{ SSTP_HYBRID_JOIN + 1, 54999, 0, true }, { SSTP_HYBRID_JOIN + 1, 55000, 0, false },
		{ SSTP_HYBRID_JOIN, 41000, 0, false }, { 2 * SSTP_HYBRID_JOIN, 41000, 1, false },
		{ 2 * SSTP_HYBRID_JOIN + 1, 41000, 1, true },
		{ SSTP_HYBRID_MEMORY, 60000, 0, false }, { SSTP_HYBRID_MEMORY + 1, 60000, 0, true },
		{ 2 * SSTP_HYBRID_MEMORY, 60000, 1, false },
		{ 4 * SSTP_HYBRID_MEMORY + 1, 60000, 2, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		hybrid_wait(&x, t[i].ms);
		h->competes = true;
		h->fails = t[i].fails;
		h->waits.base_ms = hybrid_ms(&x);
		h->waits.most[0] = 60000;
		h->waits.most[1] = 60000;
		x.s.shipped = 100;
		h->round_end = 100;
		x.s.srtt = 60000;
		ctrl_sim_ack(&x, 1, t[i].rtt);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, t[i].probes, "row %u", i);
		KUNIT_EXPECT_TRUE(test, h->competes);
	}
}

/* A flow that an alarm has brought to competitive mode joins a probe that others began for the same
 * alarm, 200 ms and two round trips later at most, however late its own next probe is.
 */
static void hybrid_joins_alarm(struct kunit *test)
{
	static const struct {
		u32 alarm, probed;
		bool probes;
	} t[] = {
		{ 320, 1000, true }, { 321, 1000, false }, { 320, 320, false }, { 320, 321, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->alarm_ms = hybrid_ms(&x) - t[i].alarm;
		h->probed_ms = hybrid_ms(&x) - t[i].probed;
		h->competes = true;
		h->fails = SSTP_HYBRID_FAILS;
		h->waits.most[0] = 60000;
		h->waits.most[1] = 60000;
		x.s.shipped = 100;
		h->round_end = 100;
		x.s.srtt = 60000;
		ctrl_sim_ack(&x, 1, 54999);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, t[i].probes, "row %u", i);
	}
}

/* The third time that the queue becomes empty without a cut ends competitive mode. */
static void hybrid_empties(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);
	u32 i;

	h->loss.overflow_ms = hybrid_ms(&x);
	hybrid_loss(&x, 60000, 0);
	for (i = 0; i < 14; i++) {
		KUNIT_EXPECT_TRUE_MSG(test, h->competes, "round trip %u", i);
		h->probed_ms = hybrid_ms(&x);
		if (i == 8)
			hybrid_loss(&x, 60000, 0);
		/* Full, empty, empty, full, ... */
		hybrid_round(&x, 10, 0, i % 4 == 1 || i % 4 == 2 ? 44000 : 60000);
	}
	KUNIT_EXPECT_TRUE(test, h->competes);
	for (; i < 18; i++)
		hybrid_round(&x, 10, 0, i % 4 == 1 || i % 4 == 2 ? 44000 : 60000);
	KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
}

/* The fourth alarm competes at once, if each was within 10 s of the last one. */
static void hybrid_alarms(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, n;

	for (n = 0; n < 2; n++) {
		h = hybrid_start(&x, 1000);
		for (i = 1; i <= 5; i++) {
			hybrid_wait(&x, SSTP_HYBRID_MEMORY + n);
			sstp_hybrid_relax(h, &x.s);
			h->probes = false;
			h->waits.base_ms = hybrid_ms(&x);
			h->prior = 1000;
			h->cuts = SSTP_HYBRID_CUTS - 1;
			h->check = 1;
			sstp_hybrid_look(&x.c, h, &x.s, 55000);
			KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, n || i < 4, "alarm %u", i);
			KUNIT_EXPECT_EQ(test, (bool)h->competes, !h->probes);
			KUNIT_EXPECT_EQ(test, x.c.cwnd, h->probes ? 500U : 1000U);
		}
	}
}

/* An alarm soon after competitive mode: it begins again without a probe, and slow start returns to
 * what a cut of the old window leaves.
 */
static void hybrid_relapses(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 n;

	for (n = 0; n < 2; n++) {
		h = hybrid_start(&x, 500);
		h->competes = true;
		h->e.max = 1000;
		sstp_hybrid_relax(h, &x.s);
		hybrid_wait(&x, SSTP_HYBRID_RELAPSE - 1 + n);
		h->waits.base_ms = hybrid_ms(&x);
		h->resumed = true;
		h->prior = 500;
		h->cuts = SSTP_HYBRID_CUTS - 1;
		h->check = 1;
		sstp_hybrid_look(&x.c, h, &x.s, 55000);
		KUNIT_EXPECT_EQ(test, (bool)h->competes, !n);
		KUNIT_EXPECT_EQ(test, (bool)h->probes, !!n);
		KUNIT_EXPECT_FALSE(test, h->resumed);
		KUNIT_EXPECT_EQ(test, (u32)h->fails, n ? 0U : 1U);
		KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), n ? 250LL : 700LL);
	}
}

static void hybrid_timeout(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_alarmed(test, &x, 55000);
	s64 threshold = h->prior * SSTP_CUBIC_BETA / SSTP_CUBIC_ONE;

	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->probes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), threshold);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 2U);
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), threshold);
	hybrid_run(&x, 400, HYBRID_BASE);
	KUNIT_EXPECT_GE(test, (s64)x.c.cwnd, ctrl_sim_state(&x, 0));
	x.ops->on_timeout(&x.c, &x.s);
	hybrid_loss(&x, 55000, 0);
	KUNIT_EXPECT_LE(test, x.c.cwnd, 2U);
}

/* After a time-out in competitive mode slow start reaches its threshold, though a probe is due, and
 * if one was under way.
 */
static void hybrid_timeout_competes(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, 1000);
		h->probed_ms -= i * (SSTP_HYBRID_OVERFLOW + 1);
		h->loss.overflow_ms = hybrid_ms(&x);
		x.s.srtt = 60000;
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_TRUE(test, h->competes);
		KUNIT_EXPECT_EQ(test, (bool)h->probes, (bool)i);
		x.ops->on_timeout(&x.c, &x.s);
		hybrid_wait(&x, SSTP_HYBRID_MEMORY << SSTP_HYBRID_FAILS);
		KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 0), 700LL);
		while (x.c.cwnd < 300) {
			hybrid_round(&x, x.c.cwnd, 0, HYBRID_BASE);
			KUNIT_ASSERT_FALSE(test, h->probes);
			KUNIT_ASSERT_EQ(test, ctrl_sim_state(&x, 0), 700LL);
		}
	}
}

/* A cut is undone in the probe that it began: the probe would measure what it does not do. */
static void hybrid_undone_probe(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);

	h->probed_ms -= SSTP_HYBRID_OVERFLOW + 1;
	h->loss.overflow_ms = hybrid_ms(&x);
	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_TRUE(test, h->probes);
	x.s.undue = 1;
	hybrid_round(&x, 10, 0, 60000);
	x.s.undue = 0;
	KUNIT_EXPECT_FALSE(test, h->probes);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 1000U);
	KUNIT_EXPECT_EQ(test, h->probed_ms, hybrid_ms(&x));
}

static struct kunit_case hybrid_probe_cases[] = {
	KUNIT_CASE(hybrid_probes_alone),
	KUNIT_CASE(hybrid_prior),
	KUNIT_CASE(hybrid_probes),
	KUNIT_CASE(hybrid_probe_goes_on),
	KUNIT_CASE(hybrid_sure),
	KUNIT_CASE(hybrid_resumes),
	KUNIT_CASE(hybrid_resumed_ends),
	KUNIT_CASE(hybrid_resumed_undone),
	KUNIT_CASE(hybrid_resumes_not),
	KUNIT_CASE(hybrid_resumes_most),
	KUNIT_CASE(hybrid_rests),
	KUNIT_CASE(hybrid_joins),
	KUNIT_CASE(hybrid_joins_alarm),
	KUNIT_CASE(hybrid_empties),
	KUNIT_CASE(hybrid_alarms),
	KUNIT_CASE(hybrid_relapses),
	KUNIT_CASE(hybrid_timeout),
	KUNIT_CASE(hybrid_timeout_competes),
	KUNIT_CASE(hybrid_undone_probe),
	{}
};

static struct kunit_suite hybrid_probe_suite = {
	.name = "sstp_hybrid_probe",
	.test_cases = hybrid_probe_cases,
};

kunit_test_suite(hybrid_probe_suite);
