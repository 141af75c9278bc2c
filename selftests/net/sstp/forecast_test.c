// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: uml
 * mode: time-travel
 *
 * A peer tells paptc what it likes of its program, in the fields FORECAST and QUEUE of PACKs. The
 * sender never exceeds its contract, and never stops: two packets leave in a round trip, epoch and
 * second. What comes late does not count, and when the fields cease, they are forgotten.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "peer.h"

#define LEN		15000		/* of a segment: one packet on loopback */
#define SEGMENTS	40		/* of a transfer */
#define RATE		20000000ULL	/* bit/s, of the contract */
#define FRAME		(LEN + 66)	/* bytes that count, at least */
#define AT_ONCE		2		/* packets that a contract may let go together */
#define SLOWEST_MS	550		/* a packet at least in that time */
#define FORGOTTEN_MS	2000		/* after the last fields the rate is the path's */

enum { FORECAST = 1, QUEUE };

static uint32_t turn;			/* number of the report */

/* Append a field, of which @len bytes are there though it has 8. */
static void field(struct peer *p, uint8_t type, uint32_t first, uint32_t second)
{
	uint32_t value[] = { htonl(first), htonl(second) };
	uint8_t *at = p->fields + p->fields_len;

	at[0] = type;
	at[1] = sizeof(value);
	memcpy(at + 2, value, sizeof(value));
	p->fields_len += 2 + sizeof(value);
}

static void both(struct peer *p, uint32_t forecast, uint32_t horizon, uint32_t queue,
		 uint32_t refused)
{
	p->fields_len = 0;
	field(p, FORECAST, forecast, horizon);
	field(p, QUEUE, queue, refused);
}

/* What the peer tells in its report number @turn */
static void zero(struct peer *p)
{
	both(p, 0, 0, 0, 0);
}

static void most(struct peer *p)
{
	both(p, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
}

static void fastest(struct peer *p)
{
	both(p, UINT32_MAX, 1, 0, 0);
}

static void slowest(struct peer *p)
{
	both(p, 0, UINT32_MAX, UINT32_MAX, UINT32_MAX);
}

static void alternate(struct peer *p)
{
	if (turn & 1)
		slowest(p);
	else
		fastest(p);
}

/* A fast program with a full buffer, and the same fields again with other values */
static void contradict(struct peer *p)
{
	both(p, UINT32_MAX, 1, UINT32_MAX, 0);
	field(p, FORECAST, turn & 1 ? 0 : 1000, 60000);
	field(p, QUEUE, 0, UINT32_MAX);
}

/* One of the fields, cut short, or longer than the packet */
static void cut(struct peer *p)
{
	both(p, 1000000, 20, 0, 0);
	p->fields[1] = turn % 3 ? 8 : 4;
	p->fields[11] = turn % 2 ? 255 : 8;
}

static unsigned int count(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

/* Report what has come, with the fields of @tell if it is not NULL. */
static void tell_peer(struct peer *p, void (*tell)(struct peer *p))
{
	unsigned int n = count(p->came | p->came_again);

	p->fields_len = 0;
	if (tell)
		tell(p);
	turn++;
	p->our_received = n;
	peer_pack(p, n, n + SEGMENTS - 1, 0, 0);
}

/* The same report, with the number of the one before: it is out of date. */
static void tell_late(struct peer *p)
{
	p->control -= 2;
	tell_peer(p, slowest);
	p->control++;
}

static void open_peer(struct peer *p)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = SEGMENTS, .segment = LEN };
	struct sstp_rate_spec rate = { .peak = RATE };

	if (setsockopt(l, SOL_SSTP, SSTP_CONTROLLER, "paptc", 5) ||
	    setsockopt(l, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("options:");
	sock_set(l, SOL_SOCKET, SO_SNDBUF, 4 * SEGMENTS * LEN);
	peer_open(p, l, &us);
	p->echoes = true;
	turn = 0;
}

/* The program writes segments @begin to @end. */
static void fill(struct peer *p, unsigned int begin, unsigned int end)
{
	static char buf[LEN];

	for (; begin < end; begin++) {
		content_fill(buf, LEN, p->seed + begin, 0);
		if (send(p->fd, buf, LEN, MSG_NOSIGNAL) != LEN)
			die("send:");
	}
}

/* Receive until @n segments have come, and report every 10 ms what came. Returns the ms that it
 * took, or 0 if nothing came for longer than the slowest rate explains.
 */
static unsigned int take(struct peer *p, unsigned int n, void (*tell)(struct peer *p), bool late)
{
	uint64_t start = now_ns(), last = start;
	unsigned int came = count(p->came | p->came_again), now;

	while (came < n) {
		peer_listen(p, 10);
		now = count(p->came | p->came_again);
		if (now_ns() - last > 2 * SLOWEST_MS * 1000000ULL)
			return 0;
		if (now == came)
			continue;
		came = now;
		last = now_ns();
		tell_peer(p, tell);
		if (late)
			tell_late(p);
	}
	return (now_ns() - start) / 1000000 ?: 1;
}

/* ms in which a contract carries @n segments, at least */
static unsigned int least_ms(unsigned int n)
{
	return (n - AT_ONCE) * FRAME * 8 * 1000ULL / RATE;
}

/* Half of the segments with hostile fields, the rest without any */
static void test_told(const char *what, void (*tell)(struct peer *p), bool fast)
{
	struct peer p;
	unsigned int told, after, half = SEGMENTS / 2;
	bool ok;

	open_peer(&p);
	fill(&p, 0, half);
	told = take(&p, half, tell, false);
	ok = told >= least_ms(half) && (!fast || told < 2 * least_ms(half));
	fill(&p, half, SEGMENTS);
	after = take(&p, SEGMENTS, NULL, false);
	ok &= after >= least_ms(half) && after < FORGOTTEN_MS + 2 * least_ms(half);
	ktap_diag("%s: %u ms, then %u ms; a contract takes %u", what, told, after,
		  least_ms(half));
	peer_must_be_right(&p);
	peer_close(&p);
	ktap_result(ok, "fields: %s", what);
}

/* Reports that say the worst come late, and do not count. */
static void test_late(void)
{
	struct peer p;
	unsigned int ms;

	open_peer(&p);
	fill(&p, 0, SEGMENTS);
	ms = take(&p, SEGMENTS, fastest, true);
	ktap_diag("%u ms; a contract takes %u", ms, least_ms(SEGMENTS));
	peer_must_be_right(&p);
	peer_close(&p);
	ktap_result(ms >= least_ms(SEGMENTS) && ms < 2 * least_ms(SEGMENTS),
		    "fields of reports that come late");
}

int main(void)
{
	need_simulated_time();
	if (module_load("sstp-ctrl-paptc"))
		die("paptc:");
	ktap_plan(9);
	new_namespace();
	peer_may_vanish();
	test_told("zero", zero, false);
	test_told("all bits", most, false);
	test_told("fastest", fastest, true);
	test_told("slowest", slowest, false);
	test_told("fastest and slowest in turns", alternate, false);
	test_told("contradicting", contradict, false);
	test_told("cut short", cut, true);
	test_late();
	ktap_result(busywait(60000, module_unloaded, "sstp_ctrl_paptc"), "the module unloads");
	return ktap_end();
}
