// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch of packets from UDP sockets to connections, in softirq, a train at a time; and the
 * handling of KEEPALIVE, EOS, CLOSE, RESET and ICMP errors.
 */
#include <linux/errqueue.h>
#include <net/ip.h>
#include <net/l3mdev.h>
#include "ack.h"
#include "backlog.h"
#include "cgroup.h"
#include "cursor.h"
#include "drop.h"
#include "encap.h"
#include "handshake.h"
#include "input.h"
#include "message.h"
#include "output.h"
#include "path.h"
#include "probe.h"
#include "rcv_data.h"
#include "report.h"
#include "skb_in.h"
#include "sstp.h"
#include "state.h"
#include "steer.h"
#include "table.h"
#include "talk.h"

/* Handle a KEEPALIVE or EOS: it moves H and hi (see arrivals.h), and is acknowledged at once, but
 * for the first EOS, see sstp_ack_eos(), and a KEEPALIVE that does not ask: it answers INIT_ACK,
 * which is repeated until that answer comes.
 */
static void sstp_rcv_state(struct sock *sk, struct sk_buff *skb, u32 off,
			   u32 len)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rcv_wnd *w = &sp->rcv;
	struct sstp_pos pos, end = { w->eos };
	struct sstp_data d;

	if (!sstp_parse_data(skb->data + off, len, &d)) {
		sstp_drop(sk, skb, SSTP_MIB_INERRSHORT, 1);
		return;
	}
	pos.segment = d.segment;
	pos.packet = d.packet;
	if (!sstp_near(d.shipment, sp->arrivals.highest, SSTP_SHIP_WINDOW) ||
	    sstp_before(d.segment, w->low) ||
	    sstp_after(d.segment, w->high + 1) ||
	    (d.segment == w->high + 1 && d.packet) ||
	    (w->has_eos && sstp_pos_before(end, pos))) {
		/* It is outdated: acknowledge, so that the sender learns of R_l. */
		if (sstp_before(d.segment, w->low))
			sp->acker.ack_now = true;
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
		return;
	}
	sp->acker.echo = d.stamp;
	sp->acker.echo_at = sp->live.last_rx;
	sp->acker.has_echo = true;
	sp->acker.echo_padded = len > SSTP_DATA_HLEN;
	if (d.type == SSTP_EOS ? w->has_eos : d.flags & SSTP_F_ACK) {
		/* The peer probes: no answer came in the time that it waits for one. */
		if (sp->acker.pack_due)
			sstp_ack_alone(sp);
		sp->acker.ack_now = true;
	}
	if (d.type == SSTP_EOS) {
		if (d.packet || (w->has_eos && w->eos != d.segment) ||
		    sstp_pos_before(pos, sp->arrivals.hi)) {
			sp->acker.ack_now = true;
			sstp_drop(sk, skb, SSTP_MIB_INCONFLICT, 1);
			return;
		}
		sp->acker.eos_came = !w->has_eos;
		w->eos = d.segment;
		w->has_eos = true;
	}
	sstp_arrivals_context(&sp->arrivals, d.shipment, pos, sstp_us(sp->live.last_rx));
}

/* A stray RESET comes from an end without the connection: its CID is the peer's. */
static bool sstp_is_stray(const struct sstp_hdr *h)
{
	return h->type == SSTP_RESET && h->flags & SSTP_F_STRAY;
}

/* Is @seq one of the last 2^20 shipment or control numbers of this end? */
static bool sstp_sent_lately(const struct sstp_sock *sp, u32 seq)
{
	return sp->snd.shipment - seq <= SSTP_SHIP_WINDOW / 16 ||
	       sp->acker.snd_ctl - seq <= SSTP_SHIP_WINDOW / 16;
}

static void sstp_rcv_end(struct sock *sk, struct sk_buff *skb, u32 off,
			 u32 len)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_end_hdr *e = (void *)(skb->data + off);
	u32 seq, code;
	bool stray;
	int err;

	if (len < sizeof(*e)) {
		sstp_drop(sk, skb, SSTP_MIB_INERRSHORT, 1);
		return;
	}
	seq = be32_to_cpu(e->seq);
	code = be32_to_cpu(e->code);
	stray = sstp_is_stray(&e->h);
	if (sk->sk_state == TCP_SYN_SENT) {
		if (e->h.type != SSTP_RESET || seq != sp->snd.shipment) {
			sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
			return;
		}
	} else if (stray) {
		if (!sstp_sent_lately(sp, seq)) {
			sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
			return;
		}
	} else if (seq - (sp->arrivals.highest - 64) >
		   64 + SSTP_SHIP_WINDOW / 16) {
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
		return;
	}
	/* The peer sends CLOSE only after it got all data and the EOS, so CLOSE acknowledges both,
	 * also if the last PACKs were lost. A stray RESET after all data was acknowledged means
	 * that the peer has closed, and its CLOSE was lost.
	 */
	if (sp->tx.eos == SSTP_EOS_SENT && sstp_rcv_finished(&sp->rcv) &&
	    (e->h.type == SSTP_CLOSE || (stray && sp->snd.low == sp->snd.end))) {
		sstp_report_all(sk);
		sp->tx.eos = SSTP_EOS_ACKED;
		sstp_state_check(sk);
		sstp_done(sk, 0, sp->life.ended_by);
		return;
	}
	if (e->h.type == SSTP_CLOSE) {
		if (sk->sk_state == TCP_CLOSING)
			sstp_done(sk, 0, sp->life.ended_by);
		return;
	}
	SSTP_INC(sock_net(sk), RESETS);
	err = code == SSTP_RESET_VERSION ? EPROTOTYPE :
	      sk->sk_state == TCP_SYN_SENT ? ECONNREFUSED :
	      sk->sk_state == TCP_CLOSE_WAIT ? EPIPE :
	      sk->sk_state == TCP_CLOSING ? 0 : ECONNRESET;
	sstp_done(sk, err, SSTP_CLOSED_BY_PEER);
}

/* Does a KEEPALIVE show that the peer has shipped data that did not come? */
static bool sstp_has_shipped(const struct sstp_arrivals *ar, const struct sk_buff *skb,
			     u32 off, u32 len)
{
	struct sstp_data d;

	return sstp_parse_data(skb->data + off, len, &d) &&
	       d.shipment != ar->highest;
}

/* After DATA, KEEPALIVE or EOS packets, which came at @now (ns): accept segments, send reports,
 * change state.
 */
static void sstp_rcv_done(struct sock *sk, u64 now)
{
	const struct sstp_ctrl_core *ctrl = &sstp_sk(sk)->ctrl;

	sstp_rcv_accept(sk, now);
	sstp_ack_check(sk, now);
	sstp_probe_rtt(sk);
	/* A state that a silent peer did not confirm, or for which there was no memory, is told
	 * again. What comes to a closed socket has reset the connection, and freed what was told.
	 */
	if (ctrl->talk ? sstp_talk_unconfirmed(ctrl->talk) : !!ctrl->half)
		sstp_message_arm(sk, now);
	sstp_state_check(sk);
}

/* Handle DATA, a packet or a train. Consumes @skb. */
static void sstp_rcv_train(struct sock *sk, struct sk_buff *skb, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sk->sk_state == TCP_SYN_RECV)
		sstp_handshake_confirm(sk, true, now);
	sp->live.last_rx = now;
	sp->live.keepalives = 0;
	sp->live.asks = 0;
	/* An answer may have many packets. */
	if (sp->live.answer_ship != sp->snd.shipment) {
		sp->live.answer_ship = sp->snd.shipment;
		sp->live.prompt = min(sp->live.prompt + 1U, SSTP_PROMPT + 1);
	}
	sstp_rcv_data(sk, skb);
	sstp_rcv_done(sk, now);
	sstp_probe_path(sk, now);
}

/* Does a DATA packet or EOS follow the PACK at @h, of which @len bytes are there? */
static bool sstp_rides(const struct sstp_hdr *h, u32 len)
{
	return len >= sizeof(*h) && h->type == SSTP_PACK && h->flags & SSTP_F_DATA;
}

/* Bytes of @skb, a PACK and what follows it, that have to be in one piece. What is not in pages is
 * final.
 */
static u32 sstp_ride_hlen(const struct sk_buff *skb)
{
	const struct sstp_hdr *h = (void *)skb->data;

	return min_t(u32, skb->len, skb_headlen(skb) < sizeof(*h) ? SSTP_RIDE_HLEN :
		     sstp_ack_hlen(h->flags) + SSTP_DATA_HLEN);
}

/* Handle a KEEPALIVE or EOS: @len bytes at offset @off of @skb, which is linear. */
static void sstp_rcv_context(struct sock *sk, struct sk_buff *skb, u32 off, u32 len,
			     u8 type, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sk->sk_state == TCP_SYN_RECV)
		sstp_handshake_confirm(sk, type == SSTP_EOS ||
				       sstp_has_shipped(&sp->arrivals, skb, off, len), now);
	sp->live.last_rx = now;
	sp->live.keepalives = 0;
	sstp_rcv_state(sk, skb, off, len);
	sstp_rcv_done(sk, now);
}

/* Handle a PACK, and the DATA packet or EOS that follows it: @skb has nothing else. Consumes
 * @skb.
 */
static void sstp_rcv_ride(struct sock *sk, struct sk_buff *skb, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 data, hlen = sstp_ride_hlen(skb);
	u8 buf[SSTP_RIDE_HLEN];
	const void *p;

	p = skb_header_pointer(skb, 0, hlen, buf);
	if (!p)
		goto no_mem;
	/* Other processes may write to pages of @skb that a local sender spliced: only what lies
	 * in @buf is checked, and nothing behind it may be taken for a part of the report.
	 */
	if (!sstp_rides(p, hlen)) {
		sstp_drop(sk, skb, SSTP_MIB_INERRFORMAT, 1);
		goto out;
	}
	sstp_report_begin(sp, now);
	if (sk->sk_state == TCP_SYN_RECV)
		sstp_handshake_confirm(sk, false, now);
	data = sstp_report_rcv(sk, skb, p, skb->len, now);
	if (!data || sk->sk_state == TCP_CLOSE)
		goto out;
	if (!pskb_pull(skb, data))
		goto no_mem;
	SSTP_IN(skb)->size = min_t(u32, skb->len, U16_MAX);
	sstp_ack_credit(&sp->acker, skb->len + sstp_overhead(&sp->id));
	if (skb->len > SSTP_DATA_HLEN) {
		sstp_rcv_train(sk, skb, now);
		return;
	}
	if (!pskb_may_pull(skb, SSTP_DATA_HLEN))
		goto no_mem;
	/* It was an EOS, but others may have written to a page since. */
	if (((struct sstp_hdr *)skb->data)->type == SSTP_EOS)
		sstp_rcv_context(sk, skb, 0, skb->len, SSTP_EOS, now);
	else
		sstp_drop(sk, skb, SSTP_MIB_INERRFORMAT, 1);
	goto out;
no_mem:
	sstp_drop(sk, skb, SSTP_MIB_INNOMEM, 1);
out:
	sstp_free(skb);
}

/* The same for a packet of @len bytes at offset @off of @skb, which is linear. */
static void sstp_rcv_ride_of(struct sock *sk, struct sk_buff *skb, u32 off, u32 len, u64 now)
{
	struct sk_buff *piece = sstp_extract(skb, off, len);

	if (!piece) {
		sstp_drop(sk, skb, SSTP_MIB_INNOMEM, 1);
		return;
	}
	*SSTP_IN(piece) = *SSTP_IN(skb);
	SSTP_IN(piece)->why = 0;
	piece->tstamp = skb->tstamp;
	sstp_rcv_ride(sk, piece, now);
}

/* Handle a packet of @type, not DATA: @len bytes at offset @off of @skb, which is linear. */
static void sstp_rcv_small(struct sock *sk, struct sk_buff *skb, u32 off, u32 len,
			   u8 type, u64 now)
{
	switch (type) {
	case SSTP_KEEPALIVE:
	case SSTP_EOS:
		sstp_rcv_context(sk, skb, off, len, type, now);
		break;
	case SSTP_PACK:
	case SSTP_SNAK:
		if (sk->sk_state == TCP_SYN_RECV)
			sstp_handshake_confirm(sk, false, now);
		if (sstp_rides((void *)(skb->data + off), len))
			sstp_rcv_ride_of(sk, skb, off, len, now);
		else
			sstp_report_rcv(sk, skb, skb->data + off, len, now);
		break;
	case SSTP_MESSAGE:
		sstp_message_rcv(sk, skb, off, len, now);
		break;
	case SSTP_RESET:
	case SSTP_CLOSE:
		sstp_rcv_end(sk, skb, off, len);
		break;
	}
}

/* Handle the packets of @skb, all of one type, for @sk, whose lock is held. Consumes @skb. */
static void sstp_rcv_locked(struct sock *sk, struct sk_buff *skb)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_hdr *h;
	u32 size, off, len;
	struct sstp_hdr buf;
	u64 now;
	u8 type;

	if (sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_LISTEN)
		goto no_conn;
	/* The header is not pulled: data in the linear part would prevent coalescing. */
	h = skb_header_pointer(skb, 0, sizeof(buf), &buf);
	if (!h)
		goto no_mem;
	type = h->type;
	/* The socket may have become another connection before its lock was taken. */
	if (be32_to_cpu(h->cid) != (sstp_is_stray(h) ? sp->id.peer.cid : sp->id.cid))
		goto no_conn;
	if (type == SSTP_INIT_ACK || type == SSTP_COOKIE) {
		if (skb_linearize(skb))
			goto no_mem;
		sstp_handshake_rcv(sk, skb);
		goto out;
	}
	if (sk->sk_state == TCP_SYN_SENT && type != SSTP_RESET) {
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, sstp_in_packets(skb));
		goto out;
	}
	now = sstp_now();
	if (type <= SSTP_EOS)
		sstp_ack_credit(&sp->acker, skb->len + sstp_in_packets(skb) *
				    sstp_overhead(&sp->id));
	if (type == SSTP_DATA) {
		sstp_rcv_train(sk, skb, now);
		return;
	}
	if (sstp_rides(h, sizeof(*h)) && skb->len <= SSTP_IN(skb)->size) {
		sstp_rcv_ride(sk, skb, now);
		return;
	}

	/* Other packets are small, but GRO may have joined several. */
	size = SSTP_IN(skb)->size;
	if (skb_linearize(skb))
		goto no_mem;
	sstp_report_begin(sp, now);
	for (off = 0; off < skb->len && sk->sk_state != TCP_CLOSE;
	     off += size) {
		len = min(size, skb->len - off);
		sstp_rcv_small(sk, skb, off, len, type, now);
	}
out:
	sstp_free(skb);
	return;
no_conn:
	sstp_drop(sk, skb, SSTP_MIB_INNOCONN, sstp_in_packets(skb));
	goto out;
no_mem:
	sstp_drop(sk, skb, SSTP_MIB_INNOMEM, sstp_in_packets(skb));
	goto out;
}

/* Bytes (truesize) in the backlogs of all sockets */
static atomic_long_t sstp_backlogs;

/* Handle a packet or train of the backlog of @sk; it is charged to the socket from here on. */
int sstp_backlog_rcv(struct sock *sk, struct sk_buff *skb)
{
	atomic_long_sub(skb->truesize, &sstp_backlogs);
	sstp_rcv_locked(sk, skb);
	return 0;
}

/* Add @skb to the backlog of @sk, which a process owns. False if the backlog is full. */
static bool sstp_backlog_add(struct sock *sk, struct sk_buff *skb)
{
	const struct sstp_backlog b = {
		.waits = sk->sk_backlog.len,
		.buffers = (u64)READ_ONCE(sstp_sk(sk)->rcvbuf.policy.in.limit) +
			   READ_ONCE(sk->sk_sndbuf) / 2,
		.waits_all = atomic_long_read(&sstp_backlogs),
		.used = sk_memory_allocated(sk),
		.limit = sk_prot_mem_limits(sk, 2),
	};

	skb->tstamp = ktime_get();
	if (sstp_backlog_full(&b) || sk_add_backlog(sk, skb, INT_MAX))
		return false;
	atomic_long_add(skb->truesize, &sstp_backlogs);
	return true;
}

/* No connection has the CID of @skb: answer with a stray RESET, as the sender may not know that
 * the connection has ended. RESETs are not answered, so that no reply causes a reply.
 */
static void sstp_rcv_stray(struct sock *usk, struct sk_buff *skb)
{
	struct sstp_end_hdr e = {
		.h.type = SSTP_RESET,
		.h.flags = SSTP_F_STRAY,
		.code = cpu_to_be32(SSTP_RESET_UNKNOWN),
	};
	struct sstp_data_hdr buf;
	const struct sstp_data_hdr *h;

	sstp_drop(usk, skb, SSTP_MIB_INNOCONN, sstp_in_packets(skb));
	h = skb_header_pointer(skb, 0, sizeof(buf), &buf);
	if (!h || h->h.type > SSTP_SNAK || skb->pkt_type != PACKET_HOST ||
	    ipv6_addr_is_multicast(&SSTP_IN(skb)->daddr))
		return;
	/* Shipment and control number are at the same offset. */
	e.h.cid = h->h.cid;
	e.seq = h->shipment;
	SSTP_INC(sock_net(usk), OUTRESETS);
	sstp_encap_reply(usk, skb, &e, sizeof(e));
}

static struct sock *sstp_rcv_find(struct sock *usk, struct sk_buff *skb,
				  const struct sstp_hdr *h)
{
	struct net *net = sock_net(usk);
	struct sstp_peer peer = {
		.net = net,
		.addr = SSTP_IN(skb)->saddr,
		.cid = be32_to_cpu(h->cid),
		.port = SSTP_IN(skb)->sport,
		.l3mdev = sstp_in_l3mdev(SSTP_IN(skb)),
	};
	struct sstp_sock *sp;
	struct sock *sk;

	if (sstp_is_stray(h)) {
		sk = sstp_conn_find_peer(&peer);
		if (!sk) {
			sstp_drop(usk, skb, SSTP_MIB_INNOCONN, sstp_in_packets(skb));
			return NULL;
		}
		goto found;
	}
	sk = sstp_conn_find(net, be32_to_cpu(h->cid));
	if (!sk) {
		sstp_rcv_stray(usk, skb);
		return NULL;
	}
found:
	sp = sstp_sk(sk);
	if (sp->id.peer.port != peer.port || !ipv6_addr_equal(&sp->id.peer.addr, &peer.addr) ||
	    !sstp_dev_match(sk, SSTP_IN(skb))) {
		sstp_drop(usk, skb, SSTP_MIB_INWRONGADDR, sstp_in_packets(skb));
		sock_put(sk);
		return NULL;
	}
	return sk;
}

/* Pass @skb, packets of one connection and type out of train @whole, to the connection. Softirq,
 * RCU; consumes @skb.
 */
static void sstp_rcv_one(struct sock *usk, struct sk_buff *skb, struct sk_buff *whole)
{
	const struct sstp_hdr *h;
	struct sstp_hdr buf;
	struct sock *sk;

	h = skb_header_pointer(skb, 0, sizeof(buf), &buf);
	if (!h) {
		sstp_drop(usk, skb, SSTP_MIB_INERRSHORT, 1);
		goto out;
	}
	if (h->type >= SSTP_TYPES) {
		sstp_drop(usk, skb, SSTP_MIB_INERRTYPE, sstp_in_packets(skb));
		goto out;
	}
	if (h->type == SSTP_INIT) {
		/* UDP sockets of initiators, which have no reuseport group, accept no INIT: a
		 * packet filter that admits replies to them must not open all listeners.
		 */
		if (!usk->sk_reuseport)
			sstp_drop(usk, skb, SSTP_MIB_INNOPORT, 1);
		else if (skb_linearize(skb))
			sstp_drop(usk, skb, SSTP_MIB_INNOMEM, sstp_in_packets(skb));
		else
			sstp_handshake_init(usk, skb, whole);
		goto out;
	}
	sk = sstp_rcv_find(usk, skb, h);
	if (!sk)
		goto out;
	if (!sstp_rcv_allowed(sk, whole)) {
		sstp_drop(usk, skb, SSTP_MIB_INDENIED, sstp_in_packets(skb));
		sock_put(sk);
		goto out;
	}
	sstp_steer_rcv(sk, whole);
	bh_lock_sock_nested(sk);
	if (!sock_owned_by_user(sk)) {
		sstp_rcv_locked(sk, skb);
		sstp_rcv_tell(sk);
	} else if (!sstp_backlog_add(sk, skb)) {
		sstp_drop(sk, skb, SSTP_MIB_INBACKLOGDROP, sstp_in_packets(skb));
		sstp_free(skb);
	}
	bh_unlock_sock(sk);
	sock_put(sk);
	return;
out:
	sstp_free(skb);
}

/* Pass bytes [@off, @off + @len) of train @skb, of one connection and type, as an skb of its
 * own.
 */
static void sstp_rcv_piece(struct sock *usk, struct sk_buff *skb, u32 off,
			   u32 len)
{
	struct sk_buff *piece = sstp_extract(skb, off, len);

	if (!piece) {
		sstp_drop(usk, skb, SSTP_MIB_INNOMEM,
			  DIV_ROUND_UP(len, SSTP_IN(skb)->size));
		return;
	}
	*SSTP_IN(piece) = *SSTP_IN(skb);
	SSTP_IN(piece)->why = 0;
	piece->skb_iif = skb->skb_iif;
	piece->pkt_type = skb->pkt_type;
	sstp_rcv_one(usk, piece, skb);
}

/* Packets of the set-up are not handled as trains, but parsed one by one. */
static bool sstp_sets_up(u8 type)
{
	return type == SSTP_INIT || type == SSTP_INIT_ACK || type == SSTP_COOKIE;
}

/* Handle a packet, or a train in which GRO may have joined packets of several connections and
 * types: split it where these change. Softirq; consumes @skb.
 */
static void sstp_rcv(struct sock *usk, struct sk_buff *skb)
{
	u32 size = SSTP_IN(skb)->size, total = skb->len, off, start = 0;
	const struct sstp_hdr *h;
	struct sstp_cursor c = { .skb = skb };
	const void *p;
	u32 n, same;
	struct sstp_hdr buf, first;

	SSTP_ADD(sock_net(usk), INPKTS, sstp_in_packets(skb));
	rcu_read_lock();
	if (total <= size) {
		sstp_rcv_one(usk, skb, skb);
		goto out;
	}
	if (size < sizeof(first)) {
		sstp_drop(usk, skb, SSTP_MIB_INERRSHORT, sstp_in_packets(skb));
		sstp_free(skb);
		goto out;
	}
	skb_copy_bits(skb, 0, &first, sizeof(first));
	off = size;
	while (off + sizeof(*h) <= total) {
		n = sstp_headers_at(&c, off, size, sizeof(*h), &buf, &p);
		for (same = 0; same < n; same++) {
			h = p + same * size;
			if (h->cid != first.cid || h->type != first.type ||
			    sstp_sets_up(first.type))
				break;
		}
		off += same * size;
		if (n && same == n)
			continue;
		sstp_rcv_piece(usk, skb, start, off - start);
		start = off;
		skb_copy_bits(skb, off, &first, sizeof(first));
		off += size;
	}
	if (!start) {
		sstp_rcv_one(usk, skb, skb);
		goto out;
	}
	sstp_rcv_piece(usk, skb, start, total - start);
	sstp_free(skb);
out:
	rcu_read_unlock();
}

/* Handle ICMP error @err of a router or of the peer's host. Socket lock. */
void sstp_rcv_error(struct sock *sk, int err)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (err == EMSGSIZE) {
		if (sstp_synchronized(sk) &&
		    sstp_pmtud_hint(&sp->path.pmtud, READ_ONCE(sp->pending.icmp_mtu))) {
			sstp_mtu_update(sk);
			sstp_push(sk);
		}
		return;
	}
	/* As with TCP: fatal to a connect(), else remembered in case the
	 * connection times out.
	 */
	if (sk->sk_state == TCP_SYN_SENT)
		sstp_done(sk, err, SSTP_CLOSED_BY_PEER);
	else
		WRITE_ONCE(sk->sk_err_soft, err);
}

/* Does @h, which an ICMP error quotes, have a recent number of this end? The CID alone is not
 * enough, as an attacker may have learned or guessed it.
 */
static bool sstp_quotes_ours(const struct sock *sk, const struct sstp_init_hdr *h)
{
	const struct sstp_sock *sp = sstp_sk(sk);

	switch (h->h.type) {
	case SSTP_INIT:
	case SSTP_INIT_ACK:
		return be32_to_cpu(h->cid) == sp->id.cid;
	case SSTP_DATA:
	case SSTP_KEEPALIVE:
	case SSTP_EOS:
	case SSTP_PACK:
	case SSTP_SNAK:
		/* Shipment or control number, at the offset of sstp_init_hdr.cid */
		return sp->snd.ring && sstp_sent_lately(sp, be32_to_cpu(h->cid));
	}
	/* RESET and CLOSE: the connection has ended, or ends without an answer. */
	return false;
}

/* Handle ICMP error @err. @skb->data is the SSTP header of the quoted packet, which has the
 * peer's CID; in an INIT that is 0, and the connection's own CID follows. Softirq.
 */
static void sstp_rcv_icmp(struct sock *usk, struct sk_buff *skb, int err)
{
	const struct sock_exterr_skb *e = SKB_EXT_ERR(skb);
	struct net *net = sock_net(usk);
	struct sstp_peer peer = { .net = net, .port = e->port };
	const struct sstp_init_hdr *h;
	const u8 *nh = skb_network_header(skb) + e->addr_offset;
	struct sstp_init_hdr buf;
	struct sock *sk;

	h = skb_header_pointer(skb, 0, offsetof(struct sstp_init_hdr, sport),
			       &buf);
	if (!h)
		return;
	if (e->ee.ee_origin == SO_EE_ORIGIN_ICMP)
		ipv6_addr_set_v4mapped(*(__be32 *)nh, &peer.addr);
	else
		peer.addr = *(struct in6_addr *)nh;
	peer.cid = be32_to_cpu(h->h.cid);
	peer.l3mdev = l3mdev_master_ifindex_by_index(net, skb->skb_iif);

	rcu_read_lock();
	if (h->h.type == SSTP_INIT) {
		sk = sstp_conn_find(net, be32_to_cpu(h->cid));
		if (sk && !ipv6_addr_equal(&sstp_sk(sk)->id.peer.addr,
					   &peer.addr)) {
			sock_put(sk);
			sk = NULL;
		}
	} else {
		sk = sstp_conn_find_peer(&peer);
	}
	rcu_read_unlock();
	if (!sk)
		return;
	bh_lock_sock(sk);
	if (!sstp_quotes_ours(sk, h)) {
		SSTP_INC(net, INOUTOFWINDOW);
		goto unlock;
	}
	if (err == EMSGSIZE)
		WRITE_ONCE(sstp_sk(sk)->pending.icmp_mtu, e->ee.ee_info);
	if (!sock_owned_by_user(sk)) {
		sstp_rcv_error(sk, err);
	} else {
		WRITE_ONCE(sstp_sk(sk)->pending.icmp_err, err);
		set_bit(SSTP_FL_ERROR, &sstp_sk(sk)->pending.flags);
	}
unlock:
	bh_unlock_sock(sk);
	sock_put(sk);
}

const struct sstp_encap_ops sstp_input_ops = {
	.rcv = sstp_rcv,
	.icmp = sstp_rcv_icmp,
};
