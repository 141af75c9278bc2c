// SPDX-License-Identifier: GPL-2.0
/*
 * Set-up: INIT, INIT_ACK, first packet; with a cookie in between when the
 * listener is under pressure.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <trace/events/sstp.h>
#include "cc.h"
#include "cgroup.h"
#include "child.h"
#include "conn.h"
#include "drop.h"
#include "encap.h"
#include "half.h"
#include "handshake.h"
#include "listen.h"
#include "listeners.h"
#include "message.h"
#include "netns.h"
#include "nl_event.h"
#include "path.h"
#include "port.h"
#include "rcvbuf.h"
#include "skb_in.h"
#include "small.h"
#include "sndbuf.h"
#include "sstp.h"
#include "state.h"
#include "table.h"

#define SSTP_COOKIE_LIFE	(60 * HZ)	/* valid for one to two of these */

/* Input of the cookie's hash: a valid cookie proves that this initiator has recently asked for
 * this connection from this address.
 */
struct sstp_cookie_input {
	struct in6_addr	addr;
	u32		cid;
	__be16		udp_port;
	u16		sport;
	u16		dport;
	u16		zero;
	u32		epoch;
	u32		part;
};

static void sstp_cookie_make(struct sstp_net *sn, const struct sk_buff *skb,
			     const struct sstp_init *i, u32 epoch, u64 *cookie)
{
	struct sstp_cookie_input in = {
		.cid = i->peer_cid,
		.addr = SSTP_IN(skb)->saddr,
		.udp_port = SSTP_IN(skb)->sport,
		.sport = i->sport,
		.dport = i->dport,
		.epoch = epoch,
	};

	for (in.part = 0; in.part < 2; in.part++)
		cookie[in.part] = siphash(&in, sizeof(in), &sn->secret);
}

static bool sstp_cookie_good(struct sstp_net *sn, const struct sk_buff *skb,
			     const struct sstp_init *i)
{
	u32 epoch = jiffies / SSTP_COOKIE_LIFE, k;
	u64 want[2], got[2];

	BUILD_BUG_ON(sizeof(want) != SSTP_COOKIE_LEN);
	memcpy(got, i->p.cookie, sizeof(got));
	for (k = 0; k < 2; k++) {
		sstp_cookie_make(sn, skb, i, epoch - k, want);
		/* Compare in constant time, which gives no hint to forgers. */
		if (!((want[0] ^ got[0]) | (want[1] ^ got[1])))
			return true;
	}
	return false;
}

/* Fill in the values of this end for an INIT or INIT_ACK. */
static void sstp_handshake_fill(struct sstp_sock *sp, struct sstp_init *i)
{
	i->cid = sp->id.peer.cid;
	i->peer_cid = sp->id.cid;
	i->sport = sp->id.sport;
	i->dport = sp->id.dport;
	i->shipment = sp->snd.shipment;
	i->segment = sp->hs.snd_isn;
	i->window = sp->hs.init_window ?: sp->rcvbuf.window;
	i->limit = sp->set.segment_limit;
	i->stamp = sstp_stamp(&sp->hs, sstp_now());
	i->version = SSTP_VERSION;
	i->sktype = sp->sk.sk_type;
	i->p.rate = sp->set.rate;
	i->p.rate_limit = sp->set.rate_limit;
	i->p.segment_size = sp->set.segment_size;
	i->p.tolerance = sp->set.tolerance;
	i->p.strategy = sp->set.strategy;
	i->p.messages = true;
	i->p.ecn = true;
	strscpy(i->p.ctrl, sp->ctrl.ops ? sp->ctrl.ops->name : "",
		SSTP_NAME_MAX);
	strscpy(i->p.policy, sp->rcvbuf.policy.ops ? sp->rcvbuf.policy.ops->name : "",
		SSTP_NAME_MAX);
}

/* First estimate of memory and payload of a segment, of @size bytes, until segments have come */
static void sstp_handshake_mean(struct sstp_sock *sp, u32 size)
{
	sp->rcv.mean = (size + 1024) * 8;
	sp->rcv.payload = size * 8;
}

/* Apply the values of the peer's INIT or INIT_ACK, and start the connection with them. Socket
 * lock. Return: 0, or the error of sstp_conn_start() or sstp_update_rate().
 */
static int sstp_handshake_apply(struct sock *sk, const struct sstp_init *i,
				gfp_t gfp)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool exact;
	int err;

	sp->hs.segment_limit = i->limit;
	sp->hs.peer_limit = min_t(u64, i->p.rate_limit, SSTP_RATE_MAX);
	sp->hs.peer_rate = min_t(u64, i->p.rate.average ?: i->p.rate.peak,
				 SSTP_RATE_MAX);
	if (sp->set.rate_limit && (!sp->hs.peer_rate ||
				   sp->hs.peer_rate > sp->set.rate_limit))
		sp->hs.peer_rate = sp->set.rate_limit;
	sp->hs.tolerance = min(sp->set.tolerance, i->p.tolerance);
	/* Soft ACK, the weaker guarantee, is used if either end names it. */
	sp->hs.strategy = max(sp->set.strategy, i->p.strategy);
	err = sstp_conn_start(sk, i->segment, i->shipment, gfp);
	if (err)
		return err;
	if (i->p.segment_size)
		sstp_handshake_mean(sp, min(i->p.segment_size, 1U << 24));
	sp->snd.high = sp->hs.snd_isn + min(i->window, SSTP_RCV_SEGMENTS) - 1;
	exact = sstp_rcvbuf_wnd(sp);
	/* The window that the INIT granted stays granted. */
	sp->rcvbuf.window = max(sp->rcvbuf.window, sp->hs.init_window);
	sstp_rcvbuf_grant(sp);
	if (sstp_before(sp->rcv.high, sp->rcv.read + sp->hs.init_window - 1))
		return -ENOMEM;
	sp->rcvbuf.window = sp->rcv.high - sp->rcv.read + 1;
	sp->rcvbuf.granted_high = sp->rcv.high;
	if (exact)
		sp->rcvbuf.reach = sp->rcv.high;
	sp->acker.advertised = sp->rcv.high;
	sp->hs.messages = i->p.messages;
	sp->hs.ecn = i->p.ecn;
	sstp_cc_ecn(sp);
	strscpy(sp->hs.peer_ctrl, i->p.ctrl, SSTP_NAME_MAX);
	return sstp_update_rate(sp, gfp);
}

static void sstp_handshake_send_init(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_init i = { .type = SSTP_INIT };
	u8 buf[SSTP_INIT_LEN];

	sstp_handshake_fill(sp, &i);
	i.cid = 0;
	i.p.has_cookie = sp->hs.has_cookie;
	memcpy(i.p.cookie, sp->hs.cookie, sizeof(i.p.cookie));
	sp->hs.init_stamp = i.stamp;
	sstp_send_small(sk, buf, sstp_build_init(buf, &i));
}

static void sstp_handshake_send_ack(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_init i = { .type = SSTP_INIT_ACK };
	u8 buf[SSTP_INIT_LEN];

	sstp_handshake_fill(sp, &i);
	i.echo = sp->acker.echo;
	i.hold = sstp_us(sstp_now() - sp->acker.echo_at);
	sp->hs.init_stamp = i.stamp;
	if (!sp->hs.init_first)
		sp->hs.init_first = i.stamp;
	sstp_send_small(sk, buf, sstp_build_init(buf, &i));
}

/* Arm the repetition of INIT or INIT_ACK: after 250 ms, doubled each time up to 32 s. The first
 * wait is shorter than TCP's, so that a lost INIT does not cost a second.
 */
static void sstp_handshake_arm(struct sstp_sock *sp)
{
	u64 wait = 250ULL * NSEC_PER_MSEC << min(sp->live.probes, 7);

	sstp_timer_set(&sp->clock, SSTP_T_PROBE, sstp_now() + wait);
}

/* Send the first INIT. The caller has set peer address and port, UDP port and route. Process
 * context, socket lock.
 */
int sstp_handshake_connect(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err;

	WRITE_ONCE(sk->sk_err, 0);
	sp->hs.has_cookie = false;
	sp->live.probes = 0;
	err = sstp_conn_start(sk, 0, 0, GFP_KERNEL);
	if (err)
		return err;
	err = sstp_conn_hash(sk);
	if (err)
		return err;
	/* The peer's segment size is not known yet: assume that it is this end's. */
	sstp_handshake_mean(sp, sp->set.segment_size);
	sstp_rcvbuf_wnd(sp);
	sp->hs.init_window = sp->rcvbuf.window;
	sstp_set_state(sk, TCP_SYN_SENT);
	SSTP_INC(sock_net(sk), ACTIVEOPENS);
	sstp_handshake_send_init(sk);
	sstp_handshake_arm(sp);
	return 0;
}

static void sstp_handshake_established(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	sstp_set_state(sk, TCP_ESTABLISHED);
	SSTP_INC(sock_net(sk), ESTABLISHED);
	sstp_nl_established(sk);
	sp->live.probes = 0;
	sp->live.last_rx = now;
	sstp_sndbuf_grow(sk);
	sstp_rcvbuf_epoch(sk, now);
	/* Not before the peer's address is proven. */
	if (sp->hs.messages)
		sstp_half_start(sp, sp->hs.peer_ctrl, now);
	sstp_message_arm(sk, now);
	sstp_timer_stop(&sp->clock, SSTP_T_PROBE);
	if (sock_flag(sk, SOCK_KEEPOPEN))
		sstp_timer_set(&sp->clock, SSTP_T_LIFE, now);
}

/* INIT or INIT_ACK was not answered in time: repeat it, or give up. Socket lock. */
void sstp_handshake_again(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sp->hs.deferred) {
		/* TCP_DEFER_ACCEPT has expired: accept() gets the connection without data. */
		sstp_handshake_established(sk, sstp_now());
		sstp_child_ready(sk);
		return;
	}
	if (sp->live.probes >= (sp->set.syncnt ?:
			   READ_ONCE(sstp_pernet(sock_net(sk))->init_retries))) {
		SSTP_INC(sock_net(sk), TIMEOUTS);
		sstp_done(sk, sk->sk_err_soft ?: ETIMEDOUT, SSTP_CLOSED_BY_TIMEOUT);
		return;
	}
	sp->live.probes++;
	if (sk->sk_state == TCP_SYN_SENT)
		sstp_handshake_send_init(sk);
	else
		sstp_handshake_send_ack(sk);
	sstp_handshake_arm(sp);
}

/* Sample the round-trip time of the set-up at the responder. The first packet that came from
 * the initiator (@data: it has data, or follows data) does not tell which INIT_ACK it answers:
 * assume the first. The sample is a guess if INIT_ACK was repeated, or if the KEEPALIVE that
 * answers it at once did not come, as it then contains the wait for the repetition or the data.
 */
static void sstp_handshake_sample(struct sstp_sock *sp, bool data, u64 now)
{
	u32 us = min_t(u32, sstp_stamp(&sp->hs, now) - sp->hs.init_first, SSTP_RTT_MAX);

	if (data || sp->hs.init_stamp != sp->hs.init_first)
		sstp_rtt_guess(&sp->rtt, us, sstp_us(now));
	else
		sstp_rtt_sample(&sp->rtt, us, sstp_us(now));
}

/* A packet with our CID came at @now (ns) in SYN_RECV, which proves the initiator's address: the
 * child is established. @data: the peer has sent data or ended its stream; without it, the child
 * waits if TCP_DEFER_ACCEPT is set. Child's socket lock.
 */
void sstp_handshake_confirm(struct sock *sk, bool data, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sp->hs.deferred && !data)
		return;
	if (!sp->hs.deferred)
		sstp_handshake_sample(sp, data, now);
	if (!data && sp->set.defer_accept) {
		sp->hs.deferred = true;
		sstp_timer_set(&sp->clock, SSTP_T_PROBE, now + sp->set.defer_accept *
			       (u64)NSEC_PER_SEC);
		return;
	}
	sstp_handshake_established(sk, now);
	sstp_child_ready(sk);
}

/* Handle INIT_ACK or COOKIE, the answers to an INIT. Initiator's socket lock. */
void sstp_handshake_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_hdr *h = (void *)skb->data;
	struct sstp_init i;
	u64 now = sstp_now();
	int err;

	if (h->type == SSTP_COOKIE) {
		const struct sstp_cookie_hdr *c = (void *)skb->data;

		if (skb->len < sizeof(*c)) {
			sstp_drop(sk, skb, SSTP_MIB_INERRSHORT, sstp_in_packets(skb));
			return;
		}
		if (sk->sk_state != TCP_SYN_SENT)
			return;
		/* The first cookie is answered at once, later ones when the INIT is due again,
		 * so that forged ones cause no packets.
		 */
		memcpy(sp->hs.cookie, c->cookie, sizeof(sp->hs.cookie));
		if (!sp->hs.has_cookie) {
			sp->hs.has_cookie = true;
			sstp_handshake_send_init(sk);
		}
		return;
	}

	if (!sstp_parse_init(skb->data, skb->len, &i)) {
		sstp_drop(sk, skb, SSTP_MIB_INERRFORMAT, sstp_in_packets(skb));
		return;
	}
	if (sk->sk_state != TCP_SYN_SENT) {
		/* INIT_ACK came again, so the packet that answered it was lost. */
		if (sstp_synchronized(sk) && i.peer_cid == sp->id.peer.cid)
			sstp_send_context(sk, 0);
		return;
	}
	/* The echoed timestamp proves that the peer has seen the INIT: an attacker who guesses
	 * the CID does not know it.
	 */
	if (i.dport != sp->id.sport || i.sport != sp->id.dport ||
	    sp->hs.init_stamp - i.echo > 60 * USEC_PER_SEC) {
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, sstp_in_packets(skb));
		return;
	}
	if (i.version != SSTP_VERSION || i.sktype != sk->sk_type) {
		sstp_drop(sk, skb, SSTP_MIB_INERRVERSION, sstp_in_packets(skb));
		return;
	}
	sp->id.peer.cid = i.peer_cid;
	sstp_rtt_sample(&sp->rtt, sstp_stamp(&sp->hs, now) - i.echo - i.hold, sstp_us(now));
	err = sstp_conn_hash_peer(sk);
	if (err == -EEXIST) {
		/* Another connection with this peer has the same peer CID. */
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, sstp_in_packets(skb));
		sstp_done(sk, EADDRNOTAVAIL, SSTP_CLOSED_BY_LOCAL);
		return;
	}
	if (err || sstp_handshake_apply(sk, &i, GFP_ATOMIC)) {
		sstp_drop(sk, skb, SSTP_MIB_INNOMEM, sstp_in_packets(skb));
		sstp_done(sk, ENOMEM, SSTP_CLOSED_BY_LOCAL);
		return;
	}
	sstp_handshake_established(sk, now);
	/* The responder waits for a packet with its CID as the proof of our address. */
	sstp_send_context(sk, 0);
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

static void sstp_handshake_refuse(struct sock *usk, struct sk_buff *skb,
				  const struct sstp_init *i, u32 code)
{
	struct sstp_end_hdr e = {
		.h.cid = cpu_to_be32(i->peer_cid),
		.h.type = SSTP_RESET,
		.code = cpu_to_be32(code),
		.seq = cpu_to_be32(i->shipment),
	};

	SSTP_INC(sock_net(usk), OUTRESETS);
	sstp_encap_reply(usk, skb, &e, sizeof(e));
}

/* Handle an INIT from @peer, which has no connection yet, for listener @lsk: make a child, or
 * ask for a cookie. Softirq, RCU.
 */
static void sstp_handshake_new(struct sock *usk, struct sk_buff *skb,
			       struct sock *lsk, const struct sstp_init *i,
			       const struct sstp_peer *peer)
{
	struct net *net = sock_net(usk);
	struct sstp_net *sn = sstp_pernet(net);
	u32 limit = clamp(READ_ONCE(lsk->sk_max_ack_backlog) / 2, 1U,
			  (u32)SSTP_REQUESTS_MAX);
	struct sstp_sock *sp;
	bool proven = false;
	struct sock *sk;
	int err;

	if (sk_acceptq_is_full(lsk)) {
		sstp_drop(usk, skb, SSTP_MIB_LISTENOVERFLOWS, 1);
		return;
	}
	if (i->p.has_cookie) {
		proven = sstp_cookie_good(sn, skb, i);
		if (proven)
			SSTP_INC(net, COOKIESGOOD);
		else
			SSTP_INC(net, COOKIESBAD);
	}
	if (!proven &&
	    READ_ONCE(sstp_sk(lsk)->listen->n_requests) >= limit) {
		struct sstp_cookie_hdr c = {
			.h.cid = cpu_to_be32(i->peer_cid),
			.h.type = SSTP_COOKIE,
		};
		u64 cookie[2];

		sstp_cookie_make(sn, skb, i, jiffies / SSTP_COOKIE_LIFE,
				 cookie);
		memcpy(c.cookie, cookie, sizeof(c.cookie));
		SSTP_INC(net, COOKIESSENT);
		sstp_encap_reply(usk, skb, &c, sizeof(c));
		return;
	}

	sk = sstp_child(lsk);
	if (IS_ERR(sk)) {
		sstp_drop(usk, skb, PTR_ERR(sk) == -ENOMEM ? SSTP_MIB_INNOMEM :
			  SSTP_MIB_LISTENOVERFLOWS, 1);
		return;
	}
	__acquire(&sk->sk_lock.slock);
	sp = sstp_sk(sk);
	sp->id.peer = *peer;
	sp->id.dport = i->sport;
	sp->id.saddr = SSTP_IN(skb)->daddr;
	sp->id.udp_port = inet_sk(usk)->inet_sport;
	sk->sk_bound_dev_if = inet_request_bound_dev_if(lsk, skb);
	if (ipv6_addr_type(&peer->addr) & IPV6_ADDR_LINKLOCAL)
		sp->id.scope = SSTP_IN(skb)->sdif ?: SSTP_IN(skb)->dif;
	sp->acker.echo = i->stamp;
	sp->acker.echo_at = sstp_now();
	err = sstp_bind_child(sk);
	sstp_sock_names(sk);
	err = err ?: sstp_conn_hash_peer(sk) ?: sstp_conn_hash(sk);
	trace_sstp_state(sp, TCP_LISTEN, TCP_SYN_RECV);
	if (err == -EEXIST) {
		/* Another CPU has handled a copy of this INIT meanwhile. */
		sstp_drop(usk, skb, SSTP_MIB_INDUPLICATE, 1);
		sstp_done(sk, 0, SSTP_CLOSED_BY_LOCAL);
	} else if (err || sstp_encap_route(sk) ||
		   sstp_handshake_apply(sk, i, GFP_ATOMIC)) {
		sstp_drop(usk, skb, SSTP_MIB_INNOMEM, 1);
		sstp_done(sk, ENOMEM, SSTP_CLOSED_BY_LOCAL);
	} else {
		SSTP_INC(net, PASSIVEOPENS);
		sstp_handshake_send_ack(sk);
		sstp_handshake_arm(sp);
	}
	bh_unlock_sock(sk);
	sock_put(sk);
}

/* Hash that selects a listener of a reuseport group for the initiator @peer. That chooses what is
 * hashed, but must not choose the listener, as it could fill the queue of one.
 */
static u32 sstp_handshake_hash(const struct sstp_peer *peer)
{
	static u32 seed __read_mostly;

	get_random_once(&seed, sizeof(seed));
	return jhash_3words(peer->cid, (__force u32)peer->addr.s6_addr32[3],
			    (__force u32)peer->port, seed);
}

/* Handle an INIT, which came in train @whole. Softirq, RCU; the caller frees @skb. */
void sstp_handshake_init(struct sock *usk, struct sk_buff *skb, struct sk_buff *whole)
{
	struct net *net = sock_net(usk);
	const struct in6_addr *daddr = &SSTP_IN(skb)->daddr;
	struct sstp_peer peer = { .net = net };
	struct sstp_init i;
	struct sock *sk;

	if (!sstp_parse_init(skb->data, skb->len, &i) || i.cid) {
		sstp_drop(usk, skb, SSTP_MIB_INERRFORMAT, 1);
		return;
	}
	if (skb->pkt_type != PACKET_HOST || ipv6_addr_is_multicast(daddr)) {
		sstp_drop(usk, skb, SSTP_MIB_INNOPORT, 1);
		return;
	}
	peer.addr = SSTP_IN(skb)->saddr;
	peer.cid = i.peer_cid;
	peer.port = SSTP_IN(skb)->sport;
	peer.l3mdev = sstp_in_l3mdev(SSTP_IN(skb));

	sk = sstp_conn_find_peer(&peer);
	if (sk) {
		/* The initiator repeats its INIT: INIT_ACK was lost, or is on its way. */
		bh_lock_sock(sk);
		if (!sock_owned_by_user(sk) && sk->sk_state == TCP_SYN_RECV) {
			sstp_sk(sk)->acker.echo = i.stamp;
			sstp_sk(sk)->acker.echo_at = sstp_now();
			sstp_handshake_send_ack(sk);
		}
		bh_unlock_sock(sk);
		sock_put(sk);
		return;
	}

	sk = sstp_listeners_find(net, SSTP_IN(skb), i.dport, sstp_handshake_hash(&peer));
	if (!sk) {
		sstp_drop(usk, skb, SSTP_MIB_INNOPORT, 1);
		sstp_handshake_refuse(usk, skb, &i, SSTP_RESET_REFUSED);
		return;
	}
	if (!sstp_rcv_allowed(sk, whole)) {
		sstp_drop(usk, skb, SSTP_MIB_INDENIED, 1);
	} else if (i.version != SSTP_VERSION || i.sktype != sk->sk_type) {
		sstp_drop(usk, skb, SSTP_MIB_INERRVERSION, 1);
		sstp_handshake_refuse(usk, skb, &i, SSTP_RESET_VERSION);
	} else {
		sstp_handshake_new(usk, skb, sk, &i, &peer);
	}
	sock_put(sk);
}
