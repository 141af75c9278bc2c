// SPDX-License-Identifier: GPL-2.0
/*
 * Limit of a socket's bytes in the qdisc and the device: about a millisecond of its rate, as TCP
 * small queues, so that a slow link of this host delays neither the socket's own packets nor those
 * of others.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "queue.h"
#include "report.h"
#include "sstp.h"

#define SSTP_QUEUE_MOST		(256 << 10)	/* bytes, as memory is counted */
#define SSTP_QUEUE_PACKETS	4	/* beyond what is due, and least train, in packets */

/* Bytes that leave in the time that the queues below may hold: by the contract, by the controller's
 * period, or by the most that was in flight within a round trip, which is the rate times the
 * round-trip time. A driver that needs longer queues, as for WiFi's aggregates, says so in
 * sk_pacing_shift.
 *
 * The congestion window does not count. Connections whose packets wait in one queue share its rate
 * as they share its bytes, and while this limit holds them back they do not use their windows, so
 * no window changes: each would keep the share that it had when the queue began.
 */
static u64 sstp_queue_due(const struct sstp_sock *sp)
{
	u32 span = max(NSEC_PER_SEC >> READ_ONCE(sp->sk.sk_pacing_shift), NSEC_PER_USEC);
	u32 flight = max(sstp_in_flight(sp), sp->ctrl.flight);
	u32 srtt = sstp_rtt_smoothed(&sp->rtt, 0);
	u64 due = SSTP_QUEUE_MOST;

	if (sstp_rate_bound(&sp->rate))
		due = mul_u64_u32_div(sp->rate.log->ms_bytes, span, NSEC_PER_MSEC);
	if (sp->ctrl.out.period)
		due = min(due, div64_u64((u64)sp->path.frame * span, sp->ctrl.out.period));
	if (sstp_ctrl_window(&sp->ctrl) != SSTP_CWND_MAX && srtt)
		due = min(due, mul_u64_u32_div(mul_u32_u32(flight, SKB_TRUESIZE(sp->path.frame)),
					       span / NSEC_PER_USEC, srtt));
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
	return min_t(u64, sstp_queue_due(sp) + more, SSTP_QUEUE_MOST);
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
	if (refcount_read(&sk->sk_wmem_alloc) >= limit)
		return true;
	clear_bit(SSTP_FL_THROTTLED, &sp->pending.flags);
	return false;
}

u32 sstp_queue_train(const struct sstp_sock *sp, u32 want)
{
	u32 due;

	if (want <= SSTP_QUEUE_PACKETS || !sstp_in_flight(sp))
		return want;
	due = min_t(u64, sstp_queue_due(sp), SSTP_QUEUE_MOST);
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
