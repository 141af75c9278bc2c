// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 * kernels: uml
 * mode: time-travel
 *
 * What TCP's options do. Where TCP does the same within the same bounds both are
 * tried. In simulated time, so that it can be judged.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "path.h"

#define RTT_MS		20
#define ONE_WAY_MS	(RTT_MS / 2)

static enum proto proto;

static int tcp_socket(int host)
{
	int fd;

	path_enter(host);
	fd = proto_socket(proto, AF_INET, SOCK_STREAM, SOCK_NONBLOCK);
	if (fd < 0)
		die("socket:");
	return fd;
}

static void set(int fd, int opt, int value)
{
	sock_set(fd, IPPROTO_TCP, opt, value);
}

static int connected(int *peer)
{
	int fd = tcp_socket(A);

	*peer = path_connect(fd, tcp_socket(B), AF_INET);
	return fd;
}

static uint64_t ms_since(uint64_t start)
{
	return (now_ns() - start) / 1000000;
}

/* Return ms from @start until @fd has one of @events. */
static long until(int fd, short events, uint64_t start)
{
	return path_poll(fd, events, 200000) ? (long)ms_since(start) : -1;
}

static void must_take(const char *what, long ms, long least, long most)
{
	if (ms < least || ms > most)
		ktap_diag("%s: %ld ms, not %ld to %ld", what, ms, least, most);
	must(ms >= least && ms <= most, what);
}

static void write_bytes(int fd, size_t n)
{
	static const char zeros[20000];

	must_be("write", send(fd, zeros, n, MSG_NOSIGNAL), n);
}

static long read_all(int fd)
{
	char buf[4096];
	long sum = 0;
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		sum += n;
	return sum;
}

static void result(const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "%s, %s", name, proto_names[proto]);
	ktap_held(text);
}

/* --- What is written -------------------------------------------------------- */

static void test_cork(void)
{
	int peer, fd = connected(&peer);
	uint64_t start;

	set(fd, TCP_CORK, 1);
	start = now_ns();
	write_bytes(fd, 100);
	must_be("nothing comes", path_poll(peer, POLLIN, 100), 0);
	write_bytes(fd, 100);
	set(fd, TCP_CORK, 0);
	must_take("it comes when uncorked", until(peer, POLLIN, start),
		  100 + ONE_WAY_MS, 100 + ONE_WAY_MS + 4);
	must_be("all of it", read_all(peer), 200);

	/* Further small writes do not extend the time. */
	set(fd, TCP_CORK, 1);
	start = now_ns();
	write_bytes(fd, 100);
	path_poll(peer, POLLIN, 90);
	write_bytes(fd, 100);
	path_poll(peer, POLLIN, 90);
	write_bytes(fd, 100);
	must_take("no longer than 200 ms", until(peer, POLLIN, start), 200, 260);
	path_poll(peer, POLLRDHUP, 300);
	must_be("all of it", read_all(peer), 300);

	start = now_ns();
	write_bytes(fd, 100);
	set(fd, TCP_NODELAY, 1);
	must_take("TCP_NODELAY lets go", until(peer, POLLIN, start), ONE_WAY_MS,
		  ONE_WAY_MS + 4);
	must_be("all of it", read_all(peer), 100);
	start = now_ns();
	write_bytes(fd, 100);
	must_take("and does not uncork", until(peer, POLLIN, start), 200, 260);
	must_be("all of it", read_all(peer), 100);

	start = now_ns();
	write_bytes(fd, 100);
	shutdown(fd, SHUT_WR);
	must_take("the end lets go", until(peer, POLLIN, start), ONE_WAY_MS,
		  ONE_WAY_MS + 4);
	result("TCP_CORK");
	close(fd);
	close(peer);
}

static void await_bytes(int fd, long want)
{
	long got = 0;

	while (got < want && path_poll(fd, POLLIN, 1000) == POLLIN)
		got += read_all(fd);
	must_be("bytes", got, want);
}

/* A program that writes little at a time, to a peer that sends nothing. No reports may come so
 * early that each write leaves as a packet of its own.
 */
static void test_small_writes(void)
{
	const int writes = 1000, len = 100;
	struct sstp_info info;
	int peer, fd, i;

	path_impair(A, NULL);
	path_impair(B, NULL);
	fd = connected(&peer);
	for (i = 0; i < writes; i++)
		write_bytes(fd, len);
	await_bytes(peer, writes * len);
	info = sock_info(fd);
	ktap_diag("%llu packets", (unsigned long long)info.packets_sent);
	must(info.packets_sent < writes / 4, "most writes share a packet with others");
	result("small writes");
	path_impair(A, "delay 10ms");
	path_impair(B, "delay 10ms");
	close(fd);
	close(peer);
}

/* A server's answers, of a header and a file each */
static void test_cork_answers(void)
{
	int peer, fd = connected(&peer), i;
	uint64_t start = now_ns();

	set(peer, TCP_NODELAY, 1);
	for (i = 0; i < 10; i++) {
		set(fd, TCP_CORK, 1);
		write_bytes(fd, 300);
		write_bytes(fd, 2000);
		set(fd, TCP_CORK, 0);
		await_bytes(peer, 2300);
		write_bytes(peer, 80);
		await_bytes(fd, 80);
	}
	must_take("a round trip each", ms_since(start), 10 * RTT_MS, 12 * RTT_MS);
	result("TCP_CORK of each answer");
	close(fd);
	close(peer);
}

/* A cork does not keep out the rest, if what it holds back fills the send buffer. */
static void test_cork_small(void)
{
	int peer, fd = connected(&peer), sent = 0;
	static const char block[8192];
	uint64_t start = now_ns();

	sock_set(fd, SOL_SOCKET, SO_SNDBUF, 16384);
	set(fd, TCP_CORK, 1);
	for (; sent < 20 && path_poll(fd, POLLOUT, 1000) == POLLOUT; sent++)
		if (send(fd, block, sizeof(block), MSG_NOSIGNAL) != sizeof(block))
			break;
	must_be("writes", sent, 20);
	must_take("within some round trips", ms_since(start), 0, 20 * RTT_MS);
	result("TCP_CORK and a small send buffer");
	close(fd);
	close(peer);
}

/* sendfile() of more than the file has: the kernel announces more until it sees the end. */
static void test_sendfile(void)
{
	int peer, fd = connected(&peer), file = memfd_create("sendfile", 0);
	uint64_t start;

	if (ftruncate(file, 10000))
		die("ftruncate:");
	path_impair(B, "delay 10ms rate 0");
	start = now_ns();
	must_be("sendfile()", sendfile(fd, file, NULL, 1 << 20), 10000);
	must_take("it comes at once", until(peer, POLLIN, start), ONE_WAY_MS, ONE_WAY_MS + 4);
	await_bytes(peer, 10000);

	set(fd, TCP_CORK, 1);
	lseek(file, 0, SEEK_SET);
	must_be("sendfile()", sendfile(fd, file, NULL, 1 << 20), 10000);
	path_poll(peer, POLLRDHUP, 100);
	must(read_all(peer) < 10000, "TCP_CORK stays in force");
	result("sendfile() of more than the file has");
	close(file);
	close(fd);
	close(peer);
}

static int unsent(int fd)
{
	int n = -1;

	ioctl(fd, SIOCOUTQNSD, &n);
	return n;
}

static void test_notsent(int lowat)
{
	int peer, fd = connected(&peer), most = 0, rounds = 0;
	static const char block[8192];
	uint64_t start = now_ns();

	path_impair(B, "delay 10ms rate 10mbit limit 1000");
	if (lowat)
		set(fd, TCP_NOTSENT_LOWAT, lowat);
	/* A writer that always has more, for two seconds */
	while (ms_since(start) < 2000) {
		if (path_poll(fd, POLLOUT, 100)) {
			if (lowat && 2 * unsent(fd) >= lowat)
				must(false, "POLLOUT when enough is unsent");
			rounds++;
		}
		while (send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
			if (unsent(fd) > most)
				most = unsent(fd);
		read_all(peer);
	}
	ktap_diag("%s: %d: at most %d unsent, %d rounds", proto_names[proto],
		  lowat, most, rounds);
	if (lowat)
		must(most < lowat + (64 << 10), "little is unsent");
	else
		must(most > 400000, "much is unsent without");
	must(rounds > (lowat ? 10 : 0), "it is woken again and again");
	result(lowat ? "TCP_NOTSENT_LOWAT" : "no TCP_NOTSENT_LOWAT");
	close(fd);
	close(peer);
	path_impair(B, "delay 10ms");
}

/* A cork does not hold back what the limit waits for. */
static void test_notsent_cork(void)
{
	int peer, fd = connected(&peer), i;
	uint64_t start = now_ns();

	set(fd, TCP_NOTSENT_LOWAT, 16384);
	set(fd, TCP_CORK, 1);
	for (i = 0; i < 20; i++) {
		until(fd, POLLOUT, start);
		write_bytes(fd, 16384);
		read_all(peer);
	}
	must_take("no 200 ms each", ms_since(start), 0, 20 * 200 / 2);
	result("TCP_NOTSENT_LOWAT of a corked socket");
	close(fd);
	close(peer);
}

/* --- Time ------------------------------------------------------------------- */

static void test_keepalive(void)
{
	int peer, fd = connected(&peer);
	uint64_t start;

	set(fd, TCP_KEEPINTVL, 1);
	set(fd, TCP_KEEPCNT, 3);
	sock_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	write_bytes(fd, 1);
	path_poll(fd, POLLRDHUP, 300);
	/* Options of a connection that is already idle */
	set(fd, TCP_KEEPIDLE, 2);
	path_poll(fd, POLLRDHUP, 5000);
	must_be("alive while the peer answers", sock_int(fd, SOL_SOCKET, SO_ERROR), 0);
	path_impair(B, "loss 100%");
	start = now_ns();
	must_take("2 s and three probes of 1 s", until(fd, POLLRDHUP, start), 2900,
		  5300);
	must_be("error", sock_int(fd, SOL_SOCKET, SO_ERROR), ETIMEDOUT);
	result("TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT");
	path_impair(B, "delay 10ms");
	close(fd);
	close(peer);
}

static void test_user_timeout(void)
{
	int peer, fd = connected(&peer);
	uint64_t start;

	set(fd, TCP_USER_TIMEOUT, 3000);
	path_impair(B, "loss 100%");
	start = now_ns();
	write_bytes(fd, 1);
	must_take("3 s", until(fd, POLLRDHUP, start), 2900, 4500);
	must_be("error", sock_int(fd, SOL_SOCKET, SO_ERROR), ETIMEDOUT);
	result("TCP_USER_TIMEOUT");
	path_impair(B, "delay 10ms");
	close(fd);
	close(peer);
}

/* 250 ms at first, then twice as long each time */
static void test_syncnt(void)
{
	int fd = tcp_socket(A);
	uint64_t start;
	union addr a;

	path_impair(B, "loss 100%");
	set(fd, TCP_SYNCNT, 2);
	addr_parse(&a, "10.0.2.2", 9);
	start = now_ns();
	must(connect(fd, &a.sa, addr_len(&a)) < 0, "connect");
	must_take("three INITs", until(fd, POLLOUT, start), 1750, 1800);
	must_be("error", sock_int(fd, SOL_SOCKET, SO_ERROR), ETIMEDOUT);
	result("TCP_SYNCNT");
	path_impair(B, "delay 10ms");
	close(fd);
}

static bool none_at_a(void *arg)
{
	(void)arg;
	return !path_sockets(A);
}

static void test_linger2(int value, long least, long most)
{
	int peer, fd = connected(&peer);
	uint64_t start;

	set(fd, TCP_LINGER2, value);
	close(fd);
	start = now_ns();
	must(busywait(100000, none_at_a, NULL), "it goes");
	must_take("in time", ms_since(start), least, most);
	path_poll(peer, POLLERR, 1000);
	must_be("the peer is told", sock_int(peer, SOL_SOCKET, SO_ERROR), EPIPE);
	result(value < 0 ? "TCP_LINGER2 -1" : "TCP_LINGER2");
	close(peer);
}

/* --- Who accepts ------------------------------------------------------------ */

static int deferring(int seconds, union addr *a)
{
	socklen_t len = sizeof(*a);
	int l = tcp_socket(B);

	set(l, TCP_DEFER_ACCEPT, seconds);
	addr_any(a, AF_INET, 0);
	if (bind(l, &a->sa, addr_len(a)) || listen(l, 5) ||
	    getsockname(l, &a->sa, &len) ||
	    !addr_parse(a, "10.0.2.2", addr_port(a)))
		die("listener:");
	return l;
}

static int connect_to(const union addr *a)
{
	int fd = tcp_socket(A);

	if (!connect(fd, &a->sa, addr_len(a)) || errno != EINPROGRESS ||
	    path_poll(fd, POLLOUT, 1000) != POLLOUT)
		die("connect:");
	return fd;
}

static void test_defer_data(void)
{
	union addr a;
	int l = deferring(30, &a), fd = connect_to(&a), peer;
	uint64_t start;

	must_be("nobody is there yet", path_poll(l, POLLIN, 500), 0);
	start = now_ns();
	write_bytes(fd, 10);
	must_take("with data", until(l, POLLIN, start), ONE_WAY_MS, ONE_WAY_MS + 4);
	peer = accept(l, NULL, NULL);
	must_be("they can be read", recv(peer, (char[99]){}, 99, MSG_DONTWAIT), 10);
	close(fd);
	close(peer);

	fd = connect_to(&a);
	must_be("nobody is there yet", path_poll(l, POLLIN, 500), 0);
	start = now_ns();
	close(fd);
	must_take("with an end", until(l, POLLIN, start), ONE_WAY_MS, ONE_WAY_MS + 4);
	peer = accept(l, NULL, NULL);
	must_be("it can be read", recv(peer, (char[99]){}, 99, MSG_DONTWAIT), 0);
	close(peer);

	fd = connect_to(&a);
	path_poll(fd, POLLIN, 500);
	path_impair(B, "loss 100%");
	start = now_ns();
	write_bytes(fd, 10);
	path_poll(fd, POLLIN, 50);
	path_impair(B, "delay 10ms");
	must_take("with data that are sent again", until(l, POLLIN, start), 50, 1000);
	peer = accept(l, NULL, NULL);
	path_poll(peer, POLLIN, 1000);
	must_be("they can be read", recv(peer, (char[99]){}, 99, MSG_DONTWAIT), 10);
	result("TCP_DEFER_ACCEPT until there is data");
	close(fd);
	close(peer);
	close(l);
}

static void test_defer_time(void)
{
	uint64_t start = now_ns();
	union addr a;
	int l = deferring(3, &a), fd = connect_to(&a), peer;

	must_take("no data", until(l, POLLIN, start), 2900, 4500);
	peer = accept(l, NULL, NULL);
	must_be("nothing to read", recv(peer, (char[9]){}, 9, MSG_DONTWAIT), -1);
	write_bytes(fd, 10);
	path_poll(peer, POLLIN, 1000);
	must_be("later", recv(peer, (char[99]){}, 99, MSG_DONTWAIT), 10);
	result("TCP_DEFER_ACCEPT for its time");
	close(fd);
	close(peer);
	close(l);
}

/* The answer to the initiator's INIT is lost: this end asks for a report, to measure the path. The
 * report opens the window, as the initiator's segments are larger.
 */
static void test_defer_lost(void)
{
	uint64_t start = now_ns();
	union addr a;
	int l = deferring(3, &a), fd = tcp_socket(A), peer;

	if (proto == PROTO_SSTP)
		sock_set(l, SOL_SSTP, SSTP_SEGMENT_SIZE, 4096);
	path_impair(A, "loss 100%");
	if (!connect(fd, &a.sa, addr_len(&a)) || errno != EINPROGRESS)
		die("connect:");
	path_poll(fd, POLLOUT, 500);
	path_impair(A, "delay 10ms loss 0%");
	must_be("connected", path_poll(fd, POLLOUT, 5000), POLLOUT);
	must_take("no data", until(l, POLLIN, start), 2900, 9000);
	peer = accept(l, NULL, NULL);
	must(peer >= 0, "accept()");
	result("TCP_DEFER_ACCEPT after a loss");
	close(fd);
	close(peer);
	close(l);
}

/* Clients that never send cannot keep others out. */
static void test_defer_full(void)
{
	union addr a;
	int l = deferring(60, &a), fd[8], last;
	uint64_t start;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fd); i++)
		fd[i] = connect_to(&a);
	last = connect_to(&a);
	start = now_ns();
	write_bytes(last, 10);
	must_take("another is served", until(l, POLLIN, start), ONE_WAY_MS,
		  ONE_WAY_MS + 4);
	result("TCP_DEFER_ACCEPT of many");
	for (i = 0; i < ARRAY_SIZE(fd); i++)
		close(fd[i]);
	close(last);
	close(l);
}

/* --- Who receives ----------------------------------------------------------- */

static bool acked(int fd)
{
	int n = -1;

	ioctl(fd, SIOCOUTQ, &n);
	return !n;
}

static long ack_time(int fd, int peer)
{
	uint64_t start = now_ns();

	write_bytes(fd, 100);
	while (!acked(fd) && ms_since(start) < 1000)
		path_poll(fd, POLLRDHUP, 1);
	read_all(peer);
	return ms_since(start);
}

/* How many of 20 answers were delayed? */
static int slow_acks(int fd, int peer)
{
	int slow = 0, i;
	long ms;

	for (i = 0; i < 20; i++) {
		ms = ack_time(fd, peer);
		must(ms >= 40 && ms < 60, "all are answered");
		slow += ms > 45;
	}
	return slow;
}

static void test_quickack(void)
{
	int peer, fd;

	path_impair(B, "delay 30ms");
	fd = connected(&peer);
	/* Where small writes wait for acknowledgements, SSTP's sender asks for each. */
	set(fd, TCP_NODELAY, 1);
	/* A new window is told at once, whatever there is to acknowledge. */
	must(slow_acks(fd, peer) > 4, "by default they take their time");
	set(peer, TCP_QUICKACK, 1);
	must_be("slow ones", slow_acks(fd, peer), 0);
	set(peer, TCP_QUICKACK, 0);
	must(slow_acks(fd, peer) > 4, "they take their time again");
	set(peer, TCP_QUICKACK, 2);
	must_be("only what is there already",
		sock_int(peer, IPPROTO_TCP, TCP_QUICKACK), 0);
	result("TCP_QUICKACK");
	path_impair(B, "delay 10ms");
	close(fd);
	close(peer);
}

static void test_window_clamp(int clamp)
{
	int l = tcp_socket(B), fd = tcp_socket(A), peer, n = 0, quiet;
	static const char block[65536];

	if (clamp)
		set(l, TCP_WINDOW_CLAMP, clamp);
	peer = path_connect(fd, l, AF_INET);
	for (quiet = 0; quiet < 20; quiet++) {
		while (send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0)
			;
		path_poll(fd, POLLRDHUP, 50);
	}
	ioctl(peer, SIOCINQ, &n);
	ktap_diag("%s: %d: %d bytes", proto_names[proto], clamp, n);
	if (clamp)
		must(n <= clamp && n > clamp / 5, "no more than that comes");
	else
		must(n > 1000000, "much comes without");
	result(clamp ? "TCP_WINDOW_CLAMP" : "no TCP_WINDOW_CLAMP");
	close(peer);
	close(fd);
}

static void test_maxseg(void)
{
	int peer, fd = connected(&peer);

	must_be("TCP_MAXSEG", sock_int(fd, IPPROTO_TCP, TCP_MAXSEG),
		sock_info(fd).packet_size);
	result("TCP_MAXSEG");
	close(fd);
	close(peer);
}

int main(void)
{
	need_simulated_time();
	ktap_plan(2 * 11 + 11);
	path_make();
	path_impair(A, "delay 10ms");
	path_impair(B, "delay 10ms");
	for (proto = PROTO_TCP; proto <= PROTO_SSTP; proto++) {
		test_cork();
		test_cork_answers();
		test_sendfile();
		test_notsent(32768);
		test_notsent_cork();
		test_keepalive();
		test_user_timeout();
		test_defer_data();
		test_defer_time();
		test_defer_lost();
		test_window_clamp(500000);
	}
	proto = PROTO_SSTP;
	test_cork_small();
	test_notsent(0);
	test_syncnt();
	test_defer_full();
	test_quickack();
	test_small_writes();
	test_window_clamp(0);
	test_maxseg();
	ktap_result(path_settle(), "all sockets go");
	test_linger2(2, 1900, 2300);
	test_linger2(-1, 0, 200);
	return ktap_end();
}
