// SPDX-License-Identifier: GPL-2.0
/* Send standard input under a rate contract, and print statistics of the connection. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sstp.h>

#define SEGMENT		100000
#define PATIENCE	10000		/* ms for connect() */

/* Connect with a shorter timeout than the kernel's. */
static int connect_soon(int fd, const struct addrinfo *to)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(errno);

	if (!connect(fd, to->ai_addr, to->ai_addrlen))
		return 0;
	if (errno != EINPROGRESS)
		return -1;
	switch (poll(&p, 1, PATIENCE)) {
	case 0:
		errno = ETIMEDOUT;
		return -1;
	case 1:
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &len))
			return -1;
		return errno ? -1 : 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *to;
	struct sstp_rate_spec rate = {};	/* no contract */
	static char segment[SEGMENT];
	struct sstp_info info = {};
	socklen_t len = sizeof(info);
	const char *port = "7000";
	__u32 tolerance = 0;
	ssize_t answer;
	int fd, c;
	size_t n;

	while ((c = getopt(argc, argv, "p:t:r:")) != -1) {
		if (c == 'p')
			port = optarg;
		else if (c == 't')
			tolerance = strtoul(optarg, NULL, 0);
		else if (c == 'r')
			rate.peak = strtoull(optarg, NULL, 0);
		else
			argc = 0;
	}
	if (argc != optind + 1)
		errx(2, "usage: client [-p PORT] [-t TOLERANCE] [-r RATE] HOST < FILE");
	c = getaddrinfo(argv[optind], port, &hints, &to);
	if (c)
		errx(1, "%s: %s", argv[optind], gai_strerror(c));

	fd = socket(AF_SSTP, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	if (fd < 0)
		err(1, "socket");
	/* A contract set before connect() replaces congestion control. */
	if (setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)) ||
	    setsockopt(fd, SOL_SSTP, SSTP_TOLERANCE, &tolerance, sizeof(tolerance)))
		err(1, "setsockopt");
	if (connect_soon(fd, to))
		err(1, "%s", argv[optind]);
	freeaddrinfo(to);
	if (fcntl(fd, F_SETFL, 0))		/* send() and recv() may block */
		err(1, "fcntl");

	while ((n = fread(segment, 1, sizeof(segment), stdin)) > 0)
		if (send(fd, segment, n, MSG_NOSIGNAL) < 0)
			err(1, "send");
	if (shutdown(fd, SHUT_WR))
		err(1, "shutdown");
	answer = recv(fd, segment, sizeof(segment), 0);
	if (answer < 0)
		err(1, "recv");
	if (!answer)
		errx(1, "no answer");
	if (getsockopt(fd, SOL_SSTP, SSTP_INFO, &info, &len))
		err(1, "SSTP_INFO");
	printf("%.*s", (int)answer, segment);
	printf("contract %llu bit/s, round trip %u us, %llu of %llu packets sent again\n",
	       info.rate.peak, info.rtt, info.packets_retrans, info.packets_sent);
	return 0;
}
