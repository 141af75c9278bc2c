/* SPDX-License-Identifier: GPL-2.0 */
/* Probes: KEEPALIVE or EOS packets that ask a silent peer for a report */
#ifndef _SSTP_PROBE_H
#define _SSTP_PROBE_H

#include <linux/types.h>

struct sock;
struct sstp_sock;

#define SSTP_ASK_GAP	100000U	/* us between requests for a report that nothing else is due for */

#define SSTP_PROMPT	2U	/* such answers, after which none is asked for */
#define SSTP_ASKS_MAX	4U	/* reports that small writes may ask for until data comes */

/* Whether the peer answers. Socket lock. */
struct sstp_live {
	u64		last_rx;	/* ns: arrival of the last valid packet */
	u64		wait_since;	/* ns: first of the unanswered probes */
	u32		context_ship;	/* snd.shipment at the last KEEPALIVE or EOS */
	u32		keepalives;	/* unanswered keep-alives of an idle connection */
	u32		answer_ship;	/* snd.shipment at the last answer */
	u8		probes;		/* unanswered probes, or repetitions of INIT, INIT_ACK */
	u8		blocked;	/* probes in a row answered by nothing new: the window is
					 * closed, the contract lets nothing go, or the peer lacks
					 * room or memory
					 */
	u8		asks;		/* reports that small writes asked for since data came */
	u8		prompt:2;	/* answers in a row that came before a small write had to
					 * wait for a report, SSTP_PROMPT + 1 at most; less than
					 * SSTP_PROMPT after a report of several packets came alone
					 */
	bool		waited:1;	/* a small write has had to wait for a report */
};

/* Does the program probably wait for an answer before it writes again? It is taken to do so until
 * a small write has to wait, and again after SSTP_PROMPT answers.
 */
static inline bool sstp_live_answered(const struct sstp_live *l)
{
	return l->prompt >= SSTP_PROMPT || !l->waited;
}

bool sstp_waits(const struct sstp_sock *sp);
bool sstp_probe_lone(const struct sstp_sock *sp);
bool sstp_probe_paced(const struct sstp_sock *sp);
void sstp_probe_arm(struct sock *sk, bool idle, u64 now);
void sstp_probe(struct sock *sk);
void sstp_probe_rtt(struct sock *sk);
void sstp_probe_path(struct sock *sk, u64 now);

#endif /* _SSTP_PROBE_H */
