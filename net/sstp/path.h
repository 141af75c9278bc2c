/* SPDX-License-Identifier: GPL-2.0 */
/* The path of a connection: its MTU, and the contract that is in force on it. */
#ifndef _SSTP_PATH_H
#define _SSTP_PATH_H

#include <linux/types.h>

struct sock;
struct sstp_sock;

void sstp_mtu_update(struct sock *sk);
int sstp_update_rate(struct sstp_sock *sp, gfp_t gfp);

#endif /* _SSTP_PATH_H */
