/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast a program reads what a connection receives, measured in epochs, as the service rate
 * mu of Lu, Wu, Rao and Wang ("Performance-Adaptive Prediction-Based Transport Control over
 * Dedicated Links"), equation (6).
 *
 * Bytes that a program read show its service rate only while data waited. An epoch in which it was
 * without data for a time shows that the rate is at least what it read in the epoch, and at most
 * what it would have read with data all the time. Between these the rate is taken to be that of
 * the epoch before: else a sender that follows the rate would never send faster again.
 *
 * Pure mechanism: no socket, no clock, no lock. Rates are in kbit/s, times in ns.
 */
#ifndef _SSTP_METER_H
#define _SSTP_METER_H

#include <linux/time64.h>
#include <linux/types.h>

#define SSTP_METER_EPOCH_MIN	(10 * NSEC_PER_MSEC)
#define SSTP_METER_EPOCH_MAX	(100 * NSEC_PER_MSEC)
#define SSTP_METER_LATE		4U	/* most samples of an epoch that a late timer ends */
#define SSTP_METER_ONE		1024U	/* of @busy in struct sstp_meter_epoch */

/**
 * struct sstp_meter_counts - what a connection counts, since any time
 * @served: bytes that the program has read
 * @unread: ns in which data waited for it
 * @refused: packets that found no room, modulo 2^32
 */
struct sstp_meter_counts {
	u64	served;
	u64	unread;
	u32	refused;
};

/**
 * struct sstp_meter - state of the measurement
 * @was: counts when the epoch began
 * @at: when it began
 * @rate: of the epoch before
 */
struct sstp_meter {
	struct sstp_meter_counts was;
	u64	at;
	u32	rate;
};

/**
 * struct sstp_meter_epoch - an epoch
 * @rate: at which the program can read
 * @read: at which it did
 * @refused: packets that found no room
 * @busy: share of the time in which data waited, of SSTP_METER_ONE
 * @samples: epochs of the nominal length that it lasted, 1 to SSTP_METER_LATE
 */
struct sstp_meter_epoch {
	u32	rate;
	u32	read;
	u32	refused;
	u32	busy;
	u32	samples;
};

/* Length of epochs: a quarter of the round-trip time @rtt (us), from SSTP_METER_EPOCH_MIN to
 * SSTP_METER_EPOCH_MAX
 */
u32 sstp_meter_length(u32 rtt);
/* The first epoch begins. */
void sstp_meter_start(struct sstp_meter *m, const struct sstp_meter_counts *c, u64 now);
/* An epoch of nominally @length ends, and the next begins. */
void sstp_meter_end(struct sstp_meter *m, const struct sstp_meter_counts *c, u64 now, u32 length,
		    struct sstp_meter_epoch *e);

#endif /* _SSTP_METER_H */
