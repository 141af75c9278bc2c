// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 900
 * mem: 2G
 *
 * Receive buffers and memory: who is silent has hardly any, limits leave half of what is
 * available to others, be it the machine's, a memory cgroup's or net.sstp.mem, and share
 * it among those in which much moves.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/sstp_netlink.h"
#include "nl.h"
#include "pair.h"
#include "path.h"

#define GROUP		"/sys/fs/cgroup/sstp-rrda"
#define RMEM		"/proc/sys/net/sstp/rmem"
#define KB		1024u
#define MB		(1024u * KB)
#define FLOOR		(64 * KB)
#define DELAY		"delay 150ms limit 10000"
#define PAIRS		500
#define LEAVE		(400L * MB)	/* of the machine's memory */
#define BUSY		8		/* connections in which much moves */
#define QUIET		100		/* in which hardly anything does */
#define LITTLE_MS	100		/* between two bytes of theirs */
#define A_WHILE		40		/* such pauses */
#define EPOCHS		15		/* in which much moves, that it shows */
#define GROUP_MAX	(64 * MB)

/* Each CPU keeps up to 1 MB for itself. */
static bool hardly_any(void *unused)
{
	(void)unused;
	return labs(sstp_pages()) <= sysconf(_SC_NPROCESSORS_CONF) * (long)MB /
				     getpagesize();
}

static void test_many(void)
{
	const struct rlimit files = { 4096, 4096 };
	static struct pair p[PAIRS];
	int i;

	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit:");
	new_namespace();
	for (i = 0; i < PAIRS; i++)
		pair_open(&p[i]);
	for (i = 0; i < PAIRS && all_held; i++) {
		must_become("who accepted", p[i].rx, FLOOR);
		must_become("who connected", p[i].tx, FLOOR);
	}
	must(busywait(WAIT_MS, hardly_any, NULL), "hardly any memory");
	ktap_diag("%d sockets, %ld pages", 2 * PAIRS, sstp_pages());
	for (i = 0; i < PAIRS; i++)
		pair_close(&p[i]);
	must(sstp_sockets_end(WAIT_MS), "all are gone");
	ktap_held("many silent connections have hardly any memory");
}

/* A connection whose limit memory alone can bring down, in the time that this takes */
static void pair_of_memory(struct pair *p, uint32_t first)
{
	int l;

	file_put(RMEM, "%u %u %u", FLOOR, first, 1 << 30);
	l = new_socket(SOCK_STREAM);
	param_set(l, SSTP_POLICY_PARAM, "epoch", 200);
	param_set(l, SSTP_POLICY_PARAM, "k", 255);
	pair_connect(p, l);
	must_be("first", sock_info(p->rx).rcv_buffer, first);
}

static long available(void)
{
	return file_number("/proc/meminfo", "MemAvailable:", 1) * KB;
}

/* The last number of net.sstp.mem in bytes, which bounds the memory that buffers share */
static long sockets_max;

static long to_share(void)
{
	long bytes = available();

	return bytes < sockets_max ? bytes : sockets_max;
}

static void read_sockets_max(void)
{
	FILE *f = fopen("/proc/sys/net/sstp/mem", "r");

	if (!f || fscanf(f, "%*d %*d %ld", &sockets_max) != 1)
		die("net.sstp.mem:");
	fclose(f);
	sockets_max *= sysconf(_SC_PAGESIZE);
}

struct share {
	struct pair *p;
	long (*available)(void);
};

/* A little moves. Is the limit half of what is available, or less? */
static bool is_share(void *arg)
{
	const struct share *s = arg;

	pair_exchange(s->p);
	return sock_info(s->p->rx).rcv_buffer <= s->available() / 2;
}

static void test_memory(void)
{
	struct share s = { .available = available };
	const long piece = 16 * MB;
	long at = 0, had = available();
	struct pair p;
	int fd;

	new_namespace();
	s.p = &p;
	pair_of_memory(&p, 512 * MB);
	fd = memfd_create("memory", 0);
	while (available() > LEAVE && at < had) {
		if (fallocate(fd, 0, at, piece))
			die("fallocate:");
		at += piece;
		/* After a while silent connections have the floor. */
		pair_exchange(&p);
	}
	must(available() <= LEAVE, "memory is in use");
	must(busywait(WAIT_MS, is_share, &s), "the limit falls");
	ktap_diag("%u of %ld bytes, %ld before", sock_info(p.rx).rcv_buffer, available(),
		  had);
	must(sock_info(p.rx).rcv_buffer > FLOOR, "not to the floor");
	close(fd);
	pair_close(&p);
	ktap_held("it takes at most half of what is left of memory");
}

/* 64 KB from one end to the other */
static void pair_move(struct pair *p)
{
	pair_fill(p, p->sent + 64 * KB);
	must(busywait(WAIT_MS, all_read, p), "what was sent comes");
}

/* Data moves on many connections: has each its part of half of the available memory, or less? */
static bool are_parts(void *arg)
{
	struct pair *p = arg;
	int i, more = 0;

	for (i = 0; i < BUSY; i++) {
		pair_move(&p[i]);
		more += sock_info(p[i].rx).rcv_buffer > to_share() / 2 / BUSY;
	}
	return !more;
}

static void test_busy(void)
{
	struct pair p[BUSY];
	int i;

	new_namespace();
	for (i = 0; i < BUSY; i++)
		pair_of_memory(&p[i], 512 * MB);
	must(busywait(WAIT_MS, are_parts, p), "the limits fall");
	for (i = 0; i < BUSY; i++) {
		ktap_diag("%u of %ld bytes", sock_info(p[i].rx).rcv_buffer, to_share());
		must(sock_info(p[i].rx).rcv_buffer > to_share() / 8 / BUSY,
		     "not much more than that");
	}
	for (i = 0; i < BUSY; i++)
		pair_close(&p[i]);
	ktap_held("buffers in which much moves share what is available");
}

/* Data of these connections always moves. */
static void move_little(struct pair *p)
{
	char c;
	int i;

	for (i = 0; i < QUIET; i++)
		pair_fill(&p[i], p[i].sent + 1);
	for (i = 0; i < QUIET; i++)
		must(busywait(WAIT_MS, all_read, &p[i]), "what was sent comes");
	for (i = 0; i < QUIET; i++)
		must(send(p[i].rx, "x", 1, MSG_NOSIGNAL) == 1, "an answer");
	poll(NULL, 0, LITTLE_MS);	/* what makes it little */
	for (i = 0; i < QUIET; i++)
		must(poll(&(struct pollfd){ p[i].tx, POLLIN, 0 }, 1, WAIT_MS) == 1 &&
		     recv(p[i].tx, &c, 1, 0) == 1, "it comes");
}

static void test_quiet(void)
{
	static struct pair quiet[QUIET];
	struct pair p;
	int i;

	new_namespace();
	for (i = 0; i < QUIET; i++)
		pair_open(&quiet[i]);
	for (i = 0; i < A_WHILE && all_held; i++)
		move_little(quiet);
	pair_of_memory(&p, 512 * MB);
	for (i = 0; i < A_WHILE / 4 && all_held; i++) {
		pair_move(&p);
		move_little(quiet);
	}
	ktap_diag("%u of %ld bytes", sock_info(p.rx).rcv_buffer, to_share());
	must(sock_info(p.rx).rcv_buffer > to_share() / 8, "it has as much as alone");
	pair_close(&p);
	for (i = 0; i < QUIET; i++)
		pair_close(&quiet[i]);
	ktap_held("who moves little has no part of it");
}

/* Set a tunable of the policy, as an administrator does. */
static void make_static(int fd)
{
	struct nl_request r;
	uint64_t cookie;
	struct nl nl;

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &(socklen_t){ sizeof(cookie) }))
		die("SO_COOKIE:");
	nl_open(&nl);
	nl_start(&r, &nl, SSTP_CMD_CONN_SET, NLM_F_ACK);
	nl_add_u64(&r, SSTP_A_CONN_COOKIE, cookie);
	nl_add_text(&r, SSTP_A_CONN_POLICY, "static");
	must_be("static", nl_talk(&nl, &r, NULL, NULL), 0);
	nl_close(&nl);
}

/* Data moves on many connections, then stops, for several reasons; some connections stay. */
static void test_gone(void)
{
	enum { CLOSED, PINNED, STATIC, DISCONNECTED, ANEW, BROKEN, SHARED, KINDS };
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pair p[KINDS], again, big;
	union addr a;
	int i, j, l;

	new_namespace();
	for (i = 0; i < KINDS; i++) {
		l = new_socket(SOCK_STREAM);
		sock_set(l, SOL_SSTP, SSTP_POOL, i == SHARED);
		pair_connect(&p[i], l);
	}
	for (j = 0; j < EPOCHS && all_held; j++) {
		for (i = 0; i < KINDS; i++)
			pair_move(&p[i]);
		poll(NULL, 0, 20);
	}
	/* Unread data is left. */
	for (i = 0; i < KINDS; i++)
		pair_fill(&p[i], p[i].sent + 64 * KB);
	pair_close(&p[CLOSED]);
	pair_close(&p[SHARED]);
	sock_set(p[PINNED].rx, SOL_SOCKET, SO_RCVBUF, 50000);
	make_static(p[STATIC].rx);
	must(!connect(p[DISCONNECTED].rx, &none, sizeof(none)), "it is disconnected");
	must(!connect(p[ANEW].rx, &none, sizeof(none)), "this one, too");
	l = new_socket(SOCK_STREAM);
	addr_loopback(&a, AF_INET, 0);
	if (bind(l, &a.sa, addr_len(&a)) || listen(l, 1) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }) ||
	    fcntl(p[ANEW].rx, F_SETFL, 0) || connect(p[ANEW].rx, &a.sa, addr_len(&a)))
		die("connect:");
	again.rx = accept(l, NULL, NULL);
	if (setsockopt(p[BROKEN].tx, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
		       sizeof(struct linger)))
		die("SO_LINGER:");
	close(p[BROKEN].tx);
	p[BROKEN].tx = -1;

	pair_of_memory(&big, 1 << 30);
	for (i = 0; i < EPOCHS && all_held; i++) {
		pair_move(&big);
		poll(NULL, 0, LITTLE_MS);
	}
	ktap_diag("%u of %ld bytes", sock_info(big.rx).rcv_buffer, to_share());
	must(sock_info(big.rx).rcv_buffer > to_share() / 8 * 3, "it has all to itself");
	pair_close(&big);
	close(again.rx);
	close(l);
	for (i = PINNED; i < SHARED; i++)
		pair_close(&p[i]);
	must(sstp_sockets_end(WAIT_MS), "all are gone");
	ktap_held("who is gone has no part of it");
}

static bool has_grown(void *fd)
{
	return sock_info(*(int *)fd).rcv_buffer > MB;
}

/* A contract says what the path holds: more than that. */
static void test_static(void)
{
	const uint64_t rate = 10000000000;
	struct pair p = { .seed = nonce() };
	uint32_t limit;
	long most;
	int l;

	path_make();
	path_impair(A, DELAY);
	path_impair(B, DELAY);
	path_enter(B);
	file_put(RMEM, "%u %u %u", FLOOR, FLOOR, 1 << 30);
	l = path_socket(B, SOCK_STREAM);
	if (setsockopt(l, SOL_SSTP, SSTP_BUFFER_POLICY, "static", 6) ||
	    setsockopt(l, SOL_SSTP, SSTP_RATE_LIMIT, &rate, sizeof(rate)))
		die("setsockopt:");
	p.tx = path_socket(A, SOCK_STREAM);
	most = available();
	p.rx = path_connect(p.tx, l, AF_INET);
	pair_fill(&p, 1000);
	path_poll(p.rx, POLLIN, WAIT_MS);
	must(busywait(WAIT_MS, all_read, &p), "what was sent comes");
	/* Where INIT_ACK was repeated the round-trip time is measured a little later. */
	must(busywait(WAIT_MS, has_grown, &p.rx), "it grows");
	limit = sock_info(p.rx).rcv_buffer;
	most = available() > most ? available() : most;
	ktap_diag("%u of %ld bytes", limit, most);
	must(limit <= most / 2, "not beyond half of what is available");
	pair_close(&p);
	ktap_held("static grows with the path, as far as there is memory");
}

static long group_max(void)
{
	return GROUP_MAX;
}

/* Is the limit of the cgroup respected? */
static void member_main(void)
{
	struct share s = { .available = group_max };
	struct pair p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	file_put(GROUP "/inner/cgroup.procs", "0");
	s.p = &p;
	pair_of_memory(&p, 128 * MB);
	must(busywait(WAIT_MS, is_share, &s), "the limit falls");
	ktap_diag("%u bytes", sock_info(p.rx).rcv_buffer);
	must(sock_info(p.rx).rcv_buffer > GROUP_MAX / 8, "not to the floor");
	pair_close(&p);
	_exit(!all_held);
}

static void test_group(const char *file, const char *name)
{
	int status;
	pid_t pid;

	file_put(file, "%u", GROUP_MAX);
	new_namespace();
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork:");
	if (!pid)
		member_main();
	must(waitpid(pid, &status, 0) == pid && !status, "in the group");
	file_put(file, "max");
	ktap_held(name);
}

int main(void)
{
	file_put("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755) || mkdir(GROUP "/inner", 0755))
		die(GROUP ":");
	file_put(GROUP "/cgroup.subtree_control", "+memory");
	read_sockets_max();
	ktap_plan(8);
	test_many();
	test_memory();
	test_busy();
	test_quiet();
	test_gone();
	test_static();
	test_group(GROUP "/inner/memory.max", "nor more than half of its group's");
	test_group(GROUP "/memory.high", "nor of that of a group above");
	if (rmdir(GROUP "/inner") || rmdir(GROUP))
		ktap_diag("%s: %s", GROUP, strerror(errno));
	return ktap_end();
}
