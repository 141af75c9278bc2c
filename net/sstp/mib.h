/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a network namespace, in /proc/net/sstp_snmp. */
#ifndef _SSTP_MIB_H
#define _SSTP_MIB_H

#include <net/ip.h>
#include <net/snmp.h>

/* Name, and the cause that counts. */
#define SSTP_MIBS(X)							\
	X(ActiveOpens)		/* connect() sent an INIT */		\
	X(PassiveOpens)		/* an INIT made a connection */		\
	X(Established)		/* set-up ended well, either end */	\
	X(AttemptFails)		/* set-up ended without a connection */	\
	X(Resets)		/* a RESET ended a connection */	\
	X(Timeouts)		/* the peer fell silent for good */	\
	X(CookiesSent)		/* a listener was under pressure */	\
	X(CookiesGood)		/* and its cookie came back */		\
	X(CookiesBad)		/* forged, or too old */		\
	X(ListenOverflows)	/* INIT dropped: accept queue full */	\
	X(InPkts)		/* packets, parts of trains counted */	\
	X(OutPkts)		/* the same */				\
	X(OutData)		/* DATA packets, first shipments */	\
	X(RetransData)		/* DATA packets shipped again */	\
	X(OutPacks)		/* PACK */				\
	X(InPacks)							\
	X(OutSnaks)		/* SNAK */				\
	X(InSnaks)							\
	X(OutKeepalives)						\
	X(OutResets)							\
	X(InErrShort)		/* no room for the header of its type */ \
	X(InErrCsum)		/* checksum wrong */			\
	X(InErrNoCsum)		/* UDP checksum absent */		\
	X(InErrType)		/* unknown packet type */		\
	X(InErrFormat)		/* fields contradict each other */	\
	X(InErrVersion)		/* INIT of another version or type */	\
	X(InNoConn)		/* no connection has that CID */	\
	X(InNoPort)		/* INIT for a port nobody listens on */	\
	X(InWrongAddr)		/* right CID, another sender */		\
	X(InOutOfWindow)	/* number not in the window */		\
	X(InConflict)		/* contradicts an earlier packet */	\
	X(InDuplicate)		/* data that was here already */	\
	X(InDiscarded)		/* no room in the receive buffer */	\
	X(InNoMem)		/* no memory for it */			\
	X(InBacklogDrop)	/* socket backlog full */		\
	X(OutNoMem)		/* no memory for a packet */		\
	X(OutErr)		/* no route */				\
	X(PmtuShrunk)		/* path MTU lowered */			\
	X(SegmentsHoled)	/* accepted with packets missing */	\
	X(SoftReplaced)		/* segment discarded for an earlier one */ \
	X(Probes)		/* unanswered for a time-out */

#define X(name)	SSTP_MIB_##name,
enum {
	SSTP_MIB_NUM,
	SSTP_MIBS(X)
	__SSTP_MIB_MAX
};
#undef X

struct sstp_mib {
	unsigned long mibs[__SSTP_MIB_MAX];
};

#define SSTP_INC(net, name)						\
	SNMP_INC_STATS(sstp_net(net)->mib, SSTP_MIB_##name)
#define SSTP_ADD(net, name, n)						\
	SNMP_ADD_STATS(sstp_net(net)->mib, SSTP_MIB_##name, n)

struct net;
int sstp_mib_init(struct net *net);
void sstp_mib_exit(struct net *net);

#endif /* _SSTP_MIB_H */
