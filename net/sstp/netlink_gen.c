// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/sstp.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/sstp_netlink.h>

/* Common nested types */
const struct nla_policy sstp_param_nl_policy[SSTP_A_PARAM_MOST + 1] = {
	[SSTP_A_PARAM_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
	[SSTP_A_PARAM_VALUE] = { .type = NLA_S64, },
	[SSTP_A_PARAM_LEAST] = { .type = NLA_U32, },
	[SSTP_A_PARAM_MOST] = { .type = NLA_U32, },
};

const struct nla_policy sstp_params_nl_policy[SSTP_A_PARAMS_PARAM + 1] = {
	[SSTP_A_PARAMS_PARAM] = NLA_POLICY_NESTED(sstp_param_nl_policy),
};

const struct nla_policy sstp_rate_nl_policy[SSTP_A_RATE_BURST_LEN + 1] = {
	[SSTP_A_RATE_PEAK] = { .type = NLA_U64, },
	[SSTP_A_RATE_AVERAGE] = { .type = NLA_U64, },
	[SSTP_A_RATE_BURST_RATE] = { .type = NLA_U32, },
	[SSTP_A_RATE_BURST_LEN] = { .type = NLA_U32, },
};

/* SSTP_CMD_CONN_GET - do */
const struct nla_policy sstp_conn_get_nl_policy[SSTP_A_CONN_REMOTE_PORT + 1] = {
	[SSTP_A_CONN_CID] = { .type = NLA_U32, },
	[SSTP_A_CONN_COOKIE] = { .type = NLA_U64, },
	[SSTP_A_CONN_STATES] = { .type = NLA_U32, },
	[SSTP_A_CONN_FAMILY] = { .type = NLA_U16, },
	[SSTP_A_CONN_LOCAL_ADDR] = NLA_POLICY_MIN_LEN(4),
	[SSTP_A_CONN_REMOTE_ADDR] = NLA_POLICY_MIN_LEN(4),
	[SSTP_A_CONN_LOCAL_PORT] = { .type = NLA_BE16, },
	[SSTP_A_CONN_REMOTE_PORT] = { .type = NLA_BE16, },
};

/* SSTP_CMD_CONN_SET - do */
const struct nla_policy sstp_conn_set_nl_policy[SSTP_A_CONN_POLICY + 1] = {
	[SSTP_A_CONN_CID] = { .type = NLA_U32, },
	[SSTP_A_CONN_COOKIE] = { .type = NLA_U64, },
	[SSTP_A_CONN_RATE] = NLA_POLICY_NESTED(sstp_rate_nl_policy),
	[SSTP_A_CONN_CONTROLLER_PARAMS] = NLA_POLICY_NESTED(sstp_params_nl_policy),
	[SSTP_A_CONN_POLICY_PARAMS] = NLA_POLICY_NESTED(sstp_params_nl_policy),
	[SSTP_A_CONN_CONTROLLER] = { .type = NLA_NUL_STRING, .len = 15, },
	[SSTP_A_CONN_POLICY] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* SSTP_CMD_STAT_GET - do */
const struct nla_policy sstp_stat_get_nl_policy[SSTP_A_STAT_NAME + 1] = {
	[SSTP_A_STAT_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* SSTP_CMD_CTRL_GET - do */
const struct nla_policy sstp_ctrl_get_nl_policy[SSTP_A_PLUGIN_NAME + 1] = {
	[SSTP_A_PLUGIN_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* SSTP_CMD_POLICY_GET - do */
const struct nla_policy sstp_policy_get_nl_policy[SSTP_A_PLUGIN_NAME + 1] = {
	[SSTP_A_PLUGIN_NAME] = { .type = NLA_NUL_STRING, .len = 15, },
};

/* SSTP_CMD_CONN_DESTROY - do */
const struct nla_policy sstp_conn_destroy_nl_policy[SSTP_A_CONN_REMOTE_PORT + 1] = {
	[SSTP_A_CONN_CID] = { .type = NLA_U32, },
	[SSTP_A_CONN_COOKIE] = { .type = NLA_U64, },
	[SSTP_A_CONN_STATES] = { .type = NLA_U32, },
	[SSTP_A_CONN_FAMILY] = { .type = NLA_U16, },
	[SSTP_A_CONN_LOCAL_ADDR] = NLA_POLICY_MIN_LEN(4),
	[SSTP_A_CONN_REMOTE_ADDR] = NLA_POLICY_MIN_LEN(4),
	[SSTP_A_CONN_LOCAL_PORT] = { .type = NLA_BE16, },
	[SSTP_A_CONN_REMOTE_PORT] = { .type = NLA_BE16, },
};

/* Ops table for sstp */
const struct genl_ops sstp_nl_ops[6] = {
	{
		.cmd		= SSTP_CMD_CONN_GET,
		.doit		= sstp_nl_conn_get_doit,
		.dumpit		= sstp_nl_conn_get_dumpit,
		.policy		= sstp_conn_get_nl_policy,
		.maxattr	= SSTP_A_CONN_REMOTE_PORT,
	},
	{
		.cmd		= SSTP_CMD_CONN_SET,
		.doit		= sstp_nl_conn_set_doit,
		.policy		= sstp_conn_set_nl_policy,
		.maxattr	= SSTP_A_CONN_POLICY,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= SSTP_CMD_STAT_GET,
		.doit		= sstp_nl_stat_get_doit,
		.dumpit		= sstp_nl_stat_get_dumpit,
		.policy		= sstp_stat_get_nl_policy,
		.maxattr	= SSTP_A_STAT_NAME,
	},
	{
		.cmd		= SSTP_CMD_CTRL_GET,
		.doit		= sstp_nl_ctrl_get_doit,
		.dumpit		= sstp_nl_ctrl_get_dumpit,
		.policy		= sstp_ctrl_get_nl_policy,
		.maxattr	= SSTP_A_PLUGIN_NAME,
	},
	{
		.cmd		= SSTP_CMD_POLICY_GET,
		.doit		= sstp_nl_policy_get_doit,
		.dumpit		= sstp_nl_policy_get_dumpit,
		.policy		= sstp_policy_get_nl_policy,
		.maxattr	= SSTP_A_PLUGIN_NAME,
	},
	{
		.cmd		= SSTP_CMD_CONN_DESTROY,
		.doit		= sstp_nl_conn_destroy_doit,
		.policy		= sstp_conn_destroy_nl_policy,
		.maxattr	= SSTP_A_CONN_REMOTE_PORT,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
};

static const struct genl_multicast_group sstp_nl_mcgrps[] = {
	[SSTP_NLGRP_EVENTS] = { "events", },
};
