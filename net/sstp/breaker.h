/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Circuit breaker (RFC 8084): decides from losses whether the path carries the contract.
 *
 * Pure mechanism: no socket, no clock; callers pass the time in ns and hold the socket lock.
 */
#ifndef _SSTP_BREAKER_H
#define _SSTP_BREAKER_H

#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

/**
 * struct sstp_breaker - losses of a sender under a contract
 * @start: start of the interval, ns; 0 = none has begun
 * @highest: highest shipment reported at @start (serial number)
 * @received: packets reported received at @start, modulo 2^32
 * @rtt_min: lowest round-trip time ever, us; 0 = none
 * @rtt_low: lowest round-trip time of the interval, us; 0 = none
 * @excess: sum over the intervals of the share lost less the bearable share, in units of
 *	1/SSTP_BREAKER_ONE; not below 0
 * @carried: packets that arrived in a time of @rtt_min, in the interval that tripped
 * @retry: time at which the contract is tried again, ns; 0 = the breaker has not tripped
 * @closed: time at which the contract was last put in force again, ns
 * @wait: length of the last suspension, ns
 * @trips: times that the breaker tripped
 * @guards: the connection has a circuit breaker; else sstp_breaker_report() does nothing
 */
struct sstp_breaker {
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
	bool	guards;
};

enum sstp_breaker_verdict {
	SSTP_BREAKER_GO_ON,
	SSTP_BREAKER_TRIP,	/* the path does not carry the contract */
	SSTP_BREAKER_RETRY,	/* the suspension is over: try the contract again */
};

/* Account a report that came at @now (ns): of the shipments up to @highest, @received came,
 * including packets that the peer then discarded for lack of room. @rtt: sample of this
 * report, us, 0 = none; @srtt: smoothed, us, 0 = not known.
 */
enum sstp_breaker_verdict sstp_breaker_report(struct sstp_breaker *b, u64 now, u32 highest,
					      u32 received, u32 rtt, u32 srtt);

/* Milliseconds until the contract is tried again, at least 1; 0 = the contract is in force */
static inline u32 sstp_breaker_wait(const struct sstp_breaker *b, u64 now)
{
	if (!b->retry)
		return 0;
	return now < b->retry ? div_u64(b->retry - now, NSEC_PER_MSEC) + 1 : 1;
}

#endif /* _SSTP_BREAKER_H */
