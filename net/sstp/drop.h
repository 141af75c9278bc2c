/* SPDX-License-Identifier: GPL-2.0 */
/* Dropped packets: count, trace, and free with a drop reason */
#ifndef _SSTP_DROP_H
#define _SSTP_DROP_H

#include <linux/types.h>
#include "mib.h"

struct sk_buff;
struct sock;

void sstp_drop(struct sock *sk, struct sk_buff *skb, enum sstp_mib_id why, u32 n);
void sstp_free(struct sk_buff *skb);

#endif /* _SSTP_DROP_H */
