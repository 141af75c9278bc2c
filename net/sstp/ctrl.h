/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers (congestion control): registry, and calls of their callbacks */
#ifndef _SSTP_CTRL_H
#define _SSTP_CTRL_H

#include <linux/init.h>
#include <net/sstp.h>
#include "compat.h"
#include "param.h"
#include "prr.h"

/**
 * struct sstp_ctrl_core - the controller of a connection
 * @ops: callbacks, with a reference; NULL = no controller
 * @held_back: since the last report only the congestion window held back a packet
 * @cwnd_limited: as in struct sstp_ctrl_sample
 * @flight: as in struct sstp_ctrl_sample
 * @flight_ship: shipment whose report ends the round trip of @flight (serial number)
 * @prr: the way down to a window that was cut
 * @half: receiving half of the peer's controller, NULL = none
 * @talk: what both ends told each other, NULL = nothing yet
 * @timer_at: the earliest time of the next @on_timer, ns
 * @granted: period by what the peer grants, ns; 0 = none, see sstp_ctrl_grant()
 * @next: time at which the period allows the next packet, ns
 * @owed: how much later, us, @next would be if no packet had left without pacing
 * @out: outputs and state of the controller
 */
struct sstp_ctrl_core {
	__cacheline_group_begin(sstp_ctrl_core_report);
	const struct sstp_ctrl_ops *ops;
	struct sstp_half *half;
	struct sstp_talk *talk;
	bool	held_back;
	bool	cwnd_limited;
	u32	flight;
	u32	flight_ship;
	struct sstp_prr prr;
	u32	owed;
	u32	granted;
	u64	next;
	__cacheline_group_end(sstp_ctrl_core_report);
	struct sstp_ctrl out;
	u64	timer_at;
};

#define SSTP_CTRL_UNPACED	10U	/* packets: initial window of RFC 6928 */
#define SSTP_CTRL_NEAR		512U	/* us: shorter round-trip times are of hosts side by side */
#define SSTP_CTRL_REPORT	250U	/* us between reports, if more than 4 tell of a window */
#define SSTP_CTRL_REPORTS_MIN	4U	/* of a window */
#define SSTP_CTRL_REPORTS_MAX	16U
#define SSTP_CTRL_INTERVAL	256U	/* packets, at most */
#define SSTP_CTRL_SMALL		8U	/* packets: smaller windows are reported packet by packet */
#define SSTP_CTRL_IDLE		(200 * NSEC_PER_MSEC)	/* a path may change meanwhile */

/* Attach the controller @name, with a reference and the parameters that @conf has for it. Any
 * context.
 * Return: 0 or -ENOENT, with @c as it was.
 */
int sstp_ctrl_attach(struct sstp_ctrl_core *c, const char *name,
		     const struct sstp_plugin_conf *conf, const struct sstp_ctrl_sample *s);
void sstp_ctrl_detach(struct sstp_ctrl_core *c);
/* The controller @name, with a reference, or NULL */
struct sstp_ctrl_ops *sstp_ctrl_get(const char *name);
void sstp_ctrl_put(const struct sstp_ctrl_ops *ops);	/* @ops may be NULL */
/* Replace the controller of @c by @ops, whose reference @c takes over. The new window is at
 * least min(old window, @carried), in packets.
 */
void sstp_ctrl_switch(struct sstp_ctrl_core *c, const struct sstp_ctrl_ops *ops,
		      const struct sstp_plugin_conf *conf, const struct sstp_ctrl_sample *s,
		      u32 carried);

/* The peer grants @packets (0 = not known), and a round trip takes @srtt (ns). A congestion window
 * may be twice what is in flight. Paced by it, the packets that a report grants would leave as
 * a burst, which waits in the path's queue. Paced by what is granted they leave in 5/6 of a round
 * trip, as those of a congestion window do.
 */
void sstp_ctrl_grant(struct sstp_ctrl_core *c, u64 packets, u64 srtt);

/* Least time between packets, ns; 0 = no pacing but the contract's. What the peer grants does not
 * count without a congestion window, as the period is a rate that was promised then.
 */
static inline u64 sstp_ctrl_period(const struct sstp_ctrl_core *c)
{
	if (!c->out.period || c->out.cwnd == SSTP_CWND_MAX)
		return c->out.period;
	return max_t(u64, c->out.period, c->granted);
}

/* Is it the peer that sets the pace, as it grants fewer packets than the congestion window has?
 * @srtt: ns
 */
bool sstp_ctrl_peer_paced(const struct sstp_ctrl_core *c, u64 srtt);

/* ctrl_call.c: each call clamps the outputs of the controller to their ranges afterwards. */
void sstp_ctrl_bound(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
void sstp_ctrl_begin(struct sstp_ctrl_core *c, const struct sstp_ctrl_ops *ops,
		     const struct sstp_plugin_conf *conf, const struct sstp_ctrl_sample *s);
/* Put the parameters of @conf in force, if they are those of the controller of @c. */
void sstp_ctrl_tune(struct sstp_ctrl_core *c, const struct sstp_plugin_conf *conf,
		    const struct sstp_ctrl_sample *s);
/* Get the state of the controller, SSTP_STATE_MAX values; 0 = it has no such value. */
void sstp_ctrl_get_info(const struct sstp_ctrl_core *c, s64 *state);
/* Set s->cwnd_limited and s->flight for a report. @flight: packets in flight before it;
 * s->highest and s->shipped must be set.
 */
void sstp_ctrl_used(struct sstp_ctrl_core *c, struct sstp_ctrl_sample *s, u32 flight);
void sstp_ctrl_report(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s);
/* These four require that the controller has the callback. sstp_ctrl_sent() returns whether it
 * changed what sstp_message_arm() looks at.
 */
void sstp_ctrl_timeout(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s);
bool sstp_ctrl_sent(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s,
		    const struct sstp_ctrl_packets *p);
void sstp_ctrl_timer(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s);
void sstp_ctrl_message(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s,
		       const struct sstp_ctrl_msg *m);
/* Most packets in flight now; SSTP_CWND_MAX = no congestion window */
static inline u32 sstp_ctrl_window(const struct sstp_ctrl_core *c)
{
	return c->prr.flight ? c->prr.window : c->out.cwnd;
}

/* Packets that the send buffer is to have room for: two congestion windows, or without one six
 * times those that the period lets leave in a round trip of @round (ns). But no more than six times
 * those in flight in the last round trip: a controller may set any window, and any period.
 */
u64 sstp_ctrl_buffered(const struct sstp_ctrl_core *c, u64 round);

/* Number of packets after which the peer is asked for a report; 0 = the controller has neither a
 * congestion window nor an interval. @min_rtt: us
 */
u32 sstp_ctrl_interval(const struct sstp_ctrl_core *c, u32 min_rtt);

/* Most packets in a train of a controller with a congestion window, 1 at least. @min_rtt: us */
u32 sstp_ctrl_train(const struct sstp_ctrl_core *c, u32 min_rtt);

/* Time from which on packets may leave without pacing again, as the period would have let go all
 * that left, ns
 */
static inline u64 sstp_ctrl_paid(const struct sstp_ctrl_core *c)
{
	return c->next + (u64)c->owed * NSEC_PER_USEC;
}

/* Number of packets that may leave without pacing at @now (ns), not before sstp_ctrl_paid() and
 * when nothing is in flight: 1 to SSTP_TRAIN_PACKETS. The period must not be 0. @srtt: ns
 */
u32 sstp_ctrl_unpaced(const struct sstp_ctrl_core *c, u64 srtt, u64 now);
/* Set c->next and c->owed after @packets left at @now (ns), @unpaced of them without pacing.
 * @srtt: ns
 */
void sstp_ctrl_pace(struct sstp_ctrl_core *c, u32 packets, u32 unpaced, u64 srtt, u64 now);
int __init sstp_ctrl_init(void);	/* registers those that are part of sstp.ko */
void sstp_ctrl_exit(void);

extern struct sstp_ctrl_ops sstp_ctrl_rate;
extern struct sstp_ctrl_ops sstp_ctrl_newreno;
extern struct sstp_ctrl_ops sstp_ctrl_hybrid;

#endif /* _SSTP_CTRL_H */
