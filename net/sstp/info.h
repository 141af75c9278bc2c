/* SPDX-License-Identifier: GPL-2.0 */
/* Facts about a connection, for SSTP_INFO, netlink and events. */
#ifndef _SSTP_INFO_H
#define _SSTP_INFO_H

struct sstp_info;
struct sstp_sock;

void sstp_fill_info(struct sstp_sock *sp, struct sstp_info *i);

#endif /* _SSTP_INFO_H */
