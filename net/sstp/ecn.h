/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Explicit congestion notification (RFC 3168). DATA packets leave with ECT(0) if the controller
 * answers marks; queues mark them with CE in place of dropping them. The receiver counts both
 * and reports the sums, so a report that is lost costs no mark. As the sender knows what it
 * sent, it sees from these sums whether the path changes the field: then DATA leaves without
 * ECT for the rest of the connection. "Explicit congestion notification" of
 * Documentation/networking/sstp-protocol.rst has the rules. Pure mechanism: no socket, no
 * clock. The socket lock guards all of it.
 */
#ifndef _SSTP_ECN_H
#define _SSTP_ECN_H

#include <linux/types.h>
#include <uapi/linux/sstp.h>

/**
 * struct sstp_ecn_in - marks that came, at the receiver
 * @ect: DATA packets that came with ECT(0), modulo 2^32
 * @ce: DATA packets that came with CE, modulo 2^32
 * @marks: all packets that came with CE
 * @marked: the last packet that came with ECT(0) or CE had CE
 */
struct sstp_ecn_in {
	u32	ect;
	u32	ce;
	u64	marks;
	bool	marked;
};

/* @packets came with the ECN field @ecn, which is not 0; @packets is 0 if they are copies of
 * packets that came before. Returns true if that is to be reported at once: a queue has begun to
 * mark.
 */
bool sstp_ecn_came(struct sstp_ecn_in *in, u8 ecn, u32 packets);

#define SSTP_ECN_LOST	8	/* shipments with ECT, all lost: the path drops such packets */
#define SSTP_ECN_VAIN	8	/* round trips in a row with losses, and no packet that came */
#define SSTP_ECN_RUN	64	/* packets that came with CE, and none with ECT(0), in ... */
#define SSTP_ECN_ROUNDS	16	/* ... as many round trips without a queue, see protocol.rst */

/**
 * struct sstp_ecn - marks of the packets that this end sent, by the peer's reports
 * @state: enum sstp_ecn_state
 * @settled: all shipments before @first have come or were declared lost
 * @rounds: round trips without a queue in which all packets came with CE since the last one that
 *	came with ECT(0), up to SSTP_ECN_ROUNDS
 * @vain: round trips in a row in which packets were lost, and none had come
 * @first: first shipment with ECT(0) since ECT was last switched on (serial number)
 * @vain_ship: shipment after which one has to be settled for @vain to be counted again
 * @ect: packets with ECT(0) in the last report, modulo 2^32
 * @ce: packets with CE in the last report, modulo 2^32
 * @received: packets received in the last report, modulo 2^32
 * @plain: packets without ECT that may still come: those on their way when ECT was switched on
 * @run: packets that came with CE since the last one that came with ECT(0)
 * @round_ship: shipment whose report ends the round trip (serial number)
 * @round_rtt: lowest round-trip time of reports of it, us; 0 = none yet
 * @least_rtt: lowest round-trip time of the connection, us; 0 = none yet
 */
struct sstp_ecn {
	u8	state;
	bool	settled;
	u8	rounds;
	u8	vain;
	u32	first;
	u32	vain_ship;
	u32	ect;
	u32	ce;
	u32	received;
	u32	plain;
	u32	run;
	u32	round_ship;
	u32	round_rtt;
	u32	least_rtt;
};

/**
 * struct sstp_ecn_report - what a report of the peer tells
 * @delivered: packets that it newly reports received, at most those that may be on their way
 * @received: packets received, modulo 2^32; with or without ECT
 * @ect: packets with ECT(0), modulo 2^32
 * @ce: packets with CE, modulo 2^32
 * @highest: highest shipment reported
 * @settled: highest shipment up to which all have come or were declared lost
 * @shipped: newest shipment of this end
 * @rtt: round-trip time that the report shows, us; 0 = none
 * @min_rtt: lowest round-trip time that is known, us
 */
struct sstp_ecn_report {
	u32	delivered;
	u32	received;
	u32	ect;
	u32	ce;
	u32	highest;
	u32	settled;
	u32	shipped;
	u32	rtt;
	u32	min_rtt;
};

/* May DATA have ECT(0)? It may until the path, or the peer, has shown that marks are no use. */
static inline bool sstp_ecn_works(const struct sstp_ecn *e)
{
	return e->state <= SSTP_ECN_USED;
}

/* DATA has ECT(0) from shipment @first on; @received: packets received in the last report;
 * @flight: packets before @first that are on their way.
 */
void sstp_ecn_start(struct sstp_ecn *e, u32 first, u32 received, u32 flight);
/* DATA has no ECT from now on, as the controller does not answer marks. */
void sstp_ecn_stop(struct sstp_ecn *e);
/* A report came. Returns the number of packets that it newly reports marked, at most
 * r->delivered. If e->state becomes one of those that sstp_ecn_works() excludes, the caller must
 * not set ECT any more.
 */
u32 sstp_ecn_update(struct sstp_ecn *e, const struct sstp_ecn_report *r);

#endif /* _SSTP_ECN_H */
