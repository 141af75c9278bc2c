// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * quick: yes
 *
 * One receive buffer for all that a listener accepts: it bounds what they keep
 * together, one alone may have it whole, nobody starves, nothing is lost, and it follows
 * its load.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define KB		1024
#define MB		(1024 * KB)
#define LIMIT		(2 * MB)
#define LEAST		(64 * KB)
#define MOST		64		/* connections */
#define SEGMENT		(16 * KB)
#define WAIT_MS		60000
#define RCVBUF		(64 * KB)	/* as the kernel has it */
#define BIG		(32 * KB)	/* segments in one packet each */

struct pool {
	int listener, n;
	int tx[MOST], rx[MOST];
	uint64_t seed;
	uint64_t sent[MOST], got[MOST];
};

static char buf[256 * KB];

static void pool_add(struct pool *p, int clients)
{
	union addr a;
	socklen_t len = sizeof(a);

	if (getsockname(p->listener, &a.sa, &len))
		die("getsockname:");
	for (; clients; clients--, p->n++) {
		int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

		sock_set(fd, SOL_SSTP, SSTP_SEGMENT_SIZE, SEGMENT);
		sock_set(fd, SOL_SOCKET, SO_SNDBUFFORCE, 8 * MB);
		if (connect(fd, &a.sa, addr_len(&a)))
			die("connect:");
		p->tx[p->n] = fd;
		p->rx[p->n] = accept(p->listener, NULL, NULL);
		if (p->rx[p->n] < 0 ||
		    fcntl(fd, F_SETFL, O_NONBLOCK) ||
		    fcntl(p->rx[p->n], F_SETFL, O_NONBLOCK))
			die("accept:");
	}
}

static void pool_open(struct pool *p, int rcvbuf, int clients)
{
	union addr a;

	memset(p, 0, sizeof(*p));
	all_held = true;
	p->seed = nonce();
	p->listener = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	sock_set(p->listener, SOL_SSTP, SSTP_POOL, 1);
	if (rcvbuf)
		sock_set(p->listener, SOL_SOCKET, SO_RCVBUFFORCE, rcvbuf / 2);
	addr_loopback(&a, AF_INET, 0);
	if (bind(p->listener, &a.sa, addr_len(&a)) || listen(p->listener, MOST))
		die("listen:");
	pool_add(p, clients);
}

static void pool_close(struct pool *p)
{
	close(p->listener);
	for (; p->n; p->n--) {
		close(p->tx[p->n - 1]);
		close(p->rx[p->n - 1]);
	}
	must(sstp_sockets_end(WAIT_MS), "all are gone");
}

static void finish(struct pool *p, const char *name)
{
	pool_close(p);
	ktap_result(all_held, "%s", name);
}

/* Fill the buffers, up to @total bytes in all. */
static void fill(struct pool *p, int i, uint64_t total)
{
	while (p->sent[i] < total) {
		size_t len = total - p->sent[i] < sizeof(buf) ?
			     total - p->sent[i] : sizeof(buf);
		ssize_t n;

		content_fill(buf, len, p->seed + i, p->sent[i]);
		n = send(p->tx[i], buf, len, MSG_NOSIGNAL);
		if (n <= 0) {
			must(n < 0 && errno == EAGAIN, "there was no room");
			return;
		}
		p->sent[i] += n;
	}
}

static bool drain(struct pool *p, int i)
{
	ssize_t n = recv(p->rx[i], buf, sizeof(buf), 0);

	if (n <= 0) {
		must(n < 0 && errno == EAGAIN, "nothing is there yet");
		return false;
	}
	must(content_check(buf, n, p->seed + i, p->got[i]) == (size_t)n,
	     "content");
	p->got[i] += n;
	return true;
}

/* Transfer @total bytes on each connection from @first on. */
static void transfer(struct pool *p, int first, uint64_t total)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	struct pollfd f[2 * MOST];
	int i, left, n;

	do {
		for (i = first, left = 0, n = 0; i < p->n; i++) {
			fill(p, i, total);
			if (p->sent[i] < total)
				f[n++] = (struct pollfd){ p->tx[i], POLLOUT, 0 };
			while (drain(p, i))
				;
			if (p->got[i] < total) {
				f[n++] = (struct pollfd){ p->rx[i], POLLIN, 0 };
				left++;
			}
		}
		if (left)
			poll(f, n, 1000);
	} while (left && all_held && now_ns() < end);
	must_be("connections that did not get all", left, 0);
}

static uint64_t queued(const struct pool *p)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < p->n; i++)
		sum += sock_info(p->rx[i]).rcv_queued;
	return sum;
}

/* Wait until no more data comes for a while: all buffers are full. */
static void settle(struct pool *p, uint64_t total)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL, was = 0, now;
	int same = 0, i;

	while (same < 10 && now_ns() < end) {
		for (i = 0; i < p->n; i++)
			fill(p, i, total);
		poll(NULL, 0, 50);
		now = queued(p);
		same = now == was ? same + 1 : 0;
		was = now;
	}
}

static void test_option(void)
{
	struct pool p;

	pool_open(&p, 0, 1);
	must_be("of the listener", sock_int(p.listener, SOL_SSTP, SSTP_POOL), 1);
	must_be("of the child", sock_int(p.rx[0], SOL_SSTP, SSTP_POOL), 1);
	must_be("of the client", sock_int(p.tx[0], SOL_SSTP, SSTP_POOL), 0);
	must(setsockopt(p.listener, SOL_SSTP, SSTP_POOL, &(int){ 0 }, 4) &&
	     errno == EINVAL, "EINVAL while it listens");
	must(setsockopt(p.rx[0], SOL_SSTP, SSTP_POOL, &(int){ 0 }, 4) &&
	     errno == EISCONN, "EISCONN when connected");
	must_be("a member has no parameters of its own",
		param_try(p.rx[0], SSTP_POLICY_PARAM, "k", 1), -EINVAL);
	param_set(p.listener, SSTP_POLICY_PARAM, "k", 2);
	must_be("it has the listener's", param_get(p.rx[0], SSTP_POLICY_PARAM, "k"), 2);
	must_be("and the state of all", param_get(p.rx[0], SSTP_POLICY_PARAM, "trend"),
		param_get(p.listener, SSTP_POLICY_PARAM, "trend"));
	finish(&p, "SSTP_POOL is the listener's");
}

/* All connections fill the pool, and no program reads. The first one may use all of it, the next a
 * half, and so on: eight use 2.7 times its size at most.
 */
static void test_bound(int rcvbuf, const char *name)
{
	const int clients = 8;
	uint64_t sum;
	struct pool p;
	int i;

	pool_open(&p, rcvbuf, clients);
	settle(&p, 2 * LIMIT);
	sum = queued(&p);
	ktap_diag("%llu of %u bytes", (unsigned long long)sum, LIMIT);
	must(sock_info(p.listener).rcv_buffer <= LIMIT, "the pool has not grown");
	/* Each may have the segment that is read next, and a train. */
	must(sum <= 27 * LIMIT / 10 + clients * 2 * 64 * KB, "not much more than it");
	must(sum >= LIMIT / 2, "it is made use of");
	must(sock_info(p.listener).rcv_queued >= LIMIT / 4, "the listener tells");
	for (i = 0; i < clients; i++)
		must(sock_info(p.rx[i]).rcv_queued >= LIMIT / clients / 4,
		     "each has some of it");
	transfer(&p, 0, 2 * LIMIT);
	finish(&p, name);
}

static void test_alone(void)
{
	struct pool p;

	pool_open(&p, LIMIT, 4);
	p.n = 1;
	settle(&p, 2 * LIMIT);
	ktap_diag("%llu bytes", (unsigned long long)queued(&p));
	must(queued(&p) > LIMIT / 2, "more than half");
	p.n = 4;
	finish(&p, "one alone may have it whole");
}

static void test_starve(void)
{
	struct pool p;

	pool_open(&p, 0, 4);
	settle(&p, 2 * LIMIT);
	pool_add(&p, 4);
	transfer(&p, 4, LIMIT);
	/* Connections that waited are served then. */
	transfer(&p, 0, 2 * LIMIT);
	finish(&p, "who comes to a full pool is served");
}

static void test_many(void)
{
	struct pool p;

	pool_open(&p, 0, MOST);
	transfer(&p, 0, MB);
	finish(&p, "many share it and lose nothing");
}

static bool fallen(void *arg)
{
	return sock_info(*(int *)arg).rcv_buffer == LEAST;
}

static bool tuned(void *arg)
{
	return sock_info(*(int *)arg).rcv_buffer == 4 * LEAST;
}

static void test_idle(void)
{
	struct pool p;

	pool_open(&p, 0, 4);
	transfer(&p, 0, MB);
	must(busywait(WAIT_MS, fallen, &p.listener), "it falls to the floor");
	param_set(p.listener, SSTP_POLICY_PARAM, "floor", 4 * LEAST);
	param_set(p.listener, SSTP_POLICY_PARAM, "k", 1);
	param_set(p.listener, SSTP_POLICY_PARAM, "epoch", 20);
	transfer(&p, 0, 2 * MB);
	must(busywait(WAIT_MS, tuned, &p.listener), "its own floor holds");
	finish(&p, "a silent pool falls to the floor");
}

static void test_grows(void)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	uint32_t most = 0, now;
	struct pool p;
	int i;

	pool_open(&p, 0, 8);
	sock_set(p.listener, SOL_SSTP, SSTP_WINDOW_FACTOR, 250);
	/* All send more than is read. */
	while (most <= LIMIT && now_ns() < end && all_held) {
		for (i = 0; i < p.n; i++) {
			fill(&p, i, p.got[i] + 8 * MB);
			drain(&p, i);
		}
		poll(NULL, 0, 1);
		now = sock_info(p.listener).rcv_buffer;
		most = now > most ? now : most;
	}
	must(most > LIMIT, "it grows beyond what it was at first");
	ktap_diag("%u bytes", most);
	finish(&p, "it grows for all of them");
}

/* The listener goes first, then members one by one while others go on. */
static void test_end(void)
{
	struct pool p;
	int i;

	pool_open(&p, 0, 4);
	close(p.listener);
	p.listener = -1;
	transfer(&p, 0, MB);
	for (i = 0; i < 3; i++, p.n--) {
		fill(&p, p.n - 1, 2 * MB);
		close(p.rx[p.n - 1]);
		close(p.tx[p.n - 1]);
	}
	transfer(&p, 0, 4 * MB);
	finish(&p, "it lives as long as its last member");
}

/* The peer announces small segments, and gets a window of many. */
static void test_member_rcvbuf(void)
{
	struct peer_init us = { .window = 1, .segment = 1 };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct pollfd f = { .events = POLLIN };
	struct peer p;
	uint32_t i, queued;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_POOL, 1);
	peer_open(&p, l, &us);
	sock_set(p.fd, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF / 2);
	peer_data(&p, 0, 0, 1, 1, LAST);
	f.fd = p.fd;
	must(poll(&f, 1, WAIT_MS) == 1 && recv(p.fd, buf, sizeof(buf), 0) == 1,
	     "one comes");
	must_be("its limit", sock_info(p.fd).rcv_buffer, RCVBUF);
	must(p.granted > 3 * LIMIT / 4 / BIG, "much more was granted");
	for (i = 1; i < p.granted; i++)
		peer_data(&p, i, 0, BIG, BIG, LAST);
	queued = sock_info(p.fd).rcv_queued;
	ktap_diag("%u bytes of %u segments", queued, p.granted);
	/* The segment that is read next has room always. */
	must(queued <= RCVBUF + 2 * BIG, "not much more than that");
	peer_may_vanish();
	peer_close(&p);
	must(sstp_sockets_end(WAIT_MS), "all are gone");
	ktap_result(all_held, "SO_RCVBUF of a member bounds its part");
}

int main(void)
{
	ktap_plan(10);
	new_namespace();
	file_put("/proc/sys/net/sstp/rmem", "%d %d %d", LEAST, LIMIT, 64 * MB);
	file_put("/proc/sys/net/sstp/user_timeout", "30000");
	test_option();
	test_bound(0, "all together keep no more than it holds");
	test_bound(LIMIT, "the same of one size");
	test_alone();
	test_starve();
	test_many();
	test_idle();
	test_grows();
	test_end();
	test_member_rcvbuf();
	return ktap_end();
}
