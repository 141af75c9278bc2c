// SPDX-License-Identifier: GPL-2.0
/* The deadlines of a connection, on one hrtimer. */
#include "sstp.h"

/* Handles deadlines that have passed; set before a socket can be made */
static void (*sstp_clock_expired)(struct sock *sk) __ro_after_init;

void __init sstp_clock_setup(void (*expired)(struct sock *sk))
{
	sstp_clock_expired = expired;
}

static struct sock *sstp_clock_sk(struct sstp_clock *c)
{
	return &container_of(c, struct sstp_sock, clock)->sk;
}

/* Queue @hrt for @at (ns), with a reference on the socket. Any context. */
static void sstp_clock_start(struct sstp_clock *c, u64 at)
{
	unsigned long irq;

	spin_lock_irqsave(&c->lock, irq);
	if (!c->held) {
		sock_hold(sstp_clock_sk(c));
		c->held = true;
	}
	/* Never move @hrt to a later time: it may be queued by sstp_clock_kick(), which
	 * leaves no deadline in @at.
	 */
	if (!hrtimer_is_queued(&c->hrt) ||
	    ktime_to_ns(hrtimer_get_expires(&c->hrt)) > at)
		hrtimer_start(&c->hrt, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
	spin_unlock_irqrestore(&c->lock, irq);
}

static void sstp_clock_arm(struct sstp_clock *c, u64 at)
{
	if (at >= c->armed)
		return;
	c->armed = at;
	sstp_clock_start(c, at);
}

void sstp_clock_rearm(struct sstp_clock *c)
{
	u64 next = U64_MAX;
	int t;

	for (t = 0; t < SSTP_TIMERS; t++)
		next = min(next, c->at[t]);
	sstp_clock_arm(c, next);
}

void sstp_timer_set(struct sstp_clock *c, enum sstp_timer t, u64 at)
{
	c->at[t] = at;
	sstp_clock_arm(c, at);
}

void sstp_timer_sooner(struct sstp_clock *c, enum sstp_timer t, u64 at)
{
	if (at < c->at[t])
		sstp_timer_set(c, t, at);
}

void sstp_timer_stop(struct sstp_clock *c, enum sstp_timer t)
{
	c->at[t] = U64_MAX;
}

bool sstp_timer_due(struct sstp_clock *c, enum sstp_timer t, u64 now)
{
	if (c->at[t] > now)
		return false;
	c->at[t] = U64_MAX;
	return true;
}

bool sstp_timer_pending(const struct sstp_clock *c, enum sstp_timer t)
{
	return c->at[t] != U64_MAX;
}

void sstp_clock_stop(struct sstp_clock *c)
{
	unsigned long irq;
	int t;

	for (t = 0; t < SSTP_TIMERS; t++)
		c->at[t] = U64_MAX;
	c->armed = 0;	/* sstp_clock_arm() does nothing any more */
	spin_lock_irqsave(&c->lock, irq);
	/* A callback that runs now, or that sstp_clock_kick() still brings,
	 * finds the connection closed and drops the reference.
	 */
	if (hrtimer_try_to_cancel(&c->hrt) == 1) {
		c->held = false;
		__sock_put(sstp_clock_sk(c));
	} else if (hrtimer_is_queued(&c->hrt)) {
		/* The callback that runs has armed @hrt anew, and no timer can be cancelled
		 * meanwhile: let @hrt fire at once, else the reference would stay until a
		 * deadline that may be minutes away.
		 */
		hrtimer_start(&c->hrt, 0, HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_irqrestore(&c->lock, irq);
}

void sstp_clock_kick(struct sstp_clock *c)
{
	struct sock *sk = sstp_clock_sk(c);

	if (!refcount_inc_not_zero(&sk->sk_refcnt))
		return;
	sstp_clock_start(c, 0);
	sock_put(sk);
}

static enum hrtimer_restart sstp_clock_fire(struct hrtimer *hrt)
{
	struct sstp_sock *sp = container_of(hrt, struct sstp_sock, clock.hrt);
	struct sock *sk = &sp->sk;
	unsigned long irq;

	spin_lock_irqsave(&sp->clock.lock, irq);
	/* If @hrt was started anew since it expired, the new start owns the reference in
	 * @held; this run takes another, as it still has to look.
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
		set_bit(SSTP_FL_CLOCK, &sp->pending.flags);
	bh_unlock_sock(sk);
	sock_put(sk);
	return HRTIMER_NORESTART;
}

void sstp_clock_init(struct sstp_clock *c)
{
	int t;

	spin_lock_init(&c->lock);
	sstp_hrtimer_setup(&c->hrt, sstp_clock_fire);
	c->armed = U64_MAX;
	for (t = 0; t < SSTP_TIMERS; t++)
		c->at[t] = U64_MAX;
}
