/* SPDX-License-Identifier: GPL-2.0 */
/* The socket family. */
#ifndef _SSTP_AF_SSTP_H
#define _SSTP_AF_SSTP_H

struct proto;

extern struct proto sstp_prot;

int sstp_af_init(void);
void sstp_af_exit(void);

#endif /* _SSTP_AF_SSTP_H */
