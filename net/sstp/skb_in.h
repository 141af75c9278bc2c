/* SPDX-License-Identifier: GPL-2.0 */
/* Notes about a packet, from UDP up to its place. */
#ifndef _SSTP_SKB_IN_H
#define _SSTP_SKB_IN_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/inet_sock.h>

/**
 * struct sstp_skb_in - control block of a packet from UDP up to its place
 * @saddr: where it came from, IPv4 mapped
 * @daddr: where it went
 * @sport: UDP port that it came from
 * @size: bytes of every packet in it but the last
 * @why: enum sstp_mib_id: packets of it were discarded, 0 = none. What the window
 *	notes, struct sstp_rcb, does not reach as far
 * @dif: index of the device that it came in through; of the VRF's, if that was one of a
 *	VRF
 * @sdif: which one of the VRF that was; 0 = there is no VRF
 */
struct sstp_skb_in {
	struct in6_addr saddr;
	struct in6_addr daddr;
	__be16	sport;
	u16	size;
	u8	why;
	int	dif;
	int	sdif;
};

#define SSTP_IN(skb)	((struct sstp_skb_in *)(skb)->cb)

/* May the socket, as it is bound to a device, a VRF or neither, have what came in so? */
static inline bool sstp_dev_match(const struct sock *sk, const struct sstp_skb_in *in)
{
	return inet_sk_bound_dev_eq(sock_net(sk), READ_ONCE(sk->sk_bound_dev_if),
				    in->dif, in->sdif);
}

/* The VRF that it came through, or 0 */
static inline int sstp_in_l3mdev(const struct sstp_skb_in *in)
{
	return in->sdif ? in->dif : 0;
}

/* Packets in what UDP received, or a part of it */
static inline u32 sstp_in_packets(const struct sk_buff *skb)
{
	u32 size = SSTP_IN(skb)->size;

	return skb->len > size && size ? DIV_ROUND_UP(skb->len, size) : 1;
}

#endif /* _SSTP_SKB_IN_H */
