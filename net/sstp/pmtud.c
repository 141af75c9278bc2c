// SPDX-License-Identifier: GPL-2.0
/* Path MTU discovery. */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "pmtud.h"

#define SSTP_PMTU_STEP	8	/* packets grow in steps of so many bytes */

/* What paths take, as a rule */
static const u16 sstp_pmtud_common[] = {
	9000, 4352, 1500, 1492, 1472, 1452, 1432, 1400, 1360, 1320, 1280, 1006, 792,
};

/* Everything that was learnt from probes is forgotten: try anew, from the top. */
static void sstp_pmtud_search(struct sstp_pmtud *p)
{
	p->failed = 0;
	p->hint = 0;
	p->probe = 0;
	p->tries = 0;
	p->due = 0;
}

void sstp_pmtud_route(struct sstp_pmtud *p, u32 mtu, bool local, bool v6)
{
	u32 start = local ? mtu : v6 ? SSTP_PMTU_BASE : SSTP_PMTU_START4;

	if (mtu == p->ceiling)
		return;
	if (!p->ceiling) {
		p->floor = v6 ? SSTP_PMTU_BASE : SSTP_PMTU_FLOOR4;
		p->mtu = start;
	}
	/* It may lead elsewhere now. */
	if (mtu > p->ceiling)
		sstp_pmtud_search(p);
	p->ceiling = mtu;
	p->mtu = min(p->mtu, mtu);
	if (p->probe > mtu)
		p->probe = 0;
}

/* Next size to try, or 0 */
static u32 sstp_pmtud_candidate(const struct sstp_pmtud *p)
{
	u32 least = p->mtu + SSTP_PMTU_STEP, most = p->ceiling, i;

	if (p->failed)
		most = min(most, p->failed - 1);
	if (most < least)
		return 0;
	if (!p->failed)
		return most;
	if (p->hint >= least && p->hint <= most)
		return p->hint;
	for (i = 0; i < ARRAY_SIZE(sstp_pmtud_common); i++)
		if (sstp_pmtud_common[i] <= most)
			return sstp_pmtud_common[i] >= least ?
			       sstp_pmtud_common[i] : 0;
	return 0;
}

/* The probe does not pass. Where a router said so, nothing above what it said does. */
static void sstp_pmtud_failed(struct sstp_pmtud *p)
{
	p->failed = p->hint && p->hint < p->probe ? p->hint + 1 : p->probe;
	p->probe = 0;
	p->tries = 0;
	p->due = 0;
}

u32 sstp_pmtud_next(struct sstp_pmtud *p, u64 now)
{
	u32 size;

	if (now < p->due)
		return 0;
	if (p->probe && p->tries < SSTP_PMTU_PROBES)
		return p->probe;
	if (p->probe)
		sstp_pmtud_failed(p);
	size = sstp_pmtud_candidate(p);
	if (!size && p->failed) {
		/* The path may change: look again after a while. */
		sstp_pmtud_search(p);
		p->due = now + SSTP_PMTU_RAISE;
	}
	return size;
}

void sstp_pmtud_sent(struct sstp_pmtud *p, u32 size, u32 stamp, u64 due)
{
	if (p->probe != size) {
		p->probe = size;
		p->tries = 0;
		p->first = stamp;
	}
	p->tries++;
	p->last = stamp;
	p->due = due;
}

bool sstp_pmtud_echo(struct sstp_pmtud *p, u32 stamp)
{
	if (!p->probe || stamp - p->first > p->last - p->first)
		return false;
	p->mtu = p->probe;
	p->probe = 0;
	p->tries = 0;
	p->due = 0;
	p->bh_lost = 0;
	p->bh_odds = 0;
	p->bh_all_lost = false;
	return true;
}

bool sstp_pmtud_hint(struct sstp_pmtud *p, u32 mtu)
{
	mtu = max(mtu, p->floor);
	if (mtu >= p->mtu) {
		if (mtu < p->probe) {
			p->hint = mtu;
			sstp_pmtud_failed(p);
		}
		return false;
	}
	/* A forged one does no lasting harm: what it denies is tried at once. */
	sstp_pmtud_search(p);
	p->bh_odds = 0;
	p->hint = mtu;
	p->mtu = mtu;
	return true;
}

/* The packet that is watched seems to be too large. Returns whether @mtu changed. */
static bool sstp_pmtud_shrink(struct sstp_pmtud *p, u32 mtu)
{
	p->bh_odds = 0;
	sstp_pmtud_search(p);
	p->mtu = mtu;
	return true;
}

/* Packets that the path has lost so far, but for a constant */
static u32 sstp_pmtud_gone(const struct sstp_pmtud_report *r)
{
	return r->highest - r->late - r->received;
}

/* A round begins: it ends when a shipment after those up to now is settled. Until then the packet
 * that is watched may be on its way again.
 */
static void sstp_pmtud_round(struct sstp_pmtud *p, const struct sstp_pmtud_report *r)
{
	p->bh_round = r->shipment;
	p->bh_round_received = r->received;
	p->bh_gone = sstp_pmtud_gone(r);
}

/* -8 log2 of the share of packets that a round lost, about; at most 32, so that some rounds are
 * needed however few are lost. @received: those that came
 */
static u32 sstp_pmtud_odds(u32 lost, u32 received)
{
	if (received >= lost)
		return 8 * ilog2(1 + min(received / lost, 15U));
	return div_u64(8ULL * received, received + lost);
}

/* Others came since the peer asked for the packet that is watched before: small packets come
 * through a black hole. Each round in which some were lost, of which the packet was one, makes it
 * less likely that this is by chance. A peer that discards packets for lack of room also asks each
 * time that they come, but as they come, a round without other losses ends the count.
 */
static bool sstp_pmtud_bh_some(struct sstp_pmtud *p, const struct sstp_pmtud_report *r, u32 mtu)
{
	s32 lost = sstp_pmtud_gone(r) - p->bh_gone;
	u32 received = r->received - p->bh_round_received;

	p->bh_received = r->received;
	p->bh_ship = r->shipment;
	p->bh_all_lost = false;
	if (p->bh_lost)
		p->bh_lost--;
	if ((s32)(r->settled - p->bh_round) <= 0)
		return false;
	sstp_pmtud_round(p, r);
	if (lost <= 0 || mtu >= r->size || mtu >= p->mtu) {
		p->bh_odds = 0;
		return false;
	}
	p->bh_odds += sstp_pmtud_odds(lost, received);
	return p->bh_odds >= 8 * SSTP_PMTU_BH_ODDS && sstp_pmtud_shrink(p, mtu);
}

bool sstp_pmtud_bh(struct sstp_pmtud *p, const struct sstp_pmtud_report *r)
{
	u32 mtu = r->size > SSTP_PMTU_BASE ? SSTP_PMTU_BASE : p->floor;

	if (p->bh.segment != r->segment || p->bh.packet != r->packet) {
		p->bh.segment = r->segment;
		p->bh.packet = r->packet;
		p->bh_received = r->received;
		p->bh_ship = r->shipment;
		sstp_pmtud_round(p, r);
		p->bh_lost = 0;
		p->bh_odds = 0;
		p->bh_all_lost = false;
		return false;
	}
	if (p->bh_received != r->received)
		return sstp_pmtud_bh_some(p, r, mtu);
	/* Later shipments may still be under way, or the path may carry nothing at all, which
	 * says nothing about sizes.
	 */
	if ((s32)(r->highest - p->bh_ship) <= 0)
		return false;
	p->bh_ship = r->shipment;
	if (mtu >= r->size || mtu >= p->mtu)
		return false;
	p->bh_all_lost = true;
	if (++p->bh_lost < SSTP_PMTU_BH_LOST)
		return false;
	p->bh_lost = SSTP_PMTU_BH_LOST - 1;
	return sstp_pmtud_shrink(p, mtu);
}
