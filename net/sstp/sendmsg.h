/* SPDX-License-Identifier: GPL-2.0 */
/* sendmsg(): copies bytes of the program into segments */
#ifndef _SSTP_SENDMSG_H
#define _SSTP_SENDMSG_H

#include <linux/types.h>

struct msghdr;
struct page;
struct sock;
struct socket;

void sstp_flush(struct sock *sk);
void sstp_uncork(struct sock *sk);
int sstp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
/* sendfile() has read all of its file, and announced more: send what it holds back for that. */
void sstp_splice_eof(struct socket *sock);
ssize_t sstp_sendpage(struct socket *sock, struct page *page, int offset, size_t len, int flags);

#endif /* _SSTP_SENDMSG_H */
