// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * Memory for all sockets is used up: by readers that do not read, or only in the books of
 * a CPU. Others go on nevertheless, a packet at a time, and poll() says what send() does.
 */
#include <errno.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pair.h"

#define MEM		"/proc/sys/net/sstp/mem"
#define MB		(1 << 20)
#define IDLERS		8		/* who do not read */
#define EXCHANGES	3
#define CPU_PAGES	(MB / getpagesize())	/* SK_MEMORY_PCPU_RESERVE */
#define CALLS		300		/* of poll() and send() */
#define BEGUN		(400 << 10)	/* bytes that come while there is memory */

static char old[100];			/* what net.sstp.mem was */
static char zero[MB];

static void limit(const char *pages)
{
	FILE *f = fopen(MEM, "r");

	if (!old[0] && (!f || !fgets(old, sizeof(old), f)))
		die(MEM ":");
	if (f)
		fclose(f);
	file_put(MEM, "%s", pages);
}

/* Each writes until nothing more goes. */
static void idle(struct pair *p)
{
	int i, l;

	for (i = 0; i < IDLERS; i++) {
		l = new_socket(SOCK_STREAM);
		sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 8 * MB);
		pair_connect(&p[i], l);
		sock_set(p[i].tx, SOL_SOCKET, SO_SNDBUFFORCE, 4 * MB);
	}
	limit("1024 2048 4096");
	for (i = 0; i < IDLERS; i++)
		pair_fill(&p[i], 64 * MB);
	for (i = 0; i < IDLERS; i++)
		pair_fill(&p[i], 64 * MB);
	ktap_diag("%ld pages in use", sstp_pages());
}

static void idle_end(struct pair *p)
{
	int i;

	for (i = 0; i < IDLERS; i++)
		pair_close(&p[i]);
	file_put(MEM, "%s", old);
	must(sstp_sockets_end(WAIT_MS), "all sockets end");
}

/* Connections made now are served as well. */
static void test_others(void)
{
	struct pair p[IDLERS];
	pthread_t thread;
	int l, i, ok = 0;
	union addr a;

	idle(p);
	l = new_socket(SOCK_STREAM);
	addr_loopback(&a, AF_INET, 0);
	if (bind(l, &a.sa, addr_len(&a)) || listen(l, 8) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }) ||
	    pthread_create(&thread, NULL, echo_serve, &l))
		die("server:");
	for (i = 0; i < EXCHANGES; i++) {
		const struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
		int fd = new_socket(SOCK_STREAM);

		if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
		    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)))
			die("time-out:");
		ok += echo_ask(fd, &a);
		close(fd);
	}
	shutdown(l, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(l);
	must_be("exchanges", ok, EXCHANGES);
	idle_end(p);
	ktap_held("who does not read does not keep others from it");
}

/* @tx sends and @rx reads @len bytes, until nothing more comes: returns what came. */
static size_t exchange(int tx, int rx, size_t len)
{
	size_t sent = 0, got = 0;
	ssize_t n;

	while (got < len) {
		struct pollfd f[2] = { { .fd = tx, .events = sent < len ? POLLOUT : 0 },
				       { .fd = rx, .events = POLLIN } };

		if (poll(f, 2, WAIT_MS) < 1 || (f[0].revents | f[1].revents) & POLLERR)
			break;
		if (f[0].revents & POLLOUT) {
			n = len - sent < sizeof(zero) ? len - sent : sizeof(zero);
			n = send(tx, zero, n, MSG_DONTWAIT | MSG_NOSIGNAL);
			sent += n > 0 ? n : 0;
		}
		n = recv(rx, zero, sizeof(zero), MSG_DONTWAIT);
		got += n > 0 ? n : 0;
	}
	return got;
}

/* Connect @p over listener @l, which is of @type, and close @l. */
static void join(struct pair *p, int l, int type)
{
	union addr a;

	addr_loopback(&a, AF_INET, 0);
	p->tx = new_socket(type);
	if (bind(l, &a.sa, addr_len(&a)) || listen(l, 1) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }) ||
	    connect(p->tx, &a.sa, addr_len(&a)))
		die("connect:");
	p->rx = accept(l, NULL, NULL);
	if (p->rx < 0)
		die("accept:");
	close(l);
}

/* All that is sent comes, a packet at a time if need be: a large segment, too. */
static void test_much(int type, size_t len, const char *name)
{
	struct pair p[IDLERS], q;

	idle(p);
	join(&q, new_socket(type), type);
	must_be("bytes", exchange(q.tx, q.rx, len), len);
	pair_close(&q);
	idle_end(p);
	ktap_held(name);
}

/* Was there room for any of @len bytes more? */
static bool send_more(struct pair *p, unsigned int len)
{
	uint64_t before = p->sent;

	pair_fill(p, p->sent + len);
	return p->sent != before;
}

/* A program that poll() tells it can write, can write. */
static void test_poll(void)
{
	struct pair p[IDLERS];
	struct pollfd f;
	int i, vain = 0;

	idle(p);
	f = (struct pollfd){ .fd = p[0].tx, .events = POLLOUT };
	for (i = 0; i < CALLS; i++)
		vain += poll(&f, 1, 0) == 1 && !send_more(&p[0], 1000);
	ktap_diag("%d of %d calls in vain", vain, CALLS);
	must(vain < 10, "no busy loop");
	/* The memory of others comes back. */
	for (i = 1; i < IDLERS; i++)
		pair_close(&p[i]);
	for (i = 0; i < 100 && all_read(&p[0]); i++)
		;
	must(poll(&f, 1, WAIT_MS) == 1 && f.revents == POLLOUT && send_more(&p[0], 1000),
	     "with memory there is room again");
	close(p[0].tx);
	close(p[0].rx);
	file_put(MEM, "%s", old);
	must(sstp_sockets_end(WAIT_MS), "all sockets end");
	ktap_held("poll() says what send() does");
}

/* Pages that @p's receiver has for packets */
static long unread_pages(struct pair *p)
{
	uint32_t m[SK_MEMINFO_VARS];

	if (getsockopt(p->rx, SOL_SOCKET, SO_MEMINFO, m, &(socklen_t){ sizeof(m) }))
		die("SO_MEMINFO:");
	return m[SK_MEMINFO_RMEM_ALLOC] / getpagesize();
}

static bool all_acked(void *p)
{
	int bytes;

	if (ioctl(((struct pair *)p)->tx, SIOCOUTQ, &bytes))
		die("SIOCOUTQ:");
	return !bytes;
}

static void run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity:");
}

/* Take memory on @cpu until that CPU tells all its pages, which SSTP has then at least @least. */
static void take(struct pair *p, int cpu, long least)
{
	long before;

	run_on(cpu);
	do {
		before = sstp_pages();
		pair_fill(p, p->sent + 1000);
		must(busywait(WAIT_MS, all_acked, p), "all comes");
		must(unread_pages(p) < 8 * MB / getpagesize(), "the books change");
	} while (sstp_pages() == before || sstp_pages() < least);
}

/* For few_pages() */
struct few {
	struct pair *pair;
	long pages;
};

static bool few_pages(void *arg)
{
	struct few *few = arg;

	pair_fill(few->pair, few->pair->sent + 1000);
	return sstp_pages() <= few->pages;
}

/* A segment of a stream has no more than both ends can keep at a time. */
static void test_segment(void)
{
	int l = new_socket(SOCK_STREAM);
	struct pair p;

	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 8 * MB);
	pair_connect(&p, l);
	sock_set(p.tx, SOL_SOCKET, SO_SNDBUFFORCE, 4 * MB);
	sock_set(p.tx, SOL_SSTP, SSTP_SEGMENT_SIZE, MB);
	limit("209 313 418");
	/* As many packets as elsewhere */
	if (system("ip link set lo mtu 1500"))
		die("lo:");
	must_be("bytes", exchange(p.tx, p.rx, 4 * MB), 4 * MB);
	file_put(MEM, "%s", old);
	pair_close(&p);
	must(sstp_sockets_end(WAIT_MS), "all sockets end");
	ktap_held("a stream of large segments goes on");
}

static bool much_came(void *pair)
{
	return unread_pages(pair) > BEGUN / getpagesize();
}

/* When memory is used up, more of a segment has come than it may owe from then on. */
static void test_begun(void)
{
	const struct sstp_rate_spec rate = { .peak = 1000000 };
	int l = new_socket(SOCK_SEQPACKET);
	size_t got = 0;
	struct pair p;

	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 8 * MB);
	join(&p, l, SOCK_SEQPACKET);
	sock_set(p.tx, SOL_SOCKET, SO_SNDBUFFORCE, 4 * MB);
	if (setsockopt(p.tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	must_be("sent", send(p.tx, zero, BEGUN + MB / 8, 0), BEGUN + MB / 8);
	must(busywait(WAIT_MS, much_came, &p), "most comes");
	limit("1 2 3");
	must_be("received", recv(p.rx, zero, sizeof(zero), MSG_DONTWAIT), -1);
	if (poll(&(struct pollfd){ .fd = p.rx, .events = POLLIN }, 1, WAIT_MS) == 1)
		got = recv(p.rx, zero, sizeof(zero), MSG_DONTWAIT);
	must_be("bytes", got, BEGUN + MB / 8);
	file_put(MEM, "%s", old);
	pair_close(&p);
	must(sstp_sockets_end(WAIT_MS), "all sockets end");
	ktap_held("a segment that has begun to come is completed");
}

/* Less is in use than the books say: a CPU has not told that it has given pages back. */
static void test_books(void)
{
	int l = new_socket(SOCK_STREAM), cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	char text[64];
	struct pair p;
	long pages;

	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 16 * MB);
	pair_connect(&p, l);
	/* A CPU tells when it has taken or given back CPU_PAGES. So all have just told. */
	for (i = cpus - 1; i >= 0; i--)
		take(&p, i, CPU_PAGES);
	pages = sstp_pages();
	for (i = unread_pages(&p) - CPU_PAGES * 3 / 4; unread_pages(&p) > i; )
		must(pair_read(&p, 1000), "there is more");
	ktap_diag("%ld pages in the books, %ld less in use", pages, CPU_PAGES * 3L / 4);
	must_be("pages in the books", sstp_pages(), pages);
	snprintf(text, sizeof(text), "1 1 %ld", pages - CPU_PAGES / 4);
	limit(text);
	must(busywait(WAIT_MS, few_pages, &(struct few){ &p, pages - CPU_PAGES / 4 }),
	     "the books are put in order");
	file_put(MEM, "%s", old);
	must(busywait(WAIT_MS, all_read, &p), "all comes");
	pair_close(&p);
	must(sstp_sockets_end(WAIT_MS), "all sockets end");
	ktap_held("pages in the books of a CPU alone stop nobody");
}

int main(void)
{
	ktap_plan(7);
	if (system("ip link set lo up"))
		die("lo:");
	test_others();
	test_much(SOCK_STREAM, 256 << 10, "a stream goes on");
	test_much(SOCK_SEQPACKET, 200 << 10, "a large segment goes, too");
	test_segment();
	test_begun();
	test_poll();
	test_books();
	return ktap_end();
}
