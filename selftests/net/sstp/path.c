// SPDX-License-Identifier: GPL-2.0
/* Two hosts and a router between them, for tests in C. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

static int ns[3];

static const char *b_addr(int family)
{
	return family == AF_INET ? "10.0.2.2" : "fd00:10:0:2::2";
}

void path_enter(int host)
{
	if (setns(ns[host], CLONE_NEWNET))
		die("setns:");
}

static void run(const char *command)
{
	int status = system(command);

	if (status)
		die("status %#x of: %s", status, command);
}

void path_run(int host, const char *fmt, ...)
{
	char command[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	path_enter(host);
	run(command);
}

/* A device in R, named @to, that leads to a host */
static void connect_host(int host, const char *to, const char *net4,
			 const char *net6, int router, int end)
{
	path_run(R, "ip link add %s type veth peer name to-r netns /proc/self/fd/%d",
		 to, ns[host]);
	path_run(R, "ip addr add %s.%d/24 dev %s", net4, router, to);
	path_run(R, "ip addr add %s::%d/64 nodad dev %s", net6, router, to);
	path_run(host, "ip addr add %s.%d/24 dev to-r", net4, end);
	path_run(host, "ip addr add %s::%d/64 nodad dev to-r", net6, end);
	path_run(R, "ip link set %s up", to);
	path_run(host, "ip link set to-r up");
	path_run(host, "ip link set lo up");
	path_run(R, "ethtool -K %s tso off gso off gro off tx-udp-segmentation off",
		 to);
	path_run(host, "ethtool -K to-r tso off gso off gro off tx-udp-segmentation off");
	path_run(host, "ip route add default via %s.%d", net4, router);
	path_run(host, "ip route add default via %s::%d", net6, router);
}

/* Does B answer a packet to a port without a listener? */
static bool reachable(void *arg)
{
	const union addr *to = arg;
	int fd = socket(to->sa.sa_family, SOCK_DGRAM, 0);
	bool refused;

	if (fd < 0 || connect(fd, &to->sa, addr_len(to)))
		die("UDP:");
	send(fd, "", 1, 0);
	path_poll(fd, POLLIN, 50);
	refused = recv(fd, (char[1]){}, 1, MSG_DONTWAIT) < 0 &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

void path_make(void)
{
	union addr to;
	int i;

	for (i = A; i <= B; i++) {
		if (unshare(CLONE_NEWNET))
			die("unshare:");
		if (ns[i])
			close(ns[i]);
		/* Commands inherit it. */
		ns[i] = open("/proc/self/ns/net", O_RDONLY);
		if (ns[i] < 0)
			die("namespace:");
	}
	connect_host(A, "to-a", "10.0.1", "fd00:10:0:1", 2, 1);
	connect_host(B, "to-b", "10.0.2", "fd00:10:0:2", 1, 2);
	path_enter(R);
	file_put("/proc/sys/net/ipv4/ip_forward", "1");
	file_put("/proc/sys/net/ipv6/conf/all/forwarding", "1");
	/* New links and neighbours take a while to come up. */
	path_enter(A);
	for (i = 4; i <= 6; i += 2)
		if (!addr_parse(&to, b_addr(i == 4 ? AF_INET : AF_INET6), 9) ||
		    !busywait(20000, reachable, &to))
			die("no path over IPv%d", i);
}

void path_impair(int to, const char *netem)
{
	const char *dev = to == A ? "to-a" : "to-b";

	path_run(R, "tc qdisc %s dev %s root %s %s 2>/dev/null || test -z '%s'",
		 netem ? "replace" : "del", dev, netem ? "netem" : "",
		 netem ?: "", netem ?: "");
}

long path_dropped(void)
{
	long sum = 0, n;
	char line[256];
	FILE *f;

	path_enter(R);
	f = popen("tc -s qdisc show", "r");
	if (!f)
		die("tc:");
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "(dropped ");

		if (at && sscanf(at, "(dropped %ld", &n) == 1)
			sum += n;
	}
	if (pclose(f))
		die("tc failed");
	return sum;
}

long path_counter(int host, const char *name)
{
	path_enter(host);
	return sstp_counter(name);
}

long path_sockets(int host)
{
	path_enter(host);
	return sstp_sockets();
}

static bool no_sockets(void *arg)
{
	(void)arg;
	return !path_sockets(A) && !path_sockets(B);
}

/* A socket that lost the peer's CLOSE stays for eight time-outs, which are long if the first
 * packets were lost and no round-trip time was measured since.
 */
bool path_settle(void)
{
	int host;

	if (busywait(60000, no_sockets, NULL))
		return true;
	for (host = A; host <= B; host += B - A) {
		path_enter(host);
		sstp_show_sockets();
	}
	return false;
}

int path_socket(int host, int type)
{
	int fd;

	path_enter(host);
	fd = socket(AF_SSTP, type | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("socket(AF_SSTP):");
	return fd;
}

short path_poll(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (poll(&p, 1, ms) < 0)
		die("poll:");
	return p.revents;
}

int path_try(int fd, const union addr *to)
{
	if (!connect(fd, &to->sa, addr_len(to)))
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	path_poll(fd, POLLOUT, 20000);
	return sock_int(fd, SOL_SOCKET, SO_ERROR);
}

int path_connect(int fd, int listener, int family)
{
	socklen_t len = sizeof(union addr);
	union addr a;
	int peer;

	addr_any(&a, family, 0);
	if (bind(listener, &a.sa, addr_len(&a)) || listen(listener, 1) ||
	    getsockname(listener, &a.sa, &len) ||
	    !addr_parse(&a, b_addr(family), addr_port(&a)))
		die("listener:");
	if (connect(fd, &a.sa, addr_len(&a)) && errno != EINPROGRESS)
		die("connect:");
	path_poll(listener, POLLIN, 10000);
	peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (peer < 0)
		die("accept:");
	if (path_poll(fd, POLLOUT, 10000) != POLLOUT)
		die("connection not made: %s",
		    strerror(sock_int(fd, SOL_SOCKET, SO_ERROR)));
	close(listener);
	return peer;
}
