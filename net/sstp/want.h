/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets have room in the receive buffer, which segments are worth asking for, and when
 * nothing more becomes readable before the program reads. The three answers follow from one
 * state, so that they agree: missing packets of segment R_l are asked for and have room, or the
 * program is told to read.
 */
#ifndef _SSTP_WANT_H
#define _SSTP_WANT_H

#include <linux/types.h>

/**
 * struct sstp_want - state that the answers follow from
 * @read: segment that the program reads next
 * @low: R_l
 * @high: R_h
 * @top: the last segment of which packets are here, or one after it
 * @reach: the last segment that the buffer reaches
 * @mean: bytes of memory that a segment takes on average
 * @used: bytes of memory in use
 * @limit: bytes of memory that may be used
 * @soft: ACK strategy
 * @pool: other connections of the pool may take memory that is free
 * @lacked: bytes of memory of the last retransmission that found no room since the program read,
 *	or 0; not of a pool, in which others may free memory
 */
struct sstp_want {
	u32	read;
	u32	low;
	u32	high;
	u32	top;
	u32	reach;
	u32	mean;
	u64	used;
	u64	limit;
	bool	soft;
	bool	pool;
	u32	lacked;
};

/* The last segment worth asking for; before R_l if none is */
u32 sstp_want_to(const struct sstp_want *w);
/* Does a packet of @segment have room that takes @bytes of memory? */
bool sstp_want_fits(const struct sstp_want *w, u32 segment, u64 bytes);
/* Does nothing more become readable before the program reads? */
bool sstp_want_held(const struct sstp_want *w);

#endif /* _SSTP_WANT_H */
