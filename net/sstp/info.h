/* SPDX-License-Identifier: GPL-2.0 */
/* Facts about a connection, for SSTP_INFO, netlink and events. */
#ifndef _SSTP_INFO_H
#define _SSTP_INFO_H

#include <linux/types.h>
#include "compat.h"
#include "sample.h"

struct sstp_info;
struct sstp_monitor_mark;
struct sstp_sock;

/* Counters that are only shown: by struct sstp_info and traces */
struct sstp_stats {
	__cacheline_group_begin(sstp_stats_report);
	u64		bytes_acked;
	u64		packets_lost;
	u64		acks_received;
	u64		delivery_rate;	/* bit/s */
	struct sstp_delivery delivery;	/* last sample; no packets = none yet */
	__cacheline_group_end(sstp_stats_report);
	__cacheline_group_begin(sstp_stats_send);
	u64		packets_sent;
	u64		segments_sent;
	__cacheline_group_end(sstp_stats_send);
	struct sstp_monitor_mark *mark;	/* when SSTP_MONITOR was read last; NULL = never */
	u64		bytes_retrans;
	u64		packets_retrans;
	u64		snaks_received;
	u64		snaks_sent;
	u64		segments_with_gaps;
	u64		bytes_discarded;
	u64		packets_discarded;
	u64		packets_duplicate;
	u64		packets_marked;
	__cacheline_group_begin(sstp_stats_arrival);
	u64		packets_received;
	u64		acks_sent;
	__cacheline_group_end(sstp_stats_arrival);
};

void sstp_fill_info(struct sstp_sock *sp, struct sstp_info *i);

#endif /* _SSTP_INFO_H */
