/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measurements of the path at the receiver, for the policy of its buffer: queueing delay, capacity,
 * losses and the delay at which they happened. Pure mechanism: no socket, no clock.
 */
#ifndef _SSTP_GAUGE_H
#define _SSTP_GAUGE_H

#include <net/sstp.h>
#include "owd.h"
#include "spread.h"

#define SSTP_GAUGE_RTT_GAP	(10 * NSEC_PER_MSEC)	/* ns between requests, at least */

/**
 * struct sstp_gauge - measurements of a connection
 * @owd: lowest one-way delay
 * @spread: capacity
 * @since: payload that had come when the measurements began, bytes
 * @last: when the last packets came, ns; 0 = none yet
 * @asked: when this end last asked for a report, ns; 0 = never
 * @segment: bytes of a large segment of late; 0 = none came yet
 * @most: bytes that segments should have at most, as the peer is told; 0 = it never was
 * @packet: bytes of payload in a packet, the most of the epoch
 * @queue: lowest queueing delay of the epoch, us; valid if @timed
 * @queue_most: highest
 * @gaps: packets skipped in the epoch, which are lost or late
 * @gap_queue: sum of the queueing delays when they were skipped, us
 * @lost: packets that were lost up to the beginning of the epoch, modulo 2^32
 * @pause: longest time without packets in the epoch, ns
 * @unanswered: requests of the epoch without an answer
 * @seen: measurements of the last epoch
 * @waits: the last request has no answer yet
 * @timed: @queue was measured
 * @counted: @lost is valid: an epoch has ended
 * @news: the capacity has become known in the epoch
 */
struct sstp_gauge {
	struct sstp_owd owd;
	struct sstp_spread spread;
	u64	since;
	u64	last;
	u64	asked;
	u32	segment;
	u32	most;
	u32	packet;
	u32	queue;
	u32	queue_most;
	u32	gaps;
	u64	gap_queue;
	u32	lost;
	u64	pause;
	u32	unanswered;
	struct sstp_rbuf_seen seen;
	bool	waits;
	bool	timed;
	bool	counted;
	bool	news;
};

/**
 * struct sstp_gauge_packets - packets of one segment that came at once
 * @now: when they came, ns
 * @stamp: when the first left, us, by the sender's clock
 * @packets: how many
 * @bytes: of payload
 * @gap: shipments skipped before them
 * @again: retransmissions
 */
struct sstp_gauge_packets {
	u64	now;
	u32	stamp;
	u32	packets;
	u32	bytes;
	u32	gap;
	bool	again;
};

/**
 * struct sstp_gauge_epoch - what others know at the end of an epoch
 * @now: ns
 * @elapsed: ns since its beginning, not 0
 * @bytes: of payload that came in it
 * @lost: packets that the path has lost since the set-up, modulo 2^32
 * @rtt: last round-trip time, us; 0 = none
 * @granted: segments that the peer may ship beyond those that this end has accepted
 */
struct sstp_gauge_epoch {
	u64	now;
	u64	elapsed;
	u64	bytes;
	u32	lost;
	u32	rtt;
	u32	granted;
};

/* @bytes: of payload that have come */
void sstp_gauge_init(struct sstp_gauge *m, u64 bytes);
void sstp_gauge_packets(struct sstp_gauge *m, const struct sstp_gauge_packets *p);
/* A segment of @len bytes was accepted. @guess: bytes of one as set-up has it. Large ones count, as
 * a window for many small segments would hold far too much if large ones follow, like those of a
 * file after its name; small ones alone count after some tens of them, or sooner if the peer was
 * asked for such.
 */
static inline void sstp_gauge_segment(struct sstp_gauge *m, u32 len, u32 guess)
{
	u32 was = m->segment ?: guess, part = m->most && was > m->most ? 4 : 16;

	m->segment = max3(was - was / part, len, 1U);
}

/* Is it time to ask for a report, by which the round-trip time is measured? It is once in two
 * round-trip times (@rtt, us), and in SSTP_GAUGE_RTT_GAP. If so, this counts as the request.
 */
bool sstp_gauge_ask(struct sstp_gauge *m, u64 now, u32 rtt);
/* A report came. */
static inline void sstp_gauge_answered(struct sstp_gauge *m)
{
	m->waits = false;
}

/* An epoch ended: fill in @seen, and begin the next epoch. */
void sstp_gauge_end(struct sstp_gauge *m, const struct sstp_gauge_epoch *e);
/* The window is of @bytes, or not bounded (0). Bound segments, as it moves by whole ones. */
void sstp_gauge_bound(struct sstp_gauge *m, u32 bytes);
/* Segments that hold @bytes, and up to two more: the window moves by whole segments, so one that
 * has come in part keeps its place. @guess: bytes of a segment, while none has come
 */
u32 sstp_gauge_segments(const struct sstp_gauge *m, u32 bytes, u32 guess);

#endif /* _SSTP_GAUGE_H */
