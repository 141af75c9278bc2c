// SPDX-License-Identifier: GPL-2.0
/* hybrid: the cuts for a queue that has overflowed and for marks, and their undo */
#include "sstp_test.h"
#include "../hybrid_cut.c"
#include "hybrid_sim.h"

/* A queue has overflowed: losses among the packets that leave next, a quarter of the window, cause
 * no second cut.
 */
static void hybrid_tail(struct kunit *test)
{
	static const struct {
		u32 waited, behind, first, second;
	} t[] = {
		{ HYBRID_BASE / 6 - 1, 1, 849, 849 }, { HYBRID_BASE / 6 - 1, 212, 849, 849 },
		{ HYBRID_BASE / 6 - 1, 213, 849, 721 }, { HYBRID_BASE / 6, 1, 700, 700 },
		{ HYBRID_BASE / 6, 175, 700, 700 }, { HYBRID_BASE / 6, 176, 700, 490 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		hybrid_loss(&x, HYBRID_BASE + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].first, "row %u", i);
		x.s.shipped += t[i].behind - 1;
		hybrid_loss(&x, HYBRID_BASE + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].second, "row %u", i);
	}
	/* Such losses are reported in the round trip of the cut or in the next one. */
	for (i = 0; i < 3; i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		hybrid_loss(&x, HYBRID_BASE + 2000, 0);
		x.c.cwnd = 1000;
		while (x.s.shipped - h->w.recover < i)
			hybrid_round(&x, 1, 0, HYBRID_BASE);
		hybrid_loss(&x, HYBRID_BASE + 2000, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, i == 2 ? 849U : 1000U, "%u rounds", i);
	}
	/* The queue is empty after a pause. */
	h = hybrid_start(&x, 1000);
	h->competes = true;
	hybrid_loss(&x, HYBRID_BASE + 2000, 0);
	hybrid_wait(&x, SSTP_HYBRID_IDLE + 1);
	ctrl_sim_ack(&x, 1, HYBRID_BASE);
	KUNIT_EXPECT_FALSE(test, h->tail);
	/* Slow start that has filled a deep queue may need a second cut. */
	for (i = 0; i < 2; i++) {
		h = hybrid_start(&x, 1000);
		h->w.ssthresh = 2000;
		hybrid_loss(&x, HYBRID_BASE + (i ? HYBRID_BASE / 6 : 2000), 0);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->tail, !i, "%u", i);
	}
}

/* An overflow in slow start ends slow start. A later overflow begins a probe if the last probe was
 * long ago. An overflow in delay mode less than 20 s after competitive mode has ended shows that
 * competitive mode had to go on.
 */
static void hybrid_overflows(struct kunit *test)
{
	static const struct {
		bool competes;
		u32 ms;
		bool probes;
	} t[] = {
		{ true, SSTP_HYBRID_OVERFLOW, false }, { true, SSTP_HYBRID_OVERFLOW + 1, true },
		{ false, 2 * SSTP_HYBRID_OVERFLOW, false },
		{ false, 2 * SSTP_HYBRID_OVERFLOW + 1, true },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	ctrl_sim_start(&x, &sstp_ctrl_hybrid, HYBRID_BASE);
	h = sstp_hybrid_priv(&x.c);
	h->waits.base[0] = HYBRID_BASE;
	x.c.cwnd = 1000;
	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	KUNIT_EXPECT_FALSE(test, h->competes || h->probes);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = t[i].competes;
		h->left_ms = hybrid_ms(&x);
		hybrid_wait(&x, t[i].ms);
		x.s.srtt = 60000;
		hybrid_loss(&x, 60000, 0);
		KUNIT_EXPECT_TRUE(test, h->competes);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, t[i].probes, "row %u", i);
		/* Half of what would be in flight without the queue: 700 * 40 / 60 / 2 */
		KUNIT_EXPECT_EQ(test, x.c.cwnd, h->probes ? 233U : 700U);
	}
	KUNIT_EXPECT_EQ(test, h->prior, 700U);
	/* In a probe losses change nothing. */
	hybrid_loss(&x, 60000, 0);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 233U);
}

/* A probe that an overflow begins leaves out half of what the path holds of the window after the
 * cut; on short paths no more of the window before the cut than empties the queue in a quarter of
 * the probe, and an eighth at least.
 */
static void hybrid_overflow_probes(struct kunit *test)
{
	static const struct {
		u32 base, rtt, cwnd, since;
	} t[] = {
		/* 1000 * 40 / 60 * 0.7 / 2 */
		{ 40000, 60000, 233 }, { 20000, 40000, 175 },
		/* 1000 * 20 / 40 * (1 - 4 * 20 / 280) */
		{ 19999, 40000, 359 },
		/* 4 * 10 / 240 = 0.16, 4 * 40 / 300 > 1/2, 4 * 5 / 230 < 1/8 */
		{ 10000, 20000, 420 }, { 10000, 50000, 100 }, { 10000, 15000, 586 },
		/* 1000 * 10 / 12 * 7 / 8 is more than the cut leaves. */
		{ 10000, 12000, 700 },
		/* The first probe, one that follows another soon, and one that does not */
		{ 10000, 20000, 420, SSTP_WAITS_MEMORY },
		{ 10000, 20000, 175, SSTP_WAITS_MEMORY + 1 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->waits.base[0] = t[i].base;
		h->competes = true;
		h->probed = t[i].since;
		hybrid_wait(&x, t[i].since ?: SSTP_HYBRID_OVERFLOW + 1);
		x.s.srtt = t[i].rtt;
		hybrid_loss(&x, t[i].rtt, 0);
		KUNIT_EXPECT_TRUE_MSG(test, h->probes, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, h->prior, 700U, "row %u", i);
	}
}

/* The overflow that ends slow start leaves what the path delivers, half of the window at least: one
 * of a deep queue on a short path, if the delivery rate is known, and others do not fill the queue.
 */
static void hybrid_overshoot(struct kunit *test)
{
	static const struct {
		u32 base, waited, delivered;
		bool competes;
		u32 cwnd;
	} t[] = {
		{ 19999, 20000, 600, false, 570 }, { 19999, 20000, 500, false, 500 },
		{ 19999, 20000, 900, false, 700 }, { 19999, 20000, 0, false, 700 },
		{ 19999, 20000, 600, true, 700 }, { 19999, 3000, 600, false, 700 },
		{ 20000, 20000, 600, false, 700 },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->w.ssthresh = SSTP_WINDOW_MAX;
		h->competes = t[i].competes;
		h->waits.base[0] = t[i].base;
		x.s.rate_delivered = t[i].delivered;
		x.s.rate_interval = t[i].base;
		hybrid_loss(&x, t[i].base + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, x.c.cwnd, t[i].cwnd, "row %u", i);
	}
	/* The window that leaves next may still be too large, which is no sign of others. Its
	 * losses have a tail.
	 */
	for (i = 0; i < 3; i++) {
		h = hybrid_start(&x, 1000);
		h->w.ssthresh = SSTP_WINDOW_MAX;
		h->probed_ms -= SSTP_HYBRID_OVERFLOW + 1;
		hybrid_loss(&x, HYBRID_BASE + 20000, 0);
		KUNIT_EXPECT_FALSE(test, h->tail);
		h->loss.overflow_ms = hybrid_ms(&x);
		x.s.shipped += 698 + i;
		hybrid_loss(&x, HYBRID_BASE + 20000, 0);
		KUNIT_EXPECT_EQ_MSG(test, h->probes ? h->prior : x.c.cwnd, 490U, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->competes, i == 2, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, i == 2, "%u", i);
		KUNIT_EXPECT_TRUE(test, h->tail);
	}
}

static void hybrid_shallow_loss(struct ctrl_sim *x)
{
	sstp_hybrid_priv(&x->c)->competes = true;
	x->s.shipped += 1000;		/* behind the tail of the last overflow */
	hybrid_loss(x, HYBRID_BASE + 5000, 0);
}

static void hybrid_undo(struct ctrl_sim *x)
{
	x->s.undue = 1;
	hybrid_run(x, 1, HYBRID_BASE);
	x->s.undue = 0;
}

/* A short queue that holds less than 10 ms has overflowed: probes are rare, packets are paced as in
 * delay mode, and W_max is what the path holds, with or without a probe where the queue is short.
 */
static void hybrid_shallow(struct kunit *test)
{
	static const struct {
		u32 base, waited, max;
		bool shallow;
	} t[] = {
		{ HYBRID_BASE, HYBRID_BASE / 6 - 1, 1000, true },
		{ HYBRID_BASE, HYBRID_BASE / 6, 850, false },
		{ 3 * HYBRID_BASE, SSTP_HYBRID_TARGET - 1, 1000, true },
		{ 3 * HYBRID_BASE, SSTP_HYBRID_TARGET, 1000, false },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		h->e.max = 2000;
		h->waits.base[0] = t[i].base;
		hybrid_wait(&x, SSTP_HYBRID_MEMORY / 2 << SSTP_HYBRID_FAILS);
		x.s.srtt = t[i].base;
		hybrid_loss(&x, t[i].base + t[i].waited, 0);
		KUNIT_EXPECT_EQ_MSG(test, h->e.max, t[i].max, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->shallow, t[i].shallow, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (bool)h->probes, !t[i].shallow, "row %u", i);
		if (h->probes)
			continue;
		/* The cut makes the queue shorter, which looks as if others probed. */
		hybrid_round(&x, 700, 0, t[i].base + t[i].waited);
		hybrid_run(&x, 1, t[i].base);
		KUNIT_EXPECT_FALSE(test, h->probes);
		KUNIT_EXPECT_EQ(test, x.c.period,
				div_u64(t[i].base * 1000ULL * 25, x.c.cwnd * 26));
		hybrid_wait(&x, (SSTP_HYBRID_MEMORY / 2 << SSTP_HYBRID_FAILS) - 2 -
			    (t[i].base + t[i].waited) / USEC_PER_MSEC);
		hybrid_run(&x, 1, t[i].base);
		KUNIT_EXPECT_FALSE(test, h->probes);
		hybrid_run(&x, 1, t[i].base);
		KUNIT_EXPECT_TRUE(test, h->probes);
	}
	/* An overflow may begin a probe 80 s after the last one. */
	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	hybrid_wait(&x, SSTP_HYBRID_MEMORY / 2 << SSTP_HYBRID_FAILS);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_FALSE(test, h->probes);
	hybrid_wait(&x, 1);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->probes);
}

/* A cut for a shallow queue leaves 85%, and the window is back at W_max as late as CUBIC's: mean
 * windows at a loss rate are the same. That is so for the whole epoch, but not after other cuts.
 */
static void hybrid_gentle(struct kunit *test)
{
	const struct sstp_cubic_law *cubic = sstp_hybrid_law(false), *law = sstp_hybrid_law(true);
	u64 mean[] = {
		div_u64((3 * SSTP_CUBIC_ONE + cubic->beta) * law->inverse,
			SSTP_CUBIC_ONE - cubic->beta),
		div_u64((3 * SSTP_CUBIC_ONE + law->beta) * cubic->inverse,
			SSTP_CUBIC_ONE - law->beta),
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;

	KUNIT_EXPECT_LE(test, abs_diff(mean[0], mean[1]), div_u64(mean[0], 100));
	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->gentle);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 849U);
	/* K is 9.2 s, CUBIC's 9.1 s after a cut to 70%. Half of it leaves an eighth of the cut. */
	hybrid_run(&x, 2000, HYBRID_BASE + 2000);
	hybrid_run(&x, 2612, HYBRID_BASE + SSTP_HYBRID_TARGET);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 981U), 2U);
	hybrid_run(&x, 4612, HYBRID_BASE + SSTP_HYBRID_TARGET);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 1000U), 1U);
	hybrid_undo(&x);
	KUNIT_EXPECT_FALSE(test, h->gentle);

	/* The cut that ends slow start: CUBIC's, of which 0.4 * 4.085^3 is left after 5 s */
	h = hybrid_start(&x, 1000);
	h->w.ssthresh = SSTP_WINDOW_MAX - 1;
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 700U);
	hybrid_run(&x, 5000, HYBRID_BASE + 2000);
	KUNIT_EXPECT_LE(test, abs_diff(x.c.cwnd, 973U), 2U);

	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	x.s.shipped += 1000;
	h->share.mean = U16_MAX;
	sstp_hybrid_cut_many(&x.c, h, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 424U);
	KUNIT_EXPECT_FALSE(test, h->gentle);
	hybrid_shallow_loss(&x);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->gentle);
}

/* The queue is not shallow if a round trip waits for 10 ms, or did lately without a loss, or if
 * there was no overflow: after an undo, a time-out, and where packets overtake others.
 */
static void hybrid_not_shallow(struct kunit *test)
{
	struct sstp_hybrid *h;
	struct ctrl_sim x;

	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	hybrid_round(&x, 700, 0, HYBRID_BASE + SSTP_HYBRID_TARGET - 1);
	hybrid_round(&x, 700, 0, HYBRID_BASE);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	hybrid_round(&x, 700, 0, HYBRID_BASE + SSTP_HYBRID_TARGET);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	hybrid_undo(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow);

	h = hybrid_start(&x, 1000);
	h->loss.target_ms = hybrid_ms(&x);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow);

	/* After an undo it is shallow if it was so before the cut. */
	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	hybrid_undo(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	hybrid_shallow_loss(&x);
	hybrid_shallow_loss(&x);
	hybrid_undo(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);
	x.s.shipped += 1000;
	hybrid_loss(&x, HYBRID_BASE + 60000, 0);
	KUNIT_EXPECT_FALSE(test, h->shallow);
	hybrid_undo(&x);
	KUNIT_EXPECT_TRUE(test, h->shallow);

	h = hybrid_start(&x, 1000);
	hybrid_shallow_loss(&x);
	x.ops->on_timeout(&x.c, &x.s);
	KUNIT_EXPECT_FALSE(test, h->shallow);

	h = hybrid_start(&x, 1000);
	h->reorder_ms = hybrid_ms(&x);
	hybrid_shallow_loss(&x);
	KUNIT_EXPECT_FALSE(test, h->shallow || h->tail);
}

/* In competitive mode the window grows as in delay mode when it has reached W_max and the queue has
 * been empty for a second, and until packets wait.
 */
static void hybrid_vacant(struct kunit *test)
{
	static const struct {
		u32 max, rtt;
		bool grows;
	} t[] = {
		{ 1000, HYBRID_BASE + HYBRID_SMALL - 1, true },
		{ 1000, HYBRID_BASE + HYBRID_SMALL, false },
		{ 1100, HYBRID_BASE, false },
	};
	struct sstp_hybrid *h;
	struct ctrl_sim x;
	u32 i, cwnd;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		h = hybrid_start(&x, 1000);
		h->competes = true;
		h->e.max = t[i].max;
		hybrid_run(&x, SSTP_HYBRID_VACANT, t[i].rtt);
		KUNIT_EXPECT_LT_MSG(test, x.c.cwnd, 1060U, "row %u", i);
		hybrid_run(&x, 1000, t[i].rtt);
		KUNIT_EXPECT_EQ(test, sstp_hybrid_grows(h, &x.s), t[i].grows);
		if (t[i].grows)
			KUNIT_EXPECT_GT(test, x.c.cwnd, 1250U);
		else
			KUNIT_EXPECT_LT_MSG(test, x.c.cwnd, 1100U, "row %u", i);
		hybrid_run(&x, 100, HYBRID_BASE + HYBRID_SMALL);
		cwnd = x.c.cwnd;
		hybrid_run(&x, 200, HYBRID_BASE + HYBRID_SMALL);
		KUNIT_EXPECT_FALSE(test, h->growing);
		KUNIT_EXPECT_TRUE(test, h->competes);
		KUNIT_EXPECT_LE_MSG(test, x.c.cwnd, cwnd + 10, "row %u", i);
	}

	/* Not without W_max, and not if the window is not used */
	h = hybrid_start(&x, 1000);
	h->competes = true;
	hybrid_run(&x, SSTP_HYBRID_VACANT, HYBRID_BASE);
	KUNIT_EXPECT_FALSE(test, h->growing);
	h->e.max = 1000;
	hybrid_run(&x, SSTP_HYBRID_VACANT, HYBRID_BASE);
	KUNIT_EXPECT_TRUE(test, h->growing);
	x.s.cwnd_limited = false;
	hybrid_run(&x, 1, HYBRID_BASE);
	KUNIT_EXPECT_FALSE(test, h->growing);
}

static void hybrid_marks(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);
	u32 i;

	for (i = 0; i < 2; i++) {
		ctrl_sim_avoid(&x, 1000);
		h->competes = i;
		hybrid_loss(&x, HYBRID_BASE + i * 20000, 3);
		KUNIT_EXPECT_EQ(test, x.c.cwnd, 850U);
		KUNIT_EXPECT_EQ(test, (bool)h->competes, (bool)i);
		KUNIT_EXPECT_FALSE(test, h->probes);
	}
}

/* Marks in competitive mode begin an epoch at the window that they came with, as losses do: not at
 * a larger one of long ago, to which the window would grow fast.
 */
static void hybrid_marks_epoch(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 100);

	h->competes = true;
	h->e.max = 10000;
	hybrid_loss(&x, 60000, 3);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 85U);
	/* Fast convergence: 100 (1 + 0.85) / 2 */
	KUNIT_EXPECT_EQ(test, ctrl_sim_state(&x, 4), 92LL);
	h->e.max = 10000;
	x.s.highest = x.s.shipped;
	hybrid_round(&x, 8, 8, HYBRID_BASE);
	hybrid_round(&x, 8, 8, HYBRID_BASE);
	KUNIT_EXPECT_LT(test, ctrl_sim_state(&x, 4), 100LL);
}

/* Two cuts do not make the queue short, but marks cut the window after the second one: the alarm
 * must not return to the window before them.
 */
static void hybrid_marks_checked(struct kunit *test)
{
	struct ctrl_sim x;
	struct sstp_hybrid *h = hybrid_start(&x, 1000);
	u32 n;

	h->cuts = SSTP_HYBRID_CUTS - 1;
	sstp_hybrid_drain(&x.c, h, &x.s, 55000, HYBRID_BASE * SSTP_HYBRID_LEAVE / 100);
	hybrid_loss(&x, 55000, 3);
	for (n = 0; n < 2; n++) {
		KUNIT_EXPECT_LE(test, x.c.cwnd, 600U);
		KUNIT_EXPECT_FALSE(test, h->probes);
		hybrid_round(&x, 10, 0, 55000);
	}
}

static struct kunit_case hybrid_cut_cases[] = {
	KUNIT_CASE(hybrid_tail),
	KUNIT_CASE(hybrid_overflows),
	KUNIT_CASE(hybrid_overflow_probes),
	KUNIT_CASE(hybrid_overshoot),
	KUNIT_CASE(hybrid_shallow),
	KUNIT_CASE(hybrid_gentle),
	KUNIT_CASE(hybrid_not_shallow),
	KUNIT_CASE(hybrid_vacant),
	KUNIT_CASE(hybrid_marks),
	KUNIT_CASE(hybrid_marks_epoch),
	KUNIT_CASE(hybrid_marks_checked),
	{}
};

static struct kunit_suite hybrid_cut_suite = {
	.name = "sstp_hybrid_cut",
	.test_cases = hybrid_cut_cases,
};

kunit_test_suite(hybrid_cut_suite);
