/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segment streaming transport protocol: what controllers and receive buffer
 * policies implement. Both return verdicts; the protocol acts on them.
 */
#ifndef _NET_SSTP_H
#define _NET_SSTP_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/types.h>
#include <uapi/linux/sstp.h>

#define SSTP_CTRL_PRIV_SIZE	128
#define SSTP_RBUF_PRIV_SIZE	128
#define SSTP_RBUF_ONE		0x10000	/* 1.0 of shares */
#define SSTP_CWND_MAX		U32_MAX	/* no congestion window */

/**
 * struct sstp_ctrl - what a controller sees and sets
 * @cwnd: packets in flight at most; SSTP_CWND_MAX = the rate alone decides (out)
 * @period: ns between packets, 0 = no pacing but the contract's (out)
 * @srtt: smoothed round-trip time, us; 0 = none measured (in)
 * @min_rtt: lowest round-trip time, us; U32_MAX = none measured (in)
 * @in_flight: packets shipped and neither reported received nor lost (in)
 * @shipped: packets shipped so far, modulo 2^32 (in)
 * @packet_size: bytes of a full frame (in)
 * @held_back: the window, nothing else, held back a packet since the last report (in)
 * @cwnd_limited: it did so within a round trip (in)
 * @flight: else, most packets in flight within a round trip; if so, those then (in)
 * @flight_ship: shipment with which that round trip ends; the core's
 * @priv: the controller's own
 *
 * All of it is guarded by the socket lock or, in softirq, its spinlock.
 */
struct sstp_ctrl {
	u32	cwnd;
	u64	period;
	u32	srtt;
	u32	min_rtt;
	u32	in_flight;
	u32	shipped;
	u32	packet_size;
	bool	held_back;
	bool	cwnd_limited;
	u32	flight;
	u32	flight_ship;
	const struct sstp_ctrl_ops *ops;
	u64	priv[SSTP_CTRL_PRIV_SIZE / sizeof(u64)];
};

/**
 * struct sstp_ack_sample - what one PACK or SNAK told the sender
 * @now: us
 * @rtt: sample in us, or 0
 * @delivered: packets newly reported received
 * @lost: packets newly found lost
 * @lost_ship: newest shipment of those (serial number); with interleaved
 *	retransmissions it may be told a little too old
 * @highest: highest shipment that has arrived (serial number), less those before it that
 *	may be late
 * @arrival_rate: bit/s at the receiver, or 0
 * @service_rate: bit/s at which the receiving program reads, or 0
 * @undue: packets that were found lost before, and were only late
 */
struct sstp_ack_sample {
	u64	now;
	u32	rtt;
	u32	delivered;
	u32	lost;
	u32	lost_ship;
	u32	highest;
	u64	arrival_rate;
	u64	service_rate;
	u32	undue;
};

/**
 * struct sstp_ctrl_ops - a controller
 *
 * Every callback runs under the connection's lock, for a program or in softirq, and must
 * not sleep: a lock that several connections take needs bottom halves off. Only @init,
 * @name and one of @on_ack, @on_loss are required.
 *
 * A connection may get another controller while it is live. @init then finds what was
 * measured (@srtt and the rest that is in), and a window that it sets is raised to what
 * is under way.
 */
struct sstp_ctrl_ops {
	void	(*init)(struct sstp_ctrl *c);
	void	(*release)(struct sstp_ctrl *c);
	void	(*on_ack)(struct sstp_ctrl *c, const struct sstp_ack_sample *s);
	/* after on_ack, when s->lost > 0 */
	void	(*on_loss)(struct sstp_ctrl *c, const struct sstp_ack_sample *s);
	/* a probe was not answered in time */
	void	(*on_timeout)(struct sstp_ctrl *c);
	void	(*on_pkt_sent)(struct sstp_ctrl *c, u32 packets, u64 now);
	/* the peer's data; @gap: shipments skipped before it */
	void	(*on_pkt_received)(struct sstp_ctrl *c, u32 packets, u32 gap,
				   u64 now);
	char	name[SSTP_NAME_MAX];
	struct module *owner;
	struct list_head list;	/* registry; written under its lock, RCU */
	/* It gives way to nobody: a program needs permission to name it. */
	bool	restricted;
};

int sstp_register_ctrl(struct sstp_ctrl_ops *ops);
void sstp_unregister_ctrl(struct sstp_ctrl_ops *ops);

/**
 * struct sstp_rbuf - what a receive buffer policy sees and sets
 * @limit: bytes of memory that the buffer may use (in)
 * @least: no policy lets @limit fall below that (in)
 * @first: @limit at the start, the most that a program may keep a floor at (in)
 * @ceiling: highest @limit (in)
 * @top: highest @limit until the next update; @ceiling if the policy does not say (out)
 * @path: bytes that the path can fill as fast as it is now; 0 = not known, or nothing
 *	came in the epoch (in)
 * @queued: most bytes in use in the epoch (in)
 * @arrived: bytes of memory that arrived in the epoch (in)
 * @served: bytes of memory that the program took in the epoch (in)
 * @lacked: bytes of memory that arrived in the epoch and found no room (in)
 * @emptied: the program took all that there was, once in the epoch at least (in)
 * @drained: it did when the buffer was full, or nearly so (in)
 * @used: share of memory in use, of SSTP_RBUF_ONE: of the machine's, a memory cgroup's
 *	or SSTP's, whichever is fullest; all of it under pressure (in)
 * @available: bytes of memory to be had, of which each buffer in which much moves has
 *	an equal part (in)
 * @rrda: as the option SSTP_RRDA has it (in)
 * @epoch: ns until the next update, or until something comes again; 0 = there are
 *	none (out, by init and update)
 * @exact: windows do not exceed the buffer (out)
 * @rest: nothing changes until something comes again (out)
 * @surplus: v' of rrda, bytes an epoch, for traces (out)
 * @trend: f of rrda, the same (out)
 * @counted: as one in which much moves; this and the next are not for the policy
 * @busy_until: ns: so long it counts as that
 * @priv: the policy's own
 *
 * Guarded as struct sstp_ctrl is. Epochs may be a little longer than they should: what
 * moved is brought to the length of one.
 */
struct sstp_rbuf {
	u32	limit;
	u32	least;
	u32	first;
	u32	ceiling;
	u32	top;
	u32	path;
	u32	queued;
	u64	arrived;
	u64	served;
	u64	lacked;
	bool	emptied;
	bool	drained;
	u32	used;
	u64	available;
	struct sstp_rrda_spec rrda;
	u64	epoch;
	bool	exact;
	bool	rest;
	s64	surplus;
	s8	trend;
	bool	counted;
	u64	busy_until;
	const struct sstp_rbuf_ops *ops;
	u64	priv[SSTP_RBUF_PRIV_SIZE / sizeof(u64)];
};

/**
 * struct sstp_rbuf_ops - a receive buffer policy
 *
 * @update returns the new limit. It runs when an epoch has passed: in the receive
 * softirq, or by a timer while no packet comes. Who sets an epoch must have it.
 * Contexts as for struct sstp_ctrl_ops.
 */
struct sstp_rbuf_ops {
	void	(*init)(struct sstp_rbuf *b);
	void	(*release)(struct sstp_rbuf *b);
	u32	(*update)(struct sstp_rbuf *b);
	char	name[SSTP_NAME_MAX];
	struct module *owner;
	struct list_head list;
};

int sstp_register_rbuf(struct sstp_rbuf_ops *ops);
void sstp_unregister_rbuf(struct sstp_rbuf_ops *ops);

#endif /* _NET_SSTP_H */
