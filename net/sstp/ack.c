// SPDX-License-Identifier: GPL-2.0
/*
 * PACK and SNAK: what the receiver says, and what the sender does about it.
 * Acknowledgements never wait for window messages nor hold them up: R_l tells
 * what was accepted, R_h what may be sent, each for itself.
 *
 * Socket lock throughout.
 */
#include <trace/events/sstp.h>
#include "ack.h"
#include "cc.h"
#include "drop.h"
#include "mem.h"
#include "nl_event.h"
#include "output.h"
#include "path.h"
#include "rcv_data.h"
#include "rcvbuf.h"
#include "small.h"
#include "sndbuf.h"
#include "sstp.h"
#include "state.h"

#define SSTP_ACK_BYTES		(256 << 10)	/* accepted, before a PACK */
#define SSTP_GRANT_BYTES	(32 << 10)	/* of memory, told to a sender in need */
#define SSTP_ACK_DELAY_MIN	(1 * NSEC_PER_MSEC)
#define SSTP_ACK_DELAY_MAX	(10 * NSEC_PER_MSEC)
#define SSTP_SNAK_BYTES		1152	/* of entries in a packet */
#define SSTP_CONTROL_WINDOW	BIT(20)	/* reports that may be lost in a row */
#define SSTP_SNAK_LEAST		64	/* the same, that any packet may draw */
#define SSTP_SNAK_BURST		32	/* packets at once */
#define SSTP_SNAK_SHARE		8	/* of what came, SNAKs send back one part in so many */
#define SSTP_SNAK_GAP		(100ULL * NSEC_PER_USEC) /* between them, at least */
/* Packets that the SNAKs of one skb may make us look at: all bits of a full SNAK, twice. */
#define SSTP_SNAK_BUDGET	(2 * 8 * SSTP_SNAK_BYTES)
#define SSTP_SNAK_ROUND		(10 * NSEC_PER_MSEC)	/* round trips that count, at least */

/* The last segment that is worth asking for. When memory has lacked that is the first
 * segment, and one more for each that came in since.
 */
static u32 sstp_ack_wanted(const struct sstp_sock *sp)
{
	struct sstp_want w;
	u32 to;

	sstp_rcvbuf_want(sp, &w);
	to = sstp_want_to(&w);
	if (sstp_after(to, sp->rcv.low + sp->acker.req_limit - 1))
		to = sp->rcv.low + sp->acker.req_limit - 1;
	return to;
}

/* At most once a while: the rates of the last interval of a round trip. */
static void sstp_ack_rates(struct sstp_sock *sp, u64 now)
{
	u64 interval = now - sp->acker.arrival_at;

	if (interval < max(sstp_srtt_ns(&sp->rtt), 10 * NSEC_PER_MSEC))
		return;
	/* In us: 2 GB in a long interval must not overflow. */
	interval = div_u64(interval, NSEC_PER_USEC);
	sp->acker.arrival_rate = div64_u64(sp->acker.arrival_bytes * 8 * USEC_PER_SEC,
					   interval);
	sp->acker.service_rate = div64_u64(sp->acker.service_bytes * 8 * USEC_PER_SEC,
					   interval);
	sp->acker.arrival_bytes = 0;
	sp->acker.service_bytes = 0;
	sp->acker.arrival_at = now;
}

static void sstp_ack_fill(struct sstp_sock *sp, struct sstp_ack *a, u64 now)
{
	struct sstp_rseg *s;

	memset(a, 0, sizeof(*a));
	sstp_ack_rates(sp, now);
	a->cid = sp->id.peer.cid;
	a->type = SSTP_PACK;
	if (sp->hs.strategy == SSTP_ACK_SOFT)
		a->flags |= SSTP_F_SOFT;
	if (sp->acker.has_accepted) {
		a->flags |= SSTP_F_SEGMENT;
		a->segment = sp->acker.ack_segment;
		sp->acker.has_accepted = false;
	}
	if (sp->acker.has_echo) {
		a->flags |= SSTP_F_ECHO;
		if (sp->acker.echo_padded)
			a->flags |= SSTP_F_PADDED;
		a->echo = sp->acker.echo;
		a->hold = sstp_us(now - sp->acker.echo_at);
	}
	a->control = sp->acker.snd_ctl++;
	a->ack = sp->rcv.low;
	a->limit = sp->rcv.high;
	a->highest = sp->arrivals.highest;
	a->received = sp->arrivals.received;
	a->arrival = min_t(u64, div_u64(sp->acker.arrival_rate, 1000), U32_MAX);
	a->service = min_t(u64, div_u64(sp->acker.service_rate, 1000), U32_MAX);
	s = sstp_rcv_slot(&sp->rcv, sp->rcv.low);
	a->late = min_t(u32, sp->arrivals.out + sp->arrivals.out_next, U16_MAX);
	a->progress = s ? s->next : 0;
	a->unsettled = sp->arrivals.highest - sstp_arrivals_settled(&sp->arrivals);
}

static void sstp_ack_done(struct sstp_sock *sp, u64 now)
{
	if (sp->acker.advertised != sp->rcv.high)
		trace_sstp_rcv_window(sp);
	sp->acker.advertised = sp->rcv.high;
	sp->acker.unacked = 0;
	sp->acker.ack_now = false;
	sp->acker.ack_sent = now;
}

static void sstp_ack_pack(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u8 buf[sizeof(struct sstp_ack_hdr)];
	struct sstp_ack a;

	sstp_ack_fill(sp, &a, now);
	sstp_build_ack(buf, &a);
	sstp_send_small(sk, buf, sizeof(buf));
	sp->stats.acks_sent++;
	SSTP_INC(sock_net(sk), OUTPACKS);
	sstp_ack_done(sp, now);
}

/* us until what was asked for is due again: a round trip and a quarter, as who but
 * receives measures it once and never learns how much it varies. Too early does
 * no harm, as the sender knows what is on its way.
 */
static u32 sstp_ack_retry(const struct sstp_rtt *rtt)
{
	u32 wait = sstp_rtt_timeout(rtt, 1000, 3 * USEC_PER_SEC);
	u32 srtt = sstp_rtt_smoothed(rtt, wait);

	return min(wait, srtt + srtt / 4 + 1000);
}

/* What SNAK @a of @len bytes at @p asks for */
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

/* @bytes came, headers below ours included: SNAKs may send a part of that back. */
void sstp_ack_credit(struct sstp_acker *ak, u32 bytes)
{
	const u32 most = SSTP_SNAK_SHARE * SSTP_SNAK_BURST *
			 (sizeof(struct sstp_ack_hdr) + SSTP_SNAK_BYTES);

	ak->snak_credit = min(ak->snak_credit + bytes, most);
}

/* Ask for what is lost and due. False if there was nothing. */
static bool sstp_ack_snak(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snak_job job = {
		.to = sstp_ack_wanted(sp),
		.now = sstp_us(now),
		.retry = sstp_ack_retry(&sp->rtt),
	};
	const u32 head = sizeof(struct sstp_ack_hdr);
	u32 most = SSTP_SNAK_BURST, room, len, n;
	struct sk_buff *skb;
	struct sstp_ack a;
	bool sent = false;

	if (sstp_after(sp->rcv.low, job.to))
		return false;
	/* Without room: is anything due? */
	sstp_rcv_snak(&sp->rcv, &sp->arrivals, NULL, 0, &job);
	/* Nobody may be there: one will be answered as well as all. */
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
		sstp_ack_fill(sp, &a, now);
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
		/* The next packet pays for asking for the rest. */
		sp->acker.snak_now = job.more;
		sstp_ack_done(sp, now);
	}
	return sent;
}

/* ns until we look again for what was asked for, when that has been in vain for
 * so many @rounds.
 */
static u64 sstp_ack_wait(const struct sstp_sock *sp, u8 rounds)
{
	u64 wait = NSEC_PER_USEC * (u64)sstp_ack_retry(&sp->rtt);

	return min(wait << rounds, max(wait, 3ULL * NSEC_PER_SEC));
}

/* May the window be what holds the sender up? A quarter of it is left, or less,
 * behind what may be on its way to us.
 */
static bool sstp_ack_near(const struct sstp_sock *sp)
{
	u32 left = sp->acker.advertised - sp->rcv.top;
	u64 flight = sstp_rtt_bytes(max(sp->acker.arrival_rate, sp->hs.peer_rate),
				    sstp_rtt_smoothed(&sp->rtt, 0));

	return left < sp->rcvbuf.window / 4 ||
	       (u64)(left - sp->rcvbuf.window / 4) * sstp_rcvbuf_segment(sp) < flight;
}

/* There is more room than before: tell the sender when it is worth it. */
static void sstp_ack_room(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 gained;

	if (!sstp_synchronized(sk))
		return;
	sstp_rcvbuf_wnd(sp);
	sstp_rcvbuf_grant(sp);
	sstp_rcv_tell(sk);
	gained = sp->rcv.high - sp->acker.advertised;
	if (gained && gained >= DIV_ROUND_UP(sp->rcvbuf.window, 4)) {
		sstp_ack_pack(sk, now);
	} else if (gained && !sstp_epollin_ready(sk) && sstp_ack_near(sp)) {
		/* What is not told makes the window smaller. */
		if ((u64)gained * sstp_mean(&sp->rcv) >= SSTP_GRANT_BYTES)
			sstp_ack_pack(sk, now);
		else
			sstp_timer_sooner(&sp->clock, SSTP_T_ACK,
					  now + SSTP_ACK_DELAY_MIN);
	}
	/* Room for what was discarded: ask for it without delay. */
	if (!sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sstp_ack_wanted(sp)))
		return;
	if (now - sp->acker.snak_sent > sstp_srtt_ns(&sp->rtt) / 16)
		sstp_ack_snak(sk, now);
	/* There is room again: ask for the rest without the back-off of requests in vain. */
	sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + sstp_ack_wait(sp, 0));
}

/* The program took segments. */
void sstp_ack_read(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sp->rcvbuf.full = false;
	sstp_debt_update(sk);
	sstp_rcvbuf_read(sk);
	sstp_ack_room(sk, sstp_now());
}

/* SSTP_T_RCVBUF */
void sstp_ack_epoch(struct sock *sk)
{
	u64 now = sstp_now();

	if (sstp_rcvbuf_epoch(sk, now))
		sstp_ack_room(sk, now);
}

/* Packets have come: acknowledge, ask again, or do it a little later. */
void sstp_ack_check(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now = sstp_now(), srtt = sstp_srtt_ns(&sp->rtt), due;
	u32 full;

	if (sk->sk_state == TCP_CLOSE)
		return;
	if (sstp_rcvbuf_epoch(sk, now))
		sstp_ack_room(sk, now);
	if (sstp_arrivals_confirm(&sp->arrivals, &sp->rcv, sstp_us(now),
				  max_t(u32, sstp_us(srtt) / 4, 1000))) {
		sstp_rcv_accept(sk);
		if (sk->sk_state == TCP_CLOSE)
			return;
		sp->acker.snak_now = true;
	}
	/* Without memory, the timer asks, and less and less often. */
	if (sp->acker.snak_now && !sp->rcvbuf.mem_limited) {
		due = sp->acker.snak_sent + max(srtt / 16, SSTP_SNAK_GAP);
		if (now >= due) {
			sp->acker.snak_now = false;
			sstp_ack_snak(sk, now);
		} else {
			sstp_timer_sooner(&sp->clock, SSTP_T_ACK, due);
		}
	}
	full = min_t(u64, (u64)sp->rcvbuf.window * sstp_mean(&sp->rcv) / 4, SSTP_ACK_BYTES);
	if (sp->acker.ack_now ||
	    (sp->acker.unacked && (sp->acker.unacked >= full || sp->set.quickack))) {
		sstp_rcvbuf_wnd(sp);
		sstp_rcvbuf_grant(sp);
		sstp_ack_pack(sk, now);
	} else if (sp->acker.unacked) {
		sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now +
				  clamp_t(u64, srtt / 4, SSTP_ACK_DELAY_MIN,
					  SSTP_ACK_DELAY_MAX));
	}
	if (sp->arrivals.has_cand)
		sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now +
				  max_t(u64, srtt / 4, NSEC_PER_MSEC));
	else if (sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sp->rcv.high))
		sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now +
				  sstp_ack_wait(sp, sp->rcvbuf.mem_limited && sp->acker.due_bytes ==
						sp->acker.bytes_received ?
						sp->acker.due_rounds : 0));
}

/* SSTP_T_ACK */
void sstp_ack_due(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now = sstp_now(), silent = now - sp->live.last_rx, wait;
	bool answered = sp->live.last_rx >= sp->acker.snak_sent;

	if (!sstp_synchronized(sk))
		return;
	if (sstp_arrivals_confirm(&sp->arrivals, &sp->rcv, sstp_us(now),
				  max_t(u32, sstp_us(sstp_srtt_ns(&sp->rtt)) / 4, 1000)))
		sstp_rcv_accept(sk);
	if (sk->sk_state == TCP_CLOSE)
		return;
	sp->acker.snak_now = false;
	if (!sstp_ack_snak(sk, now) &&
	    (sp->acker.unacked || sp->acker.ack_now || sp->rcv.high != sp->acker.advertised))
		sstp_ack_pack(sk, now);
	if (!sp->arrivals.has_cand && !sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sp->rcv.high))
		return;
	if (silent > sstp_user_timeout(sp)) {
		SSTP_INC(sock_net(sk), TIMEOUTS);
		sstp_done(sk, ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	/* It hears us, but what we ask for does not come: ask less often. */
	if (sp->acker.due_bytes != sp->acker.bytes_received)
		sp->acker.due_rounds = 0;
	else if (answered && sp->acker.due_rounds < 12)
		sp->acker.due_rounds++;
	sp->acker.due_bytes = sp->acker.bytes_received;
	wait = sstp_ack_wait(sp, sp->acker.due_rounds);
	wait = max(wait, silent >> (sp->hs.peer_rate ? 8 : 6));
	sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + wait);
}

static void sstp_ack_release(void *arg, struct sstp_sseg *s)
{
	struct sock *sk = arg;

	sstp_sk(sk)->stats.bytes_acked += s->len;
	sstp_sk(sk)->tx.queued -= s->len;
	sstp_mem_free_segment(sk, s);
	WRITE_ONCE(sstp_sk(sk)->tx.lacks_mem, false);
}

/* X of paper 004, section 3.3: what is sent again of a segment, on average. */
static void sstp_ack_extra(struct sstp_sock *sp, u32 lost)
{
	u32 shipped = sp->snd.shipment - sp->loss.shipped_recent, extra;

	sp->loss.lost_recent += lost;
	if (shipped < 4096)
		return;
	extra = DIV_ROUND_UP_ULL((u64)sp->loss.lost_recent *
				 DIV_ROUND_UP(sp->set.segment_size, sp->path.size),
				 shipped);
	sp->loss.lost_recent = 0;
	sp->loss.shipped_recent = sp->snd.shipment;
	if (extra != sp->loss.extra) {
		sp->loss.extra = extra;
		sstp_update_rate(sp, GFP_ATOMIC);
	}
}

/* Of segment @s, the first that the peer lacks, it asks for packet @packet. */
static void sstp_ack_pmtu_bh(struct sock *sk, const struct sstp_sseg *s, u32 packet,
			     const struct sstp_ack *a)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_pmtud_report r = {
		.segment = s->number,
		.packet = packet,
		.size = sstp_overhead(&sp->id) + SSTP_DATA_HLEN + sstp_sseg_bytes(s, packet),
		.received = a->received,
		.highest = a->highest,
		.shipment = sp->snd.shipment - 1,
	};

	if (sstp_pmtud_bh(&sp->path.pmtud, &r))
		sstp_mtu_update(sk);
}

static u32 sstp_ack_requests(struct sock *sk, const void *p, u32 len,
			     const struct sstp_ack *a)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snak_iter it;
	struct sstp_snak_run run;
	/* Of what left later the peer does not know yet whether it is lost. */
	u32 settled = a->highest - min(a->unsettled, BIT(30)), lost = 0, n;
	bool first = true;

	sstp_snak_start(&it, p, len, a);
	/* What is left of it will be asked for again. */
	while (sp->loss.looks && sp->snd.vain && sstp_snak_next(&it, &run)) {
		n = sstp_snd_snak(&sp->snd, &run, settled, &sp->loss.looks);
		if (first) {
			u32 packet = run.bits ? run.first : 0;
			struct sstp_sseg *s;

			s = sstp_snd_segment(&sp->snd, run.segment);
			if (s && run.segment == sp->snd.low && packet < s->packets)
				sstp_ack_pmtu_bh(sk, s, packet, a);
		}
		first = false;
		lost += n;
	}
	return lost;
}

/* Of the @asked packets that a report of @received and @highest asks for, those that the
 * path lost. Others came, but found no room: that says nothing about the path.
 */
static u32 sstp_ack_vanished(struct sstp_loss *l, u32 asked, u32 highest,
			     u32 received, u32 *undue)
{
	s32 lost;

	l->lost_total += (s32)(highest - l->prev_highest) -
		       (s32)(received - l->prev_received);
	l->prev_highest = highest;
	l->prev_received = received;
	/* What was late, or came twice, makes up for nothing later. */
	*undue = max(l->lost_reported - l->lost_total, 0);
	l->lost_reported -= *undue;
	lost = clamp_t(s64, (s64)l->lost_total - l->lost_reported, 0, asked);
	l->lost_reported += lost;
	return lost;
}

/* Does report @a say that more was accepted, or may be sent, than ever before? It is this
 * that the user timeout waits for. What came is not: the receiver may have had no use for
 * it. @more: it names a segment for the first time; @was_high: S_h before.
 */
static void sstp_ack_progress(struct sstp_sock *sp, const struct sstp_ack *a, bool more,
			      u32 was_high, u64 now)
{
	const struct sstp_snd_wnd *w = &sp->snd;
	const struct sstp_sseg *s = w->low == w->end ? NULL : sstp_snd_segment(w, w->low);
	u32 packets = min(a->progress, s ? s->next : 0);

	if (w->low == sp->loss.progress_low && packets <= sp->loss.progress_packets &&
	    w->high == was_high && !more)
		return;
	if (w->low != sp->loss.progress_low)
		sp->loss.progress_packets = 0;
	sp->loss.progress_low = w->low;
	sp->loss.progress_packets = max(sp->loss.progress_packets, packets);
	sp->loss.progress = now;
	sp->tx.rtx_since = 0;
}

/* The PACKs and SNAKs of an skb follow. */
void sstp_ack_begin(struct sstp_sock *sp, u64 now)
{
	bool round = now - sp->loss.looks_at >= max(sstp_srtt_ns(&sp->rtt), SSTP_SNAK_ROUND);

	if (round)
		sp->loss.looks_at = now;
	sp->loss.looks = SSTP_SNAK_BUDGET;
	sstp_snd_begin(&sp->snd, round);
}

/* A report tells of a highest shipment that is none, but is right else: the peer believed
 * a packet that we did not send. It takes our word for it when we have given it twice.
 */
static void sstp_ack_correct(struct sock *sk, const struct sstp_ack *a, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 wait = max(sstp_srtt_ns(&sp->rtt) / 4, NSEC_PER_MSEC);

	if (a->control - sp->loss.rcv_ctl > SSTP_CONTROL_WINDOW ||
	    a->ack - sp->snd.low > sp->snd.next + 1 - sp->snd.low ||
	    sstp_before(a->limit, sp->snd.high) || now - sp->loss.corrected_at < wait)
		return;
	sp->loss.corrected_at = now;
	sstp_send_context(sk, SSTP_F_ACK);
}

/* The path does not carry the contract: congestion control within it, as after a time-out.
 * Its window would have been cut long before, again and again, so it comes back to a
 * quarter of what arrived in a round trip without a queue, and from there goes on as all
 * others do.
 */
static void sstp_ack_broken(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_ctrl_ops *ops = sstp_ctrl_get(sstp_ctrl_newreno.name);
	struct sstp_ctrl_sample s = {};

	if (!ops)
		return;
	sstp_cc_switch(sp, ops, sp->breaker.carried / 2);
	sstp_cc_sample(sp, &s, now);
	sstp_ctrl_timeout(&sp->ctrl, &s);
	SSTP_INC(sock_net(sk), CONTRACTSBROKEN);
	trace_sstp_breaker(sp);
	sstp_nl_broken(sk);
}

/* Tell the circuit breaker of report @a, from which @sample is, and do what it decides about
 * the contract.
 */
static void sstp_ack_breaker(struct sock *sk, const struct sstp_ack *a,
			     const struct sstp_ctrl_sample *sample, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_ctrl_ops *ops;

	switch (sstp_breaker_report(&sp->breaker, now, sp->loss.highest, a->received,
				    sample->rtt, sample->srtt)) {
	case SSTP_BREAKER_GO_ON:
		break;
	case SSTP_BREAKER_TRIP:
		sstp_ack_broken(sk, now);
		break;
	case SSTP_BREAKER_RETRY:
		ops = sstp_ctrl_get(sstp_ctrl_rate.name);
		if (!ops)
			break;
		sstp_cc_switch(sp, ops, sstp_in_flight(sp));
		SSTP_INC(sock_net(sk), CONTRACTSTRIED);
		trace_sstp_breaker(sp);
		sstp_nl_tried(sk);
		break;
	}
}

/* Does report @a follow the last one and say nothing that cannot be? Else @skb is counted
 * as dropped. What a receiver reports never goes back, and never beyond what was sent: few
 * numbers pass, so that a forged PACK hardly ever does.
 */
static bool sstp_ack_valid(struct sock *sk, struct sk_buff *skb, const struct sstp_ack *a,
			   u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_snd_wnd *w = &sp->snd;
	bool unsent = a->highest - sp->loss.highest > w->shipment - 1 - sp->loss.highest;

	/* Seen already, or overtaken by a later one that says more. */
	if (sstp_before(a->control, sp->loss.rcv_ctl)) {
		sstp_drop(sk, skb, SSTP_MIB_INDUPLICATE, 1);
		return false;
	}
	if (a->control - sp->loss.rcv_ctl <= SSTP_CONTROL_WINDOW && !unsent &&
	    !sstp_before(a->ack, w->low) && !sstp_before(a->limit, w->high))
		return true;
	if (unsent)
		sstp_ack_correct(sk, a, now);
	sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
	return false;
}

/* Release the segments that report @a acknowledges. False if they are not in the window. */
static bool sstp_ack_apply(struct sock *sk, const struct sstp_ack *a)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snd_wnd *w = &sp->snd;
	bool ended = sp->tx.eos >= SSTP_EOS_SENT && a->ack == w->end + 1;

	if (!sstp_snd_ack(w, ended ? w->end : a->ack, a->limit, sstp_ack_release, sk))
		return false;
	if (ended)
		sp->tx.eos = SSTP_EOS_ACKED;
	sp->loss.rcv_ctl = a->control + 1;
	return true;
}

/* The peer is there. */
static void sstp_ack_heard(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sp->live.last_rx = now;
	sp->tx.asked_at = sstp_stamp(&sp->hs, now);
	sp->tx.silent_since = 0;
	sp->live.probes = 0;
	sp->live.keepalives = 0;
	sk->sk_err_soft = 0;
}

/* Sample the round-trip time, if @a echoes a timestamp. */
static void sstp_ack_rtt(struct sock *sk, const struct sstp_ack *a,
			 struct sstp_ctrl_sample *sample, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (!(a->flags & SSTP_F_ECHO))
		return;
	sample->rtt = sstp_stamp(&sp->hs, now) - a->echo - a->hold;
	sstp_rtt_sample(&sp->rtt, sample->rtt, sstp_us(now));
	if (a->flags & SSTP_F_PADDED && sstp_pmtud_echo(&sp->path.pmtud, a->echo))
		sstp_mtu_update(sk);
}

/* Sample what came to the receiver. */
static void sstp_ack_delivered(struct sstp_sock *sp, const struct sstp_ack *a,
			       struct sstp_ctrl_sample *sample)
{
	u32 was_highest = sp->loss.highest;

	if (sstp_after(a->highest, sp->loss.highest))
		sp->loss.highest = a->highest;
	sp->loss.late = a->late;
	sample->delivered = a->received - sp->loss.received;
	if (sample->delivered > 1U << 30)
		sample->delivered = 0;
	else
		sp->loss.received = a->received;
	/* What it says moves the controller: no more than can be true. */
	sample->delivered = min(sample->delivered, sp->snd.shipment - was_highest +
						   SSTP_REORDER_MAX);
	sp->stats.delivery_rate = a->arrival * 1000ULL;
}

/* Sample what was lost; what SNAK @a of @len bytes at @p asks for is to be shipped again. */
static void sstp_ack_lost(struct sock *sk, const void *p, u32 len, const struct sstp_ack *a,
			  struct sstp_ctrl_sample *sample)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct net *net = sock_net(sk);
	u32 asked = 0;

	if (a->type == SSTP_SNAK) {
		sp->stats.snaks_received++;
		SSTP_INC(net, INSNAKS);
		sp->snd.lost = sp->loss.highest - BIT(30);
		asked = sstp_ack_requests(sk, p, len, a);
		sample->lost_ship = sp->snd.lost;
	} else {
		sp->stats.acks_received++;
		SSTP_INC(net, INPACKS);
	}
	sample->lost = sstp_ack_vanished(&sp->loss, asked, sp->loss.highest - sp->loss.late,
					 a->received, &sample->undue);
	sp->stats.packets_lost += sample->lost;
	if (a->type == SSTP_SNAK)
		trace_sstp_snak_rcv(sp, asked, sample->lost);
	sstp_ack_extra(sp, asked);
}

/* Tell the controller; @flight packets were in flight before. */
static void sstp_ack_control(struct sstp_sock *sp, const struct sstp_ack *a, u32 flight,
			     struct sstp_ctrl_sample *sample, u64 now)
{
	sstp_cc_sample(sp, sample, now);
	sample->highest = sp->loss.highest - sp->loss.late;
	sample->arrival_rate = a->arrival * 1000ULL;
	sample->service_rate = a->service * 1000ULL;
	sstp_ctrl_used(&sp->ctrl, sample, flight);
	sstp_ctrl_report(&sp->ctrl, sample);
	trace_sstp_ctrl(sp, sample, false);
}

/* When to probe, after a report that moved the window (@moved), brought news of data
 * (@news), or answered a probe (@probed).
 */
static void sstp_ack_probes(struct sock *sk, bool moved, bool news, bool probed)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (moved) {
		sp->live.blocked = 0;
		trace_sstp_snd_window(sp);
		sk->sk_write_space(sk);
	} else if (probed && sstp_after(sp->snd.next, sp->snd.high) && !news) {
		/* Still closed: ask less and less often. */
		if (sp->live.blocked < U8_MAX)
			sp->live.blocked++;
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
	}
	/* A receiver that asks and asks, but sees nothing new, must not keep us
	 * from showing it where we are.
	 */
	if (moved || news)
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
}

/* A PACK or SNAK of @len bytes, at @off of @skb, which is linear. */
void sstp_ack_rcv(struct sock *sk, struct sk_buff *skb, u32 off, u32 len)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snd_wnd *w = &sp->snd;
	struct sstp_ctrl_sample sample = {};
	u32 was_low = w->low, was_high = w->high, was_highest = sp->loss.highest;
	u32 flight = sstp_in_flight(sp);
	bool probed = sp->live.probes, more = false, moved, news;
	const void *p = skb->data + off;
	u64 now = sstp_now();
	struct sstp_ack a;

	if (!sstp_parse_ack(p, len, &a)) {
		sstp_drop(sk, skb, SSTP_MIB_INERRFORMAT, 1);
		return;
	}
	if (!sstp_ack_valid(sk, skb, &a, now))
		return;
	if (!sstp_ack_apply(sk, &a)) {
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
		return;
	}
	sstp_ack_heard(sk, now);
	if (a.flags & SSTP_F_SEGMENT) {
		more = sstp_snd_accept(w, a.segment, a.flags & SSTP_F_SOFT,
				       sstp_ack_release, sk);
		sk->sk_write_space(sk);
	}
	sstp_ack_rtt(sk, &a, &sample, now);
	sstp_ack_delivered(sp, &a, &sample);
	sstp_ack_lost(sk, p, len, &a, &sample);
	sstp_ack_control(sp, &a, flight, &sample, now);
	sstp_ack_breaker(sk, &a, &sample, now);
	sstp_sndbuf_grow(sk);

	moved = w->low != was_low || w->high != was_high;
	news = sample.delivered || sp->loss.highest != was_highest;
	sstp_ack_progress(sp, &a, more, was_high, now);
	sstp_ack_probes(sk, moved, news, probed);
	sstp_push(sk);
	sstp_state_check(sk);
}
