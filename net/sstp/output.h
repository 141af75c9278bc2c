/* SPDX-License-Identifier: GPL-2.0 */
/* Transmission. */
#ifndef _SSTP_OUTPUT_H
#define _SSTP_OUTPUT_H

#include <linux/types.h>
#include "chrono.h"
#include "compat.h"

struct sock;
struct sstp_sseg;
struct sstp_sock;

enum sstp_eos {
	SSTP_EOS_NONE,
	SSTP_EOS_WANTED,	/* shutdown(); goes out after the last segment */
	SSTP_EOS_SENT,
	SSTP_EOS_ACKED,
};

/* Transmission: data that the program wrote, on its way out */
struct sstp_tx {
	__cacheline_group_begin(sstp_tx_report);
	u8		eos;		/* enum sstp_eos */
	u8		unpaced;	/* packets that may still leave without pacing */
	bool		paced:1;	/* the next packet has waited for the period */
	bool		in_vain:1;	/* the peer has asked for the user timeout in vain */
	u8		starved:3;	/* pauses in a row for lack of memory, 6 at most */
	bool		lacks_mem;	/* a write found no memory; cleared by the next write,
					 * by SSTP_T_MEM and when sent segments are freed
					 */
	u32		queued;		/* bytes written and not acknowledged */
	u32		asked_at;	/* us: when the peer last reported, or was asked to */
	u32		unasked;	/* packets shipped since an ACK was asked for */
	u64		silent_since;	/* ns: first shipment since the last report; 0 = none */
	u64		wanted_since;	/* ns: first SNAK since loss.progress, later by the time
					 * in which a contract let nothing go; 0 = none
					 */
	__cacheline_group_end(sstp_tx_report);
	__cacheline_group_begin(sstp_tx_send);
	struct sstp_sseg *open;		/* last of the send window, while more may be added */
	u64		cork;		/* ns: MSG_MORE, TCP_CORK: more will come until then */
	u64		autocork;	/* ns: as cork, for a program that keeps writing;
					 * poll() ends it without the socket lock
					 */
	u64		bytes_written;	/* by the program */
	u64		bytes_sent;	/* payload shipped at least once */
	struct sstp_chrono chrono;
	__cacheline_group_end(sstp_tx_send);
};

void sstp_push_at(struct sock *sk, u64 now);
void sstp_push(struct sock *sk);
bool sstp_eos_push(struct sock *sk);
u32 sstp_stream_size(const struct sstp_sock *sp);
void sstp_seal(struct sstp_tx *tx);

#endif /* _SSTP_OUTPUT_H */
