// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: 6.1 6.12
 * cpus: 1
 * mode: icount
 *
 * A connection to a reuseport group costs as many instructions with thousands of members as
 * with two, and so do bind() and listen() of another member. The machine runs one instruction a
 * nanosecond, so its clock counts them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

#define FEW		2
#define MANY		3000
#define CONNECTIONS	200
#define SAMPLE		50		/* members of which the mean is taken */

static enum proto proto;
static union addr to;
static int members[MANY];

static int sock(void)
{
	struct linger at_once = { .l_onoff = 1 };
	int fd = proto_socket(proto, AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)))
		die("socket:");
	return fd;
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Instructions of bind() and listen() of member @k */
static long long joins(int k)
{
	long long start;

	members[k] = sock();
	sock_set(members[k], SOL_SOCKET, SO_REUSEPORT, 1);
	start = now();
	if (bind(members[k], &to.sa, addr_len(&to)) || listen(members[k], 4))
		die("listener %d:", k);
	return now() - start;
}

/* Epoll descriptor of @n listeners */
static int group(int n)
{
	long long first = 0, last = 0, cost;
	int ep = epoll_create1(0), k;

	addr_loopback(&to, AF_INET, 9000);
	for (k = 0; k < n; k++) {
		struct epoll_event e = { .events = EPOLLIN };

		cost = joins(k);
		if (k < SAMPLE)
			first += cost;
		if (k >= n - SAMPLE)
			last += cost;
		e.data.fd = members[k];
		if (epoll_ctl(ep, EPOLL_CTL_ADD, members[k], &e))
			die("epoll_ctl:");
	}
	if (n != MANY)
		return ep;
	ktap_diag("%s: bind() and listen() took %lld instructions at first, %lld with %d members",
		  proto_names[proto], first / SAMPLE, last / SAMPLE, n);
	ktap_result(last < 2 * first, "%s: a member joins many at once", proto_names[proto]);
	return ep;
}

/* Instructions of a connection to a group of @n, from connect() to close() */
static long long cost(int n)
{
	int ep = group(n), k, fd, peer;
	long long total = 0, start;
	struct epoll_event e;

	for (k = 0; k < 2 * CONNECTIONS; k++) {
		fd = sock();
		start = now();
		if (connect(fd, &to.sa, addr_len(&to)) || epoll_wait(ep, &e, 1, 10000) != 1)
			die("connect:");
		peer = accept(e.data.fd, NULL, NULL);
		close(peer);
		close(fd);
		/* The first half warms up. */
		if (k >= CONNECTIONS)
			total += now() - start;
	}
	while (n--)
		close(members[n]);
	close(ep);
	return total / CONNECTIONS;
}

int main(void)
{
	const struct rlimit files = { 2 * MANY, 2 * MANY };
	long long few, many;

	need_instruction_count();
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit:");
	/* Linux 6.1 keeps SO_REUSEPORT to AF_INET and AF_INET6. */
	sstp_of_inet = true;
	ktap_plan(4);
	new_namespace();
	for (proto = PROTO_TCP; proto <= PROTO_SSTP; proto++) {
		few = cost(FEW);
		many = cost(MANY);
		ktap_diag("%s: %lld instructions with %d members, %lld with %d",
			  proto_names[proto], few, FEW, many, MANY);
		ktap_result(many < few + few / 2, "%s: a member among many is found at once",
			    proto_names[proto]);
	}
	return ktap_end();
}
