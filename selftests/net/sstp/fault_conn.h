/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that make things fail: a connection that goes as far as it is told. */
#ifndef _SSTP_TEST_FAULT_CONN_H
#define _SSTP_TEST_FAULT_CONN_H

#include "lib.h"

#define WAIT_MS		20000
#define LEN		100000		/* of a transfer, and of a call that sends */

struct way {
	uint64_t seed, sent, got;
};

/* A listener, who connects to it, and what it accepts */
struct conn {
	enum proto proto;
	int family, type;
	int l, a, b;
	union addr to;			/* where @l is */
	struct way ab, ba;
};

/* How far it is */
enum stage { NOTHING, SOCKET, BOUND, LISTENING, PENDING, CONNECTED };

/* What is sent and what came, always in memory */
extern char conn_out[LEN], conn_in[LEN];

/* No page of the program will be missing: that would be an allocation, too. */
void conn_lock_memory(void);
/* What does not hold: a diagnostic line, and all_held is false. */
__attribute__((format(printf, 1, 2))) void bad(const char *fmt, ...);

/* One without sockets */
void conn_init(struct conn *c, enum proto proto, int family, int type);
/* What is missing for @stage; false with errno if that fails. */
bool conn_reach(struct conn *c, enum stage stage);
void conn_leave(struct conn *c);
long conn_socket(struct conn *c);
long conn_listen(struct conn *c);
long conn_connect(struct conn *c);
long conn_accept(struct conn *c);

/* One call, of @len bytes at most */
ssize_t way_push(int fd, struct way *w, size_t len, int flags);
ssize_t way_pull(int fd, struct way *w, int flags);
/* Until all that was sent is here; else it is bad(), as is all below. */
bool way_drain(int fd, struct way *w);
bool conn_transfer(struct conn *c);
void conn_ended(int fd);
/* For busywait(): no socket is left, and no memory of one */
bool conns_gone(void *arg);

#endif /* _SSTP_TEST_FAULT_CONN_H */
