// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * A connect() whose other end is a UDP socket: what does not answer its INIT, as
 * Documentation/networking/sstp-protocol.rst has it, changes nothing but a
 * counter; then comes an answer that does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "peer.h"

enum { REFUSED = 1, VERSION = 3 };	/* codes of RESET */

#define BEGINS	5			/* whose time stamps are looked at */

static int udp;				/* on the well-known port of R */
static int fd;				/* the socket at A */
static union addr from;
static struct init_packet init;		/* the last INIT */
static uint32_t cid;			/* of it */

/* Wait for an INIT, which must not be one of the connect() before. */
static void await_init(void)
{
	uint32_t before = cid;
	socklen_t len = sizeof(from);

	do
		if (path_poll(udp, POLLIN, 20000) != POLLIN ||
		    recvfrom(udp, &init, sizeof(init), 0, &from.sa, &len) < 0)
			die("no INIT");
	while (init.h.type != INIT || init.cid == before);
}

static void begin(void)
{
	union addr to;

	fd = path_socket(A, SOCK_STREAM);
	addr_parse(&to, "10.0.1.2", 7);
	if (connect(fd, &to.sa, addr_len(&to)) != -1 || errno != EINPROGRESS)
		die("connect:");
	await_init();
	cid = init.cid;
}

static void answer(const void *packet, size_t len)
{
	if (sendto(udp, packet, len, 0, &from.sa, sizeof(from.v4)) !=
	    (ssize_t)len)
		die("sendto:");
}

static struct init_packet right(void)
{
	return (struct init_packet){
		.h = { .cid = init.cid, .type = INIT_ACK },
		.cid = htonl(4711), .sport = init.dport, .dport = init.sport,
		.shipment = htonl(1000), .segment = htonl(2000),
		.window = htonl(10), .limit = htonl(SSTP_SEGMENT_MAX),
		.stamp = htonl(1), .echo = init.stamp, .version = 1,
		.sktype = SOCK_STREAM,
	};
}

struct count {
	const char *name;
	long before;
};

static bool counted(void *arg)
{
	const struct count *c = arg;

	return path_counter(A, c->name) > c->before;
}

/* The packet counts as @name, and the connection is not made yet. */
static void no_answer(const char *what, const void *packet, size_t len,
		      const char *name)
{
	struct count c = { name, path_counter(A, name) };
	bool ok;

	answer(packet, len);
	ok = busywait(10000, counted, &c);
	ktap_result(ok && !path_poll(fd, POLLOUT, 0),
		    "%s is no answer: %s", what, name);
}

static void test_refused(uint32_t code, int want)
{
	struct end_packet e = { .h.type = RESET, .code = htonl(code) };
	int err;

	begin();
	e.h.cid = init.cid;
	e.seq = init.shipment;
	answer(&e, sizeof(e));
	path_poll(fd, POLLOUT, 20000);
	err = sock_int(fd, SOL_SOCKET, SO_ERROR);
	ktap_result(err == want, "RESET %u: %s", code, strerrorname_np(err));
	close(fd);
}

static void test_answers(void)
{
	struct hdr cookie = { .type = COOKIE };
	struct data_packet data = { .h.type = KEEPALIVE };
	struct end_packet e = { .h.type = RESET };
	struct init_packet i, train[8];
	size_t n;

	begin();
	i = right();
	no_answer("half an INIT_ACK", &i, 40, "InErrFormat");
	i.echo = htonl(ntohl(init.stamp) + 1000000);
	no_answer("an echo from the future", &i, sizeof(i), "InOutOfWindow");
	i.echo = htonl(ntohl(init.stamp) - 61000000);
	no_answer("an echo of a minute ago", &i, sizeof(i), "InOutOfWindow");
	i = right();
	i.sport = htons(8);
	no_answer("another port", &i, sizeof(i), "InOutOfWindow");
	i = right();
	i.limit = htonl(SSTP_SEGMENT_LIMIT_MIN - 1);
	no_answer("a wish for tiny segments", &i, sizeof(i), "InErrFormat");
	i = right();
	i.version = 2;
	no_answer("another version", &i, sizeof(i), "InErrVersion");
	i = right();
	i.sktype = SOCK_SEQPACKET;
	no_answer("another type", &i, sizeof(i), "InErrVersion");
	cookie.cid = init.cid;
	no_answer("a COOKIE without one", &cookie, sizeof(cookie),
		  "InErrShort");
	data.h.cid = init.cid;
	no_answer("a KEEPALIVE", &data, sizeof(data), "InOutOfWindow");
	e.h.cid = init.cid;
	e.seq = htonl(ntohl(init.shipment) + 1);
	no_answer("a RESET with a wrong number", &e, sizeof(e),
		  "InOutOfWindow");
	no_answer("half a RESET", &e, sizeof(e.h), "InErrShort");
	e.h.type = CLOSE;
	e.seq = init.shipment;
	no_answer("a CLOSE", &e, sizeof(e), "InOutOfWindow");
	/* A train, as GRO joins packets that were queued */
	for (n = 0; n < ARRAY_SIZE(train); n++)
		train[n] = right();
	sock_set(udp, SOL_UDP, UDP_SEGMENT, sizeof(train[0]));
	answer(train, sizeof(train));
	sock_set(udp, SOL_UDP, UDP_SEGMENT, 0);
	ktap_result(path_poll(fd, POLLOUT, 10000) == POLLOUT &&
		    !sock_int(fd, SOL_SOCKET, SO_ERROR),
		    "the right answer makes the connection, several at once, too");
	e.h.type = RESET;
	e.seq = htonl(1000);
	answer(&e, sizeof(e));
	ktap_result(path_poll(fd, POLLIN, 10000) & POLLERR &&
		    sock_int(fd, SOL_SOCKET, SO_ERROR) == ECONNRESET,
		    "which a RESET ends");
	close(fd);
}

/* Timestamps do not reveal the uptime. */
static void test_uptime(void)
{
	const uint32_t near = 100 * 1000000;
	int i, told = 0;

	for (i = 0; i < BEGINS; i++) {
		begin();
		told += ntohl(init.stamp) + near - (uint32_t)(now_ns() / 1000) < 2 * near;
		close(fd);
	}
	/* All are near by chance once in four million runs. */
	ktap_result(told < BEGINS, "timestamps do not tell the uptime");
}

int main(void)
{
	union addr a;

	path_make();
	path_run(R, "ethtool -K to-a gso on tx-udp-segmentation on");
	path_enter(R);
	addr_any(&a, AF_INET, SSTP_PORT);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	if (udp < 0 || bind(udp, &a.sa, addr_len(&a)))
		die("UDP:");
	ktap_plan(18);
	test_answers();
	test_refused(REFUSED, ECONNREFUSED);
	test_refused(VERSION, EPROTOTYPE);
	test_uptime();
	ktap_result(path_settle(), "nothing is left");
	return ktap_end();
}
