/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of a connection's controller with a sample of the socket's state. Socket lock. */
#ifndef _SSTP_CC_H
#define _SSTP_CC_H

#include <linux/types.h>

struct sstp_ctrl_msg;
struct sstp_ctrl_ops;
struct sstp_ctrl_packets;
struct sstp_ctrl_sample;
struct sstp_sock;

void sstp_cc_sample(const struct sstp_sock *sp, struct sstp_ctrl_sample *s, u64 now);
void sstp_cc_ecn(struct sstp_sock *sp);
/* Give the connection, whose controller will be @name, a circuit breaker if it has a contract and
 * the program does not name that controller; else switch the one that it has off. -ENOMEM if there
 * is no memory for one.
 */
int sstp_cc_guard(struct sstp_sock *sp, const char *name, gfp_t gfp);
/* sstp_ctrl_attach() and sstp_ctrl_switch() for the controller of @sp */
int sstp_cc_start(struct sstp_sock *sp, const char *name);
void sstp_cc_switch(struct sstp_sock *sp, const struct sstp_ctrl_ops *ops, u32 carried);
/* sstp_ctrl_tune() with the settings of @sp; then packets may be due that had to wait. */
void sstp_cc_tune(struct sstp_sock *sp);
/* Call on_timeout, if the controller has it: several probes in a row were not answered. */
void sstp_cc_timeout(struct sstp_sock *sp, u64 now);
/* Call on_pkt_sent, on_timer or on_message, which the caller has checked the controller has.
 * sstp_cc_sent() returns whether sstp_message_arm() has to be called: most packets change nothing.
 */
bool sstp_cc_sent(struct sstp_sock *sp, const struct sstp_ctrl_packets *p, u64 now);
void sstp_cc_timer(struct sstp_sock *sp, u64 now);
void sstp_cc_message(struct sstp_sock *sp, const struct sstp_ctrl_msg *m, u64 now);

#endif /* _SSTP_CC_H */
