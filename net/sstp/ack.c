// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver's reports, PACK and SNAK: when one is sent; pack.c says what is in it. R_l, which
 * acknowledges, and R_h, the window, travel in the same packets but are independent: neither
 * waits for the other. report.c handles them at the sender.
 *
 * Socket lock throughout.
 */
#include <trace/events/sstp.h>
#include "ack.h"
#include "half.h"
#include "mem.h"
#include "pack.h"
#include "rcv_data.h"
#include "rcvbuf.h"
#include "small.h"
#include "sstp.h"
#include "state.h"

#define SSTP_ACK_BYTES		(256 << 10)	/* accepted bytes that cause a PACK */
#define SSTP_GRANT_BYTES	(32 << 10)	/* window growth, in memory, that causes one */
#define SSTP_SNAK_LEAST		64	/* bytes of entries allowed without credit */
#define SSTP_SNAK_BURST		32	/* SNAKs in one run */
#define SSTP_SNAK_SHARE		8	/* SNAKs take at most 1/8 of the bytes that came */
#define SSTP_SNAK_GAP		(100ULL * NSEC_PER_USEC) /* least time between SNAKs for losses */

/* Is memory still used up, and has the program something to read? Then a retransmission would be
 * refused again. The packet that a program without data waits for is always accepted.
 */
static bool sstp_ack_lacks_mem(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool lacks;

	if (!sp->rcvbuf.mem_limited || sp->rcv.low == sp->rcv.read)
		return false;
	/* The charge stays in sk_forward_alloc, as a rule until the packet comes. */
	lacks = !__sk_rmem_schedule(sk, max_t(u32, sp->rcvbuf.mem_lacked,
					      SKB_TRUESIZE(sp->path.size)), false);
	sstp_debt_update(sk);
	if (!lacks)
		return false;
	sstp_mem_refused(sk);
	sp->rcvbuf.full = true;
	return true;
}

/* The last segment that a SNAK may ask for: those that the buffer has room for. After a lack
 * of memory it is segment R_l only, and one segment more for each one accepted since. While memory
 * is used up it is one before R_l, as the peer gives a connection up that asks in vain.
 */
static u32 sstp_ack_wanted(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_want w;
	u32 to;

	if (sstp_ack_lacks_mem(sk))
		return sp->rcv.low - 1;
	sstp_rcvbuf_want(sp, &w);
	to = sstp_want_to(&w);
	if (sstp_after(to, sp->rcv.low + sp->acker.req_limit - 1))
		to = sp->rcv.low + sp->acker.req_limit - 1;
	return to;
}

/* Time after which a packet is asked for again, us: at most 5/4 SRTT + 1 ms. An end that only
 * receives measures few round trips, so its RTTVAR stays at half of the first for long.
 * Asking too early does no harm: the sender suppresses requests for packets in flight.
 */
static u32 sstp_ack_retry(const struct sstp_rtt *rtt)
{
	u32 wait = sstp_rtt_timeout(rtt, 1000, 3 * USEC_PER_SEC);
	u32 srtt = sstp_rtt_smoothed(rtt, wait);

	return min(wait, srtt + srtt / 4 + 1000);
}

/* Trace the requests of SNAK @a, of @len bytes at @p. */
static void sstp_ack_trace(const struct sstp_sock *sp, const void *p, u32 len,
			   const struct sstp_ack *a)
{
	struct sstp_snak_iter it;
	struct sstp_snak_run run;

	sstp_snak_start(&it, p, len, a);
	while (sstp_snak_next(&it, &run)) {
		u32 packets = 0, i;

		for (i = 0; i < run.bits; i++)
			packets += sstp_snak_wanted(&run, i);
		trace_sstp_snak_snd(sp, run.segment, run.bits ? 0 : run.first,
				    run.bits ? run.first : 0, packets);
	}
}

/* Credit SNAKs with a share of @bytes that came, IP and UDP headers included, so that a peer
 * cannot use this end to amplify traffic. The credit is bounded by a burst of full SNAKs.
 */
void sstp_ack_credit(struct sstp_acker *ak, u32 bytes)
{
	const u32 most = SSTP_SNAK_SHARE * SSTP_SNAK_BURST *
			 (SSTP_ACK_HLEN_MAX + SSTP_SNAK_BYTES);

	ak->snak_credit = min(ak->snak_credit + bytes, most);
}

/* Send SNAKs for lost packets that were not asked for, or not lately. False if there are none,
 * or no memory.
 */
static bool sstp_ack_snak(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snak_job job = {
		.to = sstp_ack_wanted(sk),
		.now = sstp_us(now),
		.retry = sstp_ack_retry(&sp->rtt),
	};
	const u32 head = sstp_ack_hlen(sp->acker.has_ecn && sp->hs.ecn ? SSTP_F_ECN : 0);
	u32 most = SSTP_SNAK_BURST, room, len, n;
	struct sk_buff *skb;
	struct sstp_ack a;
	bool sent = false;

	if (sstp_after(sp->rcv.low, job.to))
		return false;
	/* A dry run without a buffer sets job.more if any request is due. */
	sstp_rcv_snak(&sp->rcv, &sp->arrivals, NULL, 0, &job);
	/* The peer is silent, and may be gone: a single SNAK is enough to find out. */
	if (now - sp->live.last_rx > (u64)job.retry * NSEC_PER_USEC)
		most = 1;
	for (n = 0; job.more && n < most; n++) {
		room = clamp_t(int, sp->acker.snak_credit / SSTP_SNAK_SHARE - head -
			       sstp_overhead(&sp->id), 0, SSTP_SNAK_BYTES);
		if (room < SSTP_SNAK_LEAST) {
			if (n)
				break;
			room = SSTP_SNAK_LEAST;
		}
		skb = sstp_small(sk, head + room);
		if (!skb)
			break;
		len = sstp_rcv_snak(&sp->rcv, &sp->arrivals, skb->data + head, room, &job);
		if (!job.entries) {
			consume_skb(skb);
			break;
		}
		sstp_pack_fill(sp, &a, now);
		a.type = SSTP_SNAK;
		a.entries = job.entries;
		sstp_build_ack(skb_put(skb, head + len), &a);
		if (trace_sstp_snak_snd_enabled())
			sstp_ack_trace(sp, skb->data, skb->len, &a);
		sp->acker.snak_credit -= min(sp->acker.snak_credit, SSTP_SNAK_SHARE *
				       (skb->len + sstp_overhead(&sp->id)));
		sstp_small_xmit(sk, skb);
		sp->stats.snaks_sent++;
		SSTP_INC(sock_net(sk), OUTSNAKS);
		sent = true;
	}
	if (sent) {
		sp->acker.snak_sent = now;
		/* The next packet that comes brings credit for the remaining requests. */
		sp->acker.snak_now = job.more;
		sstp_pack_done(sp, now);
	}
	return sent;
}

/* Time until SSTP_T_ACK looks again for packets that were asked for, ns: the retry time, doubled
 * for each of @rounds expiries before which packets came in vain, up to half a second.
 */
static u64 sstp_ack_wait(const struct sstp_sock *sp, u8 rounds)
{
	u64 wait = NSEC_PER_USEC * (u64)sstp_ack_retry(&sp->rtt);

	return min(wait << rounds, max(wait, NSEC_PER_SEC / 2ULL));
}

/* May the window limit the sender? It may if at most a quarter of the window remains beyond
 * the data that may be in flight, at the arrival rate or the peer's contract.
 */
static bool sstp_ack_near(const struct sstp_sock *sp)
{
	u32 left = sp->acker.advertised - sp->rcv.top;
	u32 spare = DIV_ROUND_UP(sp->rcvbuf.window, 4);
	u64 flight = sstp_rtt_bytes(max(sp->acker.arrival_rate, sp->hs.peer_rate),
				    sstp_rtt_smoothed(&sp->rtt, 0));

	return left <= spare || (u64)(left - spare) * sstp_rcvbuf_segment(sp) < flight;
}

/* A report is due @wait (ns) from @now on, at the latest. */
static void sstp_ack_within(struct sstp_sock *sp, u64 now, u64 wait)
{
	if (!sp->acker.pack_due || now + wait < sp->acker.pack_due)
		sp->acker.pack_due = now + wait;
	sstp_timer_sooner(&sp->clock, SSTP_T_ACK, sp->acker.pack_due);
}

/* Has the window grown by a quarter since the last report? */
static bool sstp_ack_much(const struct sstp_sock *sp)
{
	u32 gained = sp->rcv.high - sp->acker.advertised;

	return gained && gained >= DIV_ROUND_UP(sp->rcvbuf.window, 4);
}

/* Is what waits for a PACK a request that the program will answer? It has a few packets then, and
 * is of a peer that does not probe for the report before: see sstp_probe_tail(). That peer may have
 * counted an answer less than this end.
 */
static bool sstp_ack_answers(const struct sstp_sock *sp)
{
	return sp->live.prompt > SSTP_PROMPT &&
	       sp->acker.unacked <= SSTP_WARY * sp->path.size &&
	       !sp->hs.peer_rate && !sp->acker.alone;
}

/* R_h may have moved: report it if the window grew by a quarter, or if the window may limit the
 * sender. If it does not, a report that is due soon tells it: the window counts segments, so it
 * grows several times while the first small ones show how little memory a segment takes. Ask for
 * packets that found no room before.
 */
static void sstp_ack_gained(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool asks = !sstp_rcv_whole(&sp->rcv, sp->arrivals.lost) &&
		    sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sstp_ack_wanted(sk));
	u32 gained = sp->rcv.high - sp->acker.advertised;
	bool near = gained && sstp_ack_near(sp);

	sstp_rcv_tell(sk);
	if (sstp_ack_much(sp)) {
		if (near || now >= sp->acker.pack_due)
			sstp_pack_send(sk, now);
		else
			sstp_ack_within(sp, now, sstp_ack_delay(sstp_srtt_ns(&sp->rtt),
								sstp_ack_answers(sp)));
	} else if (near && !sstp_epollin_ready(sk)) {
		/* The sender works with a smaller window until it learns of the new one. */
		if ((u64)gained * sstp_mean(&sp->rcv) >= SSTP_GRANT_BYTES)
			sstp_pack_send(sk, now);
		else
			sstp_ack_within(sp, now, SSTP_ACK_DELAY_MIN);
	}
	/* There is room for packets that were discarded: ask for them without delay. */
	if (!asks)
		return;
	if (now - sp->acker.snak_sent > sstp_srtt_ns(&sp->rtt) / 16)
		sstp_ack_snak(sk, now);
	/* Ask for the remaining ones without the back-off of @due_rounds. */
	sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + sstp_ack_wait(sp, 0));
}

/* The buffer has more room than before: advance R_h. */
void sstp_ack_room(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (!sstp_synchronized(sk))
		return;
	sstp_rcvbuf_wnd(sp);
	sstp_rcvbuf_grant(sp);
	sstp_ack_gained(sk, now);
}

/* The program has read segments at @now (ns): free their memory and advance the window. */
void sstp_ack_read(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sp->rcvbuf.full) {
		sp->rcvbuf.full = false;
		sp->rcvbuf.lacked = 0;
	}
	sstp_debt_update(sk);
	sstp_rcvbuf_read(sk);
	if (!sstp_synchronized(sk))
		return;
	sstp_rcvbuf_advance(sp);
	/* SSTP_T_ACK backs off by the time without new data. None could come while the program did
	 * not read, so that time begins anew with the read.
	 */
	if (!sstp_rcv_whole(&sp->rcv, sp->arrivals.lost))
		sp->acker.due_since = 0;
	sstp_ack_gained(sk, now);
}

/* SSTP_T_RCVBUF has expired at @now (ns) while no packet came: an epoch of the buffer policy is
 * over.
 */
void sstp_ack_epoch(struct sock *sk, u64 now)
{
	if (sstp_rcvbuf_epoch(sk, now))
		sstp_ack_room(sk, now);
}

/* The receiving half may have something to tell after its timer: send it. */
void sstp_ack_feedback(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (!sp->ctrl.half || !sp->ctrl.half->out.feedback.valid || !sstp_synchronized(sk))
		return;
	sstp_rcvbuf_wnd(sp);
	sstp_rcvbuf_grant(sp);
	sstp_pack_send(sk, now);
}

/* Bytes in memory that the peer may have in flight: what the program has not read is not in flight
 * if the policy bounds that.
 */
static u64 sstp_ack_flight(const struct sstp_sock *sp)
{
	bool bounded = sstp_rcvbuf_gauge(&sp->rcvbuf) && sp->rcvbuf.policy.out.window;
	u32 unread = bounded ? sp->rcv.low - sp->rcv.read : 0;

	return (u64)(sp->rcvbuf.window - min(unread, sp->rcvbuf.window)) * sstp_mean(&sp->rcv);
}

/* Does sstp_state_check() send CLOSE next, which acknowledges the peer's EOS? The PACK of that has
 * nothing else to report then.
 */
static bool sstp_ack_by_close(const struct sstp_sock *sp)
{
	return sp->tx.eos == SSTP_EOS_ACKED && sstp_rcv_finished(&sp->rcv) && !sp->acker.unacked &&
	       sp->sk.sk_state != TCP_CLOSING;
}

/* The peer's EOS came at @now (ns). The program often closes its end when it reads that no more
 * data comes: the PACK waits for that, as it then rides with this end's EOS. It waits for less than
 * SSTP_RTO_MARGIN, which the peer gives it beyond a round trip before it repeats the EOS.
 */
static void sstp_ack_eos(struct sstp_sock *sp, u64 now)
{
	sp->acker.eos_came = false;
	if (sp->tx.eos == SSTP_EOS_NONE && sstp_rcv_finished(&sp->rcv)) {
		sp->acker.unacked = max(sp->acker.unacked, 1U);
		sstp_ack_within(sp, now, SSTP_ACK_DELAY_MIN);
	} else {
		sp->acker.ack_now = true;
	}
}

/* No answer came in time: the next PACKs do not wait for one, as the peer may hold back a small
 * write until it has the report.
 */
void sstp_ack_alone(struct sstp_sock *sp)
{
	if (sp->acker.alone)
		sp->acker.alone--;
	else if (sp->acker.unacked && sstp_ack_answers(sp))
		sp->acker.alone = SSTP_ACK_ALONE;
}

/* Packets came at @now (ns): send a PACK or SNAK, or set SSTP_T_ACK to do so later. */
void sstp_ack_check(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 srtt = sstp_srtt_ns(&sp->rtt), due, wait;
	u32 full;

	if (sk->sk_state == TCP_CLOSE)
		return;
	if (sstp_rcvbuf_epoch(sk, now))
		sstp_ack_room(sk, now);
	if (sstp_arrivals_confirm(&sp->arrivals, &sp->rcv, sstp_us(now),
				  max_t(u32, sstp_us(srtt) / 4, 1000))) {
		sstp_rcv_accept(sk, now);
		if (sk->sk_state == TCP_CLOSE)
			return;
		sp->acker.snak_now = true;
	}
	/* After a lack of memory only SSTP_T_ACK sends SNAKs, with back-off, as packets that
	 * come now would be discarded again.
	 */
	if (sp->acker.snak_now && !sp->rcvbuf.mem_limited) {
		due = sp->acker.snak_sent + max(srtt / 16, SSTP_SNAK_GAP);
		if (now >= due) {
			sp->acker.snak_now = false;
			sstp_ack_snak(sk, now);
		} else {
			sstp_timer_sooner(&sp->clock, SSTP_T_ACK, due);
		}
	}
	if (sp->acker.eos_came)
		sstp_ack_eos(sp, now);
	if (sp->acker.ack_now && sstp_ack_by_close(sp))
		sp->acker.ack_now = false;
	full = sp->acker.told_interval ? sp->acker.told_interval * sp->path.size : SSTP_ACK_BYTES;
	full = min_t(u64, sstp_ack_flight(sp) / 4, full);
	if (sp->acker.ack_now ||
	    (sp->acker.unacked && (sp->acker.unacked >= full || sp->set.quickack ||
				   (sstp_ack_much(sp) && sstp_ack_near(sp))))) {
		sstp_rcvbuf_wnd(sp);
		sstp_rcvbuf_grant(sp);
		sstp_pack_send(sk, now);
	} else if (sp->acker.unacked) {
		wait = sp->acker.told_timer * (u64)NSEC_PER_USEC;
		if (!wait)
			wait = sstp_ack_delay(srtt, sstp_ack_answers(sp));
		sstp_ack_within(sp, now, wait);
	}
	if (sp->arrivals.has_cand) {
		wait = max_t(u64, srtt / 4, NSEC_PER_MSEC);
		sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + wait);
	} else if (sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sp->rcv.high)) {
		wait = sstp_ack_wait(sp, sp->acker.due_bytes == sp->acker.bytes_received ?
				     sp->acker.due_rounds : 0);
		sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + wait);
	}
}

/* May the report wait at @now (ns)? SSTP_T_ACK was set for an earlier one then, which has ridden
 * with data.
 */
static bool sstp_ack_early(const struct sstp_sock *sp, u64 now)
{
	return now < sp->acker.pack_due && !sp->acker.ack_now && !sp->arrivals.has_cand;
}

/* SSTP_T_ACK has expired at @now (ns): send the SNAK or PACK that waits, and look for retries. */
void sstp_ack_due(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 silent = now - sp->live.last_rx, wait;
	bool asks;

	if (!sstp_synchronized(sk))
		return;
	if (sstp_arrivals_confirm(&sp->arrivals, &sp->rcv, sstp_us(now),
				  max_t(u32, sstp_us(sstp_srtt_ns(&sp->rtt)) / 4, 1000)))
		sstp_rcv_accept(sk, now);
	if (sk->sk_state == TCP_CLOSE)
		return;
	if (sp->acker.eos_came)
		sstp_ack_eos(sp, now);
	sp->acker.snak_now = false;
	if (!sstp_ack_snak(sk, now)) {
		if (sstp_ack_early(sp, now)) {
			sstp_timer_sooner(&sp->clock, SSTP_T_ACK, sp->acker.pack_due);
		} else if (sp->acker.unacked || sp->acker.ack_now ||
			   sp->rcv.high != sp->acker.advertised) {
			sstp_ack_alone(sp);
			sstp_pack_send(sk, now);
		}
	}
	asks = sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sstp_ack_wanted(sk));
	if (!asks)
		sp->acker.asked_since = 0;
	else if (!sp->acker.asked_since)
		sp->acker.asked_since = now;
	if (!sp->arrivals.has_cand && !sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sp->rcv.high))
		return;
	if (asks && min(silent, now - sp->acker.asked_since) > sstp_user_timeout(sp)) {
		SSTP_INC(sock_net(sk), TIMEOUTS);
		sstp_done(sk, ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	/* Ask less often if packets come for which there is no memory or no room, and the longer
	 * nothing new comes. If no packet came, the request or the answer was lost, or could not be
	 * sent for lack of memory, or the peer does not want to answer.
	 */
	if (!sp->acker.due_since || sp->acker.due_bytes != sp->acker.bytes_received) {
		sp->acker.due_rounds = 0;
		sp->acker.due_since = now;
	} else if (sp->acker.refused && sp->acker.due_rounds < 12) {
		sp->acker.due_rounds++;
	}
	sp->acker.refused = false;
	sp->acker.due_bytes = sp->acker.bytes_received;
	wait = (now - sp->acker.due_since) >> (sp->hs.peer_rate ? 8 : 6);
	wait = max(sstp_ack_wait(sp, sp->acker.due_rounds), min(wait, 3ULL * NSEC_PER_SEC));
	sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + wait);
}
