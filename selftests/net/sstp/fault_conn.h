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

/* A listener, a client, and the accepted socket */
struct conn {
	enum proto proto;
	int family, type;
	int l, a, b;
	union addr to;			/* where @l is */
	struct way ab, ba;
};

/* How far it is */
enum stage { NOTHING, SOCKET, BOUND, LISTENING, PENDING, CONNECTED };

/* Buffers for sending and receiving, locked in memory */
extern char conn_out[LEN], conn_in[LEN];

/* Lock all pages of the program, as a page fault would be an allocation, too. */
void conn_lock_memory(void);
/* Print a diagnostic line for a failed check, and clear all_held. */
__attribute__((format(printf, 1, 2))) void bad(const char *fmt, ...);

/* One without sockets */
void conn_init(struct conn *c, enum proto proto, int family, int type);
/* Open the sockets that @stage needs; returns false, with errno, if that fails. */
bool conn_reach(struct conn *c, enum stage stage);
void conn_leave(struct conn *c);
long conn_socket(struct conn *c);
long conn_listen(struct conn *c);
long conn_connect(struct conn *c);
long conn_accept(struct conn *c);

/* Send or receive by one call, of @len bytes at most. */
ssize_t way_push(int fd, struct way *w, size_t len, int flags);
ssize_t way_pull(int fd, struct way *w, int flags);
/* Receive until all sent data is there; this and the functions below call bad() on failure. */
bool way_drain(int fd, struct way *w);
bool conn_transfer(struct conn *c);
void conn_ended(int fd);
/* For busywait(): no socket is left, and no memory of one */
bool conns_gone(void *arg);

#endif /* _SSTP_TEST_FAULT_CONN_H */
