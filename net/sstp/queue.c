// SPDX-License-Identifier: GPL-2.0
/*
 * Limit of a socket's bytes in the qdisc and the device: about a millisecond of its rate, as TCP
 * small queues, so that a slow link of this host delays neither the socket's own packets nor those
 * of others.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/time64.h>
#include <net/dst.h>
#include <net/sch_generic.h>
#include <net/sock.h>
#include "queue.h"
#include "report.h"
#include "sstp.h"

#define SSTP_QUEUE_MOST		(256 << 10)	/* bytes, as memory is counted */
#define SSTP_QUEUE_PACKETS	4	/* beyond what is due, and least train, in packets */
#define SSTP_QUEUE_LATE		4	/* most of path.queue_late */
#define SSTP_QUEUE_SPAN		(16 * NSEC_PER_MSEC)	/* to which path.queue_late raises */

/* Round trips of sstp_queue_adapt() */
enum sstp_queue_round {
	SSTP_QUEUE_IDLE,	/* the limit has never stopped the sender */
	SSTP_QUEUE_SETTLES,	/* packets are on the path that left with another limit */
	SSTP_QUEUE_MEASURES,
};

/* The most that was in flight within a round trip, in bytes of frames: the rate times the
 * round-trip time
 */
static u64 sstp_queue_flight(const struct sstp_sock *sp)
{
	return mul_u32_u32(max(sstp_in_flight(sp), sp->ctrl.flight), sp->path.frame);
}

static u32 sstp_queue_most(const struct sstp_sock *sp)
{
	return SSTP_QUEUE_MOST << sp->path.queue_late;
}

/* Bytes of frames that leave in the time that the queues below may hold: by the contract, by the
 * period, or by what was in flight. A driver that needs longer queues, as for WiFi's
 * aggregates, says so in sk_pacing_shift.
 *
 * The congestion window does not count. Connections whose packets wait in one queue share its rate
 * as they share its bytes, and while this limit holds them back they do not use their windows, so
 * no window changes: each would keep the share that it had when the queue began.
 */
static u64 sstp_queue_due(const struct sstp_sock *sp)
{
	u32 span = max(NSEC_PER_SEC >> READ_ONCE(sp->sk.sk_pacing_shift), NSEC_PER_USEC);
	u32 srtt = sstp_rtt_smoothed(&sp->rtt, 0);
	u64 due = sstp_queue_most(sp), period = sstp_ctrl_period(&sp->ctrl);

	if (span < SSTP_QUEUE_SPAN)
		span = min_t(u32, span << sp->path.queue_late, SSTP_QUEUE_SPAN);
	if (sstp_rate_bound(&sp->rate))
		due = mul_u64_u32_div(sp->rate.log->ms_bytes, span, NSEC_PER_MSEC);
	if (period)
		due = min(due, div64_u64((u64)sp->path.frame * span, period));
	if (sstp_ctrl_window(&sp->ctrl) != SSTP_CWND_MAX && srtt)
		due = min(due, mul_u64_u32_div(sstp_queue_flight(sp), span / NSEC_PER_USEC, srtt));
	return due;
}

/* Most bytes of @sk in the queues below: a few packets more than are due, so that a connection with
 * less than its share gains. What a peer has reported left the device long ago, so if nothing is
 * in flight, a device that frees packets late must not stop the sender.
 */
static u32 sstp_queue_limit(const struct sock *sk)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	u32 more = SSTP_QUEUE_PACKETS * SKB_TRUESIZE(sp->path.frame);

	if (!sstp_in_flight(sp))
		return SSTP_QUEUE_MOST;
	return min_t(u64, sstp_queue_due(sp) + more, sstp_queue_most(sp));
}

/* Bytes that waited on the path with a round-trip time of @rtt us, if the shortest one is that of a
 * path without queues
 */
static u64 sstp_queue_waited(const struct sstp_sock *sp, u32 rtt)
{
	u32 wait = rtt - min(rtt, sp->rtt.min);

	return wait ? mul_u64_u32_div(sstp_queue_flight(sp), wait, rtt) : 0;
}

/* Do packets wait in the qdisc of the route's device? A device on top of others has none. */
static bool sstp_queue_waiting(struct sock *sk)
{
	const struct net_device *dev;
	const struct dst_entry *dst;
	int queue = sk_tx_queue_get(sk);
	bool waiting = false;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst) {
		dev = READ_ONCE(dst->dev);
		if (queue < 0 || queue >= READ_ONCE(dev->real_num_tx_queues))
			queue = 0;
		waiting = qdisc_qlen_sum(rcu_dereference(netdev_get_tx_queue(dev, queue)->qdisc));
	}
	rcu_read_unlock();
	return waiting;
}

/* A device that frees packets late, as it has an interrupt for several, bounds the rate: up to
 * @limit bytes leave in the time that it takes. Bytes that wait below lengthen the round-trip time
 * and those that are only freed late do not. So if a whole round trip was shorter than a quarter of
 * @limit explains, and no packet waits in the qdisc, @queue_late is raised. If more waited than
 * @limit explains, the wait was elsewhere and tells nothing.
 *
 * Packets of a burst wait for one another, so the shortest round-trip time counts. The round trip
 * follows one in which @queue_late did not change, and both begin while the limit stops the sender.
 * Where a queue lasts, it becomes a part of the shortest round-trip time of the last 10 s: then
 * @queue_late is raised for a few round trips, until the queue is longer than that.
 */
static void sstp_queue_adapt(struct sock *sk, u32 limit)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_path *p = &sp->path;
	const enum sstp_queue_round round = p->queue_round;
	const u32 highest = sp->loss.highest;
	const bool stopped = highest - p->queue_ship <= sp->ctrl.flight;
	u64 waited;

	if (round != SSTP_QUEUE_IDLE && p->queue_ship - highest < SSTP_SHIP_WINDOW)
		return;
	p->queue_ship = sp->snd.shipment - 1;
	p->queue_round = SSTP_QUEUE_SETTLES;
	/* Much was reported since the round trip ended: nothing stopped the sender for a while. */
	if (round == SSTP_QUEUE_IDLE || !stopped)
		return;
	if (round == SSTP_QUEUE_SETTLES) {
		p->queue_round = SSTP_QUEUE_MEASURES;
		sp->rtt.low = U32_MAX;
		return;
	}
	if (sp->rtt.low == U32_MAX)
		return;
	waited = sstp_queue_waited(sp, sp->rtt.low);
	if (waited < limit / 4 && !sstp_queue_waiting(sk))
		p->queue_late = min(p->queue_late + 1, SSTP_QUEUE_LATE);
	else if (waited <= 2ULL * limit)
		p->queue_late = 0;
}

bool sstp_queue_full(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 limit;

	if (refcount_read(&sk->sk_wmem_alloc) < SSTP_QUEUE_PACKETS * SKB_TRUESIZE(0))
		return false;
	limit = sstp_queue_limit(sk);
	if (refcount_read(&sk->sk_wmem_alloc) < limit)
		return false;
	WRITE_ONCE(sp->path.queue_limit, limit);
	set_bit(SSTP_FL_THROTTLED, &sp->pending.flags);
	/* Pairs with smp_mb() in sstp_queue_freed(): either we see the memory freed, or it sees
	 * the flag and the limit.
	 */
	smp_mb__after_atomic();
	if (refcount_read(&sk->sk_wmem_alloc) >= limit) {
		sstp_queue_adapt(sk, limit);
		return true;
	}
	clear_bit(SSTP_FL_THROTTLED, &sp->pending.flags);
	return false;
}

u32 sstp_queue_train(const struct sstp_sock *sp, u32 want)
{
	u32 due;

	if (want <= SSTP_QUEUE_PACKETS || !sstp_in_flight(sp))
		return want;
	due = min_t(u64, sstp_queue_due(sp), sstp_queue_most(sp));
	return min(want, max(due / sp->path.frame, SSTP_QUEUE_PACKETS));
}

void sstp_queue_freed(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	/* Pairs with smp_mb__after_atomic() in sstp_queue_full(). */
	smp_mb();
	if (test_bit(SSTP_FL_THROTTLED, &sp->pending.flags) &&
	    refcount_read(&sk->sk_wmem_alloc) < READ_ONCE(sp->path.queue_limit) / 2)
		sstp_clock_kick(&sp->clock);
}
