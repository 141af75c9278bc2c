// SPDX-License-Identifier: GPL-2.0
/*
 * PACK and SNAK: reports of the receiver, and how the sender handles them. R_l, which
 * acknowledges, and R_h, the window, travel in the same packets but are independent: neither
 * waits for the other.
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
#include "rcv_data.h"
#include "rcvbuf.h"
#include "small.h"
#include "sndbuf.h"
#include "sstp.h"
#include "state.h"

#define SSTP_ACK_BYTES		(256 << 10)	/* accepted bytes that cause a PACK */
#define SSTP_GRANT_BYTES	(32 << 10)	/* window growth, in memory, that causes one */
#define SSTP_ACK_DELAY_MIN	(1 * NSEC_PER_MSEC)
#define SSTP_ACK_DELAY_MAX	(10 * NSEC_PER_MSEC)
#define SSTP_SNAK_BYTES		1152	/* most bytes of entries in a SNAK */
#define SSTP_CONTROL_WINDOW	BIT(20)	/* reports that may be lost in a row */
#define SSTP_SNAK_LEAST		64	/* bytes of entries allowed without credit */
#define SSTP_SNAK_BURST		32	/* SNAKs in one run */
#define SSTP_SNAK_SHARE		8	/* SNAKs take at most 1/8 of the bytes that came */
#define SSTP_SNAK_GAP		(100ULL * NSEC_PER_USEC) /* least time between SNAKs for losses */
/* Packets that the SNAKs of one skb may make the sender examine: the bits of two full SNAKs */
#define SSTP_SNAK_BUDGET	(2 * 8 * SSTP_SNAK_BYTES)
#define SSTP_HOLD_MAX		USEC_PER_SEC	/* us: clocks of both ends differ by little in it */
#define SSTP_SNAK_ROUND		(10 * NSEC_PER_MSEC)	/* least round trip of sstp_snd_begin() */

/* The last segment that a SNAK may ask for: those that the buffer has room for. After a lack
 * of memory it is segment R_l only, and one segment more for each one accepted since.
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

/* Compute arrival and service rate when an interval, max(SRTT, 10 ms), is over. */
static void sstp_ack_rates(struct sstp_sock *sp, u64 now)
{
	u64 interval = now - sp->acker.arrival_at;

	if (interval < max(sstp_srtt_ns(&sp->rtt), 10 * NSEC_PER_MSEC))
		return;
	/* In us, not ns: bytes * 8 * NSEC_PER_SEC overflows 64 bits at 2 GB. */
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
	if (sp->acker.has_ecn && sp->hs.ecn) {
		a->flags |= SSTP_F_ECN;
		a->ect = sp->acker.ecn.ect;
		a->ce = sp->acker.ecn.ce;
	}
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
	u8 buf[SSTP_ACK_HLEN_MAX];
	struct sstp_ack a;

	sstp_ack_fill(sp, &a, now);
	sstp_build_ack(buf, &a);
	sstp_send_small(sk, buf, sstp_ack_hlen(a.flags));
	sp->stats.acks_sent++;
	SSTP_INC(sock_net(sk), OUTPACKS);
	sstp_ack_done(sp, now);
}

/* Time after which a packet is asked for again, us: at most 5/4 SRTT + 1 ms. An end that only
 * receives measures a single round trip, at set-up, so its RTTVAR would stay at half of that.
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
		.to = sstp_ack_wanted(sp),
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
		/* The next packet that comes brings credit for the remaining requests. */
		sp->acker.snak_now = job.more;
		sstp_ack_done(sp, now);
	}
	return sent;
}

/* Time until SSTP_T_ACK looks again for packets that were asked for, ns: the retry time,
 * doubled for each of @rounds expiries without new data, up to 3 s.
 */
static u64 sstp_ack_wait(const struct sstp_sock *sp, u8 rounds)
{
	u64 wait = NSEC_PER_USEC * (u64)sstp_ack_retry(&sp->rtt);

	return min(wait << rounds, max(wait, 3ULL * NSEC_PER_SEC));
}

/* May the window limit the sender? It may if at most a quarter of the window remains beyond
 * the data that may be in flight, at the arrival rate or the peer's contract.
 */
static bool sstp_ack_near(const struct sstp_sock *sp)
{
	u32 left = sp->acker.advertised - sp->rcv.top;
	u64 flight = sstp_rtt_bytes(max(sp->acker.arrival_rate, sp->hs.peer_rate),
				    sstp_rtt_smoothed(&sp->rtt, 0));

	return left < sp->rcvbuf.window / 4 ||
	       (u64)(left - sp->rcvbuf.window / 4) * sstp_rcvbuf_segment(sp) < flight;
}

/* The buffer has more room than before: advance R_h, and report it if the window grew by a
 * quarter, or if the window may limit the sender. Ask for packets that found no room before.
 */
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
		/* The sender works with a smaller window until it learns of the new one. */
		if ((u64)gained * sstp_mean(&sp->rcv) >= SSTP_GRANT_BYTES)
			sstp_ack_pack(sk, now);
		else
			sstp_timer_sooner(&sp->clock, SSTP_T_ACK,
					  now + SSTP_ACK_DELAY_MIN);
	}
	/* There is room for packets that were discarded: ask for them without delay. */
	if (!sstp_arrivals_lost(&sp->arrivals, &sp->rcv, sstp_ack_wanted(sp)))
		return;
	if (now - sp->acker.snak_sent > sstp_srtt_ns(&sp->rtt) / 16)
		sstp_ack_snak(sk, now);
	/* Ask for the remaining ones without the back-off of @due_rounds. */
	sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + sstp_ack_wait(sp, 0));
}

/* The program has read segments: free their memory and advance the window. */
void sstp_ack_read(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sp->rcvbuf.full = false;
	sstp_debt_update(sk);
	sstp_rcvbuf_read(sk);
	sstp_ack_room(sk, sstp_now());
}

/* SSTP_T_RCVBUF has expired while no packet came: an epoch of the buffer policy is over. */
void sstp_ack_epoch(struct sock *sk)
{
	u64 now = sstp_now();

	if (sstp_rcvbuf_epoch(sk, now))
		sstp_ack_room(sk, now);
}

/* After packets came: send a PACK or SNAK now, or set SSTP_T_ACK to do so later. */
void sstp_ack_check(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now = sstp_now(), srtt = sstp_srtt_ns(&sp->rtt), due, wait;
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
	full = sp->acker.told_interval ? sp->acker.told_interval * sp->path.size : SSTP_ACK_BYTES;
	full = min_t(u64, (u64)sp->rcvbuf.window * sstp_mean(&sp->rcv) / 4, full);
	if (sp->acker.ack_now ||
	    (sp->acker.unacked && (sp->acker.unacked >= full || sp->set.quickack))) {
		sstp_rcvbuf_wnd(sp);
		sstp_rcvbuf_grant(sp);
		sstp_ack_pack(sk, now);
	} else if (sp->acker.unacked) {
		wait = sp->acker.told_timer * (u64)NSEC_PER_USEC;
		if (!wait)
			wait = clamp_t(u64, srtt / 4, SSTP_ACK_DELAY_MIN, SSTP_ACK_DELAY_MAX);
		sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + wait);
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

/* SSTP_T_ACK has expired: send the SNAK or PACK that waits, and look for retries. */
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
	/* The peer answers, but the packets asked for do not come: ask less often. */
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

/* Measure X of WUCS-92-38, section 3.3: the retransmissions to expect for a segment, from the
 * share of packets asked for (@lost in this report) in 4096 shipments or more. L follows it.
 */
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

/* SNAK @a asks for packet @packet of segment S_l (@s) first: if that is repeated, its size may
 * be in a path MTU black hole.
 */
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

/* Mark the packets that SNAK @a, of @len bytes at @p, asks for as to be shipped again. Returns
 * their number.
 */
static u32 sstp_ack_requests(struct sock *sk, const void *p, u32 len,
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

/* Of the @asked packets that a report asks for, how many did the path lose? The others came,
 * but were discarded for lack of room, which is no sign of congestion. @highest, @received: of
 * the report, shipments that may be late subtracted. @undue is set to the number of packets
 * that were counted as lost before, but have come.
 */
static u32 sstp_ack_vanished(struct sstp_loss *l, u32 asked, u32 highest,
			     u32 received, u32 *undue)
{
	s32 lost;

	l->lost_total += (s32)(highest - l->prev_highest) -
		       (s32)(received - l->prev_received);
	l->prev_highest = highest;
	l->prev_received = received;
	/* Take back losses that were only late, or copies would hide later losses. */
	*undue = max(l->lost_reported - l->lost_total, 0);
	l->lost_reported -= *undue;
	lost = clamp_t(s64, (s64)l->lost_total - l->lost_reported, 0, asked);
	l->lost_reported += lost;
	return lost;
}

/* Restart the user timeout if report @a shows progress: S_l or S_h (@was_high before) moved,
 * more packets of segment S_l are without a gap than ever, or @more: a segment was accepted
 * for the first time. A higher count of packets received is no progress, as the receiver may
 * have discarded them.
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

/* Reset the budget for the PACKs and SNAKs of one skb, which sstp_ack_rcv() handles next. */
void sstp_ack_begin(struct sstp_sock *sp, u64 now)
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

/* The circuit breaker tripped: let newreno take over, with the contract as its ceiling, as
 * after a time-out. A congestion-controlled flow would have cut its window several times by
 * now, so slow start ends at a quarter of the packets that arrived in the lowest round-trip
 * time: half of it is passed here, and the time-out halves that.
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

/* Account report @a, of which @sample was taken, in the circuit breaker, and suspend the
 * contract or put it in force again as the breaker decides.
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

/* Is report @a new, and possible? If not, count it as dropped. A receiver's numbers never go
 * back, nor beyond the numbers sent, so that a forged report has to hit small windows.
 */
static bool sstp_ack_valid(struct sock *sk, struct sk_buff *skb, const struct sstp_ack *a,
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

/* A valid report came: clear the state of probes, and a soft error. */
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

/* The round-trip time is measured now. While it was a guess, which may have been much too
 * large, timers were set by it: look again when the true one says so. And the buffer did not
 * follow the path, as how much that holds was not known.
 */
static void sstp_ack_measured(struct sock *sk, u64 now)
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
static void sstp_ack_rtt(struct sock *sk, const struct sstp_ack *a,
			 struct sstp_ctrl_sample *sample, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool guess = sp->rtt.guess;

	if (!(a->flags & SSTP_F_ECHO))
		return;
	sample->rtt = sstp_stamp(&sp->hs, now) - a->echo - a->hold;
	sstp_rtt_sample(&sp->rtt, sample->rtt, sstp_us(now));
	/* A controller may remember the lowest for ever: spare it what may be wrong. */
	if (sample->rtt > SSTP_RTT_MAX || a->hold > SSTP_HOLD_MAX)
		sample->rtt = 0;
	if (guess && !sp->rtt.guess)
		sstp_ack_measured(sk, now);
	if (a->flags & SSTP_F_PADDED && sstp_pmtud_echo(&sp->path.pmtud, a->echo))
		sstp_mtu_update(sk);
}

/* Sample the number of packets that report @a newly reports received. */
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
	/* The peer's number drives the controller: bound it by the packets shipped. */
	sample->delivered = min(sample->delivered, sp->snd.shipment - was_highest +
						   SSTP_REORDER_MAX);
	sp->loss.delivered += sample->delivered;
	sample->total_delivered = sp->loss.delivered;
	sp->stats.delivery_rate = a->arrival * 1000ULL;
}

/* Marks are no use on this path, or with this peer: DATA has no ECT from now on. */
static void sstp_ack_ecn_failed(struct sock *sk)
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
static void sstp_ack_marks(struct sock *sk, const struct sstp_ack *a,
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
	};

	sample->ce = sstp_ecn_report(&sp->loss.ecn, &r);
	sp->stats.packets_marked += sample->ce;
	SSTP_ADD(sock_net(sk), ECNMARKED, sample->ce);
	if (sp->loss.ecn_field && !sstp_ecn_works(&sp->loss.ecn))
		sstp_ack_ecn_failed(sk);
}

/* Sample the delivery rate, if report @a answers a packet. @flight: packets in flight before */
static void sstp_ack_rate(struct sstp_sock *sp, const struct sstp_ack *a, u32 flight,
			  struct sstp_ctrl_sample *sample, u64 now)
{
	const u32 at = sstp_stamp(&sp->hs, now);
	const struct sstp_sample_mark r = {
		.at = at,
		.sent = a->echo,
		.came = at - a->hold,
		.delivered = sp->loss.delivered,
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
	if (d.packets)
		sp->stats.delivery = d;
}

/* Sample the losses, and schedule the retransmissions that SNAK @a, of @len bytes at @p, asks
 * for.
 */
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
		sp->snd.ranges = 0;
		asked = sstp_ack_requests(sk, p, len, a);
		sample->lost_ship = sp->snd.lost;
		sample->lost_ranges = sp->snd.ranges;
		memcpy(sample->lost_range, sp->snd.range, sizeof(sample->lost_range));
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

/* Call the controller with the sample of report @a; @flight: packets in flight before it */
static void sstp_ack_control(struct sstp_sock *sp, const struct sstp_ack *a, u32 flight,
			     struct sstp_ctrl_sample *sample, u64 now)
{
	sstp_cc_sample(sp, sample, now);
	sample->prior_in_flight = flight;
	sample->highest = sp->loss.highest - sp->loss.late;
	if (sample->ce && (!sample->lost || sstp_before(sample->lost_ship, sample->highest)))
		sample->lost_ship = sample->highest;
	sample->arrival_rate = a->arrival * 1000ULL;
	sample->service_rate = a->service * 1000ULL;
	sstp_ctrl_used(&sp->ctrl, sample, flight);
	sstp_ctrl_report(&sp->ctrl, sample);
	trace_sstp_ctrl(sp, sample, false);
}

/* Rearm the probe timer after a report. @moved: S_l or S_h moved; @news: it reports shipments
 * or packets for the first time; @probed: probes were unanswered before it.
 */
static void sstp_ack_probes(struct sock *sk, bool moved, bool news, bool probed)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (moved) {
		sp->live.blocked = 0;
		trace_sstp_snd_window(sp);
		sk->sk_write_space(sk);
	} else if (probed && sstp_after(sp->snd.next, sp->snd.high) && !news) {
		/* The window is still closed: the interval of probes doubles. */
		if (sp->live.blocked < U8_MAX)
			sp->live.blocked++;
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
	}
	/* SNAKs without news leave the timer armed: a probe shows the peer the last shipment,
	 * without which it cannot tell that its requests were lost.
	 */
	if (moved || news)
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
}

/* Handle a PACK or SNAK of @len bytes at offset @off of @skb, which is linear. */
void sstp_ack_rcv(struct sock *sk, struct sk_buff *skb, u32 off, u32 len)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snd_wnd *w = &sp->snd;
	struct sstp_ctrl_sample sample = {};
	u32 was_low = w->low, was_high = w->high, was_highest = sp->loss.highest;
	u32 flight = sstp_in_flight(sp);
	bool probed = sp->live.probes, more = false, moved, news;
	u64 was_acked = sp->stats.bytes_acked;
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
	sample.acked = min_t(u64, sp->stats.bytes_acked - was_acked, U32_MAX);
	sstp_ack_delivered(sp, &a, &sample);
	if (sp->loss.ecn_field || a.flags & SSTP_F_ECN)
		sstp_ack_marks(sk, &a, &sample);
	sstp_ack_rate(sp, &a, flight, &sample, now);
	sstp_ack_lost(sk, p, len, &a, &sample);
	sstp_ack_control(sp, &a, flight, &sample, now);
	sstp_ack_breaker(sk, &a, &sample, now);
	sstp_message_arm(sk, now);
	sstp_sndbuf_grow(sk);

	moved = w->low != was_low || w->high != was_high;
	news = sample.delivered || sp->loss.highest != was_highest;
	sstp_ack_progress(sp, &a, more, was_high, now);
	sstp_ack_probes(sk, moved, news, probed);
	sstp_push(sk);
	sstp_state_check(sk);
}
