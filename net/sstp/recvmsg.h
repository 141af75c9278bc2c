/* SPDX-License-Identifier: GPL-2.0 */
/* From segments to the program. */
#ifndef _SSTP_RECVMSG_H
#define _SSTP_RECVMSG_H

#include <linux/types.h>

struct msghdr;
struct sock;
struct socket;

int sstp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
u32 sstp_readable(struct sock *sk);

#endif /* _SSTP_RECVMSG_H */
