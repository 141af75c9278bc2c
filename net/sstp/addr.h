/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses in socket calls: those of bind() and connect(), getsockname() and getpeername() */
#ifndef _SSTP_ADDR_H
#define _SSTP_ADDR_H

#include <linux/in6.h>
#include <linux/types.h>
#include "compat.h"

struct sockaddr;
struct socket;
struct sstp_ident;

/* Address and port that a program passed */
struct sstp_where {
	struct in6_addr addr;		/* IPv4 mapped */
	u32	scope;			/* interface of a link-local address, or 0 */
	u16	port;
};

int sstp_get_addr(const struct sstp_ident *id, const struct sstp_sockaddr *uaddr, int len,
		  struct sstp_where *w, bool local);
void sstp_forget_family(struct sstp_ident *id);
int sstp_getname(struct socket *sock, struct sockaddr *uaddr, int peer);

#endif /* _SSTP_ADDR_H */
