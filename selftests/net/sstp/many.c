// SPDX-License-Identifier: GPL-2.0
/*
 * Many sockets to look at: connects to itself until there are N, says so in a line, and
 * keeps them until its input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib.h"

int main(int argc, char **argv)
{
	struct rlimit files = { .rlim_cur = 65536, .rlim_max = 65536 };
	socklen_t len = sizeof(union addr);
	int listener, n, i, fd;
	union addr a;
	char c;

	n = argc == 2 ? atoi(argv[1]) : 0;
	if (n < 2 || n > 60000)
		die("usage: many SOCKETS");
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE:");
	addr_loopback(&a, AF_INET, 0);
	listener = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, &a.sa, addr_len(&a)) || listen(listener, 16) ||
	    getsockname(listener, &a.sa, &len))
		die("listen:");
	for (i = 0; i < n; i += 2) {
		fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
		if (fd < 0 || connect(fd, &a.sa, addr_len(&a)) ||
		    accept(listener, NULL, NULL) < 0)
			die("connection %d:", i / 2);
	}
	printf("%d\n", i);
	fflush(stdout);
	return read(STDIN_FILENO, &c, 1) < 0;
}
