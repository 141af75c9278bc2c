/* SPDX-License-Identifier: GPL-2.0 */
/* Tolerance checker (WUCS-92-38, figure 9). Pure mechanism. */
#ifndef _SSTP_TOLERANCE_H
#define _SSTP_TOLERANCE_H

#include <linux/types.h>

#define SSTP_TOLERANCE_MAX	1000000	/* packets in a million */

enum sstp_tol_verdict {
	SSTP_TOL_COMPLETE,	/* nothing is missing */
	SSTP_TOL_ACCEPT,	/* packets are missing, within the tolerance */
	SSTP_TOL_REPAIR,	/* ask for the missing packets */
};

/* Check a segment of @packets, of which @missing never came. @tolerance: packets in a million */
enum sstp_tol_verdict sstp_tol_check(u32 packets, u32 missing, u32 tolerance);

#endif /* _SSTP_TOLERANCE_H */
