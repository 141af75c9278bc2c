/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate contract (P, F, L) of WUCS-92-38, section 3.3, as described in "Rate contract" of
 * Documentation/networking/sstp-protocol.rst.
 *
 * Pure mechanism: no socket, no clock; callers pass the time in ns and hold the socket lock. A time
 * that is earlier than one passed before counts as that one.
 */
#ifndef _SSTP_RATE_H
#define _SSTP_RATE_H

#include <linux/errno.h>
#include <linux/types.h>
#include <uapi/linux/sstp.h>
#include "compat.h"

#define SSTP_RATE_MIN		8000ULL		/* bit/s */
#define SSTP_RATE_MAX		1000000000000ULL	/* bit/s */
#define SSTP_TRAIN_BYTES	65000	/* of UDP payload in one skb */
#define SSTP_RATE_TRAINS	128	/* entries for the trains of the last ms */
#define SSTP_RATE_SLOTS		1001	/* slots of 1 ms for the average over 1 s */
#define SSTP_RATE_SHIFT		24	/* fractional bits of ns_mult */

/**
 * struct sstp_rate_train - trains that left close to one another
 * @time: time when the last of them left, ns
 * @span: time from the first to the last, ns
 * @bytes: their frames, bytes
 */
struct sstp_rate_train {
	u64	time;
	u32	span;
	u32	bytes;
};

/**
 * struct sstp_rate_log - a contract in force, and how much of it is used
 * @ms: time of the newest slot, ms
 * @sum: sum of all slots, bytes
 * @burst_ns: period of bursts, 1/F, ns
 * @burst_start: burst timer BT: start of this burst, ns
 * @burst: L in packets, or the bytes of L full frames
 * @count: transmission counter TC: packets or bytes that left in this burst
 * @allowance: packets or bytes that may leave in this burst: @burst, plus the unused part of
 *	the last burst if the queue never ran empty; at most 2 * @burst, or the bursts due
 *	in SSTP_RATE_CREDIT if these are more
 * @ms_bytes: P * 1 ms, bytes
 * @second_bytes: average * 1 s, bytes
 * @ns_mult: ns per byte at P, fixed point with SSTP_RATE_SHIFT fractional bits
 * @peak_next: time when P allows the next train, ns
 * @train_bytes: bytes of the trains of the last ms
 * @at: latest time that a caller passed, ns
 * @frame: bytes of a full frame, l; from it most of these values are derived
 * @train_max: most bytes in a train: two or more such trains make up what may leave in 1 ms
 * @train_tail: index of the oldest entry of the ring of trains
 * @trains: entries in the ring
 * @in_bytes: L was not given, so @burst, @count and @allowance count bytes, and small packets
 *	are limited by P and the average only; else they count packets
 * @slot: bytes that left in each ms, indexed by ms modulo SSTP_RATE_SLOTS
 * @train: ring of the trains of the last ms
 */
struct sstp_rate_log {
	u64	ms;
	u64	sum;
	u64	burst_ns;
	u64	burst_start;
	u64	burst;
	u64	count;
	u64	allowance;
	u64	ms_bytes;
	u64	second_bytes;
	u64	ns_mult;
	u64	peak_next;
	u64	train_bytes;
	u64	at;
	u32	frame;
	u32	train_max;
	u16	train_tail;
	u16	trains;
	bool	in_bytes;
	u32	slot[SSTP_RATE_SLOTS];
	struct sstp_rate_train train[SSTP_RATE_TRAINS];
};

/**
 * struct sstp_rate - a contract
 * @spec: contract in force; @peak 0 = none
 * @log: what follows from it, and what left; NULL = no contract, as of most connections
 * @burst_len: L, packets
 * @more: the queue has not run empty since the last train
 */
struct sstp_rate {
	__cacheline_group_begin(sstp_rate_send);
	struct sstp_rate_spec spec;
	struct sstp_rate_log *log;
	bool	more;
	__cacheline_group_end(sstp_rate_send);
	u32	burst_len;
};

/* Initialize @r without a contract. A former log is not freed. */
void sstp_rate_init(struct sstp_rate *r);
void sstp_rate_free(struct sstp_rate *r);

/* Describe the fault of @spec for an error message, or return NULL if it is valid: P and average
 * from SSTP_RATE_MIN to SSTP_RATE_MAX, average <= P, F * L * @frame * 8 <= P, and L at most
 * SSTP_PACKETS_MAX.
 */
const char *sstp_rate_fault(const struct sstp_rate_spec *spec, u32 frame);
/* The same as 0 or -EINVAL */
static inline int sstp_rate_check(const struct sstp_rate_spec *spec, u32 frame)
{
	return sstp_rate_fault(spec, frame) ? -EINVAL : 0;
}

/**
 * sstp_rate_set - put a contract in force, or remove it
 * @r: rate
 * @spec: contract, checked
 * @frame: bytes of a full frame, all headers included
 * @segment: packets of a usual segment (s), 1 or more, and those expected to be sent
 *	again with each (X)
 * @now: ns
 * @gfp: context
 *
 * Packets sent in the last second count under the new contract, too. It must also be called
 * when @frame or @segment changes.
 * Return: 0, or -ENOMEM with the old contract still in force.
 */
int sstp_rate_set(struct sstp_rate *r, const struct sstp_rate_spec *spec,
		  u32 frame, u64 segment, u64 now, gfp_t gfp);

/**
 * sstp_rate_allow - how many packets may leave now
 * @r: rate
 * @want: packets that wait, 1 or more
 * @frame: bytes of each
 * @now: ns
 * @next: set, when less than @want may leave, to the time to ask again
 *
 * Return: 0 to @want.
 */
u32 sstp_rate_allow(struct sstp_rate *r, u32 want, u32 frame, u64 now,
		    u64 *next);

/* Account a train of @packets, @bytes of frames in total, that left at @now (ns). */
void sstp_rate_sent(struct sstp_rate *r, u32 packets, u32 bytes, u64 now);
/* The queue of packets ran empty: the next burst begins when the next packet is queued. */
static inline void sstp_rate_idle(struct sstp_rate *r)
{
	r->more = false;
}

static inline bool sstp_rate_bound(const struct sstp_rate *r)
{
	return r->spec.peak != 0;
}

#endif /* _SSTP_RATE_H */
