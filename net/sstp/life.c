// SPDX-License-Identifier: GPL-2.0
/* Keep-alive of idle connections, and the end of orphans and of connections in CLOSING */
#include "life.h"
#include "netns.h"
#include "probe.h"
#include "small.h"
#include "sstp.h"
#include "state.h"

/* SSTP_T_LIFE has expired: end CLOSING (there is no TIME_WAIT), an orphan that has had its
 * time, or a sender without progress; else send a keep-alive if one is due. Socket lock.
 */
void sstp_life(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_net *sn = sstp_pernet(sock_net(sk));
	u64 now = sstp_now(), due;

	if (sk->sk_state == TCP_CLOSING) {
		sstp_done(sk, 0, sp->life.ended_by);
		return;
	}
	if (sock_flag(sk, SOCK_DEAD) && now >= sp->life.expires) {
		/* The peer never ends its direction, or takes too long. */
		sstp_abort(sk, 0, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	if (sp->tx.in_vain) {
		/* The peer asks for packets, but accepts none. */
		SSTP_INC(sock_net(sk), TIMEOUTS);
		sstp_abort(sk, sk->sk_err_soft ?: ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	if (sock_flag(sk, SOCK_DEAD)) {
		sstp_timer_set(&sp->clock, SSTP_T_LIFE, sp->life.expires);
		return;
	}
	if (!sock_flag(sk, SOCK_KEEPOPEN) || !sstp_synchronized(sk))
		return;
	due = sp->live.last_rx + (sp->set.keepidle ?: READ_ONCE(sn->keepalive_time)) *
	      (u64)NSEC_PER_SEC;
	if (now < due || sstp_waits(sp)) {
		sp->live.keepalives = 0;
		sstp_timer_set(&sp->clock, SSTP_T_LIFE, max(due, now + NSEC_PER_SEC));
		return;
	}
	if (sp->live.keepalives >= (sp->set.keepcnt ?: READ_ONCE(sn->keepalive_probes))) {
		SSTP_INC(sock_net(sk), TIMEOUTS);
		sstp_abort(sk, ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	sp->live.keepalives++;
	sstp_send_context(sk, SSTP_F_ACK);
	sstp_timer_set(&sp->clock, SSTP_T_LIFE, now + (sp->set.keepintvl ?:
					       READ_ONCE(sn->keepalive_intvl)) *
		       (u64)NSEC_PER_SEC);
}
