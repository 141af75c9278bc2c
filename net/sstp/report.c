// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's reports, PACK and SNAK, at the sender: segments are released, lost packets are
 * shipped again, the path is measured, and the controller is told of it. ack.c makes the reports.
 *
 * Socket lock throughout.
 */
#include <trace/events/sstp.h>
#include "ack.h"
#include "cc.h"
#include "drop.h"
#include "mem.h"
#include "message.h"
#include "nl_event.h"
#include "output.h"
#include "path.h"
#include "report.h"
#include "small.h"
#include "sndbuf.h"
#include "sstp.h"
#include "state.h"

#define SSTP_CONTROL_WINDOW	BIT(20)	/* reports that may be lost in a row */
/* Packets that the SNAKs of one skb may make the sender examine: the bits of two full SNAKs */
#define SSTP_SNAK_BUDGET	(2 * 8 * SSTP_SNAK_BYTES)
#define SSTP_HOLD_MAX		USEC_PER_SEC	/* us: clocks of both ends differ by little in it */
#define SSTP_WANTED_GAP		(10ULL * NSEC_PER_SEC)	/* a peer repeats a request sooner */
#define SSTP_SNAK_ROUND		(10 * NSEC_PER_MSEC)	/* least round trip of sstp_snd_begin() */

static void sstp_report_release(void *arg, struct sstp_sseg *s)
{
	struct sock *sk = arg;

	sstp_sk(sk)->stats.bytes_acked += s->len;
	sstp_sk(sk)->tx.queued -= s->len;
	sstp_mem_free_segment(sk, s);
	WRITE_ONCE(sstp_sk(sk)->tx.lacks_mem, false);
}

void sstp_report_all(struct sock *sk)
{
	struct sstp_snd_wnd *w = &sstp_sk(sk)->snd;

	sstp_snd_ack(w, w->end, w->high, sstp_report_release, sk);
}

/* Measure X of WUCS-92-38, section 3.3: the retransmissions to expect for a segment, from the
 * share of packets asked for (@lost in this report) in 4096 shipments or more. L follows it.
 */
static void sstp_report_extra(struct sstp_sock *sp, u32 lost)
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

/* SNAK @a asks for packet @packet of segment S_l (@s) first: if that is repeated, its size may
 * be in a path MTU black hole. Shipments up to @settled have come or were declared lost.
 */
static void sstp_report_pmtu_bh(struct sock *sk, const struct sstp_sseg *s, u32 packet,
				const struct sstp_ack *a, u32 settled)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_pmtud_report r = {
		.segment = s->number,
		.packet = packet,
		.size = sstp_overhead(&sp->id) + SSTP_DATA_HLEN + sstp_sseg_bytes(s, packet),
		.received = a->received,
		.highest = a->highest,
		.late = a->late,
		.settled = settled,
		.shipment = sp->snd.shipment - 1,
	};

	if (sstp_pmtud_bh(&sp->path.pmtud, &r))
		sstp_mtu_update(sk);
}

/* Mark the packets that SNAK @a, of @len bytes at @p, asks for as to be shipped again. Returns
 * their number.
 */
static u32 sstp_report_requests(struct sock *sk, const void *p, u32 len,
				const struct sstp_ack *a)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snak_iter it;
	struct sstp_snak_run run;
	/* For later shipments the peer cannot know yet whether they are late or lost. */
	u32 settled = a->highest - min(a->unsettled, BIT(30)), lost = 0, n;
	bool first = true;

	sstp_snak_start(&it, p, len, a);
	/* Entries that exceed the budget are ignored: the peer asks for them again. */
	while (sp->loss.looks && sstp_snd_may_look(&sp->snd) && sstp_snak_next(&it, &run)) {
		n = sstp_snd_snak(&sp->snd, &run, settled, &sp->loss.looks);
		if (first) {
			u32 packet = run.bits ? run.first : 0;
			struct sstp_sseg *s;

			s = sstp_snd_segment(&sp->snd, run.segment);
			if (s && run.segment == sp->snd.low && packet < s->packets)
				sstp_report_pmtu_bh(sk, s, packet, a, settled);
		}
		first = false;
		lost += n;
	}
	return lost;
}

/* Of @most packets, which a report asks for, how many did the path lose? The others came, but
 * were discarded for lack of room, which is no sign of congestion. @highest, @received: of the
 * report, shipments that may be late subtracted. @undue is set to the number of packets that
 * were counted as lost before, but have come.
 */
static u32 sstp_report_vanished(struct sstp_loss *l, u32 most, u32 highest,
				u32 received, u32 *undue)
{
	s32 lost;

	l->lost_total += highest - l->prev_highest - (received - l->prev_received);
	l->prev_highest = highest;
	l->prev_received = received;
	/* Take back losses that were only late, or copies would hide later losses. */
	*undue = max((s32)(l->lost_reported - l->lost_total), 0);
	l->lost_reported -= *undue;
	lost = l->lost_total - l->lost_reported;
	lost = clamp_t(s64, lost, 0, most);
	l->lost_reported += lost;
	return lost;
}

/* Restart the user timeout if report @a shows progress: S_l or S_h (@was_high before) moved,
 * more packets of segment S_l are without a gap than ever, or @more: a segment was accepted
 * for the first time. A higher count of packets received is no progress, as the receiver may
 * have discarded them.
 */
static void sstp_report_progress(struct sstp_sock *sp, const struct sstp_ack *a, bool more,
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
	sp->tx.wanted_since = 0;
	sp->tx.in_vain = false;
}

/* A SNAK came at @now (ns). A peer that has asked for as long as the user timeout, and accepted
 * nothing, never will: the connection ends, whether the packets are shipped again or taken to be on
 * their way. A full receive buffer is no such case, as the peer then asks for nothing; the first
 * SNAK after that is still to be answered. While a contract with rare bursts lets no packet go, the
 * peer waits for this end.
 */
static void sstp_report_wanted(struct sstp_sock *sp, u64 now)
{
	u64 timeout = sstp_user_timeout(sp);

	if (sp->snd.shipment != sp->loss.wanted_ship) {
		sp->loss.wanted_ship = sp->snd.shipment;
		sp->loss.shipped_at = now;
	}
	if (!sp->tx.wanted_since || now - sp->loss.wanted_at > max(timeout / 2, SSTP_WANTED_GAP)) {
		sp->tx.wanted_since = now;
	} else if (sp->snd.pending && sstp_timer_pending(&sp->clock, SSTP_T_PACE) &&
		   now - sp->loss.shipped_at > timeout / 8) {
		sp->tx.wanted_since += now - sp->loss.wanted_at;
	} else if (sp->loss.wanted_at - sp->tx.wanted_since > timeout) {
		sp->tx.in_vain = true;
		sstp_timer_sooner(&sp->clock, SSTP_T_LIFE, now);
	}
	sp->loss.wanted_at = now;
}

/* Reset the budget for the PACKs and SNAKs of one skb, which sstp_report_rcv() handles next. */
void sstp_report_begin(struct sstp_sock *sp, u64 now)
{
	bool round = now - sp->loss.looks_at >= max(sstp_srtt_ns(&sp->rtt), SSTP_SNAK_ROUND);

	if (round)
		sp->loss.looks_at = now;
	sp->loss.looks = SSTP_SNAK_BUDGET;
	sstp_snd_begin(&sp->snd, round);
}

/* Report @a names a highest shipment that was never sent, but is valid otherwise: the peer
 * accepted a forged packet. Send a KEEPALIVE or EOS with the true shipment; the second one in
 * a row makes the peer correct H.
 */
static void sstp_report_correct(struct sock *sk, const struct sstp_ack *a, u64 now)
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

/* The circuit breaker tripped: let hybrid take over, with the contract as its ceiling, as
 * after a time-out. A congestion-controlled flow would have cut its window several times by
 * now, so slow start ends at a quarter of the packets that arrived in the lowest round-trip
 * time: 5/14 of it are passed here, and the time-out takes 0.7 of that.
 */
static void sstp_report_broken(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_ctrl_ops *ops = sstp_ctrl_get(sstp_ctrl_hybrid.name);
	struct sstp_ctrl_sample s = {};

	if (!ops)
		return;
	sstp_cc_switch(sp, ops, div_u64(sp->breaker->carried * 5ULL, 14));
	sstp_cc_sample(sp, &s, now);
	sstp_ctrl_timeout(&sp->ctrl, &s);
	SSTP_INC(sock_net(sk), CONTRACTSBROKEN);
	trace_sstp_breaker(sp);
	sstp_nl_broken(sk);
}

/* Account report @a, of which @sample was taken, in the circuit breaker, and suspend the
 * contract or put it in force again as the breaker decides.
 */
static void sstp_report_breaker(struct sock *sk, const struct sstp_ack *a,
				const struct sstp_ctrl_sample *sample, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_ctrl_ops *ops;

	if (!sp->breaker)
		return;
	switch (sstp_breaker_report(sp->breaker, now, sp->loss.highest, a->received,
				    sample->rtt, sample->srtt)) {
	case SSTP_BREAKER_GO_ON:
		break;
	case SSTP_BREAKER_TRIP:
		sstp_report_broken(sk, now);
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

/* Is report @a new, and possible? If not, count it as dropped. A receiver's numbers never go
 * back, nor beyond the numbers sent, so that a forged report has to hit small windows.
 */
static bool sstp_report_valid(struct sock *sk, struct sk_buff *skb, const struct sstp_ack *a,
			      u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_snd_wnd *w = &sp->snd;
	bool unsent = a->highest - sp->loss.highest > w->shipment - 1 - sp->loss.highest;

	/* A duplicate, or overtaken by a later report, which covers it. */
	if (sstp_before(a->control, sp->loss.rcv_ctl)) {
		sstp_drop(sk, skb, SSTP_MIB_INDUPLICATE, 1);
		return false;
	}
	if (a->control - sp->loss.rcv_ctl <= SSTP_CONTROL_WINDOW && !unsent &&
	    !sstp_before(a->ack, w->low) && !sstp_before(a->limit, w->high))
		return true;
	if (unsent)
		sstp_report_correct(sk, a, now);
	sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
	return false;
}

/* Release the segments that report @a acknowledges. False if they are not in the window. */
static bool sstp_report_apply(struct sock *sk, const struct sstp_ack *a)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snd_wnd *w = &sp->snd;
	bool ended = sp->tx.eos >= SSTP_EOS_SENT && a->ack == w->end + 1;

	if (!sstp_snd_ack(w, ended ? w->end : a->ack, a->limit, sstp_report_release, sk))
		return false;
	if (ended)
		sp->tx.eos = SSTP_EOS_ACKED;
	sp->loss.rcv_ctl = a->control + 1;
	return true;
}

/* A valid report came: clear the state of probes, and a soft error. */
static void sstp_report_heard(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sp->live.last_rx = now;
	sp->tx.asked_at = sstp_stamp(&sp->hs, now);
	sp->tx.silent_since = 0;
	sp->live.probes = 0;
	sp->live.keepalives = 0;
	sk->sk_err_soft = 0;
}

/* A sample has replaced the guess of the round-trip time, which may have been much too large. Set
 * the timers again that were set by the guess, and let the receive buffer follow the path, whose
 * bandwidth-delay product was not known until now.
 */
static void sstp_report_measured(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sstp_timer_sooner(&sp->clock, SSTP_T_ACK,
			  now + max(sstp_srtt_ns(&sp->rtt) / 4, NSEC_PER_MSEC));
	/* sstp_push() sets it again. In SYN_RECV it is that of TCP_DEFER_ACCEPT. */
	if (sk->sk_state != TCP_SYN_RECV)
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
	sstp_ack_room(sk, now);
}

/* Sample the round-trip time, if @a echoes a timestamp. */
static void sstp_report_rtt(struct sock *sk, const struct sstp_ack *a,
			    struct sstp_ctrl_sample *sample, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool guess = sp->rtt.guess;

	if (!(a->flags & SSTP_F_ECHO))
		return;
	sample->rtt = sstp_stamp(&sp->hs, now) - a->echo - a->hold;
	sstp_rtt_sample(&sp->rtt, sample->rtt, sstp_us(now));
	if (sp->rcvbuf.gauge)
		sstp_gauge_answered(sp->rcvbuf.gauge);
	/* A controller may keep the lowest sample for ever, so it gets none that may be wrong. */
	if (sample->rtt > SSTP_RTT_MAX || a->hold > SSTP_HOLD_MAX)
		sample->rtt = 0;
	if (guess && !sp->rtt.guess)
		sstp_report_measured(sk, now);
	if (a->flags & SSTP_F_PADDED && sstp_pmtud_echo(&sp->path.pmtud, a->echo))
		sstp_mtu_update(sk);
}

/* Sample the number of packets that report @a newly reports received. */
static void sstp_report_delivered(struct sstp_sock *sp, const struct sstp_ack *a,
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
	/* The peer's number drives the controller: bound it by the packets shipped. */
	sample->delivered = min(sample->delivered, sp->snd.shipment - was_highest +
						   SSTP_REORDER_MAX);
	sp->loss.delivered += sample->delivered;
	sp->stats.delivery_rate = a->arrival * 1000ULL;
}

/* Marks are no use on this path, or with this peer: DATA has no ECT from now on. */
static void sstp_report_ecn_failed(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct net *net = sock_net(sk);

	sp->loss.ecn_field = 0;
	switch (sp->loss.ecn.state) {
	case SSTP_ECN_BLEACHED:
		SSTP_INC(net, ECNBLEACHED);
		break;
	case SSTP_ECN_ALL_MARKED:
		SSTP_INC(net, ECNALLMARKED);
		break;
	case SSTP_ECN_DROPPED:
		SSTP_INC(net, ECNDROPPED);
		break;
	case SSTP_ECN_INVALID:
		SSTP_INC(net, ECNINVALID);
		break;
	}
	sstp_nl_ecn_failed(sk);
}

/* Sample the packets that report @a newly reports marked. */
static void sstp_report_marks(struct sock *sk, const struct sstp_ack *a,
			      struct sstp_ctrl_sample *sample)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_ecn_report r = {
		.delivered = sample->delivered,
		.received = a->received,
		.ect = a->ect,
		.ce = a->ce,
		.highest = sp->loss.highest,
		.settled = a->highest - a->unsettled,
		.shipped = sp->snd.shipment - 1,
		.rtt = sample->rtt,
		.min_rtt = sp->rtt.min,
	};

	sample->ce = sstp_ecn_update(&sp->loss.ecn, &r);
	sp->stats.packets_marked += sample->ce;
	SSTP_SK_ADD(sp, ECNMARKED, sample->ce);
	if (sp->loss.ecn_field && !sstp_ecn_works(&sp->loss.ecn))
		sstp_report_ecn_failed(sk);
}

/* Sample the delivery rate, if report @a answers a packet. @flight: packets in flight before */
static void sstp_report_rate(struct sstp_sock *sp, const struct sstp_ack *a, u32 flight,
			     struct sstp_ctrl_sample *sample, u64 now)
{
	const u32 at = sstp_stamp(&sp->hs, now);
	const struct sstp_sample_mark r = {
		.at = at,
		.sent = a->echo,
		.came = at - a->hold,
		.delivered = sp->loss.delivered,
		.highest = sp->loss.highest - sp->loss.late,
	};
	struct sstp_delivery d;

	/* An echo that was no valid round-trip time is of no use here either. */
	if (!sample->rtt)
		return;
	sstp_sample_report(&sp->loss.sampler, &r, sstp_rtt_smoothed(&sp->rtt, 0), flight, &d);
	/* No packet is delivered sooner: the peer's numbers are wrong. */
	if (d.interval < sp->rtt.min)
		return;
	sample->rate_delivered = d.packets;
	sample->rate_interval = d.interval;
	sample->rate_prior = d.prior;
	sample->app_limited = d.app_limited;
	sample->tx_in_flight = d.flight;
	sample->tx_lost = d.lost;
	if (d.packets)
		sp->stats.delivery = d;
}

/* Sample the losses, and schedule the retransmissions that SNAK @a, of @len bytes at @p, asks
 * for.
 */
static void sstp_report_lost(struct sock *sk, const void *p, u32 len, const struct sstp_ack *a,
			     struct sstp_ctrl_sample *sample)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 was_highest = sp->loss.prev_highest, asked = 0, most = 0;

	if (a->type == SSTP_SNAK) {
		sp->stats.snaks_received++;
		SSTP_SK_INC(sp, INSNAKS);
		sp->snd.lost = sp->loss.highest - BIT(30);
		sp->snd.ranges = 0;
		asked = sstp_report_requests(sk, p, len, a);
		sample->lost_ship = sp->snd.lost;
		sample->lost_ranges = sp->snd.ranges;
		memcpy(sample->lost_range, sp->snd.range, sizeof(sample->lost_range));
	} else {
		sp->stats.acks_received++;
		SSTP_SK_INC(sp, INPACKS);
	}
	/* No report asks for packets that the peer's tolerance lets it do without. Which they are
	 * is not known: they count as lost before this report, lest one queue that overflowed
	 * cause two cuts.
	 */
	if (sp->hs.tolerance)
		most = sp->snd.shipment - was_highest + SSTP_REORDER_MAX;
	sample->lost = sstp_report_vanished(&sp->loss, max(asked, most),
					    sp->loss.highest - sp->loss.late, a->received,
					    &sample->undue);
	if (sample->lost > asked && (!asked || sstp_before(sample->lost_ship, was_highest)))
		sample->lost_ship = was_highest;
	sp->stats.packets_lost += sample->lost;
	if (a->type == SSTP_SNAK)
		trace_sstp_snak_rcv(sp, asked, sample->lost);
	sstp_report_extra(sp, asked);
}

/* Does the path seem to lose packets? @flight, @lost: packets in flight, and lost_total, before
 * the report
 */
static void sstp_report_wary(struct sstp_sock *sp, u32 flight, u32 lost)
{
	if (sstp_after(sp->loss.lost_total, lost))
		sp->loss.wary = SSTP_WARY;
	else if (sp->loss.wary && flight && flight <= SSTP_WARY && !sstp_in_flight(sp))
		sp->loss.wary--;
}

/* Pace a stream by what the peer grants. Messages of a SOCK_SEQPACKET socket differ in size. */
static void sstp_report_granted(struct sstp_sock *sp)
{
	u32 packets = 0;

	if (sp->sk.sk_type == SOCK_STREAM && sp->ctrl.out.cwnd != SSTP_CWND_MAX) {
		packets = DIV_ROUND_UP(sstp_stream_size(sp), sp->path.size);
		packets = max(sstp_snd_granted(&sp->snd, packets), sstp_in_flight(sp));
	}
	sstp_ctrl_grant(&sp->ctrl, packets, sstp_srtt_ns(&sp->rtt));
}

/* Call the controller with the sample of report @a; @flight: packets in flight before it */
static void sstp_report_control(struct sstp_sock *sp, const struct sstp_ack *a, u32 flight,
				struct sstp_ctrl_sample *sample, u64 now)
{
	sstp_cc_sample(sp, sample, now);
	sample->prior_in_flight = flight;
	sample->late = sp->loss.late;
	sample->highest = sp->loss.highest - sample->late;
	if (sample->ce && (!sample->lost || sstp_before(sample->lost_ship, sample->highest)))
		sample->lost_ship = sample->highest;
	sample->arrival_rate = a->arrival * 1000ULL;
	sample->service_rate = a->service * 1000ULL;
	sample->feedback = (struct sstp_feedback){
		.valid = a->fields & BIT(SSTP_FIELD_FORECAST),
		.forecast = a->forecast,
		.horizon = a->horizon,
		.queue = a->queue,
		.refused = a->refused,
	};
	sstp_ctrl_used(&sp->ctrl, sample, flight);
	sstp_ctrl_report(&sp->ctrl, sample);
	sstp_report_granted(sp);
	trace_sstp_ctrl(sp, sample, false);
}

/* Rearm the probe timer after a report. @moved: S_l or S_h moved; @news: it reports shipments
 * or packets for the first time; @probed: probes were unanswered before it.
 */
static void sstp_report_probes(struct sock *sk, bool moved, bool news, bool probed)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (moved) {
		trace_sstp_snd_window(sp);
		sk->sk_write_space(sk);
	}
	/* In SYN_RECV SSTP_T_PROBE ends the time of TCP_DEFER_ACCEPT. */
	if (sk->sk_state == TCP_SYN_RECV)
		return;
	/* SNAKs without news leave the timer armed: a probe shows the peer the last shipment,
	 * without which it cannot tell that its requests were lost.
	 */
	if (moved || news) {
		sp->live.blocked = 0;
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
	} else if (probed && (sstp_after(sp->snd.next, sp->snd.high) || sstp_probe_paced(sp) ||
			      (!sstp_in_flight(sp) && sstp_snd_outstanding(&sp->snd)))) {
		/* The window is still closed, or the contract holds back all packets, or the peer
		 * has no room or memory for packets that it has discarded: the interval of probes
		 * doubles.
		 */
		if (sp->live.blocked < U8_MAX)
			sp->live.blocked++;
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
	}
}

/* Handle a PACK or SNAK of @len bytes of @skb, which are at @p and came at @now (ns). Of a PACK
 * only the headers need to be there. Returns where the DATA packet or EOS that follows begins, or
 * 0.
 */
u32 sstp_report_rcv(struct sock *sk, struct sk_buff *skb, const void *p, u32 len, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snd_wnd *w = &sp->snd;
	struct sstp_ctrl_sample sample = {};
	u32 was_low = w->low, was_high = w->high, was_highest = sp->loss.highest;
	u32 flight = sstp_in_flight(sp);
	u32 was_lost = sp->loss.lost_total;
	bool probed = sp->live.probes, more = false, moved, news;
	u64 was_acked = sp->stats.bytes_acked;
	struct sstp_ack a;

	if (!sstp_parse_ack(p, len, &a)) {
		sstp_drop(sk, skb, SSTP_MIB_INERRFORMAT, 1);
		return 0;
	}
	if (!sstp_report_valid(sk, skb, &a, now))
		return a.data;
	if (!sstp_report_apply(sk, &a)) {
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
		return a.data;
	}
	sstp_report_heard(sk, now);
	if (a.fields & BIT(SSTP_FIELD_SEGMENT))
		sp->hs.segment_want = a.most;
	if (a.flags & SSTP_F_SEGMENT) {
		more = sstp_snd_accept(w, a.segment, a.flags & SSTP_F_SOFT,
				       sstp_report_release, sk);
		sk->sk_write_space(sk);
	}
	sstp_report_rtt(sk, &a, &sample, now);
	sample.acked = min_t(u64, sp->stats.bytes_acked - was_acked, U32_MAX);
	sstp_report_delivered(sp, &a, &sample);
	if (sp->loss.ecn_field || a.flags & SSTP_F_ECN)
		sstp_report_marks(sk, &a, &sample);
	if (!sstp_in_flight(sp)) {
		/* Several packets asked for nothing, and no answer brought the report: the program
		 * may wait for the report itself, so the next ones ask, unless an answer follows.
		 */
		if (flight > 1 && sp->tx.unasked && !(a.flags & SSTP_F_DATA) &&
		    sp->live.prompt >= SSTP_PROMPT)
			sp->live.prompt = SSTP_PROMPT - 1;
		sp->tx.unasked = 0;
	}
	sstp_report_rate(sp, &a, flight, &sample, now);
	sstp_report_lost(sk, p, len, &a, &sample);
	sstp_report_wary(sp, flight, was_lost);
	sstp_report_control(sp, &a, flight, &sample, now);
	sstp_report_breaker(sk, &a, &sample, now);
	sstp_message_arm(sk, now);
	sstp_sndbuf_grow(sk);

	moved = w->low != was_low || w->high != was_high;
	news = sample.delivered || sp->loss.highest != was_highest;
	sstp_report_progress(sp, &a, more, was_high, now);
	if (a.type == SSTP_SNAK && (sstp_snd_outstanding(w) || sp->tx.eos == SSTP_EOS_SENT))
		sstp_report_wanted(sp, now);
	sstp_report_probes(sk, moved, news, probed);
	sstp_push_at(sk, now);
	sstp_state_check(sk);
	return a.data;
}
