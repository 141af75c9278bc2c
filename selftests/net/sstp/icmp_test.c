// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * A router says that packets are too large for it, or somebody says so who is none:
 * a connection heeds it only if a packet of it is quoted, and not for long if it is not
 * true. What it then cuts anew is counted once.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "path.h"
#include "peer.h"

#define SMALL	1000	/* what is said to be the MTU */
#define MTU	1500
#define RECUT	100000	/* bytes, in 2 s */

struct quote {
	struct iphdr ip;
	struct udphdr udp;
	struct data_packet data;
	uint8_t more[64];
} __attribute__((packed));

static int sniffer, router;

static void open_sockets(void)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
	};

	path_enter(R);
	sniffer = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_IP));
	ll.sll_ifindex = if_nametoindex("to-b");
	router = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	if (sniffer < 0 || router < 0 || bind(sniffer, (void *)&ll, sizeof(ll)))
		die("sockets of the router:");
}

/* The next packet of DATA that B sends, from the well-known port */
static struct quote capture(void)
{
	struct quote q;

	for (;;) {
		if (path_poll(sniffer, POLLIN, 60000) != POLLIN)
			die("no DATA came by");
		if (recv(sniffer, &q, sizeof(q), MSG_DONTWAIT) == sizeof(q) &&
		    q.ip.protocol == IPPROTO_UDP && q.udp.source == htons(SSTP_PORT) &&
		    q.data.h.type == DATA)
			return q;
	}
}

static long icmp_seen(void)
{
	char line[512];
	long n = -1;
	FILE *f;

	path_enter(B);
	f = fopen("/proc/net/snmp", "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Icmp: %ld", &n);
	if (!f || n < 0)
		die("/proc/net/snmp");
	fclose(f);
	return n;
}

static bool more_seen(void *arg)
{
	return icmp_seen() > *(long *)arg;
}

static bool counted(void *arg)
{
	return path_counter(B, "InOutOfWindow") > *(long *)arg;
}

/* "Fragmentation needed", for @q */
static void tell(const struct quote *q)
{
	struct {
		struct icmphdr h;
		struct quote q;
	} __attribute__((packed)) p = {
		.h = { .type = ICMP_DEST_UNREACH, .code = ICMP_FRAG_NEEDED,
		       .un.frag.mtu = htons(SMALL) },
		.q = *q,
	};
	const uint8_t *at = (void *)&p;
	long before = icmp_seen();
	uint32_t sum = 0;
	union addr to;
	size_t i;

	for (i = 0; i + 1 < sizeof(p); i += 2)
		sum += at[i] << 8 | at[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	p.h.checksum = htons(~sum);
	addr_parse(&to, "10.0.2.2", 0);
	if (sendto(router, &p, sizeof(p), 0, &to.sa, addr_len(&to)) != sizeof(p))
		die("ICMP:");
	must(busywait(60000, more_seen, &before), "ICMP arrives");
}

struct mtu {
	int fd;
	unsigned int want;
};

static bool mtu_is(void *arg)
{
	const struct mtu *m = arg;

	return sock_info(m->fd).mtu == m->want;
}

struct reading {
	int fd;
	size_t left;
};

static bool all_read(void *arg)
{
	struct reading *r = arg;
	static char buf[RECUT];
	ssize_t n;

	while ((n = recv(r->fd, buf, sizeof(buf), 0)) > 0)
		r->left -= n;
	return !r->left;
}

static void send_all(int from, int to, size_t bytes)
{
	struct reading r = { .fd = to, .left = bytes };
	static char buf[100000];

	if (bytes > sizeof(buf) || send(from, buf, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		die("send:");
	must(busywait(60000, all_read, &r), "it arrives");
}

static int unsent(int fd)
{
	int n = -1;

	if (ioctl(fd, SIOCOUTQNSD, &n))
		die("SIOCOUTQNSD:");
	return n;
}

/* A segment, of which a part has been sent, is cut anew: that part is sent again. */
static void test_recut(void)
{
	const struct sstp_rate_spec rate = { .peak = 400000 };
	static const char segment[RECUT];
	struct reading r = { .left = RECUT };
	int fd = path_socket(A, SOCK_SEQPACKET), n;
	struct quote q;
	struct mtu m;

	m.fd = path_connect(fd, path_socket(B, SOCK_SEQPACKET), AF_INET);
	m.want = SMALL;
	sock_set(m.fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, RECUT / 2);
	if (setsockopt(m.fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	open_sockets();
	if (send(m.fd, segment, RECUT, MSG_NOSIGNAL) != RECUT)
		die("send:");
	q = capture();
	n = unsent(m.fd);
	must(n > 0 && n < RECUT, "a part of the segment has been sent");
	tell(&q);
	must(busywait(60000, mtu_is, &m), "the path MTU is less");
	r.fd = fd;
	must(busywait(30000, all_read, &r), "it arrives");
	must_be("unsent", unsent(m.fd), 0);
	must_be("room for more", path_poll(m.fd, POLLOUT, 60000), POLLOUT);
	close(fd);
	close(m.fd);
	close(sniffer);
	close(router);
	ktap_held("what is cut anew after a part of it was sent counts once");
}

int main(void)
{
	struct quote q, other;
	struct mtu m;
	long before;
	int fd;

	path_make();
	ktap_plan(5);
	fd = path_socket(A, SOCK_STREAM);
	m.fd = path_connect(fd, path_socket(B, SOCK_STREAM), AF_INET);
	open_sockets();
	send_all(m.fd, fd, 1000);
	q = capture();
	must_be("MTU", sock_info(m.fd).mtu, MTU);

	other = q;
	other.data.h.cid ^= htonl(1);
	tell(&other);
	must_be("its MTU", sock_info(m.fd).mtu, MTU);
	ktap_held("a packet of no connection is quoted: nothing changes");

	before = path_counter(B, "InOutOfWindow");
	other = q;
	other.data.shipment = htonl(ntohl(q.data.shipment) + (1 << 24));
	tell(&other);
	must(busywait(60000, counted, &before), "it is counted");
	must_be("its MTU", sock_info(m.fd).mtu, MTU);
	ktap_held("a packet that was never sent: nothing changes");

	tell(&q);
	m.want = SMALL;
	must(busywait(60000, mtu_is, &m), "the path MTU is less");
	send_all(m.fd, fd, 100000);
	send_all(m.fd, fd, 100000);
	m.want = MTU;
	must(busywait(60000, mtu_is, &m), "a probe shows that it is not");
	ktap_held("a packet that was sent: the connection is careful for a while");

	close(fd);
	close(m.fd);
	close(sniffer);
	close(router);
	test_recut();
	ktap_result(path_settle(), "nothing is left");
	return ktap_end();
}
