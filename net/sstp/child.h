/* SPDX-License-Identifier: GPL-2.0 */
/* Children of a listener: their lists. */
#ifndef _SSTP_CHILD_H
#define _SSTP_CHILD_H

struct sock;

void sstp_child_drop(struct sock *sk);
void sstp_child_ready(struct sock *sk);
struct sock *sstp_child_accept(struct sock *parent);

#endif /* _SSTP_CHILD_H */
