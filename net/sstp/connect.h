/* SPDX-License-Identifier: GPL-2.0 */
/* connect(): the program opens a connection, or with AF_UNSPEC abandons it. */
#ifndef _SSTP_CONNECT_H
#define _SSTP_CONNECT_H

#include "compat.h"

struct sock;
struct socket;

void sstp_disconnect(struct sock *sk);
int sstp_connect(struct socket *sock, struct sstp_sockaddr *uaddr, int len, int flags);

#endif /* _SSTP_CONNECT_H */
