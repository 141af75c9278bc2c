/* SPDX-License-Identifier: GPL-2.0 */
/* Ports: sockets that are bound to one, and listeners. */
#ifndef _SSTP_PORT_H
#define _SSTP_PORT_H

#include <linux/types.h>

struct net;
struct sock;
struct sstp_skb_in;

struct sock *sstp_listener_find(struct net *net, const struct sstp_skb_in *in, u16 port,
				u32 hash);
int sstp_port_init(void);
void sstp_port_exit(void);
int sstp_bind_port(struct sock *sk, u16 port);
int sstp_bind_connect(struct sock *sk);
int sstp_bind_child(struct sock *sk);
void sstp_unbind(struct sock *sk);
int sstp_bind_listen(struct sock *sk);
void sstp_bind_deaf(struct sock *sk);

#endif /* _SSTP_PORT_H */
