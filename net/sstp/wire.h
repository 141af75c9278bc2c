/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Format of packets; Documentation/networking/sstp-protocol.rst has drawings. The parsers check
 * every length that comes from the network, so that callers need not check their results
 * again. Pure mechanism: no socket, no state.
 */
#ifndef _SSTP_WIRE_H
#define _SSTP_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include <uapi/linux/sstp.h>

#define SSTP_VERSION		1

enum sstp_type {
	SSTP_DATA,		/* sender to receiver */
	SSTP_KEEPALIVE,		/* sender to receiver */
	SSTP_EOS,		/* sender to receiver: end of stream */
	SSTP_PACK,		/* receiver to sender */
	SSTP_SNAK,		/* receiver to sender */
	SSTP_INIT,
	SSTP_INIT_ACK,
	SSTP_COOKIE,
	SSTP_RESET,
	SSTP_CLOSE,
	SSTP_MESSAGE,		/* of a controller, or state of the control */
	SSTP_TYPES
};

/* Flags of DATA, KEEPALIVE and EOS */
#define SSTP_F_LAST	0x01	/* last packet of its segment */
#define SSTP_F_AGAIN	0x02	/* shipped before */
#define SSTP_F_ACK	0x04	/* acknowledge at once */
#define SSTP_F_EOR	0x08	/* the segment ends a record (MSG_EOR) */
/* Flags of PACK and SNAK */
#define SSTP_F_SOFT	0x01	/* the segment may still be discarded */
#define SSTP_F_ECHO	0x02	/* the echoed timestamp is valid */
#define SSTP_F_SEGMENT	0x04	/* the segment field is valid */
#define SSTP_F_PADDED	0x08	/* the echoed timestamp is that of a padded packet */
#define SSTP_F_ECN	0x10	/* struct sstp_ecn_hdr follows the fixed part */
#define SSTP_F_DATA	0x80	/* PACK: a DATA packet or EOS of the connection follows */
/* Flags of MESSAGE */
#define SSTP_F_BACK	0x01	/* from a receiving half to the controller whose half it is */
#define SSTP_F_ASK	0x02	/* state: confirm it */
/* Flag of RESET */
#define SSTP_F_STRAY	0x01	/* unknown connection: cid is that of the packet answered */

/**
 * struct sstp_hdr - first bytes of every packet
 * @cid: connection identifier, chosen by the receiving end; 0 in INIT
 * @type: enum sstp_type
 * @flags: by type
 * @packet: DATA: packet number; SNAK: number of entries; INIT and INIT_ACK:
 *	bytes of options; otherwise 0
 */
struct sstp_hdr {
	__be32	cid;
	u8	type;
	u8	flags;
	__be16	packet;
} __packed;

/**
 * struct sstp_data_hdr - DATA, KEEPALIVE, EOS (WUCS-92-38, figure 5a)
 * @shipment: shipment sequence number; KEEPALIVE and EOS: that of the last DATA
 * @segment: segment number; KEEPALIVE: of the next new packet; EOS: of the end
 * @len: bytes in the segment
 * @stamp: time of sending, us, from a random origin
 */
struct sstp_data_hdr {
	struct sstp_hdr h;
	__be32	shipment;
	__be32	segment;
	__be32	len;
	__be32	stamp;
} __packed;

#define SSTP_DATA_HLEN	24

/**
 * struct sstp_ack_hdr - PACK and SNAK (WUCS-92-38, figure 5b)
 * @control: control sequence number
 * @segment: segment that was accepted last; valid with SSTP_F_SEGMENT
 * @ack: R_l, every segment before it has been accepted
 * @limit: R_h, highest segment that may be shipped
 * @echo: timestamp of the packet that came last; valid with SSTP_F_ECHO
 * @hold: us since that packet came
 * @highest: highest shipment seen
 * @received: DATA packets received, modulo 2^32
 * @arrival: arrival rate, kbit/s
 * @service: service rate, kbit/s
 * @late: shipments before @highest that may still come, 65535 at most
 * @progress: packets of segment @ack received without a gap
 * @unsettled: @highest - @unsettled is the highest shipment up to which all shipments have
 *	come or were declared lost
 */
struct sstp_ack_hdr {
	struct sstp_hdr h;
	__be32	control;
	__be32	segment;
	__be32	ack;
	__be32	limit;
	__be32	echo;
	__be32	hold;
	__be32	highest;
	__be32	received;
	__be32	arrival;
	__be32	service;
	__be16	late;
	__be16	progress;
	__be32	unsettled;
} __packed;

/**
 * struct sstp_ecn_hdr - behind the fixed part of a PACK or SNAK with SSTP_F_ECN
 * @ect: DATA packets that came with ECT(0), modulo 2^32; copies count as in @received of
 *	struct sstp_ack_hdr
 * @ce: DATA packets that came with CE, likewise
 */
struct sstp_ecn_hdr {
	__be32	ect;
	__be32	ce;
} __packed;

/* Fields that may follow the fixed part of a PACK, but not of a SNAK, which its entries fill: type
 * (1 byte), bytes of value (1 byte), value, which may be longer than what is known of it. Unknown
 * ones are skipped; one that is not there in full ends the list, and is ignored.
 */
enum sstp_field {
	SSTP_FIELD_FORECAST = 1,	/* kbit/s, ms: 8 bytes */
	SSTP_FIELD_QUEUE,		/* bytes, packets: 8 bytes */
	SSTP_FIELD_SEGMENT,		/* bytes, 0: 8 bytes */
};

#define SSTP_FIELD_LEN		8	/* bytes of value, of each of these */
#define SSTP_FIELDS_MAX		(3 * (2 + SSTP_FIELD_LEN))
/* The peer's numbers are bounded by these. */
#define SSTP_FORECAST_MAX	1000000000U	/* kbit/s */
#define SSTP_HORIZON_MAX	60000U	/* ms, at least 1 */
#define SSTP_QUEUE_MAX		0x40000000U	/* bytes, and packets */

/**
 * struct sstp_snak_entry - one piece of the retransmission bitmap
 * @segment: segment number
 * @first: packet that the first bit stands for; with @bits 0: how many
 *	segments, from @segment on, are wanted whole
 * @bits: bits in the bitmap, which follows in 32-bit words, most significant
 *	bit first; a 0 asks for the packet
 */
struct sstp_snak_entry {
	__be32	segment;
	__be16	first;
	__be16	bits;
} __packed;

/**
 * struct sstp_init_hdr - INIT and INIT_ACK
 * @cid: connection identifier that the sender of this packet chose for itself
 * @sport: SSTP port of the sender
 * @dport: SSTP port of the receiver
 * @shipment: number of the sender's first shipment
 * @segment: number of the sender's first segment
 * @window: segments that the receiver of this packet may ship at first
 * @limit: bytes in the largest segment that the sender accepts
 * @stamp: time of sending, us, from a random origin
 * @echo: INIT_ACK: @stamp of the INIT
 * @hold: INIT_ACK: us between INIT and INIT_ACK
 * @version: SSTP_VERSION
 * @sktype: SOCK_STREAM or SOCK_SEQPACKET
 * @zero: 0
 *
 * Options follow, then zeros. An INIT fills SSTP_INIT_LEN bytes, so that no
 * answer is larger.
 */
struct sstp_init_hdr {
	struct sstp_hdr h;
	__be32	cid;
	__be16	sport;
	__be16	dport;
	__be32	shipment;
	__be32	segment;
	__be32	window;
	__be32	limit;
	__be32	stamp;
	__be32	echo;
	__be32	hold;
	u8	version;
	u8	sktype;
	__be16	zero;
} __packed;

#define SSTP_INIT_LEN	256

/* Options: type (1 byte), bytes of value (1 byte), value. Unknown: skipped. */
enum sstp_opt {
	SSTP_OPT_PAD,		/* one byte, no length */
	SSTP_OPT_RATE,		/* P, average (kbit/s), F (1/1000 s), L: 16 bytes */
	SSTP_OPT_RATE_LIMIT,	/* kbit/s, 4 bytes: limit of the peer's rate */
	SSTP_OPT_SEGMENT,	/* bytes, 4 bytes: usual segment of this packet's sender */
	SSTP_OPT_TOLERANCE,	/* packets in a million, 4 bytes */
	SSTP_OPT_STRATEGY,	/* 1 byte */
	SSTP_OPT_CONTROLLER,	/* name, 1 to 15 bytes */
	SSTP_OPT_POLICY,	/* name, 1 to 15 bytes */
	SSTP_OPT_COOKIE,	/* SSTP_COOKIE_LEN bytes */
	SSTP_OPT_MESSAGES,	/* 1 byte, 1: this packet's sender understands MESSAGE */
	SSTP_OPT_ECN,		/* 1 byte, 1: it reports how many packets came marked */
};

#define SSTP_COOKIE_LEN	16
#define SSTP_MESSAGE_LEN	(sizeof(struct sstp_msg_hdr) + SSTP_MSG_MAX)

struct sstp_cookie_hdr {
	struct sstp_hdr h;
	u8	cookie[SSTP_COOKIE_LEN];
} __packed;

/**
 * struct sstp_msg_hdr - MESSAGE
 * @h: packet: kind of the message, which the controller defines; 0 = state of the control, in a
 *	struct sstp_state_hdr
 * @seq: number of the message: the first has the number of its sender's first segment
 * @ctrl: number of the controller: of this packet's receiver with SSTP_F_BACK, of its sender
 *	without. An end counts those that it has told its peer of; the INIT named number 0
 * @state: number of the state; 0 in other messages. The first is 1
 *
 * Up to SSTP_MSG_MAX bytes for the controller follow.
 */
struct sstp_msg_hdr {
	struct sstp_hdr h;
	__be32	seq;
	__be16	ctrl;
	__be16	state;
} __packed;

/**
 * struct sstp_state_hdr - MESSAGE of kind 0: state of this packet's sender
 * @m: ctrl: number of the controller named @name
 * @seen: number of the newest state that came from the other end
 * @ack_interval: packets after which this packet's receiver is to report; 0 = as it likes
 * @ack_timer: us that it may hold back a report; 0 = as it likes
 * @rate: kbit/s that the receiving half wants at most; 0 = any
 * @half: 1: this end runs the receiving half of the other's controller
 * @name: controller of this end; the rest is 0
 */
struct sstp_state_hdr {
	struct sstp_msg_hdr m;
	__be16	seen;
	__be16	ack_interval;
	__be32	ack_timer;
	__be32	rate;
	u8	half;
	u8	name[SSTP_NAME_MAX - 1];
} __packed;

/* RESET and CLOSE. @seq: last shipment of this packet's sender; RESET that answers an INIT: its
 * initial shipment; with SSTP_F_STRAY: shipment or control number of the packet answered.
 */
struct sstp_end_hdr {
	struct sstp_hdr h;
	__be32	code;
	__be32	seq;
} __packed;

enum sstp_reset_code {
	SSTP_RESET_ABORT,	/* the program closed the socket with unread data, or gave up */
	SSTP_RESET_REFUSED,	/* no listener on the port */
	SSTP_RESET_UNKNOWN,	/* no such connection */
	SSTP_RESET_VERSION,	/* version or socket type differ */
	SSTP_RESET_PROTOCOL,	/* reserved for violations of the protocol; never sent */
};

/* A DATA, KEEPALIVE or EOS packet in host order. */
struct sstp_data {
	u32	cid;
	u8	type;
	u8	flags;
	u16	packet;
	u32	shipment;
	u32	segment;
	u32	len;		/* bytes in the segment */
	u32	stamp;
	u32	bytes;		/* bytes of data in this packet */
};

/* A PACK, or a SNAK without its entries, in host order; members as in struct sstp_ack_hdr and
 * struct sstp_ecn_hdr. @ect and @ce are 0 without SSTP_F_ECN. @fields: BIT(type) of each field;
 * of SSTP_FIELD_FORECAST @forecast (kbit/s, at which the program will read) and @horizon (ms until
 * then), of SSTP_FIELD_QUEUE @queue (least bytes that waited for the program since the last such
 * field) and @refused (packets that found no room since), and of SSTP_FIELD_SEGMENT @most (bytes
 * that later segments should have at most), 0 without it. @data: where the DATA packet or EOS that
 * follows a PACK begins; 0 without SSTP_F_DATA.
 */
struct sstp_ack {
	u32	cid;
	u8	type;
	u8	flags;
	u16	entries;
	u32	control;
	u32	segment;
	u32	ack;
	u32	limit;
	u32	echo;
	u32	hold;
	u32	highest;
	u32	received;
	u32	arrival;
	u32	service;
	u16	late;
	u32	progress;
	u32	unsettled;
	u32	ect;
	u32	ce;
	u32	fields;
	u32	forecast;
	u32	horizon;
	u32	queue;
	u32	refused;
	u32	most;
	u32	data;
};

/* Options of an INIT or INIT_ACK, rates in bit/s; absent ones are 0 or empty. */
struct sstp_params {
	struct sstp_rate_spec rate;
	u64	rate_limit;
	u32	segment_size;
	u32	tolerance;
	u8	strategy;
	bool	has_cookie;
	bool	messages;
	bool	ecn;
	char	ctrl[SSTP_NAME_MAX];
	char	policy[SSTP_NAME_MAX];
	u8	cookie[SSTP_COOKIE_LEN];
};

/* An INIT or INIT_ACK in host order */
struct sstp_init {
	u8	type;
	u32	cid;		/* chosen by the receiver of this packet; 0 in INIT */
	u32	peer_cid;	/* chosen by the sender of this packet */
	u16	sport;
	u16	dport;
	u32	shipment;
	u32	segment;
	u32	window;
	u32	limit;
	u32	stamp;
	u32	echo;
	u32	hold;
	u8	version;
	u8	sktype;
	struct sstp_params p;
};

/* What an end tells its peer about control. @rate: bit/s; @ack_timer: us. The others as in
 * struct sstp_state_hdr
 */
struct sstp_state {
	u64	rate;
	u32	ack_timer;
	u16	ack_interval;
	bool	half;
	char	name[SSTP_NAME_MAX];
};

/* A MESSAGE in host order; @number to @state are those of kind 0, @data and @len of others. */
struct sstp_message {
	u32	cid;
	u8	flags;
	u16	kind;
	u32	seq;
	u16	ctrl;
	u16	number;
	u16	seen;
	struct sstp_state state;
	const u8 *data;
	u32	len;
};

/* Parse a packet of @len contiguous bytes at @p. False if it is malformed. Callers compare the
 * serial numbers with the state of the connection. Entries of a SNAK are checked to ascend. Of a
 * PACK, the headers need to be contiguous, SSTP_RIDE_HLEN bytes at most: the DATA packet or EOS
 * that follows is parsed by itself.
 */
bool sstp_parse_data(const void *p, u32 len, struct sstp_data *d);
bool sstp_parse_ack(const void *p, u32 len, struct sstp_ack *a);
bool sstp_parse_init(const void *p, u32 len, struct sstp_init *i);
bool sstp_parse_message(const void *p, u32 len, struct sstp_message *m);

/**
 * struct sstp_snak_iter - walks the entries of a SNAK that parsed
 * @p: next entry
 * @end: first byte after the packet
 * @left: entries to come
 */
struct sstp_snak_iter {
	const u8 *p;
	const u8 *end;
	u16	left;
};

struct sstp_snak_run {
	u32	segment;
	u16	first;		/* or, when !bits, number of whole segments */
	u16	bits;
	const __be32 *map;
};

void sstp_snak_start(struct sstp_snak_iter *it, const void *p, u32 len,
		     const struct sstp_ack *a);
bool sstp_snak_next(struct sstp_snak_iter *it, struct sstp_snak_run *run);

static inline bool sstp_snak_wanted(const struct sstp_snak_run *run, u32 bit)
{
	return !(be32_to_cpu(run->map[bit / 32]) & (1U << (31 - bit % 32)));
}

#define SSTP_ACK_HLEN_MAX	(sizeof(struct sstp_ack_hdr) + sizeof(struct sstp_ecn_hdr))

/* Most bytes of headers in a PACK that a DATA packet or EOS follows */
#define SSTP_RIDE_HLEN		(SSTP_ACK_HLEN_MAX + SSTP_DATA_HLEN)

/* Bytes of a PACK, and of a SNAK before its entries, that has these @flags */
static inline u32 sstp_ack_hlen(u8 flags)
{
	return flags & SSTP_F_ECN ? SSTP_ACK_HLEN_MAX : sizeof(struct sstp_ack_hdr);
}

/* Write a packet's header at @p, where the caller provides room for it. */
void sstp_build_data(void *p, const struct sstp_data *d);
/* Writes sstp_ack_hlen(@a->flags) bytes. */
void sstp_build_ack(void *p, const struct sstp_ack *a);
/* Append the fields of a PACK. Returns their length: up to SSTP_FIELDS_MAX. */
u32 sstp_build_fields(void *p, const struct sstp_ack *a);
/* Fills all SSTP_INIT_LEN bytes; returns how many must be sent. */
u32 sstp_build_init(void *p, const struct sstp_init *i);
/* Returns the length of the packet: up to SSTP_MESSAGE_LEN. */
u32 sstp_build_message(void *p, const struct sstp_message *m);

/* Serial number arithmetic */
static inline bool sstp_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static inline bool sstp_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* Is @a at most @most before or after @b? */
static inline bool sstp_near(u32 a, u32 b, u32 most)
{
	return a - b + most <= 2 * most;
}

#endif /* _SSTP_WIRE_H */
