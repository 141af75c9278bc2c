/* SPDX-License-Identifier: GPL-2.0 */
/* poll(), SO_RCVLOWAT and ioctl(): how much can be read or written. */
#ifndef _SSTP_POLL_H
#define _SSTP_POLL_H

#include <linux/poll.h>

struct sock;
struct socket;

__poll_t sstp_poll(struct file *file, struct socket *sock, poll_table *wait);
int sstp_set_rcvlowat(struct sock *sk, int val);
int sstp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);

#endif /* _SSTP_POLL_H */
