// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the generic netlink family "sstp": see
 * Documentation/netlink/specs/sstp.yaml. Each namespace has its own sockets and counters.
 */
#include <net/genetlink.h>
#include "conf.h"
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
	/* A cookie is made when it is first asked for: a socket without one has 0. */
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

/* Find the socket with the CID or the cookie that matches all other attributes, and take a
 * reference.
 */
static struct sock *sstp_nl_find(struct genl_info *info)
{
	struct nlattr *cid = info->attrs[SSTP_A_CONN_CID];
	struct net *net = genl_info_net(info);
	unsigned long id = 0;
	struct sock *sk;
	int err;

	err = sstp_nl_check(info->attrs, info->extack);
	if (err)
		return ERR_PTR(err);
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
static struct sstp_nl_reader sstp_nl_reader_of(const struct sk_buff *skb)
{
	return (struct sstp_nl_reader){
		.ns = sk_user_ns(NETLINK_CB(skb).sk),
		.uid = READ_ONCE(NETLINK_CB(skb).sk->sk_uid),
		.admin = netlink_net_capable(skb, CAP_NET_ADMIN),
	};
}

/* Put one socket into a message. -ENOENT if it no longer matches the request. */
static int sstp_nl_conn(struct sk_buff *skb, struct sock *sk, const struct sk_buff *request,
			const struct nlmsghdr *n, int flags, struct nlattr **attrs)
{
	struct sstp_nl_reader r = sstp_nl_reader_of(request);
	int err = -ENOENT;
	void *hdr;
	bool slow;

	/* A reader that may not see CIDs must not find them by trying. */
	if (attrs[SSTP_A_CONN_CID] && !sstp_nl_trusts(sk, &r))
		return -ENOENT;
	hdr = genlmsg_put(skb, NETLINK_CB(request).portid, n->nlmsg_seq, &sstp_nl_family, flags,
			  SSTP_CMD_CONN_GET);
	if (!hdr)
		return -EMSGSIZE;
	slow = lock_sock_fast(sk);
	if (sstp_sk(sk)->id.listed && sstp_nl_match(sk, attrs))
		err = sstp_nl_put_conn(skb, sk, &r) || sstp_nl_put_info(skb, sstp_sk(sk)) ||
		      sstp_nl_put_params(skb, sstp_sk(sk), true) ||
		      sstp_nl_put_params(skb, sstp_sk(sk), false) ? -EMSGSIZE : 0;
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

/**
 * struct sstp_nl_params - parameters that conn-set asks for
 * @p: their names and values
 * @at: their attributes
 * @n: their number
 * @conf: what the controller or the policy will be
 */
struct sstp_nl_params {
	struct sstp_param p[SSTP_PARAMS_MAX];
	const struct nlattr *at[SSTP_PARAMS_MAX];
	u32	n;
	struct sstp_plugin_conf conf;
};

/* Attributes of a conn-set request; NULL = unchanged */
struct sstp_nl_change {
	struct nlattr *attr[SSTP_A_CONN_POLICY + 1];
	struct sstp_rate_spec rate;
	struct sstp_ctrl_ops *ctrl;
	struct sstp_rbuf_ops *policy;
	struct sstp_nl_params ctrl_params;
	struct sstp_nl_params policy_params;
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

static int sstp_nl_parse_params(struct sstp_nl_change *c, const struct nlattr *nest,
				struct sstp_nl_params *params)
{
	struct nlattr *a[SSTP_A_PARAM_MAX + 1];
	const struct nlattr *at;
	struct sstp_param *p;
	int err, rem;

	nla_for_each_nested(at, nest, rem) {
		if (params->n == SSTP_PARAMS_MAX)
			return sstp_nl_refuse(c, at, -EINVAL, "more parameters than any has");
		err = nla_parse_nested(a, SSTP_A_PARAM_MAX, at, NULL, c->extack);
		if (err)
			return err;
		if (!a[SSTP_A_PARAM_NAME] || !a[SSTP_A_PARAM_VALUE] ||
		    a[SSTP_A_PARAM_LEAST] || a[SSTP_A_PARAM_MOST])
			return sstp_nl_refuse(c, at, -EINVAL, "a parameter has a name and a value");
		params->at[params->n] = at;
		p = &params->p[params->n++];
		nla_strscpy(p->name, a[SSTP_A_PARAM_NAME], SSTP_NAME_MAX);
		p->value = nla_get_s64(a[SSTP_A_PARAM_VALUE]);
	}
	return params->n ? 0 : sstp_nl_refuse(c, nest, -EINVAL, "no parameter");
}

/* Parse a request without any lock, as modules may be loaded. */
static int sstp_nl_parse(struct sstp_nl_change *c)
{
	struct nlattr **attr = c->attr;
	int err = 0;

	if (!attr[SSTP_A_CONN_RATE] && !attr[SSTP_A_CONN_CONTROLLER_PARAMS] &&
	    !attr[SSTP_A_CONN_POLICY_PARAMS] && !attr[SSTP_A_CONN_CONTROLLER] &&
	    !attr[SSTP_A_CONN_POLICY])
		return sstp_nl_refuse(c, NULL, -EINVAL, "nothing to change");
	if (attr[SSTP_A_CONN_RATE])
		err = sstp_nl_parse_rate(c);
	if (!err && attr[SSTP_A_CONN_CONTROLLER_PARAMS])
		err = sstp_nl_parse_params(c, attr[SSTP_A_CONN_CONTROLLER_PARAMS],
					   &c->ctrl_params);
	if (!err && attr[SSTP_A_CONN_POLICY_PARAMS])
		err = sstp_nl_parse_params(c, attr[SSTP_A_CONN_POLICY_PARAMS],
					   &c->policy_params);
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

static int sstp_nl_check_policy(struct sstp_nl_change *c, const struct sstp_sock *sp)
{
	const struct nlattr *attr = c->attr[SSTP_A_CONN_POLICY];

	if (sp->rcvbuf.member.pool && c->policy_params.n)
		return sstp_nl_refuse(c, c->attr[SSTP_A_CONN_POLICY_PARAMS], -EINVAL,
				      "policy: the buffer is shared; ask its listener");
	if (!c->policy)
		return 0;
	if (sp->rcvbuf.member.pool || (sp->listen && sp->listen->pool))
		return sstp_nl_refuse(c, attr, -EINVAL, "policy: the buffer is shared");
	if (sp->sk.sk_userlocks & SOCK_RCVBUF_LOCK && c->policy != &sstp_rbuf_static)
		return sstp_nl_refuse(c, attr, -EINVAL, "policy: SO_RCVBUF fixes the buffer");
	return 0;
}

/* Why did sstp_param_apply() refuse value number @bad for plug-in @g? */
static int sstp_nl_bad_param(struct sstp_nl_change *c, const struct sstp_nl_params *params,
			     const struct sstp_plugin *g, u32 bad, int err)
{
	const struct sstp_param_spec *s = g->params;

	if (bad == params->n) {
		sstp_nl_refuse(c, params->at[bad - 1], err, "values contradict each other");
		NL_SET_ERR_MSG_FMT(c->extack, "%s: values contradict each other", g->name);
		return err;
	}
	if (err == -ENOENT) {
		sstp_nl_refuse(c, params->at[bad], err, "no such parameter");
		NL_SET_ERR_MSG_FMT(c->extack, "%s has no parameter %s", g->name,
				   params->p[bad].name);
		return err;
	}
	sstp_nl_refuse(c, params->at[bad], err, "a parameter is out of range");
	while (strcmp(s->name, params->p[bad].name))
		s++;
	NL_SET_ERR_MSG_FMT(c->extack, "%s: %s is 0 or %u to %u", g->name, s->name,
			   s->least, s->most);
	return err;
}

/* Find out what the controller, if @ctrl, or the policy of @sp would be. @named: the one that
 * the request names, or NULL
 */
static int sstp_nl_check_params(struct sstp_nl_change *c, const struct sstp_sock *sp,
				const struct sstp_plugin *named, bool ctrl)
{
	struct sstp_nl_params *params = ctrl ? &c->ctrl_params : &c->policy_params;
	struct sstp_plugin *present = NULL;
	const struct sstp_plugin *g;
	int err = 0;
	u32 bad;

	if (!named && params->n)
		present = sstp_conf_get(sp, ctrl);
	g = named ?: present;
	params->conf = ctrl ? sp->set.ctrl : sp->set.policy;
	if (g)
		err = sstp_param_apply(g, &params->conf, params->p, params->n, &bad);
	else if (params->n)
		err = sstp_nl_refuse(c, params->at[0], -ENOENT, "its plug-in has gone");
	if (g && err)
		sstp_nl_bad_param(c, params, g, bad, err);
	if (present)
		sstp_plugin_put(present);
	return err;
}

/* Apply all changes or none. Socket lock. */
static int sstp_nl_apply(struct sock *sk, struct sstp_nl_change *c)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err;

	if (!sp->id.listed || !sstp_nl_match(sk, c->attr))
		return -ENOENT;
	err = sstp_nl_check_policy(c, sp) ?:
	      sstp_nl_check_params(c, sp, c->ctrl ? sstp_plugin_of(c->ctrl) : NULL, true) ?:
	      sstp_nl_check_params(c, sp, c->policy ? sstp_plugin_of(c->policy) : NULL, false);
	if (!err && c->attr[SSTP_A_CONN_RATE]) {
		err = sstp_set_rate(sp, &c->rate);
		if (err == -EINVAL)
			sstp_nl_refuse(c, c->attr[SSTP_A_CONN_RATE], err,
				       sstp_rate_fault(&c->rate, sstp_path_frame(&sp->path)));
	}
	/* A push of data that waited may have ended the connection. */
	if (err || sk->sk_state == TCP_CLOSE)
		return err;
	/* From here on nothing fails. */
	if (c->ctrl || c->ctrl_params.n)
		sstp_set_conf(sp, true, &c->ctrl_params.conf);
	if (c->policy || c->policy_params.n)
		sstp_set_conf(sp, false, &c->policy_params.conf);
	if (sk->sk_state == TCP_LISTEN)
		return 0;
	local_bh_disable();
	if (c->ctrl) {
		sstp_set_ctrl(sk, c->ctrl);
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

/* Destroy the socket that matches the attributes, which are those of conn-get. */
int sstp_nl_conn_destroy_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sock *sk;
	int err = 0;

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

/* Describe @p in @skb, the answer to message @n of @req. */
static int sstp_nl_plugin(struct sk_buff *skb, struct sk_buff *req, const struct nlmsghdr *n,
			  int flags, u8 cmd, const struct sstp_plugin *p)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(req).portid, n->nlmsg_seq, &sstp_nl_family, flags,
				cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (sstp_nl_put_plugin(skb, p, sk_user_ns(NETLINK_CB(req).sk))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Reply with the plug-in that the request names. */
static int sstp_nl_plugin_do(struct sk_buff *req, struct genl_info *info, struct sstp_registry *r)
{
	struct nlattr *want = info->attrs[SSTP_A_PLUGIN_NAME];
	const struct sstp_plugin *p;
	struct sk_buff *msg;
	int err = -ENOENT;
	u32 i;

	if (GENL_REQ_ATTR_CHECK(info, SSTP_A_PLUGIN_NAME))
		return -EINVAL;
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	rcu_read_lock();
	for (i = 0; err == -ENOENT && (p = sstp_plugin_nth(r, i)); i++)
		if (!strcmp(p->name, nla_data(want)))
			err = sstp_nl_plugin(msg, req, info->nlhdr, 0,
					     info->genlhdr->cmd, p);
	rcu_read_unlock();
	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, want, "nothing of that name");
	return err;
}

static int sstp_nl_plugin_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			       struct sstp_registry *r)
{
	struct nlattr *want = sstp_dump_attrs(cb)[SSTP_A_PLUGIN_NAME];
	const struct sstp_plugin *p;
	u32 i;

	rcu_read_lock();
	for (i = cb->args[0]; (p = sstp_plugin_nth(r, i)); i++)
		if ((!want || !strcmp(p->name, nla_data(want))) &&
		    sstp_nl_plugin(skb, cb->skb, cb->nlh, NLM_F_MULTI, cmd, p))
			break;
	rcu_read_unlock();
	cb->args[0] = i;
	return skb->len;
}

int sstp_nl_ctrl_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return sstp_nl_plugin_do(skb, info, &sstp_ctrls);
}

int sstp_nl_ctrl_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return sstp_nl_plugin_dump(skb, cb, SSTP_CMD_CTRL_GET, &sstp_ctrls);
}

int sstp_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return sstp_nl_plugin_do(skb, info, &sstp_rbufs);
}

int sstp_nl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return sstp_nl_plugin_dump(skb, cb, SSTP_CMD_POLICY_GET, &sstp_rbufs);
}
