// SPDX-License-Identifier: GPL-2.0
/* Probes: a peer that owes an answer is asked for it. */
#include <trace/events/sstp.h>
#include "cc.h"
#include "probe.h"
#include "small.h"
#include "sstp.h"
#include "state.h"

/* Is there anything we wait for the peer to answer? */
bool sstp_waits(const struct sstp_sock *sp)
{
	/* All that was sent has been reported, and it is known when more goes. */
	if (!sstp_in_flight(sp) && sstp_timer_pending(&sp->clock, SSTP_T_PACE))
		return false;
	return sstp_snd_outstanding(&sp->snd) ||
	       sp->tx.eos == SSTP_EOS_SENT || sp->snd.next != sp->snd.end;
}

void sstp_probe_arm(struct sock *sk, bool idle)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now = sstp_now(), wait = (u64)sstp_rto(&sp->rtt) * NSEC_PER_USEC;

	if (!sstp_waits(sp)) {
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
		return;
	}
	if (sp->live.probes) {
		/* In proportion to the silence: soon back after an outage; where
		 * a contract has the room for it, well within a round trip.
		 */
		wait = sstp_rate_bound(&sp->rate) ?
			max3((u64)sstp_rtt_smoothed(&sp->rtt, USEC_PER_SEC) *
			     NSEC_PER_USEC / 4 * 3, (u64)NSEC_PER_MSEC,
			     (now - sp->live.wait_since) / 256) :
			max(wait, (now - sp->live.wait_since) / 64);
	} else if (idle && sp->live.context_ship != sp->snd.shipment &&
		   sp->loss.highest != sp->snd.shipment - 1) {
		/* A tail that nothing follows: show the receiver its end. */
		wait = min(wait, max_t(u64, sstp_rtt_smoothed(&sp->rtt, 0) / 4,
				       2000) * NSEC_PER_USEC);
	} else if (sp->live.blocked) {
		wait = min(wait << min(sp->live.blocked, 10), 5ULL * NSEC_PER_SEC);
	}
	sstp_timer_set(&sp->clock, SSTP_T_PROBE, now + wait);
}

/* The peer has been silent for too long, or about a tail. */
void sstp_probe(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now = sstp_now();

	if (!sstp_waits(sp))
		return;
	if (sock_flag(sk, SOCK_DEAD) &&
	    (now - sp->loss.progress > sstp_user_timeout(sp) ||
	     (READ_ONCE(sk->sk_wmem_queued) > SOCK_MIN_SNDBUF &&
	      sk_memory_allocated(sk) > sk_prot_mem_limits(sk, 2)))) {
		/* Alive, but it takes next to nothing, and nobody here waits
		 * for it.
		 */
		sstp_abort(sk, ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	if (sp->live.probes || sp->live.context_ship == sp->snd.shipment) {
		if (!sp->live.probes)
			sp->live.wait_since = now;
		if (now - sp->live.wait_since > sstp_user_timeout(sp)) {
			SSTP_INC(sock_net(sk), TIMEOUTS);
			sstp_done(sk, sk->sk_err_soft ?: ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
			return;
		}
		SSTP_INC(sock_net(sk), PROBES);
		if (sp->live.probes < U8_MAX)
			sp->live.probes++;
		/* Those under a contract follow sooner. With nothing under way,
		 * as while the window is closed, silence is no congestion.
		 */
		if (sp->live.probes == (sstp_rate_bound(&sp->rate) ? 8 : 3) &&
		    sstp_in_flight(sp))
			sstp_cc_timeout(sp, now);
	}
	sstp_send_context(sk, SSTP_F_ACK);
	sstp_probe_arm(sk, true);
}
