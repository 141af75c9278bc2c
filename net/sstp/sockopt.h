/* SPDX-License-Identifier: GPL-2.0 */
/* Socket options. */
#ifndef _SSTP_SOCKOPT_H
#define _SSTP_SOCKOPT_H

#include <linux/sockptr.h>

struct sock;
struct socket;

void sstp_keepalive(struct sock *sk, int on);
int sstp_setsockopt(struct socket *sock, int level, int optname,
		    sockptr_t optval, unsigned int optlen);
int sstp_getsockopt(struct socket *sock, int level, int optname,
		    char __user *optval, int __user *optlen);
int sstp_tcp_setsockopt(struct sock *sk, int opt, sockptr_t optval,
			unsigned int optlen);
int sstp_tcp_getsockopt(struct sock *sk, int opt, char __user *optval,
			int __user *optlen);

#endif /* _SSTP_SOCKOPT_H */
