/* SPDX-License-Identifier: GPL-2.0 */
/* PACK and SNAK. */
#ifndef _SSTP_ACK_H
#define _SSTP_ACK_H

#include <linux/types.h>

struct sk_buff;
struct sock;
struct sstp_sock;

/* Losses that the reports of the peer tell of */
struct sstp_loss {
	u64		corrected_at;	/* ns: when the peer was last told the highest shipment */
	u64		looks_at;	/* ns: when a round trip of looking in vain began */
	u64		progress;	/* ns: when the peer last accepted or allowed more */
	u32		progress_low;	/* S_l then, and packets of it that the peer had */
	u32		progress_packets;
	u32		highest;	/* shipment the peer has seen */
	u32		received;	/* packets that the peer has received */
	u32		prev_received;	/* the same, and @highest, in its last report */
	u32		prev_highest;
	s32		lost_total;	/* shipped up to there, not received */
	s32		lost_reported;	/* of these, to the controller */
	u32		rcv_ctl;	/* highest control number of the peer + 1 */
	u32		lost_recent;	/* packets, and shipments, since X was set */
	u32		shipped_recent;
	u32		extra;		/* X of paper 004 */
	u32		looks;		/* packets that the SNAKs of this skb may look at */
	u16		late;		/* shipments before @highest that may still come to it */
};

/* Reports to the peer */
struct sstp_acker {
	u64		echo_at;	/* ns: when @echo came */
	u64		ack_sent;	/* ns */
	u64		snak_sent;	/* ns */
	u64		bytes_received;
	u64		due_bytes;	/* @bytes_received when T_ACK ran last */
	u64		arrival_at;	/* ns: start of the interval measured */
	u64		arrival_bytes;
	u64		arrival_rate;	/* bit/s */
	u64		service_bytes;
	u64		service_rate;	/* bit/s */
	u32		echo;		/* timestamp to return */
	u32		advertised;	/* R_h that the peer knows */
	u32		ack_segment;	/* last accepted */
	u32		unacked;	/* bytes accepted since the last PACK */
	u32		snd_ctl;	/* control number of the next PACK */
	u32		snak_credit;	/* bytes that came and no SNAK was sent for */
	u32		req_limit;	/* segments from R_l to ask for at once */
	u8		due_rounds;	/* times that T_ACK found nothing new */
	bool		ack_now;
	bool		snak_now;	/* losses wait to be reported */
	bool		has_echo;
	bool		echo_padded;	/* @echo is that of a padded KEEPALIVE or EOS */
	bool		has_accepted;	/* @ack_segment was not reported */
};

void sstp_ack_credit(struct sstp_acker *ak, u32 bytes);
void sstp_ack_begin(struct sstp_sock *sp, u64 now);
void sstp_ack_rcv(struct sock *sk, struct sk_buff *skb, u32 off, u32 len);
void sstp_ack_check(struct sock *sk);
void sstp_ack_read(struct sock *sk);
void sstp_ack_epoch(struct sock *sk);
void sstp_ack_due(struct sock *sk);

#endif /* _SSTP_ACK_H */
