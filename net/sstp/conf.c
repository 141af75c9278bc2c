// SPDX-License-Identifier: GPL-2.0
/* The controller and the policy that a socket has or would get: name, parameters, state. */
#include "conf.h"
#include "netns.h"
#include "sstp.h"

/* A plug-in may have been unloaded since its name was set: a BPF program while sockets name it, a
 * module that no connection has. Those sockets have the default then.
 */
static bool sstp_conf_names_ctrl(const struct sstp_sock *sp)
{
	return sp->set.ctrl.name[0] && sstp_plugin_here(&sstp_ctrls, sp->set.ctrl.name);
}

void sstp_conf_ctrl_next(const struct sstp_sock *sp, char *name)
{
	if (sstp_conf_names_ctrl(sp)) {
		strscpy(name, sp->set.ctrl.name, SSTP_NAME_MAX);
		return;
	}
	if (sp->set.rate.peak) {
		strscpy(name, sstp_ctrl_rate.name, SSTP_NAME_MAX);
		return;
	}
	sstp_net_name_get(sstp_pernet(sock_net(&sp->sk))->ctrl, name);
	if (!sstp_plugin_here(&sstp_ctrls, name))
		strscpy(name, sstp_ctrl_hybrid.name, SSTP_NAME_MAX);
}

void sstp_conf_ctrl(const struct sstp_sock *sp, char *name)
{
	if (sp->ctrl.ops)
		strscpy(name, sp->ctrl.ops->name, SSTP_NAME_MAX);
	else
		sstp_conf_ctrl_next(sp, name);
}

/* The pool that @sp is a member of, or that its children share. Its policy never changes. */
static struct sstp_pool *sstp_conf_pool(const struct sstp_sock *sp)
{
	if (sp->listen && sp->listen->pool)
		return sp->listen->pool;
	return sp->rcvbuf.member.pool;
}

void sstp_conf_policy_next(const struct sstp_sock *sp, char *name)
{
	const char *own = sp->set.policy.name;

	if (sp->sk.sk_userlocks & SOCK_RCVBUF_LOCK) {
		strscpy(name, sstp_rbuf_static.name, SSTP_NAME_MAX);
		return;
	}
	if (own[0] && sstp_plugin_here(&sstp_rbufs, own)) {
		strscpy(name, own, SSTP_NAME_MAX);
		return;
	}
	sstp_net_name_get(sstp_pernet(sock_net(&sp->sk))->policy, name);
	if (!sstp_plugin_here(&sstp_rbufs, name))
		strscpy(name, sstp_rbuf_rrda.name, SSTP_NAME_MAX);
}

void sstp_conf_policy(const struct sstp_sock *sp, char *name)
{
	const struct sstp_pool *p = sstp_conf_pool(sp);
	const struct sstp_rbuf_ops *ops = p ? p->b.ops : sp->rcvbuf.policy.ops;

	if (ops)
		strscpy(name, ops->name, SSTP_NAME_MAX);
	else
		sstp_conf_policy_next(sp, name);
}

struct sstp_plugin *sstp_conf_get(const struct sstp_sock *sp, bool ctrl)
{
	char name[SSTP_NAME_MAX];

	if (ctrl)
		sstp_conf_ctrl(sp, name);
	else
		sstp_conf_policy(sp, name);
	return sstp_plugin_get(ctrl ? &sstp_ctrls : &sstp_rbufs, name);
}

/* Get the parameters in force and the state. False if the plug-in is not at work. */
static bool sstp_conf_live(const struct sstp_sock *sp, bool ctrl, u32 *param, s64 *state)
{
	struct sstp_pool *p = sstp_conf_pool(sp);

	if (ctrl && sp->ctrl.ops) {
		memcpy(param, sp->ctrl.out.param, sizeof(sp->ctrl.out.param));
		sstp_ctrl_get_info(&sp->ctrl, state);
		return true;
	}
	if (!ctrl && p) {
		sstp_pool_get_info(p, param, state);
		return true;
	}
	if (!ctrl && sp->rcvbuf.policy.ops) {
		memcpy(param, sp->rcvbuf.policy.out.param, sizeof(sp->rcvbuf.policy.out.param));
		sstp_rbuf_get_info(&sp->rcvbuf.policy, state);
		return true;
	}
	return false;
}

u32 sstp_conf_list(struct sstp_sock *sp, bool ctrl, struct sstp_param *to, u32 *params)
{
	struct sstp_plugin *g = sstp_conf_get(sp, ctrl);
	u32 param[SSTP_PARAMS_MAX], n;
	s64 state[SSTP_STATE_MAX];
	bool live;

	*params = 0;
	if (!g)
		return 0;
	live = sstp_conf_live(sp, ctrl, param, state);
	if (!live)
		sstp_param_take(param, g->params, g->name,
				ctrl ? &sp->set.ctrl : &sp->set.policy);
	*params = sstp_param_count(g->params);
	n = sstp_param_list(g, param, live ? state : NULL, to);
	sstp_plugin_put(g);
	return n;
}
