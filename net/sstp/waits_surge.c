// SPDX-License-Identifier: GPL-2.0
#include <linux/limits.h>
#include <linux/minmax.h>
#include "waits_surge.h"

/* Count reports of late among those of before: losses in them are no surge. */
static void sstp_waits_surge_age(struct sstp_waits_surge *x)
{
	if (x->all > U32_MAX / 2 || x->lossy > U16_MAX / 2) {
		x->all /= 2;
		x->lossy /= 2;
	}
	x->all += x->late;
	x->lossy += x->late_lossy;
	x->late = 0;
	x->late_lossy = 0;
}

/* One more report of losses is counted for before, and two if none has told of losses yet: what is
 * known of their share then is that it is hardly more than that.
 */
static bool sstp_waits_surge_crowded(const struct sstp_waits_surge *x)
{
	return (u64)x->late_lossy * x->all >=
	       SSTP_WAITS_SURGE_TIMES * max(x->lossy + 1ULL, 2ULL) * x->late;
}

void sstp_waits_surge_report(struct sstp_waits_surge *x, u32 packets, bool lossy)
{
	u32 enough = x->doubts ? SSTP_WAITS_SURGE_AGAIN : SSTP_WAITS_SURGE_LOSSY;

	x->late += packets;
	x->late_lossy += lossy;
	if (!x->late_lossy || x->late > U32_MAX / 4) {
		sstp_waits_surge_age(x);
		return;
	}
	if (!lossy)
		return;
	if (!sstp_waits_surge_crowded(x)) {
		sstp_waits_surge_age(x);
		if (x->doubts && !x->overflows)
			x->doubts--;
	} else if (x->late_lossy >= enough) {
		*x = (struct sstp_waits_surge){
			.overflows = SSTP_WAITS_SURGE_OVERFLOWS,
			.doubts = SSTP_WAITS_SURGE_DOUBTS,
		};
	}
}

void sstp_waits_surge_cut(struct sstp_waits_surge *x)
{
	if (!x->doubts)
		*x = (struct sstp_waits_surge){};
}

bool sstp_waits_surge_unseen(const struct sstp_waits_surge *x)
{
	return x->doubts;
}

bool sstp_waits_surge_overflows(struct sstp_waits_surge *x)
{
	if (!x->overflows)
		return false;
	x->overflows--;
	return true;
}
