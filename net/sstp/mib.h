/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a network namespace, in /proc/net/sstp_snmp. */
#ifndef _SSTP_MIB_H
#define _SSTP_MIB_H

#include <net/ip.h>
#include <net/snmp.h>

#define SSTP_MIB_NAME_MAX	20

/* What counts; mib.c has the names, in this order. */
enum sstp_mib_id {
	SSTP_MIB_NUM,
	SSTP_MIB_ACTIVEOPENS,		/* connect() sent an INIT */
	SSTP_MIB_PASSIVEOPENS,		/* an INIT made a connection */
	SSTP_MIB_ESTABLISHED,		/* set-up ended well, either end */
	SSTP_MIB_ATTEMPTFAILS,		/* set-up ended without a connection */
	SSTP_MIB_RESETS,		/* a RESET ended a connection */
	SSTP_MIB_TIMEOUTS,		/* the peer fell silent, or nothing got through */
	SSTP_MIB_COOKIESSENT,		/* a listener was under pressure */
	SSTP_MIB_COOKIESGOOD,		/* and its cookie came back */
	SSTP_MIB_COOKIESBAD,		/* forged, or too old */
	SSTP_MIB_LISTENOVERFLOWS,	/* INIT dropped: backlog full, set-ups included */
	SSTP_MIB_INPKTS,		/* packets, parts of trains counted */
	SSTP_MIB_OUTPKTS,		/* the same */
	SSTP_MIB_OUTDATA,		/* DATA packets, first shipments */
	SSTP_MIB_RETRANSDATA,		/* DATA packets shipped again */
	SSTP_MIB_OUTPACKS,		/* PACK */
	SSTP_MIB_INPACKS,
	SSTP_MIB_OUTSNAKS,		/* SNAK */
	SSTP_MIB_INSNAKS,
	SSTP_MIB_OUTKEEPALIVES,
	SSTP_MIB_OUTRESETS,
	SSTP_MIB_INERRSHORT,		/* no room for the header of its type */
	SSTP_MIB_INERRCSUM,		/* checksum wrong */
	SSTP_MIB_INERRNOCSUM,		/* UDP checksum absent */
	SSTP_MIB_INERRTYPE,		/* unknown packet type */
	SSTP_MIB_INERRFORMAT,		/* fields contradict each other */
	SSTP_MIB_INERRVERSION,		/* INIT of another version or type */
	SSTP_MIB_INNOCONN,		/* no connection has that CID */
	SSTP_MIB_INNOPORT,		/* INIT for a port nobody listens on */
	SSTP_MIB_INWRONGADDR,		/* right CID, another sender */
	SSTP_MIB_INDENIED,		/* a program of the socket's cgroup said no */
	SSTP_MIB_INOUTOFWINDOW,		/* number not in the window */
	SSTP_MIB_INCONFLICT,		/* contradicts an earlier packet */
	SSTP_MIB_INRECUT,		/* their segment came in another packet size */
	SSTP_MIB_INDUPLICATE,		/* data that was here already */
	SSTP_MIB_INDISCARDED,		/* no room in the receive buffer */
	SSTP_MIB_INDISCARDEDBYTES,	/* payload of those */
	SSTP_MIB_INNOMEM,		/* no memory for it */
	SSTP_MIB_INBACKLOGDROP,		/* socket backlog full */
	SSTP_MIB_OUTNOMEM,		/* no memory for a packet */
	SSTP_MIB_OUTERR,		/* no route */
	SSTP_MIB_PMTUSHRUNK,		/* path MTU lowered */
	SSTP_MIB_SEGMENTSHOLED,		/* accepted with packets missing */
	SSTP_MIB_SOFTREPLACED,		/* segment discarded for an earlier one */
	SSTP_MIB_PROBES,		/* asked a silent peer */
	SSTP_MIB_RBUFGROWN,		/* times that a receive buffer did */
	SSTP_MIB_RBUFGROWNBYTES,	/* of its limit */
	SSTP_MIB_RBUFSHRUNK,
	SSTP_MIB_RBUFSHRUNKBYTES,
	SSTP_MIB_CONTRACTSBROKEN,	/* the path did not carry one: congestion control */
	SSTP_MIB_CONTRACTSTRIED,	/* and again after a while */
	SSTP_MIB_ORPHANSRESET,		/* closed sockets beyond net.sstp.max_orphans */
	__SSTP_MIB_MAX
};

struct sstp_mib {
	unsigned long mibs[__SSTP_MIB_MAX];
};

/* Where a counter is added to with interrupts off, lockdep does not know of it:
 * the counters are found before.
 */
#define SSTP_INC(net, name)						\
	do {								\
		struct sstp_mib __percpu *mib__ = sstp_net(net)->mib;	\
									\
		SNMP_INC_STATS(mib__, SSTP_MIB_##name);			\
	} while (0)
#define SSTP_ADD(net, name, n)						\
	do {								\
		struct sstp_mib __percpu *mib__ = sstp_net(net)->mib;	\
									\
		SNMP_ADD_STATS(mib__, SSTP_MIB_##name, n);		\
	} while (0)

/* The counters in turn, from 0: name and value; NULL behind the last */
const char *sstp_mib_get(struct net *net, u32 i, u64 *value);
/* Of one of them */
const char *sstp_mib_name(enum sstp_mib_id id);
int sstp_mib_init(struct net *net);
void sstp_mib_exit(struct net *net);

#endif /* _SSTP_MIB_H */
