/* SPDX-License-Identifier: GPL-2.0 */
/* Counters: identifier, name in /proc/net/sstp_snmp, and the event that is counted. A new
 * counter is a line here and one in Documentation/networking/sstp.rst. mib.h and mib.c
 * include this file and define SSTP_MIB() for it.
 */
SSTP_MIB(ACTIVEOPENS, "ActiveOpens")		/* connect() sent an INIT */
SSTP_MIB(PASSIVEOPENS, "PassiveOpens")		/* an INIT made a connection */
SSTP_MIB(ESTABLISHED, "Established")		/* set-up ended well, either end */
SSTP_MIB(ATTEMPTFAILS, "AttemptFails")		/* set-up ended without a connection */
SSTP_MIB(RESETS, "Resets")			/* a RESET ended a connection */
SSTP_MIB(TIMEOUTS, "Timeouts")			/* the peer was silent, or nothing progressed */
SSTP_MIB(COOKIESSENT, "CookiesSent")		/* COOKIE sent by a listener under pressure */
SSTP_MIB(COOKIESGOOD, "CookiesGood")		/* INIT with a valid cookie */
SSTP_MIB(COOKIESBAD, "CookiesBad")		/* INIT with a forged or old cookie */
SSTP_MIB(LISTENOVERFLOWS, "ListenOverflows")	/* INIT dropped, as the backlog is full */
SSTP_MIB(INPKTS, "InPkts")			/* packets, parts of trains counted */
SSTP_MIB(OUTPKTS, "OutPkts")			/* packets, parts of trains counted */
SSTP_MIB(OUTDATA, "OutData")			/* DATA packets, first shipments */
SSTP_MIB(RETRANSDATA, "RetransData")		/* DATA packets shipped again */
SSTP_MIB(OUTREFBYTES, "OutRefBytes")		/* payload written by reference, not by copies */
SSTP_MIB(OUTPACKS, "OutPacks")			/* PACK sent */
SSTP_MIB(INPACKS, "InPacks")			/* PACK received */
SSTP_MIB(OUTSNAKS, "OutSnaks")			/* SNAK sent */
SSTP_MIB(INSNAKS, "InSnaks")			/* SNAK received */
SSTP_MIB(OUTKEEPALIVES, "OutKeepalives")	/* KEEPALIVE sent */
SSTP_MIB(OUTMESSAGES, "OutMessages")		/* MESSAGE sent */
SSTP_MIB(INMESSAGES, "InMessages")		/* MESSAGE received and taken */
SSTP_MIB(OUTRESETS, "OutResets")		/* RESET sent */
SSTP_MIB(INECNMARKED, "InEcnMarked")		/* DATA packets that came with CE */
SSTP_MIB(ECNMARKED, "EcnMarked")		/* DATA packets of this host that were marked */
SSTP_MIB(ECNBLEACHED, "EcnBleached")		/* ECN given up: packets came without ECT */
SSTP_MIB(ECNALLMARKED, "EcnAllMarked")		/* ECN given up: all packets came with CE */
SSTP_MIB(ECNDROPPED, "EcnDropped")		/* ECN given up: no packet with ECT came */
SSTP_MIB(ECNINVALID, "EcnInvalid")		/* ECN given up: more marks than packets */
SSTP_MIB(INERRSHORT, "InErrShort")		/* no room for the header of its type */
SSTP_MIB(INERRCSUM, "InErrCsum")		/* checksum wrong */
SSTP_MIB(INERRNOCSUM, "InErrNoCsum")		/* UDP checksum absent */
SSTP_MIB(INERRTYPE, "InErrType")		/* unknown packet type */
SSTP_MIB(INERRFORMAT, "InErrFormat")		/* fields contradict each other */
SSTP_MIB(INERRVERSION, "InErrVersion")		/* INIT of another version or type */
SSTP_MIB(INNOCONN, "InNoConn")			/* no connection has that CID */
SSTP_MIB(INNOPORT, "InNoPort")			/* INIT for a port without a listener */
SSTP_MIB(INWRONGADDR, "InWrongAddr")		/* right CID, another sender */
SSTP_MIB(INDENIED, "InDenied")			/* a cgroup's program refused it */
SSTP_MIB(INOUTOFWINDOW, "InOutOfWindow")	/* number not in the window */
SSTP_MIB(INMSGUNKNOWN, "InMsgUnknown")		/* no controller here takes the message */
SSTP_MIB(INMSGFLOOD, "InMsgFlood")		/* more messages than a peer may send */
SSTP_MIB(INCONFLICT, "InConflict")		/* contradicts an earlier packet */
SSTP_MIB(INRECUT, "InRecut")			/* the segment came in another packet size */
SSTP_MIB(INDUPLICATE, "InDuplicate")		/* data that had been received before */
SSTP_MIB(INDISCARDED, "InDiscarded")		/* no room in the receive buffer */
SSTP_MIB(INDISCARDEDBYTES, "InDiscardedBytes")	/* payload of discarded packets */
SSTP_MIB(INNOMEM, "InNoMem")			/* no memory for a received packet */
SSTP_MIB(INBACKLOGDROP, "InBacklogDrop")	/* socket backlog full */
SSTP_MIB(OUTNOMEM, "OutNoMem")			/* no memory for a packet */
SSTP_MIB(OUTERR, "OutErr")			/* no route */
SSTP_MIB(PMTUSHRUNK, "PmtuShrunk")		/* path MTU lowered */
SSTP_MIB(SEGMENTSWITHGAPS, "SegmentsWithGaps")	/* accepted with packets missing */
SSTP_MIB(SOFTREPLACED, "SoftReplaced")		/* segment discarded for an earlier one */
SSTP_MIB(PROBES, "Probes")			/* KEEPALIVE that asks a silent peer */
SSTP_MIB(RBUFGROWN, "RbufGrown")		/* the limit of a receive buffer rose */
SSTP_MIB(RBUFGROWNBYTES, "RbufGrownBytes")	/* bytes by which limits rose */
SSTP_MIB(RBUFSHRUNK, "RbufShrunk")		/* the limit of a receive buffer fell */
SSTP_MIB(RBUFSHRUNKBYTES, "RbufShrunkBytes")	/* bytes by which limits fell */
SSTP_MIB(CONTRACTSBROKEN, "ContractsBroken")	/* contracts that the path did not carry */
SSTP_MIB(CONTRACTSTRIED, "ContractsTried")	/* such contracts that were tried again */
SSTP_MIB(ORPHANSRESET, "OrphansReset")		/* orphans beyond net.sstp.max_orphans */
