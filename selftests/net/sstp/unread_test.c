// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 * mem: 2G
 *
 * What peers can make a host hold for programs that have read nothing, or never accepted
 * the connection: little, and all of it counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define WAIT_MS		30000
#define MB		(1 << 20)
#define FIRST		(4 * MB)	/* net.sstp.rmem[1] */
#define CLAIM		10000000	/* kbit/s */
#define CLAIMS		10
#define MANY		100
#define SLOTS		8		/* that a window takes at once */
#define SLOT_BYTES	64
#define MEM		"/proc/sys/net/sstp/mem"

static long held(void)
{
	return sstp_pages() * sysconf(_SC_PAGESIZE);
}

static long available(void)
{
	return file_number("/proc/meminfo", "MemAvailable:", 1) << 10;
}

/* Memory of all sockets below which buffers grow, read in the initial namespace */
static long easy(void)
{
	int first = open("/proc/1/ns/net", O_RDONLY);
	long pages;
	FILE *f;

	if (first < 0 || setns(first, CLONE_NEWNET))
		die("the first namespace:");
	close(first);
	f = fopen(MEM, "r");
	if (!f || fscanf(f, "%ld", &pages) != 1)
		die(MEM ":");
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static int listener(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	union addr a;

	addr_loopback(&a, AF_INET, 0);
	if (l < 0 || bind(l, &a.sa, addr_len(&a)) || listen(l, 4 * MANY))
		die("listen:");
	return l;
}

/* ... except a megabyte that each CPU may keep in its own account. */
static bool none_held(void *unused)
{
	(void)unused;
	return held() <= sysconf(_SC_NPROCESSORS_ONLN) * MB;
}

/* Connections that were not accepted end with their listener. */
static void end(int l, struct peer *p, int n)
{
	while (n--)
		close(p[n].udp);
	close(l);
	must(sstp_sockets_end(WAIT_MS), "sockets are gone");
	must(busywait(WAIT_MS, none_held, NULL), "and so is their memory");
}

/* All that it was allowed to send */
static void fill(struct peer *p, uint32_t len)
{
	uint32_t n;

	for (n = 0; n < p->granted; n++)
		peer_data(p, n, 0, len, len, LAST);
}

/* A sender that claims 10 Gbit/s gets no memory for it before the program reads. */
static void test_claims(long most)
{
	const struct peer_init us = { .window = 1, .segment = 60000, .rate = CLAIM };
	struct peer p[CLAIMS];
	int l = listener(), i;
	long one = 0, before;

	all_held = true;
	before = held();
	for (i = 0; i < CLAIMS; i++) {
		peer_half_open(&p[i], l, &us);
		fill(&p[i], us.segment);
		if (!i)
			one = held() - before;
	}
	ktap_diag("one that nobody accepted was allowed %u segments and holds %ld bytes, %d hold %ld",
		  p[0].granted, one, CLAIMS, held() - before);
	must(one <= FIRST + most / 2 + MB, "one holds little more than its first buffer");
	must(held() - before <= CLAIMS * (FIRST + MB / 2) + most, "all hold little more");
	must(one >= FIRST / 2, "but that");
	end(l, p, CLAIMS);
	ktap_held("claims of a rate, nothing accepted");
}

/* Meanwhile a connection whose program reads gets the buffer that its contract needs. */
static void test_reader(void)
{
	const struct peer_init us = { .window = 1, .segment = 60000, .rate = CLAIM };
	const struct sstp_rate_spec rate = { .peak = 1000000000 };
	static char buf[MB];
	struct peer p[CLAIMS];
	int l = listener(), at, tx, rx, i, n = 0;
	struct pollfd in;
	union addr a;

	all_held = true;
	for (i = 0; i < CLAIMS; i++) {
		peer_half_open(&p[i], l, &us);
		fill(&p[i], us.segment);
	}
	if (system("tc qdisc add dev lo root netem delay 10ms limit 100000"))
		die("tc:");
	at = listener();
	tx = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, SOCK_NONBLOCK);
	if (setsockopt(tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)) ||
	    getsockname(at, &a.sa, &(socklen_t){ sizeof(a) }) ||
	    (connect(tx, &a.sa, addr_len(&a)) && errno != EINPROGRESS))
		die("connect:");
	rx = accept(at, NULL, NULL);
	in = (struct pollfd){ .fd = rx, .events = POLLIN };
	while (n < 64 * MB && (n < 2 * MB || sock_info(rx).rcv_buffer_peak < 2 * FIRST)) {
		while (send(tx, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			;
		if (poll(&in, 1, WAIT_MS) != 1)
			break;
		i = recv(rx, buf, sizeof(buf), MSG_DONTWAIT);
		n += i > 0 ? i : 0;
	}
	ktap_diag("%u bytes for who reads", sock_info(rx).rcv_buffer_peak);
	must(n >= 2 * MB, "it comes");
	must(sock_info(rx).rcv_buffer_peak >= 2 * FIRST, "there is room for the path");
	if (system("tc qdisc del dev lo root"))
		die("tc:");
	close(tx);
	close(rx);
	close(at);
	end(l, p, CLAIMS);
	ktap_held("a contract of who reads");
}

/* A packet in each chunk of slots: the chunks count as the packets do. */
static void test_slots(void)
{
	const struct peer_init us = { .window = 1, .segment = 1, .rate = CLAIM };
	static struct peer p[MANY];
	long before, was, slots = 0;
	int l = listener(), i;
	uint32_t n;

	all_held = true;
	before = held();
	was = available();
	for (i = 0; i < MANY; i++) {
		peer_half_open(&p[i], l, &us);
		for (n = SLOTS; n < p[i].granted; n += SLOTS) {
			peer_data(&p[i], n, 0, 1, 1, LAST);
			slots += SLOTS * SLOT_BYTES;
		}
	}
	ktap_diag("%u segments and %ld bytes of slots each, %ld MB for all; %ld MB charged, %ld MB less available",
		  p[0].granted, slots / MANY, slots / MB, (held() - before) / MB,
		  (was - available()) / MB);
	must(slots / MANY >= 32 << 10, "they have slots");
	must(held() - before >= slots, "slots are charged");
	end(l, p, MANY);
	ktap_held("slots of windows are charged");
}

/* Even if the window exceeds the buffer */
static void test_window(void)
{
	const struct peer_init us = { .window = 1, .segment = 1 };
	int l = listener();
	struct peer p;

	all_held = true;
	/* A buffer of that size has windows as the option says. */
	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, FIRST / 2);
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, 1000);
	peer_half_open(&p, l, &us);
	ktap_diag("%u segments", p.granted);
	must(p.granted >= 1000, "a large window");
	must(p.granted * SLOT_BYTES <= FIRST / 8, "whose slots take an eighth of its buffer");
	end(l, &p, 1);
	ktap_held("a window is as large as its slots may be");
}

int main(void)
{
	const long most = easy() / 8;	/* that may be promised */

	new_namespace();
	ktap_plan(4);
	test_claims(most);
	test_reader();
	test_slots();
	test_window();
	return ktap_end();
}
