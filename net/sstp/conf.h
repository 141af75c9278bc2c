/* SPDX-License-Identifier: GPL-2.0 */
/* The controller and the policy that a socket has or would get: name, parameters, state. */
#ifndef _SSTP_CONF_H
#define _SSTP_CONF_H

#include <linux/types.h>

struct sstp_param;
struct sstp_plugin;
struct sstp_sock;

/* Copy the name of the controller or the policy at work, or else of the one that the next
 * connection of @sp would get. Socket lock
 */
void sstp_conf_ctrl(const struct sstp_sock *sp, char *name);
void sstp_conf_policy(const struct sstp_sock *sp, char *name);
/* That which the next connection would get, whatever is at work */
void sstp_conf_ctrl_next(const struct sstp_sock *sp, char *name);
void sstp_conf_policy_next(const struct sstp_sock *sp, char *name);
/* That controller, if @ctrl, else that policy, with a reference; or NULL */
struct sstp_plugin *sstp_conf_get(const struct sstp_sock *sp, bool ctrl);
/* Write its parameters to @to, then, if it is at work, its state: SSTP_PARAMS_MAX +
 * SSTP_STATE_MAX at most. Returns how many; *@params of them are parameters. Socket lock
 */
u32 sstp_conf_list(struct sstp_sock *sp, bool ctrl, struct sstp_param *to, u32 *params);

#endif /* _SSTP_CONF_H */
