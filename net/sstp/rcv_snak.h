/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries of SNAKs: selects the lost packets to ask for, and when to ask again. Each slot of the
 * receive window records the requests for its segment; struct sstp_asked records those for
 * segments without a slot. Pure mechanism: no socket, no clock; callers hold the socket lock.
 */
#ifndef _SSTP_RCV_SNAK_H
#define _SSTP_RCV_SNAK_H

#include <linux/types.h>
#include "wire.h"

struct sstp_arrivals;
struct sstp_rcv_wnd;

/**
 * struct sstp_asked - requests of a receive window; times in us, modulo 2^32
 * @bare_to: segments without a slot before this one were asked for
 * @bare_last: of the last of these segments, packets before this one were asked for
 * @bare_asked: time of these requests
 * @look: segments before this one need not be examined: their lost packets were asked for,
 *	unless the tolerance lets the segment pass without them
 * @oldest: time of the oldest request that was unanswered when it was last examined; valid
 *	if @waits
 * @again_at: if @again, requests made before this time are due again
 * @again: after an unexplained gap all lost packets are asked for again, and that is not
 *	complete yet
 * @waits: there is an unanswered request
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

/* Examine @segment again: it may miss packets that it did not miss before. */
static inline void sstp_asked_look(struct sstp_asked *q, u32 segment)
{
	if (sstp_before(segment, q->look))
		q->look = segment;
}

/**
 * struct sstp_snak_job - parameters and results of sstp_rcv_snak()
 * @to: last segment to ask for
 * @now: time, us, modulo 2^32
 * @retry: time after which a request is repeated, us
 * @entries: result: number of entries written
 * @more: result: there are requests that did not fit
 */
struct sstp_snak_job {
	u32	to;
	u32	now;
	u32	retry;
	u16	entries;
	bool	more;
};

/* Write entries to @room bytes at @p for lost packets that were not asked for within @retry, or
 * not since an unexplained gap, which may be a lost retransmission. Returns the bytes written.
 * With @room 0, @p may be NULL: job->more then says whether any request is due. Unless a
 * request is due again, only segments that were not examined yet are examined.
 */
u32 sstp_rcv_snak(struct sstp_rcv_wnd *w, struct sstp_arrivals *a, u8 *p, u32 room,
		  struct sstp_snak_job *job);

#endif /* _SSTP_RCV_SNAK_H */
