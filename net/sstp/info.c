// SPDX-License-Identifier: GPL-2.0
/* Facts about a connection, for SSTP_INFO, netlink and events. */
#include "info.h"
#include "sstp.h"

/* For how long, and what held it up */
static void sstp_fill_times(const struct sstp_sock *sp, struct sstp_info *i)
{
	const struct sstp_chrono *c = &sp->chrono;
	u64 now = sp->ended ?: sstp_now(), unread = sp->unread_time;

	if (!sp->born)
		return;
	i->age = div_u64(now - sp->born, NSEC_PER_USEC);
	i->busy_time = div_u64(now - sp->born - sstp_chrono_get(c, SSTP_HELD_IDLE, now),
			       NSEC_PER_USEC);
	i->contract_time = div_u64(sstp_chrono_get(c, SSTP_HELD_CONTRACT, now), NSEC_PER_USEC);
	i->controller_time = div_u64(sstp_chrono_get(c, SSTP_HELD_CONTROLLER, now),
				     NSEC_PER_USEC);
	i->window_time = div_u64(sstp_chrono_get(c, SSTP_HELD_WINDOW, now), NSEC_PER_USEC);
	i->sndbuf_time = div_u64(sstp_chrono_get(c, SSTP_HELD_SNDBUF, now), NSEC_PER_USEC);
	i->device_time = div_u64(sstp_chrono_get(c, SSTP_HELD_DEVICE, now), NSEC_PER_USEC);
	if (sp->unread_since)
		unread += now - sp->unread_since;
	i->unread_time = div_u64(unread, NSEC_PER_USEC);
}

void sstp_fill_info(struct sstp_sock *sp, struct sstp_info *i)
{
	struct sock *sk = &sp->sk;
	bool live = sp->snd.ring;

	memset(i, 0, sizeof(*i));
	i->state = sk->sk_state;
	i->type = sk->sk_type;
	i->ack_strategy = sp->strategy;
	i->backoff = sp->probes;
	i->mtu = sp->mtu;
	i->packet_size = sp->size;
	i->segment_limit = sp->segment_limit;
	i->tolerance = sp->tolerance;
	i->rtt = sstp_rtt_smoothed(&sp->rtt, 0);
	i->rttvar = sp->rtt.var >> 2;
	i->rtt_min = sp->rtt.min == U32_MAX ? 0 : sp->rtt.min;
	i->cwnd = sp->ctrl.out.cwnd;
	i->period = sp->ctrl.out.period;
	i->rate = sp->rate.spec;
	if (live) {
		i->in_flight = sstp_in_flight(sp);
		i->snd_segment = sp->snd.next - sp->snd_isn;
		i->snd_una = sp->snd.low - sp->snd_isn;
		if (!sstp_after(sp->snd.next, sp->snd.high))
			i->snd_window = sp->snd.high - sp->snd.next + 1;
	}
	sstp_fill_times(sp, i);
	i->snd_queued = READ_ONCE(sk->sk_wmem_queued);
	i->rcv_segment = sp->rcv.low - sp->rcv_isn;
	i->rcv_window = sp->window;
	i->rcv_buffer = sp->rbuf.in.limit;
	i->rcv_queued = atomic_read(&sk->sk_rmem_alloc);
	if (sp->listen.pool) {
		i->rcv_buffer = sstp_pool_limit(sp->listen.pool);
		i->rcv_queued = sstp_pool_used(sp->listen.pool);
	}
	i->rcv_peak = sp->rcv_peak;
	i->reordering = sp->arrivals.reorder;
	i->bytes_sent = sp->bytes_sent;
	i->bytes_retrans = sp->bytes_retrans;
	i->bytes_acked = sp->bytes_acked;
	i->bytes_received = sp->bytes_received;
	i->packets_sent = sp->packets_sent;
	i->packets_retrans = sp->packets_retrans;
	i->packets_received = sp->packets_received;
	i->packets_duplicate = sp->packets_duplicate;
	i->packets_discarded = sp->packets_discarded;
	i->segments_sent = sp->segments_sent;
	i->segments_received = sp->segments_received;
	i->segments_with_gaps = sp->segments_with_gaps;
	i->acks_sent = sp->acks_sent;
	i->acks_received = sp->acks_received;
	i->snaks_sent = sp->snaks_sent;
	i->snaks_received = sp->snaks_received;
	i->arrival_rate = sp->arrival_rate;
	i->service_rate = sp->service_rate;
	i->delivery_rate = sp->delivery_rate;
	i->rcv_buffer_peak = sp->rcv_buffer_peak;
	i->rcv_grown = sp->rcv_grown;
	i->rcv_shrunk = sp->rcv_shrunk;
	i->rcv_grown_bytes = sp->rcv_grown_bytes;
	i->rcv_shrunk_bytes = sp->rcv_shrunk_bytes;
	i->bytes_discarded = sp->bytes_discarded;
	i->rcv_readable = sp->readable;
	i->packets_lost = sp->packets_lost;
	i->mem_available = sp->rbuf.in.available;
	i->mem_used = sp->rbuf.in.used * 1000ULL / SSTP_RBUF_ONE;
	i->rcv_epochs = sp->rcv_epochs;
	i->rcv_bounded = sp->rcv_bounded;
	i->snd_unacked = sp->queued;
	i->contract_breaks = sp->breaker.trips;
	i->contract_wait = sstp_breaker_wait(&sp->breaker, sp->ended ?: sstp_now());
	if (sp->ctrl.ops)
		strscpy(i->controller, sp->ctrl.ops->name, SSTP_NAME_MAX);
	if (sp->rbuf.ops)
		strscpy(i->policy, sp->rbuf.ops->name, SSTP_NAME_MAX);
}
