// SPDX-License-Identifier: GPL-2.0
/* Initialization of sockets, and start and reset of connections */
#include <linux/random.h>
#include <trace/events/sstp.h>
#include "cc.h"
#include "conf.h"
#include "conn.h"
#include "encap.h"
#include "half.h"
#include "mem.h"
#include "netns.h"
#include "path.h"
#include "rcvbuf.h"
#include "sstp.h"

/* Free the memory for headers: a listener's children are copies of it, and would have the page,
 * but no reference to it.
 */
static void sstp_header_free(struct sock *sk)
{
	if (sk->sk_frag.page)
		put_page(sk->sk_frag.page);
	sk->sk_frag.page = NULL;
}

/* Free what a connection has allocated. */
static void sstp_conn_free(struct sstp_sock *sp)
{
	sstp_snd_destroy(&sp->snd);
	sstp_rcvbuf_empty(sp);
	sstp_rate_free(&sp->rate);
	kfree(sp->breaker);
	sp->breaker = NULL;
	sstp_sample_free(&sp->loss.sampler);
	kfree(sp->stats.mark);
	sp->stats.mark = NULL;
	sstp_ctrl_detach(&sp->ctrl);
	sstp_half_end(sp);
	sstp_rcvbuf_stop(sp);
	sstp_header_free(&sp->sk);
}

/* Free IP options: only security modules set them on sstp sockets, to label packets. */
static void sstp_free_labels(struct sock *sk)
{
	kfree(rcu_dereference_protected(inet_sk(sk)->inet_opt, 1));
#if IS_ENABLED(CONFIG_IPV6)
	{
		struct ipv6_txoptions *opt;

		opt = unrcu_pointer(xchg(&inet_sk(sk)->pinet6->opt, NULL));
		if (opt) {
			atomic_sub(opt->tot_len, &sk->sk_omem_alloc);
			txopt_put(opt);
		}
	}
#endif
}

static void sstp_destruct(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	/* sstp_done() has freed all of it, unless the socket failed before it was connected. */
	sstp_conn_free(sp);
	kfree(sp->listen);
	sstp_encap_leave(sk);
	sstp_free_labels(sk);
	sk_dst_reset(sk);
	__skb_queue_purge(&sk->sk_receive_queue);
	__skb_queue_purge(&sk->sk_error_queue);
	sstp_debt_update(sk);
	sk_mem_reclaim_final(sk);
	WARN_ON_ONCE(sk->sk_wmem_queued);
	sk_sockets_allocated_dec(sk);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

/* Initialize the IPv6 part, which in a child is a copy of the listener's. */
static void sstp_sock_init6(struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct ipv6_pinfo *np = &container_of(sstp_sk(sk), struct sstp6_sock, sp)->inet6;

	inet_sk(sk)->pinet6 = np;
	RCU_INIT_POINTER(np->opt, NULL);
	np->hop_limit = -1;
	np->mcast_hops = IPV6_DEFAULT_MCASTHOPS;
	np->pmtudisc = IPV6_PMTUDISC_WANT;
#endif
}

/* Initialize the members that are alike in a new socket and in a child. */
void sstp_sock_setup(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sock_set_flag(sk, SOCK_RCU_FREE);
	sk->sk_destruct = sstp_destruct;
	sk->sk_backlog_rcv = sk->sk_prot->backlog_rcv;
	sp->id.sn = sstp_pernet(sock_net(sk));
	INIT_LIST_HEAD(&sp->family.sibling);
	sstp_clock_init(&sp->clock);
	sstp_rtt_init(&sp->rtt);
	sstp_rate_init(&sp->rate);
	RCU_INIT_POINTER(inet_sk(sk)->inet_opt, NULL);
	sstp_sock_init6(sk);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
}

/* Initialize a new socket, which is zero except for the members set by sock_init_data().
 * @domain: family passed to socket(): AF_INET, AF_INET6 or AF_SSTP
 */
void sstp_sock_init(struct sock *sk, u16 domain)
{
	struct sstp_net *sn = sstp_pernet(sock_net(sk));
	struct sstp_sock *sp = sstp_sk(sk);

	/* A connection has no device queue to poll: its packets come through UDP sockets. */
	sstp_never_busy_loop(sk);
	sstp_sock_setup(sk);
	sk_sockets_allocated_inc(sk);
	sk->sk_state = TCP_CLOSE;
	sk->sk_protocol = IPPROTO_SSTP;
	sk->sk_sndbuf = READ_ONCE(sn->wmem[1]);
	sk->sk_rcvbuf = READ_ONCE(sn->rmem[1]);
	sp->inet.pmtudisc = IP_PMTUDISC_INTERFACE;
	sp->id.domain = domain;
	sp->id.af = domain == AF_SSTP ? 0 : domain;
	sp->id.v6only = domain == AF_INET6 && sk->sk_ipv6only;
	sp->set.ttl = -1;
	sp->set.segment_size = READ_ONCE(sn->segment_size);
	sp->set.segment_limit = SSTP_SEGMENT_MAX;
	sp->set.window_factor = 100;
}

/* Copy family, addresses and ports to struct sock and inet_sock, where BPF programs, security
 * modules and the rest of the kernel look for them. Socket lock.
 */
void sstp_sock_names(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct inet_sock *inet = &sp->inet;

	WRITE_ONCE(sk->sk_family, sp->id.af ?: AF_SSTP);
	/* bpf_bind() takes a socket that has a number for one that is bound. */
	inet->inet_num = sp->bind.bound ? sp->id.sport : 0;
	inet->inet_sport = htons(sp->id.sport);
	inet->inet_dport = htons(sp->id.dport);
	inet->inet_rcv_saddr = sstp_v4(&sp->id.saddr) ? sp->id.saddr.s6_addr32[3] : 0;
	inet->inet_saddr = inet->inet_rcv_saddr;
	inet->inet_daddr = sstp_v4(&sp->id.peer.addr) ? sp->id.peer.addr.s6_addr32[3] : 0;
#if IS_ENABLED(CONFIG_IPV6)
	sk->sk_v6_rcv_saddr = sp->id.saddr;
	sk->sk_v6_daddr = sp->id.peer.addr;
	inet->pinet6->saddr = sp->id.saddr;
#endif
}

/* Start a connection: initialize windows, controller and policy. The peer's first numbers are
 * 0 before its INIT_ACK came. Socket lock.
 * Return: 0, -ENOMEM, or -ENOENT if the controller or the policy is not registered any more.
 */
int sstp_conn_start(struct sock *sk, u32 rcv_segment, u32 rcv_shipment,
		    gfp_t gfp)
{
	struct sstp_sock *sp = sstp_sk(sk);
	char name[SSTP_NAME_MAX];
	int err;

	if (!sp->snd.ring) {
		sp->hs.snd_isn = get_random_u32();
		sp->hs.stamp_base = get_random_u32();
		err = sstp_snd_init(&sp->snd, sp->hs.snd_isn, get_random_u32(),
				    gfp);
		if (err)
			return err;
		sp->loss.highest = sp->snd.shipment - 1;
		sp->loss.prev_highest = sp->loss.highest;
		/* Random, as the first shipment is, so that reports are hard to forge. */
		sp->acker.snd_ctl = sp->snd.shipment;
	}
	/* Before the controller's init, whose sample has the packet size. */
	sstp_mtu_update(sk);
	if (!sp->ctrl.ops) {
		sstp_conf_ctrl(sp, name);
		err = sstp_cc_guard(sp, name, gfp);
		if (err)
			return err;
		err = sstp_cc_start(sp, name);
		if (err)
			return err;
	}
	if (!sp->rcvbuf.policy.ops) {
		err = sstp_rcvbuf_start(sk);
		if (err)
			return err;
	}
	sstp_rcvbuf_empty(sp);
	err = sstp_rcv_init(&sp->rcv, rcv_segment, gfp);
	if (err)
		return err;
	sstp_arrivals_init(&sp->arrivals, rcv_segment, rcv_shipment);
	sp->hs.rcv_isn = rcv_segment;
	sp->rcvbuf.reach = rcv_segment;
	sp->rcvbuf.mem_limited = false;
	sp->acker.req_limit = SSTP_RCV_SEGMENTS;
	sp->loss.rcv_ctl = rcv_shipment;
	sp->rcv.tolerance = sp->hs.tolerance;
	sstp_rcvbuf_wnd(sp);
	sp->live.last_rx = sstp_now();
	sp->loss.progress = sp->live.last_rx;
	sp->loss.progress_low = sp->snd.low;
	sp->acker.arrival_at = sp->live.last_rx;
	/* The active opener calls this twice: before its INIT and after the INIT_ACK. */
	if (!sp->life.started_at) {
		sp->life.started_at = sp->live.last_rx;
		sp->tx.chrono.since = sp->live.last_rx;
	}
	return 0;
}

/* Clear the state of an ended connection, so that the socket can connect again. Socket lock,
 * state TCP_CLOSE.
 */
void sstp_conn_reset(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sstp_conn_free(sp);
	sstp_debt_update(sk);
	memset(&sp->conn, 0, sizeof(sp->conn));
	sstp_rtt_init(&sp->rtt);
	sstp_rate_init(&sp->rate);
	sp->clock.armed = U64_MAX;
	clear_bit(SSTP_FL_ERROR, &sp->pending.flags);
	sk_dst_reset(sk);
	sock_reset_flag(sk, SOCK_DONE);
	WRITE_ONCE(sk->sk_shutdown, 0);
	sk->sk_err_soft = 0;
}

/* A connection in CLOSING or CLOSE does not count as an orphan: it has no data to send. */
static void sstp_unorphan(struct sstp_lifetime *l)
{
	if (!l->orphan)
		return;
	l->orphan = false;
	percpu_counter_dec(&sstp_orphans);
}

void sstp_set_state(struct sock *sk, int state)
{
	trace_sstp_state(sstp_sk(sk), sk->sk_state, state);
	WRITE_ONCE(sk->sk_state, state);
	if (state == TCP_CLOSING || state == TCP_CLOSE)
		sstp_unorphan(&sstp_sk(sk)->life);
}
