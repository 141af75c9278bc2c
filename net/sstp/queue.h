/* SPDX-License-Identifier: GPL-2.0 */
/* Limit of a socket's bytes in the qdisc and the device */
#ifndef _SSTP_QUEUE_H
#define _SSTP_QUEUE_H

#include <linux/types.h>

struct sock;

/* Have the queues below as much of the socket's as they may have? If so the sender is restarted
 * by the device when half of it has left. Socket lock.
 */
bool sstp_queue_full(struct sock *sk);
/* Packets of @sk were freed: restart a sender that sstp_queue_full() stopped. Any context. */
void sstp_queue_freed(struct sock *sk);

#endif /* _SSTP_QUEUE_H */
