// SPDX-License-Identifier: GPL-2.0
/* hybrid: flows over a simulated bottleneck, alone, with flows of their kind, and beside cubic */
#include "sstp_test.h"
#include "line_sim.h"
#include "../ctrl.h"
#include "../ctrl_cubic.c"

#define HYBRID_RUNS	4	/* beside cubic, with other times between the two */

static struct line_flow *hybrid_add(struct kunit *test, struct line_sim *l, u32 rtt, u32 ms)
{
	return line_add(test, l, &sstp_ctrl_hybrid, rtt, ms);
}

/* A line of @rate packets/s, whose queue also holds up those who begin later */
static struct line_sim *hybrid_line(struct kunit *test, u32 rate, u32 queue)
{
	struct line_sim *l = line_start(test, rate, queue);

	l->waits = true;
	return l;
}

/* Jain's index of the last run, in thousandths */
static u32 hybrid_jain(const struct line_sim *l)
{
	u64 sum = 0, squares = 0;
	u32 i;

	for (i = 0; i < l->flows; i++) {
		sum += l->flow[i]->got;
		squares += (u64)l->flow[i]->got * l->flow[i]->got;
	}
	return div64_u64(sum * sum, div_u64(squares * l->flows, 1000));
}

/* 100 Mbit/s x 40 ms with one packet in so many lost. 83 packets wait for 10 ms. */
static void hybrid_lines(struct kunit *test)
{
	static const struct {
		u32 loss, least;
	} t[] = { { 0, 930 }, { 1000, 930 }, { 100, 900 } };
	u32 i, share;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct line_sim *l = hybrid_line(test, 8333, 333);

		l->loss = t[i].loss;
		hybrid_add(test, l, 40000, 0);
		line_run(l, 5000);
		share = line_run(l, 30000);
		kunit_info(test, "row %u: share %u, queue %u", i, share, line_queue(l));
		KUNIT_EXPECT_GE_MSG(test, share, t[i].least, "row %u", i);
		if (!i)
			KUNIT_EXPECT_LE(test, line_queue(l), 83U);
	}
}

/* Flows that begin one after the other have equal shares. */
static void hybrid_shares(struct kunit *test)
{
	static const u32 t[] = { 4, LINE_FLOWS };
	u32 i, n, share;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct line_sim *l = hybrid_line(test, 8333, 333);

		for (n = 0; n < t[i]; n++)
			hybrid_add(test, l, 40000, n * 500);
		line_run(l, 30000);
		share = line_run(l, 30000);
		kunit_info(test, "%u flows: share %u, Jain's index %u, queue %u, at most %u", t[i],
			   share, hybrid_jain(l), line_queue(l), l->most);
		KUNIT_EXPECT_GE(test, share, 950U);
		KUNIT_EXPECT_GE(test, hybrid_jain(l), 950U);
	}
}

/* Flows that begin one after the other, with queues of 4 and 9 bandwidth-delay products: the first
 * overflow lets all compete, and the last ones do not know the path's round-trip time. They find
 * out that they are of a kind.
 */
static void hybrid_shares_deep(struct kunit *test)
{
	static const u32 queue[] = { 1333, 3000 }, gap[] = { 150, 250, 350, 700, 1500 };
	u32 i, n, k, ms, share;

	for (i = 0; i < ARRAY_SIZE(queue) * ARRAY_SIZE(gap); i++) {
		for (n = 2; n <= 4; n += 2) {
			struct line_sim *l = hybrid_line(test, 8333, queue[i % 2]);

			ms = gap[i / 2];
			for (k = 0; k < n; k++)
				hybrid_add(test, l, 40000, k * ms);
			line_run(l, (n - 1) * ms + 35000);
			share = line_run(l, 10000);
			kunit_info(test, "%u flows, queue of %u, %u ms: Jain's index %u, queue %u",
				   n, l->queue, ms, hybrid_jain(l), line_queue(l));
			KUNIT_EXPECT_GE_MSG(test, share, 950U, "%u flows, row %u", n, i);
			KUNIT_EXPECT_GE_MSG(test, hybrid_jain(l), 950U, "%u flows, row %u", n, i);
			KUNIT_EXPECT_LE_MSG(test, line_queue(l), 100U, "%u flows, row %u", n, i);
		}
	}
}

/* Beside a flow of cubic, with a queue of 2.4 ms, and of 1/4, 1 and 4 bandwidth-delay products: the
 * mean of runs in which one flow begins a while after the other
 */
static void hybrid_beside_cubic(struct kunit *test)
{
	static const u32 t[][2] = { { 20, 0 }, { 20, 1 }, { 83, 0 }, { 83, 1 }, { 333, 0 },
				    { 333, 1 }, { 1333, 0 }, { 1333, 1 } };
	u32 i, k, share, late, cubic_first;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		for (k = 0, share = 0; k < HYBRID_RUNS; k++) {
			struct line_sim *l = hybrid_line(test, 8333, t[i][0]);
			struct line_flow *x;

			late = 2000 + k * 357;
			cubic_first = t[i][1];
			x = hybrid_add(test, l, 40000, cubic_first ? late : 0);
			line_add(test, l, &sstp_ctrl_cubic, 40000, cubic_first ? 0 : late);
			line_run(l, 20000);
			line_run(l, 60000);
			share += div_u64(x->got * 1000ULL, x->got + l->flow[1]->got);
		}
		kunit_info(test, "queue of %u, %s first: share %u", t[i][0],
			   cubic_first ? "cubic" : "hybrid", share / HYBRID_RUNS);
		KUNIT_EXPECT_GE_MSG(test, share / HYBRID_RUNS, 250U, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, share / HYBRID_RUNS, 750U, "row %u", i);
	}
}

/* Four flows beside four of cubic, with a queue of 2.4 ms: each window is small, so many overflows
 * cost a flow a single packet, when it has not seen the queue yet.
 */
static void hybrid_short_queue(struct kunit *test)
{
	u32 k, i, share;

	for (k = 0; k < HYBRID_RUNS; k++) {
		struct line_sim *l = hybrid_line(test, 8333, 20);

		for (i = 0; i < 8; i++)
			line_add(test, l, i < 4 ? &sstp_ctrl_hybrid : &sstp_ctrl_cubic, 40000,
				 !i ? 0 : i < 4 ? 100 + k * 350 : k * 700);
		line_run(l, 12000);
		line_run(l, 38000);
		for (i = 0, share = 0; i < 4; i++)
			share += l->flow[i]->got;
		share = div_u64(share * 1000ULL, 38 * l->rate);
		kunit_info(test, "run %u: share %u", k, share);
		KUNIT_EXPECT_GE_MSG(test, share, 250U, "run %u", k);
		KUNIT_EXPECT_LE_MSG(test, share, 750U, "run %u", k);
	}
}

/* A queue of 1.2 ms, which is not seen: a flow alone uses the line, and as many flows of cubic
 * beside one or four flows keep a fifth of it.
 */
static void hybrid_unseen(struct kunit *test)
{
	struct line_sim *l = hybrid_line(test, 8333, 10);
	u32 i, k, n, share, cubic;

	hybrid_add(test, l, 40000, 0);
	line_run(l, 10000);
	share = line_run(l, 60000);
	kunit_info(test, "alone: share %u", share);
	KUNIT_EXPECT_GE(test, share, 800U);
	for (n = 1; n <= 4; n *= 4) {
		for (k = 0; k < HYBRID_RUNS; k++) {
			l = hybrid_line(test, 8333, 10);
			for (i = 0; i < 2 * n; i++)
				line_add(test, l, i % 2 ? &sstp_ctrl_cubic : &sstp_ctrl_hybrid,
					 40000, i % 2 ? 1000 + i * 50 + k * 357 : i * 50);
			line_run(l, 10000);
			line_run(l, 60000);
			for (i = 0, share = 0, cubic = 0; i < 2 * n; i += 2) {
				share += div_u64(l->flow[i]->got * 1000ULL, 60 * l->rate);
				cubic += div_u64(l->flow[i + 1]->got * 1000ULL, 60 * l->rate);
			}
			kunit_info(test, "%u flows, run %u: share %u, of cubic %u", n, k, share,
				   cubic);
			KUNIT_EXPECT_GE_MSG(test, cubic, 200U, "%u flows, run %u", n, k);
			KUNIT_EXPECT_GE_MSG(test, share, 400U, "%u flows, run %u", n, k);
		}
	}
}

/* 100 Mbit/s x 40 ms over a link that delivers in bursts and loses one packet in 100 */
static void hybrid_bursts(struct kunit *test)
{
	static const u32 t[] = { 5, 10 };	/* ms */
	u32 i, share;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct line_sim *l = hybrid_line(test, 8333, 333);

		l->loss = 100;
		l->burst = t[i] * NSEC_PER_MSEC;
		hybrid_add(test, l, 40000, 0);
		line_run(l, 15000);
		share = line_run(l, 15000);
		kunit_info(test, "bursts of %u ms: share %u", t[i], share);
		KUNIT_EXPECT_GE_MSG(test, share, 850U, "row %u", i);
	}
}

/* As many flows of cubic over such a link, whose queue of 5 ms the bursts of 10 ms hide */
static void hybrid_bursts_beside(struct kunit *test)
{
	static const u32 t[] = { 1, 4 };
	u32 i, k, n, share;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		for (k = 0, share = 0; k < HYBRID_RUNS; k++) {
			struct line_sim *l = hybrid_line(test, 8333, 40);

			l->burst = 10 * NSEC_PER_MSEC;
			for (n = 0; n < 2 * t[i]; n++)
				line_add(test, l, n % 2 ? &sstp_ctrl_cubic : &sstp_ctrl_hybrid,
					 40000, n * 100 + k * 357 * (n % 2));
			line_run(l, 12000);
			line_run(l, 38000);
			for (n = 0; n < 2 * t[i]; n += 2)
				share += div_u64(l->flow[n]->got * 1000ULL, 38 * l->rate);
		}
		kunit_info(test, "%u flows: share %u", t[i], share / HYBRID_RUNS);
		KUNIT_EXPECT_GE_MSG(test, share / HYBRID_RUNS, 250U, "row %u", i);
		KUNIT_EXPECT_LE_MSG(test, share / HYBRID_RUNS, 750U, "row %u", i);
	}
}

/* The path is longer from some time on: 8 s later the line is used. */
static void hybrid_longer(struct kunit *test)
{
	u32 i, n = sstp_test_rounds(20), share;

	for (i = 0; i < n; i++) {
		struct line_sim *l = hybrid_line(test, 4000, 400);
		struct line_flow *x = hybrid_add(test, l, 20000, 0);

		line_run(l, 4000 + i * 193);
		x->rtt = 100000;
		line_run(l, 8000);
		share = line_run(l, 4000);
		KUNIT_EXPECT_GE_MSG(test, share, 700U, "run %u", i);
	}
}

static struct kunit_case hybrid_line_cases[] = {
	KUNIT_CASE(hybrid_lines),
	KUNIT_CASE(hybrid_shares),
	KUNIT_CASE(hybrid_shares_deep),
	KUNIT_CASE(hybrid_beside_cubic),
	KUNIT_CASE(hybrid_short_queue),
	KUNIT_CASE(hybrid_unseen),
	KUNIT_CASE(hybrid_bursts),
	KUNIT_CASE(hybrid_bursts_beside),
	KUNIT_CASE(hybrid_longer),
	{}
};

static struct kunit_suite hybrid_line_suite = {
	.name = "sstp_hybrid_line",
	.test_cases = hybrid_line_cases,
};

kunit_test_suite(hybrid_line_suite);
