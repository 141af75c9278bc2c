/* SPDX-License-Identifier: GPL-2.0 */
/* The peer's reports, PACK and SNAK, at the sender */
#ifndef _SSTP_REPORT_H
#define _SSTP_REPORT_H

#include <linux/types.h>
#include "compat.h"
#include "ecn.h"
#include "sample.h"

struct sk_buff;
struct sock;
struct sstp_sock;

#define SSTP_WARY	16	/* see sstp_loss.wary; packets of a short request or answer */

/* Sender: the peer's reports, and the losses that follow from them. Socket lock. */
struct sstp_loss {
	u64		wanted_at;	/* ns: last SNAK */
	u64		shipped_at;	/* ns: first SNAK since the last shipment */
	u32		wanted_ship;	/* snd.shipment at the last SNAK */
	struct sstp_ecn ecn;		/* marks of the packets that were sent */
	struct sstp_sampler sampler;
	__cacheline_group_begin(sstp_loss_report);
	u32		highest;	/* H, highest shipment that the peer has seen */
	u16		late;		/* shipments before @highest that may still arrive */
	u8		ecn_field;	/* ECN field of DATA: 0 or INET_ECN_ECT_0 */
	u8		wary;		/* packets alone in flight, or short answers, that must
					 * arrive before such a packet probably does: SSTP_WARY
					 * after a loss
					 */
	u32		received;	/* DATA packets that the peer received, modulo 2^32 */
	u32		delivered;	/* sum of sstp_ctrl_sample.delivered, modulo 2^32 */
	u32		looks;		/* packets that the SNAKs of this skb may still examine */
	u64		looks_at;	/* ns: start of the round trip of sstp_snd_wnd.vain */
	u64		progress;	/* ns: last progress, see sstp_report_progress() */
	u32		progress_low;	/* S_l at @progress */
	u32		progress_packets; /* most packets of it reported without a gap */
	u32		prev_received;	/* @received in the previous report */
	u32		prev_highest;	/* @highest - @late in the previous report */
	u32		lost_total;	/* packets shipped up to @prev_highest, but not received;
					 * modulo 2^32
					 */
	u32		lost_reported;	/* of these, packets reported to the controller as lost */
	u32		rcv_ctl;	/* highest control number of the peer + 1 */
	u32		lost_recent;	/* packets asked for since @extra was measured */
	u32		shipped_recent;	/* next shipment when @extra was measured */
	__cacheline_group_end(sstp_loss_report);
	u32		extra;		/* X of WUCS-92-38, section 3.3, in packets */
	u64		corrected_at;	/* ns: last KEEPALIVE or EOS that corrects the peer's H */
};

void sstp_report_begin(struct sstp_sock *sp, u64 now);
/* The peer has all data, up to the EOS, which was sent: release the segments. Socket lock. */
void sstp_report_all(struct sock *sk);
u32 sstp_report_rcv(struct sock *sk, struct sk_buff *skb, const void *p, u32 len, u64 now);

#endif /* _SSTP_REPORT_H */
