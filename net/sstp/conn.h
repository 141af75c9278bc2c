/* SPDX-License-Identifier: GPL-2.0 */
/* Initialization of sockets, and start and reset of connections */
#ifndef _SSTP_CONN_H
#define _SSTP_CONN_H

#include <linux/gfp_types.h>
#include <linux/types.h>

struct sock;

void sstp_sock_init(struct sock *sk, u16 domain);
void sstp_sock_names(struct sock *sk);
void sstp_conn_reset(struct sock *sk);
void sstp_sock_setup(struct sock *sk);
int sstp_conn_start(struct sock *sk, u32 rcv_segment, u32 rcv_shipment, gfp_t gfp);
void sstp_set_state(struct sock *sk, int state);

#endif /* _SSTP_CONN_H */
