// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 900
 * quick: yes
 *
 * Strangers send what they like: noise, malformed, truncated and mutated
 * packets, packets forged to come from the peer, a flood of INITs. Meanwhile a
 * connection carries data, which must stay right, and new clients connect.
 *
 *	hostile_test [-S SEED] [-n PACKETS]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

union packet {
	struct hdr h;
	struct data_packet data;
	struct ack_packet ack;
	struct init_packet init;
	struct cookie_packet cookie;
	struct end_packet end;
	uint8_t bytes[1472];
};

#define WAIT_MS		20000
#define CHUNK		32768
#define BATCH		64

static uint64_t rng;
static uint16_t encap_port = SSTP_PORT;

static void set_sysctl(const char *name, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/sys/net/sstp/%s", name);
	file_put(path, "%s", value);
}

static uint64_t rnd(void)
{
	rng += 0x9e3779b97f4a7c15;
	return mix64(rng);
}

static uint32_t below(uint32_t n)
{
	return (rnd() >> 32) % n;
}

/* Numbers that are more often mishandled than others */
static uint32_t odd_number(void)
{
	static const uint32_t odd[] = {
		0, 1, 2, 0x7f, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0xffffff,
		0x1000000, 0x1000001, 0x7fffffff, 0x80000000, 0xfffffffe,
		0xffffffff,
	};

	return below(3) ? odd[below(ARRAY_SIZE(odd))] : rnd();
}

/* Values that a stranger knows who has captured some packets of the connection */
static struct {
	uint16_t port;			/* UDP, of the connecting end */
	uint32_t server_cid, client_cid;
	uint32_t shipment, segment;	/* of the connecting end's DATA */
	uint32_t control;		/* of the other's PACK */
	uint32_t server_shipment, server_segment;	/* of its INIT_ACK */
	union packet data;		/* one of each as captured */
	union packet ack;
} heard;

/* --- what must survive ------------------------------------------------------ */

static struct {
	int fd[2];			/* of the connection: writer, reader */
	volatile uint64_t sent, received;
	volatile int error;		/* errno, EBADMSG for wrong content */
	volatile bool stop;
	volatile bool writer_done;
	bool intact;			/* when last looked at */
	uint64_t seed;
	uint16_t port;			/* of its listener */
	pthread_t writer, reader;
} live;

static struct {
	union addr listener;
	int fd;
	volatile unsigned int connects, failures;
	volatile int error;
	volatile uint64_t worst;	/* ns */
	volatile bool stop;
} clients;

static void *live_write(void *arg)
{
	static char buf[CHUNK];

	while (!live.stop && !live.error) {
		content_fill(buf, sizeof(buf), live.seed, live.sent);
		if (send(live.fd[0], buf, sizeof(buf), MSG_NOSIGNAL) !=
		    sizeof(buf)) {
			live.error = errno ?: EIO;
			break;
		}
		live.sent += sizeof(buf);
		sleep_ns(2000000);	/* leave the strangers some CPU */
	}
	live.writer_done = true;
	return arg;
}

static void *live_read(void *arg)
{
	static char buf[CHUNK];
	ssize_t n;

	while ((n = recv(live.fd[1], buf, sizeof(buf), 0)) > 0) {
		if (content_check(buf, n, live.seed, live.received) !=
		    (size_t)n) {
			live.error = EBADMSG;
			return arg;
		}
		live.received += n;
	}
	live.error = n ? errno : EPIPE;
	return arg;
}

static int listening(union addr *a, int backlog)
{
	int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*a);

	addr_loopback(a, AF_INET, 0);
	if (fd < 0 || bind(fd, &a->sa, addr_len(a)) || listen(fd, backlog) ||
	    getsockname(fd, &a->sa, &len))
		die("listener:");
	return fd;
}

static void live_start(void)
{
	union addr a;
	int l = listening(&a, 1);

	memset(&heard, 0, sizeof(heard));
	live.seed = rnd();
	live.port = addr_port(&a);
	live.fd[0] = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	if (live.fd[0] < 0 || connect(live.fd[0], &a.sa, addr_len(&a)))
		die("connect:");
	live.fd[1] = accept(l, NULL, NULL);
	if (live.fd[1] < 0)
		die("accept:");
	close(l);
	pthread_create(&live.writer, NULL, live_write, NULL);
	pthread_create(&live.reader, NULL, live_read, NULL);
}

/* Connect again for the next test if the connection failed. */
static void live_revive(void)
{
	if (live.intact)
		return;
	pthread_join(live.writer, NULL);
	pthread_join(live.reader, NULL);
	close(live.fd[0]);
	close(live.fd[1]);
	memset(&live, 0, sizeof(live));
	live_start();
}

static bool live_moved(void *arg)
{
	return live.error || live.received >= *(uint64_t *)arg;
}

/* End the threads, so that another connection can be made. */
static void live_end(void)
{
	shutdown(live.fd[0], SHUT_RDWR);
	shutdown(live.fd[1], SHUT_RDWR);
	live.intact = false;
}

/* Does the connection still carry data? */
static bool live_intact(const char *after)
{
	uint64_t goal = live.received + 4 * CHUNK;

	busywait(WAIT_MS, live_moved, &goal);
	if (live.error)
		ktap_diag("%s: the connection failed: %s", after,
			  strerrorname_np(live.error));
	else if (live.received < goal)
		ktap_diag("%s: the connection hangs at byte %llu", after,
			  (unsigned long long)live.received);
	live.intact = !live.error && live.received >= goal;
	if (!live.intact)
		live_end();
	return live.intact;
}

static void *run_clients(void *arg)
{
	struct timeval tv = { .tv_sec = WAIT_MS / 1000 };

	while (!clients.stop) {
		int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
		uint64_t start = now_ns();

		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
		if (echo_ask(fd, &clients.listener)) {
			clients.connects++;
		} else {
			clients.error = errno;
			clients.failures++;
		}
		start = now_ns() - start;
		if (clients.worst < start)
			clients.worst = start;
		close(fd);
		sleep_ns(5000000);
	}
	return arg;
}

static pthread_t clients_thread;

static void clients_start(void)
{
	pthread_t thread;

	clients.fd = listening(&clients.listener, 128);
	pthread_create(&thread, NULL, echo_serve, &clients.fd);
	pthread_create(&clients_thread, NULL, run_clients, NULL);
}

static bool clients_served(void *arg)
{
	return clients.failures || clients.connects >= *(unsigned int *)arg;
}

/* --- overhearing ------------------------------------------------------------- */

static int tap(void)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));

	if (fd < 0)
		die("AF_PACKET:");
	return fd;
}

/* Capture until both directions of the connection were seen; closes @fd. */
static void overhear(int fd)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	uint8_t buf[2048];
	bool data = false, ack = false;

	while (!(data && ack) && now_ns() < end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		const struct iphdr *ip = (void *)buf;
		const struct udphdr *udp = (void *)(buf + sizeof(*ip));
		const union packet *u = (void *)(udp + 1);
		ssize_t n;

		if (poll(&p, 1, 100) != 1)
			continue;
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < (ssize_t)(sizeof(*ip) + sizeof(*udp) + DATA_HLEN) ||
		    ip->protocol != IPPROTO_UDP || ip->ihl != 5)
			continue;
		n -= sizeof(*ip) + sizeof(*udp);
		if ((size_t)n > sizeof(*u))
			n = sizeof(*u);
		if (u->h.type == INIT && ntohs(u->init.dport) == live.port) {
			heard.port = ntohs(udp->source);
			heard.client_cid = ntohl(u->init.cid);
		} else if (u->h.type == INIT_ACK &&
			   ntohs(u->init.sport) == live.port) {
			heard.server_cid = ntohl(u->init.cid);
			heard.server_shipment = ntohl(u->init.shipment);
			heard.server_segment = ntohl(u->init.segment);
		} else if (u->h.type == DATA &&
			   ntohl(u->h.cid) == heard.server_cid) {
			heard.shipment = ntohl(u->data.shipment);
			heard.segment = ntohl(u->data.segment);
			memcpy(&heard.data, u, n);
			data = true;
		} else if (u->h.type == PACK && n >= (ssize_t)sizeof(u->ack) &&
			   ntohl(u->h.cid) == heard.client_cid) {
			heard.control = ntohl(u->ack.control);
			memcpy(&heard.ack, u, n);
			ack = true;
		}
	}
	close(fd);
	if (!data || !ack)
		die("no packet of the connection overheard");
}

/* --- making packets --------------------------------------------------------- */

static void fill_random(void *p, size_t len)
{
	content_fill(p, len, rnd(), 0);
}

static uint32_t any_cid(void)
{
	switch (below(4)) {
	case 0:
		return heard.server_cid;
	case 1:
		return heard.client_cid;
	default:
		return odd_number();
	}
}

static size_t make_init(union packet *p)
{
	uint8_t *o = p->init.options, *end = o + 100;

	memset(&p->init, 0, sizeof(p->init));
	p->h.type = INIT;
	p->init.cid = htonl(rnd() | 1);
	p->init.sport = htons(1024 + below(60000));
	p->init.dport = htons(addr_port(&clients.listener));
	p->init.shipment = htonl(rnd());
	p->init.segment = htonl(rnd());
	p->init.window = htonl(below(1000));
	p->init.limit = htonl(SSTP_SEGMENT_MAX);
	p->init.stamp = htonl(rnd());
	p->init.version = 1;
	p->init.sktype = SOCK_STREAM;
	/* Unknown options, which are skipped */
	while (o < end && below(4)) {
		*o++ = 100 + below(150);
		*o = below(20);
		o += 1 + *o;
	}
	p->h.packet = htons(o - p->init.options);
	return sizeof(p->init);
}

/* A packet whose fields may hold anything, of the right length for its type. */
static size_t make_shaped(union packet *p)
{
	uint32_t *w = (uint32_t *)(p->bytes + sizeof(struct hdr));
	size_t len, i;

	p->h.type = below(TYPES);
	p->h.cid = htonl(any_cid());
	p->h.flags = below(2) ? rnd() : below(16);
	p->h.packet = htons(below(2) ? below(8) : odd_number());
	switch (p->h.type) {
	case DATA:
		len = DATA_HLEN + 1 + below(1000);
		break;
	case KEEPALIVE:
	case EOS:
		len = DATA_HLEN;
		break;
	case PACK:	/* fields may follow */
		len = sizeof(p->ack) + (below(2) ? 0 : below(40));
		break;
	case SNAK:
		len = sizeof(p->ack) + 4 * below(64);
		break;
	case INIT:
	case INIT_ACK:
		len = sizeof(p->init);
		break;
	case COOKIE:
		len = sizeof(p->cookie);
		break;
	case MESSAGE:
		len = below(2) ? STATE_LEN : 16 + below(80);
		break;
	default:
		len = sizeof(p->end);
	}
	for (i = sizeof(struct hdr); i + 4 <= len; i += 4)
		*w++ = htonl(odd_number());
	return len;
}

static void flip_bits(union packet *p, size_t len)
{
	unsigned int n = 1 + below(8);

	while (len && n--)
		p->bytes[below(len < 64 ? len : 64)] ^= 1 << below(8);
}

/* One packet of noise; returns its length. */
static size_t make_noise(union packet *p)
{
	size_t len;

	switch (below(6)) {
	case 0:
		len = below(sizeof(*p));
		fill_random(p, len);
		return len;
	case 1:		/* only the type is right */
		len = 5 + below(300);
		fill_random(p, len);
		p->h.type = below(TYPES + 1);
		return len;
	case 2:
		len = make_init(p);
		flip_bits(p, len);
		return len;
	case 3:
		len = make_shaped(p);
		return len ? below(len) : 0;
	case 4:		/* a real one, damaged */
		*p = below(2) ? heard.data : heard.ack;
		len = p->h.type == DATA ? DATA_HLEN + below(1000) :
		      sizeof(p->ack);
		flip_bits(p, len);
		return len;
	default:
		return make_shaped(p);
	}
}

/* --- noise from sockets of strangers ---------------------------------------- */

#define STRANGERS	4

static int stranger[STRANGERS];
static uint64_t stranger_sent, stranger_got;
static size_t stranger_worst;		/* a reply larger than its cause */

static void strangers_open(void)
{
	union addr a;
	int i;

	for (i = 0; i < STRANGERS; i++) {
		addr_loopback(&a, i == 3 ? AF_INET6 : AF_INET, encap_port);
		stranger[i] = socket(a.sa.sa_family, SOCK_DGRAM, 0);
		if (stranger[i] < 0 ||
		    connect(stranger[i], &a.sa, addr_len(&a)))
			die("stranger:");
	}
}

/* The packet that was sent last with a CID, to find the cause of a reply */
static struct {
	uint32_t cid;
	size_t len;
} *causes;
static unsigned int n_causes;

static size_t cause_len(uint32_t cid)
{
	size_t most = 0;
	unsigned int i;

	for (i = 0; i < n_causes; i++)
		if (causes[i].cid == cid && causes[i].len > most)
			most = causes[i].len;
	return most;
}

/* Receive replies; returns their number. If causes are known, no reply may be larger than its
 * cause, and an INIT_ACK, which may be repeated much later, not larger than any INIT.
 */
static unsigned int take_replies(int fd)
{
	union packet p;
	unsigned int replies = 0;
	size_t most;
	ssize_t n;

	while ((n = recv(fd, &p, sizeof(p), MSG_DONTWAIT | MSG_TRUNC)) >= 0 ||
	       errno == ECONNREFUSED) {
		if (n < 0)
			continue;
		replies++;
		stranger_got += n;
		if (!n_causes || stranger_worst)
			continue;
		most = p.h.type == INIT_ACK ? sizeof(p.init) :
		       cause_len(p.h.cid);
		if ((size_t)n > most) {
			stranger_worst = n;
			ktap_diag("reply of %zd bytes, type %u, to %zu bytes",
				  n, p.h.type, most);
		}
	}
	return replies;
}

/* A train: as many packets of one size as fit, cut by the kernel. */
static unsigned int send_train(int fd)
{
	static uint8_t buf[60000];
	char control[CMSG_SPACE(sizeof(uint16_t))] = {};
	uint16_t size = 8 + below(1392);
	unsigned int n = 1 + below(40), i;
	struct iovec iov = { buf, 0 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
	union packet p;

	for (i = 0; i < n && iov.iov_len + size <= sizeof(buf); i++) {
		/* Trains of one connection and trains of several */
		if (!i || below(2)) {
			memset(&p, 0, sizeof(p));
			make_noise(&p);
		}
		if (below(2))
			p.data.shipment = htonl(ntohl(p.data.shipment) + 1);
		memcpy(buf + iov.iov_len, &p, size);
		iov.iov_len += size;
	}
	iov.iov_len -= below(size);	/* the last may be shorter */
	cm->cmsg_level = SOL_UDP;
	cm->cmsg_type = UDP_SEGMENT;
	cm->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(cm), &size, sizeof(size));
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
		return 0;
	stranger_sent += iov.iov_len;
	return i;
}

static unsigned int send_batch(int fd)
{
	static union packet packets[BATCH];
	struct mmsghdr m[BATCH] = {};
	struct iovec iov[BATCH];
	int i, n;

	for (i = 0; i < BATCH; i++) {
		iov[i].iov_base = &packets[i];
		iov[i].iov_len = make_noise(&packets[i]);
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	n = sendmmsg(fd, m, BATCH, MSG_NOSIGNAL);
	for (i = 0; i < n; i++)
		stranger_sent += m[i].msg_len;
	return n > 0 ? n : 0;
}

static void test_noise(unsigned long packets)
{
	unsigned long sent = 0, trains = 0;

	while (sent < packets) {
		int fd = stranger[below(STRANGERS)];

		if (below(3)) {
			sent += send_batch(fd);
		} else {
			sent += send_train(fd);
			trains++;
		}
		take_replies(fd);
		if (live.error)
			break;
	}
	ktap_diag("%lu packets, %lu trains", sent, trains);
	ktap_result(sent >= packets && live_intact("noise"),
		    "connection survives noise");
	ktap_diag("sent %llu bytes, got %llu in reply",
		  (unsigned long long)stranger_sent,
		  (unsigned long long)stranger_got);
	ktap_result(stranger_got <= stranger_sent,
		    "replies are less than what caused them");
}

static bool reset_came(void *arg)
{
	union packet p;

	return recv(stranger[0], &p, sizeof(p), MSG_DONTWAIT) > 0 &&
	       p.h.type == RESET && p.h.cid == *(uint32_t *)arg;
}

/* Wait until all packets that this CPU sent before were received. */
static void settle(void)
{
	union packet p = {};

	make_init(&p);
	p.init.dport = htons(1);	/* no listener */
	send(stranger[0], &p, sizeof(p.init), 0);
	if (!busywait(WAIT_MS, reset_came, &p.init.cid))
		die("no RESET");
}

static void test_replies(unsigned int packets)
{
	unsigned int replies = 0, i;
	cpu_set_t all, here;
	union packet p;
	size_t len;
	int fd;

	/* Run on one CPU, where packets are received in the order in which they are sent. */
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	causes = calloc(packets, sizeof(*causes));
	if (!causes || sched_getaffinity(0, sizeof(all), &all) ||
	    sched_setaffinity(0, sizeof(here), &here))
		die("test_replies:");
	settle();
	for (i = 0; i < STRANGERS; i++)
		take_replies(stranger[i]);

	for (i = 0; i < packets && !stranger_worst; i++) {
		fd = stranger[i % STRANGERS];
		memset(&p, 0, sizeof(p));
		switch (below(3)) {
		case 0:
			len = make_init(&p);
			if (below(2))
				p.init.dport = htons(below(65536));
			break;
		case 1:
			len = make_init(&p) - below(200);
			break;
		default:
			len = make_shaped(&p);
			if (below(2))
				len = below(len + 1);
		}
		causes[n_causes].cid = p.h.type == INIT ? p.init.cid : p.h.cid;
		causes[n_causes++].len = len;
		send(fd, &p, len, 0);
		replies += take_replies(fd);
	}
	settle();
	for (i = 0; i < STRANGERS; i++)
		replies += take_replies(stranger[i]);
	ktap_diag("%u packets, %u replies", n_causes, replies);
	ktap_result(replies && !stranger_worst,
		    "no reply is larger than its cause");
	n_causes = 0;
	free(causes);
	sched_setaffinity(0, sizeof(all), &all);
}

static bool init_refused(void *arg)
{
	return sstp_counter("InNoPort") > *(long *)arg;
}

/* An initiator's UDP port accepts no INIT: a filter that admits replies to it must not thereby
 * admit connections.
 */
static void test_client_port(void)
{
	union addr to;
	union packet p = {};
	long refused = sstp_counter("InNoPort");
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool ok;

	addr_loopback(&to, AF_INET, heard.port);
	if (fd < 0 || connect(fd, &to.sa, addr_len(&to)))
		die("UDP:");
	make_init(&p);
	send(fd, &p, sizeof(p.init), 0);
	ok = busywait(WAIT_MS, init_refused, &refused);
	ok &= recv(fd, &p, sizeof(p), MSG_DONTWAIT) < 0 && errno == EAGAIN;
	close(fd);
	ktap_result(ok, "no set-up where connections come from");
}

/* --- packets that claim to be the peer's ------------------------------------ */

static int raw_fd;

static uint16_t checksum(const void *p, size_t len, uint32_t sum)
{
	const uint8_t *b = p;
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += b[i] << 8 | b[i + 1];
	if (len % 2)
		sum += b[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

enum { SUM_RIGHT, SUM_WRONG, SUM_NONE };

static void forge(uint32_t saddr, uint16_t sport, uint16_t dport,
		  const void *data, size_t len, int sum)
{
	struct {
		struct iphdr ip;
		struct udphdr udp;
		uint8_t data[1472];
	} __attribute__((packed)) p = {};
	size_t total = sizeof(p.ip) + sizeof(p.udp) + len;
	struct {
		uint32_t saddr, daddr;
		uint8_t zero, protocol;
		uint16_t len;
	} pseudo = { htonl(saddr), htonl(INADDR_LOOPBACK), 0, IPPROTO_UDP,
		     htons(sizeof(p.udp) + len) };
	union addr to;
	uint16_t c;

	p.ip.version = 4;
	p.ip.ihl = 5;
	p.ip.ttl = 64;
	p.ip.protocol = IPPROTO_UDP;
	p.ip.saddr = pseudo.saddr;
	p.ip.daddr = pseudo.daddr;
	p.ip.tot_len = htons(total);
	p.udp.source = htons(sport);
	p.udp.dest = htons(dport);
	p.udp.len = pseudo.len;
	memcpy(p.data, data, len);
	c = checksum(&pseudo, sizeof(pseudo), 0);
	c = checksum(&p.udp, sizeof(p.udp) + len, (uint16_t)~c);
	p.udp.check = sum == SUM_NONE ? 0 : htons(c ?: 0xffff);
	if (sum == SUM_WRONG)
		p.udp.check ^= htons(0x1010);
	addr_loopback(&to, AF_INET, 0);
	while (sendto(raw_fd, &p, total, 0, &to.sa, addr_len(&to)) < 0 &&
	       errno == ENOBUFS)
		sched_yield();
}

/* Packets in a random direction of the connection */
static void forge_peer(bool to_server, const void *data, size_t len, int sum)
{
	forge(INADDR_LOOPBACK, to_server ? heard.port : encap_port,
	      to_server ? encap_port : heard.port, data, len, sum);
}

static bool is_near(uint32_t a, uint32_t b)
{
	return a - b + (1U << 27) < 1U << 28;
}

/* Is @n near a number that the connection is using? */
static bool is_used(uint32_t n)
{
	return is_near(n, heard.shipment) || is_near(n, heard.segment) ||
	       is_near(n, heard.control) || is_near(n, heard.server_shipment) ||
	       is_near(n, heard.server_segment);
}

/* Far from all of these, and from 0, where control numbers may begin */
static uint32_t far_number(void)
{
	uint32_t n;

	do
		n = rnd();
	while (is_used(n) || is_near(n, 0));
	return n;
}

static size_t forge_wrong_cid(union packet *p, bool to_server)
{
	size_t len = make_shaped(p);

	while (p->h.cid == htonl(heard.server_cid) ||
	       p->h.cid == htonl(heard.client_cid))
		p->h.cid = htonl(rnd());
	(void)to_server;
	return len;
}

static size_t forge_reset(union packet *p, bool to_server)
{
	uint32_t here = to_server ? heard.server_cid : heard.client_cid;
	uint32_t peer = to_server ? heard.client_cid : heard.server_cid;

	memset(&p->end, 0, sizeof(p->end));
	p->h.type = below(2) ? RESET : CLOSE;
	p->h.flags = below(2) ? STRAY : 0;
	p->h.cid = htonl(p->h.type == RESET && p->h.flags ? peer : here);
	p->end.code = htonl(below(6));
	p->end.seq = htonl(far_number());
	return sizeof(p->end);
}

/* A RESET by a stranger who knows no number */
static size_t forge_reset_zero(union packet *p, bool to_server)
{
	forge_reset(p, to_server);
	p->end.seq = 0;
	return sizeof(p->end);
}

static size_t forge_data(union packet *p, bool to_server)
{
	size_t bytes = 1 + below(1000);

	memset(p, 0, sizeof(*p));
	p->h.type = below(3);
	p->h.cid = htonl(to_server ? heard.server_cid : heard.client_cid);
	p->h.flags = rnd();
	p->data.shipment = htonl(far_number());
	p->data.segment = htonl(far_number());
	p->data.stamp = htonl(rnd());
	if (p->h.type != DATA)
		return DATA_HLEN;
	p->h.flags |= LAST;		/* of a segment of one packet */
	p->data.len = htonl(bytes);
	fill_random(p->data.payload, bytes);
	return DATA_HLEN + bytes;
}

static size_t forge_ack(union packet *p, bool to_server)
{
	struct snak_entry *e = p->ack.entry;

	memset(p, 0, sizeof(*p));
	p->h.type = below(2) ? PACK : SNAK;
	p->h.cid = htonl(to_server ? heard.server_cid : heard.client_cid);
	p->h.flags = rnd();
	/* Numbers that count from 0 are easy to guess. */
	p->ack.control = htonl(below(2) ? rnd() : heard.control + below(10000));
	p->ack.segment = htonl(far_number());
	p->ack.ack = htonl(far_number());
	p->ack.limit = htonl(below(2) ? rnd() : ntohl(p->ack.ack) + below(100));
	p->ack.echo = htonl(rnd());
	p->ack.highest = htonl(far_number());
	p->ack.received = htonl(rnd());
	p->ack.late = htons(odd_number());
	p->ack.progress = htons(odd_number());
	if (p->h.type == PACK)
		return sizeof(p->ack);
	p->h.packet = htons(1);
	e->segment = htonl(far_number());
	e->first = htons(below(2) ? 0 : below(65536));
	e->bits = htons(32);
	fill_random(e + 1, 4);
	return sizeof(p->ack) + sizeof(*e) + 4;
}

static size_t forge_malformed(union packet *p, bool to_server)
{
	uint32_t cid = to_server ? heard.server_cid : heard.client_cid;
	size_t len;

	switch (below(5)) {
	case 0:		/* a type there is not */
		len = 8 + below(100);
		fill_random(p, len);
		p->h.type = TYPES + below(256 - TYPES);
		break;
	case 1:		/* too short for its type */
		memset(p, 0, sizeof(*p));
		p->h.type = below(5);
		len = 8 + below(16);
		break;
	case 2:		/* more bytes than the segment has */
		len = forge_data(p, to_server);
		p->h.type = DATA;
		p->data.len = htonl(1);
		p->data.shipment = htonl(heard.shipment + 1000);
		p->data.segment = htonl(heard.segment + 10);
		len = DATA_HLEN + 2 + below(500);
		break;
	case 3:		/* a bitmap that is not there */
		len = forge_ack(p, to_server);
		p->h.type = SNAK;
		p->h.packet = htons(2 + below(65534));
		p->ack.control = htonl(heard.control + 1000);
		break;
	default:	/* set-up, of a connection that is */
		len = make_init(p);
		p->h.type = below(2) ? INIT_ACK : COOKIE;
	}
	p->h.cid = htonl(cid);
	return len;
}

/* Segments asked for twice: a small packet that causes much work */
static size_t forge_snak(union packet *p, bool to_server)
{
	const unsigned int n = 32;
	unsigned int back, i;
	uint32_t segment = odd_number();

	forge_ack(p, to_server);
	p->h.type = SNAK;
	p->h.packet = htons(n);
	/* Each entry asks for 64 segments, one for some of those before it. */
	back = 1 + below(n - 1);
	for (i = 0; i < n; i++)
		p->ack.entry[i] = (struct snak_entry){
			.segment = htonl(segment + i * 64 -
					 (i == back ? 1 + below(64) : 0)),
			.first = htons(64),
		};
	return sizeof(p->ack) + n * sizeof(p->ack.entry[0]);
}

/* A RESET that would end the connection, but for its checksum */
static size_t forge_good_reset(union packet *p, bool to_server)
{
	memset(p, 0, sizeof(*p));
	p->h.type = RESET;
	p->h.cid = htonl(to_server ? heard.server_cid : heard.client_cid);
	p->end.seq = htonl(heard.shipment + 50000);
	/* The packet is so long that UDP leaves the checksum to SSTP. */
	return sizeof(p->end) + 100;
}

/* A received packet again, with the number of a later shipment */
static size_t forge_ahead(union packet *p, bool to_server)
{
	(void)to_server;
	memset(p, 0, sizeof(*p));
	memcpy(p, &heard.data, DATA_HLEN);
	p->h.flags = LAST | AGAIN;
	p->h.packet = 0;
	p->data.shipment = htonl(heard.shipment + 60000);
	p->data.len = htonl(100);
	return DATA_HLEN + 100;
}

/* Capture packets of the connection, of another one if it has failed. */
static void hear_live(void)
{
	int fd = tap();

	live_revive();
	overhear(fd);
}

static void test_forged(const char *name, unsigned int n, int sum,
			size_t (*make)(union packet *p, bool to_server),
			const char *cause)
{
	long before = sstp_counter(cause);
	union packet p;
	unsigned int i;
	bool ok;

	hear_live();
	/* If its numbers are near 0, a RESET with that number may be right. */
	while (make == forge_reset_zero && is_used(0)) {
		live_end();
		hear_live();
	}
	for (i = 0; i < n && !live.error; i++) {
		bool to_server = make == forge_ahead || below(2);
		size_t len = make(&p, to_server);

		forge_peer(to_server, &p, len, sum);
	}
	ok = live_intact(name);
	if (sstp_counter(cause) <= before) {
		ktap_diag("%s: %s did not count", name, cause);
		ok = false;
	}
	ktap_result(ok, "connection survives %s", name);
}

static long snaks_seen(void)
{
	return sstp_counter("InErrFormat") + sstp_counter("InBacklogDrop");
}

static bool snaks_counted(void *arg)
{
	return live.error || snaks_seen() >= *(long *)arg;
}

/* Each is malformed, whatever its other numbers are. */
static void test_snaks(unsigned int n)
{
	long goal = snaks_seen() + n;
	union packet p;
	unsigned int i;
	bool ok;

	live_revive();
	for (i = 0; i < n; i++) {
		size_t len = forge_snak(&p, i % 2);

		forge_peer(i % 2, &p, len, SUM_RIGHT);
	}
	ok = busywait(WAIT_MS, snaks_counted, &goal) &&
	     snaks_seen() >= goal;
	if (!ok)
		ktap_diag("%ld of %u counted", snaks_seen() - goal + n, n);
	ktap_result(ok, "a SNAK that asks twice is malformed");
	ktap_result(live_intact("SNAKs"), "connection survives such SNAKs");
}

/* --- a flood of INITs ------------------------------------------------------- */

static void test_flood(unsigned int n)
{
	long before = sstp_sockets(), most = 0, now, good = sstp_counter("CookiesGood");
	unsigned int goal = clients.connects + 50, i;
	union packet p;

	clients.worst = 0;
	for (i = 0; i < n || (clients.connects < goal && !clients.failures &&
			      i < 100 * n); i++) {
		size_t len = make_init(&p);

		/* All of 127/8 is this host; none of its addresses has sent an INIT. */
		forge(0x7f000000 | (rnd() & 0xffffff), 1024 + below(60000),
		      encap_port, &p, len, SUM_RIGHT);
		if (i % 1024)
			continue;
		now = sstp_sockets();
		if (now > most)
			most = now;
	}
	busywait(WAIT_MS, clients_served, &goal);
	ktap_diag("%u INITs; %u clients in all, %u failed (%s), slowest %.0f ms",
		  i, clients.connects, clients.failures, clients.failures ?
		  strerrorname_np(clients.error) : "-", clients.worst / 1e6);
	ktap_result(!clients.failures && clients.connects >= goal,
		    "clients connect during a flood of INITs");
	ktap_diag("%ld sockets before, %ld at most", before, most);
	ktap_result(most - before < 1024, "a flood takes a bounded number of sockets");
	ktap_diag("cookies: sent %ld, good %ld, bad %ld", sstp_counter("CookiesSent"),
		  sstp_counter("CookiesGood"), sstp_counter("CookiesBad"));
	ktap_result(sstp_counter("CookiesSent") > 0 && sstp_counter("CookiesGood") > good,
		    "clients had to prove their address");
	ktap_result(live_intact("flood"), "connection survives a flood of INITs");
}

/* --- set-ups that stop after the cookie ------------------------------------- */

#define REQUESTS	400		/* more than can be pending */
#define BACKLOG	4


static bool request_reply(union packet *p)
{
	return recv(stranger[0], p, sizeof(*p), MSG_DONTWAIT) >=
	       (ssize_t)sizeof(p->cookie) &&
	       (p->h.type == COOKIE || p->h.type == INIT_ACK);
}

/* Receive the answer to the INIT at @arg, and stop; other sockets repeat theirs. */
static bool request_answered(void *arg)
{
	union packet *p = arg;

	return request_reply(p + 1) && p[1].h.cid == p->init.cid;
}

static bool cookies_seen(void *arg)
{
	return sstp_counter("CookiesGood") >= *(long *)arg;
}

/* Complete the set-up of an INIT_ACK. */
static void request_confirm(const union packet *ack)
{
	union packet p = { .h.cid = ack->init.cid, .h.type = KEEPALIVE };

	p.data.shipment = htonl(-1);
	send(stranger[0], &p, DATA_HLEN, 0);
}

static void test_requests(void)
{
	static union packet init[REQUESTS + 1], ack[REQUESTS];
	const struct timeval patience = { .tv_sec = WAIT_MS / 1000 };
	const struct linger now = { 1, 0 };
	unsigned int i, n = 0, acks = 0, got = 0;
	long good, dropped, nomem, before, most;
	union addr a;
	int l = listening(&a, BACKLOG), fd, c;
	uint8_t *o;

	/* No set-up times out: that would take a minute. */
	set_sysctl("init_retries", "7");
	take_replies(stranger[0]);
	for (i = 0; i < REQUESTS; i++) {
		make_init(&init[n]);
		init[n].init.dport = htons(addr_port(&a));
		init[n].init.shipment = 0;
		init[n].h.packet = htons(2 + COOKIE_LEN);
		o = init[n].init.options;
		memset(o, 0, sizeof(init[n].init.options));
		o[0] = 100;	/* room for the cookie */
		o[1] = COOKIE_LEN;
		send(stranger[0], &init[n], sizeof(init[n].init), 0);
		if (!busywait(WAIT_MS, request_answered, &init[n]))
			die("an INIT had no answer");
		if (init[n + 1].h.type == INIT_ACK) {
			ack[acks++] = init[n + 1];
			continue;
		}
		memcpy(o + 2, init[n + 1].cookie.cookie, COOKIE_LEN);
		o[0] = OPT_COOKIE;
		n++;
	}
	before = sstp_sockets();
	dropped = sstp_counter("ListenOverflows");
	nomem = sstp_counter("InNoMem");
	good = sstp_counter("CookiesGood") + n;
	for (i = 0; i < n; i++)
		send(stranger[0], &init[i], sizeof(init[i].init), 0);
	ktap_result(busywait(WAIT_MS, cookies_seen, &good),
		    "set-ups with a cookie from one address");
	most = sstp_sockets();
	/* The other listener repeats INIT_ACKs to this stranger, too: to answer one of these would
	 * give echo_serve() a connection that never sends.
	 */
	while (acks < REQUESTS && request_reply(&ack[acks]))
		acks += ack[acks].h.type == INIT_ACK &&
			ack[acks].init.sport == htons(addr_port(&a));
	ktap_diag("%u with a cookie; %u INIT_ACKs, sockets %ld to %ld", n, acks,
		  before, most);
	ktap_result(most - before < REQUESTS / 4 &&
		    sstp_counter("ListenOverflows") - dropped > REQUESTS / 2 &&
		    sstp_counter("InNoMem") == nomem,
		    "the backlog bounds set-ups with a cookie");

	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	c = connect(fd, &a.sa, addr_len(&a));
	ktap_diag("connect: %s", c ? strerrorname_np(errno) : "0");
	ktap_result(!c, "set-ups without an answer make way for a client");

	for (i = 0; i < acks; i++)
		request_confirm(&ack[i]);
	/* A connection has come, or is about to. */
	setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	while ((c = accept(l, NULL, NULL)) >= 0) {
		/* Neither end waits for an answer. */
		setsockopt(c, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		close(c);
		got++;
		fcntl(l, F_SETFL, O_NONBLOCK);
	}
	ktap_diag("%u accepted", got);
	ktap_result(got && got <= BACKLOG + 1,
		    "the backlog bounds what is accepted");
	close(fd);
	close(l);
	set_sysctl("init_retries", "3");
}

/* --- */

static bool live_finished(void *arg)
{
	(void)arg;
	return live.error || (live.writer_done && live.received == live.sent);
}

static bool live_failed(void *arg)
{
	(void)arg;
	return live.error;
}

static void test_end(void)
{
	union packet p;
	bool ok;
	int fd;

	fd = tap();
	overhear(fd);
	clients.stop = true;
	pthread_join(clients_thread, NULL);
	live.stop = true;
	ok = busywait(WAIT_MS, live_finished, NULL) && !live.error;
	ktap_diag("%llu bytes", (unsigned long long)live.received);
	ktap_result(ok, "all content arrived and is right");

	/* The same forgery with all numbers right has to work. */
	forge_peer(true, &p, forge_good_reset(&p, true), SUM_RIGHT);
	ok = busywait(WAIT_MS, live_failed, NULL) && live.error == ECONNRESET;
	ktap_result(ok, "a RESET with the right numbers does end it");

	/* A closed socket whose peer was reset meanwhile waits for fin_timeout, or for the user
	 * timeout: 60 s both, by default.
	 */
	set_sysctl("fin_timeout", "5");
	set_sysctl("user_timeout", "10000");
	shutdown(clients.fd, SHUT_RDWR);
	close(clients.fd);
	close(live.fd[0]);
	close(live.fd[1]);
	ktap_result(sstp_sockets_end(60000), "nothing is left");
}

int main(int argc, char **argv)
{
	const char *kernel = getenv("SSTP_KERNEL");
	unsigned long packets = 1000000;
	uint64_t seed = nonce();
	FILE *f;
	int c, fd;

	/* A debug kernel is some hundred times slower, mostly for its checkers, an emulated CPU ten
	 * times. The noise differs in each run, so uml gets the most.
	 */
	if (kernel && !strncmp(kernel, "debug", 5))
		packets = 20000;
	else if (kernel && strcmp(kernel, "uml"))
		packets = 200000;
	while ((c = getopt(argc, argv, "S:n:h")) != -1) {
		switch (c) {
		case 'S':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			packets = strtoul(optarg, NULL, 0);
			break;
		default:
			fprintf(c == 'h' ? stdout : stderr,
				"Usage: %s [-S SEED] [-n PACKETS]\n", argv[0]);
			return c == 'h' ? 0 : 2;
		}
	}
	if (unshare(CLONE_NEWNET) || system("ip link set lo up"))
		die("unshare:");
	if (!proto_here(PROTO_SSTP))
		die("socket(AF_SSTP):");
	ktap_plan(26);
	ktap_diag("seed %#llx (replay with -S)", (unsigned long long)seed);
	rng = seed;
	/* Unfinished set-ups end soon. */
	set_sysctl("init_retries", "3");
	f = fopen("/proc/sys/net/sstp/encap_port", "r");
	if (!f || fscanf(f, "%hu", &encap_port) != 1 || fclose(f))
		die("encap_port:");
	raw_fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (raw_fd < 0)
		die("SOCK_RAW:");
	strangers_open();
	fd = tap();
	live_start();
	overhear(fd);
	clients_start();

	test_noise(packets);
	test_replies(packets / 50);
	test_client_port();
	test_forged("forged packets with a wrong CID", packets / 50, SUM_RIGHT,
		    forge_wrong_cid, "InNoConn");
	test_forged("blind RESET and CLOSE", packets / 50, SUM_RIGHT,
		    forge_reset, "InOutOfWindow");
	test_forged("RESET and CLOSE with number 0", 100, SUM_RIGHT,
		    forge_reset_zero, "InOutOfWindow");
	test_forged("blind DATA", packets / 50, SUM_RIGHT, forge_data,
		    "InOutOfWindow");
	test_forged("blind PACK and SNAK", packets / 50, SUM_RIGHT, forge_ack,
		    "InOutOfWindow");
	test_forged("malformed packets of its own", packets / 50, SUM_RIGHT,
		    forge_malformed, "InErrFormat");
	test_forged("wrong checksums", packets / 100, SUM_WRONG,
		    forge_good_reset, "InErrCsum");
	test_forged("no checksums", packets / 100, SUM_NONE, forge_good_reset,
		    "InErrNoCsum");
	test_forged("a shipment far ahead", 1, SUM_RIGHT, forge_ahead, "InDuplicate");
	test_snaks(packets / 100);
	test_flood(packets / 10);
	test_requests();
	test_end();
	return ktap_end();
}
