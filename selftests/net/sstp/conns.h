/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of generic netlink: connections, and requests about them. */
#ifndef _SSTP_TEST_CONNS_H
#define _SSTP_TEST_CONNS_H

#include "lib.h"
#include "nl.h"

#define WAIT_MS		30000
#define SEGMENT		16384

/* Destination of requests unless another is given */
extern struct nl nl;

/* Two ends of a connection over lo, and their listener */
struct conn {
	int listener, tx, rx;
	union addr at;
};

int listen_at(int family, int type, union addr *at);
/* conn_open() makes listener and ends, conn_connect() the ends. */
void conn_open(struct conn *c, int family, int type);
void conn_connect(struct conn *c, int family, int type);
void conn_close(struct conn *c);
/* Move @bytes from one end to the other, in pieces that always fit. */
void conn_move(struct conn *c, size_t bytes);

/* Threads that open and close connections over IPv4; @moves: and transfer data */
void churn_start(bool moves);
/* How many came and went */
long churn_end(void);

uint64_t cookie(int fd);

/* A copy of the last connection that came, and how many have */
struct seen {
	char attrs[8192];
	struct nl_message m;
	int count;
};

/* Attributes of a request; ARGS() makes a list of them. */
struct arg {
	uint16_t type, len;
	const void *data;
	const struct arg *in;		/* what is nested in it */
};

#define ARGS(...)	((const struct arg[]){ __VA_ARGS__ __VA_OPT__(,) {} })
#define RAW(t, p, n)	{ .type = (t), .data = (p), .len = (n) }
#define NUMBER(t, T, v)	RAW(t, &(const T){ v }, sizeof(T))
#define U16(t, v)	NUMBER(t, uint16_t, v)
#define U32(t, v)	NUMBER(t, uint32_t, v)
#define U64(t, v)	NUMBER(t, uint64_t, v)
#define TEXT(t, s)	RAW(t, s, strlen(s) + 1)
#define NEST(t, ...)	{ .type = (t), .in = ARGS(__VA_ARGS__) }
#define CONTROL(name)	TEXT(SSTP_A_CONN_CONTROLLER, name)
#define PEAK(v)		NEST(SSTP_A_CONN_RATE, U64(SSTP_A_RATE_PEAK, v))

/* Receive one message into @s, if it is not NULL; returns 0 or -errno. */
int ask(struct nl *n, uint8_t cmd, uint16_t flags, const struct arg *a, struct seen *s);
int get_by_cookie(struct nl *n, uint64_t value, struct seen *s);
/* A socket that must be there; the next call overwrites it. */
struct seen *get(int fd);
/* The number of connections, or -errno */
int dump(const struct arg *a, struct seen *s);
/* End the socket with cookie @whose; returns 0 or -errno. */
int change(uint64_t whose, const struct arg *a);
struct sstp_rate_spec rate_of(const struct nl_message *m, uint16_t type);

#endif /* _SSTP_TEST_CONNS_H */
