/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows over a simulated bottleneck: a line with a queue in front of it, and senders that always
 * have data, each with a controller. Time is simulated.
 */
#ifndef _SSTP_LINE_SIM_H
#define _SSTP_LINE_SIM_H

#include "sstp_test.h"
#include "../sample.h"

#define LINE_RING	65536	/* packets in flight at most */
#define LINE_REPORTS	1024	/* reports under way at most */
#define LINE_FLOWS	16

struct line_report {
	u64	at;	/* when it comes, ns */
	u32	highest;
	u32	count;
};

/**
 * struct line_sim - a line with a queue
 * @rate: packets/s
 * @queue: packets that the queue holds
 * @loss: one packet in this many is lost; 0 = none
 * @burst: the line delivers what it has sent at multiples of this, ns; 0 = at once
 * @waits: handshakes wait in the queue, so a flow that begins later does not know its @rtt
 * @rnd: losses by chance
 * @now: ns
 * @free: when the line has sent all of its queue, ns
 * @shipped: packets that came to the line
 * @waited: sum of the packets in the queue that each of them found
 * @most: the most
 * @flow: senders
 * @flows: their number
 */
struct line_sim {
	u32	rate;
	u32	queue;
	u32	loss;
	u32	burst;
	bool	waits;
	struct rnd_state rnd;
	u64	now;
	u64	free;
	u32	shipped;
	u64	waited;
	u32	most;
	struct line_flow *flow[LINE_FLOWS];
	u32	flows;
};

/**
 * struct line_flow - a sender that always has data, and its receiver
 * @ops: the controller
 * @c: outputs and state of the controller
 * @p: its delivery rate
 * @line: the line between them
 * @look: called after each report; may be NULL
 * @seen: for @look
 * @rtt: without the queue, us
 * @srtt: smoothed, with the queue, us
 * @start: when it begins, ns; 0 = it has begun
 * @next: when the next packet may leave, ns
 * @sent: when packets left, ns, by shipment
 * @came: when packets come, ns, by shipment; 0 = lost
 * @shipped: newest shipment
 * @arrived: newest shipment that came or was lost
 * @report: reports under way, a ring
 * @made: number of reports that the receiver made
 * @taken: number of these that have come
 * @told: newest shipment in a report that the receiver made
 * @highest: newest shipment reported
 * @count: packets received
 * @got: how many of them in the last run
 * @delivered: packets received, as reported
 * @held: the window held back a packet since the last report
 * @limited_ship: shipment whose report ends the round trip of @limited
 * @limited: within a round trip the window held back a packet
 */
struct line_flow {
	const struct sstp_ctrl_ops *ops;
	struct sstp_ctrl c;
	struct sstp_sampler p;
	struct line_sim *line;
	void	(*look)(struct line_flow *x);
	u32	seen;
	u32	rtt;
	u32	srtt;
	u64	start;
	u64	next;
	u64	*sent;
	u64	*came;
	u32	shipped;
	u32	arrived;
	struct line_report *report;
	u32	made;
	u32	taken;
	u32	told;
	u32	highest;
	u32	count;
	u32	got;
	u32	delivered;
	bool	held;
	u32	limited_ship;
	bool	limited;
};

/* A line of @rate packets/s, whose queue holds @queue packets */
struct line_sim *line_start(struct kunit *test, u32 rate, u32 queue);
/* Add a flow with a round-trip time of @rtt us, which begins after @ms. */
struct line_flow *line_add(struct kunit *test, struct line_sim *l,
			   const struct sstp_ctrl_ops *ops, u32 rtt, u32 ms);
/* Change the rate; the packets in the queue stay. */
void line_set_rate(struct line_sim *l, u32 rate);
/* Run for @ms. Returns the share of the line that is used, in thousandths. */
u32 line_run(struct line_sim *l, u32 ms);
/* Mean number of packets in the queue in the last run */
u32 line_queue(const struct line_sim *l);
/* The sample for callbacks that no report causes */
void line_sample(const struct line_flow *x, struct sstp_ctrl_sample *s);

#endif /* _SSTP_LINE_SIM_H */
