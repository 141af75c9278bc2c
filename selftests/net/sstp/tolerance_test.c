// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * cpus: 1
 * quick: yes
 *
 * A segment that lacks no more than is tolerated arrives, with its gaps listed
 * exactly; one that lacks more is repaired until it does not; without tolerance
 * there are no gaps. First against a peer that decides itself what is lost, then
 * over a path that loses packets. (One CPU, as two may change the order of packets, which makes
 * the receiver ask for segments that no tolerance spares.)
 *
 *	tolerance_test [-S SEED]
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "peer.h"

#define MILLION		1000000ULL
#define MS		1000000ULL
#define WAIT_MS		20000		/* for what must happen */
#define PACKETS		300		/* most in a segment, against the peer */
#define LATE_US		20000		/* more than it waits for on loopback */
#define GAPS		4096		/* that the kernel lists at most */
#define SEGMENT_MOST	60000		/* over the path */
#define RATE		8000000

static uint64_t rng;

static uint64_t rnd(void)
{
	rng += 0x9e3779b97f4a7c15;
	return mix64(rng);
}

static uint32_t below(uint32_t n)
{
	return (rnd() >> 32) % n;
}

/* --- reading with gaps ------------------------------------------------------ */

static char control[CMSG_SPACE((GAPS + 1) * sizeof(struct sstp_gap))];

/* Result of one read */
struct piece {
	ssize_t len;
	int flags;
	size_t gaps;
	struct sstp_gap gap[GAPS + 1];
};

static void take_piece(int fd, void *buf, size_t size, size_t controllen,
		       int flags, struct piece *p)
{
	struct iovec iov = { buf, size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = controllen,
	};
	struct cmsghdr *c;

	p->gaps = 0;
	p->len = recvmsg(fd, &msg, flags | MSG_DONTWAIT);
	p->flags = msg.msg_flags;
	if (p->len < 0)
		return;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SSTP || c->cmsg_type != SSTP_GAPS) {
			must(false, "no other control message");
			continue;
		}
		p->gaps = (c->cmsg_len - CMSG_LEN(0)) / sizeof(*p->gap);
		memcpy(p->gap, CMSG_DATA(c), p->gaps * sizeof(*p->gap));
	}
}

static bool same_gaps(const struct piece *a, const struct piece *b)
{
	return a->gaps == b->gaps &&
	       !memcmp(a->gap, b->gap, a->gaps * sizeof(*a->gap));
}

/* Gaps are in order, disjoint, within the bytes that were read, and read as zeros; other bytes are
 * those of stream @seed from @pos on. Returns the bytes missing.
 */
static size_t check_piece(const struct piece *p, const uint8_t *buf,
			  uint64_t seed, uint64_t pos)
{
	size_t at = 0, missing = 0, i, k;

	for (i = 0; i <= p->gaps; i++) {
		size_t to = i < p->gaps ? p->gap[i].offset : (size_t)p->len;
		size_t len = i < p->gaps ? p->gap[i].len : 0;

		if (to > (size_t)p->len || len > p->len - to ||
		    (i < p->gaps && (!len || (i && to <= at)))) {
			ktap_diag("gap %zu: %zu, %zu bytes, after %zu, of %zd",
				  i, to, len, at, p->len);
			all_held = false;
			return missing;
		}
		if (to > at)
			must_be("right bytes", content_check(buf + at, to - at,
							     seed, pos + at),
				to - at);
		for (k = 0; k < len; k++)
			if (buf[to + k])
				break;
		must_be("bytes of a gap that are zero", k, len);
		missing += len;
		at = to + len;
	}
	return missing;
}

/* --- against a peer ---------------------------------------------------------- */

/* A segment, and those of its packets that the reader must miss */
struct made {
	uint32_t len, size, packets, missing;
	bool here[PACKETS];
};

static void make_segment(struct made *m, uint32_t tolerance)
{
	static const uint32_t rates[] = { 0, 5000, 50000, 250000, 600000 };
	uint32_t rate = rates[below(ARRAY_SIZE(rates))], i;

	m->packets = 1 + (below(4) ? below(PACKETS) : below(4));
	m->size = 1 + below(200);
	m->len = m->size * (m->packets - 1) + 1 + below(m->size);
	/* Now and then lose as many packets as just pass, or one more. */
	if (!below(4)) {
		uint32_t n = (uint64_t)m->packets * tolerance / MILLION + below(2);

		for (i = 0; i < m->packets; i++)
			m->here[i] = true;
		for (i = 0; i < n && i + 1 < m->packets; i++)
			m->here[below(m->packets)] = false;
	} else {
		for (i = 0; i < m->packets; i++)
			m->here[i] = below(MILLION) >= rate;
	}
	m->here[below(m->packets)] = true;
	m->missing = 0;
	for (i = 0; i < m->packets; i++)
		m->missing += !m->here[i];
}

static void ship(struct peer *p, uint32_t segment, const struct made *m,
		 uint32_t packet, uint8_t flags)
{
	bool last = packet + 1 == m->packets;

	peer_data(p, segment, packet, last ? m->len - m->size * packet : m->size,
		  m->len, flags | (last ? LAST : 0));
}

static bool passes(const struct made *m, uint32_t tolerance)
{
	return m->missing * MILLION <= (uint64_t)m->packets * tolerance;
}

static uint32_t awaited;

static bool accepted(const struct peer *p)
{
	return p->ack == awaited;
}

static bool asked(const struct peer *p)
{
	return p->asked;
}

/* Gaps that a reader of the whole segment must be told */
static void expected_gaps(const struct made *m, struct piece *want)
{
	uint32_t i, end;

	want->gaps = 0;
	for (i = 0; i < m->packets; i++) {
		struct sstp_gap *h = &want->gap[want->gaps];

		if (m->here[i])
			continue;
		end = i + 1 == m->packets ? m->len : m->size * (i + 1);
		if (i && !m->here[i - 1]) {
			h--;
			h->len = end - h->offset;
			continue;
		}
		*h = (struct sstp_gap){ m->size * i, end - m->size * i };
		want->gaps++;
	}
}

/* Segments with losses of every kind; only packets beyond the tolerance are shipped again. */
static void test_exact(uint32_t tolerance)
{
	const int rounds = 60;		/* the peer numbers them with bits */
	static struct piece got, peeked, want;
	static uint8_t buf[PACKETS * 200 + 1];
	struct peer_init us = { .window = 1, .tolerance = tolerance };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0), r;
	unsigned int repaired = 0, gapped = 0;
	long counted = path_counter(B, "SegmentsWithGaps");
	struct peer p;
	struct made m;
	uint32_t i;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_TOLERANCE, tolerance);
	peer_open(&p, l, &us);
	for (r = 0; r < rounds && all_held; r++) {
		bool short_control;

		make_segment(&m, tolerance);
		for (i = 0; i < m.packets; i++)
			if (m.here[i])
				ship(&p, r, &m, i, 0);
			else
				p.shipment++;
		peer_keepalive(&p, r + 1);
		awaited = r + 1;
		if (!passes(&m, tolerance)) {
			p.asked = 0;
			must(peer_await(&p, WAIT_MS, asked), "it asks");
			must(p.ack == (uint32_t)r, "not accepted before");
			repaired++;
			for (i = 0; i < m.packets; i++) {
				if (m.here[i])
					continue;
				ship(&p, r, &m, i, AGAIN);
				if (passes(&m, tolerance))
					continue;	/* too late by now */
				m.here[i] = true;
				m.missing--;
			}
			peer_keepalive(&p, r + 1);
		}
		must(peer_await(&p, WAIT_MS, accepted), "it is accepted");
		expected_gaps(&m, &want);
		gapped += !!want.gaps;

		/* MSG_PEEK returns the same, also without room to list all gaps. */
		short_control = want.gaps > 1 && below(2);
		take_piece(p.fd, buf, sizeof(buf), short_control ?
			   CMSG_SPACE(sizeof(*got.gap)) : sizeof(control),
			   MSG_PEEK, &peeked);
		if (short_control)
			must(peeked.flags & MSG_CTRUNC, "a short list says so");
		else
			must(same_gaps(&peeked, &want), "gaps of a peek");
		take_piece(p.fd, buf, sizeof(buf), sizeof(control), 0, &got);
		must_be("length", got.len, m.len);
		must(same_gaps(&got, &want), "exactly these gaps");
		must(!(got.flags & (MSG_TRUNC | MSG_CTRUNC)), "nothing is cut");
		check_piece(&got, buf, p.seed + r, 0);
		if (!all_held)
			ktap_diag("segment %d: %u packets of %u, %u missing, %zu gaps, got %zu",
				  r, m.packets, m.size, m.missing, want.gaps,
				  got.gaps);
	}
	ktap_diag("tolerance %u: %d segments, %u repaired, %u with gaps",
		  tolerance, r, repaired, gapped);
	must_be("SegmentsWithGaps", path_counter(B, "SegmentsWithGaps") - counted,
		gapped);
	must(repaired || tolerance == MILLION, "some had to be repaired");
	must(!tolerance == !gapped, "gaps where they are tolerated only");
	peer_must_be_right(&p);
	peer_close(&p);
	ktap_result(all_held, "segments against a peer, tolerance %u", tolerance);
}

static bool came(void *arg)
{
	return path_counter(B, "InPkts") >= *(long *)arg;
}

/* More gaps than are listed: MSG_CTRUNC is set. */
static void test_many_gaps(void)
{
	const struct made m = { .packets = 2 * GAPS + 2, .size = 8,
				.len = 8 * (2 * GAPS + 2) };
	static uint8_t buf[8 * (2 * GAPS + 2)];
	struct peer_init us = { .window = 1, .tolerance = MILLION / 2 };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	static struct piece got;
	struct peer p;
	long packets;
	uint32_t i;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_TOLERANCE, MILLION / 2);
	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20);
	peer_open(&p, l, &us);
	packets = path_counter(B, "InPkts");
	for (i = 0; i < m.packets; i += 2) {
		p.shipment++;
		ship(&p, 0, &m, i + 1, 0);
		packets++;
		/* The queue of the loopback device holds a thousand packets. */
		if (i % 512 == 510)
			must(busywait(WAIT_MS, came, &packets), "packets come");
	}
	peer_keepalive(&p, 1);
	awaited = 1;
	must(peer_await(&p, WAIT_MS, accepted), "it is accepted");
	take_piece(p.fd, buf, sizeof(buf), sizeof(control), 0, &got);
	must_be("length", got.len, m.len);
	must_be("gaps listed", got.gaps, GAPS);
	must(got.flags & MSG_CTRUNC, "not all are listed");
	for (i = 0; i < got.gaps; i++)
		if (got.gap[i].offset != 16 * i || got.gap[i].len != 8)
			break;
	must_be("right gaps", i, GAPS);
	peer_close(&p);
	ktap_result(all_held, "more gaps than are listed");
}

/* A packet that comes after it was asked for again makes the receiver wait longer from then on. */
static void arrive_late(struct peer *p, uint32_t segment, const struct made *m)
{
	uint32_t i, late;

	for (i = 0; i + 1 < m->packets; i++)
		ship(p, segment, m, i, 0);
	late = p->shipment++;
	p->asked = 0;
	peer_keepalive(p, segment + 1);
	must(peer_await(p, WAIT_MS, asked), "it asks");
	usleep(LATE_US);
	p->shipment = late;
	ship(p, segment, m, i, 0);
	awaited = segment + 1;
	must(peer_await(p, WAIT_MS, accepted), "it is accepted");
}

/* Missing packets of the last segment may be late, until a timer has expired: that timer accepts
 * the segment, and the stream ends as when a packet completes it.
 */
static void test_end_by_timer(void)
{
	const struct made few = { .packets = 5, .size = 100, .len = 500 };
	const struct made m = { .packets = 20, .size = 100, .len = 2000 };
	struct peer_init us = { .window = 1, .tolerance = MILLION / 10 };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	static uint8_t buf[2000];
	static struct piece got;
	struct peer p;
	uint32_t i;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_TOLERANCE, MILLION / 10);
	peer_open(&p, l, &us);
	arrive_late(&p, 0, &few);
	for (i = 0; i + 1 < m.packets; i++)
		ship(&p, 1, &m, i, 0);
	p.shipment++;
	peer_eos(&p, 2);
	awaited = 3;
	must(peer_await(&p, WAIT_MS, accepted), "the end is accepted");
	take_piece(p.fd, buf, sizeof(buf), sizeof(control), 0, &got);
	must_be("gaps", got.gaps, 0);
	take_piece(p.fd, buf, sizeof(buf), sizeof(control), 0, &got);
	must_be("gaps", got.gaps, 1);
	must_be("state", sock_info(p.fd).state, TCP_CLOSE_WAIT);
	peer_close(&p);
	ktap_result(all_held, "the timer accepts the last segment");
}

/* --- over a path -------------------------------------------------------------- */

struct flow {
	int type, tx, rx;
	uint64_t seed, total, sent, got, missing;
	uint32_t size, tolerance;
	uint64_t packets;		/* of the segments received */
	unsigned int gapped;		/* reads with gaps */
};

static uint32_t segment_len(const struct flow *f, uint64_t pos)
{
	uint64_t n = 1 + mix64(f->seed ^ pos << 8) % SEGMENT_MOST;

	return n < f->total - pos ? n : f->total - pos;
}

static void flow_open(struct flow *f, int type, int family, uint32_t ours,
		      uint32_t theirs)
{
	struct sstp_rate_spec rate = { .peak = RATE };
	int l = path_socket(B, type);

	*f = (struct flow){ .type = type, .seed = rnd(), .total = 500000 };
	f->tolerance = ours < theirs ? ours : theirs;
	sock_set(l, SOL_SSTP, SSTP_TOLERANCE, theirs);
	f->tx = path_socket(A, type);
	sock_set(f->tx, SOL_SSTP, SSTP_TOLERANCE, ours);
	/* Use a contract, as losses do not slow it down. */
	if (setsockopt(f->tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	f->rx = path_connect(f->tx, l, family);
	f->size = sock_info(f->tx).packet_size;
	must_be("agreed tolerance", sock_info(f->rx).tolerance, f->tolerance);
}

static void flow_write(struct flow *f)
{
	static char buf[SEGMENT_MOST];
	ssize_t n = 0;

	while (f->sent < f->total) {
		uint32_t len = segment_len(f, f->sent);

		content_fill(buf, len, f->seed, f->sent);
		n = send(f->tx, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n <= 0)
			break;
		f->sent += n;
	}
	if (n < 0 && errno != EAGAIN)
		die("send:");
}

/* Each gap is whole packets of a segment of which others came. */
static void check_segment(struct flow *f, const struct piece *p, size_t missing)
{
	uint64_t packets = (p->len + f->size - 1) / f->size, lost = 0;
	size_t i;

	for (i = 0; i < p->gaps; i++) {
		const struct sstp_gap *h = &p->gap[i];

		must(!(h->offset % f->size) && (!(h->len % f->size) ||
		     h->offset + h->len == (size_t)p->len),
		     "a gap is made of packets");
		lost += (h->len + f->size - 1) / f->size;
	}
	must_be("length", p->len, segment_len(f, f->got));
	must(missing < (size_t)p->len, "something of it is here");
	must(lost * MILLION <= packets * f->tolerance,
	     "no more is missing than was tolerated");
	f->packets += packets;
}

/* Returns false when no data can be read now, or any more. */
static bool flow_read(struct flow *f, bool *end)
{
	static uint8_t buf[SEGMENT_MOST + 1];
	static struct piece p, peeked;
	size_t size = f->type == SOCK_STREAM ? 1 + below(SEGMENT_MOST) :
		      sizeof(buf), missing;

	peeked.len = -1;
	if (!below(3))
		take_piece(f->rx, buf, size, sizeof(control), MSG_PEEK, &peeked);
	take_piece(f->rx, buf, size, sizeof(control), 0, &p);
	if (p.len < 0 && errno != EAGAIN)
		die("recv:");
	*end = !p.len;
	if (p.len <= 0)
		return false;
	/* More of the stream may have come meanwhile. */
	if (peeked.len == p.len)
		must(same_gaps(&p, &peeked), "a peek shows the same gaps");
	missing = check_piece(&p, buf, f->seed, f->got);
	if (f->type == SOCK_SEQPACKET)
		check_segment(f, &p, missing);
	f->got += p.len;
	f->missing += missing;
	f->gapped += !!p.gaps;
	return true;
}

static void flow_run(struct flow *f)
{
	uint64_t end = now_ns() + 40000 * MS;
	bool down = false, over = false;

	while (all_held && !over && now_ns() < end) {
		struct pollfd p[2] = {
			{ .fd = f->rx, .events = POLLIN },
			{ .fd = f->tx, .events = POLLOUT },
		};

		poll(p, down ? 1 : 2, 100);
		flow_write(f);
		if (f->sent == f->total && !down)
			down = !shutdown(f->tx, SHUT_WR);
		while (flow_read(f, &over))
			;
	}
	must(over, "it comes to its end");
	must_be("bytes", f->got, f->total);
}

/* Returns the packets that were sent again. */
static long flow_end(struct flow *f, const char *name)
{
	struct sstp_info rx = sock_info(f->rx), tx = sock_info(f->tx);

	/* All bytes outside of gaps were received. */
	must_be("bytes received", rx.bytes_received, f->total - f->missing);
	if (f->type == SOCK_SEQPACKET)
		must_be("segments with gaps", f->gapped, rx.segments_with_gaps);
	else
		must(!f->gapped == !rx.segments_with_gaps, "gaps are told");
	must(f->missing * MILLION <= f->total * f->tolerance,
	     "no more is missing in all than was tolerated");
	ktap_diag("%s: %llu of %llu bytes missing, %llu segments with gaps, %llu packets again",
		  name, (unsigned long long)f->missing,
		  (unsigned long long)f->total,
		  (unsigned long long)rx.segments_with_gaps,
		  (unsigned long long)tx.packets_retrans);
	close(f->tx);
	close(f->rx);
	must(path_settle(), "sockets closed");
	return tx.packets_retrans;
}

static void test_path(const char *loss, uint32_t ours, uint32_t theirs,
		      int type, int family)
{
	char netem[64], name[96];
	struct flow f;

	all_held = true;
	snprintf(netem, sizeof(netem), "delay 5ms loss %s", loss);
	snprintf(name, sizeof(name), "loss %s, tolerance %u and %u, IPv%d, %s",
		 loss, ours, theirs, family == AF_INET ? 4 : 6,
		 type == SOCK_STREAM ? "stream" : "segments");
	path_impair(B, netem);
	flow_open(&f, type, family, ours, theirs);
	flow_run(&f);
	must(f.tolerance || !f.missing, "no gaps unless both tolerate them");
	flow_end(&f, name);
	ktap_result(all_held, "%s", name);
}

/* The same losses with and without tolerance */
static void test_fewer(void)
{
	struct flow f;
	long with, without;

	all_held = true;
	path_impair(B, "delay 5ms loss 5%");
	flow_open(&f, SOCK_SEQPACKET, AF_INET, 0, 0);
	flow_run(&f);
	without = flow_end(&f, "without tolerance");
	flow_open(&f, SOCK_SEQPACKET, AF_INET, 500000, 500000);
	flow_run(&f);
	with = flow_end(&f, "half may be missing");
	must(with < without / 2, "less than half as many");
	ktap_result(all_held, "fewer retransmissions with tolerance");
}

int main(int argc, char **argv)
{
	uint64_t seed = nonce();
	int c;

	while ((c = getopt(argc, argv, "S:")) != -1) {
		if (c != 'S')
			die("usage: %s [-S SEED]", argv[0]);
		seed = strtoull(optarg, NULL, 0);
	}
	ktap_plan(16);
	ktap_diag("seed %#llx (replay with -S)", (unsigned long long)seed);
	rng = seed;
	path_make();
	path_enter(B);
	peer_may_vanish();
	test_exact(0);
	test_exact(10000);
	test_exact(250000);
	test_exact(MILLION);
	test_many_gaps();
	test_end_by_timer();
	if (!path_settle())
		die("sockets are left");

	/* A machine may stand still for a second, but these peers do not vanish. */
	path_enter(B);
	file_put("/proc/sys/net/sstp/user_timeout", "60000");
	path_impair(A, "delay 5ms");
	/* The path carries 1280 bytes, with which IPv6 begins, so that all packets of a flow have
	 * one size, which gaps are compared with.
	 */
	path_run(R, "ip link set to-a mtu 1280 && ip link set to-b mtu 1280");
	path_run(A, "ip link set to-r mtu 1280");
	path_run(B, "ip link set to-r mtu 1280");
	test_path("0.5%", 10000, 10000, SOCK_SEQPACKET, AF_INET);
	test_path("0.5%", 50000, 50000, SOCK_STREAM, AF_INET6);
	test_path("2%", 50000, 100000, SOCK_SEQPACKET, AF_INET6);
	test_path("2%", 10000, 10000, SOCK_STREAM, AF_INET);
	test_path("5%", 200000, 200000, SOCK_SEQPACKET, AF_INET);
	test_path("10%", 100000, 100000, SOCK_STREAM, AF_INET6);
	test_path("10%", MILLION, MILLION, SOCK_SEQPACKET, AF_INET6);
	test_path("10%", 100000, 0, SOCK_SEQPACKET, AF_INET);
	test_path("5%", 0, 100000, SOCK_STREAM, AF_INET);
	test_fewer();
	return ktap_end();
}
