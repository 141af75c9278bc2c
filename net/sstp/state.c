// SPDX-License-Identifier: GPL-2.0
/* States of a connection from establishment on, and its end. */
#include <trace/events/sstp.h>
#include "child.h"
#include "conn.h"
#include "encap.h"
#include "half.h"
#include "mem.h"
#include "netns.h"
#include "nl_event.h"
#include "port.h"
#include "rcvbuf.h"
#include "small.h"
#include "sstp.h"
#include "state.h"
#include "table.h"

#define SSTP_ORPHAN_TIMEOUTS	10	/* life of an orphan, in user timeouts */

/* End the connection for good. @err: error for the program, or 0. @by: who ended it. Drops the
 * socket's first reference if no file has the socket and none will. Socket lock; the caller has
 * a reference.
 */
void sstp_done(struct sock *sk, int err, enum sstp_closed_by by)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 n;

	if (sk->sk_state == TCP_CLOSE)
		return;
	if (err && (sk->sk_state == TCP_SYN_SENT ||
		    sk->sk_state == TCP_SYN_RECV))
		SSTP_INC(sock_net(sk), ATTEMPTFAILS);
	sp->life.ended_at = sstp_now();
	sstp_nl_closed(sk, err, by);
	trace_sstp_closed(sp, err, by);
	sstp_set_state(sk, TCP_CLOSE);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	if (err)
		WRITE_ONCE(sk->sk_err, err);
	sstp_conn_unhash(sk);
	sstp_encap_leave(sk);
	if (sock_flag(sk, SOCK_DEAD) ||
	    !(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sstp_unbind(sk);
	sstp_clock_stop(&sp->clock);

	sp->tx.open = NULL;
	for (n = sp->snd.low; sp->snd.ring && n != sp->snd.end; n++)
		if (sstp_snd_segment(&sp->snd, n)) {
			sstp_mem_free_segment(sk, sstp_snd_segment(&sp->snd, n));
			sp->snd.ring[n & sp->snd.mask] = NULL;
		}
	sstp_snd_destroy(&sp->snd);
	sstp_ctrl_detach(&sp->ctrl);
	sstp_half_end(sp);
	sstp_rcvbuf_end(sp);
	sk_dst_reset(sk);

	if (!sock_flag(sk, SOCK_DEAD)) {
		/* What was received stays, as the program may still read it. */
		sk->sk_state_change(sk);
		if (err)
			sk_error_report(sk);
		return;
	}
	sstp_rcvbuf_free(sp);
	if (sp->family.parent)
		sstp_child_drop(sk);
	else
		sock_put(sk);
}

/* Send the peer a RESET, and end the connection as sstp_done() does. */
void sstp_abort(struct sock *sk, int err, enum sstp_closed_by by)
{
	sstp_send_end(sk, SSTP_RESET, SSTP_RESET_ABORT);
	sstp_done(sk, err, by);
}

/* Bound the time that an orphan has to send the rest, or to wait for the peer's EOS. */
static void sstp_life_orphan(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_net *sn = sstp_pernet(sock_net(sk));
	u64 wait = SSTP_ORPHAN_TIMEOUTS * sstp_user_timeout(sp);

	if (sk->sk_state == TCP_FIN_WAIT2)
		wait = max(sp->set.linger2 ?: READ_ONCE(sn->fin_timeout), 0) *
		       (u64)NSEC_PER_SEC;
	/* TCP_USER_TIMEOUT may be weeks. */
	wait = min(wait, READ_ONCE(sn->orphan_timeout) * (u64)NSEC_PER_SEC);
	sp->life.expires = sstp_now() + wait;
	sstp_timer_set(&sp->clock, SSTP_T_LIFE, sp->life.expires);
}

/* The program has closed the connection: let it live on for a while, unless there are too many
 * orphans. They hold memory and their namespace, and no limit of open files counts them. Socket
 * lock.
 */
void sstp_orphan(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	percpu_counter_inc(&sstp_orphans);
	sp->life.orphan = true;
	if (percpu_counter_compare(&sstp_orphans, READ_ONCE(sstp_sysctl_max_orphans)) <= 0) {
		/* The peer has the user timeout from now on to take the rest. */
		sp->loss.progress = sstp_now();
		sstp_life_orphan(sk);
		return;
	}
	SSTP_INC(sock_net(sk), ORPHANSRESET);
	net_info_ratelimited("sstp: too many closed sockets with unsent data\n");
	sstp_abort(sk, 0, SSTP_CLOSED_BY_LOCAL);
}

/* Set the state that follows from those of both directions. Once both have ended, each end
 * sends CLOSE, and closes when it receives the peer's, or else a little later. Socket lock.
 */
void sstp_state_check(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool in = sstp_rcv_finished(&sp->rcv);
	int state = sk->sk_state;

	/* Most packets come while both ends send. */
	if (state == TCP_ESTABLISHED && !in && sp->tx.eos == SSTP_EOS_NONE)
		return;
	if (!sstp_synchronized(sk) || state == TCP_SYN_RECV ||
	    state == TCP_CLOSING)
		return;
	switch (sp->tx.eos) {
	case SSTP_EOS_NONE:
		state = in ? TCP_CLOSE_WAIT : TCP_ESTABLISHED;
		break;
	case SSTP_EOS_WANTED:
	case SSTP_EOS_SENT:
		state = in ? TCP_LAST_ACK : TCP_FIN_WAIT1;
		break;
	case SSTP_EOS_ACKED:
		state = in ? TCP_CLOSING : TCP_FIN_WAIT2;
		break;
	}
	if (state == sk->sk_state)
		return;
	if (sk->sk_state == TCP_ESTABLISHED)
		sp->life.ended_by = in ? SSTP_CLOSED_BY_PEER : SSTP_CLOSED_BY_LOCAL;
	sstp_set_state(sk, state);
	if (in)
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	sk->sk_state_change(sk);
	if (state == TCP_FIN_WAIT2 && sock_flag(sk, SOCK_DEAD))
		sstp_life_orphan(sk);
	if (state == TCP_CLOSING) {
		sstp_send_end(sk, SSTP_CLOSE, 0);
		sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
		/* Meanwhile the peer may ask again for the last PACK, if it was lost, also
		 * after a short outage.
		 */
		sstp_timer_set(&sp->clock, SSTP_T_LIFE, sstp_now() +
			       max_t(u64, 8ULL * sstp_rto(&sp->rtt) * NSEC_PER_USEC,
				     NSEC_PER_SEC));
	}
}
