/* SPDX-License-Identifier: GPL-2.0 */
/* Bounds of the backlog: packets in it wait for the owner of the lock, not charged yet. */
#ifndef _SSTP_BACKLOG_H
#define _SSTP_BACKLOG_H

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#define SSTP_BACKLOG_LEAST	(64 << 10)	/* bytes: a train of packets, one skb */
#define SSTP_BACKLOG_MOST	(16U << 20)	/* what comes while a segment is copied */

/**
 * struct sstp_backlog - what bounds a backlog
 * @waits: bytes that wait for this socket
 * @buffers: bytes that its buffers may hold, as they are, whatever was promised
 * @waits_all: bytes that wait for all sockets
 * @used: pages that all sockets use
 * @limit: pages that they may use
 */
struct sstp_backlog {
	u32	waits;
	u64	buffers;
	long	waits_all;
	long	used;
	long	limit;
};

/* May nothing more wait? Something always may. */
static inline bool sstp_backlog_full(const struct sstp_backlog *b)
{
	if (b->waits <= SSTP_BACKLOG_LEAST)
		return false;
	return b->waits > min_t(u64, b->buffers, SSTP_BACKLOG_MOST) ||
	       b->used + (b->waits_all >> PAGE_SHIFT) > b->limit;
}

#endif /* _SSTP_BACKLOG_H */
