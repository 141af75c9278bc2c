// SPDX-License-Identifier: GPL-2.0
/* PACK and SNAK: their fields and entries */
#include "wire_test.h"

void wire_rnd_ack(struct rnd_state *r, struct sstp_ack *a)
{
	a->cid = sstp_rnd_edge(r);
	a->type = SSTP_PACK;
	a->flags = sstp_rnd_below(r, 2 * SSTP_F_ECN);
	a->entries = 0;
	a->control = sstp_rnd_edge(r);
	a->segment = sstp_rnd_edge(r);
	a->ack = sstp_rnd_edge(r);
	a->limit = sstp_rnd_edge(r);
	a->echo = sstp_rnd_edge(r);
	a->hold = sstp_rnd_edge(r);
	a->highest = sstp_rnd_edge(r);
	a->received = sstp_rnd_edge(r);
	a->arrival = sstp_rnd_edge(r);
	a->service = sstp_rnd_edge(r);
	a->late = sstp_rnd_edge(r);
	a->progress = (u16)sstp_rnd_edge(r);
	a->unsettled = sstp_rnd_edge(r);
	a->ect = a->flags & SSTP_F_ECN ? sstp_rnd_edge(r) : 0;
	a->ce = a->flags & SSTP_F_ECN ? sstp_rnd_edge(r) : 0;
}

static bool wire_ack_equal(const struct sstp_ack *a, const struct sstp_ack *b)
{
	return a->cid == b->cid && a->type == b->type &&
	       a->flags == b->flags && a->entries == b->entries &&
	       a->control == b->control && a->segment == b->segment &&
	       a->ack == b->ack && a->limit == b->limit &&
	       a->echo == b->echo && a->hold == b->hold &&
	       a->highest == b->highest && a->received == b->received &&
	       a->arrival == b->arrival && a->service == b->service &&
	       a->late == b->late && a->progress == b->progress &&
	       a->unsettled == b->unsettled && a->ect == b->ect && a->ce == b->ce;
}

static void wire_ack_layout(struct kunit *test)
{
	struct sstp_ack a = {
		.cid = 0x80000001, .type = SSTP_SNAK, .flags = 5,
		.entries = 0x0203, .control = 1, .segment = 2, .ack = 3,
		.limit = 4, .echo = 5, .hold = 6, .highest = 7, .received = 8,
		.arrival = 9, .service = 10, .late = 0x0b0c, .progress = 0x0d0e,
		.unsettled = 0x0f101112, .ect = 0x13141516, .ce = 0x1718191a,
	};
	u8 p[SSTP_ACK_HLEN_MAX] = {};
	u32 i;

	sstp_build_ack(p, &a);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p), 0x80000001U);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 4), 0x04050203U);
	for (i = 1; i <= 10; i++)
		KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 4 + 4 * i), i);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 48), 0x0b0c0d0eU);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 52), 0x0f101112U);
	KUNIT_EXPECT_EQ(test, sstp_ack_hlen(a.flags), 56U);
	/* Nothing is written beyond. */
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(p + 56), 0ULL);

	a.flags |= SSTP_F_ECN;
	sstp_build_ack(p, &a);
	KUNIT_EXPECT_EQ(test, sstp_ack_hlen(a.flags), 64U);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 4), 0x04150203U);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 52), 0x0f101112U);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 56), 0x13141516U);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(p + 60), 0x1718191aU);
}

static void wire_pack_round_trip(struct kunit *test)
{
	u8 whole[SSTP_ACK_HLEN_MAX + 8] = {};
	struct sstp_ack a, out;
	struct rnd_state r;
	u32 i, len;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 200; i++) {
		wire_rnd_ack(&r, &a);
		sstp_build_ack(whole, &a);
		for (len = 0; len <= sizeof(whole); len++) {
			void *p = wire_copy(test, whole, len);
			bool ok = sstp_parse_ack(p, len, &out);

			KUNIT_ASSERT_EQ(test, ok, len >= sstp_ack_hlen(a.flags));
			if (ok)
				KUNIT_ASSERT_TRUE(test,
						  wire_ack_equal(&a, &out));
		}
		a.entries = sstp_rnd_range(&r, 1, U16_MAX);
		sstp_build_ack(whole, &a);
		KUNIT_ASSERT_FALSE(test, sstp_parse_ack(whole, sizeof(whole),
							&out));
	}
}

/* Fields of a PACK, as drawn in sstp-protocol.rst */
static void wire_fields_layout(struct kunit *test)
{
	static const u8 want[SSTP_FIELDS_MAX + 1] = {
		1, 8, 0x01, 0x02, 0x03, 0x04, 0, 0, 0x05, 0x06,
		2, 8, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
		3, 8, 0x00, 0x10, 0x11, 0x12, 0, 0, 0, 0,
	};
	struct sstp_ack a = {
		.fields = BIT(SSTP_FIELD_FORECAST) | BIT(SSTP_FIELD_QUEUE) |
			  BIT(SSTP_FIELD_SEGMENT),
		.forecast = 0x01020304, .horizon = 0x0506, .queue = 0x0708090a,
		.refused = 0x0b0c0d0e, .most = 0x00101112,
	};
	u8 p[SSTP_FIELDS_MAX + 1] = {};

	KUNIT_EXPECT_EQ(test, sstp_build_fields(p, &a), SSTP_FIELDS_MAX);
	KUNIT_EXPECT_MEMEQ(test, p, want, sizeof(want));
	a.fields = 0;
	KUNIT_EXPECT_EQ(test, sstp_build_fields(p, &a), 0U);
}

/* A PACK with @len bytes of fields at @p, or a SNAK with those as an entry */
static bool wire_parse_fields(struct kunit *test, struct sstp_ack *a, const u8 *p, u32 len)
{
	u8 whole[SSTP_ACK_HLEN_MAX + 64];
	u32 head = sstp_ack_hlen(a->flags);

	sstp_build_ack(whole, a);
	memcpy(whole + head, p, len);
	return sstp_parse_ack(wire_copy(test, whole, head + len), head + len, a);
}

static void wire_fields(struct kunit *test)
{
	static const struct {
		u32 len;
		u32 fields, forecast, horizon, queue, refused;
		u8 p[40];
		u32 most;
	} t[] = {
		{ 0 },
		{ 20, 6, 600000, 10, 65536, 3,
		  { 1, 8, 0, 9, 0x27, 0xc0, 0, 0, 0, 10, 2, 8, 0, 1, 0, 0, 0, 0, 0, 3 } },
		/* Bounds */
		{ 20, 6, SSTP_FORECAST_MAX, SSTP_HORIZON_MAX, SSTP_QUEUE_MAX, SSTP_QUEUE_MAX,
		  { 1, 8, 255, 255, 255, 255, 255, 255, 255, 255,
		    2, 8, 255, 255, 255, 255, 255, 255, 255, 255 } },
		{ 10, 2, 0, 1, 0, 0, { 1, 8 } },
		/* Longer than known, behind an unknown one, and before an empty one */
		{ 19, 4, 0, 0, 1, 2, { 9, 3, 1, 2, 3, 2, 10, 0, 0, 0, 1, 0, 0, 0, 2, 7, 7, 3, 0 } },
		/* Too short for what is known of it */
		{ 9, 0, 0, 0, 0, 0, { 1, 7, 1, 2, 3, 4, 5, 6, 7 } },
		/* Segments of 128 KB at most, and of a size that there is */
		{ 10, 8, 0, 0, 0, 0, { 3, 8, 0, 2, 0, 0, 9, 9, 9, 9 }, 131072 },
		{ 10, 8, 0, 0, 0, 0, { 3, 8 }, 1 },
		{ 10, 8, 0, 0, 0, 0, { 3, 8, 255, 255, 255, 255 }, SSTP_SEGMENT_MAX },
		/* Not there in full: the rest is ignored. */
		{ 1, 0, 0, 0, 0, 0, { 1 } },
		{ 9, 0, 0, 0, 0, 0, { 1, 8, 1, 2, 3, 4, 5, 6, 7 } },
		{ 12, 2, 1, 1, 0, 0, { 1, 8, 0, 0, 0, 1, 0, 0, 0, 1, 2, 1 } },
		{ 13, 0, 0, 0, 0, 0, { 3, 255, 0, 1, 8, 0, 0, 0, 1, 0, 0, 0, 1 } },
		/* The last one of a type counts. */
		{ 20, 4, 0, 0, 3, 4,
		  { 2, 8, 0, 0, 0, 1, 0, 0, 0, 2, 2, 8, 0, 0, 0, 3, 0, 0, 0, 4 } },
	};
	u32 i, ecn;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		for (ecn = 0; ecn <= SSTP_F_ECN; ecn += SSTP_F_ECN) {
			struct sstp_ack a = { .type = SSTP_PACK, .flags = ecn, .fields = U32_MAX };

			KUNIT_ASSERT_TRUE(test, wire_parse_fields(test, &a, t[i].p, t[i].len));
			KUNIT_EXPECT_EQ_MSG(test, a.fields, t[i].fields, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, a.forecast, t[i].forecast, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, a.horizon, t[i].horizon, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, a.queue, t[i].queue, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, a.refused, t[i].refused, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, a.most, t[i].most, "row %u", i);
		}
	}
}

/* Fields that are built are parsed as they were, and no byte of a SNAK is a field. */
static void wire_fields_round_trip(struct kunit *test)
{
	struct rnd_state r;
	u8 p[64] = {};
	u32 i, n;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 1000; i++) {
		struct sstp_ack a = { .type = SSTP_PACK }, out;

		a.fields = sstp_rnd_below(&r, 8) << 1;
		a.forecast = a.fields & 2 ? sstp_rnd_below(&r, SSTP_FORECAST_MAX + 1) : 0;
		a.horizon = a.fields & 2 ? sstp_rnd_range(&r, 1, SSTP_HORIZON_MAX) : 0;
		a.queue = a.fields & 4 ? sstp_rnd_below(&r, SSTP_QUEUE_MAX + 1) : 0;
		a.refused = a.fields & 4 ? sstp_rnd_below(&r, SSTP_QUEUE_MAX + 1) : 0;
		a.most = a.fields & 8 ? sstp_rnd_range(&r, 1, SSTP_SEGMENT_MAX) : 0;
		n = sstp_build_fields(p, &a);
		out = a;
		KUNIT_ASSERT_TRUE(test, wire_parse_fields(test, &out, p, n));
		KUNIT_ASSERT_MEMEQ(test, &out, &a, sizeof(a));
	}
	memset(p, 0, sizeof(p));
	p[5] = 8;	/* packets 0 on: eight whole segments of an entry without a bitmap */
	for (n = 0; n < 2; n++) {
		struct sstp_ack a = { .type = SSTP_SNAK, .entries = 1 };

		KUNIT_EXPECT_EQ(test, wire_parse_fields(test, &a, p, n ? 18 : 8), !n);
		KUNIT_EXPECT_EQ(test, a.fields, 0U);
	}
}

/* A DATA packet of one byte or an EOS follows a PACK; nothing else does, and nothing follows a
 * SNAK.
 */
static void wire_pack_data(struct kunit *test)
{
	u8 whole[SSTP_RIDE_HLEN + 1];
	static const u8 types[] = { SSTP_DATA, SSTP_DATA, SSTP_DATA, SSTP_EOS, SSTP_EOS,
				    SSTP_KEEPALIVE };
	struct sstp_data d = { .flags = SSTP_F_LAST, .len = 1 };
	struct sstp_ack a, out;
	struct rnd_state r;
	u32 i, len, head;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 200; i++) {
		wire_rnd_ack(&r, &a);
		a.flags |= SSTP_F_DATA;
		head = sstp_ack_hlen(a.flags);
		memset(whole, 0, sizeof(whole));
		d.type = types[sstp_rnd_below(&r, ARRAY_SIZE(types))];
		d.cid = sstp_rnd_one_in(&r, 8) ? ~a.cid : a.cid;
		a.type = sstp_rnd_one_in(&r, 8) ? SSTP_SNAK : SSTP_PACK;
		sstp_build_ack(whole, &a);
		sstp_build_data(whole + head, &d);
		for (len = 0; len <= head + SSTP_DATA_HLEN + 1; len++) {
			bool ok = sstp_parse_ack(wire_copy(test, whole, len), len, &out);

			KUNIT_ASSERT_EQ(test, ok, len >= head + SSTP_DATA_HLEN &&
					d.type == (len == head + SSTP_DATA_HLEN ? SSTP_EOS :
						   SSTP_DATA) &&
					d.cid == a.cid && a.type == SSTP_PACK);
			if (ok)
				KUNIT_ASSERT_EQ(test, out.data, head);
		}
	}
}

u32 wire_build_snak(struct rnd_state *r, u8 *p, struct sstp_ack *a, struct wire_entry *e, u32 n)
{
	u32 base = sstp_rnd_edge(r), i, k;
	u8 *start = p;
	u64 pos = 0;

	wire_rnd_ack(r, a);
	a->type = SSTP_SNAK;
	a->entries = n;
	sstp_build_ack(p, a);
	p += sstp_ack_hlen(a->flags);
	for (i = 0; i < n; i++, e++) {
		/* Right after the entry before, or later */
		if (sstp_rnd_one_in(r, 2))
			pos += sstp_rnd_below(r, 1 << sstp_rnd_range(r, 0, 24));
		e->bits = sstp_rnd_below(r, 32 * ARRAY_SIZE(e->map) + 1);
		if (e->bits) {
			e->first = pos;
			e->bits = min_t(u32, e->bits, 65536 - e->first);
			e->segment = base + (pos >> 16);
			pos += e->bits;
		} else {
			e->first = sstp_rnd_below(r, 65536);
			e->segment = base + DIV_ROUND_UP_ULL(pos, 65536);
			pos = (DIV_ROUND_UP_ULL(pos, 65536) + e->first) << 16;
		}
		put_unaligned_be32(e->segment, p);
		put_unaligned_be16(e->first, p + 4);
		put_unaligned_be16(e->bits, p + 6);
		p += sizeof(struct sstp_snak_entry);
		for (k = 0; k < DIV_ROUND_UP(e->bits, 32); k++, p += 4) {
			e->map[k] = prandom_u32_state(r);
			put_unaligned_be32(e->map[k], p);
		}
	}
	return p - start;
}

static void wire_snak_entries(struct kunit *test)
{
	struct wire_entry *e;
	struct sstp_ack a, out;
	struct rnd_state r;
	u32 i, k, n, len;
	u8 *whole;

	sstp_test_seed_rnd(test, &r);
	e = kunit_kcalloc(test, 16, sizeof(*e), GFP_KERNEL);
	whole = kunit_kzalloc(test, 1024, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_ASSERT_NOT_NULL(test, whole);
	for (i = 0; i < 5000; i++) {
		struct sstp_snak_iter it;
		struct sstp_snak_run run;
		void *p;

		n = sstp_rnd_range(&r, 1, 16);
		len = wire_build_snak(&r, whole, &a, e, n);
		p = wire_copy(test, whole, len);
		KUNIT_ASSERT_TRUE(test, sstp_parse_ack(p, len, &out));
		KUNIT_ASSERT_TRUE(test, wire_ack_equal(&a, &out));
		sstp_snak_start(&it, p, len, &out);
		for (k = 0; sstp_snak_next(&it, &run); k++) {
			u32 b;

			KUNIT_ASSERT_LT(test, k, n);
			KUNIT_ASSERT_EQ(test, run.segment, e[k].segment);
			KUNIT_ASSERT_EQ(test, run.first, e[k].first);
			KUNIT_ASSERT_EQ(test, run.bits, e[k].bits);
			for (b = 0; b < run.bits; b++)
				if (sstp_snak_wanted(&run, b) !=
				    !(e[k].map[b / 32] << b % 32 >> 31))
					break;
			KUNIT_ASSERT_EQ(test, b, run.bits);
		}
		KUNIT_ASSERT_EQ(test, k, n);
		KUNIT_ASSERT_PTR_EQ(test, it.p, it.end);
	}
}

/* Every other length, and every other number of entries, is malformed. */
static void wire_snak_lengths(struct kunit *test)
{
	struct wire_entry *e;
	struct sstp_ack a, out;
	struct rnd_state r;
	u32 i, len, cut;
	u8 *whole;

	sstp_test_seed_rnd(test, &r);
	e = kunit_kcalloc(test, 8, sizeof(*e), GFP_KERNEL);
	whole = kunit_kzalloc(test, 1024, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_ASSERT_NOT_NULL(test, whole);
	for (i = 0; i < 300; i++) {
		len = wire_build_snak(&r, whole, &a, e,
				      sstp_rnd_range(&r, 1, 8));
		for (cut = 0; cut <= len + 16; cut++) {
			void *p = wire_copy(test, whole, cut);
			bool ok = sstp_parse_ack(p, cut, &out);

			KUNIT_ASSERT_EQ_MSG(test, ok, cut == len,
					    "%u bytes of %u", cut, len);
		}
		a.entries--;
		sstp_build_ack(whole, &a);
		KUNIT_ASSERT_FALSE(test, sstp_parse_ack(whole, len, &out));
		a.entries += 2;
		sstp_build_ack(whole, &a);
		KUNIT_ASSERT_FALSE(test, sstp_parse_ack(whole, len, &out));
	}
	a.entries = 0;
	sstp_build_ack(whole, &a);
	KUNIT_EXPECT_FALSE(test, sstp_parse_ack(whole, sstp_ack_hlen(a.flags), &out));
}

static void wire_snak_bounds(struct kunit *test)
{
	static const struct {
		u16 first;
		u16 bits;
		bool ok;
	} t[] = {
		{ 0, 0, true },
		{ U16_MAX, 0, true },
		{ 0, U16_MAX, true },
		{ U16_MAX, 1, true },
		{ U16_MAX, 2, false },
		{ 1, U16_MAX, true },
		{ 2, U16_MAX, false },
		{ U16_MAX, U16_MAX, false },
	};
	struct sstp_ack a = { .type = SSTP_SNAK, .entries = 1 }, out;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		u32 len = sizeof(struct sstp_ack_hdr) +
			  sizeof(struct sstp_snak_entry) +
			  DIV_ROUND_UP(t[i].bits, 32) * 4;
		u8 *p = wire_buf(test, len);

		memset(p, 0, len);
		sstp_build_ack(p, &a);
		put_unaligned_be16(t[i].first, p + 60);
		put_unaligned_be16(t[i].bits, p + 62);
		KUNIT_EXPECT_EQ_MSG(test, sstp_parse_ack(p, len, &out),
				    t[i].ok, "row %u", i);
		kfree(p);
	}
}

/* Entries ascend: none asks for packets before the end of the previous one. */
static void wire_snak_order(struct kunit *test)
{
	static const struct {
		u8 n;
		struct {
			u32 segment;
			u16 first;
			u16 bits;
		} e[3];
		bool ok;
	} t[] = {
		{ 2, { { 7, 3, 0 }, { 10, 1, 0 } }, true },
		{ 2, { { 7, 3, 0 }, { 9, 1, 0 } }, false },
		{ 2, { { 7, 1, 0 }, { 7, 1, 0 } }, false },
		{ 2, { { 7, 3, 0 }, { 9, 0, 32 } }, false },
		{ 2, { { 7, 3, 0 }, { 10, 0, 32 } }, true },
		{ 2, { { 7, 0, 0 }, { 7, 0, 0 } }, true },
		{ 2, { { 7, 0, 32 }, { 7, 32, 32 } }, true },
		{ 2, { { 7, 0, 32 }, { 7, 31, 32 } }, false },
		{ 2, { { 7, 64, 32 }, { 7, 0, 32 } }, false },
		{ 2, { { 7, 0, 1 }, { 7, 1, 0 } }, false },
		{ 2, { { 7, 0, 1 }, { 8, 1, 0 } }, true },
		{ 2, { { 7, 65535, 1 }, { 8, 0, 1 } }, true },
		{ 2, { { 7, 0, 65535 }, { 7, 65535, 1 } }, true },
		{ 2, { { 8, 0, 32 }, { 7, 0, 32 } }, false },
		{ 2, { { 8, 1, 0 }, { 7, 1, 0 } }, false },
		{ 2, { { -1, 1, 0 }, { 0, 1, 0 } }, true },
		{ 2, { { -1, 2, 0 }, { 0, 1, 0 } }, false },
		{ 2, { { 0, 1, 0 }, { -1, 1, 0 } }, false },
		{ 2, { { 0, 1, 0 }, { 0x7fffffff, 1, 0 } }, true },
		{ 2, { { 0, 1, 0 }, { 0x80000000, 1, 0 } }, false },
		/* Numbers that go once around */
		{ 3, { { 0, 1, 0 }, { 0x70000000, 1, 0 }, { 0, 1, 0 } }, false },
		{ 3, { { 0, 1, 0 }, { 0x70000000, 1, 0 },
		       { 0xe0000000, 1, 0 } }, false },
	};
	struct sstp_ack a = { .type = SSTP_SNAK }, out;
	u32 i, k, len;
	u8 *p;

	p = kunit_kzalloc(test, 16384, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		a.entries = t[i].n;
		sstp_build_ack(p, &a);
		len = sizeof(struct sstp_ack_hdr);
		for (k = 0; k < t[i].n; k++) {
			put_unaligned_be32(t[i].e[k].segment, p + len);
			put_unaligned_be16(t[i].e[k].first, p + len + 4);
			put_unaligned_be16(t[i].e[k].bits, p + len + 6);
			len += sizeof(struct sstp_snak_entry) +
			       DIV_ROUND_UP(t[i].e[k].bits, 32) * 4;
		}
		KUNIT_EXPECT_EQ_MSG(test, sstp_parse_ack(p, len, &out),
				    t[i].ok, "row %u", i);
	}
}

static struct kunit_case wire_ack_cases[] = {
	KUNIT_CASE(wire_ack_layout),
	KUNIT_CASE(wire_pack_round_trip),
	KUNIT_CASE(wire_fields_layout),
	KUNIT_CASE(wire_fields),
	KUNIT_CASE(wire_fields_round_trip),
	KUNIT_CASE(wire_pack_data),
	KUNIT_CASE(wire_snak_entries),
	KUNIT_CASE(wire_snak_lengths),
	KUNIT_CASE(wire_snak_bounds),
	KUNIT_CASE(wire_snak_order),
	{ }
};

static struct kunit_suite wire_ack_suite = {
	.name = "sstp_wire_ack",
	.suite_init = wire_pool_alloc,
	.suite_exit = wire_pool_free,
	.test_cases = wire_ack_cases,
};

kunit_test_suite(wire_ack_suite);
