/* SPDX-License-Identifier: GPL-2.0 */
/* Waits for the end of set-up */
#ifndef _SSTP_WAIT_H
#define _SSTP_WAIT_H

struct sock;

int sstp_wait_connect(struct sock *sk, long *timeo);

#endif /* _SSTP_WAIT_H */
