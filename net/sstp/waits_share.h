/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The share of lost packets, in a round trip and in the mean of some. If it is large a queue
 * overflows, whatever the losses were taken for. Pure mechanism.
 */
#ifndef _SSTP_WAITS_SHARE_H
#define _SSTP_WAITS_SHARE_H

#include <linux/bits.h>
#include <linux/types.h>
#include "waits.h"

#define SSTP_WAITS_SHARE_MANY	(BIT(16) / 10)	/* in one round trip */
#define SSTP_WAITS_SHARE_MEAN	(BIT(16) / 16)	/* many in the mean; half of it in this one */
#define SSTP_WAITS_SHARE_HALVES	(BIT(16) / 4)	/* in the mean: far too many */
#define SSTP_WAITS_SHARE_HARDLY	(BIT(16) / 128)	/* in the mean: none or one burst */
#define SSTP_WAITS_SHARE_LEAST	3	/* packets lost in a round trip that may be many */
#define SSTP_WAITS_SHARE_FEW	64U	/* packets: fewer in a round trip do not tell the share */

/**
 * struct sstp_waits_share - share of lost packets
 * @mean: of the last round trips, 2^-16
 */
struct sstp_waits_share {
	u16	mean;
};

/* A round trip is over, whose packets @w has counted: are many of them lost? @first: it is one of
 * the first slow start, in which one burst of losses may be a large part of the packets, and says
 * nothing about a queue. So if hardly any packet was lost before, the packets of such a round trip
 * count as SSTP_WAITS_SHARE_FEW.
 */
bool sstp_waits_share_round(struct sstp_waits_share *x, const struct sstp_waits *w, bool first);
/* Are so many lost that the window is to be halved, but for what the path delivers? */
bool sstp_waits_share_halves(const struct sstp_waits_share *x);

#endif /* _SSTP_WAITS_SHARE_H */
