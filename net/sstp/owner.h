/* SPDX-License-Identifier: GPL-2.0 */
/* Events that came while a process held the socket lock: handled when it releases the lock. */
#ifndef _SSTP_OWNER_H
#define _SSTP_OWNER_H

#include <linux/types.h>

struct sock;

/* Bits of sstp_pending.flags */
enum {
	SSTP_FL_CLOCK,		/* timers were due while a process held the lock */
	SSTP_FL_THROTTLED,	/* enough bytes are in queues below SSTP */
	SSTP_FL_ERROR,		/* an ICMP error waits in icmp_err */
	SSTP_FL_EVICT,		/* a plug-in that the socket uses was unloaded */
};

/* Events that wait for the socket lock; written without it. */
struct sstp_pending {
	unsigned long	flags;		/* atomic bits SSTP_FL_* */
	int		icmp_err;	/* errno of the ICMP error */
	u32		icmp_mtu;	/* MTU in the ICMP error, bytes */
};

void sstp_release_cb(struct sock *sk);
void sstp_catch_up(struct sock *sk);

#endif /* _SSTP_OWNER_H */
