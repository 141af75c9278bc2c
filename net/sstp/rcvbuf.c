// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffer: the limit of its memory, which the policy adapts in every epoch, and the
 * window that follows from it.
 *
 * Socket lock throughout.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <trace/events/sstp.h>
#include "conf.h"
#include "mem.h"
#include "netns.h"
#include "nl_event.h"
#include "rcvbuf.h"
#include "sstp.h"

/* us, before a sample of the round-trip time: the window then lasts for 200 ms */
#define SSTP_RTD_GUESS		(25 * USEC_PER_MSEC)
/* Segments of the window beyond what a round trip needs, to see whether the reader takes more */
#define SSTP_WINDOW_MORE	4
/* Round trips of data that a sender without a contract may have in the buffer: one on its way,
 * one behind a loss, and as much again while the sender speeds up
 */
#define SSTP_RCVBUF_TRIPS		4
/* Divisor of W: segments that may be read before W is computed again */
#define SSTP_RCVBUF_LAZY		16
/* Divisor of a pool's share: a connection's first limit */
#define SSTP_RCVBUF_FIRST		16
/* Divisor of a buffer's limit: memory for slots beyond it, when each slot has a packet */
#define SSTP_RCVBUF_SLOTS		8
/* Segments of a window for whose slots there is memory in any case */
#define SSTP_RCVBUF_FEW			64
/* Divisor of the memory below which buffers grow: all promises to senders whose data nobody has
 * read yet. Divisor of what is left of that: one promise
 */
#define SSTP_RCVBUF_PROMISES	8
#define SSTP_RCVBUF_PROMISE	2
/* Epochs without data after which a member of a pool rests; epochs without a read after which
 * the buffer does not follow the path
 */
#define SSTP_RCVBUF_SILENT	3

/* Payload of a segment, on average, of those whose memory sstp_mean() tells */
u32 sstp_rcvbuf_segment(const struct sstp_sock *sp)
{
	return max(sp->rcv.payload >> 3, 1U);
}

/* Memory that @bytes of payload take */
static u64 sstp_rcvbuf_memory(const struct sstp_sock *sp, u64 bytes)
{
	/* 2^34 bytes exceed any limit; with a mean below 2^29 the quotient fits 64 bits. */
	return mul_u64_u64_div_u64(min(bytes, BIT_ULL(34)), sstp_mean(&sp->rcv),
				   sstp_rcvbuf_segment(sp));
}

/* Pages of the machine that are available. As the count is slow, it is made once a jiffy for all
 * sockets.
 */
static unsigned long sstp_rcvbuf_available(void)
{
	static unsigned long pages, at;
	unsigned long now = jiffies;

	if (READ_ONCE(at) != now || !READ_ONCE(pages)) {
		WRITE_ONCE(pages, max(si_mem_available(), 1L));
		WRITE_ONCE(at, now);
	}
	return READ_ONCE(pages);
}

/* Account for a limit of @total pages, of which @available are free: the fullest one counts. */
static void sstp_rcvbuf_fuller(struct sstp_rbuf_use *in, u64 total, u64 available)
{
	u64 bytes = min(available, U64_MAX >> PAGE_SHIFT) << PAGE_SHIFT;

	in->used = max_t(u64, in->used, SSTP_RBUF_ONE -
			mul_u64_u64_div_u64(min(available, total),
					    SSTP_RBUF_ONE, max(total, 1ULL)));
	in->available = min(in->available, bytes);
}

#ifdef CONFIG_MEMCG
/* Pages of the group's file cache: they can be reclaimed, as si_mem_available() assumes of the
 * machine's.
 */
static unsigned long sstp_rcvbuf_files(struct mem_cgroup *g)
{
	unsigned long pages = 0;
	int node, zone;

	for_each_node_state(node, N_MEMORY)
		for (zone = 0; zone < MAX_NR_ZONES; zone++) {
			const unsigned long *size =
				g->nodeinfo[node]->lru_zone_size[zone];

			pages += READ_ONCE(size[LRU_INACTIVE_FILE]) +
				 READ_ONCE(size[LRU_ACTIVE_FILE]);
		}
	return pages;
}

static void sstp_rcvbuf_group(const struct sock *sk, struct sstp_rbuf_use *in)
{
	struct mem_cgroup *g = mem_cgroup_sockets_enabled ? sk->sk_memcg : NULL;
	unsigned long files = g ? sstp_rcvbuf_files(g) : 0;

	/* The usage of the groups above includes that of @g, and its file cache. */
	for (; g; g = parent_mem_cgroup(g)) {
		unsigned long most = min(READ_ONCE(g->memory.max),
					 READ_ONCE(g->memory.high));
		unsigned long now = page_counter_read(&g->memory);

		if (most >= PAGE_COUNTER_MAX)
			continue;
		now -= min(now, files);
		sstp_rcvbuf_fuller(in, most, most - min(most, now));
	}
}
#else
static void sstp_rcvbuf_group(const struct sock *sk, struct sstp_rbuf_use *in)
{
}
#endif

/* Sample the memory that is available, for the policy. */
static void sstp_rcvbuf_look(struct sock *sk, struct sstp_rbuf_use *in)
{
	long most = sk_prot_mem_limits(sk, 2);	/* pages, of all SSTP sockets */

	in->used = 0;
	in->available = U64_MAX;
	sstp_rcvbuf_fuller(in, totalram_pages(), sstp_rcvbuf_available());
	sstp_rcvbuf_group(sk, in);
	sstp_rcvbuf_fuller(in, most, most - min(most, sk_memory_allocated(sk)));
	/* All buffers with much traffic, which may grow at once, share it. */
	in->available = div_u64(in->available, sstp_rbuf_moving());
	if (!sstp_may_grow(sk))
		in->used = SSTP_RBUF_ONE;
}

/* Memory that the path can fill at its rate; 0 = not known, or nothing comes. With a contract,
 * WUCS-92-38, section 3.4, asks for a W0 of at least 2.5 w_a as soon as rate and round-trip time
 * are known. This takes twice that, 5 * A * RTD, as a segment of many packets may need several
 * repairs, of 1.25 round trips each, and the rest for the overhead of skbs. Without a contract,
 * the rate at which the program reads counts, times what a sender needs to speed up.
 */
static u64 sstp_rcvbuf_path(const struct sstp_sock *sp)
{
	u32 srtt = sstp_rtt_measured(&sp->rtt, SSTP_RTD_GUESS);

	if (sp->hs.peer_rate)
		return sstp_rtt_bytes(sp->hs.peer_rate, srtt) * 8;
	if (!sp->rcvbuf.policy.out.epoch || !sstp_rtt_measured(&sp->rtt, 0))
		return 0;
	return sstp_rcvbuf_memory(sp, sstp_rtt_bytes(sp->acker.service_rate, srtt)) *
	       SSTP_RCVBUF_TRIPS;
}

/* Count that a buffer grew by @bytes, or shrank if negative. */
static void sstp_rcvbuf_count(struct sstp_sock *sp, s64 bytes)
{
	struct net *net = sock_net(&sp->sk);

	if (bytes > 0) {
		sp->rcvbuf.grown++;
		sp->rcvbuf.grown_bytes += bytes;
		SSTP_INC(net, RBUFGROWN);
		SSTP_ADD(net, RBUFGROWNBYTES, bytes);
	} else if (bytes < 0) {
		sp->rcvbuf.shrunk++;
		sp->rcvbuf.shrunk_bytes -= bytes;
		SSTP_INC(net, RBUFSHRUNK);
		SSTP_ADD(net, RBUFSHRUNKBYTES, -bytes);
	}
}

/* Set the limit to the connection's share of the pool. It is no promise, as other members may
 * need the memory. It is small before the first sample of the round-trip time, as many
 * connections may begin at once.
 */
void sstp_rcvbuf_share(struct sstp_sock *sp)
{
	struct sock *sk = &sp->sk;
	u32 share = sstp_pool_share(&sp->rcvbuf.member, atomic_read(&sk->sk_rmem_alloc));

	if (!sstp_rtt_measured(&sp->rtt, 0))
		share = clamp_t(u64, sstp_rcvbuf_path(sp),
				share / SSTP_RCVBUF_FIRST, share);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		share = min_t(u32, share, READ_ONCE(sk->sk_rcvbuf));
	WRITE_ONCE(sp->rcvbuf.policy.in.limit, share);
	sp->rcvbuf.limit_peak = max(sp->rcvbuf.limit_peak, share);
}

/* Set the limit to @limit. Segments granted under a larger one stay granted: they have room
 * until the program has read them.
 */
static void sstp_rcvbuf_limit(struct sstp_sock *sp, u32 limit)
{
	u32 old = sp->rcvbuf.policy.in.limit;

	sstp_rcvbuf_count(sp, (s64)limit - old);
	if (limit < old && sp->rcvbuf.granted_limit < old) {
		WRITE_ONCE(sp->rcvbuf.granted_limit, old);
		sp->rcvbuf.granted_high = sp->rcv.high;
		sp->rcvbuf.granted_next = limit;
	}
	WRITE_ONCE(sp->rcvbuf.policy.in.limit, limit);
	if (limit != old) {
		sp->rcvbuf.wnd_at = 0;
		trace_sstp_rbuf_limit(sp, old, limit, false);
		sstp_nl_resized(&sp->sk, old, limit, false);
	}
	sp->rcvbuf.granted_next = max(sp->rcvbuf.granted_next, limit);
	sp->rcvbuf.limit_peak = max(sp->rcvbuf.limit_peak, limit);
}

/* Once the program has read all segments granted under granted_limit, lower that to
 * granted_next, the largest limit of later grants.
 */
static void sstp_rcvbuf_kept(struct sstp_sock *sp)
{
	u32 next = sp->rcvbuf.granted_next;

	if (!sp->rcvbuf.granted_limit || !sstp_after(sp->rcv.read, sp->rcvbuf.granted_high))
		return;
	WRITE_ONCE(sp->rcvbuf.granted_limit, next > sp->rcvbuf.policy.in.limit ? next : 0);
	sp->rcvbuf.granted_high = sp->rcv.high;
	sp->rcvbuf.granted_next = sp->rcvbuf.policy.in.limit;
}

/* Are windows no larger than the buffer, by option or as the policy has it? */
bool sstp_rcvbuf_exact(const struct sstp_sock *sp)
{
	const struct sstp_pool *p = sp->rcvbuf.member.pool;

	if (sp->set.window_factor == 100)
		return true;
	if (p)
		return sstp_pool_exact(p);
	return sp->rcvbuf.policy.out.exact && !(sp->sk.sk_userlocks & SOCK_RCVBUF_LOCK);
}

/* Segments that come in a round trip. The window need not exceed the buffer by more: what is
 * sent beyond comes before the reader has made room for it, is discarded, and sent again, which
 * takes capacity of the path from what the reader waits for.
 */
static u64 sstp_rcvbuf_progress(const struct sstp_sock *sp)
{
	u64 bytes = sstp_rtt_bytes(sp->acker.arrival_rate, sstp_rtt_measured(&sp->rtt, 0));

	return div_u64(bytes, sstp_rcvbuf_segment(sp)) + SSTP_WINDOW_MORE;
}

/* Bytes beyond first limits promised to all senders whose data no program has read yet */
static atomic_long_t sstp_rcvbuf_promises;

/* Give a promise back: the program reads, so it is one no more, or the connection has ended. */
static void sstp_rcvbuf_redeem(struct sstp_rcvbuf *r)
{
	if (!r->granted_mem)
		return;
	atomic_long_sub(r->granted_mem, &sstp_rcvbuf_promises);
	r->granted_mem = 0;
}

/* Promise a buffer of up to @want bytes before the program has read anything. Promises are
 * bounded, as a peer may claim any rate, and the program may never accept the connection; each
 * leaves some memory for later ones. Returns the size of the buffer.
 */
static u64 sstp_rcvbuf_promise(struct sstp_sock *sp, u64 want)
{
	u64 most = ((u64)sk_prot_mem_limits(&sp->sk, 0) << PAGE_SHIFT) / SSTP_RCVBUF_PROMISES;
	u64 first = (u64)sp->rcvbuf.policy.in.limit + sp->rcvbuf.granted_mem;
	long sum = atomic_long_read(&sstp_rcvbuf_promises);
	u64 more;

	if (sp->rcvbuf.granted_mem)
		return min(want, first);
	do {
		more = most - min_t(u64, max(sum, 0L), most);
		more = min3(more / SSTP_RCVBUF_PROMISE, want - min(want, first), (u64)INT_MAX);
	} while (!atomic_long_try_cmpxchg(&sstp_rcvbuf_promises, &sum, sum + more));
	sp->rcvbuf.granted_mem += more;
	return min(want, first + more);
}

/* Has the program ever read? */
static bool sstp_rcvbuf_reads(const struct sstp_sock *sp)
{
	return sp->rcv.read != sp->hs.rcv_isn || sp->rx.read_off;
}

/* Update the limit. A buffer that may grow gets room for the path as soon as the program reads.
 * While the round-trip time is not known, a sender with a contract is promised a guess of that
 * room, which is returned; else 0.
 */
static u64 sstp_rcvbuf_follow(struct sstp_sock *sp)
{
	struct sstp_rbuf_core *b = &sp->rcvbuf.policy;
	bool known = sstp_rtt_measured(&sp->rtt, 0);
	struct sock *sk = &sp->sk;
	u64 want, most;

	if (sp->rcvbuf.member.pool) {
		sstp_rcvbuf_share(sp);
		return 0;
	}
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK) {
		sstp_rcvbuf_limit(sp, READ_ONCE(sk->sk_rcvbuf));
		return 0;
	}
	if (!sstp_may_grow(sk) || (known && !sstp_rcvbuf_reads(sp)) ||
	    (b->out.epoch && known &&
	     !(b->in.arrived && sp->rcvbuf.unread < SSTP_RCVBUF_SILENT)))
		return 0;
	want = sstp_rcvbuf_path(sp);
	/* Without epochs the last sample of memory may be old. */
	if (!b->out.epoch && want > b->in.limit)
		sstp_rcvbuf_look(sk, &b->in);
	most = min_t(u64, b->out.top, b->in.available / 2);
	want = clamp_t(u64, want, b->in.limit, max_t(u64, most, b->in.limit));
	if (known) {
		sstp_rcvbuf_limit(sp, want);
		return 0;
	}
	want = sstp_rcvbuf_promise(sp, want);
	if (want > b->in.limit && want > sp->rcvbuf.granted_limit)
		WRITE_ONCE(sp->rcvbuf.granted_limit, want);
	return want > b->in.limit ? want : 0;
}

/* Bound W by the window that the policy wants. That is of data in flight, and so counts from R_l
 * on, while W counts from the first segment that the program has not read.
 */
static void sstp_rcvbuf_narrow(struct sstp_sock *sp)
{
	const struct sstp_gauge *m = sstp_rcvbuf_gauge(&sp->rcvbuf);
	const struct sstp_rbuf *out = &sp->rcvbuf.policy.out;
	u64 bytes = out->window;
	u32 most;

	if (!m || !bytes || sp->hs.peer_rate)
		return;
	if (out->widen)
		bytes += sp->acker.bytes_received - m->since;
	most = sp->rcv.low - sp->rcv.read + sstp_gauge_segments(m, min_t(u64, bytes, U32_MAX),
							      sstp_mean(&sp->rcv));
	sp->rcvbuf.window = min(sp->rcvbuf.window, most);
}

/* Changes when an epoch ends, or the rates that W depends on are measured again */
static u64 sstp_rcvbuf_times(const struct sstp_sock *sp)
{
	return sp->rcvbuf.epoch_at + sp->acker.arrival_at;
}

/* If W = B, all segments that are granted from now on have room: move rcvbuf.reach to the last. */
static void sstp_rcvbuf_extend(struct sstp_sock *sp)
{
	/* Not far behind rcv.read, or serial number arithmetic would take it to be ahead. */
	u32 reach = sp->rcv.read - 1;

	if (sp->rcvbuf.wnd_exact)
		reach += sp->rcvbuf.window;
	if (sstp_after(reach, sp->rcvbuf.reach))
		sp->rcvbuf.reach = reach;
}

/* Compute B and W from the buffer's limit. The first window has to last until the peer gets a
 * grant that is based on the round-trip time. Returns whether W is no larger than B.
 */
bool sstp_rcvbuf_wnd(struct sstp_sock *sp)
{
	u64 guess = sstp_rcvbuf_follow(sp), w;
	u32 factor = sp->set.window_factor;

	if (!guess && sstp_rcvbuf_exact(sp))
		factor = 100;
	sstp_rcvbuf_kept(sp);
	w = guess ?: sp->rcvbuf.policy.in.limit;
	if (sp->set.window_bytes)
		w = min_t(u64, w, sp->set.window_bytes);
	sp->rcvbuf.buffer = max((u32)w / sstp_mean(&sp->rcv), 1U);
	if (sp->set.window_clamp)
		sp->rcvbuf.buffer = clamp_t(u64, div_u64(sp->set.window_clamp * 100ULL,
							 factor), 1, sp->rcvbuf.buffer);
	w = div_u64((u64)sp->rcvbuf.buffer * factor, 100);
	if (sp->set.window_clamp)
		w = min_t(u64, w, sp->set.window_clamp);
	if (sstp_rtt_measured(&sp->rtt, 0))
		w = min(w, sp->rcvbuf.buffer + sstp_rcvbuf_progress(sp));
	/* Single packets far apart make the window allocate a chunk of slots for each. */
	w = min(w, max_t(u64, div_u64(guess ?: sp->rcvbuf.policy.in.limit,
				      SSTP_RCVBUF_SLOTS * sizeof(struct sstp_rseg)),
			 SSTP_RCVBUF_FEW));
	sp->rcvbuf.window = clamp_t(u64, w, 1, SSTP_RCV_SEGMENTS / 2);
	sstp_rcvbuf_narrow(sp);
	sp->rcvbuf.wnd_at = sstp_rcvbuf_times(sp);
	sp->rcvbuf.wnd_read = sp->rcv.read;
	sp->rcvbuf.wnd_exact = factor == 100;
	sstp_rcvbuf_extend(sp);
	return factor == 100;
}

/* Grant the window to the peer. */
void sstp_rcvbuf_grant(struct sstp_sock *sp)
{
	sstp_rcv_grant(&sp->rcv, sp->rcv.read + sp->rcvbuf.window - 1);
}

/* Does W stay as it is, though the program has read? It does where nothing that it depends on has
 * changed but the mean memory of a segment, and until a part of it has been read. The first read
 * lets the buffer follow the path.
 */
static bool sstp_rcvbuf_stays(const struct sstp_sock *sp)
{
	const struct sstp_rcvbuf *r = &sp->rcvbuf;

	return r->wnd_at == sstp_rcvbuf_times(sp) &&
	       sp->rcv.read - r->wnd_read < r->window / SSTP_RCVBUF_LAZY &&
	       r->wnd_read != sp->hs.rcv_isn && !r->granted_limit && !r->member.pool &&
	       !(sp->sk.sk_userlocks & SOCK_RCVBUF_LOCK) && !r->policy.out.measure;
}

/* Move the window on, as the program has read. */
void sstp_rcvbuf_advance(struct sstp_sock *sp)
{
	if (sstp_rcvbuf_stays(sp))
		sstp_rcvbuf_extend(sp);
	else
		sstp_rcvbuf_wnd(sp);
	sstp_rcvbuf_grant(sp);
}

/* The program has read data. */
void sstp_rcvbuf_read(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rbuf_core *b = &sp->rcvbuf.policy;

	sstp_rcvbuf_redeem(&sp->rcvbuf);
	sstp_rcv_charge_slots(sk);
	if (!sp->rx.readable) {
		b->in.emptied = true;
		b->in.drained |= b->in.queued >= b->in.limit / 4 * 3;
	}
	/* After the end no epoch updates the pool's account of this member. */
	if (sk->sk_state == TCP_CLOSE && sp->rcvbuf.member.pool)
		sstp_pool_share(&sp->rcvbuf.member, atomic_read(&sk->sk_rmem_alloc));
}

/* Stop the epochs of a buffer. */
static void sstp_rcvbuf_rest(struct sstp_rcvbuf *r)
{
	r->policy.resting = true;
	if (!r->member.pool)
		sstp_rbuf_uncount(&r->policy);
}

/* The connection has ended: nothing more comes, but the program may read what is here. */
void sstp_rcvbuf_end(struct sstp_sock *sp)
{
	sstp_rcvbuf_redeem(&sp->rcvbuf);
	sstp_pool_end(&sp->rcvbuf.member);
	sstp_rcvbuf_rest(&sp->rcvbuf);
}

/* Free the receive window with all segments. */
void sstp_rcvbuf_empty(struct sstp_sock *sp)
{
	sstp_rcv_destroy(&sp->rcv);
	sstp_rcv_charge_slots(&sp->sk);
}

/* Free segments that no program will read, and tell the pool. */
void sstp_rcvbuf_free(struct sstp_sock *sp)
{
	sstp_rcvbuf_empty(sp);
	if (sp->rcvbuf.member.pool)
		sstp_pool_share(&sp->rcvbuf.member, 0);
}

/* Last segment that has room in the buffer. With an over-advertised window that may be before
 * R_h. Segments granted by W = B keep their room, even if the mean has grown since.
 */
u32 sstp_rcvbuf_reach(const struct sstp_sock *sp)
{
	u32 reach = sp->rcv.read + sp->rcvbuf.buffer - 1;

	if (sstp_before(reach, sp->rcvbuf.reach))
		reach = sp->rcvbuf.reach;
	return sstp_before(reach, sp->rcv.high) ? reach : sp->rcv.high;
}

/* Fill in what want.c needs to decide which segments have room or are worth asking for. */
void sstp_rcvbuf_want(const struct sstp_sock *sp, struct sstp_want *w)
{
	w->read = sp->rcv.read;
	w->low = sp->rcv.low;
	w->high = sp->rcv.high;
	w->top = sp->rcv.top;
	w->reach = sstp_rcvbuf_reach(sp);
	w->mean = sstp_mean(&sp->rcv);
	w->used = atomic_read(&sp->sk.sk_rmem_alloc);
	w->limit = sstp_rcv_limit(&sp->rcvbuf);
	w->soft = sp->hs.strategy == SSTP_ACK_SOFT;
	w->pool = sp->rcvbuf.member.pool;
	w->lacked = sp->rcvbuf.full && !w->pool ? sp->rcvbuf.lacked : 0;
	/* Segments granted while the mean was too low keep their room. */
	if (!w->pool && sstp_rcvbuf_exact(sp))
		w->limit *= 2;
}

/* Initialize buffer @b by the options of @sk and the sysctls, and attach its policy. */
static int sstp_rcvbuf_make(struct sock *sk, struct sstp_rbuf_core *b)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_net *sn = sstp_pernet(sock_net(sk));
	char name[SSTP_NAME_MAX];
	int err;

	sstp_conf_policy(sp, name);
	b->in.least = READ_ONCE(sn->rmem[0]);
	b->in.first = READ_ONCE(sk->sk_rcvbuf);
	b->in.ceiling = max_t(u32, READ_ONCE(sn->rmem[2]), b->in.first);
	b->in.limit = b->in.first;
	sstp_rcvbuf_look(sk, &b->in);
	b->resting = true;
	err = sstp_rbuf_attach(b, name, &sp->set.policy);
	if (!err)
		b->in.limit = b->out.limit;
	return err;
}

/* Packets that the path has lost, as far as is certain, from an arbitrary number on */
static u32 sstp_rcvbuf_lost(const struct sstp_arrivals *a)
{
	return a->highest - a->received - a->out - a->out_next;
}

/* Begin or end to measure the path, as the policy wants. Without memory it asks again. */
static void sstp_rcvbuf_measure(struct sstp_sock *sp)
{
	struct sstp_rcvbuf *r = &sp->rcvbuf;
	struct sstp_rbuf *out = &r->policy.out;

	if (out->measure == !!r->gauge)
		return;
	if (!out->measure) {
		/* The peer would go on with small segments. */
		r->any_size |= r->gauge->most;
		kfree(r->gauge);
		r->gauge = NULL;
		return;
	}
	r->gauge = kzalloc_obj(*r->gauge, GFP_ATOMIC | __GFP_NOWARN);
	if (r->gauge)
		sstp_gauge_init(r->gauge, sp->acker.bytes_received);
	else
		out->measure = false;
}

/* Start the receive buffer of a connection, or join the pool. */
int sstp_rcvbuf_start(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_pool *p = sp->rcvbuf.member.pool;
	int err;

	/* The pool has the policy, which gets the sum of all members, and the reference on it. */
	if (p) {
		sp->rcvbuf.policy.ops = p->b.ops;
		sp->rcvbuf.policy.out.epoch = sstp_pool_length(p);
		sp->rcvbuf.policy.resting = true;
		return 0;
	}
	err = sstp_rcvbuf_make(sk, &sp->rcvbuf.policy);
	if (err)
		return err;
	sp->rcvbuf.granted_next = sp->rcvbuf.policy.in.limit;
	sp->rcvbuf.limit_peak = sp->rcvbuf.policy.in.limit;
	/* RbufGrownBytes less RbufShrunkBytes are the bytes of all buffers, so this counts. */
	SSTP_ADD(sock_net(sk), RBUFGROWNBYTES, sp->rcvbuf.policy.in.limit);
	sstp_rcvbuf_measure(sp);
	return 0;
}

/* Stop the receive buffer of a connection, if it was started, or leave the pool. */
void sstp_rcvbuf_stop(struct sstp_sock *sp)
{
	if (sp->rcvbuf.member.pool) {
		sp->rcvbuf.policy.ops = NULL;
		sstp_pool_leave(&sp->rcvbuf.member);
		return;
	}
	if (sp->rcvbuf.policy.ops)
		SSTP_ADD(sock_net(&sp->sk), RBUFSHRUNKBYTES, sp->rcvbuf.policy.in.limit);
	sstp_rbuf_detach(&sp->rcvbuf.policy);
	kfree(sp->rcvbuf.gauge);
	sp->rcvbuf.gauge = NULL;
}

/* Change the policy to @ops, whose reference the connection takes over. The new policy begins
 * with the current limit; segments that were granted stay granted. Socket lock.
 */
void sstp_rcvbuf_policy(struct sock *sk, const struct sstp_rbuf_ops *ops)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rbuf_core *b = &sp->rcvbuf.policy;

	if (b->ops == ops) {
		sstp_rbuf_put(ops);
		return;
	}
	sstp_rbuf_detach(b);
	/* As in a new connection, the first epoch begins when something comes. */
	b->in.path = 0;
	sstp_rbuf_epoch_begin(&b->in, atomic_read(&sk->sk_rmem_alloc));
	sstp_rcvbuf_look(sk, &b->in);
	b->resting = true;
	sp->rcvbuf.unread = 0;
	sstp_rbuf_begin(b, sstp_rbuf_present(ops), &sp->set.policy);
	sstp_rcvbuf_measure(sp);
	sstp_rcvbuf_limit(sp, b->out.limit);
	/* W depends on the policy, also if the limit stays. */
	sp->rcvbuf.wnd_at = 0;
}

/* Make the pool of a listener, if its children share a buffer. */
int sstp_rcvbuf_listen(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rbuf_core b = {};
	int err;

	if (!sp->set.pool)
		return 0;
	err = sstp_rcvbuf_make(sk, &b);
	if (err)
		return err;
	sp->listen->pool = sstp_pool_new(&b, sk->sk_userlocks & SOCK_RCVBUF_LOCK);
	if (sp->listen->pool)
		return 0;
	sstp_rbuf_detach(&b);
	return -ENOMEM;
}

/* Scale @bytes in @elapsed ns to bytes in an epoch. */
static u64 sstp_rcvbuf_rate(const struct sstp_rbuf_core *b, u64 bytes, u64 elapsed)
{
	return mul_u64_u64_div_u64(bytes, b->out.epoch, elapsed);
}

/* Measurements of the path in an epoch of @elapsed ns in which @bytes of payload came */
static const struct sstp_rbuf_seen *sstp_rcvbuf_seen(struct sstp_sock *sp, u64 bytes, u64 elapsed)
{
	struct sstp_gauge *m = sstp_rcvbuf_gauge(&sp->rcvbuf);
	const struct sstp_gauge_epoch e = {
		.now = sp->rcvbuf.epoch_at,
		.elapsed = elapsed,
		.bytes = bytes,
		.lost = sstp_rcvbuf_lost(&sp->arrivals),
		.rtt = sstp_rtt_measured(&sp->rtt, 0) ? sp->rtt.latest : 0,
		.granted = sp->rcv.high + 1 - sp->rcv.low,
	};

	if (!m)
		return NULL;
	sstp_gauge_end(m, &e);
	return &m->seen;
}

/* End an epoch of a buffer that is not shared: its policy sets the new limit. @bytes: of payload
 * that came in it
 */
static void sstp_rcvbuf_own(struct sstp_sock *sp, u64 bytes, u64 elapsed)
{
	const struct sstp_rbuf_seen none = {};
	const struct sstp_rbuf_seen *seen = sstp_rcvbuf_seen(sp, bytes, elapsed);
	struct sstp_rbuf_core *b = &sp->rcvbuf.policy;
	/* A message is a segment, so the program of the peer decides how large it is. */
	bool small = b->out.small && sp->sk.sk_type == SOCK_STREAM;
	s64 state[SSTP_STATE_MAX];
	u32 old = b->in.limit;

	b->in.arrived = sstp_rcvbuf_rate(b, b->in.arrived, elapsed);
	b->in.served = sstp_rcvbuf_rate(b, b->in.served, elapsed);
	b->in.lacked = sstp_rcvbuf_rate(b, b->in.lacked, elapsed);
	sstp_rcvbuf_limit(sp, sstp_rbuf_update(b, seen));
	if (seen)
		sstp_gauge_bound(sp->rcvbuf.gauge, small && !b->out.widen && !sp->hs.peer_rate ?
				 b->out.window : 0);
	sstp_rbuf_get_info(b, state);
	trace_sstp_rbuf_epoch(sp, seen ?: &none, state, old, b->in.limit, false);
	sstp_rcvbuf_measure(sp);
	sstp_rbuf_count(b, sp->rcvbuf.epoch_at);
}

/* End an epoch of a member of a pool: it adds its sample to the pool's, and rests when nothing
 * has moved for SSTP_RCVBUF_SILENT epochs.
 */
static void sstp_rcvbuf_member(struct sstp_sock *sp, u64 now)
{
	struct sstp_rbuf_core *b = &sp->rcvbuf.policy;
	struct sstp_member *m = &sp->rcvbuf.member;
	const struct sstp_rbuf_seen none = {};
	s64 state[SSTP_STATE_MAX];
	s64 grown;
	u32 limit;

	if (b->in.arrived || b->in.served || b->in.lacked)
		m->silent = 0;
	else if (m->silent < SSTP_RCVBUF_SILENT)
		m->silent++;
	sstp_pool_share(m, atomic_read(&sp->sk.sk_rmem_alloc));
	grown = sstp_pool_epoch(m, &b->in, now, &limit, state);
	sstp_rcvbuf_count(sp, grown);
	if (grown) {
		trace_sstp_rbuf_epoch(sp, &none, state, limit - grown, limit, true);
		trace_sstp_rbuf_limit(sp, limit - grown, limit, true);
		sstp_nl_resized(&sp->sk, limit - grown, limit, true);
	}
	b->resting = m->silent == SSTP_RCVBUF_SILENT && sstp_pool_rest(m);
}

/* Does want of memory keep the buffer smaller than the data needs, or the path could fill? */
static bool sstp_rcvbuf_bounded(struct sock *sk)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_rcvbuf *r = &sp->rcvbuf;
	const struct sstp_rbuf_core *b = &r->policy;

	if (!b->in.lacked && !b->in.drained &&
	    (!b->in.arrived || r->unread >= SSTP_RCVBUF_SILENT ||
	     sstp_rcvbuf_path(sp) <= b->in.limit))
		return false;
	return !sstp_may_grow(sk) ||
	       (!r->member.pool && b->in.limit < b->out.top &&
		b->in.limit >= b->in.available / 2);
}

/* The program has set SO_RCVBUF, so there are no more epochs, nor a window of the policy, which
 * would stay as it is. Returns whether there was one.
 */
static bool sstp_rcvbuf_fixed(struct sstp_sock *sp)
{
	struct sstp_rbuf *out = &sp->rcvbuf.policy.out;
	bool had = out->measure && out->window;

	sstp_rcvbuf_rest(&sp->rcvbuf);
	out->measure = false;
	sstp_rcvbuf_measure(sp);
	return had;
}

/* Does an estimate of the capacity end the epoch? A sender in slow start would soon exceed it. */
static bool sstp_rcvbuf_news(const struct sstp_rcvbuf *r, u64 elapsed)
{
	const struct sstp_gauge *m = sstp_rcvbuf_gauge(r);

	return m && m->news && elapsed >= SSTP_RBUF_EPOCH_MIN;
}

/* End the epoch if it is over, or begin one if the buffer rested. Returns whether there may be
 * more room than before.
 */
bool sstp_rcvbuf_epoch(struct sock *sk, u64 now)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_rbuf_core *b = &sp->rcvbuf.policy;
	bool member = sp->rcvbuf.member.pool;
	u32 old = b->in.limit, window = b->out.window;
	u64 elapsed, bytes;

	if (member)
		b->out.epoch = sstp_pool_length(sp->rcvbuf.member.pool);
	else if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		return sstp_rcvbuf_fixed(sp);
	if (!b->out.epoch)
		return false;
	if (b->resting) {
		/* Data moves again: an epoch begins. */
		b->resting = false;
		sp->rcvbuf.epoch_at = now;
		if (member) {
			sstp_pool_join(&sp->rcvbuf.member);
			sstp_rcvbuf_share(sp);
		}
		sstp_timer_set(&sp->clock, SSTP_T_RCVBUF, now + b->out.epoch);
		return member;
	}
	elapsed = now - sp->rcvbuf.epoch_at;
	if (elapsed < b->out.epoch && !sstp_rcvbuf_news(&sp->rcvbuf, elapsed)) {
		/* The pool's epochs may have become longer since the timer was set. */
		sstp_timer_sooner(&sp->clock, SSTP_T_RCVBUF, sp->rcvbuf.epoch_at + b->out.epoch);
		return false;
	}
	sp->rcvbuf.epoch_at = now;
	sp->rcvbuf.unread = b->in.served ? 0 : min(sp->rcvbuf.unread + 1, U8_MAX);
	sstp_rcvbuf_look(sk, &b->in);
	b->in.path = 0;
	if (b->in.arrived && sstp_rcvbuf_reads(sp) && sp->rcvbuf.unread < SSTP_RCVBUF_SILENT &&
	    sstp_may_grow(sk))
		b->in.path = min_t(u64, sstp_rcvbuf_path(sp), U32_MAX);
	bytes = b->in.arrived;
	b->in.arrived = sstp_rcvbuf_memory(sp, bytes);
	b->in.served = sstp_rcvbuf_memory(sp, b->in.served);
	b->in.lacked = sstp_rcvbuf_memory(sp, b->in.lacked);
	if (member)
		sstp_rcvbuf_member(sp, now);
	else
		sstp_rcvbuf_own(sp, bytes, elapsed);
	sp->rcvbuf.epochs++;
	sp->rcvbuf.bounded += sstp_rcvbuf_bounded(sk);
	sstp_rbuf_epoch_begin(&b->in, atomic_read(&sk->sk_rmem_alloc));
	if (!b->resting) {
		sstp_timer_set(&sp->clock, SSTP_T_RCVBUF, now + b->out.epoch);
	} else {
		sstp_rcv_trim(&sp->rcv);
		sstp_rcv_charge_slots(sk);
	}
	return member || b->in.limit > old || b->out.window != window;
}
