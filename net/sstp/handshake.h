/* SPDX-License-Identifier: GPL-2.0 */
/* Set-up of connections. */
#ifndef _SSTP_HANDSHAKE_H
#define _SSTP_HANDSHAKE_H

#include <linux/types.h>
#include "wire.h"

struct sk_buff;
struct sock;

/* The set-up of a connection, and what the two ends agreed on */
struct sstp_hs {
	u64		peer_limit;	/* bit/s that the peer allows, 0 = any */
	u64		peer_rate;	/* bit/s that the peer declared, 0 = none */
	u32		snd_isn;	/* first segment number */
	u32		rcv_isn;	/* of the peer */
	u32		stamp_base;	/* of timestamps, which hide how long the host is up */
	u32		init_window;	/* W that the INIT of this end promised, 0: it answered */
	u32		init_stamp;	/* of the last INIT or INIT_ACK sent */
	u32		init_first;	/* of the first INIT_ACK sent */
	u32		segment_limit;	/* of the peer */
	u32		tolerance;	/* agreed */
	u8		strategy;	/* agreed */
	bool		has_cookie;	/* for the INIT, in @cookie */
	bool		deferred;	/* INIT_ACK was answered, but without data */
	u8		cookie[SSTP_COOKIE_LEN];
};

void sstp_handshake_init(struct sock *usk, struct sk_buff *skb, struct sk_buff *whole);
void sstp_handshake_rcv(struct sock *sk, struct sk_buff *skb);
int sstp_handshake_connect(struct sock *sk);
void sstp_handshake_again(struct sock *sk);
void sstp_handshake_confirm(struct sock *sk, bool data);

#endif /* _SSTP_HANDSHAKE_H */
