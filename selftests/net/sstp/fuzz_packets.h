/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of fuzz_packets_test share: its connections, and packets made and delivered. */
#ifndef _SSTP_TEST_FUZZ_PACKETS_H
#define _SSTP_TEST_FUZZ_PACKETS_H

#include "fuzz.h"
#include "peer.h"

#define LARGEST		65507		/* in a UDP datagram over IPv4 */

#define PEERS		24
#define WINDOW		64
#define PEER_PORT	20000		/* of peers, by index */
#define KEPT		64		/* segments, or packets, in memory */

union packet {
	struct hdr h;
	struct data_packet data;
	struct ack_packet ack;
	struct init_packet init;
	struct cookie_packet cookie;
	struct message_packet message;
	struct end_packet end;
	uint32_t word[(LARGEST + 3) / 4];
	uint8_t bytes[LARGEST];
};

enum state { GONE, ASKED, OPEN };

/* A connection with the kernel; numbers are those in packets. */
struct conn {
	enum state state;
	unsigned int steps;		/* until it is given up */
	unsigned int wild;		/* percent of packets that are damaged */
	bool active;			/* we sent the INIT */
	int fd;				/* the program's end, or -1 */
	int udp;			/* ours */
	union addr to;			/* the kernel's, as UDP has it */
	int type;			/* of the socket */
	uint32_t rcvbuf, sndbuf;	/* the largest that it had */
	bool lazy;			/* the program does not read */
	uint32_t cid, their_cid;
	uint16_t dport;
	bool has_cookie;
	uint8_t cookie[COOKIE_LEN];

	/* The direction in which we send */
	uint32_t shipment, segment, packet;	/* the next */
	struct {
		uint32_t len, size;
	} kept[KEPT];
	uint32_t asked;			/* a segment that a SNAK asked for */
	uint32_t received, ect, ce;	/* packets reported: all, with ECT(0), with CE */
	bool is_asked, ended;

	/* The direction in which the kernel sends */
	uint32_t their_segment, their_shipment;	/* highest */
	uint32_t control, limit, stamp;
	bool padded;			/* what @stamp came in */

	const char *controller;		/* of our sender, and of its MESSAGEs */
	uint32_t message;		/* number of the next MESSAGE */
	uint16_t told, changes;		/* states, and controllers named in them */
};

/* A packet that is kept for later */
struct copy {
	union packet p;
	size_t len;
};

/* What was done, for the report */
struct counts {
	unsigned long packets, trains, icmp, damaged, opened, established;
	unsigned long calls, gapped, probed, destroyed, mtus;
	unsigned long by_type[TYPES];
};

/* fuzz_packets_test.c */
extern struct rng rng;
extern struct conn conns[PEERS];
extern int icmp[2];			/* raw sockets of the peers: ICMP, ICMPv6 */
extern struct copy caught[KEPT];	/* some that the kernel sent */
extern unsigned int n_caught;		/* how many were put there, ever */
extern struct counts sent;

/* fuzz_make.c: these make a packet of @c and return its length. */
size_t next_data(struct conn *c, union packet *p);		/* DATA, mostly in order */
size_t probe_packet(struct conn *c, union packet *p, int type);	/* KEEPALIVE, EOS */
size_t ack_packet(struct conn *c, union packet *p, int type);	/* PACK, SNAK */
size_t init_packet(struct conn *c, union packet *p, int type);	/* INIT, INIT_ACK */
size_t end_packet(struct conn *c, union packet *p, int type);	/* RESET, CLOSE, COOKIE */
size_t message_packet(struct conn *c, union packet *p);
size_t some_packet(struct conn *c, union packet *p);		/* of any type, right or not */
/* Make a packet of @len wrong; returns its new length. */
size_t damage(struct conn *c, union packet *p, size_t len);

/* fuzz_deliver.c: send a packet to the kernel, as it is. */
void deliver(struct conn *c, const union packet *p, size_t len);
/* Make packets, a train of them or an ICMP error, and send them: late, repeated, in any order. */
void deliver_some(struct conn *c);

#endif /* _SSTP_TEST_FUZZ_PACKETS_H */
