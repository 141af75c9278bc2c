/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers of connections. */
#ifndef _SSTP_CTRL_H
#define _SSTP_CTRL_H

#include <linux/init.h>
#include <net/sstp.h>

/* Attach the controller @name, with a reference on its module. Any context.
 * Return: 0 or -ENOENT, with @c as it was.
 */
int sstp_ctrl_attach(struct sstp_ctrl *c, const char *name);
void sstp_ctrl_detach(struct sstp_ctrl *c);
/* The controller @name, with a reference on its module, or NULL */
struct sstp_ctrl_ops *sstp_ctrl_get(const char *name);
void sstp_ctrl_put(const struct sstp_ctrl_ops *ops);	/* NULL will do */
/* Another controller, whose reference @c takes, goes on with what was measured. Its
 * window is not smaller than what the old one has under way.
 */
void sstp_ctrl_switch(struct sstp_ctrl *c, const struct sstp_ctrl_ops *ops);

/* A report came: @flight packets were in flight before it, @highest is the newest that
 * arrived, c->shipped the newest that left. As TCP judges it: whom the window held back
 * once in a round trip, it limits all that time, also while pacing spreads what a report
 * lets go.
 */
static inline void sstp_ctrl_used(struct sstp_ctrl *c, u32 flight, u32 highest)
{
	if (c->held_back || (s32)(highest - c->flight_ship) >= 0 ||
	    (!c->cwnd_limited && flight > c->flight)) {
		c->cwnd_limited = c->held_back;
		c->flight = flight;
		c->flight_ship = c->shipped;
	}
	c->held_back = false;
}

int __init sstp_ctrl_init(void);	/* registers those built in */
void sstp_ctrl_exit(void);

extern struct sstp_ctrl_ops sstp_ctrl_rate;
extern struct sstp_ctrl_ops sstp_ctrl_newreno;

#endif /* _SSTP_CTRL_H */
