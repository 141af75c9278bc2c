// SPDX-License-Identifier: GPL-2.0
/* Counters of a network namespace. */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "netns.h"

/* By enum sstp_mib_id */
static const char *const sstp_mib_names[] = {
	"",
#define SSTP_MIB(id, name)	name,
#include "mib_list.h"
#undef SSTP_MIB
};

static u64 sstp_mib_sum(const struct sstp_net *sn, int i)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += snmp_get_cpu_field(sn->mib, cpu, i);
	return sum;
}

const char *sstp_mib_get(struct net *net, u32 i, u64 *value)
{
	/* SSTP_MIB_NONE is no counter. */
	if (i >= __SSTP_MIB_MAX - 1)
		return NULL;
	*value = sstp_mib_sum(sstp_pernet(net), i + 1);
	return sstp_mib_names[i + 1];
}

const char *sstp_mib_name(enum sstp_mib_id id)
{
	return sstp_mib_names[id];
}

static int sstp_mib_show(struct seq_file *m, void *v)
{
	const char *name;
	u64 value;
	u32 i;

	for (i = 0; (name = sstp_mib_get(m->private, i, &value)); i++)
		seq_printf(m, "%-24s %llu\n", name, value);
	return 0;
}

int sstp_mib_init(struct net *net)
{
	struct sstp_net *sn = sstp_pernet(net);

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
	free_percpu(sstp_pernet(net)->mib);
}
