/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners: creation of children for INITs, and close of a listener */
#ifndef _SSTP_LISTEN_H
#define _SSTP_LISTEN_H

struct sock;

struct sock *sstp_child(struct sock *parent);
void sstp_listen_close(struct sock *sk);

#endif /* _SSTP_LISTEN_H */
