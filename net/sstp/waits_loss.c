// SPDX-License-Identifier: GPL-2.0
#include <linux/limits.h>
#include <linux/minmax.h>
#include "waits_loss.h"

void sstp_waits_loss_init(struct sstp_waits_loss *x, u32 ms)
{
	u32 ago = ms - 2 * SSTP_WAITS_MEMORY;

	*x = (struct sstp_waits_loss){
		.target_ms = ago,
		.random_ms = ago,
		.overflow_ms = ago,
	};
}

bool sstp_waits_loss_random(const struct sstp_waits_loss *x, u32 ms)
{
	return ms - x->random_ms <= SSTP_WAITS_MEMORY;
}

static bool sstp_waits_loss_targeted(const struct sstp_waits_loss *x, u32 ms)
{
	return ms - x->target_ms <= SSTP_WAITS_MEMORY;
}

/* In delay mode: has the queue held SSTP_WAITS_TARGET of late, and does now much less wait?
 * Where CoDel (RFC 8289) drops at its target of 5 ms, more has waited than SSTP_WAITS_HELD.
 */
static bool sstp_waits_loss_held(const struct sstp_waits_loss *x, const struct sstp_waits *w,
				 const struct sstp_waits_lossy *l, u32 rtt)
{
	return !l->competes && !l->slow_start && sstp_waits_loss_targeted(x, l->ms) &&
	       sstp_waits_time(w, rtt) < SSTP_WAITS_HELD;
}

/* Packets have waited: has a queue overflowed? The path may lose packets on its own as well; so
 * in delay mode a loss of one or two packets in SSTP_WAITS_MEMORY is no overflow, unless the flow
 * was in competitive mode of late.
 */
static bool sstp_waits_loss_overflows(struct sstp_waits_loss *x, const struct sstp_waits *w,
				      const struct sstp_waits_lossy *l)
{
	bool queue = !sstp_waits_loss_random(x, l->ms) || sstp_waits_queue_loses(w);
	bool first = max(w->lost, l->lost) <= SSTP_WAITS_SINGLE &&
		     l->ms - x->overflow_ms > SSTP_WAITS_MEMORY && !l->relapse;

	if (l->competes || l->slow_start)
		return l->competes || queue;
	if (first)
		x->overflow_ms = l->ms;
	return !first && queue;
}

/* Where a link delivers in bursts some packets of each round trip wait, so that losses of the path
 * seem to be a queue's. Others that fill a queue let all packets of a round trip wait, but one of
 * late has not. A round-trip time that is not known (U32_MAX) counts as a wait.
 */
static bool sstp_waits_loss_bursts(const struct sstp_waits *w, const struct sstp_waits_lossy *l)
{
	return !l->slow_start && sstp_waits_unsure(w) &&
	       !sstp_waits_queued(w, sstp_waits_least(w));
}

enum sstp_waits_cause sstp_waits_loss_cause(struct sstp_waits_loss *x, const struct sstp_waits *w,
					    struct sstp_waits_surge *surge,
					    const struct sstp_waits_lossy *l)
{
	u32 rtt = max(l->rtt, sstp_waits_most(w));
	bool queued = sstp_waits_queued(w, rtt), held = sstp_waits_loss_held(x, w, l, rtt);

	if (!queued && !held && !l->slow_start && sstp_waits_surge_unseen(surge))
		return sstp_waits_surge_overflows(surge) ? SSTP_WAITS_CAUSE_QUEUE :
							   SSTP_WAITS_CAUSE_UNSEEN;
	if (!queued || held || sstp_waits_path_loses(w)) {
		x->random_ms = l->ms;
		return SSTP_WAITS_CAUSE_PATH;
	}
	if (!sstp_waits_loss_overflows(x, w, l))
		return SSTP_WAITS_CAUSE_EITHER;
	return sstp_waits_loss_bursts(w, l) ? SSTP_WAITS_CAUSE_BURSTS : SSTP_WAITS_CAUSE_QUEUE;
}

bool sstp_waits_loss_all_waited(const struct sstp_waits_loss *x, const struct sstp_waits *w,
				u32 ms)
{
	u32 rtt = sstp_waits_least(w);

	return rtt != U32_MAX &&
	       sstp_waits_time(w, rtt) >= (sstp_waits_loss_targeted(x, ms) ?
					   SSTP_WAITS_HELD : sstp_waits_small(w));
}

enum sstp_waits_depth sstp_waits_loss_depth(const struct sstp_waits_loss *x,
					    const struct sstp_waits *w,
					    const struct sstp_waits_surge *surge, u32 rtt, u32 ms)
{
	u32 most = max(rtt, sstp_waits_most(w)), waited = sstp_waits_time(w, most);

	if (sstp_waits_queued(w, most) ? waited >= sstp_waits_base(w) / SSTP_WAITS_SHORT :
					 !sstp_waits_surge_unseen(surge))
		return SSTP_WAITS_DEPTH_DEEP;
	return waited < SSTP_WAITS_TARGET && !sstp_waits_loss_targeted(x, ms) ?
	       SSTP_WAITS_DEPTH_SHALLOW : SSTP_WAITS_DEPTH_SHORT;
}
