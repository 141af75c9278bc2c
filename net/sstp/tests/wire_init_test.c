// SPDX-License-Identifier: GPL-2.0
/* INIT and INIT_ACK, and MESSAGE, which carries what both ends agree on later */
#include "wire_test.h"

/* --- INIT, INIT_ACK ----------------------------------------------------------- */

static void wire_rnd_name(struct rnd_state *r, char *name)
{
	u32 n = sstp_rnd_below(r, SSTP_NAME_MAX), i;

	memset(name, 0, SSTP_NAME_MAX);
	for (i = 0; i < n; i++)
		name[i] = sstp_rnd_range(r, '!', '~');
}

void wire_rnd_init(struct rnd_state *r, struct sstp_init *i)
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

void wire_rnd_message(struct rnd_state *r, struct sstp_message *m, u8 *data)
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

/* sstp_parse_message() gives what sstp_build_message() took, and refuses a MESSAGE that is cut or
 * too long.
 */
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
	u8 whole[SSTP_MESSAGE_LEN];

	/* A rate below 1 kbit/s is not "any"; one too large is the largest. */
	sstp_build_message(whole, &m);
	KUNIT_ASSERT_TRUE(test, sstp_parse_message(wire_copy(test, whole, len), len, &out));
	KUNIT_EXPECT_EQ(test, out.state.rate, 1000ULL);
	m.state.rate = U64_MAX;
	sstp_build_message(whole, &m);
	KUNIT_ASSERT_TRUE(test, sstp_parse_message(wire_copy(test, whole, len), len, &out));
	KUNIT_EXPECT_EQ(test, out.state.rate, U32_MAX * 1000ULL);
	memcpy(&h, whole, sizeof(h));
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

static struct kunit_case wire_init_cases[] = {
	KUNIT_CASE(wire_init_round_trip),
	KUNIT_CASE(wire_init_rate_clamp),
	KUNIT_CASE(wire_init_lengths),
	KUNIT_CASE(wire_init_fields),
	KUNIT_CASE(wire_options),
	KUNIT_CASE(wire_options_unknown),
	KUNIT_CASE(wire_message_round_trip),
	KUNIT_CASE(wire_message_state),
	{ }
};

static struct kunit_suite wire_init_suite = {
	.name = "sstp_wire_init",
	.suite_init = wire_pool_alloc,
	.suite_exit = wire_pool_free,
	.test_cases = wire_init_cases,
};

kunit_test_suite(wire_init_suite);
