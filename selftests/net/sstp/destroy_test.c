// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * What closed sockets may hold: so many of them, for so long, and netlink ends any of them,
 * as it ends what programs use.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sstp_netlink.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conns.h"

#define MAX_ORPHANS	"/proc/sys/net/sstp/max_orphans"
#define LIMIT		50
#define CONNECTIONS	200
#define DAYS_MS		(24 * 24 * 3600 * 1000)	/* of a user timeout */

static int destroy(uint64_t whose)
{
	return nl_destroy(&nl, whose);
}

/* The error that waits for the program, and then the end */
static void must_end(const char *what, int fd, int err)
{
	must_be(what, sock_int(fd, SOL_SOCKET, SO_ERROR), err);
	must_be(what, sock_info(fd).state, TCP_CLOSE);
}

static void test_connection(int family)
{
	struct conn c;
	char buf[1];

	all_held = true;
	conn_open(&c, family, SOCK_STREAM);
	must_be("destroy", destroy(cookie(c.tx)), 0);
	must_end("here", c.tx, ECONNABORTED);
	must(recv(c.rx, buf, 1, 0) < 0 && errno == ECONNRESET, "the peer is reset");
	must_be("again", destroy(cookie(c.tx)), -ENOENT);
	must_be("what never was", destroy(1), -ENOENT);
	conn_close(&c);
	ktap_held(family == AF_INET ? "a connection, IPv4" : "a connection, IPv6");
}

static bool program_sleeps(void *unused)
{
	(void)unused;
	return thread_sleeps(getpid());
}

static void *destroyer(void *whose)
{
	if (!busywait(WAIT_MS, program_sleeps, NULL))
		die("the program does not sleep in its call");
	return (void *)(intptr_t)destroy(*(uint64_t *)whose);
}

/* Call @block on @fd, which must fail with @err when netlink ends the socket meanwhile. */
static void must_wake(const char *what, int fd, int (*block)(int fd), int err)
{
	uint64_t whose = cookie(fd);
	pthread_t thread;
	void *status;

	if (pthread_create(&thread, NULL, destroyer, &whose))
		die("thread:");
	must(block(fd) < 0, what);
	must_be(what, errno, err);
	pthread_join(thread, &status);
	must_be(what, (intptr_t)status, 0);
}

static int block_recv(int fd)
{
	char c;

	return recv(fd, &c, 1, 0);
}

static int block_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

static int block_connect(int fd)
{
	union addr nowhere;

	addr_loopback(&nowhere, AF_INET, 4);
	return connect(fd, &nowhere.sa, addr_len(&nowhere));
}

static void test_sleepers(void)
{
	struct conn c, later;
	union addr at;
	int fd;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_SEQPACKET);
	must_wake("recv", c.rx, block_recv, ECONNABORTED);
	must_wake("accept", c.listener, block_accept, EINVAL);
	must_end("a listener", c.listener, ECONNABORTED);
	conn_close(&c);

	/* Connections that were not accepted end with the listener; the port is free again. */
	later.listener = listen_at(AF_INET, SOCK_STREAM, &at);
	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	if (connect(fd, &at.sa, addr_len(&at)))
		die("connect:");
	must_be("a listener", destroy(cookie(later.listener)), 0);
	must(block_recv(fd) < 0 && errno == ECONNRESET, "who was not accepted");
	close(later.listener);
	close(fd);

	if (system("tc qdisc add dev lo root netem loss 100%"))
		die("tc:");
	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	must_wake("connect", fd, block_connect, ECONNABORTED);
	close(fd);
	if (system("tc qdisc del dev lo root"))
		die("tc:");
	ktap_held("what programs wait for");
}

static void as_nobody(void)
{
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(254);
}

static void test_privilege(void)
{
	struct conn c;
	int status;
	pid_t pid;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	pid = fork();
	if (!pid) {
		as_nobody();
		nl_open(&nl);
		_exit(-destroy(cookie(c.tx)));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork:");
	must_be("as nobody", WIFEXITED(status) ? WEXITSTATUS(status) : -1, EPERM);
	conn_move(&c, SEGMENT);
	conn_close(&c);
	ktap_held("not for everybody");
}

/* Close with data that the peer does not accept, with the largest user timeout */
static void leave(const union addr *at, int listener, int *peer)
{
	static char data[64 << 10];
	int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

	sock_set(fd, SOL_SSTP, SSTP_USER_TIMEOUT, DAYS_MS);
	sock_set(fd, SOL_SOCKET, SO_SNDBUF, sizeof(data));
	if (fd < 0 || connect(fd, &at->sa, addr_len(at)))
		die("connect:");
	*peer = accept(listener, NULL, NULL);
	if (*peer < 0)
		die("accept:");
	while (send(fd, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

struct left {
	uint64_t cookie[CONNECTIONS];
	int n;
};

static void note_left(const struct nl_message *m, void *arg)
{
	struct left *l = arg;

	if (!nl_number(m, SSTP_A_CONN_INODE) && l->n < CONNECTIONS)
		l->cookie[l->n++] = nl_number(m, SSTP_A_CONN_COOKIE);
}

/* Closed sockets whose connection has not ended */
static struct left orphans(void)
{
	struct nl_request r;
	struct left l = {};

	nl_start(&r, &nl, SSTP_CMD_CONN_GET, NLM_F_DUMP);
	nl_add_u32(&r, SSTP_A_CONN_STATES, 1 << TCP_FIN_WAIT1 | 1 << TCP_LAST_ACK);
	if (nl_talk(&nl, &r, note_left, &l))
		die("dump");
	return l;
}

static bool no_orphans(void *unused)
{
	(void)unused;
	return !orphans().n;
}

/* net.sstp.max_orphans bounds the closed sockets of all namespaces; more are reset, and each can be
 * ended.
 */
static void test_limit(int limit_fd, int was)
{
	static int peer[CONNECTIONS];
	union addr at;
	int l, i;
	struct left left;
	char text[16];

	all_held = true;
	l = listen_at(AF_INET, SOCK_STREAM, &at);
	sock_set(l, SOL_SOCKET, SO_RCVBUF, 4096);
	if (dprintf(limit_fd, "%d\n", LIMIT) < 0)
		die(MAX_ORPHANS ":");
	for (i = 0; i < CONNECTIONS; i++)
		leave(&at, l, &peer[i]);
	left = orphans();
	ktap_diag("%d of %d closed sockets are left, %ld were reset", left.n, CONNECTIONS,
		  sstp_counter("OrphansReset"));
	must_be("closed sockets", left.n, LIMIT);
	must_be("OrphansReset", sstp_counter("OrphansReset"), CONNECTIONS - LIMIT);
	ktap_held("so many closed sockets and no more");

	all_held = true;
	for (i = 0; i < left.n; i++)
		must_be("destroy", destroy(left.cookie[i]), 0);
	must_be("left", orphans().n, 0);
	for (i = 0; i < CONNECTIONS; i++)
		close(peer[i]);
	/* There is room again. */
	leave(&at, l, &peer[0]);
	must_be("another", orphans().n, 1);
	snprintf(text, sizeof(text), "%d\n", was);
	if (dprintf(limit_fd, "%s", text) < 0)
		die(MAX_ORPHANS ":");
	ktap_held("closed sockets, by netlink");

	/* The user timeout is weeks, and a closed socket has ten of them. */
	all_held = true;
	file_put("/proc/sys/net/sstp/orphan_timeout", "5");
	close(peer[0]);
	leave(&at, l, &peer[0]);
	must_be("one more", orphans().n, 1);
	close(l);
	must(busywait(WAIT_MS, no_orphans, NULL), "it ends");
	close(peer[0]);
	must(sstp_sockets_end(WAIT_MS), "sockets are gone");
	ktap_held("a closed socket's life");
}

/* Sysctls of the initial namespace */
static int open_limit(int *was)
{
	int first = open("/proc/1/ns/net", O_RDONLY), fd;
	char text[16] = "";

	if (first < 0 || setns(first, CLONE_NEWNET))
		die("the first namespace:");
	close(first);
	fd = open(MAX_ORPHANS, O_RDWR);
	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) <= 0)
		die(MAX_ORPHANS ":");
	*was = atoi(text);
	return fd;
}

int main(void)
{
	int was, limit = open_limit(&was);

	new_namespace();
	nl_open(&nl);
	ktap_plan(7);
	test_connection(AF_INET);
	test_connection(AF_INET6);
	test_sleepers();
	test_privilege();
	test_limit(limit, was);
	return ktap_end();
}
