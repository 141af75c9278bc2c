// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 900
 * quick: yes
 *
 * Peers that would have us keep more memory than a receive buffer may: by trains of
 * which one packet is kept, by trains of two connections, by packets of one byte. And
 * trains of packets that are shorter than any, or here already: each counts.
 */
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define LIMIT		(1 << 20)	/* of a receive buffer */
#define TRAIN_PACKETS	45
#define HALF		1376		/* of a segment of two packets */
#define PACKET		(DATA_HLEN + HALF)
#define WAIT_MS		20000

/* The window allows as many segments as possible. Packets of this connection and of the one @beside
 * can share trains.
 */
static void open_peer(struct peer *p, const struct peer *beside)
{
	struct peer_init us = { .window = 1, .segment = 1, .beside = beside };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, LIMIT / 2);	/* the kernel doubles it */
	peer_open(p, l, &us);
	/* Answers use memory, too, so few of them are kept. */
	sock_set(p->udp, SOL_SOCKET, SO_RCVBUF, 0);
	sock_set(p->udp, SOL_UDP, UDP_SEGMENT, PACKET);
}

/* At once */
static void close_peer(struct peer *p)
{
	const struct linger now = { 1, 0 };

	setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	peer_close(p);
}

/* The second packet of a segment of which the first never comes */
static void make_half(struct peer *p, uint8_t *buf, uint32_t segment)
{
	peer_make_data(p, buf, &(struct peer_piece){ segment, 1, HALF, 2 * HALF, LAST });
}

static bool packets_seen(void *arg)
{
	return sstp_counter("InPkts") >= *(long *)arg;
}

static uint32_t receive_memory(const struct peer *p)
{
	uint32_t mem[SK_MEMINFO_VARS] = {};

	if (getsockopt(p->fd, SOL_SOCKET, SO_MEMINFO, mem,
		       &(socklen_t){ sizeof(mem) }))
		die("SO_MEMINFO:");
	return mem[SK_MEMINFO_RMEM_ALLOC];
}

/* Bytes of free memory, those in the per-CPU lists of free pages included, which hold several times
 * the limit of this test.
 */
static long free_memory(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	long pages = 0, n;
	char line[256];

	if (!f)
		die("zoneinfo:");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " nr_free_pages %ld", &n) == 1 ||
		    sscanf(line, " count: %ld", &n) == 1)
			pages += n;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Send trains with one packet that is kept and many duplicates of it, as many as the window allows;
 * returns the bytes of memory that are used then.
 */
static long kept_by_trains(void)
{
	static uint8_t train[TRAIN_PACKETS][PACKET];
	uint32_t segment, i;
	struct peer p;
	long goal, kept;

	open_peer(&p, NULL);
	goal = sstp_counter("InPkts") + (p.granted - 1) * TRAIN_PACKETS;
	kept = free_memory();
	for (segment = 1; segment < p.granted; segment++) {
		make_half(&p, train[0], segment);
		for (i = 1; i < TRAIN_PACKETS; i++)
			memcpy(train[i], train[0], PACKET);
		peer_send(&p, train, sizeof(train));
	}
	must(busywait(WAIT_MS, packets_seen, &goal), "all packets came");
	kept -= free_memory();
	close_peer(&p);
	return kept;
}

static void test_duplicates(void)
{
	long discarded, kept;

	/* The first time the kernel's own caches fill, KASAN's quarantine too. */
	kept_by_trains();
	discarded = sstp_counter("InDiscarded");
	kept = kept_by_trains();
	discarded = sstp_counter("InDiscarded") - discarded;
	ktap_diag("%ld bytes kept, limit %d; %ld packets discarded", kept,
		  LIMIT, discarded);
	/* Twice the limit may be in use, and as much again for overhead. */
	ktap_result(all_held && discarded > 0 && kept < 4 * LIMIT,
		    "a packet does not keep its whole train in memory");
}

static void test_two(void)
{
	static uint8_t train[TRAIN_PACKETS / 2][2][PACKET];
	const uint32_t segments = 500, least = segments * HALF;
	struct peer one, two;
	long goal, discarded;
	uint32_t segment, i;

	open_peer(&one, NULL);
	open_peer(&two, &one);
	goal = sstp_counter("InPkts");
	discarded = sstp_counter("InDiscarded");
	for (segment = 1; segment <= segments; ) {
		for (i = 0; i < ARRAY_SIZE(train); i++, segment++) {
			make_half(&two, train[i][0], segment);
			make_half(&one, train[i][1], segment);
		}
		peer_send(&one, train, sizeof(train));
		goal += 2 * i;
	}
	ktap_result(busywait(WAIT_MS, packets_seen, &goal) &&
		    receive_memory(&one) > least &&
		    receive_memory(&two) > least &&
		    sstp_counter("InDiscarded") == discarded,
		    "trains of two connections are charged by halves");
	close_peer(&two);
	close_peer(&one);
}

/* A segment of packets of one byte, each of which comes in an skb of its own */
static void test_tiny(void)
{
	enum { PACKETS = 40000 };
	static uint8_t buf[PACKETS];
	struct pollfd ready = { .events = POLLIN };
	uint32_t now, most = 0, i;
	size_t right = 0;
	struct peer p;
	ssize_t n;

	open_peer(&p, NULL);
	for (i = 0; i < PACKETS; i++) {
		peer_data(&p, 0, i, 1, PACKETS, i + 1 == PACKETS ? LAST : 0);
		now = receive_memory(&p);
		if (most < now)
			most = now;
	}
	ktap_diag("%u bytes for %u, limit %u", most, PACKETS, LIMIT);
	ktap_result(most > LIMIT && most < 2 * LIMIT + LIMIT / 2,
		    "small packets do not take large memory");
	ready.fd = p.fd;
	poll(&ready, 1, WAIT_MS);
	n = recv(p.fd, buf, sizeof(buf), MSG_WAITALL);
	if (n > 0)
		right = content_check(buf, n, p.seed, 0);
	ktap_diag("%zd bytes, %zu right", n, right);
	ktap_result(n == PACKETS && right == PACKETS,
		    "and all of them are taken");
	close_peer(&p);
}

/* Shorter than any header, and than that of DATA */
static void test_short(size_t size)
{
	static uint8_t train[TRAIN_PACKETS][DATA_HLEN], packet[PACKET];
	long goal, counted;
	struct peer p;
	int i;

	all_held = true;
	open_peer(&p, NULL);
	sock_set(p.udp, SOL_UDP, UDP_SEGMENT, size);
	make_half(&p, packet, 1);
	for (i = 0; i < TRAIN_PACKETS; i++)
		memcpy(train[0] + i * size, packet, size);
	goal = sstp_counter("InPkts") + TRAIN_PACKETS;
	counted = sstp_counter("InErrShort");
	peer_send(&p, train, TRAIN_PACKETS * size);
	must(busywait(WAIT_MS, packets_seen, &goal), "all packets came");
	must_be("InErrShort", sstp_counter("InErrShort") - counted, TRAIN_PACKETS);
	close_peer(&p);
	ktap_result(all_held, "each of a train of packets of %zu bytes counts", size);
}

/* A part of a train has come before. */
static void test_again(void)
{
	static uint8_t train[4][PACKET], buf[4 * HALF];
	uint32_t len = sizeof(buf), i;
	long counted;
	struct peer p;

	all_held = true;
	open_peer(&p, NULL);
	counted = sstp_counter("InDuplicate");
	for (i = 0; i < 2; i++)
		peer_data(&p, 0, i, HALF, len, 0);
	for (i = 0; i < 4; i++)
		peer_make_data(&p, train[i], &(struct peer_piece){
			0, i, HALF, len, i == 3 ? LAST : 0 });
	peer_send(&p, train, sizeof(train));
	must(recv(p.fd, buf, len, MSG_WAITALL) == len &&
	     content_check(buf, len, p.seed, 0) == len, "all is right");
	must_be("InDuplicate", sstp_counter("InDuplicate") - counted, 2);
	must_be("packets_duplicate", sock_info(p.fd).packets_duplicate, 2);
	must_be("packets_received", sock_info(p.fd).packets_received, 6);
	close_peer(&p);
	ktap_result(all_held, "packets of a train that were here count as duplicates");
}

int main(void)
{
	ktap_plan(8);
	new_namespace();
	test_duplicates();
	test_two();
	test_tiny();
	test_short(4);
	test_short(DATA_HLEN - 4);
	test_again();
	ktap_result(sstp_sockets_end(60000), "nothing is left");
	return ktap_end();
}
