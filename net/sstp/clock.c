// SPDX-License-Identifier: GPL-2.0
/* The deadlines of a connection, on one hrtimer. */
#include "sstp.h"

/* Handles deadlines that have passed; set before there is a socket. */
static void (*sstp_clock_expired)(struct sock *sk) __ro_after_init;

void __init sstp_clock_setup(void (*expired)(struct sock *sk))
{
	sstp_clock_expired = expired;
}

/* Queue @hrt for @at, with a reference on the socket. */
static void sstp_clock_start(struct sstp_sock *sp, u64 at)
{
	struct sstp_clock *c = &sp->clock;
	unsigned long irq;

	spin_lock_irqsave(&c->lock, irq);
	if (!c->held) {
		sock_hold(&sp->sk);
		c->held = true;
	}
	/* Never later: what is queued may be a kick, of which nobody else
	 * knows.
	 */
	if (!hrtimer_is_queued(&c->hrt) ||
	    ktime_to_ns(hrtimer_get_expires(&c->hrt)) > at)
		hrtimer_start(&c->hrt, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
	spin_unlock_irqrestore(&c->lock, irq);
}

static void sstp_clock_arm(struct sstp_sock *sp, u64 at)
{
	if (at >= sp->clock.armed)
		return;
	sp->clock.armed = at;
	sstp_clock_start(sp, at);
}

void sstp_clock_rearm(struct sstp_sock *sp)
{
	u64 next = U64_MAX;
	int t;

	for (t = 0; t < SSTP_TIMERS; t++)
		next = min(next, sp->clock.at[t]);
	sstp_clock_arm(sp, next);
}

void sstp_timer_set(struct sstp_sock *sp, enum sstp_timer t, u64 at)
{
	sp->clock.at[t] = at;
	sstp_clock_arm(sp, at);
}

void sstp_timer_sooner(struct sstp_sock *sp, enum sstp_timer t, u64 at)
{
	if (at < sp->clock.at[t])
		sstp_timer_set(sp, t, at);
}

void sstp_timer_stop(struct sstp_sock *sp, enum sstp_timer t)
{
	sp->clock.at[t] = U64_MAX;
}

bool sstp_timer_due(struct sstp_sock *sp, enum sstp_timer t, u64 now)
{
	if (sp->clock.at[t] > now)
		return false;
	sp->clock.at[t] = U64_MAX;
	return true;
}

bool sstp_timer_pending(const struct sstp_sock *sp, enum sstp_timer t)
{
	return sp->clock.at[t] != U64_MAX;
}

void sstp_clock_stop(struct sstp_sock *sp)
{
	struct sstp_clock *c = &sp->clock;
	unsigned long irq;
	int t;

	for (t = 0; t < SSTP_TIMERS; t++)
		c->at[t] = U64_MAX;
	c->armed = 0;	/* nothing arms it again */
	spin_lock_irqsave(&c->lock, irq);
	/* A callback that runs now, or that sstp_clock_kick() still brings,
	 * finds the connection closed and drops the reference.
	 */
	if (hrtimer_try_to_cancel(&c->hrt) == 1) {
		c->held = false;
		__sock_put(&sp->sk);
	}
	spin_unlock_irqrestore(&c->lock, irq);
}

void sstp_clock_kick(struct sstp_sock *sp)
{
	if (!refcount_inc_not_zero(&sp->sk.sk_refcnt))
		return;
	sstp_clock_start(sp, 0);
	sock_put(&sp->sk);
}

static enum hrtimer_restart sstp_clock_fire(struct hrtimer *hrt)
{
	struct sstp_sock *sp = container_of(hrt, struct sstp_sock, clock.hrt);
	struct sock *sk = &sp->sk;
	unsigned long irq;

	spin_lock_irqsave(&sp->clock.lock, irq);
	/* Started anew since it expired, it keeps the reference; but what expired
	 * may have been a kick.
	 */
	if (hrtimer_is_queued(hrt))
		sock_hold(sk);
	else
		sp->clock.held = false;
	spin_unlock_irqrestore(&sp->clock.lock, irq);

	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk))
		sstp_clock_expired(sk);
	else
		set_bit(SSTP_FL_CLOCK, &sp->flags);
	bh_unlock_sock(sk);
	sock_put(sk);
	return HRTIMER_NORESTART;
}

void sstp_clock_init(struct sstp_sock *sp)
{
	int t;

	spin_lock_init(&sp->clock.lock);
	sstp_hrtimer_setup(&sp->clock.hrt, sstp_clock_fire);
	sp->clock.armed = U64_MAX;
	for (t = 0; t < SSTP_TIMERS; t++)
		sp->clock.at[t] = U64_MAX;
}
