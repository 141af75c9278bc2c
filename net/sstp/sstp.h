/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to net/sstp: the socket, its locks and lifetimes.
 *
 * Locks, outermost first
 * ----------------------
 *  1. socket lock (lock_sock(), or in softirq bh_lock_sock() while no process
 *     owns it; else packets wait in the backlog, and timers set a bit for
 *     release_cb). Guards all of struct sstp_sock except where noted.
 *     A listener's lock may be held when one of its children's is taken, never
 *     the other way round.
 *  2. sstp_listener.lock (_bh): children of a listener, their number and whether
 *     it still listens; writing to the settings that they copy. Taken inside the
 *     socket lock of listener or child.
 *  3. sstp_net.port_lock (_bh): sockets bound to a port.
 *  4. rhashtable bucket locks: the three tables of connections, ports, their groups,
 *     and listeners.
 *  5. sstp_pool.lock (_bh): a buffer that children of a listener share. Inside of
 *     their socket locks.
 *  6. sstp_groups_lock (_bh): groups of receiving halves. Inside of it
 *     sstp_group_core.lock: a group and its members; its tick runs under that lock
 *     alone.
 *  7. xa_lock of sstp_net.all and .encaps (_bh). Inside of the socket lock.
 *  sstp_net.encap_lock (mutex): opens and closes UDP sockets. Inside the lock of
 *  a socket that listens or connects, outside those of UDP.
 *
 * Lifetimes
 * ---------
 *  A socket lives while it has references: that of the file (until close() and,
 *  from then on, until sstp_done()), of each table it is in (except those of names
 *  and of listeners, which it leaves before), of its listener's list, of an armed
 *  hrtimer, and of code that works on it. It is freed after an RCU grace
 *  period (SOCK_RCU_FREE), so lookups under RCU take a reference with
 *  refcount_inc_not_zero() and then check that it is still the socket they look
 *  for. Packets in the queues below hold sk_wmem_alloc, as with every socket.
 *
 *  sstp_done() ends a connection, once: state TCP_CLOSE, out of the tables,
 *  timers stopped, windows emptied. Nothing may be added to it after that; all
 *  entry points check the state under the lock.
 *
 *  What the ends tell each other about control (sstp_talk) lives from the first
 *  MESSAGE to sstp_done(), as does the receiving half (sstp_half) unless the peer
 *  names another controller. A half holds its module and is a member of its group,
 *  which is freed after an RCU grace period once the last member has left, as its
 *  timer cannot be waited for under a socket lock.
 *
 *  The ubuf_info that tells a program that its pages are free again (sstp_sseg.uarg)
 *  holds the socket until the segment and the skbs that have the pages are gone.
 *
 *  Sockets hold their namespace, so its UDP sockets, which close when it goes,
 *  outlive them. Those of a VRF close when the VRF goes, through which no packet
 *  can come then. Sockets also hold the module, which cannot be unloaded before.
 *
 * Cache lines
 * -----------
 *  A train or a report uses some members of most parts. Each part marks them as groups,
 *  named after what writes them, and keeps its other members, which are cold, apart:
 *   setup    set-up, options and path MTU discovery; all that follow read them
 *   any      all that follow
 *   send     sendmsg(), and sstp_push() when it ships a train: in a process, or in
 *            softirq after a PACK
 *   report   a PACK or SNAK at the sender, in softirq; sstp_push() as well
 *   arrival  a train at the receiver, in softirq
 *   read     the reading program; a train at the receiver as well
 *  The parts pending, live, rtt and rx have no cold members. Parts are in an order, and
 *  groups at that end of a part, in which those that are used together share lines.
 *  poll(), sk_write_space and SIOCOUTQ read some members of send, report and read without
 *  the lock. These are not in a group of their own, as that would take the writers more
 *  lines. sstp_check_lines() does not compile if a member has left its group, or a group
 *  those beside it.
 */
#ifndef _SSTP_H
#define _SSTP_H

#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/sstp.h>
#include <uapi/linux/sstp_netlink.h>
#include "ack.h"
#include "arrivals.h"
#include "breaker.h"
#include "child.h"
#include "clock.h"
#include "compat.h"
#include "ctrl.h"
#include "handshake.h"
#include "info.h"
#include "mib.h"
#include "netns.h"
#include "output.h"
#include "owner.h"
#include "path.h"
#include "port.h"
#include "probe.h"
#include "rate.h"
#include "rcv_wnd.h"
#include "rcvbuf.h"
#include "recvmsg.h"
#include "report.h"
#include "rtt.h"
#include "settings.h"
#include "snd_wnd.h"
#include "state.h"
#include "table.h"
#include "wire.h"

#define SSTP_REQUESTS_MAX	256	/* before a listener asks for cookies */
#define SSTP_SHIP_WINDOW	BIT(24)	/* valid distance of a shipment from the highest */
#define SSTP_RTO_MARGIN		5000	/* us above SRTT, at least */
#define SSTP_RTO_MAX		3000000	/* us */
#define SSTP_HEADROOM		(LL_MAX_HEADER + 40 + 8 + 8)

/**
 * struct sstp_sock - a socket, listener or connection
 * @sk: first member, as every protocol has it
 * @inet: as IP output sees the socket of a packet: it reads settings here, which keep their
 *	values of init
 * @bind: port
 * @family: listener of a child
 * @listen: children of a listener, and its place among listeners; NULL = it never listened
 * @set: options of SSTP, TCP and IP; written under sstp_listener.lock as well
 * @id: identity
 * @clock: deadlines
 * @pending: events that wait for the lock
 * @live: signs of life of the peer
 * @rtt: round-trip time
 * @hs: set-up
 * @breaker: circuit breaker of a contract without congestion control; NULL = the connection never
 *	had one
 * @rate: contract
 * @path: path to the peer
 * @tx: transmission
 * @snd: send window
 * @ctrl: congestion control
 * @loss: losses, by the peer's reports
 * @stats: counters
 * @arrivals: shipments that came or are lost
 * @acker: reports to the peer
 * @rcv: receive window
 * @rx: reading program
 * @rcvbuf: receive buffer
 * @life: from set-up to the end
 *
 * The group "conn", from @live on, is the connection: cleared before another connect().
 * What both ends use comes first, then the sender's parts, then the receiver's: most
 * connections move data one way at a time.
 */
struct sstp_sock {
	union {
		struct sock	sk;
		struct inet_sock inet;
	};
	struct sstp_binding	bind;
	struct sstp_family	family;
	struct sstp_listener	*listen;
	struct sstp_settings	set;
	struct sstp_ident	id;
	struct sstp_clock	clock;
	struct sstp_pending	pending;

	struct_group(conn,
		struct sstp_live	live;
		struct sstp_rtt		rtt;
		struct sstp_hs		hs;
		struct sstp_breaker	*breaker;
		struct sstp_rate	rate;
		struct sstp_path	path;
		struct sstp_tx		tx;
		struct sstp_snd_wnd	snd;
		struct sstp_ctrl_core	ctrl;
		struct sstp_loss	loss;
		struct sstp_stats	stats;
		struct sstp_arrivals	arrivals;
		struct sstp_acker	acker;
		struct sstp_rcv_wnd	rcv;
		struct sstp_rx		rx;
		struct sstp_rcvbuf	rcvbuf;
		struct sstp_lifetime	life;
	);
};

#if IS_ENABLED(CONFIG_IPV6)
/* A socket as it is allocated: IPv6 has its own part of each socket. */
struct sstp6_sock {
	struct sstp_sock sp;
	struct ipv6_pinfo inet6;
};
#endif

static inline struct sstp_sock *sstp_sk(const struct sock *sk)
{
	return (struct sstp_sock *)sk;
}

/* Can as much be read as SO_RCVLOWAT says, or as much as ever can before a read? */
static inline bool sstp_epollin_ready(const struct sock *sk)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	u64 ready = READ_ONCE(sp->rx.readable);

	if (sk->sk_type == SOCK_SEQPACKET || !ready)
		return ready;
	return ready >= sock_rcvlowat(sk, 0, INT_MAX) || READ_ONCE(sp->rx.held);
}

static inline u64 sstp_now(void)
{
	return ktime_get_ns();
}

static inline u32 sstp_us(u64 ns)
{
	return div_u64(ns, NSEC_PER_USEC);
}

/* Timestamp of a packet that is sent at @now, us */
static inline u32 sstp_stamp(const struct sstp_hs *hs, u64 now)
{
	return sstp_us(now) + hs->stamp_base;
}

static inline u64 sstp_srtt_ns(const struct sstp_rtt *rtt)
{
	return (u64)sstp_rtt_smoothed(rtt, 1000) * NSEC_PER_USEC;
}

/* Time without a report after which a probe is sent, us */
static inline u32 sstp_rto(const struct sstp_rtt *rtt)
{
	return sstp_rtt_timeout(rtt, SSTP_RTO_MARGIN, SSTP_RTO_MAX);
}

/* The round-trip time by which this end sends, us: the controller's own, or as measured */
static inline u32 sstp_send_rtt(const struct sstp_sock *sp, u32 dflt)
{
	return sp->ctrl.out.rtt ?: sstp_rtt_smoothed(&sp->rtt, dflt);
}

static inline u64 sstp_send_rtt_ns(const struct sstp_sock *sp)
{
	return (u64)sstp_send_rtt(sp, 1000) * NSEC_PER_USEC;
}

/* sstp_rto() by the controller's own times, if it has any */
static inline u32 sstp_send_rto(const struct sstp_sock *sp)
{
	const struct sstp_ctrl *c = &sp->ctrl.out;

	if (!c->rto && c->rtt)
		return min_t(u32, c->rtt + max_t(u32, sp->rtt.var, SSTP_RTO_MARGIN), SSTP_RTO_MAX);
	return c->rto ?: sstp_rto(&sp->rtt);
}

/* Time without progress after which the connection is given up, ns */
static inline u64 sstp_user_timeout(const struct sstp_sock *sp)
{
	u32 ms = sp->set.user_timeout ?:
		 READ_ONCE(sp->id.sn->user_timeout);

	return ms * (u64)NSEC_PER_MSEC;
}

static inline bool sstp_v4(const struct in6_addr *a)
{
	return ipv6_addr_v4mapped(a);
}

/* Bytes of IP and UDP headers before an SSTP packet */
static inline u32 sstp_overhead(const struct sstp_ident *id)
{
	return sstp_v4(&id->peer.addr) ? 20 + 8 : 40 + 8;
}

/* Packets that are on their way, as far as the peer's reports tell */
static inline u32 sstp_in_flight(const struct sstp_sock *sp)
{
	return sp->snd.shipment - 1 - sp->loss.highest + sp->loss.late;
}

static inline bool sstp_synchronized(const struct sock *sk)
{
	return (1 << sk->sk_state) & ~(TCPF_CLOSE | TCPF_LISTEN |
				       TCPF_SYN_SENT);
}

#endif /* _SSTP_H */
