// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 900
 * quick: yes
 *
 * Ports, where there are few of them: who may have the same one. What TCP does is what
 * SSTP has to do, so each case runs on both.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib.h"

#define LOW	20000
#define PORTS	10
#define ADDRESSES 200
#define MANY	2000
#define STRIDE	1024
#define SPREAD	(65536 / STRIDE - 1)
#define BINDERS	50
#define GROUP	64

static enum proto proto;
static int l;			/* a listener on all addresses, */
static uint16_t port;		/* whose port is not one of them */

/* Let close() of @fd, and of its children, reset: there is no TIME_WAIT then. */
static int resets(int fd)
{
	struct linger reset = { .l_onoff = 1 };

	if (fd < 0)
		die("socket:");
	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)))
		die("SO_LINGER:");
	return fd;
}

static int sock(void)
{
	return resets(proto_socket(proto, AF_INET, SOCK_STREAM, 0));
}

static int bound_to(int fd, const char *ip, uint16_t to)
{
	union addr a;

	addr_parse(&a, ip, to);
	return bind(fd, &a.sa, addr_len(&a)) ? errno : 0;
}

static int try_bind(const char *ip, uint16_t to, bool reuse)
{
	int fd = sock(), err;

	sock_set(fd, SOL_SOCKET, SO_REUSEADDR, reuse);
	err = bound_to(fd, ip, to);
	close(fd);
	return err;
}

/* The other end in @peer, if that is wanted */
static int connect_to(int fd, const char *ip, int *peer)
{
	union addr a;
	int end;

	addr_parse(&a, ip, port);
	if (connect(fd, &a.sa, addr_len(&a)))
		return errno;
	end = accept(l, NULL, NULL);
	if (end < 0)
		die("accept:");
	if (peer)
		*peer = end;
	else
		close(end);
	return 0;
}

static uint16_t port_of(int fd)
{
	socklen_t len = sizeof(union addr);
	union addr a;

	if (getsockname(fd, &a.sa, &len))
		die("getsockname:");
	return addr_port(&a);
}

static void result(const char *what)
{
	char text[80];

	snprintf(text, sizeof(text), "%s: %s", proto_names[proto], what);
	ktap_held(text);
}

/* Connect ports that are congruent modulo any size of a table to one destination, all at once. */
static void test_spread(void)
{
	int fd[SPREAD], peer[SPREAD], k;
	union addr a;

	for (k = 0; k < SPREAD; k++) {
		fd[k] = sock();
		must_be("bind", bound_to(fd[k], "127.0.0.12", (k + 1) * STRIDE), 0);
		if (fcntl(fd[k], F_SETFL, O_NONBLOCK))
			die("O_NONBLOCK:");
	}
	addr_parse(&a, "127.0.0.1", port);
	for (k = 0; k < SPREAD; k++)
		must_be("connect", connect(fd[k], &a.sa, addr_len(&a)) ? errno : EINPROGRESS,
			EINPROGRESS);
	if (!all_held)
		die("not so many connections");
	for (k = 0; k < SPREAD; k++) {
		peer[k] = accept(l, NULL, NULL);
		if (peer[k] < 0)
			die("accept:");
	}
	while (k--) {
		close(peer[k]);
		close(fd[k]);
	}
	result("connections from ports far apart");
}

/* Of connections to as many destinations, how many have an odd port? */
static unsigned int odd_ports(void)
{
	unsigned int odd = 0, k;
	char ip[20];
	int fd, peer;

	for (k = 1; k <= 2 * BINDERS; k++) {
		snprintf(ip, sizeof(ip), "127.0.9.%u", k);
		fd = sock();
		must_be(ip, connect_to(fd, ip, &peer), 0);
		odd += port_of(fd) % 2;
		close(peer);
		close(fd);
	}
	return odd;
}

static bool ports_are_even(void *arg)
{
	(void)arg;
	return !odd_ports();
}

/* bind() that finds its preferred half full must not make connect() avoid that half. */
static void test_halves(void)
{
	int fd[PORTS / 2 + 1];
	unsigned int i, k;
	char ip[20];

	/* Earlier searches within a second may have found a half full. */
	must(busywait(60000, ports_are_even, NULL), "even ports at first");
	for (i = 1; i <= BINDERS; i++) {
		snprintf(ip, sizeof(ip), "127.0.8.%u", i);
		for (k = 0; k <= PORTS / 2; k++) {
			fd[k] = sock();
			must_be(ip, bound_to(fd[k], ip, 0), 0);
		}
		while (k--)
			close(fd[k]);
	}
	must_be("odd ports then", odd_ports(), 0);
	result("bind() and connect() each have a half of the range");
}

/* Connect from all ports to each destination. */
static void test_destinations(void)
{
	static const char * const to[] = { "127.0.0.1", "127.0.0.2", "127.0.0.3" };
	int fd[ARRAY_SIZE(to)][PORTS], peer[ARRAY_SIZE(to)][PORTS], one;
	unsigned int i, k, seen;

	for (i = 0; i < ARRAY_SIZE(to); i++) {
		seen = 0;
		for (k = 0; k < PORTS; k++) {
			fd[i][k] = sock();
			must_be("one more", connect_to(fd[i][k], to[i], &peer[i][k]), 0);
			seen |= 1U << (port_of(fd[i][k]) - LOW);
		}
		must_be("all ports", seen, (1U << PORTS) - 1);
		one = sock();
		must_be("none is left", connect_to(one, to[i], NULL), EADDRNOTAVAIL);
		close(one);
	}
	/* The port of a closed connection can be used again for the same destination. */
	close(fd[1][3]);
	close(peer[1][3]);
	fd[1][3] = sock();
	must_be("again", connect_to(fd[1][3], to[1], &peer[1][3]), 0);
	must_be("bind() to one of them", try_bind("127.0.0.1", LOW + 3, false),
		EADDRINUSE);
	must_be("and so", try_bind("127.0.0.1", LOW + 3, true), EADDRINUSE);
	must_be("elsewhere", try_bind("127.0.0.9", LOW + 3, false), 0);
	for (i = 0; i < ARRAY_SIZE(to); i++)
		for (k = 0; k < PORTS; k++) {
			close(fd[i][k]);
			close(peer[i][k]);
		}
	for (k = 0; k < PORTS; k++)
		must_be("free", try_bind("0.0.0.0", LOW + k, false), 0);
	result("connections of a port each to one destination");
}

/* A port that bind() gave is not chosen by connect() without SO_REUSEADDR. */
static void test_bound(void)
{
	int fd[PORTS - 1], one, other, third, peer[3];
	unsigned int k;

	for (k = 0; k < PORTS - 1; k++) {
		fd[k] = sock();
		sock_set(fd[k], SOL_SOCKET, SO_REUSEADDR, 1);
		must_be("bind", bound_to(fd[k], "127.0.0.8", LOW + k), 0);
	}
	one = sock();
	other = sock();
	third = sock();
	must_be("the last", connect_to(one, "127.0.0.1", &peer[0]), 0);
	must_be("it is", port_of(one), LOW + PORTS - 1);
	must_be("the same", connect_to(other, "127.0.0.2", &peer[1]), 0);
	must_be("it is", port_of(other), LOW + PORTS - 1);
	must_be("none is left", connect_to(third, "127.0.0.2", NULL), EADDRNOTAVAIL);
	close(third);
	for (k = 0; k < 2; k++)
		close(peer[k]);
	close(one);
	close(other);

	/* With SO_REUSEADDR it is, for another destination. */
	one = sock();
	sock_set(one, SOL_SOCKET, SO_REUSEADDR, 1);
	must_be("a bound one", bound_to(one, "127.0.0.8", LOW), 0);
	must_be("connects", connect_to(one, "127.0.0.1", &peer[0]), 0);
	must_be("another", connect_to(fd[0], "127.0.0.1", NULL), EADDRNOTAVAIL);
	must_be("elsewhere", connect_to(fd[0], "127.0.0.2", &peer[1]), 0);
	close(one);
	for (k = 0; k < 2; k++)
		close(peer[k]);
	for (k = 0; k < PORTS - 1; k++)
		close(fd[k]);
	result("ports that are bound");
}

static int bound_without_port(const char *ip)
{
	int fd = sock();

	sock_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	must_be("bind", bound_to(fd, ip, 0), 0);
	must_be("no port", port_of(fd), 0);
	return fd;
}

static void test_no_port(void)
{
	int fd[2][PORTS], peer[2][PORTS], one;
	unsigned int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < PORTS; k++) {
			fd[i][k] = bound_without_port("127.0.0.7");
			must_be("connect", connect_to(fd[i][k], i ? "127.0.0.1" :
						      "127.0.0.2", &peer[i][k]), 0);
		}
	one = bound_without_port("127.0.0.7");
	must_be("none is left", connect_to(one, "127.0.0.1", NULL), EADDRNOTAVAIL);
	close(one);
	one = bound_without_port("127.0.0.6");
	must_be("from elsewhere", connect_to(one, "127.0.0.1", NULL), 0);
	close(one);
	one = sock();
	must_be("bind finds none", bound_to(one, "127.0.0.7", 0), EADDRINUSE);
	close(one);
	for (i = 0; i < 2; i++)
		for (k = 0; k < PORTS; k++) {
			close(fd[i][k]);
			close(peer[i][k]);
		}
	one = sock();
	must_be("bind finds one", bound_to(one, "127.0.0.7", 0), 0);
	close(one);
	result("IP_BIND_ADDRESS_NO_PORT");
}

/* An accepted socket keeps port and address when the listener is closed. */
static void test_children(void)
{
	int fd = sock(), peer, old = l;
	uint16_t was = port;
	union addr a;

	l = sock();
	addr_parse(&a, "0.0.0.0", LOW + 2);
	if (bind(l, &a.sa, addr_len(&a)) || listen(l, 1))
		die("listen:");
	port = LOW + 2;
	must_be("connect", connect_to(fd, "127.0.0.5", &peer), 0);
	close(l);
	must_be("it is taken", try_bind("127.0.0.5", LOW + 2, false), EADDRINUSE);
	must_be("and as a whole", try_bind("0.0.0.0", LOW + 2, false), EADDRINUSE);
	must_be("elsewhere it is not", try_bind("127.0.0.1", LOW + 2, false), 0);
	close(peer);
	close(fd);
	must_be("and then", try_bind("0.0.0.0", LOW + 2, false), 0);
	l = old;
	port = was;
	result("children");
}

/* Connections of a listener on all addresses keep the port at their own address only. */
static void test_addresses(void)
{
	int fd[ADDRESSES], peer[ADDRESSES], old = l, k;
	const int last = ADDRESSES / 2;
	uint16_t was = port;
	char ip[20];

	l = sock();
	port = LOW + 4;
	if (bound_to(l, "0.0.0.0", port) || listen(l, 1))
		die("listen:");
	for (k = 0; k < ADDRESSES; k++) {
		snprintf(ip, sizeof(ip), "127.0.1.%d", k + 1);
		fd[k] = sock();
		must_be("connect", connect_to(fd[k], ip, &peer[k]), 0);
	}
	close(l);
	for (k = 0; k < ADDRESSES; k++) {
		snprintf(ip, sizeof(ip), "127.0.1.%d", k + 1);
		must_be(ip, try_bind(ip, port, true), EADDRINUSE);
	}
	must_be("another", try_bind("127.0.2.1", port, false), 0);
	for (k = 0; k < ADDRESSES; k++) {
		if (k == last)
			continue;
		close(peer[k]);
		close(fd[k]);
		snprintf(ip, sizeof(ip), "127.0.1.%d", k + 1);
		must_be(ip, try_bind(ip, port, false), 0);
		must_be("all", try_bind("0.0.0.0", port, true), EADDRINUSE);
	}
	snprintf(ip, sizeof(ip), "127.0.1.%d", last + 1);
	must_be(ip, try_bind(ip, port, false), EADDRINUSE);
	close(peer[last]);
	close(fd[last]);
	must_be(ip, try_bind(ip, port, false), 0);
	must_be("all", try_bind("0.0.0.0", port, false), 0);
	l = old;
	port = was;
	result("children at many addresses");
}

static int sock_reuseport(int family)
{
	/* Linux 6.1 keeps SO_REUSEPORT to AF_INET and AF_INET6. */
	int fd = proto == PROTO_SSTP ? socket(family, SOCK_STREAM, IPPROTO_SSTP) :
				       proto_socket(proto, family, SOCK_STREAM, 0);

	sock_set(resets(fd), SOL_SOCKET, SO_REUSEPORT, 1);
	return fd;
}

static int listen_at(int family, const char *ip)
{
	int fd = sock_reuseport(family);
	union addr a;

	if (!addr_parse(&a, ip, LOW + 6) || bind(fd, &a.sa, addr_len(&a)) ||
	    listen(fd, 1))
		die("listener at %s:", ip);
	return fd;
}

/* A connection to @ip reaches @listener, or none if that is -1. */
static void must_reach(const char *ip, int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	union addr a, own, seen;
	int fd, peer;

	/* Each that is not reached takes ten seconds. */
	if (!all_held)
		return;
	if (!addr_parse(&a, ip, LOW + 6))
		die("%s?", ip);
	fd = resets(proto_socket(proto, a.sa.sa_family, SOCK_STREAM, 0));
	if (connect(fd, &a.sa, addr_len(&a))) {
		must_be(ip, errno, listener < 0 ? ECONNREFUSED : 0);
		close(fd);
		return;
	}
	must_be(ip, poll(&p, 1, listener < 0 ? 0 : 60000), 1);
	if (p.revents == POLLIN) {
		peer = accept(listener, &seen.sa, &(socklen_t){ sizeof(seen) });
		if (getsockname(fd, &own.sa, &(socklen_t){ sizeof(own) }))
			die("getsockname:");
		must_be("its port", addr_port(&seen), addr_port(&own));
		close(peer);
	}
	close(fd);
}

static void address(char ip[20], int k)
{
	snprintf(ip, 20, "127.0.%d.%d", 3 + k / 250, k % 250 + 1);
}

/* Many listeners on a port, each with an address, and wildcard ones: the most specific one gets the
 * connection.
 */
static void test_listeners(void)
{
	int fd[ADDRESSES], one, four, six, k;
	char ip[20];

	for (k = 0; k < ADDRESSES; k++) {
		address(ip, k);
		fd[k] = listen_at(AF_INET, ip);
	}
	one = listen_at(AF_INET6, "::1");
	must_reach("127.0.0.1", -1);
	six = listen_at(AF_INET6, "::");
	must_reach("127.0.0.1", six);
	four = listen_at(AF_INET, "0.0.0.0");
	for (k = 0; k < ADDRESSES; k++) {
		address(ip, k);
		must_reach(ip, fd[k]);
	}
	must_reach("127.0.0.1", four);
	must_reach("::1", one);
	close(one);
	must_reach("::1", six);
	/* Every other one goes. */
	for (k = 0; k < ADDRESSES; k += 2)
		close(fd[k]);
	for (k = 0; k < ADDRESSES; k++) {
		address(ip, k);
		must_reach(ip, k % 2 ? fd[k] : four);
	}
	close(four);
	address(ip, 0);
	must_reach(ip, six);
	close(six);
	must_reach(ip, -1);
	/* Listen there again. */
	fd[0] = listen_at(AF_INET, ip);
	must_reach(ip, fd[0]);
	close(fd[0]);
	for (k = 1; k < ADDRESSES; k += 2) {
		address(ip, k);
		must_reach(ip, fd[k]);
		close(fd[k]);
		must_reach(ip, -1);
	}
	result("listeners at many addresses");
}

/* A socket that listened can do so elsewhere. */
static void test_again(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = proto_socket(proto, AF_INET, SOCK_STREAM, 0);
	union addr a, b;

	if (fd < 0 || listen(fd, 1) ||
	    getsockname(fd, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listen:");
	must(!connect(fd, &none, sizeof(none)), "disconnect");
	addr_parse(&b, "127.0.0.9", LOW + 6);
	must(!bind(fd, &b.sa, addr_len(&b)) && !listen(fd, 1), "elsewhere");
	must_reach("127.0.0.9", fd);
	must_reach("127.0.0.8", -1);
	close(fd);
	must_reach("127.0.0.9", -1);
	result("a listener that moves");
}

/* An accepted socket that disconnects gives up its listener's port. It listens at one of its own,
 * which it has as any other listener.
 */
static void test_child_listens(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = sock(), other = sock(), child, old = l;
	uint16_t was = port, own;

	l = sock();
	port = LOW + 8;
	sock_set(l, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bound_to(l, "0.0.0.0", port) || listen(l, 1))
		die("listen:");
	must_be("connect", connect_to(fd, "127.0.0.5", &child), 0);
	close(fd);
	close(l);
	must(!connect(child, &none, sizeof(none)), "the child disconnects");
	must_be("the port is free", try_bind("0.0.0.0", port, false), 0);
	must(!listen(child, 1), "the child listens");
	own = port_of(child);
	must_be("its port is taken", try_bind("0.0.0.0", own, true), EADDRINUSE);
	must_be("at each address", try_bind("127.0.0.9", own, true), EADDRINUSE);
	must(!shutdown(child, SHUT_RD) && !bound_to(child, "0.0.0.0", port) && !listen(child, 1),
	     "it listens elsewhere");
	sock_set(other, SOL_SOCKET, SO_REUSEADDR, 1);
	must_be("that is taken", bound_to(other, "0.0.0.0", port), EADDRINUSE);
	must(!shutdown(child, SHUT_RD), "shutdown()");
	must_be("another has it", bound_to(other, "0.0.0.0", port), 0);
	must(!listen(other, 1), "and listens");
	must(listen(child, 1) && errno == EADDRINUSE, "the child does not");
	close(other);
	must(!listen(child, 1), "the child again");
	close(child);
	must_be("free", try_bind("0.0.0.0", port, false), 0);
	l = old;
	port = was;
	result("a child that listens");
}

static void set_range(unsigned int ports)
{
	file_put("/proc/sys/net/ipv4/ip_local_port_range", "%d %d", LOW, LOW + ports - 1);
}

/* Connect @n times; @got: how many each of the listeners @fd, -1 = closed, accepted */
static void connect_to_group(const int *fd, unsigned int *got, int n)
{
	struct pollfd p[GROUP];
	union addr a;
	int k, one;

	memset(got, 0, GROUP * sizeof(*got));
	for (k = 0; k < GROUP; k++)
		p[k] = (struct pollfd){ .fd = fd[k], .events = POLLIN };
	addr_parse(&a, "127.0.0.1", LOW + 6);
	while (n-- && all_held) {
		one = sock();
		must_be("connect", connect(one, &a.sa, addr_len(&a)) ? errno : 0, 0);
		must_be("one listener has it", poll(p, GROUP, 60000), 1);
		for (k = 0; k < GROUP; k++)
			if (p[k].revents) {
				close(accept(fd[k], NULL, NULL));
				got[k]++;
			}
		close(one);
	}
}

static void bind_to_lo(int fd)
{
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3))
		die("SO_BINDTODEVICE:");
}

static int try_reuseport(const char *ip, int uid)
{
	int fd, err;

	setfsuid(uid);
	fd = sock_reuseport(AF_INET);
	err = bound_to(fd, ip, LOW + 6);
	setfsuid(0);
	close(fd);
	return err;
}

/* Sockets with SO_REUSEPORT share a port with each other, and with no others. */
static void test_reuseport(void)
{
	int fd[2], other = sock(), k;

	for (k = 0; k < 2; k++)
		fd[k] = listen_at(AF_INET, "127.0.0.1");
	must_be("one more", try_reuseport("127.0.0.1", 0), 0);
	must_be("at all addresses", try_reuseport("0.0.0.0", 0), 0);
	must_be("of another user", try_reuseport("127.0.0.1", 1), EADDRINUSE);
	must_be("at all, of another user", try_reuseport("0.0.0.0", 1), EADDRINUSE);
	must_be("without the option", try_bind("127.0.0.1", LOW + 6, true), EADDRINUSE);
	must_be("elsewhere without it", bound_to(other, "127.0.0.2", LOW + 6), 0);
	for (k = 0; k < 2; k++) {
		must_be("there with it", try_reuseport("127.0.0.2", 0), EADDRINUSE);
		must_be("then at all addresses", try_reuseport("0.0.0.0", 0), EADDRINUSE);
		must_be("elsewhere of another user", try_reuseport("127.0.0.3", 1), 0);
		must_be("then one more", try_reuseport("127.0.0.1", 0), 0);
	}
	close(fd[0]);
	close(fd[1]);
	close(other);
	must_be("then of another user", try_reuseport("127.0.0.1", 1), 0);
	result("SO_REUSEPORT");
}

/* Sockets with SO_REUSEPORT share connections, as long as they listen. */
static void test_group(void)
{
	unsigned int got[GROUP];
	int fd[GROUP], k;

	/* The port that a connection comes from decides, with TCP. */
	set_range(MANY);
	for (k = 0; k < GROUP; k++)
		fd[k] = listen_at(AF_INET, "0.0.0.0");
	connect_to_group(fd, got, 30 * GROUP);
	for (k = 0; k < GROUP; k++)
		must(got[k], "each has some");
	for (k = 0; k < GROUP; k += 2) {
		close(fd[k]);
		fd[k] = -1;
	}
	connect_to_group(fd, got, 15 * GROUP);
	for (k = 1; k < GROUP; k += 2)
		must(got[k], "each that is left");
	fd[0] = listen_at(AF_INET, "0.0.0.0");
	connect_to_group(fd, got, 15 * GROUP);
	must(got[0], "a new one");
	/* TCP looks at the device of the first one only. */
	if (proto == PROTO_SSTP) {
		bind_to_lo(fd[0]);
		bind_to_lo(fd[1]);
		connect_to_group(fd, got, GROUP);
		must(got[0] && got[1], "those on the device");
		must_be("none of the others", got[0] + got[1], GROUP);
		close(fd[0]);
		close(fd[1]);
		fd[0] = -1;
		fd[1] = -1;
		connect_to_group(fd, got, 15 * GROUP);
		must(got[3], "the others then");
	}
	for (k = 0; k < GROUP; k++)
		if (fd[k] >= 0)
			close(fd[k]);
	must_reach("127.0.0.1", -1);
	set_range(PORTS);
	result("a group of listeners");
}

static void set_reserved(const char *ports)
{
	file_put("/proc/sys/net/ipv4/ip_local_reserved_ports", "%s\n", ports);
}

/* Sockets without a port get all ports except those in @reserved, and then none is left. */
static void must_leave(unsigned int reserved, bool connects)
{
	int fd[PORTS + 1], peer[PORTS + 1], err = 0;
	unsigned int n = 0, seen = 0;

	while (!err && n <= PORTS) {
		fd[n] = sock();
		err = connects ? connect_to(fd[n], "127.0.0.1", &peer[n]) :
				 bound_to(fd[n], "127.0.0.8", 0);
		if (!err)
			seen |= 1U << (port_of(fd[n]) - LOW);
		n++;
	}
	must_be("ports found", seen, ((1U << PORTS) - 1) & ~reserved);
	must_be("none is left", err, connects ? EADDRNOTAVAIL : EADDRINUSE);
	close(fd[--n]);
	while (n--) {
		close(fd[n]);
		if (connects)
			close(peer[n]);
	}
}

/* Reserved ports are only given to sockets that name them. */
static void test_reserved(void)
{
	const unsigned int reserved = 0x399;	/* 0, 3, 4, 7 to 9 */
	int fd = sock(), peer, k;
	char list[40];

	snprintf(list, sizeof(list), "%d,%d-%d,%d-%d", LOW, LOW + 3, LOW + 4, LOW + 7, LOW + 9);
	set_reserved(list);
	must_leave(reserved, true);
	must_leave(reserved, false);
	for (k = 0; k < PORTS; k++)
		must_be("bind() to each", try_bind("127.0.0.8", LOW + k, false), 0);
	must_be("bind() to a reserved one", bound_to(fd, "127.0.0.8", LOW + 3), 0);
	must_be("connects", connect_to(fd, "127.0.0.1", &peer), 0);
	must_be("from there", port_of(fd), LOW + 3);
	close(fd);
	close(peer);
	set_reserved("");
	must_leave(0, true);
	must_leave(0, false);
	result("ports that are reserved");
}

static int sock_of_range(uint16_t low, uint16_t high)
{
	int fd = sock();

	sock_set(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, (uint32_t)high << 16 | low);
	return fd;
}

/* Sockets with IP_LOCAL_PORT_RANGE get the ports @first to @last, and then none is left. */
static void must_get(uint16_t low, uint16_t high, int first, int last, bool connects)
{
	int fd[PORTS + 1], peer[PORTS + 1], n = 0, err = 0, k;
	unsigned int seen = 0;

	while (!err && n <= PORTS) {
		fd[n] = sock_of_range(low, high);
		err = connects ? connect_to(fd[n], "127.0.0.1", &peer[n]) :
				 bound_to(fd[n], "127.0.0.8", 0);
		if (!err)
			seen |= 1U << (port_of(fd[n]) - LOW);
		n++;
	}
	must_be("ports found", seen, (2U << last) - (1U << first));
	must_be("none is left", err, connects ? EADDRNOTAVAIL : EADDRINUSE);
	for (k = 0; k < n; k++) {
		close(fd[k]);
		if (connects && k < n - 1)
			close(peer[k]);
	}
}

/* A socket's own range narrows that of the namespace. */
static void test_own_range(void)
{
	int fd = proto_socket(PROTO_TCP, AF_INET, SOCK_STREAM, 0), k;
	bool has = sock_int(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE) != -ENOPROTOOPT;

	close(fd);
	if (proto == PROTO_TCP && !has) {
		ktap_skip("since Linux 6.3", "tcp: IP_LOCAL_PORT_RANGE");
		return;
	}
	for (k = 0; k < 2; k++) {
		must_get(LOW + 3, LOW + 6, 3, 6, k);
		must_get(LOW + 7, LOW + 7, 7, 7, k);
		must_get(LOW + 8, 0, 8, PORTS - 1, k);
		must_get(0, LOW + 1, 0, 1, k);
		/* Ends that are not in the namespace's range */
		must_get(LOW - 5, LOW + 1, 0, 1, k);
		must_get(LOW + 8, LOW + 20, 8, PORTS - 1, k);
		must_get(LOW - 8, LOW - 5, 0, PORTS - 1, k);
	}
	fd = sock_of_range(LOW + 3, LOW + 6);
	must_be("bind() to another port", bound_to(fd, "127.0.0.8", LOW + 9), 0);
	close(fd);
	fd = sock_of_range(LOW + 3, LOW + 3);
	must_be("listen() without a port", listen(fd, 1), 0);
	must_be("listens at", port_of(fd), LOW + 3);
	close(fd);
	/* They keep nobody from the ports. */
	must_leave(0, true);
	must_leave(0, false);
	result("IP_LOCAL_PORT_RANGE");
}

/* Each byte that goes in at one end comes out of the other. */
static void must_carry(int fd, int peer, uint8_t byte)
{
	uint8_t got = ~byte;

	must_be("sent", send(fd, &byte, 1, MSG_NOSIGNAL), 1);
	must_be("received", recv(peer, &got, 1, 0), 1);
	must_be("the byte", got, byte);
}

/* Searches succeed although most ports are in use. */
static void test_many(void)
{
	static const char * const to[] = { "127.0.0.10", "127.0.0.11" };
	static int fd[ARRAY_SIZE(to)][MANY], peer[ARRAY_SIZE(to)][MANY];
	static bool seen[ARRAY_SIZE(to)][MANY];
	unsigned int i, k;
	int one;

	set_range(MANY);
	memset(seen, 0, sizeof(seen));
	for (k = 0; k < MANY && all_held; k++)
		for (i = 0; i < ARRAY_SIZE(to); i++) {
			fd[i][k] = sock();
			must_be("one more", connect_to(fd[i][k], to[i], &peer[i][k]), 0);
			seen[i][port_of(fd[i][k]) - LOW] = true;
		}
	if (!all_held)
		die("not so many connections");
	for (i = 0; i < ARRAY_SIZE(to); i++) {
		for (k = 0; k < MANY; k++) {
			must(seen[i][k], "all ports");
			must_carry(fd[i][k], peer[i][k], i + k);
		}
		one = sock();
		must_be("none is left", connect_to(one, to[i], NULL), EADDRNOTAVAIL);
		close(one);
	}
	/* Some ports become free while all others are in use, wherever they are. */
	for (i = 0; i < ARRAY_SIZE(to); i++)
		for (k = 0; k < MANY; k += MANY / 10 + 1) {
			uint16_t was = port_of(fd[i][k]);

			close(fd[i][k]);
			close(peer[i][k]);
			fd[i][k] = sock();
			must_be("again", connect_to(fd[i][k], to[i], &peer[i][k]), 0);
			must_be("its port", port_of(fd[i][k]), was);
		}
	for (i = 0; i < ARRAY_SIZE(to); i++)
		for (k = 0; k < MANY; k++) {
			close(fd[i][k]);
			close(peer[i][k]);
		}
	for (k = 0; k < MANY; k++)
		must_be("free", try_bind("0.0.0.0", LOW + k, false), 0);
	/* bind() can use all ports, too. */
	for (k = 0; k < MANY; k++) {
		fd[0][k] = sock();
		must_be("bind", bound_to(fd[0][k], "127.0.0.10", 0), 0);
	}
	one = sock();
	must_be("none is left", bound_to(one, "127.0.0.10", 0), EADDRINUSE);
	close(one);
	for (k = 0; k < MANY; k++)
		close(fd[0][k]);
	set_range(PORTS);
	result("many connections use all ports");
}

static bool none_left(void *arg)
{
	/* Each CPU keeps up to 1 MB for itself before it tells the others. */
	long reserve = sysconf(_SC_NPROCESSORS_CONF) * (1 << 20) / getpagesize();

	(void)arg;
	return sstp_sockets() == 1 && labs(sstp_pages()) <= reserve;
}

int main(void)
{
	const struct rlimit files = { 5 * MANY, 5 * MANY };
	union addr a;

	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit:");
	ktap_plan(2 * 15 + 1);
	new_namespace();
	set_range(PORTS);
	for (proto = PROTO_TCP; proto <= PROTO_SSTP; proto++) {
		l = sock();
		port = 9000;
		addr_any(&a, AF_INET, port);
		if (bind(l, &a.sa, addr_len(&a)) || listen(l, SPREAD))
			die("listener:");
		test_spread();
		test_halves();
		test_destinations();
		test_bound();
		test_no_port();
		test_children();
		test_addresses();
		test_listeners();
		test_again();
		test_child_listens();
		test_reuseport();
		test_group();
		test_reserved();
		test_own_range();
		test_many();
	}
	ktap_result(busywait(60000, none_left, NULL), "no socket and no memory is left");
	return ktap_end();
}
