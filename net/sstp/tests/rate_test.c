// SPDX-License-Identifier: GPL-2.0
/*
 * Rate contract: senders with late timers. Exact sums over the last 1 ms and the last 1 s
 * check that every packet keeps to the contract.
 */
#include <linux/vmalloc.h>
#include "sstp_test.h"
#include "../rate.c"

#define RATE_EVENTS	BIT(20)		/* trains remembered; a power of two */
#define RATE_KBIT	1000ULL
#define RATE_MBIT	1000000ULL
#define RATE_GBIT	1000000000ULL

struct rate_event {
	u64	time;
	u32	bytes;
	u32	packets;
};

/* The events in (time - span, time] */
struct rate_window {
	u64	span;
	u64	bytes;
	u64	packets;
	u32	tail;
};

/**
 * struct rate_sim - a sender and the check of its contract
 * @spec: contract as it was set
 * @average: bit/s that the contract allows
 * @jitter: by which a timer is late at most, ns
 * @sent: bytes in all
 * @wakes: timers that ran
 * @trains: that left
 * @events: trains in all
 */
struct rate_sim {
	struct kunit *test;
	struct rnd_state rnd;
	struct sstp_rate r;
	struct sstp_rate_spec spec;
	u64	average;
	u64	now;
	u32	frame;
	u32	jitter;
	u64	sent;
	u64	packets;
	u32	wakes;
	u32	trains;
	u32	events;
	struct rate_window ms;
	struct rate_window second;
	struct rate_event *event;
};

static void rate_reset(struct rate_sim *s)
{
	s->events = 0;
	s->sent = 0;
	s->packets = 0;
	s->wakes = 0;
	s->trains = 0;
	s->ms = (struct rate_window){ .span = NSEC_PER_MSEC };
	s->second = (struct rate_window){ .span = NSEC_PER_SEC };
}

static int rate_set(struct rate_sim *s, const struct sstp_rate_spec *spec,
		    u32 segment, u32 extra)
{
	int err = sstp_rate_set(&s->r, spec, s->frame, (u64)segment + extra, s->now,
				GFP_KERNEL);

	if (!err) {
		s->spec = *spec;
		s->average = s->r.spec.average;
	}
	return err;
}

static void rate_window_add(struct rate_sim *s, struct rate_window *w,
			    const struct rate_event *e)
{
	w->bytes += e->bytes;
	w->packets += e->packets;
	while (e->time - s->event[w->tail % RATE_EVENTS].time >= w->span) {
		w->bytes -= s->event[w->tail % RATE_EVENTS].bytes;
		w->packets -= s->event[w->tail++ % RATE_EVENTS].packets;
	}
}

static void rate_ship(struct rate_sim *s, u32 packets, u32 bytes, u32 size)
{
	struct rate_event *e = &s->event[s->events++ % RATE_EVENTS];
	struct kunit *test = s->test;

	e->time = s->now;
	e->bytes = bytes;
	e->packets = packets;
	sstp_rate_sent(&s->r, packets, bytes, s->now);
	s->sent += bytes;
	s->packets += packets;
	rate_window_add(s, &s->ms, e);
	rate_window_add(s, &s->second, e);
	KUNIT_ASSERT_LE(test, s->events - s->second.tail, RATE_EVENTS);
	if ((s->ms.bytes - min_t(u64, size, s->ms.bytes)) * 8000 >
	    s->spec.peak)
		KUNIT_FAIL_AND_ABORT(test,
				     "P %llu: %llu bytes in 1 ms at %llu ns, packet %u, train %u",
				     s->spec.peak, s->ms.bytes, s->now, size,
				     packets);
	if (s->second.bytes * 8 > s->average && s->second.packets > 1)
		KUNIT_FAIL_AND_ABORT(test,
				     "A %llu: %llu bytes in 1 s at %llu ns, P %llu",
				     s->average, s->second.bytes, s->now,
				     s->spec.peak);
}

/* Send @queue packets of @size bytes, until time @until, ns. Returns the packets that are left. */
static u64 rate_run(struct rate_sim *s, u64 queue, u32 size, u64 until)
{
	struct kunit *test = s->test;

	while (queue && s->now < until) {
		u32 want = min_t(u64, queue, 64), n;
		u64 next = 0;

		n = sstp_rate_allow(&s->r, want, size, s->now, &next);
		KUNIT_ASSERT_LE(test, n, want);
		if (n) {
			/* The sender's trains end here, too. */
			n = min(n, max(SSTP_TRAIN_BYTES / size, 1U));
			s->trains++;
			rate_ship(s, n, n * size, size);
			queue -= n;
			continue;
		}
		/* Else the sender would spin. */
		if (next <= s->now || next - s->now > 1000000ULL * NSEC_PER_SEC)
			KUNIT_FAIL_AND_ABORT(test, "next %llu at %llu", next,
					     s->now);
		s->now = next;
		if (s->jitter)
			s->now += sstp_rnd_below(&s->rnd, s->jitter + 1);
		s->wakes++;
	}
	return queue;
}

static struct rate_sim *rate_sim(struct kunit *test)
{
	return test->priv;
}

/* Bits that can leave in any second at @bits/s, @frame bytes at a time */
static u64 rate_possible(u64 bits, u32 frame)
{
	u64 packets = div_u64(bits, 8 * frame);

	return packets ? packets * frame * 8 : bits;
}

static void rate_throughput_of(struct rate_sim *s, u64 peak, u64 average,
			       u32 frame, u32 jitter)
{
	const struct sstp_rate_spec spec = { .peak = peak, .average = average };
	struct kunit *test = s->test;
	u64 span, was, got, want;

	s->frame = frame;
	s->jitter = jitter;
	s->now += NSEC_PER_SEC * 2;
	sstp_rate_free(&s->r);
	sstp_rate_init(&s->r);
	rate_reset(s);
	KUNIT_ASSERT_EQ(test, sstp_rate_check(&spec, frame), 0);
	KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
	average = s->average;
	/* A second at least, and a hundred packets. */
	span = max(NSEC_PER_SEC, div64_u64(frame * 800ULL * NSEC_PER_SEC, average));
	rate_run(s, U64_MAX, frame, s->now + NSEC_PER_SEC / 10);
	was = s->sent;
	got = s->now;
	rate_run(s, U64_MAX, frame, s->now + span);
	span = s->now - got;
	got = mul_u64_u64_div_u64(s->sent - was, 8ULL * NSEC_PER_SEC, span);
	want = rate_possible(average, frame);
	want = div_u64(want * (jitter ? 970 : 990), 1000);
	KUNIT_EXPECT_GE_MSG(test, got, want, "P %llu A %llu frame %u jitter %u",
			    peak, average, frame, jitter);
}

/* A sender that always has data gets the rate that it declared. */
static void rate_throughput(struct kunit *test)
{
	static const u64 peak[] = {
		8 * RATE_KBIT, 100 * RATE_KBIT, 1500 * RATE_KBIT,
		3 * RATE_MBIT, 10 * RATE_MBIT, 12 * RATE_MBIT, 24 * RATE_MBIT,
		25 * RATE_MBIT, 47 * RATE_MBIT, 95 * RATE_MBIT, 333 * RATE_MBIT,
		RATE_GBIT, 2 * RATE_GBIT, 5 * RATE_GBIT, 10 * RATE_GBIT,
		25 * RATE_GBIT, 100 * RATE_GBIT,
	};
	static const u32 percent[] = { 100, 95, 50, 7 };
	static const u32 frame[] = { 90, 1514, 9014 };
	static const u32 jitter[] = { 0, 5000, 50000 };
	struct rate_sim *s = rate_sim(test);
	u32 p, a, f, j;

	sstp_test_seed_rnd(test, &s->rnd);
	for (p = 0; p < ARRAY_SIZE(peak); p++)
		for (a = 0; a < ARRAY_SIZE(percent); a++)
			for (f = 0; f < ARRAY_SIZE(frame); f++) {
				u64 average = div_u64(peak[p] * percent[a],
						      100);

				/* No machine has so many packets. */
				if (average < 8000 ||
				    div_u64(average, 8 * frame[f]) > 10000000)
					continue;
				for (j = 0; j < ARRAY_SIZE(jitter); j++)
					rate_throughput_of(s, peak[p], average,
							   frame[f], jitter[j]);
			}
}

/* @len: L, 0 = derived */
static void rate_small_of(struct rate_sim *s, u64 peak, u32 frame, u32 size, u32 len)
{
	struct sstp_rate_spec spec = { .peak = peak, .average = peak / 2, .burst_len = len };
	struct kunit *test = s->test;
	u64 want, begin, got;

	s->frame = frame;
	s->now += 2ULL * NSEC_PER_SEC;
	rate_reset(s);
	KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 10, 0), 0);
	rate_run(s, U64_MAX, size, s->now + NSEC_PER_SEC);
	begin = s->now;
	s->sent = 0;
	rate_run(s, U64_MAX, size, begin + 10ULL * NSEC_PER_SEC);
	got = mul_u64_u64_div_u64(s->sent, 8ULL * NSEC_PER_SEC, s->now - begin);
	/* L small packets in place of L full frames */
	want = len ? div_u64(spec.average * size, frame) : spec.average;
	KUNIT_EXPECT_GE_MSG(test, got, div_u64(want * 95, 100), "P %llu frame %u size %u L %u",
			    peak, frame, size, len);
	KUNIT_EXPECT_LE_MSG(test, got, div_u64(want * 105, 100), "P %llu frame %u size %u L %u",
			    peak, frame, size, len);
}

/* Small packets get the rate that their bytes allow, unless L is declared. */
static void rate_small(struct kunit *test)
{
	static const u64 peak[] = {
		RATE_MBIT, 10 * RATE_MBIT, RATE_GBIT,
	};
	static const u32 frame[] = { 1514, 9014, 65549 };
	static const u32 size[] = { 118, 134, 700, 1513 };
	struct rate_sim *s = rate_sim(test);
	u32 p, f, k;

	for (p = 0; p < ARRAY_SIZE(peak); p++)
		for (f = 0; f < ARRAY_SIZE(frame); f++)
			for (k = 0; k < ARRAY_SIZE(size); k++) {
				rate_small_of(s, peak[p], frame[f], size[k], 0);
				/* Else a second has few bursts. */
				if (frame[f] == 1514)
					rate_small_of(s, peak[p], frame[f], size[k], 10);
			}
}

/* Bursts that are declared shorter than timers are late. */
static void rate_short_bursts(struct kunit *test)
{
	static const struct sstp_rate_spec spec[] = {
		{ .peak = RATE_GBIT, .burst_rate = 20000000, .burst_len = 1 },
		{ .peak = RATE_GBIT, .average = 500 * RATE_MBIT,
		  .burst_len = 1 },
		{ .peak = 10 * RATE_GBIT, .average = 5 * RATE_GBIT,
		  .burst_len = 4 },
	};
	struct rate_sim *s = rate_sim(test);
	u32 i, jitter;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(spec); i++)
		for (jitter = 0; jitter <= 50000; jitter += 25000) {
			u64 begin, got;

			s->jitter = jitter;
			s->now += 2ULL * NSEC_PER_SEC;
			KUNIT_ASSERT_EQ(test, sstp_rate_check(&spec[i], 1514),
					0);
			KUNIT_ASSERT_EQ(test, rate_set(s, &spec[i], 1, 0), 0);
			rate_reset(s);
			begin = s->now;
			rate_run(s, U64_MAX, 1514, begin + NSEC_PER_SEC);
			got = mul_u64_u64_div_u64(s->sent, 8ULL * NSEC_PER_SEC,
						  s->now - begin);
			KUNIT_EXPECT_GE_MSG(test, got,
					    div_u64(s->average * 97, 100),
					    "row %u, jitter %u", i, jitter);
		}
}

/* A sender that always has data sends long trains: all packets that a millisecond has room for, in
 * as few trains as SSTP_TRAIN_BYTES and SSTP_TRAIN_PACKETS allow, and two at least.
 */
static void rate_trains(struct kunit *test)
{
	static const u64 peak[] = {
		50, 100, 200, 333, 500, 700, 1000, 1130, 1300, 2000, 3000, 5000, 10000,
	};
	static const u32 frame[] = { 500, 1514, 9014 };
	struct rate_sim *s = rate_sim(test);
	u32 p, f, least, room, trains, most;

	sstp_test_seed_rnd(test, &s->rnd);
	for (p = 0; p < ARRAY_SIZE(peak); p++)
		for (f = 0; f < ARRAY_SIZE(frame); f++) {
			const struct sstp_rate_spec spec = { .peak = peak[p] * RATE_MBIT };

			s->frame = frame[f];
			s->jitter = 20000;
			s->now += NSEC_PER_SEC * 2;
			sstp_rate_free(&s->r);
			sstp_rate_init(&s->r);
			KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 45, 0), 0);
			rate_reset(s);
			rate_run(s, U64_MAX, frame[f], s->now + NSEC_PER_SEC / 2);
			room = div_u64(div_u64(spec.peak, 8000), frame[f]) + 1;
			most = min(SSTP_TRAIN_BYTES / frame[f], SSTP_TRAIN_PACKETS);
			trains = max(DIV_ROUND_UP(room, most - 1), 2U);
			least = max(room / trains, 1U);
			KUNIT_EXPECT_GE_MSG(test, s->packets * 20, s->trains * least * 19ULL,
					    "P %llu frame %u: %llu packets, %u trains, room %u",
					    spec.peak, frame[f], s->packets, s->trains, room);
		}
}

static u64 rate_rnd_bits(struct rnd_state *r, u64 lo, u64 hi)
{
	u64 v;

	/* Every order of magnitude as often. */
	do {
		v = sstp_rnd_u64(r) >> sstp_rnd_below(r, 64);
	} while (v < lo || v > hi);
	return v;
}

static void rate_rnd_spec(struct rate_sim *s, struct sstp_rate_spec *spec)
{
	struct rnd_state *r = &s->rnd;

	do {
		memset(spec, 0, sizeof(*spec));
		spec->peak = rate_rnd_bits(r, 8 * RATE_KBIT, 100 * RATE_GBIT);
		if (sstp_rnd_one_in(r, 2))
			spec->average = rate_rnd_bits(r, 8 * RATE_KBIT,
						      spec->peak);
		if (sstp_rnd_one_in(r, 3))
			spec->burst_len = 1 + (sstp_rnd_below(r, 65535) >>
					       sstp_rnd_below(r, 16));
		if (sstp_rnd_one_in(r, 3))
			spec->burst_rate = prandom_u32_state(r) >>
					   sstp_rnd_below(r, 32);
	} while (sstp_rate_check(spec, s->frame));
}

/* Random senders, with timers that are late by any time */
static void rate_random(struct kunit *test)
{
	struct rate_sim *s = rate_sim(test);
	struct rnd_state *r = &s->rnd;
	u32 i, phase, trains, total = 0;

	sstp_test_seed_rnd(test, r);
	for (i = 0; i < 400; i++) {
		struct sstp_rate_spec spec;
		u64 queue = 0;

		s->frame = sstp_rnd_range(r, 60, 9100);
		s->jitter = sstp_rnd_one_in(r, 4) ? 0 :
			    sstp_rnd_below(r, 300001);
		if (sstp_rnd_one_in(r, 4)) {
			/* After a time without a contract the past does not count. */
			spec = (struct sstp_rate_spec){};
			KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
			KUNIT_ASSERT_FALSE(test, sstp_rate_bound(&s->r));
			s->now += 2ULL * NSEC_PER_SEC;
			rate_reset(s);
		}
		rate_rnd_spec(s, &spec);
		KUNIT_ASSERT_EQ(test, rate_set(s, &spec,
					       sstp_rnd_range(r, 1, 100),
					       sstp_rnd_below(r, 10)), 0);
		trains = s->events;
		total -= trains;
		for (phase = 0; phase < 30 && s->events - trains < 20000;
		     phase++) {
			u32 size = s->frame;
			u64 until;

			if (sstp_rnd_one_in(r, 3))
				size = sstp_rnd_range(r, 60, s->frame);
			queue += 1 + (sstp_rnd_below(r, 20000) >>
				      sstp_rnd_below(r, 14));
			until = s->now + rate_rnd_bits(r, 1000,
						       2ULL * NSEC_PER_SEC);
			queue = rate_run(s, queue, size, until);
			if (!queue && sstp_rnd_one_in(r, 2)) {
				sstp_rate_idle(&s->r);
				s->now += rate_rnd_bits(r, 1,
							3ULL * NSEC_PER_SEC);
			}
			if (!sstp_rnd_one_in(r, 8))
				continue;
			/* Another contract, or another frame, at once. */
			if (sstp_rnd_one_in(r, 2))
				rate_rnd_spec(s, &spec);
			else
				s->frame = sstp_rnd_range(r, 60, 1514);
			if (sstp_rate_check(&spec, s->frame)) {
				spec.burst_rate = 0;
				spec.burst_len = 0;
			}
			KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 10, 1), 0);
		}
		total += s->events;
	}
	KUNIT_EXPECT_GT(test, total, 100000U);
}

/* Timers that are late by little and by much, a queue that never runs empty. */
static void rate_late(struct kunit *test)
{
	struct rate_sim *s = rate_sim(test);
	struct rnd_state *r = &s->rnd;
	u32 i;

	sstp_test_seed_rnd(test, r);
	for (i = 0; i < 300; i++) {
		struct sstp_rate_spec spec = {};

		s->frame = sstp_rnd_one_in(r, 2) ? 1514 : 9014;
		spec.peak = rate_rnd_bits(r, RATE_MBIT, 100 * RATE_GBIT);
		s->jitter = sstp_rnd_below(r, 300001);
		KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
		rate_run(s, U64_MAX, s->frame, s->now + 20 * NSEC_PER_MSEC);
		s->now += sstp_rnd_below(r, 5 * NSEC_PER_MSEC);
	}
}

/* With P far above the average: L packets, silence, L packets, 1 / F apart. */
static void rate_bursts(struct kunit *test)
{
	static const struct {
		u64 peak;
		u32 rate;
		u32 len;
	} t[] = {
		{ 100 * RATE_MBIT, 25000, 72 },
		{ RATE_GBIT, 25000, 72 },
		{ RATE_GBIT, 100000, 1 },
		{ RATE_GBIT, 10000, 1000 },
		{ 10 * RATE_GBIT, 50000, 500 },
		{ 10 * RATE_GBIT, 2000, 10000 },
	};
	struct rate_sim *s = rate_sim(test);
	u32 i, k, jitter;

	sstp_test_seed_rnd(test, &s->rnd);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		for (jitter = 0; jitter <= 50000; jitter += 50000) {
			const struct sstp_rate_spec spec = {
				.peak = t[i].peak, .burst_rate = t[i].rate,
				.burst_len = t[i].len,
			};
			u64 period = div_u64(1000ULL * NSEC_PER_SEC, t[i].rate);
			u32 bursts = t[i].rate / 1000, n = 0, count = 0;
			u64 begin, last;

			s->jitter = jitter;
			s->now += 2ULL * NSEC_PER_SEC;
			KUNIT_ASSERT_EQ(test, sstp_rate_check(&spec, 1514), 0);
			KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
			rate_reset(s);
			sstp_rate_idle(&s->r);
			rate_run(s, U64_MAX, 1514, s->now +
				 bursts * period);
			begin = s->event[0].time;
			last = begin;
			for (k = 0; k < s->events; k++) {
				const struct rate_event *e = &s->event[k];

				/* A pause that P and a late timer do not explain */
				if (e->time - last > period / 4) {
					KUNIT_ASSERT_EQ_MSG(test, count,
							    t[i].len,
							    "row %u burst %u",
							    i, n);
					n++;
					KUNIT_ASSERT_GE(test, e->time, begin +
							n * period);
					KUNIT_ASSERT_LE(test, e->time, begin +
							n * period + jitter);
					count = 0;
				}
				count += e->packets;
				last = e->time;
			}
			KUNIT_EXPECT_GE(test, n + 1, bursts);
		}
}

/* The rest of a burst that was cut short leaves with the next, up to 2 L; after an empty queue
 * no rest is kept.
 */
static void rate_leftover(struct kunit *test)
{
	/* 10 packets each 100 ms, at 1 Gbit/s */
	const struct sstp_rate_spec spec = {
		.peak = RATE_GBIT, .average = 10 * RATE_MBIT,
		.burst_rate = 10000, .burst_len = 10,
	};
	struct rate_sim *s = rate_sim(test);
	u64 begin, next;
	u32 idle;

	for (idle = 0; idle <= 1; idle++) {
		s->now += 2ULL * NSEC_PER_SEC;
		rate_reset(s);
		KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
		sstp_rate_idle(&s->r);
		begin = s->now;
		KUNIT_EXPECT_EQ(test, rate_run(s, 4, 1514, begin +
					       NSEC_PER_MSEC), 0ULL);
		if (idle)
			sstp_rate_idle(&s->r);
		s->now = begin + 100 * NSEC_PER_MSEC;
		rate_run(s, 1000, 1514, begin + 150 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, s->packets, idle ? 14ULL : 20ULL);
		/* The queue ends with the burst: the next has L again. */
		KUNIT_EXPECT_EQ(test, sstp_rate_allow(&s->r, 1, 1514, s->now,
						      &next), 1U);
		sstp_rate_sent(&s->r, 1, 1514, s->now);
		rate_run(s, 1000, 1514, begin + 250 * NSEC_PER_MSEC);
	}
	/* Two bursts lost to a late timer are not made up for by three. */
	s->now += 2ULL * NSEC_PER_SEC;
	rate_reset(s);
	KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
	sstp_rate_idle(&s->r);
	begin = s->now;
	rate_run(s, 1, 1514, begin + 1);
	s->now = begin + 550 * NSEC_PER_MSEC;
	rate_run(s, 1000, 1514, begin + 590 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, s->packets, 21ULL);
}

static void rate_derived(struct kunit *test)
{
	static const struct {
		struct sstp_rate_spec spec;
		u32 frame;
		u32 segment;
		u32 extra;
		u64 average;
		u32 len;
		u64 burst_ns;
	} t[] = {
		/* L = s + X; F = A / (L l 8) */
		{ { .peak = RATE_MBIT }, 1500, 10, 0, RATE_MBIT, 10, 120000000 },
		{ { .peak = RATE_MBIT }, 1500, 10, 3, RATE_MBIT, 13, 156000000 },
		{ { .peak = RATE_GBIT, .average = RATE_MBIT }, 1500, 7, 2,
		  RATE_MBIT, 9, 108000000 },
		/* A burst has at least the packets of 1 ms. */
		{ { .peak = RATE_GBIT, .average = RATE_GBIT }, 1250, 1, 0, RATE_GBIT, 100,
		  1000000 },
		{ { .peak = RATE_GBIT, .average = RATE_GBIT }, 1250, 99, 1, RATE_GBIT, 100,
		  1000000 },
		{ { .peak = RATE_GBIT, .average = RATE_GBIT }, 1250, 100, 1, RATE_GBIT, 101,
		  1010000 },
		/* With P alone, a multiple of what leaves in any 1 ms: P * 1 ms and a packet. */
		{ { .peak = RATE_GBIT }, 1250, 1, 0, RATE_GBIT, 101, 1010000 },
		{ { .peak = RATE_GBIT }, 1250, 100, 1, RATE_GBIT, 101, 1010000 },
		{ { .peak = RATE_GBIT }, 1250, 100, 2, RATE_GBIT, 202, 2020000 },
		/* L is at most the largest number of packets in a segment. */
		{ { .peak = RATE_GBIT }, 1250, 65535, 65535, RATE_GBIT, 65535,
		  655350000 },
		{ { .peak = RATE_GBIT }, 1250, U32_MAX, U32_MAX, RATE_GBIT,
		  65535, 655350000 },
		{ { .peak = 1000 * RATE_GBIT }, 100, 1, 0, 1000 * RATE_GBIT,
		  65535, 52428 },
		/* A = F L l 8 */
		{ { .peak = 100 * RATE_MBIT, .burst_rate = 25000,
		    .burst_len = 72 }, 1514, 1, 0, 21801600, 72, 40000000 },
		{ { .peak = RATE_MBIT, .burst_rate = 1000, .burst_len = 1 },
		  1000, 1, 0, 8000, 1, 1000000000 },
		{ { .peak = RATE_MBIT, .burst_rate = 1, .burst_len = 1 },
		  1000, 1, 0, 8, 1, 1000000000000ULL },
		{ { .peak = RATE_MBIT, .burst_rate = 1, .burst_len = 1 },
		  60, 1, 0, 1, 1, 1000000000000ULL },
		/* F alone: at most P. */
		{ { .peak = RATE_MBIT, .burst_rate = 50000 }, 1000, 100, 0,
		  RATE_MBIT, 100, 20000000 },
		/* All terms as declared */
		{ { .peak = RATE_GBIT, .average = RATE_MBIT,
		    .burst_rate = 25000, .burst_len = 3 }, 1514, 50, 5,
		  RATE_MBIT, 3, 40000000 },
		/* Never 0. */
		{ { .peak = 1000 * RATE_GBIT, .burst_len = 1 }, 60, 1, 0,
		  1000 * RATE_GBIT, 1, 1 },
	};
	struct rate_sim *s = rate_sim(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		s->frame = t[i].frame;
		KUNIT_EXPECT_EQ(test, sstp_rate_check(&t[i].spec, s->frame), 0);
		KUNIT_ASSERT_EQ(test, rate_set(s, &t[i].spec, t[i].segment,
					       t[i].extra), 0);
		KUNIT_EXPECT_EQ_MSG(test, s->r.spec.average, t[i].average,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, s->r.burst_len, t[i].len, "row %u",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, s->r.log->burst_ns, t[i].burst_ns,
				    "row %u", i);
	}
}

static void rate_checks(struct kunit *test)
{
	static const struct {
		struct sstp_rate_spec spec;
		u32 frame;
		int err;
	} t[] = {
		{ {}, 1514, 0 },
		{ { .average = 1 }, 1514, -EINVAL },
		{ { .average = U64_MAX }, 1514, -EINVAL },
		{ { .burst_rate = 1 }, 1514, -EINVAL },
		{ { .burst_len = 1 }, 1514, -EINVAL },
		{ { .peak = 7999 }, 1514, -EINVAL },
		{ { .peak = 8000 }, 1514, 0 },
		{ { .peak = 1000 * RATE_GBIT }, 1514, 0 },
		{ { .peak = 1000 * RATE_GBIT + 1 }, 1514, -EINVAL },
		{ { .peak = U64_MAX }, 1514, -EINVAL },
		{ { .peak = U64_MAX, .average = U64_MAX }, 1514, -EINVAL },
		{ { .peak = RATE_MBIT, .average = RATE_MBIT }, 1514, 0 },
		{ { .peak = RATE_MBIT, .average = RATE_MBIT + 1 }, 1514,
		  -EINVAL },
		{ { .peak = RATE_MBIT, .average = U64_MAX }, 1514, -EINVAL },
		{ { .peak = RATE_MBIT, .average = 7999 }, 1514, -EINVAL },
		{ { .peak = RATE_MBIT, .average = 8000 }, 1514, 0 },
		{ { .peak = RATE_MBIT, .burst_len = 65535 }, 1514, 0 },
		{ { .peak = RATE_MBIT, .burst_len = 65536 }, 1514, -EINVAL },
		{ { .peak = RATE_MBIT, .burst_len = U32_MAX }, 1514, -EINVAL },
		/* F <= P / (L l 8), to the bit */
		{ { .peak = 12000000, .burst_rate = 1000000, .burst_len = 1 },
		  1500, 0 },
		{ { .peak = 11999999, .burst_rate = 1000000, .burst_len = 1 },
		  1500, -EINVAL },
		{ { .peak = 12000000, .burst_rate = 1000000 }, 1500, 0 },
		{ { .peak = 11999999, .burst_rate = 1000000 }, 1500, -EINVAL },
		{ { .peak = 12000000, .burst_rate = 10000, .burst_len = 100 },
		  1500, 0 },
		{ { .peak = 12000000, .burst_rate = 10000, .burst_len = 101 },
		  1500, -EINVAL },
		/* Where 64 bits do not hold the product: 2^32 * 2^16 * 2^16 */
		{ { .peak = 1000 * RATE_GBIT, .burst_rate = U32_MAX,
		    .burst_len = 65535 }, 65535, -EINVAL },
		{ { .peak = 1000 * RATE_GBIT, .burst_rate = U32_MAX,
		    .burst_len = 65535 }, 65537, -EINVAL },
		{ { .peak = 1000 * RATE_GBIT, .burst_rate = 125 << 24,
		    .burst_len = 32768 }, 1 << 25, -EINVAL },
		{ { .peak = 1000 * RATE_GBIT, .burst_rate = 0x80000000,
		    .burst_len = 1 }, 1U << 31, -EINVAL },
		{ { .peak = 1000 * RATE_GBIT, .burst_rate = U32_MAX,
		    .burst_len = 65535 }, U32_MAX, -EINVAL },
		{ { .peak = 1000 * RATE_GBIT, .burst_rate = U32_MAX },
		  U32_MAX, -EINVAL },
		{ { .peak = 1000 * RATE_GBIT, .burst_rate = U32_MAX }, 1514,
		  0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ_MSG(test, sstp_rate_check(&t[i].spec,
							  t[i].frame),
				    t[i].err, "row %u", i);
}

/* Any contract that is accepted can be kept: no overflow leads to another rate. */
static void rate_extremes(struct kunit *test)
{
	struct rate_sim *s = rate_sim(test);
	struct rnd_state *r = &s->rnd;
	u32 i, passed = 0;

	sstp_test_seed_rnd(test, r);
	for (i = 0; i < 200000; i++) {
		struct sstp_rate_spec spec = {
			.peak = sstp_rnd_u64(r) >> sstp_rnd_below(r, 64),
			.average = sstp_rnd_one_in(r, 2) ? 0 :
				   sstp_rnd_u64(r) >> sstp_rnd_below(r, 64),
			.burst_rate = sstp_rnd_one_in(r, 2) ? 0 :
				      sstp_rnd_edge(r),
			.burst_len = sstp_rnd_one_in(r, 2) ? 0 :
				     sstp_rnd_edge(r),
		};
		u64 next = 0;
		u32 n;

		s->frame = sstp_rnd_range(r, 60, 65635);
		if (sstp_rate_check(&spec, s->frame))
			continue;
		KUNIT_ASSERT_EQ(test, rate_set(s, &spec, sstp_rnd_edge(r),
					       sstp_rnd_edge(r)), 0);
		if (!spec.peak)
			continue;
		passed++;
		KUNIT_ASSERT_LE(test, s->r.spec.average, spec.peak);
		KUNIT_ASSERT_GE(test, s->r.spec.average, 1ULL);
		KUNIT_ASSERT_GE(test, s->r.burst_len, 1U);
		KUNIT_ASSERT_LE(test, s->r.burst_len, 65535U);
		KUNIT_ASSERT_GE(test, s->r.log->burst_ns, 1ULL);
		KUNIT_ASSERT_LE(test, s->r.log->burst_ns, 5000000ULL * NSEC_PER_SEC);
		KUNIT_ASSERT_GE(test, s->r.log->train_max, 1U);
		/* After the time of a burst, and of the largest packet at the lowest
		 * peak, a packet may always leave.
		 */
		s->now += 70ULL * NSEC_PER_SEC + s->r.log->burst_ns;
		n = sstp_rate_allow(&s->r, 64, s->frame, s->now, &next);
		KUNIT_ASSERT_GE(test, n, 1U);
		rate_reset(s);
		rate_ship(s, n, n * s->frame, s->frame);
	}
	KUNIT_EXPECT_GT(test, passed, 1000U);
}

/* Changes of a contract in force */
static void rate_live(struct kunit *test)
{
	struct sstp_rate_spec slow = { .peak = 8 * RATE_KBIT };
	struct sstp_rate_spec fast = { .peak = RATE_GBIT };
	struct rate_sim *s = rate_sim(test);
	struct sstp_rate_log *log;
	u64 begin;

	/* Faster at once: a packet took 1.5 s, but does not now. */
	KUNIT_ASSERT_EQ(test, rate_set(s, &slow, 1, 0), 0);
	rate_run(s, 1, 1514, s->now + 1);
	begin = s->now;
	KUNIT_ASSERT_EQ(test, rate_set(s, &fast, 1, 0), 0);
	rate_run(s, 10, 1514, begin + 10 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, s->packets, 11ULL);
	KUNIT_EXPECT_LE(test, s->now, begin + 2 * NSEC_PER_MSEC);

	/* Slower: packets of the last second count. */
	s->now += 2ULL * NSEC_PER_SEC;
	rate_reset(s);
	rate_run(s, 1000, 1514, s->now + NSEC_PER_SEC);
	begin = s->now;
	slow.peak = RATE_MBIT;
	KUNIT_ASSERT_EQ(test, rate_set(s, &slow, 1, 0), 0);
	rate_run(s, 1, 1514, begin + 3ULL * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->packets, 1001ULL);
	KUNIT_EXPECT_GE(test, s->now, begin + 980 * NSEC_PER_MSEC);

	/* Setting the same contract changes nothing. */
	log = s->r.log;
	begin = s->r.log->peak_next;
	KUNIT_ASSERT_EQ(test, rate_set(s, &slow, 1, 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, s->r.log, log);
	KUNIT_EXPECT_EQ(test, s->r.log->peak_next, begin);

	/* No contract: no state is kept. */
	slow.peak = 0;
	KUNIT_ASSERT_EQ(test, rate_set(s, &slow, 1, 0), 0);
	KUNIT_EXPECT_FALSE(test, sstp_rate_bound(&s->r));
	KUNIT_EXPECT_NULL(test, s->r.log);
	sstp_rate_sent(&s->r, 1, 1514, s->now);
	sstp_rate_free(&s->r);
}

/* A push takes the time once. What it calls may set a contract, at a later time: there is one burst
 * nevertheless, also if packets wait since a contract before.
 */
static void rate_back_set(struct kunit *test)
{
	/* 10 packets each 100 ms, at 1 Gbit/s */
	const struct sstp_rate_spec none = { }, spec = {
		.peak = RATE_GBIT, .average = 10 * RATE_MBIT,
		.burst_rate = 10000, .burst_len = 10,
	};
	struct rate_sim *s = rate_sim(test);
	u32 again;

	for (again = 0; again <= 1; again++) {
		u64 begin = s->now;

		rate_reset(s);
		KUNIT_ASSERT_EQ(test, rate_set(s, &none, 1, 0), 0);
		s->now += 1000;
		KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
		s->now = begin;
		rate_run(s, 1000, 1514, begin + 90 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ_MSG(test, s->packets, 10ULL, "contract %u", again);
		s->now += NSEC_PER_SEC;
	}
}

/* Trains of the last ms count, though the time goes back before they left. */
static void rate_back_trains(struct kunit *test)
{
	/* 12500 bytes in a ms, and a packet */
	const struct sstp_rate_spec spec = { .peak = 100 * RATE_MBIT, .burst_len = 1000 };
	struct rate_sim *s = rate_sim(test);
	u64 begin = s->now, next;

	KUNIT_ASSERT_EQ(test, rate_set(s, &spec, 1, 0), 0);
	/* Trains of five and three */
	KUNIT_ASSERT_EQ(test, rate_run(s, 8, 1514, begin + 200 * NSEC_PER_USEC), 0ULL);
	KUNIT_EXPECT_EQ(test, sstp_rate_allow(&s->r, 64, 1514, begin - 1, &next), 0U);
	KUNIT_EXPECT_GT(test, next, begin);
	KUNIT_EXPECT_EQ(test, sstp_rate_allow(&s->r, 64, 1514, begin + 600 * NSEC_PER_USEC, &next),
			1U);
}

static int rate_init(struct kunit *test)
{
	struct rate_sim *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	if (!s)
		return -ENOMEM;
	s->event = vzalloc(array_size(RATE_EVENTS, sizeof(*s->event)));
	if (!s->event)
		return -ENOMEM;
	s->test = test;
	s->frame = 1514;
	s->now = 12345678;
	rate_reset(s);
	sstp_rate_init(&s->r);
	test->priv = s;
	return 0;
}

static void rate_exit(struct kunit *test)
{
	struct rate_sim *s = rate_sim(test);

	if (!s)
		return;
	sstp_rate_free(&s->r);
	vfree(s->event);
}

static struct kunit_case rate_cases[] = {
	KUNIT_CASE(rate_checks),
	KUNIT_CASE(rate_extremes),
	KUNIT_CASE(rate_derived),
	KUNIT_CASE(rate_bursts),
	KUNIT_CASE(rate_leftover),
	KUNIT_CASE(rate_live),
	KUNIT_CASE(rate_back_set),
	KUNIT_CASE(rate_back_trains),
	KUNIT_CASE_SLOW(rate_random),
	KUNIT_CASE_SLOW(rate_late),
	KUNIT_CASE_SLOW(rate_throughput),
	KUNIT_CASE_SLOW(rate_trains),
	KUNIT_CASE_SLOW(rate_short_bursts),
	KUNIT_CASE_SLOW(rate_small),
	{ }
};

static struct kunit_suite rate_suite = {
	.name = "sstp_rate",
	.init = rate_init,
	.exit = rate_exit,
	.test_cases = rate_cases,
};

kunit_test_suite(rate_suite);
