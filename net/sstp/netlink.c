// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the generic netlink family "sstp": see
 * Documentation/netlink/specs/sstp.yaml. Each namespace has its own sockets and counters.
 */
#include <net/genetlink.h>
#include "cc.h"
#include "listen.h"
#include "nl_put.h"
#include "output.h"
#include "port.h"
#include "rcvbuf.h"
#include "settings.h"
#include "sstp.h"
#include "state.h"
#include "table.h"

static int sstp_nl_check_addr(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (!attr || nla_len(attr) == sizeof(struct in_addr) ||
	    nla_len(attr) == sizeof(struct in6_addr))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "an address has 4 or 16 bytes");
	return -EINVAL;
}

static int sstp_nl_check(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	return sstp_nl_check_addr(attrs[SSTP_A_CONN_LOCAL_ADDR], extack) ?:
	       sstp_nl_check_addr(attrs[SSTP_A_CONN_REMOTE_ADDR], extack);
}

static bool sstp_nl_is_addr(const struct sstp_ident *id, const struct in6_addr *a,
			    const struct nlattr *want)
{
	struct in6_addr addr;

	if (!want)
		return true;
	if (nla_len(want) == sizeof(struct in_addr) && nla_get_in_addr(want)) {
		ipv6_addr_set_v4mapped(nla_get_in_addr(want), &addr);
		return ipv6_addr_equal(a, &addr);
	}
	if (nla_len(want) == sizeof(struct in_addr))
		return ipv6_addr_any(a) && id->af == AF_INET;
	addr = nla_get_in6_addr(want);
	return ipv6_addr_equal(a, &addr) && !(ipv6_addr_any(a) && id->af == AF_INET);
}

/* @arg: attributes up to SSTP_A_CONN_REMOTE_PORT at least, checked */
static bool sstp_nl_match(const struct sock *sk, void *arg)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	bool listens = READ_ONCE(sk->sk_state) == TCP_LISTEN;
	struct nlattr **attrs = arg, *a;

	a = attrs[SSTP_A_CONN_CID];
	if (a && (listens || nla_get_u32(a) != sp->id.cid))
		return false;
	a = attrs[SSTP_A_CONN_COOKIE];
	/* 0 is that of all which nobody has asked for yet. */
	if (a && (!nla_get_u64(a) || nla_get_u64(a) != (u64)atomic64_read(&sk->sk_cookie)))
		return false;
	a = attrs[SSTP_A_CONN_STATES];
	if (a && !(nla_get_u32(a) & 1U << READ_ONCE(sk->sk_state)))
		return false;
	a = attrs[SSTP_A_CONN_FAMILY];
	if (a && nla_get_u16(a) != sp->id.af)
		return false;
	a = attrs[SSTP_A_CONN_LOCAL_PORT];
	if (a && nla_get_be16(a) != htons(sp->id.sport))
		return false;
	a = attrs[SSTP_A_CONN_REMOTE_PORT];
	if (a && (listens || nla_get_be16(a) != htons(sp->id.dport)))
		return false;
	if (listens && attrs[SSTP_A_CONN_REMOTE_ADDR])
		return false;
	return sstp_nl_is_addr(&sp->id, &sp->id.saddr, attrs[SSTP_A_CONN_LOCAL_ADDR]) &&
	       sstp_nl_is_addr(&sp->id, &sp->id.peer.addr, attrs[SSTP_A_CONN_REMOTE_ADDR]);
}

/* The one that has the CID or the cookie, and matches the rest; with a reference */
static struct sock *sstp_nl_find(struct genl_info *info)
{
	struct nlattr *cid = info->attrs[SSTP_A_CONN_CID];
	struct net *net = genl_info_net(info);
	unsigned long id = 0;
	struct sock *sk;

	if (!cid && !info->attrs[SSTP_A_CONN_COOKIE]) {
		GENL_SET_ERR_MSG(info, "neither a CID nor a cookie says which one");
		return ERR_PTR(-EINVAL);
	}
	if (cid) {
		rcu_read_lock();
		sk = sstp_conn_find(net, nla_get_u32(cid));
		rcu_read_unlock();
	} else {
		sk = sstp_conn_next(net, &id, sstp_nl_match, info->attrs);
	}
	return sk ?: ERR_PTR(-ENOENT);
}

/* The sender of request @skb */
static struct sstp_nl_reader sstp_nl_reader(const struct sk_buff *skb)
{
	return (struct sstp_nl_reader){
		.ns = sk_user_ns(NETLINK_CB(skb).sk),
		.uid = READ_ONCE(NETLINK_CB(skb).sk->sk_uid),
		.admin = netlink_net_capable(skb, CAP_NET_ADMIN),
	};
}

/* All of it in one message. -ENOENT: it is none of those that are wanted any more. */
static int sstp_nl_conn(struct sk_buff *skb, struct sock *sk, const struct sk_buff *request,
			const struct nlmsghdr *n, int flags, struct nlattr **attrs)
{
	struct sstp_nl_reader r = sstp_nl_reader(request);
	int err = -ENOENT;
	void *hdr;
	bool slow;

	/* Nor may who is not told a CID try them one by one. */
	if (attrs[SSTP_A_CONN_CID] && !sstp_nl_trusts(sk, &r))
		return -ENOENT;
	hdr = genlmsg_put(skb, NETLINK_CB(request).portid, n->nlmsg_seq, &sstp_nl_family, flags,
			  SSTP_CMD_CONN_GET);
	if (!hdr)
		return -EMSGSIZE;
	slow = lock_sock_fast(sk);
	if (sstp_sk(sk)->id.listed && sstp_nl_match(sk, attrs))
		err = sstp_nl_put_conn(skb, sk, &r) || sstp_nl_put_info(skb, sstp_sk(sk)) ?
			-EMSGSIZE : 0;
	unlock_sock_fast(sk, slow);
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

int sstp_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg;
	struct sock *sk;
	int err;

	err = sstp_nl_check(info->attrs, info->extack);
	if (err)
		return err;
	sk = sstp_nl_find(info);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? sstp_nl_conn(msg, sk, skb, info->nlhdr, 0, info->attrs) : -ENOMEM;
	sock_put(sk);
	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	return err;
}

int sstp_nl_conn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **attrs = sstp_dump_attrs(cb);
	unsigned long id = cb->args[0];
	struct sock *sk;
	int err;

	err = sstp_nl_check(attrs, cb->extack);
	if (err)
		return err;
	while ((sk = sstp_conn_next(sock_net(skb->sk), &id, sstp_nl_match, attrs))) {
		err = sstp_nl_conn(skb, sk, cb->skb, cb->nlh, NLM_F_MULTI, attrs);
		sock_put(sk);
		if (err == -EMSGSIZE)
			break;
		id++;
	}
	cb->args[0] = id;
	return skb->len ?: sk ? err : 0;
}

/* What conn-set asks for; what it does not is NULL. */
struct sstp_nl_change {
	struct nlattr *attr[SSTP_A_CONN_POLICY + 1];
	struct nlattr *rrda[SSTP_A_RRDA_MAX + 1];
	struct sstp_rate_spec rate;
	struct sstp_ctrl_ops *ctrl;
	struct sstp_rbuf_ops *policy;
	struct netlink_ext_ack *extack;
};

static int sstp_nl_refuse(struct sstp_nl_change *c, const struct nlattr *attr, int err,
			  const char *why)
{
	if (c->extack) {
		c->extack->_msg = why;
		NL_SET_BAD_ATTR(c->extack, attr);
	}
	return err;
}

/* The policy of the whole message has validated what is nested in it. */
static int sstp_nl_parse_rate(struct sstp_nl_change *c)
{
	struct nlattr *a[SSTP_A_RATE_MAX + 1];
	int err;

	err = nla_parse_nested(a, SSTP_A_RATE_MAX, c->attr[SSTP_A_CONN_RATE], NULL,
			       c->extack);
	if (err)
		return err;
	if (a[SSTP_A_RATE_PEAK])
		c->rate.peak = nla_get_u64(a[SSTP_A_RATE_PEAK]);
	if (a[SSTP_A_RATE_AVERAGE])
		c->rate.average = nla_get_u64(a[SSTP_A_RATE_AVERAGE]);
	if (a[SSTP_A_RATE_BURST_RATE])
		c->rate.burst_rate = nla_get_u32(a[SSTP_A_RATE_BURST_RATE]);
	if (a[SSTP_A_RATE_BURST_LEN])
		c->rate.burst_len = nla_get_u32(a[SSTP_A_RATE_BURST_LEN]);
	return 0;
}

/* Without any lock, as modules may be loaded */
static int sstp_nl_parse(struct sstp_nl_change *c)
{
	struct nlattr **attr = c->attr;
	int err = 0;

	if (!attr[SSTP_A_CONN_RATE] && !attr[SSTP_A_CONN_RRDA] &&
	    !attr[SSTP_A_CONN_CONTROLLER] && !attr[SSTP_A_CONN_POLICY])
		return sstp_nl_refuse(c, NULL, -EINVAL, "nothing to change");
	if (attr[SSTP_A_CONN_RATE])
		err = sstp_nl_parse_rate(c);
	if (!err && attr[SSTP_A_CONN_RRDA])
		err = nla_parse_nested(c->rrda, SSTP_A_RRDA_MAX, attr[SSTP_A_CONN_RRDA], NULL,
				       c->extack);
	if (err)
		return err;
	if (attr[SSTP_A_CONN_CONTROLLER]) {
		sstp_plugin_exists(&sstp_ctrls, nla_data(attr[SSTP_A_CONN_CONTROLLER]));
		c->ctrl = sstp_ctrl_get(nla_data(attr[SSTP_A_CONN_CONTROLLER]));
		if (!c->ctrl)
			return sstp_nl_refuse(c, attr[SSTP_A_CONN_CONTROLLER], -ENOENT,
					      "no such controller");
	}
	if (attr[SSTP_A_CONN_POLICY]) {
		sstp_plugin_exists(&sstp_rbufs, nla_data(attr[SSTP_A_CONN_POLICY]));
		c->policy = sstp_rbuf_get(nla_data(attr[SSTP_A_CONN_POLICY]));
		if (!c->policy)
			return sstp_nl_refuse(c, attr[SSTP_A_CONN_POLICY], -ENOENT,
					      "no such policy");
	}
	return 0;
}

/* The tunables that @sp would have */
static int sstp_nl_rrda(struct sstp_nl_change *c, const struct sstp_sock *sp,
			struct sstp_rrda_spec *s)
{
	u32 *const val[] = { &s->epoch, &s->k, &s->beta, &s->omega, &s->floor, &s->ceiling };
	enum sstp_rrda_tunable_id bad;
	u32 i;

	BUILD_BUG_ON(ARRAY_SIZE(val) != SSTP_A_RRDA_MAX);
	if (sp->rcvbuf.member.pool)
		return sstp_nl_refuse(c, c->attr[SSTP_A_CONN_RRDA], -EINVAL,
				      "rrda: the buffer is shared; ask its listener");
	*s = sp->set.rrda;
	for (i = 0; i < ARRAY_SIZE(val); i++)
		if (c->rrda[i + 1])
			*val[i] = nla_get_u32(c->rrda[i + 1]);
	bad = sstp_rrda_spec_fault(s);
	if (bad == SSTP_RRDA_TUNABLES)
		return 0;
	return sstp_nl_refuse(c, c->rrda[bad + 1] ?: c->attr[SSTP_A_CONN_RRDA], -EINVAL,
			      "rrda: out of range, or a floor above the ceiling");
}

static int sstp_nl_check_policy(struct sstp_nl_change *c, const struct sstp_sock *sp)
{
	const struct nlattr *attr = c->attr[SSTP_A_CONN_POLICY];

	if (sp->rcvbuf.member.pool || sp->listen.pool)
		return sstp_nl_refuse(c, attr, -EINVAL, "policy: the buffer is shared");
	if (sp->sk.sk_userlocks & SOCK_RCVBUF_LOCK && c->policy != &sstp_rbuf_static)
		return sstp_nl_refuse(c, attr, -EINVAL, "policy: SO_RCVBUF fixes the buffer");
	return 0;
}

/* All of it or nothing. Socket lock. */
static int sstp_nl_apply(struct sock *sk, struct sstp_nl_change *c)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rrda_spec rrda;
	int err = 0;

	if (!sp->id.listed || !sstp_nl_match(sk, c->attr))
		return -ENOENT;
	if (c->attr[SSTP_A_CONN_RRDA])
		err = sstp_nl_rrda(c, sp, &rrda);
	if (!err && c->policy)
		err = sstp_nl_check_policy(c, sp);
	if (!err && c->attr[SSTP_A_CONN_RATE]) {
		err = sstp_set_rate(sp, &c->rate);
		if (err == -EINVAL)
			sstp_nl_refuse(c, c->attr[SSTP_A_CONN_RATE], err,
				       sstp_rate_fault(&c->rate, sstp_path_frame(&sp->path)));
	}
	/* A push of what waited may have ended it. */
	if (err || sk->sk_state == TCP_CLOSE)
		return err;
	/* From here on nothing fails. */
	if (c->attr[SSTP_A_CONN_RRDA])
		sstp_set_rrda(sp, &rrda);
	sstp_set_names(sp, c->ctrl ? c->ctrl->name : NULL,
		       c->policy ? c->policy->name : NULL);
	if (sk->sk_state == TCP_LISTEN)
		return 0;
	local_bh_disable();
	if (c->ctrl) {
		/* Who may do so takes what he names, as it is. */
		sp->breaker.guards = false;
		sp->breaker.retry = 0;
		sstp_cc_switch(sp, c->ctrl, sstp_in_flight(sp));
		c->ctrl = NULL;
	}
	if (c->policy) {
		sstp_rcvbuf_policy(sk, c->policy);
		c->policy = NULL;
	}
	if (sstp_synchronized(sk))
		sstp_push(sk);
	local_bh_enable();
	return 0;
}

int sstp_nl_conn_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sstp_nl_change *c;
	struct sock *sk;
	int err;

	sk = sstp_nl_find(info);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	c = kzalloc_obj(*c, GFP_KERNEL);
	if (!c) {
		sock_put(sk);
		return -ENOMEM;
	}
	memcpy(c->attr, info->attrs, sizeof(c->attr));
	c->extack = info->extack;
	err = sstp_nl_parse(c);
	if (!err) {
		lock_sock(sk);
		err = sstp_nl_apply(sk, c);
		release_sock(sk);
	}
	sock_put(sk);
	sstp_ctrl_put(c->ctrl);
	sstp_rbuf_put(c->policy);
	kfree(c);
	return err;
}

/* End @sk: its program learns ECONNABORTED. Process context, socket lock; the caller has a
 * reference.
 */
static void sstp_nl_destroy(struct sock *sk)
{
	if (sk->sk_state != TCP_LISTEN) {
		if (sk->sk_state == TCP_SYN_SENT)
			sstp_done(sk, ECONNABORTED, SSTP_CLOSED_BY_LOCAL);
		else
			sstp_abort(sk, ECONNABORTED, SSTP_CLOSED_BY_LOCAL);
		return;
	}
	sstp_bind_unlisten(sk);
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sstp_unbind(sk);
	sstp_listen_close(sk);
	WRITE_ONCE(sk->sk_err, ECONNABORTED);
	sk->sk_state_change(sk);
	sk_error_report(sk);
}

/* With whatever other attributes conn-get takes */
int sstp_nl_conn_destroy_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sock *sk;
	int err;

	err = sstp_nl_check(info->attrs, info->extack);
	if (err)
		return err;
	sk = sstp_nl_find(info);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	lock_sock(sk);
	if (sstp_sk(sk)->id.listed && sstp_nl_match(sk, info->attrs))
		sstp_nl_destroy(sk);
	else
		err = -ENOENT;
	release_sock(sk);
	sock_put(sk);
	return err;
}

/* Counters */

static int sstp_nl_put_counter(struct sk_buff *skb, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, SSTP_A_STAT_COUNTER);

	if (!nest || nla_put_string(skb, SSTP_A_COUNTER_NAME, name) ||
	    nla_put_u64_64bit(skb, SSTP_A_COUNTER_VALUE, value, SSTP_A_COUNTER_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* The counters from @i on, or the one called @name, as many as there is room for.
 * Returns where to go on.
 */
static u32 sstp_nl_stat(struct sk_buff *skb, struct net *net, u32 i, const char *name)
{
	const char *one;
	u64 value;

	for (; (one = sstp_mib_get(net, i, &value)); i++)
		if ((!name || !strcmp(name, one)) && sstp_nl_put_counter(skb, one, value))
			break;
	return i;
}

int sstp_nl_stat_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *name = info->attrs[SSTP_A_STAT_NAME];
	struct sk_buff *msg;
	void *hdr;
	u32 empty;

	if (GENL_REQ_ATTR_CHECK(info, SSTP_A_STAT_NAME))
		return -EINVAL;
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	hdr = msg ? genlmsg_put_reply(msg, info, &sstp_nl_family, 0, SSTP_CMD_STAT_GET) :
		NULL;
	if (!hdr) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	empty = msg->len;
	sstp_nl_stat(msg, genl_info_net(info), 0, nla_data(name));
	if (msg->len == empty) {
		nlmsg_free(msg);
		NL_SET_ERR_MSG_ATTR(info->extack, name, "no such counter");
		return -ENOENT;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

int sstp_nl_stat_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *name = sstp_dump_attrs(cb)[SSTP_A_STAT_NAME];
	u32 empty;
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &sstp_nl_family, NLM_F_MULTI, SSTP_CMD_STAT_GET);
	if (!hdr)
		return -EMSGSIZE;
	empty = skb->len;
	cb->args[0] = sstp_nl_stat(skb, sock_net(skb->sk), cb->args[0],
				   name ? nla_data(name) : NULL);
	if (skb->len == empty) {
		genlmsg_cancel(skb, hdr);
		return 0;
	}
	genlmsg_end(skb, hdr);
	return skb->len;
}

/* Controllers and policies */

static int sstp_nl_plugin(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 cmd,
			  const char *name)
{
	void *hdr = genlmsg_put(skb, portid, seq, &sstp_nl_family, flags, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_string(skb, SSTP_A_PLUGIN_NAME, name)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* The one that the request names */
static int sstp_nl_plugin_do(struct genl_info *info, struct sstp_registry *r)
{
	struct nlattr *want = info->attrs[SSTP_A_PLUGIN_NAME];
	char name[SSTP_NAME_MAX];
	struct sk_buff *msg;
	int err;
	u32 i;

	if (GENL_REQ_ATTR_CHECK(info, SSTP_A_PLUGIN_NAME))
		return -EINVAL;
	for (i = 0; sstp_plugin_name(r, i, name); i++)
		if (!strcmp(name, nla_data(want)))
			goto found;
	NL_SET_ERR_MSG_ATTR(info->extack, want, "nothing of that name");
	return -ENOENT;
found:
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	err = sstp_nl_plugin(msg, info->snd_portid, info->snd_seq, 0, info->genlhdr->cmd,
			     name);
	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	return err;
}

static int sstp_nl_plugin_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			       struct sstp_registry *r)
{
	struct nlattr *want = sstp_dump_attrs(cb)[SSTP_A_PLUGIN_NAME];
	char name[SSTP_NAME_MAX];
	u32 i;

	for (i = cb->args[0]; sstp_plugin_name(r, i, name); i++)
		if ((!want || !strcmp(name, nla_data(want))) &&
		    sstp_nl_plugin(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   NLM_F_MULTI, cmd, name))
			break;
	cb->args[0] = i;
	return skb->len;
}

int sstp_nl_ctrl_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return sstp_nl_plugin_do(info, &sstp_ctrls);
}

int sstp_nl_ctrl_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return sstp_nl_plugin_dump(skb, cb, SSTP_CMD_CTRL_GET, &sstp_ctrls);
}

int sstp_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return sstp_nl_plugin_do(info, &sstp_rbufs);
}

int sstp_nl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return sstp_nl_plugin_dump(skb, cb, SSTP_CMD_POLICY_GET, &sstp_rbufs);
}
