// SPDX-License-Identifier: GPL-2.0
/* Explicit congestion notification; ecn.h describes it. */
#include <net/inet_ecn.h>
#include "ecn.h"

bool sstp_ecn_came(struct sstp_ecn_in *in, u8 ecn, u32 packets)
{
	bool was = in->marked;

	if (ecn == INET_ECN_CE)
		in->ce += packets;
	else if (ecn == INET_ECN_ECT_0)
		in->ect += packets;
	in->marked = ecn == INET_ECN_CE;
	return in->marked && !was;
}
