/* SPDX-License-Identifier: GPL-2.0 */
/* net.sstp.*, for each network namespace. */
#ifndef _SSTP_SYSCTL_H
#define _SSTP_SYSCTL_H

struct net;

int sstp_sysctl_init(struct net *net);
void sstp_sysctl_exit(struct net *net);

#endif /* _SSTP_SYSCTL_H */
