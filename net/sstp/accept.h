/* SPDX-License-Identifier: GPL-2.0 */
/* listen() and accept(): the calls of a program that owns a listener */
#ifndef _SSTP_ACCEPT_H
#define _SSTP_ACCEPT_H

struct socket;

int sstp_listen(struct socket *sock, int backlog);
int sstp_accept(struct socket *sock, struct socket *newsock, int flags);

#endif /* _SSTP_ACCEPT_H */
