// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: 6.1 6.12
 *
 * A host with two VRFs: red leads to A and blue to B, and in both it has the same
 * address, as A and B have the same one. SSTP does as TCP does, which is asked the same.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "peer.h"

enum { OURS, THEIRS };

static const char * const names[][2] = {
	{ "10.9.0.1", "10.9.0.2" }, { "fd00:9::1", "fd00:9::2" },
};

static enum proto proto;
static int family;
static bool loaded;		/* sstp-echo.ko */

static void address(union addr *a, int whose, uint16_t port)
{
	if (!addr_parse(a, names[family == AF_INET6][whose], port))
		die("address");
}

static int sock(int host, const char *dev)
{
	int fd;

	path_enter(host);
	fd = proto_socket(proto, family, SOCK_STREAM, SOCK_NONBLOCK);
	if (fd < 0)
		die("socket:");
	if (dev && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, dev, strlen(dev) + 1))
		die("%s:", dev);
	return fd;
}

/* A socket on any address of @host, bound to @dev; *@port: 0 for any, and then the port */
static int listener(int host, const char *dev, uint16_t *port)
{
	int l = sock(host, dev);
	union addr a;

	addr_any(&a, family, *port);
	if (bind(l, &a.sa, addr_len(&a)) || listen(l, 4) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listener on %s:", dev ?: "no device");
	*port = addr_port(&a);
	return l;
}

static void one_way(int from, int to)
{
	char c = 'x', in = 0;

	must(send(from, &c, 1, 0) == 1 && path_poll(to, POLLIN, 20000) & POLLIN &&
	     recv(to, &in, 1, 0) == 1 && in == c, "a byte arrives");
}

static void be_on(int fd, const char *dev, const char *what)
{
	char name[IFNAMSIZ] = "";

	must(!getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name,
			 &(socklen_t){ sizeof(name) }) && !strcmp(name, dev), what);
}

/* Listener @l accepts the connection of @fd; @dev: the child's device, or NULL */
static void served(int fd, int l, const char *dev)
{
	int peer = -1;

	if (path_poll(l, POLLIN, 20000) & POLLIN)
		peer = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	must(peer >= 0, "the listener has it");
	if (peer < 0)
		return;
	if (dev)
		be_on(peer, dev, "the child is bound as it should be");
	one_way(fd, peer);
	one_way(peer, fd);
	close(peer);
}

/* Connect from @host to the router's address: @l accepts it, or it fails with @err. */
static void reaches(int host, const char *dev, uint16_t port, int l, const char *child)
{
	int fd = sock(host, dev), err;
	union addr to;

	address(&to, OURS, port);
	err = path_try(fd, &to);
	must_be("connect()", err, 0);
	if (!err)
		served(fd, l, child);
	close(fd);
}

static void refused(int host, const char *dev, uint16_t port)
{
	int fd = sock(host, dev);
	union addr to;

	address(&to, OURS, port);
	must_be("connect() to who is not there", path_try(fd, &to), ECONNREFUSED);
	close(fd);
}

static void result(const char *what)
{
	char name[120];

	snprintf(name, sizeof(name), "%s, IPv%d: %s", proto_names[proto],
		 family == AF_INET ? 4 : 6, what);
	ktap_held(name);
}

/* No socket has the well-known port at A and B, or a TCP port, yet: ICMP reports it, or a RESET. */
static void test_refusal(void)
{
	union addr to;
	int fd;

	address(&to, THEIRS, 9);
	fd = sock(R, "red");
	must_be("in red", path_try(fd, &to), ECONNREFUSED);
	close(fd);
	fd = sock(R, "to-b");
	must_be("through the device of blue", path_try(fd, &to), ECONNREFUSED);
	close(fd);
	fd = sock(R, NULL);
	must(path_try(fd, &to) == (family == AF_INET ? ENETUNREACH : EADDRNOTAVAIL),
	     "no way without a VRF");
	close(fd);
	result("errors come back through the VRF");
}

static void test_listen(void)
{
	uint16_t port = 0, other = 0;
	int red = listener(R, "red", &port), blue, dev, plain;

	reaches(A, NULL, port, red, "red");
	refused(B, NULL, port);
	blue = listener(R, "blue", &port);
	plain = listener(R, NULL, &port);
	reaches(A, NULL, port, red, "red");
	reaches(B, NULL, port, blue, "blue");
	close(blue);
	refused(B, NULL, port);
	dev = listener(R, "to-a", &other);
	reaches(A, NULL, other, dev, "to-a");
	refused(B, NULL, other);
	close(dev);
	close(plain);
	/* From this host */
	reaches(R, "red", port, red, "red");
	reaches(R, "to-a", port, red, "red");
	refused(R, "blue", port);
	close(red);
	result("a listener in a VRF has what comes there, and no other");
}

/* A socket that gets its port outside of the VRF and then its device takes nobody's port there. */
static void test_later(void)
{
	uint16_t port = 0;
	int red = listener(R, "red", &port), later = sock(R, NULL), live;
	union addr a;

	addr_any(&a, family, port);
	must_be("bind() without a device", bind(later, &a.sa, addr_len(&a)), 0);
	must_be("SO_BINDTODEVICE", setsockopt(later, SOL_SOCKET, SO_BINDTODEVICE, "red", 4), 0);
	must(listen(later, 4) && errno == EADDRINUSE, "listen() finds the port taken");
	reaches(A, NULL, port, red, "red");
	close(later);
	/* TCP does not look at a socket that listens already. */
	if (proto == PROTO_SSTP) {
		live = listener(R, NULL, &port);
		must_be("SO_BINDTODEVICE of a listener",
			setsockopt(live, SOL_SOCKET, SO_BINDTODEVICE, "red", 4), 0);
		must_be("SO_ERROR", sock_int(live, SOL_SOCKET, SO_ERROR), EADDRINUSE);
		reaches(A, NULL, port, red, "red");
		close(red);
		refused(A, NULL, port);
		must_be("SO_BINDTODEVICE, once more",
			setsockopt(live, SOL_SOCKET, SO_BINDTODEVICE, "red", 4), 0);
		reaches(A, NULL, port, live, "red");
		red = live;
	}
	close(red);
	result("a device that is set after bind()");
}

static void test_unbound(void)
{
	uint16_t port = 0, other = 0;
	int red = listener(R, "red", &other), plain = listener(R, NULL, &port);

	refused(A, NULL, port);
	close(plain);
	/* VRFs share one space of ports from here on. */
	path_run(R, "sysctl -qw net.ipv4.tcp_l3mdev_accept=1");
	port = 0;
	plain = listener(R, NULL, &port);
	reaches(A, NULL, port, plain, "red");
	path_run(R, "sysctl -qw net.ipv4.udp_l3mdev_accept=1");
	reaches(A, NULL, port, plain, "red");
	reaches(B, NULL, port, plain, "blue");
	path_run(R, "sysctl -qw net.ipv4.tcp_l3mdev_accept=0 net.ipv4.udp_l3mdev_accept=0");
	close(plain);
	close(red);
	result("one in none as sysctls say");
}

/* Connect from the same address and port, to the same ones, in both VRFs at once. */
static void test_connect(void)
{
	const char * const devs[] = { "red", "blue" };
	int l[2], fd[2], i, err;
	uint16_t port = 0;
	union addr a;

	for (i = 0; i < 2; i++) {
		l[i] = listener(i ? B : A, NULL, &port);
		fd[i] = sock(R, devs[i]);
		address(&a, OURS, 4321);
		must(!bind(fd[i], &a.sa, addr_len(&a)), "bind() to an address of the VRF");
		address(&a, THEIRS, port);
		err = path_try(fd[i], &a);
		must_be("connect()", err, 0);
	}
	for (i = 0; i < 2; i++) {
		served(fd[i], l[i], "");
		be_on(fd[i], devs[i], "it stays in the VRF");
		close(l[i]);
	}
	close(fd[0]);
	close(fd[1]);
	fd[0] = sock(R, NULL);
	address(&a, OURS, 0);
	must(bind(fd[0], &a.sa, addr_len(&a)) && errno == EADDRNOTAVAIL,
	     "no address of a VRF without it");
	close(fd[0]);
	result("connections to equal addresses in two VRFs");
}

/* The address of @host's @dev that is only valid there, with @scope of another host */
static void link_local(union addr *a, int host, const char *dev, unsigned int scope,
		       uint16_t port)
{
	char line[100];
	FILE *f;

	path_enter(host);
	snprintf(line, sizeof(line),
		 "ip -6 -o addr show dev %s scope link | sed 's/.*inet6 //;s,/.*,,'", dev);
	f = popen(line, "r");
	if (!f || !fgets(line, sizeof(line), f))
		die("%s has no link-local address", dev);
	pclose(f);
	line[strcspn(line, "\n")] = 0;
	if (!addr_parse(a, line, port))
		die("link-local address %s", line);
	a->v6.sin6_scope_id = scope;
}

static unsigned int index_of(int host, const char *dev)
{
	path_enter(host);
	return if_nametoindex(dev);
}

static void test_link_local(void)
{
	uint16_t port = 0;
	int l, fd, err;
	union addr to;

	if (family == AF_INET)
		return;
	l = listener(R, "red", &port);
	fd = sock(A, NULL);
	link_local(&to, R, "to-a", index_of(A, "to-r"), port);
	err = path_try(fd, &to);
	must_be("connect() to the VRF", err, 0);
	if (!err)
		served(fd, l, proto == PROTO_TCP ? NULL : "red");
	close(fd);
	close(l);
	port = 0;
	l = listener(B, NULL, &port);
	link_local(&to, B, "to-r", index_of(R, "to-b"), port);
	fd = sock(R, "red");
	must_be("connect() through another VRF", path_try(fd, &to), EINVAL);
	close(fd);
	fd = sock(R, "blue");
	err = path_try(fd, &to);
	must_be("connect() from the VRF", err, 0);
	if (!err)
		served(fd, l, NULL);
	close(fd);
	close(l);
	result("link-local addresses of a VRF");
}

/* A packet of a connection in red comes from the same address and port in blue. */
static void test_forged(void)
{
	struct init_packet init = { .h.type = INIT }, ack = {};
	struct data_packet d = { .h.type = KEEPALIVE };
	union addr from, to;
	uint16_t port = 0;
	int l, a, b;
	long before;

	if (proto == PROTO_TCP)
		return;
	l = listener(R, "red", &port);
	init.cid = htonl(nonce() | 1);
	init.sport = htons(1234);
	init.dport = htons(port);
	init.window = htonl(16);
	init.limit = htonl(SSTP_SEGMENT_MAX);
	init.version = 1;
	init.sktype = SOCK_STREAM;
	address(&from, THEIRS, 5555);
	address(&to, OURS, SSTP_PORT);
	path_enter(A);
	a = socket(family, SOCK_DGRAM, 0);
	path_enter(B);
	b = socket(family, SOCK_DGRAM, 0);
	if (bind(a, &from.sa, addr_len(&from)) || connect(a, &to.sa, addr_len(&to)) ||
	    bind(b, &from.sa, addr_len(&from)) || connect(b, &to.sa, addr_len(&to)))
		die("UDP:");
	if (send(a, &init, sizeof(init), 0) != sizeof(init) || !path_poll(a, POLLIN, 20000) ||
	    recv(a, &ack, sizeof(ack), 0) <= 0 || ack.h.type != INIT_ACK)
		die("no INIT_ACK");
	d.h.cid = ack.cid;
	d.segment = init.segment;
	before = path_counter(R, "InWrongAddr");
	/* The data must not be answered, as a packet without a connection would be. */
	must(send(b, &d, sizeof(d), 0) == sizeof(d) && send(b, &init, sizeof(init), 0) > 0 &&
	     path_poll(b, POLLIN, 20000) && recv(b, &ack, sizeof(ack), 0) > 0 &&
	     ack.h.type == RESET, "in blue nobody listens");
	must_be("packets from elsewhere", path_counter(R, "InWrongAddr") - before, 1);
	close(a);
	close(b);
	close(l);
	result("a connection takes nothing from another VRF");
}

/* A connection from @host with the controller "echo-port"; returns its two ends. */
struct grouped {
	int fd, peer;
};

static struct grouped grouped(int host, int l, uint16_t port)
{
	struct grouped g = { .fd = sock(host, NULL), .peer = -1 };
	union addr to;

	if (setsockopt(g.fd, SOL_SSTP, SSTP_CONTROLLER, "echo-port", 9))
		die("SSTP_CONTROLLER:");
	address(&to, OURS, port);
	must_be("connect()", path_try(g.fd, &to), 0);
	if (path_poll(l, POLLIN, 20000) & POLLIN)
		g.peer = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	must(g.peer >= 0, "the listener has it");
	return g;
}

struct awaited {
	int fd;
	const char *state;
	int64_t least;
};

static bool reached(void *arg)
{
	const struct awaited *a = arg;

	return param_get(a->fd, SSTP_CONTROLLER_PARAM, a->state) >= a->least;
}

static int64_t group_rate(const struct grouped *g)
{
	return param_get(g->fd, SSTP_CONTROLLER_PARAM, "rate");
}

/* The group has ticked several times since now: a number comes back each 10 ms, as it does. */
static void ticks(const struct grouped *g)
{
	struct awaited a = { .fd = g->fd, .state = "echoes" };

	a.least = param_get(g->fd, SSTP_CONTROLLER_PARAM, a.state) + 20;
	must(busywait(20000, reached, &a), "messages come back");
}

/* Receiving halves that share their group by the port do so within a VRF. Its rate is 1 Mbit/s for
 * each member.
 */
static void test_group(void)
{
	struct grouped red[2], blue;
	uint16_t port = 0;
	struct awaited a;
	int l[2], i;

	if (proto == PROTO_TCP)
		return;
	if (!loaded) {
		ktap_skip("no module sstp-echo was built", "groups by port");
		return;
	}
	l[0] = listener(R, "red", &port);
	l[1] = listener(R, "blue", &port);
	red[0] = grouped(A, l[0], port);
	blue = grouped(B, l[1], port);
	ticks(&red[0]);
	ticks(&blue);
	must_be("rate in red", group_rate(&red[0]), 1000000);
	must_be("rate in blue", group_rate(&blue), 1000000);
	red[1] = grouped(A, l[0], port);
	a = (struct awaited){ red[0].fd, "rate", 2000000 };
	must(busywait(20000, reached, &a), "two in red share a group");
	ticks(&blue);
	must_be("rate in blue then", group_rate(&blue), 1000000);
	for (i = 0; i < 2; i++) {
		close(red[i].fd);
		close(red[i].peer);
		close(l[i]);
	}
	close(blue.fd);
	close(blue.peer);
	result("groups by port are of one VRF");
}

/* Number of UDP sockets in this namespace: lines without the heading */
static long udp_sockets(void)
{
	char line[512];
	long n = -2;
	int i;

	for (i = 0; i < 2; i++) {
		FILE *f = fopen(i ? "/proc/net/udp6" : "/proc/net/udp", "r");

		if (!f)
			die("/proc/net/udp:");
		while (fgets(line, sizeof(line), f))
			n++;
		fclose(f);
	}
	return n;
}

static void test_gone(void)
{
	uint16_t port = 0;
	long before;
	int l;

	proto = PROTO_SSTP;
	family = AF_INET;
	path_enter(R);
	before = udp_sockets();
	path_run(R, "ip link add green type vrf table 30 && ip link set green up");
	l = listener(R, "green", &port);
	must(udp_sockets() > before, "a VRF has UDP sockets of its own");
	path_run(R, "ip link del green");
	must_be("UDP sockets that are left of it", udp_sockets() - before, 0);
	close(l);
	path_run(R, "ip link del blue && ip link add blue type vrf table 20 && "
		 "ip link set blue up && ip link set to-b master blue");
	port = 0;
	l = listener(R, "blue", &port);
	reaches(B, NULL, port, l, "blue");
	close(l);
	result("a VRF goes with its UDP sockets, and comes again");
}

static void make_vrf(const char *name, int table, const char *dev, int host)
{
	path_run(R, "ip link add %s type vrf table %d && ip link set %s up", name, table, name);
	path_run(R, "ip link set %s master %s", dev, name);
	path_run(R, "ip addr add 10.9.0.1/24 dev %s && "
		 "ip addr add fd00:9::1/64 nodad dev %s", dev, dev);
	path_run(host, "ip addr add 10.9.0.2/24 dev to-r && "
		 "ip addr add fd00:9::2/64 nodad dev to-r");
}

/* By both protocols, over IPv4 and IPv6 */
static void for_all(void (*test)(void))
{
	for (proto = PROTO_TCP; proto <= PROTO_SSTP; proto++)
		for (family = AF_INET; family; family = family == AF_INET ? AF_INET6 : 0)
			test();
}

int main(void)
{
	all_held = true;
	ktap_plan(29);
	path_make();
	path_enter(R);
	if (system("ip link add probe type vrf table 99 2>/dev/null")) {
		ktap_skip("the kernel has no VRF", "VRF");
		return KSFT_SKIP;
	}
	path_run(R, "ip link del probe");
	make_vrf("red", 10, "to-a", A);
	make_vrf("blue", 20, "to-b", B);
	for_all(test_refusal);
	for_all(test_listen);
	for_all(test_later);
	for_all(test_unbound);
	for_all(test_connect);
	for_all(test_link_local);
	for_all(test_forged);
	loaded = !echo_load();
	for_all(test_group);
	test_gone();
	ktap_result(path_settle(), "nothing is left");
	ktap_result(busywait(20000, echo_unloaded, NULL), "the controllers unload");
	return ktap_end();
}
