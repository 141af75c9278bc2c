// SPDX-License-Identifier: GPL-2.0
/*
 * Parsers and builders of packets. Every buffer is allocated with the size that the
 * parser gets, so that KASAN sees reads beyond it.
 */
#include "sstp_test.h"
#include "../wire.c"

#define WIRE_RANDOM	1000000
#define WIRE_POOL	1024

static void *wire_pool[WIRE_POOL + 1];	/* a buffer of each size */

static void *wire_buf(struct kunit *test, u32 len)
{
	void *p = kmalloc(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/* A copy of @len bytes of @p that ends where its allocation ends; valid until the next copy of
 * this size
 */
static void *wire_copy(struct kunit *test, const void *p, u32 len)
{
	KUNIT_ASSERT_LE(test, len, WIRE_POOL);
	return memcpy(wire_pool[len], p, len);
}

/* --- DATA, KEEPALIVE, EOS --------------------------------------------------- */

static void wire_rnd_data(struct rnd_state *r, struct sstp_data *d)
{
	memset(d, 0, sizeof(*d));
	d->cid = sstp_rnd_edge(r);
	d->shipment = sstp_rnd_edge(r);
	d->segment = sstp_rnd_edge(r);
	d->stamp = sstp_rnd_edge(r);
}

/* Fields of packet @packet of a segment of @len bytes in packets of @size bytes */
static void wire_cut(struct sstp_data *d, u32 len, u32 size, u32 packet)
{
	u32 packets = DIV_ROUND_UP(len, size);

	d->type = SSTP_DATA;
	d->len = len;
	d->packet = packet;
	d->bytes = size;
	d->flags = 0;
	if (packet + 1 == packets) {
		d->flags = SSTP_F_LAST;
		d->bytes = len - size * packet;
	}
}

/* Is there a packet size with which a sender could send this packet? */
static bool wire_sendable(const struct sstp_data *d)
{
	u32 lo = 1, hi = d->len, size;

	if (!d->len || d->len > SSTP_SEGMENT_MAX)
		return false;
	if (!(d->flags & SSTP_F_LAST)) {
		lo = d->bytes;
		hi = d->bytes;
	}
	for (size = lo; size && size <= hi; size++) {
		u32 packets = DIV_ROUND_UP(d->len, size);
		struct sstp_data c;

		if (packets > SSTP_PACKETS_MAX || d->packet >= packets)
			continue;
		wire_cut(&c, d->len, size, d->packet);
		if (c.bytes == d->bytes && c.flags == d->flags)
			return true;
	}
	return false;
}

static bool wire_parse_data(struct kunit *test, const struct sstp_data *d,
			    struct sstp_data *out)
{
	void *p = wire_buf(test, SSTP_DATA_HLEN + d->bytes);
	bool ok;

	sstp_build_data(p, d);
	ok = sstp_parse_data(p, SSTP_DATA_HLEN + d->bytes, out);
	kfree(p);
	return ok;
}

static void wire_data_layout(struct kunit *test)
{
	static const u8 want[SSTP_DATA_HLEN] = {
		0x01, 0x02, 0x03, 0x04, 0, SSTP_F_LAST | SSTP_F_EOR, 0x05, 0x06,
		0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
		0x00, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
	};
	const struct sstp_data d = {
		.cid = 0x01020304, .type = SSTP_DATA,
		.flags = SSTP_F_LAST | SSTP_F_EOR, .packet = 0x0506,
		.shipment = 0x0708090a, .segment = 0x0b0c0d0e,
		.len = 0x00101112, .stamp = 0x13141516,
	};
	u8 p[SSTP_DATA_HLEN];

	sstp_build_data(p, &d);
	KUNIT_EXPECT_MEMEQ(test, p, want, sizeof(want));
}

static void wire_data_lengths(struct kunit *test)
{
	struct sstp_data d, out;
	struct rnd_state r;
	u8 type;
	u32 len;

	sstp_test_seed_rnd(test, &r);
	for (type = 0; type <= SSTP_EOS; type++) {
		for (len = 0; len <= 200; len++) {
			u8 whole[SSTP_DATA_HLEN + 200] = {};
			void *p;
			bool ok;

			wire_rnd_data(&r, &d);
			if (len > SSTP_DATA_HLEN)
				wire_cut(&d, len - SSTP_DATA_HLEN,
					 len - SSTP_DATA_HLEN, 0);
			d.type = type;
			sstp_build_data(whole, &d);
			p = wire_copy(test, whole, len);
			ok = sstp_parse_data(p, len, &out);
			KUNIT_ASSERT_EQ_MSG(test, ok, type == SSTP_DATA ?
					    len > SSTP_DATA_HLEN :
					    len >= SSTP_DATA_HLEN,
					    "type %u, %u bytes", type, len);
			if (ok)
				KUNIT_ASSERT_EQ(test, out.bytes,
						len - SSTP_DATA_HLEN);
		}
	}
}

static void wire_data_round_trip(struct kunit *test)
{
	struct sstp_data d, out;
	struct rnd_state r;
	u32 i;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 20000; i++) {
		u32 size = sstp_rnd_range(&r, 1, 3000);
		u32 len = sstp_rnd_range(&r, 1, min(SSTP_SEGMENT_MAX,
						    size * SSTP_PACKETS_MAX));

		wire_rnd_data(&r, &d);
		wire_cut(&d, len, size,
			 sstp_rnd_below(&r, DIV_ROUND_UP(len, size)));
		if (sstp_rnd_one_in(&r, 2))
			d.flags |= SSTP_F_AGAIN;
		if (sstp_rnd_one_in(&r, 2))
			d.flags |= SSTP_F_ACK | SSTP_F_EOR;
		if (sstp_rnd_one_in(&r, 4)) {
			/* In KEEPALIVE and EOS these fields have no limits. */
			d.type = sstp_rnd_range(&r, SSTP_KEEPALIVE, SSTP_EOS);
			d.packet = sstp_rnd_edge(&r);
			d.len = sstp_rnd_edge(&r);
		}
		memset(&out, 0xff, sizeof(out));
		KUNIT_ASSERT_TRUE_MSG(test, wire_parse_data(test, &d, &out),
				      "packet %u of %u bytes of %u", d.packet,
				      d.bytes, d.len);
		KUNIT_ASSERT_EQ(test, out.cid, d.cid);
		KUNIT_ASSERT_EQ(test, out.type, d.type);
		KUNIT_ASSERT_EQ(test, out.flags, d.flags);
		KUNIT_ASSERT_EQ(test, out.packet, d.packet);
		KUNIT_ASSERT_EQ(test, out.shipment, d.shipment);
		KUNIT_ASSERT_EQ(test, out.segment, d.segment);
		KUNIT_ASSERT_EQ(test, out.len, d.len);
		KUNIT_ASSERT_EQ(test, out.stamp, d.stamp);
		KUNIT_ASSERT_EQ(test, out.bytes, d.bytes);
	}
}

/* All small segments: packets are accepted exactly if a correct sender could send them. */
static void wire_data_geometry(struct kunit *test)
{
	u8 *p = wire_buf(test, SSTP_DATA_HLEN + 32);
	struct sstp_data d = {}, out;
	u32 accepted = 0;

	for (d.len = 0; d.len <= 30; d.len++)
		for (d.bytes = 0; d.bytes <= 32; d.bytes++)
			for (d.packet = 0; d.packet <= 32; d.packet++)
				for (d.flags = 0; d.flags <= 1; d.flags++) {
					bool ok, want = wire_sendable(&d);

					if (!d.bytes)
						want = false;
					sstp_build_data(p, &d);
					ok = sstp_parse_data(p, SSTP_DATA_HLEN +
							     d.bytes, &out);
					accepted += ok;
					KUNIT_ASSERT_EQ_MSG(test, ok, want,
							    "packet %u, flags %u, %u bytes of %u",
							    d.packet, d.flags,
							    d.bytes, d.len);
				}
	kfree(p);
	KUNIT_EXPECT_GT(test, accepted, 900U);
}

static void wire_data_edges(struct kunit *test)
{
	static const struct {
		u32 len;
		u32 bytes;
		u16 packet;
		u8 flags;
		bool ok;
	} t[] = {
		{ 1, 1, 0, SSTP_F_LAST, true },
		{ 1, 1, 0, 0, false },			/* the last packet without its flag */
		{ 2, 1, 0, 0, true },
		{ 2, 1, 0, SSTP_F_LAST, false },
		{ 2, 1, 1, SSTP_F_LAST, true },
		{ 0, 1, 0, SSTP_F_LAST, false },
		{ 3, 2, 1, SSTP_F_LAST, false },	/* larger than the first */
		{ SSTP_SEGMENT_MAX, 1448, 0, 0, true },
		{ SSTP_SEGMENT_MAX + 1, 1448, 0, 0, false },
		{ U32_MAX, 1448, 0, 0, false },
		{ U32_MAX, 1448, 0, SSTP_F_LAST, false },
		/* The largest number of packets, and one more */
		{ 65535 * 8, 8, 65534, SSTP_F_LAST, true },
		{ 65535 * 8, 8, 65533, 0, true },
		{ 65535 * 8, 8, 65534, 0, false },
		{ 65535 * 8 + 1, 8, 0, 0, false },
		{ 65535 * 8 + 1, 1, 65535, SSTP_F_LAST, false },
		{ 65536 * 8, 8, 65535, SSTP_F_LAST, false },
		{ 65536 * 8, 8, 65535, 0, false },
		{ SSTP_SEGMENT_MAX, 256, 65535, SSTP_F_LAST, false },
		{ SSTP_SEGMENT_MAX, 257, 65279, 0, true },
		{ SSTP_SEGMENT_MAX, 257, 65280, 0, false },
		{ SSTP_SEGMENT_MAX, 256, 65280, SSTP_F_LAST, true },
		{ SSTP_SEGMENT_MAX, 1, 1, SSTP_F_LAST, true },
	};
	struct sstp_data d = {}, out;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		d.len = t[i].len;
		d.bytes = t[i].bytes;
		d.packet = t[i].packet;
		d.flags = t[i].flags;
		KUNIT_EXPECT_EQ_MSG(test, wire_parse_data(test, &d, &out),
				    t[i].ok, "row %u", i);
	}
}

/* --- PACK, SNAK ------------------------------------------------------------- */

static void wire_rnd_ack(struct rnd_state *r, struct sstp_ack *a)
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

struct wire_entry {
	u32	segment;
	u16	first;
	u16	bits;
	u32	map[6];
};

/* A SNAK of @n random entries, in order, at @p; returns its length. */
static u32 wire_build_snak(struct rnd_state *r, u8 *p, struct sstp_ack *a,
			   struct wire_entry *e, u32 n)
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

/* --- INIT, INIT_ACK ----------------------------------------------------------- */

static void wire_rnd_name(struct rnd_state *r, char *name)
{
	u32 n = sstp_rnd_below(r, SSTP_NAME_MAX), i;

	memset(name, 0, SSTP_NAME_MAX);
	for (i = 0; i < n; i++)
		name[i] = sstp_rnd_range(r, '!', '~');
}

static void wire_rnd_init(struct rnd_state *r, struct sstp_init *i)
{
	u32 k;

	memset(i, 0, sizeof(*i));
	i->type = sstp_rnd_range(r, SSTP_INIT, SSTP_INIT_ACK);
	i->cid = sstp_rnd_edge(r);
	i->peer_cid = sstp_rnd_range(r, 1, U32_MAX - 1);
	i->sport = sstp_rnd_edge(r);
	i->dport = sstp_rnd_range(r, 1, U16_MAX);
	i->shipment = sstp_rnd_edge(r);
	i->segment = sstp_rnd_edge(r);
	i->window = sstp_rnd_edge(r);
	i->limit = sstp_rnd_range(r, SSTP_SEGMENT_LIMIT_MIN, SSTP_SEGMENT_MAX);
	i->stamp = sstp_rnd_edge(r);
	i->echo = sstp_rnd_edge(r);
	i->hold = sstp_rnd_edge(r);
	i->version = sstp_rnd_edge(r);
	i->sktype = sstp_rnd_edge(r);
	if (sstp_rnd_one_in(r, 2)) {
		i->p.rate.peak = 1000ULL * sstp_rnd_range(r, 1, U32_MAX - 1);
		i->p.rate.average = 1000ULL * sstp_rnd_edge(r);
		i->p.rate.burst_rate = sstp_rnd_edge(r);
		i->p.rate.burst_len = sstp_rnd_edge(r);
	}
	if (sstp_rnd_one_in(r, 2))
		i->p.rate_limit = 1000ULL * sstp_rnd_edge(r);
	if (sstp_rnd_one_in(r, 2))
		i->p.segment_size = sstp_rnd_below(r, SSTP_SEGMENT_MAX + 1);
	if (sstp_rnd_one_in(r, 2))
		i->p.tolerance = sstp_rnd_below(r, 1000001);
	i->p.strategy = sstp_rnd_below(r, 2);
	if (sstp_rnd_one_in(r, 2))
		wire_rnd_name(r, i->p.ctrl);
	if (sstp_rnd_one_in(r, 2))
		wire_rnd_name(r, i->p.policy);
	i->p.messages = sstp_rnd_one_in(r, 2);
	i->p.ecn = sstp_rnd_one_in(r, 2);
	i->p.has_cookie = sstp_rnd_one_in(r, 2);
	for (k = 0; i->p.has_cookie && k < SSTP_COOKIE_LEN; k++)
		i->p.cookie[k] = prandom_u32_state(r);
}

static bool wire_init_equal(const struct sstp_init *a,
			    const struct sstp_init *b)
{
	return a->type == b->type && a->cid == b->cid &&
	       a->peer_cid == b->peer_cid && a->sport == b->sport &&
	       a->dport == b->dport && a->shipment == b->shipment &&
	       a->segment == b->segment && a->window == b->window &&
	       a->limit == b->limit && a->stamp == b->stamp &&
	       a->echo == b->echo && a->hold == b->hold &&
	       a->version == b->version && a->sktype == b->sktype &&
	       a->p.rate.peak == b->p.rate.peak &&
	       a->p.rate.average == b->p.rate.average &&
	       a->p.rate.burst_rate == b->p.rate.burst_rate &&
	       a->p.rate.burst_len == b->p.rate.burst_len &&
	       a->p.rate_limit == b->p.rate_limit &&
	       a->p.segment_size == b->p.segment_size &&
	       a->p.tolerance == b->p.tolerance &&
	       a->p.strategy == b->p.strategy &&
	       a->p.messages == b->p.messages && a->p.ecn == b->p.ecn &&
	       a->p.has_cookie == b->p.has_cookie &&
	       !memcmp(a->p.ctrl, b->p.ctrl, SSTP_NAME_MAX) &&
	       !memcmp(a->p.policy, b->p.policy, SSTP_NAME_MAX) &&
	       !memcmp(a->p.cookie, b->p.cookie, SSTP_COOKIE_LEN);
}

static void wire_init_round_trip(struct kunit *test)
{
	struct sstp_init in, out;
	struct rnd_state r;
	u32 i, len;
	u8 *whole;

	sstp_test_seed_rnd(test, &r);
	whole = kunit_kzalloc(test, SSTP_INIT_LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, whole);
	for (i = 0; i < 20000; i++) {
		void *p;
		bool ok;

		wire_rnd_init(&r, &in);
		memset(whole, 0xff, SSTP_INIT_LEN);
		len = sstp_build_init(whole, &in);
		KUNIT_ASSERT_LE(test, len, SSTP_INIT_LEN);
		if (in.type == SSTP_INIT)
			KUNIT_ASSERT_EQ(test, len, SSTP_INIT_LEN);
		p = wire_copy(test, whole, len);
		memset(&out, 0xff, sizeof(out));
		ok = sstp_parse_init(p, len, &out);
		KUNIT_ASSERT_TRUE(test, ok);
		KUNIT_ASSERT_TRUE(test, wire_init_equal(&in, &out));
	}
}

/* Rates that do not fit are sent as the largest that does. */
static void wire_init_rate_clamp(struct kunit *test)
{
	struct sstp_init in = {
		.type = SSTP_INIT, .peer_cid = 1, .dport = 1, .limit = 512,
		.p.rate = { .peak = U64_MAX, .average = 1999 },
		.p.rate_limit = (U32_MAX + 1ULL) * 1000,
	}, out;
	u8 *p = kunit_kzalloc(test, SSTP_INIT_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	sstp_build_init(p, &in);
	KUNIT_ASSERT_TRUE(test, sstp_parse_init(p, SSTP_INIT_LEN, &out));
	KUNIT_EXPECT_EQ(test, out.p.rate.peak, U32_MAX * 1000ULL);
	KUNIT_EXPECT_EQ(test, out.p.rate.average, 1000ULL);
	KUNIT_EXPECT_EQ(test, out.p.rate_limit, U32_MAX * 1000ULL);
}

/* Packets cut off anywhere: a short INIT is refused, an INIT_ACK needs all of its options. */
static void wire_init_lengths(struct kunit *test)
{
	const u32 max = 2 * SSTP_INIT_LEN;
	struct sstp_init in, out;
	struct rnd_state r;
	u32 i, len, cut;
	u8 *whole;

	sstp_test_seed_rnd(test, &r);
	whole = kunit_kzalloc(test, max + 9, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, whole);
	for (i = 0; i < 200; i++) {
		wire_rnd_init(&r, &in);
		len = sstp_build_init(whole, &in);
		for (cut = 0; cut <= max + 8; cut++) {
			void *p = wire_copy(test, whole, cut);
			bool ok = sstp_parse_init(p, cut, &out);

			KUNIT_ASSERT_EQ_MSG(test, ok, cut >= len && cut <= max,
					    "%u bytes of %u", cut, len);
		}
	}
}

static void wire_init_fields(struct kunit *test)
{
	static const struct {
		u32 peer_cid;
		u16 dport;
		u32 limit;
		bool ok;
	} t[] = {
		{ 1, 1, 512, true },
		{ 0, 1, 512, false },
		{ 1, 0, 512, false },
		{ 1, 1, 0, false },
		{ 1, 1, 1, false },
		{ 1, 1, 511, false },
		{ U32_MAX, U16_MAX, SSTP_SEGMENT_MAX, true },
		{ 1, 1, SSTP_SEGMENT_MAX + 1, false },
		{ 1, 1, U32_MAX, false },
	};
	struct sstp_init in = { .type = SSTP_INIT_ACK }, out;
	u8 *p = kunit_kzalloc(test, SSTP_INIT_LEN, GFP_KERNEL);
	u32 i, len;

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		in.peer_cid = t[i].peer_cid;
		in.dport = t[i].dport;
		in.limit = t[i].limit;
		len = sstp_build_init(p, &in);
		KUNIT_EXPECT_EQ_MSG(test, sstp_parse_init(p, len, &out),
				    t[i].ok, "row %u", i);
	}
}

/* Parse an INIT_ACK with the @n bytes @opts as its options. */
static bool wire_parse_opts(struct kunit *test, const u8 *opts, u32 n,
			    struct sstp_init *out)
{
	const struct sstp_init in = {
		.type = SSTP_INIT_ACK, .peer_cid = 1, .dport = 1, .limit = 512,
	};
	u32 len = sizeof(struct sstp_init_hdr) + n;
	u8 whole[SSTP_INIT_LEN];
	bool ok;
	u8 *p;

	sstp_build_init(whole, &in);
	p = wire_buf(test, len);
	memcpy(p, whole, sizeof(struct sstp_init_hdr));
	memcpy(p + sizeof(struct sstp_init_hdr), opts, n);
	put_unaligned_be16(n, p + 6);
	ok = sstp_parse_init(p, len, out);
	kfree(p);
	return ok;
}

static void wire_options(struct kunit *test)
{
	static const struct {
		const char *why;
		u8 n;
		u8 opt[24];
		bool ok;
	} t[] = {
		{ "none", 0, {}, true },
		{ "padding", 3, { 0, 0, 0 }, true },
		{ "no length", 1, { SSTP_OPT_SEGMENT }, false },
		{ "padding, no length", 2, { 0, SSTP_OPT_SEGMENT }, false },
		{ "no value", 2, { SSTP_OPT_SEGMENT, 4 }, false },
		{ "value cut", 5, { SSTP_OPT_SEGMENT, 4, 0, 0, 1 }, false },
		{ "segment 0", 6, { SSTP_OPT_SEGMENT, 4, 0, 0, 0, 0 }, false },
		{ "segment 1", 6, { SSTP_OPT_SEGMENT, 4, 0, 0, 0, 1 }, true },
		{ "segment max", 6, { SSTP_OPT_SEGMENT, 4, 1, 0, 0, 0 }, true },
		{ "segment max + 1", 6, { SSTP_OPT_SEGMENT, 4, 1, 0, 0, 1 }, false },
		{ "segment, 3 bytes", 5, { SSTP_OPT_SEGMENT, 3, 0, 0, 1 }, false },
		{ "segment, 5 bytes", 7, { SSTP_OPT_SEGMENT, 5, 0, 0, 0, 1, 0 }, false },
		{ "tolerance 0", 6, { SSTP_OPT_TOLERANCE, 4 }, true },
		{ "tolerance 1", 6, { SSTP_OPT_TOLERANCE, 4, 0, 0x0f, 0x42, 0x40 }, true },
		{ "tolerance > 1", 6, { SSTP_OPT_TOLERANCE, 4, 0, 0x0f, 0x42, 0x41 }, false },
		{ "tolerance, no value", 2, { SSTP_OPT_TOLERANCE, 0 }, false },
		{ "hard", 3, { SSTP_OPT_STRATEGY, 1, SSTP_ACK_HARD }, true },
		{ "soft", 3, { SSTP_OPT_STRATEGY, 1, SSTP_ACK_SOFT }, true },
		{ "strategy 2", 3, { SSTP_OPT_STRATEGY, 1, 2 }, false },
		{ "strategy, 2 bytes", 4, { SSTP_OPT_STRATEGY, 2, 0, 0 }, false },
		{ "limit, 3 bytes", 5, { SSTP_OPT_RATE_LIMIT, 3, 1, 1, 1 }, false },
		{ "limit 0", 6, { SSTP_OPT_RATE_LIMIT, 4 }, true },
		{ "rate, 16 bytes", 18, { SSTP_OPT_RATE, 16 }, true },
		{ "rate, 15 bytes", 17, { SSTP_OPT_RATE, 15 }, false },
		{ "rate, 17 bytes", 19, { SSTP_OPT_RATE, 17 }, false },
		{ "name, 0 bytes", 2, { SSTP_OPT_CONTROLLER, 0 }, false },
		{ "name, 1 byte", 3, { SSTP_OPT_CONTROLLER, 1, 'a' }, true },
		{ "name, 15 bytes", 17, "\006\017abcdefghijklmno", true },
		{ "name, 16 bytes", 18, "\006\020abcdefghijklmnop", false },
		{ "policy, 15 bytes", 17, "\007\017abcdefghijklmno", true },
		{ "policy, 16 bytes", 18, "\007\020abcdefghijklmnop", false },
		{ "name with a space", 5, { SSTP_OPT_POLICY, 3, 'a', ' ', 'b' }, false },
		{ "name with a NUL", 5, { SSTP_OPT_POLICY, 3, 'a', 0, 'b' }, false },
		{ "name with a newline", 4, { SSTP_OPT_CONTROLLER, 2, 'a', '\n' }, false },
		{ "cookie, 15 bytes", 17, { SSTP_OPT_COOKIE, 15 }, false },
		{ "cookie, 16 bytes", 18, { SSTP_OPT_COOKIE, 16 }, true },
		{ "cookie, 17 bytes", 19, { SSTP_OPT_COOKIE, 17 }, false },
		{ "messages", 3, { SSTP_OPT_MESSAGES, 1, 1 }, true },
		{ "messages of another kind", 3, { SSTP_OPT_MESSAGES, 1, 2 }, true },
		{ "messages, no value", 2, { SSTP_OPT_MESSAGES, 0 }, false },
		{ "messages, 2 bytes", 4, { SSTP_OPT_MESSAGES, 2, 1, 1 }, false },
		{ "marks", 3, { SSTP_OPT_ECN, 1, 1 }, true },
		{ "marks of another kind", 3, { SSTP_OPT_ECN, 1, 2 }, true },
		{ "marks, no value", 2, { SSTP_OPT_ECN, 0 }, false },
		{ "marks, 2 bytes", 4, { SSTP_OPT_ECN, 2, 1, 1 }, false },
		{ "unknown, no value", 2, { 11, 0 }, true },
		{ "unknown, value cut", 3, { 11, 2, 0 }, false },
		{ "unknown, no length", 1, { 255 }, false },
		{ "twice", 8, { SSTP_OPT_STRATEGY, 1, 0, 0, 0, SSTP_OPT_STRATEGY, 1, 0 }, false },
		{ "unknown twice", 4, { 31, 0, 31, 0 }, false },
		{ "beyond what is known twice", 4, { 32, 0, 32, 0 }, true },
	};
	struct sstp_init out;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ_MSG(test, wire_parse_opts(test, t[i].opt,
							  t[i].n, &out),
				    t[i].ok, "%s", t[i].why);
}

/* Unknown options are skipped, whatever their length. */
static void wire_options_unknown(struct kunit *test)
{
	u8 opts[SSTP_INIT_LEN];
	struct sstp_init out;
	u32 type, n;

	for (type = SSTP_OPT_ECN + 1; type <= U8_MAX; type++)
		for (n = 0; n <= 200; n++) {
			u8 *o = opts;

			*o++ = type;
			*o++ = n;
			memset(o, SSTP_OPT_SEGMENT, n);
			o += n;
			*o++ = SSTP_OPT_PAD;
			*o++ = SSTP_OPT_SEGMENT;
			*o++ = 4;
			put_unaligned_be32(4711, o);
			o += 4;
			KUNIT_ASSERT_TRUE(test, wire_parse_opts(test, opts, o -
								opts, &out));
			KUNIT_ASSERT_EQ(test, out.p.segment_size, 4711U);
		}
}

/* --- MESSAGE ---------------------------------------------------------------- */

static void wire_rnd_message(struct rnd_state *r, struct sstp_message *m, u8 *data)
{
	memset(m, 0, sizeof(*m));
	m->cid = sstp_rnd_edge(r);
	m->seq = sstp_rnd_edge(r);
	m->ctrl = sstp_rnd_edge(r);
	m->number = sstp_rnd_edge(r);
	if (sstp_rnd_one_in(r, 2)) {
		m->kind = sstp_rnd_range(r, 1, U16_MAX);
		m->flags = sstp_rnd_below(r, 2);
		m->number = 0;
		m->len = sstp_rnd_below(r, SSTP_MSG_MAX + 1);
		m->data = data;
		prandom_bytes_state(r, data, SSTP_MSG_MAX);
		return;
	}
	m->flags = sstp_rnd_one_in(r, 2) ? SSTP_F_ASK : 0;
	m->seen = sstp_rnd_edge(r);
	m->state.rate = 1000ULL * sstp_rnd_edge(r);
	m->state.ack_timer = sstp_rnd_edge(r);
	m->state.ack_interval = sstp_rnd_edge(r);
	m->state.half = sstp_rnd_below(r, 2);
	do
		wire_rnd_name(r, m->state.name);
	while (!m->state.name[0]);
}

static bool wire_message_equal(const struct sstp_message *a, const struct sstp_message *b)
{
	return a->cid == b->cid && a->flags == b->flags && a->kind == b->kind &&
	       a->seq == b->seq && a->ctrl == b->ctrl && a->number == b->number &&
	       a->seen == b->seen && a->len == b->len &&
	       (!a->len || !memcmp(a->data, b->data, a->len)) &&
	       a->state.rate == b->state.rate && a->state.ack_timer == b->state.ack_timer &&
	       a->state.ack_interval == b->state.ack_interval && a->state.half == b->state.half &&
	       !memcmp(a->state.name, b->state.name, SSTP_NAME_MAX);
}

static bool wire_takes(struct kunit *test, const void *p, u32 len)
{
	struct sstp_message m;

	return sstp_parse_message(wire_copy(test, p, len), len, &m);
}

/* What was built is parsed to the same, but not if a byte is missing, or one too many. */
static void wire_message_round_trip(struct kunit *test)
{
	u8 whole[SSTP_MESSAGE_LEN + 1], data[SSTP_MSG_MAX];
	struct sstp_message in, out;
	u32 i, len, cut, least;
	struct rnd_state r;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < 20000; i++) {
		wire_rnd_message(&r, &in, data);
		memset(whole, 0xff, sizeof(whole));
		len = sstp_build_message(whole, &in);
		KUNIT_ASSERT_TRUE(test, sstp_parse_message(wire_copy(test, whole, len), len, &out));
		KUNIT_ASSERT_TRUE(test, wire_message_equal(&in, &out));
		/* A message of a controller has any length from its header's to the largest. */
		least = in.kind ? sizeof(struct sstp_msg_hdr) : len;
		for (cut = 0; cut < least; cut++)
			KUNIT_ASSERT_FALSE(test, wire_takes(test, whole, cut));
		KUNIT_ASSERT_FALSE(test, wire_takes(test, whole, in.kind ? SSTP_MESSAGE_LEN + 1 :
						    len + 1));
	}
}

static void wire_message_state(struct kunit *test)
{
	struct sstp_message m = { .state.name = "udt", .state.rate = 1 }, out;
	u32 len = sizeof(struct sstp_state_hdr);
	struct sstp_state_hdr h;

	/* A rate below 1 kbit/s is not "any"; one too large is the largest. */
	sstp_build_message(wire_pool[SSTP_MESSAGE_LEN], &m);
	KUNIT_ASSERT_TRUE(test, sstp_parse_message(wire_pool[SSTP_MESSAGE_LEN], len, &out));
	KUNIT_EXPECT_EQ(test, out.state.rate, 1000ULL);
	m.state.rate = U64_MAX;
	sstp_build_message(wire_pool[SSTP_MESSAGE_LEN], &m);
	KUNIT_ASSERT_TRUE(test, sstp_parse_message(wire_pool[SSTP_MESSAGE_LEN], len, &out));
	KUNIT_EXPECT_EQ(test, out.state.rate, U32_MAX * 1000ULL);
	memcpy(&h, wire_pool[SSTP_MESSAGE_LEN], sizeof(h));
#define WIRE_STATE_IS(valid, member, value) do {					\
	struct sstp_state_hdr bad = h;							\
											\
	bad.member = (value);								\
	KUNIT_EXPECT_EQ(test, wire_takes(test, &bad, len), valid);			\
} while (0)
	WIRE_STATE_IS(true, half, 1);
	WIRE_STATE_IS(false, half, 2);
	WIRE_STATE_IS(false, m.h.flags, SSTP_F_BACK);
	WIRE_STATE_IS(false, name[0], 0);	/* and so bytes after the end */
	WIRE_STATE_IS(false, name[1], ' ');
	WIRE_STATE_IS(false, name[4], 'x');	/* a byte after the end */
	WIRE_STATE_IS(true, name[3], 'x');
#undef WIRE_STATE_IS
	/* A name without room for its end */
	memset(h.name, 'x', sizeof(h.name));
	KUNIT_ASSERT_TRUE(test, sstp_parse_message(wire_copy(test, &h, len), len, &out));
	KUNIT_EXPECT_EQ(test, strlen(out.state.name), SSTP_NAME_MAX - 1);
}

/* --- numbers, and anything at all ------------------------------------------- */

static void wire_serial(struct kunit *test)
{
	static const u32 base[] = {
		0, 1, 2, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
		0xfffffffe, 0xffffffff,
	};
	static const u32 ahead[] = { 1, 2, 1000, 0x7ffffffe, 0x7fffffff };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(base); i++) {
		KUNIT_EXPECT_FALSE(test, sstp_before(base[i], base[i]));
		KUNIT_EXPECT_FALSE(test, sstp_after(base[i], base[i]));
		for (k = 0; k < ARRAY_SIZE(ahead); k++) {
			u32 a = base[i], b = base[i] + ahead[k];

			KUNIT_EXPECT_TRUE(test, sstp_before(a, b));
			KUNIT_EXPECT_TRUE(test, sstp_after(b, a));
			KUNIT_EXPECT_FALSE(test, sstp_before(b, a));
			KUNIT_EXPECT_FALSE(test, sstp_after(a, b));
		}
	}
}

/* Use all results of a parser that accepted a packet. Returns what was wrong, or NULL. */
static const char *wire_use(const void *p, u32 len, u32 parser, u32 *accepted)
{
	struct sstp_message m;
	struct sstp_init i;
	struct sstp_data d;
	struct sstp_ack a;

	switch (parser) {
	case 0:
		if (!sstp_parse_data(p, len, &d))
			return NULL;
		++*accepted;
		if (d.bytes != len - SSTP_DATA_HLEN)
			return "bytes";
		if (d.type == SSTP_DATA &&
		    (d.len > SSTP_SEGMENT_MAX || d.bytes > d.len ||
		     d.packet >= SSTP_PACKETS_MAX ||
		     (u64)d.packet * d.bytes + d.bytes > d.len))
			return "geometry";
		return NULL;
	case 1: {
		struct sstp_snak_iter it;
		struct sstp_snak_run run;
		u32 n = 0, wanted = 0, segment = 0, packet = 0, b;

		if (!sstp_parse_ack(p, len, &a))
			return NULL;
		++*accepted;
		sstp_snak_start(&it, p, len, &a);
		if (a.type == SSTP_PACK) {
			if (a.forecast > SSTP_FORECAST_MAX || a.horizon > SSTP_HORIZON_MAX ||
			    a.queue > SSTP_QUEUE_MAX || a.refused > SSTP_QUEUE_MAX ||
			    a.most > SSTP_SEGMENT_MAX)
				return "fields";
			return sstp_snak_next(&it, &run) ? "entry" : NULL;
		}
		if (a.fields)
			return "fields of a SNAK";
		while (sstp_snak_next(&it, &run)) {
			if (n++ && (sstp_before(run.segment, segment) ||
				    (run.segment == segment &&
				     (run.bits ? run.first : 0) < packet)))
				return "order";
			segment = run.segment + (run.bits ? 0 : run.first);
			packet = run.bits ? run.first + run.bits : 0;
			for (b = 0; b < run.bits; b++)
				wanted += sstp_snak_wanted(&run, b);
		}
		OPTIMIZER_HIDE_VAR(wanted);
		return n != a.entries || it.p != it.end ? "entries" : NULL;
	}
	case 3: {
		u32 sum = 0, b;

		if (!sstp_parse_message(p, len, &m))
			return NULL;
		++*accepted;
		for (b = 0; m.kind && b < m.len; b++)
			sum += m.data[b];
		OPTIMIZER_HIDE_VAR(sum);
		return m.len > SSTP_MSG_MAX || (m.kind && m.state.name[0]) ? "length" :
		       strnlen(m.state.name, SSTP_NAME_MAX) == SSTP_NAME_MAX ? "name" : NULL;
	}
	default:
		if (!sstp_parse_init(p, len, &i))
			return NULL;
		++*accepted;
		if (!i.peer_cid || !i.dport ||
		    i.limit < SSTP_SEGMENT_LIMIT_MIN || i.limit > SSTP_SEGMENT_MAX ||
		    i.p.segment_size > SSTP_SEGMENT_MAX ||
		    i.p.tolerance > 1000000 || i.p.strategy > SSTP_ACK_SOFT)
			return "field";
		if (strnlen(i.p.ctrl, SSTP_NAME_MAX) == SSTP_NAME_MAX ||
		    strnlen(i.p.policy, SSTP_NAME_MAX) == SSTP_NAME_MAX)
			return "name";
		return NULL;
	}
}

/* A valid packet, which the caller corrupts */
static u32 wire_rnd_packet(struct rnd_state *r, u8 *p, u32 parser,
			   struct wire_entry *e)
{
	struct sstp_message m;
	u8 data[SSTP_MSG_MAX];
	struct sstp_data d;
	struct sstp_init i;
	struct sstp_ack a;

	switch (parser) {
	case 0:
		wire_rnd_data(r, &d);
		wire_cut(&d, sstp_rnd_range(r, 1, 3000),
			 sstp_rnd_range(r, 1, 400), 0);
		if (sstp_rnd_one_in(r, 2))
			d.packet = sstp_rnd_below(r, 20);
		sstp_build_data(p, &d);
		return SSTP_DATA_HLEN + min(d.bytes, 400U);
	case 1:
		return wire_build_snak(r, p, &a, e, sstp_rnd_range(r, 1, 8));
	case 3:
		wire_rnd_message(r, &m, data);
		return sstp_build_message(p, &m);
	default:
		wire_rnd_init(r, &i);
		return sstp_build_init(p, &i);
	}
}

static void wire_random(struct kunit *test)
{
	struct wire_entry *e;
	u32 i, k, len, accepted[4] = {};
	struct rnd_state r;
	u8 *whole;

	sstp_test_seed_rnd(test, &r);
	e = kunit_kcalloc(test, 8, sizeof(*e), GFP_KERNEL);
	whole = kunit_kzalloc(test, 1024, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e);
	KUNIT_ASSERT_NOT_NULL(test, whole);
	for (i = 0; i < WIRE_RANDOM; i++) {
		u32 parser = i % 4, spoil;
		const char *why;
		u8 *p;

		if (sstp_rnd_one_in(&r, 4)) {
			len = sstp_rnd_below(&r, 300);
			prandom_bytes_state(&r, whole, len);
			if (len > 4)
				whole[4] = sstp_rnd_below(&r, SSTP_TYPES);
			if (len > 7 && sstp_rnd_one_in(&r, 2))
				put_unaligned_be16(sstp_rnd_below(&r, 16),
						   whole + 6);
		} else {
			len = wire_rnd_packet(&r, whole, parser, e);
		}
		spoil = sstp_rnd_below(&r, 4);
		for (k = 0; len && k < spoil; k++) {
			u32 at = sstp_rnd_below(&r, len);

			if (sstp_rnd_one_in(&r, 2))
				whole[at] ^= 1U << sstp_rnd_below(&r, 8);
			else
				whole[at] = sstp_rnd_one_in(&r, 2) ? 0xff : 0;
		}
		if (sstp_rnd_one_in(&r, 8))
			len = sstp_rnd_below(&r, len + 1);
		p = wire_copy(test, whole, len);
		why = wire_use(p, len, parser, &accepted[parser]);
		KUNIT_ASSERT_NULL_MSG(test, why, "buffer %u: %s", i, why);
	}
	/* Each parser accepts some packets and refuses some. */
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_GT(test, accepted[i], WIRE_RANDOM / 40U);
		KUNIT_EXPECT_LT(test, accepted[i], WIRE_RANDOM / 4U * 9 / 10);
	}
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(wire_data_layout),
	KUNIT_CASE(wire_data_lengths),
	KUNIT_CASE(wire_data_round_trip),
	KUNIT_CASE(wire_data_geometry),
	KUNIT_CASE(wire_data_edges),
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
	KUNIT_CASE(wire_init_round_trip),
	KUNIT_CASE(wire_init_rate_clamp),
	KUNIT_CASE(wire_init_lengths),
	KUNIT_CASE(wire_init_fields),
	KUNIT_CASE(wire_options),
	KUNIT_CASE(wire_options_unknown),
	KUNIT_CASE(wire_message_round_trip),
	KUNIT_CASE(wire_message_state),
	KUNIT_CASE(wire_serial),
	KUNIT_CASE_SLOW(wire_random),
	{ }
};

static void wire_exit(struct kunit_suite *suite)
{
	u32 i;

	for (i = 0; i <= WIRE_POOL; i++) {
		kfree(wire_pool[i]);
		wire_pool[i] = NULL;
	}
}

static int wire_init(struct kunit_suite *suite)
{
	u32 i;

	for (i = 0; i <= WIRE_POOL; i++) {
		wire_pool[i] = kmalloc(i, GFP_KERNEL);
		if (!wire_pool[i]) {
			wire_exit(suite);
			return -ENOMEM;
		}
	}
	return 0;
}

static struct kunit_suite wire_suite = {
	.name = "sstp_wire",
	.suite_init = wire_init,
	.suite_exit = wire_exit,
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
