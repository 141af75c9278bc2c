// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * kernels: debug gcov
 *
 * Every allocation of every call fails once, and so does every copy from or to
 * the program: the 1st, the 2nd, until the call ends with none left to fail. Each
 * time it works or says what TCP says, nothing is left behind (kmemleak looks when
 * all tests are over), and the socket goes on: the same call works when it is made
 * again, and data arrive over the connection. So it is with what kernel threads do
 * for a call.
 *
 *	fault_test [ROW]...
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "fault.h"
#include "fault_conn.h"
#include "peer.h"

#define MOST		2000		/* allocations of a call */

/* --- calls ----------------------------------------------------------------- */

struct option {
	int level, opt;
	const void *value;
	socklen_t len;
};

enum { NONE, MEMORY, COPIES, BOTH };

struct row {
	const char *name;
	enum stage stage;		/* before the call */
	long (*call)(struct conn *c);
	unsigned int faults;		/* that there must be */
	void (*before)(struct conn *c);
	/* In place of a transfer */
	void (*after)(struct conn *c);
	struct option option;
	int type;
	int also;			/* an error that it may give, too */
	bool fresh;			/* in a namespace of its own each time */
	bool threads;			/* faults are not ours but kernel threads' */
	bool nowait;			/* EAGAIN is an answer */
	bool ours;			/* TCP has nothing of the kind */
	bool v4;			/* over IPv4 only */
};

static const struct row *row;

static long do_bind(struct conn *c)
{
	union addr a;

	addr_loopback(&a, c->family, 0);
	return bind(c->a, &a.sa, addr_len(&a));
}

static long do_send(struct conn *c)
{
	return way_push(c->a, &c->ab, LEN, row->nowait ? MSG_DONTWAIT : 0);
}

static long do_send_little(struct conn *c)
{
	return way_push(c->a, &c->ab, 10, 0);
}

static int file;

static long do_sendfile(struct conn *c)
{
	off_t at = c->ab.sent;
	ssize_t n = sendfile(c->a, file, &at, LEN - at);

	if (n > 0)
		c->ab.sent += n;
	return n;
}

static long do_recv(struct conn *c)
{
	return way_pull(c->b, &c->ab, 0);
}

static long do_peek(struct conn *c)
{
	return way_pull(c->b, &c->ab, MSG_PEEK);
}

/* Every second packet of two segments never comes. */
#define SIZE		30		/* of a packet */
#define GAPS		24		/* in a segment */
#define GAPPED		(GAPS * 2 * SIZE)

static struct peer peer;

static bool accepted(const struct peer *p)
{
	return p->ack == 2;
}

static void gapped(struct conn *c)
{
	struct peer_init us = { .window = 1, .tolerance = 1000000 };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0), i;

	peer_may_vanish();
	if (l < 0 || setsockopt(l, SOL_SSTP, SSTP_TOLERANCE, &us.tolerance,
				sizeof(us.tolerance)))
		die("listener:");
	peer_open(&peer, l, &us);
	c->b = peer.fd;
	for (i = 1; i < 4 * GAPS; i += 2) {
		uint32_t packet = i % (2 * GAPS);

		peer.shipment++;
		peer_data(&peer, i / (2 * GAPS), packet, SIZE, GAPPED,
			  packet == 2 * GAPS - 1 ? LAST : 0);
	}
	peer_keepalive(&peer, 2);
	if (!peer_await(&peer, WAIT_MS, accepted))
		bad("not accepted");
}

/* The gaps of what was read are listed, or the list says that it lacks some. */
static long recv_gaps(struct conn *c, bool may_lack)
{
	uint64_t control[CMSG_SPACE(2 * GAPS * sizeof(struct sstp_gap)) / 8];
	struct iovec iov = { conn_in, sizeof(conn_in) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(c->b, &m, 0), at;
	struct cmsghdr *cmsg;
	struct sstp_gap h;
	size_t listed = 0, next = 0, i;

	if (n < 0)
		return n;
	cmsg = CMSG_FIRSTHDR(&m);
	if (cmsg)
		listed = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(h);
	for (i = 0; i < listed; i++) {
		memcpy(&h, CMSG_DATA(cmsg) + i * sizeof(h), sizeof(h));
		if (h.offset % (2 * SIZE) || h.len != SIZE ||
		    h.offset < next || h.offset >= (size_t)n)
			bad("gap %zu of %zd bytes: at %u, %u bytes", i, n,
			    h.offset, h.len);
		next = h.offset + 1;
	}
	if (n % GAPPED || !n ||
	    (2 * listed * SIZE != (size_t)n &&
	     (!may_lack || !(m.msg_flags & MSG_CTRUNC))))
		bad("%zd bytes, %zu gaps, flags %#x", n, listed, m.msg_flags);
	for (at = SIZE; at < n; at += 2 * SIZE) {
		uint64_t pos = c->ab.got + at;

		if (content_check(conn_in + at, SIZE, peer.seed + pos / GAPPED,
				  pos % GAPPED) != SIZE)
			bad("wrong content at %zd", at);
	}
	c->ab.got += n;
	return n;
}

static long do_recv_gaps(struct conn *c)
{
	return recv_gaps(c, true);
}

static void after_gaps(struct conn *c)
{
	if (c->ab.got < 2 * GAPPED && recv_gaps(c, false) < 0)
		bad("the rest: %s", strerrorname_np(errno));
	if (c->ab.got != 2 * GAPPED)
		bad("%llu bytes came", (unsigned long long)c->ab.got);
	peer_leave(&peer);
	close(peer.udp);
}

static long do_setsockopt(struct conn *c)
{
	const struct option *o = &row->option;

	return setsockopt(c->a, o->level, o->opt, o->value, o->len);
}

static long do_getsockopt(struct conn *c)
{
	const struct option *o = &row->option;
	socklen_t len = sizeof(conn_in);

	return getsockopt(c->a, o->level, o->opt, conn_in, &len);
}

static long do_poll(struct conn *c)
{
	struct pollfd p[2] = { { c->a, POLLOUT, 0 }, { c->b, POLLIN, 0 } };

	return poll(p, 2, 0) < 0 ? -1 : 0;
}

/* Closed sockets leave this epoll instance by themselves. */
static int epoll;

static long do_epoll(struct conn *c)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, c->a, &ev);
}

static long do_ioctl(struct conn *c)
{
	int n;

	return ioctl(c->b, FIONREAD, &n);
}

static long do_getpeername(struct conn *c)
{
	union addr a;

	return getpeername(c->a, &a.sa, &(socklen_t){ sizeof(a) });
}

static long do_shutdown(struct conn *c)
{
	return shutdown(c->a, SHUT_WR);
}

static long do_disconnect(struct conn *c)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };

	return connect(c->a, &sa, sizeof(sa));
}

static long do_close(struct conn *c)
{
	close(c->a);
	c->a = -1;
	return 0;
}

static long do_close_listener(struct conn *c)
{
	close(c->l);
	c->l = -1;
	return 0;
}

static void nonblock(struct conn *c)
{
	if (fcntl(c->a, F_SETFL, O_NONBLOCK))
		die("fcntl:");
}

static void write_file(struct conn *c)
{
	if (!file)
		file = memfd_create("fault", 0);
	content_fill(conn_out, LEN, c->ab.seed, 0);
	if (file < 0 || pwrite(file, conn_out, LEN, 0) != LEN)
		die("memfd:");
}

static void send_before(struct conn *c)
{
	if (way_push(c->a, &c->ab, LEN, 0) != LEN)
		bad("send: %s", strerrorname_np(errno));
}

static void many_segments(struct conn *c)
{
	const int size = LEN / 20;	/* the ring has room for 16 at first */

	if (setsockopt(c->a, SOL_SSTP, SSTP_SEGMENT_SIZE, &size, sizeof(size)))
		die("SSTP_SEGMENT_SIZE:");
}

static void arrived(struct conn *c)
{
	struct pollfd p = { .fd = c->b, .events = POLLIN };

	send_before(c);
	poll(&p, 1, WAIT_MS);
}

static void after_connect(struct conn *c)
{
	struct pollfd p = { .fd = c->a, .events = POLLOUT };
	int err;

	if (poll(&p, 1, WAIT_MS) != 1)
		bad("no connection");
	err = sock_int(c->a, SOL_SOCKET, SO_ERROR);
	if (err && err != ENOMEM && err != ENOBUFS)
		bad("SO_ERROR is %s", strerrorname_np(err));
	fcntl(c->a, F_SETFL, 0);
	if (err && (conn_connect(c) != -1 || errno != ECONNABORTED))
		bad("the error was not the end of it");
	if (!conn_reach(c, CONNECTED))
		bad("no connection: %s", strerrorname_np(errno));
	else
		conn_transfer(c);
}

static void after_shutdown(struct conn *c)
{
	if (!way_drain(c->b, &c->ab))
		return;
	conn_ended(c->b);
	if (way_push(c->b, &c->ba, LEN, 0) != LEN)
		bad("send: %s", strerrorname_np(errno));
	way_drain(c->a, &c->ba);
}

static void after_close(struct conn *c)
{
	if (way_drain(c->b, &c->ab))
		conn_ended(c->b);
}

static void unread(struct conn *c)
{
	struct pollfd p = { .fd = c->a, .events = POLLIN };

	if (way_push(c->b, &c->ba, LEN, 0) != LEN)
		bad("send: %s", strerrorname_np(errno));
	poll(&p, 1, WAIT_MS);
}

/* The other end is gone: a sender gets an error. */
static void check_gone(int fd)
{
	struct pollfd p = { .fd = fd };
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (now_ns() < end) {
		if (send(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
		    errno != EAGAIN)
			return;
		poll(&p, 1, 10);
	}
	bad("the other end has gone, and nobody knows");
}

static void after_reset(struct conn *c)
{
	check_gone(c->b);
}

static void after_refusal(struct conn *c)
{
	check_gone(c->a);
}

static void after_disconnect(struct conn *c)
{
	check_gone(c->b);
	close(c->b);
	c->b = -1;
	if (!conn_reach(c, CONNECTED))
		bad("no new connection: %s", strerrorname_np(errno));
	else
		conn_transfer(c);
}

static const int one = 1, kb = 100 << 10, tos = 0x20;
static const uint32_t pace = 100000000;
static const struct sstp_rate_spec rate = { .peak = 1000000000 };
static const struct linger linger = { 1, 1 };

#define ROW(n, s, c, f, ...) \
	{ .name = (n), .stage = (s), .call = (c), .faults = (f), __VA_ARGS__ }
#define SET(o, s, l, v, ...) \
	ROW("set " #o, s, do_setsockopt, COPIES, \
	    .option = { (l), (o), &(v), sizeof(v) }, ##__VA_ARGS__)
#define GET(o, l, ...) \
	ROW("get " #o, CONNECTED, do_getsockopt, COPIES, \
	    .option = { .level = (l), .opt = (o) }, ##__VA_ARGS__)

static const struct row rows[] = {
	ROW("socket", NOTHING, conn_socket, MEMORY),
	ROW("bind", SOCKET, do_bind, COPIES),
	ROW("listen", BOUND, conn_listen, MEMORY, .fresh = true),
	/* UDP logs that it has no memory for a reuseport group. */
	ROW("listen, threads", BOUND, conn_listen, MEMORY, .also = EADDRINUSE,
	    .fresh = true, .threads = true, .ours = true),
	ROW("connect", LISTENING, conn_connect, BOTH, .fresh = true),
	ROW("connect, threads", LISTENING, conn_connect, MEMORY, .fresh = true,
	    .threads = true, .ours = true),
	ROW("connect, non-blocking", LISTENING, conn_connect, BOTH,
	    .before = nonblock, .after = after_connect, .nowait = true),
	ROW("accept", PENDING, conn_accept, MEMORY),
	ROW("send", CONNECTED, do_send, BOTH),
	ROW("send, few bytes", CONNECTED, do_send_little, BOTH),
	ROW("send, non-blocking", CONNECTED, do_send, BOTH, .nowait = true),
	ROW("send, packets", CONNECTED, do_send, BOTH, .type = SOCK_SEQPACKET,
	    .ours = true),
	ROW("send, many segments", CONNECTED, do_send, BOTH,
	    .before = many_segments, .ours = true),
	ROW("sendfile", CONNECTED, do_sendfile, BOTH, .before = write_file),
	ROW("receive", CONNECTED, do_recv, COPIES, .before = arrived),
	ROW("receive, packets", CONNECTED, do_recv, COPIES, .before = arrived,
	    .type = SOCK_SEQPACKET, .ours = true),
	ROW("receive, peek", CONNECTED, do_peek, COPIES, .before = arrived),
	ROW("receive, gaps", NOTHING, do_recv_gaps, BOTH, .before = gapped,
	    .after = after_gaps, .fresh = true, .ours = true, .v4 = true),
	SET(SSTP_RATE, CONNECTED, SOL_SSTP, rate, .ours = true),
	SET(SSTP_CONTROLLER, SOCKET, SOL_SSTP, "rate", .ours = true),
	SET(SSTP_BUFFER_POLICY, SOCKET, SOL_SSTP, "static", .ours = true),
	SET(SSTP_SEGMENT_SIZE, CONNECTED, SOL_SSTP, kb, .ours = true),
	SET(SSTP_TOLERANCE, SOCKET, SOL_SSTP, kb, .ours = true),
	SET(SSTP_NODELAY, CONNECTED, SOL_SSTP, one, .before = send_before,
	    .ours = true),
	SET(SO_RCVBUF, CONNECTED, SOL_SOCKET, kb),
	SET(SO_LINGER, CONNECTED, SOL_SOCKET, linger),
	SET(SO_KEEPALIVE, CONNECTED, SOL_SOCKET, one),
	SET(SO_MAX_PACING_RATE, CONNECTED, SOL_SOCKET, pace),
	SET(SO_BINDTODEVICE, SOCKET, SOL_SOCKET, "lo"),
	SET(IP_TOS, CONNECTED, SOL_IP, tos),
	GET(SSTP_INFO, SOL_SSTP, .ours = true),
	ROW("get SSTP_MONITOR", CONNECTED, do_getsockopt, BOTH,
	    .option = { .level = SOL_SSTP, .opt = SSTP_MONITOR }, .ours = true),
	GET(SSTP_RATE, SOL_SSTP, .ours = true),
	GET(SO_ERROR, SOL_SOCKET),
	GET(IP_MTU, SOL_IP),
	ROW("getpeername", CONNECTED, do_getpeername, COPIES),
	ROW("ioctl FIONREAD", CONNECTED, do_ioctl, NONE),
	ROW("poll", CONNECTED, do_poll, COPIES),
	ROW("epoll_ctl", CONNECTED, do_epoll, BOTH),
	ROW("shutdown", CONNECTED, do_shutdown, MEMORY, .before = send_before,
	    .after = after_shutdown),
	ROW("disconnect", CONNECTED, do_disconnect, MEMORY, .after = after_disconnect),
	ROW("close", CONNECTED, do_close, MEMORY, .before = send_before,
	    .after = after_close),
	ROW("close, unread", CONNECTED, do_close, MEMORY, .before = unread,
	    .after = after_reset),
	ROW("close, listener", PENDING, do_close_listener, MEMORY,
	    .after = after_refusal),
};

/* --- all of it ------------------------------------------------------------- */

/* Results of the calls of a row */
struct tally {
	unsigned int faults[KINDS];
	unsigned int worked;
	unsigned int errors[200];	/* by errno */
};

/* SSTP gives the errors that TCP gives. */
static bool right_error(int err, int kind, const struct tally *tcp)
{
	if (row->nowait && (err == EAGAIN || err == EINPROGRESS))
		return true;
	return kind >= 0 && (err == ENOMEM || err == ENOBUFS ||
			     (err == EFAULT && kind == COPY) ||
			     err == row->also || tcp->errors[err]);
}

/* Run a call whose @n-th allocation or copy fails; returns false if it has fewer. */
static bool sweep_once(enum proto proto, int family, unsigned int n,
		       struct tally *t, const struct tally *tcp)
{
	struct conn c;
	int kind, err;
	long ret;

	conn_init(&c, proto, family, row->type ?: SOCK_STREAM);
	if (row->fresh)
		new_namespace();
	if (!conn_reach(&c, row->stage))
		die("%s: not ready:", row->name);
	if (row->before)
		row->before(&c);
	fault_arm(n, row->threads);
	ret = row->call(&c);
	err = errno;
	kind = fault_disarm();

	if (kind >= 0)
		t->faults[kind]++;
	if (ret >= 0)
		t->worked += kind >= 0;
	else if (err < (int)ARRAY_SIZE(t->errors))
		t->errors[err]++;
	if (proto == PROTO_SSTP) {
		if (ret < 0 && !right_error(err, kind, tcp))
			bad("%s %u: %s", kind_name(kind), n,
			    strerrorname_np(err));
		if (ret < 0 && err != EAGAIN && err != EINPROGRESS &&
		    row->call(&c) < 0 && errno != EINPROGRESS)
			bad("%s %u, and again: %s", kind_name(kind), n,
			    strerrorname_np(errno));
		if (row->after)
			row->after(&c);
		else if (!conn_reach(&c, CONNECTED))
			bad("%s %u, no connection: %s", kind_name(kind), n,
			    strerrorname_np(errno));
		else
			conn_transfer(&c);
		if (!all_held)
			ktap_diag("after %s %u", kind_name(kind), n);
	}
	conn_leave(&c);
	return kind >= 0;
}

static void sweep_kinds(unsigned int kinds, enum proto proto, int family,
			struct tally *t, const struct tally *tcp)
{
	unsigned int n = 1, none = 0;

	fault_kinds(kinds);
	/* A slab or a route that was cached this time may be missing the next time. */
	while (n < MOST && all_held) {
		if (sweep_once(proto, family, n, t, tcp)) {
			none = 0;
			n++;
		} else if (++none == 3) {
			return;
		}
	}
	if (all_held)
		bad("no end of allocations");
}

/* Copies are counted apart from allocations. How many allocations come before a copy
 * differs from call to call with what caches hold, so the n-th of both together might
 * never be a copy.
 */
static void sweep(enum proto proto, int family, struct tally *t,
		  const struct tally *tcp)
{
	sweep_kinds(1 << SLAB | 1 << PAGE, proto, family, t, tcp);
	sweep_kinds(1 << COPY, proto, family, t, tcp);
}

static const char *tally_text(const struct tally *t)
{
	static char text[400];
	unsigned int i;
	int at;

	at = sprintf(text, "%u slab, %u page, %u copy: %u worked",
		     t->faults[SLAB], t->faults[PAGE], t->faults[COPY],
		     t->worked);
	for (i = 0; i < ARRAY_SIZE(t->errors); i++)
		if (t->errors[i] && at < 350)
			at += sprintf(text + at, ", %u %s", t->errors[i],
				      strerrorname_np(i));
	return text;
}

static void test_row(int family)
{
	const char *over = family == AF_INET ? "IPv4" : "IPv6";
	struct tally tcp = {}, us = {};
	unsigned int memory;

	all_held = true;
	if (!row->ours) {
		sweep(PROTO_TCP, family, &tcp, NULL);
		ktap_diag("%s over %s, TCP:  %s", row->name, over,
			  tally_text(&tcp));
	}
	all_held = true;
	sweep(PROTO_SSTP, family, &us, &tcp);
	ktap_diag("%s over %s, SSTP: %s", row->name, over, tally_text(&us));
	memory = us.faults[SLAB] + us.faults[PAGE];
	if ((row->faults & MEMORY && !memory) ||
	    (row->faults & COPIES && !us.faults[COPY]) ||
	    (row->faults == NONE && memory + us.faults[COPY]))
		bad("not the faults that there should be");
	ktap_result(all_held, "%s over %s", row->name, over);
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	static const int families[] = { AF_INET, AF_INET6 };
	unsigned int i, f, plan = 1;
	int home;

	conn_lock_memory();
	fault_init();
	epoll = epoll_create1(0);
	new_namespace();
	home = open("/proc/self/ns/net", O_RDONLY);
	if (home < 0)
		die("namespace:");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (wanted(rows[i].name, argc, argv))
			plan += rows[i].v4 ? 1 : 2;
	ktap_plan(plan);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (f = 0; f < 2; f++) {
			row = &rows[i];
			if (!wanted(row->name, argc, argv) || (f && row->v4))
				continue;
			if (setns(home, CLONE_NEWNET))
				die("setns:");
			test_row(families[f]);
		}
	if (setns(home, CLONE_NEWNET))
		die("setns:");
	ktap_result(busywait(3 * WAIT_MS, conns_gone, NULL),
		    "no socket and no memory is left");
	return ktap_end();
}
