/* SPDX-License-Identifier: GPL-2.0 */
/* Limit of a socket's bytes in the qdisc and the device */
#ifndef _SSTP_QUEUE_H
#define _SSTP_QUEUE_H

#include <linux/types.h>

struct sock;
struct sstp_sock;

/* Have the queues below as much of the socket's as they may have? If so the sender is restarted
 * by the device when half of it has left. Socket lock.
 */
bool sstp_queue_full(struct sock *sk);
/* How many of @want packets the next train may have. The limit is checked before a train leaves, so
 * all of the train may exceed it. Socket lock.
 */
u32 sstp_queue_train(const struct sstp_sock *sp, u32 want);
/* Packets of @sk were freed: restart a sender that sstp_queue_full() stopped. Any context. */
void sstp_queue_freed(struct sock *sk);

#endif /* _SSTP_QUEUE_H */
