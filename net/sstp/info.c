// SPDX-License-Identifier: GPL-2.0
/* Facts about a connection, for SSTP_INFO, netlink and events. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include "info.h"
#include "sstp.h"

/* Age of the connection, and the time for which each cause held up its sender */
static void sstp_fill_times(const struct sstp_sock *sp, struct sstp_info *i)
{
	const struct sstp_chrono *c = &sp->tx.chrono;
	u64 now = sp->life.ended_at ?: sstp_now(), unread = sp->rx.unread_time, age;

	if (!sp->life.started_at)
		return;
	age = now - sp->life.started_at;
	i->age = div_u64(age, NSEC_PER_USEC);
	i->busy_time = div_u64(age - sstp_chrono_get(c, SSTP_HELD_IDLE, now), NSEC_PER_USEC);
	i->contract_time = div_u64(sstp_chrono_get(c, SSTP_HELD_CONTRACT, now), NSEC_PER_USEC);
	i->controller_time = div_u64(sstp_chrono_get(c, SSTP_HELD_CONTROLLER, now),
				     NSEC_PER_USEC);
	i->window_time = div_u64(sstp_chrono_get(c, SSTP_HELD_WINDOW, now), NSEC_PER_USEC);
	i->sndbuf_time = div_u64(sstp_chrono_get(c, SSTP_HELD_SNDBUF, now), NSEC_PER_USEC);
	i->device_time = div_u64(sstp_chrono_get(c, SSTP_HELD_DEVICE, now), NSEC_PER_USEC);
	if (sp->rx.unread_since)
		unread += now - sp->rx.unread_since;
	i->unread_time = div_u64(unread, NSEC_PER_USEC);
}

/* The last sample of the delivery rate. Its numbers come from the peer, which may lie: the number
 * of bits is bounded so that the product does not overflow.
 */
static void sstp_fill_delivery(const struct sstp_sock *sp, struct sstp_info *i)
{
	const struct sstp_delivery *d = &sp->stats.delivery;
	u64 bits = (u64)d->packets * sp->path.size * 8;

	if (!d->packets)
		return;
	i->acked_rate = div_u64(min(bits, U64_MAX / USEC_PER_SEC) * USEC_PER_SEC, d->interval);
	i->app_limited = d->app_limited;
}

/* The receive buffer, or the pool that the connections of a listener share */
static void sstp_fill_rcvbuf(const struct sstp_sock *sp, struct sstp_info *i)
{
	const struct sstp_rcvbuf *b = &sp->rcvbuf;

	i->rcv_window = b->window;
	i->rcv_buffer = b->policy.in.limit;
	i->rcv_queued = atomic_read(&sp->sk.sk_rmem_alloc);
	if (sp->listen && sp->listen->pool) {
		i->rcv_buffer = sstp_pool_limit(sp->listen->pool);
		i->rcv_queued = sstp_pool_used(sp->listen->pool);
	}
	i->rcv_peak = b->peak;
	i->rcv_buffer_peak = b->limit_peak;
	i->rcv_grown = b->grown;
	i->rcv_shrunk = b->shrunk;
	i->rcv_grown_bytes = b->grown_bytes;
	i->rcv_shrunk_bytes = b->shrunk_bytes;
	i->rcv_epochs = b->epochs;
	i->rcv_bounded = b->bounded;
	i->mem_available = b->policy.in.available;
	i->mem_used = b->policy.in.used * 1000ULL / SSTP_RBUF_ONE;
}

void sstp_fill_info(struct sstp_sock *sp, struct sstp_info *i)
{
	struct sock *sk = &sp->sk;
	bool live = sp->snd.ring;

	memset(i, 0, sizeof(*i));
	i->state = sk->sk_state;
	i->type = sk->sk_type;
	i->ack_strategy = sp->hs.strategy;
	i->backoff = sp->live.probes;
	i->mtu = sp->path.mtu;
	i->packet_size = sp->path.size;
	i->segment_limit = sp->hs.segment_limit;
	i->tolerance = sp->hs.tolerance;
	i->rtt = sstp_rtt_smoothed(&sp->rtt, 0);
	i->rttvar = sp->rtt.var >> 2;
	i->rtt_min = sp->rtt.min == U32_MAX ? 0 : sp->rtt.min;
	i->cwnd = sp->ctrl.out.cwnd;
	i->period = sstp_ctrl_period(&sp->ctrl);
	i->rate = sp->rate.spec;
	if (live) {
		i->in_flight = sstp_in_flight(sp);
		i->snd_segment = sp->snd.next - sp->hs.snd_isn;
		i->snd_una = sp->snd.low - sp->hs.snd_isn;
		if (!sstp_after(sp->snd.next, sp->snd.high))
			i->snd_window = sp->snd.high - sp->snd.next + 1;
	}
	sstp_fill_times(sp, i);
	i->snd_queued = READ_ONCE(sk->sk_wmem_queued);
	i->rcv_segment = sp->rcv.low - sp->hs.rcv_isn;
	i->reordering = sp->arrivals.reorder;
	i->bytes_sent = sp->tx.bytes_sent;
	i->bytes_retrans = sp->stats.bytes_retrans;
	i->bytes_acked = sp->stats.bytes_acked;
	i->bytes_received = sp->acker.bytes_received;
	i->packets_sent = sp->stats.packets_sent;
	i->packets_retrans = sp->stats.packets_retrans;
	i->packets_received = sp->stats.packets_received;
	i->packets_duplicate = sp->stats.packets_duplicate;
	i->packets_discarded = sp->stats.packets_discarded;
	i->segments_sent = sp->stats.segments_sent;
	i->segments_received = sp->rcvbuf.segments_received;
	i->segments_with_gaps = sp->stats.segments_with_gaps;
	i->acks_sent = sp->stats.acks_sent;
	i->acks_received = sp->stats.acks_received;
	i->snaks_sent = sp->stats.snaks_sent;
	i->snaks_received = sp->stats.snaks_received;
	i->arrival_rate = sp->acker.arrival_rate;
	i->service_rate = sp->acker.service_rate;
	i->delivery_rate = sp->stats.delivery_rate;
	i->bytes_discarded = sp->stats.bytes_discarded;
	i->rcv_readable = sp->rx.readable;
	i->packets_lost = sp->stats.packets_lost;
	i->snd_unacked = sp->tx.queued;
	if (sp->breaker) {
		i->contract_breaks = sp->breaker->trips;
		i->contract_wait = sstp_breaker_wait(sp->breaker,
						     sp->life.ended_at ?: sstp_now());
	}
	i->rto = sstp_send_rto(sp);
	i->ecn = sp->loss.ecn.state;
	i->ecn_agreed = sp->hs.ecn;
	i->packets_marked = sp->stats.packets_marked;
	i->packets_marked_in = sp->acker.ecn.marks;
	sstp_fill_rcvbuf(sp, i);
	sstp_fill_delivery(sp, i);
	if (sp->ctrl.ops)
		strscpy(i->controller, sp->ctrl.ops->name, SSTP_NAME_MAX);
	if (sp->rcvbuf.policy.ops)
		strscpy(i->policy, sp->rcvbuf.policy.ops->name, SSTP_NAME_MAX);
}
