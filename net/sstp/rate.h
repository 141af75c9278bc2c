/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate contract (P, F, L) of paper 004, section 3.3.
 *
 * Pure mechanism: no socket, no clock of its own; the caller passes the time in
 * ns and holds the lock that guards the struct.
 */
#ifndef _SSTP_RATE_H
#define _SSTP_RATE_H

#include <linux/errno.h>
#include <linux/types.h>
#include <uapi/linux/sstp.h>

#define SSTP_RATE_MIN		8000ULL		/* bit/s */
#define SSTP_RATE_MAX		1000000000000ULL
#define SSTP_RATE_TRAINS	128	/* trains remembered over 1 ms */
#define SSTP_RATE_SLOTS		1001	/* ms remembered for the 1 s average */
#define SSTP_RATE_SHIFT		24	/* of ns_mult */

/**
 * struct sstp_rate_train - what left at about one time
 * @time: when the last of it left, ns
 * @span: from the first of it to the last, ns
 * @bytes: all of it
 */
struct sstp_rate_train {
	u64	time;
	u32	span;
	u32	bytes;
};

/**
 * struct sstp_rate_log - what left in the last ms and in the last second
 * @ms: the newest slot, in ms
 * @sum: over all slots
 * @slot: bytes, by ms modulo SSTP_RATE_SLOTS
 * @train: ring of the trains of the last ms
 */
struct sstp_rate_log {
	u64	ms;
	u64	sum;
	u32	slot[SSTP_RATE_SLOTS];
	struct sstp_rate_train train[SSTP_RATE_TRAINS];
};

/**
 * struct sstp_rate - a contract and what has been spent of it
 * @spec: in force; all zero = no contract
 * @frame: bytes of a full frame that it was made for
 * @burst_len: L, packets
 * @burst_ns: 1/F
 * @burst_start: burst timer BT: start of this burst, ns
 * @in_bytes: L was not given: what follows counts bytes, those of L full frames, as
 *	small packets have a share of their own; else packets
 * @burst: L
 * @count: transmission counter TC, what of this burst left
 * @allowance: what may leave in this burst: L, and what the last
 *	burst of a queue that never ran empty left over, at most L more; with
 *	bursts shorter than 0.25 ms, as many as 0.5 ms has
 * @more: the queue has not run empty since
 * @train_max: bytes in a train at most, but for one packet, so that 1 ms has at
 *	least two
 * @ms_bytes: P * 1 ms, bytes
 * @second_bytes: average * 1 s, bytes
 * @ns_mult: ns per byte at P, shifted left by SSTP_RATE_SHIFT
 * @peak_next: when P allows the next train, ns
 * @train_bytes: sum over the trains of the last ms
 * @train_tail: oldest of them
 * @trains: how many there are
 * @log: only with a contract
 */
struct sstp_rate {
	struct sstp_rate_spec spec;
	u32	frame;
	u32	burst_len;
	u64	burst_ns;
	u64	burst_start;
	u64	burst;
	u64	count;
	u64	allowance;
	bool	in_bytes;
	bool	more;
	u16	train_tail;
	u16	trains;
	u32	train_max;
	u64	ms_bytes;
	u64	second_bytes;
	u64	ns_mult;
	u64	peak_next;
	u64	train_bytes;
	struct sstp_rate_log *log;
};

/* No contract; nothing to free. */
void sstp_rate_init(struct sstp_rate *r);
void sstp_rate_free(struct sstp_rate *r);

/* What is wrong when @spec contradicts itself or is out of range, for people: P under
 * 8 kbit/s or over 1 Tbit/s, average > P, F * L * @frame > P. Else NULL.
 */
const char *sstp_rate_fault(const struct sstp_rate_spec *spec, u32 frame);
/* The same as 0 or -EINVAL */
static inline int sstp_rate_check(const struct sstp_rate_spec *spec, u32 frame)
{
	return sstp_rate_fault(spec, frame) ? -EINVAL : 0;
}

/**
 * sstp_rate_set - put a contract in force, or none
 * @r: rate
 * @spec: contract, checked
 * @frame: bytes of a full frame, all headers included
 * @segment: packets of a usual segment (s), 1 or more, and those expected to be sent
 *	again with each (X)
 * @now: ns
 * @gfp: context
 *
 * On a live connection what was sent in the last second still counts. Also to
 * be called when @frame or @segment have changed; cheap if nothing has.
 * Return: 0 or -ENOMEM with the old contract still in force.
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

/* @packets of @bytes in all left at @now. */
void sstp_rate_sent(struct sstp_rate *r, u32 packets, u32 bytes, u64 now);
/* The queue ran empty. */
static inline void sstp_rate_idle(struct sstp_rate *r)
{
	r->more = false;
}

static inline bool sstp_rate_bound(const struct sstp_rate *r)
{
	return r->spec.peak != 0;
}

#endif /* _SSTP_RATE_H */
