/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers of connections. */
#ifndef _SSTP_CTRL_H
#define _SSTP_CTRL_H

#include <linux/init.h>
#include <net/sstp.h>

/**
 * struct sstp_ctrl_core - a connection's controller, and what the core knows of it
 * @out: what the controller sees of it
 * @ops: its callbacks; a reference on its module. NULL = no controller
 * @held_back: the window, nothing else, held back a packet since the last report
 * @cwnd_limited: as in struct sstp_ctrl_sample
 * @flight: as in struct sstp_ctrl_sample
 * @flight_ship: shipment with which the round trip of @flight ends
 * @next: ns: when the period lets the next packet go
 */
struct sstp_ctrl_core {
	const struct sstp_ctrl_ops *ops;
	bool	held_back;
	bool	cwnd_limited;
	u32	flight;
	u32	flight_ship;
	u64	next;
	struct sstp_ctrl out;
};

#define SSTP_CTRL_UNPACED	10U	/* packets: an initial window, RFC 6928 */

/* Attach the controller @name, with a reference on its module. Any context.
 * Return: 0 or -ENOENT, with @c as it was.
 */
int sstp_ctrl_attach(struct sstp_ctrl_core *c, const char *name,
		     const struct sstp_ctrl_sample *s);
void sstp_ctrl_detach(struct sstp_ctrl_core *c);
/* The controller @name, with a reference on its module, or NULL */
struct sstp_ctrl_ops *sstp_ctrl_get(const char *name);
void sstp_ctrl_put(const struct sstp_ctrl_ops *ops);	/* NULL will do */
/* Another controller, whose reference @c takes, goes on with what was measured. Its
 * window is not smaller than @carried packets, unless the old one's was.
 */
void sstp_ctrl_switch(struct sstp_ctrl_core *c, const struct sstp_ctrl_ops *ops,
		      const struct sstp_ctrl_sample *s, u32 carried);

/* ctrl_call.c: each brings what the controller says into its range. */
void sstp_ctrl_bound(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
void sstp_ctrl_begin(struct sstp_ctrl_core *c, const struct sstp_ctrl_ops *ops,
		     const struct sstp_ctrl_sample *s);
/* A report came: @flight packets were in flight before it, s->highest is the newest that
 * arrived, s->shipped the newest that left. Does the window limit? So it is put into @s.
 */
void sstp_ctrl_used(struct sstp_ctrl_core *c, struct sstp_ctrl_sample *s, u32 flight);
void sstp_ctrl_report(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s);
/* Only a controller that has the callback */
void sstp_ctrl_timeout(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s);
void sstp_ctrl_sent(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s, u32 packets);
void sstp_ctrl_received(struct sstp_ctrl_core *c, const struct sstp_ctrl_sample *s,
			u32 packets, u32 gap);
/* A period is set, and nothing is in flight: how many packets leave before it counts? @srtt: ns */
u32 sstp_ctrl_unpaced(const struct sstp_ctrl_core *c, u64 srtt);
/* @packets left @now: c->next follows. @srtt: ns */
void sstp_ctrl_pace(struct sstp_ctrl_core *c, u32 packets, u64 srtt, u64 now);
int __init sstp_ctrl_init(void);	/* registers those built in */
void sstp_ctrl_exit(void);

extern struct sstp_ctrl_ops sstp_ctrl_rate;
extern struct sstp_ctrl_ops sstp_ctrl_newreno;

#endif /* _SSTP_CTRL_H */
