/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family "sstp", and the attributes of a socket */
#ifndef _SSTP_NL_PUT_H
#define _SSTP_NL_PUT_H

#include <linux/types.h>
#include <linux/uidgid.h>
#include <net/genetlink.h>
#include "netlink_gen.h"

struct sstp_plugin;
struct sstp_rate_spec;
struct sstp_sock;

extern struct genl_family sstp_nl_family;

/* The program that sent a request */
struct sstp_nl_reader {
	struct user_namespace *ns;	/* for uids in replies */
	kuid_t	uid;
	bool	admin;
};

/* Register the family, with @n requests. */
int sstp_nl_init(const struct genl_ops *ops, u32 n);
void sstp_nl_exit(void);

bool sstp_nl_trusts(const struct sock *sk, const struct sstp_nl_reader *r);
int sstp_nl_put_rate(struct sk_buff *skb, int attr, const struct sstp_rate_spec *r);
int sstp_nl_put_conn(struct sk_buff *skb, struct sock *sk, const struct sstp_nl_reader *r);
int sstp_nl_put_info(struct sk_buff *skb, struct sstp_sock *sp);
int sstp_nl_put_params(struct sk_buff *skb, struct sstp_sock *sp, bool ctrl);
int sstp_nl_put_plugin(struct sk_buff *skb, const struct sstp_plugin *p,
		       struct user_namespace *ns);

#endif /* _SSTP_NL_PUT_H */
