/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capacity of a path from the dispersion of packet trains as they leave anyway: packets that leave
 * faster than the narrowest link carries them come at the rate of that link, less what others send
 * between them. Packets that the sender pushes at once have the same stamp; a later push joins the
 * train while the path spreads it (see sstp_spread_joins()). Pure mechanism: no socket, no clock.
 */
#ifndef _SSTP_SPREAD_H
#define _SSTP_SPREAD_H

#include <linux/bits.h>
#include <linux/types.h>

#define SSTP_SPREAD_TRAINS		5U		/* trains of an estimate */
#define SSTP_SPREAD_RATE_MAX	BIT_ULL(40)	/* bytes/s */

/**
 * struct sstp_spread - estimate of the capacity
 * @first: when the first packets of the running train came, ns
 * @last: when the last ones came, ns
 * @gap: longest time between two arrivals in it, ns. With interrupt coalescing or GRO many packets
 *	come at once, and this is the interval of these.
 * @stamp: when the first packets left, us, modulo 2^32
 * @bytes: of payload that came after the first arrival
 * @packets: that came after the first arrival; a train of none is empty, or has but one arrival
 * @begun: there is a train
 * @joined: packets of it came at once, by interrupt coalescing or GRO
 * @next: place of the next estimate in @rate
 * @trains: entries of @rate
 * @rate: dispersion rates of the last trains, bytes/s
 */
struct sstp_spread {
	u64	first;
	u64	last;
	u64	gap;
	u32	stamp;
	u32	bytes;
	u32	packets;
	bool	begun;
	bool	joined;
	u8	next;
	u8	trains;
	u64	rate[SSTP_SPREAD_TRAINS];
};

/* @packets of @bytes of payload, which left at @stamp (us), came at @now (ns) at once. @now does
 * not decrease.
 */
void sstp_spread_add(struct sstp_spread *t, u64 now, u32 stamp, u32 packets, u32 bytes);
/* Packets were lost or came late: the train has ended. */
void sstp_spread_break(struct sstp_spread *t);
/* Mean rate of the last SSTP_SPREAD_TRAINS trains, payload bytes/s; 0 = there were fewer */
u64 sstp_spread_capacity(const struct sstp_spread *t);

#endif /* _SSTP_SPREAD_H */
