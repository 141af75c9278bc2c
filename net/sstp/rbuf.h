/* SPDX-License-Identifier: GPL-2.0 */
/* Registry of receive buffer policies. */
#ifndef _SSTP_RBUF_H
#define _SSTP_RBUF_H

#include <linux/init.h>
#include <net/sstp.h>

/* As sstp_ctrl_attach() and its kin. */
int sstp_rbuf_attach(struct sstp_rbuf *b, const char *name);
void sstp_rbuf_detach(struct sstp_rbuf *b);
bool sstp_rbuf_exists(const char *name);

int __init sstp_rbuf_init(void);
void sstp_rbuf_exit(void);

extern struct sstp_rbuf_ops sstp_rbuf_static;

#endif /* _SSTP_RBUF_H */
