/* SPDX-License-Identifier: GPL-2.0 */
/* bind(): the address and the port of this end. */
#ifndef _SSTP_BIND_H
#define _SSTP_BIND_H

#include "compat.h"

struct socket;

int sstp_bind(struct socket *sock, struct sstp_sockaddr *uaddr, int len);

#endif /* _SSTP_BIND_H */
