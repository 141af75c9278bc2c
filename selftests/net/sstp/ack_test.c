// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * Windows and acknowledgements packet by packet, against paper WUCS-92-38: the
 * receiver's and the sender's window (section 3.4), hard ACK as in its Figure 15,
 * soft ACK as in its Figure 16. There W is 8 segments and the buffer B holds 4.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "peer.h"

#define LEN		15000		/* of a segment: one packet on loopback */
#define W		8
#define B		4
#define QUIET_MS	100		/* for what must not come */
#define WAIT_MS		20000		/* for what must */
#define BITS(a, b)	((~0ULL >> (63 - (b))) & (~0ULL << (a)))	/* a to b */

static uint32_t truesize;		/* memory that a segment takes */

/* A receiver with room for B segments that grants @w of them */
static void open_receiver(struct peer *p, int strategy, int w)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = {
		.window = 1,
		/* The module charges 1024 bytes more than the length of a segment. */
		.segment = truesize ? truesize - 1024 : LEN,
		.strategy = strategy,
	};

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, 100 * w / B);
	if (truesize)
		sock_set(l, SOL_SOCKET, SO_RCVBUF, (B * 2 + 1) * truesize / 4);
	peer_open(p, l, &us);
}

static void ship(struct peer *p, uint32_t segment, uint8_t flags)
{
	peer_data(p, segment, 0, LEN, LEN, LAST | flags);
}

/* The program reads a segment, which must be this one. */
static void take(struct peer *p, uint32_t segment)
{
	static char buf[LEN + 1];
	ssize_t n = recv(p->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0)
		ktap_diag("segment %u: %s", segment, strerrorname_np(errno));
	must(n == LEN && content_check(buf, LEN, p->seed + segment, 0) == LEN,
	     "the segment is taken, and right");
}

static void nothing_to_take(struct peer *p)
{
	must(recv(p->fd, (char[1]){}, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN,
	     "nothing to take");
}

static struct peer *awaited;		/* for conditions below */
static uint64_t awaited_bits;
static uint32_t awaited_ack, awaited_limit;

static bool all_asked(const struct peer *p)
{
	return !(awaited_bits & ~p->asked);
}

static bool acked(const struct peer *p)
{
	return p->ack == awaited_ack && p->limit == awaited_limit;
}

static bool all_named(const struct peer *p)
{
	return !(awaited_bits & ~p->named);
}

static const char *awaited_counter;
static long awaited_count;

static bool counted(const struct peer *p)
{
	(void)p;
	return sstp_counter(awaited_counter) >= awaited_count;
}

static bool all_came(const struct peer *p)
{
	return !(awaited_bits & ~(p->came | p->came_again));
}

/* Ship segments in the order of bits, except those in @lost. A PACK names the last one accepted, so
 * wait until it is named before the next one is sent.
 */
static void ship_named(struct peer *p, uint64_t segments, uint64_t lost)
{
	unsigned int i;

	for (i = 0; i < 64; i++) {
		if (segments >> i & 1) {
			ship(p, i, ACK);
			awaited_bits = BITS(i, i);
			must(peer_await(p, WAIT_MS, all_named), "it is named");
		} else if (lost >> i & 1) {
			p->shipment++;
		}
	}
}

/* Counter @name was @before, and must rise by @n. */
static void must_count(struct peer *p, const char *name, long before, long n)
{
	awaited_counter = name;
	awaited_count = before + n;
	peer_await(p, WAIT_MS, counted);
	peer_listen(p, QUIET_MS);
	must_be(name, sstp_counter(name) - before, n);
}

/* The module's SNAKs ask for all of these segments, and for no other in many SNAKs. */
static void must_ask(struct peer *p, uint64_t segments)
{
	p->asked = 0;
	awaited_bits = segments;
	peer_await(p, WAIT_MS, all_asked);
	peer_listen(p, QUIET_MS / 10);
	must_be("asked for", p->asked, segments);
}

static void must_ack(struct peer *p, uint32_t ack, uint32_t limit)
{
	awaited_ack = ack;
	awaited_limit = limit;
	peer_await(p, WAIT_MS, acked);
	must_be("R_l", p->ack, ack);
	must_be("R_h", p->limit, limit);
}

static void finish(struct peer *p, const char *name)
{
	peer_must_be_right(p);
	peer_close(p);
	ktap_result(all_held, "%s", name);
}

/* How much memory a segment takes differs from kernel to kernel. */
static void measure(void)
{
	struct peer p;

	open_receiver(&p, 0, W);
	ship_named(&p, BITS(1, 1), 0);
	truesize = sock_info(p.fd).rcv_queued;
	ktap_diag("a segment of %u bytes takes %u", LEN, truesize);
	peer_close(&p);
	if (truesize < LEN)
		die("no memory is accounted for");
}

static bool init_acked_twice(const struct peer *p)
{
	return p->init_acks >= 2;
}

static bool first_packed(const struct peer *p)
{
	return p->ack == 1;
}

/* A slow peer gets INIT_ACK again, which is no error. */
static void test_init_ack(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 1, .segment = LEN };
	struct peer p;

	all_held = true;
	peer_half_open(&p, l, &us);
	must(peer_await(&p, WAIT_MS, init_acked_twice), "INIT_ACK comes again");
	peer_complete(&p, l);
	ship(&p, 0, ACK);
	must(peer_await(&p, WAIT_MS, first_packed), "a PACK");
	finish(&p, "INIT_ACK comes again until it is answered");
}

/* Section 3.4: R_l moves as segments are accepted, R_h as the program reads them. */
static void test_receiver(void)
{
	struct peer p;
	int i;

	open_receiver(&p, 0, W);
	must_be("W in the INIT_ACK", p.granted, W);
	for (i = 0; i < B; i++) {
		ship(&p, i, ACK);
		/* Withheld */
		must_ack(&p, i + 1, W - 1);
	}
	for (i = 0; i < B; i++) {
		take(&p, i);
		peer_keepalive(&p, B);
		peer_listen(&p, QUIET_MS / 10);
		must_ack(&p, B, W + i);
	}
	must_be("asked for", p.asked, 0);
	nothing_to_take(&p);
	finish(&p, "R_l and R_h move each for itself");
}

/* A window exceeds the buffer by the segments of a round trip, of which there are none here however
 * long that takes, and by a few segments. Granted segments stay granted.
 */
static void test_worth(void)
{
	const int more = 4, most = 4 * B;
	struct peer p;
	int i, trips;			/* 4 round trips, ms */

	open_receiver(&p, 0, most);
	must_be("W in the INIT_ACK", p.granted, most);
	for (i = 0; i < most; i++) {
		ship(&p, i, ACK);
		must(poll(&(struct pollfd){ p.fd, POLLIN, 0 }, 1, WAIT_MS) == 1,
		     "it is there");
		take(&p, i);
		peer_keepalive(&p, i + 1);
		trips = sock_info(p.fd).rtt / 250;
		peer_listen(&p, trips > QUIET_MS / 10 ? trips : QUIET_MS / 10);
		must_ack(&p, i + 1, i + B + more < most ? most - 1 : i + B + more);
	}
	finish(&p, "a window is worth what comes in a round trip");
}

/* Also where it is less than a buffer of one segment allows */
static void test_clamp(void)
{
	struct peer_init us = { .window = 1, .segment = LEN };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer p;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, 1000);
	sock_set(l, SOL_SSTP, SSTP_WINDOW_CLAMP, 5);
	peer_open(&p, l, &us);
	must_be("W in the INIT_ACK", p.granted, 5);
	finish(&p, "SSTP_WINDOW_CLAMP holds");
}

static uint32_t awaited_window;

static bool granted_more(const struct peer *p)
{
	return p->limit - p->ack + 1 > awaited_window;
}

/* The policy rrda: a window is of the buffer, until half of that has been enough for
 * some epochs.
 */
static void test_exact(void)
{
	const uint32_t room = 32;	/* segments */
	const uint32_t size = room * truesize + truesize / 2;
	int i, l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 1, .segment = truesize - 1024 };
	bool more = false;
	struct peer p;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, 1000);
	param_set(l, SSTP_POLICY_PARAM, "epoch", 10);
	param_set(l, SSTP_POLICY_PARAM, "floor", size);
	param_set(l, SSTP_POLICY_PARAM, "ceiling", size);
	peer_open(&p, l, &us);
	must_be("W in the INIT_ACK", p.granted, room);
	awaited_window = room;
	for (i = 0; i < 1000 && !more; i++) {
		ship(&p, i, ACK);
		must(poll(&(struct pollfd){ p.fd, POLLIN, 0 }, 1, WAIT_MS) == 1,
		     "it is there");
		take(&p, i);
		peer_keepalive(&p, i + 1);
		more = peer_await(&p, QUIET_MS / 10, granted_more);
		must(!more || sock_info(p.fd).rcv_epochs >= 20, "not at once");
	}
	must(more, "a reader that keeps up is granted more");
	finish(&p, "rrda exceeds the buffer for who keeps up only");
}

/* With SO_RCVBUF the window is as with the policy static. */
static void test_pinned(void)
{
	const uint32_t room = 32;	/* segments */
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 1, .segment = truesize - 1024 };
	struct peer p;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, 1000);
	peer_open(&p, l, &us);
	sock_set(p.fd, SOL_SOCKET, SO_RCVBUFFORCE, room * truesize / 2);
	/* A window that was granted before stays granted. */
	for (uint32_t i = 0; i < p.granted; i++) {
		ship(&p, i, ACK);
		must(poll(&(struct pollfd){ p.fd, POLLIN, 0 }, 1, WAIT_MS) == 1,
		     "it is there");
		take(&p, i);
		peer_keepalive(&p, i + 1);
		peer_listen(&p, 1);
	}
	awaited_window = room;
	must(peer_await(&p, WAIT_MS, granted_more), "more than the buffer");
	finish(&p, "SO_RCVBUF lets windows exceed the buffer at once");
}

/* Many connections may come at once to the buffer that they share. */
static void test_first(void)
{
	const uint32_t room = 64;	/* segments */
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 1, .segment = truesize - 1024 };
	struct peer p;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_POOL, 1);
	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, (room * 2 + 1) * truesize / 4);
	peer_open(&p, l, &us);
	must_be("W in the INIT_ACK", p.granted, room / 16);
	ship(&p, 0, ACK);
	awaited_window = room - 2;
	must(peer_await(&p, WAIT_MS, granted_more), "then it has the whole");
	take(&p, 0);
	finish(&p, "who comes to a pool has a sixteenth first");
}

/* Figure 15: of the window n to n + 7 only n to n + 3 are kept. */
static void test_hard(void)
{
	long discarded = sstp_counter("InDiscarded"), outside = sstp_counter("InOutOfWindow");
	struct peer p;
	int i;

	open_receiver(&p, 0, W);
	must_be("W in the INIT_ACK", p.granted, W);
	ship_named(&p, BITS(1, 3), BITS(0, 0));
	must_be("memory", sock_info(p.fd).rcv_queued, 3 * truesize);
	must_be("discarded", sstp_counter("InDiscarded") - discarded, 0);
	for (i = 4; i < W; i++)
		ship(&p, i, ACK);
	must_count(&p, "InDiscarded", discarded, 4);
	must_be("memory", sock_info(p.fd).rcv_queued, 3 * truesize);
	ship(&p, W, 0);
	p.shipment--;			/* no sender of the protocol ships it */
	must_count(&p, "InOutOfWindow", outside, 1);
	/* A segment that was acknowledged ahead of R_l is kept. */
	must_be("accepted", p.named, BITS(1, 3));
	must(!p.soft, "with certainty");
	must_be("R_l", p.ack, 0);
	must_be("R_h", p.limit, W - 1);
	/* The program waits: it will have read 0 to 3 when the others come again. */
	must_ask(&p, BITS(0, 0) | BITS(4, 7));
	nothing_to_take(&p);

	ship(&p, 0, AGAIN | ACK);
	must_ack(&p, 4, W - 1);
	must_be("memory", sock_info(p.fd).rcv_queued, 4 * truesize);
	must_be("discarded", sstp_counter("InDiscarded") - discarded, 4);
	p.asked = 0;
	peer_listen(&p, QUIET_MS);
	must_be("asked for without room", p.asked, 0);
	/* Each segment that is read makes room for another. */
	for (i = 0; i < 4; i++) {
		take(&p, i);
		must_ask(&p, BITS(4 + i, 4 + i));
		ship(&p, 4 + i, AGAIN | ACK);
		must_ack(&p, 5 + i, W + i);
	}
	for (; i < W; i++)
		take(&p, i);
	nothing_to_take(&p);
	must_be("discarded", sstp_counter("InDiscarded") - discarded, 4);
	must_be("replaced", sstp_counter("SoftReplaced"), 0);
	finish(&p, "Figure 15, hard ACK");
}

/* Figure 16: n + 2, n + 5, n + 6 and n + 7 fill the buffer before n, n + 1 and
 * n + 3 come; n + 5, n + 6 and n + 7 have to make way for them.
 */
static void test_soft(void)
{
	long discarded = sstp_counter("InDiscarded"), replaced = sstp_counter("SoftReplaced");
	struct peer p;
	int i;

	open_receiver(&p, 1, W);
	must_be("W in the INIT_ACK", p.granted, W);
	ship_named(&p, BITS(2, 2) | BITS(5, 7), BITS(0, 1) | BITS(3, 4));
	must_be("memory", sock_info(p.fd).rcv_queued, 4 * truesize);
	must_be("discarded", sstp_counter("InDiscarded") - discarded, 0);
	must_be("replaced", sstp_counter("SoftReplaced") - replaced, 0);
	/* "A special message indicating their successful arrival" */
	must_be("accepted", p.named, BITS(2, 2) | BITS(5, 7));
	must(p.soft, "but not for sure");
	must_be("R_l", p.ack, 0);
	/* All missing packets are before one that is in the buffer. */
	must_ask(&p, BITS(0, 1) | BITS(3, 4));

	/* The segment to be read next always has room; for others the largest is discarded. */
	ship(&p, 0, AGAIN | ACK);
	must_ack(&p, 1, W - 1);
	must_be("replaced for n", sstp_counter("SoftReplaced") - replaced, 0);
	must_be("memory", sock_info(p.fd).rcv_queued, 5 * truesize);
	ship(&p, 1, AGAIN | ACK);
	must_ack(&p, 3, W - 1);
	must_be("replaced for n + 1", sstp_counter("SoftReplaced") - replaced, 2);
	must_be("memory", sock_info(p.fd).rcv_queued, 4 * truesize);
	ship(&p, 3, AGAIN | ACK);
	must_ack(&p, 4, W - 1);
	must_be("replaced for n + 3", sstp_counter("SoftReplaced") - replaced, 3);
	must_be("memory", sock_info(p.fd).rcv_queued, 4 * truesize);
	/* Step 3: the new packet's segment is the largest, so it is discarded. */
	ship(&p, 4, AGAIN | ACK);
	must_count(&p, "InDiscarded", discarded, 1);
	must_be("replaced for n + 4", sstp_counter("SoftReplaced") - replaced, 3);

	/* A replaced segment comes again, as the sender did not release it. */
	for (i = 0; i < 4; i++)
		take(&p, i);
	must_ask(&p, BITS(4, 7));
	ship(&p, 7, AGAIN | ACK);
	ship(&p, 6, AGAIN | ACK);
	ship(&p, 5, AGAIN | ACK);
	ship(&p, 4, AGAIN | ACK);
	must_ack(&p, W, W + 3);
	for (; i < W; i++)
		take(&p, i);
	nothing_to_take(&p);
	must_be("discarded", sstp_counter("InDiscarded") - discarded, 1);
	must_be("replaced", sstp_counter("SoftReplaced") - replaced, 3);
	finish(&p, "Figure 16, soft ACK");
}

/* Write @n segments of 1000 bytes, the first of which is @first. */
static void write_segments(struct peer *p, int first, int n)
{
	char buf[1000];

	for (; n--; first++) {
		content_fill(buf, sizeof(buf), p->seed + first, 0);
		if (send(p->fd, buf, sizeof(buf), MSG_NOSIGNAL) != sizeof(buf))
			die("send:");
	}
}

/* A sender whose peer grants @window; it has written @n segments of 1000 bytes. @controller: its
 * name, or NULL for the default
 */
static void open_sender_of(const char *controller, struct peer *p, uint32_t window, int strategy,
			   int n)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = {
		.window = window, .segment = LEN, .strategy = strategy,
	};

	all_held = true;
	if (controller && setsockopt(l, SOL_SSTP, SSTP_CONTROLLER, controller, strlen(controller)))
		die("controller:");
	peer_open(p, l, &us);
	write_segments(p, 0, n);
}

static void open_sender(struct peer *p, uint32_t window, int strategy, int n)
{
	open_sender_of(NULL, p, window, strategy, n);
}

/* Exactly these segments come again. */
static void must_come(struct peer *p, uint64_t segments)
{
	p->came = 0;
	awaited_bits = segments;
	peer_await(p, WAIT_MS, all_came);
	peer_listen(p, QUIET_MS);
	must_be("shipped", p->came, segments);
}

static void must_come_again(struct peer *p, uint64_t segments)
{
	p->came_again = 0;
	awaited_bits = segments;
	peer_await(p, WAIT_MS, all_came);
	peer_listen(p, QUIET_MS);
	must_be("shipped again", p->came_again, segments);
}

static bool unacked(void *arg)
{
	int *want = arg, is;

	return !ioctl(awaited->fd, SIOCOUTQ, &is) && is == *want;
}

/* Bytes that the sender has not released */
static void must_keep(struct peer *p, int want)
{
	int is = -1;

	awaited = p;
	if (busywait(WAIT_MS, unacked, &want))
		return;
	ioctl(p->fd, SIOCOUTQ, &is);
	must_be("bytes kept", is, want);
}

/* Section 3.4: S_l = max(S_l, ACK segment), S_h = max(S_h, upper limit), apart. */
static void test_sender(void)
{
	long duplicate = sstp_counter("InDuplicate");
	struct peer p;

	open_sender(&p, 3, 0, 10);
	must_come(&p, BITS(0, 2));
	must_keep(&p, 10000);
	/* An acknowledgement opens no window... */
	peer_pack(&p, 1, 2, 0, 0);
	must_come(&p, 0);
	must_keep(&p, 9000);
	/* ... and a window acknowledges nothing. */
	peer_pack(&p, 1, 4, 0, 0);
	must_come(&p, BITS(3, 4));
	must_keep(&p, 9000);
	/* An acknowledgement counts only once. */
	p.control--;
	peer_pack(&p, 5, 9, 0, 0);
	p.our_ack = 1;
	p.our_limit = 4;
	must_come(&p, 0);
	must_keep(&p, 9000);
	must_be("duplicates", sstp_counter("InDuplicate") - duplicate, 1);
	peer_pack(&p, 5, 9, 0, 0);
	must_come(&p, BITS(5, 9));
	must_keep(&p, 5000);
	must_be("shipped again unasked", p.came_again, 0);
	peer_snak(&p, 5, 9, BITS(6, 6) | BITS(8, 8));
	must_come_again(&p, BITS(6, 6) | BITS(8, 8));
	peer_pack(&p, 10, 12, 0, 0);
	must_keep(&p, 0);
	finish(&p, "S_l and S_h move each for itself");
}

/* A retransmission asks for a report if no packet follows: nothing else would show its loss. The
 * controller "rate" asks rarely otherwise.
 */
static void test_again_asks(void)
{
	struct peer p;
	int i;

	open_sender_of("rate", &p, 8, 0, 8);
	must_come(&p, BITS(0, 7));
	for (i = 2; i < 8; i++) {
		awaited_bits = BITS(i, i);
		p.came = 0;
		peer_snak(&p, 1, 8, awaited_bits);
		must(peer_await(&p, WAIT_MS, all_came), "shipped again");
	}
	must_be("asked", p.asked_again, BITS(2, 7));
	finish(&p, "a retransmission that no packet follows asks for a report");
}

/* A hard ACK ahead of R_l releases the segment, a soft one does not. */
static void test_release(int strategy, const char *name)
{
	struct peer p;

	open_sender(&p, W, strategy, W);
	must_come(&p, BITS(0, 7));
	peer_pack(&p, 0, W - 1, SEGMENT | (strategy ? SOFT : 0), 5);
	peer_listen(&p, QUIET_MS);
	must_keep(&p, strategy ? 8000 : 7000);
	peer_snak(&p, 0, W - 1, BITS(4, 5));
	must_come_again(&p, strategy ? BITS(4, 5) : BITS(4, 4));
	peer_pack(&p, W, 2 * W, 0, 0);
	must_keep(&p, 0);
	must_be("shipped again", p.came_again,
		strategy ? BITS(4, 5) : BITS(4, 4));
	finish(&p, name);
}

#define HOLD_MS		1000

static bool all_packed(const struct peer *p)
{
	return p->ack == B;
}

static unsigned int packs_seen;

static bool packed_again(const struct peer *p)
{
	return p->packs > packs_seen;
}

/* The hold time counts from the arrival of the echoed packet, whatever came since. */
static void test_hold(void)
{
	char buf[LEN];
	struct peer p;
	uint32_t i;

	open_receiver(&p, SSTP_ACK_HARD, W);
	for (i = 0; i < B; i++)
		ship(&p, i, 0);
	must(peer_await(&p, WAIT_MS, all_packed), "a PACK");
	peer_listen(&p, HOLD_MS);
	peer_pack(&p, 0, 0, 0, 0);
	packs_seen = p.packs;
	p.hold = 0;
	/* Reading moves the window, and a PACK reports it. */
	for (i = 0; i < B; i++)
		must_be("read", recv(p.fd, buf, LEN, MSG_DONTWAIT), LEN);
	must(peer_await(&p, WAIT_MS, packed_again), "a window message");
	ktap_diag("a hold of %u us, an echo of %u us ago", p.hold, p.echoed);
	must(p.hold >= HOLD_MS * 1000, "the hold has the wait");
	must(p.echoed >= p.hold, "the echo is older");
	finish(&p, "hold time");
}

/* A segment that is larger than this end has announced */
static void test_limit(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 1 };
	long malformed = sstp_counter("InErrFormat");
	char buf[LEN];
	struct peer p;

	all_held = true;
	sock_set(l, SOL_SSTP, SSTP_SEGMENT_LIMIT, 4096);
	peer_open(&p, l, &us);
	peer_data(&p, 0, 0, 4097, 4097, LAST);
	peer_data(&p, 0, 0, 2048, 4097, 0);
	peer_data(&p, 0, 0, 4096, 4096, LAST);
	must(peer_await(&p, WAIT_MS, first_packed), "a PACK");
	must_be("malformed", sstp_counter("InErrFormat") - malformed, 2);
	must_be("read", recv(p.fd, buf, LEN, MSG_DONTWAIT), 4096);
	finish(&p, "a limit of segments holds");
}

/* The peer sends nothing, as its socket is not read, until this many probes are queued. */
#define PROBES		4

static bool waits(void *arg)
{
	return sock_info(((struct peer *)arg)->fd).backoff >= PROBES;
}

static bool heard(void *arg)
{
	return !waits(arg);
}

static void be_silent(struct peer *p)
{
	must(busywait(WAIT_MS, waits, p), "it probes");
}

static void test_silence(void)
{
	struct peer p;
	uint32_t cwnd;
	int n;

	open_sender(&p, 2, 0, 0);
	/* If this test stood still before a report, the sender took that for congestion: two more
	 * packets let it recover.
	 */
	for (n = 2;; n += 2) {
		write_segments(&p, n - 2, 2);
		must_come(&p, BITS(n - 2, n - 1));
		peer_pack(&p, n, n - 1, 0, 0);
		peer_listen(&p, QUIET_MS / 10);
		cwnd = sock_info(p.fd).cwnd;
		if (cwnd > 2 || n == 20)
			break;
		peer_pack(&p, n, n + 1, 0, 0);
	}
	must(cwnd > 2, "there is something to lose");
	write_segments(&p, n, 2);
	be_silent(&p);
	must_be("cwnd while the window is closed", sock_info(p.fd).cwnd, cwnd);
	p.came = 0;
	peer_pack(&p, n, n + 1, 0, 0);
	must(busywait(WAIT_MS, heard, &p), "it heard of the window");
	be_silent(&p);
	must_be("cwnd with data under way", sock_info(p.fd).cwnd, 2);
	finish(&p, "silence is congestion if something is under way");
}

/* The host's path MTU to the peer, as all other sockets see it */
static long host_mtu(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), mtu;
	union addr to;

	addr_loopback(&to, AF_INET, 9);
	if (fd < 0 || connect(fd, &to.sa, addr_len(&to)))
		die("UDP:");
	mtu = sock_int(fd, SOL_IP, IP_MTU);
	close(fd);
	return mtu;
}

/* A packet that is asked for again and again is taken for a black hole, unless each time other
 * packets came, which found no room; small packets may come through. Reports of this peer do not
 * change the path MTU of others.
 */
static void ask_often(int seen_every, int times, int changes, const char *name)
{
	long shrunk = sstp_counter("PmtuShrunk"), mtu = host_mtu();
	struct peer p;
	int i;

	open_sender(&p, 1, 0, 1);
	must_come(&p, BITS(0, 0));
	p.echoes = true;
	for (i = 1; i <= times; i++) {
		p.our_received += seen_every && i % seen_every == 0;
		/* The report may come before the request. */
		peer_pack(&p, 0, 0, 0, 0);
		p.came = 0;
		p.came_again = 0;
		peer_snak(&p, 0, 0, BITS(0, 0));
		must(peer_await(&p, WAIT_MS, all_came), "shipped again");
	}
	must_be("MTU changes", sstp_counter("PmtuShrunk") - shrunk, changes);
	must_be("the host's MTU", host_mtu(), mtu);
	finish(&p, name);
}

static uint32_t awaited_highest;

static bool reported(const struct peer *p)
{
	return p->highest == awaited_highest;
}

static bool all_accepted(const struct peer *p)
{
	return p->ack == awaited_ack;
}

/* The peer reports a last shipment that is @gap ahead. */
static void skip(struct peer *p, uint32_t gap, uint32_t segment)
{
	p->shipment += gap;
	awaited_highest = p->shipment - 1;
	peer_keepalive(p, segment);
	must(peer_await(p, WAIT_MS, reported), "it is answered");
}

/* The peer reports its last shipment twice. */
static void skip_back(struct peer *p, uint32_t segment)
{
	awaited_highest = p->shipment - 1;
	peer_keepalive(p, segment);
	peer_keepalive(p, segment);
	must(peer_await(p, WAIT_MS, reported), "H is the peer's");
}

/* A damaged packet of the peer reports a shipment that does not exist. H follows if it is near, and
 * then later reports of the peer correct it.
 */
static void test_false_highest(void)
{
	struct peer p;
	uint32_t next;

	open_receiver(&p, 0, W);
	ship(&p, 0, ACK);
	must_ack(&p, 1, W - 1);
	next = p.shipment;
	p.shipment += 1 << 20;
	ship(&p, 1, ACK);
	must_ack(&p, 2, W - 1);
	must_be("H after a packet that is far ahead", p.highest, next - 1);
	p.shipment = next + 5000;
	ship(&p, 2, ACK);
	must_ack(&p, 3, W - 1);
	must_be("H after a packet that is near", p.highest, next + 5000);
	p.shipment = next;
	skip_back(&p, 3);
	ship(&p, 3, ACK);
	must_ack(&p, 4, W - 1);
	must_be("H of what goes on", p.highest, next);
	finish(&p, "a shipment that was none is forgotten");
}

/* Every second of LOST segments is lost. An unexplained gap makes SNAKs ask for all of them again,
 * but the bytes of SNAKs that a small packet causes are in proportion to the bytes that came
 * before, which suffice to ask for all.
 */
static void test_amplification(void)
{
	enum { LOST = 4000, GAPS = 100, SMALL_SNAK = sizeof(struct ack_packet) + 64 };
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 1, .segment = 1 };
	unsigned int i, before, bytes;
	uint64_t begin, ms;
	struct peer p;

	all_held = true;
	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20);
	peer_open(&p, l, &us);
	must(p.granted >= 2 * LOST, "the window has room for it");
	for (i = 0; i < 2 * LOST; i++) {
		if (i % 2)
			p.shipment++;
		else
			peer_data(&p, i, 0, 1, 1, LAST);
		if (i % 64 == 0)
			peer_listen(&p, 0);
	}
	skip(&p, 0, 2 * LOST);
	/* Use up the credit for SNAKs. */
	for (i = 0; i < GAPS; i++)
		skip(&p, 10, 2 * LOST);
	before = p.snaks;
	bytes = p.snak_bytes;
	begin = now_ns();
	for (i = 0; i < GAPS; i++)
		skip(&p, 10, 2 * LOST);
	peer_listen(&p, QUIET_MS);
	/* The timer asks as well, for as little each time: after a round trip and a quarter, and 1
	 * ms.
	 */
	ms = (now_ns() - begin) / 1000000;
	must(p.snaks - before <= GAPS + ms, "a SNAK for each packet, no more");
	must(p.snak_bytes - bytes <= (GAPS + ms) * SMALL_SNAK, "and small ones");
	ktap_diag("%u packets drew %u SNAKs of %u bytes in %llu ms", GAPS, p.snaks - before,
		  p.snak_bytes - bytes, (unsigned long long)ms);
	for (i = 1; i < 2 * LOST; i += 2)
		peer_data(&p, i, 0, 1, 1, LAST | AGAIN);
	awaited_ack = 2 * LOST;
	peer_keepalive(&p, 2 * LOST);
	must(peer_await(&p, WAIT_MS, all_accepted), "all of it is accepted");
	peer_close(&p);
	ktap_result(all_held, "a small packet draws no flood of SNAKs");
}

int main(void)
{
	ktap_plan(22);
	new_namespace();
	peer_may_vanish();
	measure();
	test_init_ack();
	test_receiver();
	test_worth();
	test_clamp();
	test_exact();
	test_pinned();
	test_first();
	test_hard();
	test_soft();
	test_sender();
	test_again_asks();
	test_release(0, "a hard ACK releases");
	test_release(1, "a soft ACK does not release");
	test_hold();
	test_limit();
	test_silence();
	test_amplification();
	test_false_highest();
	ask_often(1, 20, 0, "a lack of room is not taken for a small MTU");
	ask_often(0, 6, 1, "a packet that never comes is too large");
	ask_often(3, 14, 1, "and if others come now and then");
	ktap_result(sstp_sockets_end(60000), "nothing is left");
	return ktap_end();
}
