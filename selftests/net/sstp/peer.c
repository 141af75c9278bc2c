// SPDX-License-Identifier: GPL-2.0
/* A peer made of a UDP socket, for tests in C. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define ANSWER_MS	10000
#define PATIENT_MS	60000

static uint32_t now_us(void)
{
	return now_ns() / 1000;
}

void peer_send(struct peer *p, const void *packet, size_t len)
{
	if (send(p->udp, packet, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("send:");
}

/* The next packet; false when none came for @ms */
static ssize_t receive(struct peer *p, void *buf, size_t size, int ms)
{
	struct pollfd f = { .fd = p->udp, .events = POLLIN };

	if (poll(&f, 1, ms) != 1)
		return -1;
	return recv(p->udp, buf, size, MSG_DONTWAIT);
}

static uint8_t *option(uint8_t *at, int type, uint32_t value)
{
	uint32_t word = htonl(value);

	*at++ = type;
	if (type == OPT_STRATEGY) {
		*at++ = 1;
		*at++ = value;
		return at;
	}
	if (type == OPT_RATE) {
		/* Peak, average and bursts */
		*at++ = 4 * sizeof(word);
		memcpy(at, &word, sizeof(word));
		memset(at + sizeof(word), 0, 3 * sizeof(word));
		return at + 4 * sizeof(word);
	}
	*at++ = sizeof(word);
	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

static uint8_t *text_option(uint8_t *at, int type, const char *text)
{
	*at++ = type;
	*at++ = strlen(text);
	memcpy(at, text, strlen(text));
	return at + strlen(text);
}

void peer_half_open(struct peer *p, int listener, const struct peer_init *us)
{
	struct init_packet init = { .h.type = INIT }, ack;
	uint64_t random = nonce();
	uint8_t *end;
	union addr a;
	ssize_t n;

	memset(p, 0, sizeof(*p));
	/* The kernel's time-outs must not end the connection of a slow test. */
	p->patient = !sock_int(listener, SOL_SSTP, SSTP_USER_TIMEOUT);
	if (p->patient && setsockopt(listener, SOL_SSTP, SSTP_USER_TIMEOUT,
				     &(int){ PATIENT_MS }, sizeof(int)))
		die("SSTP_USER_TIMEOUT:");
	addr_loopback(&a, AF_INET, 0);
	if (!sock_int(listener, SOL_SOCKET, SO_ACCEPTCONN) &&
	    (bind(listener, &a.sa, addr_len(&a)) || listen(listener, 1)))
		die("listener:");
	if (getsockname(listener, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listener:");
	p->seed = random;
	p->cid = random | 1;
	/* These and the numbers of reports wrap soon, as jiffies do after boot. */
	p->first = -(random >> 32 & 7);
	p->first_shipment = -(random >> 16 & 3);
	init.cid = htonl(p->cid);
	init.sport = htons(1234);
	init.dport = htons(addr_port(&a));
	init.shipment = htonl(p->first_shipment);
	init.segment = htonl(p->first);
	init.window = htonl(us->window);
	init.limit = htonl(SSTP_SEGMENT_MAX);
	init.stamp = htonl(now_us());
	init.version = 1;
	init.sktype = sock_int(listener, SOL_SOCKET, SO_TYPE);
	end = option(init.options, OPT_SEGMENT, us->segment ?: 1500);
	end = option(end, OPT_TOLERANCE, us->tolerance);
	end = option(end, OPT_STRATEGY, us->strategy);
	if (us->rate)
		end = option(end, OPT_RATE, us->rate);
	if (us->controller)
		end = text_option(end, OPT_CONTROLLER, us->controller);
	if (us->messages)
		end = text_option(end, OPT_MESSAGES, "\1");
	if (us->ecn)
		end = text_option(end, OPT_ECN, "\1");
	p->talks = us->messages;
	p->ecn = us->ecn;
	init.h.packet = htons(end - init.options);

	addr_loopback(&a, AF_INET, SSTP_PORT);
	p->udp = us->beside ? dup(us->beside->udp) :
			      socket(AF_INET, SOCK_DGRAM, 0);
	if (p->udp < 0 || connect(p->udp, &a.sa, addr_len(&a)) ||
	    setsockopt(p->udp, SOL_SOCKET, SO_SNDBUFFORCE, &(int){ 4 << 20 },
		       sizeof(int)) ||
	    setsockopt(p->udp, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ 4 << 20 },
		       sizeof(int)))
		die("UDP:");
	peer_send(p, &init, sizeof(init));
	do
		n = receive(p, &ack, sizeof(ack), ANSWER_MS);
	while (us->beside && n >= (ssize_t)sizeof(ack.h) &&
	       ntohl(ack.h.cid) == us->beside->cid);
	if (n < (ssize_t)offsetof(struct init_packet, options) ||
	    ack.h.type != INIT_ACK || ntohl(ack.h.cid) != p->cid)
		die("no INIT_ACK");
	p->their_cid = ntohl(ack.cid);
	p->their_first = ntohl(ack.segment);
	p->their_shipment = ntohl(ack.shipment);
	p->granted = ntohl(ack.window);
	p->our_limit = us->window - 1;
}

void peer_complete(struct peer *p, int listener)
{
	struct pollfd ready = { .fd = listener, .events = POLLIN };

	peer_keepalive(p, 0);
	if (poll(&ready, 1, ANSWER_MS) != 1)
		die("no connection");
	p->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (p->fd < 0)
		die("accept:");
	close(listener);
}

void peer_open(struct peer *p, int listener, const struct peer_init *us)
{
	peer_half_open(p, listener, us);
	peer_complete(p, listener);
}

void peer_leave(struct peer *p)
{
	if (p->patient && setsockopt(p->fd, SOL_SSTP, SSTP_USER_TIMEOUT,
				     &(int){ 0 }, sizeof(int)))
		die("SSTP_USER_TIMEOUT:");
}

void peer_close(struct peer *p)
{
	peer_leave(p);
	close(p->fd);
	close(p->udp);
}

void peer_may_vanish(void)
{
	FILE *f = fopen("/proc/sys/net/sstp/user_timeout", "w");

	if (!f || fputs("1000", f) < 0 || fclose(f))
		die("user_timeout:");
}

static size_t make_data(struct peer *p, struct data_packet *d, int type,
			const struct peer_piece *piece)
{
	/* KEEPALIVE has the number of the last shipment. */
	uint32_t shipment = p->first_shipment + p->shipment - (type != DATA);
	/* All packets but the last are of one size. */
	size_t at = piece->flags & LAST ? piece->len - piece->bytes : piece->packet * piece->bytes;

	*d = (struct data_packet){
		.h.cid = htonl(p->their_cid), .h.type = type, .h.flags = piece->flags,
		.h.packet = htons(piece->packet), .shipment = htonl(shipment),
		.segment = htonl(p->first + piece->segment), .len = htonl(piece->len),
		.stamp = htonl(now_us()),
	};
	content_fill(d->payload, piece->bytes, p->seed + piece->segment, at);
	if (type == DATA)
		p->shipment++;
	return DATA_HLEN + piece->bytes;
}

size_t peer_make_data(struct peer *p, void *buf, const struct peer_piece *piece)
{
	return make_data(p, buf, DATA, piece);
}

void peer_data(struct peer *p, uint32_t segment, uint32_t packet, size_t bytes,
	       uint32_t len, uint8_t flags)
{
	const struct peer_piece piece = { segment, packet, bytes, len, flags };
	static char buf[65536];

	peer_send(p, buf, peer_make_data(p, buf, &piece));
}

/* A packet of @type, without data */
static void send_empty(struct peer *p, int type, uint32_t segment)
{
	const struct peer_piece none = { .segment = segment, .flags = ACK };
	struct data_packet d;

	peer_send(p, &d, make_data(p, &d, type, &none));
}

void peer_keepalive(struct peer *p, uint32_t segment)
{
	send_empty(p, KEEPALIVE, segment);
}

void peer_eos(struct peer *p, uint32_t segment)
{
	send_empty(p, EOS, segment);
}

/* What a PACK or SNAK reports: R_l, R_h, and the segment accepted */
struct report {
	uint32_t ack, limit, segment;
	uint8_t flags;
};

static void make_ack(struct peer *p, struct ack_packet *a, int type, const struct report *r)
{
	p->our_ack = r->ack;
	p->our_limit = r->limit;
	*a = (struct ack_packet){
		.h.cid = htonl(p->their_cid), .h.type = type, .h.flags = r->flags,
		.control = htonl(p->first_shipment + p->control++),
		.segment = htonl(p->their_first + r->segment),
		.ack = htonl(p->their_first + r->ack),
		.limit = htonl(p->their_first + r->limit),
		.highest = htonl(p->their_shipment - 1 - p->our_behind),
		.received = htonl(p->our_received),
	};
	if (p->echoes) {
		a->h.flags |= ECHO;
		a->echo = p->stamp;
	}
}

void peer_pack(struct peer *p, uint32_t ack, uint32_t limit, uint8_t flags,
	       uint32_t segment)
{
	char buf[sizeof(struct ack_packet) + 8 + sizeof(p->fields)];
	struct ack_packet *a = (void *)buf;
	uint32_t marks[] = { htonl(p->our_ect), htonl(p->our_ce) };
	char *end = (char *)(a + 1);

	make_ack(p, a, PACK, &(struct report){ ack, limit, segment, flags });
	if (flags & ECN)
		end = mempcpy(end, marks, sizeof(marks));
	end = mempcpy(end, p->fields, p->fields_len);
	peer_send(p, buf, end - buf);
}

void peer_snak(struct peer *p, uint32_t ack, uint32_t limit, uint64_t wanted)
{
	char buf[sizeof(struct ack_packet) + 64 * (sizeof(struct snak_entry) + 4)];
	struct ack_packet *a = (void *)buf;
	char *at = buf + sizeof(*a);
	int i, entries = 0;

	make_ack(p, a, SNAK, &(struct report){ .ack = ack, .limit = limit });
	for (i = 0; i < 64; i++) {
		struct snak_entry e = {
			.segment = htonl(p->their_first + i), .bits = htons(1),
		};

		if (!(wanted >> i & 1))
			continue;
		memcpy(at, &e, sizeof(e));
		memset(at + sizeof(e), 0, 4);
		at += sizeof(e) + 4;
		entries++;
	}
	a->h.packet = htons(entries);
	peer_send(p, buf, at - buf);
}

/* Bit of a segment, from 0; those far away are wrong. */
static uint64_t bit(struct peer *p, uint32_t segment)
{
	if (segment >= 64) {
		p->wrong++;
		return 0;
	}
	return 1ULL << segment;
}

/* Segments that a SNAK asks for, in whole or in part */
static void note_entries(struct peer *p, const uint8_t *at, const uint8_t *end,
			 unsigned int entries)
{
	struct snak_entry e;

	for (; entries; entries--) {
		unsigned int i, bits, words;
		uint32_t segment, word;

		if (end - at < (long)sizeof(e)) {
			p->wrong++;
			return;
		}
		memcpy(&e, at, sizeof(e));
		at += sizeof(e);
		segment = ntohl(e.segment) - p->first;
		bits = ntohs(e.bits);
		words = (bits + 31) / 32;
		if (end - at < (long)words * 4) {
			p->wrong++;
			return;
		}
		for (i = 0; !bits && i < ntohs(e.first); i++)
			p->asked |= bit(p, segment + i);
		for (i = 0; i < bits; i++) {
			memcpy(&word, at + i / 32 * 4, 4);
			if (!(ntohl(word) >> (31 - i % 32) & 1))
				p->asked |= bit(p, segment);
		}
		at += words * 4;
	}
	if (at != end)
		p->wrong++;
}

/* Reads the marks of a report that has them, at @at; returns what follows. */
static const uint8_t *note_marks(struct peer *p, const uint8_t *at, const uint8_t *end)
{
	uint32_t marks[2];

	if (!p->ecn || end - at < (long)sizeof(marks)) {
		p->wrong++;
		return at;
	}
	memcpy(marks, at, sizeof(marks));
	p->ect = ntohl(marks[0]);
	p->ce = ntohl(marks[1]);
	return at + sizeof(marks);
}

static void note_ack(struct peer *p, const struct ack_packet *a, size_t n)
{
	const uint8_t *at = (void *)(a + 1), *end = (uint8_t *)a + n;
	bool first = !(p->packs + p->snaks);

	if (a->h.type == PACK) {
		p->packs++;
	} else {
		p->snaks++;
		p->snak_bytes += n;
	}
	if (a->h.flags & SEGMENT)
		p->named |= bit(p, ntohl(a->segment) - p->first);
	/* A packet sent by another CPU may overtake this one: the later number holds. */
	if (!first && (int32_t)(ntohl(a->control) - p->their_control) < 0)
		return;
	p->their_control = ntohl(a->control);
	p->ack = ntohl(a->ack) - p->first;
	p->limit = ntohl(a->limit) - p->first;
	p->highest = ntohl(a->highest) - p->first_shipment;
	p->received = ntohl(a->received);
	p->soft |= !!(a->h.flags & SOFT);
	if (a->h.flags & ECHO) {
		p->hold = ntohl(a->hold);
		p->echoed = now_us() - ntohl(a->echo);
	}
	if (a->h.flags & ECN)
		at = note_marks(p, at, end);
	note_entries(p, at, end, ntohs(a->h.packet));
}

/* Offset of a packet's data in its segment, whatever the size of packets */
static uint32_t data_offset(const struct data_packet *d, size_t bytes)
{
	return d->h.flags & LAST ? ntohl(d->len) - bytes :
	       ntohs(d->h.packet) * bytes;
}

/* Each shipment comes once, a little later if a packet that another CPU sent overtakes it. */
static bool is_new(struct peer *p, uint32_t shipment)
{
	int32_t ahead = shipment - p->their_shipment;
	uint64_t was = p->overtaken;

	if (ahead < -64 || ahead > 62)
		return false;
	if (ahead < 0) {
		p->overtaken &= ~(1ULL << -(ahead + 1));
		return p->overtaken != was;
	}
	p->overtaken = p->overtaken << (ahead + 1) | ((1ULL << ahead) - 1) << 1;
	p->their_shipment = shipment + 1;
	return p->overtaken >> (ahead + 1) == was;
}

/* Is what @d carries as it was written? The first packet of each segment of a stream comes in
 * order, so it is known where the next begins.
 */
static bool is_right(struct peer *p, const struct data_packet *d, uint32_t segment, size_t bytes)
{
	uint64_t seed = p->seed + segment, at = data_offset(d, bytes);

	if (bytes > ntohl(d->len))
		return false;
	if (segment < 64)
		p->start[segment + 1] = p->start[segment] + ntohl(d->len);
	if (p->stream && segment < 64) {
		seed = p->seed;
		at += p->start[segment];
	}
	return content_check(d->payload, bytes, seed, at) == bytes;
}

static void note_data(struct peer *p, const struct data_packet *d, size_t n)
{
	uint32_t segment = ntohl(d->segment) - p->their_first;
	size_t bytes = n - DATA_HLEN;

	if (!is_new(p, ntohl(d->shipment)))
		p->wrong++;
	if (!is_right(p, d, segment, bytes))
		p->wrong++;
	p->bytes += bytes;
	p->stamp = d->stamp;
	if (d->h.flags & AGAIN)
		p->came_again |= bit(p, segment);
	else
		p->came |= bit(p, segment);
	if (d->h.flags & AGAIN && d->h.flags & ACK)
		p->asked_again |= bit(p, segment);
}

/* A peer without an answer assumes that this end is gone. */
static void note_probe(struct peer *p, const struct data_packet *d)
{
	p->keepalives++;
	p->stamp = d->stamp;
	if (d->h.flags & ACK)
		peer_pack(p, p->our_ack, p->our_limit, 0, 0);
}

/* INIT_ACK is repeated, with the same fields, until a packet of this peer answers it. */
static void note_init_ack(struct peer *p, const struct init_packet *i)
{
	if (p->answered || ntohl(i->cid) != p->their_cid ||
	    ntohl(i->segment) != p->their_first || ntohl(i->shipment) != p->their_shipment)
		p->wrong++;
	else
		p->init_acks++;
}

/* Their numbers ascend from that of their first segment. */
static void note_message(struct peer *p, const void *packet, size_t n)
{
	const struct message_packet *m = packet;

	if (n < offsetof(struct message_packet, data) ||
	    (!m->h.packet && (n != STATE_LEN || m->h.flags & ~ASK)) ||
	    ntohl(m->seq) - p->their_first != p->messages + p->states) {
		p->wrong++;
		return;
	}
	memset(&p->message, 0, sizeof(p->message));
	memcpy(&p->message, packet, n);
	p->message_len = n;
	if (m->h.packet)
		p->messages++;
	else
		p->states++;
}

/* Bytes of a PACK, whatever follows it */
static size_t ack_len(const struct hdr *h)
{
	return sizeof(struct ack_packet) + (h->flags & ECN ? 8 : 0);
}

/* A PACK that DATA or an EOS follows */
static void note_ride(struct peer *p, const void *packet, size_t n)
{
	size_t head = ack_len(packet);
	const struct data_packet *d = packet + head;

	note_ack(p, packet, head);
	if (n > head + DATA_HLEN && d->h.type == DATA && ntohl(d->h.cid) == p->cid)
		note_data(p, d, n - head);
	else if (n == head + DATA_HLEN && d->h.type == EOS && ntohl(d->h.cid) == p->cid)
		note_probe(p, d);
	else
		p->wrong++;
}

static void note(struct peer *p, const void *packet, size_t n)
{
	const struct hdr *h = packet;

	if (n < sizeof(*h) || ntohl(h->cid) != p->cid) {
		p->wrong++;
		return;
	}
	if (h->type == INIT_ACK && n >= offsetof(struct init_packet, options)) {
		note_init_ack(p, packet);
		return;
	}
	p->answered = true;
	if (h->type == DATA && n > DATA_HLEN)
		note_data(p, packet, n);
	else if ((h->type == KEEPALIVE || h->type == EOS) && n >= DATA_HLEN)
		note_probe(p, packet);
	else if (h->type == PACK && h->flags & RIDES && n > ack_len(h))
		note_ride(p, packet, n);
	else if ((h->type == PACK || h->type == SNAK) && n >= sizeof(struct ack_packet))
		note_ack(p, packet, n);
	else if (h->type == MESSAGE && p->talks && n <= sizeof(p->message))
		note_message(p, packet, n);
	else
		p->wrong++;
}

static void take(struct peer *p, int ms)
{
	static uint32_t buf[65536 / 4];
	ssize_t n = receive(p, buf, sizeof(buf), ms);
	unsigned int wrong = p->wrong;

	if (n < 0)
		return;
	note(p, buf, n);
	if (wrong || !p->wrong)
		return;
	p->wrong_len = n;
	memcpy(p->wrong_packet, buf,
	       p->wrong_len < sizeof(p->wrong_packet) ? p->wrong_len : sizeof(p->wrong_packet));
}

void peer_must_be_right(const struct peer *p)
{
	const struct hdr *h = (void *)p->wrong_packet;
	char hex[2 * sizeof(p->wrong_packet) + 1] = "";
	size_t i;

	must_be("packets that are wrong", p->wrong, 0);
	must_be("shipments that have not come", p->overtaken, 0);
	if (!p->wrong)
		return;
	for (i = 0; i < sizeof(p->wrong_packet) && i < p->wrong_len; i++)
		sprintf(hex + 2 * i, "%02x", p->wrong_packet[i]);
	ktap_diag("the first: type %u, flags %#x, %zu bytes: %s", h->type, h->flags,
		  p->wrong_len, hex);
	ktap_diag("CID %08x, our first segment %08x, the kernel's %08x and next shipment %08x",
		  p->cid, p->first, p->their_first, p->their_shipment);
}

void peer_listen(struct peer *p, int ms)
{
	uint64_t end = now_ns() + ms * 1000000ULL, now;

	while ((now = now_ns()) < end)
		take(p, (end - now) / 1000000 + 1);
}

bool peer_await(struct peer *p, int ms, bool (*cond)(const struct peer *p))
{
	uint64_t end = now_ns() + ms * 1000000ULL;

	while (!cond(p)) {
		if (now_ns() >= end)
			return false;
		take(p, 10);
	}
	return true;
}
