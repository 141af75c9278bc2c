// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 1200
 * quick: yes
 * kernels: uml
 * mode: time-travel
 *
 * The user timeout ends what makes no progress, and nothing else: a transfer as slow
 * as its contract goes on though its socket is closed, and so does one to a program
 * that does not read; a peer that has all packets sent again, and accepts none, does
 * not keep a connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "peer.h"

#define SECOND		1000000000ULL
#define TIMEOUT_MS	10000		/* the user timeout, where it is not the default */
#define SHORT_MS	2000		/* that of a receiver: a sender's probes are rarer */

/* Read @len bytes of @seed, with a time-out of @ms for each read. */
static bool read_all(int fd, size_t len, uint64_t seed, int ms)
{
	char *in = malloc(len + 1);
	size_t n = 0;
	bool ok;

	if (!in)
		die("malloc:");
	while (n < len && path_poll(fd, POLLIN, ms)) {
		ssize_t got = recv(fd, in + n, len + 1 - n, 0);

		if (got <= 0) {
			ktap_diag("recv: %s", got ? strerrorname_np(errno) : "end");
			break;
		}
		n += got;
	}
	ok = n == len && content_check(in, len, seed, 0) == len;
	if (!ok)
		ktap_diag("%zu of %zu bytes came", n, len);
	free(in);
	return ok;
}

static size_t write_all(int fd, size_t len, uint64_t seed)
{
	char *out = malloc(len);
	size_t n = 0;

	if (!out)
		die("malloc:");
	content_fill(out, len, seed, 0);
	while (n < len) {
		ssize_t sent = send(fd, out + n, len - n, MSG_NOSIGNAL);

		if (sent <= 0)
			break;
		n += sent;
	}
	free(out);
	return n;
}

/* One segment takes longer than the user timeout; it is accepted only as a whole. */
static void test_slow(int ms)
{
	struct sstp_rate_spec rate = { .peak = 100000 };
	uint64_t seed = nonce(), start;
	size_t len = 1000000;
	char netem[32];
	int tx, rx, l;
	bool ok;

	l = path_socket(B, SOCK_SEQPACKET);
	tx = path_socket(A, SOCK_SEQPACKET);
	sock_set(tx, SOL_SOCKET, SO_SNDBUF, 2 * len);
	if (setsockopt(tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	snprintf(netem, sizeof(netem), "delay %dms", ms);
	path_impair(B, netem);
	path_impair(A, netem);
	rx = path_connect(tx, l, AF_INET);
	start = now_ns();
	ok = write_all(tx, len, seed) == len;
	close(tx);
	ok &= read_all(rx, len, seed, 200000);
	ktap_diag("%llu ms", (unsigned long long)(now_ns() - start) / 1000000);
	ok &= now_ns() - start > 60 * SECOND;
	ok &= path_poll(rx, POLLIN, 10000) && !recv(rx, (char[1]){}, 1, 0);
	close(rx);
	ok &= path_settle();
	ktap_result(ok, "closed, one segment under 0.1 Mbit/s, %d ms", 2 * ms);
}

/* Small packets under a contract take as long as their bytes, whatever a full frame is. */
static void test_small(int mtu)
{
	struct sstp_rate_spec rate = { .peak = 1000000 };
	uint64_t start;
	int tx, rx, l, i, n = 0;
	char segment[64];

	path_impair(A, "delay 5ms");
	path_impair(B, "delay 5ms");
	path_run(R, "ip link set to-a mtu %d", mtu);
	path_run(R, "ip link set to-b mtu %d", mtu);
	path_run(A, "ip link set to-r mtu %d", mtu);
	path_run(B, "ip link set to-r mtu %d", mtu);
	l = path_socket(B, SOCK_SEQPACKET);
	tx = path_socket(A, SOCK_SEQPACKET);
	if (setsockopt(tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	rx = path_connect(tx, l, AF_INET);
	start = now_ns();
	for (i = 0; i < 500; i++)
		if (send(tx, segment, sizeof(segment), 0) != sizeof(segment))
			die("send:");
	close(tx);
	while (path_poll(rx, POLLIN, 60000) &&
	       recv(rx, segment, sizeof(segment), 0) == sizeof(segment))
		n++;
	ktap_diag("%d in %llu ms", n, (unsigned long long)(now_ns() - start) / 1000000);
	/* 130 bytes each, headers included: 0.52 s */
	ktap_result(n == 500 && now_ns() - start < SECOND * 7 / 10,
		    "small segments under 1 Mbit/s, MTU %d", mtu);
	close(rx);
	path_settle();
}

/* The program at @rx, which lacks packets, reads what there is, but the path is gone. */
static bool ends(int rx)
{
	uint64_t start = now_ns();
	char in[4096];

	path_impair(A, "loss 100%");
	path_impair(B, "loss 100%");
	while (recv(rx, in, sizeof(in), 0) > 0)
		;
	return path_poll(rx, POLLERR, 10 * SHORT_MS) &&
	       sock_int(rx, SOL_SOCKET, SO_ERROR) == ETIMEDOUT &&
	       now_ns() - start >= SHORT_MS * 1000000ULL;
}

/* The peer's program does not read for long. With a window of @factor/100 buffers most of what
 * comes finds no room. @gone: when the program reads, the path is gone.
 */
static void test_unread(int rcvbuf, int factor, bool gone)
{
	uint64_t seed = nonce();
	size_t len = 2000000;
	int tx, rx, l;
	size_t n;
	bool ok;

	l = path_socket(B, SOCK_STREAM);
	if (rcvbuf)
		sock_set(l, SOL_SOCKET, SO_RCVBUF, rcvbuf);
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, factor);
	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, SHORT_MS);
	tx = path_socket(A, SOCK_STREAM);
	sock_set(tx, SOL_SOCKET, SO_SNDBUF, 2 * len);
	sock_set(tx, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	path_impair(B, "delay 5ms loss 2%");
	path_impair(A, "delay 5ms");
	rx = path_connect(tx, l, AF_INET);
	n = write_all(tx, len, seed);
	path_poll(tx, POLLERR, 15 * TIMEOUT_MS);
	ok = !sock_int(tx, SOL_SOCKET, SO_ERROR) && !sock_int(rx, SOL_SOCKET, SO_ERROR);
	ok &= gone ? ends(rx) : n && read_all(rx, n, seed, 5000);
	path_impair(A, NULL);
	path_impair(B, NULL);
	close(tx);
	close(rx);
	ok &= path_settle();
	ktap_result(ok, "a program that does not read, buffer %d, window %d%%%s", rcvbuf, factor,
		    gone ? ", and a path that goes" : "");
}

/* The peer reports that all packets came, but for the last @behind ones, and asks for the same
 * again and again. The last one is the retransmission, which then seems to be on its way for ever.
 */
static void test_useless(bool closed, uint32_t behind)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0), err = 0;
	struct peer_init us = { .window = 1 };
	uint64_t start, end;
	struct peer p;

	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	peer_open(&p, l, &us);
	p.our_behind = behind;
	if (send(p.fd, "abc", 3, MSG_DONTWAIT) != 3)
		die("send:");
	peer_listen(&p, 10);
	if (closed)
		close(p.fd);
	start = now_ns();
	end = start + 3 * TIMEOUT_MS * 1000000ULL;
	while (now_ns() < end && !err) {
		p.our_received = p.their_shipment - behind;
		peer_snak(&p, 0, 0, 1);
		peer_listen(&p, 100);
		if (!closed)
			err = sock_int(p.fd, SOL_SOCKET, SO_ERROR);
		else if (!sstp_sockets())
			err = ETIMEDOUT;
	}
	ktap_diag("%llu ms", (unsigned long long)(now_ns() - start) / 1000000);
	ktap_result(err == ETIMEDOUT && p.came_again &&
		    now_ns() - start >= TIMEOUT_MS * 1000000ULL &&
		    now_ns() - start < 2 * TIMEOUT_MS * 1000000ULL,
		    "a peer that accepts nothing of what comes%s%s",
		    behind ? ", and sees nothing of it" : "", closed ? ", closed" : "");
	if (!closed)
		close(p.fd);
	close(p.udp);
}

/* The peer has all data, but takes no end of the stream: it asks for what was never sent. */
static void test_no_end(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0), err = 0;
	struct peer_init us = { .window = 1 };
	uint64_t start, ms = 0;
	struct peer p;

	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	peer_open(&p, l, &us);
	if (send(p.fd, "abc", 3, MSG_DONTWAIT) != 3 || shutdown(p.fd, SHUT_WR))
		die("send:");
	peer_listen(&p, 10);
	p.our_received = p.their_shipment;
	peer_pack(&p, 1, 1, 0, 0);
	for (start = now_ns(); ms < 3 * TIMEOUT_MS && !err; ms = (now_ns() - start) / 1000000) {
		peer_snak(&p, 1, 1, 2);
		peer_listen(&p, 100);
		err = sock_int(p.fd, SOL_SOCKET, SO_ERROR);
	}
	ktap_diag("%llu ms", (unsigned long long)ms);
	ktap_result(err == ETIMEDOUT && ms >= TIMEOUT_MS && ms < 2 * TIMEOUT_MS,
		    "a peer that accepts no end of the stream");
	close(p.fd);
	close(p.udp);
}

/* The peer asks for a packet, and then for nothing, as its program does not read: the user timeout
 * does not end that. @again: after @ms it asks again, and gets the packet a little later.
 */
static void test_pause(uint32_t timeout, uint32_t ms, bool again)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0), err;
	struct peer_init us = { .window = 1 };
	struct peer p;

	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, timeout);
	sock_set(l, SOL_SOCKET, SO_KEEPALIVE, 1);
	sock_set(l, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	peer_open(&p, l, &us);
	if (send(p.fd, "abc", 3, MSG_DONTWAIT) != 3)
		die("send:");
	peer_listen(&p, 10);
	p.our_received = p.their_shipment;
	peer_snak(&p, 0, 0, 1);
	peer_listen(&p, ms);
	if (again) {
		p.our_received = p.their_shipment;
		peer_snak(&p, 0, 0, 1);
		peer_listen(&p, 10);
	}
	p.our_received = p.their_shipment;
	peer_pack(&p, 1, 1, 0, 0);
	peer_listen(&p, 2000);
	err = sock_int(p.fd, SOL_SOCKET, SO_ERROR);
	ktap_result(!err, "a pause of %u ms, timeout %u ms%s: %s", ms, timeout,
		    again ? ", and a request" : "", strerrorname_np(err));
	close(p.fd);
	close(p.udp);
}

static const struct sstp_rate_spec rare = { .peak = 1000000, .burst_rate = 50, .burst_len = 1 };
static const struct sstp_rate_spec slow = { .peak = 10000000 };

/* A contract has its bursts further apart than the user timeout. The first burst is lost, and its
 * packet waits for the next burst.
 */
static void test_rare(bool closed)
{
	uint64_t seed = nonce(), start;
	size_t len = 1000;
	int tx, rx, l;
	bool ok;

	l = path_socket(B, SOCK_SEQPACKET);
	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	tx = path_socket(A, SOCK_SEQPACKET);
	sock_set(tx, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	if (setsockopt(tx, SOL_SSTP, SSTP_RATE, &rare, sizeof(rare)))
		die("SSTP_RATE:");
	path_impair(B, "delay 5ms");
	path_impair(A, "delay 5ms");
	rx = path_connect(tx, l, AF_INET);
	path_impair(B, "loss 100%");
	start = now_ns();
	if (write_all(tx, len, seed) != len)
		die("send:");
	if (closed)
		close(tx);
	usleep(500000);
	path_impair(B, "delay 5ms");
	ok = read_all(rx, len, seed, 60000);
	ktap_diag("%llu ms", (unsigned long long)(now_ns() - start) / 1000000);
	ok &= now_ns() - start > TIMEOUT_MS * 1000000ULL;
	/* The peer is not told that the sender gave up. */
	usleep(100000);
	ok &= !sock_int(rx, SOL_SOCKET, SO_ERROR);
	close(rx);
	if (!closed)
		close(tx);
	path_impair(A, NULL);
	path_impair(B, NULL);
	ok &= path_settle();
	ktap_result(ok, "bursts further apart than the user timeout%s", closed ? ", closed" : "");
}

/* A sender whose contract holds it back hardly probes: @n messages of @len bytes take at least
 * @seconds, and at most @most KEEPALIVEs.
 */
static void test_probes(const struct sstp_rate_spec *rate, size_t n, size_t len,
			unsigned int seconds, long most)
{
	uint64_t seed = nonce(), start;
	char *in = malloc(len + 1);
	long keepalives;
	int tx, rx, l;
	size_t i;
	bool ok;

	if (!in)
		die("malloc:");
	path_impair(B, "delay 1ms");
	l = path_socket(B, SOCK_SEQPACKET);
	sock_set(l, SOL_SOCKET, SO_RCVBUF, 4 * n * len);
	tx = path_socket(A, SOCK_SEQPACKET);
	sock_set(tx, SOL_SOCKET, SO_SNDBUF, 4 * n * len);
	if (setsockopt(tx, SOL_SSTP, SSTP_RATE, rate, sizeof(*rate)))
		die("SSTP_RATE:");
	rx = path_connect(tx, l, AF_INET);
	keepalives = path_counter(A, "OutKeepalives");
	start = now_ns();
	for (i = 0; i < n; i++)
		if (write_all(tx, len, seed) != len)
			die("send:");
	for (i = 0; i < n && path_poll(rx, POLLIN, 60000); i++)
		if (recv(rx, in, len + 1, 0) != (ssize_t)len ||
		    content_check(in, len, seed, 0) != len)
			break;
	keepalives = path_counter(A, "OutKeepalives") - keepalives;
	ok = i == n && now_ns() - start >= seconds * SECOND && keepalives <= most;
	ktap_diag("%llu ms, %ld KEEPALIVEs", (unsigned long long)(now_ns() - start) / 1000000,
		  keepalives);
	close(tx);
	close(rx);
	free(in);
	path_impair(B, NULL);
	ok &= path_settle();
	ktap_result(ok, "a contract of %llu bit/s causes few probes",
		    (unsigned long long)rate->peak);
}

/* The peer is gone, but the program goes on to write: less than the window that it had before. */
static void test_writes(void)
{
	uint64_t seed = nonce(), start, ms = 0;
	size_t len = 2000000, n, i;
	int tx, rx, l, err = 0;
	char small[100] = "";

	l = path_socket(B, SOCK_SEQPACKET);
	tx = path_socket(A, SOCK_SEQPACKET);
	sock_set(tx, SOL_SOCKET, SO_SNDBUF, 2 * len);
	sock_set(tx, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	sock_set(tx, SOL_SSTP, SSTP_NODELAY, 1);
	path_impair(B, "delay 150ms rate 100mbit limit 10000");
	path_impair(A, "delay 150ms");
	rx = path_connect(tx, l, AF_INET);
	for (i = 0; i < 10; i++) {
		n = write_all(tx, len / 10, seed);
		if (n != len / 10 || !read_all(rx, n, seed, 5000))
			die("no data before");
	}
	path_impair(B, "loss 100%");
	for (start = now_ns(); ms < 3 * TIMEOUT_MS && !err; ms = (now_ns() - start) / 1000000) {
		send(tx, small, sizeof(small), MSG_NOSIGNAL);
		usleep(250000);	/* less than a round trip */
		/* SO_ERROR also returns the soft error of an ICMP message, which ends nothing. */
		if (path_poll(tx, POLLERR, 0) & POLLERR)
			err = sock_int(tx, SOL_SOCKET, SO_ERROR);
	}
	ktap_diag("%llu ms", (unsigned long long)ms);
	path_impair(A, NULL);
	path_impair(B, NULL);
	close(tx);
	close(rx);
	/* An ICMP message may have set the soft error EHOSTUNREACH. */
	ktap_result((err == ETIMEDOUT || err == EHOSTUNREACH) && ms >= TIMEOUT_MS &&
		    ms < TIMEOUT_MS * 5 / 4 && path_settle(),
		    "the peer is gone while the program writes: %s", strerrorname_np(err));
}

static int mem_fd;	/* net.sstp.mem, which the hosts do not have */

/* Memory is used up, by data that the program does not read, too. */
static void test_lack(void)
{
	const char *few = "1 2 3";
	uint64_t seed = nonce();
	char old[100] = "";
	int tx, rx, l, err;
	size_t n;
	bool ok;

	l = path_socket(B, SOCK_STREAM);
	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20);
	tx = path_socket(A, SOCK_STREAM);
	sock_set(tx, SOL_SOCKET, SO_SNDBUFFORCE, 8 << 20);
	sock_set(tx, SOL_SSTP, SSTP_USER_TIMEOUT, TIMEOUT_MS);
	path_impair(B, "delay 5ms rate 50mbit limit 10000");
	path_impair(A, "delay 5ms");
	rx = path_connect(tx, l, AF_INET);
	n = write_all(tx, 2 << 20, seed);
	usleep(100000);
	if (pread(mem_fd, old, sizeof(old) - 1, 0) < 1 || pwrite(mem_fd, few, strlen(few), 0) < 1)
		die("net.sstp.mem:");
	path_poll(tx, POLLERR, 4 * TIMEOUT_MS);
	err = sock_int(tx, SOL_SOCKET, SO_ERROR);
	ktap_diag("%zu bytes, %ld discarded for lack of memory", n, path_counter(B, "InNoMem"));
	ok = !err && n && path_counter(B, "InNoMem") && read_all(rx, n, seed, 10000);
	close(tx);
	close(rx);
	path_impair(A, NULL);
	path_impair(B, NULL);
	ok &= path_settle();
	if (pwrite(mem_fd, old, strlen(old), 0) < 1)
		die("net.sstp.mem:");
	ktap_result(ok, "no memory for a program that does not read: %s", strerrorname_np(err));
}

int main(void)
{
	need_simulated_time();
	ktap_plan(21);
	mem_fd = open("/proc/sys/net/sstp/mem", O_RDWR);
	if (mem_fd < 0)
		die("net.sstp.mem:");
	path_make();
	test_slow(20);
	/* No time for a probe between packets */
	test_slow(300);
	test_small(1500);
	test_small(9000);
	test_unread(0, 100, false);
	test_unread(65536, 100, false);
	test_unread(65536, 250, false);
	test_unread(65536, 250, true);
	test_rare(false);
	test_rare(true);
	test_probes(&rare, 3, 1000, 35, 16);
	test_probes(&slow, 30, 65536, 1, 8);
	test_writes();
	test_lack();
	path_enter(B);
	test_useless(false, 0);
	test_useless(true, 0);
	test_useless(false, 1);
	test_useless(true, 1);
	test_no_end();
	test_pause(TIMEOUT_MS, 3 * TIMEOUT_MS, false);
	test_pause(SHORT_MS, 5000, true);
	return ktap_end();
}
