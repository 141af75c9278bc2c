// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: uml 6.12
 *
 * Memory of the kernel that a connection takes: idle, after a byte went each way, and when its
 * ends have rested, beside TCP. All of it counts, of both ends, with files and inodes. And the
 * size of a socket, which decides how many of them a slab holds.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib.h"

#define PAIRS		1000		/* unless the program's argument says more */
#define PAIRS_MAX	12000
#define REST_MS		20000		/* for buffers to rest */

/* Most bytes of a connection, in hundredths of TCP's */
#define IDLE_MOST	185
#define USED_MOST	195

#define SOCK_MOST	4096		/* bytes: a slab of 32 KB holds eight such sockets */

/**
 * struct crowd - connections of a protocol, and the memory that they take
 * @client: ends that connected
 * @server: ends that were accepted
 * @before: bytes of all slabs before these connections
 * @idle: bytes of a connection before it is used
 * @used: bytes after a byte went each way
 * @rested: bytes once receive buffers rest, which frees the slots of segments
 * @rests: they came to rest, and took what they took idle
 */
struct crowd {
	int	client[PAIRS_MAX];
	int	server[PAIRS_MAX];
	long	before;
	long	idle;
	long	used;
	long	rested;
	bool	rests;
};

static int pairs = PAIRS;
static struct crowd tcp, sstp;
/* Take the room that other programs have left in slabs, and fill the kernel's caches of skbs, a few
 * hundred KB, which only packets do
 */
static struct crowd first[2];

/* Bytes of all slabs. The counts of each CPU are added up first. */
static long slabs(void)
{
	file_try("/proc/sys/vm/stat_refresh", "1\n");
	return file_number("/proc/meminfo", "Slab:", 1) * 1024;
}

static void open_pair(int listener, enum proto proto, const union addr *a, int *client,
		      int *server)
{
	*client = proto_socket(proto, AF_INET, SOCK_STREAM, 0);
	if (*client < 0 || connect(*client, &a->sa, addr_len(a)))
		die("connect:");
	*server = accept(listener, NULL, NULL);
	if (*server < 0)
		die("accept:");
}

static void pass_byte(int from, int to)
{
	char c = 'x';

	if (send(from, &c, 1, 0) != 1 || recv(to, &c, 1, 0) != 1)
		die("a byte:");
}

/* Bytes of a connection now: all that came since @before, but for the first one */
static long each(long before)
{
	return (slabs() - before) / (pairs - 1);
}

/* Do connections take what they took when they were idle? Slabs may be partly used. */
static bool rests(void *arg)
{
	struct crowd *c = arg;

	c->rested = each(c->before);
	return c->rested <= c->idle + c->idle / 50;
}

/* Open all connections. The first one allocates what is for all of them, and does not count. */
static void open_all(struct crowd *c, enum proto proto)
{
	int listener = proto_socket(proto, AF_INET, SOCK_STREAM, 0), i;
	socklen_t len = sizeof(union addr);
	union addr a;

	addr_loopback(&a, AF_INET, 0);
	if (listener < 0 || bind(listener, &a.sa, addr_len(&a)) || listen(listener, 16) ||
	    getsockname(listener, &a.sa, &len))
		die("listen:");
	open_pair(listener, proto, &a, &c->client[0], &c->server[0]);
	c->before = slabs();
	for (i = 1; i < pairs; i++)
		open_pair(listener, proto, &a, &c->client[i], &c->server[i]);
	c->idle = each(c->before);
}

/* A byte goes each way on every connection. */
static void use_all(struct crowd *c)
{
	int i;

	for (i = 0; i < pairs; i++) {
		pass_byte(c->client[i], c->server[i]);
		pass_byte(c->server[i], c->client[i]);
	}
}

static void measure(struct crowd *c, enum proto proto)
{
	open_all(c, proto);
	use_all(c);
	c->used = each(c->before);
	c->rests = busywait(REST_MS, rests, c);
	ktap_diag("%s: %d connections of %ld bytes idle, %ld after a byte each way, %ld at rest",
		  proto_names[proto], pairs, c->idle, c->used, c->rested);
}

static void judge_socket(void)
{
	long bytes = file_number("/proc/net/protocols", "SSTP", 1);

	ktap_diag("a socket has %ld bytes", bytes);
	ktap_result(bytes > 0 && bytes <= SOCK_MOST, "a socket has at most %d bytes", SOCK_MOST);
}

int main(int argc, char **argv)
{
	struct rlimit files = { .rlim_cur = 65536, .rlim_max = 65536 };

	if (argc > 1)
		pairs = atoi(argv[1]);
	if (pairs < 2 || pairs > PAIRS_MAX)
		die("2 to %d connections", PAIRS_MAX);
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE:");
	ktap_plan(4);
	judge_socket();
	open_all(&first[0], PROTO_TCP);
	use_all(&first[0]);
	open_all(&first[1], PROTO_SSTP);
	use_all(&first[1]);
	measure(&tcp, PROTO_TCP);
	measure(&sstp, PROTO_SSTP);
	ktap_result(sstp.idle * 100 <= tcp.idle * IDLE_MOST,
		    "an idle connection takes at most %d%% of TCP's memory", IDLE_MOST);
	ktap_result(sstp.used * 100 <= tcp.used * USED_MOST,
		    "one that was used takes at most %d%%", USED_MOST);
	ktap_result(sstp.rests, "one that rests takes what an idle one takes");
	return ktap_end();
}
