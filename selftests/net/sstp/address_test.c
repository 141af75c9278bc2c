// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * Where a connection may go, and what a host says of it: link-local addresses,
 * devices, hosts without SSTP; and what a namespace's sysctls choose for it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

#define LEN	200000

/* The link-local address of a host's device */
static void link_local(int host, const char *dev, union addr *a)
{
	struct ifaddrs *list, *i;

	path_enter(host);
	if (getifaddrs(&list))
		die("getifaddrs:");
	memset(a, 0, sizeof(*a));
	for (i = list; i; i = i->ifa_next) {
		const struct sockaddr_in6 *v6 = (void *)i->ifa_addr;

		if (v6 && v6->sin6_family == AF_INET6 &&
		    !strcmp(i->ifa_name, dev) &&
		    IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
			a->v6 = *v6;
	}
	freeifaddrs(list);
	if (a->sa.sa_family != AF_INET6)
		die("%s has no link-local address", dev);
}

static unsigned int device(int host, const char *dev)
{
	path_enter(host);
	return if_nametoindex(dev);
}

/* A listener at B; @a gets its port. */
static int listener(union addr *a)
{
	int l = path_socket(B, SOCK_STREAM);

	if (bind(l, &a->sa, addr_len(a)) || listen(l, 4) ||
	    getsockname(l, &a->sa, &(socklen_t){ sizeof(*a) }))
		die("listener:");
	return l;
}

static void transfer(int fd, int peer)
{
	static char buf[LEN], in[LEN];
	uint64_t seed = nonce();
	size_t got = 0;
	ssize_t n;

	content_fill(buf, LEN, seed, 0);
	must(send(fd, buf, LEN, 0) == LEN, "all is sent");
	while (got < LEN && path_poll(peer, POLLIN, 20000)) {
		n = recv(peer, in + got, LEN - got, 0);
		if (n <= 0)
			break;
		got += n;
	}
	must(got == LEN && content_check(in, LEN, seed, 0) == LEN,
	     "all arrives");
}

static int take(int l)
{
	int fd;

	path_poll(l, POLLIN, 20000);
	fd = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	must(fd >= 0, "the listener has it");
	return fd;
}

static void test_link_local(void)
{
	unsigned int at_r = device(R, "to-b"), at_b = device(B, "to-r");
	union addr to, own, name;
	int l, fd, peer, other;

	/* A link-local address is reached through the only device where its scope is valid. */
	addr_any(&to, AF_INET6, 0);
	l = listener(&to);
	link_local(B, "to-r", &own);
	own.v6.sin6_port = to.v6.sin6_port;
	to = own;
	to.v6.sin6_scope_id = 0;
	fd = path_socket(R, SOCK_STREAM);
	must(path_try(fd, &to) == EINVAL, "without a scope it is none");
	to.v6.sin6_scope_id = at_r;
	must(!path_try(fd, &to), "with one it connects");
	peer = take(l);
	transfer(fd, peer);
	transfer(peer, fd);
	must(!getpeername(fd, &name.sa, &(socklen_t){ sizeof(name) }) &&
	     name.v6.sin6_scope_id == at_r, "the peer's name has the scope");
	must(!getpeername(peer, &name.sa, &(socklen_t){ sizeof(name) }) &&
	     name.v6.sin6_scope_id == at_b, "and so for the other end");
	close(fd);
	close(peer);
	close(l);

	/* Bound to one */
	l = path_socket(B, SOCK_STREAM);
	own.v6.sin6_port = 0;
	own.v6.sin6_scope_id = 0;
	must(bind(l, &own.sa, sizeof(own.v6)) && errno == EINVAL,
	     "bind() needs a scope");
	own.v6.sin6_scope_id = 12345;
	must(bind(l, &own.sa, sizeof(own.v6)) && errno == ENODEV,
	     "of a device that is there");
	own.v6.sin6_scope_id = at_b;
	must(!bind(l, &own.sa, sizeof(own.v6)) && !listen(l, 1) &&
	     !getsockname(l, &to.sa, &(socklen_t){ sizeof(to) }),
	     "bind() and listen()");
	to.v6.sin6_scope_id = at_r;
	link_local(R, "to-b", &own);
	fd = path_socket(R, SOCK_STREAM);
	must(!bind(fd, &own.sa, sizeof(own.v6)), "both bind");
	other = path_socket(R, SOCK_STREAM);
	must(!bind(other, &own.sa, sizeof(own.v6)), "a third binds");
	must(!path_try(fd, &to), "and connect");
	peer = take(l);
	transfer(fd, peer);
	to.v6.sin6_scope_id = device(R, "to-a");
	must(path_try(other, &to) == EINVAL, "another scope than bound to");
	close(fd);
	close(peer);
	close(other);
	close(l);
	ktap_held("link-local addresses");
}

static void test_nowhere(void)
{
	static const char * const hosts[] = {
		"255.255.255.255", "10.0.1.255", "224.0.0.1", "ff02::1",
	};
	unsigned int i;
	union addr to;

	for (i = 0; i < ARRAY_SIZE(hosts); i++) {
		int fd = path_socket(A, SOCK_STREAM);

		addr_parse(&to, hosts[i], 7);
		must(path_try(fd, &to) == ENETUNREACH, hosts[i]);
		close(fd);
	}
	ktap_held("no connection to a group or to all");
}

/* The router has no SSTP: its ICMP says so. */
static void test_refused(void)
{
	static const char * const hosts[] = { "10.0.1.2", "fd00:10:0:1::2" };
	unsigned int i;
	union addr to;

	for (i = 0; i < ARRAY_SIZE(hosts); i++) {
		int fd = path_socket(A, SOCK_STREAM);
		uint64_t start = now_ns();

		addr_parse(&to, hosts[i], 7);
		must(path_try(fd, &to) == ECONNREFUSED, hosts[i]);
		must(now_ns() - start < 5000000000, "soon");
		close(fd);
	}
	ktap_held("a host without SSTP refuses by ICMP");
}

static void test_families(void)
{
	union addr v4, v6;
	int fd = path_socket(A, SOCK_STREAM);

	addr_parse(&v4, "::ffff:10.0.1.1", 0);
	addr_parse(&v6, "fd00:10:0:2::2", 7);
	must(!bind(fd, &v4.sa, sizeof(v4.v6)), "bind to a mapped address");
	must(path_try(fd, &v6) == EAFNOSUPPORT, "from IPv4 to IPv6");
	close(fd);
	fd = path_socket(A, SOCK_STREAM);
	addr_parse(&v6, "fd00:10:0:1::1", 0);
	addr_parse(&v4, "::ffff:10.0.2.2", 7);
	must(!bind(fd, &v6.sa, sizeof(v6.v6)), "bind to IPv6");
	must(path_try(fd, &v4) == ENETUNREACH, "from IPv6 to IPv4");
	close(fd);
	ktap_held("both ends are of one family");
}

/* The port is not looked at: as with TCP it shows after connect(AF_UNSPEC). */
static void must_be_at(const char *what, int fd, const char *want)
{
	union addr a;

	if (getsockname(fd, &a.sa, &(socklen_t){ sizeof(a) }))
		die("getsockname:");
	addr_set_port(&a, 0);
	if (strcmp(addr_text(&a), want)) {
		ktap_diag("at %s, not %s", addr_text(&a), want);
		must(false, what);
	}
}

/* A call that failed leaves neither an address nor a family behind. */
static void test_failed(void)
{
	union addr at, to, none = { .sa.sa_family = AF_UNSPEC };
	int l, fd, peer;

	addr_any(&at, AF_INET, 0);
	l = listener(&at);
	fd = path_socket(A, SOCK_STREAM);
	addr_parse(&to, "10.0.2.2", 0);
	must(path_try(fd, &to) == ECONNREFUSED, "connect() to no port");
	must_be("its domain", sock_int(fd, SOL_SOCKET, SO_DOMAIN), AF_SSTP);
	must_be_at("after connect()", fd, "0.0.0.0:0");
	addr_parse(&to, "10.0.2.2", 7);
	must(bind(fd, &to.sa, addr_len(&to)) && errno == EADDRNOTAVAIL,
	     "bind() to what is another's");
	must_be("its domain", sock_int(fd, SOL_SOCKET, SO_DOMAIN), AF_SSTP);
	must_be_at("after bind()", fd, "0.0.0.0:0");

	/* An address without a port, then a port that another has: it has neither. */
	peer = path_socket(A, SOCK_STREAM);
	addr_parse(&to, "10.0.1.1", 7000);
	must(!bind(peer, &to.sa, addr_len(&to)), "another binds");
	sock_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	addr_set_port(&to, 0);
	must(!bind(fd, &to.sa, addr_len(&to)), "bind() without a port");
	must_be_at("with an address", fd, "10.0.1.1:0");
	addr_set_port(&to, 7000);
	must(bind(fd, &to.sa, addr_len(&to)) && errno == EADDRINUSE,
	     "bind() to the other's port");
	close(peer);
	must_be_at("after the second bind()", fd, "0.0.0.0:0");
	addr_parse(&to, "10.0.2.2", addr_port(&at));
	must(!path_try(fd, &to), "connect");
	peer = take(l);
	must(!connect(fd, &none.sa, sizeof(none.sa)), "disconnect");
	must_be_at("after all of that", fd, "0.0.0.0:0");
	must_be("its domain", sock_int(fd, SOL_SOCKET, SO_DOMAIN), AF_SSTP);
	close(peer);
	close(l);

	/* So it may go over IPv6. */
	addr_any(&at, AF_INET6, 0);
	l = listener(&at);
	addr_parse(&to, "fd00:10:0:2::2", addr_port(&at));
	must(!path_try(fd, &to), "over IPv6");
	close(fd);
	close(take(l));
	close(l);
	ktap_held("calls that failed leave no address behind");
}

/* Of two listeners on one port the one bound to the device gets connections through it. */
static void test_device(void)
{
	int on_device = path_socket(B, SOCK_STREAM), on_lo, fd, peer;
	union addr a, to;

	addr_any(&a, AF_INET, 0);
	if (setsockopt(on_device, SOL_SOCKET, SO_BINDTODEVICE, "to-r", 5) ||
	    bind(on_device, &a.sa, addr_len(&a)) || listen(on_device, 1) ||
	    getsockname(on_device, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listener:");
	on_lo = path_socket(B, SOCK_STREAM);
	if (setsockopt(on_lo, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) ||
	    bind(on_lo, &a.sa, addr_len(&a)) || listen(on_lo, 1))
		die("listener:");
	addr_parse(&to, "10.0.2.2", addr_port(&a));
	fd = path_socket(A, SOCK_STREAM);
	must(!path_try(fd, &to), "from elsewhere");
	peer = take(on_device);
	transfer(fd, peer);
	close(fd);
	close(peer);
	/* As with TCP, packets through lo count as packets of the device. */
	fd = path_socket(B, SOCK_STREAM);
	must(!path_try(fd, &to), "from here to the address of the device");
	peer = take(on_device);
	transfer(fd, peer);
	close(fd);
	close(peer);
	addr_parse(&to, "127.0.0.1", addr_port(&a));
	fd = path_socket(B, SOCK_STREAM);
	must(!path_try(fd, &to), "from here to that of lo");
	peer = take(on_lo);
	transfer(fd, peer);
	close(fd);
	close(peer);
	close(on_lo);
	close(on_device);
	ktap_held("listeners on devices");
}

/* The value of sysctl @name, or the errno of setting it to @value */
static int sysctl(int host, const char *name, const char *value, char *is)
{
	char path[100];
	int fd, err = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/sys/net/sstp/%s", name);
	path_enter(host);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die("%s:", path);
	if (value && write(fd, value, strlen(value)) < 0)
		err = errno;
	n = pread(fd, is, SSTP_NAME_MAX, 0);
	is[n > 0 ? n - 1 : 0] = 0;
	close(fd);
	return err;
}

static void test_sysctl(void)
{
	struct sstp_rate_spec rate = { .peak = 200000000,
				       .average = 100000000,
				       .burst_rate = 1000000,
				       .burst_len = 8 };
	const uint64_t limit = 10000000;
	char is[SSTP_NAME_MAX + 1];
	struct sstp_info info;
	union addr a, to;
	int l, fd, peer;

	must(!sysctl(A, "controller", NULL, is) && !strcmp(is, "hybrid"),
	     "hybrid by default");
	must(sysctl(A, "controller", "nonsense", is) == ENOENT &&
	     !strcmp(is, "hybrid"), "no controller that is not there");
	must(!sysctl(A, "controller", "rate", is) && !strcmp(is, "rate"),
	     "another controller");
	must(sysctl(A, "buffer_policy", "nonsense", is) == ENOENT,
	     "no policy that is not there");
	must(!sysctl(A, "buffer_policy", "static", is) &&
	     !strcmp(is, "static"), "a policy");

	/* A contract, and a listener that allows less */
	l = path_socket(B, SOCK_STREAM);
	addr_any(&a, AF_INET, 0);
	if (setsockopt(l, SOL_SSTP, SSTP_RATE_LIMIT, &limit, sizeof(limit)) ||
	    bind(l, &a.sa, addr_len(&a)) || listen(l, 1) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listener:");
	addr_parse(&to, "10.0.2.2", addr_port(&a));
	fd = path_socket(A, SOCK_STREAM);
	if (setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("rate:");
	must(!path_try(fd, &to), "connect");
	peer = take(l);
	transfer(fd, peer);
	info = sock_info(fd);
	must(!strcmp(info.controller, "rate") &&
	     !strcmp(info.policy, "static"), "a connection has both");
	must(info.rate.peak == limit && info.rate.average <= limit,
	     "and no higher rate than its peer allows");
	close(fd);
	close(peer);
	close(l);
	must(!sysctl(A, "controller", "hybrid", is), "back to hybrid");
	ktap_held("controller, policy and rate of a namespace and a peer");
}

int main(void)
{
	path_make();
	all_held = true;
	ktap_plan(8);
	test_refused();
	test_nowhere();
	test_link_local();
	test_families();
	test_failed();
	test_device();
	test_sysctl();
	ktap_result(path_settle() && !path_sockets(R), "nothing is left");
	return ktap_end();
}
