/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Segment streaming transport protocol: what programs include.
 *
 * A socket is socket(AF_INET or AF_INET6, SOCK_SEQPACKET or SOCK_STREAM, IPPROTO_SSTP),
 * or socket(AF_SSTP, SOCK_SEQPACKET or SOCK_STREAM, 0), which takes the family of its
 * first address. Addresses are struct sockaddr_in and struct sockaddr_in6.
 */
#ifndef _UAPI_LINUX_SSTP_H
#define _UAPI_LINUX_SSTP_H

#include <linux/types.h>

#ifndef AF_SSTP
#define AF_SSTP			25
#define PF_SSTP			AF_SSTP
#endif
#ifndef IPPROTO_SSTP
#define IPPROTO_SSTP		260	/* for socket(); packets are UDP */
#endif
#ifndef SOL_SSTP
#define SOL_SSTP		345
#endif

#define SSTP_PORT		25719	/* default UDP encapsulation port */
#define SSTP_NAME_MAX		16	/* names of controllers, policies and
					 * what they have, with NUL
					 */
#define SSTP_PARAMS_MAX		8	/* parameters of a controller or a policy */
#define SSTP_STATE_MAX		8	/* values of its state */
#define SSTP_MSG_MAX		64	/* bytes of a message between the halves of a controller */
#define SSTP_SEGMENT_MAX	(16U << 20)	/* bytes */
#define SSTP_SEGMENT_LIMIT_MIN	512U		/* bytes */
#define SSTP_PACKETS_MAX	65535	/* packets in a segment */

/* Options at level SOL_SSTP. "rw" says what a live connection may change. */
enum {
	SSTP_RATE = 1,		/* rw struct sstp_rate_spec: what this end sends at most */
	SSTP_RATE_LIMIT,	/* __u64 bit/s: what the peer may send at most,
				 * 0 = no limit; before the connection is made
				 */
	SSTP_SEGMENT_SIZE,	/* rw __u32 bytes: segments made of a byte stream */
	SSTP_SEGMENT_LIMIT,	/* __u32 bytes: largest segment to receive */
	SSTP_TOLERANCE,		/* __u32 packets in a million that a segment may
				 * lack; the lower value of both ends counts
				 */
	SSTP_ACK_STRATEGY,	/* __u32 SSTP_ACK_HARD or SSTP_ACK_SOFT */
	SSTP_WINDOW_FACTOR,	/* rw __u32 percent of the buffer, 100 to 1000 */
	SSTP_CONTROLLER,	/* rw name */
	SSTP_BUFFER_POLICY,	/* name; before the connection is made */
	SSTP_USER_TIMEOUT,	/* rw __u32 ms of waiting for the peer, 0 = default */
	SSTP_NODELAY,		/* rw int: send small segments at once */
	SSTP_INFO,		/* read only struct sstp_info */
	SSTP_WINDOW_CLAMP,	/* rw __u32 segments that the peer may have under way
				 * at most, 0 = as the buffer allows
				 */
	SSTP_POLICY_PARAM,	/* rw array of struct sstp_param, of the receive
				 * buffer's policy
				 */
	SSTP_POOL,		/* int: all that the listener accepts share one receive
				 * buffer; before listen()
				 */
	SSTP_CONTROLLER_PARAM,	/* rw array of struct sstp_param, of the controller */
	SSTP_MONITOR,		/* read only struct sstp_monitor; reading ends its interval */
};

enum {
	SSTP_ACK_HARD,		/* acknowledged data is never discarded */
	SSTP_ACK_SOFT,		/* ahead of the buffer, may be replaced later */
};

/**
 * struct sstp_rate_spec - rate contract R = (P, F, L) of a sender
 * @peak: P, bit/s over any 1 ms; 0 = no contract, the controller alone decides
 * @average: bit/s over any 1 s, at most @peak; 0 = derived as F * L * packet,
 *	or @peak when @burst_rate is 0 too
 * @burst_rate: F, bursts in 1000 s; 0 = derived from the average
 * @burst_len: L, packets in a burst; 0 = as many bytes as a segment has, and
 *	what is expected to be sent again with it, but no fewer than leave in 1 ms;
 *	if @peak alone is given, rounded up to a multiple of these
 *
 * Bits are those of whole frames: data, SSTP, UDP, IP and link-layer header.
 */
struct sstp_rate_spec {
	__u64	peak;
	__u64	average;
	__u32	burst_rate;
	__u32	burst_len;
};

/**
 * struct sstp_param - a parameter of a controller or a policy, or a value of its state
 * @name: its name, with NUL
 * @value: 0 = the default of the parameter
 *
 * Setting the options SSTP_POLICY_PARAM and SSTP_CONTROLLER_PARAM takes 1 to SSTP_PARAMS_MAX
 * of these, and changes all or, after an error, none. Reading gives all parameters, then the
 * state, if the controller or the policy is at work: SSTP_PARAMS_MAX + SSTP_STATE_MAX at most.
 */
struct sstp_param {
	char	name[SSTP_NAME_MAX];
	__s64	value;
};

/* Control message SOL_SSTP/SSTP_GAPS: an array of these. Gaps read as 0. */
#define SSTP_GAPS		1

struct sstp_gap {
	__u32	offset;		/* bytes from the start of what was read */
	__u32	len;		/* bytes */
};

/* Does data leave with ECT(0), so that queues may mark it? The states after SSTP_ECN_USED say why
 * it does not any more.
 */
enum sstp_ecn_state {
	SSTP_ECN_OFF,		/* no: the controller, net.sstp.ecn or the peer does not want it */
	SSTP_ECN_TESTED,	/* yes, but nothing has come yet */
	SSTP_ECN_USED,		/* yes, and it comes as it should */
	SSTP_ECN_BLEACHED,	/* packets came without ECT */
	SSTP_ECN_ALL_MARKED,	/* all packets came marked */
	SSTP_ECN_DROPPED,	/* no packet with ECT came */
	SSTP_ECN_INVALID,	/* the peer reported more marks than packets */
};

/**
 * struct sstp_info - state of a connection; grows only at its end
 *
 * Rates are in bit/s, times in us, sizes in bytes unless said otherwise. A field is added
 * here and in sstp_fill_info(); tools/ynl-regen writes the rest.
 */
struct sstp_info {
	__u8	state;		/* as TCP_ESTABLISHED and others */
	__u8	type;		/* SOCK_SEQPACKET or SOCK_STREAM */
	__u8	ack_strategy;	/* SSTP_ACK_HARD or SSTP_ACK_SOFT */
	__u8	backoff;	/* unanswered probes */
	__u32	mtu;		/* path MTU */
	__u32	packet_size;	/* payload of a full packet now */
	__u32	segment_limit;	/* largest segment that may be sent */
	__u32	tolerance;	/* agreed, packets in a million */
	__u32	rtt;		/* smoothed round-trip time */
	__u32	rttvar;		/* mean deviation of the round-trip time */
	__u32	rtt_min;	/* least round-trip time */
	__u32	cwnd;		/* packets; 2^32 - 1 when the controller sets none */
	__u32	in_flight;	/* packets */
	struct sstp_rate_spec rate;	/* the contract in force */
	__u64	period;		/* ns between packets, see sstp(7) */
	__u32	snd_segment;	/* next segment to send, from 0 */
	__u32	snd_una;	/* S_l: lowest segment not acknowledged, from 0 */
	__u32	snd_window;	/* segments that the peer still allows */
	__u32	snd_queued;	/* memory for data not acknowledged */
	__u32	rcv_segment;	/* R_l: lowest segment not received, from 0 */
	__u32	rcv_window;	/* W, segments */
	__u32	rcv_buffer;	/* limit of the receive buffer now */
	__u32	rcv_queued;	/* of the receive buffer, in use now */
	__u32	rcv_peak;	/* of the receive buffer, most in use so far */
	__u32	reordering;	/* packets */
	__u64	bytes_sent;	/* payload, first shipments */
	__u64	bytes_retrans;	/* payload sent again */
	__u64	bytes_acked;	/* payload acknowledged */
	__u64	bytes_received;	/* payload, without duplicates */
	__u64	packets_sent;	/* all shipments */
	__u64	packets_retrans;	/* shipments after the first of a packet */
	__u64	packets_received;	/* all that came */
	__u64	packets_duplicate;	/* packets that had been received before */
	__u64	packets_discarded;	/* packets that found no room in the buffer */
	__u64	segments_sent;	/* segments whose last packet was sent */
	__u64	segments_received;	/* segments accepted */
	__u64	segments_with_gaps;	/* accepted with packets missing */
	__u64	acks_sent;	/* PACK */
	__u64	acks_received;	/* PACK */
	__u64	snaks_sent;	/* SNAK */
	__u64	snaks_received;	/* SNAK */
	__u64	arrival_rate;	/* of the data received */
	__u64	service_rate;	/* at which the program reads */
	__u64	delivery_rate;	/* arrival rate that the peer reported */
	char	controller[SSTP_NAME_MAX];	/* name of the rate controller */
	char	policy[SSTP_NAME_MAX];	/* name of the receive buffer's policy */
	__u32	rcv_buffer_peak;	/* largest limit so far */
	__u32	rcv_grown;	/* times that the limit rose */
	__u32	rcv_shrunk;	/* times that the limit fell */
	__u32	reserved;
	__u64	rcv_grown_bytes;	/* by how much the limit rose, in all */
	__u64	rcv_shrunk_bytes;	/* by how much the limit fell, in all */
	__u64	bytes_discarded;	/* payload that found no room */
	__u64	age;		/* time since its set-up began, to its end */
	__u64	busy_time;	/* with data to send or not acknowledged; the next five are of it */
	__u64	contract_time;	/* time in which the contract held back data */
	__u64	controller_time;	/* time in which the controller held back data */
	__u64	window_time;	/* time in which the peer's window held back data */
	__u64	sndbuf_time;	/* time in which all was sent, and the send buffer full, or
				 * a program waited for room in it, or memory lacked
				 */
	__u64	device_time;	/* time in which queues below had enough */
	__u64	unread_time;	/* with data that the program had not read */
	__u64	rcv_readable;	/* bytes that the program may read */
	__u64	packets_lost;	/* on the way to the peer, as far as it tells */
	__u64	mem_available;	/* of memory that the buffer may share in, as its
				 * policy saw it last
				 */
	__u32	mem_used;	/* share of memory in use, likewise, in thousandths */
	__u32	rcv_epochs;	/* epochs in which the policy looked at the buffer */
	__u32	rcv_bounded;	/* epochs in which it lacked room that memory did not give */
	__u32	snd_unacked;	/* bytes written and not acknowledged */
	__u32	contract_breaks;	/* times that the path did not carry the contract */
	__u32	contract_wait;	/* ms until the contract is tried again; 0 = it is in force */
	__u64	acked_rate;	/* rate at which full packets reached the peer, by the last sample
				 * of its reports
				 */
	__u32	app_limited;	/* 1: data lacked while it was sampled */
	__u32	rto;		/* time without a report until the peer is asked for one */
	__u32	ecn;		/* enum sstp_ecn_state, of the data sent */
	__u32	ecn_agreed;	/* 1: the peer reports marks */
	__u64	packets_marked;	/* sent, and marked by queues on the path */
	__u64	packets_marked_in;	/* received with marks */
};

/**
 * struct sstp_count - a counter of struct sstp_monitor
 * @total: since the set-up of the connection began
 * @recent: since SSTP_MONITOR was read last, or since the set-up
 */
struct sstp_count {
	__u64	total;
	__u64	recent;
};

/**
 * struct sstp_monitor - what a connection does; grows only at its end
 *
 * A successful read ends the interval of the counters' @recent and of @send_rate, @receive_rate
 * and @loss_rate, and begins the next one, for all programs that have the socket. All fields but
 * these three rates have the names and units of struct sstp_info; tools/ynl-regen writes the list
 * of them.
 */
struct sstp_monitor {
	struct sstp_count age;	/* age.recent: length of the interval */
	struct sstp_count packets_sent;
	struct sstp_count packets_retrans;
	struct sstp_count packets_lost;
	struct sstp_count packets_received;
	struct sstp_count packets_duplicate;
	struct sstp_count packets_discarded;
	struct sstp_count bytes_sent;
	struct sstp_count bytes_retrans;
	struct sstp_count bytes_acked;
	struct sstp_count bytes_received;
	struct sstp_count acks_sent;
	struct sstp_count acks_received;
	struct sstp_count snaks_sent;
	struct sstp_count snaks_received;
	__u64	send_rate;	/* of bytes_sent in the interval; 0 if less than 1 us passed */
	__u64	receive_rate;	/* of bytes_received in the interval; 0 likewise */
	__u64	acked_rate;
	__u64	delivery_rate;
	__u64	arrival_rate;
	__u64	service_rate;
	__u64	period;
	__u32	loss_rate;	/* packets lost for a million sent in the interval, at most
				 * 1000000; 0 if none was sent
				 */
	__u32	app_limited;
	__u32	rtt;
	__u32	rttvar;
	__u32	rtt_min;
	__u32	rto;
	__u32	cwnd;
	__u32	in_flight;
	__u32	snd_window;
	__u32	mtu;
	__u32	packet_size;
	__u32	snd_unacked;
};

#endif /* _UAPI_LINUX_SSTP_H */
