/* SPDX-License-Identifier: GPL-2.0 */
/* Packets from UDP to their connection. */
#ifndef _SSTP_INPUT_H
#define _SSTP_INPUT_H

struct sk_buff;
struct sock;
struct sstp_encap_ops;

extern const struct sstp_encap_ops sstp_input_ops;

int sstp_backlog_rcv(struct sock *sk, struct sk_buff *skb);
void sstp_rcv_error(struct sock *sk, int err);

#endif /* _SSTP_INPUT_H */
