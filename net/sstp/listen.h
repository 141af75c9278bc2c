/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners: birth of their children, and their end. */
#ifndef _SSTP_LISTEN_H
#define _SSTP_LISTEN_H

struct sock;

struct sock *sstp_child(struct sock *parent);
void sstp_listen_close(struct sock *sk);

#endif /* _SSTP_LISTEN_H */
