/* SPDX-License-Identifier: GPL-2.0 */
/* The controller of a connection, as the socket calls it. */
#ifndef _SSTP_CC_H
#define _SSTP_CC_H

#include <linux/types.h>

struct sstp_ctrl_ops;
struct sstp_ctrl_sample;
struct sstp_sock;

void sstp_cc_sample(const struct sstp_sock *sp, struct sstp_ctrl_sample *s, u64 now);
/* As sstp_ctrl_attach() and sstp_ctrl_switch(), of the socket's controller */
int sstp_cc_start(struct sstp_sock *sp, const char *name);
void sstp_cc_switch(struct sstp_sock *sp, const struct sstp_ctrl_ops *ops, u32 carried);
/* Several probes were not answered. */
void sstp_cc_timeout(struct sstp_sock *sp, u64 now);
/* A train left, or the peer's data came, of a connection whose controller has a callback
 * for it; @gap: shipments skipped before
 */
void sstp_cc_sent(struct sstp_sock *sp, u32 packets, u64 now);
void sstp_cc_received(struct sstp_sock *sp, u32 packets, u32 gap, u64 now);

#endif /* _SSTP_CC_H */
