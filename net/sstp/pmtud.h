/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large packets may be: path MTU discovery at the packetization layer (RFC
 * 8899). Packets are made for a size that the path is known or trusted to take, larger
 * ones are tried by probes, whose loss is no congestion, and what routers say is a
 * hint. Mechanism: no socket, no clock; the caller holds the connection's lock.
 *
 *   floor          mtu            probe         failed        ceiling
 *   ---+------------+---------------+-------------+--------------+---
 *      | may always | packets are   | is tried    | did not pass | of the
 *      | be sent    | made for it   |             |              | route
 *
 * Sizes are those of IP packets, bytes.
 */
#ifndef _SSTP_PMTUD_H
#define _SSTP_PMTUD_H

#include <linux/types.h>
#include "compat.h"

#define SSTP_PMTU_START4	1500	/* bytes to begin with; ICMP tells if it is too much */
#define SSTP_PMTU_BASE		1280	/* bytes that every IPv6 path and most IPv4 paths take */
#define SSTP_PMTU_FLOOR4	552
#define SSTP_PMTU_PROBES	3	/* lost probes of one size: the path does not take it */
#define SSTP_PMTU_BH_LOST	3	/* times that no packet came */
#define SSTP_PMTU_BH_ODDS	20	/* -log2 of the chance below which losses are not random */
#define SSTP_PMTU_RAISE		(600ULL * NSEC_PER_SEC)

/**
 * struct sstp_pmtud - what is known of a path
 * @hint: MTU that an ICMP error told, bytes; 0 = none did
 * @first: timestamp of the first probe of size @probe, us
 * @last: timestamp of the last one, us
 * @bh: a packet that the peer lacks, watched for a black hole
 * @bh_received: packets that the peer had received when @bh was noted last
 * @bh_ship: newest shipment then
 * @bh_round: newest shipment when the round for @bh_odds began
 * @bh_round_received: packets that the peer had received then
 * @bh_gone: packets that had been lost then, by the peer's sums
 * @due: ns: no probe is sent before
 * @floor: least MTU to try, bytes: the path takes it, or IP fragments larger packets
 * @mtu: MTU for which packets are made, bytes
 * @ceiling: MTU of the route, bytes; 0 = not known yet
 * @failed: size of probes that failed, bytes; 0 = none
 * @probe: size that is being tried, bytes; 0 = none
 * @bh_all_lost: the last time none had
 * @tries: probes sent of size @probe
 * @bh_lost: times that the peer knew of later shipments, but none had come; one less for
 *	each time that some had
 * @bh_odds: sum over rounds in a row of -8 log2 of the share of packets that were lost
 */
struct sstp_pmtud {
	u32	hint;
	u32	first;
	u32	last;
	struct {
		u32	segment;
		u32	packet;
	} bh;
	u32	bh_received;
	u32	bh_ship;
	u32	bh_round;
	u32	bh_round_received;
	u32	bh_gone;
	__cacheline_group_begin(sstp_pmtud_setup);
	u64	due;
	u32	floor;
	u32	mtu;
	u32	ceiling;
	u32	failed;
	u32	probe;
	bool	bh_all_lost;
	u8	tries;
	__cacheline_group_end(sstp_pmtud_setup);
	u8	bh_lost;
	u8	bh_odds;
};

/**
 * struct sstp_pmtud_report - the peer asks for a packet
 * @segment: which
 * @packet: of it
 * @size: of the packet, as the segment is cut now
 * @received: packets with data that have come to the peer
 * @highest: newest shipment that the peer knows of, if only as it was told
 * @late: number of shipments up to @highest that may be late
 * @settled: newest shipment up to which all have come or were declared lost
 * @shipment: newest that there is
 */
struct sstp_pmtud_report {
	u32	segment;
	u32	packet;
	u32	size;
	u32	received;
	u32	highest;
	u32	late;
	u32	settled;
	u32	shipment;
};

/* The route takes @mtu, now. @local: it does not leave the host; @v6: IPv6 */
void sstp_pmtud_route(struct sstp_pmtud *p, u32 mtu, bool local, bool v6);
/* Size of the probe to be sent now, or 0. */
u32 sstp_pmtud_next(struct sstp_pmtud *p, u64 now);
/* One of @size was sent with this timestamp; it is lost if no answer has come at @due. */
void sstp_pmtud_sent(struct sstp_pmtud *p, u32 size, u32 stamp, u64 due);

/* These return whether @mtu changed. */

/* The peer echoes the timestamp of a probe. */
bool sstp_pmtud_echo(struct sstp_pmtud *p, u32 stamp);
/* A router says that the path takes @mtu. */
bool sstp_pmtud_hint(struct sstp_pmtud *p, u32 mtu);
/* The peer asks for the first packet that it lacks. If it asks again and again, and nothing has
 * come meanwhile, or too little is lost to have hit this packet each time, the path may not take
 * this size: @mtu falls to SSTP_PMTU_BASE, and if that is lost as well, to @floor. Sizes between
 * them are not tried, as probes find them at once.
 */
bool sstp_pmtud_bh(struct sstp_pmtud *p, const struct sstp_pmtud_report *r);

/* Was the packet that the peer lacks lost again, and with it all that was sent since? The
 * peer has @received packets with data. More of the same size may be lost as well.
 */
static inline bool sstp_pmtud_suspect(const struct sstp_pmtud *p, u32 received)
{
	return p->bh_all_lost && p->bh_received == received;
}

/* Are packets so small that they are better fragmented than made smaller? */
static inline bool sstp_pmtud_least(const struct sstp_pmtud *p)
{
	return p->mtu <= p->floor;
}

#endif /* _SSTP_PMTUD_H */
