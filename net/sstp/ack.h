/* SPDX-License-Identifier: GPL-2.0 */
/* Reports to the peer: PACK and SNAK */
#ifndef _SSTP_ACK_H
#define _SSTP_ACK_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "compat.h"
#include "ecn.h"

struct sock;
struct sstp_sock;

#define SSTP_SNAK_BYTES		1152	/* most bytes of entries in a SNAK */
#define SSTP_ACK_DELAY_MIN	(1 * NSEC_PER_MSEC)
#define SSTP_ACK_DELAY_MAX	(10 * NSEC_PER_MSEC)
#define SSTP_ACK_ALONE		16	/* see sstp_acker.alone */

/* Receiver: reports to the peer. Socket lock. */
struct sstp_acker {
	u64		snak_sent;	/* ns: last SNAK */
	u64		due_bytes;	/* @bytes_received when SSTP_T_ACK expired last */
	u64		due_since;	/* ns: SSTP_T_ACK first found @due_bytes then; 0 = it has
					 * not expired since the program read
					 */
	u64		asked_since;	/* ns: the peer is asked for lost packets; 0 = for none */
	u32		ack_segment;	/* segment accepted last, valid if @has_accepted */
	u32		told_timer;	/* us that the peer lets a report wait, 0 = any */
	u16		told_interval;	/* packets after which the peer wants one, 0 = any */
	u8		due_rounds;	/* expiries of SSTP_T_ACK in a row that found @refused set,
					 * and no new data
					 */
	bool		refused;	/* a packet lacked memory or room since the last expiry */
	struct sstp_ecn_in ecn;		/* marks of the packets that came */
	__cacheline_group_begin(sstp_acker_arrival);
	bool		echo_padded;	/* @echo came in a padded KEEPALIVE or EOS */
	bool		has_accepted;	/* @ack_segment was not reported yet */
	bool		ack_now;	/* the packets at hand require a PACK at once */
	bool		snak_now;	/* losses wait to be asked for */
	bool		has_echo;	/* a timestamp has come */
	bool		has_ecn;	/* @ecn is not all 0 */
	bool		eos_came;	/* the first EOS, or the last data before it, is at hand */
	u8		alone;		/* PACKs left that do not wait for an answer; set when
					 * one waited and no answer came
					 */
	u32		echo;		/* timestamp to echo, valid if @has_echo */
	u32		unacked;	/* bytes accepted since the last PACK or SNAK; 1 at least
					 * while the PACK of an EOS waits
					 */
	u32		snd_ctl;	/* control number of the next PACK or SNAK */
	u32		snak_credit;	/* bytes that came, less 8 times those of SNAKs sent */
	u64		echo_at;	/* ns: arrival of @echo */
	u64		ack_sent;	/* ns: last PACK or SNAK */
	u64		pack_due;	/* ns: when accepted data is reported at the latest;
					 * 0 = none waits
					 */
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

/* Time that accepted data waits for a PACK if the peer does not say how long it may, ns. @answered:
 * the program of the receiver probably sends an answer, which brings the report; it may need a
 * while, as others may be served before.
 */
static inline u64 sstp_ack_delay(u64 srtt, bool answered)
{
	return answered ? SSTP_ACK_DELAY_MAX :
	       clamp_t(u64, srtt / 4, SSTP_ACK_DELAY_MIN, SSTP_ACK_DELAY_MAX);
}

void sstp_ack_credit(struct sstp_acker *ak, u32 bytes);
void sstp_ack_alone(struct sstp_sock *sp);
void sstp_ack_check(struct sock *sk, u64 now);
void sstp_ack_read(struct sock *sk, u64 now);
void sstp_ack_epoch(struct sock *sk, u64 now);
void sstp_ack_due(struct sock *sk, u64 now);
void sstp_ack_feedback(struct sock *sk, u64 now);
void sstp_ack_room(struct sock *sk, u64 now);

#endif /* _SSTP_ACK_H */
