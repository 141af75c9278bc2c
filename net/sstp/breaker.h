/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Circuit breaker (RFC 8084) of a contract: whether the path carries it.
 *
 * Pure mechanism: no socket, no clock of its own; the caller passes the time in ns and
 * holds the lock that guards the struct.
 */
#ifndef _SSTP_BREAKER_H
#define _SSTP_BREAKER_H

#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

/**
 * struct sstp_breaker - what a sender knows of its losses
 * @guards: it is in force; else reports tell nothing
 * @start: when the interval began, ns; 0 = there is none
 * @highest: highest shipment reported then
 * @received: packets reported received then
 * @rtt_min: lowest round-trip time of all, us; 0 = none
 * @rtt_low: lowest in the interval, us; 0 = none
 * @excess: sum of the shares lost beyond what is bearable, in SSTP_BREAKER_ONE; what
 *	stays below makes up for it
 * @carried: packets that arrived in @rtt_min, of the interval that tripped
 * @retry: tripped, and until when, ns; 0 = not tripped
 * @closed: when the contract was put in force last, ns
 * @wait: ns from the last trip to @retry
 * @trips: times that it tripped
 */
struct sstp_breaker {
	bool	guards;
	u64	start;
	u32	highest;
	u32	received;
	u32	rtt_min;
	u32	rtt_low;
	s32	excess;
	u32	carried;
	u64	retry;
	u64	closed;
	u64	wait;
	u32	trips;
};

enum sstp_breaker_verdict {
	SSTP_BREAKER_GO_ON,
	SSTP_BREAKER_TRIP,	/* the path does not carry the contract */
	SSTP_BREAKER_RETRY,	/* it may do so now */
};

/* A report came at @now: of the shipments up to @highest so many have been @received, with
 * or without room for them. @rtt: sample, us, or 0; @srtt: us, or 0.
 */
enum sstp_breaker_verdict sstp_breaker_report(struct sstp_breaker *b, u64 now, u32 highest,
					      u32 received, u32 rtt, u32 srtt);

/* ms until the contract is tried again; 0 = it is in force */
static inline u32 sstp_breaker_wait(const struct sstp_breaker *b, u64 now)
{
	if (!b->retry)
		return 0;
	return now < b->retry ? div_u64(b->retry - now, NSEC_PER_MSEC) + 1 : 1;
}

#endif /* _SSTP_BREAKER_H */
