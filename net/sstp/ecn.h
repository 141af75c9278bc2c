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

/**
 * struct sstp_ecn_in - marks that came, at the receiver
 * @ect: DATA packets that came with ECT(0), modulo 2^32
 * @ce: DATA packets that came with CE, modulo 2^32
 * @marked: the last packet that came with ECT(0) or CE had CE
 */
struct sstp_ecn_in {
	u32	ect;
	u32	ce;
	bool	marked;
};

/* @packets came with the ECN field @ecn, which is not 0. Returns true if that is to be reported at
 * once: a queue has begun to mark.
 */
bool sstp_ecn_came(struct sstp_ecn_in *in, u8 ecn, u32 packets);

#endif /* _SSTP_ECN_H */
