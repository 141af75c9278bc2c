// SPDX-License-Identifier: GPL-2.0
/* Rate and resource detection, against exact arithmetic and the paper's figures. */
#include "sstp_test.h"
#include "../rrda.c"
#include "rrda_vectors.h"

/* Sequence of bytes that come and are read, the same as in rrda_reference.py */
struct rrda_epochs {
	u64 state;
	u32 bits;
	u32 left;
	u32 rate;
	u32 lean;
	u64 came;
	u64 took;
	u32 used;
};

static u32 rrda_below(struct rrda_epochs *e, u32 n)
{
	e->state = e->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(e->state >> 33) % n;
}

static void rrda_next(struct rrda_epochs *e)
{
	if (!e->left) {
		e->left = 1 + rrda_below(e, 30);
		e->rate = (1U << rrda_below(e, e->bits)) - 1;
		e->lean = rrda_below(e, 5);
	}
	e->left--;
	e->came = e->rate + rrda_below(e, e->rate / 8 + 1);
	e->took = e->rate + rrda_below(e, e->rate / 8 + 1);
	if (e->lean == 0)
		e->took -= e->took / 4;
	else if (e->lean == 1)
		e->came -= e->came / 4;
	else if (e->lean == 3 && !rrda_below(e, 8))
		e->came *= 8;
	if (e->lean == 2) {
		e->came = 0;
		e->took = 0;
	}
	e->used = rrda_below(e, SSTP_RRDA_ONE + 1);
}

/* The size is never more than a byte off, after any number of epochs. */
static void rrda_exact(struct kunit *test)
{
	u32 i, n, got, want;

	for (i = 0; i < ARRAY_SIZE(rrda_vectors); i++) {
		const struct sstp_rrda_params *p = &rrda_vectors[i].params;
		struct rrda_epochs e = {
			.state = rrda_vectors[i].seed,
			.bits = rrda_vectors[i].bits,
		};
		struct sstp_rrda r;

		sstp_rrda_init(&r, p->ceiling / 2);
		for (n = 0; n < RRDA_EPOCHS; n++) {
			rrda_next(&e);
			want = rrda_vectors[i].size[n];
			got = sstp_rrda_epoch(&r, p, e.came, e.took, e.used);
			/* The exact size may be near a whole number, on either side. */
			KUNIT_ASSERT_TRUE_MSG(test, got - want + 1 <= 2,
					      "set %u epoch %u: %u, not %u",
					      i, n, got, want);
		}
	}
}

/* The three scenarios of the paper's figures 4 (no EMA) and 5 (omega 1/2): v_b in
 * each epoch, and whether the size grows or shrinks at its end.
 */
static const struct rrda_figure {
	const char *name;
	s32 surplus[10];
	u32 omega;
	s8 trend[10];
} rrda_figures[] = {
	{ "4a, alternating", { 4, -4, 4, -4, 4, -4, 4, -4, 4, -4 }, 1000, {} },
	{ "5a, alternating", { 4, -4, 4, -4, 4, -4, 4, -4, 4, -4 }, 500, {} },
	{ "4b, surplus", { 3, 5, 2, 4, 6, 3, 4, 2, 5, 3 }, 1000,
	  { 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ "5b, surplus", { 3, 5, 2, 4, 6, 3, 4, 2, 5, 3 }, 500,
	  { 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 } },
	/* Jumps in the first and eighth epoch hide the trend. */
	{ "4c, jumps", { -24, 2, -3, 1, -2, 1, -2, -20, 2, -3 }, 1000, {} },
	{ "5c, jumps", { -24, 2, -3, 1, -2, 1, -2, -20, 2, -3 }, 500,
	  { 0, 0, -1, -1, -1, -1, -1, -1, -1, -1 } },
};

static void rrda_scenarios(struct kunit *test)
{
	static const struct sstp_rrda_params paper = {
		.k = 3, .beta = 16, .ceiling = 1 << 30,
	};
	const u32 unit = 1 << 20, start = 1 << 29;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(rrda_figures); i++) {
		const struct rrda_figure *f = &rrda_figures[i];
		struct sstp_rrda_params p = paper;
		u32 was = start, size;
		struct sstp_rrda r;

		p.omega = f->omega;
		sstp_rrda_init(&r, start);
		for (n = 0; n < ARRAY_SIZE(f->surplus); n++) {
			s64 v = (s64)f->surplus[n] * unit;

			size = sstp_rrda_epoch(&r, &p, v > 0 ? v : 0,
					       v < 0 ? -v : 0,
					       SSTP_RRDA_ONE / 16);
			KUNIT_EXPECT_EQ_MSG(test, (size > was) - (size < was),
					    f->trend[n], "%s, epoch %u",
					    f->name, n);
			was = size;
		}
	}
}

/* Equations 5 and 6: full memory lets nothing grow, empty memory nothing shrink. */
static void rrda_memory(struct kunit *test)
{
	const struct sstp_rrda_params p = {
		.k = 1, .beta = 16, .omega = 1000, .ceiling = 1 << 30,
	};
	struct sstp_rrda r;
	u32 n;

	sstp_rrda_init(&r, 1 << 29);
	for (n = 1; n < 10; n++) {
		KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, 4096, 0,
						      SSTP_RRDA_ONE),
				1U << 29);
		KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, 0, 4096, 0),
				1U << 29);
	}
	for (n = 1; n < 10; n++)
		KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, 4096, 0, 0),
				(1U << 29) + n * 16 * 4096);
	for (n = 8; n; n--)
		KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, 0, 4096,
						      SSTP_RRDA_ONE),
				(1U << 29) + n * 16 * 4096);
}

/* Bytes without room are added, scaled by free memory unless that does not count. */
static void rrda_added(struct kunit *test)
{
	struct sstp_rrda_params p = {
		.k = 3, .beta = 16, .omega = 500, .floor = 4096, .ceiling = 1 << 20,
	};
	struct sstp_rrda r;

	sstp_rrda_init(&r, 8192);
	KUNIT_EXPECT_EQ(test, sstp_rrda_add(&r, &p, 0, 0), 8192U);
	KUNIT_EXPECT_EQ(test, sstp_rrda_add(&r, &p, 1000, 0), 9192U);
	KUNIT_EXPECT_EQ(test, sstp_rrda_add(&r, &p, 1000, SSTP_RRDA_ONE / 4),
			9942U);
	KUNIT_EXPECT_EQ(test, sstp_rrda_add(&r, &p, 1000, SSTP_RRDA_ONE), 9942U);
	p.blind = true;
	KUNIT_EXPECT_EQ(test, sstp_rrda_add(&r, &p, 58, SSTP_RRDA_ONE), 10000U);
	p.k = 1;
	p.omega = 1000;
	KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, 100, 0, SSTP_RRDA_ONE),
			11600U);
	KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, 0, 100, 0), 10000U);
	KUNIT_EXPECT_EQ(test, sstp_rrda_add(&r, &p, U64_MAX, 0), 1U << 20);
}

/* The size stays between floor and ceiling, and reaches both. */
static void rrda_limits(struct kunit *test)
{
	static const u32 ceilings[] = { 0, 1, 4096, 1 << 30, U32_MAX };
	static const u64 edges[] = { 0, 1, U32_MAX, BIT_ULL(34), U64_MAX };
	struct rnd_state rnd;
	struct sstp_rrda r;
	u32 i, n, size;

	sstp_test_seed_rnd(test, &rnd);
	for (i = 0; i < ARRAY_SIZE(ceilings); i++) {
		struct sstp_rrda_params p = {
			.k = 1, .beta = 1024, .omega = 1000,
			.floor = ceilings[i] / 4, .ceiling = ceilings[i],
		};

		sstp_rrda_init(&r, p.ceiling / 2);
		KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, U64_MAX, 0, 0),
				p.ceiling);
		KUNIT_EXPECT_EQ(test, sstp_rrda_epoch(&r, &p, 0, U64_MAX,
						      SSTP_RRDA_ONE), p.floor);
		for (n = 0; n < 10000; n++) {
			p.omega = sstp_rnd_range(&rnd, 1, 1000);
			p.k = sstp_rnd_range(&rnd, 1, 3);
			size = sstp_rrda_epoch(&r, &p,
					       edges[sstp_rnd_below(&rnd, 5)],
					       edges[sstp_rnd_below(&rnd, 5)],
					       sstp_rnd_range(&rnd, 0,
							      SSTP_RRDA_ONE));
			KUNIT_ASSERT_GE(test, size, p.floor);
			KUNIT_ASSERT_LE(test, size, p.ceiling);
		}
	}
}

static struct kunit_case rrda_cases[] = {
	KUNIT_CASE(rrda_exact),
	KUNIT_CASE(rrda_scenarios),
	KUNIT_CASE(rrda_memory),
	KUNIT_CASE(rrda_added),
	KUNIT_CASE(rrda_limits),
	{ }
};

static struct kunit_suite rrda_suite = {
	.name = "sstp_rrda",
	.test_cases = rrda_cases,
};

kunit_test_suite(rrda_suite);
