// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 * kernels: uml debug
 * mode: time-travel
 *
 * A peer that never agreed on anything asks a sender for segments of any size, in the field
 * SEGMENT of PACKs. A stream is cut into segments of a packet at least, and as its sender wants at
 * most, so that no value costs more packets than the bytes need; segments of a SOCK_SEQPACKET stay
 * as they were written. All bytes come.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define PACKETS		32		/* of a transfer, without more of them than needed */
#define USUAL		4		/* packets of a segment that the sender makes */
#define WINDOW		60		/* segments; struct peer knows 64 */
#define WAIT_MS		20000		/* for what must happen */
#define ROUNDS		6000		/* of 10 ms, until a transfer hangs */

enum { FORECAST = 1, QUEUE, SEGMENT_FIELD };

static uint32_t turn;			/* number of the report */

/* A field of 8 bytes that says that it has @len */
static void field(struct peer *p, uint8_t type, uint32_t first, uint8_t len)
{
	uint32_t value[] = { htonl(first), htonl(first) };
	uint8_t *at = p->fields + p->fields_len;

	at[0] = type;
	at[1] = len;
	memcpy(at + 2, value, sizeof(value));
	p->fields_len += 2 + sizeof(value);
}

static void want(struct peer *p, uint32_t bytes)
{
	field(p, SEGMENT_FIELD, bytes, 8);
}

/* What the peer tells in its report number @turn */
static void zero(struct peer *p)
{
	want(p, 0);
}

static void one(struct peer *p)
{
	want(p, 1);
}

static void huge(struct peer *p)
{
	want(p, UINT32_MAX);
}

static void largest(struct peer *p)
{
	want(p, SSTP_SEGMENT_MAX + 1);
}

static void alternate(struct peer *p)
{
	want(p, turn % 2 ? UINT32_MAX : 1);
}

/* The last one counts. */
static void twice(struct peer *p)
{
	want(p, UINT32_MAX);
	want(p, 0);
	want(p, 1);
}

/* One that is too short, and one that is longer than the packet: neither counts. */
static void cut(struct peer *p)
{
	field(p, SEGMENT_FIELD, 1, 4);
	p->fields_len -= 4;
	field(p, SEGMENT_FIELD, 1, 255);
}

/* Behind the known ones, and behind one that nobody knows */
static void behind(struct peer *p)
{
	field(p, FORECAST, UINT32_MAX, 8);
	field(p, QUEUE, UINT32_MAX, 8);
	field(p, 200, UINT32_MAX, 8);
	want(p, 1);
}

/* How many segments have come completely? Packets come in order. */
static uint32_t complete(const struct peer *p)
{
	uint32_t n = 0;

	while (n < 64 && p->came >> n & 1 && p->start[n + 1] <= p->bytes)
		n++;
	return n;
}

/* Report what has come, with the fields of @tell. */
static void tell_peer(struct peer *p, uint32_t their_begin, void (*tell)(struct peer *p))
{
	uint32_t n = complete(p);

	p->fields_len = 0;
	tell(p);
	turn++;
	p->our_received = p->their_shipment - their_begin;
	peer_pack(p, n, WINDOW - 1, 0, 0);
}

/* Counters of packets that are dropped */
static long dropped(void)
{
	return sstp_counter("InErrFormat") + sstp_counter("InErrShort") +
	       sstp_counter("InOutOfWindow") + sstp_counter("InDuplicate");
}

static bool snaks_refused(void *arg)
{
	return sstp_counter("InErrFormat") >= *(long *)arg;
}

static bool reports_seen(void *arg)
{
	return sstp_counter("InPacks") >= *(long *)arg;
}

/* Write the next @piece bytes, after @sent, if there is room. Returns how many. */
static size_t write_some(struct peer *p, size_t piece, uint64_t sent)
{
	static char buf[2 * 65536];
	ssize_t n;

	if (p->stream)
		content_fill(buf, piece, p->seed, sent);
	else
		content_fill(buf, piece, p->seed + sent / piece, 0);
	n = send(p->fd, buf, piece, MSG_NOSIGNAL | (p->stream ? MSG_MORE : 0));
	if (n < 0 && errno != EAGAIN)
		die("send:");
	return n > 0 ? n : 0;
}

/**
 * struct result - what a transfer took
 * @packets: DATA packets for the first time
 * @segments: that came
 */
struct result {
	long packets;
	uint32_t segments;
};

/* A transfer to a peer that tells what it wants in its first report and in all others */
static struct result transfer(int type, void (*tell)(struct peer *p))
{
	int l = proto_socket(PROTO_SSTP, AF_INET, type, 0);
	struct peer_init us = { .window = WINDOW };
	long packets, reports, drops = dropped();
	uint64_t total, sent = 0;
	uint32_t size, begin, round, piece;
	struct peer p;

	sock_set(l, SOL_SSTP, SSTP_SEGMENT_SIZE, USUAL * 65536);
	sock_set(l, SOL_SOCKET, SO_SNDBUFFORCE, 8 << 20);
	peer_open(&p, l, &us);
	size = sock_info(p.fd).packet_size;
	p.stream = type == SOCK_STREAM;
	begin = p.their_shipment;
	total = (uint64_t)PACKETS * size;
	packets = sstp_counter("OutData");
	reports = sstp_counter("InPacks") + 1;
	turn = 0;
	tell_peer(&p, begin, tell);
	must(busywait(WAIT_MS, reports_seen, &reports), "the report counts as one");
	for (round = 0; p.bytes < total && round < ROUNDS; round++) {
		uint32_t n = complete(&p);

		/* Segments of two packets, if they are the program's */
		piece = p.stream ? size : 2 * size;
		if (piece > total - sent)
			piece = total - sent;
		if (piece)
			sent += write_some(&p, piece, sent);
		peer_listen(&p, 10);
		if (complete(&p) != n || round % 8 == 7)
			tell_peer(&p, begin, tell);
	}
	must_be("bytes", p.bytes, total);
	must_be("packets dropped", dropped() - drops, 0);
	peer_must_be_right(&p);
	packets = sstp_counter("OutData") - packets;
	peer_close(&p);
	return (struct result){ packets, __builtin_popcountll(p.came) };
}

/* @segments: wanted; 0 = between those of one packet and the usual */
static void test_want(const char *what, int type, void (*tell)(struct peer *p), uint32_t segments)
{
	struct result r = transfer(type, tell);

	ktap_diag("%s: %ld packets in %u segments", what, r.packets, r.segments);
	must_be("packets", r.packets, PACKETS);
	if (segments)
		must_be("segments", r.segments, segments);
	else
		must(r.segments >= PACKETS / USUAL && r.segments <= PACKETS, "segments");
	ktap_held(what);
}

/* A SNAK has no fields: what its entries leave over makes it malformed, and does not count. */
static void test_snak(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	struct peer_init us = { .window = WINDOW };
	long wrong = sstp_counter("InErrFormat");
	struct {
		struct ack_packet a;
		struct snak_entry e;
		uint8_t field[10];
	} __attribute__((packed)) snak = { .a.h.type = SNAK, .field = { SEGMENT_FIELD, 8 } };
	struct peer p;

	peer_open(&p, l, &us);
	snak.a.h.cid = htonl(p.their_cid);
	snak.a.h.packet = htons(1);
	snak.a.ack = htonl(p.their_first);
	snak.a.limit = htonl(p.their_first + WINDOW - 1);
	snak.a.highest = htonl(p.their_shipment - 1);
	snak.e.segment = htonl(p.their_first);
	snak.e.first = htons(1);
	peer_send(&p, &snak, sizeof(snak));
	wrong++;
	must(busywait(WAIT_MS, snaks_refused, &wrong), "it is malformed");
	peer_close(&p);
	ktap_held("in a SNAK");
}

int main(void)
{
	ktap_plan(11);
	new_namespace();
	peer_may_vanish();
	test_want("0", SOCK_STREAM, zero, PACKETS);
	test_want("1", SOCK_STREAM, one, PACKETS);
	test_want("2^32 - 1", SOCK_STREAM, huge, PACKETS / USUAL);
	test_want("more than a segment may have", SOCK_STREAM, largest, PACKETS / USUAL);
	test_want("1 and 2^32 - 1 in turns", SOCK_STREAM, alternate, 0);
	test_want("three in one report", SOCK_STREAM, twice, PACKETS);
	test_want("cut short", SOCK_STREAM, cut, PACKETS / USUAL);
	test_want("behind others", SOCK_STREAM, behind, PACKETS);
	test_want("1, to a SOCK_SEQPACKET", SOCK_SEQPACKET, one, PACKETS / 2);
	test_want("2^32 - 1, to a SOCK_SEQPACKET", SOCK_SEQPACKET, huge, PACKETS / 2);
	test_snak();
	return ktap_end();
}
