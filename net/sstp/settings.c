// SPDX-License-Identifier: GPL-2.0
/* Settings of a socket, and their effect on a live connection */
#include "cc.h"
#include "conf.h"
#include "message.h"
#include "netns.h"
#include "output.h"
#include "path.h"
#include "probe.h"
#include "settings.h"
#include "sstp.h"

/* The children of a listener copy its settings without its socket lock. */
void sstp_set(struct sstp_sock *sp, const struct sstp_settings *set)
{
	struct sstp_listener *l = sp->listen;

	if (l) {
		spin_lock_bh(&l->lock);
		sp->set = *set;
		spin_unlock_bh(&l->lock);
	} else {
		sp->set = *set;
	}
	/* The receive window may follow from them. */
	sp->rcvbuf.wnd_at = 0;
}

static int sstp_get_name(char *name, sockptr_t optval, unsigned int optlen,
			 struct sstp_registry *r)
{
	char buf[SSTP_NAME_MAX] = {};

	if (!optlen)
		return -EINVAL;
	if (copy_from_sockptr(buf, optval, min_t(u32, optlen,
						 SSTP_NAME_MAX - 1)))
		return -EFAULT;
	if (!sstp_plugin_exists(r, buf))
		return -ENOENT;
	strscpy(name, buf, SSTP_NAME_MAX);
	return 0;
}

/* A program must be allowed to switch congestion control off, as with TCP. */
static bool sstp_may_name(const struct sock *sk, const char *name)
{
	struct net *net = sock_net(sk);
	struct sstp_ctrl_ops *ops = sstp_ctrl_get(name);
	bool restricted = ops && ops->restricted;

	sstp_ctrl_put(ops);
	return !restricted || ns_capable(net->user_ns, CAP_NET_ADMIN) ||
	       sstp_net_allows(net, name);
}

/* The controller or its parameters have changed: wait for no longer than it says now. The old one
 * may have let the next probe wait for a minute. During set-up the deadline is that of INIT or
 * INIT_ACK.
 */
static void sstp_set_waits(struct sock *sk)
{
	struct sstp_clock *clock = &sstp_sk(sk)->clock;
	u64 at = clock->at[SSTP_T_PROBE];

	sstp_message_arm(sk, sstp_now());
	if ((1 << sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV) ||
	    !sstp_timer_pending(clock, SSTP_T_PROBE))
		return;
	sstp_probe_arm(sk, true, sstp_now());
	sstp_timer_sooner(clock, SSTP_T_PROBE, at);
}

/* The circuit breaker guards neither a controller that the program has named, nor a contract that
 * has ended.
 */
static void sstp_set_unguarded(struct sstp_sock *sp)
{
	if (!sp->breaker)
		return;
	sp->breaker->guards = false;
	sp->breaker->retry = 0;
}

/* Set the controller, if @ctrl, or the policy of connections to come, and its parameters also
 * where it is at work: a controller learns of them now, a policy in its next callback. Packets may
 * be due then. @conf is checked. Socket lock
 */
void sstp_set_conf(struct sstp_sock *sp, bool ctrl, const struct sstp_plugin_conf *conf)
{
	struct sstp_settings set = sp->set;

	if (ctrl)
		set.ctrl = *conf;
	else
		set.policy = *conf;
	sstp_set(sp, &set);
	if (ctrl) {
		sstp_set_unguarded(sp);
		sstp_cc_tune(sp);
		sstp_set_waits(&sp->sk);
		return;
	}
	if (!sp->rcvbuf.member.pool)
		sstp_rbuf_tune(&sp->rcvbuf.policy, conf);
	if (sp->listen && sp->listen->pool)
		sstp_pool_tune(sp->listen->pool, conf);
}

/* The controller @ops takes over a live connection, and the caller's reference; sstp_set_conf() has
 * set its parameters. Socket lock
 */
void sstp_set_ctrl(struct sock *sk, const struct sstp_ctrl_ops *ops)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sstp_cc_switch(sp, ops, sstp_in_flight(sp));
	sstp_set_waits(sk);
}

/* The contract of a connection has ended. The controller rate, if it came with the contract, would
 * have neither a rate nor a window now: the connection gets the controller that it would have got
 * without one.
 */
static void sstp_set_no_contract(struct sstp_sock *sp)
{
	const struct sstp_ctrl_ops *ops;
	char name[SSTP_NAME_MAX];

	sstp_set_unguarded(sp);
	sstp_conf_ctrl_next(sp, name);
	if (sp->ctrl.ops != &sstp_ctrl_rate || !strcmp(name, sstp_ctrl_rate.name))
		return;
	ops = sstp_ctrl_get(name);
	if (ops)
		sstp_set_ctrl(&sp->sk, ops);
}

/* Set the contract. On -EINVAL or -ENOMEM the old one stays. Socket lock. */
int sstp_set_rate(struct sstp_sock *sp, const struct sstp_rate_spec *r)
{
	struct sstp_settings set = sp->set, old = sp->set;
	int err = sstp_rate_check(r, sstp_path_frame(&sp->path));

	if (err)
		return err;
	set.rate = *r;
	sstp_set(sp, &set);
	if (!sp->path.size)
		return 0;
	err = sstp_update_rate(sp, GFP_KERNEL);
	if (err) {
		sstp_set(sp, &old);
		return err;
	}
	if (old.rate.peak && !r->peak)
		sstp_set_no_contract(sp);
	if (sstp_synchronized(&sp->sk))
		sstp_push(&sp->sk);
	return 0;
}

int sstp_set_name(struct sock *sk, int opt, sockptr_t optval,
		  unsigned int optlen)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool ctrl = opt == SSTP_CONTROLLER;
	struct sstp_plugin_conf conf;
	struct sstp_ctrl_ops *ops;
	char name[SSTP_NAME_MAX];
	int err;

	err = sstp_get_name(name, optval, optlen, ctrl ? &sstp_ctrls : &sstp_rbufs);
	if (err)
		return err;
	if (ctrl && !sstp_may_name(sk, name))
		return -EPERM;
	ops = ctrl ? sstp_ctrl_get(name) : NULL;
	if (ctrl && !ops)
		return -ENOENT;
	lock_sock(sk);
	if (ctrl || sstp_unconnected(sk)) {
		conf = ctrl ? sp->set.ctrl : sp->set.policy;
		sstp_param_plugin(&conf, name);
		sstp_set_conf(sp, ctrl, &conf);
	} else {
		err = -EISCONN;
	}
	if (ctrl && !sstp_unconnected(sk)) {
		sstp_set_ctrl(sk, ops);
		ops = NULL;
		if (sstp_synchronized(sk))
			sstp_push(sk);
	}
	release_sock(sk);
	sstp_ctrl_put(ops);
	return err;
}

static int sstp_set_plugin_params(struct sock *sk, bool ctrl, const struct sstp_param *p, u32 n)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_plugin_conf conf = ctrl ? sp->set.ctrl : sp->set.policy;
	struct sstp_plugin *g;
	u32 bad;
	int err;

	/* The parameters of a shared buffer are those of its listener. */
	if (!ctrl && sp->rcvbuf.member.pool)
		return -EINVAL;
	g = sstp_conf_get(sp, ctrl);
	if (!g)
		return -ENOENT;
	err = sstp_param_apply(g, &conf, p, n, &bad);
	/* Parameters fix the controller's name, which may have been the default until now. */
	if (!err && ctrl && strcmp(sp->set.ctrl.name, g->name) && !sstp_may_name(sk, g->name))
		err = -EPERM;
	if (!err)
		sstp_set_conf(sp, ctrl, &conf);
	sstp_plugin_put(g);
	if (!err && ctrl && sstp_synchronized(sk))
		sstp_push(sk);
	return err;
}

/* SSTP_CONTROLLER_PARAM and SSTP_POLICY_PARAM */
int sstp_set_params(struct sock *sk, int opt, sockptr_t optval, unsigned int optlen)
{
	struct sstp_param p[SSTP_PARAMS_MAX];
	int err;

	if (!optlen || optlen > sizeof(p) || optlen % sizeof(*p))
		return -EINVAL;
	if (copy_from_sockptr(p, optval, optlen))
		return -EFAULT;
	lock_sock(sk);
	err = sstp_set_plugin_params(sk, opt == SSTP_CONTROLLER_PARAM, p,
				     optlen / sizeof(*p));
	release_sock(sk);
	return err;
}
