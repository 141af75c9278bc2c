// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections of a process with itself, for tests and tools/bench: does what it reads, a
 * line at a time, and answers with a line of JSON when it is done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib.h"

#define MOST		200000	/* connections */
#define PER_ADDRESS	20000	/* of them, as one has some 28,000 ports */

static int fds[MOST][2];
static unsigned int n;		/* connections */
static int proto, listener;
static union addr to;

static void usage(FILE *f)
{
	fprintf(f,
"Usage: many PROTOCOL\n"
"\n"
"Does what standard input says:\n"
"  connect N   until there are N connections\n"
"  exchange N  the first N carry a byte in each direction\n"
"  churn N     N more are opened and closed, one after the other\n"
"and says what there is then, and how long it took. Closes all when its input ends.\n");
}

static void open_one(int fd[2], unsigned int i)
{
	to.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i / PER_ADDRESS);
	fd[0] = proto_socket(proto, AF_INET, SOCK_STREAM, 0);
	if (fd[0] < 0 || connect(fd[0], &to.sa, addr_len(&to)))
		die("connection %u:", i);
	fd[1] = accept(listener, NULL, NULL);
	if (fd[1] < 0)
		die("accept:");
}

static void close_one(const int fd[2])
{
	char c;

	close(fd[0]);
	if (read(fd[1], &c, 1))
		die("the end of a connection:");
	close(fd[1]);
}

static void pass_byte(int from, int fd)
{
	char c = 1;

	if (write(from, &c, 1) != 1 || read(fd, &c, 1) != 1)
		die("a byte:");
}

static void obey(const char *word, unsigned int number)
{
	unsigned int i;
	int fd[2];

	if (!strcmp(word, "connect") && number <= MOST) {
		for (; n < number; n++)
			open_one(fds[n], n);
	} else if (!strcmp(word, "exchange") && number <= n) {
		for (i = 0; i < number; i++) {
			pass_byte(fds[i][0], fds[i][1]);
			pass_byte(fds[i][1], fds[i][0]);
		}
	} else if (!strcmp(word, "churn")) {
		for (i = 0; i < number; i++) {
			open_one(fd, MOST);	/* at an address of their own */
			close_one(fd);
		}
	} else {
		die("not a command: %s %u", word, number);
	}
}

int main(int argc, char **argv)
{
	struct rlimit files = { .rlim_cur = 2 * MOST + 64, .rlim_max = 2 * MOST + 64 };
	char line[64], word[32];
	unsigned int number;
	uint64_t begin;

	if (argc != 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		usage(stdout);
		return 0;
	}
	proto = proto_find(argv[1]);
	if (proto < 0)
		die("no protocol: %s", argv[1]);
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE:");
	addr_any(&to, AF_INET, 0);
	listener = proto_socket(proto, AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, &to.sa, addr_len(&to)) || listen(listener, 16) ||
	    getsockname(listener, &to.sa, &(socklen_t){ sizeof(to) }))
		die("listen:");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%31s %u", word, &number) != 2)
			die("not a command: %s", line);
		begin = now_ns();
		obey(word, number);
		printf("{\"connections\": %u, \"ns\": %llu}\n", n,
		       (unsigned long long)(now_ns() - begin));
		fflush(stdout);
	}
	return 0;
}
