/* SPDX-License-Identifier: GPL-2.0 */
/* Set-up of connections. */
#ifndef _SSTP_HANDSHAKE_H
#define _SSTP_HANDSHAKE_H

#include <linux/types.h>
#include "compat.h"
#include "wire.h"

struct sk_buff;
struct sock;

/* The set-up of a connection, and what the two ends agreed on */
struct sstp_hs {
	__cacheline_group_begin(sstp_hs_setup);
	u32		stamp_base;	/* random origin of timestamps, hides the uptime */
	u32		segment_limit;	/* bytes, largest segment that the peer accepts */
	u64		peer_rate;	/* bit/s that the peer declared, 0 = none */
	u32		rcv_isn;	/* first segment number of the peer */
	u8		strategy;	/* agreed, SSTP_ACK_HARD or SSTP_ACK_SOFT */
	bool		ecn;		/* agreed: reports have the marks that came */
	__cacheline_group_end(sstp_hs_setup);
	bool		has_cookie:1;	/* @cookie goes into the next INIT */
	bool		deferred:1;	/* TCP_DEFER_ACCEPT: INIT_ACK answered, no data yet */
	bool		messages:1;	/* the peer understands MESSAGE */
	u64		peer_limit;	/* bit/s that the peer allows, 0 = any */
	u32		snd_isn;	/* first segment number of this end */
	u32		segment_want;	/* most bytes that the peer wants in a segment; 0 = any */
	u32		init_window;	/* window granted in the INIT; 0 at the responder */
	u32		init_stamp;	/* timestamp of the last INIT or INIT_ACK sent */
	u32		init_first;	/* timestamp of the first INIT_ACK sent */
	u32		tolerance;	/* agreed, packets in a million */
	char		peer_ctrl[SSTP_NAME_MAX]; /* the controller that the peer named */
	u8		cookie[SSTP_COOKIE_LEN];
};

void sstp_handshake_init(struct sock *usk, struct sk_buff *skb, struct sk_buff *whole);
void sstp_handshake_rcv(struct sock *sk, struct sk_buff *skb);
int sstp_handshake_connect(struct sock *sk);
void sstp_handshake_again(struct sock *sk);
void sstp_handshake_confirm(struct sock *sk, bool data, u64 now);

#endif /* _SSTP_HANDSHAKE_H */
