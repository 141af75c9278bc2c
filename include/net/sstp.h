/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segment streaming transport protocol: what controllers and receive buffer
 * policies implement. Both return verdicts; the protocol acts on them.
 */
#ifndef _NET_SSTP_H
#define _NET_SSTP_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <uapi/linux/sstp.h>

struct attribute_group;

#define SSTP_CTRL_PRIV_SIZE	128
#define SSTP_RBUF_PRIV_SIZE	128
#define SSTP_RBUF_ONE		0x10000	/* 1.0 of shares */
#define SSTP_CWND_MAX		U32_MAX	/* no congestion window */
#define SSTP_CWND_LIMIT		0x40000000	/* packets, of one that is */
#define SSTP_PERIOD_LIMIT	NSEC_PER_SEC
#define SSTP_RBUF_EPOCH_MIN	NSEC_PER_MSEC
#define SSTP_RBUF_EPOCH_MAX	(10ULL * NSEC_PER_SEC)

/**
 * struct sstp_ctrl_sample - everything that a controller is told
 * @now: ns, monotonic
 * @srtt: smoothed round-trip time, us; 0 = none measured, else 1 us to 60 s
 * @min_rtt: lowest round-trip time of the last 5 to 10 s, us; U32_MAX = none measured
 * @in_flight: packets shipped and neither reported received nor lost
 * @shipped: newest shipment (serial number): packets shipped so far, from a random start
 * @packet_size: bytes of a full frame on the link
 * @cwnd_limited: the window, nothing else, held back a packet within a round trip
 * @flight: if so, packets in flight then; else the most within a round trip
 * @rtt: round-trip time that this report measured, us; 0 = none
 * @delivered: packets newly reported received
 * @lost: packets newly found lost
 * @lost_ship: newest shipment of those (serial number); with interleaved
 *	retransmissions it may be told a little too old
 * @highest: highest shipment that has arrived (serial number), less those before it that
 *	may be late
 * @undue: packets that were found lost before, and were only late
 * @arrival_rate: bit/s at the receiver, or 0
 * @service_rate: bit/s at which the receiving program reads, or 0
 *
 * The members before @rtt hold in every callback. Those from @rtt on are what one PACK or SNAK
 * told: only @on_ack and @on_loss find it, in all others it is 0.
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
	u32	rtt;
	u32	delivered;
	u32	lost;
	u32	lost_ship;
	u32	highest;
	u32	undue;
	u64	arrival_rate;
	u64	service_rate;
};

/**
 * struct sstp_ctrl - what a controller sets, and what it remembers
 * @period: ns between packets, up to SSTP_PERIOD_LIMIT or, if that is more, the smoothed
 *	round-trip time; 0 = no pacing but the contract's
 * @cwnd: packets in flight at most, 1 to SSTP_CWND_LIMIT; SSTP_CWND_MAX = the rate alone
 *	decides
 * @priv: the controller's own, zero before @init
 *
 * A connection has one of its own. The socket lock guards it or, in softirq, its spinlock.
 *
 * After each callback the core brings @cwnd and @period into their ranges, so that no
 * controller stops a connection. With a window of 0 no packet would leave, so no report would
 * come, and nothing would open the window again. Packets in flight are counted by serial
 * numbers, of which half can be told apart: hence SSTP_CWND_LIMIT. A period longer than the
 * round-trip time holds back more than a window of 1; SSTP_PERIOD_LIMIT is far below the
 * time after which either end gives up. What leaves at once, as the first packets after all
 * has been reported do, is made up for by a pause of SSTP_PERIOD_LIMIT, the round-trip time
 * or two periods at most, whichever is longest.
 */
struct sstp_ctrl {
	u64	period;
	u32	cwnd;
	u64	priv[SSTP_CTRL_PRIV_SIZE / sizeof(u64)];
};

/**
 * struct sstp_ctrl_ops - a controller
 * @init: a connection gets this controller. Before it @cwnd is SSTP_CWND_MAX, @period 0.
 * @release: it loses it
 * @on_ack: a PACK or SNAK came
 * @on_loss: the same one told of losses, @s->lost > 0; after @on_ack
 * @on_timeout: several probes in a row were not answered in time, with packets in flight
 * @on_pkt_sent: @packets left, as one train
 * @on_pkt_received: @packets of the peer's data came; @gap: shipments skipped before them
 * @name: unique, of 1 to 15 graphic characters
 * @owner: each connection that has the controller holds it
 * @list: of the registry; written under its lock, RCU
 * @restricted: it gives way to no other flow: a program needs permission to name it
 *
 * Only @init, @name and one of @on_ack, @on_loss are required.
 *
 * Every callback runs under the connection's lock, for a program or in softirq, and must
 * not sleep: a lock that several connections take needs bottom halves off. The sample is
 * valid during the call.
 *
 * A connection may get another controller while it is live. @init then finds what was
 * measured, and a window that it sets is raised to what is under way.
 */
struct sstp_ctrl_ops {
	void	(*init)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*release)(struct sstp_ctrl *c);
	void	(*on_ack)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_loss)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_timeout)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_pkt_sent)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			       u32 packets);
	void	(*on_pkt_received)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				   u32 packets, u32 gap);
	char	name[SSTP_NAME_MAX];
	struct module *owner;
	struct list_head list;
	bool	restricted;
};

int sstp_register_ctrl(struct sstp_ctrl_ops *ops);
void sstp_unregister_ctrl(struct sstp_ctrl_ops *ops);

/**
 * struct sstp_rbuf_sample - everything that a receive buffer policy is told
 * @limit: bytes of memory that the buffer may use now
 * @least: no policy lets the limit fall below that
 * @first: limit at the start, the most that a program may keep a floor at
 * @ceiling: highest limit
 * @path: bytes that the path can fill as fast as it is now; 0 = not known, or nothing
 *	came in the epoch
 * @queued: most bytes in use in the epoch
 * @used: share of memory in use, of SSTP_RBUF_ONE: of the machine's, a memory cgroup's
 *	or SSTP's, whichever is fullest; all of it under pressure
 * @emptied: the program took all that there was, once in the epoch at least
 * @drained: it did when the buffer was full, or nearly so
 * @arrived: bytes of memory that arrived in the epoch
 * @served: bytes of memory that the program took in the epoch
 * @lacked: bytes of memory that arrived in the epoch and found no room
 * @available: bytes of memory to be had, of which each buffer in which much moves has
 *	an equal part
 *
 * For @init nothing has moved yet. Epochs may be a little longer than they should: what moved is
 * brought to the length of one.
 */
struct sstp_rbuf_sample {
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
};

/**
 * struct sstp_rbuf - the verdict of a receive buffer policy, and what it remembers
 * @epoch: ns until the next update, or until something comes again,
 *	SSTP_RBUF_EPOCH_MIN to SSTP_RBUF_EPOCH_MAX; 0 = there are none
 * @limit: bytes of memory that the buffer may use from now on, @least to @ceiling of the
 *	sample, or as it is; before each callback it is as it is
 * @top: highest limit until the next update, up to @ceiling of the sample, which it is
 *	before @init
 * @exact: windows do not exceed the buffer
 * @rest: nothing changes until something comes again
 * @priv: the policy's own, zero before @set_param and @init
 *
 * The locks of struct sstp_ctrl guard it; if it is shared by all connections of a listener,
 * a spinlock of its own.
 *
 * After each callback the core brings @limit, @top and @epoch into their ranges. With a limit
 * below what the administrator allows every socket no packet might find room. A shorter
 * epoch would keep the CPU busy, and after a longer one a buffer would be of the wrong size
 * for longer than programs wait.
 */
struct sstp_rbuf {
	u64	epoch;
	u32	limit;
	u32	top;
	bool	exact;
	bool	rest;
	u64	priv[SSTP_RBUF_PRIV_SIZE / sizeof(u64)];
};

/**
 * struct sstp_rbuf_info - what a policy tells of its last update, for traces
 * @surplus: bytes that arrive in an epoch and are not served, smoothed
 * @trend: sign of @surplus if the policy follows it, else 0
 */
struct sstp_rbuf_info {
	s64	surplus;
	int	trend;
};

/**
 * struct sstp_rbuf_ops - a receive buffer policy
 * @init: a connection, or all of a listener that share a buffer, get this policy
 * @release: they lose it
 * @update: an epoch has passed: in the receive softirq, or by a timer while no packet
 *	comes. Without it there are no epochs.
 * @set_param: the value of a socket option that is for policies, checked, of @len bytes:
 *	SSTP_RRDA and struct sstp_rrda_spec. Before @init, and when the option is set;
 *	then no limit is taken from it, but from the next update.
 * @get_info: @i is zero before
 * @sysfs: a directory of its own in /sys/kernel/sstp, while it is registered
 * @name: unique, of 1 to 15 graphic characters
 * @owner: each buffer that has the policy holds it
 * @list: of the registry; written under its lock, RCU
 *
 * Only @name is required. Contexts as for struct sstp_ctrl_ops. The sample is valid during
 * the call.
 */
struct sstp_rbuf_ops {
	void	(*init)(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s);
	void	(*release)(struct sstp_rbuf *b);
	void	(*update)(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s);
	void	(*set_param)(struct sstp_rbuf *b, int option, const void *param, size_t len);
	void	(*get_info)(const struct sstp_rbuf *b, struct sstp_rbuf_info *i);
	char	name[SSTP_NAME_MAX];
	struct module *owner;
	struct list_head list;
	const struct attribute_group *sysfs;
};

int sstp_register_rbuf(struct sstp_rbuf_ops *ops);
void sstp_unregister_rbuf(struct sstp_rbuf_ops *ops);

#endif /* _NET_SSTP_H */
