/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delivery rate of a sender, as draft-ietf-ccwg-bbr section 4.1 samples it, but without state
 * for each packet: a report has the timestamp of the packet that came last, how long the
 * report was held back, and how many packets have come. Of the reports of the last round
 * trips some are remembered. The sample of a new report covers the time since the newest of
 * these that had come before the packet left. As not all reports are remembered, it may have up
 * to a quarter of a window more than was delivered in a round trip: if packets leave in bursts,
 * the rate of a sample is up to a quarter too high.
 *
 * How many packets were in flight when the packet left, and how many of them are lost, follows
 * from the shipments that were reported then: between two remembered reports their number is
 * taken to have grown evenly.
 *
 * Pure mechanism: no socket, no clock. Times are in us, modulo 2^32.
 */
#ifndef _SSTP_SAMPLE_H
#define _SSTP_SAMPLE_H

#include <linux/types.h>
#include "compat.h"

#define SSTP_SAMPLE_MARKS	12U	/* reports remembered */
#define SSTP_SAMPLE_OLD		120000000U /* us after which reports do not matter any more */
#define SSTP_SAMPLE_FEW		2U	/* of a sender whose packets come before it sends more */
/* A report is remembered if 1/4 of a round trip has passed since the last one, or if 1/4 of the
 * packets in flight have been delivered: the marks span a round trip and a half at least.
 */
#define SSTP_SAMPLE_SPACING	4

/**
 * struct sstp_sample_mark - a report
 * @at: time when it came
 * @sent: time when the packet that it answers left
 * @came: time when it left the receiver, plus the delay of the way back
 * @delivered: packets delivered in total, modulo 2^32
 * @highest: highest shipment reported, less those before it that may be late (serial number)
 */
struct sstp_sample_mark {
	u32	at;
	u32	sent;
	u32	came;
	u32	delivered;
	u32	highest;
};

/**
 * struct sstp_sampler - state of the measurement
 * @few: the last reports, a ring of SSTP_SAMPLE_FEW, while @more is NULL
 * @more: the last reports, a ring of SSTP_SAMPLE_MARKS, once @few are too few
 * @newest: index of the newest one in the ring
 * @marks: used entries of the ring
 * @idle_at: time of the last sstp_sample_idle(); valid if @idled
 * @idled: the sender has been without data since the oldest mark
 */
struct sstp_sampler {
	struct sstp_sample_mark few[SSTP_SAMPLE_FEW];
	struct sstp_sample_mark *more;
	__cacheline_group_begin(sstp_sampler_report);
	u32	idle_at;
	u8	newest;
	u8	marks;
	bool	idled;
	__cacheline_group_end(sstp_sampler_report);
};

/**
 * struct sstp_delivery - a sample of the delivery rate
 * @packets: packets delivered in @interval; 0 = no sample
 * @interval: us, at least 1: the longer of the times in which the packets left and came
 * @prior: packets delivered in total before the interval, modulo 2^32
 * @app_limited: the sender lacked data in the interval, so the path may carry more
 * @flight: packets in flight when the packet left that the report answers, itself included;
 *	0 = not known
 * @lost: how many of @flight are lost
 */
struct sstp_delivery {
	u32	packets;
	u32	interval;
	u32	prior;
	bool	app_limited;
	u32	flight;
	u32	lost;
};

/* The sender ships at @now while nothing is in flight: the next sample begins here. @delivered:
 * packets delivered in total; @highest: highest shipment reported
 */
void sstp_sample_start(struct sstp_sampler *p, u32 now, u32 delivered, u32 highest);
/* Sample the report @r. @srtt: smoothed round-trip time, us; @flight: packets in flight before.
 * Without memory for all marks the last ones stay, and there are samples of fewer reports.
 */
void sstp_sample_report(struct sstp_sampler *p, const struct sstp_sample_mark *r, u32 srtt,
			u32 flight, struct sstp_delivery *d);
/* The sender has no data at @now, although the congestion window allows to send. */
void sstp_sample_idle(struct sstp_sampler *p, u32 now);
/* Forget all reports, and free their memory. */
void sstp_sample_free(struct sstp_sampler *p);

#endif /* _SSTP_SAMPLE_H */
