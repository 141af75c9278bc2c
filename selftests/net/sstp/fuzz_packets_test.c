// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * kernels: debug 6.12 kcsan
 *
 * Peers that know the protocol and every number of their connections send packets
 * of all types: right ones, which lead deep, and damaged, repeated, disordered,
 * joined and cut ones. Programs use the connections meanwhile. Honest connections
 * beside them carry data, which must stay right; new ones are made; in the end
 * nothing is left.
 *
 * It takes a minute on each kernel: two of each run, with the debug kernel and a stock
 * one. A slow machine goes on until packets got everywhere.
 *
 *	fuzz_packets_test [-T SECONDS] [-S SEED]
 *
 *   +--------+ 10.0.0.1           10.0.0.2 +-------+
 *   | kernel | fd00::1             fd00::2 | peers |
 *   +--------+                             +-------+
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if.h>
#include <linux/ipv6.h>
#include <linux/sock_diag.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fuzz.h"
#include "nl.h"
#include "peer.h"

#define LARGEST		65507		/* in a UDP datagram over IPv4 */

#define PEERS		24
#define SOCKETS_MAX	400		/* that the kernel has at a time */
#define BUFFER		"262144"	/* of each direction of a socket */
#define WINDOW		64
#define MEMORY		(512L << 10)	/* of a socket, taken all together */
#define SMALL		20000		/* buffers of every second listener */
#define TRAIN		(72 << 10)	/* memory of the largest thing to come in */
#define WRITE_MOST	250000		/* bytes that programs send in one call */
#define PORT		5000		/* of listeners */
#define PEER_PORT	20000		/* of peers, by index */
#define KEPT		64		/* segments, or packets, in memory */
#define SLOW_S		240		/* more that a slow machine may take to get everywhere */

union packet {
	struct hdr h;
	struct data_packet data;
	struct ack_packet ack;
	struct init_packet init;
	struct cookie_packet cookie;
	struct message_packet message;
	struct end_packet end;
	uint32_t word[(LARGEST + 3) / 4];
	uint8_t bytes[LARGEST];
};

/* Packets to begin with; numbers are relative to those of the connection. */
static const char * const corpus[] = {
#include "corpus/packets.h"
};

enum state { GONE, ASKED, OPEN };

/* A connection with the kernel; numbers are those in packets. */
struct conn {
	enum state state;
	unsigned int steps;		/* until it is given up */
	unsigned int wild;		/* percent of packets that are damaged */
	bool active;			/* we sent the INIT */
	int fd;				/* the program's end, or -1 */
	int udp;			/* ours */
	union addr to;			/* the kernel's, as UDP has it */
	int type;			/* of the socket */
	uint32_t rcvbuf, sndbuf;	/* the largest that it had */
	bool lazy;			/* the program does not read */
	uint32_t cid, their_cid;
	uint16_t dport;
	bool has_cookie;
	uint8_t cookie[COOKIE_LEN];

	/* The direction in which we send */
	uint32_t shipment, segment, packet;	/* the next */
	struct {
		uint32_t len, size;
	} kept[KEPT];
	uint32_t asked;			/* a segment that a SNAK asked for */
	uint32_t received, ect, ce;	/* packets reported: all, with ECT(0), with CE */
	bool is_asked, ended;

	/* The direction in which the kernel sends */
	uint32_t their_segment, their_shipment;	/* highest */
	uint32_t control, limit, stamp;
	bool padded;			/* what @stamp came in */

	const char *controller;		/* of our sender, and of its MESSAGEs */
	uint32_t message;		/* number of the next MESSAGE */
	uint16_t told, changes;		/* states, and controllers named in them */
};

static struct fuzz fuzz;
static struct rng rng;
static int ns[2];			/* the kernel's, the peers' */
static struct conn conns[PEERS];
static int listeners[4], responders[2];
static int icmp[2];
static struct nl nl;
static struct {
	union packet p;
	size_t len;
} caught[KEPT], held[KEPT];
static unsigned int n_caught, n_held;

static struct {
	unsigned long packets, trains, icmp, damaged, opened, established;
	unsigned long calls, gapped, probed, destroyed, mtus;
	unsigned long by_type[TYPES];
} sent;

static void enter(int side)
{
	if (setns(ns[side], CLONE_NEWNET))
		die("setns:");
}

static uint32_t now_us(void)
{
	return now_ns() / 1000;
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

/* --- honest connections ---------------------------------------------------------- */

#define PATIENCE_MS	60000
#define CHUNK		10000

static struct honest {
	int fd[2];
	uint64_t seed, moved;
	volatile int error;		/* EBADMSG: wrong content */
	pthread_t writer, reader;
} honest[2];

static struct {
	int fd;
	union addr to;
	unsigned int made, failed;
	int error;
	pthread_t server, client;
} guests;

static volatile bool over;

static int listening(int type, int family, int backlog, union addr *a)
{
	int fd = proto_socket(PROTO_SSTP, family, type, 0);

	if (fd < 0 || bind(fd, &a->sa, addr_len(a)) || listen(fd, backlog) ||
	    getsockname(fd, &a->sa, &(socklen_t){ sizeof(*a) }))
		die("listener:");
	return fd;
}

static void *honest_write(void *arg)
{
	static __thread char buf[CHUNK];
	struct honest *h = arg;
	uint64_t pos = 0;

	while (!over && !h->error) {
		content_fill(buf, sizeof(buf), h->seed, pos);
		if (send(h->fd[0], buf, sizeof(buf), MSG_NOSIGNAL) !=
		    sizeof(buf)) {
			if (!h->error)
				h->error = errno ?: EIO;
			break;
		}
		pos += sizeof(buf);
		sleep_ns(20000000);	/* leave the others some CPU */
	}
	shutdown(h->fd[0], SHUT_WR);
	return arg;
}

static void *honest_read(void *arg)
{
	static __thread char buf[CHUNK];
	struct honest *h = arg;
	ssize_t n;

	while ((n = recv(h->fd[1], buf, sizeof(buf), 0)) > 0 &&
	       content_check(buf, n, h->seed, h->moved) == (size_t)n)
		h->moved += n;
	if (n)
		h->error = n < 0 ? errno : EBADMSG;
	shutdown(h->fd[0], SHUT_RDWR);	/* wakes a blocked writer */
	return arg;
}

static void honest_start(struct honest *h, int type, int family)
{
	union addr a;
	int l;

	addr_loopback(&a, family, 0);
	l = listening(type, family, 1, &a);
	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
	h->seed = rnd(&rng);
	h->fd[0] = proto_socket(PROTO_SSTP, family, type, 0);
	sock_set(h->fd[0], SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
	if (connect(h->fd[0], &a.sa, addr_len(&a)))
		die("connect:");
	h->fd[1] = accept(l, NULL, NULL);
	if (h->fd[1] < 0)
		die("accept:");
	close(l);
	pthread_create(&h->writer, NULL, honest_write, h);
	pthread_create(&h->reader, NULL, honest_read, h);
}

static bool honest_end(struct honest *h)
{
	pthread_join(h->writer, NULL);
	pthread_join(h->reader, NULL);
	ktap_diag("%llu bytes%s%s", (unsigned long long)h->moved,
		  h->error ? ", " : "",
		  h->error ? strerrorname_np(h->error) : "");
	close(h->fd[0]);
	close(h->fd[1]);
	return !h->error && h->moved;
}

static void *guests_come(void *arg)
{
	while (!over) {
		int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

		sock_set(fd, SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
		if (echo_ask(fd, &guests.to)) {
			guests.made++;
		} else {
			guests.error = errno;
			guests.failed++;
		}
		close(fd);
		sleep_ns(50000000);
	}
	return arg;
}

static void guests_start(void)
{
	addr_loopback(&guests.to, AF_INET, 0);
	guests.fd = listening(SOCK_STREAM, AF_INET, 128, &guests.to);
	sock_set(guests.fd, SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
	pthread_create(&guests.server, NULL, echo_serve, &guests.fd);
	pthread_create(&guests.client, NULL, guests_come, NULL);
}

static bool guests_end(void)
{
	pthread_join(guests.client, NULL);
	shutdown(guests.fd, SHUT_RDWR);
	pthread_join(guests.server, NULL);
	close(guests.fd);
	ktap_diag("%u connections, %u failed%s%s", guests.made, guests.failed,
		  guests.failed ? ", the last: " : "", guests.failed ?
		  strerrorname_np(guests.error) : "");
	return guests.made && !guests.failed;
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
static size_t next_data(struct conn *c, union packet *p)
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

static size_t probe(struct conn *c, union packet *p, int type)
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
static size_t ack_packet(struct conn *c, union packet *p, int type)
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

static size_t set_up(struct conn *c, union packet *p, int type)
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

static size_t end_packet(struct conn *c, union packet *p, int type)
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
static size_t message(struct conn *c, union packet *p)
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
	size_t head, len = chance(&rng, 10) ? probe(c, &data, EOS) : next_data(c, &data);

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
		return set_up(c, p, INIT);
	case 904:
		return set_up(c, p, INIT_ACK);
	case 905 ... 907:
		return probe(c, p, EOS);
	case 908 ... 929:
		return message(c, p);
	default:
		return probe(c, p, c->ended ? EOS : KEEPALIVE);
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

static size_t damage(struct conn *c, union packet *p, size_t len)
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

static size_t some_packet(struct conn *c, union packet *p)
{
	size_t len = chance(&rng, c->wild ? 70 : 97) ? right_packet(c, p) :
		     chance(&rng, 50) ? from_corpus(c, p) : from_run(c, p);

	while (chance(&rng, c->wild))
		len = damage(c, p, len);
	return len;
}

/* --- on their way ----------------------------------------------------------------- */

static void deliver(struct conn *c, const union packet *p, size_t len)
{
	/* Sometimes the packet comes from another peer. */
	int udp = chance(&rng, 1) ? conns[below(&rng, PEERS)].udp : c->udp;
	bool v6 = c->to.sa.sa_family == AF_INET6;

	/* Queues on the path mark packets for a while, or a host sends them as it likes. */
	if (chance(&rng, 10))
		setsockopt(udp, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_TCLASS : IP_TOS,
			   &(int){ below(&rng, 4) }, sizeof(int));
	sendto(udp, p, len, MSG_DONTWAIT, &c->to.sa, addr_len(&c->to));
	sent.packets++;
	if (len >= sizeof(p->h) && p->h.type < TYPES)
		sent.by_type[p->h.type]++;
}

/* Packets that were held back leave in another order. */
static void release(struct conn *c)
{
	while (n_held) {
		unsigned int i = below(&rng, n_held);

		deliver(c, &held[i].p, held[i].len);
		held[i] = held[--n_held];
	}
}

/* Send a train of packets of one size, the last of which may be shorter. */
static void deliver_train(struct conn *c)
{
	static union packet p;
	static uint8_t buf[60000];
	char control[CMSG_SPACE(sizeof(uint16_t))] = {};
	uint16_t size = 8 + below(&rng, 1450);
	struct iovec iov = { buf, 0 };
	struct msghdr msg = {
		.msg_name = &c->to, .msg_namelen = addr_len(&c->to),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
	unsigned int n = 2 + below(&rng, 60), i;
	size_t len;

	for (i = 0; i < n; i++) {
		/* GRO joins packets of a connection if no other packet comes between. */
		len = chance(&rng, 90) ? next_data(c, &p) :
		      some_packet(chance(&rng, 70) ? c :
				  &conns[below(&rng, PEERS)], &p);
		if (!i && p.h.type == DATA && len > DATA_HLEN &&
		    chance(&rng, 90))
			size = len < 1480 ? len : 1480;
		if (iov.iov_len + size > sizeof(buf))
			break;
		if (len < size && chance(&rng, 70)) {
			/* A shorter packet ends the train. */
			memcpy(buf + iov.iov_len, &p, len);
			iov.iov_len += len;
			break;
		}
		if (len < size)
			memset(p.bytes + len, 0, size - len);
		memcpy(buf + iov.iov_len, &p, size);
		iov.iov_len += size;
	}
	cm->cmsg_level = SOL_UDP;
	cm->cmsg_type = UDP_SEGMENT;
	cm->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(cm), &size, sizeof(size));
	sendmsg(c->udp, &msg, MSG_DONTWAIT);
	sent.trains++;
}

union icmp_header {
	struct icmphdr v4;
	struct icmp6hdr v6;
};

/* An error of ICMPv6 up to the IPv6 header of the packet of @to that it quotes; returns its end. */
static uint8_t *make_icmp6(uint8_t *buf, const union addr *to, const struct udphdr *udp,
			   uint32_t mtu)
{
	struct ipv6hdr ip = {
		.version = 6, .nexthdr = IPPROTO_UDP, .hop_limit = 60, .payload_len = udp->len,
	};
	union icmp_header h = {};

	h.v6.icmp6_type = 1 + below(&rng, 4);
	h.v6.icmp6_code = below(&rng, 8);
	h.v6.icmp6_mtu = htonl(mtu);
	memcpy(&ip.saddr, &to->v6.sin6_addr, 16);
	memcpy(&ip.daddr, &(struct in6_addr){ .s6_addr = { 0xfd, [15] = 2 } }, 16);
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), &ip, sizeof(ip));
	return buf + sizeof(h) + sizeof(ip);
}

/* The same of ICMP, without its sum */
static uint8_t *make_icmp4(uint8_t *buf, const union addr *to, const struct udphdr *udp,
			   uint32_t mtu)
{
	static const uint8_t types[] = {
		ICMP_DEST_UNREACH, ICMP_DEST_UNREACH, ICMP_TIME_EXCEEDED,
		ICMP_PARAMETERPROB, ICMP_REDIRECT,
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 60, .protocol = IPPROTO_UDP,
		.tot_len = htons(sizeof(ip) + ntohs(udp->len)),
		.saddr = to->v4.sin_addr.s_addr, .daddr = htonl(0x0a000002),
	};
	union icmp_header h = {};

	h.v4.type = types[below(&rng, ARRAY_SIZE(types))];
	h.v4.code = h.v4.type != ICMP_DEST_UNREACH ? 0 :
		    chance(&rng, 50) ? ICMP_FRAG_NEEDED : below(&rng, 16);
	h.v4.un.frag.mtu = htons(mtu);
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), &ip, sizeof(ip));
	return buf + sizeof(h) + sizeof(ip);
}

static void sum_icmp4(uint8_t *buf, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += buf[i] << 8 | (i + 1 < len ? buf[i + 1] : 0);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	((struct icmphdr *)buf)->checksum = htons(~sum);
}

/* An ICMP error that quotes a packet of the kernel */
static void deliver_icmp(struct conn *c)
{
	static const uint32_t mtus[] = {
		0, 68, 127, 128, 552, 576, 1000, 1280, 1400, 1500, 65535,
	};
	static union packet quoted;
	bool v6 = c->to.sa.sa_family == AF_INET6;
	uint8_t buf[600] = {}, *at;
	struct udphdr udp;
	union addr us, to = c->to;
	uint32_t mtu = mtus[below(&rng, ARRAY_SIZE(mtus))];
	size_t len;

	if (getsockname(c->udp, &us.sa, &(socklen_t){ sizeof(us) }))
		return;
	len = some_packet(c, &quoted);
	if (chance(&rng, 80))
		quoted.h.cid = htonl(c->cid);
	if (len > 100)
		len = 100;
	udp = (struct udphdr){
		.source = htons(addr_port(&to)), .dest = htons(addr_port(&us)),
		.len = htons(sizeof(udp) + len),
	};
	at = v6 ? make_icmp6(buf, &to, &udp, mtu) : make_icmp4(buf, &to, &udp, mtu);
	memcpy(at, &udp, sizeof(udp));
	at += sizeof(udp);
	memcpy(at, &quoted, len);
	at += len;
	len = at - buf;
	if (chance(&rng, 10))
		len = below(&rng, len + 1);
	if (!v6 && len >= sizeof(union icmp_header))
		sum_icmp4(buf, len);
	addr_set_port(&to, 0);
	sendto(icmp[v6], buf, len, MSG_DONTWAIT, &to.sa, addr_len(&to));
	sent.icmp++;
}

static void say(struct conn *c)
{
	bool flood = chance(&rng, 1);		/* of messages */
	unsigned int n = 1 + below(&rng, flood ? 60 : 8);
	static union packet p;
	size_t len;

	/* An end whose program does not read gets more data than others. */
	if (chance(&rng, c->lazy ? 60 : 15)) {
		deliver_train(c);
		return;
	}
	if (chance(&rng, 2)) {
		deliver_icmp(c);
		return;
	}
	while (n--) {
		len = flood ? message(c, &p) : some_packet(c, &p);
		if (chance(&rng, 10) && n_held < KEPT) {
			held[n_held].len = len;
			memcpy(&held[n_held++].p, &p, len);
			continue;
		}
		deliver(c, &p, len);
		while (chance(&rng, 5))		/* the same again */
			deliver(c, &p, len);
	}
	if (chance(&rng, 50))
		release(c);
}

/* --- what the kernel says --------------------------------------------------------- */

static void answer(struct conn *c, size_t (*make)(struct conn *c,
						  union packet *p, int type),
		   int type)
{
	static union packet p;
	size_t len = make(c, &p, type);

	while (chance(&rng, c->wild / 2))
		len = damage(c, &p, len);
	deliver(c, &p, len);
}

static void opened(struct conn *c, const struct init_packet *i)
{
	c->their_cid = ntohl(i->cid);
	c->their_segment = ntohl(i->segment) - 1;
	c->their_shipment = ntohl(i->shipment) - 1;
	c->limit = ntohl(i->segment) + WINDOW - 1;
	c->stamp = ntohl(i->stamp);
}

/* Keep the numbers that later packets have to match. */
static void note(struct conn *c, const union packet *p, size_t len)
{
	if (p->h.type <= EOS && len >= DATA_HLEN) {
		if ((int32_t)(ntohl(p->data.shipment) - c->their_shipment) > 0)
			c->their_shipment = ntohl(p->data.shipment);
		if (p->h.type == DATA &&
		    (int32_t)(ntohl(p->data.segment) - c->their_segment) > 0)
			c->their_segment = ntohl(p->data.segment);
		c->stamp = ntohl(p->data.stamp);
		c->padded = p->h.type != DATA && len > DATA_HLEN;
		sent.probed += c->padded;
		if (p->h.flags & ACK)
			answer(c, ack_packet, PACK);
	} else if (p->h.type == PACK && p->h.flags & RIDES) {
		size_t head = sizeof(p->ack) + (p->h.flags & ECN ? 8 : 0);
		static union packet data;

		if (len >= head + DATA_HLEN) {
			memcpy(&data, p->bytes + head, len - head);
			note(c, &data, len - head);
		}
	} else if (p->h.type == SNAK &&
		   len >= sizeof(p->ack) + sizeof(p->ack.entry[0])) {
		c->is_asked = true;
		c->asked = ntohl(p->ack.entry[0].segment);
	} else if (p->h.type == INIT_ACK && c->state == ASKED &&
		   len >= offsetof(struct init_packet, options)) {
		opened(c, &p->init);
		c->state = OPEN;
		answer(c, probe, KEEPALIVE);
	} else if (p->h.type == COOKIE && c->state == ASKED &&
		   len >= sizeof(p->cookie)) {
		memcpy(c->cookie, p->cookie.cookie, COOKIE_LEN);
		c->has_cookie = true;
		answer(c, set_up, INIT);
	} else if (p->h.type == CLOSE && chance(&rng, 70)) {
		answer(c, end_packet, CLOSE);
	} else if (p->h.type == RESET && c->steps) {
		c->steps = 1;
	}
}

/* An INIT of a program that connects to a peer */
static void asked(const union packet *p, const union addr *from, int udp)
{
	struct conn *c = &conns[(uint16_t)(ntohs(p->init.dport) - PEER_PORT) %
				PEERS];

	if (c->active || c->state == GONE)
		return;
	c->to = *from;
	c->udp = udp;
	c->dport = ntohs(p->init.sport);
	if (c->state == ASKED && chance(&rng, 30)) {
		c->their_cid = ntohl(p->init.cid);
		answer(c, end_packet, COOKIE);
		return;
	}
	opened(c, &p->init);
	c->state = OPEN;
	answer(c, set_up, INIT_ACK);
}

static void hear(int udp, struct conn *c)
{
	static union packet p;
	union addr from;
	ssize_t len;
	unsigned int i;

	for (;;) {
		memset(&from, 0, sizeof(from));
		len = recvfrom(udp, &p, sizeof(p), MSG_DONTWAIT, &from.sa,
			       &(socklen_t){ sizeof(from) });
		if (len < 0)
			return;
		if (len < (ssize_t)sizeof(p.h))
			continue;
		if (chance(&rng, 5)) {
			i = n_caught++ % KEPT;
			caught[i].len = len;
			memcpy(&caught[i].p, &p, len);
		}
		if (p.h.type == INIT && len >= (ssize_t)sizeof(p.init)) {
			asked(&p, &from, udp);
			continue;
		}
		/* The CID tells which peer a responder is addressed as. */
		if (!c || ntohl(p.h.cid) != c->cid) {
			i = ntohl(p.h.cid) % PEERS;
			if (conns[i].cid != ntohl(p.h.cid))
				continue;
			note(&conns[i], &p, len);
		} else {
			note(c, &p, len);
		}
	}
}

/* --- connections and what programs do with them ------------------------------------- */

static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };
static const int families[] = { AF_INET, AF_INET6 };

static void some_option(int fd)
{
	static const struct {
		int level, name;
		uint32_t least, most;
	} o[] = {
		{ SOL_SOCKET, SO_RCVBUF, 1, 200000 },
		{ SOL_SOCKET, SO_SNDBUF, 1, 200000 },
		{ SOL_SOCKET, SO_KEEPALIVE, 0, 1 },
		{ SOL_SSTP, SSTP_SEGMENT_SIZE, 1, 100000 },
		{ SOL_SSTP, SSTP_SEGMENT_LIMIT, 512, 1000000 },
		{ SOL_SSTP, SSTP_TOLERANCE, 0, 1000000 },
		{ SOL_SSTP, SSTP_ACK_STRATEGY, 0, 1 },
		{ SOL_SSTP, SSTP_WINDOW_FACTOR, 100, 1000 },
		{ SOL_SSTP, SSTP_USER_TIMEOUT, 100, 2000 },
		{ SOL_SSTP, SSTP_NODELAY, 0, 1 },
		{ IPPROTO_TCP, TCP_NODELAY, 0, 1 },
		{ IPPROTO_TCP, TCP_CORK, 0, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 1, 3 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 1, 3 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 1, 3 },
		{ IPPROTO_TCP, TCP_SYNCNT, 1, 3 },
		{ IPPROTO_TCP, TCP_LINGER2, 0, 2 },
		{ IPPROTO_TCP, TCP_DEFER_ACCEPT, 0, 2 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 100, 2000 },
		{ IPPROTO_TCP, TCP_QUICKACK, 0, 2 },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0, 100000 },
		{ IPPROTO_TCP, TCP_WINDOW_CLAMP, 1, 1000000 },
	};
	const struct sstp_rate_spec rate = {
		.peak = chance(&rng, 30) ? 0 : 1000000ULL << below(&rng, 12),
	};
	uint32_t i = below(&rng, ARRAY_SIZE(o));
	uint32_t value = o[i].least + below(&rng, o[i].most - o[i].least + 1);
	const char *name = fuzz_controller(&rng);

	if (chance(&rng, 15))
		setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate));
	else if (chance(&rng, 15))
		setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, strlen(name));
	else
		setsockopt(fd, o[i].level, o[i].name, &value, sizeof(value));
}

static void conn_close(struct conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->active && c->state != GONE)
		close(c->udp);
	c->fd = -1;
	c->udp = -1;
	c->state = GONE;
}

/* A socket of AF_SSTP, or of the family of its addresses */
static int some_socket(int family, int type)
{
	return chance(&rng, 50) ? socket(AF_SSTP, type | SOCK_NONBLOCK, 0) :
				  socket(family, type | SOCK_NONBLOCK, IPPROTO_SSTP);
}

static void conn_open(struct conn *c)
{
	static const unsigned int wild[] = { 0, 3, 20, 60 };
	uint32_t which = below(&rng, 4);
	int i = c - conns;
	union addr to;

	memset(c, 0, sizeof(*c));
	c->steps = 1 + below(&rng, 400);
	c->wild = wild[below(&rng, ARRAY_SIZE(wild))];
	c->active = chance(&rng, 60);
	c->lazy = chance(&rng, 25);
	c->type = types[which / 2];
	c->controller = fuzz_controller(&rng);
	/* The CID tells the index. */
	do
		c->cid = rnd(&rng) / PEERS * PEERS + i;
	while (!c->cid || c->cid % PEERS != (uint32_t)i);
	c->shipment = odd_number(&rng);
	c->segment = odd_number(&rng);
	c->message = c->segment;
	c->control = c->shipment;
	c->state = ASKED;
	c->fd = -1;
	sent.opened++;
	if (c->active) {
		addr_parse(&c->to, which % 2 ? "fd00::1" : "10.0.0.1",
			   SSTP_PORT);
		c->dport = PORT + which;
		enter(1);
		c->udp = socket(c->to.sa.sa_family, SOCK_DGRAM, 0);
		enter(0);
		if (c->udp < 0)
			die("UDP:");
		answer(c, set_up, INIT);
		return;
	}
	c->udp = responders[which % 2];
	addr_parse(&to, which % 2 ? "fd00::2" : "10.0.0.2", PEER_PORT + i);
	c->to = to;
	c->fd = some_socket(to.sa.sa_family, c->type);
	sock_set(c->fd, SOL_SSTP, SSTP_TOLERANCE, chance(&rng, 50) * 300000);
	while (chance(&rng, 50))
		some_option(c->fd);
	if (connect(c->fd, &to.sa, addr_len(&to)) && errno != EINPROGRESS)
		conn_close(c);
}

static void accept_all(void)
{
	union addr from;
	int i, fd;

	for (i = 0; i < 4; i++) {
		while ((fd = accept4(listeners[i], &from.sa,
				     &(socklen_t){ sizeof(from) },
				     SOCK_NONBLOCK)) >= 0) {
			struct conn *c = &conns[(uint16_t)(addr_port(&from) -
							   PEER_PORT) % PEERS];

			sent.established++;
			if (c->state != GONE && c->active && c->fd < 0)
				c->fd = fd;
			else
				close(fd);
		}
	}
}

/* Counts of failed checks, and the largest use of receive buffers, in percent and beyond twice */
static unsigned int unbounded, wrong_gaps, fullest, excess;

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* A receiver may use twice its buffer and a train; a sender its buffer and one message, with at
 * most as much memory for headers as for payload.
 */
static void check_memory(struct conn *c)
{
	uint32_t m[SK_MEMINFO_VARS];

	if (getsockopt(c->fd, SOL_SOCKET, SO_MEMINFO, m,
		       &(socklen_t){ sizeof(m) }))
		die("SO_MEMINFO:");
	c->rcvbuf = larger(c->rcvbuf, m[SK_MEMINFO_RCVBUF]);
	c->sndbuf = larger(c->sndbuf, m[SK_MEMINFO_SNDBUF]);
	fullest = larger(fullest, m[SK_MEMINFO_RMEM_ALLOC] * 100ULL / c->rcvbuf);
	if (m[SK_MEMINFO_RMEM_ALLOC] > 2 * c->rcvbuf)
		excess = larger(excess, m[SK_MEMINFO_RMEM_ALLOC] - 2 * c->rcvbuf);
	if (m[SK_MEMINFO_RMEM_ALLOC] <= 2 * c->rcvbuf + TRAIN &&
	    m[SK_MEMINFO_WMEM_QUEUED] <= c->sndbuf + 2 * WRITE_MOST)
		return;
	if (unbounded++ < 20)
		ktap_diag("received: %u, with a buffer of %u; to send: %u, of %u",
			  m[SK_MEMINFO_RMEM_ALLOC], c->rcvbuf,
			  m[SK_MEMINFO_WMEM_QUEUED], c->sndbuf);
}

/* Gaps are in order, disjoint, within the bytes that were read, and zero. */
static void read_gaps(int fd, char *buf, uint32_t len, int flags)
{
	static uint64_t control[16384 / 8];
	struct iovec iov = { buf, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	struct sstp_gap h;
	size_t end = 0, i, k, n;
	ssize_t got;

	memset(buf, 1, len);
	got = recvmsg(fd, &m, flags);
	cmsg = got < 0 ? NULL : CMSG_FIRSTHDR(&m);
	if (!cmsg)
		return;
	sent.gapped++;
	n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(h);
	for (i = 0; i < n; i++) {
		memcpy(&h, CMSG_DATA(cmsg) + i * sizeof(h), sizeof(h));
		k = 0;
		if (h.len && h.offset >= end + !!i && h.offset < (size_t)got &&
		    h.len <= got - h.offset)
			while (k < h.len && !buf[h.offset + k])
				k++;
		if (k == h.len && h.len) {
			end = h.offset + h.len;
			continue;
		}
		if (wrong_gaps++ < 20)
			ktap_diag("gap %zu of %zu: at %u after %zu, %u bytes of %zd, %zu are zero",
				  i, n, h.offset, end, h.len, got, k);
		return;
	}
}

/* An administrator ends the connection, or tries to end one that is gone. */
static void destroy(struct conn *c)
{
	uint64_t cookie;

	if (getsockopt(c->fd, SOL_SOCKET, SO_COOKIE, &cookie,
		       &(socklen_t){ sizeof(cookie) }))
		die("SO_COOKIE:");
	if (chance(&rng, 50)) {
		close(c->fd);
		c->fd = -1;
	}
	sent.destroyed += !nl_destroy(&nl, cookie);
}

/* Change the MTU of an end's route: larger packets are lost without an ICMP error. */
static void some_mtu(void)
{
	static const int mtus[] = { 9000, 9000, 4352, 2002, 1500, 1500, 1400, 1280 };
	struct ifreq r = { .ifr_name = "v" };

	r.ifr_mtu = mtus[below(&rng, ARRAY_SIZE(mtus))];
	if (ioctl(chance(&rng, 50) ? nl.fd : icmp[0], SIOCSIFMTU, &r))
		die("MTU:");
	sent.mtus++;
}

/* A program's call */
static void call(struct conn *c)
{
	static char buf[WRITE_MOST];
	int flags = MSG_DONTWAIT | (chance(&rng, 10) ? MSG_PEEK : 0);
	uint32_t len = 1 + below(&rng, chance(&rng, 50) ? 300 :
				 chance(&rng, 80) ? 20000 : sizeof(buf));
	struct sstp_info info;

	sent.calls++;
	switch (below(&rng, 50)) {
	case 0:
		if (chance(&rng, 30))
			destroy(c);
		else
			shutdown(c->fd, below(&rng, 3));
		break;
	case 1:
		close(c->fd);
		c->fd = -1;
		break;
	case 2:
		getsockopt(c->fd, SOL_SSTP, SSTP_INFO, &info,
			   &(socklen_t){ sizeof(info) });
		break;
	case 3 ... 5:
		some_option(c->fd);
		break;
	case 6 ... 25:
		send(c->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL |
		     (chance(&rng, 20) ? MSG_EOR : 0) |
		     (chance(&rng, 20) ? MSG_MORE : 0));
		break;
	default:
		if (c->lazy)
			break;
		if (chance(&rng, 20)) {
			recv(c->fd, buf, len, flags);
			break;
		}
		read_gaps(c->fd, buf, len, flags);
	}
}

static void step(void)
{
	struct conn *c = &conns[below(&rng, PEERS)];

	hear(responders[0], NULL);
	hear(responders[1], NULL);
	if (c->state == GONE) {
		conn_open(c);
		return;
	}
	if (c->active)
		hear(c->udp, c);
	if (!c->steps-- || (c->state == ASKED && chance(&rng, 5))) {
		conn_close(c);
		return;
	}
	if (c->state == OPEN || chance(&rng, 20))
		say(c);
	if (c->fd < 0)
		return;
	check_memory(c);
	if (chance(&rng, 50))
		call(c);
}

/* --- */

static void prepare(void)
{
	union addr a;
	int i;

	fuzz_load();
	fuzz_pair(ns, 0, 0);
	nl_open(&nl);
	fuzz_set("rmem", "4096 " BUFFER " " BUFFER);
	fuzz_set("wmem", "4096 " BUFFER " " BUFFER);
	fuzz_set("init_retries", "6");	/* honest ones may have to wait */
	/* A slow machine comes back to a connection after a second. */
	fuzz_set("user_timeout", "5000");
	fuzz_set("ecn", "1");
	for (i = 0; i < 4; i++) {
		addr_any(&a, families[i % 2], PORT + i);
		listeners[i] = some_socket(families[i % 2], types[i / 2]);
		if (i % 2)
			sock_set(listeners[i], SOL_IPV6, IPV6_V6ONLY, 1);
		sock_set(listeners[i], SOL_SSTP, SSTP_TOLERANCE, i ? 300000 : 0);
		sock_set(listeners[i], SOL_SSTP, SSTP_ACK_STRATEGY, i % 2);
		sock_set(listeners[i], SOL_SSTP, SSTP_WINDOW_FACTOR, 100 + 200 * i);
		if (i % 2)
			sock_set(listeners[i], SOL_SOCKET, SO_RCVBUF, SMALL / 2);
		if (bind(listeners[i], &a.sa, addr_len(&a)) ||
		    listen(listeners[i], 8))
			die("listener:");
	}
	enter(1);
	for (i = 0; i < 2; i++) {
		addr_any(&a, families[i], SSTP_PORT);
		responders[i] = socket(families[i], SOCK_DGRAM, 0);
		if (i)
			sock_set(responders[i], SOL_IPV6, IPV6_V6ONLY, 1);
		icmp[i] = socket(families[i], SOCK_RAW,
				 i ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
		if (responders[i] < 0 || icmp[i] < 0 ||
		    bind(responders[i], &a.sa, addr_len(&a)))
			die("responder:");
	}
	enter(0);
	for (i = 0; i < PEERS; i++)
		conns[i].udp = conns[i].fd = -1;
}

/* Counters of the kernel: a packet must have got to each of the first ones. */
static const char * const causes[] = {
	"Established", "InErrShort", "InErrType", "InErrFormat",
	"InNoConn", "InNoPort", "InWrongAddr", "InOutOfWindow",
	"InConflict", "InRecut", "InDuplicate", "InPacks", "InSnaks", "OutSnaks",
	"InMessages", "InMsgUnknown", "InEcnMarked", "EcnMarked", "EcnInvalid",
	"RetransData", "Resets", "Timeouts", "CookiesSent",
	"CookiesGood", "CookiesBad", "InErrVersion", "InDiscarded",
	"SegmentsWithGaps", "SoftReplaced", "PmtuShrunk",
	"ListenOverflows", "InNoMem", "InBacklogDrop", "AttemptFails",
	"EcnBleached", "EcnAllMarked", "EcnDropped", "InMsgFlood",
	"ContractsBroken", "ContractsTried",
};

static bool reached_all(void)
{
	const size_t needed = 19;
	size_t i;

	for (i = 0; i < needed; i++)
		if (sstp_counter(causes[i]) <= 0)
			return false;
	return sent.probed && sent.destroyed && sent.gapped;
}

static void report(void)
{
	size_t i;
	int type;

	ktap_diag("%lu packets, %lu trains, %lu ICMP errors, %lu damaged, %lu calls",
		  sent.packets, sent.trains, sent.icmp, sent.damaged, sent.calls);
	ktap_diag("%lu connections begun, %lu accepted, %lu destroyed", sent.opened,
		  sent.established, sent.destroyed);
	ktap_diag("%lu MTUs, %lu packets that try them, %lu reads with gaps", sent.mtus,
		  sent.probed, sent.gapped);
	for (type = 0; type < TYPES; type++)
		ktap_diag("type %d: %lu", type, sent.by_type[type]);
	ktap_diag("InPkts %ld, OutPkts %ld", sstp_counter("InPkts"),
		  sstp_counter("OutPkts"));
	for (i = 0; i < ARRAY_SIZE(causes); i++)
		ktap_diag("%s %ld", causes[i], sstp_counter(causes[i]));
}

int main(int argc, char **argv)
{
	long most = 0, pages, n;
	unsigned long steps = 0;
	uint64_t latest;
	bool ok;
	int i;

	fuzz_start(&fuzz, argc, argv, 60, 9);
	latest = fuzz.end + SLOW_S * 1000000000ULL;
	rng.state = fuzz.seed;
	prepare();
	honest_start(&honest[0], SOCK_STREAM, AF_INET);
	honest_start(&honest[1], SOCK_SEQPACKET, AF_INET6);
	guests_start();
	for (;;) {
		step();
		if (steps++ % 64)
			continue;
		if (now_ns() >= latest || (now_ns() >= fuzz.end && reached_all()))
			break;
		accept_all();
		if (chance(&rng, 5))
			some_mtu();
		pages = sstp_pages();
		n = sstp_sockets();
		most = n > most ? n : most;
		/* sstp_sockets() also counts sockets that programs have closed. */
		if (pages * getpagesize() > n * MEMORY && unbounded++ < 20)
			ktap_diag("%ld pages of %ld sockets", pages, n);
		/* Wait for sockets that are about to end. */
		while (n > SOCKETS_MAX && now_ns() < latest) {
			sleep_ns(10000000);
			n = sstp_sockets();
		}
	}
	over = true;
	for (i = 0; i < PEERS; i++)
		conn_close(&conns[i]);
	ktap_diag("%lu steps", steps);
	report();
	ktap_result(reached_all(), "packets got everywhere");
	ok = honest_end(&honest[0]);
	ok &= honest_end(&honest[1]);
	ktap_result(ok, "honest connections carried right data");
	ktap_result(guests_end(), "new connections were made");
	ktap_diag("%ld sockets at most; a receiver had %u %% of its buffer, or twice that and %u bytes",
		  most, fullest, excess);
	ktap_result(!unbounded, "memory was bounded");
	ktap_result(!wrong_gaps, "gaps are where they can be");
	fuzz_works();
	for (i = 0; i < 4; i++)
		close(listeners[i]);
	fuzz_unload();
	fuzz_end();
	return ktap_end();
}
