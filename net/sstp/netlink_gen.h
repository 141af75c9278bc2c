/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/sstp.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _LINUX_SSTP_GEN_H
#define _LINUX_SSTP_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/sstp_netlink.h>

/* Common nested types */
extern const struct nla_policy sstp_param_nl_policy[SSTP_A_PARAM_MOST + 1];
extern const struct nla_policy sstp_params_nl_policy[SSTP_A_PARAMS_PARAM + 1];
extern const struct nla_policy sstp_rate_nl_policy[SSTP_A_RATE_BURST_LEN + 1];

extern const struct nla_policy sstp_conn_get_nl_policy[SSTP_A_CONN_REMOTE_PORT + 1];

extern const struct nla_policy sstp_conn_set_nl_policy[SSTP_A_CONN_POLICY + 1];

extern const struct nla_policy sstp_stat_get_nl_policy[SSTP_A_STAT_NAME + 1];

extern const struct nla_policy sstp_ctrl_get_nl_policy[SSTP_A_PLUGIN_NAME + 1];

extern const struct nla_policy sstp_policy_get_nl_policy[SSTP_A_PLUGIN_NAME + 1];

extern const struct nla_policy sstp_conn_destroy_nl_policy[SSTP_A_CONN_REMOTE_PORT + 1];

/* Ops table for sstp */
extern const struct genl_ops sstp_nl_ops[6];

int sstp_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info);
int sstp_nl_conn_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sstp_nl_conn_set_doit(struct sk_buff *skb, struct genl_info *info);
int sstp_nl_stat_get_doit(struct sk_buff *skb, struct genl_info *info);
int sstp_nl_stat_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sstp_nl_ctrl_get_doit(struct sk_buff *skb, struct genl_info *info);
int sstp_nl_ctrl_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sstp_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info);
int sstp_nl_policy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sstp_nl_conn_destroy_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	SSTP_NLGRP_EVENTS,
};

#endif /* _LINUX_SSTP_GEN_H */
