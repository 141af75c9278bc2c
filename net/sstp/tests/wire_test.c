// SPDX-License-Identifier: GPL-2.0
/*
 * Parsers and builders of packets. Every buffer is allocated with the size that the
 * parser gets, so that KASAN sees reads beyond it.
 */
#include "wire_test.h"
#include "../wire.c"

#define WIRE_RANDOM	1000000
#define WIRE_POOL	1024

static void *wire_pool[WIRE_POOL + 1];	/* a buffer of each size */

void *wire_buf(struct kunit *test, u32 len)
{
	void *p = kmalloc(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

void *wire_copy(struct kunit *test, const void *p, u32 len)
{
	KUNIT_ASSERT_LE(test, len, WIRE_POOL);
	return memcpy(wire_pool[len], p, len);
}

void wire_pool_free(struct kunit_suite *suite)
{
	u32 i;

	for (i = 0; i <= WIRE_POOL; i++) {
		kfree(wire_pool[i]);
		wire_pool[i] = NULL;
	}
}

int wire_pool_alloc(struct kunit_suite *suite)
{
	u32 i;

	for (i = 0; i <= WIRE_POOL; i++) {
		wire_pool[i] = kmalloc(i, GFP_KERNEL);
		if (!wire_pool[i]) {
			wire_pool_free(suite);
			return -ENOMEM;
		}
	}
	return 0;
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

/* --- numbers, and anything at all ------------------------------------------- */

static void wire_serial(struct kunit *test)
{
	static const u32 base[] = {
		0, 1, 2, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
		0xfffffffe, 0xffffffff,
	};
	static const u32 ahead[] = { 1, 2, 1000, 0x7ffffffe, 0x7fffffff };
	static const u32 most[] = { 0, 1, 1000, BIT(24), BIT(30) };
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
		for (k = 0; k < ARRAY_SIZE(most); k++) {
			u32 a = base[i], b = a + most[k];

			KUNIT_EXPECT_TRUE(test, sstp_near(a, b, most[k]));
			KUNIT_EXPECT_TRUE(test, sstp_near(b, a, most[k]));
			KUNIT_EXPECT_FALSE(test, sstp_near(a, b + 1, most[k]));
			KUNIT_EXPECT_FALSE(test, sstp_near(b + 1, a, most[k]));
			KUNIT_EXPECT_FALSE(test, sstp_near(a, a + BIT(31), most[k]));
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
	KUNIT_CASE(wire_serial),
	KUNIT_CASE_SLOW(wire_random),
	{ }
};

static struct kunit_suite wire_suite = {
	.name = "sstp_wire",
	.suite_init = wire_pool_alloc,
	.suite_exit = wire_pool_free,
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
