/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A probe: a flow that shares a queue sends less for two round trips, to see whose queue it is.
 * Flows of its kind probe as well then, so that the queue becomes empty; other flows leave it full.
 * Told by the round-trip times in the probe: pure mechanism.
 */
#ifndef _SSTP_WAITS_PROBE_H
#define _SSTP_WAITS_PROBE_H

#include <linux/types.h>
#include "waits.h"

#define SSTP_WAITS_PROBE	200U	/* ms, and two round-trip times: duration of most probes */
#define SSTP_WAITS_EMPTY	5000U	/* us: no more waits in a queue that is empty */
#define SSTP_WAITS_ALONE	1	/* packets of this flow that wait in an empty queue */
#define SSTP_WAITS_MOST		4U	/* all but this part of the queue is most of it */
#define SSTP_WAITS_SURE		3U	/* see sstp_waits_probe_sure() */

/**
 * struct sstp_waits_probe - a probe
 * @low: lowest round-trip time in it, us; U32_MAX = none
 * @high: highest round-trip time late in it, us; 0 = none
 * @before: round-trip time before it, us
 * @begun_ms: when it began
 */
struct sstp_waits_probe {
	u32	low;
	u32	high;
	u32	before;
	u32	begun_ms;
};

/**
 * enum sstp_waits_found - what a probe has found
 * @SSTP_WAITS_FOUND_EMPTY: the queue became empty, so the flows that had filled it probe as well
 * @SSTP_WAITS_FOUND_LONGER: there is no queue: the path has become longer
 * @SSTP_WAITS_FOUND_FULL: flows that do not probe keep the queue full
 */
enum sstp_waits_found {
	SSTP_WAITS_FOUND_EMPTY,
	SSTP_WAITS_FOUND_LONGER,
	SSTP_WAITS_FOUND_FULL,
};

/* Duration of most probes of a flow with a smoothed round-trip time of @srtt us, ms */
u32 sstp_waits_probe_ms(u32 srtt);
/* Begin a probe. @before: the round-trip time, us */
void sstp_waits_probe_begin(struct sstp_waits_probe *p, u32 before, u32 ms);
/* Take a round-trip time of @rtt us, 0 = none. */
void sstp_waits_probe_report(struct sstp_waits_probe *p, u32 rtt, u32 srtt, u32 ms);
/* Is the probe over? It takes sstp_waits_probe_ms(). If most of the queue is gone by then, other
 * flows probe too, but have begun later: it goes on until the queue is empty, for twice the time at
 * most. @cwnd: the window of this flow in the probe
 */
bool sstp_waits_probe_over(const struct sstp_waits_probe *p, const struct sstp_waits *w, u32 cwnd,
			   u32 srtt, u32 ms);
/* Result of a probe that is over. @cwnd: the window of this flow in the probe */
enum sstp_waits_found sstp_waits_probe_found(const struct sstp_waits_probe *p,
					     const struct sstp_waits *w, u32 cwnd);
/* The queue became empty. Did it hold twice what the wire holds, and what counts as empty here?
 * Then it is sure that others have joined the probe, unless more than half of all packets were this
 * flow's: flows of CUBIC with the other half still fill the wire and a queue after a cut to 0.7.
 */
bool sstp_waits_probe_sure(const struct sstp_waits_probe *p, const struct sstp_waits *w);

#endif /* _SSTP_WAITS_PROBE_H */
