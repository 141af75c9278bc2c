/* SPDX-License-Identifier: GPL-2.0 */
/* Probes: a peer that owes an answer is asked for it. */
#ifndef _SSTP_PROBE_H
#define _SSTP_PROBE_H

#include <linux/types.h>

struct sock;
struct sstp_sock;

bool sstp_waits(const struct sstp_sock *sp);
void sstp_probe_arm(struct sock *sk, bool idle);
void sstp_probe(struct sock *sk);

#endif /* _SSTP_PROBE_H */
