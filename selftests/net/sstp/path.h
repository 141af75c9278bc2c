/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests in C: two hosts and a router between them, each a network namespace
 * that this process enters by turns, so that it holds both ends of a connection.
 *
 *   +-----+ 10.0.1.0/24      +-----+      10.0.2.0/24 +-----+
 *   |  A  | .1            .2 |  R  | .1            .2 |  B  |
 *   +-----+ fd00:10:0:1::/64 +-----+ fd00:10:0:2::/64 +-----+
 *
 * Devices are named by where they lead: to-r at A and B, to-a and to-b at R.
 * Segmentation offloads are off, so that each packet is lost for itself.
 */
#ifndef _SSTP_TEST_PATH_H
#define _SSTP_TEST_PATH_H

#include <poll.h>

#include "lib.h"

enum { A, R, B };

void path_make(void);
void path_enter(int host);
/* A command at a host, which must succeed */
void path_run(int host, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Arguments of netem toward a host; NULL = a clean path */
void path_impair(int to, const char *netem);
/* Packets that the path has dropped in both directions since path_impair() */
long path_dropped(void);
/* A counter of /proc/net/sstp_snmp at a host; it must exist. */
long path_counter(int host, const char *name);
/* Sockets of SSTP at a host, those that are closing included */
long path_sockets(int host);
/* Wait until A and B have no sockets: closed ones may still have to exchange packets. */
bool path_settle(void);

/* A nonblocking socket at A or B */
int path_socket(int host, int type);
/* Connect @fd at A to @listener at B, over IPv4 or 6. Returns the other end, non-blocking; the
 * listener is closed.
 */
int path_connect(int fd, int listener, int family);
/* Wait up to @ms for @events; returns those that occurred. */
short path_poll(int fd, short events, int ms);
/* Connects a socket that does not block, and waits: 0, or the errno that it ends with. */
int path_try(int fd, const union addr *to);

#endif /* _SSTP_TEST_PATH_H */
