/* SPDX-License-Identifier: GPL-2.0 */
/* Ports: sockets that are bound to one. */
#ifndef _SSTP_PORT_H
#define _SSTP_PORT_H

#include <linux/list.h>
#include <linux/types.h>

struct sock;
struct sstp_claims;
struct sstp_port;

/**
 * struct sstp_binding - the port that a socket has
 * @port: the port; NULL = none
 * @group: sockets that have the same claim on the port, by connect() or as children of a
 *	listener; NULL = none, or the socket got the port by bind() or listen()
 * @bound: the socket has a port, sstp_ident.sport
 * @no_port: IP_BIND_ADDRESS_NO_PORT
 *
 * Socket lock; @port, @group, @bound and the places in tables change under
 * sstp_net.port_lock as well.
 */
struct sstp_binding {
	struct sstp_port *port;
	struct sstp_claims *group;
	bool		bound;
	bool		no_port;
};

int sstp_port_init(void);
void sstp_port_exit(void);
int sstp_bind_port(struct sock *sk, u16 port);
int sstp_bind_connect(struct sock *sk);
int sstp_bind_child(struct sock *sk);
void sstp_unbind(struct sock *sk);
int sstp_bind_listen(struct sock *sk);
void sstp_bind_unlisten(struct sock *sk);
void sstp_bind_rehash(struct sock *sk);

#endif /* _SSTP_PORT_H */
