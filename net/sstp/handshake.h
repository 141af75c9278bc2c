/* SPDX-License-Identifier: GPL-2.0 */
/* Set-up of connections. */
#ifndef _SSTP_HANDSHAKE_H
#define _SSTP_HANDSHAKE_H

#include <linux/types.h>

struct sk_buff;
struct sock;

void sstp_handshake_init(struct sock *usk, struct sk_buff *skb, struct sk_buff *whole);
void sstp_handshake_rcv(struct sock *sk, struct sk_buff *skb);
int sstp_handshake_connect(struct sock *sk);
void sstp_handshake_again(struct sock *sk);
void sstp_handshake_confirm(struct sock *sk, bool data);

#endif /* _SSTP_HANDSHAKE_H */
