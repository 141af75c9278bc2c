// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * A call that takes long, or that comes early: a peek at a connection that is still
 * being made sees what comes, one that waits beside another reader sees what that has
 * left, and a call of many segments does not keep packets waiting until its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"
#include "path.h"

#define MB		(1u << 20)
#define PEEKS		16		/* half of all first numbers are beyond 2^31 */
#define BUFFER		MB		/* as set; the kernel doubles it */
#define MUCH		(24 * MB)	/* in one call */
#define RECEIVES	10		/* calls of which half get more than was there */

/* The peer writes as soon as it has accepted: recv() was there before. */
static void test_early(int type, int flags, const char *name)
{
	socklen_t len = sizeof(union addr);
	int i, l, fd, peer, seen = 0;
	union addr a, to;
	struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	pid_t pid;
	char c;

	path_enter(B);
	l = new_socket(type);
	addr_any(&a, AF_INET, 0);
	if (bind(l, &a.sa, addr_len(&a)) || listen(l, PEEKS) ||
	    getsockname(l, &a.sa, &len) || !addr_parse(&to, "10.0.2.2", addr_port(&a)))
		die("listener:");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		while ((peer = accept(l, NULL, NULL)) >= 0) {
			send(peer, "x", 1, MSG_NOSIGNAL);
			/* Wait until the other end has closed. */
			recv(peer, &c, 1, 0);
			close(peer);
		}
		_exit(0);
	}
	for (i = 0; i < PEEKS; i++) {
		fd = path_socket(A, type);
		if (!connect(fd, &to.sa, addr_len(&to)) || errno != EINPROGRESS)
			die("connect:");
		if (fcntl(fd, F_SETFL, 0) ||
		    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
			die("blocking:");
		seen += recv(fd, &c, 1, flags) == 1 && c == 'x';
		close(fd);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(l);
	ktap_diag("%s: %d of %d", name, seen, PEEKS);
	ktap_result(seen == PEEKS && path_settle(), "%s sees what comes", name);
}

struct peeker {
	int fd;
	_Atomic pid_t tid;	/* when only the call is left to wait in */
	char buf[8];
	ssize_t n;
};

static void *peek(void *arg)
{
	struct peeker *p = arg;

	p->tid = gettid();
	p->n = recv(p->fd, p->buf, sizeof(p->buf), MSG_PEEK);
	return NULL;
}

static bool peeker_sleeps(void *arg)
{
	struct peeker *p = arg;

	return p->tid && thread_sleeps(p->tid);
}

/* Other threads run, on the only CPU of this process, when it sleeps; or in turn with it. */
static void alone(bool so)
{
	const struct sched_param param = { .sched_priority = so };

	if (sched_setscheduler(0, so ? SCHED_FIFO : SCHED_OTHER, &param))
		die("sched_setscheduler:");
}

/* Six bytes come: this thread reads two before the waiting one can run. Returns false if they did
 * not come at once.
 */
static bool peek_beside(struct pair *p)
{
	struct peeker w = { .fd = p->rx };
	pthread_t thread;
	bool taken;
	char c[8];

	if (pthread_create(&thread, NULL, peek, &w))
		die("thread:");
	must(busywait(WAIT_MS, peeker_sleeps, &w), "the reader that peeks waits");
	alone(true);
	if (send(p->tx, "abcdef", 6, MSG_NOSIGNAL) != 6)
		die("send:");
	taken = recv(p->rx, c, 2, MSG_DONTWAIT) == 2;
	alone(false);
	pthread_join(thread, NULL);
	if (taken)
		must(w.n == 4 && !memcmp(w.buf, "cdef", 4), "it sees what is left");
	else
		must(w.n == 6 && !memcmp(w.buf, "abcdef", 6), "it sees all");
	must(recv(p->rx, c, sizeof(c), MSG_DONTWAIT) == w.n, "the rest is there");
	return taken;
}

static void test_beside(void)
{
	cpu_set_t all, one;
	int i, taken = 0;
	struct pair p;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_getaffinity(0, sizeof(all), &all) ||
	    sched_setaffinity(0, sizeof(one), &one))
		die("affinity:");
	pair_open(&p);
	if (fcntl(p.rx, F_SETFL, 0))
		die("blocking:");
	for (i = 0; all_held && i < PEEKS; i++)
		taken += peek_beside(&p);
	ktap_diag("%d of %d times a part was taken first", taken, i);
	must(taken, "the other reader is first once");
	if (sched_setaffinity(0, sizeof(all), &all))
		die("affinity:");
	pair_close(&p);
	ktap_held("recv(MSG_PEEK) beside another reader in a segment");
}

/* Both ends have buffers much smaller than the call's data. */
static void small_pair(struct pair *p, int sndbuf, int rcvbuf)
{
	int l = new_socket(SOCK_STREAM);

	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, rcvbuf);
	pair_connect(p, l);
	sock_set(p->tx, SOL_SOCKET, SO_SNDBUFFORCE, sndbuf);
	/* The controller learns that the path carries it. */
	pair_fill(p, 16 * MB);
	while (p->got < 16 * MB) {
		pair_fill(p, 16 * MB);
		pair_read(p, SIZE_MAX);
	}
}

/* Data that the peer acknowledges meanwhile makes room for more. */
static void test_send(void)
{
	static char buf[MUCH];
	struct pair p;
	ssize_t n;

	small_pair(&p, BUFFER, 2 * MUCH);
	content_fill(buf, MUCH, p.seed, p.sent);
	n = send(p.tx, buf, MUCH, MSG_DONTWAIT);
	ktap_diag("%zd bytes went in one send()", n);
	if (n > 0)
		p.sent += n;
	must(n >= 8 * 2 * (ssize_t)BUFFER, "acknowledgements count at once");
	must(busywait(WAIT_MS, all_read, &p), "all of it comes");
	pair_close(&p);
	ktap_held("a send() of much does not keep packets waiting");
}

static int readable(int fd)
{
	int n;

	if (ioctl(fd, FIONREAD, &n))
		die("FIONREAD:");
	return n;
}

/* Does the sender wait for room in a full receive buffer? */
static bool is_full(void *arg)
{
	struct pair *p = arg;

	return readable(p->rx) >= (int)BUFFER && !sock_info(p->tx).in_flight;
}

/* A recv() of @p, whose buffer is full: does it get much more than was there? */
static bool recv_much(struct pair *p)
{
	static char buf[MUCH];
	ssize_t n;
	int before;

	pair_fill(p, p->sent + MUCH);
	must(busywait(WAIT_MS, is_full, p), "the buffer fills");
	before = readable(p->rx);
	n = recv(p->rx, buf, MUCH, MSG_DONTWAIT);
	ktap_diag("%zd bytes came in one recv(), %d were there", n, before);
	must(n > 0 && content_check(buf, n, p->seed, p->got) == (size_t)n, "content");
	p->got += n > 0 ? n : 0;
	must(busywait(WAIT_MS, all_read, p), "all of it comes");
	return n >= before + (ssize_t)BUFFER / 4;
}

/* The peer sends more as soon as it hears that there is room. If the backlog waited for the end of
 * the call, no recv() would get more than was there. Some may not if the sender's CPU pauses.
 */
static void test_recv(void)
{
	struct pair p;
	int i, much = 0;

	small_pair(&p, 2 * MUCH, BUFFER);
	for (i = 0; all_held && i < RECEIVES; i++)
		much += recv_much(&p);
	must(much >= RECEIVES / 2, "what the peer sends counts at once");
	pair_close(&p);
	ktap_held("a recv() of much does not keep packets waiting");
}

int main(void)
{
	ktap_plan(6);
	path_make();
	path_impair(A, "delay 20ms");
	test_early(SOCK_STREAM, MSG_PEEK, "recv(MSG_PEEK) on a stream");
	test_early(SOCK_STREAM, 0, "recv() on a stream");
	test_early(SOCK_SEQPACKET, MSG_PEEK, "recv(MSG_PEEK) of segments");
	new_namespace();
	test_beside();
	test_send();
	test_recv();
	return ktap_end();
}
