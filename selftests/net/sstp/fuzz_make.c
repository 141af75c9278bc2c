// SPDX-License-Identifier: GPL-2.0
/* Makes packets for fuzz_packets_test: right ones, and damaged, old and invented ones. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "fuzz_packets.h"

/* Packets to begin with; numbers are relative to those of the connection. */
static const char * const corpus[] = {
#include "corpus/packets.h"
};

static uint32_t now_us(void)
{
	return now_ns() / 1000;
}

/* --- right packets --------------------------------------------------------------- */

static size_t data_packet(struct conn *c, union packet *p, uint32_t segment,
			  uint32_t packet, uint8_t flags)
{
	uint32_t len = c->kept[segment % KEPT].len;
	uint32_t size = c->kept[segment % KEPT].size, at = packet * size;
	uint32_t bytes = len - at < size ? len - at : size;

	p->data = (struct data_packet){
		.h.cid = htonl(c->their_cid), .h.type = DATA,
		.h.flags = flags | (at + bytes == len ? LAST : 0),
		.h.packet = htons(packet),
		.shipment = htonl(c->shipment++), .segment = htonl(segment),
		.len = htonl(len), .stamp = htonl(now_us()),
	};
	memset(p->data.payload, segment + packet, bytes);
	return DATA_HLEN + bytes;
}

static uint32_t packets_of(const struct conn *c, uint32_t segment)
{
	uint32_t size = c->kept[segment % KEPT].size;

	return (c->kept[segment % KEPT].len + size - 1) / size;
}

static void shape(struct conn *c, uint32_t segment)
{
	uint32_t most = chance(&rng, 10) ? 200000 : chance(&rng, 50) ? 6000 : 600;

	c->kept[segment % KEPT].len = 1 + below(&rng, most);
	c->kept[segment % KEPT].size =
		8 * (1 + below(&rng, chance(&rng, 50) ? 8 : 180));
}

/* A retransmission may come in packets of another size. */
static void recut(struct conn *c, uint32_t segment)
{
	c->kept[segment % KEPT].size = 8 * (1 + below(&rng, 180));
}

/* The next packet, or the first of a new segment; it is sometimes lost. */
size_t next_data(struct conn *c, union packet *p)
{
	uint8_t flags = (chance(&rng, 20) ? ACK : 0) |
			(c->type == SOCK_SEQPACKET && chance(&rng, 30) ? EOR : 0);
	size_t len;

	if (!c->packet)
		shape(c, c->segment);
	len = data_packet(c, p, c->segment, c->packet, flags);
	c->packet += 1 + chance(&rng, 6);
	if (c->packet >= packets_of(c, c->segment)) {
		c->packet = 0;
		c->segment++;
	}
	return len;
}

static size_t again_data(struct conn *c, union packet *p)
{
	uint32_t segment = c->is_asked && chance(&rng, 70) ? c->asked :
			   c->segment - below(&rng, 8);

	if (!c->kept[segment % KEPT].size)
		return next_data(c, p);
	if (chance(&rng, 10))
		recut(c, segment);
	else if (chance(&rng, 5))	/* contradicts itself */
		shape(c, segment);
	return data_packet(c, p, segment, below(&rng, packets_of(c, segment)),
			   AGAIN | (chance(&rng, 20) ? ACK : 0));
}

size_t probe_packet(struct conn *c, union packet *p, int type)
{
	/* The stream ends once, mostly. */
	if (type == EOS && !c->ended) {
		c->ended = true;
		c->segment += !!c->packet;
		c->packet = 0;
	}
	p->data = (struct data_packet){
		.h.cid = htonl(c->their_cid), .h.type = type,
		.h.flags = chance(&rng, 70) ? ACK : 0,
		.h.packet = htons(type == EOS ? 0 : c->packet),
		.shipment = htonl(c->shipment - 1),
		.segment = htonl(c->segment), .stamp = htonl(now_us()),
	};
	if (chance(&rng, 70))
		return DATA_HLEN;
	/* Pad it like a probe for the path MTU. */
	memset(p->data.payload, 0, 9000);
	return DATA_HLEN + 1 + below(&rng, chance(&rng, 80) ? 1500 : 9000);
}

/* Fields of a PACK: right ones, and of any type and length */
static uint8_t *fields(uint8_t *at)
{
	unsigned int n = chance(&rng, 60) ? 0 : 1 + below(&rng, 3);

	while (n--) {
		uint8_t len = chance(&rng, 80) ? 8 : below(&rng, 40);
		uint32_t value[10];
		size_t i;

		for (i = 0; i < sizeof(value) / sizeof(*value); i++)
			value[i] = htonl(odd_number(&rng));
		*at++ = chance(&rng, 90) ? below(&rng, 4) : below(&rng, 256);
		*at++ = chance(&rng, 95) ? len : len + 1;
		memcpy(at, value, len);
		at += len;
	}
	return at;
}

/* Acknowledge all shipped segments, or some of them. */
size_t ack_packet(struct conn *c, union packet *p, int type)
{
	uint32_t ack = c->their_segment + 1 - chance(&rng, 20) *
		       below(&rng, 4), limit = ack + below(&rng, WINDOW);
	uint32_t segment = ack - below(&rng, 6), n, i;
	uint32_t came = below(&rng, 20), ce = below(&rng, came + 1);
	uint8_t *at = (void *)p->ack.entry;

	c->received += came;
	c->ce += ce;
	c->ect += came - ce;
	if ((int32_t)(limit - c->limit) > 0)
		c->limit = limit;
	p->ack = (struct ack_packet){
		.h.cid = htonl(c->their_cid), .h.type = type,
		.h.flags = ECHO | (chance(&rng, 30) ? SEGMENT : 0) |
			   (chance(&rng, 20) ? SOFT : 0) |
			   (chance(&rng, c->padded ? 70 : 10) ? PADDED : 0) |
			   (chance(&rng, 50) ? ECN : 0),
		.control = htonl(c->control++),
		.segment = htonl(ack + below(&rng, 4)), .ack = htonl(ack),
		.limit = htonl(c->limit), .echo = htonl(c->stamp),
		.hold = htonl(below(&rng, 1000)),
		.highest = htonl(c->their_shipment),
		.received = htonl(chance(&rng, 95) ? c->received : odd_number(&rng)),
		.arrival = htonl(odd_number(&rng)),
		.service = htonl(odd_number(&rng)),
		.late = htons(chance(&rng, 80) ? below(&rng, 20) :
			      odd_number(&rng)),
		.progress = htons(below(&rng, 50)),
	};
	if (p->h.flags & ECN) {
		uint32_t marks[] = {
			htonl(c->ect), htonl(chance(&rng, 95) ? c->ce : odd_number(&rng)),
		};

		memcpy(at, marks, sizeof(marks));
		at += sizeof(marks);
	}
	if (type == PACK)
		return fields(at) - p->bytes;
	n = 1 + below(&rng, 4);
	for (i = 0; i < n; i++) {
		struct snak_entry e = {
			.segment = htonl(segment),
			.first = htons(below(&rng, 10)),
			.bits = htons(1 + below(&rng, 300)),
		};
		uint32_t words = (ntohs(e.bits) + 31) / 32;

		if (chance(&rng, 20)) {		/* some whole segments */
			e.first = htons(1 + below(&rng, 4));
			e.bits = 0;
			words = 0;
			segment += ntohs(e.first);
		} else {
			segment++;
		}
		memcpy(at, &e, sizeof(e));
		at += sizeof(e);
		content_fill(at, 4 * words, rnd(&rng), 0);
		at += 4 * words;
	}
	p->h.packet = htons(n);
	return at - p->bytes;
}

static uint8_t *option(uint8_t *at, int type, const void *value, size_t len)
{
	*at++ = type;
	*at++ = len;
	memcpy(at, value, len);
	return at + len;
}

size_t init_packet(struct conn *c, union packet *p, int type)
{
	uint32_t words[4] = {
		htonl(8 + below(&rng, 1000000)), htonl(8), 0, 0,
	};
	uint8_t *at = p->init.options;
	unsigned int i, opt;

	p->init = (struct init_packet){
		.h.cid = htonl(type == INIT ? 0 : c->their_cid), .h.type = type,
		.cid = htonl(c->cid), .sport = htons(PEER_PORT + (c - conns)),
		.dport = htons(c->dport), .shipment = htonl(c->shipment),
		.segment = htonl(c->segment),
		.window = htonl(chance(&rng, 80) ? WINDOW : odd_number(&rng)),
		.limit = htonl(chance(&rng, 90) ? SSTP_SEGMENT_MAX :
			       1 + below(&rng, 2000)),
		.stamp = htonl(now_us()),
		.echo = type == INIT ? 0 : htonl(c->stamp),
		.version = 1, .sktype = c->type,
	};
	for (i = below(&rng, 5); i; i--) {
		opt = below(&rng, 40);
		if (opt == 1 || opt == OPT_COOKIE)
			at = option(at, opt, words, sizeof(words));
		else if (opt == OPT_STRATEGY)
			at = option(at, opt, &(uint8_t){ below(&rng, 2) }, 1);
		else if (opt == OPT_CONTROLLER || opt == 7)
			at = option(at, opt, "newreno", 1 + below(&rng, 7));
		else if (opt == OPT_MESSAGES || opt == OPT_ECN)
			at = option(at, opt, &(uint8_t){ 1 }, 1);
		else if (opt)
			at = option(at, opt, words, 4);
		else
			at++;
	}
	at = option(at, OPT_TOLERANCE, &(uint32_t){ htonl(300000) }, 4);
	if (chance(&rng, 70))
		at = option(at, OPT_MESSAGES, &(uint8_t){ 1 }, 1);
	if (chance(&rng, 80))
		at = option(at, OPT_ECN, &(uint8_t){ 1 }, 1);
	if (chance(&rng, 50))
		at = option(at, OPT_CONTROLLER, c->controller, strlen(c->controller));
	if (c->has_cookie)
		at = option(at, OPT_COOKIE, c->cookie, COOKIE_LEN);
	p->h.packet = htons(at - p->init.options);
	return type == INIT ? sizeof(p->init) : (size_t)(at - p->bytes);
}

size_t end_packet(struct conn *c, union packet *p, int type)
{
	p->end = (struct end_packet){
		.h.cid = htonl(c->their_cid), .h.type = type,
		.code = htonl(type == RESET ? below(&rng, 6) : 0),
		.seq = htonl(c->shipment - 1),
	};
	if (type == COOKIE) {
		content_fill(p->cookie.cookie, COOKIE_LEN, rnd(&rng), 0);
		return sizeof(p->cookie);
	}
	if (type == RESET && chance(&rng, 30)) {
		p->h.cid = htonl(c->cid);
		p->h.flags = STRAY;
		p->end.seq = htonl(c->their_shipment);
	}
	return sizeof(p->end);
}

/* A state of control, or a message of one half of a controller to the other */
size_t message_packet(struct conn *c, union packet *p)
{
	size_t len = 4 * below(&rng, 1 + sizeof(p->message.data) / 4), i;

	memset(&p->message, 0, sizeof(p->message));
	p->h.cid = htonl(c->their_cid);
	p->h.type = MESSAGE;
	p->message.seq = htonl(c->message++);
	if (chance(&rng, 50)) {
		c->changes += chance(&rng, 10);
		p->h.flags = chance(&rng, 70) ? ASK : 0;
		p->message.ctrl = htons(c->changes);
		p->message.state = htons(++c->told);
		p->message.seen = htons(chance(&rng, 90) ? 1 : odd_number(&rng));
		p->message.ack_interval = htons(below(&rng, 300));
		p->message.ack_timer = htonl(below(&rng, 20000));
		p->message.rate = htonl(below(&rng, 10000));
		p->message.half = below(&rng, 2);
		strcpy(p->message.name, chance(&rng, 80) ? c->controller :
		       chance(&rng, 80) ? fuzz_controller(&rng) : "x");
		return STATE_LEN;
	}
	p->h.flags = chance(&rng, 30) ? BACK : 0;
	p->h.packet = htons(1 + below(&rng, 3));
	p->message.ctrl = htons(p->h.flags ? 1 : c->changes);
	for (i = 0; i < len; i += 4)
		memcpy(p->message.data + i, &(uint32_t){ htonl(odd_number(&rng)) }, 4);
	return offsetof(struct message_packet, data) + len;
}

/* A PACK, and DATA or an EOS that follows it */
static size_t ride(struct conn *c, union packet *p)
{
	static union packet data;
	size_t head, len = chance(&rng, 10) ? probe_packet(c, &data, EOS) : next_data(c, &data);

	ack_packet(c, p, PACK);
	/* Its fields, if there are any, give way. */
	head = sizeof(p->ack) + (p->h.flags & ECN ? 8 : 0);
	if (head + len > sizeof(*p))
		return head;
	p->h.flags |= RIDES;
	memcpy(p->bytes + head, &data, len);
	return head + len;
}

static size_t right_packet(struct conn *c, union packet *p)
{
	switch (below(&rng, 1000)) {
	case 0 ... 399:
		return next_data(c, p);
	case 400 ... 549:
		return again_data(c, p);
	case 550 ... 749:
		return chance(&rng, 40) ? ride(c, p) : ack_packet(c, p, PACK);
	case 750 ... 899:
		return ack_packet(c, p, SNAK);
	case 900:
		return end_packet(c, p, RESET);
	case 901:
		return end_packet(c, p, CLOSE);
	case 902:
		return end_packet(c, p, COOKIE);
	case 903:
		return init_packet(c, p, INIT);
	case 904:
		return init_packet(c, p, INIT_ACK);
	case 905 ... 907:
		return probe_packet(c, p, EOS);
	case 908 ... 929:
		return message_packet(c, p);
	default:
		return probe_packet(c, p, c->ended ? EOS : KEEPALIVE);
	}
}

/* --- others ---------------------------------------------------------------------- */

static void add(union packet *p, size_t offset, uint32_t n)
{
	p->word[offset / 4] = htonl(ntohl(p->word[offset / 4]) + n);
}

/* The same for DATA or an EOS behind a PACK */
static void rebase_ride(struct conn *c, union packet *p)
{
	const size_t at = sizeof(struct ack_packet);

	p->word[at / 4] = p->h.cid;
	add(p, at + offsetof(struct data_packet, shipment), c->shipment);
	add(p, at + offsetof(struct data_packet, segment), c->segment);
}

/* Make numbers of a packet from the corpus relative to those of the connection. */
static void rebase(struct conn *c, union packet *p)
{
	p->h.cid = p->h.type == INIT ? 0 : htonl(c->their_cid);
	switch (p->h.type) {
	case DATA:
	case KEEPALIVE:
	case EOS:
		add(p, offsetof(struct data_packet, shipment), c->shipment);
		add(p, offsetof(struct data_packet, segment), c->segment);
		break;
	case PACK:
	case SNAK:
		add(p, offsetof(struct ack_packet, control), c->control);
		add(p, offsetof(struct ack_packet, segment), c->their_segment);
		add(p, offsetof(struct ack_packet, ack), c->their_segment);
		add(p, offsetof(struct ack_packet, limit), c->their_segment);
		add(p, offsetof(struct ack_packet, highest), c->their_shipment);
		if (p->h.flags & RIDES)
			rebase_ride(c, p);
		else
			add(p, offsetof(struct ack_packet, entry[0].segment), c->their_segment);
		break;
	case INIT:
	case INIT_ACK:
		p->init.cid = htonl(c->cid);
		p->init.dport = htons(c->dport);
		p->init.sport = htons(PEER_PORT + (c - conns));
		add(p, offsetof(struct init_packet, echo), c->stamp);
		p->init.sktype = c->type;
		break;
	case MESSAGE:
		add(p, offsetof(struct message_packet, seq), c->message);
		break;
	case RESET:
	case CLOSE:
		add(p, offsetof(struct end_packet, seq), c->shipment - 1);
		break;
	}
}

static size_t from_corpus(struct conn *c, union packet *p)
{
	const char *hex = corpus[below(&rng, ARRAY_SIZE(corpus))];
	unsigned int byte;
	size_t len = 0;
	int n;

	memset(p, 0, sizeof(p->init));
	while (sscanf(hex, " %2x%n", &byte, &n) == 1) {
		p->bytes[len++] = byte;
		hex += n;
	}
	/* Zeros follow the options of an INIT. */
	if (p->h.type == INIT && len >= offsetof(struct init_packet, options))
		len = sizeof(p->init);
	rebase(c, p);
	return len;
}

/* A packet that was received, of any connection */
static size_t from_run(struct conn *c, union packet *p)
{
	unsigned int n = n_caught < KEPT ? n_caught : KEPT, i;

	if (!n)
		return from_corpus(c, p);
	i = below(&rng, n);
	memcpy(p, &caught[i].p, caught[i].len);
	if (chance(&rng, 80))
		p->h.cid = htonl(c->their_cid);
	return caught[i].len;
}

static uint32_t near(uint32_t n)
{
	switch (below(&rng, 4)) {
	case 0:
		return n + below(&rng, 5) - 2;
	case 1:
		return n + below(&rng, 200) - 100;
	case 2:
		return n + (1U << below(&rng, 32));
	default:
		return n - (1U << below(&rng, 32));
	}
}

size_t damage(struct conn *c, union packet *p, size_t len)
{
	const uint32_t known[] = {
		c->shipment, c->segment, c->their_segment, c->their_shipment,
		c->control, c->limit, c->cid, c->their_cid, c->stamp,
	};
	uint32_t words = (len < 512 ? len : 512) / 4, i;

	sent.damaged++;
	switch (below(&rng, 12)) {
	case 0 ... 2:		/* a number */
		if (words > 2)
			p->word[2 + below(&rng, words - 2)] =
				htonl(odd_number(&rng));
		return len;
	case 3 ... 5:		/* one that is nearly right */
		if (words <= 2)
			return len;
		i = 2 + below(&rng, words - 2);
		p->word[i] = htonl(near(chance(&rng, 50) ? ntohl(p->word[i]) :
					known[below(&rng, ARRAY_SIZE(known))]));
		return len;
	case 6:
		p->h.packet = htons(chance(&rng, 50) ? odd_number(&rng) :
				    near(ntohs(p->h.packet)));
		return len;
	case 7:
		p->h.flags = rnd(&rng);
		return len;
	case 8:
		p->h.type = chance(&rng, 90) ? below(&rng, TYPES) : rnd(&rng);
		return len;
	case 9:
		for (i = 1 + below(&rng, 8); i && len; i--)
			p->bytes[below(&rng, len < 256 ? len : 256)] ^=
				1 << below(&rng, 8);
		return len;
	case 10:
		return below(&rng, len + 1);
	default:
		i = below(&rng, chance(&rng, 98) ? 300 : LARGEST);
		if (len + i > LARGEST)
			return len;
		content_fill(p->bytes + len, i, rnd(&rng), 0);
		return len + i;
	}
}

size_t some_packet(struct conn *c, union packet *p)
{
	size_t len = chance(&rng, c->wild ? 70 : 97) ? right_packet(c, p) :
		     chance(&rng, 50) ? from_corpus(c, p) : from_run(c, p);

	while (chance(&rng, c->wild))
		len = damage(c, p, len);
	return len;
}
