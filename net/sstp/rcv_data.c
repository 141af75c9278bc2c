// SPDX-License-Identifier: GPL-2.0
/*
 * DATA packets: a train is split into runs of one segment each, which are placed in the receive
 * window if the buffer has room and memory can be charged. Socket lock.
 */
#include <net/inet_ecn.h>
#include <trace/events/sstp.h>
#include "cursor.h"
#include "drop.h"
#include "half.h"
#include "mem.h"
#include "message.h"
#include "nl_event.h"
#include "rcv_data.h"
#include "rcvbuf.h"
#include "skb_in.h"
#include "sstp.h"
#include "state.h"

/* Bytes of an skb that collects small packets of a segment, see sstp_rcv_tight() */
#define SSTP_TIGHT_BYTES	SKB_WITH_OVERHEAD(8 << 10)

/* Find the header of @len bytes at offset @off. It is copied to @buf if it is not contiguous. */
static inline const void *sstp_header_at(struct sstp_cursor *c, u32 off, u32 len, void *buf)
{
	if (off >= c->from && off + len <= c->to)
		return c->p + (off - c->from);
	return sstp_cursor_get(c, off, len, buf);
}

/* Find headers of packets of @size bytes each from offset @off on. Returns the number of headers
 * that follow one another at *@h, @size bytes apart; 0 if there is none. The last packet may be
 * shorter.
 */
u32 sstp_headers_at(struct sstp_cursor *c, u32 off, u32 size, u32 len, void *buf,
		    const void **h)
{
	*h = sstp_header_at(c, off, len, buf);
	if (!*h || *h == buf)
		return !!*h;
	return (min(c->to, c->skb->len) - off - len) / size + 1;
}

/* Move R_l past accepted segments, which the program may read from @now (ns) on, and wake it. The
 * connection is reset if the program has closed the socket.
 */
void sstp_rcv_accept(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_gauge *m = sstp_rcvbuf_gauge(&sp->rcvbuf);
	struct sstp_rcv_wnd *w = &sp->rcv;
	u32 n = w->low, gapped = 0;
	u64 got = 0;
	bool finished = sstp_rcv_finished(w);

	if (!sstp_rcv_advance(w, sp->arrivals.lost, &gapped))
		return;
	sp->rcvbuf.mem_limited = false;
	for (; n != w->low && !(w->has_eos && n == w->eos); n++) {
		const struct sstp_rseg *s = sstp_rcv_slot(w, n);

		got += s->len;
		if (m)
			sstp_gauge_segment(m, s->len, sstp_mean(w));
		trace_sstp_segment_ready(sp, n, s);
		sp->rcvbuf.segments_received++;
		if (sp->acker.req_limit < SSTP_RCV_SEGMENTS)
			sp->acker.req_limit++;
	}
	/* SNAKs may name the whole window again: the lack of memory is over. */
	if (sp->acker.req_limit > sp->rcvbuf.window)
		sp->acker.req_limit = SSTP_RCV_SEGMENTS;
	if (gapped) {
		sp->stats.segments_with_gaps += gapped;
		SSTP_ADD(sock_net(sk), SEGMENTSWITHGAPS, gapped);
	}
	if (got && sock_flag(sk, SOCK_DEAD)) {
		/* The socket is closed, so the data will never be read. */
		sstp_abort(sk, ECONNRESET, SSTP_CLOSED_BY_LOCAL);
		return;
	}
	if (got && !sp->rx.readable)
		sp->rx.unread_since = now;
	WRITE_ONCE(sp->rx.readable, sp->rx.readable + got);
	sp->acker.unacked = min_t(u64, sp->acker.unacked + got, U32_MAX);
	if (!finished && sstp_rcv_finished(w)) {
		sp->acker.eos_came = true;
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
		sock_set_flag(sk, SOCK_DONE);
		sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
	}
	if (got && sstp_epollin_ready(sk))
		sk->sk_data_ready(sk);
}

/* Limit for segments that were granted to this member of a pool, bytes: as much as the pool has
 * free, up to SO_RCVBUF if set, although the member's share may have shrunk since.
 */
static u64 sstp_rcv_granted(const struct sstp_sock *sp)
{
	u64 most = atomic_read(&sp->sk.sk_rmem_alloc) +
		   (u64)sstp_pool_free(sp->rcvbuf.member.pool);

	return sp->sk.sk_userlocks & SOCK_RCVBUF_LOCK ?
	       min_t(u64, most, READ_ONCE(sp->sk.sk_rcvbuf)) : most;
}

/* Does the buffer have room for @run of @truesize bytes? With soft ACK, later segments are
 * discarded to make room.
 */
static bool sstp_rcv_room(struct sock *sk, const struct sstp_rcv_run *run,
			  u32 truesize)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rcv_wnd *w = &sp->rcv;
	struct sstp_want want;

	/* As sstp_want_fits() has it: there always is for the segment that the program reads next,
	 * of which most packets are. sstp_rcv_tight() limits its memory.
	 */
	if (run->segment == w->read)
		return true;
	sstp_rcvbuf_want(sp, &want);
	if (want.pool && !sstp_after(run->segment, sp->rcvbuf.reach))
		want.limit = max(want.limit, sstp_rcv_granted(sp));
	while (!sstp_want_fits(&want, run->segment, truesize)) {
		struct sstp_rseg *s = NULL;
		u32 segment, bytes;

		if (sstp_rcv_had(w, run))
			return false;
		if (want.soft && !sstp_before(run->segment, w->low))
			s = sstp_rcv_largest(w, run->segment, &segment);
		if (!s) {
			/* sstp_want_to() asks for no retransmission until one of this size fits. */
			if (run->flags & SSTP_F_AGAIN && want.used + truesize > want.limit)
				sp->rcvbuf.lacked = truesize;
			return false;
		}
		/* The discarded segment will come again: account it as lacked, not arrived. */
		bytes = min_t(u64, (u32)s->got * s->size, sp->rcvbuf.policy.in.arrived);
		sp->rcvbuf.policy.in.arrived -= bytes;
		sp->rcvbuf.policy.in.lacked += bytes;
		sstp_rcv_discard(w, s, segment);
		sstp_drop(sk, NULL, SSTP_MIB_SOFTREPLACED, 1);
		want.used = atomic_read(&sk->sk_rmem_alloc);
	}
	return true;
}

/* Are @len bytes less than half of the train? Then they are copied, as a clone would keep more
 * unused than used memory.
 */
static bool sstp_is_minor(const struct sk_buff *skb, u32 len)
{
	return 2 * len < skb->len;
}

/* Copy bytes [@off, @off + @len) of @skb to a new skb, whose linear part has at least @room bytes
 * if the data fits there and there is memory for it. NULL without memory for the data.
 */
static struct sk_buff *sstp_copy(const struct sk_buff *skb, u32 off, u32 len,
				 u32 room)
{
	u32 head = len <= SKB_MAX_HEAD(0) ? len : 0, size = head ? max(head, room) : 0, i;
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	const int order = PAGE_ALLOC_COSTLY_ORDER;
	struct sk_buff *copy;
	int err;

	copy = alloc_skb_with_frags(size, len - head, order, &err, gfp);
	if (!copy && size > head)
		copy = alloc_skb_with_frags(head, len - head, order, &err, gfp);
	if (!copy)
		return NULL;
	err = skb_copy_bits(skb, off, skb_put(copy, head), head);
	off += head;
	for (i = 0; i < skb_shinfo(copy)->nr_frags && !err; i++) {
		const skb_frag_t *f = &skb_shinfo(copy)->frags[i];

		err = skb_copy_bits(skb, off, skb_frag_address(f),
				    skb_frag_size(f));
		off += skb_frag_size(f);
	}
	copy->len = len;
	copy->data_len = len - head;
	if (!err)
		return copy;
	kfree_skb(copy);
	return NULL;
}

/* Return bytes [@off, @off + @len) of @skb as an skb of its own; NULL without memory. */
struct sk_buff *sstp_extract(struct sk_buff *skb, u32 off, u32 len)
{
	/* pskb_extract() shares the train's pages, so its truesize is that of the train. */
	return sstp_is_minor(skb, len) ? sstp_copy(skb, off, len, 0) :
	       pskb_extract(skb, off, len, GFP_ATOMIC | __GFP_NOWARN);
}

/* Must memory be saved on @run of the segment that the program reads next? It must when the
 * segment uses twice the buffer's limit, as small packets need much more memory than their
 * data, or after a lack of memory. Then only the next missing packet is accepted, and copied
 * into the memory of earlier ones.
 */
static bool sstp_rcv_tight(const struct sstp_sock *sp,
			   const struct sstp_rcv_run *run, u32 truesize)
{
	return run->segment == sp->rcv.read && run->packets > 1 &&
	       (sp->acker.req_limit < SSTP_RCV_SEGMENTS ||
		atomic_read(&sp->sk.sk_rmem_alloc) + (u64)truesize >
		2ULL * sstp_rcv_limit(&sp->rcvbuf));
}

/* May the socket owe @bytes more for the packet that the program waits for? It may as long as the
 * memory and the debts of all sockets are within net.sstp.mem. From then on its debt may grow by
 * what one segment may owe, and by as much again at most for data that is queued to send.
 */
static bool sstp_rcv_may_owe(const struct sock *sk, u32 bytes)
{
	const struct sstp_rcvbuf *b = &sstp_sk(sk)->rcvbuf;
	int most = sstp_debt_limit(sk);

	return most == INT_MAX ||
	       (s64)b->debt + bytes <= (s64)b->debt_fair + most + min(sk->sk_wmem_queued, most);
}

/* There is no memory for @bytes: ask for one segment at a time, and with pauses. */
static void sstp_rcv_back_off(struct sstp_sock *sp, u32 bytes)
{
	sp->rcvbuf.mem_limited = true;
	sp->rcvbuf.mem_lacked = bytes;
	sp->acker.req_limit = 1;
}

/* Charge @skb to the receiver. The packet that the program waits for is accepted even when
 * memory is used up, perhaps by later segments of this connection, or the connection would be
 * stuck: it is charged as a debt (negative sk_forward_alloc), which the next charge pays.
 */
static bool sstp_rcv_charge(struct sock *sk, struct sk_buff *skb,
			    const struct sstp_rcv_run *run)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sk_rmem_schedule(sk, skb, skb->truesize))
		goto charge;
	sstp_mem_refused(sk);
	sstp_debt_update(sk);
	sstp_rcv_back_off(sp, skb->truesize);
	if (run->segment != sp->rcv.read || !sstp_rcv_is_next(&sp->rcv, run))
		return false;
	if (!sstp_rcv_may_owe(sk, skb->truesize))
		return false;
charge:
	skb_set_owner_r(skb, sk);
	sstp_debt_update(sk);
	return true;
}

/* Is there memory for the slot of @run's segment? For the segment that the program reads next it
 * is charged as a debt if there is none.
 */
static bool sstp_rcv_slot_room(struct sock *sk, const struct sstp_rcv_run *run)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 bytes = sstp_rcv_slot_bytes(&sp->rcv, run->segment);

	if (!bytes || __sk_rmem_schedule(sk, bytes, false) ||
	    run->segment == sp->rcv.read)
		return true;
	sstp_rcv_back_off(sp, bytes);
	return false;
}

/* Can no more data come before the program reads? */
static bool sstp_rcv_held(const struct sstp_sock *sp)
{
	u32 low = sp->rcv.low;
	struct sstp_want w;

	if (sp->rcvbuf.full)
		return true;
	/* Most buffers are not full, and reach beyond R_l: then sstp_want_held() is false, and its
	 * state need not be collected.
	 */
	if (!sp->rcvbuf.member.pool &&
	    atomic_read(&sp->sk.sk_rmem_alloc) < sstp_rcv_limit(&sp->rcvbuf) &&
	    !sstp_after(low, sp->rcv.high) &&
	    !sstp_after(low, sp->rcv.read + sp->rcvbuf.buffer - 1))
		return false;
	sstp_rcvbuf_want(sp, &w);
	return sstp_want_held(&w);
}

/* Wake a program that waits for SO_RCVLOWAT if no more data can come before it reads: the
 * missing packets find no room or memory, or are not asked for. To be called after each event
 * that may change this, before the socket lock is released.
 */
void sstp_rcv_tell(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool held = sp->rx.readable && sstp_synchronized(sk) && sstp_rcv_held(sp);

	if (held == sp->rx.held)
		return;
	WRITE_ONCE(sp->rx.held, held);
	if (held)
		sk->sk_data_ready(sk);
}

/* Payload of the first @count packets of @run */
static u32 sstp_run_bytes(const struct sstp_rcv_run *run, u32 count)
{
	u32 bytes = count * run->size;

	if (run->start + run->count == run->packets)
		bytes -= run->size - (run->len - (u32)run->size *
				      (run->packets - 1));
	return bytes;
}

/* Count @run, which found no room, as discarded, or as a duplicate or out of the window. */
static void sstp_rcv_discarded(struct sock *sk, struct sk_buff *skb,
			       const struct sstp_rcv_run *run)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 bytes;

	if (sstp_rcv_had(&sp->rcv, run)) {
		sstp_drop(sk, skb, SSTP_MIB_INDUPLICATE, run->count);
		sp->stats.packets_duplicate += run->count;
		return;
	}
	if (sstp_after(run->segment, sp->rcv.high)) {
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, run->count);
		return;
	}
	bytes = sstp_run_bytes(run, run->count);
	sp->stats.packets_discarded += run->count;
	sp->stats.bytes_discarded += bytes;
	sp->rcvbuf.policy.in.lacked += bytes;
	sstp_drop(sk, skb, SSTP_MIB_INDISCARDED, run->count);
	SSTP_ADD(sock_net(sk), INDISCARDEDBYTES, bytes);
	sstp_nl_exhausted(sk);
	sp->rcvbuf.full = true;
	sp->acker.refused = true;
}

/* Count @count packets of @skb that the receive window did not take, by its @verdict. */
static void sstp_rcv_refused(struct sock *sk, struct sk_buff *skb, u32 count,
			     enum sstp_rcv_verdict verdict)
{
	struct sstp_sock *sp = sstp_sk(sk);

	switch (verdict) {
	case SSTP_RCV_TAKEN:
	case SSTP_RCV_SHARED:
		break;
	case SSTP_RCV_DUP:
		sstp_drop(sk, skb, SSTP_MIB_INDUPLICATE, count);
		sp->stats.packets_duplicate += count;
		break;
	case SSTP_RCV_OUTSIDE:
		sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, count);
		break;
	case SSTP_RCV_CONFLICT:
		sstp_drop(sk, skb, SSTP_MIB_INCONFLICT, count);
		break;
	case SSTP_RCV_NOMEM:
		sstp_drop(sk, skb, SSTP_MIB_INNOMEM, count);
		sp->rcvbuf.full = true;
		sp->acker.refused = true;
		break;
	}
}

/* Account @fresh packets of @run that the receive window took. */
static void sstp_rcv_taken(struct sock *sk, const struct sstp_rcv_run *run,
			   u32 fresh)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 bytes, queued;

	if (trace_sstp_repair_enabled() && run->flags & SSTP_F_AGAIN)
		trace_sstp_repair(sp, run, fresh);
	if (run->segment != sp->rcv.low &&
	    sstp_rcv_slot(&sp->rcv, run->segment)->state ==
	    SSTP_RSEG_ACCEPTED) {
		/* The segment is accepted ahead of R_l: the next report names it. */
		sp->acker.ack_segment = run->segment;
		sp->acker.has_accepted = true;
	}
	bytes = sstp_run_bytes(run, fresh);
	sp->acker.bytes_received += bytes;
	sp->acker.arrival_bytes += bytes;
	sp->rcvbuf.policy.in.arrived += bytes;
	queued = atomic_read(&sk->sk_rmem_alloc);
	sp->rcvbuf.policy.in.queued = max(sp->rcvbuf.policy.in.queued, queued);
	sp->rcvbuf.peak = max(sp->rcvbuf.peak, queued);
}

/* Tell the receiving half that the packets of @run came, @gap shipments after those before. */
static void sstp_rcv_control(struct sstp_sock *sp, const struct sstp_rcv_run *run, u32 gap)
{
	const struct sstp_ctrl_packets p = {
		.shipment = run->shipment,
		.packets = run->count,
		.bytes = sstp_run_bytes(run, run->count),
		.again = run->flags & SSTP_F_AGAIN,
		.gap = gap,
		.stamp = sp->acker.echo,
	};

	if (sstp_half_packets(sp, &p, sp->live.last_rx))
		sstp_message_arm(&sp->sk, sp->live.last_rx);
}

/* Measure the path by the packets of @run, which came at @now (ns), @gap shipments after those
 * before.
 */
static void sstp_rcv_measure(struct sstp_sock *sp, const struct sstp_rcv_run *run, u32 gap,
			     u64 now)
{
	const struct sstp_gauge_packets p = {
		.now = now,
		.stamp = sp->acker.echo,
		.packets = run->count,
		.bytes = sstp_run_bytes(run, run->count),
		.gap = gap,
		.again = run->flags & SSTP_F_AGAIN,
	};

	sstp_gauge_packets(sp->rcvbuf.gauge, &p);
}

/* Count @packets that came with the ECN field @ecn. */
static void sstp_rcv_marks(struct sstp_sock *sp, u8 ecn, u32 packets)
{
	sp->acker.has_ecn = true;
	if (sstp_ecn_came(&sp->acker.ecn, ecn, packets))
		sp->acker.ack_now = true;
	if (ecn == INET_ECN_CE)
		SSTP_ADD(sock_net(&sp->sk), INECNMARKED, packets);
}

static void sstp_rcv_handle_run(struct sock *sk, struct sk_buff *skb, struct sstp_rcv_run *run,
				u8 ecn, bool *taken)
{
	u32 len = min(run->count * run->stride, skb->len - run->off);
	struct sstp_sock *sp = sstp_sk(sk);
	bool tight = sstp_rcv_tight(sp, run, skb->truesize);
	bool part = run->packets > 1 && (run->shared || tight);
	bool minor = part && (tight || sstp_is_minor(skb, len));
	u32 map = sstp_rcv_map_bytes(&sp->rcv, run), cost;
	struct sk_buff *piece = skb;
	u32 fresh = 0, gap, recut = sp->rcv.recut, received = sp->arrivals.received;
	enum sstp_rcv_verdict verdict;

	gap = sstp_arrivals_add(&sp->arrivals, &sp->rcv, run, sstp_us(sp->live.last_rx));
	if (ecn)
		sstp_rcv_marks(sp, ecn, sp->arrivals.received - received);
	sp->stats.packets_received += run->count;
	if (sp->ctrl.half && sp->ctrl.half->ops->recv_packets)
		sstp_rcv_control(sp, run, gap);
	if (sstp_rcvbuf_gauge(&sp->rcvbuf))
		sstp_rcv_measure(sp, run, gap, sstp_in_arrival(skb, sp->live.last_rx));
	if (run->flags & SSTP_F_ACK)
		sp->acker.ack_now = true;
	/* An skb whose packets belong to several segments is charged once. */
	cost = minor ? SKB_TRUESIZE(len) : !part && skb->destructor ? 0 :
	       skb->truesize;
	if (!sstp_rcv_room(sk, run, cost + map) ||
	    (tight && !sstp_rcv_is_next(&sp->rcv, run))) {
		sstp_rcv_discarded(sk, skb, run);
		return;
	}
	if (tight && sstp_rcv_squeeze(&sp->rcv, skb, run, len)) {
		sstp_rcv_taken(sk, run, run->count);
		return;
	}
	if (part) {
		/* A clone keeps the whole train in memory, and is charged for it. */
		piece = minor ? sstp_copy(skb, run->off, len, tight ? SSTP_TIGHT_BYTES : 0) :
			skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		if (!piece) {
			sstp_rcv_refused(sk, skb, run->count, SSTP_RCV_NOMEM);
			return;
		}
		if (minor)
			run->off = 0;
	}
	if (!piece->destructor)
		piece->truesize += map;
	if ((!piece->destructor && !sstp_rcv_charge(sk, piece, run)) ||
	    !sstp_rcv_slot_room(sk, run)) {
		sstp_rcv_refused(sk, skb, run->count, SSTP_RCV_NOMEM);
		if (piece != skb)
			consume_skb(piece);
		return;
	}
	verdict = sstp_rcv_insert(&sp->rcv, piece, run, &fresh);
	if (verdict == SSTP_RCV_TAKEN) {
		/* Some packets of the run may be duplicates. */
		if (unlikely(fresh < run->count)) {
			SSTP_ADD(sock_net(sk), INDUPLICATE, run->count - fresh);
			sp->stats.packets_duplicate += run->count - fresh;
		}
		if (piece == skb)
			*taken = true;
		piece = skb;
	} else {
		if (verdict == SSTP_RCV_NOMEM)
			sstp_rcv_back_off(sp, 0);
		sstp_rcv_refused(sk, skb, run->count, verdict);
	}
	if (piece != skb)
		consume_skb(piece);
	sstp_rcv_charge_slots(sk);
	if (sp->rcv.recut != recut)
		sstp_drop(sk, NULL, SSTP_MIB_INRECUT, sp->rcv.recut - recut);
	if (fresh)
		sstp_rcv_taken(sk, run, fresh);
}

/* Extend @run by those of the @n packets at @p, whose headers are @size bytes apart, that
 * continue it; not by the last packet of the segment. Returns their number.
 */
static u32 sstp_run_goes_on(struct sstp_rcv_run *run, const u8 *p, u32 n,
			    u32 size, const struct sstp_data_hdr *first)
{
	u32 packet = (u32)run->start + run->count, i;
	u32 shipment = run->shipment + run->count;
	u8 flags = run->flags;

	if (size != SSTP_DATA_HLEN + run->size || packet >= run->packets)
		return 0;
	n = min(n, run->packets - 1 - packet);
	for (i = 0; i < n; i++, p += size) {
		const struct sstp_data_hdr *h = (const void *)p;

		if (h->h.packet != cpu_to_be16(packet + i) ||
		    h->shipment != cpu_to_be32(shipment + i) ||
		    h->segment != first->segment || h->len != first->len ||
		    (h->h.flags & SSTP_F_LAST) ||
		    ((h->h.flags ^ flags) & SSTP_F_AGAIN))
			break;
		flags |= h->h.flags;
	}
	run->flags = flags;
	run->count += i;
	return i;
}

/* Is the packet of @len bytes at @h the last of its segment, and the next of @run? */
static bool sstp_run_ends(const struct sstp_rcv_run *run,
			  const struct sstp_data_hdr *h, u32 len,
			  const struct sstp_data_hdr *first)
{
	u32 packet = (u32)run->start + run->count;

	return packet + 1 == run->packets &&
	       h->segment == first->segment && h->len == first->len &&
	       be16_to_cpu(h->h.packet) == packet &&
	       be32_to_cpu(h->shipment) == run->shipment + run->count &&
	       !((h->h.flags ^ run->flags) & SSTP_F_AGAIN) &&
	       (h->h.flags & SSTP_F_LAST) &&
	       len == SSTP_DATA_HLEN + run->len -
		      (u32)run->size * (run->packets - 1);
}

/* Handle DATA, a packet or a train of one connection. Consumes @skb. */
void sstp_rcv_data(struct sock *sk, struct sk_buff *skb)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u32 size = SSTP_IN(skb)->size, total = skb->len, off = 0;
	struct sstp_cursor c = { .skb = skb };
	u8 ecn = SSTP_IN(skb)->ecn;
	bool taken = false;

	while (off < total) {
		struct sstp_data_hdr buf, first;
		const struct sstp_data_hdr *h;
		struct sstp_rcv_run run;
		struct sstp_data d;
		u32 len = min(size, total - off);

		if (len < sizeof(*h)) {
			sstp_drop(sk, skb, SSTP_MIB_INERRSHORT,
				  DIV_ROUND_UP(total - off, size));
			break;
		}
		h = sstp_header_at(&c, off, sizeof(*h), &buf);
		/* The type was read before, but the header may be in pages that a local sender
		 * spliced and still writes to: only DATA has a size that was checked.
		 */
		if (!h || !sstp_parse_data(h, len, &d) || d.type != SSTP_DATA ||
		    !sstp_rcv_geometry(&d, &run) ||
		    d.len > sp->set.segment_limit) {
			sstp_drop(sk, skb, SSTP_MIB_INERRFORMAT, 1);
			off += len;
			continue;
		}
		if (!sstp_near(d.shipment, sp->arrivals.highest, SSTP_SHIP_WINDOW) ||
		    sstp_after(d.segment, sp->rcv.high) ||
		    sstp_before(d.segment, sp->rcv.low - SSTP_RCV_SEGMENTS) ||
		    (sp->rcv.has_eos && !sstp_before(d.segment, sp->rcv.eos))) {
			sstp_drop(sk, skb, SSTP_MIB_INOUTOFWINDOW, 1);
			off += len;
			continue;
		}
		sp->acker.echo = d.stamp;
		sp->acker.echo_at = sp->live.last_rx;
		sp->acker.has_echo = true;
		sp->acker.echo_padded = false;
		first = *h;
		run.off = off;
		run.stride = len;
		off += len;
		while (off + sizeof(*h) <= total) {
			const void *p;
			u32 n = sstp_headers_at(&c, off, size, sizeof(*h), &buf, &p), more;

			if (!n)
				break;
			if (off + n * size > total)
				n--;
			more = sstp_run_goes_on(&run, p, n, size, &first);
			off += more * size;
			if (more && more == n)
				continue;
			h = p + more * size;
			len = min(size, total - off);
			if (sstp_run_ends(&run, h, len, &first)) {
				run.flags |= h->h.flags;
				run.count++;
				off += len;
			}
			break;
		}
		run.shared = off < total || run.off;
		/* Update the share of the pool: other members may have read meanwhile. */
		if (sp->rcvbuf.member.pool && atomic_read(&sk->sk_rmem_alloc) +
		    (u64)skb->truesize > sstp_rcv_limit(&sp->rcvbuf))
			sstp_rcvbuf_share(sp);
		sstp_rcv_handle_run(sk, skb, &run, ecn, &taken);
	}
	if (!taken)
		sstp_free(skb);
}
