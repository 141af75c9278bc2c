// SPDX-License-Identifier: GPL-2.0
/* Requests and answers, one at a time, for tools/bench/where. */
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

#define PORT	7001

static char buf[64 << 10];
static size_t size;
static enum proto proto;

static int make(const char *name, const char *delay)
{
	int fd;

	proto = proto_find(name);
	fd = proto_socket(proto, AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket:");
	if (strcmp(delay, "nodelay"))
		return fd;
	if (proto == PROTO_SSTP)
		sock_set(fd, SOL_SSTP, SSTP_NODELAY, 1);
	else
		sock_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	return fd;
}

static void give(int fd)
{
	if (send(fd, buf, size, MSG_NOSIGNAL) != (ssize_t)size)
		die("send:");
}

static void take(int fd)
{
	if (recv(fd, buf, size, MSG_WAITALL) != (ssize_t)size)
		die("recv:");
}

/* As a server, the client of a connection closes first. */
static void talk(int fd, bool client, long n)
{
	while (n--) {
		if (client)
			give(fd);
		take(fd);
		if (!client)
			give(fd);
	}
	if (!client && recv(fd, buf, 1, 0))
		die("exchange: more than a request");
	close(fd);
}

int main(int argc, char **argv)
{
	bool client = argc == 7 && !strcmp(argv[1], "client"), each;
	int fd, l = -1;
	union addr a;
	long n, rounds;

	if (argc < 6 || (!client && strcmp(argv[1], "server")))
		die("Usage: exchange server PROTO delay|nodelay|each BYTES EXCHANGES\n"
		    "       exchange client PROTO delay|nodelay|each BYTES EXCHANGES ADDRESS\n"
		    "each: a connection for each exchange");
	each = !strcmp(argv[3], "each");
	size = strtoul(argv[4], NULL, 10);
	n = strtol(argv[5], NULL, 10);
	if (!size || size > sizeof(buf))
		die("exchange: 1 to %zu bytes", sizeof(buf));
	if (!client) {
		l = make(argv[2], argv[3]);
		sock_set(l, SOL_SOCKET, SO_REUSEADDR, 1);
		addr_any(&a, AF_INET, PORT);
		if (bind(l, &a.sa, addr_len(&a)) || listen(l, 1))
			die("listen:");
	} else if (!addr_parse(&a, argv[6], PORT)) {
		die("exchange: no address: %s", argv[6]);
	}
	for (rounds = each ? n : 1; rounds--;) {
		fd = client ? make(argv[2], argv[3]) : accept(l, NULL, NULL);
		if (fd < 0)
			die("accept:");
		if (client && connect(fd, &a.sa, addr_len(&a)))
			die("connect:");
		talk(fd, client, each ? 1 : n);
	}
	return 0;
}
