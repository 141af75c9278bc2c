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

static void sstp_evict_ctrl(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_ctrl_ops *ops;
	char name[SSTP_NAME_MAX];

	sstp_conf_ctrl_next(sp, name);
	ops = sstp_ctrl_get(name) ?: sstp_ctrl_get(sstp_ctrl_hybrid.name);
	if (!ops)
		return;
	/* Without memory for a circuit breaker the connection gets the controller to which it would
	 * fall back.
	 */
	if (sstp_cc_guard(sp, ops->name, GFP_ATOMIC)) {
		sstp_ctrl_put(ops);
		ops = sstp_ctrl_get(sstp_ctrl_hybrid.name);
		if (!ops)
			return;
	}
	sstp_set_ctrl(sk, ops);
}

static void sstp_evict_policy(struct sock *sk)
{
	const struct sstp_rbuf_ops *ops;
	char name[SSTP_NAME_MAX];

	sstp_conf_policy_next(sstp_sk(sk), name);
	ops = sstp_rbuf_get(name) ?: sstp_rbuf_get(sstp_rbuf_rrda.name);
	if (ops)
		sstp_rcvbuf_policy(sk, ops);
}

void sstp_evict(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_half *h = sp->ctrl.half;

	if (h && sstp_plugin_gone(sstp_plugin_of(h->ops))) {
		sstp_half_stop(sp);
		if (sp->ctrl.ops)
			sstp_message_arm(sk, sstp_now());
	}
	if (!sp->rcvbuf.member.pool && sp->rcvbuf.policy.ops &&
	    sstp_plugin_gone(sstp_plugin_of(sp->rcvbuf.policy.ops)))
		sstp_evict_policy(sk);
	if (!sp->ctrl.ops || !sstp_plugin_gone(sstp_plugin_of(sp->ctrl.ops)))
		return;
	sstp_evict_ctrl(sk);
	if (sstp_synchronized(sk))
		sstp_push(sk);
}

/* Whether a socket has the plug-in cannot be told without its lock. */
static bool sstp_evict_any(const struct sock *sk, void *arg)
{
	return true;
}

/* The sysctl @field gets its default @other, if it names @p. */
static void sstp_evict_default(char *field, const struct sstp_plugin *p, const char *other)
{
	char name[SSTP_NAME_MAX];

	sstp_net_name_get(field, name);
	if (!strcmp(name, p->name))
		sstp_net_names_set(field, other, SSTP_NAME_MAX);
}

static void sstp_evict_net(struct net *net)
{
	unsigned long id = 0;
	struct sock *sk;

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

void sstp_evict_all(const struct sstp_plugin *p, bool ctrl)
{
	struct sstp_net *sn;
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net) {
		sn = sstp_pernet(net);
		if (ctrl)
			sstp_evict_default(sn->ctrl, p, sstp_ctrl_hybrid.name);
		else
			sstp_evict_default(sn->policy, p, sstp_rbuf_rrda.name);
		sstp_evict_net(net);
	}
	up_read(&net_rwsem);
}
