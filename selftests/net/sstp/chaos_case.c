// SPDX-License-Identifier: GPL-2.0
/* Cases of the chaos test: drawn, written, read, bounded, minimised. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos.h"
#include "fuzz.h"

#define SECOND		1000000000ULL
#define MILLION		1000000ULL

/* @plain: the value in the plainest case. Of @percent of all cases it is drawn from
 * @least to @most, where small ones are as likely as large ones of any size.
 */
static const struct key {
	const char *name;
	uint64_t plain, least, most;
	unsigned int percent;
} keys[KEYS] = {
	/* 0 = SOCK_STREAM, 1 = SOCK_SEQPACKET */
	[TYPE] = { "type", 0, 0, 1, 100 },
	[V6] = { "v6", 0, 0, 1, 60 },
	[CONNS] = { "conns", 1, 2, 4, 15 },
	[SIZE] = { "size", 1, 1, 3 << 20, 100 },
	[BACK] = { "back", 0, 1, 500000, 35 },
	[WRITE] = { "write", 65536, 1, 300000, 80 },
	[WVARY] = { "wvary", 0, 0, 1, 60 },
	/* WAIT_* */
	[WMODE] = { "wmode", 0, 0, 3, 80 },
	[RMODE] = { "rmode", 0, 0, 3, 80 },
	[MORE] = { "more", 0, 1, 1, 15 },
	[NODELAY] = { "nodelay", 0, 1, 1, 20 },
	/* ms, eight times in each direction */
	[WPAUSE] = { "wpause", 0, 1, 1500, 20 },
	[READ] = { "read", 65536, 1, 2 << 20, 70 },
	[RPAUSE] = { "rpause", 0, 1, 1500, 20 },
	[RLATE] = { "rlate", 0, 1, 3000, 25 },
	[WAITALL] = { "waitall", 0, 1, 1, 25 },
	[PEEK] = { "peek", 0, 1, 1, 20 },
	[LOWAT] = { "lowat", 0, 1, 2 << 20, 30 },
	/* after the last write, where nothing comes back */
	[CLOSE] = { "close", 0, 1, 1, 25 },
	/* to use the socket while it connects */
	[EARLY] = { "early", 0, 1, 1, 25 },

	[SEG] = { "seg", 0, 1, 1 << 20, 20 },
	[SNDBUF] = { "sndbuf", 0, 5000, 1 << 20, 25 },
	[RCVBUF] = { "rcvbuf", 0, 5000, 1 << 20, 30 },
	[FACTOR] = { "factor", 100, 101, 1000, 20 },
	[CLAMP] = { "clamp", 0, 1, 100, 10 },
	[SOFT] = { "soft", 0, 1, 1, 30 },
	[TOLERANCE] = { "tolerance", 0, 100, MILLION, 15 },
	[POOL] = { "pool", 0, 1, 1, 15 },
	[STATIC] = { "static", 0, 1, 1, 15 },
	/* of rrda: ms, bytes */
	[EPOCH] = { "epoch", 0, 1, 1000, 10 },
	[CEILING] = { "ceiling", 0, 65536, 4 << 20, 10 },
	/* bit/s; of A, and of B */
	[PEAK] = { "peak", 0, 100000, 200000000, 45 },
	[AVERAGE] = { "average", 0, 50000, 200000000, 15 },
	[BURSTS] = { "bursts", 0, 1000, 1000000, 10 },
	[BURST] = { "burst", 0, 1, 100, 15 },
	[BPEAK] = { "bpeak", 0, 100000, 200000000, 20 },
	[NEWRENO] = { "newreno", 0, 1, 1, 20 },
	[LIMIT] = { "limit", 0, 100000, 200000000, 10 },

	/* pages; bytes */
	[MEM] = { "mem", 0, 400, 8000, 12 },
	[RMEM] = { "rmem", 0, 4096, 1 << 20, 10 },
	[WMEM] = { "wmem", 0, 4096, 1 << 20, 8 },

	/* bit/s, us, packets, parts per million */
	[RATE] = { "rate", 100000000, 200000, 200000000, 95 },
	[RTT] = { "rtt", 1000, 100, 300000, 95 },
	[JITTER] = { "jitter", 0, 100, 50000, 12 },
	[QUEUE] = { "queue", 10000, 4, 3000, 70 },
	[LOSS] = { "loss", 0, 100, 100000, 35 },
	/* Gilbert-Elliott: all is lost from the begin of a burst (BAD) to its end */
	[BAD] = { "bad", 0, 100, 10000, 12 },
	[GOOD] = { "good", 0, 400000, MILLION, 0 },
	[DUP] = { "dup", 0, 100, 200000, 12 },
	[CORRUPT] = { "corrupt", 0, 100, 20000, 12 },
	[REORDER] = { "reorder", 0, 100, 950000, 20 },
	[GAP] = { "gap", 0, 1, 20, 0 },
	/* only what goes to B */
	[ONEWAY] = { "oneway", 0, 1, 1, 30 },
	/* ms */
	[OUTAGE] = { "outage", 0, 1, 5000, 15 },
	[OUTLEN] = { "outlen", 0, 10, 10000, 0 },
	/* at all ends; from MTUAT on at one link, back after MTULEN */
	[MTU] = { "mtu", 1500, 600, 9000, 20 },
	[MTUAT] = { "mtuat", 0, 1, 3000, 25 },
	[MTUTO] = { "mtuto", 0, 600, 9000, 0 },
	[MTULEN] = { "mtulen", 0, 1, 3000, 0 },
	/* no router tells */
	[BLIND] = { "blind", 0, 1, 1, 0 },
	/* bytes, ms */
	[TCP] = { "tcp", 0, 10000, 3000000, 12 },
	[TCPAT] = { "tcpat", 0, 1, 1000, 0 },
	/* net.sstp.ecn; and the line marks packets where it would lose them */
	[ECN] = { "ecn", 0, 1, 1, 25 },
	[SEED] = { "seed", 1, 1, 1 << 30, 100 },
};

/* --- text ---------------------------------------------------------------------- */

static int find_key(const char *name, size_t len)
{
	int k;

	for (k = 0; k < KEYS; k++)
		if (strlen(keys[k].name) == len && !memcmp(keys[k].name, name, len))
			return k;
	return -1;
}

static void plainest(struct chaos *c)
{
	int k;

	for (k = 0; k < KEYS; k++)
		c->v[k] = keys[k].plain;
}

bool chaos_parse(struct chaos *c, const char *text)
{
	plainest(c);
	while (*(text += strspn(text, " "))) {
		size_t len = strcspn(text, "= ");
		int k = find_key(text, len);
		char *end;

		if (k < 0 || text[len] != '=') {
			fprintf(stderr, "no case: %s\n", text);
			return false;
		}
		c->v[k] = strtoull(text + len + 1, &end, 0);
		if (end == text + len + 1 || (*end && *end != ' ')) {
			fprintf(stderr, "no number: %s\n", text);
			return false;
		}
		text = end;
	}
	return true;
}

const char *chaos_text(const struct chaos *c)
{
	static char text[1024];
	size_t len = 0;
	int k;

	*text = 0;
	for (k = 0; k < KEYS; k++)
		if (c->v[k] != keys[k].plain)
			len += snprintf(text + len, sizeof(text) - len, "%s%s=%llu",
					len ? " " : "", keys[k].name,
					(unsigned long long)c->v[k]);
	return text;
}

/* --- chance -------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Draw from @lo to @hi: uniformly if @lo is 0, else each power of two is as likely. */
static uint64_t spread(struct rng *r, uint64_t lo, uint64_t hi)
{
	unsigned int steps = 1;

	if (lo) {
		while (lo << steps <= hi)
			steps++;
		lo <<= below(r, steps);
		hi = least(hi, 2 * lo - 1);
	}
	return lo + rnd(r) % (hi - lo + 1);
}

static void draw_key(struct chaos *c, struct rng *r, int k)
{
	c->v[k] = spread(r, keys[k].least, keys[k].most);
}

/* A time, in ms, at which data is probably in flight */
static uint64_t during(const struct chaos *c, struct rng *r)
{
	const uint64_t *v = c->v;
	uint64_t rate = v[PEAK] ? least(v[PEAK], v[RATE]) : v[RATE];

	return 1 + rnd(r) % (4 + v[RTT] * 4 / 1000 + v[SIZE] * 10000 / rate);
}

/* Keys that are drawn together */
static void draw_more(struct chaos *c, struct rng *r)
{
	uint64_t *v = c->v;

	if (v[BAD])
		draw_key(c, r, GOOD);
	if (v[REORDER])
		draw_key(c, r, GAP);
	if (v[OUTAGE]) {
		v[OUTAGE] = during(c, r);
		draw_key(c, r, OUTLEN);
	}
	if (v[MTUAT]) {
		v[MTUAT] = during(c, r);
		draw_key(c, r, MTUTO);
		if (chance(r, 60))
			draw_key(c, r, MTULEN);
		v[BLIND] = chance(r, 25);
	}
	if (v[TCP])
		draw_key(c, r, TCPAT);
	if (v[MEM] && v[CONNS] == 1 && chance(r, 50))
		draw_key(c, r, CONNS);
}

/* Mend values that are impossible, or would take too long to simulate. */
static void mend(struct chaos *c)
{
	uint64_t *v = c->v, floor;

	/* Limit a case to half a minute of the path, and 1,000 calls. */
	v[SIZE] = most(1, least(v[SIZE] / v[CONNS], v[RATE] * 30 / 8));
	v[BACK] = least(v[BACK] / v[CONNS], v[RATE] * 30 / 8);
	floor = most(v[SIZE], v[BACK]) / 500 + 1;
	v[WRITE] = most(v[WRITE], floor);
	v[READ] = most(v[READ], floor);
	if (v[SEG])
		v[SEG] = most(v[SEG], floor);
	if (v[TYPE]) {
		v[WAITALL] = 0;
		v[LOWAT] = 0;
		v[MORE] = 0;
		v[NODELAY] = 0;
	}
	if (v[BACK])
		v[CLOSE] = 0;
	if (!v[PEAK]) {
		v[AVERAGE] = 0;
		v[BURSTS] = 0;
		v[BURST] = 0;
	}
	/* The peak carries all bytes in 30 s, and is at least the lowest that is allowed. */
	floor = most(v[SIZE] * 8 / 30, 8000);
	if (v[PEAK])
		v[PEAK] = most(v[PEAK], floor);
	if (v[BPEAK])
		v[BPEAK] = most(v[BPEAK], most(v[BACK] * 8 / 30, 8000));
	if (v[AVERAGE])
		v[AVERAGE] = least(most(v[AVERAGE], floor), v[PEAK]);
	if (v[LIMIT])
		v[LIMIT] = most(v[LIMIT], most(floor, v[BACK] * 8 / 30));
	/* A thousand packets in half a minute; F * L * frame is no more than P. */
	if (v[BURSTS]) {
		uint64_t frames = v[PEAK] / (9014 * 8) * 1000;

		v[AVERAGE] = 0;
		v[BURST] = most(v[BURST], 1);
		floor = (v[SIZE] / 500 + 500) / v[BURST] * 1000 / 30;
		v[BURSTS] = least(most(v[BURSTS], floor), frames / v[BURST]);
	}
	if (v[POOL])
		v[RCVBUF] = 0;
	if (v[RCVBUF])
		v[STATIC] = v[EPOCH] = v[CEILING] = 0;
	v[TCP] = least(v[TCP], v[RATE] * 20 / 8);
	if (v[V6]) {
		v[MTU] = most(v[MTU], 1280);
		if (v[MTUAT])
			v[MTUTO] = most(v[MTUTO], 1280);
	}
}

static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n == len && !memcmp(list, name, n))
			return true;
		list += n + !!list[n];
	}
	return false;
}

void chaos_draw(struct chaos *c, uint64_t seed, uint64_t n, const char *without)
{
	struct rng r = { mix64(seed) ^ mix64(n + 1) };
	int k;

	plainest(c);
	for (k = 0; k < KEYS; k++)
		if (chance(&r, keys[k].percent))
			draw_key(c, &r, k);
	/* Half of the cases are large. */
	if (chance(&r, 50))
		c->v[SIZE] = 20000 + rnd(&r) % (chance(&r, 20) ? 5 << 20 : 1 << 20);
	draw_more(c, &r);
	for (k = 0; k < KEYS; k++)
		if (listed(without, keys[k].name))
			c->v[k] = keys[k].plain;
	mend(c);
}

uint32_t chaos_write(const struct chaos *c, uint64_t seed, uint64_t pos,
		     uint64_t total)
{
	uint64_t n = c->v[WRITE];

	if (c->v[WVARY])
		n = 1 + mix64(seed ^ pos << 8) % n;
	return least(n, total - pos);
}

/* --- how long it may take ------------------------------------------------------- */

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double path_loss(const struct chaos *c)
{
	const uint64_t *v = c->v;
	double p = (v[LOSS] + v[CORRUPT]) / 1e6;

	if (v[BAD])
		p += (double)v[BAD] / (v[BAD] + v[GOOD]);
	/* Reordered packets may be taken for lost. */
	if (v[REORDER] || v[JITTER])
		p += 0.02;
	/* A contract that the line does not carry, or its bursts */
	if (v[PEAK] * v[CONNS] > v[RATE] || v[BPEAK] * v[CONNS] > v[RATE] ||
	    (v[PEAK] && v[QUEUE] < (v[BURST] + 5) * v[CONNS]))
		p += 0.5;
	return smaller(p, 0.9);
}

/* Bytes that a program writes at once */
static uint64_t segment(const struct chaos *c)
{
	const uint64_t *v = c->v;
	uint64_t unit = v[WRITE];

	if (!v[TYPE] && v[SEG])
		unit = least(unit, v[SEG]);
	return most(1, unit / (1 + v[WVARY]));
}

/* Packets that a buffer allows in flight in the worst case: those of one segment */
static double window(const struct chaos *c, double of_segment)
{
	const uint64_t *v = c->v;
	uint64_t bound[] = { v[SNDBUF], v[RCVBUF], v[RMEM], v[WMEM], v[CEILING] };
	double room = 4 << 20, segments;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bound); i++)
		if (bound[i])
			room = smaller(room, bound[i]);
	segments = room / 8 / (2 * segment(c) + 1024);
	if (v[CLAMP])
		segments = smaller(segments, v[CLAMP]);
	return larger(segments, 1) * of_segment;
}

/* Seconds that @total bytes of each connection take, pessimistically */
static double expected(const struct chaos *c, uint64_t total, uint64_t peak)
{
	const uint64_t *v = c->v;
	double p = path_loss(c), line = v[RATE] * 0.9, mtu = v[MTU], rtt, root;
	double segments, packets, frame, pps;

	if (!total)
		return 0;
	if (v[MTUAT])
		mtu = smaller(mtu, v[BLIND] ? 552 : v[MTUTO]);
	segments = (double)total / segment(c) + 1;
	packets = segments + total / (mtu - 100);
	frame = total / packets + 120;
	rtt = (v[RTT] + 2 * v[JITTER]) / 1e6 +
	      smaller(v[QUEUE], packets * v[CONNS]) * frame * 8 / v[RATE];
	if (v[AVERAGE] || v[BURSTS])
		peak = v[AVERAGE] ?: v[BURSTS] * v[BURST] * 500 / 125;
	if (peak)
		line = smaller(line, peak * v[CONNS]);
	if (v[LIMIT])
		line = smaller(line, v[LIMIT] * v[CONNS]);
	pps = line / v[CONNS] / 8 / frame;
	pps = smaller(pps, window(c, packets / segments) / rtt);
	/* Congestion control, and 200 ms for each loss */
	for (root = 1e-3; root * root < p; root *= 1.1)
		;
	if (p)
		pps = smaller(pps, 1 / rtt / root);
	/* Memory or the queue may be too small for a whole window. */
	if (v[MEM] || v[QUEUE] < 20)
		pps = smaller(pps, 1 / (rtt + 0.2));
	packets /= 1 - p;
	return packets / pps + packets * p * 0.2 + v[TCP] * 8 / (v[RATE] * 0.9);
}

uint64_t chaos_bound(const struct chaos *c)
{
	const uint64_t *v = c->v;
	double s = 20 + 20 * v[RTT] / 1e6;

	s += 8 * larger(expected(c, v[SIZE], v[PEAK]), expected(c, v[BACK], v[BPEAK]));
	s += (v[WPAUSE] + v[RPAUSE]) * 8 / 1e3 + v[RLATE] / 1e3;
	if (v[OUTAGE])
		s += v[OUTAGE] / 1e3 + 3 * v[OUTLEN] / 1e3 + 10;
	if (v[MTUAT])
		s += v[MTUAT] / 1e3 + v[MTULEN] / 1e3 + 20;
	if (v[TCP])
		s += v[TCPAT] / 1e3 + 10;
	return s * SECOND;
}

/* Seconds that a full queue takes to drain */
static double queueing(const struct chaos *c)
{
	const uint64_t *v = c->v;
	double all = (v[SIZE] + v[BACK]) * v[CONNS];

	all += all / segment(c) * 120 + v[TCP];
	return smaller(all, (double)v[QUEUE] * v[MTU]) * 8 / v[RATE];
}

uint64_t chaos_silence(const struct chaos *c)
{
	const uint64_t *v = c->v;
	uint64_t unit = most(v[WRITE], v[SEG]);
	double s = 10 + 20 * v[RTT] / 1e6 + 2 * queueing(c);

	/* A reader may wait for more than a segment. */
	unit = most(unit, v[LOWAT]);
	if (v[WAITALL])
		unit = most(unit, v[READ]);
	s += 4 * larger(expected(c, least(unit, v[SIZE]), v[PEAK]),
			expected(c, least(unit, v[BACK]), v[BPEAK]));
	s += 2 * v[OUTLEN] / 1e3;
	if (v[MTUAT])
		s += 10;
	return s * SECOND;
}

/* --- as plain as possible --------------------------------------------------------- */

static bool try_value(struct chaos *c, int k, uint64_t value,
		      bool (*fails)(const struct chaos *c))
{
	struct chaos less = *c;

	if (c->v[k] == value)
		return false;
	less.v[k] = value;
	/* MTUAT needs MTUTO, and BAD needs GOOD. */
	if ((less.v[MTUAT] && !less.v[MTUTO]) || (less.v[BAD] && !less.v[GOOD]) ||
	    !fails(&less))
		return false;
	*c = less;
	return true;
}

void chaos_minimise(struct chaos *c, bool (*fails)(const struct chaos *c))
{
	bool again = true;
	int k, i;

	for (i = 0; again && i < 3; i++) {
		again = false;
		for (k = 0; k < KEYS; k++)
			again |= try_value(c, k, keys[k].plain, fails);
	}
	/* Sizes by halves */
	for (k = 0; k < KEYS; k++)
		if ((k == SIZE || k == BACK) && c->v[k] > 1)
			while (try_value(c, k, c->v[k] / 2, fails))
				;
}
