// SPDX-License-Identifier: GPL-2.0
/* Connections: tables, states, families of listeners, birth and death. */
#include <linux/random.h>
#include "mem.h"
#include "nl_event.h"
#include "path.h"
#include "small.h"
#include "sstp.h"
#include "table.h"
#include "trace.h"

/* What a connection has got */
static void sstp_conn_free(struct sstp_sock *sp)
{
	sstp_snd_destroy(&sp->snd);
	sstp_room_empty(sp);
	sstp_rate_free(&sp->rate);
	sstp_ctrl_detach(&sp->ctrl);
	sstp_room_stop(sp);
}

/* IP options, which only a security module sets, as labels of the socket's packets */
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

	/* Nothing is left but what never came so far as sstp_done(). */
	sstp_conn_free(sp);
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

/* What IPv6 has of a socket, as a copy of another has it, too. */
static void sstp_sock_init6(struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct ipv6_pinfo *np = &container_of(sstp_sk(sk), struct sstp6_sock, sp)->inet6;

	BUILD_BUG_ON(offsetofend(struct sstp6_sock, inet6) != sizeof(struct sstp6_sock));
	inet_sk(sk)->pinet6 = np;
	RCU_INIT_POINTER(np->opt, NULL);
	np->hop_limit = -1;
	np->mcast_hops = IPV6_DEFAULT_MCASTHOPS;
	np->pmtudisc = IPV6_PMTUDISC_WANT;
#endif
}

/* Fields that a new socket and a child have alike. */
void sstp_sock_setup(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sock_set_flag(sk, SOCK_RCU_FREE);
	sk->sk_destruct = sstp_destruct;
	sk->sk_backlog_rcv = sstp_backlog_rcv;
	INIT_LIST_HEAD(&sp->sibling);
	spin_lock_init(&sp->listen.lock);
	INIT_LIST_HEAD(&sp->listen.ready);
	INIT_LIST_HEAD(&sp->listen.embryos);
	sp->listen.n_embryos = 0;
	sp->listen.open = false;
	sstp_clock_init(sp);
	sstp_rtt_init(&sp->rtt);
	sstp_rate_init(&sp->rate);
	RCU_INIT_POINTER(inet_sk(sk)->inet_opt, NULL);
	sstp_sock_init6(sk);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
}

/* A new socket, all of it zero but for what sock_init_data() has set. @domain: the
 * family that it was made of
 */
void sstp_sock_init(struct sock *sk, u16 domain)
{
	struct sstp_net *sn = sstp_net(sock_net(sk));
	struct sstp_sock *sp = sstp_sk(sk);

	/* No device's queue is that of a connection. */
	sstp_never_busy_loop(sk);
	sstp_sock_setup(sk);
	sk_sockets_allocated_inc(sk);
	sk->sk_state = TCP_CLOSE;
	sk->sk_protocol = IPPROTO_SSTP;
	sk->sk_sndbuf = READ_ONCE(sn->wmem[1]);
	sk->sk_rcvbuf = READ_ONCE(sn->rmem[1]);
	sp->inet.pmtudisc = IP_PMTUDISC_INTERFACE;
	sp->domain = domain;
	sp->af = domain == AF_SSTP ? 0 : domain;
	sp->v6only = domain == AF_INET6 && sk->sk_ipv6only;
	sp->ttl = -1;
	sp->set.segment_size = READ_ONCE(sn->segment_size);
	sp->set.segment_limit = SSTP_SEGMENT_MAX;
	sp->set.window_factor = 100;
}

/* What the rest of the kernel, and what guards sockets of IP, know it by. Socket lock. */
void sstp_sock_names(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct inet_sock *inet = &sp->inet;

	WRITE_ONCE(sk->sk_family, sp->af ?: AF_SSTP);
	/* bpf_bind() takes a socket that has a number for one that is bound. */
	inet->inet_num = sp->bound ? sp->sport : 0;
	inet->inet_sport = htons(sp->sport);
	inet->inet_dport = htons(sp->dport);
	inet->inet_rcv_saddr = sstp_v4(&sp->saddr) ? sp->saddr.s6_addr32[3] : 0;
	inet->inet_saddr = inet->inet_rcv_saddr;
	inet->inet_daddr = sstp_v4(&sp->peer.addr) ? sp->peer.addr.s6_addr32[3] : 0;
#if IS_ENABLED(CONFIG_IPV6)
	sk->sk_v6_rcv_saddr = sp->saddr;
	sk->sk_v6_daddr = sp->peer.addr;
	inet->pinet6->saddr = sp->saddr;
#endif
}

/* A connection begins: windows, controller and policy. Socket lock. */
int sstp_conn_start(struct sock *sk, u32 rcv_segment, u32 rcv_shipment,
		    gfp_t gfp)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_net *sn = sstp_net(sock_net(sk));
	char name[SSTP_NAME_MAX];
	int err;

	if (!sp->snd.ring) {
		sp->snd_isn = get_random_u32();
		sp->stamp_base = get_random_u32();
		err = sstp_snd_init(&sp->snd, sp->snd_isn, get_random_u32(),
				    gfp);
		if (err)
			return err;
		sp->highest = sp->snd.shipment - 1;
		sp->counted_to = sp->highest;
		/* As hard to guess as the numbers of shipments. */
		sp->ctl_next = sp->snd.shipment;
	}
	if (!sp->ctrl.ops) {
		bool contract = !sp->set.ctrl[0] && sp->set.rate.peak;

		if (sp->set.ctrl[0])
			strscpy(name, sp->set.ctrl, sizeof(name));
		else if (contract)
			strscpy(name, "rate", sizeof(name));
		else
			sstp_net_name_get(sn->ctrl, name);
		err = sstp_cc_start(sp, name);
		if (err)
			return err;
		sp->breaker.guards = contract;
	}
	if (!sp->rbuf.ops) {
		err = sstp_room_start(sk);
		if (err)
			return err;
	}
	sstp_room_empty(sp);
	err = sstp_rcv_init(&sp->rcv, rcv_segment, rcv_shipment, gfp);
	if (err)
		return err;
	sp->rcv_isn = rcv_segment;
	sp->reach = rcv_segment;
	sp->starved = false;
	sp->ask = SSTP_RCV_SEGMENTS;
	sp->control = rcv_shipment;
	sp->rcv.tolerance = sp->tolerance;
	sstp_mtu_update(sk);
	sstp_room_window(sp);
	sp->heard = sstp_now();
	sp->progress = sp->heard;
	sp->progress_low = sp->snd.low;
	sp->arrival_at = sp->heard;
	/* Who began it comes here again with the answer. */
	if (!sp->born) {
		sp->born = sp->heard;
		sp->chrono.since = sp->heard;
	}
	return 0;
}

/* Nothing is left of the connection that the socket had, if any. Socket lock,
 * state TCP_CLOSE.
 */
void sstp_conn_reset(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sstp_conn_free(sp);
	sstp_debt_update(sk);
	memset((u8 *)sp + offsetof(struct sstp_sock, snd), 0,
	       sizeof(*sp) - offsetof(struct sstp_sock, snd));
	sstp_rtt_init(&sp->rtt);
	sstp_rate_init(&sp->rate);
	sp->clock.armed = U64_MAX;
	clear_bit(SSTP_FL_ERROR, &sp->flags);
	sk_dst_reset(sk);
	sock_reset_flag(sk, SOCK_DONE);
	WRITE_ONCE(sk->sk_shutdown, 0);
	sk->sk_err_soft = 0;
}

/* Who has but its last word to say, or nothing, does not count as an orphan. */
static void sstp_unorphan(struct sstp_sock *sp)
{
	if (!sp->orphan)
		return;
	sp->orphan = false;
	percpu_counter_dec(&sstp_orphans);
}

void sstp_set_state(struct sock *sk, int state)
{
	trace_sstp_state(sstp_sk(sk), sk->sk_state, state);
	WRITE_ONCE(sk->sk_state, state);
	if (state == TCP_CLOSING || state == TCP_CLOSE)
		sstp_unorphan(sstp_sk(sk));
}

/* The program has closed the connection, which lives on for a while, if there are not too
 * many of these: they hold memory and their namespace, and no limit of open files counts
 * them. Socket lock.
 */
void sstp_orphan(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	percpu_counter_inc(&sstp_orphans);
	sp->orphan = true;
	if (percpu_counter_compare(&sstp_orphans, READ_ONCE(sstp_sysctl_max_orphans)) <= 0) {
		/* The peer's time to take the rest begins now. */
		sp->progress = sstp_now();
		sstp_life_orphan(sk);
		return;
	}
	SSTP_INC(sock_net(sk), ORPHANSRESET);
	net_info_ratelimited("sstp: too many closed sockets with unsent data\n");
	sstp_send_end(sk, SSTP_RESET, SSTP_RESET_ABORT);
	sstp_done(sk, 0, SSTP_CLOSED_BY_LOCAL);
}

/* Families */

/* Embryos count: all of them may be ready at once. */
static bool sstp_listen_full(struct sock *parent)
{
	return READ_ONCE(sstp_sk(parent)->listen.n_embryos) +
	       READ_ONCE(parent->sk_ack_backlog) >
	       READ_ONCE(parent->sk_max_ack_backlog);
}

/* The oldest embryo makes way if two INIT_ACKs more brought no answer, or the answer
 * no data: else who never sends could keep all others out. Softirq.
 */
static void sstp_listen_evict(struct sock *parent)
{
	struct sstp_listen *l = &sstp_sk(parent)->listen;
	struct sstp_sock *sp;

	spin_lock_bh(&l->lock);
	sp = list_first_entry_or_null(&l->embryos, struct sstp_sock, sibling);
	if (sp)
		sock_hold(&sp->sk);
	spin_unlock_bh(&l->lock);
	if (!sp)
		return;
	bh_lock_sock(&sp->sk);
	if (!sock_owned_by_user(&sp->sk) &&
	    sp->sk.sk_state == TCP_SYN_RECV && (sp->probes >= 2 || sp->deferred)) {
		SSTP_INC(sock_net(parent), TIMEOUTS);
		sstp_done(&sp->sk, ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
	}
	bh_unlock_sock(&sp->sk);
	sock_put(&sp->sk);
}

/* A child of listener @parent for an INIT, locked, with a reference for the
 * caller; another one, later the file's, is the list's. Else ERR_PTR:
 * -ENOBUFS if the backlog is full, -ENOMEM. Softirq.
 */
struct sock *sstp_child(struct sock *parent)
{
	struct sstp_listen *l = &sstp_sk(parent)->listen;
	struct sstp_sock *sp;
	struct sock *sk;
	bool ok;

	if (sstp_listen_full(parent))
		sstp_listen_evict(parent);
	if (sstp_listen_full(parent))
		return ERR_PTR(-ENOBUFS);
	sk = sk_clone_lock(parent, GFP_ATOMIC);
	if (!sk)
		return ERR_PTR(-ENOMEM);
	__acquire(&sk->sk_lock.slock);
	sp = sstp_sk(sk);
	/* All but the generic part is the listener's: begin anew. */
	memset_after(sp, 0, inet);
	sp->domain = sstp_sk(parent)->domain;
	sp->af = sstp_sk(parent)->af;
	sp->sport = sstp_sk(parent)->sport;
	sp->v6only = sstp_sk(parent)->v6only;
	sp->tos = sstp_sk(parent)->tos;
	sp->ttl = sstp_sk(parent)->ttl;
	sp->freebind = sstp_sk(parent)->freebind;
	spin_lock_bh(&l->lock);
	sp->set = sstp_sk(parent)->set;
	spin_unlock_bh(&l->lock);
	sk->sk_user_data = NULL;
	sk->sk_max_ack_backlog = 0;
	sstp_sock_setup(sk);
	sock_set_flag(sk, SOCK_DEAD);	/* until accept() may have it */
	sstp_memcg_inherit(sk, parent);
	/* It has no name yet to be traced by. */
	WRITE_ONCE(sk->sk_state, TCP_SYN_RECV);

	spin_lock_bh(&l->lock);
	ok = l->open && !sstp_listen_full(parent);
	if (ok) {
		sock_hold(parent);
		sp->parent = parent;
		sp->embryo = true;
		sp->member.pool = sstp_pool_get(l->pool);
		list_add_tail(&sp->sibling, &l->embryos);
		l->n_embryos++;
	}
	spin_unlock_bh(&l->lock);
	if (ok) {
		__release(&sk->sk_lock.slock);	/* for sparse: to the caller */
		return sk;
	}
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	bh_unlock_sock(sk);
	sock_put(sk);
	sock_put(sk);
	return ERR_PTR(-ENOBUFS);
}

/* Off the listener's lists, if it is on one: the list's reference goes. */
static void sstp_child_drop(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sock *parent = sp->parent;
	struct sstp_listen *l = &sstp_sk(parent)->listen;
	bool was;

	spin_lock_bh(&l->lock);
	was = !list_empty(&sp->sibling);
	if (was) {
		list_del_init(&sp->sibling);
		if (sp->embryo)
			l->n_embryos--;
		else
			sk_acceptq_removed(parent);
	}
	spin_unlock_bh(&l->lock);
	/* Else accept() has just taken it, and has the reference. */
	if (was) {
		sp->parent = NULL;
		sock_put(parent);
		sock_put(sk);
	}
}

/* Set-up is complete: accept() may have it. Child's lock; softirq, or a process that
 * works on the backlog.
 */
void sstp_child_ready(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sock *parent = sp->parent;
	struct sstp_listen *l = &sstp_sk(parent)->listen;

	spin_lock_bh(&l->lock);
	if (!list_empty(&sp->sibling)) {
		sp->embryo = false;
		sock_reset_flag(sk, SOCK_DEAD);
		l->n_embryos--;
		list_move_tail(&sp->sibling, &l->ready);
		sk_acceptq_added(parent);
	}
	spin_unlock_bh(&l->lock);
	parent->sk_data_ready(parent);
}

/* The first established child, with the list's reference, or NULL. */
struct sock *sstp_child_accept(struct sock *parent)
{
	struct sstp_listen *l = &sstp_sk(parent)->listen;
	struct sstp_sock *sp;

	spin_lock_bh(&l->lock);
	sp = list_first_entry_or_null(&l->ready, struct sstp_sock, sibling);
	if (sp) {
		list_del_init(&sp->sibling);
		sk_acceptq_removed(parent);
	}
	spin_unlock_bh(&l->lock);
	return sp ? &sp->sk : NULL;
}

/* The listener goes, and its children that nobody accepted with it: netlink may
 * own one just now. Process context; the listener's lock may be held, as children
 * never take it.
 */
void sstp_listen_close(struct sock *sk)
{
	struct sstp_listen *l = &sstp_sk(sk)->listen;
	struct sstp_sock *sp;

	spin_lock_bh(&l->lock);
	l->open = false;
	spin_unlock_bh(&l->lock);
	sstp_pool_put(l->pool);
	l->pool = NULL;
	for (;;) {
		spin_lock_bh(&l->lock);
		sp = list_first_entry_or_null(&l->ready, struct sstp_sock,
					      sibling);
		if (!sp)
			sp = list_first_entry_or_null(&l->embryos,
						      struct sstp_sock,
						      sibling);
		if (sp)
			sock_hold(&sp->sk);
		spin_unlock_bh(&l->lock);
		if (!sp)
			return;
		lock_sock_nested(&sp->sk, SINGLE_DEPTH_NESTING);
		local_bh_disable();
		sock_set_flag(&sp->sk, SOCK_DEAD);
		if (sp->sk.sk_state != TCP_CLOSE) {
			sstp_send_end(&sp->sk, SSTP_RESET, SSTP_RESET_ABORT);
			sstp_done(&sp->sk, ECONNRESET, SSTP_CLOSED_BY_LOCAL);
		} else if (sp->parent) {
			/* Over before anybody accepted it. */
			sstp_child_drop(&sp->sk);
		}
		local_bh_enable();
		release_sock(&sp->sk);
		sock_put(&sp->sk);
	}
}

/* Death */

/* The connection is over, for good. @err: what the program learns, or 0. @by: who
 * ended it. Socket lock; the caller has a reference. With no file left, and none to come,
 * this drops the socket's first reference.
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
	sp->ended = sstp_now();
	sstp_nl_closed(sk, err, by);
	trace_sstp_closed(sp, err, by);
	sstp_set_state(sk, TCP_CLOSE);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	if (err)
		WRITE_ONCE(sk->sk_err, err);
	sstp_conn_unhash(sk);
	if (sock_flag(sk, SOCK_DEAD) ||
	    !(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sstp_unbind(sk);
	sstp_clock_stop(sp);

	sp->open = NULL;
	for (n = sp->snd.low; sp->snd.ring && n != sp->snd.end; n++)
		if (sstp_snd_segment(&sp->snd, n)) {
			sstp_mem_free_segment(sk, sstp_snd_segment(&sp->snd, n));
			sp->snd.ring[n & sp->snd.mask] = NULL;
		}
	sstp_snd_destroy(&sp->snd);
	sstp_ctrl_detach(&sp->ctrl);
	sstp_room_end(sp);
	sk_dst_reset(sk);

	if (!sock_flag(sk, SOCK_DEAD)) {
		/* What was received stays for the reader. */
		sk->sk_state_change(sk);
		if (err)
			sk_error_report(sk);
		return;
	}
	sstp_room_free(sp);
	if (sp->parent)
		sstp_child_drop(sk);
	else
		sock_put(sk);
}

/* Somebody else than its program wants it to end: that one learns ECONNABORTED. Process
 * context, socket lock; the caller has a reference.
 */
void sstp_abort(struct sock *sk)
{
	if (sk->sk_state != TCP_LISTEN) {
		if (sk->sk_state != TCP_CLOSE && sk->sk_state != TCP_SYN_SENT)
			sstp_send_end(sk, SSTP_RESET, SSTP_RESET_ABORT);
		sstp_done(sk, ECONNABORTED, SSTP_CLOSED_BY_LOCAL);
		return;
	}
	sstp_bind_deaf(sk);
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sstp_unbind(sk);
	sstp_listen_close(sk);
	WRITE_ONCE(sk->sk_err, ECONNABORTED);
	sk->sk_state_change(sk);
	sk_error_report(sk);
}
