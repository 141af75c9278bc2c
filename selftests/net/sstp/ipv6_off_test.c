// SPDX-License-Identifier: GPL-2.0
/*
 * append: ipv6.disable=1
 * kernels: uml debug
 *
 * A kernel that was told to have no IPv6: the module loads, IPv4 is carried, and IPv6 is
 * refused as TCP's sockets refuse it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

#define BYTES		(1 << 20)
#define PORT		5000
#define WARNING		4		/* of the kernel log, and less is worse */

static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };

/* Lines that the kernel logs about each module that is not of its own tree are. */
static bool harmless(const char *line)
{
	return strstr(line, "taints kernel") || strstr(line, "tainting kernel");
}

static void test_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	char line[8192];
	ssize_t n;

	if (fd < 0)
		die("/dev/kmsg:");
	while ((n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		if ((atoi(line) & 7) <= WARNING && strstr(line, "sstp") && !harmless(line)) {
			ktap_diag("%s", line);
			must(false, "nothing is wrong in the kernel log");
		}
	}
	must(n < 0 && errno == EAGAIN, "the kernel log ends");
	close(fd);
	ktap_held("the module loads");
}

/* The error of socket(), or 0 */
static int refusal(int family, int type, int protocol)
{
	int fd = socket(family, type, protocol);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void test_socket(void)
{
	int tcp = refusal(AF_INET6, SOCK_STREAM, IPPROTO_TCP);
	size_t i;

	must_be("TCP", tcp, EAFNOSUPPORT);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		must_be("AF_INET6", refusal(AF_INET6, types[i], IPPROTO_SSTP), tcp);
		must_be("AF_INET", refusal(AF_INET, types[i], IPPROTO_SSTP), 0);
		must_be("AF_SSTP", refusal(AF_SSTP, types[i], 0), 0);
	}
	ktap_held("socket()");
}

/* bind() and connect() to @text, and then bind() to an IPv4 address */
static void test_address(const char *text)
{
	union addr six = { .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) } };
	union addr four;
	size_t i;
	int fd;

	if (inet_pton(AF_INET6, text, &six.v6.sin6_addr) != 1)
		die("no address: %s", text);
	if (IN6_IS_ADDR_LINKLOCAL(&six.v6.sin6_addr))
		six.v6.sin6_scope_id = 1;
	addr_loopback(&four, AF_INET, PORT);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fd = socket(AF_SSTP, types[i], 0);
		if (fd < 0)
			die("socket(AF_SSTP):");
		must(bind(fd, &six.sa, addr_len(&six)) && errno == EAFNOSUPPORT, "bind()");
		must(connect(fd, &six.sa, addr_len(&six)) && errno == EAFNOSUPPORT, "connect()");
		must(!bind(fd, &four.sa, addr_len(&four)), "bind() to an IPv4 address");
		must(connect(fd, &six.sa, addr_len(&six)) && errno == EAFNOSUPPORT,
		     "connect() of what has an IPv4 address");
		close(fd);
	}
	ktap_held(text);
}

/* 1 MB, and a byte back */
static void test_ipv4(const char *name)
{
	struct pair p;

	pair_open(&p);
	while (p.sent < BYTES) {
		pair_fill(&p, BYTES);
		if (!busywait(WAIT_MS, all_read, &p))
			die("%s: %llu bytes of %llu came", name, (unsigned long long)p.got,
			    (unsigned long long)p.sent);
	}
	pair_exchange(&p);
	pair_close(&p);
	ktap_held(name);
}

int main(void)
{
	static const char *const addresses[] = {
		"::1", "::", "fd00::1", "fe80::1", "ff02::1", "::ffff:127.0.0.1",
	};
	size_t i;

	if (!refusal(AF_INET6, SOCK_DGRAM, 0))
		skip_all("the kernel has IPv6 (ipv6.disable=1)");
	ktap_plan(4 + ARRAY_SIZE(addresses));
	test_log();
	test_socket();
	for (i = 0; i < ARRAY_SIZE(addresses); i++)
		test_address(addresses[i]);
	test_ipv4("AF_SSTP over IPv4");
	sstp_of_inet = true;
	test_ipv4("AF_INET over IPv4");
	return ktap_end();
}
