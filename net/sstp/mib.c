// SPDX-License-Identifier: GPL-2.0
/* Counters of a network namespace. */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "sstp.h"

static const struct snmp_mib sstp_mib_list[] = {
	SNMP_MIB_ITEM("ActiveOpens", SSTP_MIB_ACTIVEOPENS),
	SNMP_MIB_ITEM("PassiveOpens", SSTP_MIB_PASSIVEOPENS),
	SNMP_MIB_ITEM("Established", SSTP_MIB_ESTABLISHED),
	SNMP_MIB_ITEM("AttemptFails", SSTP_MIB_ATTEMPTFAILS),
	SNMP_MIB_ITEM("Resets", SSTP_MIB_RESETS),
	SNMP_MIB_ITEM("Timeouts", SSTP_MIB_TIMEOUTS),
	SNMP_MIB_ITEM("CookiesSent", SSTP_MIB_COOKIESSENT),
	SNMP_MIB_ITEM("CookiesGood", SSTP_MIB_COOKIESGOOD),
	SNMP_MIB_ITEM("CookiesBad", SSTP_MIB_COOKIESBAD),
	SNMP_MIB_ITEM("ListenOverflows", SSTP_MIB_LISTENOVERFLOWS),
	SNMP_MIB_ITEM("InPkts", SSTP_MIB_INPKTS),
	SNMP_MIB_ITEM("OutPkts", SSTP_MIB_OUTPKTS),
	SNMP_MIB_ITEM("OutData", SSTP_MIB_OUTDATA),
	SNMP_MIB_ITEM("RetransData", SSTP_MIB_RETRANSDATA),
	SNMP_MIB_ITEM("OutPacks", SSTP_MIB_OUTPACKS),
	SNMP_MIB_ITEM("InPacks", SSTP_MIB_INPACKS),
	SNMP_MIB_ITEM("OutSnaks", SSTP_MIB_OUTSNAKS),
	SNMP_MIB_ITEM("InSnaks", SSTP_MIB_INSNAKS),
	SNMP_MIB_ITEM("OutKeepalives", SSTP_MIB_OUTKEEPALIVES),
	SNMP_MIB_ITEM("OutResets", SSTP_MIB_OUTRESETS),
	SNMP_MIB_ITEM("InErrShort", SSTP_MIB_INERRSHORT),
	SNMP_MIB_ITEM("InErrCsum", SSTP_MIB_INERRCSUM),
	SNMP_MIB_ITEM("InErrNoCsum", SSTP_MIB_INERRNOCSUM),
	SNMP_MIB_ITEM("InErrType", SSTP_MIB_INERRTYPE),
	SNMP_MIB_ITEM("InErrFormat", SSTP_MIB_INERRFORMAT),
	SNMP_MIB_ITEM("InErrVersion", SSTP_MIB_INERRVERSION),
	SNMP_MIB_ITEM("InNoConn", SSTP_MIB_INNOCONN),
	SNMP_MIB_ITEM("InNoPort", SSTP_MIB_INNOPORT),
	SNMP_MIB_ITEM("InWrongAddr", SSTP_MIB_INWRONGADDR),
	SNMP_MIB_ITEM("InDenied", SSTP_MIB_INDENIED),
	SNMP_MIB_ITEM("InOutOfWindow", SSTP_MIB_INOUTOFWINDOW),
	SNMP_MIB_ITEM("InConflict", SSTP_MIB_INCONFLICT),
	SNMP_MIB_ITEM("InRecut", SSTP_MIB_INRECUT),
	SNMP_MIB_ITEM("InDuplicate", SSTP_MIB_INDUPLICATE),
	SNMP_MIB_ITEM("InDiscarded", SSTP_MIB_INDISCARDED),
	SNMP_MIB_ITEM("InDiscardedBytes", SSTP_MIB_INDISCARDEDBYTES),
	SNMP_MIB_ITEM("InNoMem", SSTP_MIB_INNOMEM),
	SNMP_MIB_ITEM("InBacklogDrop", SSTP_MIB_INBACKLOGDROP),
	SNMP_MIB_ITEM("OutNoMem", SSTP_MIB_OUTNOMEM),
	SNMP_MIB_ITEM("OutErr", SSTP_MIB_OUTERR),
	SNMP_MIB_ITEM("PmtuShrunk", SSTP_MIB_PMTUSHRUNK),
	SNMP_MIB_ITEM("SegmentsHoled", SSTP_MIB_SEGMENTSHOLED),
	SNMP_MIB_ITEM("SoftReplaced", SSTP_MIB_SOFTREPLACED),
	SNMP_MIB_ITEM("Probes", SSTP_MIB_PROBES),
	SNMP_MIB_ITEM("RbufGrown", SSTP_MIB_RBUFGROWN),
	SNMP_MIB_ITEM("RbufGrownBytes", SSTP_MIB_RBUFGROWNBYTES),
	SNMP_MIB_ITEM("RbufShrunk", SSTP_MIB_RBUFSHRUNK),
	SNMP_MIB_ITEM("RbufShrunkBytes", SSTP_MIB_RBUFSHRUNKBYTES),
	SNMP_MIB_ITEM("ContractsBroken", SSTP_MIB_CONTRACTSBROKEN),
	SNMP_MIB_ITEM("ContractsTried", SSTP_MIB_CONTRACTSTRIED),
	SNMP_MIB_ITEM("OrphansReset", SSTP_MIB_ORPHANSRESET),
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
	BUILD_BUG_ON(ARRAY_SIZE(sstp_mib_list) != __SSTP_MIB_MAX - 1);
	if (i >= ARRAY_SIZE(sstp_mib_list))
		return NULL;
	*value = sstp_mib_sum(sstp_net(net), sstp_mib_list[i].entry);
	return sstp_mib_list[i].name;
}

const char *sstp_mib_name(enum sstp_mib_id id)
{
	return sstp_mib_list[id - 1].name;
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
