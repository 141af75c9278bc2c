// SPDX-License-Identifier: GPL-2.0
/* What a receiver has room for and asks for. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "want.h"
#include "wire.h"

/* A program that keeps up has taken what comes first when what was discarded behind it
 * comes again, so all is asked for; else what would not be discarded. The segment that the
 * program reads next always has room.
 */
u32 sstp_want_to(const struct sstp_want *w)
{
	bool full = w->used >= w->limit;
	u32 to;

	/* Others may have the room that the window was made for: what would be
	 * discarded again is not asked for.
	 */
	if (w->pool) {
		u64 left = full ? 0 : min_t(u64, div_u64(w->limit - w->used, w->mean),
					    w->high - w->low + 1);

		to = left ? w->low + (u32)left - 1 : w->read;
	} else if (w->soft && full && sstp_after(w->top, w->low)) {
		/* In soft ACK a later segment makes way. */
		to = w->top - 1;
	} else if (w->low == w->read || (w->soft && !full)) {
		to = w->high;
	} else {
		to = full ? w->read : w->reach;
	}
	return sstp_after(to, w->high) ? w->high : to;
}

bool sstp_want_fits(const struct sstp_want *w, u32 segment, u64 bytes)
{
	if (segment == w->read)
		return true;
	if (!w->soft && sstp_after(segment, w->reach))
		return false;
	return w->used + bytes <= w->limit;
}

bool sstp_want_held(const struct sstp_want *w)
{
	return sstp_after(w->low, sstp_want_to(w));
}
