/* SPDX-License-Identifier: GPL-2.0 */
/* What SSTP_MONITOR tells of a connection: pure mechanism, no socket, no lock. */
#ifndef _SSTP_MONITOR_H
#define _SSTP_MONITOR_H

#include <uapi/linux/sstp.h>
#include "monitor_list.h"

/**
 * struct sstp_monitor_mark - begin of an interval
 * @count: the counters then, in the order of struct sstp_monitor
 */
struct sstp_monitor_mark {
	u64	count[SSTP_MONITOR_COUNTS];
};

/* Fill @m from @i, and from the counters at @mark, where its interval began. */
void sstp_monitor_fill(struct sstp_monitor *m, const struct sstp_info *i,
		       const struct sstp_monitor_mark *mark);
/* Begin an interval at @i. */
void sstp_monitor_begin(struct sstp_monitor_mark *mark, const struct sstp_info *i);

#endif /* _SSTP_MONITOR_H */
