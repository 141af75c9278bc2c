/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to net/sstp: the socket, its locks and lifetimes.
 *
 * Locks, outermost first
 * ----------------------
 *  1. socket lock (lock_sock(), or in softirq bh_lock_sock() while no process
 *     owns it; packets that meet an owner wait in its backlog, timers set a bit
 *     for release_cb). Guards all of struct sstp_sock but where noted.
 *     A listener's lock may be held when one of its children's is taken, never
 *     the other way round.
 *  2. sstp_listen.lock (_bh): children of a listener, their number and whether
 *     it still listens; writing to the settings that they copy. Taken inside
 *     either socket lock.
 *  3. sstp_net.port_lock (_bh): sockets bound to a port.
 *  4. rhashtable bucket locks: the three tables of connections, ports, their groups,
 *     and listeners.
 *  5. sstp_pool.lock (_bh): a buffer that children of a listener share. Inside of
 *     their socket locks.
 *  6. xa_lock of sstp_net.all and .encaps (_bh). Inside of the socket lock.
 *  sstp_net.encap_lock (mutex): opens and closes UDP sockets. Inside the lock of
 *  a socket that listens or connects, outside those of UDP.
 *
 * Lifetimes
 * ---------
 *  A socket lives while it has references: the file (until close() and, from
 *  then on, until sstp_done()), each table it is in (but those of names and of
 *  listeners, which it leaves before), its listener's list, an
 *  armed hrtimer, and whoever works on it. It is freed after an RCU grace
 *  period (SOCK_RCU_FREE), so lookups under RCU take a reference with
 *  refcount_inc_not_zero() and then check that it is still what they look for.
 *  Packets under way hold sk_wmem_alloc, as with every socket.
 *
 *  sstp_done() ends a connection, once: state TCP_CLOSE, out of the tables,
 *  timers stopped, windows emptied. Nothing may be added to it after that; all
 *  entry points check the state under the lock.
 *
 *  Sockets hold their namespace, so UDP sockets of the namespace (closed when it
 *  goes, those of a VRF when that goes) outlive them, or have nothing more to bring
 *  them; and the module, so it cannot go before they do.
 */
#ifndef _SSTP_H
#define _SSTP_H

#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/rhashtable.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/sstp.h>
#include <uapi/linux/sstp_netlink.h>
#include "breaker.h"
#include "chrono.h"
#include "arrivals.h"
#include "clock.h"
#include "compat.h"
#include "ctrl.h"
#include "mib.h"
#include "netns.h"
#include "plugin.h"
#include "pmtud.h"
#include "pool.h"
#include "rate.h"
#include "rbuf.h"
#include "rcv_wnd.h"
#include "rtt.h"
#include "snd_wnd.h"
#include "tolerance.h"
#include "want.h"
#include "wire.h"

#define SSTP_ENCAP_SOCKETS	8	/* of a namespace and address family */
#define SSTP_EMBRYOS_MAX	256	/* before a listener asks for cookies */
#define SSTP_TRAIN_BYTES	65000	/* of UDP payload in one skb */
#define SSTP_QUEUE_BYTES	(256 << 10)	/* ours in queues below us */
#define SSTP_SHIP_WINDOW	BIT(24)	/* shipments from the highest */
#define SSTP_RTO_MARGIN		5000	/* us above SRTT, at least */
#define SSTP_RTO_MAX		3000000	/* us */
#define SSTP_HEADROOM		(LL_MAX_HEADER + 40 + 8 + 8)

struct sstp_group;
struct sstp_port;

/* What options at level SOL_SSTP and IPPROTO_TCP set; a child starts with its
 * listener's.
 */
struct sstp_settings {
	struct sstp_rate_spec rate;
	u64	rate_limit;
	u32	segment_size;
	u32	segment_limit;
	u32	tolerance;
	u32	window_factor;
	u32	window_clamp;
	u32	user_timeout;
	u32	window_bytes;	/* 0 = as the buffer allows */
	u32	notsent_lowat;	/* bytes, 0 = any */
	u32	defer_accept;	/* s */
	u32	keepidle;	/* s; 0 = of the namespace, and the next four, too */
	u32	keepintvl;
	s16	linger2;	/* s, -1 = not at all */
	u8	keepcnt;
	u8	syncnt;
	u8	strategy;
	bool	nodelay;
	bool	cork;
	bool	quickack;
	bool	pool;
	struct sstp_rrda_spec rrda;
	char	ctrl[SSTP_NAME_MAX];	/* empty = by default */
	char	policy[SSTP_NAME_MAX];
};

/* The other end of a connection as packets show it; key of the second table. */
struct sstp_peer {
	struct net	*net;
	struct in6_addr	addr;		/* IPv4 mapped */
	u32		cid;		/* what it chose for itself */
	int		l3mdev;		/* VRFs may have the same addresses */
	__be16		port;		/* UDP */
	u16		zero[3];
};

/* What a program calls a connection that it has made; key of the third table. */
struct sstp_names {
	struct net	*net;
	struct in6_addr	saddr;
	struct in6_addr	daddr;
	int		l3mdev;		/* as above */
	u16		dport;
	u16		sport;
};

/* Where a listener is; key of the table of listeners. */
struct sstp_listen_key {
	struct net	*net;
	struct in6_addr	addr;		/* IPv4 mapped; :: = any */
	u32		port;
	u32		zero;
};

/**
 * struct sstp_listen - a listener
 * @lock: guards the rest
 * @ready: established children, in the order to accept them
 * @embryos: children whose set-up goes on
 * @n_embryos: how many
 * @pool: which children share, or NULL; written under the listener's lock as well
 * @open: cleared when the listener goes; no child may be added then
 */
struct sstp_listen {
	spinlock_t	lock;		/* guards the rest */
	struct list_head ready;
	struct list_head embryos;
	u32		n_embryos;
	struct sstp_pool *pool;
	bool		open;
};

/* Bits of sstp_sock.flags, which change without the lock. */
enum {
	SSTP_FL_CLOCK,		/* timers were due while a process held the lock */
	SSTP_FL_THROTTLED,	/* enough bytes are in queues below us */
	SSTP_FL_ERROR,		/* an ICMP error waits in icmp_err */
};

struct sstp_sock {
	/* First. IP takes the socket of a packet on its way out for one of its
	 * own and looks at its settings; they stay as they are after init.
	 */
	union {
		struct sock	sk;
		struct inet_sock inet;
	};

	/* Identity: written before the socket is in a table, then constant */
	u32		cid;
	u32		id;		/* in sstp_net.all, while @listed */
	u16		sport;		/* as bind() and the INIT name them */
	u16		dport;
	u16		domain;		/* AF_SSTP, or AF_INET or AF_INET6 for good */
	u16		af;		/* AF_INET, AF_INET6 or still 0 */
	bool		v6only;
	bool		listed;		/* in sstp_net.all */
	bool		hashed;		/* in the table of CIDs */
	bool		peer_hashed;
	bool		bound;		/* it has a port, @sport */
	bool		names_hashed;
	bool		no_port;	/* IP_BIND_ADDRESS_NO_PORT */
	bool		deaf;		/* was a listener: RCU may still show it as one */
	bool		orphan;		/* in sstp_orphans */
	struct in6_addr	saddr;		/* IPv4 mapped; :: = any */
	u32		scope;		/* of a link-local peer */
	struct sstp_peer peer;
	struct sstp_names names;
	struct sstp_port *port;		/* that it has; NULL: none */
	struct sstp_group *group;	/* with whom it has its port; NULL: for itself */
	struct sstp_listen_key listen_key;
	struct rhlist_head listen_node;	/* while it listens */
	struct rhash_head names_node;
	struct rhash_head cid_node;
	struct rhash_head peer_node;
	__be16		udp_port;	/* that our packets come from */

	struct sstp_clock clock;
	unsigned long	flags;		/* atomic bits SSTP_FL_* */
	int		icmp_err;
	u8		tos;
	s16		ttl;		/* -1 = default */
	bool		freebind;
	struct sstp_settings set;	/* written under listen.lock as well */

	/* Family tree; lists under parent's listen.lock */
	struct sock	*parent;	/* we hold a reference */
	struct list_head sibling;
	bool		embryo;
	struct sstp_listen listen;

	/* The connection, from here on all: cleared before another connect() */

	/* Sender */
	struct sstp_snd_wnd snd;
	struct sstp_rate rate;
	struct sstp_ctrl_core ctrl;
	struct sstp_breaker breaker;	/* of a contract without congestion control */
	struct sstp_rtt	rtt;
	struct sstp_sseg *open;		/* last of snd, while more may be added */
	u32		snd_isn;	/* first segment number */
	u32		stamp_base;	/* of timestamps, which do not tell how long we are up */
	u32		frame;		/* bytes of a full frame on the link */
	u32		size;		/* payload of a full packet */
	u32		mtu;		/* of the path */
	u32		icmp_mtu;	/* that an ICMP error said, which waits in icmp_err */
	struct sstp_pmtud pmtud;
	u64		mtu_wait;	/* ns: since when data waits for its probe, or 0 */
	u32		dst_cookie;
	u32		segment_limit;	/* of the peer */
	unsigned long	pacing;		/* SO_MAX_PACING_RATE that is in force */
	u64		peer_limit;	/* bit/s that the peer allows, 0 = any */
	u64		peer_rate;	/* bit/s that the peer declared, 0 = none */
	u32		highest;	/* shipment the peer has seen */
	u16		late;		/* shipments before that, that may still come to it */
	u32		reported;	/* packets it has received */
	u32		counted;	/* the same, and @highest, in its last report */
	u32		counted_to;
	s32		missing;	/* shipped up to there, not received */
	s32		told;		/* of these, the controller has been told of */
	u32		control;	/* highest control number of the peer + 1 */
	u32		unasked;	/* shipments since an ACK was asked for */
	u64		silent_since;	/* ns: first shipment that asked, since a report; or 0 */
	u32		asked_at;	/* us: when the peer last reported, or was asked to */
	u32		lost_recent;	/* packets, and shipments, since X was set */
	u32		shipped_recent;
	u32		extra;		/* X of paper 004 */
	u32		looks;		/* packets that the SNAKs of this skb may have us look at */
	u64		corrected;	/* ns: when the peer was last told the highest shipment */
	u64		looks_at;	/* ns: when a round trip of looking in vain began */
	u32		context_ship;	/* snd.shipment at the last KEEPALIVE */
	u64		cork;		/* ns: MSG_MORE, TCP_CORK: more will come until then */
	bool		snd_lacks;	/* memory, since some of ours was freed last */
	u64		autocork;	/* ns: the same, for a program that writes on and on;
					 * poll() ends it without the lock
					 */
	u64		wait_since;	/* ns: first probe that went unanswered */
	u8		probes;		/* unanswered */
	u8		blocked;	/* probes answered by a closed window */
	u8		unpaced;	/* packets that go before the controller's period counts */
	u8		eos_state;	/* enum sstp_eos */
	u8		ended_by;	/* enum sstp_closed_by: who ended a direction first */
	bool		has_cookie;	/* for our INIT, in @cookie */
	u8		cookie[SSTP_COOKIE_LEN];
	u32		init_stamp;	/* of our last INIT or INIT_ACK */
	u32		init_first;	/* of our first INIT_ACK */
	bool		deferred;	/* it was answered, but without data */
	u64		heard;		/* ns: last valid packet */
	u64		life_end;	/* ns: of a socket that the program closed */
	u64		again_since;	/* ns: first retransmission since @progress */
	u64		again_at;	/* ns: the last one */
	u64		due_bytes;	/* bytes_received when T_ACK ran last */
	u8		due_rounds;	/* times that T_ACK found nothing new */
	u64		progress;	/* ns: when the peer last accepted or allowed more */
	u32		progress_low;	/* S_l then, and packets of it that the peer had */
	u32		progress_packets;
	u32		keepalives;	/* sent while idle, unanswered */

	/* Receiver */
	struct sstp_rcv_wnd rcv;
	struct sstp_arrivals arrivals;
	struct sstp_rbuf_core rbuf;
	struct sstp_member member;
	u32		rcv_isn;
	u32		read_off;	/* of the segment being read as a stream */
	u64		readable;	/* bytes accepted and not yet read */
	u32		tolerance;	/* agreed */
	u8		strategy;	/* agreed */
	u32		ctl_next;	/* control number of our next PACK */
	u32		window;		/* W */
	u32		buffer;		/* B, segments */
	u32		reach;		/* last segment granted by W = B */
	u32		init_window;	/* W that our INIT promised, 0 = we answered */
	/* What was granted under a larger limit, or by a guess: bytes, up to R_h;
	 * and the largest limit since. 0 = there is no such promise.
	 */
	u32		promise;
	u32		promise_high;
	u32		promise_next;
	u32		advertised;	/* R_h that the peer knows */
	u32		ack_segment;	/* last accepted */
	u32		unacked;	/* bytes accepted since our last PACK */
	u32		echo;		/* timestamp to return */
	u64		echo_at;	/* ns: when it came */
	u64		ack_sent;	/* ns */
	u64		snak_sent;	/* ns */
	u32		snak_credit;	/* bytes that came and no SNAK was sent for */
	u64		arrival_at;	/* ns: start of the interval measured */
	u64		rbuf_at;	/* ns: when the policy's epoch began */
	u64		exhausted_at;	/* ns: when listeners were last told of it */
	u8		unread;		/* epochs in a row without a read, 255 at most */
	u64		arrival_bytes;
	u64		arrival_rate;	/* bit/s */
	u64		service_bytes;
	u64		service_rate;
	bool		ack_now;
	bool		snak_now;	/* losses wait to be reported */
	bool		full;		/* had no room or memory since the program took any */
	bool		held;		/* no more comes before a read: sstp_rcv_tell() */
	bool		starved;	/* nothing accepted since memory lacked */
	u32		ask;		/* segments from R_l to ask for at once */
	int		debt;		/* bytes, of those that all sockets owe */
	u32		slots;		/* bytes of the window's that are charged */
	u32		promised;	/* bytes, of those that all sockets promise unread */
	bool		has_echo;
	bool		echo_padded;	/* @echo is that of a padded KEEPALIVE or EOS */
	bool		has_accepted;	/* @ack_segment was not reported */

	/* Only counted; for SSTP_INFO */
	struct sstp_chrono chrono;
	u64		born;		/* ns */
	u64		ended;		/* ns; 0 = not yet */
	u64		unread_since;	/* ns: since then there has been something to read */
	u64		unread_time;	/* ns, before that */
	u64		packets_lost;
	u32		rcv_epochs;
	u32		rcv_bounded;
	u32		rcv_peak;
	u32		rcv_buffer_peak;
	u32		rcv_grown;
	u32		rcv_shrunk;
	u64		rcv_grown_bytes;
	u64		rcv_shrunk_bytes;
	u64		bytes_discarded;
	u32		queued;		/* bytes sent or to send, unacknowledged */
	u64		bytes_written;	/* by the program */
	u64		bytes_sent;
	u64		bytes_retrans;
	u64		bytes_acked;
	u64		bytes_received;
	u64		packets_sent;
	u64		packets_retrans;
	u64		packets_received;
	u64		packets_duplicate;
	u64		packets_discarded;
	u64		segments_sent;
	u64		segments_received;
	u64		segments_with_gaps;
	u64		acks_sent;
	u64		acks_received;
	u64		snaks_sent;
	u64		snaks_received;
	u64		delivery_rate;
};

#if IS_ENABLED(CONFIG_IPV6)
/* As it is allocated, with what IPv6 has of each socket */
struct sstp6_sock {
	struct sstp_sock sp;
	struct ipv6_pinfo inet6;
};
#endif

enum sstp_eos {
	SSTP_EOS_NONE,
	SSTP_EOS_WANTED,	/* shutdown(); goes out after the last segment */
	SSTP_EOS_SENT,
	SSTP_EOS_ACKED,
};

static inline struct sstp_sock *sstp_sk(const struct sock *sk)
{
	return (struct sstp_sock *)sk;
}

/* Is there as much to read as the program wants, or as much as can be? */
static inline bool sstp_epollin_ready(const struct sock *sk)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	u64 ready = READ_ONCE(sp->readable);

	if (sk->sk_type == SOCK_SEQPACKET || !ready)
		return ready;
	return ready >= sock_rcvlowat(sk, 0, INT_MAX) || READ_ONCE(sp->held);
}

static inline u64 sstp_now(void)
{
	return ktime_get_ns();
}

static inline u32 sstp_us(u64 ns)
{
	return div_u64(ns, NSEC_PER_USEC);
}

/* What a timestamp says at @now */
static inline u32 sstp_stamp(const struct sstp_sock *sp, u64 now)
{
	return sstp_us(now) + sp->stamp_base;
}

static inline u64 sstp_srtt_ns(const struct sstp_sock *sp)
{
	return (u64)sstp_rtt_smoothed(&sp->rtt, 1000) * NSEC_PER_USEC;
}

/* us without an answer, until the peer is asked */
static inline u32 sstp_rto(const struct sstp_sock *sp)
{
	return sstp_rtt_timeout(&sp->rtt, SSTP_RTO_MARGIN, SSTP_RTO_MAX);
}

/* ns without progress, until the connection is given up */
static inline u64 sstp_user_timeout(const struct sstp_sock *sp)
{
	u32 ms = sp->set.user_timeout ?:
		 READ_ONCE(sstp_net(sock_net(&sp->sk))->user_timeout);

	return ms * (u64)NSEC_PER_MSEC;
}

static inline bool sstp_v4(const struct in6_addr *a)
{
	return ipv6_addr_v4mapped(a);
}

/* Bytes of IP and UDP before a packet of ours. */
static inline u32 sstp_overhead(const struct sstp_sock *sp)
{
	return sstp_v4(&sp->peer.addr) ? 20 + 8 : 40 + 8;
}

/* Packets that are on their way, as far as the peer's reports tell. */
static inline u32 sstp_in_flight(const struct sstp_sock *sp)
{
	return sp->snd.shipment - 1 - sp->highest + sp->late;
}

static inline bool sstp_synchronized(const struct sock *sk)
{
	return (1 << sk->sk_state) & ~(TCPF_CLOSE | TCPF_LISTEN |
				       TCPF_SYN_SENT);
}

#endif /* _SSTP_H */
