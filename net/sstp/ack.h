/* SPDX-License-Identifier: GPL-2.0 */
/* Reports: PACK and SNAK, as receiver (struct sstp_acker) and as sender (struct sstp_loss) */
#ifndef _SSTP_ACK_H
#define _SSTP_ACK_H

#include <linux/types.h>
#include "compat.h"
#include "ecn.h"
#include "sample.h"

struct sk_buff;
struct sock;
struct sstp_sock;

/* Sender: the peer's reports, and the losses that follow from them. Socket lock. */
struct sstp_loss {
	struct sstp_ecn ecn;		/* marks of the packets that were sent */
	struct sstp_sampler sampler;
	__cacheline_group_begin(sstp_loss_report);
	u32		highest;	/* H, highest shipment that the peer has seen */
	u16		late;		/* shipments before @highest that may still arrive */
	u8		ecn_field;	/* ECN field of DATA: 0 or INET_ECN_ECT_0 */
	u32		received;	/* DATA packets that the peer received, modulo 2^32 */
	u32		delivered;	/* sum of sstp_ctrl_sample.delivered, modulo 2^32 */
	u32		looks;		/* packets that the SNAKs of this skb may still examine */
	u64		looks_at;	/* ns: start of the round trip of sstp_snd_wnd.vain */
	u64		progress;	/* ns: last progress, see sstp_ack_progress() */
	u32		progress_low;	/* S_l at @progress */
	u32		progress_packets; /* most packets of it reported without a gap */
	u32		prev_received;	/* @received in the previous report */
	u32		prev_highest;	/* @highest - @late in the previous report */
	s32		lost_total;	/* packets shipped up to @prev_highest, but not received */
	s32		lost_reported;	/* of these, packets reported to the controller as lost */
	u32		rcv_ctl;	/* highest control number of the peer + 1 */
	u32		lost_recent;	/* packets asked for since @extra was measured */
	u32		shipped_recent;	/* next shipment when @extra was measured */
	__cacheline_group_end(sstp_loss_report);
	u32		extra;		/* X of WUCS-92-38, section 3.3, in packets */
	u64		corrected_at;	/* ns: last KEEPALIVE or EOS that corrects the peer's H */
};

/* Receiver: reports to the peer. Socket lock. */
struct sstp_acker {
	u64		snak_sent;	/* ns: last SNAK */
	u64		due_bytes;	/* @bytes_received when SSTP_T_ACK expired last */
	u32		ack_segment;	/* segment accepted last, valid if @has_accepted */
	u32		told_timer;	/* us that the peer lets a report wait, 0 = any */
	u16		told_interval;	/* packets after which the peer wants one, 0 = any */
	u8		due_rounds;	/* expiries of SSTP_T_ACK in a row without new data */
	struct sstp_ecn_in ecn;		/* marks of the packets that came */
	__cacheline_group_begin(sstp_acker_arrival);
	bool		echo_padded;	/* @echo came in a padded KEEPALIVE or EOS */
	bool		has_accepted;	/* @ack_segment was not reported yet */
	bool		ack_now;	/* the packets at hand require a PACK at once */
	bool		snak_now;	/* losses wait to be asked for */
	bool		has_echo;	/* a timestamp has come */
	bool		has_ecn;	/* @ecn is not all 0 */
	u32		echo;		/* timestamp to echo, valid if @has_echo */
	u32		unacked;	/* bytes accepted since the last PACK or SNAK */
	u32		snd_ctl;	/* control number of the next PACK or SNAK */
	u32		snak_credit;	/* bytes that came, less 8 times those of SNAKs sent */
	u64		echo_at;	/* ns: arrival of @echo */
	u64		ack_sent;	/* ns: last PACK or SNAK */
	u64		arrival_at;	/* ns: start of the interval of both rates */
	u64		arrival_bytes;	/* payload that came in the interval */
	__cacheline_group_end(sstp_acker_arrival);
	__cacheline_group_begin(sstp_acker_read);
	u64		bytes_received;	/* payload, without duplicates */
	u64		arrival_rate;	/* bit/s, of the last complete interval */
	u64		service_rate;	/* bit/s, of the last complete interval */
	u64		service_bytes;	/* payload that the program read in the interval */
	u32		advertised;	/* R_h in the last report */
	u32		req_limit;	/* segments from R_l on that SNAKs may ask for */
	__cacheline_group_end(sstp_acker_read);
};

void sstp_ack_credit(struct sstp_acker *ak, u32 bytes);
void sstp_ack_begin(struct sstp_sock *sp, u64 now);
void sstp_ack_rcv(struct sock *sk, struct sk_buff *skb, u32 off, u32 len);
void sstp_ack_check(struct sock *sk);
void sstp_ack_read(struct sock *sk);
void sstp_ack_epoch(struct sock *sk);
void sstp_ack_due(struct sock *sk);

#endif /* _SSTP_ACK_H */
