/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a network namespace, in /proc/net/sstp_snmp. */
#ifndef _SSTP_MIB_H
#define _SSTP_MIB_H

#include <net/ip.h>
#include <net/snmp.h>

#define SSTP_MIB_NAME_MAX	20

enum sstp_mib_id {
	SSTP_MIB_NONE,	/* of a packet that was not dropped */
#define SSTP_MIB(id, name)	SSTP_MIB_##id,
#include "mib_list.h"
#undef SSTP_MIB
	__SSTP_MIB_MAX
};

struct sstp_mib {
	unsigned long mibs[__SSTP_MIB_MAX];
};

/* sstp_pernet() takes the RCU lock, so it comes before the addition, for which some architectures
 * disable interrupts unseen by lockdep.
 */
#define SSTP_INC(net, name)						\
	do {								\
		struct sstp_mib __percpu *mib__ = sstp_pernet(net)->mib;	\
									\
		SNMP_INC_STATS(mib__, SSTP_MIB_##name);			\
	} while (0)
#define SSTP_ADD(net, name, n)						\
	do {								\
		struct sstp_mib __percpu *mib__ = sstp_pernet(net)->mib;	\
									\
		SNMP_ADD_STATS(mib__, SSTP_MIB_##name, n);		\
	} while (0)

/* The same for a socket, struct sstp_sock, when packets come and leave */
#define SSTP_SK_INC(sp, name)		SSTP_SK_ADD(sp, name, 1)
#define SSTP_SK_ADD(sp, name, n)	SNMP_ADD_STATS((sp)->id.sn->mib, SSTP_MIB_##name, n)

/* Counter @i, from 0: its name and value; NULL after the last counter */
const char *sstp_mib_get(struct net *net, u32 i, u64 *value);
/* Name of counter @id */
const char *sstp_mib_name(enum sstp_mib_id id);
int sstp_mib_init(struct net *net);
void sstp_mib_exit(struct net *net);

#endif /* _SSTP_MIB_H */
