// SPDX-License-Identifier: GPL-2.0
/* Sends packets for fuzz_packets_test: in order or not, in trains, quoted by ICMP errors. */
#include <arpa/inet.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ipv6.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>

#include "fuzz_packets.h"

/* Packets that wait, to leave in another order */
static struct copy held[KEPT];
static unsigned int n_held;

void deliver(struct conn *c, const union packet *p, size_t len)
{
	/* Sometimes the packet comes from another peer. */
	int udp = chance(&rng, 1) ? conns[below(&rng, PEERS)].udp : c->udp;
	bool v6 = c->to.sa.sa_family == AF_INET6;

	/* Queues on the path mark packets for a while, or a host sends them as it likes. */
	if (chance(&rng, 10))
		setsockopt(udp, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_TCLASS : IP_TOS,
			   &(int){ below(&rng, 4) }, sizeof(int));
	sendto(udp, p, len, MSG_DONTWAIT, &c->to.sa, addr_len(&c->to));
	sent.packets++;
	if (len >= sizeof(p->h) && p->h.type < TYPES)
		sent.by_type[p->h.type]++;
}

/* Packets that were held back leave in another order. */
static void release(struct conn *c)
{
	while (n_held) {
		unsigned int i = below(&rng, n_held);

		deliver(c, &held[i].p, held[i].len);
		held[i] = held[--n_held];
	}
}

/* Send a train of packets of one size, the last of which may be shorter. */
static void deliver_train(struct conn *c)
{
	static union packet p;
	static uint8_t buf[60000];
	char control[CMSG_SPACE(sizeof(uint16_t))] = {};
	uint16_t size = 8 + below(&rng, 1450);
	struct iovec iov = { buf, 0 };
	struct msghdr msg = {
		.msg_name = &c->to, .msg_namelen = addr_len(&c->to),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
	unsigned int n = 2 + below(&rng, 60), i;
	size_t len;

	for (i = 0; i < n; i++) {
		/* GRO joins packets of a connection if no other packet comes between. */
		len = chance(&rng, 90) ? next_data(c, &p) :
		      some_packet(chance(&rng, 70) ? c :
				  &conns[below(&rng, PEERS)], &p);
		if (!i && p.h.type == DATA && len > DATA_HLEN &&
		    chance(&rng, 90))
			size = len < 1480 ? len : 1480;
		if (iov.iov_len + size > sizeof(buf))
			break;
		if (len < size && chance(&rng, 70)) {
			/* A shorter packet ends the train. */
			memcpy(buf + iov.iov_len, &p, len);
			iov.iov_len += len;
			break;
		}
		if (len < size)
			memset(p.bytes + len, 0, size - len);
		memcpy(buf + iov.iov_len, &p, size);
		iov.iov_len += size;
	}
	cm->cmsg_level = SOL_UDP;
	cm->cmsg_type = UDP_SEGMENT;
	cm->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(cm), &size, sizeof(size));
	sendmsg(c->udp, &msg, MSG_DONTWAIT);
	sent.trains++;
}

union icmp_header {
	struct icmphdr v4;
	struct icmp6hdr v6;
};

/* An error of ICMPv6 up to the IPv6 header of the packet of @to that it quotes; returns its end. */
static uint8_t *make_icmp6(uint8_t *buf, const union addr *to, const struct udphdr *udp,
			   uint32_t mtu)
{
	struct ipv6hdr ip = {
		.version = 6, .nexthdr = IPPROTO_UDP, .hop_limit = 60, .payload_len = udp->len,
	};
	union icmp_header h = {};

	h.v6.icmp6_type = 1 + below(&rng, 4);
	h.v6.icmp6_code = below(&rng, 8);
	h.v6.icmp6_mtu = htonl(mtu);
	memcpy(&ip.saddr, &to->v6.sin6_addr, 16);
	memcpy(&ip.daddr, &(struct in6_addr){ .s6_addr = { 0xfd, [15] = 2 } }, 16);
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), &ip, sizeof(ip));
	return buf + sizeof(h) + sizeof(ip);
}

/* The same of ICMP, without its sum */
static uint8_t *make_icmp4(uint8_t *buf, const union addr *to, const struct udphdr *udp,
			   uint32_t mtu)
{
	static const uint8_t types[] = {
		ICMP_DEST_UNREACH, ICMP_DEST_UNREACH, ICMP_TIME_EXCEEDED,
		ICMP_PARAMETERPROB, ICMP_REDIRECT,
	};
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 60, .protocol = IPPROTO_UDP,
		.tot_len = htons(sizeof(ip) + ntohs(udp->len)),
		.saddr = to->v4.sin_addr.s_addr, .daddr = htonl(0x0a000002),
	};
	union icmp_header h = {};

	h.v4.type = types[below(&rng, ARRAY_SIZE(types))];
	h.v4.code = h.v4.type != ICMP_DEST_UNREACH ? 0 :
		    chance(&rng, 50) ? ICMP_FRAG_NEEDED : below(&rng, 16);
	h.v4.un.frag.mtu = htons(mtu);
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), &ip, sizeof(ip));
	return buf + sizeof(h) + sizeof(ip);
}

static void sum_icmp4(uint8_t *buf, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += buf[i] << 8 | (i + 1 < len ? buf[i + 1] : 0);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	((struct icmphdr *)buf)->checksum = htons(~sum);
}

/* An ICMP error that quotes a packet of the kernel */
static void deliver_icmp(struct conn *c)
{
	static const uint32_t mtus[] = {
		0, 68, 127, 128, 552, 576, 1000, 1280, 1400, 1500, 65535,
	};
	static union packet quoted;
	bool v6 = c->to.sa.sa_family == AF_INET6;
	uint8_t buf[600] = {}, *at;
	struct udphdr udp;
	union addr us, to = c->to;
	uint32_t mtu = mtus[below(&rng, ARRAY_SIZE(mtus))];
	size_t len;

	if (getsockname(c->udp, &us.sa, &(socklen_t){ sizeof(us) }))
		return;
	len = some_packet(c, &quoted);
	if (chance(&rng, 80))
		quoted.h.cid = htonl(c->cid);
	if (len > 100)
		len = 100;
	udp = (struct udphdr){
		.source = htons(addr_port(&to)), .dest = htons(addr_port(&us)),
		.len = htons(sizeof(udp) + len),
	};
	at = v6 ? make_icmp6(buf, &to, &udp, mtu) : make_icmp4(buf, &to, &udp, mtu);
	memcpy(at, &udp, sizeof(udp));
	at += sizeof(udp);
	memcpy(at, &quoted, len);
	at += len;
	len = at - buf;
	if (chance(&rng, 10))
		len = below(&rng, len + 1);
	if (!v6 && len >= sizeof(union icmp_header))
		sum_icmp4(buf, len);
	addr_set_port(&to, 0);
	sendto(icmp[v6], buf, len, MSG_DONTWAIT, &to.sa, addr_len(&to));
	sent.icmp++;
}

void deliver_some(struct conn *c)
{
	bool flood = chance(&rng, 1);		/* of messages */
	unsigned int n = 1 + below(&rng, flood ? 60 : 8);
	static union packet p;
	size_t len;

	/* An end whose program does not read gets more data than others. */
	if (chance(&rng, c->lazy ? 60 : 15)) {
		deliver_train(c);
		return;
	}
	if (chance(&rng, 2)) {
		deliver_icmp(c);
		return;
	}
	while (n--) {
		len = flood ? message_packet(c, &p) : some_packet(c, &p);
		if (chance(&rng, 10) && n_held < KEPT) {
			held[n_held].len = len;
			memcpy(&held[n_held++].p, &p, len);
			continue;
		}
		deliver(c, &p, len);
		while (chance(&rng, 5))		/* the same again */
			deliver(c, &p, len);
	}
	if (chance(&rng, 50))
		release(c);
}
