// SPDX-License-Identifier: GPL-2.0
/* net.sstp.*, for each network namespace. */
#include <linux/sysctl.h>
#include "af_sstp.h"
#include "compat.h"
#include "ctrl.h"
#include "encap.h"
#include "mem.h"
#include "netns.h"
#include "plugin.h"
#include "rbuf.h"
#include "sysctl.h"

static int sstp_one = 1;
static int sstp_port_max = 65535;
static int sstp_retries_max = 20;
static int sstp_day = 86400;
static int sstp_buf_min = 4096;
static int sstp_buf_max = 1 << 30;
static int sstp_segment_max = SSTP_SEGMENT_MAX;
static unsigned long sstp_mem_min = 1;

/* net.sstp.encap_port: fails while there are sockets, whose peers use the old port. */
static int sstp_sysctl_port(SSTP_CTL_CONST struct ctl_table *t, int write,
			    void *buffer, size_t *lenp, loff_t *ppos)
{
	struct net *net = t->extra1;
	struct sstp_net *sn = sstp_pernet(net);
	int port = READ_ONCE(sn->encap_port), err;
	struct ctl_table tmp = {
		.data = &port,
		.maxlen = sizeof(port),
		.mode = t->mode,
		.extra1 = &sstp_one,
		.extra2 = &sstp_port_max,
	};

	err = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (err || !write || port == READ_ONCE(sn->encap_port))
		return err;
	return sstp_encap_move(net, &sstp_prot, port);
}

/* Name of a controller or policy, which must be registered; extra1 is its registry. */
static int sstp_sysctl_name(SSTP_CTL_CONST struct ctl_table *t, int write,
			    void *buffer, size_t *lenp, loff_t *ppos)
{
	char name[SSTP_NAME_MAX];
	struct ctl_table tmp = {
		.data = name,
		.maxlen = sizeof(name),
	};
	int err;

	sstp_net_name_get(t->data, name);
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	if (!sstp_plugin_exists(t->extra1, name))
		return -ENOENT;
	sstp_net_names_set(t->data, name, SSTP_NAME_MAX);
	return 0;
}

/* Names of controllers, each of which must be registered */
static int sstp_sysctl_allowed(SSTP_CTL_CONST struct ctl_table *t, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	char names[SSTP_ALLOWED_MAX], words[SSTP_ALLOWED_MAX], *next = words, *word;
	struct ctl_table tmp = {
		.data = names,
		.maxlen = sizeof(names),
	};
	int err;

	sstp_net_names_get(t->data, names, sizeof(names));
	err = proc_dostring(&tmp, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	strscpy(words, names, sizeof(words));
	while ((word = strsep(&next, " \t")))
		if (*word && !sstp_plugin_exists(&sstp_ctrls, word))
			return -ENOENT;
	sstp_net_names_set(t->data, names, SSTP_ALLOWED_MAX);
	return 0;
}

#define SSTP_SYSCTL_INT(name, field, n, low, high)			\
	{								\
		.procname = name,					\
		.data = (void *)offsetof(struct sstp_net, field),	\
		.maxlen = (n) * sizeof(int),				\
		.mode = 0644,						\
		.proc_handler = proc_dointvec_minmax,			\
		.extra1 = low,						\
		.extra2 = high,						\
	}

#define SSTP_SYSCTLS_OF_ALL	2

/* .data is an offset until sstp_sysctl_init() makes a copy for a namespace. */
static const struct ctl_table sstp_table[] = {
	{
		.procname = "encap_port",
		.data = (void *)offsetof(struct sstp_net, encap_port),
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = sstp_sysctl_port,
	},
	{
		.procname = "controller",
		.data = (void *)offsetof(struct sstp_net, ctrl),
		.maxlen = SSTP_NAME_MAX,
		.mode = 0644,
		.proc_handler = sstp_sysctl_name,
		.extra1 = &sstp_ctrls,
	},
	{
		.procname = "allowed_controllers",
		.data = (void *)offsetof(struct sstp_net, allowed),
		.maxlen = SSTP_ALLOWED_MAX,
		.mode = 0644,
		.proc_handler = sstp_sysctl_allowed,
	},
	{
		.procname = "buffer_policy",
		.data = (void *)offsetof(struct sstp_net, policy),
		.maxlen = SSTP_NAME_MAX,
		.mode = 0644,
		.proc_handler = sstp_sysctl_name,
		.extra1 = &sstp_rbufs,
	},
	SSTP_SYSCTL_INT("rmem", rmem, 3, &sstp_buf_min, &sstp_buf_max),
	SSTP_SYSCTL_INT("wmem", wmem, 3, &sstp_buf_min, &sstp_buf_max),
	SSTP_SYSCTL_INT("segment_size", segment_size, 1, &sstp_one,
			&sstp_segment_max),
	SSTP_SYSCTL_INT("user_timeout", user_timeout, 1, &sstp_one, NULL),
	SSTP_SYSCTL_INT("init_retries", init_retries, 1, &sstp_one,
			&sstp_retries_max),
	SSTP_SYSCTL_INT("keepalive_time", keepalive_time, 1, &sstp_one, &sstp_day),
	SSTP_SYSCTL_INT("keepalive_intvl", keepalive_intvl, 1, &sstp_one,
			&sstp_day),
	SSTP_SYSCTL_INT("keepalive_probes", keepalive_probes, 1, &sstp_one,
			&sstp_retries_max),
	SSTP_SYSCTL_INT("fin_timeout", fin_timeout, 1, &sstp_one, &sstp_day),
	SSTP_SYSCTL_INT("orphan_timeout", orphan_timeout, 1, &sstp_one, &sstp_day),
	SSTP_SYSCTL_INT("ecn", ecn, 1, SYSCTL_ZERO, SYSCTL_ONE),
	/* The last SSTP_SYSCTLS_OF_ALL hold for all namespaces; only init_net has them. */
	{
		.procname = "max_orphans",
		.data = &sstp_sysctl_max_orphans,
		.maxlen = sizeof(sstp_sysctl_max_orphans),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ZERO,
	},
	{
		.procname = "mem",
		.data = sstp_sysctl_mem,
		.maxlen = sizeof(sstp_sysctl_mem),
		.mode = 0644,
		.proc_handler = proc_doulongvec_minmax,
		.extra1 = &sstp_mem_min,
	},
	SSTP_CTL_SENTINEL
};

static const struct sstp_net sstp_defaults = {
	.encap_port = SSTP_PORT,
	.rmem = { 64 << 10, 4 << 20, 256 << 20 },
	.wmem = { 64 << 10, 1 << 20, 256 << 20 },
	.user_timeout = 60000,
	.init_retries = 7,
	.keepalive_time = 7200,
	.keepalive_intvl = 75,
	.keepalive_probes = 9,
	.fin_timeout = 60,
	.orphan_timeout = 600,
	.segment_size = 64 << 10,
	.ctrl = "hybrid",
	.policy = "rrda",
};

int sstp_sysctl_init(struct net *net)
{
	struct sstp_net *sn = sstp_pernet(net);
	struct ctl_table *table;
	u32 i, n;

	memcpy((u8 *)sn + offsetof(struct sstp_net, encap_port),
	       (const u8 *)&sstp_defaults + offsetof(struct sstp_net, encap_port),
	       sizeof(*sn) - offsetof(struct sstp_net, encap_port));
	table = kmemdup(sstp_table, sizeof(sstp_table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (n = 0; n < ARRAY_SIZE(sstp_table) && table[n].procname; n++)
		;
	for (i = 0; i < n - SSTP_SYSCTLS_OF_ALL; i++)
		table[i].data = (u8 *)sn + (unsigned long)table[i].data;
	table[0].extra1 = net;
	if (!net_eq(net, &init_net)) {
		memset(&table[i], 0, (n - i) * sizeof(*table));
		n = i;
	}
	sn->sysctl = sstp_register_sysctl(net, table, n);
	if (!sn->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

void sstp_sysctl_exit(struct net *net)
{
	struct sstp_net *sn = sstp_pernet(net);
	const struct ctl_table *table = sn->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(sn->sysctl);
	kfree(table);
}
