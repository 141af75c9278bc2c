// SPDX-License-Identifier: GPL-2.0
/*
 * Transmission: what may leave now leaves in trains, one skb of up to 64 KB that
 * the device or the stack's last stage cuts into packets.
 *
 * Everything here runs under the socket lock.
 */
#include <trace/events/sstp.h>
#include "cc.h"
#include "encap.h"
#include "message.h"
#include "output.h"
#include "pack.h"
#include "path.h"
#include "probe.h"
#include "queue.h"
#include "small.h"
#include "sndbuf.h"
#include "sstp.h"
#include "train.h"

#define SSTP_PUSH_TRAINS	64	/* that one sstp_push() ships, before it yields the CPU */
#define SSTP_STREAM_MEM_SHIFT	3	/* a stream's segment: 1/8 of the memory of all sockets */
#define SSTP_SILENCE		(5ULL * NSEC_PER_SEC)	/* without a report of what was shipped */
#define SSTP_PROBE_SHARE	10	/* data waits for an MTU probe for 1/10 s at most */
#define SSTP_PROBE_WAIT		(NSEC_PER_SEC / SSTP_PROBE_SHARE)

/* May the segment that the program still fills go out as it is? As with TCP, a
 * small one waits while earlier data is under way.
 */
static bool sstp_may_seal(struct sstp_sock *sp, const struct sstp_sseg *s)
{
	u64 autocork = READ_ONCE(sp->tx.autocork);

	if (!s->len)
		return false;	/* no memory yet for its first byte */
	if (sp->tx.eos != SSTP_EOS_NONE)
		return true;
	if (sp->tx.cork) {
		/* A cork ends when unsent bytes reach half of TCP_NOTSENT_LOWAT, or leave no room
		 * in the send buffer while nothing is in flight: a program that polls for room
		 * would wait for the bytes that its own cork holds back.
		 */
		if (sstp_now() < sp->tx.cork && !sstp_notsent_full(sp, 1) &&
		    (sstp_sndbuf_room(&sp->sk) || sp->snd.low != sp->snd.next)) {
			sstp_timer_sooner(&sp->clock, SSTP_T_PACE, sp->tx.cork);
			return false;
		}
		return true;
	}
	if (sp->set.nodelay)
		return true;
	if (autocork) {
		if (sstp_now() < autocork) {
			sstp_timer_sooner(&sp->clock, SSTP_T_PACE, autocork);
			return false;
		}
		return true;
	}
	if (s->len >= s->size || sp->snd.low == sp->snd.next)
		return true;
	sp->live.prompt = 0;
	sp->live.waited = true;
	return false;
}

/* Bytes of a stream in a segment: whole packets, and whole trains of them. The peer can
 * read none of a segment before all of it has come, so a contract carries it within
 * 250 ms, or it is one packet. Until then both ends keep it, perhaps on this host, so it
 * has no more than a share of what all sockets may use. The peer may want smaller ones, as
 * its window moves by whole segments.
 */
u32 sstp_stream_size(const struct sstp_sock *sp)
{
	u32 train = min_t(u32, SSTP_TRAIN_BYTES / (SSTP_DATA_HLEN + sp->path.size),
			  SSTP_TRAIN_PACKETS);
	u32 size = min(sp->set.segment_size, sp->hs.segment_limit), n;
	u64 most = (u64)min(sk_prot_mem_limits(&sp->sk, 2), INT_MAX) <<
		   (PAGE_SHIFT - SSTP_STREAM_MEM_SHIFT);

	if (sstp_rate_bound(&sp->rate))
		most = min(most, sp->rate.log->second_bytes / 4);
	if (sp->hs.segment_want)
		most = min_t(u64, most, sp->hs.segment_want);
	size = min_t(u64, size, max_t(u64, most, sp->path.size));
	n = min_t(u32, size / sp->path.size, SSTP_PACKETS_MAX);
	if (train && n > train)
		n -= n % train;
	return n ? n * sp->path.size : size;
}

void sstp_seal(struct sstp_tx *tx)
{
	struct sstp_sseg *s = tx->open;

	s->sealed = 1;
	tx->open = NULL;
	WRITE_ONCE(tx->autocork, 0);
}

/* The segment with the next packet never shipped; seals it if the program still fills it.
 * NULL if there is none, the window is closed or the segment waits for more data.
 */
static struct sstp_sseg *sstp_next_new(struct sstp_sock *sp)
{
	struct sstp_sseg *s = sstp_snd_new(&sp->snd);

	if (s && s == sp->tx.open) {
		if (!sstp_may_seal(sp, s))
			return NULL;
		sstp_seal(&sp->tx);
	}
	return s;
}

/* Does a small write that may follow wait for a report of the @packets just shipped, the last
 * that there are? It does if they are all that a stream has under way. The answer to a request
 * does not report the request, so without that report the next request would be late.
 */
static bool sstp_nagle_waits(const struct sstp_sock *sp, u32 packets)
{
	return sp->sk.sk_type == SOCK_STREAM && !sp->set.nodelay && sstp_in_flight(sp) == packets;
}

/* Do later packets leave sooner if the peer reports the @packets just shipped at once, though no
 * report is due? @end: no others follow. They do if the window is full, which in slow start would
 * be smaller in the next round trip by what is not reported; and at the end of an answer of two
 * or more packets that have not been asked for, as the next answer is not paced if it finds
 * nothing in flight. But a program that goes on writing gets no answers, and early reports would
 * only let its small writes leave one by one: the peer is asked SSTP_ASKS_MAX times until it sends
 * data.
 */
static bool sstp_ask_early(const struct sstp_sock *sp, u32 packets, bool end)
{
	if (sp->live.asks >= SSTP_ASKS_MAX)
		return false;
	if (sstp_in_flight(sp) >= sstp_ctrl_window(&sp->ctrl))
		return true;
	return end && (sp->tx.unasked > 1 || sstp_nagle_waits(sp, packets));
}

/* Is a report due, of which the last packet was shipped at @stamp (us)? It is after each
 * @interval packets, or without an interval once a round trip, and no more than once in
 * SSTP_ASK_GAP, as the peer need not report before a segment is complete.
 */
static bool sstp_ask_due(const struct sstp_sock *sp, u32 interval, u32 stamp)
{
	if (interval)
		return sp->tx.unasked >= interval;
	return stamp - sp->tx.asked_at >= max(sstp_send_rtt(sp, 0), SSTP_ASK_GAP);
}

/* Will an answer bring the report of the @packets just shipped, which are all that is under way? It
 * will if the program waits for each answer before it goes on, else the report comes a little later
 * on its own. One packet can wait for that. So can a few in one train where answers came before and
 * sstp_probe_lone() waits, too, if the controller does not say when to ask.
 */
static bool sstp_ask_needless(const struct sstp_sock *sp, u32 packets)
{
	bool few = sp->live.prompt >= SSTP_PROMPT && !sp->ctrl.out.ack_interval &&
		   sstp_probe_lone(sp);

	return sstp_live_answered(&sp->live) && (packets == 1 || few) &&
	       sstp_in_flight(sp) == packets && sstp_ctrl_window(&sp->ctrl) > packets;
}

/* SSTP_F_ACK if the @packets shipped at @now (ns) ask the peer for a report, else 0. They do
 * if a report is due, or early by sstp_ask_early(). A retransmission (@again) asks if no packet
 * follows it, as nothing else would show that it was lost. They do not if an answer brings it.
 */
static u8 sstp_ask(struct sstp_sock *sp, u32 packets, bool again, u64 now)
{
	u32 stamp = sstp_stamp(&sp->hs, now), interval = sstp_ctrl_interval(&sp->ctrl, sp->rtt.min);
	bool end = sp->snd.next == sp->snd.end && !sp->snd.pending;
	bool needless = end && !again && sstp_ask_needless(sp, packets);

	sp->tx.unasked += packets;
	/* Without an interval a request also shows that the peer is there. An interval of one
	 * packet is that of a small window or of a controller's wish, and holds until answers came.
	 */
	if (!sstp_ask_due(sp, interval, stamp) ||
	    (needless && (interval > 1 || (interval && sp->live.prompt >= SSTP_PROMPT)))) {
		if (!needless && sstp_ask_early(sp, packets, end))
			sp->live.asks++;
		else if (!end || !again)
			return 0;
	}
	if (!interval)
		sp->tx.asked_at = stamp;
	sp->tx.unasked = 0;
	return SSTP_F_ACK;
}

/* Build a train of up to @max packets never shipped before, from @s and the segments after
 * it, at @now (ns). All but the last have one size, as UDP GSO cuts the train so. @packets: how
 * many they are. NULL without memory.
 */
static struct sk_buff *sstp_train(struct sock *sk, struct sstp_sseg *s, u32 max,
				  u64 now, u32 *packets)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 full = SSTP_DATA_HLEN + sstp_sseg_bytes(s, s->next), n = 0;
	u32 stamp = sstp_stamp(&sp->hs, now);
	struct sstp_data_hdr *h = NULL;
	bool whole = s->packets == 1;
	struct sk_buff *skb;

	skb = alloc_skb(SSTP_RIDE_ROOM + SSTP_DATA_HLEN, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, SSTP_RIDE_ROOM);
	/* Packets of a segment that was cut anew do not lie in memory as they are sent. */
	while (s && n < max && s->size == s->mem) {
		u32 bytes = SSTP_DATA_HLEN + sstp_sseg_bytes(s, s->next), count;
		u8 *p;

		if (bytes > full || (n && skb->len + bytes > SSTP_TRAIN_BYTES))
			break;
		/* A segment's last packet has flags and maybe a smaller size, so it is
		 * added alone. A smaller packet ends the train: GSO would cut a packet
		 * behind it in the wrong place.
		 */
		count = s->packets - s->next - 1;
		if (bytes < full)
			count = 1;
		count = min3(count, max - n, (SSTP_TRAIN_BYTES -
			     min(skb->len, SSTP_TRAIN_BYTES)) / bytes) ?: 1;
		if (s->refs) {
			p = sstp_train_refer(sp, skb, s, bytes - SSTP_DATA_HLEN, stamp);
			if (!p)
				break;
			h = (void *)p;
			count = 1;
		} else {
			count = sstp_train_add(skb, s, bytes, count, &p);
			if (!count)
				break;
			h = sstp_train_headers(sp, s, p, bytes, count, stamp);
		}
		sp->tx.bytes_sent += count * (bytes - SSTP_DATA_HLEN);
		if (s->next + count == s->packets)
			sp->stats.segments_sent++;
		sstp_snd_shipped(&sp->snd, s, count);
		n += count;
		if (bytes < full)
			break;
		if (s->next == s->packets)
			s = sstp_next_new(sp);
	}
	*packets = n;
	if (!n) {
		/* The packet has too many fragments for an skb, or was cut anew: copy it. */
		consume_skb(skb);
		skb = sstp_copy_packet(sp, s, s->next, 0, stamp);
		if (!skb)
			return NULL;
		h = (void *)skb->data;
		sp->tx.bytes_sent += skb->len - SSTP_DATA_HLEN;
		if (s->size == s->mem)
			sstp_sseg_step(s, skb->len - (s->refs ? SSTP_DATA_HLEN : 0));
		if (s->next + 1 == s->packets)
			sp->stats.segments_sent++;
		sstp_snd_shipped(&sp->snd, s, 1);
		*packets = 1;
	} else if (n > 1) {
		skb_shinfo(skb)->gso_size = full;
		skb_shinfo(skb)->gso_segs = n;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	} else if (whole && !skb_headlen(skb)) {
		h = sstp_train_lift(skb, h);
	}
	h->h.flags |= sstp_ask(sp, *packets, false, now);
	return skb;
}

/* Packets that pacing lets go at once: as many as are due in a millisecond, and two at least, as
 * trains need fewer timers than packets. Where a window bounds the packets in flight they are as
 * many as of TCP on a short path: a whole train, or half of one for each 0.5 ms of the shortest
 * round-trip time, if sstp_ctrl_train() does not allow fewer. Else many flows that share a host or
 * a line would send packets one by one.
 */
static u32 sstp_ctrl_due(const struct sstp_sock *sp, u64 period)
{
	u32 due = period > NSEC_PER_MSEC / 2 ? 2 : div_u64(NSEC_PER_MSEC, period);

	if (sp->ctrl.out.cwnd == SSTP_CWND_MAX)
		return due;
	return max(due, (SSTP_TRAIN_BYTES >> min(sp->rtt.min / 512, 31U)) / sp->path.frame);
}

/* How many of @want packets pacing allows at @now (ns). If 0, the pacing
 * timer is set.
 */
static u32 sstp_ctrl_allow(struct sstp_sock *sp, u32 want, u64 now)
{
	u64 period = sstp_ctrl_period(&sp->ctrl);
	u32 unpaced;

	if (!period)
		return want;
	/* Pacing is waived for a connection's first window and for the first packets after the
	 * peer has reported all: a short answer takes no longer than with TCP. A packet that has
	 * waited for the period is no such: on a path that is shorter than the period nothing is
	 * in flight then, and all packets would leave in bursts. Nor is it waived again before
	 * the packets that left without pacing are paid for.
	 */
	if (!sstp_in_flight(sp) && !sp->tx.paced && now >= sstp_ctrl_paid(&sp->ctrl))
		sp->tx.unpaced = sstp_ctrl_unpaced(&sp->ctrl, sstp_srtt_ns(&sp->rtt), now);
	if (now < sp->ctrl.next && !sp->tx.unpaced) {
		sstp_timer_set(&sp->clock, SSTP_T_PACE, sp->ctrl.next);
		sp->tx.paced = true;
		return 0;
	}
	unpaced = min_t(u32, want, sp->tx.unpaced);
	if (now < sp->ctrl.next)
		return unpaced;
	return max(min(want, sstp_ctrl_due(sp, period)), unpaced);
}

/* Tell the controller that the last @packets shipments left, as @skb. */
static void sstp_sent_control(struct sstp_sock *sp, const struct sk_buff *skb, u32 packets,
			      bool again, u64 now)
{
	const struct sstp_ctrl_packets p = {
		.shipment = sp->snd.shipment - packets,
		.packets = packets,
		.bytes = skb->len - packets * SSTP_DATA_HLEN,
		.again = again,
	};

	if (sstp_cc_sent(sp, &p, now))
		sstp_message_arm(&sp->sk, now);
}

static void sstp_sent(struct sock *sk, struct sk_buff *skb, u32 packets,
		      u32 wire, bool again, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 unpaced = min_t(u32, packets, sp->tx.unpaced);

	sp->stats.packets_sent += packets;
	SSTP_SK_ADD(sp, OUTPKTS, packets);
	if (again) {
		SSTP_SK_ADD(sp, RETRANSDATA, packets);
		sp->stats.packets_retrans += packets;
	} else {
		SSTP_SK_ADD(sp, OUTDATA, packets);
	}
	trace_sstp_ship(sp, packets, wire, again);
	sstp_rate_sent(&sp->rate, packets, wire, now);
	sstp_ctrl_pace(&sp->ctrl, packets, unpaced, sstp_srtt_ns(&sp->rtt), now);
	sstp_prr_sent(&sp->ctrl.prr, packets);
	sp->tx.unpaced -= unpaced;
	sp->tx.paced = false;
	if (sp->ctrl.ops->on_pkt_sent)
		sstp_sent_control(sp, skb, packets, again, now);
	skb_set_owner_w(skb, sk);
}

/* Is a packet of the segment larger than the path takes? */
static bool sstp_too_big(const struct sstp_sock *sp, const struct sstp_sseg *s)
{
	return sstp_overhead(&sp->id) + SSTP_DATA_HLEN + min(s->size, s->len) > sp->path.mtu;
}

/* Send an MTU probe if one is due: a padded KEEPALIVE, as its loss, unlike that of data,
 * costs nothing. Data goes on meanwhile in the size that is known to pass. Returns when the
 * contract lets the probe go if it holds the probe back (ns), else 0.
 */
static u64 sstp_mtu_probe(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 size = sstp_pmtud_next(&sp->path.pmtud, now), len, wire, stamp;
	struct sk_buff *skb;
	u64 next, due;

	if (!size || sp->tx.eos >= SSTP_EOS_SENT)
		return 0;
	stamp = sstp_stamp(&sp->hs, now);
	/* A probe counts towards the contract as data does. */
	wire = sp->path.frame - sp->path.mtu + size;
	if (sstp_rate_bound(&sp->rate) &&
	    !sstp_rate_allow(&sp->rate, 1, wire, now, &next))
		return next;
	due = now + 2ULL * sstp_rto(&sp->rtt) * NSEC_PER_USEC;
	len = size - sstp_overhead(&sp->id);
	skb = sstp_small(sk, len);
	if (!skb) {
		/* No memory says nothing about the path: try this size again. */
		sp->path.pmtud.due = due;
		return 0;
	}
	sstp_pmtud_sent(&sp->path.pmtud, size, stamp, due);
	sstp_build_context(sp, skb_put_zero(skb, len), SSTP_F_ACK, stamp);
	sstp_rate_sent(&sp->rate, 1, wire, now);
	SSTP_INC(sock_net(sk), OUTKEEPALIVES);
	skb_set_owner_w(skb, sk);
	SSTP_INC(sock_net(sk), OUTPKTS);
	sstp_encap_xmit(sk, skb, false, 0);
	return 0;
}

/* Is a packet of the route's MTU little of what the contract allows? The average carries it
 * soon, and a burst has room for data beside it unless the next one is soon.
 */
static bool sstp_mtu_affordable(const struct sstp_sock *sp)
{
	u64 wire = sp->path.frame - sp->path.mtu + sp->path.pmtud.ceiling;
	const struct sstp_rate_log *l = sp->rate.log;

	if (!l || sp->rate.spec.average < 8ULL * sp->path.pmtud.ceiling * SSTP_PROBE_SHARE)
		return false;
	return l->burst_ns <= SSTP_PROBE_WAIT ||
	       l->burst >= (l->in_bytes ? wire + l->frame : 2);
}

/* Data that takes all that a contract allows leaves nothing for a probe, so that goes first,
 * unless data would stand still for long. Returns until when data waits for it, or 0.
 */
static u64 sstp_mtu_first(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 next = sstp_mtu_affordable(sp) ? sstp_mtu_probe(sk, now) : 0;
	u64 since = sp->path.probe_wait ?: now;

	if (next && next <= since + SSTP_PROBE_WAIT) {
		sp->path.probe_wait = since;
		return next;
	}
	/* The contract told when to try again, not that the probe may go then. If data has
	 * waited in vain, the next probe is a second off, so that data may go on.
	 */
	if (next && sp->path.probe_wait)
		sp->path.pmtud.due = now + NSEC_PER_SEC;
	sp->path.probe_wait = 0;
	return 0;
}

/* Why is there no packet to ship, neither a new one nor a retransmission? */
static enum sstp_held sstp_push_lacks(struct sock *sk)
{
	const struct sstp_snd_wnd *w = &sstp_sk(sk)->snd;

	if (w->next != w->end)
		return sstp_after(w->next, w->high) ? SSTP_HELD_WINDOW : SSTP_HELD_NOT;
	if (w->low == w->end)
		return SSTP_HELD_IDLE;
	/* After shutdown() no program waits for the send buffer. */
	if (sstp_sk(sk)->tx.eos != SSTP_EOS_NONE)
		return SSTP_HELD_NOT;
	/* A program that waits for room (SOCK_NOSPACE) still waits when there is a little:
	 * it is woken when there is enough, see sstp_writeable().
	 */
	if (!sk_stream_memory_free(sk) ||
	    (sk->sk_socket && test_bit(SOCK_NOSPACE, &sk->sk_socket->flags)))
		return SSTP_HELD_SNDBUF;
	return SSTP_HELD_NOT;
}

/* Has the peer sent no report for so long that a contract says nothing about the path any
 * more? Probes will tell when it is there again. @now: ns
 */
static bool sstp_push_blind(const struct sstp_sock *sp, u64 now)
{
	return sp->tx.silent_since && sp->breaker && sp->breaker->guards &&
	       now - sp->tx.silent_since > max(SSTP_SILENCE, 4 * sstp_srtt_ns(&sp->rtt));
}

/* The packets that may leave next: of segment @s, @packet if the peer asked for it
 * (@again), else the next packets never shipped, @allow at most. @big: they are larger than
 * the path takes.
 */
struct sstp_next {
	struct sstp_sseg *s;
	u32	packet;
	u32	allow;
	bool	again;
	bool	big;
};

/* Do the device, others who want the CPU, or a silent peer hold back all packets? */
static bool sstp_push_held(struct sock *sk, int budget, u64 now, enum sstp_held *held)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sstp_queue_full(sk)) {
		*held = SSTP_HELD_DEVICE;
		return true;
	}
	if (!budget) {
		sstp_timer_set(&sp->clock, SSTP_T_PACE, now);
		return true;
	}
	if (sstp_push_blind(sp, now)) {
		*held = SSTP_HELD_CONTROLLER;
		return true;
	}
	return false;
}

/* Packets that may leave in one train, as the congestion window has room for them. Where the path
 * may swallow packets of this size, one at a time shows that as well as all that are lost would,
 * and a contract does not fill the path's queue with them again and again.
 */
static u32 sstp_push_room(struct sstp_sock *sp)
{
	u32 flight = sstp_in_flight(sp), window = sstp_ctrl_window(&sp->ctrl);

	if (sstp_pmtud_suspect(&sp->path.pmtud, sp->loss.received))
		return !flight;
	if (window == SSTP_CWND_MAX)
		return U32_MAX;
	if ((s32)flight < (s32)window)
		return min(window - flight, sstp_ctrl_train(&sp->ctrl, sp->rtt.min));
	sp->ctrl.held_back = true;
	return 0;
}

/* Packets of @x that pacing and the contract let go, of the @room that the
 * window has for them. If none, @held says why.
 */
static u32 sstp_push_allow(struct sstp_sock *sp, const struct sstp_next *x, u32 room,
			   u64 now, enum sstp_held *held)
{
	u32 want = x->again || x->big ? 1 : min_t(u32, room, SSTP_TRAIN_PACKETS), wire;
	u64 next;

	want = sstp_ctrl_allow(sp, sstp_queue_train(sp, want), now);
	if (!want) {
		*held = sstp_ctrl_peer_paced(&sp->ctrl, sstp_srtt_ns(&sp->rtt)) ?
			SSTP_HELD_WINDOW : SSTP_HELD_CONTROLLER;
		return 0;
	}
	if (!sstp_rate_bound(&sp->rate))
		return want;
	wire = sp->path.frame - sp->path.size +
	       sstp_sseg_bytes(x->s, x->again ? x->packet : x->s->next);
	next = sstp_mtu_first(&sp->sk, now);
	want = next ? 0 : sstp_rate_allow(&sp->rate, want, wire, now, &next);
	if (!want) {
		sstp_timer_set(&sp->clock, SSTP_T_PACE, next);
		*held = SSTP_HELD_CONTRACT;
	}
	return want;
}

/* Cut the segment of @x anew if its packets are larger than the path takes. True if that
 * was done.
 */
static bool sstp_push_recut(struct sstp_sock *sp, struct sstp_next *x)
{
	struct sstp_sseg *s = x->s;
	/* Bytes shipped of a segment that was not shipped in full count as unsent again. */
	u32 n = sstp_before(s->number, sp->snd.next) ? 0 : s->next * s->size;

	x->big = sstp_too_big(sp, s);
	if (!x->big || !sstp_snd_recut(&sp->snd, s, sp->path.size, GFP_ATOMIC | __GFP_NOWARN))
		return false;
	sp->tx.bytes_sent -= n;
	return true;
}

/* Find the packets that leave next. If none may, @held says why, or @idle that there are
 * none. Returns false if the caller is to call again, as a segment was cut anew.
 */
static bool sstp_push_next(struct sock *sk, struct sstp_next *x, int budget, u64 now,
			   enum sstp_held *held, bool *idle)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 room;

	x->allow = 0;
	x->s = sstp_snd_asked(&sp->snd) ? sstp_snd_rtx(&sp->snd, &x->packet) : NULL;
	x->again = x->s;
	if (!x->s)
		x->s = sstp_next_new(sp);
	if (!x->s) {
		*idle = true;
		*held = sstp_push_lacks(sk);
		return true;
	}
	if (sstp_push_held(sk, budget, now, held))
		return true;
	room = sstp_push_room(sp);
	if (!room) {
		*held = SSTP_HELD_CONTROLLER;
		return true;
	}
	if (sstp_push_recut(sp, x))
		return false;
	x->allow = sstp_push_allow(sp, x, room, now, held);
	return true;
}

/* Ship the packets of @x as one train, or the one retransmission. A report that waits rides with
 * them, or goes before the first of an answer, as the peer relies on it. False without memory.
 */
static bool sstp_push_ship(struct sock *sk, const struct sstp_next *x, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 stamp = sstp_stamp(&sp->hs, now), n = 1, wire;
	struct sstp_snd_wnd *w = &sp->snd;
	bool first = !sstp_in_flight(sp);
	struct sk_buff *skb;

	if (first)
		sstp_sample_start(&sp->loss.sampler, stamp, sp->loss.delivered,
				  sp->loss.highest - sp->loss.late);
	if (x->again) {
		skb = sstp_again_packet(sp, x->s, x->packet, stamp);
		if (skb) {
			struct sstp_data_hdr *h = (void *)skb->data;

			trace_sstp_retransmit(sp, x->s->number, x->packet, w->shipment);
			sp->stats.bytes_retrans += sstp_sseg_bytes(x->s, x->packet);
			sstp_snd_shipped_rtx(w, x->s, x->packet, w->shipment++);
			h->h.flags |= sstp_ask(sp, 1, true, now);
		}
	} else {
		skb = sstp_train(sk, x->s, x->allow, now, &n);
	}
	if (!skb)
		return false;
	if (!sp->tx.silent_since)
		sp->tx.silent_since = now;
	/* Add the headers below SSTP's of every packet of the train. */
	wire = skb->len + n * (sp->path.frame - sp->path.size - SSTP_DATA_HLEN);
	sstp_sent(sk, skb, n, wire, x->again, now);
	if (sp->acker.unacked && !(n == 1 && !x->big && sstp_pack_ride(sp, skb, now)) && first)
		sstp_pack_send(sk, now);
	sstp_encap_xmit(sk, skb, x->big || sstp_pmtud_least(&sp->path.pmtud),
			sp->loss.ecn_field);
	return true;
}

/* There was no memory to ship at @now (ns): try again in 1 ms, later each time up to 64 ms. */
static void sstp_push_later(struct sstp_sock *sp, u64 now)
{
	bool waits = sstp_timer_pending(&sp->clock, SSTP_T_PACE);

	sstp_timer_sooner(&sp->clock, SSTP_T_PACE, now + (NSEC_PER_MSEC << sp->tx.starved));
	if (!waits)
		sp->tx.starved = min(sp->tx.starved + 1, 6);
}

/* Ship all that the window, the contract and the controller allow at @now (ns), retransmissions
 * first, and set the timer for the rest. Socket lock.
 */
void sstp_push_at(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_snd_wnd *w = &sp->snd;
	bool shipped = false, idle = false, answered = sstp_live_answered(&sp->live);
	enum sstp_held held = SSTP_HELD_NOT;
	struct sstp_next x = {};
	int budget;

	if (!sstp_synchronized(sk) || sk->sk_state == TCP_SYN_RECV)
		return;
	/* sendmsg() has just looked the route up for the segment that it wrote. */
	if (sp->path.fresh)
		sp->path.fresh = false;
	else if (w->pending || w->next != w->end)
		sstp_mtu_update(sk);
	if (READ_ONCE(sk->sk_max_pacing_rate) != sp->path.pacing &&
	    sstp_update_rate(sp, GFP_ATOMIC)) {
		sstp_chrono_set(&sp->tx.chrono, SSTP_HELD_SNDBUF, now);
		sstp_push_later(sp, now);
		return;
	}
	/* The send window is empty, as after most reports: skip the search for packets to ship. */
	if (w->low == w->end) {
		idle = true;
		held = SSTP_HELD_IDLE;
	}
	for (budget = SSTP_PUSH_TRAINS; !idle; budget--) {
		if (!sstp_push_next(sk, &x, budget, now, &held, &idle))
			continue;
		if (!x.allow)
			break;
		if (!sstp_push_ship(sk, &x, now)) {
			SSTP_INC(sock_net(sk), OUTNOMEM);
			sstp_push_later(sp, now);
			held = SSTP_HELD_SNDBUF;
			break;
		}
		shipped = true;
		sp->tx.starved = 0;
	}
	sstp_chrono_set(&sp->tx.chrono, held, now);
	if (idle) {
		sp->tx.starved = 0;
		/* A closed window of the peer is a limit of the path, as far as controllers are
		 * concerned: without it more would arrive. A segment that waits for more data is no
		 * such limit.
		 */
		if (held != SSTP_HELD_WINDOW && sstp_in_flight(sp) < sstp_ctrl_window(&sp->ctrl))
			sstp_sample_idle(&sp->loss.sampler, sstp_stamp(&sp->hs, now));
		sp->tx.paced = false;
		sstp_rate_idle(&sp->rate);
		shipped |= sstp_eos_push(sk);
	}
	if (shipped) {
		sp->live.blocked = 0;
		sstp_mtu_probe(sk, now);
	}
	/* While a probe is unanswered, new packets do not put the next one off. */
	if ((shipped && !sp->live.probes) || !sstp_timer_pending(&sp->clock, SSTP_T_PROBE))
		sstp_probe_arm(sk, idle, now);
	/* A small write has begun to wait for the report of what is in flight, which the peer may
	 * keep for an answer that does not come before this write: ask for the report, unless a
	 * packet has.
	 */
	if (answered && !sstp_live_answered(&sp->live) && sp->tx.unasked &&
	    sp->live.context_ship != w->shipment)
		sstp_timer_sooner(&sp->clock, SSTP_T_PROBE, now);
}

void sstp_push(struct sock *sk)
{
	sstp_push_at(sk, sstp_now());
}

/* Once all segments were shipped, tell the peer by an EOS that none follows. A report that waits
 * rides with it. True if it was sent now. Socket lock.
 */
bool sstp_eos_push(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sp->tx.eos != SSTP_EOS_WANTED || sp->snd.next != sp->snd.end)
		return false;
	sp->tx.eos = SSTP_EOS_SENT;
	sstp_pack_eos(sk, sstp_now());
	return true;
}
