/* SPDX-License-Identifier: GPL-2.0 */
/* recvmsg(): copies received segments to the program */
#ifndef _SSTP_RECVMSG_H
#define _SSTP_RECVMSG_H

#include <linux/types.h>

struct msghdr;
struct sock;
struct socket;

/* The reading program */
struct sstp_rx {
	u64		readable;	/* bytes accepted and not yet read */
	u64		unread_since;	/* ns: since when data waits for a read; 0 = none waits */
	u64		unread_time;	/* ns for which data waited before @unread_since */
	u32		read_off;	/* bytes read of the first segment, SOCK_STREAM */
	bool		held;		/* no more comes before a read: sstp_rcv_tell() */
};

int sstp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);
u32 sstp_readable(struct sock *sk);

#endif /* _SSTP_RECVMSG_H */
