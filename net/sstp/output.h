/* SPDX-License-Identifier: GPL-2.0 */
/* Transmission. */
#ifndef _SSTP_OUTPUT_H
#define _SSTP_OUTPUT_H

#include <linux/types.h>

struct sock;
struct sstp_sock;

void sstp_push(struct sock *sk);
bool sstp_eos_push(struct sock *sk);
u32 sstp_stream_size(const struct sstp_sock *sp);
void sstp_seal(struct sstp_sock *sp);

#endif /* _SSTP_OUTPUT_H */
