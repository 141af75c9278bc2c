// SPDX-License-Identifier: GPL-2.0
/*
 * Contents of reports, and reports that ride with data: a PACK that waits is put before the next
 * DATA packet that has room for it, so that an answer acknowledges its request, or before the EOS.
 *
 * Socket lock throughout.
 */
#include <trace/events/sstp.h>
#include "half.h"
#include "pack.h"
#include "rcvbuf.h"
#include "small.h"
#include "sstp.h"

/* Compute arrival and service rate when an interval, max(SRTT, 10 ms), is over. */
static void sstp_pack_rates(struct sstp_sock *sp, u64 now)
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

/* Describe in @a, as a PACK, what came up to @now (ns). A window that a policy bounds moves with
 * R_l, others only as the program reads.
 */
void sstp_pack_fill(struct sstp_sock *sp, struct sstp_ack *a, u64 now)
{
	struct sstp_rseg *s;

	if (sstp_rcvbuf_gauge(&sp->rcvbuf)) {
		sstp_rcvbuf_wnd(sp);
		sstp_rcvbuf_grant(sp);
	}
	memset(a, 0, sizeof(*a));
	sstp_pack_rates(sp, now);
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

/* A report is sent. */
void sstp_pack_done(struct sstp_sock *sp, u64 now)
{
	if (sp->acker.advertised != sp->rcv.high)
		trace_sstp_rcv_window(sp);
	sp->acker.advertised = sp->rcv.high;
	sp->acker.unacked = 0;
	sp->acker.ack_now = false;
	sp->acker.eos_came = false;
	sp->acker.ack_sent = now;
	sp->acker.pack_due = 0;
}

/* Take into a PACK the feedback of the receiving half, and the size of segments that suits the
 * window. As PACKs may be lost, each one tells this size from the first time on.
 */
static void sstp_pack_fields(struct sstp_sock *sp, struct sstp_ack *a)
{
	const struct sstp_gauge *m = sp->rcvbuf.gauge;
	struct sstp_half *h = sp->ctrl.half;

	if (m && m->most)
		a->most = m->most;
	else if (sp->rcvbuf.any_size)
		a->most = SSTP_SEGMENT_MAX;
	if (a->most)
		a->fields |= BIT(SSTP_FIELD_SEGMENT);
	if (!h || !h->out.feedback.valid)
		return;
	h->out.feedback.valid = false;
	a->fields |= BIT(SSTP_FIELD_FORECAST) | BIT(SSTP_FIELD_QUEUE);
	a->forecast = h->out.feedback.forecast;
	a->horizon = h->out.feedback.horizon;
	a->queue = h->out.feedback.queue;
	a->refused = h->out.feedback.refused;
}

/* Send a PACK on its own, a little later if there is no memory for it now. */
void sstp_pack_send(struct sock *sk, u64 now)
{
	struct sk_buff *skb = sstp_small(sk, SSTP_ACK_HLEN_MAX + SSTP_FIELDS_MAX);
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_ack a;

	if (!skb) {
		sp->acker.ack_now = true;
		sp->acker.pack_due = 0;
		sstp_timer_sooner(&sp->clock, SSTP_T_ACK, now + SSTP_ACK_DELAY_MAX);
		return;
	}
	sstp_pack_fill(sp, &a, now);
	sstp_pack_fields(sp, &a);
	sstp_build_ack(skb_put(skb, sstp_ack_hlen(a.flags)), &a);
	skb_put(skb, sstp_build_fields(skb_tail_pointer(skb), &a));
	sstp_small_xmit(sk, skb);
	sp->stats.acks_sent++;
	SSTP_SK_INC(sp, OUTPACKS);
	sstp_pack_done(sp, now);
}

/* Put a PACK, without fields, before the only DATA packet, or the EOS, of @skb. False if there is
 * no room: in @skb, which was built with SSTP_RIDE_ROOM before it, or in a packet of the path.
 */
bool sstp_pack_ride(struct sstp_sock *sp, struct sk_buff *skb, u64 now)
{
	struct sstp_ack a;
	u32 len;

	if (skb_headroom(skb) < SSTP_RIDE_ROOM ||
	    sstp_overhead(&sp->id) + SSTP_ACK_HLEN_MAX + skb->len > sp->path.mtu)
		return false;
	sstp_pack_fill(sp, &a, now);
	a.flags |= SSTP_F_DATA;
	len = sstp_ack_hlen(a.flags);
	sstp_build_ack(skb_push(skb, len), &a);
	sp->stats.acks_sent++;
	SSTP_SK_INC(sp, OUTPACKS);
	/* All of a frame of data counts towards a contract. Behind an EOS only packets that are
	 * sent again leave, which have no room for a PACK.
	 */
	if (sp->tx.eos != SSTP_EOS_SENT)
		sstp_rate_sent(&sp->rate, 0, len, now);
	sp->acker.alone = 0;
	sstp_pack_done(sp, now);
	return true;
}

/* Send the EOS, which asks for a report, behind the PACK that waits, if one does. */
void sstp_pack_eos(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sk_buff *skb = sp->acker.unacked ? sstp_small(sk, SSTP_RIDE_HLEN) : NULL;

	if (!skb) {
		sstp_send_context(sk, SSTP_F_ACK);
		return;
	}
	skb_reserve(skb, SSTP_ACK_HLEN_MAX);
	sp->live.context_ship = sp->snd.shipment;
	sstp_build_context(sp, skb_put(skb, SSTP_DATA_HLEN), SSTP_F_ACK,
			   sstp_stamp(&sp->hs, now));
	SSTP_INC(sock_net(sk), OUTKEEPALIVES);
	sstp_pack_ride(sp, skb, now);
	sstp_small_xmit(sk, skb);
}
