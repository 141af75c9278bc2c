/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A surge: of late losses are far more frequent than before. A path that loses packets by chance
 * loses them all the time. A queue, even one so short that no round-trip time shows it, begins to
 * lose them when the window has grown to what the path carries. Pure mechanism.
 *
 * The share is that of reports of losses in packets: packets that are lost at once count once, and
 * reports may be of more packets when the window is larger.
 */
#ifndef _SSTP_WAITS_SURGE_H
#define _SSTP_WAITS_SURGE_H

#include <linux/types.h>

#define SSTP_WAITS_SURGE_TIMES	4U	/* times the share of before at least */
#define SSTP_WAITS_SURGE_LOSSY	16U	/* reports of losses that chance hardly ever crowds so */
#define SSTP_WAITS_SURGE_AGAIN	4U	/* where a surge was seen: chance crowds one in ten so */

/**
 * enum sstp_waits_is_surge - what a report has told
 * @SSTP_WAITS_SURGE_OPEN: it had no losses, or these may come to be a surge
 * @SSTP_WAITS_SURGE_NO: losses are not far more frequent than before, as far as that is known
 * @SSTP_WAITS_SURGE_YES: losses are far more frequent than before
 */
enum sstp_waits_is_surge {
	SSTP_WAITS_SURGE_OPEN,
	SSTP_WAITS_SURGE_NO,
	SSTP_WAITS_SURGE_YES,
};

/**
 * struct sstp_waits_surge - packets reported, and reports of losses; the user zeroes it
 * @all: packets before those of late
 * @late: packets since the report from which on losses may be more frequent; 0 = they are not
 * @lossy: reports of losses before those of late
 * @late_lossy: reports of losses since then
 */
struct sstp_waits_surge {
	u32	all;
	u32	late;
	u16	lossy;
	u16	late_lossy;
};

/* Count a report of @packets that came or were lost, up to SSTP_WINDOW_MAX. @enough: reports of
 * losses that make a surge
 */
enum sstp_waits_is_surge sstp_waits_surge_report(struct sstp_waits_surge *x, u32 packets,
						 bool lossy, u32 enough);

#endif /* _SSTP_WAITS_SURGE_H */
