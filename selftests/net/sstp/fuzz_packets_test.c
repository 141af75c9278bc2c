// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * kernels: debug 6.12 kcsan
 *
 * Peers that know the protocol and every number of their connections send packets
 * of all types: right ones, which lead deep, and damaged, repeated, disordered,
 * joined and cut ones. Programs use the connections meanwhile. Honest connections
 * beside them carry data, which must stay right; new ones are made; in the end
 * nothing is left.
 *
 * It takes a minute on each kernel: two of each run, with the debug kernel and a stock
 * one. A slow machine goes on until packets got everywhere.
 *
 *	fuzz_packets_test [-T SECONDS] [-S SEED]
 *
 *   +--------+ 10.0.0.1           10.0.0.2 +-------+
 *   | kernel | fd00::1             fd00::2 | peers |
 *   +--------+                             +-------+
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fuzz_packets.h"
#include "nl.h"

#define SOCKETS_MAX	400		/* that the kernel has at a time */
#define BUFFER		"262144"	/* of each direction of a socket */
#define MEMORY		(512L << 10)	/* of a socket, taken all together */
#define SMALL		20000		/* buffers of every second listener */
/* Memory of the largest thing to come in: GRO may join 64 small packets as a list of skbs, of some
 * 2 KB each on the debug kernel.
 */
#define TRAIN		(144 << 10)
#define WRITE_MOST	250000		/* bytes that programs send in one call */
#define PORT		5000		/* of listeners */
#define SLOW_S		240		/* more that a slow machine may take to get everywhere */

struct rng rng;
struct conn conns[PEERS];
int icmp[2];
struct copy caught[KEPT];
unsigned int n_caught;
struct counts sent;

static struct fuzz fuzz;
static int ns[2];			/* the kernel's, the peers' */
static int listeners[4], responders[2];
static struct nl nl;

static void enter(int side)
{
	if (setns(ns[side], CLONE_NEWNET))
		die("setns:");
}

/* --- honest connections ---------------------------------------------------------- */

#define PATIENCE_MS	60000
#define CHUNK		10000

static struct honest {
	int fd[2];
	uint64_t seed, moved;
	volatile int error;		/* EBADMSG: wrong content */
	pthread_t writer, reader;
} honest[2];

static struct {
	int fd;
	union addr to;
	unsigned int made, failed;
	int error;
	pthread_t server, client;
} guests;

static volatile bool over;

static int listening(int type, int family, int backlog, union addr *a)
{
	int fd = proto_socket(PROTO_SSTP, family, type, 0);

	if (fd < 0 || bind(fd, &a->sa, addr_len(a)) || listen(fd, backlog) ||
	    getsockname(fd, &a->sa, &(socklen_t){ sizeof(*a) }))
		die("listener:");
	return fd;
}

static void *honest_write(void *arg)
{
	static __thread char buf[CHUNK];
	struct honest *h = arg;
	uint64_t pos = 0;

	while (!over && !h->error) {
		content_fill(buf, sizeof(buf), h->seed, pos);
		if (send(h->fd[0], buf, sizeof(buf), MSG_NOSIGNAL) !=
		    sizeof(buf)) {
			if (!h->error)
				h->error = errno ?: EIO;
			break;
		}
		pos += sizeof(buf);
		sleep_ns(20000000);	/* leave the others some CPU */
	}
	shutdown(h->fd[0], SHUT_WR);
	return arg;
}

static void *honest_read(void *arg)
{
	static __thread char buf[CHUNK];
	struct honest *h = arg;
	ssize_t n;

	while ((n = recv(h->fd[1], buf, sizeof(buf), 0)) > 0 &&
	       content_check(buf, n, h->seed, h->moved) == (size_t)n)
		h->moved += n;
	if (n)
		h->error = n < 0 ? errno : EBADMSG;
	shutdown(h->fd[0], SHUT_RDWR);	/* wakes a blocked writer */
	return arg;
}

static void honest_start(struct honest *h, int type, int family)
{
	union addr a;
	int l;

	addr_loopback(&a, family, 0);
	l = listening(type, family, 1, &a);
	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
	h->seed = rnd(&rng);
	h->fd[0] = proto_socket(PROTO_SSTP, family, type, 0);
	sock_set(h->fd[0], SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
	if (connect(h->fd[0], &a.sa, addr_len(&a)))
		die("connect:");
	h->fd[1] = accept(l, NULL, NULL);
	if (h->fd[1] < 0)
		die("accept:");
	close(l);
	pthread_create(&h->writer, NULL, honest_write, h);
	pthread_create(&h->reader, NULL, honest_read, h);
}

static bool honest_end(struct honest *h)
{
	pthread_join(h->writer, NULL);
	pthread_join(h->reader, NULL);
	ktap_diag("%llu bytes%s%s", (unsigned long long)h->moved,
		  h->error ? ", " : "",
		  h->error ? strerrorname_np(h->error) : "");
	close(h->fd[0]);
	close(h->fd[1]);
	return !h->error && h->moved;
}

static void *guests_come(void *arg)
{
	while (!over) {
		int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

		sock_set(fd, SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
		if (echo_ask(fd, &guests.to)) {
			guests.made++;
		} else {
			guests.error = errno;
			guests.failed++;
		}
		close(fd);
		sleep_ns(50000000);
	}
	return arg;
}

static void guests_start(void)
{
	addr_loopback(&guests.to, AF_INET, 0);
	guests.fd = listening(SOCK_STREAM, AF_INET, 128, &guests.to);
	sock_set(guests.fd, SOL_SSTP, SSTP_USER_TIMEOUT, PATIENCE_MS);
	pthread_create(&guests.server, NULL, echo_serve, &guests.fd);
	pthread_create(&guests.client, NULL, guests_come, NULL);
}

static bool guests_end(void)
{
	pthread_join(guests.client, NULL);
	shutdown(guests.fd, SHUT_RDWR);
	pthread_join(guests.server, NULL);
	close(guests.fd);
	ktap_diag("%u connections, %u failed%s%s", guests.made, guests.failed,
		  guests.failed ? ", the last: " : "", guests.failed ?
		  strerrorname_np(guests.error) : "");
	return guests.made && !guests.failed;
}

/* --- what the kernel says --------------------------------------------------------- */

static void answer(struct conn *c, size_t (*make)(struct conn *c,
						  union packet *p, int type),
		   int type)
{
	static union packet p;
	size_t len = make(c, &p, type);

	while (chance(&rng, c->wild / 2))
		len = damage(c, &p, len);
	deliver(c, &p, len);
}

static void opened(struct conn *c, const struct init_packet *i)
{
	c->their_cid = ntohl(i->cid);
	c->their_segment = ntohl(i->segment) - 1;
	c->their_shipment = ntohl(i->shipment) - 1;
	c->limit = ntohl(i->segment) + WINDOW - 1;
	c->stamp = ntohl(i->stamp);
}

/* Keep the numbers that later packets have to match. */
static void note(struct conn *c, const union packet *p, size_t len)
{
	if (p->h.type <= EOS && len >= DATA_HLEN) {
		if ((int32_t)(ntohl(p->data.shipment) - c->their_shipment) > 0)
			c->their_shipment = ntohl(p->data.shipment);
		if (p->h.type == DATA &&
		    (int32_t)(ntohl(p->data.segment) - c->their_segment) > 0)
			c->their_segment = ntohl(p->data.segment);
		c->stamp = ntohl(p->data.stamp);
		c->padded = p->h.type != DATA && len > DATA_HLEN;
		sent.probed += c->padded;
		if (p->h.flags & ACK)
			answer(c, ack_packet, PACK);
	} else if (p->h.type == PACK && p->h.flags & RIDES) {
		size_t head = sizeof(p->ack) + (p->h.flags & ECN ? 8 : 0);
		static union packet data;

		if (len >= head + DATA_HLEN) {
			memcpy(&data, p->bytes + head, len - head);
			note(c, &data, len - head);
		}
	} else if (p->h.type == SNAK &&
		   len >= sizeof(p->ack) + sizeof(p->ack.entry[0])) {
		c->is_asked = true;
		c->asked = ntohl(p->ack.entry[0].segment);
	} else if (p->h.type == INIT_ACK && c->state == ASKED &&
		   len >= offsetof(struct init_packet, options)) {
		opened(c, &p->init);
		c->state = OPEN;
		answer(c, probe_packet, KEEPALIVE);
	} else if (p->h.type == COOKIE && c->state == ASKED &&
		   len >= sizeof(p->cookie)) {
		memcpy(c->cookie, p->cookie.cookie, COOKIE_LEN);
		c->has_cookie = true;
		answer(c, init_packet, INIT);
	} else if (p->h.type == CLOSE && chance(&rng, 70)) {
		answer(c, end_packet, CLOSE);
	} else if (p->h.type == RESET && c->steps) {
		c->steps = 1;
	}
}

/* An INIT of a program that connects to a peer */
static void asked(const union packet *p, const union addr *from, int udp)
{
	struct conn *c = &conns[(uint16_t)(ntohs(p->init.dport) - PEER_PORT) %
				PEERS];

	if (c->active || c->state == GONE)
		return;
	c->to = *from;
	c->udp = udp;
	c->dport = ntohs(p->init.sport);
	if (c->state == ASKED && chance(&rng, 30)) {
		c->their_cid = ntohl(p->init.cid);
		answer(c, end_packet, COOKIE);
		return;
	}
	opened(c, &p->init);
	c->state = OPEN;
	answer(c, init_packet, INIT_ACK);
}

static void hear(int udp, struct conn *c)
{
	static union packet p;
	union addr from;
	ssize_t len;
	unsigned int i;

	for (;;) {
		memset(&from, 0, sizeof(from));
		len = recvfrom(udp, &p, sizeof(p), MSG_DONTWAIT, &from.sa,
			       &(socklen_t){ sizeof(from) });
		if (len < 0)
			return;
		if (len < (ssize_t)sizeof(p.h))
			continue;
		if (chance(&rng, 5)) {
			i = n_caught++ % KEPT;
			caught[i].len = len;
			memcpy(&caught[i].p, &p, len);
		}
		if (p.h.type == INIT && len >= (ssize_t)sizeof(p.init)) {
			asked(&p, &from, udp);
			continue;
		}
		/* The CID tells which peer a responder is addressed as. */
		if (!c || ntohl(p.h.cid) != c->cid) {
			i = ntohl(p.h.cid) % PEERS;
			if (conns[i].cid != ntohl(p.h.cid))
				continue;
			note(&conns[i], &p, len);
		} else {
			note(c, &p, len);
		}
	}
}

/* --- connections and what programs do with them ------------------------------------- */

static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };
static const int families[] = { AF_INET, AF_INET6 };

static void some_option(int fd)
{
	static const struct {
		int level, name;
		uint32_t least, most;
	} o[] = {
		{ SOL_SOCKET, SO_RCVBUF, 1, 200000 },
		{ SOL_SOCKET, SO_SNDBUF, 1, 200000 },
		{ SOL_SOCKET, SO_KEEPALIVE, 0, 1 },
		{ SOL_SSTP, SSTP_SEGMENT_SIZE, 1, 100000 },
		{ SOL_SSTP, SSTP_SEGMENT_LIMIT, 512, 1000000 },
		{ SOL_SSTP, SSTP_TOLERANCE, 0, 1000000 },
		{ SOL_SSTP, SSTP_ACK_STRATEGY, 0, 1 },
		{ SOL_SSTP, SSTP_WINDOW_FACTOR, 100, 1000 },
		{ SOL_SSTP, SSTP_USER_TIMEOUT, 100, 2000 },
		{ SOL_SSTP, SSTP_NODELAY, 0, 1 },
		{ IPPROTO_TCP, TCP_NODELAY, 0, 1 },
		{ IPPROTO_TCP, TCP_CORK, 0, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 1, 3 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 1, 3 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 1, 3 },
		{ IPPROTO_TCP, TCP_SYNCNT, 1, 3 },
		{ IPPROTO_TCP, TCP_LINGER2, 0, 2 },
		{ IPPROTO_TCP, TCP_DEFER_ACCEPT, 0, 2 },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 100, 2000 },
		{ IPPROTO_TCP, TCP_QUICKACK, 0, 2 },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0, 100000 },
		{ IPPROTO_TCP, TCP_WINDOW_CLAMP, 1, 1000000 },
	};
	const struct sstp_rate_spec rate = {
		.peak = chance(&rng, 30) ? 0 : 1000000ULL << below(&rng, 12),
	};
	uint32_t i = below(&rng, ARRAY_SIZE(o));
	uint32_t value = o[i].least + below(&rng, o[i].most - o[i].least + 1);
	const char *name = fuzz_controller(&rng);

	if (chance(&rng, 15))
		setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate));
	else if (chance(&rng, 15))
		setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, strlen(name));
	else
		setsockopt(fd, o[i].level, o[i].name, &value, sizeof(value));
}

static void conn_close(struct conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->active && c->state != GONE)
		close(c->udp);
	c->fd = -1;
	c->udp = -1;
	c->state = GONE;
}

/* A socket of AF_SSTP, or of the family of its addresses */
static int some_socket(int family, int type)
{
	return chance(&rng, 50) ? socket(AF_SSTP, type | SOCK_NONBLOCK, 0) :
				  socket(family, type | SOCK_NONBLOCK, IPPROTO_SSTP);
}

static void conn_open(struct conn *c)
{
	static const unsigned int wild[] = { 0, 3, 20, 60 };
	uint32_t which = below(&rng, 4);
	int i = c - conns;
	union addr to;

	memset(c, 0, sizeof(*c));
	c->steps = 1 + below(&rng, 400);
	c->wild = wild[below(&rng, ARRAY_SIZE(wild))];
	c->active = chance(&rng, 60);
	c->lazy = chance(&rng, 25);
	c->type = types[which / 2];
	c->controller = fuzz_controller(&rng);
	/* The CID tells the index. */
	do
		c->cid = rnd(&rng) / PEERS * PEERS + i;
	while (!c->cid || c->cid % PEERS != (uint32_t)i);
	c->shipment = odd_number(&rng);
	c->segment = odd_number(&rng);
	c->message = c->segment;
	c->control = c->shipment;
	c->state = ASKED;
	c->fd = -1;
	sent.opened++;
	if (c->active) {
		addr_parse(&c->to, which % 2 ? "fd00::1" : "10.0.0.1",
			   SSTP_PORT);
		c->dport = PORT + which;
		enter(1);
		c->udp = socket(c->to.sa.sa_family, SOCK_DGRAM, 0);
		enter(0);
		if (c->udp < 0)
			die("UDP:");
		answer(c, init_packet, INIT);
		return;
	}
	c->udp = responders[which % 2];
	addr_parse(&to, which % 2 ? "fd00::2" : "10.0.0.2", PEER_PORT + i);
	c->to = to;
	c->fd = some_socket(to.sa.sa_family, c->type);
	sock_set(c->fd, SOL_SSTP, SSTP_TOLERANCE, chance(&rng, 50) * 300000);
	while (chance(&rng, 50))
		some_option(c->fd);
	if (connect(c->fd, &to.sa, addr_len(&to)) && errno != EINPROGRESS)
		conn_close(c);
}

static void accept_all(void)
{
	union addr from;
	int i, fd;

	for (i = 0; i < 4; i++) {
		while ((fd = accept4(listeners[i], &from.sa,
				     &(socklen_t){ sizeof(from) },
				     SOCK_NONBLOCK)) >= 0) {
			struct conn *c = &conns[(uint16_t)(addr_port(&from) -
							   PEER_PORT) % PEERS];

			sent.established++;
			if (c->state != GONE && c->active && c->fd < 0)
				c->fd = fd;
			else
				close(fd);
		}
	}
}

/* Counts of failed checks, and the largest use of receive buffers, in percent and beyond twice */
static unsigned int unbounded, wrong_gaps, fullest, excess;

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* A receiver may use twice its buffer and a train; a sender its buffer and one message, with at
 * most as much memory for headers as for payload.
 */
static void check_memory(struct conn *c)
{
	uint32_t m[SK_MEMINFO_VARS];

	if (getsockopt(c->fd, SOL_SOCKET, SO_MEMINFO, m,
		       &(socklen_t){ sizeof(m) }))
		die("SO_MEMINFO:");
	c->rcvbuf = larger(c->rcvbuf, m[SK_MEMINFO_RCVBUF]);
	c->sndbuf = larger(c->sndbuf, m[SK_MEMINFO_SNDBUF]);
	fullest = larger(fullest, m[SK_MEMINFO_RMEM_ALLOC] * 100ULL / c->rcvbuf);
	if (m[SK_MEMINFO_RMEM_ALLOC] > 2 * c->rcvbuf)
		excess = larger(excess, m[SK_MEMINFO_RMEM_ALLOC] - 2 * c->rcvbuf);
	if (m[SK_MEMINFO_RMEM_ALLOC] <= 2 * c->rcvbuf + TRAIN &&
	    m[SK_MEMINFO_WMEM_QUEUED] <= c->sndbuf + 2 * WRITE_MOST)
		return;
	if (unbounded++ < 20)
		ktap_diag("received: %u, with a buffer of %u; to send: %u, of %u",
			  m[SK_MEMINFO_RMEM_ALLOC], c->rcvbuf,
			  m[SK_MEMINFO_WMEM_QUEUED], c->sndbuf);
}

/* Gaps are in order, disjoint, within the bytes that were read, and zero. */
static void read_gaps(int fd, char *buf, uint32_t len, int flags)
{
	static uint64_t control[16384 / 8];
	struct iovec iov = { buf, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	struct sstp_gap h;
	size_t end = 0, i, k, n;
	ssize_t got;

	memset(buf, 1, len);
	got = recvmsg(fd, &m, flags);
	cmsg = got < 0 ? NULL : CMSG_FIRSTHDR(&m);
	if (!cmsg)
		return;
	sent.gapped++;
	n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(h);
	for (i = 0; i < n; i++) {
		memcpy(&h, CMSG_DATA(cmsg) + i * sizeof(h), sizeof(h));
		k = 0;
		if (h.len && h.offset >= end + !!i && h.offset < (size_t)got &&
		    h.len <= got - h.offset)
			while (k < h.len && !buf[h.offset + k])
				k++;
		if (k == h.len && h.len) {
			end = h.offset + h.len;
			continue;
		}
		if (wrong_gaps++ < 20)
			ktap_diag("gap %zu of %zu: at %u after %zu, %u bytes of %zd, %zu are zero",
				  i, n, h.offset, end, h.len, got, k);
		return;
	}
}

/* An administrator ends the connection, or tries to end one that is gone. */
static void destroy(struct conn *c)
{
	uint64_t cookie;

	if (getsockopt(c->fd, SOL_SOCKET, SO_COOKIE, &cookie,
		       &(socklen_t){ sizeof(cookie) }))
		die("SO_COOKIE:");
	if (chance(&rng, 50)) {
		close(c->fd);
		c->fd = -1;
	}
	sent.destroyed += !nl_destroy(&nl, cookie);
}

/* Change the MTU of an end's route: larger packets are lost without an ICMP error. */
static void some_mtu(void)
{
	static const int mtus[] = { 9000, 9000, 4352, 2002, 1500, 1500, 1400, 1280 };
	struct ifreq r = { .ifr_name = "v" };

	r.ifr_mtu = mtus[below(&rng, ARRAY_SIZE(mtus))];
	if (ioctl(chance(&rng, 50) ? nl.fd : icmp[0], SIOCSIFMTU, &r))
		die("MTU:");
	sent.mtus++;
}

/* A program's call */
static void call(struct conn *c)
{
	static char buf[WRITE_MOST];
	int flags = MSG_DONTWAIT | (chance(&rng, 10) ? MSG_PEEK : 0);
	uint32_t len = 1 + below(&rng, chance(&rng, 50) ? 300 :
				 chance(&rng, 80) ? 20000 : sizeof(buf));
	struct sstp_info info;

	sent.calls++;
	switch (below(&rng, 50)) {
	case 0:
		if (chance(&rng, 30))
			destroy(c);
		else
			shutdown(c->fd, below(&rng, 3));
		break;
	case 1:
		close(c->fd);
		c->fd = -1;
		break;
	case 2:
		getsockopt(c->fd, SOL_SSTP, SSTP_INFO, &info,
			   &(socklen_t){ sizeof(info) });
		break;
	case 3 ... 5:
		some_option(c->fd);
		break;
	case 6 ... 25:
		send(c->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL |
		     (chance(&rng, 20) ? MSG_EOR : 0) |
		     (chance(&rng, 20) ? MSG_MORE : 0));
		break;
	default:
		if (c->lazy)
			break;
		if (chance(&rng, 20)) {
			recv(c->fd, buf, len, flags);
			break;
		}
		read_gaps(c->fd, buf, len, flags);
	}
}

static void step(void)
{
	struct conn *c = &conns[below(&rng, PEERS)];

	hear(responders[0], NULL);
	hear(responders[1], NULL);
	if (c->state == GONE) {
		conn_open(c);
		return;
	}
	if (c->active)
		hear(c->udp, c);
	if (!c->steps-- || (c->state == ASKED && chance(&rng, 5))) {
		conn_close(c);
		return;
	}
	if (c->state == OPEN || chance(&rng, 20))
		deliver_some(c);
	if (c->fd < 0)
		return;
	check_memory(c);
	if (chance(&rng, 50))
		call(c);
}

/* --- */

static void prepare(void)
{
	union addr a;
	int i;

	fuzz_load();
	fuzz_pair(ns, 0, 0);
	nl_open(&nl);
	fuzz_set("rmem", "4096 " BUFFER " " BUFFER);
	fuzz_set("wmem", "4096 " BUFFER " " BUFFER);
	fuzz_set("init_retries", "6");	/* honest ones may have to wait */
	/* A slow machine comes back to a connection after a second. */
	fuzz_set("user_timeout", "5000");
	fuzz_set("ecn", "1");
	for (i = 0; i < 4; i++) {
		addr_any(&a, families[i % 2], PORT + i);
		listeners[i] = some_socket(families[i % 2], types[i / 2]);
		if (i % 2)
			sock_set(listeners[i], SOL_IPV6, IPV6_V6ONLY, 1);
		sock_set(listeners[i], SOL_SSTP, SSTP_TOLERANCE, i ? 300000 : 0);
		sock_set(listeners[i], SOL_SSTP, SSTP_ACK_STRATEGY, i % 2);
		sock_set(listeners[i], SOL_SSTP, SSTP_WINDOW_FACTOR, 100 + 200 * i);
		if (i % 2)
			sock_set(listeners[i], SOL_SOCKET, SO_RCVBUF, SMALL / 2);
		if (bind(listeners[i], &a.sa, addr_len(&a)) ||
		    listen(listeners[i], 8))
			die("listener:");
	}
	enter(1);
	for (i = 0; i < 2; i++) {
		addr_any(&a, families[i], SSTP_PORT);
		responders[i] = socket(families[i], SOCK_DGRAM, 0);
		if (i)
			sock_set(responders[i], SOL_IPV6, IPV6_V6ONLY, 1);
		icmp[i] = socket(families[i], SOCK_RAW,
				 i ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
		if (responders[i] < 0 || icmp[i] < 0 ||
		    bind(responders[i], &a.sa, addr_len(&a)))
			die("responder:");
	}
	enter(0);
	/* Packets of one connection may come over another, also of one that was not opened yet. */
	for (i = 0; i < PEERS; i++) {
		conns[i].udp = conns[i].fd = -1;
		conns[i].controller = "hybrid";
	}
}

/* Counters of the kernel: a packet must have got to each of the first ones. */
static const char * const causes[] = {
	"Established", "InErrShort", "InErrType", "InErrFormat",
	"InNoConn", "InNoPort", "InWrongAddr", "InOutOfWindow",
	"InConflict", "InRecut", "InDuplicate", "InPacks", "InSnaks", "OutSnaks",
	"InMessages", "InMsgUnknown", "InEcnMarked", "EcnMarked", "EcnInvalid",
	"RetransData", "Resets", "Timeouts", "CookiesSent",
	"CookiesGood", "CookiesBad", "InErrVersion", "InDiscarded",
	"SegmentsWithGaps", "SoftReplaced", "PmtuShrunk",
	"ListenOverflows", "InNoMem", "InBacklogDrop", "AttemptFails",
	"EcnBleached", "EcnAllMarked", "EcnDropped", "InMsgFlood",
	"ContractsBroken", "ContractsTried",
};

static bool reached_all(void)
{
	const size_t needed = 19;
	size_t i;

	for (i = 0; i < needed; i++)
		if (sstp_counter(causes[i]) <= 0)
			return false;
	return sent.probed && sent.destroyed && sent.gapped;
}

static void report(void)
{
	size_t i;
	int type;

	ktap_diag("%lu packets, %lu trains, %lu ICMP errors, %lu damaged, %lu calls",
		  sent.packets, sent.trains, sent.icmp, sent.damaged, sent.calls);
	ktap_diag("%lu connections begun, %lu accepted, %lu destroyed", sent.opened,
		  sent.established, sent.destroyed);
	ktap_diag("%lu MTUs, %lu packets that try them, %lu reads with gaps", sent.mtus,
		  sent.probed, sent.gapped);
	for (type = 0; type < TYPES; type++)
		ktap_diag("type %d: %lu", type, sent.by_type[type]);
	ktap_diag("InPkts %ld, OutPkts %ld", sstp_counter("InPkts"),
		  sstp_counter("OutPkts"));
	for (i = 0; i < ARRAY_SIZE(causes); i++)
		ktap_diag("%s %ld", causes[i], sstp_counter(causes[i]));
}

int main(int argc, char **argv)
{
	long most = 0, pages, n;
	unsigned long steps = 0;
	uint64_t latest;
	bool ok;
	int i;

	fuzz_start(&fuzz, argc, argv, 60, 9);
	latest = fuzz.end + SLOW_S * 1000000000ULL;
	rng.state = fuzz.seed;
	prepare();
	honest_start(&honest[0], SOCK_STREAM, AF_INET);
	honest_start(&honest[1], SOCK_SEQPACKET, AF_INET6);
	guests_start();
	for (;;) {
		step();
		if (steps++ % 64)
			continue;
		if (now_ns() >= latest || (now_ns() >= fuzz.end && reached_all()))
			break;
		accept_all();
		if (chance(&rng, 5))
			some_mtu();
		pages = sstp_pages();
		n = sstp_sockets();
		most = n > most ? n : most;
		/* sstp_sockets() also counts sockets that programs have closed. */
		if (pages * getpagesize() > n * MEMORY && unbounded++ < 20)
			ktap_diag("%ld pages of %ld sockets", pages, n);
		/* Wait for sockets that are about to end. */
		while (n > SOCKETS_MAX && now_ns() < latest) {
			sleep_ns(10000000);
			n = sstp_sockets();
		}
	}
	over = true;
	for (i = 0; i < PEERS; i++)
		conn_close(&conns[i]);
	ktap_diag("%lu steps", steps);
	report();
	ktap_result(reached_all(), "packets got everywhere");
	ok = honest_end(&honest[0]);
	ok &= honest_end(&honest[1]);
	ktap_result(ok, "honest connections carried right data");
	ktap_result(guests_end(), "new connections were made");
	ktap_diag("%ld sockets at most; a receiver had %u %% of its buffer, or twice that and %u bytes",
		  most, fullest, excess);
	ktap_result(!unbounded, "memory was bounded");
	ktap_result(!wrong_gaps, "gaps are where they can be");
	fuzz_works();
	for (i = 0; i < 4; i++)
		close(listeners[i]);
	fuzz_unload();
	fuzz_end();
	return ktap_end();
}
