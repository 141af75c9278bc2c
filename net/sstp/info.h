/* SPDX-License-Identifier: GPL-2.0 */
/* What SSTP_INFO, netlink and events say of a connection. */
#ifndef _SSTP_INFO_H
#define _SSTP_INFO_H

struct sstp_info;
struct sstp_sock;

void sstp_fill_info(struct sstp_sock *sp, struct sstp_info *i);

#endif /* _SSTP_INFO_H */
