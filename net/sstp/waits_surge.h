/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A surge: of late losses are far more frequent than before. A path that loses packets by chance
 * loses them all the time. A queue, even one so short that no round-trip time shows it, begins to
 * lose them when the window has grown to what the path carries. Pure mechanism.
 *
 * The share is that of reports of losses in packets: packets that are lost at once count once, and
 * reports may be of more packets when the window is larger.
 *
 * After a surge the next SSTP_WAITS_SURGE_OVERFLOWS losses without a queue are overflows of one
 * that is not seen. As the path may have begun to lose packets as well, the losses after these tell
 * nothing until they are another surge, by what was reported since the last one. If they were none
 * SSTP_WAITS_SURGE_DOUBTS times, there is no such queue. A flow that forgot the queue at the first
 * doubt would fill it again, and leave other flows no time without losses, by which they could
 * notice the queue.
 */
#ifndef _SSTP_WAITS_SURGE_H
#define _SSTP_WAITS_SURGE_H

#include <linux/types.h>

#define SSTP_WAITS_SURGE_TIMES		4U	/* times the share of before at least */
#define SSTP_WAITS_SURGE_LOSSY		16U	/* reports of losses that chance rarely crowds so */
#define SSTP_WAITS_SURGE_AGAIN		4U	/* after a surge: chance crowds one in 30 so */
#define SSTP_WAITS_SURGE_OVERFLOWS	4U	/* losses after a surge that are overflows */
#define SSTP_WAITS_SURGE_DOUBTS		8U	/* doubts until the queue is forgotten */

/**
 * struct sstp_waits_surge - packets reported, reports of losses, and what they have shown; the user
 *	zeroes it to begin, and to forget a surge
 * @all: packets before those of late
 * @late: packets since the report from which on losses may be more frequent; 0 = they are not
 * @lossy: reports of losses before those of late
 * @late_lossy: reports of losses since then, SSTP_WAITS_SURGE_LOSSY at most
 * @overflows: losses without a queue that are still overflows of one that is not seen
 * @doubts: times that losses are still to be no surge until that queue is forgotten; 0 = there is
 *	no such queue
 */
struct sstp_waits_surge {
	u32	all;
	u32	late;
	u16	lossy;
	u8	late_lossy;
	u8	overflows : 4;
	u8	doubts : 4;
};

/* Count a report of @packets that came or were lost, up to SSTP_WINDOW_MAX. */
void sstp_waits_surge_report(struct sstp_waits_surge *x, u32 packets, bool lossy);
/* The window was cut. The first surge compares with what was reported since the last cut, another
 * one with what was since the surge before it.
 */
void sstp_waits_surge_cut(struct sstp_waits_surge *x);
/* Is there a queue that is not seen? */
bool sstp_waits_surge_unseen(const struct sstp_waits_surge *x);
/* Packets were lost without a queue, but there is one that is not seen: has it overflowed? */
bool sstp_waits_surge_overflows(struct sstp_waits_surge *x);

#endif /* _SSTP_WAITS_SURGE_H */
