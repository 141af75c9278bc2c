// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 *
 * What a program wrote before it closed arrives, also after a long silence and a
 * loss; a peer that takes nothing more of it, or that never ends, is waited for no
 * longer than it may.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "path.h"
#include "peer.h"

#define LEN		5000
#define TIMEOUT_MS	5000		/* the user timeout */
#define PATIENT_MS	20000		/* one that a busy machine does not exceed */
#define IDLE_MS		20500

static bool probed(void *arg)
{
	return path_counter(A, "Probes") > *(long *)arg;
}

struct idle {
	int type, family;
	int tx, rx;
};

static void idle_open(struct idle *i)
{
	int l = path_socket(B, i->type);

	i->tx = path_socket(A, i->type);
	sock_set(i->tx, SOL_SSTP, SSTP_USER_TIMEOUT, PATIENT_MS);
	i->rx = path_connect(i->tx, l, i->family);
}

static bool ends_are(void *arg)
{
	return path_sockets(A) + path_sockets(B) == *(long *)arg;
}

/* A pooled connection, which was idle: a last answer, the end. @others: ends of connections that
 * stay open
 */
static void test_idle(const struct idle *i, long others)
{
	long probes = path_counter(A, "Probes");
	char in[LEN + 1], out[LEN];
	int tx = i->tx, rx = i->rx;
	uint64_t seed = nonce();
	ssize_t n = 0;
	bool ok;

	path_impair(B, "loss 100%");
	content_fill(out, LEN, seed, 0);
	ok = send(tx, out, LEN, 0) == LEN;
	close(tx);
	ok &= busywait(10000, probed, &probes);
	path_impair(B, "delay 5ms");
	while (path_poll(rx, POLLIN, 10000) && n < LEN) {
		ssize_t got = recv(rx, in + n, sizeof(in) - n, 0);

		if (got <= 0) {
			ktap_diag("recv: %s", got ? strerrorname_np(errno) :
				  "end");
			break;
		}
		n += got;
	}
	ok &= n == LEN && content_check(in, LEN, seed, 0) == LEN;
	ok &= path_poll(rx, POLLIN, 10000) && !recv(rx, in, 1, 0);
	close(rx);
	ok &= busywait(60000, ends_are, &others);
	if (!ok)
		ktap_diag("%zd bytes came; sockets: %ld at A, %ld at B", n, path_sockets(A),
			  path_sockets(B));
	ktap_result(ok, "closed after a silence, IPv%d, %s",
		    i->family == AF_INET ? 4 : 6,
		    i->type == SOCK_STREAM ? "stream" : "segments");
}

static bool gone(const struct peer *p)
{
	(void)p;
	return !path_sockets(B);
}

/* The peer answers all probes, but keeps its window closed. */
static void test_closed_window(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0), i;
	struct peer_init us = { .window = 1 };
	bool ok = true;
	struct peer p;

	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	peer_open(&p, l, &us);
	for (i = 0; i < 3; i++)
		ok &= send(p.fd, "abc", 3, MSG_DONTWAIT) == 3;
	close(p.fd);
	p.fd = -1;
	ok &= peer_await(&p, 30000, gone);
	ktap_diag("%u probes", p.keepalives);
	ktap_result(ok && p.keepalives, "a peer that takes nothing");
	close(p.udp);
}

/* The peer acknowledges all data, and never ends its own direction. */
static void test_half_closed(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	long resets = path_counter(B, "OutResets");
	struct peer_init us = { .window = 1 };
	struct peer p;
	bool ok;

	file_put("/proc/sys/net/sstp/fin_timeout", "1");
	peer_open(&p, l, &us);
	close(p.fd);
	p.fd = -1;
	p.our_ack = 1;		/* of the EOS that comes */
	ok = peer_await(&p, 30000, gone);
	ktap_result(ok && path_counter(B, "OutResets") > resets,
		    "a peer that never ends");
	close(p.udp);
}

/* The peer answers, and asks for the same segment again and again. */
static void test_unable(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	struct peer_init us = { .window = 1 };
	uint64_t start, end;
	struct peer p;
	int err = 0;

	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	peer_open(&p, l, &us);
	if (send(p.fd, "abc", 3, MSG_DONTWAIT) != 3)
		die("send:");
	start = now_ns();
	end = start + 30000000000;
	while (now_ns() < end && !err) {
		peer_listen(&p, 10);
		peer_snak(&p, 0, 0, 1);
		err = sock_int(p.fd, SOL_SOCKET, SO_ERROR);
	}
	ktap_result(err == ETIMEDOUT && p.came_again &&
		    now_ns() - start >= TIMEOUT_MS * 1000000ULL,
		    "a peer that no retransmission reaches");
	peer_close(&p);
}

/* Three segments and the EOS */
static bool all_came(const struct peer *p)
{
	return p->came == 7 && p->keepalives;
}

static bool closed(void *fd)
{
	return sock_info(*(int *)fd).state == TCP_CLOSE;
}

/* The peer's last PACKs are lost. Its CLOSE acknowledges all data, as the peer sends it only when
 * it has all of them.
 */
static void test_close_alone(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0), i, unsent = -1;
	struct peer_init us = { .window = 4 };
	struct end_packet e;
	struct peer p;
	bool ok = true;

	peer_open(&p, l, &us);
	for (i = 0; i < 3; i++)
		ok &= send(p.fd, "abc", 3, MSG_DONTWAIT) == 3;
	shutdown(p.fd, SHUT_WR);
	peer_eos(&p, 0);
	ok &= peer_await(&p, 10000, all_came);
	e = (struct end_packet){
		.h.cid = htonl(p.their_cid), .h.type = CLOSE,
		.seq = htonl(p.first_shipment + p.shipment - 1),
	};
	peer_send(&p, &e, sizeof(e));
	ok &= busywait(10000, closed, &p.fd);
	ok &= !ioctl(p.fd, SIOCOUTQ, &unsent) && !unsent;
	ktap_result(ok && !sock_int(p.fd, SOL_SOCKET, SO_ERROR), "a peer whose last PACK is lost");
	close(p.fd);
	close(p.udp);
}

int main(void)
{
	struct idle idle[] = {
		{ .type = SOCK_STREAM, .family = AF_INET },
		{ .type = SOCK_STREAM, .family = AF_INET6 },
		{ .type = SOCK_SEQPACKET, .family = AF_INET },
		{ .type = SOCK_SEQPACKET, .family = AF_INET6 },
	};
	unsigned int i;

	ktap_plan(8);
	path_make();
	path_impair(A, "delay 5ms");
	path_impair(B, "delay 5ms");
	for (i = 0; i < ARRAY_SIZE(idle); i++)
		idle_open(&idle[i]);
	path_poll(idle[0].rx, POLLIN, IDLE_MS);
	for (i = 0; i < ARRAY_SIZE(idle); i++)
		test_idle(&idle[i], 2 * (ARRAY_SIZE(idle) - 1 - i));
	path_enter(B);
	test_closed_window();
	test_half_closed();
	test_unable();
	test_close_alone();
	return ktap_end();
}
