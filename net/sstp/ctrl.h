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

int __init sstp_ctrl_init(void);	/* registers those built in */
void sstp_ctrl_exit(void);

extern struct sstp_ctrl_ops sstp_ctrl_rate;
extern struct sstp_ctrl_ops sstp_ctrl_newreno;

#endif /* _SSTP_CTRL_H */
