/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hash, CPU and device queue of a connection's packets, for RFS, SO_INCOMING_CPU, XPS and qdiscs
 * that tell flows apart: they see the connection as they see one of TCP.
 */
#ifndef _SSTP_STEER_H
#define _SSTP_STEER_H

#include <net/sock.h>
#ifdef SSTP_HAVE_RPS
#include <net/rps.h>
#endif

/* A connection begins: give its packets a hash of their own, as others have the same UDP ports.
 * Socket lock.
 */
static inline void sstp_steer_begin(struct sock *sk)
{
	sk_set_txhash(sk);
}

/* A program uses @sk on this CPU: RFS handles packets with the hash of those of @sk here. */
static inline void sstp_steer_use(const struct sock *sk)
{
	sock_rps_record_flow(sk);
}

/* @skb came for @sk, to this CPU. Softirq. */
static inline void sstp_steer_rcv(struct sock *sk, const struct sk_buff *skb)
{
	sock_rps_save_rxhash(sk, skb);
	sk_incoming_cpu_update(sk);
}

/* @skb leaves, which skb_set_owner_w() has charged to @sk and given the hash of sstp_steer_begin():
 * the device may take another queue than before if nothing of @sk is in that, so that packets stay
 * in order.
 */
static inline void sstp_steer_xmit(const struct sock *sk, struct sk_buff *skb)
{
	skb->ooo_okay = sk_wmem_alloc_get(sk) <= skb->truesize;
}

#endif /* _SSTP_STEER_H */
