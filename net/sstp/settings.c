// SPDX-License-Identifier: GPL-2.0
/* Settings of a socket, and what takes effect at once. */
#include "netns.h"
#include "output.h"
#include "path.h"
#include "settings.h"
#include "sstp.h"

/* The children of a listener copy its settings without its socket lock. */
void sstp_set(struct sstp_sock *sp, const struct sstp_settings *set)
{
	spin_lock_bh(&sp->listen.lock);
	sp->set = *set;
	spin_unlock_bh(&sp->listen.lock);
}

/* Socket lock. -EINVAL, -ENOMEM: the old one stays. */
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
	if (err)
		sstp_set(sp, &old);
	else if (sstp_synchronized(&sp->sk))
		sstp_push(&sp->sk);
	return err;
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

/* The name of a controller or a policy, or NULL, for connections to come. Socket lock. */
void sstp_set_names(struct sstp_sock *sp, const char *ctrl, const char *policy)
{
	struct sstp_settings set = sp->set;

	if (ctrl)
		strscpy(set.ctrl, ctrl, SSTP_NAME_MAX);
	if (policy)
		strscpy(set.policy, policy, SSTP_NAME_MAX);
	sstp_set(sp, &set);
}

int sstp_set_name(struct sock *sk, int opt, sockptr_t optval,
		  unsigned int optlen)
{
	bool ctrl = opt == SSTP_CONTROLLER;
	char name[SSTP_NAME_MAX];
	int err;

	err = sstp_get_name(name, optval, optlen, ctrl ? &sstp_ctrls : &sstp_rbufs);
	if (err)
		return err;
	if (ctrl && !sstp_may_name(sk, name))
		return -EPERM;
	lock_sock(sk);
	if (!sstp_unconnected(sk))
		err = -EISCONN;
	else
		sstp_set_names(sstp_sk(sk), ctrl ? name : NULL, ctrl ? NULL : name);
	release_sock(sk);
	return err;
}

/* From the next epoch on; checked. Socket lock. */
int sstp_set_rrda(struct sstp_sock *sp, const struct sstp_rrda_spec *rrda)
{
	struct sstp_settings set = sp->set;

	/* Its listener has those of all who share the buffer. */
	if (sp->rcvbuf.member.pool)
		return -EINVAL;
	set.rrda = *rrda;
	sstp_set(sp, &set);
	sstp_rbuf_tune(&sp->rcvbuf.policy, rrda);
	if (sp->listen.pool)
		sstp_pool_tune(sp->listen.pool, rrda);
	return 0;
}
