/* SPDX-License-Identifier: GPL-2.0 */
/* Creation of sockets of AF_SSTP, AF_INET and AF_INET6 */
#ifndef _SSTP_AF_SSTP_H
#define _SSTP_AF_SSTP_H

struct proto;

extern struct proto sstp_prot;

int sstp_af_init(void);
void sstp_af_exit(void);

#endif /* _SSTP_AF_SSTP_H */
