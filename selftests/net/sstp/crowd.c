// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections to one server that reads now and then, a process that takes memory
 * and one that looks at all connections, for tools/bench: each does what it reads, a line
 * at a time, and answers with a line of JSON when it is done.
 *
 * Content is a function of the client's port and the position: every byte is checked.
 */
#include <errno.h>
#include <linux/sstp_netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib.h"
#include "nl.h"

#define PORT		7000
#define MOST		10000		/* connections */
#define MS		1000000ULL
#define RESERVED	(1UL << 32)	/* addresses that a filler may fill */

struct conn {
	int fd;
	uint64_t seed, bytes;
	bool ended;
};

static struct conn conns[MOST];
static struct pollfd fds[MOST + 2];
static unsigned int n;			/* connections */
static char buf[256 << 10];

static void usage(FILE *f)
{
	fprintf(f,
"Usage: crowd server\n"
"       crowd client ADDRESS RATE\n"
"       crowd filler\n"
"       crowd watcher\n"
"\n"
"Each does what standard input says:\n"
"  server  pause MS   from now on, takes all that has come every MS ms\n"
"          look       what the receive buffers are\n"
"          end        waits until all clients are at their end\n"
"  client  connect N  until there are N connections\n"
"          send N     the first N send as much as they may, the others nothing;\n"
"                     each at RATE bytes/s at most\n"
"          end        ends all connections\n"
"  filler  take N     has N bytes of memory, no more and no less\n"
"  watcher dump N     sees all connections, by netlink, N times in a row\n"
"          every MS   from now on, does so every MS ms\n"
"          end        does so no more\n");
}

/* Read the next command and its number; returns false if there is none within @ms, or as soon as
 * one of the first @count of fds is ready.
 */
static bool command(char word[32], unsigned long *number, unsigned int count, int ms)
{
	static char line[128];
	static size_t len;
	ssize_t got;

	fds[count] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	if (poll(fds, count + 1, ms) < 0)
		die("poll:");
	if (!fds[count].revents)
		return false;
	got = read(STDIN_FILENO, line + len, sizeof(line) - 1 - len);
	if (got <= 0)
		exit(got < 0);		/* end of input */
	len += got;
	line[len] = 0;
	if (line[len - 1] != '\n')
		return false;
	*number = 0;
	if (sscanf(line, "%31s %lu", word, number) < 1)
		die("not a command: %s", line);
	len = 0;
	return true;
}

/* The server */

static void take(struct conn *c)
{
	ssize_t got;

	while (!c->ended) {
		got = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (got < 0 && errno == EAGAIN)
			return;
		if (got < 0)
			die("recv:");
		if (content_check(buf, got, c->seed, c->bytes) != (size_t)got)
			die("wrong content of port %u after %llu bytes", (unsigned int)c->seed,
			    (unsigned long long)c->bytes);
		c->bytes += got;
		c->ended = !got;
	}
}

static void welcome(int listener)
{
	union addr from;
	int fd = accept(listener, &from.sa, &(socklen_t){ sizeof(from) });

	if (fd < 0 || n == MOST)
		die("accept:");
	conns[n++] = (struct conn){ .fd = fd, .seed = addr_port(&from) };
}

static void look(void)
{
	unsigned long long limit = 0, queued = 0, bytes = 0;
	uint32_t least = UINT32_MAX, most = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct sstp_info s = sock_info(conns[i].fd);

		limit += s.rcv_buffer;
		queued += s.rcv_queued;
		bytes += conns[i].bytes;
		least = s.rcv_buffer < least ? s.rcv_buffer : least;
		most = s.rcv_buffer > most ? s.rcv_buffer : most;
	}
	printf("{\"connections\": %u, \"limit\": %llu, \"queued\": %llu, \"least\": %u, "
	       "\"most\": %u, \"bytes\": %llu}\n", n, limit, queued, n ? least : 0, most, bytes);
}

static void server(void)
{
	uint64_t pause = 100 * MS, next = 0, now;
	unsigned int at = 0, left = 0;
	unsigned long number;
	bool ending = false;
	char word[32];
	union addr a;
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

	addr_any(&a, AF_INET, PORT);
	if (l < 0 || bind(l, &a.sa, addr_len(&a)) || listen(l, MOST))
		die("listen:");
	printf("{}\n");
	for (;;) {
		fds[0] = (struct pollfd){ .fd = l, .events = POLLIN };
		now = now_ns();
		if (command(word, &number, 1, now < next ? (next - now + MS - 1) / MS : 0)) {
			if (!strcmp(word, "pause")) {
				pause = number * MS;
				next = now;
			}
			if (!strcmp(word, "look"))
				look();
			else if (strcmp(word, "end"))
				printf("{}\n");
			else
				ending = true;
		}
		if (fds[0].revents)
			welcome(l);
		if (now_ns() < next)
			continue;
		if (at < n) {
			take(&conns[at]);
			left += !conns[at++].ended;
			continue;
		}
		if (ending && !left) {
			look();
			return;
		}
		at = 0;
		left = 0;
		next = now_ns() + pause;
	}
}

/* A client */

static void connect_all(const union addr *to, uint64_t rate, unsigned long number)
{
	union addr own;

	for (; n < number && n < MOST; n++) {
		int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

		if (fd < 0 ||
		    setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) ||
		    connect(fd, &to->sa, addr_len(to)) ||
		    getsockname(fd, &own.sa, &(socklen_t){ sizeof(own) }))
			die("connection %u:", n);
		conns[n] = (struct conn){ .fd = fd, .seed = addr_port(&own) };
	}
}

static void give(struct conn *c)
{
	const size_t len = 64 << 10;
	ssize_t sent;

	do {
		content_fill(buf, len, c->seed, c->bytes);
		sent = send(c->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN)
			die("send:");
		if (sent > 0)
			c->bytes += sent;
	} while (sent == (ssize_t)len);
}

static void end_all(void)
{
	unsigned long long bytes = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (shutdown(conns[i].fd, SHUT_WR))
			die("shutdown:");
		bytes += conns[i].bytes;
	}
	printf("{\"bytes\": %llu}\n", bytes);
}

static void client(const char *address, uint64_t rate)
{
	unsigned int i, senders = 0;
	unsigned long number;
	char word[32];
	union addr to;

	if (!addr_parse(&to, address, PORT))
		die("not an address: %s", address);
	printf("{}\n");
	for (;;) {
		for (i = 0; i < senders; i++)
			fds[i] = (struct pollfd){ .fd = conns[i].fd, .events = POLLOUT };
		if (!command(word, &number, senders, -1)) {
			for (i = 0; i < senders; i++)
				if (fds[i].revents)
					give(&conns[i]);
			continue;
		}
		if (!strcmp(word, "connect"))
			connect_all(&to, rate, number);
		if (!strcmp(word, "send"))
			senders = number < n ? number : n;
		if (strcmp(word, "end")) {
			printf("{}\n");
		} else {
			senders = 0;
			end_all();
		}
	}
}

/* A process that has a use for memory */

static void filler(void)
{
	const size_t page = getpagesize();
	char *memory = mmap(NULL, RESERVED, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long number, have = 0;
	char word[32];

	/* A part of a huge page that was given back would still be there. */
	if (memory == MAP_FAILED || madvise(memory, RESERVED, MADV_NOHUGEPAGE))
		die("memory:");
	printf("{}\n");
	for (;;) {
		if (!command(word, &number, 0, -1))
			continue;
		for (number = number < RESERVED ? number / page * page : RESERVED;
		     have < number; have += page)
			memory[have] = 1;
		if (madvise(memory + number, RESERVED - number, MADV_DONTNEED))
			die("madvise:");
		have = number;
		printf("{}\n");
	}
}

/* The process that dumps all connections */

static void count(const struct nl_message *m, void *arg)
{
	unsigned long long *all = arg;

	*all += m->cmd == SSTP_CMD_CONN_GET;
}

/* Number of dumps, and of connections in them, since the last answer */
static unsigned long long dumps, seen;

static void dump_all(struct nl *nl)
{
	struct nl_request r;

	nl_start(&r, nl, SSTP_CMD_CONN_GET, NLM_F_DUMP);
	if (nl_talk(nl, &r, count, &seen))
		die("a dump failed");
	dumps++;
}

static void watcher(void)
{
	uint64_t period = 0, next = 0, now;
	unsigned long number;
	char word[32];
	struct nl nl;
	int wait;

	nl_open(&nl);
	printf("{}\n");
	for (;;) {
		now = now_ns();
		wait = !period ? -1 : now < next ? (int)((next - now + MS - 1) / MS) : 0;
		if (!command(word, &number, 0, wait)) {
			if (period && now_ns() >= next) {
				dump_all(&nl);
				next += period;
			}
			continue;
		}
		period = 0;
		if (!strcmp(word, "every")) {
			period = number * MS;
			next = now_ns();
		}
		if (!strcmp(word, "dump"))
			while (number--)
				dump_all(&nl);
		printf("{\"dumps\": %llu, \"seen\": %llu}\n", dumps, seen);
		dumps = seen = 0;
	}
}

int main(int argc, char **argv)
{
	const struct rlimit files = { MOST + 100, MOST + 100 };
	const char *role = argc > 1 ? argv[1] : "";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setlinebuf(stdout);
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit:");
	if (!strcmp(role, "server") && argc == 2)
		server();
	else if (!strcmp(role, "client") && argc == 4)
		client(argv[2], atoll(argv[3]));
	else if (!strcmp(role, "filler") && argc == 2)
		filler();
	else if (!strcmp(role, "watcher") && argc == 2)
		watcher();
	else if (!strcmp(role, "-h") || !strcmp(role, "--help"))
		usage(stdout);
	else
		return usage(stderr), 2;
	return 0;
}
