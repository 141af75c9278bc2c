/* SPDX-License-Identifier: GPL-2.0 */
/* Control block of a received train or packet, from UDP up to the receive window */
#ifndef _SSTP_SKB_IN_H
#define _SSTP_SKB_IN_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/inet_sock.h>

/**
 * struct sstp_skb_in - control block of a received train or packet
 * @saddr: source address, IPv4 mapped
 * @daddr: destination address, the same
 * @sport: UDP source port
 * @size: bytes of every packet but the last
 * @why: enum sstp_mib_id of the last packet dropped from it, SSTP_MIB_NONE = none dropped;
 *	struct sstp_rcb, which the receive window writes here, ends before it
 * @ecn: ECN field of the IP header, which all packets of a train share: GRO joins no others
 * @dif: index of the device that it came in through; of the VRF if the device is in one
 * @sdif: index of the device if it is in a VRF, else 0
 */
struct sstp_skb_in {
	struct in6_addr saddr;
	struct in6_addr daddr;
	__be16	sport;
	u16	size;
	u8	why;
	u8	ecn;
	int	dif;
	int	sdif;
};

#define SSTP_IN(skb)	((struct sstp_skb_in *)(skb)->cb)

/* May @sk, by the device or VRF that it is bound to, receive a packet with @in? */
static inline bool sstp_dev_match(const struct sock *sk, const struct sstp_skb_in *in)
{
	return inet_sk_bound_dev_eq(sock_net(sk), READ_ONCE(sk->sk_bound_dev_if),
				    in->dif, in->sdif);
}

/* Index of the VRF that a packet came in through, or 0 */
static inline int sstp_in_l3mdev(const struct sstp_skb_in *in)
{
	return in->sdif ? in->dif : 0;
}

/* Number of packets in a train that UDP received, or in a part of it */
static inline u32 sstp_in_packets(const struct sk_buff *skb)
{
	u32 size = SSTP_IN(skb)->size;

	return skb->len > size && size ? DIV_ROUND_UP(skb->len, size) : 1;
}

/* When @skb came, ns: as it was put into the backlog, or else @now */
static inline u64 sstp_in_arrival(const struct sk_buff *skb, u64 now)
{
	return skb->tstamp ? ktime_to_ns(skb->tstamp) : now;
}

#endif /* _SSTP_SKB_IN_H */
