/* SPDX-License-Identifier: GPL-2.0 */
/* Contents of reports, and reports that ride with data */
#ifndef _SSTP_PACK_H
#define _SSTP_PACK_H

#include <linux/types.h>

struct sk_buff;
struct sock;
struct sstp_ack;
struct sstp_sock;

/* Room before a DATA packet, which a PACK may take */
#define SSTP_RIDE_ROOM	(SSTP_HEADROOM + SSTP_ACK_HLEN_MAX)

void sstp_pack_fill(struct sstp_sock *sp, struct sstp_ack *a, u64 now);
void sstp_pack_done(struct sstp_sock *sp, u64 now);
void sstp_pack_send(struct sock *sk, u64 now);
bool sstp_pack_ride(struct sstp_sock *sp, struct sk_buff *skb, u64 now);
void sstp_pack_eos(struct sock *sk, u64 now);

#endif /* _SSTP_PACK_H */
