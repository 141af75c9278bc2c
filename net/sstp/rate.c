// SPDX-License-Identifier: GPL-2.0
/* Rate contract (P, F, L) of WUCS-92-38, section 3.3 */
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <net/sstp.h>
#include "compat.h"
#include "rate.h"

#define SSTP_RATE_CREDIT	(500 * NSEC_PER_USEC)	/* ns by which a late timer is caught up */

void sstp_rate_init(struct sstp_rate *r)
{
	memset(r, 0, sizeof(*r));
}

void sstp_rate_free(struct sstp_rate *r)
{
	kfree(r->log);
	r->log = NULL;
}

/* F * L * l * 8, bit/s; F is in bursts per 1000 s. */
static u64 sstp_rate_bursts(u32 burst_rate, u32 burst_len, u32 frame)
{
	u64 bytes = (u64)burst_len * frame, thousand;

	/* On overflow the rate is over 2^64 / 125 bit/s, which is above any peak. */
	if (check_mul_overflow(bytes, (u64)burst_rate, &thousand))
		return U64_MAX;
	return div_u64(thousand, 125);
}

const char *sstp_rate_fault(const struct sstp_rate_spec *spec, u32 frame)
{
	if (!spec->peak)
		return spec->average || spec->burst_rate || spec->burst_len ?
			"rate: no peak, but more than that" : NULL;
	if (spec->peak < SSTP_RATE_MIN || spec->peak > SSTP_RATE_MAX)
		return "rate: peak out of range";
	if (spec->average > spec->peak)
		return "rate: average above the peak";
	if (spec->average && spec->average < SSTP_RATE_MIN)
		return "rate: average out of range";
	if (spec->burst_len > SSTP_PACKETS_MAX)
		return "rate: burst length out of range";
	/* F <= P / (L * l * 8) */
	if (spec->burst_rate &&
	    sstp_rate_bursts(spec->burst_rate, spec->burst_len ?: 1, frame) >
	    spec->peak)
		return "rate: bursts above the peak";
	return NULL;
}

/* Convert count and allowance of the burst that runs between packets and bytes, so that they
 * stay valid under the new contract's @in_bytes and @frame.
 */
static void sstp_rate_unit(struct sstp_rate_log *l, bool in_bytes, u32 frame)
{
	if (in_bytes && !l->in_bytes) {
		l->count *= frame;
		l->allowance *= frame;
	} else if (!in_bytes && l->in_bytes) {
		l->count = div_u64(l->count + frame - 1, frame);
		l->allowance = div_u64(l->allowance, frame);
	}
	l->in_bytes = in_bytes;
}

/* Callers take the time once for all that they do, so a function that they call may have passed a
 * later one: by the earlier one bursts and trains would be in the future.
 */
static u64 sstp_rate_time(struct sstp_rate_log *l, u64 now)
{
	l->at = max(l->at, now);
	return l->at;
}

/* Most bytes in a train of frames of @frame bytes, where @window bytes may leave in any 1 ms. The
 * trains of a millisecond are alike, and take all of @window but for less than a frame: room for
 * a few frames more would be taken by a small train, each millisecond anew, as a train that left
 * makes room for one of its size.
 */
static u32 sstp_rate_train_max(u64 window, u32 frame)
{
	u32 most = clamp_t(u32, SSTP_TRAIN_BYTES, 2 * frame, SSTP_TRAIN_PACKETS * frame) - frame;
	u64 trains = max(div_u64(window + most - 1, most), 2ULL);

	return min_t(u64, div64_u64(window, trains) + frame - 1, U32_MAX);
}

int sstp_rate_set(struct sstp_rate *r, const struct sstp_rate_spec *spec,
		  u32 frame, u64 segment, u64 now, gfp_t gfp)
{
	struct sstp_rate_log *l = r->log;
	u64 average, len;
	u32 window;

	if (!spec->peak) {
		sstp_rate_free(r);
		r->spec = *spec;
		return 0;
	}
	if (!l) {
		l = kzalloc_obj(*l, gfp);
		if (!l)
			return -ENOMEM;
		l->ms = div_u64(now, NSEC_PER_MSEC);
		l->burst_start = now;
		r->log = l;
	}
	now = sstp_rate_time(l, now);
	average = spec->average ?: spec->peak;
	/* L = s + X, or more so that a burst lasts at least 1 ms: bursts that are shorter than
	 * a timer's lateness would waste rate.
	 */
	len = spec->burst_len;
	if (!len) {
		len = div_u64(div_u64(average, 8 * MSEC_PER_SEC), frame);
		/* The end of a burst cuts a train short. At rate P a burst ends with all that may
		 * leave in 1 ms.
		 */
		window = !spec->average && !spec->burst_rate ? len + 1 : 1;
		len = div_u64(max(len, segment) + window - 1, window) * window;
		len = clamp_t(u64, len, 1, SSTP_PACKETS_MAX);
	}
	if (spec->burst_rate) {
		if (!spec->average)
			average = clamp(sstp_rate_bursts(spec->burst_rate, len,
							 frame),
					1ULL, spec->peak);
		l->burst_ns = div_u64(1000ULL * NSEC_PER_SEC, spec->burst_rate);
	} else {
		/* F = A / (L * l * 8); 2^16 * 2^16 * 2^33 fits. */
		l->burst_ns = mul_u64_u64_div_u64(len * frame * 8, NSEC_PER_SEC,
						  average) ?: 1;
	}
	/* A higher peak ends the wait that the former peak imposed. */
	if (spec->peak > r->spec.peak)
		l->peak_next = min(l->peak_next, now);
	r->spec = *spec;
	r->spec.average = average;
	r->burst_len = len;
	l->frame = frame;
	sstp_rate_unit(l, !spec->burst_len, frame);
	l->burst = l->in_bytes ? len * frame : len;
	l->allowance = clamp(l->allowance, l->burst, 2 * l->burst);
	l->ms_bytes = div_u64(spec->peak, 8 * MSEC_PER_SEC);
	l->second_bytes = average / 8;
	l->ns_mult = div64_u64((8ULL * NSEC_PER_SEC << SSTP_RATE_SHIFT) +
			       spec->peak - 1, spec->peak);
	l->train_max = sstp_rate_train_max(l->ms_bytes + frame, frame);
	return 0;
}

/* Steps 1 and 2 of the paper: if BT has expired, start a burst with TC = 0. While packets wait,
 * bursts start at multiples of the period, so that lateness does not add up.
 */
static void sstp_rate_tick(struct sstp_rate *r, u64 now)
{
	struct sstp_rate_log *l = r->log;
	u64 late = now - l->burst_start, bursts, most, due;

	if (late < l->burst_ns)
		return;
	l->burst_start = now;
	due = l->burst;
	if (r->more) {
		bursts = div64_u64(late, l->burst_ns);
		l->burst_start -= late - bursts * l->burst_ns;
		/* A late timer is caught up by SSTP_RATE_CREDIT, as in sstp_rate_sent(). */
		most = max(div64_u64(SSTP_RATE_CREDIT, l->burst_ns), 2ULL);
		due = min(bursts, most) * l->burst;
		due += l->allowance - min(l->count, l->allowance);
		due = min(due, most * l->burst);
	}
	l->allowance = due;
	l->count = 0;
}

static void sstp_rate_forget(struct sstp_rate_log *l, u64 now)
{
	while (l->trains) {
		struct sstp_rate_train *t = &l->train[l->train_tail];

		if (now - t->time < NSEC_PER_MSEC)
			break;
		l->train_bytes -= t->bytes;
		l->train_tail = (l->train_tail + 1) % SSTP_RATE_TRAINS;
		l->trains--;
	}
}

static void sstp_rate_log_to(struct sstp_rate_log *l, u64 now)
{
	u64 ms = div_u64(now, NSEC_PER_MSEC);
	u32 n, i;

	if (ms <= l->ms)
		return;
	if (ms - l->ms >= SSTP_RATE_SLOTS) {
		memset(l->slot, 0, sizeof(l->slot));
		l->sum = 0;
		l->ms = ms;
		return;
	}
	div_u64_rem(l->ms + 1, SSTP_RATE_SLOTS, &i);
	for (n = ms - l->ms; n; n--) {
		l->sum -= l->slot[i];
		l->slot[i] = 0;
		if (++i == SSTP_RATE_SLOTS)
			i = 0;
	}
	l->ms = ms;
}

/* Time, ns, when the oldest slot with bytes leaves the window of 1 s */
static u64 sstp_rate_log_next(const struct sstp_rate_log *l)
{
	u64 ms = l->ms + 1;
	u32 n, i;

	div_u64_rem(ms, SSTP_RATE_SLOTS, &i);
	for (n = 0; n < SSTP_RATE_SLOTS - 1 && !l->slot[i]; n++)
		if (++i == SSTP_RATE_SLOTS)
			i = 0;
	return (ms + n) * NSEC_PER_MSEC;
}

/* Packets of @frame bytes that this burst has room for. A frame that is larger than a whole burst
 * may leave as the only one, or it never could.
 */
static u32 sstp_rate_burst_left(const struct sstp_rate_log *l, u32 frame)
{
	u64 left = l->allowance - min(l->count, l->allowance);

	if (l->in_bytes)
		left = l->count || left >= frame ? div_u64(left, frame) : 1;
	return min_t(u64, left, U32_MAX);
}

u32 sstp_rate_allow(struct sstp_rate *r, u32 want, u32 frame, u64 now,
		    u64 *next)
{
	struct sstp_rate_log *l = r->log;
	u32 left;
	u64 room;

	now = sstp_rate_time(l, now);
	sstp_rate_tick(r, now);
	sstp_rate_forget(l, now);
	sstp_rate_log_to(l, now);
	*next = now;

	left = sstp_rate_burst_left(l, frame);
	if (!left) {
		*next = l->burst_start + l->burst_ns;
		return 0;
	}
	if (now < l->peak_next) {
		*next = l->peak_next;
		return 0;
	}
	want = min3(want, max(l->train_max / frame, 1U), left);

	/* At most P * 1 ms plus one packet in any 1 ms */
	room = l->ms_bytes + frame;
	room -= min(room, l->train_bytes);
	if (l->trains == SSTP_RATE_TRAINS)
		room = 0;
	if (room < (u64)want * frame)
		want = (u32)min_t(u64, room, U32_MAX) / frame;
	if (!want && l->trains) {
		*next = l->train[l->train_tail].time + NSEC_PER_MSEC;
		return 0;
	}

	/* At most average * 1 s in any 1 s; a packet larger than that may leave alone. */
	room = l->second_bytes - min(l->second_bytes, l->sum);
	if (room < (u64)want * frame)
		want = (u32)min_t(u64, room, U32_MAX) / frame;
	if (!want && l->sum) {
		*next = sstp_rate_log_next(l);
		return 0;
	}
	return max(want, 1U);
}

void sstp_rate_sent(struct sstp_rate *r, u32 packets, u32 bytes, u64 now)
{
	struct sstp_rate_log *l = r->log;
	struct sstp_rate_train *t;
	u32 i;

	if (!l)
		return;
	now = sstp_rate_time(l, now);
	l->count += l->in_bytes ? bytes : packets;
	r->more = true;
	l->peak_next = max(l->peak_next, now - SSTP_RATE_CREDIT) +
		       ((bytes * l->ns_mult) >> SSTP_RATE_SHIFT);

	t = &l->train[(l->train_tail + l->trains - 1U) % SSTP_RATE_TRAINS];
	/* Trains in quick succession share an entry, so that the ring covers 1 ms. Its time is
	 * that of the last one, so that none is forgotten too early.
	 */
	if (!l->trains ||
	    (now - t->time + t->span >= NSEC_PER_MSEC / SSTP_RATE_TRAINS &&
	     l->trains < SSTP_RATE_TRAINS)) {
		i = (l->train_tail + l->trains++) % SSTP_RATE_TRAINS;
		t = &l->train[i];
		t->time = now;
		t->span = 0;
		t->bytes = 0;
	}
	t->span += now - t->time;
	t->time = now;
	t->bytes += bytes;
	l->train_bytes += bytes;

	sstp_rate_log_to(l, now);
	div_u64_rem(l->ms, SSTP_RATE_SLOTS, &i);
	l->slot[i] += bytes;
	l->sum += bytes;
}
