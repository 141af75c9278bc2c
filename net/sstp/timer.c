// SPDX-License-Identifier: GPL-2.0
/* Dispatch of deadlines that have passed to their handlers. Socket lock. */
#include "ack.h"
#include "handshake.h"
#include "life.h"
#include "message.h"
#include "output.h"
#include "probe.h"
#include "rcv_data.h"
#include "sndbuf.h"
#include "sstp.h"
#include "state.h"
#include "timer.h"

/* SSTP_T_PROBE has expired: the peer has not answered INIT, INIT_ACK, data or EOS in time. */
static void sstp_timer_probe(struct sock *sk)
{
	if (sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV)
		sstp_handshake_again(sk);
	else
		sstp_probe(sk);
}

void sstp_timer_run(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u64 now = sstp_now();
	bool freed;

	if (sk->sk_state == TCP_CLOSE)
		return;
	sp->clock.armed = U64_MAX;
	if (sstp_timer_due(&sp->clock, SSTP_T_LIFE, now))
		sstp_life(sk);
	if (sstp_timer_due(&sp->clock, SSTP_T_ACK, now)) {
		sstp_ack_due(sk, now);
		/* The end of the peer's stream may have been accepted. */
		sstp_state_check(sk);
	}
	if (sstp_timer_due(&sp->clock, SSTP_T_RCVBUF, now))
		sstp_ack_epoch(sk, now);
	if (sstp_timer_due(&sp->clock, SSTP_T_CTRL, now)) {
		sstp_message_due(sk, now);
		sstp_ack_feedback(sk, now);
	}
	if (sstp_timer_due(&sp->clock, SSTP_T_MEM, now))
		sstp_sndbuf_retry(sk);
	if (sstp_timer_due(&sp->clock, SSTP_T_PROBE, now))
		sstp_timer_probe(sk);
	freed = test_and_clear_bit(SSTP_FL_THROTTLED, &sp->pending.flags);
	if (sstp_timer_due(&sp->clock, SSTP_T_PACE, now) || freed)
		sstp_push(sk);
	sstp_clock_rearm(&sp->clock);
}

void sstp_timer_expired(struct sock *sk)
{
	sstp_timer_run(sk);
	sstp_rcv_tell(sk);
}
