// SPDX-License-Identifier: GPL-2.0
/* highspeed: the table of RFC 3649, appendix B, and what follows from it */
#include "sstp_test.h"
#include "ctrl_sim.h"
#include "../ctrl_highspeed.c"

/* Rows of appendix B: w, a(w), b(w) in hundredths. Its w are computed with a rounded b(w), so
 * they differ by up to 0.2%.
 */
static void highspeed_rfc(struct kunit *test)
{
	static const struct {
		u32 w, a, b;
	} t[] = {
		{ 38, 1, 50 }, { 118, 2, 44 }, { 221, 3, 41 }, { 347, 4, 38 }, { 495, 5, 37 },
		{ 663, 6, 35 }, { 851, 7, 34 }, { 1058, 8, 33 }, { 1284, 9, 32 },
		{ 1529, 10, 31 }, { 1793, 11, 30 }, { 5050, 20, 25 }, { 11388, 31, 20 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		const struct sstp_highspeed_row *r = &sstp_highspeed_rows[t[i].a - 1];

		KUNIT_EXPECT_LE_MSG(test, abs_diff(r->window, t[i].w), t[i].w / 200 + 1,
				    "a %u", t[i].a);
		KUNIT_EXPECT_LE_MSG(test, abs_diff(r->decrease * 100U, t[i].b * 256), 256U,
				    "a %u", t[i].a);
	}
	for (i = 1; i < ARRAY_SIZE(sstp_highspeed_rows); i++) {
		KUNIT_EXPECT_GT(test, sstp_highspeed_rows[i].window,
				sstp_highspeed_rows[i - 1].window);
		KUNIT_EXPECT_LE(test, sstp_highspeed_rows[i].decrease,
				sstp_highspeed_rows[i - 1].decrease);
	}
}

/* In a round trip the window grows by the a of its row, whichever row it had before. */
static void highspeed_grows(struct kunit *test)
{
	const u32 rows = ARRAY_SIZE(sstp_highspeed_rows);
	struct ctrl_sim x;
	struct rnd_state r;
	u32 i, row, cwnd, next;

	sstp_test_seed_rnd(test, &r);
	ctrl_sim_start(&x, &sstp_ctrl_highspeed, 100000);
	for (i = 0; i < 1000; i++) {
		row = sstp_rnd_below(&r, rows);
		cwnd = sstp_highspeed_rows[row].window;
		next = row + 1 < rows ? sstp_highspeed_rows[row + 1].window : 2 * cwnd;
		cwnd = sstp_rnd_range(&r, cwnd, next - 1);
		ctrl_sim_avoid(&x, cwnd);
		((struct sstp_window *)x.c.priv)->count = 0;
		ctrl_sim_ack(&x, cwnd, 100000);
		KUNIT_ASSERT_EQ_MSG(test, x.c.cwnd, cwnd + row + 1, "window %u", cwnd);
		ctrl_sim_avoid(&x, cwnd);
		ctrl_sim_loss(&x);
		KUNIT_ASSERT_EQ_MSG(test, x.c.cwnd, cwnd - (u32)((u64)cwnd *
				    sstp_highspeed_rows[row].decrease / 256), "window %u", cwnd);
		KUNIT_ASSERT_EQ(test, ctrl_sim_state(&x, 0), (s64)x.c.cwnd);
		KUNIT_ASSERT_EQ(test, ctrl_sim_state(&x, 1), row + 1LL);
		KUNIT_ASSERT_EQ(test, ctrl_sim_state(&x, 2),
				(s64)sstp_highspeed_rows[row].decrease);
	}
	/* Up to 38 packets it is TCP. */
	ctrl_sim_avoid(&x, 20);
	((struct sstp_window *)x.c.priv)->count = 0;
	ctrl_sim_ack(&x, 20, 100000);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 21U);
	ctrl_sim_loss(&x);
	KUNIT_EXPECT_EQ(test, x.c.cwnd, 11U);
}

static struct kunit_case highspeed_cases[] = {
	KUNIT_CASE(highspeed_rfc),
	KUNIT_CASE(highspeed_grows),
	{}
};

static struct kunit_suite highspeed_suite = {
	.name = "sstp_highspeed",
	.test_cases = highspeed_cases,
};

kunit_test_suite(highspeed_suite);
