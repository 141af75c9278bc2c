/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the packets of a flow wait in queues, and whether a queue loses them or the path does.
 * Told by the round-trip times and the losses that reports bring: pure mechanism.
 *
 * A queue loses packets in round trips in which packets wait; a path loses them whether they wait
 * or not. Round trips are counted by both, and so are reports where a link delivers in bursts, so
 * that packets wait in each round trip, with or without a queue.
 */
#ifndef _SSTP_WAITS_H
#define _SSTP_WAITS_H

#include <linux/types.h>
#include <net/sstp.h>

#define SSTP_WAITS_MEMORY	10000U	/* ms that what was seen is valid */
#define SSTP_WAITS_EXPECTED	8	/* round trips that tell by what packets are lost */
#define SSTP_WAITS_BURSTS	4	/* round trips that tell if a link delivers in bursts */
#define SSTP_WAITS_LITTLE	2	/* losses with little waiting that tell of the path's */
#define SSTP_WAITS_RARE		8	/* packets wait little once in so many times at least */
#define SSTP_WAITS_ALIKE	4	/* times by which shares of lost packets may differ */
#define SSTP_WAITS_TOLD		32	/* reports of losses that tell by what packets are lost */

/**
 * struct sstp_waits_tally - what was seen without and with a queue
 * @all: how often
 * @lossy: how often packets were lost then
 */
struct sstp_waits_tally {
	u16	all[2];
	u16	lossy[2];
};

/**
 * struct sstp_waits - round-trip times and losses of a flow
 * @base: lowest round-trip times, us, since @base_ms and of the time before; U32_MAX = none
 * @base_ms: ms
 * @least: lowest round-trip time of this round trip and of the last, us; U32_MAX = none
 * @most: the highest, us
 * @lost: packets reported lost in this round trip
 * @delivered: packets reported delivered in it
 * @rounds: recent round trips that the user counts, by whether a packet of theirs has waited
 * @uneven: round trips in which packets have waited for unlike times, by whether all have waited;
 *	those that a cut has ended are among them
 * @reports: reports in such round trips, by whether their packets have waited as long as most
 */
struct sstp_waits {
	u32	base[2];
	u32	base_ms;
	u32	least[2];
	u32	most[2];
	u32	lost;
	u32	delivered;
	struct sstp_waits_tally rounds;
	struct sstp_waits_tally uneven;
	struct sstp_waits_tally reports;
};

/* Begin at @ms with a lowest round-trip time of @rtt us, U32_MAX = none. */
void sstp_waits_init(struct sstp_waits *w, u32 rtt, u32 ms);
/* Take a report that comes at @ms. @steady: neither slow start nor a probe moves the round-trip
 * times apart.
 */
void sstp_waits_report(struct sstp_waits *w, const struct sstp_ctrl_sample *s, u32 ms,
		       bool steady);
/* Count a round trip that is over. Leave out those of probes, and of slow start, whose first ones
 * have few packets: a path that loses some seldom loses one of those. Leave out round trips with
 * many losses, as those of a single overflow may come for several.
 */
void sstp_waits_count_round(struct sstp_waits *w);
/* Begin a round trip. */
void sstp_waits_round(struct sstp_waits *w, bool steady);
/* Begin a round trip after the window was cut: what was seen before is no sign of its effect. */
void sstp_waits_cut(struct sstp_waits *w, bool steady);
/* The path has become longer: its round-trip time is @rtt us. */
void sstp_waits_longer(struct sstp_waits *w, u32 rtt, u32 ms);

/* Lowest round-trip time of late, us; U32_MAX = none */
u32 sstp_waits_base(const struct sstp_waits *w);
/* Lowest and highest round-trip time of this round trip and the last, us; U32_MAX and 0 = none */
u32 sstp_waits_least(const struct sstp_waits *w);
u32 sstp_waits_most(const struct sstp_waits *w);
/* Time that a packet with a round-trip time of @rtt has waited in queues, us */
u32 sstp_waits_time(const struct sstp_waits *w, u32 rtt);
/* A wait of less than this, us, is no queue: packets leave, and times are measured, unevenly. */
u32 sstp_waits_small(const struct sstp_waits *w);
/* Has a packet with a round-trip time of @rtt waited in a queue? */
bool sstp_waits_queued(const struct sstp_waits *w, u32 rtt);
/* Does a round-trip time of @rtt show that packets wait for @us at least, and that @own packets of
 * this flow, which has @cwnd in flight, are among them?
 */
bool sstp_waits_holds(const struct sstp_waits *w, u32 cwnd, u32 rtt, u32 us, u32 own);
/* Does a queue lose most of the packets that are lost? */
bool sstp_waits_queue_loses(const struct sstp_waits *w);
/* Does the link seem to deliver in bursts, and have so few losses come that they do not tell yet
 * whether the path loses packets?
 */
bool sstp_waits_unsure(const struct sstp_waits *w);
/* Does a link that delivers in bursts lose packets, whatever waits? */
bool sstp_waits_path_loses(const struct sstp_waits *w);

#endif /* _SSTP_WAITS_H */
