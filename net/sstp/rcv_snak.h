/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SNAKs: which of the packets that are lost the receiver asks for, and when again. Each slot
 * of the receive window remembers what was asked for of its segment, struct sstp_asked does
 * for all else. Mechanism: no socket, no clock; the caller holds the connection's lock.
 */
#ifndef _SSTP_RCV_SNAK_H
#define _SSTP_RCV_SNAK_H

#include <linux/types.h>
#include "wire.h"

struct sstp_arrivals;
struct sstp_rcv_wnd;

/**
 * struct sstp_asked - what was asked for, part of a receive window
 * @bare_to: segments without slots below this one have been asked for, the last
 *	of them only up to packet
 * @bare_last: this one
 * @bare_asked: when, us, modulo 2^32
 * @look: whatever is lost and missing before this segment was asked for, unless the
 *	tolerance spares it
 * @oldest: when the oldest request for something that was missing then was made, us,
 *	modulo 2^32; valid with @waits
 * @again_at: while @again, what was asked for before this time is due, us
 * @again: after a gap that nothing explains all is asked for again, and not all of it has
 *	been yet
 * @waits: something that was asked for had not come
 */
struct sstp_asked {
	u32	bare_to;
	u32	bare_last;
	u32	bare_asked;
	u32	look;
	u32	oldest;
	u32	again_at;
	bool	again;
	bool	waits;
};

/* @segment may lack more than it did when it was looked at. */
static inline void sstp_asked_look(struct sstp_asked *q, u32 segment)
{
	if (sstp_before(segment, q->look))
		q->look = segment;
}

/**
 * struct sstp_snak_job - a SNAK to be filled
 * @to: last segment to ask for
 * @now: us
 * @retry: us until what was asked for is asked for again
 * @entries: set: how many were written
 * @more: set: not all fit
 */
struct sstp_snak_job {
	u32	to;
	u32	now;
	u32	retry;
	u16	entries;
	bool	more;
};

/* Write entries to @room bytes at @p for lost packets that have not been asked for in
 * @retry us, or not since a gap that may have been a lost retransmission. Returns bytes.
 * While nothing is due it looks only at segments that were not yet looked at.
 */
u32 sstp_rcv_snak(struct sstp_rcv_wnd *w, struct sstp_arrivals *a, u8 *p, u32 room,
		  struct sstp_snak_job *job);

#endif /* _SSTP_RCV_SNAK_H */
