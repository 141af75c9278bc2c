// SPDX-License-Identifier: GPL-2.0
/*
 * "udt": the native controller of UDT (Gu and Grossman, "UDT: UDP-based data transfer for
 * high-speed wide area networks", Computer Networks 51(7), 2007; draft-gg-udt-03, section 6).
 * Every SYN (10 ms) the sender raises its rate by a step that depends on the decade of the
 * bandwidth that it leaves unused, and sets its window to what arrives in a round trip. The
 * receiver measures two rates and reports them every SYN: A, at which packets arrive, and L,
 * what the bottleneck carries. With P, the period between packets:
 *
 *	B   = L - 1/P, at most L/9 while P is longer than before the last decrease
 *	inc = max(10^ceil(log10(8 MSS B)) 1.5e-6 / MSS, 0.01)	packets in a SYN
 *	P  <- P SYN / (P inc + SYN)
 *	w   = A (RTT + SYN) + 16
 *
 * A loss ends slow start, in which there is no period, with P = 1/A. Later a loss among packets
 * that left after the last decrease begins a loss epoch: P grows by an eighth, and again, up to
 * five times, with every n-th further report of losses, n being random up to their mean number
 * in an epoch. So flows that share a queue do not all slow down at once.
 *
 * The state has the rate, R = 1/P, as it grows linearly: R <- R + inc/SYN. What differs from UDT:
 *  - P is not rounded up to whole microseconds after a decrease, which UDT 4 does, as a packet
 *    may take less than one;
 *  - arrivals that are close together count as one, as packets come in trains, and L is measured
 *    with any packets that left close together, not with every sixteenth pair;
 *  - the window does not grow in slow start, nor the rate, while the program writes too little to
 *    use them;
 *  - without a receiving half at the peer, A is the delivery rate of the sender's samples, and L
 *    the highest one in this loss epoch and the last.
 */
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <net/sstp_window.h>

#define SSTP_UDT_SYN		(10 * NSEC_PER_MSEC)	/* ns */
#define SSTP_UDT_SYN_US		(10 * USEC_PER_MSEC)
#define SSTP_UDT_HZ		100ULL	/* SYN in a second */
#define SSTP_UDT_WINDOW		16U	/* packets: window at first, and more than in flight */
#define SSTP_UDT_MAX		100000000U	/* highest rate, packets/s */
#define SSTP_UDT_SHIFT		16	/* fractional bits of rates in the sending half */
#define SSTP_UDT_ONE		BIT_ULL(SSTP_UDT_SHIFT)	/* 1 packet/s, also the lowest rate */
/* 1.5e-6 packets in a SYN, as packets/s in a SYN, in fixed point, times SSTP_UDT_SCALE */
#define SSTP_UDT_STEP		98304
#define SSTP_UDT_SCALE		10000
#define SSTP_UDT_DECREASES	5	/* further ones in a loss epoch */
#define SSTP_UDT_SIZE		65536U	/* bytes of a packet at most */
/* Shipments: the last decrease counts as no older, so that serial numbers compare. */
#define SSTP_UDT_OLD		16000000

#define SSTP_UDT_VALUES		16	/* values that a median is taken of */
#define SSTP_UDT_SPAN		(SSTP_UDT_SYN / SSTP_UDT_VALUES)	/* ns, least of A */
#define SSTP_UDT_PAIR_MIN	(100 * NSEC_PER_USEC)	/* ns between arrivals, least of L */
#define SSTP_UDT_PAIR_MAX	NSEC_PER_SEC
#define SSTP_UDT_CLEAR		4	/* arrivals are this much farther apart than departures */

/* The message of the receiving half: A and L, each as __be32, packets/s; 0 = not known */
#define SSTP_UDT_RATES		1

/**
 * struct sstp_udt - state of the sending half
 * @rate: R, packets/s, fixed-point
 * @last_rate: R before the decrease that began the last loss epoch; U64_MAX = none yet
 * @arrival: A, packets/s; 0 = not known
 * @capacity: L, packets/s; 0 = not known
 * @most: highest delivery rate in this loss epoch, packets/s
 * @was_most: that of the loss epoch before
 * @epoch: newest shipment at the last decrease (serial number)
 * @delivered: packets delivered in this SYN
 * @naks: reports of losses in this loss epoch
 * @avg_naks: their mean number in a loss epoch
 * @every: the rate decreases with each such report of losses
 * @decreases: decreases in this loss epoch after the first
 * @slow_start: no loss yet
 * @lost: losses were reported in this SYN
 * @told: the receiving half reported
 */
struct sstp_udt {
	u64	rate;
	u64	last_rate;
	u32	arrival;
	u32	capacity;
	u32	most;
	u32	was_most;
	u32	epoch;
	u32	delivered;
	u32	naks;
	u32	avg_naks;
	u32	every;
	u32	decreases;
	bool	slow_start;
	bool	lost;
	bool	told;
};

/**
 * struct sstp_udt_ring - the last values, ns a packet, of which a filter makes a rate
 * @value: as sstp_udt_pack() returns them
 * @count: how many there are
 * @at: index of the oldest, once there are SSTP_UDT_VALUES
 */
struct sstp_udt_ring {
	u16	value[SSTP_UDT_VALUES];
	u8	count;
	u8	at;
};

/**
 * struct sstp_udt_recv - state of the receiving half
 * @arrival: intervals between packets
 * @capacity: the same between those that a bottleneck spread
 * @since: start of the interval of @arrival, ns; 0 = nothing came yet
 * @anchor: time of the arrival that the next is compared with, ns; 0 = none
 * @stamp: when its packets left, us
 * @next: shipment expected next
 * @packets: came since @since
 * @bytes: came since @anchor
 * @full: most bytes of a packet
 * @came: packets came in this SYN
 */
struct sstp_udt_recv {
	struct sstp_udt_ring arrival;
	struct sstp_udt_ring capacity;
	u64	since;
	u64	anchor;
	u32	stamp;
	u32	next;
	u32	packets;
	u32	bytes;
	u32	full;
	bool	came;
};

static struct sstp_udt *sstp_udt_priv(struct sstp_ctrl *c)
{
	return sstp_ctrl_priv(c, struct sstp_udt);
}

static struct sstp_udt_recv *sstp_udt_recv_priv(struct sstp_recv *r)
{
	return sstp_ctrl_priv(r, struct sstp_udt_recv);
}

/* The sending half */

static void sstp_udt_set_rate(struct sstp_ctrl *c, struct sstp_udt *u, u64 rate)
{
	u->rate = clamp(rate, SSTP_UDT_ONE, SSTP_UDT_MAX * SSTP_UDT_ONE);
	c->period = div64_u64((u64)NSEC_PER_SEC << SSTP_UDT_SHIFT, u->rate);
}

static u32 sstp_udt_window(u32 arrival, u32 srtt)
{
	u64 flight = div_u64((u64)arrival * (srtt + SSTP_UDT_SYN_US), USEC_PER_SEC);

	return min_t(u64, flight + SSTP_UDT_WINDOW, SSTP_WINDOW_MAX);
}

/* inc/SYN: growth of the rate, fixed-point, where @spare packets/s of @size bytes are unused */
static u64 sstp_udt_step(u32 spare, u32 size)
{
	u64 bits = 8ULL * spare * size, decade = 1;

	while (decade < bits)
		decade *= 10;
	return max(div_u64(decade * SSTP_UDT_STEP, SSTP_UDT_SCALE * size), SSTP_UDT_ONE);
}

/* B, packets/s */
static u32 sstp_udt_spare(const struct sstp_udt *u)
{
	u32 rate = (u->rate + SSTP_UDT_ONE - 1) >> SSTP_UDT_SHIFT;
	u32 spare = u->capacity > rate ? u->capacity - rate : 0;

	return u->rate < u->last_rate ? min(spare, u->capacity / 9) : spare;
}

/* A number from 1 to @most. As in UDT, which seeds a generator with it, the newest shipment @seed
 * determines it; shipments of connections start at random.
 */
static u32 sstp_udt_draw(u32 seed, u32 most)
{
	return 1 + (u32)(((u64)most * (u32)(seed * GOLDEN_RATIO_32)) >> 32);
}

static void sstp_udt_smooth(u32 *mean, u32 sample)
{
	sample = min(sample, SSTP_UDT_MAX);
	*mean = *mean ? div_u64(*mean * 7ULL + sample, 8) : sample;
}

/* Slow start ends: send at the rate at which packets arrive or, if it is not known, a window in
 * @us.
 */
static void sstp_udt_leave(struct sstp_ctrl *c, struct sstp_udt *u, u32 us)
{
	u64 rate = (u64)u->arrival << SSTP_UDT_SHIFT;

	if (!rate)
		rate = div_u64((u64)c->cwnd * USEC_PER_SEC << SSTP_UDT_SHIFT, us);
	u->slow_start = false;
	sstp_udt_set_rate(c, u, rate);
}

/* A connection that had another controller goes on at its rate. */
static void sstp_udt_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_udt *u = sstp_udt_priv(c);

	u->last_rate = U64_MAX;
	u->epoch = s->shipped;
	u->every = 1;
	u->slow_start = true;
	c->cwnd = SSTP_UDT_WINDOW;
	c->ack_timer = SSTP_UDT_SYN_US;
	if (!s->in_flight)
		return;
	c->cwnd = clamp(s->in_flight, SSTP_UDT_WINDOW, (u32)SSTP_WINDOW_MAX);
	sstp_udt_leave(c, u, s->srtt ?: SSTP_UDT_SYN_US);
}

/* A and L where the receiving half has not reported. In slow start A follows at once, as the rate
 * doubles in a round trip. While the program writes too little, the path may carry more.
 */
static void sstp_udt_deliver(struct sstp_udt *u, const struct sstp_ctrl_sample *s)
{
	u32 rate = min_t(u64, div_u64((u64)s->rate_delivered * USEC_PER_SEC, s->rate_interval),
			 SSTP_UDT_MAX);

	if (s->app_limited && rate <= u->arrival)
		return;
	u->most = max(u->most, rate);
	u->capacity = max(u->most, u->was_most);
	if (u->slow_start)
		u->arrival = u->most;
	else
		sstp_udt_smooth(&u->arrival, rate);
}

/* The timer runs while packets are delivered. */
static void sstp_udt_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_udt *u = sstp_udt_priv(c);

	u->delivered = min_t(u64, (u64)u->delivered + s->delivered, SSTP_WINDOW_MAX);
	if (s->delivered && !c->timer)
		c->timer = s->now + SSTP_UDT_SYN;
	if (!u->told && s->rate_delivered)
		sstp_udt_deliver(u, s);
	if ((s32)(s->highest - u->epoch) > SSTP_UDT_OLD)
		u->epoch = s->highest - SSTP_UDT_OLD;
}

/* In slow start the window grows by the packets delivered in a SYN, but at most doubles: UDT's
 * receiver acknowledges once in a SYN.
 */
static u32 sstp_udt_start(u32 cwnd, u32 delivered)
{
	return min_t(u64, (u64)cwnd + min(cwnd, delivered), SSTP_WINDOW_MAX);
}

/* A SYN is over. */
static void sstp_udt_timer(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_udt *u = sstp_udt_priv(c);
	u32 size = clamp(s->packet_size, 1U, SSTP_UDT_SIZE), delivered = u->delivered;
	bool lost = u->lost, used;

	u->delivered = 0;
	u->lost = false;
	if (!delivered)
		return;
	c->timer = s->now + SSTP_UDT_SYN;
	if (u->slow_start) {
		if (c->cwnd / 2 < s->flight)
			c->cwnd = sstp_udt_start(c->cwnd, delivered);
		if (c->cwnd < SSTP_WINDOW_MAX)
			return;
		sstp_udt_leave(c, u, s->srtt + SSTP_UDT_SYN_US);
	} else if (u->arrival) {
		c->cwnd = sstp_udt_window(u->arrival, s->srtt);
	}
	/* At least half of what the rate allows was delivered. */
	used = 2 * delivered * SSTP_UDT_HZ << SSTP_UDT_SHIFT >= u->rate;
	if (!lost && used)
		sstp_udt_set_rate(c, u, u->rate + sstp_udt_step(sstp_udt_spare(u), size));
}

/* P grows by an eighth. */
static void sstp_udt_decrease(struct sstp_ctrl *c, struct sstp_udt *u,
			      const struct sstp_ctrl_sample *s)
{
	sstp_udt_set_rate(c, u, div_u64(u->rate * 8, 9));
	u->epoch = s->shipped;
}

static void sstp_udt_begin_epoch(struct sstp_ctrl *c, struct sstp_udt *u,
				 const struct sstp_ctrl_sample *s)
{
	u->last_rate = u->rate;
	u->was_most = u->most;
	u->most = 0;
	u->avg_naks = div_u64(u->avg_naks * 7ULL + u->naks + 7, 8);
	u->naks = 1;
	u->every = sstp_udt_draw(s->shipped, u->avg_naks);
	u->decreases = 0;
	sstp_udt_decrease(c, u, s);
}

static void sstp_udt_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_udt *u = sstp_udt_priv(c);

	if (u->slow_start) {
		sstp_udt_leave(c, u, s->srtt + SSTP_UDT_SYN_US);
		if (u->arrival)
			return;
	}
	u->lost = true;
	if ((s32)(s->lost_ship - u->epoch) > 0) {
		sstp_udt_begin_epoch(c, u, s);
		return;
	}
	/* The losses of another controller begin no epoch. */
	if (!u->naks)
		return;
	u->naks = min(u->naks + 1, U32_MAX - 1);
	if (u->decreases < SSTP_UDT_DECREASES && u->naks % u->every == 0) {
		u->decreases++;
		sstp_udt_decrease(c, u, s);
	}
}

/* As in UDT 4, where a time-out changes nothing but slow start */
static void sstp_udt_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_udt *u = sstp_udt_priv(c);

	if (u->slow_start)
		sstp_udt_leave(c, u, s->srtt + SSTP_UDT_SYN_US);
}

static void sstp_udt_message(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			     const struct sstp_ctrl_msg *m)
{
	struct sstp_udt *u = sstp_udt_priv(c);
	u32 arrival, capacity;
	__be32 v[2];

	if (m->kind != SSTP_UDT_RATES || m->len < sizeof(v))
		return;
	memcpy(v, m->data, sizeof(v));
	arrival = be32_to_cpu(v[0]);
	capacity = be32_to_cpu(v[1]);
	/* From now on these are instead of the sender's own estimates. */
	if (!u->told) {
		u->told = true;
		u->arrival = 0;
		u->capacity = 0;
	}
	if (arrival)
		sstp_udt_smooth(&u->arrival, arrival);
	if (capacity)
		sstp_udt_smooth(&u->capacity, capacity);
}

static void sstp_udt_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct sstp_udt *u = (const struct sstp_udt *)c->priv;

	state[0] = u->slow_start;
	state[1] = u->arrival;
	state[2] = u->capacity;
	/* ns; 0 = no loss epoch yet */
	state[3] = div64_u64((u64)NSEC_PER_SEC << SSTP_UDT_SHIFT, u->last_rate);
	state[4] = u->naks;
	state[5] = u->avg_naks;
	state[6] = u->every;
	state[7] = u->decreases;
}

/* The receiving half */

/* 5 bits of exponent and 11 of mantissa, which keep the order of values */
static u16 sstp_udt_pack(u32 v)
{
	u32 exponent = max(fls(v) - 11, 0);

	return exponent << 11 | v >> exponent;
}

static u32 sstp_udt_unpack(u16 v)
{
	return (v & 2047U) << (v >> 11);
}

static void sstp_udt_add(struct sstp_udt_ring *g, u64 ns)
{
	g->value[g->at] = sstp_udt_pack(clamp_t(u64, ns, 1, U32_MAX));
	g->at = (g->at + 1) % SSTP_UDT_VALUES;
	g->count = min(g->count + 1, SSTP_UDT_VALUES);
}

static u32 sstp_udt_median(const struct sstp_udt_ring *g)
{
	u16 v[SSTP_UDT_VALUES];
	u32 i, j;

	for (i = 0; i < g->count; i++) {
		for (j = i; j && v[j - 1] > g->value[i]; j--)
			v[j] = v[j - 1];
		v[j] = g->value[i];
	}
	return sstp_udt_unpack(v[g->count / 2]);
}

/* UDT's filter: packets/s, from the mean of those values that are between an eighth of the median
 * and eight times it; 0 if there are not more than @least of these.
 */
static u32 sstp_udt_filter(const struct sstp_udt_ring *g, u32 least)
{
	u64 median, sum = 0;
	u32 i, n = 0;

	if (!g->count)
		return 0;
	median = sstp_udt_median(g);
	for (i = 0; i < g->count; i++) {
		u64 v = sstp_udt_unpack(g->value[i]);

		if (v * 8 > median && v < median * 8) {
			sum += v;
			n++;
		}
	}
	if (n <= least)
		return 0;
	return min_t(u64, div64_u64(n * (u64)NSEC_PER_SEC + sum - 1, sum), SSTP_UDT_MAX);
}

/* The state begins as zeros; the core asks for the callback. */
static void sstp_udt_recv_init(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
}

/* A: time since the last interval for each packet that came in it */
static void sstp_udt_arrived(struct sstp_udt_recv *u, u64 now, u32 packets)
{
	if (!u->since) {
		u->since = now;
		return;
	}
	u->packets += packets;
	if (now - u->since < SSTP_UDT_SPAN || !u->packets)
		return;
	sstp_udt_add(&u->arrival, div_u64(now - u->since, u->packets));
	u->since = now;
	u->packets = 0;
}

/* L: if packets came much farther apart than they left, the bottleneck sent all the time: the bytes
 * of the later ones took it as long.
 */
static void sstp_udt_pair(struct sstp_udt_recv *u, u64 now, const struct sstp_ctrl_packets *p)
{
	bool follows = u->anchor && p->shipment == u->next;
	u64 gap = now - u->anchor;
	s64 left = (s32)(p->stamp - u->stamp) * (s64)NSEC_PER_USEC;

	u->next = p->shipment + p->packets;
	u->bytes += p->bytes;
	u->full = max(u->full, min(p->bytes / p->packets, SSTP_UDT_SIZE));
	if (follows && gap < SSTP_UDT_PAIR_MIN)
		return;
	if (follows && gap < SSTP_UDT_PAIR_MAX && left >= 0 && left * SSTP_UDT_CLEAR <= gap &&
	    u->bytes)
		sstp_udt_add(&u->capacity, div_u64(gap * u->full, u->bytes));
	u->anchor = now;
	u->stamp = p->stamp;
	u->bytes = 0;
}

static void sstp_udt_recv_packets(struct sstp_recv *r, const struct sstp_recv_sample *s,
				  const struct sstp_ctrl_packets *p)
{
	struct sstp_udt_recv *u = sstp_udt_recv_priv(r);

	if (!p->packets)
		return;
	u->came = true;
	if (!r->timer)
		r->timer = s->now + SSTP_UDT_SYN;
	sstp_udt_arrived(u, s->now, p->packets);
	sstp_udt_pair(u, s->now, p);
}

/* A SYN is over: report, unless nothing came. */
static void sstp_udt_recv_timer(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	struct sstp_udt_recv *u = sstp_udt_recv_priv(r);
	u32 arrival, capacity;
	__be32 v[2];

	if (!u->came)
		return;
	u->came = false;
	r->timer = s->now + SSTP_UDT_SYN;
	arrival = sstp_udt_filter(&u->arrival, u->arrival.count / 2);
	capacity = sstp_udt_filter(&u->capacity, 0);
	if (!arrival && !capacity)
		return;
	v[0] = cpu_to_be32(arrival);
	v[1] = cpu_to_be32(capacity);
	memcpy(r->msg.data, v, sizeof(v));
	r->msg.len = sizeof(v);
	r->msg.kind = SSTP_UDT_RATES;
}

static struct sstp_ctrl_ops sstp_ctrl_udt = {
	.init		= sstp_udt_init,
	.on_ack		= sstp_udt_ack,
	.on_loss	= sstp_udt_loss,
	.on_timeout	= sstp_udt_timeout,
	.on_timer	= sstp_udt_timer,
	.on_message	= sstp_udt_message,
	.recv_init	= sstp_udt_recv_init,
	.recv_packets	= sstp_udt_recv_packets,
	.recv_timer	= sstp_udt_recv_timer,
	.name		= "udt",
	.owner		= THIS_MODULE,
	.state		= { "slow-start", "arrival", "capacity", "last-period", "naks",
			    "avg-naks", "every", "decreases" },
	.get_info	= sstp_udt_get_info,
};
module_sstp_ctrl(sstp_ctrl_udt);
MODULE_DESCRIPTION("SSTP controller: UDT");
MODULE_LICENSE("GPL");
