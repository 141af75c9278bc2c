// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * Memory of a connection is charged to the cgroup of its program (which the
 * kernel lets go over its limit for what comes in softirq, of TCP as well) and to
 * net.sstp.mem, which holds; and nothing is lost.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "peer.h"

#define GROUP		"/sys/fs/cgroup/sstp-memory"
#define WAIT_MS		20000
#define BUFFER		(32 << 20)	/* as set; the kernel doubles it */
#define MB		(1 << 20)
#define MEM		"/proc/sys/net/sstp/mem"

/* The number after @name in @file */
static long group_sock(void)
{
	return file_number(GROUP "/memory.stat", "sock", 1);
}

struct reader {
	pid_t pid;
	int ready, go;			/* pipes from and to it */
	uint16_t port;
};

/* In the group: accepts one connection, waits for its word, reads all. */
static void reader_main(struct reader *r, int ready, int go, uint64_t seed)
{
	const int bytes = BUFFER;
	static char buf[256 << 10];
	socklen_t len = sizeof(union addr);
	uint64_t got = 0;
	union addr a;
	int l, fd;
	ssize_t n;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	file_put(GROUP "/cgroup.procs", "0");
	addr_loopback(&a, AF_INET, 0);
	/* Made here, it is the group's. */
	l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	if (l < 0 ||
	    setsockopt(l, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(l, &a.sa, addr_len(&a)) || listen(l, 1) ||
	    getsockname(l, &a.sa, &len))
		die("reader:");
	r->port = addr_port(&a);
	if (write(ready, &r->port, sizeof(r->port)) != sizeof(r->port))
		die("pipe:");
	fd = accept(l, NULL, NULL);
	if (fd < 0 || read(go, &c, 1) != 1)
		die("accept:");
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		if (content_check(buf, n, seed, got) != (size_t)n)
			die("wrong content after %llu bytes",
			    (unsigned long long)got);
		got += n;
	}
	if (n < 0)
		die("recv:");
	close(fd);
	close(l);
	if (write(ready, &got, sizeof(got)) != sizeof(got))
		die("pipe:");
	/* Its group is looked at while it lives. */
	if (read(go, &c, 1) < 0)
		die("pipe:");
	_exit(0);
}

static void reader_start(struct reader *r, uint64_t seed)
{
	int ready[2], go[2];

	if (pipe(ready) || pipe(go))
		die("pipe:");
	fflush(stdout);
	r->pid = fork();
	if (r->pid < 0)
		die("fork:");
	if (!r->pid) {
		close(go[1]);
		reader_main(r, ready[1], go[0], seed);
	}
	close(ready[1]);
	close(go[0]);
	r->ready = ready[0];
	r->go = go[1];
	if (read(r->ready, &r->port, sizeof(r->port)) != sizeof(r->port))
		die("the reader is gone");
}

/* Data that the reader gets once it reads */
static uint64_t reader_read(struct reader *r)
{
	uint64_t got = 0;

	if (write(r->go, "", 1) != 1 ||
	    read(r->ready, &got, sizeof(got)) != sizeof(got))
		ktap_diag("the reader is gone");
	return got;
}

static void reader_end(struct reader *r)
{
	int status;

	close(r->go);
	close(r->ready);
	if (waitpid(r->pid, &status, 0) != r->pid || status)
		ktap_diag("the reader's status is %#x", status);
}

static int writer_open(const struct reader *r)
{
	int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	union addr a;

	addr_loopback(&a, AF_INET, r->port);
	if (fd < 0 || connect(fd, &a.sa, addr_len(&a)))
		die("connect:");
	return fd;
}

/* Writes while the peer takes it, for at most @most bytes: until there has been
 * no room for @ms.
 */
static uint64_t writer_fill(int fd, uint64_t seed, uint64_t most, int ms)
{
	static char buf[64 << 10];
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	uint64_t sent = 0;
	ssize_t n;

	while (sent < most && poll(&p, 1, ms) == 1) {
		size_t len = most - sent < sizeof(buf) ? most - sent :
			     sizeof(buf);

		content_fill(buf, len, seed, sent);
		n = send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			die("send:");
		if (n > 0)
			sent += n;
	}
	return sent;
}

static bool group_charged(void *arg)
{
	return group_sock() >= *(long *)arg;
}

static bool group_empty(void *arg)
{
	(void)arg;
	return !group_sock();
}

/* Each CPU keeps up to 1 MB for itself before it tells the others. */
static long reserve(void)
{
	return sysconf(_SC_NPROCESSORS_CONF) * MB / getpagesize();
}

static bool all_empty(void *arg)
{
	(void)arg;
	return labs(sstp_pages()) <= reserve();
}

/* Unread data is charged to the reader's cgroup. */
static void test_charged(void)
{
	uint64_t seed = nonce(), sent, got;
	long least = 7 * MB;
	struct reader r;
	bool charged;
	int fd;

	reader_start(&r, seed);
	fd = writer_open(&r);
	sent = writer_fill(fd, seed, 8 * MB, WAIT_MS);
	/* The last of it may still be on its way. */
	charged = busywait(WAIT_MS, group_charged, &least);
	ktap_diag("%llu bytes sent, %ld charged",
		  (unsigned long long)sent, group_sock());
	ktap_result(sent == 8 * MB && charged,
		    "what waits is charged to the reader's group");
	shutdown(fd, SHUT_WR);
	got = reader_read(&r);
	ktap_result(got == sent && busywait(WAIT_MS, group_empty, NULL),
		    "what was read is not");
	close(fd);
	reader_end(&r);
}

/* Set the memory limit of all sockets together to @bytes; @old gets the former values. */
static long limit(long bytes, long old[3])
{
	long pages = bytes / getpagesize();
	FILE *f = fopen(MEM, "r");

	if (!f || fscanf(f, "%ld %ld %ld", &old[0], &old[1], &old[2]) != 3)
		die(MEM ":");
	fclose(f);
	file_put(MEM, "%ld %ld %ld", pages / 4, pages / 2, pages);
	return pages;
}

/* All sockets together have less than the buffer. */
static void test_limit(void)
{
	uint64_t seed = nonce(), sent, got;
	long old[3], pages, most;
	struct reader r;
	int fd;

	reader_start(&r, seed);
	pages = limit(8 * MB, old);
	fd = writer_open(&r);
	sent = writer_fill(fd, seed, 40 * MB, 1000);
	most = sstp_pages();
	ktap_diag("%llu bytes sent, %ld of %ld pages",
		  (unsigned long long)sent, most, pages);
	ktap_result(sent < 40 * MB && most <= pages + reserve(),
		    "net.sstp.mem holds");
	shutdown(fd, SHUT_WR);
	got = reader_read(&r);
	ktap_result(got == sent, "and nothing is lost");
	file_put(MEM, "%ld %ld %ld", old[0], old[1], old[2]);
	close(fd);
	reader_end(&r);
	ktap_result(busywait(WAIT_MS, all_empty, NULL), "all is given back");
}

static bool asked(const struct peer *p)
{
	return p->asked;
}

static bool accepted(const struct peer *p)
{
	return p->ack;
}

static bool lacked(void *arg)
{
	return sstp_counter("InNoMem") > *(long *)arg;
}

/* A program that waits for more than there is memory for hears of what there is. */
static void test_lowat(void)
{
	const uint32_t most = 200, len = 60000;
	const int bytes = BUFFER, lowat = BUFFER;
	struct peer_init us = { .window = 1, .segment = len };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	struct pollfd pfd = { .events = POLLIN };
	long old[3], before;
	struct peer p;
	uint32_t n;
	bool ok;

	if (l < 0 ||
	    setsockopt(l, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		die("listener:");
	peer_open(&p, l, &us);
	if (setsockopt(p.fd, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat)))
		die("SO_RCVLOWAT:");
	before = sstp_counter("InNoMem");
	limit(4 * MB, old);
	for (n = 0; n < most && n < p.granted; n++)
		peer_data(&p, n, 0, len, len, LAST);
	ok = busywait(WAIT_MS, lacked, &before);
	pfd.fd = p.fd;
	ktap_result(ok && poll(&pfd, 1, WAIT_MS) == 1 && pfd.revents == POLLIN,
		    "who waits for more than there is memory for is told");
	file_put(MEM, "%ld %ld %ld", old[0], old[1], old[2]);
	peer_close(&p);
}

/* Later segments have all the memory: the first comes in nevertheless, and what
 * there is no memory for is not asked for all the time.
 */
static void test_first(void)
{
	const uint32_t most = 200, len = 60000;
	struct peer_init us = { .window = 1, .segment = len };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	const int bytes = BUFFER;
	long old[3], before;
	uint32_t answers, i, n;
	struct peer p;
	uint64_t end;
	bool ok;

	if (l < 0 ||
	    setsockopt(l, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		die("listener:");
	peer_open(&p, l, &us);
	before = sstp_counter("InNoMem");
	limit(4 * MB, old);
	for (n = 1; n < most && n < p.granted; n++)
		peer_data(&p, n, 0, len, len, LAST);
	ok = busywait(WAIT_MS, lacked, &before) && n == most;
	/* Ignore SNAKs that were sent before memory was used up. In the meantime the module adds
	 * the CPUs' counters of pages to the one that the limit is for: tests before have freed
	 * pages that only a CPU's counter had. Then use these pages up as well.
	 */
	peer_listen(&p, 100);
	for (i = 1; i < n; i++)
		peer_data(&p, i, 0, len, len, LAST | AGAIN);
	p.asked = 0;
	ok = peer_await(&p, WAIT_MS, asked) && p.asked == 1 && ok;
	/* It is given what it asks for, but for the first, until it asks no more for a
	 * while. Count answers: one that comes late, because this process had to wait for
	 * a processor, is asked for more than once. The answer is always segment @n, for which
	 * there is no memory: of those below, any may have been accepted, and a duplicate is
	 * no reason to ask less often.
	 */
	for (answers = 0; answers < 40 && peer_await(&p, 250, asked); answers++) {
		peer_listen(&p, 1);
		p.asked = 0;
		peer_data(&p, n, 0, len, len, LAST | AGAIN);
	}
	ktap_diag("%u segments sent, answered %u times", n - 1, answers);
	ktap_result(ok && !p.ack && answers < 40,
		    "what has no memory is asked for less and less often");
	for (end = now_ns() + WAIT_MS * 1000000ULL; now_ns() < end && !p.ack; ) {
		peer_data(&p, 0, 0, len, len, LAST | AGAIN);
		peer_await(&p, 100, accepted);
	}
	ktap_result(p.ack, "what the reader waits for always has memory");
	file_put(MEM, "%ld %ld %ld", old[0], old[1], old[2]);
	peer_may_vanish();
	peer_close(&p);
}

int main(void)
{
	file_put("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755))
		die(GROUP ":");
	if (system("ip link set lo up"))
		die("lo:");
	ktap_plan(8);
	test_charged();
	test_limit();
	test_lowat();
	test_first();
	if (rmdir(GROUP))
		ktap_diag("%s: %s", GROUP, strerror(errno));
	return ktap_end();
}
