/* SPDX-License-Identifier: GPL-2.0 */
/* Registry of receive buffer policies. */
#ifndef _SSTP_RBUF_H
#define _SSTP_RBUF_H

#include <linux/init.h>
#include <net/sstp.h>

/* As sstp_ctrl_attach() and its kin. */
int sstp_rbuf_attach(struct sstp_rbuf *b, const char *name);
void sstp_rbuf_detach(struct sstp_rbuf *b);
bool sstp_rbuf_exists(const char *name);
bool sstp_rbuf_name(u32 i, char *name);

int __init sstp_rbuf_init(void);
void sstp_rbuf_exit(void);

extern struct sstp_rbuf_ops sstp_rbuf_static;
extern struct sstp_rbuf_ops sstp_rbuf_rrda;

/**
 * struct sstp_rrda_tunable - a tunable of "rrda" that holds for all who have no own
 * @name: in /sys/kernel/sstp/rrda
 * @value: now; READ_ONCE(), written under sysfs.c's mutex
 * @least: in range
 * @most: in range
 */
struct sstp_rrda_tunable {
	const char *name;
	u32	value;
	u32	least;
	u32	most;
};

/* In the order of struct sstp_rrda_spec; then what only the system has */
enum sstp_rrda_tunable_id {
	SSTP_RRDA_EPOCH,
	SSTP_RRDA_K,
	SSTP_RRDA_BETA,
	SSTP_RRDA_OMEGA,
	SSTP_RRDA_FLOOR,
	SSTP_RRDA_CEILING,
	SSTP_RRDA_WEIGH,
	SSTP_RRDA_TUNABLES
};

extern struct sstp_rrda_tunable sstp_rrda_tunables[SSTP_RRDA_TUNABLES];
/* Each in range or 0, and the floor not above the ceiling */
bool sstp_rrda_spec_valid(const struct sstp_rrda_spec *s);

#endif /* _SSTP_RBUF_H */
