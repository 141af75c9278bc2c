// SPDX-License-Identifier: GPL-2.0
/* The generic netlink family "sstp", and the attributes of a socket */
#include <linux/sock_diag.h>
#include <net/genetlink.h>
#include "conf.h"
#include "info.h"
#include "nl_put.h"
#include "sstp.h"

/* Members of struct sstp_info, except the contract */
static const struct sstp_nl_field {
	u16	attr;
	u16	offset;
	u16	size;
} sstp_nl_info[] = {
#define SSTP_INFO_FIELD(NAME, field)					\
	{ SSTP_A_INFO_##NAME, offsetof(struct sstp_info, field),	\
	  sizeof_field(struct sstp_info, field) },
#include "info_list.h"
#undef SSTP_INFO_FIELD
};

/* Parts of a message; each function returns nonzero when there is no room for its part. */

int sstp_nl_put_rate(struct sk_buff *skb, int attr, const struct sstp_rate_spec *r)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_u64_64bit(skb, SSTP_A_RATE_PEAK, r->peak, SSTP_A_RATE_PAD) ||
	    nla_put_u64_64bit(skb, SSTP_A_RATE_AVERAGE, r->average, SSTP_A_RATE_PAD) ||
	    nla_put_u32(skb, SSTP_A_RATE_BURST_RATE, r->burst_rate) ||
	    nla_put_u32(skb, SSTP_A_RATE_BURST_LEN, r->burst_len))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int sstp_nl_put_field(struct sk_buff *skb, const struct sstp_nl_field *f,
			     const void *p)
{
	switch (f->size) {
	case sizeof(u8):
		return nla_put_u8(skb, f->attr, *(const u8 *)p);
	case sizeof(u32):
		return nla_put_u32(skb, f->attr, *(const u32 *)p);
	case sizeof(u64):
		return nla_put_u64_64bit(skb, f->attr, *(const u64 *)p, SSTP_A_INFO_PAD);
	default:
		return nla_put_string(skb, f->attr, p);
	}
}

int sstp_nl_put_info(struct sk_buff *skb, struct sstp_sock *sp)
{
	const struct sstp_nl_field *f;
	struct sstp_info info;
	struct nlattr *nest;
	int err;

	/* The two other attributes are the contract and the padding. */
	BUILD_BUG_ON(ARRAY_SIZE(sstp_nl_info) + 2 != SSTP_A_INFO_MAX);
	sstp_fill_info(sp, &info);
	nest = nla_nest_start(skb, SSTP_A_CONN_INFO);
	err = nest ? sstp_nl_put_rate(skb, SSTP_A_INFO_RATE, &info.rate) : -EMSGSIZE;
	for (f = sstp_nl_info; !err && f < sstp_nl_info + ARRAY_SIZE(sstp_nl_info); f++)
		err = sstp_nl_put_field(skb, f, (u8 *)&info + f->offset);
	if (!err)
		nla_nest_end(skb, nest);
	return err;
}

static int sstp_nl_put_param(struct sk_buff *skb, const struct sstp_param *p)
{
	struct nlattr *nest = nla_nest_start(skb, SSTP_A_PARAMS_PARAM);

	if (!nest || nla_put_string(skb, SSTP_A_PARAM_NAME, p->name) ||
	    nla_put_s64(skb, SSTP_A_PARAM_VALUE, p->value, SSTP_A_PARAM_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Parameters of the controller, if @ctrl, or of the policy, that are not 0, and its state */
int sstp_nl_put_params(struct sk_buff *skb, struct sstp_sock *sp, bool ctrl)
{
	struct sstp_param p[SSTP_PARAMS_MAX + SSTP_STATE_MAX];
	u32 i, params, n = sstp_conf_list(sp, ctrl, p, &params);
	struct nlattr *nest;

	nest = nla_nest_start(skb, ctrl ? SSTP_A_CONN_CONTROLLER_PARAMS :
			      SSTP_A_CONN_POLICY_PARAMS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < n; i++)
		if ((i >= params || p[i].value) && sstp_nl_put_param(skb, &p[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int sstp_nl_put_spec(struct sk_buff *skb, const struct sstp_param_spec *s)
{
	struct nlattr *nest = nla_nest_start(skb, SSTP_A_PLUGIN_PARAM);

	if (!nest || nla_put_string(skb, SSTP_A_PARAM_NAME, s->name) ||
	    nla_put_u32(skb, SSTP_A_PARAM_LEAST, s->least) ||
	    nla_put_u32(skb, SSTP_A_PARAM_MOST, s->most))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* A controller or a policy, and what it has. RCU */
int sstp_nl_put_plugin(struct sk_buff *skb, const struct sstp_plugin *p,
		       struct user_namespace *ns)
{
	u32 i, params = sstp_param_count(p->params);
	u32 states = sstp_param_states((const char *)p->state);

	if (nla_put_string(skb, SSTP_A_PLUGIN_NAME, p->name))
		return -EMSGSIZE;
	for (i = 0; i < params; i++)
		if (sstp_nl_put_spec(skb, &p->params[i]))
			return -EMSGSIZE;
	for (i = 0; i < states; i++)
		if (nla_put_string(skb, SSTP_A_PLUGIN_STATE, p->state[i]))
			return -EMSGSIZE;
	/* The link has its ID, which is not 0, a moment after it was registered. */
	if (p->life && (nla_put_u32(skb, SSTP_A_PLUGIN_BPF_LINK, READ_ONCE(p->life->link->id)) ||
			nla_put_u32(skb, SSTP_A_PLUGIN_BPF_UID,
				    from_kuid_munged(ns, p->life->uid)) ||
			nla_put_string(skb, SSTP_A_PLUGIN_BPF_COMM, p->life->comm)))
		return -EMSGSIZE;
	return 0;
}

static int sstp_nl_put_addr(struct sk_buff *skb, int attr, const struct sstp_ident *id,
			    const struct in6_addr *a)
{
	/* The socket's family decides, as 0.0.0.0 is stored as ::. */
	return id->af == AF_INET ? nla_put_in_addr(skb, attr, a->s6_addr32[3]) :
		nla_put_in6_addr(skb, attr, a);
}

/* May @r see the CIDs of @sk? A program that knows them can forge packets, so only the socket's
 * owner and an administrator may. @r is NULL for events, which any program may listen to.
 */
bool sstp_nl_trusts(const struct sock *sk, const struct sstp_nl_reader *r)
{
	return r && (r->admin || uid_eq(r->uid, READ_ONCE(sk->sk_uid)));
}

static int sstp_nl_put_cids(struct sk_buff *skb, const struct sock *sk,
			    const struct sstp_nl_reader *r)
{
	const struct sstp_sock *sp = sstp_sk(sk);

	if (!sstp_nl_trusts(sk, r))
		return 0;
	return (sp->id.hashed && nla_put_u32(skb, SSTP_A_CONN_CID, sp->id.cid)) ||
	       (sk->sk_state != TCP_LISTEN &&
		nla_put_u32(skb, SSTP_A_CONN_PEER_CID, sp->id.peer.cid));
}

/* Put the identity of @sk, as far as @r may see it. Socket lock. */
int sstp_nl_put_conn(struct sk_buff *skb, struct sock *sk, const struct sstp_nl_reader *r)
{
	struct user_namespace *ns = r ? r->ns : sock_net(sk)->user_ns;
	struct sstp_sock *sp = sstp_sk(sk);
	u32 cookie[2];

	sock_diag_save_cookie(sk, cookie);
	if (sstp_nl_put_cids(skb, sk, r) ||
	    nla_put_u64_64bit(skb, SSTP_A_CONN_COOKIE, (u64)cookie[1] << 32 | cookie[0],
			      SSTP_A_CONN_PAD) ||
	    nla_put_u16(skb, SSTP_A_CONN_FAMILY, sp->id.af) ||
	    sstp_nl_put_addr(skb, SSTP_A_CONN_LOCAL_ADDR, &sp->id, &sp->id.saddr) ||
	    nla_put_be16(skb, SSTP_A_CONN_LOCAL_PORT, htons(sp->id.sport)) ||
	    nla_put_u8(skb, SSTP_A_CONN_STATE, sk->sk_state) ||
	    nla_put_u8(skb, SSTP_A_CONN_TYPE, sk->sk_type) ||
	    nla_put_u32(skb, SSTP_A_CONN_UID,
			from_kuid_munged(ns, READ_ONCE(sk->sk_uid))) ||
	    nla_put_u64_64bit(skb, SSTP_A_CONN_INODE, sock_i_ino(sk), SSTP_A_CONN_PAD) ||
	    (sk->sk_bound_dev_if &&
	     nla_put_u32(skb, SSTP_A_CONN_IFINDEX, sk->sk_bound_dev_if)))
		return -EMSGSIZE;
	if (sk->sk_state == TCP_LISTEN)
		return nla_put_u32(skb, SSTP_A_CONN_BACKLOG, READ_ONCE(sk->sk_ack_backlog)) ||
		       nla_put_u32(skb, SSTP_A_CONN_BACKLOG_MAX,
				   READ_ONCE(sk->sk_max_ack_backlog));
	return sstp_nl_put_addr(skb, SSTP_A_CONN_REMOTE_ADDR, &sp->id, &sp->id.peer.addr) ||
	       nla_put_be16(skb, SSTP_A_CONN_REMOTE_PORT, htons(sp->id.dport)) ||
	       nla_put_be16(skb, SSTP_A_CONN_ENCAP_PORT, sp->id.peer.port);
}

static const struct genl_multicast_group sstp_nl_groups[] = {
	[SSTP_NLGRP_EVENTS] = { .name = SSTP_MCGRP_EVENTS },
};

struct genl_family sstp_nl_family __ro_after_init = {
	.name		= SSTP_FAMILY_NAME,
	.version	= SSTP_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.mcgrps		= sstp_nl_groups,
	.n_mcgrps	= ARRAY_SIZE(sstp_nl_groups),
};

int __init sstp_nl_init(const struct genl_ops *ops, u32 n)
{
	/* The specification in Documentation/netlink has this number. */
	BUILD_BUG_ON(SSTP_NAME_MAX != 15 + 1);
	sstp_nl_family.ops = ops;
	sstp_nl_family.n_ops = n;
	return genl_register_family(&sstp_nl_family);
}

void sstp_nl_exit(void)
{
	genl_unregister_family(&sstp_nl_family);
}
