/* SPDX-License-Identifier: GPL-2.0 */
/* hybrid with the reports that a case wants. */
#ifndef _SSTP_HYBRID_SIM_H
#define _SSTP_HYBRID_SIM_H

#include "ctrl_sim.h"
#include "../hybrid.h"

#define HYBRID_BASE	40000U	/* us */
#define HYBRID_SMALL	1250U	/* us: sstp_waits_small() with this base */

static inline u32 hybrid_ms(const struct ctrl_sim *x)
{
	return div_u64(x->s.now, NSEC_PER_MSEC);
}

static inline void hybrid_wait(struct ctrl_sim *x, u32 ms)
{
	x->s.now += (u64)ms * NSEC_PER_MSEC;
}

/* Congestion avoidance with a window of @cwnd; the last probe was just now. */
static inline struct sstp_hybrid *hybrid_start(struct ctrl_sim *x, u32 cwnd)
{
	struct sstp_hybrid *h = sstp_hybrid_priv(&x->c);

	ctrl_sim_start(x, &sstp_ctrl_hybrid, HYBRID_BASE);
	ctrl_sim_avoid(x, cwnd);
	h->waits.base[0] = HYBRID_BASE;
	h->probed_ms = hybrid_ms(x);
	return h;
}

/* Reports with a round-trip time of @rtt us, one each ms, while a window is always in flight */
static inline void hybrid_run(struct ctrl_sim *x, u32 ms, u32 rtt)
{
	x->s.srtt = rtt;
	while (ms--) {
		hybrid_wait(x, 1);
		x->s.shipped = x->s.highest + x->c.cwnd;
		ctrl_sim_ack(x, max(div_u64(x->c.cwnd * 1000ULL, rtt), 1), rtt);
	}
}

/* A round trip with one report, in which @lost packets are lost */
static inline void hybrid_round(struct ctrl_sim *x, u32 delivered, u32 lost, u32 rtt)
{
	struct sstp_ctrl_sample s;

	x->s.srtt = rtt;
	hybrid_wait(x, rtt / USEC_PER_MSEC);
	x->s.highest = x->s.shipped;
	x->s.shipped += delivered + lost;
	s = x->s;
	s.rtt = rtt;
	s.delivered = delivered;
	s.lost = lost;
	s.lost_ship = s.highest;
	x->ops->on_ack(&x->c, &s);
	if (lost)
		x->ops->on_loss(&x->c, &s);
}

/* A report of a loss, or of @ce marks, among packets that left after all cuts so far */
static inline void hybrid_loss(struct ctrl_sim *x, u32 rtt, u32 ce)
{
	struct sstp_ctrl_sample s;

	x->s.highest = ++x->s.shipped;
	s = x->s;
	s.rtt = rtt;
	s.lost = !ce;
	s.ce = ce;
	s.lost_ship = s.highest;
	x->ops->on_loss(&x->c, &s);
}

#endif /* _SSTP_HYBRID_SIM_H */
