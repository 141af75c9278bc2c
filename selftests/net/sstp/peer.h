/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests in C: a peer made of a UDP socket, which sends the packets that it is
 * told to and notes what the kernel answers. Packets are as
 * Documentation/networking/sstp-protocol.rst draws them.
 */
#ifndef _SSTP_TEST_PEER_H
#define _SSTP_TEST_PEER_H

#include "lib.h"

enum {
	DATA, KEEPALIVE, EOS, PACK, SNAK, INIT, INIT_ACK, COOKIE, RESET, CLOSE, MESSAGE,
	TYPES
};

enum {				/* flags */
	LAST	= 0x01,		/* of DATA */
	AGAIN	= 0x02,
	ACK	= 0x04,
	EOR	= 0x08,
	SOFT	= 0x01,		/* of PACK and SNAK */
	ECHO	= 0x02,
	SEGMENT	= 0x04,
	PADDED	= 0x08,
	ECN	= 0x10,
	RIDES	= 0x80,		/* of PACK: DATA or an EOS follows */
	STRAY	= 0x01,		/* of RESET */
	BACK	= 0x01,		/* of MESSAGE */
	ASK	= 0x02,
};

enum { OPT_RATE = 1, OPT_SEGMENT = 3, OPT_TOLERANCE, OPT_STRATEGY, OPT_CONTROLLER = 6,
       OPT_COOKIE = 8, OPT_MESSAGES, OPT_ECN };

struct hdr {
	uint32_t cid;
	uint8_t type, flags;
	uint16_t packet;
} __attribute__((packed));

#define DATA_HLEN	24

struct data_packet {
	struct hdr h;
	uint32_t shipment, segment, len, stamp;
	uint8_t payload[];
} __attribute__((packed));

struct snak_entry {
	uint32_t segment;
	uint16_t first, bits;
} __attribute__((packed));

struct ack_packet {
	struct hdr h;
	uint32_t control, segment, ack, limit, echo, hold, highest, received;
	uint32_t arrival, service;
	uint16_t late, progress;
	uint32_t unsettled;
	struct snak_entry entry[];
} __attribute__((packed));

struct init_packet {
	struct hdr h;
	uint32_t cid;
	uint16_t sport, dport;
	uint32_t shipment, segment, window, limit, stamp, echo, hold;
	uint8_t version, sktype;
	uint16_t zero;
	uint8_t options[208];
} __attribute__((packed));

#define COOKIE_LEN	16

struct cookie_packet {
	struct hdr h;
	uint8_t cookie[COOKIE_LEN];
} __attribute__((packed));

struct end_packet {		/* RESET, CLOSE */
	struct hdr h;
	uint32_t code, seq;
} __attribute__((packed));

struct message_packet {
	struct hdr h;
	uint32_t seq;
	uint16_t ctrl, state;
	union {
		uint8_t data[64];
		struct {
			uint16_t seen, ack_interval;
			uint32_t ack_timer, rate;
			uint8_t half;
			char name[15];
		} __attribute__((packed));
	};
} __attribute__((packed));

#define STATE_LEN	44

_Static_assert(sizeof(struct data_packet) == DATA_HLEN, "DATA");
_Static_assert(sizeof(struct message_packet) == 80, "MESSAGE");
_Static_assert(sizeof(struct ack_packet) == 56, "PACK");
_Static_assert(sizeof(struct init_packet) == 256, "INIT");
_Static_assert(sizeof(struct cookie_packet) == 24, "COOKIE");
_Static_assert(sizeof(struct end_packet) == 16, "RESET");

/* Segments are numbered from 0 here, as bits of a word where there are several. */
struct peer {
	int udp;
	int fd;				/* what accept() gave */
	bool patient;			/* the test sets no user timeout of its own */
	uint32_t cid, their_cid;
	uint64_t seed;			/* of what segments contain */

	/* The direction in which we send */
	uint32_t first, first_shipment;
	uint32_t shipment;		/* the next, from 0 */
	uint32_t granted;		/* W of the INIT_ACK */
	unsigned int init_acks;		/* that came again */
	bool answered;			/* the kernel sent another packet than INIT_ACK */
	unsigned int packs, snaks, snak_bytes;
	uint32_t ack, limit, highest, received;	/* R_l, R_h... of the last one */
	uint64_t asked;			/* segments that a SNAK asked for */
	uint64_t named;			/* segments accepted, as reported */
	bool soft;			/* ... with SOFT */
	uint32_t hold, echoed;		/* of the last ECHO, us: its hold, the age of its stamp */

	/* The direction in which the kernel sends */
	uint32_t their_first, their_shipment;	/* the next, after the highest that came */
	uint64_t overtaken;		/* bit i: shipment their_shipment - 1 - i has not come */
	uint32_t control;		/* our next PACK's, from 0 */
	uint32_t their_control;		/* of the newest PACK or SNAK */
	uint32_t our_ack, our_limit;	/* in our last one */
	uint32_t our_received;		/* packets that we report */
	uint32_t our_behind;		/* the last packets, which we do not report to have seen */
	uint32_t our_ect, our_ce;	/* of these, in reports with ECN */
	uint32_t stamp;			/* of what came last, as it came */
	bool echoes;			/* our reports say which that was */
	uint8_t fields[64];		/* of our PACKs, behind the fixed part */
	size_t fields_len;
	unsigned int keepalives;
	unsigned int messages;		/* MESSAGEs of controllers, and states */
	unsigned int states;
	struct message_packet message;	/* the last one, and its length */
	size_t message_len;
	bool talks;			/* it understands MESSAGE */
	bool ecn;			/* it wants to know of marks */
	uint32_t ect, ce;		/* packets that the newest report has */
	bool stream;			/* segments are parts of one content, of any size */
	uint64_t start[65];		/* where each begins in it, the next one as well */
	uint64_t bytes;			/* of DATA that came */
	uint64_t came, came_again;	/* segments, by AGAIN */
	uint64_t asked_again;		/* segments of came_again with ACK */
	unsigned int wrong;		/* packets that are not as they should be */
	uint8_t wrong_packet[64];	/* the beginning of the first one */
	size_t wrong_len;
};

/* Fields of the INIT that this peer sends */
struct peer_init {
	uint32_t window;		/* segments that we let the kernel send */
	uint32_t segment;		/* bytes in one of ours; 0 = 1500 */
	uint32_t tolerance;
	uint8_t strategy;
	uint32_t rate;			/* kbit/s, of a contract; 0 = none */
	bool messages;			/* it understands MESSAGE */
	bool ecn;			/* it takes reports with marks */
	const char *controller;		/* its name, or NULL */
	const struct peer *beside;	/* whose UDP socket it shares, or NULL */
};

/* What a packet of DATA carries: number @packet, of @bytes, of a segment of @len */
struct peer_piece {
	uint32_t segment, packet;
	size_t bytes;
	uint32_t len;
	uint8_t flags;
};

/* Connects to @listener, which is put on the loopback address, and closed. */
void peer_open(struct peer *p, int listener, const struct peer_init *init);
/* The same, up to the answer: the next packet completes the set-up. */
void peer_half_open(struct peer *p, int listener, const struct peer_init *init);
/* The rest of peer_open() */
void peer_complete(struct peer *p, int listener);
/* Every packet that came was as it should be; if not, the log shows the first. */
void peer_must_be_right(const struct peer *p);
void peer_close(struct peer *p);
/* The program is about to close the connection: the peer may vanish. */
void peer_leave(struct peer *p);
/* Shorten the time-outs of closed sockets in this namespace. */
void peer_may_vanish(void);
/* A packet of our own making */
void peer_send(struct peer *p, const void *packet, size_t len);
/* A packet of DATA; arguments are the members of struct peer_piece. */
void peer_data(struct peer *p, uint32_t segment, uint32_t packet, size_t bytes,
	       uint32_t len, uint8_t flags);
/* The same, but not sent: it is put into @buf, and its length returned. */
size_t peer_make_data(struct peer *p, void *buf, const struct peer_piece *piece);
void peer_keepalive(struct peer *p, uint32_t segment);
/* The same, and @segment, the one after the last, ends the stream. */
void peer_eos(struct peer *p, uint32_t segment);
/* R_l, R_h, and the segment accepted, valid with SEGMENT */
void peer_pack(struct peer *p, uint32_t ack, uint32_t limit, uint8_t flags,
	       uint32_t segment);
/* The same, and asks for packet 0 of all segments in @wanted */
void peer_snak(struct peer *p, uint32_t ack, uint32_t limit, uint64_t wanted);
/* Receive packets for @ms. */
void peer_listen(struct peer *p, int ms);
/* Receive packets until cond() or for @ms; returns the last result of cond(). */
bool peer_await(struct peer *p, int ms, bool (*cond)(const struct peer *p));

#endif /* _SSTP_TEST_PEER_H */
