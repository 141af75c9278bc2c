// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * The buffer policy "rrda": its tunables, for all and of a socket; it grows for a reader
 * that is slow, but not for one that does not read; who is silent has the floor, and
 * what was granted before still has room.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pair.h"
#include "path.h"
#include "peer.h"

#define DIRECTORY	"/sys/kernel/sstp/rrda"
#define POLICY		"/proc/sys/net/sstp/buffer_policy"
#define RMEM		"/proc/sys/net/sstp/rmem"
#define KB		1024u
#define MB		(1024u * KB)
#define FLOOR		(64 * KB)
#define FIRST		(4 * MB)	/* net.sstp.rmem[1] by default */
#define SMALL		(256 * KB)	/* where it is to grow */
#define DELAY_MS	150		/* one way: INIT_ACK is sent twice */
#define DELAY		"delay 150ms limit 10000"

static const struct tunable {
	const char *name;
	unsigned int given, least, most;
} tunables[] = {
	{ "epoch",		100,		1,	10000 },
	{ "k",			3,		1,	255 },
	{ "beta",		16,		1,	1024 },
	{ "omega",		500,		1,	1000 },
	{ "floor",		FLOOR,		4096,	1 << 30 },
	{ "ceiling",		1 << 30,	4096,	1 << 30 },
	{ "weigh_memory",	1,		0,	1 },
};

static const char *tunable_file(const char *name)
{
	static char file[128];

	snprintf(file, sizeof(file), DIRECTORY "/%s", name);
	return file;
}

static long tunable_get(const char *name)
{
	FILE *f = fopen(tunable_file(name), "r");
	long value;

	if (!f || fscanf(f, "%ld", &value) != 1)
		die("%s:", name);
	fclose(f);
	return value;
}

static void tunable_set(const char *name, unsigned int value)
{
	file_put(tunable_file(name), "%u\n", value);
}

static void test_defaults(void)
{
	DIR *d = opendir(DIRECTORY);
	struct dirent *e;
	unsigned int i;
	int files = 0;

	if (!d)
		die(DIRECTORY ":");
	while ((e = readdir(d)))
		files += e->d_name[0] != '.';
	closedir(d);
	must_be("files", files, ARRAY_SIZE(tunables));
	for (i = 0; i < ARRAY_SIZE(tunables); i++) {
		const struct tunable *t = &tunables[i];
		struct stat s;

		must_be(t->name, tunable_get(t->name), t->given);
		must(!stat(tunable_file(t->name), &s), t->name);
		must_be("mode", s.st_mode & 07777, 0644);
	}
	ktap_held("tunables have their defaults");
}

/* setsockopt() fails, and changes nothing. */
static void refuse(const char *name, const char *text, int err)
{
	long was = tunable_get(name);

	must_be(text, file_try(tunable_file(name), "%s\n", text), -err);
	must_be(name, tunable_get(name), was);
}

static void refuse_number(const char *name, long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	refuse(name, text, EINVAL);
}

static void test_range(void)
{
	static const char * const garbage[] = { "-1", "x", "", "1 2", "1.5", "0x" };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(tunables); i++) {
		const struct tunable *t = &tunables[i];

		refuse_number(t->name, (long)t->least - 1);
		refuse_number(t->name, t->most + 1L);
		refuse(t->name, "4294967296", ERANGE);
		for (j = 0; j < ARRAY_SIZE(garbage); j++)
			refuse(t->name, garbage[j], EINVAL);
		/* In this order the floor is below the ceiling. */
		tunable_set(t->name, t->least);
		must_be(t->name, tunable_get(t->name), t->least);
	}
	for (i = ARRAY_SIZE(tunables); i--; ) {
		const struct tunable *t = &tunables[i];

		tunable_set(t->name, t->most);
		must_be(t->name, tunable_get(t->name), t->most);
		tunable_set(t->name, t->given);
	}
	ktap_held("values out of range and garbage are refused");

	tunable_set("ceiling", MB);
	refuse_number("floor", MB + 1);
	tunable_set("floor", MB);
	refuse_number("ceiling", MB - 1);
	tunable_set("floor", FLOOR);
	tunable_set("ceiling", 1 << 30);
	ktap_held("floor and ceiling are held against each other");
}

static void rrda_set(int fd, const char *name, int64_t value)
{
	param_set(fd, SSTP_POLICY_PARAM, name, value);
}

/* The limit of @fd was @bytes at first. It may have fallen since if this process had to wait for a
 * few epochs, but the largest one stays.
 */
static void must_begin_with(const char *what, int fd, uint32_t bytes)
{
	must_be(what, sock_info(fd).rcv_buffer_peak, bytes);
}

/* A socket may set what the system has, in the same ranges, and 0. */
static void test_option(void)
{
	const struct tunable *t;
	struct pair p;
	int fd;

	new_namespace();
	fd = new_socket(SOCK_STREAM);
	for (t = tunables; t < tunables + ARRAY_SIZE(tunables); t++) {
		int opt = SSTP_POLICY_PARAM;

		if (!strcmp(t->name, "weigh_memory")) {
			must_be(t->name, param_try(fd, opt, t->name, 1), -ENOENT);
			continue;
		}
		must_be(t->name, param_get(fd, opt, t->name), 0);
		must_be(t->name, param_try(fd, opt, t->name, t->least), 0);
		must_be(t->name, param_try(fd, opt, t->name, t->most + 1LL), -EINVAL);
		must_be(t->name, param_try(fd, opt, t->name, -1), -EINVAL);
		if (t->least > 1)
			must_be(t->name, param_try(fd, opt, t->name, t->least - 1), -EINVAL);
		must_be(t->name, param_get(fd, opt, t->name), t->least);
		must_be(t->name, param_try(fd, opt, t->name, t->most), 0);
		must_be(t->name, param_get(fd, opt, t->name), t->most);
		rrda_set(fd, t->name, 0);
	}
	rrda_set(fd, "ceiling", MB);
	must_be("floor", param_try(fd, SSTP_POLICY_PARAM, "floor", MB + 1), -EINVAL);
	rrda_set(fd, "floor", MB);
	must_be("ceiling", param_try(fd, SSTP_POLICY_PARAM, "ceiling", MB - 1), -EINVAL);
	rrda_set(fd, "floor", 0);
	ktap_held("parameters of a socket are in the ranges of the system's");

	/* Make the socket a listener. */
	pair_connect(&p, fd);
	must_begin_with("under its ceiling", p.rx, MB);
	must_begin_with("its limit", p.tx, FIRST);
	pair_close(&p);
	ktap_held("a connection has what its listener has");
}

/* Policy @name must size the buffer of @fd. */
static void must_have_policy(int fd, const char *name)
{
	char is[SSTP_NAME_MAX] = "";

	must(!getsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, is,
			 &(socklen_t){ sizeof(is) }) && !strcmp(is, name), name);
	must(!strcmp(sock_info(fd).policy, name), name);
}

static void test_policy(void)
{
	struct pair plain, before, later, named;
	char name[SSTP_NAME_MAX] = "";
	FILE *f;
	int l;

	new_namespace();
	f = fopen(POLICY, "r");
	if (!f || !fgets(name, sizeof(name), f))
		die(POLICY ":");
	fclose(f);
	must(!strcmp(name, "rrda\n"), "net.sstp.buffer_policy");

	l = new_socket(SOCK_STREAM);
	sock_set(l, SOL_SOCKET, SO_RCVBUF, 50000);
	pair_connect(&before, l);
	must_have_policy(before.tx, "rrda");
	must_have_policy(before.rx, "static");
	l = new_socket(SOCK_STREAM);
	if (setsockopt(l, SOL_SSTP, SSTP_BUFFER_POLICY, "static", 6))
		die("SSTP_BUFFER_POLICY:");
	pair_connect(&named, l);
	must_have_policy(named.rx, "static");
	pair_open(&later);
	must_have_policy(later.rx, "rrda");
	pair_open(&plain);
	sock_set(later.rx, SOL_SOCKET, SO_RCVBUF, 60000);

	/* The last one's epochs end after those that the others do not have. */
	pair_exchange(&before);
	pair_exchange(&named);
	pair_exchange(&later);
	pair_exchange(&plain);
	must_become("without SO_RCVBUF", plain.rx, FLOOR);
	must_be("SO_RCVBUF before", sock_info(before.rx).rcv_buffer, 100000);
	must_be("SO_RCVBUF later", sock_info(later.rx).rcv_buffer, 120000);
	must_be("static", sock_info(named.rx).rcv_buffer, FIRST);
	pair_close(&before);
	pair_close(&named);
	pair_close(&later);
	pair_close(&plain);

	file_put(POLICY, "static");
	pair_open(&plain);
	must_have_policy(plain.rx, "static");
	pair_close(&plain);
	ktap_held("the policy is rrda, and SO_RCVBUF fixes the limit");
}

/* The namespace's counters are the sums of both ends' counts, and of the initial limits. */
static void must_add_up(const struct pair *p, uint32_t first)
{
	static const char * const names[] = {
		"RbufGrown", "RbufGrownBytes", "RbufShrunk", "RbufShrunkBytes",
	};
	struct sstp_info a, b;
	unsigned int i;
	long low[4];

	for (i = 0; i < 4; i++)
		low[i] = sstp_counter(names[i]);
	a = sock_info(p->tx);
	b = sock_info(p->rx);
	for (i = 0; i < 4; i++) {
		const long sums[] = {
			a.rcv_grown + b.rcv_grown,
			a.rcv_grown_bytes + b.rcv_grown_bytes + 2UL * first,
			a.rcv_shrunk + b.rcv_shrunk,
			a.rcv_shrunk_bytes + b.rcv_shrunk_bytes,
		};

		must(low[i] <= sums[i] && sums[i] <= sstp_counter(names[i]),
		     names[i]);
	}
	must_be("limit by its changes", first + b.rcv_grown_bytes -
		b.rcv_shrunk_bytes, b.rcv_buffer);
}

/* The program reads, but more slowly than data could come. */
static void test_slow(void)
{
	struct sstp_info i;
	struct pair p;
	uint64_t end;

	new_namespace();
	file_put(RMEM, "%u %u %u", FLOOR, SMALL, 64 * MB);
	pair_open(&p);
	must_begin_with("first", p.rx, SMALL);
	end = now_ns() + WAIT_MS * 1000000ULL;
	while (sock_info(p.rx).rcv_buffer <= SMALL && now_ns() < end) {
		pair_fill(&p, UINT64_MAX);
		pair_read(&p, 16 * KB);
		poll(NULL, 0, 5);		/* what makes it slow */
	}
	i = sock_info(p.rx);
	ktap_diag("%u bytes after %u read", i.rcv_buffer, (unsigned int)p.got);
	must(i.rcv_buffer > SMALL, "above the first");
	must(i.rcv_buffer_peak >= i.rcv_buffer, "the peak");
	must(i.rcv_grown, "it grew");
	must(i.rcv_grown_bytes >= i.rcv_buffer_peak - SMALL, "by as much");
	must_add_up(&p, SMALL);
	must(busywait(WAIT_MS, all_read, &p), "all can be read");
	pair_close(&p);
	ktap_held("it grows for a slow reader");
}

/* The window limits the sender, and the program reads fast. */
static void test_path(void)
{
	struct pair p = { .seed = nonce() };
	uint64_t end;
	int l;

	path_make();
	path_impair(A, DELAY);
	path_impair(B, DELAY);
	path_enter(B);
	file_put(RMEM, "%u %u %u", FLOOR, FLOOR, 64 * MB);
	l = path_socket(B, SOCK_STREAM);
	/* No trend matters in this time. */
	rrda_set(l, "k", 255);
	p.tx = path_socket(A, SOCK_STREAM);
	sock_set(p.tx, SOL_SSTP, SSTP_SEGMENT_SIZE, 8000);
	p.rx = path_connect(p.tx, l, AF_INET);
	must_begin_with("first", p.rx, FLOOR);
	must(sock_info(p.rx).rtt >= 2 * DELAY_MS * 1000, "RTT is known");
	end = now_ns() + WAIT_MS * 1000000ULL;
	while (sock_info(p.rx).rcv_buffer < 2 * FLOOR && now_ns() < end) {
		pair_fill(&p, UINT64_MAX);
		path_poll(p.rx, POLLIN, 10);
		while (pair_read(&p, SIZE_MAX))
			;
	}
	ktap_diag("%u bytes after %llu read", sock_info(p.rx).rcv_buffer,
		  (unsigned long long)p.got);
	must(sock_info(p.rx).rcv_buffer >= 2 * FLOOR, "above the first");
	must(busywait(WAIT_MS, all_read, &p), "all can be read");
	pair_close(&p);
	ktap_held("it grows with what the path holds");
}

static bool filled_to_floor(void *arg)
{
	struct pair *p = arg;

	pair_fill(p, UINT64_MAX);
	return sock_info(p->rx).rcv_buffer == FLOOR;
}

static void test_unread(const char *name)
{
	struct sstp_info i;
	struct pair p;

	new_namespace();
	file_put(RMEM, "%u %u %u", FLOOR, SMALL, 64 * MB);
	pair_open(&p);
	must(busywait(WAIT_MS, filled_to_floor, &p), "it falls to the floor");
	i = sock_info(p.rx);
	must(i.rcv_queued > FLOOR, "with more in it than that");
	must_be("the peak", i.rcv_buffer_peak, SMALL);
	must_be("growth", i.rcv_grown, 0);
	must_be("bytes", i.rcv_grown_bytes, 0);
	must(busywait(WAIT_MS, all_read, &p), "all can be read");
	i = sock_info(p.rx);
	must_be("discarded", i.packets_discarded, 0);
	must_be("bytes", i.bytes_discarded, 0);
	pair_close(&p);
	ktap_held(name);
}

static void test_idle(void)
{
	struct sstp_info i;
	struct pair p;

	new_namespace();
	pair_open(&p);
	must_begin_with("first", p.rx, FIRST);
	pair_exchange(&p);
	must_become("reader's limit", p.rx, FLOOR);
	must_become("writer's limit", p.tx, FLOOR);
	i = sock_info(p.rx);
	must(i.rcv_shrunk, "it shrank");
	must(i.rcv_shrunk_bytes >= FIRST - FLOOR, "by as much");
	must(i.rcv_buffer_peak >= FIRST, "the peak stays");
	must_add_up(&p, FIRST);
	pair_close(&p);
	ktap_held("who is silent has the floor");
}

/* RbufGrownBytes less RbufShrunkBytes: the limits of all buffers of the namespace */
static long balance(void)
{
	return sstp_counter("RbufGrownBytes") - sstp_counter("RbufShrunkBytes");
}

static bool balance_is(void *bytes)
{
	return balance() == *(long *)bytes;
}

/* Many connections, whose limits shrink from the initial ones, and end. */
static void test_balance(void)
{
	struct pair p[4];
	long bytes;
	int i;

	new_namespace();
	for (i = 0; i < 4; i++)
		pair_open(&p[i]);
	/* Some may have shrunk already. */
	must_be("in the beginning", sstp_counter("RbufGrownBytes"), 8L * FIRST);
	for (i = 0; i < 4; i++)
		pair_exchange(&p[i]);
	for (i = 0; i < 4; i++) {
		must_become("reader's limit", p[i].rx, FLOOR);
		must_become("writer's limit", p[i].tx, FLOOR);
	}
	must_be("of limits at the floor", balance(), 8L * FLOOR);
	for (i = 0; i < 4; i++)
		pair_close(&p[i]);
	bytes = 0;
	must(busywait(WAIT_MS, balance_is, &bytes), "nothing is left of it");
	must(sstp_counter("RbufGrownBytes") >= 8L * FIRST, "though much grew");
	ktap_held("what grew less what shrank is what there is");
}

/* With the system's epochs nothing happens here. */
static void test_own(void)
{
	struct pair p, other;
	int l;

	tunable_set("epoch", 10000);
	tunable_set("k", 255);
	new_namespace();
	pair_open(&other);
	l = new_socket(SOCK_STREAM);
	rrda_set(l, "epoch", 20);
	rrda_set(l, "k", 1);
	pair_connect(&p, l);
	pair_exchange(&other);
	pair_exchange(&p);
	must_become("own epochs", p.rx, FLOOR);
	must_be("the system's", sock_info(other.rx).rcv_buffer, FIRST);
	pair_close(&other);
	tunable_set("epoch", 100);
	tunable_set("k", 3);

	rrda_set(p.rx, "floor", MB);
	pair_exchange(&p);
	must_become("own floor", p.rx, MB);
	rrda_set(p.rx, "floor", 64 * MB);
	pair_exchange(&p);
	must_become("own floor above the first limit", p.rx, FIRST);
	rrda_set(p.rx, "floor", 2 * FLOOR);
	rrda_set(p.rx, "ceiling", 2 * FLOOR);
	pair_exchange(&p);
	must_become("own ceiling", p.rx, 2 * FLOOR);
	rrda_set(p.rx, "floor", 4096);
	rrda_set(p.rx, "ceiling", 4096);
	pair_exchange(&p);
	must_become("own ceiling below the least", p.rx, FLOOR);
	pair_close(&p);
	ktap_held("a socket's own tunables");
}

/* A round trip holds more data than that. */
static void test_ceiling(void)
{
	const uint64_t rate = 100000000000;
	struct pair p;
	int l;

	new_namespace();
	l = new_socket(SOCK_STREAM);
	if (setsockopt(l, SOL_SSTP, SSTP_RATE_LIMIT, &rate, sizeof(rate)))
		die("SSTP_RATE_LIMIT:");
	rrda_set(l, "ceiling", 128 * KB);
	pair_connect(&p, l);
	must_begin_with("first", p.rx, 128 * KB);
	pair_exchange(&p);
	pair_exchange(&p);
	must_be("peak", sock_info(p.rx).rcv_buffer_peak, 128 * KB);
	pair_close(&p);
	ktap_held("own ceiling bounds what the path gets, too");
}

/* The window that was granted before the limit fell keeps its room. */
static void test_promise(void)
{
	const uint32_t len = 1400;
	struct peer_init us = { .window = 1, .segment = len };
	struct pollfd f = { .events = POLLIN };
	static char buf[2000];
	struct peer p;
	uint32_t i;
	ssize_t n;

	new_namespace();
	peer_open(&p, new_socket(SOCK_SEQPACKET), &us);
	must_become("limit", p.fd, FLOOR);
	ktap_diag("%u segments of %u bytes were granted", p.granted, len);
	must(p.granted * len > 8 * FLOOR, "much was granted");
	for (i = 0; i < p.granted; i++)
		peer_data(&p, i, 0, len, len, LAST);
	f.fd = p.fd;
	for (i = 0; i < p.granted && poll(&f, 1, WAIT_MS) == 1; i++) {
		n = recv(p.fd, buf, sizeof(buf), 0);
		if (n != len || content_check(buf, n, p.seed + i, 0) != len)
			break;
	}
	must_be("segments read", i, p.granted);
	must_be("InDiscarded", sstp_counter("InDiscarded"), 0);
	must_be("InDiscardedBytes", sstp_counter("InDiscardedBytes"), 0);
	must_be("InOutOfWindow", sstp_counter("InOutOfWindow"), 0);
	must_be("packets_discarded", sock_info(p.fd).packets_discarded, 0);
	peer_may_vanish();
	peer_close(&p);
	ktap_held("what was granted before has room");
}

int main(void)
{
	ktap_plan(15);
	test_defaults();
	test_range();
	test_option();
	test_policy();
	test_slow();
	test_path();
	test_unread("it does not grow for who does not read");
	tunable_set("weigh_memory", 0);
	test_unread("nor when memory does not count");
	tunable_set("weigh_memory", 1);
	test_idle();
	test_balance();
	test_own();
	test_ceiling();
	test_promise();
	return ktap_end();
}
