/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzzers and the stress test share: options, chance, the end. */
#ifndef _SSTP_TEST_FUZZ_H
#define _SSTP_TEST_FUZZ_H

#include "lib.h"

struct rng {
	uint64_t state;
};

uint64_t rnd(struct rng *r);
uint32_t below(struct rng *r, uint32_t n);	/* 0 to n - 1 */
bool chance(struct rng *r, unsigned int percent);
/* Numbers that go wrong more often than others */
uint32_t odd_number(struct rng *r);

struct fuzz {
	unsigned int seconds;		/* to run for */
	uint64_t seed;
	uint64_t end;			/* ns: when to stop */
};

/* Reads -T, -S and -h, says the seed, plans @tests results. */
void fuzz_start(struct fuzz *f, int argc, char **argv, unsigned int seconds,
		unsigned int tests);
/* This thread enters a network namespace of its own, where loopback is up and
 * what is closed, or has no answer, does not wait long.
 */
void fuzz_namespace(void);
void fuzz_set(const char *name, const char *value);	/* net.sstp.* here */
/* Two such namespaces and a link "v" between them, which delays and loses:
 * 10.0.0.1 and fd00::1, 10.0.0.2 and fd00::2. The caller is in the first.
 */
void fuzz_pair(int ns[2], unsigned int delay_us, unsigned int loss_percent);
/* A result: a connection as any program makes it works. */
void fuzz_works(void);
/* Three results: all sockets of all namespaces are gone, what was charged for
 * them, and what the kernel had for itself.
 */
void fuzz_end(void);

#endif /* _SSTP_TEST_FUZZ_H */
