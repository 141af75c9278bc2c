/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cases of the chaos test: two programs, what they ask of their sockets, and what
 * the path between them does. A case is numbers by name, and a line of text names
 * those that differ from the plainest case.
 */
#ifndef _SSTP_TEST_CHAOS_H
#define _SSTP_TEST_CHAOS_H

#include "lib.h"

enum chaos_key {
	/* B sends @BACK bytes to A, A sends @SIZE bytes to B. */
	TYPE, V6, CONNS, SIZE, BACK, WRITE, WVARY, WMODE, RMODE, MORE, NODELAY,
	WPAUSE, READ, RPAUSE, RLATE, WAITALL, PEEK, LOWAT, CLOSE, EARLY,
	/* Their sockets */
	SEG, SNDBUF, RCVBUF, FACTOR, CLAMP, SOFT, TOLERANCE, POOL, STATIC, EPOCH,
	CEILING, PEAK, AVERAGE, BURSTS, BURST, BPEAK, NEWRENO, LIMIT,
	/* Memory */
	MEM, RMEM, WMEM,
	/* The path */
	RATE, RTT, JITTER, QUEUE, LOSS, BAD, GOOD, DUP, CORRUPT, REORDER, GAP, ONEWAY,
	OUTAGE, OUTLEN, MTU, MTUAT, MTUTO, MTULEN, BLIND, TCP, TCPAT, ECN,
	/* Seeds of random numbers for content, lengths, losses */
	SEED,
	KEYS
};

enum { WAIT_BLOCK, WAIT_POLL, WAIT_NAP, WAIT_EDGE };

struct chaos {
	uint64_t v[KEYS];
};

/* Case number @n of a seed; @without: comma-separated keys that keep their values of the plainest
 * case
 */
void chaos_draw(struct chaos *c, uint64_t seed, uint64_t n, const char *without);
/* Parse a case; prints an error and returns false if @text is invalid. */
bool chaos_parse(struct chaos *c, const char *text);
/* Into a static buffer */
const char *chaos_text(const struct chaos *c);
/* Length of the write at @pos of a direction of @total bytes, content @seed */
uint32_t chaos_write(const struct chaos *c, uint64_t seed, uint64_t pos,
		     uint64_t total);
/* Time limit of the whole case, in simulated ns */
uint64_t chaos_bound(const struct chaos *c);
/* ... and of silence at a program that waits for data of the other end */
uint64_t chaos_silence(const struct chaos *c);
/* Shrink the case to few keys with plain values with which @fails() still holds. */
void chaos_minimise(struct chaos *c, bool (*fails)(const struct chaos *c));

/* chaos_net.c: the path of path.h, which it makes */
void chaos_net_make(void);
/* An outage has ended, also if the case is over sooner. */
void chaos_net_heal(const struct chaos *c);
void chaos_net_remake(void);			/* before the next case */
void chaos_net_mem(const struct chaos *c);	/* net.sstp.*mem, and ecn */
void chaos_net_start(const struct chaos *c);
/* Apply changes that are due by @ns after the start; returns the next time, or UINT64_MAX. */
uint64_t chaos_net_event(const struct chaos *c, uint64_t ns);

/* chaos_flow.c: run a case; returns NULL, or the failure in a static buffer */
const char *chaos_run(const struct chaos *c, bool tell);

#endif /* _SSTP_TEST_CHAOS_H */
