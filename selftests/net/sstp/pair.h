/* SPDX-License-Identifier: GPL-2.0 */
/* For tests in C: both ends of a connection, in one process. */
#ifndef _SSTP_TEST_PAIR_H
#define _SSTP_TEST_PAIR_H

#include "lib.h"

#define WAIT_MS		20000		/* for what must happen */

/* @rx is non-blocking; content is a function of @seed and the position */
struct pair {
	int tx, rx;
	uint64_t seed, sent, got;
};

int new_socket(int type);

/* @listener is not bound yet, and is closed in the end. */
void pair_connect(struct pair *p, int listener);
void pair_open(struct pair *p);
void pair_close(struct pair *p);
/* Write while there is room, up to byte @to. */
void pair_fill(struct pair *p, uint64_t to);
/* Read up to @most bytes that are there; returns false if there are none. */
bool pair_read(struct pair *p, size_t most);
/* All that was written? Reads what there is. */
bool all_read(void *pair);
/* Data is sent in both directions. */
void pair_exchange(struct pair *p);

/* Wait until the limit of the receive buffer is this large. */
void must_become(const char *what, int fd, uint32_t bytes);

#endif /* _SSTP_TEST_PAIR_H */
