/* SPDX-License-Identifier: GPL-2.0 */
/* The path of a connection: its MTU, and the contract that is in force on it. */
#ifndef _SSTP_PATH_H
#define _SSTP_PATH_H

#include <linux/types.h>
#include "compat.h"
#include "pmtud.h"

struct sock;
struct sstp_sock;

/* The path to the peer */
struct sstp_path {
	u64		probe_wait;	/* ns: since when data waits for an MTU probe, or 0 */
	u32		queue_ship;	/* the report of a later shipment ends a round trip of
					 * sstp_queue_adapt()
					 */
	u8		queue_round;	/* enum sstp_queue_round */
	u8		queue_late;	/* the queues below may hold 2^queue_late times as much, up
					 * to SSTP_QUEUE_SPAN, as the device frees packets late
					 */
	struct sstp_pmtud pmtud;
	u32		queue_limit;	/* bytes in the queues below with which SSTP_FL_THROTTLED
					 * was set; read without the socket lock
					 */
	__cacheline_group_begin(sstp_path_setup);
	bool		fresh;		/* the route was looked up since the last push */
	unsigned long	pacing;		/* SO_MAX_PACING_RATE that is in force */
	u32		size;		/* bytes of payload of a full packet */
	u32		mtu;		/* bytes */
	u32		dst_cookie;	/* of the route, for sk_dst_check() */
	u32		frame;		/* bytes of a full frame on the link */
	__cacheline_group_end(sstp_path_setup);
};

/* Bytes of a full frame, for checks of contracts; Ethernet's before the path is known */
static inline u32 sstp_path_frame(const struct sstp_path *p)
{
	return p->frame ?: 1514;
}

void sstp_mtu_update(struct sock *sk);
int sstp_update_rate(struct sstp_sock *sp, gfp_t gfp);

#endif /* _SSTP_PATH_H */
