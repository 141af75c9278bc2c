// SPDX-License-Identifier: GPL-2.0
/* Tolerance checker. */
#include "tolerance.h"

enum sstp_tol_verdict sstp_tol_check(u32 packets, u32 missing, u32 tolerance)
{
	if (!missing)
		return SSTP_TOL_COMPLETE;
	/* missing / packets <= tolerance / 10^6 */
	if ((u64)missing * SSTP_TOLERANCE_MAX <= (u64)tolerance * packets)
		return SSTP_TOL_ACCEPT;
	return SSTP_TOL_REPAIR;
}
