/* SPDX-License-Identifier: GPL-2.0 */
/* Probes: a peer that owes an answer is asked for it. */
#ifndef _SSTP_PROBE_H
#define _SSTP_PROBE_H

#include <linux/types.h>

struct sock;
struct sstp_sock;

/* Signs of life of the peer, and requests for one */
struct sstp_live {
	u64		last_rx;	/* ns: last valid packet */
	u64		wait_since;	/* ns: first probe that went unanswered */
	u32		context_ship;	/* snd.shipment at the last KEEPALIVE */
	u32		keepalives;	/* sent while idle, unanswered */
	u8		probes;		/* unanswered */
	u8		blocked;	/* probes answered by a closed window */
};

bool sstp_waits(const struct sstp_sock *sp);
void sstp_probe_arm(struct sock *sk, bool idle);
void sstp_probe(struct sock *sk);

#endif /* _SSTP_PROBE_H */
