/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs of cgroups, run for sstp sockets as for other sockets of IP */
#ifndef _SSTP_CGROUP_H
#define _SSTP_CGROUP_H

#include <linux/types.h>
#include "compat.h"

struct sk_buff;
struct sock;

bool sstp_rcv_allowed(struct sock *sk, struct sk_buff *whole);
int sstp_guard_bound(struct sock *sk);
int sstp_guard_connect(struct sock *sk, struct sstp_sockaddr *uaddr, int *len, int af);

#endif /* _SSTP_CGROUP_H */
