// SPDX-License-Identifier: GPL-2.0
/* Events that netlink multicasts. */
#include <net/genetlink.h>
#include "nl_event.h"
#include "nl_put.h"
#include "sstp.h"

#define SSTP_NL_EXHAUSTED	(100ULL * NSEC_PER_MSEC)

static bool sstp_nl_heard(const struct sock *sk)
{
	return genl_has_listeners(&sstp_nl_family, sock_net(sk), SSTP_NLGRP_EVENTS);
}

/* Does a program listen, and was SSTP_CMD_ESTABLISHED sent for the connection? */
static bool sstp_nl_wanted(const struct sock *sk)
{
	return sstp_synchronized(sk) && sk->sk_state != TCP_SYN_RECV && sstp_nl_heard(sk);
}

/* Begin event @cmd of @sk. NULL without memory: listeners get ENOBUFS, as they lose one. */
static struct sk_buff *sstp_nl_event(struct sock *sk, u8 cmd, void **hdr)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);

	if (!skb) {
		genl_set_err(&sstp_nl_family, sock_net(sk), 0, SSTP_NLGRP_EVENTS, -ENOBUFS);
		return NULL;
	}
	/* A new message has room for all of this, so no result is checked. */
	*hdr = genlmsg_put(skb, 0, 0, &sstp_nl_family, 0, cmd);
	sstp_nl_put_conn(skb, sk, NULL);
	return skb;
}

static void sstp_nl_send(struct sock *sk, struct sk_buff *skb, void *hdr)
{
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&sstp_nl_family, sock_net(sk), skb, 0, SSTP_NLGRP_EVENTS,
				GFP_ATOMIC);
}

void sstp_nl_established(struct sock *sk)
{
	struct sk_buff *skb;
	void *hdr;

	skb = sstp_nl_wanted(sk) ? sstp_nl_event(sk, SSTP_CMD_ESTABLISHED, &hdr) : NULL;
	if (skb)
		sstp_nl_send(sk, skb, hdr);
}

/* Called before the state is CLOSE. A child in SYN_RECV was not announced. */
void sstp_nl_closed(struct sock *sk, int err, enum sstp_closed_by by)
{
	struct sk_buff *skb;
	void *hdr;

	if (sk->sk_state == TCP_SYN_RECV || !sstp_nl_heard(sk))
		return;
	skb = sstp_nl_event(sk, SSTP_CMD_CLOSED, &hdr);
	if (!skb)
		return;
	sstp_nl_put_info(skb, sstp_sk(sk));
	nla_put_u32(skb, SSTP_A_CONN_ERROR, err);
	nla_put_u8(skb, SSTP_A_CONN_CLOSED_BY, by);
	sstp_nl_send(sk, skb, hdr);
}

/* Send event @cmd with the contract. */
static void sstp_nl_contract(struct sock *sk, u8 cmd)
{
	struct sk_buff *skb;
	void *hdr;

	skb = sstp_nl_wanted(sk) ? sstp_nl_event(sk, cmd, &hdr) : NULL;
	if (!skb)
		return;
	sstp_nl_put_rate(skb, SSTP_A_CONN_RATE, &sstp_sk(sk)->rate.spec);
	sstp_nl_send(sk, skb, hdr);
}

void sstp_nl_rate(struct sock *sk)
{
	sstp_nl_contract(sk, SSTP_CMD_RATE_CHANGED);
}

void sstp_nl_broken(struct sock *sk)
{
	sstp_nl_contract(sk, SSTP_CMD_CONTRACT_BROKEN);
}

void sstp_nl_tried(struct sock *sk)
{
	sstp_nl_contract(sk, SSTP_CMD_CONTRACT_TRIED);
}

void sstp_nl_ecn_failed(struct sock *sk)
{
	struct sk_buff *skb;
	void *hdr;

	skb = sstp_nl_wanted(sk) ? sstp_nl_event(sk, SSTP_CMD_ECN_FAILED, &hdr) : NULL;
	if (!skb)
		return;
	sstp_nl_put_info(skb, sstp_sk(sk));
	sstp_nl_send(sk, skb, hdr);
}

/* @shared: the buffer is a pool's, of which the connection is a member */
void sstp_nl_resized(struct sock *sk, u32 old, u32 limit, bool shared)
{
	struct sk_buff *skb;
	void *hdr;

	skb = sstp_nl_wanted(sk) ? sstp_nl_event(sk, SSTP_CMD_BUFFER_RESIZED, &hdr) : NULL;
	if (!skb)
		return;
	nla_put_u32(skb, SSTP_A_CONN_OLD_LIMIT, old);
	nla_put_u32(skb, SSTP_A_CONN_NEW_LIMIT, limit);
	if (shared)
		nla_put_flag(skb, SSTP_A_CONN_SHARED);
	sstp_nl_send(sk, skb, hdr);
}

/* Send at most one event in an epoch of the policy, or in SSTP_NL_EXHAUSTED if it has no epochs:
 * the counters have every packet.
 */
void sstp_nl_exhausted(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sk_buff *skb;
	u64 now;
	void *hdr;

	if (!sstp_nl_wanted(sk))
		return;
	now = sstp_now();
	if (sp->rcvbuf.exhausted_at &&
	    now - sp->rcvbuf.exhausted_at < (sp->rcvbuf.policy.out.epoch ?: SSTP_NL_EXHAUSTED))
		return;
	skb = sstp_nl_event(sk, SSTP_CMD_EXHAUSTED, &hdr);
	if (!skb)
		return;
	sp->rcvbuf.exhausted_at = now;
	nla_put_u64_64bit(skb, SSTP_A_CONN_PACKETS_DISCARDED, sp->stats.packets_discarded,
			  SSTP_A_CONN_PAD);
	nla_put_u64_64bit(skb, SSTP_A_CONN_BYTES_DISCARDED, sp->stats.bytes_discarded,
			  SSTP_A_CONN_PAD);
	sstp_nl_send(sk, skb, hdr);
}
