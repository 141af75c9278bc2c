/* SPDX-License-Identifier: GPL-2.0 */
/* Bounds of a socket's backlog: its packets are charged only when the lock is released. */
#ifndef _SSTP_BACKLOG_H
#define _SSTP_BACKLOG_H

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#define SSTP_BACKLOG_LEAST	(64 << 10)	/* bytes: a train of packets, one skb */
#define SSTP_BACKLOG_MOST	(16U << 20)	/* bytes: may arrive while a segment is copied */

/**
 * struct sstp_backlog - state that decides whether a packet may enter a backlog
 * @waits: bytes (truesize) in the backlog of this socket
 * @buffers: bytes that the socket's buffers may hold now; a larger window granted before
 *	does not count
 * @waits_all: bytes (truesize) in the backlogs of all sockets
 * @used: pages charged to all sockets
 * @limit: pages that all sockets may use: net.sstp.mem[2]
 */
struct sstp_backlog {
	u32	waits;
	u64	buffers;
	long	waits_all;
	long	used;
	long	limit;
};

/* Must the next packet be dropped? One train may always wait, or a socket whose owner is
 * slow would get nothing under memory pressure.
 */
static inline bool sstp_backlog_full(const struct sstp_backlog *b)
{
	if (b->waits <= SSTP_BACKLOG_LEAST)
		return false;
	return b->waits > min_t(u64, b->buffers, SSTP_BACKLOG_MOST) ||
	       b->used + (b->waits_all >> PAGE_SHIFT) > b->limit;
}

#endif /* _SSTP_BACKLOG_H */
