/* SPDX-License-Identifier: GPL-2.0 */
/* States of a connection from establishment on, and its end. */
#ifndef _SSTP_STATE_H
#define _SSTP_STATE_H

#include <uapi/linux/sstp_netlink.h>

struct sock;

/* Begin and end of a connection */
struct sstp_lifetime {
	u64		started_at;	/* ns: when set-up began; 0 = not yet */
	u64		ended_at;	/* ns; 0 = not yet */
	u64		expires;	/* ns: when an orphan is aborted */
	u8		ended_by;	/* enum sstp_closed_by: who ended a direction first */
	bool		orphan;		/* in sstp_orphans */
};

void sstp_done(struct sock *sk, int err, enum sstp_closed_by by);
void sstp_abort(struct sock *sk, int err, enum sstp_closed_by by);
void sstp_orphan(struct sock *sk);
void sstp_state_check(struct sock *sk);

#endif /* _SSTP_STATE_H */
