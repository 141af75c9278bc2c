// SPDX-License-Identifier: GPL-2.0
/* Decides which segments a receiver has room for and asks for */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "want.h"
#include "wire.h"

/* A program that keeps up will have read earlier segments when a retransmission comes, so all
 * lost packets are worth asking for; else those that would not be discarded. The segment that
 * the program reads next always has room.
 */
u32 sstp_want_to(const struct sstp_want *w)
{
	/* The buffer is full, too, while a retransmission as large as the last discarded one does
	 * not fit.
	 */
	bool full = w->used + max(w->lacked, 1U) > w->limit;
	u32 to;

	/* Other members of the pool may have taken the room that was granted: do not ask for
	 * what would be discarded again.
	 */
	if (w->pool) {
		u64 left = full ? 0 : min_t(u64, div_u64(w->limit - w->used, w->mean),
					    w->high - w->low + 1);

		to = left ? w->low + (u32)left - 1 : w->read;
		if (!w->soft && sstp_after(to, w->reach))
			to = w->reach;
	} else if (w->soft && full && sstp_after(w->top, w->low)) {
		/* With soft ACK a later segment is discarded for an earlier one. */
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
