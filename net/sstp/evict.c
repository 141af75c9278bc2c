// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets leave plug-ins that were unloaded while in use: BPF programs. These run no more by then
 * (ctrl_bpf.c), so a connection that is moved late is only controlled badly until then.
 */
#include <linux/rwsem.h>
#include <net/net_namespace.h>
#include "cc.h"
#include "conf.h"
#include "evict.h"
#include "half.h"
#include "message.h"
#include "netns.h"
#include "output.h"
#include "plugin.h"
#include "settings.h"
#include "sstp.h"

/* The next connection of a socket that names a controller which is gone has the default. */
static void sstp_evict_name(struct sstp_sock *sp)
{
	struct sstp_settings set = sp->set;

	if (!set.ctrl.name[0] || sstp_plugin_here(&sstp_ctrls, set.ctrl.name))
		return;
	sstp_param_plugin(&set.ctrl, "");
	sstp_set(sp, &set);
}

static void sstp_evict_ctrl(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_ctrl_ops *ops;
	char name[SSTP_NAME_MAX];

	sstp_conf_ctrl_next(sp, name);
	ops = sstp_ctrl_get(name) ?: sstp_ctrl_get(sstp_ctrl_hybrid.name);
	if (!ops)
		return;
	sp->breaker.guards = !sp->set.ctrl.name[0] && sp->set.rate.peak;
	sstp_set_ctrl(sk, ops);
}

void sstp_evict(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_half *h = sp->ctrl.half;

	sstp_evict_name(sp);
	if (h && sstp_plugin_gone(sstp_plugin_of(h->ops)))
		sstp_half_stop(sp);
	if (!sp->ctrl.ops)
		return;
	if (sstp_plugin_gone(sstp_plugin_of(sp->ctrl.ops)))
		sstp_evict_ctrl(sk);
	else
		sstp_message_arm(sk, sstp_now());
	if (sstp_synchronized(sk))
		sstp_push(sk);
}

/* Whether a socket has the controller cannot be told without its lock. */
static bool sstp_evict_any(const struct sock *sk, void *arg)
{
	return true;
}

static void sstp_evict_net(struct net *net, const struct sstp_ctrl_ops *ops)
{
	struct sstp_net *sn = sstp_pernet(net);
	char name[SSTP_NAME_MAX];
	unsigned long id = 0;
	struct sock *sk;

	sstp_net_name_get(sn->ctrl, name);
	if (!strcmp(name, ops->name))
		sstp_net_names_set(sn->ctrl, sstp_ctrl_hybrid.name, SSTP_NAME_MAX);
	for (; (sk = sstp_conn_next(net, &id, sstp_evict_any, NULL)); id++) {
		local_bh_disable();
		bh_lock_sock(sk);
		if (sock_owned_by_user(sk))
			set_bit(SSTP_FL_EVICT, &sstp_sk(sk)->pending.flags);
		else
			sstp_evict(sk);
		bh_unlock_sock(sk);
		local_bh_enable();
		sock_put(sk);
		cond_resched();
	}
}

void sstp_evict_all(const struct sstp_ctrl_ops *ops)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		sstp_evict_net(net, ops);
	up_read(&net_rwsem);
}
