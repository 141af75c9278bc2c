// SPDX-License-Identifier: GPL-2.0
/* Events that came while a process held the socket lock: handled when it releases the lock. */
#include "evict.h"
#include "input.h"
#include "owner.h"
#include "rcv_data.h"
#include "sstp.h"
#include "timer.h"

/* Is an event other than a packet pending? */
static bool sstp_owner_missed(const struct sstp_sock *sp)
{
	return READ_ONCE(sp->pending.flags) &
	       (BIT(SSTP_FL_CLOCK) | BIT(SSTP_FL_ERROR) | BIT(SSTP_FL_EVICT));
}

void sstp_release_cb(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (unlikely(sstp_owner_missed(sp))) {
		if (test_and_clear_bit(SSTP_FL_ERROR, &sp->pending.flags))
			sstp_rcv_error(sk, READ_ONCE(sp->pending.icmp_err));
		if (test_and_clear_bit(SSTP_FL_EVICT, &sp->pending.flags))
			sstp_evict(sk);
		if (test_and_clear_bit(SSTP_FL_CLOCK, &sp->pending.flags))
			sstp_timer_run(sk);
	}
	sstp_rcv_tell(sk);
}

/* Handle the packets, timers and ICMP errors that came meanwhile, between two segments of a
 * long call whose process holds the lock, so that they need not wait for its end. The
 * connection may have ended after that. Socket lock.
 */
void sstp_catch_up(struct sock *sk)
{
	sk_flush_backlog(sk);
	if (!sstp_owner_missed(sstp_sk(sk)))
		return;
	spin_lock_bh(&sk->sk_lock.slock);
	sstp_release_cb(sk);
	spin_unlock_bh(&sk->sk_lock.slock);
}
