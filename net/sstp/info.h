/* SPDX-License-Identifier: GPL-2.0 */
/* Facts about a connection, for SSTP_INFO, netlink and events. */
#ifndef _SSTP_INFO_H
#define _SSTP_INFO_H

#include <linux/types.h>
#include "sample.h"

struct sstp_info;
struct sstp_monitor_mark;
struct sstp_sock;

/* Counters that are only shown: by struct sstp_info and traces */
struct sstp_stats {
	u64		packets_lost;
	u64		bytes_discarded;
	u64		bytes_retrans;
	u64		bytes_acked;
	u64		packets_sent;
	u64		packets_retrans;
	u64		packets_received;
	u64		packets_duplicate;
	u64		packets_discarded;
	u64		segments_sent;
	u64		segments_with_gaps;
	u64		acks_sent;
	u64		acks_received;
	u64		snaks_sent;
	u64		snaks_received;
	u64		delivery_rate;	/* bit/s */
	struct sstp_delivery delivery;	/* last sample; no packets = none yet */
	struct sstp_monitor_mark *mark;	/* when SSTP_MONITOR was read last; NULL = never */
};

void sstp_fill_info(struct sstp_sock *sp, struct sstp_info *i);

#endif /* _SSTP_INFO_H */
