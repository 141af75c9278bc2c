/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segment streaming transport protocol: the interface of controllers (congestion control)
 * and receive buffer policies. Their callbacks read a sample and set outputs; the core checks
 * and applies these.
 */
#ifndef _NET_SSTP_H
#define _NET_SSTP_H

#include <linux/device/driver.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/stddef.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <uapi/linux/sstp.h>

struct attribute_group;
struct sstp_plugin_life;

#define SSTP_CTRL_PRIV_SIZE	216	/* bytes */
#define SSTP_RBUF_PRIV_SIZE	128	/* bytes */
#define SSTP_RBUF_ONE		0x10000	/* fixed-point 1.0 */
#define SSTP_TRAIN_PACKETS	64U	/* most that leave as one skb: what UDP GRO joins again */
#define SSTP_CWND_MAX		U32_MAX	/* no congestion window */
#define SSTP_CWND_LIMIT		0x40000000	/* largest congestion window, packets */
#define SSTP_PERIOD_LIMIT	NSEC_PER_SEC	/* ns */
#define SSTP_RTO_LIMIT_MIN	USEC_PER_MSEC	/* us, of a controller */
#define SSTP_RTO_LIMIT_MAX	(60 * USEC_PER_SEC)	/* us */
#define SSTP_RTT_LIMIT		(3 * USEC_PER_SEC)	/* us, of a controller */
#define SSTP_SHIP_RANGES	4	/* ranges of lost shipments in a sample */
#define SSTP_ACK_TIMER_MIN	USEC_PER_MSEC	/* us */
#define SSTP_ACK_TIMER_MAX	USEC_PER_SEC	/* us */
#define SSTP_CTRL_TIMER_MIN	NSEC_PER_MSEC	/* ns between two timer events */
#define SSTP_CTRL_TIMER_MAX	(60ULL * NSEC_PER_SEC)	/* ns */
#define SSTP_GROUP_TICK_MIN	NSEC_PER_MSEC	/* ns */
#define SSTP_GROUP_TICK_EACH	(4 * NSEC_PER_USEC)	/* ns, for each member at least */
#define SSTP_GROUP_TICK_MAX	NSEC_PER_SEC	/* ns */
#define SSTP_GROUP_MEMBERS	4096	/* most members of a group */
#define SSTP_GROUP_REPORTS	2	/* values that a member reports to its group */
#define SSTP_RBUF_EPOCH_MIN	NSEC_PER_MSEC	/* ns */
#define SSTP_RBUF_EPOCH_MAX	(10ULL * NSEC_PER_SEC)	/* ns */

/**
 * struct sstp_param_spec - a parameter of a controller or a policy
 * @name: unique in its plug-in, 1 to 15 graphic characters; empty = end of the array
 * @least: lowest value
 * @most: highest value
 *
 * A value of 0 is always allowed: it stands for the default, which the plug-in knows.
 */
struct sstp_param_spec {
	char	name[SSTP_NAME_MAX];
	u32	least;
	u32	most;
};

/**
 * struct sstp_param_values - values of the parameters of a plug-in
 * @param: in the order of @params of its ops, in range or 0
 */
struct sstp_param_values {
	u32	param[SSTP_PARAMS_MAX];
};

/**
 * struct sstp_ship_range - shipments in a row
 * @first: number of the first (serial number)
 * @count: how many
 */
struct sstp_ship_range {
	u32	first;
	u32	count;
};

/**
 * struct sstp_ctrl_packets - DATA packets that left or came as one train
 * @shipment: shipment of the first packet (serial number); those of the others follow it
 * @packets: how many
 * @bytes: of payload
 * @again: retransmissions
 * @gap: only of packets that came: shipments skipped before them, which may be lost or late
 * @stamp: only of packets that came: time when the first left, us, from a random origin, modulo
 *	2^32. The time of arrival less @stamp is the one-way delay plus a constant.
 */
struct sstp_ctrl_packets {
	u32	shipment;
	u32	packets;
	u32	bytes;
	bool	again;
	u32	gap;
	u32	stamp;
};

/**
 * struct sstp_ctrl_msg - message between the two halves of a controller
 * @kind: 1 to 65535, which the controller defines; 0 = no message
 * @len: bytes in @data
 * @data: what the controller wants; both ends may run different versions of it on machines
 *	of different byte order
 *
 * Messages may be lost. They come once and in the order they left: one that a later one
 * overtook is dropped. A message comes only to the controller that it was meant for.
 */
struct sstp_ctrl_msg {
	u16	kind;
	u16	len;
	u8	data[SSTP_MSG_MAX];
};

/**
 * struct sstp_feedback - what a receiving half tells the peer's controller in a PACK
 * @valid: there is something to tell
 * @forecast: kbit/s at which the program will read, up to 10^9
 * @horizon: ms until then, 1 to 60000
 * @queue: least bytes that waited for the program since the last feedback, up to 2^30
 * @refused: packets that found no room since then, up to 2^30
 *
 * Feedback may be lost, as a PACK may.
 */
struct sstp_feedback {
	bool	valid;
	u32	forecast;
	u32	horizon;
	u32	queue;
	u32	refused;
};

/**
 * struct sstp_ctrl_sample - state of a connection, input of a controller
 * @now: time, ns, CLOCK_MONOTONIC
 * @srtt: smoothed round-trip time, us; 0 = none measured, else 1 us to 60 s
 * @min_rtt: lowest round-trip time of the last 5 to 10 s, us; U32_MAX = none measured
 * @in_flight: packets shipped and neither reported received nor lost
 * @shipped: newest shipment (serial number): counts packets shipped, from a random start
 * @packet_size: bytes of a full frame, link-layer header included
 * @cwnd_limited: within a round trip only the congestion window held back a packet
 * @flight: packets in flight when @cwnd_limited was set; else the most within a round trip
 * @peer_half: the peer runs the receiving half of this controller
 * @peer_rate: bit/s that the receiving half wants at most; 0 = any
 * @total_delivered: packets delivered since the set-up, modulo 2^32
 * @rtt: round-trip time measured by this report, us, 60 s at most; 0 = none, also where the peer
 *	held the report back for more than a second
 * @delivered: packets that this report newly reports received
 * @lost: packets that this report newly reports lost
 * @lost_ship: newest shipment of the lost packets (serial number); with interleaved
 *	retransmissions it may be a little too old. With marks: at least @highest, as each of the
 *	packets reported may have been marked
 * @highest: highest shipment reported (serial number), less the number of shipments before
 *	it that may be late
 * @late: number of these: more than 0 where the path has reordered packets of late
 * @undue: packets that were reported lost before, but were only late
 * @acked: bytes of segments that this report newly acknowledges
 * @prior_in_flight: @in_flight before this report
 * @rate_delivered: packets delivered in @rate_interval; 0 = the report allows no sample of the
 *	delivery rate
 * @rate_interval: us, at least 1; the longer of the times in which these packets left, and in
 *	which they came
 * @rate_prior: @total_delivered at the start of that time
 * @app_limited: in that time the program wrote too little, so the path may carry more. A window of
 *	the peer that is closed is no such reason: for the sender the receiver is a part of the path
 * @tx_in_flight: packets in flight when the packet left that this report answers, itself
 *	included; 0 = not known
 * @tx_lost: how many of @tx_in_flight are lost
 * @lost_ranges: entries of @lost_range
 * @lost_range: shipments that this report asks for again, the first SSTP_SHIP_RANGES ranges of
 *	them; those that the receiver had no room for are among them, so they may be more than
 *	@lost. With interleaved retransmissions a number may be a little too low.
 * @arrival_rate: rate at which data arrives at the receiver, bit/s, 0 = not known
 * @service_rate: rate at which the receiving program reads, bit/s, 0 = not known
 * @ce: packets that this report newly reports marked by queues on the path, @delivered at most;
 *	0 unless @ecn of the ops is set
 * @feedback: of the receiving half, if the report has any
 *
 * The members before @rtt are valid in every callback. Those from @rtt on describe one PACK or
 * SNAK: they are valid in @on_ack and @on_loss, and 0 in all others.
 */
struct sstp_ctrl_sample {
	u64	now;
	u32	srtt;
	u32	min_rtt;
	u32	in_flight;
	u32	shipped;
	u32	packet_size;
	bool	cwnd_limited;
	u32	flight;
	bool	peer_half;
	u64	peer_rate;
	u32	total_delivered;
	u32	rtt;
	u32	delivered;
	u32	lost;
	u32	lost_ship;
	u32	highest;
	u32	late;
	u32	undue;
	u32	acked;
	u32	prior_in_flight;
	u32	rate_delivered;
	u32	rate_interval;
	u32	rate_prior;
	bool	app_limited;
	u32	tx_in_flight;
	u32	tx_lost;
	u32	lost_ranges;
	struct sstp_ship_range lost_range[SSTP_SHIP_RANGES];
	u64	arrival_rate;
	u64	service_rate;
	u32	ce;
	struct sstp_feedback feedback;
};

/**
 * struct sstp_ctrl - outputs and state of a controller
 * @period: least time between packets, ns, 0 to max(SSTP_PERIOD_LIMIT, smoothed round-trip
 *	time); 0 = no pacing but the contract's
 * @cwnd: most packets in flight, 1 to SSTP_CWND_LIMIT; SSTP_CWND_MAX = no congestion window.
 *	After a cut in @on_loss the core goes down to it while the packets in flight are reported
 *	(RFC 9937).
 * @rto: us without an answer until the peer is asked for a report, SSTP_RTO_LIMIT_MIN to
 *	SSTP_RTO_LIMIT_MAX; 0 = as computed from round-trip times. A change applies to the next
 *	wait
 * @rtt: us, the round-trip time by which this end sends, 3 s at most; 0 = as measured. It is in
 *	place of @srtt where the core computes @rto, asks for reports once a round trip, and looks
 *	for a lost tail. Samples always have what was measured: a controller computes its own from
 *	@rtt of these, or from @now of packets sent and reported
 * @ack_interval: packets after which the peer is asked to report at once, 1 to 65535 and no more
 *	than the window; a train of up to SSTP_TRAIN_PACKETS asks once. 0 = about one in
 *	250 us, 4 to 16 in a window and no more than 256 packets apart, or once a round
 *	trip without a congestion window
 * @ack_timer: us that the peer holds back a report of packets that it is not asked to report,
 *	SSTP_ACK_TIMER_MIN to SSTP_ACK_TIMER_MAX; 0 = as the peer likes. The peer is told of
 *	@ack_interval and @ack_timer at set-up and when they change, at most once in a round
 *	trip; before a quarter of its window is filled it reports in any case
 * @timer: time of the next @on_timer, ns, CLOCK_MONOTONIC; 0 = none. It is 0 in @on_timer. At
 *	least SSTP_CTRL_TIMER_MIN and at most SSTP_CTRL_TIMER_MAX from now
 * @msg: message to the peer's half; the core sends it after the callback, if an eighth of a
 *	round trip and a millisecond have passed since the last one, or else then, and sets its
 *	@kind to 0. A callback may replace a message that has not left. Without a peer half
 *	the core drops it.
 * @param: values of the parameters, in the order of @params of the ops, in range or 0; only
 *	the core writes them, before @init and later: callbacks find the new value at once, and
 *	@on_param is the first of them
 * @priv: state of the controller, zeroed before @init
 *
 * Each connection has its own. It is guarded by the socket lock.
 *
 * After each callback the core clamps @cwnd and @period to their ranges, so that no controller
 * can stop a connection: with a window of 0 no packet would leave, so no report would come,
 * and nothing would open the window again. SSTP_CWND_LIMIT keeps packets in flight well within
 * half of the serial numbers, which is what can be compared. A period longer than the
 * round-trip time would be stricter than a window of 1; SSTP_PERIOD_LIMIT is far below the user
 * timeout. When nothing is in flight, ten packets may leave at once, with a congestion window up
 * to SSTP_TRAIN_PACKETS; the pause that follows is at most SSTP_PERIOD_LIMIT, the round-trip
 * time or two periods, whichever is longest.
 */
struct sstp_ctrl {
	u64	period;
	u32	cwnd;
	u32	rto;
	u32	ack_interval;
	u32	ack_timer;
	u32	rtt;
	u64	timer;
	u32	param[SSTP_PARAMS_MAX];
	u64	priv[SSTP_CTRL_PRIV_SIZE / sizeof(u64)];
	struct sstp_ctrl_msg msg;
};

/**
 * struct sstp_ctrl_totals - what a connection has done since its set-up
 * @age: ns since the set-up
 * @packets_sent: DATA packets shipped, retransmissions included
 * @packets_retrans: retransmissions among them
 * @packets_lost: of them, reported lost
 * @bytes_sent: of payload, each byte once
 * @bytes_acked: of segments acknowledged
 * @acks_received: PACKs
 * @snaks_received: SNAKs
 *
 * For values since an earlier time, a controller keeps those of then and subtracts them. The
 * sample has the present ones.
 */
struct sstp_ctrl_totals {
	u64	age;
	u64	packets_sent;
	u64	packets_retrans;
	u64	packets_lost;
	u64	bytes_sent;
	u64	bytes_acked;
	u64	acks_received;
	u64	snaks_received;
};

/**
 * struct sstp_recv_sample - state of a connection, input of the receiving half of a controller
 * @now: time, ns, CLOCK_MONOTONIC
 * @srtt: smoothed round-trip time, us; 0 = none measured, else 1 us to 60 s
 * @received: DATA packets that came, modulo 2^32; copies do not count, as far as they are known
 * @bytes: of payload that came, without copies
 * @arrival_rate: rate at which data arrives, bit/s, of the last complete interval; 0 = none yet
 * @service_rate: rate at which the program reads, likewise
 * @served: bytes that the program has read since the half began
 * @unread: ns in which data waited for the program, since the set-up
 * @lowest: least bytes that waited for it since the last @recv_timer, or since the half began
 * @refused: packets that found no room in the receive buffer, modulo 2^32
 * @queued: bytes of memory in use in the receive buffer
 * @limit: limit of the receive buffer, bytes of memory
 * @packet_size: bytes of a full frame of this end, link-layer header included
 */
struct sstp_recv_sample {
	u64	now;
	u32	srtt;
	u32	received;
	u64	bytes;
	u64	arrival_rate;
	u64	service_rate;
	u64	served;
	u64	unread;
	u32	lowest;
	u32	refused;
	u32	queued;
	u32	limit;
	u32	packet_size;
};

/**
 * struct sstp_recv - outputs and state of the receiving half of a controller
 * @rate: bit/s that the peer shall send at most, 1 kbit/s or more, rounded down to kbit/s; 0 =
 *	any. The peer is told when it changes, at most once in a round trip. In a group,
 *	@group_tick sets it, and the half has the new value after its next @recv_timer or
 *	@recv_message.
 * @timer: time of the next @recv_timer, as @timer of struct sstp_ctrl
 * @feedback: for the peer's controller. The next PACK has it, and leaves at once after
 *	@recv_timer, also while packets are missing and a SNAK would do. The core sets its
 *	@valid to false then
 * @report: values for the group, which gets them after @recv_init, @recv_timer and
 *	@recv_message
 * @priv: state of the receiving half, zeroed before @recv_init
 * @msg: message to the peer's controller, as @msg of struct sstp_ctrl
 *
 * The socket lock guards it. The core allocates it for connections whose peer names a
 * controller that has @recv_init.
 */
struct sstp_recv {
	u64	rate;
	u64	timer;
	struct sstp_feedback feedback;
	u64	report[SSTP_GROUP_REPORTS];
	u64	priv[SSTP_CTRL_PRIV_SIZE / sizeof(u64)];
	struct sstp_ctrl_msg msg;
};

/**
 * struct sstp_group_member - a receiving half in a group
 * @list: entry of @members of the group
 * @report: the last @report of the receiving half
 * @rate: rate for its peer, bit/s, 0 = any; written by @group_tick
 * @priv: state of the group for this member, zeroed when it joins
 */
struct sstp_group_member {
	struct list_head list;
	u64	report[SSTP_GROUP_REPORTS];
	u64	rate;
	u64	priv[2];
};

/**
 * struct sstp_group - receiving halves of one controller that share state
 * @members: list of struct sstp_group_member
 * @count: their number, at most SSTP_GROUP_MEMBERS; receiving halves beyond it are in no group
 * @tick: ns between two @group_tick, SSTP_GROUP_TICK_MIN, or SSTP_GROUP_TICK_EACH for each member
 *	if that is more, to SSTP_GROUP_TICK_MAX; 0 before the first one, which comes when the
 *	first member joins
 * @now: time of this tick, ns, CLOCK_MONOTONIC
 * @priv: state of the group, zeroed at first
 *
 * The group's spinlock guards it and its members. It lives while it has members.
 */
struct sstp_group {
	struct list_head members;
	u32	count;
	u64	tick;
	u64	now;
	u64	priv[SSTP_CTRL_PRIV_SIZE / sizeof(u64)];
};

/* Does a controller answer marks? */
enum sstp_ctrl_ecn {
	SSTP_CTRL_ECN_NONE,	/* no: packets leave without ECT */
	SSTP_CTRL_ECN_ANSWERS,	/* yes: packets have ECT(0) if net.sstp.ecn is 1 */
	SSTP_CTRL_ECN_NEEDS,	/* it is of little use without: packets have ECT(0) in any case */
};

/* Which receiving halves of a controller share a group. Those of different VRFs share none. */
enum sstp_group_scope {
	SSTP_GROUP_NONE,	/* none */
	SSTP_GROUP_PEER,	/* those of connections with the same peer address */
	SSTP_GROUP_PORT,	/* those of connections with the same local SSTP port */
};

/**
 * struct sstp_ctrl_ops - a controller
 * @init: the controller is attached to a connection; it finds @cwnd SSTP_CWND_MAX, all other
 *	outputs 0
 * @release: the controller is detached
 * @on_ack: a valid PACK or SNAK came
 * @on_loss: the report reports lost packets, @s->lost > 0, or marks, @s->ce > 0; called after
 *	@on_ack
 * @on_timeout: several probes in a row were not answered in time
 * @on_param: parameters were set; a shorter @period than before ends the present wait
 * @on_pkt_sent: DATA packets are passed to IP
 * @on_timer: the time in @timer has come
 * @on_message: a message of the peer's receiving half came. What exceeds four messages and
 *	states of the peer a millisecond on average is dropped
 * @recv_init: the peer named this controller, so this end runs its receiving half; outputs
 *	are 0. The half holds a reference on the module until the connection ends or the peer
 *	names another
 * @recv_release: the receiving half ends
 * @recv_packets: DATA packets of the peer came
 * @recv_timer: the time in @timer of the receiving half has come
 * @recv_message: a message of the peer's controller came
 * @group_tick: called every @tick ns, in softirq under the group's lock: reads @report and sets
 *	@rate of members
 * @name: unique, 1 to 15 graphic characters
 * @owner: module; each connection that has the controller holds a reference
 * @list: entry of the registry; RCU, written under the registry's lock
 * @life: set by the core if this is a BPF program; NULL of a module
 * @params: parameters that programs and administrators may set for each connection
 * @state: names of the values that @get_info gives, valid and unique as those of @params
 * @check_params: checks values in range, or 0, against each other: -EINVAL if they contradict.
 *	In process context, without a connection
 * @get_info: sets @state, which is zeroed; the values are in the order of the names
 * @restricted: the controller does not react to congestion, so a program needs
 *	CAP_NET_ADMIN to select it, unless the administrator allows it
 * @ecn: whether packets leave with ECT(0), so that queues may mark them: only if @on_loss answers
 *	a mark at least as it answers the loss of a packet (RFC 3168), or as an RFC says
 * @group: receiving halves that share a group; others than SSTP_GROUP_NONE require @group_tick
 *
 * Only @init, @name and one of @on_ack, @on_loss are required. The callbacks of the receiving
 * half require @recv_init.
 *
 * Callbacks run under the socket lock, in process context with bottom halves on or off, or in
 * softirq, and must not sleep. A lock that several connections share must be taken with _bh.
 * The sample is valid during the call only.
 *
 * A controller may be replaced while the connection is live. @init of the new one then finds
 * the values measured so far, and the core raises its window to the packets in flight, but
 * not above the old window.
 */
struct sstp_ctrl_ops {
	void	(*init)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*release)(struct sstp_ctrl *c);
	void	(*on_ack)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_loss)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_timeout)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_param)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_pkt_sent)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			       const struct sstp_ctrl_packets *p);
	void	(*on_timer)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_message)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			      const struct sstp_ctrl_msg *m);
	void	(*recv_init)(struct sstp_recv *r, const struct sstp_recv_sample *s);
	void	(*recv_release)(struct sstp_recv *r);
	void	(*recv_packets)(struct sstp_recv *r, const struct sstp_recv_sample *s,
				const struct sstp_ctrl_packets *p);
	void	(*recv_timer)(struct sstp_recv *r, const struct sstp_recv_sample *s);
	void	(*recv_message)(struct sstp_recv *r, const struct sstp_recv_sample *s,
				const struct sstp_ctrl_msg *m);
	void	(*group_tick)(struct sstp_group *g);
	char	name[SSTP_NAME_MAX];
	struct module *owner;
	struct list_head list;
	struct sstp_plugin_life *life;
	struct sstp_param_spec params[SSTP_PARAMS_MAX];
	char	state[SSTP_STATE_MAX][SSTP_NAME_MAX];
	int	(*check_params)(const struct sstp_param_values *v);
	void	(*get_info)(const struct sstp_ctrl *c, s64 *state);
	bool	restricted;
	enum sstp_ctrl_ecn ecn;
	enum sstp_group_scope group;
};

int sstp_register_ctrl(struct sstp_ctrl_ops *ops);
void sstp_unregister_ctrl(struct sstp_ctrl_ops *ops);
void sstp_ctrl_totals(const struct sstp_ctrl *c, u64 now, struct sstp_ctrl_totals *t);

/* The init and exit functions of a module that has the controller @ops and nothing else */
#define module_sstp_ctrl(ops)	\
	module_driver(ops, sstp_register_ctrl, sstp_unregister_ctrl)

/**
 * struct sstp_rbuf_sample - state of a receive buffer, input of a policy
 * @limit: limit of the buffer now, bytes of memory
 * @least: lowest limit, bytes
 * @first: initial limit, bytes; also the highest floor that a program may set
 * @ceiling: highest limit, bytes
 * @path: bytes of memory that the path needs at its present rate; 0 = not known, or no data
 *	came in the epoch
 * @queued: most bytes in use in the epoch
 * @used: share of memory in use, 0 to SSTP_RBUF_ONE: of the machine, the memory cgroup or
 *	net.sstp.mem, whichever is fullest; SSTP_RBUF_ONE under memory pressure
 * @emptied: at least once in the epoch the program read all data
 * @drained: the program did so after the buffer had been full, or nearly so
 * @arrived: bytes of memory of the data that came in the epoch
 * @served: bytes of memory of the data that the program read in the epoch
 * @lacked: bytes of memory of the data that came in the epoch and was discarded
 * @available: bytes of memory that all buffers with much traffic may share equally
 * @rtt: last round-trip time that this end measured, us; 0 = none yet
 * @queue: lowest time that a packet of the epoch waited in queues of the path, us: the rise of its
 *	one-way delay over the lowest of the last 5 to 10 s
 * @queue_most: the longest such time, us
 * @rate: payload that came in the epoch, bytes/s
 * @capacity: payload that the narrowest link carried between the packets of trains, bytes/s, mean
 *	of the last five trains; 0 = fewer came. The first estimate ends an epoch early
 * @lost: packets that the path lost, as found in the epoch
 * @lost_queue: mean time that packets waited when these were lost, us
 * @unanswered: requests for a round-trip time to which no answer came before the next
 * @segment: bytes of a large segment of late; 0 = none came yet
 * @packet: bytes of payload in a packet, the most of the epoch
 * @granted: bytes of payload that the peer may ship beyond what this end has accepted
 * @window_limited: the peer had as much in flight as @granted allows; where that has grown since
 *	the last epoch, as the mean of the two allows
 * @app_limited: the peer paused for more than half a round trip, not for want of a window
 *
 * In @init the members from @queued on describe no epoch yet. A timer may end an epoch late:
 * @arrived, @served and @lacked are scaled to the nominal length. Those from @rtt on are 0 unless
 * the policy has set @measure before the epoch; they come from the peer's stamps and echoes, so
 * they are in range but need not be true. The core keeps both parts apart, @use and @seen.
 */
struct sstp_rbuf_sample {
	struct_group_tagged(sstp_rbuf_use, use,
		u32	limit;
		u32	least;
		u32	first;
		u32	ceiling;
		u32	path;
		u32	queued;
		u32	used;
		bool	emptied;
		bool	drained;
		u64	arrived;
		u64	served;
		u64	lacked;
		u64	available;
	);
	struct_group_tagged(sstp_rbuf_seen, seen,
		u32	rtt;
		u32	queue;
		u32	queue_most;
		u32	lost;
		u64	rate;
		u64	capacity;
		u32	lost_queue;
		u32	unanswered;
		u32	segment;
		u32	packet;
		u32	granted;
		bool	window_limited;
		bool	app_limited;
	);
};

/**
 * struct sstp_rbuf - outputs and state of a receive buffer policy
 * @epoch: time until the next @update, ns, SSTP_RBUF_EPOCH_MIN to SSTP_RBUF_EPOCH_MAX;
 *	0 = no updates
 * @limit: limit of the buffer from now on, bytes of memory, @least to @ceiling of the sample,
 *	or unchanged; each callback finds the present limit
 * @top: highest limit that the core may set until the next @update, bytes, up to @ceiling of
 *	the sample; @init finds @ceiling
 * @exact: no window larger than the buffer, whatever SSTP_WINDOW_FACTOR says, unless the
 *	program set SO_RCVBUF
 * @rest: the policy needs no @update until a packet comes, so no timer is armed
 * @measure: the policy wants the members of the sample from @rtt on; this end then asks the peer
 *	for a report once in two round trips while data comes. Not where connections share a buffer
 * @window: bytes of payload that the peer may have in flight, apart from the memory that @limit
 *	allows, as what the program has not read yet is not in flight; 0 = as much as the memory
 *	allows. As the window moves by whole segments the core adds up to two of them. It has no
 *	effect while @measure is not set, nor on a peer with a contract, which does not send the
 *	faster for a larger window
 * @widen: the window is @window and the payload that came since @measure was set, so that it grows
 *	as a sender's in slow start does
 * @small: the peer is asked for segments of a 32nd part of @window at most, but of a packet at
 *	least, unless @widen is set
 * @param: values of the parameters, as in struct sstp_ctrl
 * @priv: state of the policy, zeroed before @init
 *
 * The socket lock guards it; if the connections of a listener share the buffer, the pool's
 * spinlock.
 *
 * After each callback the core clamps @limit, @top and @epoch to their ranges: below @least a
 * packet might never find room; a shorter epoch would keep the CPU busy; with a longer one the
 * buffer would have the wrong size for longer than programs wait.
 */
struct sstp_rbuf {
	u64	epoch;
	u32	limit;
	u32	top;
	bool	exact;
	bool	rest;
	bool	measure;
	bool	widen;
	bool	small;
	u32	window;
	u32	param[SSTP_PARAMS_MAX];
	u64	priv[SSTP_RBUF_PRIV_SIZE / sizeof(u64)];
};

/**
 * struct sstp_rbuf_ops - a receive buffer policy
 * @init: the policy is attached to the buffer of a connection, or of a listener whose
 *	connections share one
 * @release: the policy is detached
 * @update: an epoch is over; called when a packet comes, or by a timer if none does. Without
 *	this callback there are no epochs.
 * @name: unique, 1 to 15 graphic characters
 * @owner: module; each buffer that has the policy holds a reference
 * @list: entry of the registry; RCU, written under the registry's lock
 * @life: as in struct sstp_ctrl_ops
 * @params: as in struct sstp_ctrl_ops, and so the next three
 * @state: names of the values that @get_info gives
 * @check_params: checks values against each other
 * @get_info: sets @state
 * @sysfs: attributes in a directory of /sys/kernel/sstp while the policy is registered
 *
 * Only @name is required. Contexts as for struct sstp_ctrl_ops. The sample is valid during
 * the call.
 */
struct sstp_rbuf_ops {
	void	(*init)(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s);
	void	(*release)(struct sstp_rbuf *b);
	void	(*update)(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s);
	char	name[SSTP_NAME_MAX];
	struct module *owner;
	struct list_head list;
	struct sstp_plugin_life *life;
	struct sstp_param_spec params[SSTP_PARAMS_MAX];
	char	state[SSTP_STATE_MAX][SSTP_NAME_MAX];
	int	(*check_params)(const struct sstp_param_values *v);
	void	(*get_info)(const struct sstp_rbuf *b, s64 *state);
	const struct attribute_group *sysfs;
};

int sstp_register_rbuf(struct sstp_rbuf_ops *ops);
void sstp_unregister_rbuf(struct sstp_rbuf_ops *ops);

/* The same for a module that has the policy @ops and nothing else */
#define module_sstp_rbuf(ops)	\
	module_driver(ops, sstp_register_rbuf, sstp_unregister_rbuf)

#endif /* _NET_SSTP_H */
