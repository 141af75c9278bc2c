/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting for a connection. */
#ifndef _SSTP_WAIT_H
#define _SSTP_WAIT_H

struct sock;

int sstp_wait_connect(struct sock *sk, long *timeo);

#endif /* _SSTP_WAIT_H */
