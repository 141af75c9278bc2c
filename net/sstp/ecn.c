// SPDX-License-Identifier: GPL-2.0
/* Explicit congestion notification; ecn.h describes it. */
#include <linux/minmax.h>
#include <net/inet_ecn.h>
#include "ecn.h"
#include "wire.h"

bool sstp_ecn_came(struct sstp_ecn_in *in, u8 ecn, u32 packets)
{
	bool was = in->marked;

	if (!packets)
		return false;
	if (ecn == INET_ECN_CE) {
		in->ce += packets;
		in->marks += packets;
	} else if (ecn == INET_ECN_ECT_0) {
		in->ect += packets;
	}
	in->marked = ecn == INET_ECN_CE;
	return in->marked && !was;
}

/* A round trip begins: it ends with the report of shipment @ship. */
static void sstp_ecn_round(struct sstp_ecn *e, u32 ship)
{
	e->round_ship = ship;
	e->round_rtt = 0;
}

void sstp_ecn_start(struct sstp_ecn *e, u32 first, u32 received, u32 flight)
{
	e->state = SSTP_ECN_TESTED;
	e->first = first;
	e->received = received;
	e->plain = flight;
	e->settled = !flight;
	e->run = 0;
	e->rounds = 0;
	e->vain = 0;
	e->vain_ship = first - 1;
	sstp_ecn_round(e, first);
}

void sstp_ecn_stop(struct sstp_ecn *e)
{
	e->state = SSTP_ECN_OFF;
}

static u32 sstp_ecn_lower(u32 a, u32 b)
{
	return a ? min(a, b) : b;
}

/* Did the round trip that ends take hardly longer than the shortest one? Then no packet of it had
 * waited in a queue.
 */
static bool sstp_ecn_no_queue(const struct sstp_ecn *e)
{
	return e->round_rtt && e->round_rtt <= e->least_rtt + e->least_rtt / 8;
}

/* Has every packet come with CE for so long, and without a queue, that it cannot be the work of
 * queues? A controller that cuts its window in each of these round trips has emptied any queue of
 * its own, but many flows with the smallest window may keep one above any threshold.
 */
static bool sstp_ecn_all_marked(struct sstp_ecn *e, const struct sstp_ecn_report *r, u32 ect,
				u32 ce)
{
	if (r->rtt) {
		e->least_rtt = sstp_ecn_lower(e->least_rtt, min(r->rtt, r->min_rtt));
		e->round_rtt = sstp_ecn_lower(e->round_rtt, r->rtt);
	}
	if (ect) {
		e->run = 0;
		e->rounds = 0;
		sstp_ecn_round(e, r->shipped);
		return false;
	}
	e->run = min(e->run + ce, SSTP_ECN_RUN);
	if (ce && !sstp_before(r->highest, e->round_ship)) {
		if (sstp_ecn_no_queue(e))
			e->rounds = min(e->rounds + 1, SSTP_ECN_ROUNDS);
		sstp_ecn_round(e, r->shipped);
	}
	return e->run >= SSTP_ECN_RUN && e->rounds >= SSTP_ECN_ROUNDS;
}

/* Has the path begun to drop packets with ECT? Then for several round trips all that is shipped
 * is lost. A path that does not take packets of this size looks alike; sstp_pmtud_bh() makes
 * smaller ones sooner. @received: as of sstp_ecn_next()
 */
static bool sstp_ecn_all_dropped(struct sstp_ecn *e, const struct sstp_ecn_report *r, u32 received)
{
	if (received) {
		e->vain = 0;
		e->vain_ship = r->shipped;
	} else if (sstp_after(r->settled, e->vain_ship)) {
		e->vain = min(e->vain + 1, SSTP_ECN_VAIN);
		e->vain_ship = r->shipped;
	}
	return e->state == SSTP_ECN_USED && e->vain == SSTP_ECN_VAIN;
}

/* The state that the report leads to. Packets before e->first had no ECT, so nothing is tested
 * until all of these have come or were declared lost, and as many as were lost may still come.
 * @received, @ect and @ce are differences of the peer's own sums: r->delivered may be less if a
 * burst of packets is late.
 */
static enum sstp_ecn_state sstp_ecn_next(struct sstp_ecn *e, const struct sstp_ecn_report *r,
					 u32 received, u32 ect, u32 ce)
{
	u32 plain;

	if ((u64)ect + ce > received)
		return SSTP_ECN_INVALID;
	if (sstp_ecn_all_dropped(e, r, received))
		return SSTP_ECN_DROPPED;
	plain = min(received - ect - ce, e->plain);
	e->plain -= plain;
	received -= plain;
	if (!e->settled) {
		e->settled = !sstp_before(r->settled, e->first - 1);
		return ect || ce ? SSTP_ECN_USED : e->state;
	}
	if (ect + ce < received)
		return SSTP_ECN_BLEACHED;
	if (sstp_ecn_all_marked(e, r, ect, ce))
		return SSTP_ECN_ALL_MARKED;
	if (received)
		return SSTP_ECN_USED;
	if (e->state == SSTP_ECN_TESTED && !sstp_before(r->settled, e->first - 1 + SSTP_ECN_LOST))
		return SSTP_ECN_DROPPED;
	return e->state;
}

u32 sstp_ecn_update(struct sstp_ecn *e, const struct sstp_ecn_report *r)
{
	u32 ect = r->ect - e->ect, ce = r->ce - e->ce, received = r->received - e->received;

	e->ect = r->ect;
	e->ce = r->ce;
	e->received = r->received;
	if (e->state != SSTP_ECN_TESTED && e->state != SSTP_ECN_USED)
		return 0;
	e->state = sstp_ecn_next(e, r, received, ect, ce);
	return e->state == SSTP_ECN_ALL_MARKED ? 0 : min(ce, r->delivered);
}
