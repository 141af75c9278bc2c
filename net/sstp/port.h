/* SPDX-License-Identifier: GPL-2.0 */
/* Ports: sockets that are bound to one, and listeners. */
#ifndef _SSTP_PORT_H
#define _SSTP_PORT_H

#include <linux/in6.h>
#include <linux/rhashtable.h>
#include <linux/types.h>

struct net;
struct sock;
struct sstp_claims;
struct sstp_port;
struct sstp_skb_in;

/* Address and port of a listener; key of the table of listeners */
struct sstp_listen_key {
	struct net	*net;
	struct in6_addr	addr;		/* IPv4 mapped; :: = any */
	u32		port;
	u32		zero;
};

/**
 * struct sstp_binding - the port that a socket has
 * @port: the port; NULL = none
 * @group: sockets that have the same claim on the port, by connect() or as children of a
 *	listener; NULL = none, or the socket got the port by bind() or listen()
 * @listen_key: key in the table of listeners
 * @listen_node: in the table of listeners
 * @bound: the socket has a port, sstp_ident.sport
 * @no_port: IP_BIND_ADDRESS_NO_PORT
 * @unlistened: the socket was a listener: lookups under RCU may still be at @listen_node
 *
 * Socket lock; @port, @group, @bound and the places in tables change under
 * sstp_net.port_lock as well.
 */
struct sstp_binding {
	struct sstp_port *port;
	struct sstp_claims *group;
	struct sstp_listen_key listen_key;
	struct rhlist_head listen_node;
	bool		bound;
	bool		no_port;
	bool		unlistened;
};

struct sock *sstp_listener_find(struct net *net, const struct sstp_skb_in *in, u16 port,
				u32 hash);
int sstp_port_init(void);
void sstp_port_exit(void);
int sstp_bind_port(struct sock *sk, u16 port);
int sstp_bind_connect(struct sock *sk);
int sstp_bind_child(struct sock *sk);
void sstp_unbind(struct sock *sk);
int sstp_bind_listen(struct sock *sk);
void sstp_bind_unlisten(struct sock *sk);

#endif /* _SSTP_PORT_H */
