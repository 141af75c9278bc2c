/* SPDX-License-Identifier: GPL-2.0 */
/* Tunables of "rrda". */
#ifndef _SSTP_RRDA_TUNABLES_H
#define _SSTP_RRDA_TUNABLES_H

#include <linux/sysfs.h>
#include <linux/types.h>

/**
 * struct sstp_rrda_tunable - a tunable of "rrda" for buffers without a value of their own
 * @value: now; READ_ONCE(), written under rrda_tunables.c's mutex
 * @least: lowest valid value
 * @most: highest valid value
 */
struct sstp_rrda_tunable {
	u32	value;
	u32	least;
	u32	most;
};

/* In the order of the parameters that a buffer has; then what only the system has */
enum sstp_rrda_tunable_id {
	SSTP_RRDA_EPOCH,
	SSTP_RRDA_K,
	SSTP_RRDA_BETA,
	SSTP_RRDA_OMEGA,
	SSTP_RRDA_FLOOR,
	SSTP_RRDA_CEILING,
	SSTP_RRDA_WEIGH_MEMORY,
	SSTP_RRDA_TUNABLES
};

extern const struct attribute_group sstp_rrda_group;
extern struct sstp_rrda_tunable sstp_rrda_tunables[SSTP_RRDA_TUNABLES];

#endif /* _SSTP_RRDA_TUNABLES_H */
