// SPDX-License-Identifier: GPL-2.0
/* Probes: KEEPALIVE or EOS packets that ask a silent peer for a report. Socket lock. */
#include <trace/events/sstp.h>
#include "ack.h"
#include "cc.h"
#include "message.h"
#include "probe.h"
#include "small.h"
#include "sstp.h"
#include "state.h"

#define SSTP_PROBE_OLD	16U		/* round-trip times after which they are measured again */
#define SSTP_PROBE_RATE	524288U		/* bit/s at which data has to come for that */
#define SSTP_PROBE_GAP	(5ULL * NSEC_PER_SEC)	/* longest time between probes that are answered */

/* Does this end wait for a report: is shipped data, queued data or an EOS not acknowledged? */
bool sstp_waits(const struct sstp_sock *sp)
{
	return sstp_snd_outstanding(&sp->snd) ||
	       sp->tx.eos == SSTP_EOS_SENT || sp->snd.next != sp->snd.end;
}

/* Does SSTP_T_PACE hold back all that there is to ship, as for a contract? The peer owes no answer
 * then.
 */
bool sstp_probe_paced(const struct sstp_sock *sp)
{
	return !sstp_in_flight(sp) && sstp_timer_pending(&sp->clock, SSTP_T_PACE) &&
	       (sp->snd.pending || sp->snd.next != sp->snd.end);
}

/* Time after which the peer owes a report of the first shipment that it has not reported, ns; @rto,
 * ns. Without a congestion window packets ask for reports in turn. Packets that follow each other
 * put the probe off, but not for longer.
 */
static u64 sstp_probe_owes(const struct sstp_sock *sp, u64 rto)
{
	return 2 * rto + max(sstp_send_rtt_ns(sp), (u64)SSTP_ASK_GAP * NSEC_PER_USEC);
}

/* Retransmission timeout, ns. The peer may hold back a report for as long as it was told, but no
 * answer to a probe.
 */
static u64 sstp_probe_rto(struct sstp_sock *sp)
{
	u32 rto = sstp_send_rto(sp);

	if (sp->hs.messages && !sp->live.probes)
		rto += sp->ctrl.out.ack_timer;
	return (u64)rto * NSEC_PER_USEC;
}

/* Is the tail in flight a single packet that probably arrives, and is reported without being
 * asked for, or one of the short answers of a connection that has had some? A KEEPALIVE meanwhile
 * and its PACK would double the packets of a small exchange. It only pays on a path that loses
 * packets, and under a contract, which may not slow down. A guess of the round-trip time means that
 * a packet of the set-up was lost, and may be far too long to wait.
 */
bool sstp_probe_lone(const struct sstp_sock *sp)
{
	const u32 most = sp->live.prompt < SSTP_PROMPT ? 1 : SSTP_WARY;

	return sstp_in_flight(sp) <= most && !sp->loss.wary && !sp->rtt.guess &&
	       !sstp_rate_bound(&sp->rate);
}

/* Time after which a KEEPALIVE shows the receiver whether the tail is lost, ns; @rto, ns */
static u64 sstp_probe_tail(const struct sstp_sock *sp, u64 rto)
{
	u64 srtt = sstp_send_rtt_ns(sp), wait = max(srtt / 4, 2 * NSEC_PER_MSEC);

	if (sstp_probe_lone(sp)) {
		/* The peer does not wait with a report that it was asked for. */
		wait += srtt + sstp_ack_delay(srtt, sp->live.prompt >= SSTP_PROMPT &&
					      (sp->tx.unasked || sstp_in_flight(sp) == 1));
		if (sp->hs.messages)
			wait += sp->ctrl.out.ack_timer * (u64)NSEC_PER_USEC;
		/* The RTO that is computed has no time for the receiver's delay, but a controller's
		 * is the longest that it wants to wait.
		 */
		if (!sp->ctrl.out.rto)
			return wait;
	}
	return min(rto, wait);
}

/* Set the timer of probes at @now (ns). @idle: there is nothing more to ship */
void sstp_probe_arm(struct sock *sk, bool idle, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 rto, wait;

	if (!sstp_waits(sp)) {
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
		return;
	}
	rto = sstp_probe_rto(sp);
	wait = rto;
	if (sp->live.probes > 1 || (sp->live.probes && !sstp_probe_paced(sp))) {
		/* The interval grows with the silence, so that the sender resumes soon after
		 * an outage; sooner under a contract, which probes hardly burden.
		 */
		wait = sstp_rate_bound(&sp->rate) ?
			max3((u64)sstp_rtt_smoothed(&sp->rtt, USEC_PER_SEC) *
			     NSEC_PER_USEC / 4 * 3, (u64)NSEC_PER_MSEC,
			     (now - sp->live.wait_since) / 256) :
			max(wait, (now - sp->live.wait_since) / 64);
	} else if (sstp_probe_paced(sp)) {
		/* The contract may let nothing go for longer than the peer waits in silence, which
		 * is taken to be as long as this end's user timeout.
		 */
		wait = max(wait, min(SSTP_PROBE_GAP, sstp_user_timeout(sp) / 4));
	} else if (idle && sp->live.context_ship != sp->snd.shipment &&
		   sp->loss.highest != sp->snd.shipment - 1) {
		/* No packet follows the last one. */
		wait = sstp_probe_tail(sp, wait);
	} else if (sp->live.blocked) {
		wait = min(wait << min(sp->live.blocked, 10), SSTP_PROBE_GAP);
	}
	if (!sp->live.probes && sp->tx.silent_since)
		wait = min(wait, max(sp->tx.silent_since + sstp_probe_owes(sp, rto), now) - now);
	sstp_timer_set(&sp->clock, SSTP_T_PROBE, now + wait);
}

/* A packet of data came: if the round-trip time is a guess, ask for a report, whose echo is the
 * first real sample. An end that only receives gets others only by sstp_probe_path().
 */
void sstp_probe_rtt(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 stamp;

	if (!sp->rtt.guess || sk->sk_state == TCP_CLOSE)
		return;
	stamp = sstp_stamp(&sp->hs, sstp_now());
	if (stamp - sp->tx.asked_at < SSTP_ASK_GAP)
		return;
	sp->tx.asked_at = stamp;
	sstp_send_context(sk, SSTP_F_ACK);
}

/* Does the policy follow a round-trip time that was measured long ago? Where little comes it does
 * not matter.
 */
static bool sstp_probe_old(struct sstp_sock *sp, u64 now)
{
	u32 old = max((u32)USEC_PER_SEC, SSTP_PROBE_OLD * sstp_rtt_smoothed(&sp->rtt, 0));
	u32 stamp = sstp_stamp(&sp->hs, now);

	if (!sp->rcvbuf.policy.out.epoch || sp->acker.arrival_rate < SSTP_PROBE_RATE ||
	    now - sp->acker.arrival_at > NSEC_PER_SEC ||
	    sstp_us(now) - sp->rtt.at < old || stamp - sp->tx.asked_at < old)
		return false;
	sp->tx.asked_at = stamp;
	return true;
}

/* Data came: ask for a report from time to time, whose echo is a sample of the round-trip time, if
 * the policy of the buffer measures the path or follows it. An end that sends gets reports in any
 * case. Only data causes requests: two ends that both measure would answer each other's for ever.
 */
void sstp_probe_path(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_gauge *m = sstp_rcvbuf_gauge(&sp->rcvbuf);

	if (!sstp_synchronized(sk) || sstp_in_flight(sp) || sp->rtt.guess)
		return;
	if (m ? sstp_gauge_ask(m, now, sstp_rtt_smoothed(&sp->rtt, 0)) : sstp_probe_old(sp, now))
		sstp_send_context(sk, SSTP_F_ACK);
}

/* SSTP_T_PROBE has expired: send a probe, or give the connection up. */
void sstp_probe(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now = sstp_now(), since;
	bool owes;

	if (!sstp_waits(sp))
		return;
	/* Packets that were shipped since the last report may still make progress. */
	since = max(sp->loss.progress, sp->tx.silent_since);
	if (sock_flag(sk, SOCK_DEAD) &&
	    ((!sstp_probe_paced(sp) && now - since > sstp_user_timeout(sp)) ||
	     (READ_ONCE(sk->sk_wmem_queued) > SOCK_MIN_SNDBUF &&
	      sk_memory_allocated(sk) > sk_prot_mem_limits(sk, 2)))) {
		/* An orphan whose peer answers but accepts nothing, or that holds data while
		 * memory is used up: no program waits for the outcome.
		 */
		sstp_abort(sk, ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	owes = sp->tx.silent_since &&
	       now - sp->tx.silent_since >= sstp_probe_owes(sp, sstp_probe_rto(sp));
	if (owes || sp->live.probes || sp->live.context_ship == sp->snd.shipment) {
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
		/* Under a contract probes are more frequent, so more must fail. With nothing in
		 * flight, as while the window is closed, silence is no sign of congestion.
		 */
		if (sp->live.probes == (sstp_rate_bound(&sp->rate) ? 8 : 3) &&
		    sstp_in_flight(sp)) {
			sstp_cc_timeout(sp, now);
			sstp_message_arm(sk, now);
		}
	}
	sstp_send_context(sk, SSTP_F_ACK);
	sstp_probe_arm(sk, true, now);
}
