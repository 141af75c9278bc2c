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
	/* Programs: @BACK is what B sends to A, @SIZE what A sends to B. */
	TYPE, V6, CONNS, SIZE, BACK, WRITE, WVARY, WMODE, RMODE, MORE, NODELAY,
	WPAUSE, READ, RPAUSE, RLATE, WAITALL, PEEK, LOWAT, CLOSE, EARLY,
	/* Their sockets */
	SEG, SNDBUF, RCVBUF, FACTOR, CLAMP, SOFT, TOLERANCE, POOL, STATIC, EPOCH,
	CEILING, PEAK, AVERAGE, BURSTS, BURST, BPEAK, NEWRENO, LIMIT,
	/* Memory */
	MEM, RMEM, WMEM,
	/* The path */
	RATE, RTT, JITTER, QUEUE, LOSS, BAD, GOOD, DUP, CORRUPT, REORDER, GAP, ONEWAY,
	OUTAGE, OUTLEN, MTU, MTUAT, MTUTO, MTULEN, BLIND, TCP, TCPAT,
	/* What chance begins with: content, lengths, losses */
	SEED,
	KEYS
};

enum { WAIT_BLOCK, WAIT_POLL, WAIT_NAP, WAIT_EDGE };

struct chaos {
	uint64_t v[KEYS];
};

/* The case number @n of those that @seed makes; @without: keys, by comma, that it
 * leaves as they are in the plainest case
 */
void chaos_draw(struct chaos *c, uint64_t seed, uint64_t n, const char *without);
/* False, with a complaint, if @text is no case */
bool chaos_parse(struct chaos *c, const char *text);
/* Into a static buffer */
const char *chaos_text(const struct chaos *c);
/* Length of the write at @pos of a direction of @total bytes, content @seed */
uint32_t chaos_write(const struct chaos *c, uint64_t seed, uint64_t pos,
		     uint64_t total);
/* In simulated time, ns: by when all of it must have happened */
uint64_t chaos_bound(const struct chaos *c);
/* ... and how long at most nothing may arrive at a program that wants to read what
 * another has sent
 */
uint64_t chaos_silence(const struct chaos *c);
/* As few keys as possible, of as plain values as possible, with which @fails() */
void chaos_minimise(struct chaos *c, bool (*fails)(const struct chaos *c));

/* chaos_net.c: the path of path.h, which it makes */
void chaos_net_make(void);
/* An outage has ended, also if the case is over sooner. */
void chaos_net_heal(const struct chaos *c);
void chaos_net_remake(void);			/* before the next case */
void chaos_net_mem(const struct chaos *c);	/* net.sstp.*mem */
void chaos_net_start(const struct chaos *c);
/* What is due by @ns after the start; returns when the next is, or UINT64_MAX */
uint64_t chaos_net_event(const struct chaos *c, uint64_t ns);

/* chaos_flow.c: NULL, or what was wrong, in a static buffer */
const char *chaos_run(const struct chaos *c, bool tell);

#endif /* _SSTP_TEST_CHAOS_H */
