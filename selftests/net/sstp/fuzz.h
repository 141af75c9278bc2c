/* SPDX-License-Identifier: GPL-2.0 */
/* Options, random numbers and final checks of the fuzzers and the stress test */
#ifndef _SSTP_TEST_FUZZ_H
#define _SSTP_TEST_FUZZ_H

#include "lib.h"

struct rng {
	uint64_t state;
};

uint64_t rnd(struct rng *r);
uint32_t below(struct rng *r, uint32_t n);	/* 0 to n - 1 */
bool chance(struct rng *r, unsigned int percent);
/* Numbers that are more often mishandled than others */
uint32_t odd_number(struct rng *r);

struct fuzz {
	unsigned int seconds;		/* to run for */
	uint64_t seed;
	uint64_t end;			/* ns: when to stop */
};

/* Parse -T, -S and -h, print the seed, plan @tests results. */
void fuzz_start(struct fuzz *f, int argc, char **argv, unsigned int seconds,
		unsigned int tests);
/* Enter a new network namespace, with loopback up and short time-outs for closed and unanswered
 * connections.
 */
void fuzz_namespace(void);
void fuzz_set(const char *name, const char *value);	/* net.sstp.* here */
/* Load the modules of controllers that were built. They use sstp.ko, so all of them must be
 * unloaded before fuzz_end(), when no socket has such a controller any more.
 */
void fuzz_load(void);
void fuzz_unload(void);
/* The name of a controller in sstp.ko, or in one of these modules */
const char *fuzz_controller(struct rng *r);
/* Two such namespaces and a link "v" between them with delay and loss: 10.0.0.1 and fd00::1,
 * 10.0.0.2 and fd00::2. The caller is in the first.
 */
void fuzz_pair(int ns[2], unsigned int delay_us, unsigned int loss_percent);
/* A result: a connection as any program makes it works. */
void fuzz_works(void);
/* Three results: all sockets of all namespaces are gone, their charged memory, and the memory of
 * the kernel.
 */
void fuzz_end(void);

#endif /* _SSTP_TEST_FUZZ_H */
