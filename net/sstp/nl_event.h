/* SPDX-License-Identifier: GPL-2.0 */
/* Events that netlink multicasts. */
#ifndef _SSTP_NL_EVENT_H
#define _SSTP_NL_EVENT_H

#include <linux/types.h>
#include <uapi/linux/sstp_netlink.h>

struct sock;

/* Events: socket lock, any context */
void sstp_nl_established(struct sock *sk);
void sstp_nl_closed(struct sock *sk, int err, enum sstp_closed_by by);
void sstp_nl_rate(struct sock *sk);
void sstp_nl_broken(struct sock *sk);
void sstp_nl_tried(struct sock *sk);
void sstp_nl_ecn_failed(struct sock *sk);
void sstp_nl_resized(struct sock *sk, u32 old, u32 limit, bool shared);
void sstp_nl_exhausted(struct sock *sk);

#endif /* _SSTP_NL_EVENT_H */
