/* SPDX-License-Identifier: GPL-2.0 */
/* Messages between the halves of controllers, and their timers. Socket lock. */
#ifndef _SSTP_MESSAGE_H
#define _SSTP_MESSAGE_H

#include <linux/types.h>

struct sk_buff;
struct sock;

/* Callbacks of a controller or of a receiving half have run, or the controller has been
 * replaced: set SSTP_T_CTRL to the time when a timer of theirs, a message or the state is due.
 */
void sstp_message_arm(struct sock *sk, u64 now);
/* SSTP_T_CTRL has expired: call timers, send what is due. */
void sstp_message_due(struct sock *sk, u64 now);
/* Handle a MESSAGE of @len bytes at offset @off of @skb, which is linear. */
void sstp_message_rcv(struct sock *sk, struct sk_buff *skb, u32 off, u32 len, u64 now);

#endif /* _SSTP_MESSAGE_H */
