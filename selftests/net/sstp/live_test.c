// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * Nobody waits for ever: a program that waits for more than can come before it reads is
 * told to read, whatever it is that keeps the rest away.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pair.h"
#include "peer.h"

#define LEN		60000		/* of a segment: one packet on loopback */
#define FIRST		5		/* segments before the one that is lost */
#define ALL		8
#define QUIET_MS	200		/* for what must not come */
#define MB		(1 << 20)

/* Events of @fd that poll() would find, as they come */
static int watch(int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(0);

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e))
		die("epoll:");
	return ep;
}

static bool comes(int ep, int ms)
{
	struct epoll_event e;

	return epoll_wait(ep, &e, 1, ms) == 1 && e.events & EPOLLIN;
}

static bool asked(const struct peer *p)
{
	return p->asked >> FIRST & 1;
}

static bool read_segments(struct peer *p, int n)
{
	static char buf[LEN];
	struct pollfd f = { .fd = p->fd, .events = POLLIN };

	for (; n; n--)
		if (poll(&f, 1, WAIT_MS) != 1 || recv(p->fd, buf, LEN, MSG_WAITALL) != LEN)
			return false;
	return true;
}

/* A segment is lost; then the buffer shrinks until there is no room for it any more. */
static void test_shrunk(void)
{
	struct peer_init us = { .window = 1, .segment = LEN };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0), ep;
	const int lowat = 2 * ALL * LEN, little = 4096;
	struct peer p;
	uint32_t i;

	/* More is granted than fits. */
	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, MB);
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, 250);
	peer_open(&p, l, &us);
	sock_set(p.fd, SOL_SOCKET, SO_RCVLOWAT, lowat);
	ep = watch(p.fd);
	for (i = 0; i < ALL; i++) {
		if (i == FIRST)
			p.shipment++;
		else
			peer_data(&p, i, 0, LEN, LEN, LAST | ACK);
	}
	peer_keepalive(&p, ALL);
	must(peer_await(&p, WAIT_MS, asked), "what is lost is asked for");
	must(!comes(ep, QUIET_MS), "and waited for");
	sock_set(p.fd, SOL_SOCKET, SO_RCVBUFFORCE, little);
	peer_keepalive(&p, ALL);
	must(comes(ep, WAIT_MS), "without room for it the program is told to read");
	must(read_segments(&p, FIRST), "what is here");
	sock_set(p.fd, SOL_SOCKET, SO_RCVLOWAT, 1);
	p.asked = 0;
	must(peer_await(&p, WAIT_MS, asked), "then the rest is asked for");
	sock_set(p.fd, SOL_SOCKET, SO_RCVLOWAT, 1);
	peer_data(&p, FIRST, 0, LEN, LEN, LAST | AGAIN);
	must(read_segments(&p, 1), "and comes");
	close(ep);
	peer_may_vanish();
	peer_close(&p);
	ktap_held("a buffer that shrinks while its reader waits");
}

/* Lower the low-water mark to the data that is there. */
static void test_lower(void)
{
	struct pair p;
	int ep;

	pair_open(&p);
	sock_set(p.rx, SOL_SOCKET, SO_RCVLOWAT, MB);
	ep = watch(p.rx);
	pair_fill(&p, 1000);
	must(!comes(ep, QUIET_MS), "1000 bytes are not enough");
	sock_set(p.rx, SOL_SOCKET, SO_RCVLOWAT, 1000);
	must(comes(ep, WAIT_MS), "but they are now");
	must(busywait(WAIT_MS, all_read, &p), "and can be read");
	close(ep);
	pair_close(&p);
	ktap_held("a lower SO_RCVLOWAT wakes who waits");
}

static void *peek(void *rx)
{
	static char buf[4 * MB];

	return (void *)(long)recv(*(int *)rx, buf, sizeof(buf), MSG_PEEK | MSG_WAITALL);
}

static bool joined(void *arg)
{
	void **t = arg;

	return !pthread_tryjoin_np(*(pthread_t *)t[0], &t[1]);
}

/* The low-water mark is bounded by the buffer. */
static void test_peek(void)
{
	int l = new_socket(SOCK_STREAM);
	pthread_t thread;
	void *t[2] = { &thread };
	struct pair p;

	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 64 << 10);
	pair_connect(&p, l);
	if (fcntl(p.rx, F_SETFL, 0) || pthread_create(&thread, NULL, peek, &p.rx))
		die("thread:");
	pair_fill(&p, 4 * MB);
	if (!busywait(WAIT_MS, joined, t)) {
		must(false, "it ends");
		pair_close(&p);
		pthread_detach(thread);
	} else {
		must((long)t[1] > 0 && (long)t[1] < 4 * MB, "it has what there is");
		if (fcntl(p.rx, F_SETFL, O_NONBLOCK))
			die("fcntl:");
		must(busywait(WAIT_MS, all_read, &p), "all comes when it is read");
		pair_close(&p);
	}
	ktap_held("MSG_PEEK | MSG_WAITALL of more than fits ends");
}

int main(void)
{
	ktap_plan(3);
	new_namespace();
	test_shrunk();
	test_lower();
	test_peek();
	return ktap_end();
}
