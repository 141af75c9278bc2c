/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints, sstp:sstp_*; Documentation/networking/sstp.rst lists them. Each except
 * sstp_drop is hit under the socket lock of the connection that it reports.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sstp

#if !defined(_TRACE_SSTP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SSTP_H

#include <linux/skbuff.h>
#include <linux/tracepoint.h>
#include <net/sock.h>
#include <net/sstp.h>
#include <net/tcp_states.h>
#include <uapi/linux/sstp_netlink.h>

/* Only net/sstp/trace.c, which defines the events, includes the definitions. */
struct sstp_rcv_run;
struct sstp_rseg;
struct sstp_sock;
struct trace_seq;

/* " NAME=VALUE" of each value of a state, printed to @p */
const char *sstp_trace_state(struct trace_seq *p, const char *names, const s64 *state);

/* The connection: CIDs, SSTP ports and addresses (IPv4 mapped) of both ends, this end's first */
#define SSTP_TP_CONN							\
		__field(__u32, cid)					\
		__field(__u32, peer_cid)				\
		__field(__u16, sport)					\
		__field(__u16, dport)					\
		__array(__u8, saddr, 16)				\
		__array(__u8, daddr, 16)

#define SSTP_TP_SET_CONN(sp)						\
	do {								\
		__entry->cid = (sp)->id.cid;				\
		__entry->peer_cid = (sp)->id.peer.cid;			\
		__entry->sport = (sp)->id.sport;				\
		__entry->dport = (sp)->id.dport;				\
		memcpy(__entry->saddr, &(sp)->id.saddr, 16);		\
		memcpy(__entry->daddr, &(sp)->id.peer.addr, 16);		\
	} while (0)

#define SSTP_TP_FMT	"cid=%08x peer=%08x %pI6c.%u > %pI6c.%u "
#define SSTP_TP_ARGS	__entry->cid, __entry->peer_cid,		\
			__entry->saddr, __entry->sport,			\
			__entry->daddr, __entry->dport

#ifndef SSTP_TP_STATES
#define SSTP_TP_STATES							\
	SSTP_TP_STATE(TCP_ESTABLISHED, "ESTABLISHED")			\
	SSTP_TP_STATE(TCP_SYN_SENT, "SYN_SENT")				\
	SSTP_TP_STATE(TCP_SYN_RECV, "SYN_RECV")				\
	SSTP_TP_STATE(TCP_FIN_WAIT1, "FIN_WAIT1")			\
	SSTP_TP_STATE(TCP_FIN_WAIT2, "FIN_WAIT2")			\
	SSTP_TP_STATE(TCP_CLOSE, "CLOSE")				\
	SSTP_TP_STATE(TCP_CLOSE_WAIT, "CLOSE_WAIT")			\
	SSTP_TP_STATE(TCP_LAST_ACK, "LAST_ACK")				\
	SSTP_TP_STATE(TCP_LISTEN, "LISTEN")				\
	SSTP_TP_LAST_STATE(TCP_CLOSING, "CLOSING")
#endif

/* Programs that read binary events (perf, trace-cmd) do not know the values of enums. */
#undef SSTP_TP_STATE
#undef SSTP_TP_LAST_STATE
#define SSTP_TP_STATE(a, b)		TRACE_DEFINE_ENUM(a);
#define SSTP_TP_LAST_STATE(a, b)	TRACE_DEFINE_ENUM(a);
SSTP_TP_STATES
TRACE_DEFINE_ENUM(SSTP_CLOSED_BY_LOCAL);
TRACE_DEFINE_ENUM(SSTP_CLOSED_BY_PEER);
TRACE_DEFINE_ENUM(SSTP_CLOSED_BY_TIMEOUT);

#undef SSTP_TP_STATE
#undef SSTP_TP_LAST_STATE
#define SSTP_TP_STATE(a, b)		{ a, b },
#define SSTP_TP_LAST_STATE(a, b)	{ a, b }

/* The state of a connection or listener becomes @state. A new child is reported, as coming from
 * TCP_LISTEN, once its addresses are set.
 */
TRACE_EVENT(sstp_state,
	TP_PROTO(const struct sstp_sock *sp, int old, int state),
	TP_ARGS(sp, old, state),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(int, oldstate)
		__field(int, newstate)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->oldstate = old;
		__entry->newstate = state;
	),
	TP_printk(SSTP_TP_FMT "oldstate=%s newstate=%s", SSTP_TP_ARGS,
		  __print_symbolic(__entry->oldstate, SSTP_TP_STATES),
		  __print_symbolic(__entry->newstate, SSTP_TP_STATES))
);

/* The connection ends; its state is still the one before. */
TRACE_EVENT(sstp_closed,
	TP_PROTO(const struct sstp_sock *sp, int err, enum sstp_closed_by by),
	TP_ARGS(sp, err, by),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(int, state)
		__field(int, error)
		__field(int, by)
		__field(__u64, bytes_acked)
		__field(__u64, bytes_received)
		__field(__u64, packets_retrans)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->state = sp->sk.sk_state;
		__entry->error = err;
		__entry->by = by;
		__entry->bytes_acked = sp->stats.bytes_acked;
		__entry->bytes_received = sp->acker.bytes_received;
		__entry->packets_retrans = sp->stats.packets_retrans;
	),
	TP_printk(SSTP_TP_FMT "state=%s error=%d by=%s acked=%llu received=%llu retrans=%llu",
		  SSTP_TP_ARGS, __print_symbolic(__entry->state, SSTP_TP_STATES),
		  __entry->error,
		  __print_symbolic(__entry->by,
				   { SSTP_CLOSED_BY_LOCAL, "local" },
				   { SSTP_CLOSED_BY_PEER, "peer" },
				   { SSTP_CLOSED_BY_TIMEOUT, "timeout" }),
		  __entry->bytes_acked, __entry->bytes_received,
		  __entry->packets_retrans)
);

/* The path does not carry the contract, which is tried again in @wait ms; or, with @wait 0, it is
 * tried again now.
 */
TRACE_EVENT(sstp_breaker,
	TP_PROTO(const struct sstp_sock *sp),
	TP_ARGS(sp),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, breaks)
		__field(__u32, wait)
		__field(__u32, carried)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->breaks = sp->breaker->trips;
		__entry->wait = sp->breaker->retry ? div_u64(sp->breaker->wait, NSEC_PER_MSEC) : 0;
		__entry->carried = sp->breaker->carried;
	),
	TP_printk(SSTP_TP_FMT "breaks=%u wait=%u carried=%u", SSTP_TP_ARGS,
		  __entry->breaks, __entry->wait, __entry->carried)
);

/* Another contract is in force, or its L has changed, of which X are for retransmissions */
TRACE_EVENT(sstp_rate,
	TP_PROTO(const struct sstp_sock *sp),
	TP_ARGS(sp),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u64, peak)
		__field(__u64, average)
		__field(__u32, burst_rate)
		__field(__u32, burst_len)
		__field(__u32, extra)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->peak = sp->rate.spec.peak;
		__entry->average = sp->rate.spec.average;
		__entry->burst_rate = sp->rate.spec.burst_rate;
		__entry->burst_len = sp->rate.burst_len;
		__entry->extra = sp->loss.extra;
	),
	TP_printk(SSTP_TP_FMT "peak=%llu average=%llu burst_rate=%u burst_len=%u extra=%u",
		  SSTP_TP_ARGS, __entry->peak, __entry->average,
		  __entry->burst_rate, __entry->burst_len, __entry->extra)
);

/* The controller has seen a report or a time-out. */
TRACE_EVENT(sstp_ctrl,
	TP_PROTO(const struct sstp_sock *sp, const struct sstp_ctrl_sample *s, bool timeout),
	TP_ARGS(sp, s, timeout),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, delivered)
		__field(__u32, lost)
		__field(__u32, in_flight)
		__field(__u32, srtt)
		__field(__u32, cwnd)
		__field(bool, timeout)
		__field(__u64, period)
		__array(char, ctrl, SSTP_NAME_MAX)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->delivered = s->delivered;
		__entry->lost = s->lost;
		__entry->in_flight = s->in_flight;
		__entry->srtt = s->srtt;
		__entry->cwnd = sp->ctrl.out.cwnd;
		__entry->timeout = timeout;
		__entry->period = sp->ctrl.out.period;
		memcpy(__entry->ctrl, sp->ctrl.ops->name, SSTP_NAME_MAX);
	),
	TP_printk(SSTP_TP_FMT "ctrl=%s delivered=%u lost=%u timeout=%d in_flight=%u srtt=%u cwnd=%u period=%llu",
		  SSTP_TP_ARGS, __entry->ctrl, __entry->delivered, __entry->lost,
		  __entry->timeout, __entry->in_flight, __entry->srtt,
		  __entry->cwnd, __entry->period)
);

/* Sender: S_l or S_h has moved. */
TRACE_EVENT(sstp_snd_window,
	TP_PROTO(const struct sstp_sock *sp),
	TP_ARGS(sp),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, low)
		__field(__u32, next)
		__field(__u32, high)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->low = sp->snd.low;
		__entry->next = sp->snd.next;
		__entry->high = sp->snd.high;
	),
	TP_printk(SSTP_TP_FMT "low=%u next=%u high=%u", SSTP_TP_ARGS,
		  __entry->low, __entry->next, __entry->high)
);

/* Receiver: a new R_h is sent to the peer. */
TRACE_EVENT(sstp_rcv_window,
	TP_PROTO(const struct sstp_sock *sp),
	TP_ARGS(sp),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, read)
		__field(__u32, low)
		__field(__u32, high)
		__field(__u32, window)
		__field(__u32, buffer)
		__field(__u32, limit)
		__field(__u32, queued)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->read = sp->rcv.read;
		__entry->low = sp->rcv.low;
		__entry->high = sp->rcv.high;
		__entry->window = sp->rcvbuf.window;
		__entry->buffer = sp->rcvbuf.buffer;
		__entry->limit = sp->rcvbuf.policy.in.limit;
		__entry->queued = atomic_read(&sp->sk.sk_rmem_alloc);
	),
	TP_printk(SSTP_TP_FMT "read=%u low=%u high=%u window=%u buffer=%u limit=%u queued=%u",
		  SSTP_TP_ARGS, __entry->read, __entry->low, __entry->high,
		  __entry->window, __entry->buffer, __entry->limit,
		  __entry->queued)
);

/* A SNAK is sent; this is one of its entries: @packets lost packets from @packet on, or
 * @segments whole segments
 */
TRACE_EVENT(sstp_snak_snd,
	TP_PROTO(const struct sstp_sock *sp, u32 segment, u32 segments,
		 u32 packet, u32 packets),
	TP_ARGS(sp, segment, segments, packet, packets),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, segment)
		__field(__u32, segments)
		__field(__u32, packet)
		__field(__u32, packets)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->segment = segment;
		__entry->segments = segments;
		__entry->packet = packet;
		__entry->packets = packets;
	),
	TP_printk(SSTP_TP_FMT "segment=%u segments=%u packet=%u packets=%u",
		  SSTP_TP_ARGS, __entry->segment, __entry->segments,
		  __entry->packet, __entry->packets)
);

/* A SNAK came: it asks for @asked packets that are not on their way, of which
 * the path lost @lost
 */
TRACE_EVENT(sstp_snak_rcv,
	TP_PROTO(const struct sstp_sock *sp, u32 asked, u32 lost),
	TP_ARGS(sp, asked, lost),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, highest)
		__field(__u32, asked)
		__field(__u32, lost)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->highest = sp->loss.highest;
		__entry->asked = asked;
		__entry->lost = lost;
	),
	TP_printk(SSTP_TP_FMT "highest=%u asked=%u lost=%u", SSTP_TP_ARGS,
		  __entry->highest, __entry->asked, __entry->lost)
);

/* A packet is sent again, as shipment @shipment */
TRACE_EVENT(sstp_retransmit,
	TP_PROTO(const struct sstp_sock *sp, u32 segment, u32 packet,
		 u32 shipment),
	TP_ARGS(sp, segment, packet, shipment),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, segment)
		__field(__u32, packet)
		__field(__u32, shipment)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->segment = segment;
		__entry->packet = packet;
		__entry->shipment = shipment;
	),
	TP_printk(SSTP_TP_FMT "segment=%u packet=%u shipment=%u", SSTP_TP_ARGS,
		  __entry->segment, __entry->packet, __entry->shipment)
);

/* A train is sent: @packets, in all @bytes on the link, as a contract counts them */
TRACE_EVENT(sstp_ship,
	TP_PROTO(const struct sstp_sock *sp, u32 packets, u32 bytes, bool again),
	TP_ARGS(sp, packets, bytes, again),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, packets)
		__field(__u32, bytes)
		__field(bool, again)
		__field(__u64, peak)
		__field(__u64, average)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->packets = packets;
		__entry->bytes = bytes;
		__entry->again = again;
		__entry->peak = sp->rate.spec.peak;
		__entry->average = sp->rate.spec.average;
	),
	TP_printk(SSTP_TP_FMT "packets=%u bytes=%u again=%d peak=%llu average=%llu",
		  SSTP_TP_ARGS, __entry->packets, __entry->bytes,
		  __entry->again, __entry->peak, __entry->average)
);

/* Retransmitted packets came, of which @fresh were missing. */
TRACE_EVENT(sstp_repair,
	TP_PROTO(const struct sstp_sock *sp, const struct sstp_rcv_run *run,
		 u32 fresh),
	TP_ARGS(sp, run, fresh),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, segment)
		__field(__u32, packet)
		__field(__u32, packets)
		__field(__u32, fresh)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->segment = run->segment;
		__entry->packet = run->start;
		__entry->packets = run->count;
		__entry->fresh = fresh;
	),
	TP_printk(SSTP_TP_FMT "segment=%u packet=%u packets=%u fresh=%u",
		  SSTP_TP_ARGS, __entry->segment, __entry->packet,
		  __entry->packets, __entry->fresh)
);

/* The program may read the segment, or has read it. */
DECLARE_EVENT_CLASS(sstp_segment,
	TP_PROTO(const struct sstp_sock *sp, u32 segment,
		 const struct sstp_rseg *s),
	TP_ARGS(sp, segment, s),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, segment)
		__field(__u32, len)
		__field(__u32, packets)
		__field(__u32, missing)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->segment = segment;
		__entry->len = s->len;
		__entry->packets = s->packets;
		__entry->missing = s->packets - s->got;
	),
	TP_printk(SSTP_TP_FMT "segment=%u len=%u packets=%u missing=%u",
		  SSTP_TP_ARGS, __entry->segment, __entry->len,
		  __entry->packets, __entry->missing)
);

DEFINE_EVENT(sstp_segment, sstp_segment_ready,
	TP_PROTO(const struct sstp_sock *sp, u32 segment,
		 const struct sstp_rseg *s),
	TP_ARGS(sp, segment, s)
);

DEFINE_EVENT(sstp_segment, sstp_segment_read,
	TP_PROTO(const struct sstp_sock *sp, u32 segment,
		 const struct sstp_rseg *s),
	TP_ARGS(sp, segment, s)
);

/* A policy has handled an epoch. @alpha: share of memory in use, in thousandths. From @rtt to
 * @limited: what it knows of the path, 0 unless it measures; times in us, rates in bytes/s;
 * @limited: 1 = by the window, 2 = by the sending program. @window: as the policy wants it, bytes;
 * 0 = as memory allows. @state: of the policy; its names are copied, as the policy may be gone when
 * the event is read.
 */
TRACE_EVENT(sstp_rbuf_epoch,
	TP_PROTO(const struct sstp_sock *sp, const struct sstp_rbuf_seen *seen, const s64 *state,
		 u32 old, u32 limit, bool shared),
	TP_ARGS(sp, seen, state, old, limit, shared),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__array(char, policy, SSTP_NAME_MAX)
		__field(__u64, arrived)
		__field(__u64, served)
		__field(__u64, lacked)
		__field(__u32, queued)
		__field(__u32, path)
		__field(__u32, alpha)
		__field(__u32, rtt)
		__field(__u32, queue)
		__field(__u32, queue_most)
		__field(__u64, rate)
		__field(__u64, capacity)
		__field(__u32, lost)
		__field(__u32, lost_queue)
		__field(__u32, unanswered)
		__field(__u32, segment)
		__field(__u32, packet)
		__field(__u32, granted)
		__field(__u8, limited)
		__field(__u32, window)
		__array(char, names, SSTP_STATE_MAX * SSTP_NAME_MAX)
		__array(__s64, state, SSTP_STATE_MAX)
		__field(__u32, old)
		__field(__u32, limit)
		__field(bool, shared)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		memcpy(__entry->policy, sp->rcvbuf.policy.ops->name, SSTP_NAME_MAX);
		__entry->arrived = sp->rcvbuf.policy.in.arrived;
		__entry->served = sp->rcvbuf.policy.in.served;
		__entry->lacked = sp->rcvbuf.policy.in.lacked;
		__entry->queued = sp->rcvbuf.policy.in.queued;
		__entry->path = sp->rcvbuf.policy.in.path;
		__entry->alpha = sp->rcvbuf.policy.in.used * 1000ULL / SSTP_RBUF_ONE;
		__entry->rtt = seen->rtt;
		__entry->queue = seen->queue;
		__entry->queue_most = seen->queue_most;
		__entry->rate = seen->rate;
		__entry->capacity = seen->capacity;
		__entry->lost = seen->lost;
		__entry->lost_queue = seen->lost_queue;
		__entry->unanswered = seen->unanswered;
		__entry->segment = seen->segment;
		__entry->packet = seen->packet;
		__entry->granted = seen->granted;
		__entry->limited = seen->window_limited ? 1 : seen->app_limited ? 2 : 0;
		__entry->window = sp->rcvbuf.policy.out.window;
		memcpy(__entry->names, sp->rcvbuf.policy.ops->state,
		       SSTP_STATE_MAX * SSTP_NAME_MAX);
		memcpy(__entry->state, state, SSTP_STATE_MAX * sizeof(*state));
		__entry->old = old;
		__entry->limit = limit;
		__entry->shared = shared;
	),
	TP_printk(SSTP_TP_FMT "policy=%s arrived=%llu served=%llu lacked=%llu queued=%u path=%u alpha=%u rtt=%u queue=%u queue_most=%u rate=%llu capacity=%llu lost=%u lost_queue=%u unanswered=%u segment=%u packet=%u granted=%u limited=%u window=%u%s old=%u limit=%u shared=%d",
		  SSTP_TP_ARGS, __entry->policy, __entry->arrived,
		  __entry->served, __entry->lacked, __entry->queued,
		  __entry->path, __entry->alpha, __entry->rtt, __entry->queue,
		  __entry->queue_most, __entry->rate, __entry->capacity, __entry->lost,
		  __entry->lost_queue, __entry->unanswered, __entry->segment,
		  __entry->packet, __entry->granted, __entry->limited, __entry->window,
		  sstp_trace_state(p, __entry->names, __entry->state),
		  __entry->old, __entry->limit, __entry->shared)
);

/* The limit of the connection's buffer, or of the pool's, changes. */
TRACE_EVENT(sstp_rbuf_limit,
	TP_PROTO(const struct sstp_sock *sp, u32 old, u32 limit, bool shared),
	TP_ARGS(sp, old, limit, shared),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__field(__u32, old)
		__field(__u32, limit)
		__field(bool, shared)
	),
	TP_fast_assign(
		SSTP_TP_SET_CONN(sp);
		__entry->old = old;
		__entry->limit = limit;
		__entry->shared = shared;
	),
	TP_printk(SSTP_TP_FMT "old=%u limit=%u shared=%d", SSTP_TP_ARGS,
		  __entry->old, __entry->limit, __entry->shared)
);

/* Packets are discarded, and @count is added to the counter @reason. If they have no connection,
 * @sk is the UDP socket, and CID and addresses are those in @skb.
 */
TRACE_EVENT(sstp_drop,
	TP_PROTO(const struct sock *sk, const struct sk_buff *skb,
		 const char *reason, u32 count),
	TP_ARGS(sk, skb, reason, count),
	TP_STRUCT__entry(
		SSTP_TP_CONN
		__array(char, reason, SSTP_MIB_NAME_MAX)
		__field(__u32, count)
	),
	TP_fast_assign(
		if (sk->sk_protocol == IPPROTO_SSTP) {
			SSTP_TP_SET_CONN(sstp_sk(sk));
		} else {
			__be32 buf;
			const __be32 *cid = skb_header_pointer(skb, 0, sizeof(buf), &buf);

			__entry->cid = cid ? be32_to_cpup(cid) : 0;
			__entry->peer_cid = 0;
			__entry->sport = 0;
			__entry->dport = 0;
			memcpy(__entry->saddr, &SSTP_IN(skb)->daddr, 16);
			memcpy(__entry->daddr, &SSTP_IN(skb)->saddr, 16);
		}
		/* Padded, as histograms of the field compare all of its bytes */
		strscpy_pad(__entry->reason, reason, SSTP_MIB_NAME_MAX);
		__entry->count = count;
	),
	TP_printk(SSTP_TP_FMT "reason=%s count=%u", SSTP_TP_ARGS,
		  __entry->reason, __entry->count)
);

#endif /* _TRACE_SSTP_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
