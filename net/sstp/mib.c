// SPDX-License-Identifier: GPL-2.0
/* Counters of a network namespace. */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "sstp.h"

#define X(name)	[SSTP_MIB_##name] = #name,
static const char * const sstp_mib_name[__SSTP_MIB_MAX] = {
	SSTP_MIBS(X)
};
#undef X

static unsigned long sstp_mib_sum(const struct sstp_net *sn, int i)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(sn->mib, cpu)->mibs[i];
	return sum;
}

static int sstp_mib_show(struct seq_file *m, void *v)
{
	struct sstp_net *sn = sstp_net(m->private);
	int i;

	for (i = 1; i < __SSTP_MIB_MAX; i++)
		seq_printf(m, "%-24s %lu\n", sstp_mib_name[i],
			   sstp_mib_sum(sn, i));
	return 0;
}

int sstp_mib_init(struct net *net)
{
	struct sstp_net *sn = sstp_net(net);

	sn->mib = alloc_percpu(struct sstp_mib);
	if (!sn->mib)
		return -ENOMEM;
	if (!proc_create_net_single("sstp_snmp", 0444, net->proc_net,
				    sstp_mib_show, NULL)) {
		free_percpu(sn->mib);
		return -ENOMEM;
	}
	return 0;
}

void sstp_mib_exit(struct net *net)
{
	remove_proc_entry("sstp_snmp", net->proc_net);
	free_percpu(sstp_net(net)->mib);
}
