/* SPDX-License-Identifier: GPL-2.0 */
/* Encapsulation in UDP: UDP sockets, routes, transmission and reception of trains */
#ifndef _SSTP_ENCAP_H
#define _SSTP_ENCAP_H

#include <linux/types.h>

struct dst_entry;
struct net;
struct proto;
struct sk_buff;
struct sock;

/**
 * struct sstp_encap_ops - the layer above, called in softirq
 * @rcv: handle a packet or train that UDP socket @usk has received, with its struct
 *	sstp_skb_in; consumes @skb
 * @icmp: handle ICMP error @err, an errno; @skb holds the packet that the error quotes
 */
struct sstp_encap_ops {
	void (*rcv)(struct sock *usk, struct sk_buff *skb);
	void (*icmp)(struct sock *usk, struct sk_buff *skb, int err);
};

int sstp_encap_init(const struct sstp_encap_ops *above);
void sstp_encap_exit(void);
int sstp_encap_open(struct sock *sk);
void sstp_encap_close(struct net *net);
int sstp_encap_move(struct net *net, struct proto *prot, int port);
int sstp_encap_client(struct sock *sk, bool v6, __be16 *port);
void sstp_encap_leave(struct sock *sk);
int sstp_encap_route(struct sock *sk);
struct dst_entry *sstp_encap_dst(struct sock *sk);
int sstp_encap_xmit(struct sock *sk, struct sk_buff *skb, bool fragment, u8 ecn);
void sstp_encap_reply(struct sock *usk, const struct sk_buff *cause,
		      const void *data, u32 len);

#endif /* _SSTP_ENCAP_H */
