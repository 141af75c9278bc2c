// SPDX-License-Identifier: GPL-2.0
/* Dropped packets: count, trace, and free with a drop reason */
#include <trace/events/sstp.h>
#include "drop.h"
#include "netns.h"
#include "skb_in.h"

/* The nearest of the kernel's drop reasons for each counter; TCP's where TCP has the case */
static const enum skb_drop_reason sstp_drop_reasons[__SSTP_MIB_MAX] = {
	[SSTP_MIB_LISTENOVERFLOWS]	= SKB_DROP_REASON_SOCKET_BACKLOG,
	[SSTP_MIB_INERRSHORT]		= SKB_DROP_REASON_PKT_TOO_SMALL,
	[SSTP_MIB_INERRCSUM]		= SKB_DROP_REASON_UDP_CSUM,
	[SSTP_MIB_INERRNOCSUM]		= SKB_DROP_REASON_UDP_CSUM,
	[SSTP_MIB_INERRTYPE]		= SKB_DROP_REASON_UNHANDLED_PROTO,
	[SSTP_MIB_INERRFORMAT]		= SKB_DROP_REASON_NOT_SPECIFIED,
	[SSTP_MIB_INERRVERSION]		= SKB_DROP_REASON_UNHANDLED_PROTO,
	[SSTP_MIB_INNOCONN]		= SKB_DROP_REASON_NO_SOCKET,
	[SSTP_MIB_INNOPORT]		= SKB_DROP_REASON_NO_SOCKET,
	[SSTP_MIB_INWRONGADDR]		= SKB_DROP_REASON_NO_SOCKET,
	[SSTP_MIB_INDENIED]		= SKB_DROP_REASON_SOCKET_FILTER,
	[SSTP_MIB_INOUTOFWINDOW]	= SKB_DROP_REASON_TCP_OVERWINDOW,
	[SSTP_MIB_INMSGUNKNOWN]		= SKB_DROP_REASON_UNHANDLED_PROTO,
	[SSTP_MIB_INMSGFLOOD]		= SKB_DROP_REASON_SOCKET_RCVBUFF,
	[SSTP_MIB_INCONFLICT]		= SKB_DROP_REASON_NOT_SPECIFIED,
	[SSTP_MIB_INRECUT]		= SKB_DROP_REASON_NOT_SPECIFIED,
	[SSTP_MIB_INDUPLICATE]		= SKB_DROP_REASON_TCP_OLD_DATA,
	[SSTP_MIB_INDISCARDED]		= SKB_DROP_REASON_SOCKET_RCVBUFF,
	[SSTP_MIB_INNOMEM]		= SKB_DROP_REASON_NOMEM,
	[SSTP_MIB_INBACKLOGDROP]	= SKB_DROP_REASON_SOCKET_BACKLOG,
	[SSTP_MIB_OUTERR]		= SKB_DROP_REASON_IP_OUTNOROUTES,
};

/**
 * sstp_drop - count and trace dropped packets
 * @sk: connection, or the UDP socket that received them if no connection has them
 * @skb: skb that holds the packets, and maybe others; may be NULL with a connection
 * @why: counter of the cause
 * @n: number of packets, added to the counter
 *
 * The skb is not freed: the caller may use its other packets, and calls sstp_free(), which
 * passes @why as the drop reason. Any context.
 */
void sstp_drop(struct sock *sk, struct sk_buff *skb, enum sstp_mib_id why, u32 n)
{
	struct sstp_mib __percpu *mib = sstp_pernet(sock_net(sk))->mib;

	SNMP_ADD_STATS(mib, why, n);
	if (trace_sstp_drop_enabled())
		trace_sstp_drop(sk, skb, sstp_mib_name(why), n);
	if (skb)
		SSTP_IN(skb)->why = why;
}

/* Free @skb: as a drop, with the reason of the last sstp_drop(), if any of its packets was
 * dropped, so that drop monitors see it; else as consumed.
 */
void sstp_free(struct sk_buff *skb)
{
	u8 why = SSTP_IN(skb)->why;

	if (why)
		kfree_skb_reason(skb, sstp_drop_reasons[why]);
	else
		consume_skb(skb);
}
