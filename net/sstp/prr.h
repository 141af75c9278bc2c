/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Proportional rate reduction (RFC 9937): while the packets that were in flight at a cut of the
 * congestion window are reported, the sender goes down to the new window step by step, with
 * the reports as its clock, in place of a pause until enough packets have left the path. Pure
 * mechanism: no socket, no clock. Windows are in packets.
 */
#ifndef _SSTP_PRR_H
#define _SSTP_PRR_H

#include <linux/types.h>

/**
 * struct sstp_prr - state of a reduction
 * @window: most packets in flight until the next report
 * @flight: RecoverFS, packets in flight at the cut; 0 = no reduction is under way
 * @delivered: packets delivered since, up to @flight
 * @out: packets shipped since
 * @recover: last shipment before the cut (serial number): its report ends the reduction
 */
struct sstp_prr {
	u32	window;
	u32	flight;
	u32	delivered;
	u32	out;
	u32	recover;
};

/* The controller has cut its window. @flight: packets in flight before the report that has the
 * losses; @recover: last shipment so far
 */
void sstp_prr_start(struct sstp_prr *p, u32 flight, u32 recover);
/* A report came: @delivered packets, whether it has new losses (@lost), and @flight packets that
 * are in flight after it. @cwnd: window of the controller, ssthresh of the RFC; @highest: highest
 * shipment that is reported. Computes @p->window, or ends the reduction.
 */
void sstp_prr_report(struct sstp_prr *p, u32 delivered, bool lost, u32 flight, u32 cwnd,
		     u32 highest);

/* @packets were shipped. */
static inline void sstp_prr_sent(struct sstp_prr *p, u32 packets)
{
	if (p->flight)
		p->out += packets;
}

#endif /* _SSTP_PRR_H */
