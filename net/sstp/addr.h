/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of a program: those that it gives, and those that it asks for. */
#ifndef _SSTP_ADDR_H
#define _SSTP_ADDR_H

#include <linux/in6.h>
#include <linux/types.h>
#include "compat.h"

struct sockaddr;
struct socket;
struct sstp_ident;

/* An address that the program gave: IPv4 mapped if it is one, and its port */
struct sstp_where {
	struct in6_addr addr;
	u32	scope;
	u16	port;
};

int sstp_get_addr(const struct sstp_ident *id, const struct sstp_sockaddr *uaddr, int len,
		  struct sstp_where *w, bool local);
void sstp_forget_family(struct sstp_ident *id);
int sstp_getname(struct socket *sock, struct sockaddr *uaddr, int peer);

#endif /* _SSTP_ADDR_H */
