// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <net/sstp_window.h>
#include "waits.h"

void sstp_waits_init(struct sstp_waits *w, u32 rtt, u32 ms)
{
	*w = (struct sstp_waits){
		.base = { rtt, U32_MAX },
		.base_ms = ms,
		.least = { U32_MAX, U32_MAX },
	};
}

u32 sstp_waits_base(const struct sstp_waits *w)
{
	return min(w->base[0], w->base[1]);
}

u32 sstp_waits_least(const struct sstp_waits *w)
{
	return min(w->least[0], w->least[1]);
}

u32 sstp_waits_most(const struct sstp_waits *w)
{
	return max(w->most[0], w->most[1]);
}

u32 sstp_waits_time(const struct sstp_waits *w, u32 rtt)
{
	return rtt - min(rtt, sstp_waits_base(w));
}

u32 sstp_waits_small(const struct sstp_waits *w)
{
	return clamp(sstp_waits_base(w) / 32, 1000U, 2000U);
}

bool sstp_waits_queued(const struct sstp_waits *w, u32 rtt)
{
	return sstp_waits_time(w, rtt) >= sstp_waits_small(w);
}

bool sstp_waits_holds(const struct sstp_waits *w, u32 cwnd, u32 rtt, u32 us, u32 own)
{
	u32 waited = sstp_waits_time(w, rtt);

	return waited >= us && (u64)cwnd * waited >= (u64)rtt * own;
}

/* Let what was seen so far count half. */
static void sstp_waits_forget(struct sstp_waits_tally *t)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		t->all[i] /= 2;
		t->lossy[i] /= 2;
	}
}

static void sstp_waits_count(struct sstp_waits_tally *t, bool queue, bool lossy)
{
	if (t->all[queue] == U16_MAX)
		sstp_waits_forget(t);
	t->all[queue]++;
	t->lossy[queue] += lossy;
}

/* Are round-trip times of one round trip, from @least to @most, further apart than a queue moves
 * them?
 */
static bool sstp_waits_apart(const struct sstp_waits *w, u32 least, u32 most)
{
	return most > least && most - least >= 2 * sstp_waits_small(w);
}

void sstp_waits_report(struct sstp_waits *w, const struct sstp_ctrl_sample *s, u32 ms, bool steady)
{
	u32 rtt = s->rtt, most;

	w->lost -= min(w->lost, s->undue);
	w->lost = min_t(u64, (u64)w->lost + s->lost, SSTP_WINDOW_MAX);
	w->delivered = min_t(u64, (u64)w->delivered + s->delivered, SSTP_WINDOW_MAX);
	if (!rtt)
		return;
	if (ms - w->base_ms > SSTP_WAITS_MEMORY) {
		w->base[1] = w->base[0];
		w->base[0] = U32_MAX;
		w->base_ms = ms;
		sstp_waits_forget(&w->rounds);
		sstp_waits_forget(&w->uneven);
		sstp_waits_forget(&w->reports);
	}
	w->base[0] = min(w->base[0], rtt);
	w->least[0] = min(w->least[0], rtt);
	w->most[0] = max(w->most[0], rtt);
	most = sstp_waits_most(w);
	if (steady && sstp_waits_apart(w, sstp_waits_base(w), most))
		sstp_waits_count(&w->reports, sstp_waits_time(w, rtt) >=
				 sstp_waits_time(w, most) / 2, s->lost);
}

void sstp_waits_count_round(struct sstp_waits *w)
{
	if (w->most[0])
		sstp_waits_count(&w->rounds, sstp_waits_queued(w, w->most[0]), w->lost);
}

void sstp_waits_round(struct sstp_waits *w, bool steady)
{
	if (steady && sstp_waits_apart(w, w->least[0], w->most[0]))
		sstp_waits_count(&w->uneven, sstp_waits_queued(w, sstp_waits_least(w)), w->lost);
	w->least[1] = w->least[0];
	w->least[0] = U32_MAX;
	w->most[1] = w->most[0];
	w->most[0] = 0;
	w->lost = 0;
	w->delivered = 0;
}

void sstp_waits_cut(struct sstp_waits *w, bool steady)
{
	sstp_waits_round(w, steady);
	w->least[1] = U32_MAX;
	w->most[1] = 0;
}

void sstp_waits_longer(struct sstp_waits *w, u32 rtt, u32 ms)
{
	w->base[0] = rtt;
	w->base[1] = rtt;
	w->base_ms = ms;
}

/* Four times the share of round trips without a queue that are lossy is less than that of round
 * trips with one, and at the latter share more than SSTP_WAITS_EXPECTED of the former would have
 * been lossy.
 */
bool sstp_waits_queue_loses(const struct sstp_waits *w)
{
	const struct sstp_waits_tally *t = &w->rounds;
	u64 expected = (u64)t->lossy[1] * t->all[0];

	return expected > (u64)t->all[1] * SSTP_WAITS_EXPECTED &&
	       (u64)t->lossy[0] * t->all[1] * 4 < expected;
}

/* Are packets that waited little lost at least a quarter as often as others? They are lost as often
 * where the path loses them, but losses are few at first.
 */
static bool sstp_waits_alike(const struct sstp_waits_tally *t)
{
	return t->lossy[0] >= SSTP_WAITS_LITTLE && t->all[0] * SSTP_WAITS_RARE >= t->all[1] &&
	       (u64)t->lossy[0] * t->all[1] * SSTP_WAITS_ALIKE >= (u64)t->lossy[1] * t->all[0];
}

/* At least half of all round trips are uneven on such a link: on others only those in which a queue
 * overflows or becomes empty are, which are half or more of the first ones after slow start.
 */
static bool sstp_waits_uneven(const struct sstp_waits *w)
{
	u32 uneven = w->uneven.all[0] + w->uneven.all[1];

	return uneven >= SSTP_WAITS_BURSTS &&
	       uneven * 2 >= (u32)w->rounds.all[0] + w->rounds.all[1];
}

bool sstp_waits_unsure(const struct sstp_waits *w)
{
	return sstp_waits_uneven(w) && !sstp_waits_queue_loses(w) &&
	       w->reports.lossy[0] + w->reports.lossy[1] <= SSTP_WAITS_TOLD;
}

bool sstp_waits_path_loses(const struct sstp_waits *w)
{
	return sstp_waits_uneven(w) && sstp_waits_alike(&w->uneven) &&
	       sstp_waits_alike(&w->reports) && !sstp_waits_queue_loses(w);
}
