// SPDX-License-Identifier: GPL-2.0
/* Format of packets: parsers and builders */
#include <linux/ctype.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/string.h>
#include "compat.h"
#include "wire.h"

bool sstp_parse_data(const void *p, u32 len, struct sstp_data *d)
{
	const struct sstp_data_hdr *h = p;

	if (len < sizeof(*h))
		return false;
	d->cid = be32_to_cpu(h->h.cid);
	d->type = h->h.type;
	d->flags = h->h.flags;
	d->packet = be16_to_cpu(h->h.packet);
	d->shipment = be32_to_cpu(h->shipment);
	d->segment = be32_to_cpu(h->segment);
	d->len = be32_to_cpu(h->len);
	d->stamp = be32_to_cpu(h->stamp);
	d->bytes = len - sizeof(*h);
	if (d->type != SSTP_DATA)
		return true;

	if (!d->bytes || d->len > SSTP_SEGMENT_MAX || d->bytes > d->len ||
	    d->packet >= SSTP_PACKETS_MAX)
		return false;
	/* The last packet must end where the segment ends, any other at least one byte
	 * before, so that the size of all packets follows from this one.
	 */
	if (d->flags & SSTP_F_LAST) {
		u32 before = d->len - d->bytes;

		if (!d->packet)
			return !before;
		/* The packets before the last are equal, and not shorter than the last. */
		return before >= d->packet * (u64)d->bytes &&
		       !(before % d->packet);
	}
	return (d->packet + 1ULL) * d->bytes < d->len &&
	       DIV_ROUND_UP(d->len, d->bytes) <= SSTP_PACKETS_MAX;
}

static void sstp_parse_field(struct sstp_ack *a, u8 type, const u8 *v)
{
	u32 first = get_unaligned_be32(v), second = get_unaligned_be32(v + 4);

	switch (type) {
	case SSTP_FIELD_FORECAST:
		a->forecast = min_t(u32, first, SSTP_FORECAST_MAX);
		a->horizon = min_t(u32, second ?: 1, SSTP_HORIZON_MAX);
		break;
	case SSTP_FIELD_QUEUE:
		a->queue = min_t(u32, first, SSTP_QUEUE_MAX);
		a->refused = min_t(u32, second, SSTP_QUEUE_MAX);
		break;
	case SSTP_FIELD_SEGMENT:
		a->most = min_t(u32, first ?: 1, SSTP_SEGMENT_MAX);
		break;
	default:
		return;
	}
	a->fields |= BIT(type);
}

/* Take the fields of a PACK from @p to @end. */
static void sstp_parse_fields(struct sstp_ack *a, const u8 *p, const u8 *end)
{
	a->fields = 0;
	a->forecast = 0;
	a->horizon = 0;
	a->queue = 0;
	a->refused = 0;
	a->most = 0;
	while (end - p >= 2 && end - p - 2 >= p[1]) {
		if (p[1] >= SSTP_FIELD_LEN)
			sstp_parse_field(a, p[0], p + 2);
		p += 2 + p[1];
	}
}

/* Is the packet at @at, behind the PACK at @p, a DATA packet or an EOS of the same connection? */
static bool sstp_ack_has_data(const void *p, u32 len, u32 at)
{
	const struct sstp_hdr *h = p, *d = p + at;

	if (h->type != SSTP_PACK || len < at + SSTP_DATA_HLEN || d->cid != h->cid)
		return false;
	return len > at + SSTP_DATA_HLEN ? d->type == SSTP_DATA : d->type == SSTP_EOS;
}

bool sstp_parse_ack(const void *p, u32 len, struct sstp_ack *a)
{
	const struct sstp_ack_hdr *h = p;
	const u8 *e = p, *end = e + len;
	const struct sstp_ecn_hdr *n = (const void *)(h + 1);
	u64 next = 0;
	u32 base = 0;
	u16 i;

	if (len < sizeof(*h) || len < sstp_ack_hlen(h->h.flags))
		return false;
	a->cid = be32_to_cpu(h->h.cid);
	a->type = h->h.type;
	a->flags = h->h.flags;
	a->entries = be16_to_cpu(h->h.packet);
	a->control = be32_to_cpu(h->control);
	a->segment = be32_to_cpu(h->segment);
	a->ack = be32_to_cpu(h->ack);
	a->limit = be32_to_cpu(h->limit);
	a->echo = be32_to_cpu(h->echo);
	a->hold = be32_to_cpu(h->hold);
	a->highest = be32_to_cpu(h->highest);
	a->received = be32_to_cpu(h->received);
	a->arrival = be32_to_cpu(h->arrival);
	a->service = be32_to_cpu(h->service);
	a->late = be16_to_cpu(h->late);
	a->progress = be16_to_cpu(h->progress);
	a->unsettled = be32_to_cpu(h->unsettled);
	a->ect = a->flags & SSTP_F_ECN ? be32_to_cpu(n->ect) : 0;
	a->ce = a->flags & SSTP_F_ECN ? be32_to_cpu(n->ce) : 0;
	a->data = a->flags & SSTP_F_DATA ? sstp_ack_hlen(a->flags) : 0;
	if (a->data && !sstp_ack_has_data(p, len, a->data))
		return false;
	e += sstp_ack_hlen(a->flags);
	sstp_parse_fields(a, e, a->type == SSTP_PACK && !a->data ? end : e);
	if (a->type == SSTP_PACK)
		return !a->entries;

	for (i = 0; i < a->entries; i++) {
		const struct sstp_snak_entry *s = (const void *)e;
		u32 segment, first, bits, size;
		u64 pos;

		if (end - e < (long)sizeof(*s))
			return false;
		segment = be32_to_cpu(s->segment);
		first = be16_to_cpu(s->first);
		bits = be16_to_cpu(s->bits);
		size = sizeof(*s) + DIV_ROUND_UP(bits, 32) * 4;
		if (end - e < (long)size || first + bits > SSTP_PACKETS_MAX + 1)
			return false;
		/* Entries ascend, so that a SNAK cannot ask for a packet twice: the sender
		 * would examine it twice, at hardly any cost to the peer.
		 */
		if (!i)
			base = segment;
		pos = (u64)(segment - base) << 16;
		if (bits)
			pos += first;
		if (sstp_before(segment, base) || pos < next)
			return false;
		next = pos + (bits ?: (first << 16));
		e += size;
	}
	return a->entries && e == end;
}

void sstp_snak_start(struct sstp_snak_iter *it, const void *p, u32 len,
		     const struct sstp_ack *a)
{
	it->p = (const u8 *)p + sstp_ack_hlen(a->flags);
	it->end = (const u8 *)p + len;
	it->left = a->entries;
}

bool sstp_snak_next(struct sstp_snak_iter *it, struct sstp_snak_run *run)
{
	const struct sstp_snak_entry *s = (const void *)it->p;

	if (!it->left)
		return false;
	it->left--;
	run->segment = be32_to_cpu(s->segment);
	run->first = be16_to_cpu(s->first);
	run->bits = be16_to_cpu(s->bits);
	run->map = (const __be32 *)(s + 1);
	it->p += sizeof(*s) + DIV_ROUND_UP(run->bits, 32) * 4;
	return true;
}

static bool sstp_parse_name(char *name, const u8 *v, u32 n)
{
	u32 i;

	if (!n || n >= SSTP_NAME_MAX)
		return false;
	for (i = 0; i < n; i++)
		if (!isgraph(v[i]))
			return false;
	memcpy(name, v, n);
	name[n] = 0;
	return true;
}

static bool sstp_parse_opt(struct sstp_params *p, u8 type, const u8 *v, u32 n)
{
	switch (type) {
	case SSTP_OPT_RATE:
		if (n != 16)
			return false;
		p->rate.peak = get_unaligned_be32(v) * 1000ULL;
		p->rate.average = get_unaligned_be32(v + 4) * 1000ULL;
		p->rate.burst_rate = get_unaligned_be32(v + 8);
		p->rate.burst_len = get_unaligned_be32(v + 12);
		return true;
	case SSTP_OPT_RATE_LIMIT:
		if (n != 4)
			return false;
		p->rate_limit = get_unaligned_be32(v) * 1000ULL;
		return true;
	case SSTP_OPT_SEGMENT:
		if (n != 4)
			return false;
		p->segment_size = get_unaligned_be32(v);
		return p->segment_size && p->segment_size <= SSTP_SEGMENT_MAX;
	case SSTP_OPT_TOLERANCE:
		if (n != 4)
			return false;
		p->tolerance = get_unaligned_be32(v);
		return p->tolerance <= 1000000;
	case SSTP_OPT_STRATEGY:
		if (n != 1)
			return false;
		p->strategy = *v;
		return p->strategy <= SSTP_ACK_SOFT;
	case SSTP_OPT_CONTROLLER:
		return sstp_parse_name(p->ctrl, v, n);
	case SSTP_OPT_POLICY:
		return sstp_parse_name(p->policy, v, n);
	case SSTP_OPT_COOKIE:
		if (n != SSTP_COOKIE_LEN)
			return false;
		memcpy(p->cookie, v, n);
		p->has_cookie = true;
		return true;
	case SSTP_OPT_MESSAGES:
		if (n != 1)
			return false;
		p->messages = *v == 1;
		return true;
	case SSTP_OPT_ECN:
		if (n != 1)
			return false;
		p->ecn = *v == 1;
		return true;
	}
	return true;
}

bool sstp_parse_init(const void *p, u32 len, struct sstp_init *i)
{
	const struct sstp_init_hdr *h = p;
	const u8 *o = (const u8 *)(h + 1), *end;
	u32 seen = 0;

	if (len < sizeof(*h) || len > 2 * SSTP_INIT_LEN ||
	    be16_to_cpu(h->h.packet) > len - sizeof(*h))
		return false;
	if (h->h.type == SSTP_INIT && len < SSTP_INIT_LEN)
		return false;
	end = o + be16_to_cpu(h->h.packet);

	memset(i, 0, sizeof(*i));
	i->type = h->h.type;
	i->cid = be32_to_cpu(h->h.cid);
	i->peer_cid = be32_to_cpu(h->cid);
	i->sport = be16_to_cpu(h->sport);
	i->dport = be16_to_cpu(h->dport);
	i->shipment = be32_to_cpu(h->shipment);
	i->segment = be32_to_cpu(h->segment);
	i->window = be32_to_cpu(h->window);
	i->limit = be32_to_cpu(h->limit);
	i->stamp = be32_to_cpu(h->stamp);
	i->echo = be32_to_cpu(h->echo);
	i->hold = be32_to_cpu(h->hold);
	i->version = h->version;
	i->sktype = h->sktype;
	/* Each segment costs the sender memory and time: a peer must not be able to force
	 * segments of a few bytes.
	 */
	if (!i->peer_cid || !i->dport || i->limit < SSTP_SEGMENT_LIMIT_MIN ||
	    i->limit > SSTP_SEGMENT_MAX)
		return false;

	while (o < end) {
		u8 type = *o++, n;

		if (type == SSTP_OPT_PAD)
			continue;
		if (o == end)
			return false;
		n = *o++;
		if (end - o < n)
			return false;
		if (type < 32) {
			if (seen & BIT(type))
				return false;
			seen |= BIT(type);
		}
		if (!sstp_parse_opt(&i->p, type, o, n))
			return false;
		o += n;
	}
	return true;
}

bool sstp_parse_message(const void *p, u32 len, struct sstp_message *m)
{
	const struct sstp_msg_hdr *h = p;
	const struct sstp_state_hdr *s = p;
	u32 n, i;

	if (len < sizeof(*h) || len > SSTP_MESSAGE_LEN)
		return false;
	memset(m, 0, sizeof(*m));
	m->cid = be32_to_cpu(h->h.cid);
	m->flags = h->h.flags;
	m->kind = be16_to_cpu(h->h.packet);
	m->seq = be32_to_cpu(h->seq);
	m->ctrl = be16_to_cpu(h->ctrl);
	m->number = be16_to_cpu(h->state);
	if (m->kind) {
		m->data = (const u8 *)(h + 1);
		m->len = len - sizeof(*h);
		return true;
	}

	if (len != sizeof(*s) || m->flags & SSTP_F_BACK)
		return false;
	n = strnlen(s->name, sizeof(s->name));
	if (!sstp_parse_name(m->state.name, s->name, n))
		return false;
	for (i = n; i < sizeof(s->name); i++)
		if (s->name[i])
			return false;
	m->seen = be16_to_cpu(s->seen);
	m->state.ack_interval = be16_to_cpu(s->ack_interval);
	m->state.ack_timer = be32_to_cpu(s->ack_timer);
	m->state.rate = be32_to_cpu(s->rate) * 1000ULL;
	m->state.half = s->half;
	return s->half <= 1;
}

void sstp_build_data(void *p, const struct sstp_data *d)
{
	struct sstp_data_hdr *h = p;

	BUILD_BUG_ON(sizeof(*h) != SSTP_DATA_HLEN);
	h->h.cid = cpu_to_be32(d->cid);
	h->h.type = d->type;
	h->h.flags = d->flags;
	h->h.packet = cpu_to_be16(d->packet);
	h->shipment = cpu_to_be32(d->shipment);
	h->segment = cpu_to_be32(d->segment);
	h->len = cpu_to_be32(d->len);
	h->stamp = cpu_to_be32(d->stamp);
}

void sstp_build_ack(void *p, const struct sstp_ack *a)
{
	struct sstp_ack_hdr *h = p;
	struct sstp_ecn_hdr *n = (void *)(h + 1);

	BUILD_BUG_ON(sizeof(*h) != 56);
	h->h.cid = cpu_to_be32(a->cid);
	h->h.type = a->type;
	h->h.flags = a->flags;
	h->h.packet = cpu_to_be16(a->entries);
	h->control = cpu_to_be32(a->control);
	h->segment = cpu_to_be32(a->segment);
	h->ack = cpu_to_be32(a->ack);
	h->limit = cpu_to_be32(a->limit);
	h->echo = cpu_to_be32(a->echo);
	h->hold = cpu_to_be32(a->hold);
	h->highest = cpu_to_be32(a->highest);
	h->received = cpu_to_be32(a->received);
	h->arrival = cpu_to_be32(a->arrival);
	h->service = cpu_to_be32(a->service);
	h->late = cpu_to_be16(a->late);
	h->progress = cpu_to_be16(a->progress);
	h->unsettled = cpu_to_be32(a->unsettled);
	if (a->flags & SSTP_F_ECN) {
		n->ect = cpu_to_be32(a->ect);
		n->ce = cpu_to_be32(a->ce);
	}
}

static u8 *sstp_put_field(u8 *o, u8 type, u32 first, u32 second)
{
	*o++ = type;
	*o++ = SSTP_FIELD_LEN;
	put_unaligned_be32(first, o);
	put_unaligned_be32(second, o + 4);
	return o + SSTP_FIELD_LEN;
}

u32 sstp_build_fields(void *p, const struct sstp_ack *a)
{
	u8 *o = p;

	if (a->fields & BIT(SSTP_FIELD_FORECAST))
		o = sstp_put_field(o, SSTP_FIELD_FORECAST, a->forecast, a->horizon);
	if (a->fields & BIT(SSTP_FIELD_QUEUE))
		o = sstp_put_field(o, SSTP_FIELD_QUEUE, a->queue, a->refused);
	if (a->fields & BIT(SSTP_FIELD_SEGMENT))
		o = sstp_put_field(o, SSTP_FIELD_SEGMENT, a->most, 0);
	return o - (u8 *)p;
}

static u8 *sstp_put_opt(u8 *o, u8 type, const void *v, u8 n)
{
	*o++ = type;
	*o++ = n;
	memcpy(o, v, n);
	return o + n;
}

static u8 *sstp_put_opt32(u8 *o, u8 type, u32 v)
{
	__be32 b = cpu_to_be32(v);

	return sstp_put_opt(o, type, &b, sizeof(b));
}

static u32 sstp_kbit(u64 bits)
{
	return min_t(u64, div_u64(bits, 1000), U32_MAX);
}

u32 sstp_build_init(void *p, const struct sstp_init *i)
{
	struct sstp_init_hdr *h = p;
	u8 *start = (u8 *)(h + 1), *o = start;

	BUILD_BUG_ON(sizeof(*h) + 18 + 6 * 3 + 3 + 17 * 2 + 18 + 3 + 3 > SSTP_INIT_LEN);
	memset(p, 0, SSTP_INIT_LEN);
	if (i->p.rate.peak) {
		__be32 v[4] = {
			cpu_to_be32(sstp_kbit(i->p.rate.peak)),
			cpu_to_be32(sstp_kbit(i->p.rate.average)),
			cpu_to_be32(i->p.rate.burst_rate),
			cpu_to_be32(i->p.rate.burst_len),
		};

		o = sstp_put_opt(o, SSTP_OPT_RATE, v, sizeof(v));
	}
	if (i->p.rate_limit)
		o = sstp_put_opt32(o, SSTP_OPT_RATE_LIMIT,
				   sstp_kbit(i->p.rate_limit));
	if (i->p.segment_size)
		o = sstp_put_opt32(o, SSTP_OPT_SEGMENT, i->p.segment_size);
	if (i->p.tolerance)
		o = sstp_put_opt32(o, SSTP_OPT_TOLERANCE, i->p.tolerance);
	if (i->p.strategy)
		o = sstp_put_opt(o, SSTP_OPT_STRATEGY, &i->p.strategy, 1);
	if (i->p.ctrl[0])
		o = sstp_put_opt(o, SSTP_OPT_CONTROLLER, i->p.ctrl,
				 strnlen(i->p.ctrl, SSTP_NAME_MAX - 1));
	if (i->p.policy[0])
		o = sstp_put_opt(o, SSTP_OPT_POLICY, i->p.policy,
				 strnlen(i->p.policy, SSTP_NAME_MAX - 1));
	if (i->p.has_cookie)
		o = sstp_put_opt(o, SSTP_OPT_COOKIE, i->p.cookie,
				 SSTP_COOKIE_LEN);
	if (i->p.messages)
		o = sstp_put_opt(o, SSTP_OPT_MESSAGES, &i->p.messages, 1);
	if (i->p.ecn)
		o = sstp_put_opt(o, SSTP_OPT_ECN, &i->p.ecn, 1);

	h->h.cid = cpu_to_be32(i->cid);
	h->h.type = i->type;
	h->h.packet = cpu_to_be16(o - start);
	h->cid = cpu_to_be32(i->peer_cid);
	h->sport = cpu_to_be16(i->sport);
	h->dport = cpu_to_be16(i->dport);
	h->shipment = cpu_to_be32(i->shipment);
	h->segment = cpu_to_be32(i->segment);
	h->window = cpu_to_be32(i->window);
	h->limit = cpu_to_be32(i->limit);
	h->stamp = cpu_to_be32(i->stamp);
	h->echo = cpu_to_be32(i->echo);
	h->hold = cpu_to_be32(i->hold);
	h->version = i->version;
	h->sktype = i->sktype;
	return i->type == SSTP_INIT ? SSTP_INIT_LEN : o - (u8 *)p;
}

u32 sstp_build_message(void *p, const struct sstp_message *m)
{
	struct sstp_msg_hdr *h = p;
	struct sstp_state_hdr *s = p;

	BUILD_BUG_ON(sizeof(*s) > SSTP_MESSAGE_LEN);
	memset(p, 0, SSTP_MESSAGE_LEN);
	h->h.cid = cpu_to_be32(m->cid);
	h->h.type = SSTP_MESSAGE;
	h->h.flags = m->flags;
	h->h.packet = cpu_to_be16(m->kind);
	h->seq = cpu_to_be32(m->seq);
	h->ctrl = cpu_to_be16(m->ctrl);
	if (m->kind) {
		memcpy(h + 1, m->data, m->len);
		return sizeof(*h) + m->len;
	}
	h->state = cpu_to_be16(m->number);
	s->seen = cpu_to_be16(m->seen);
	s->ack_interval = cpu_to_be16(m->state.ack_interval);
	s->ack_timer = cpu_to_be32(m->state.ack_timer);
	/* The lowest rate stays one: 0 is none. */
	if (m->state.rate)
		s->rate = cpu_to_be32(sstp_kbit(m->state.rate) ?: 1);
	s->half = m->state.half;
	memcpy(s->name, m->state.name, strnlen(m->state.name, sizeof(s->name)));
	return sizeof(*s);
}
