// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 * kernels: uml
 * mode: time-travel
 *
 * The parameter kbit of the controller "rate": the sender keeps the rate exactly, as SSTP_MONITOR
 * shows; a change of the parameter holds at once, whether the connection is idle, moves data or
 * waits for the period; and a contract holds beside it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

#define DELAY_MS	10		/* one way */
#define TRIP_NS		(2 * DELAY_MS * 1000000ULL)
#define TICK_NS		1000000ULL
#define BUFFER		(8 << 20)	/* bytes */
#define UNPACED		10		/* packets that may leave at once after a pause */
#define FRAME(m)	((m).mtu + 14ULL)	/* with Ethernet's header */

static char buffer[1 << 20];

/* A connection whose program always has data if @busy, and whose peer reads all */
struct flow {
	int tx, rx;
	bool busy;
};

static struct sstp_monitor monitor(const struct flow *f)
{
	struct sstp_monitor m;

	if (getsockopt(f->tx, SOL_SSTP, SSTP_MONITOR, &m, &(socklen_t){ sizeof(m) }))
		die("SSTP_MONITOR:");
	return m;
}

static void set_kbit(const struct flow *f, uint32_t kbit)
{
	param_set(f->tx, SSTP_CONTROLLER_PARAM, "kbit", kbit);
}

static void flow_open(struct flow *f, uint32_t kbit, uint64_t peak)
{
	struct sstp_rate_spec rate = { .peak = peak };
	int l = path_socket(B, SOCK_STREAM);

	f->tx = path_socket(A, SOCK_STREAM);
	f->busy = true;
	/* Room for the rates of the test from the start */
	sock_set(f->tx, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER);
	sock_set(l, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER);
	if (setsockopt(f->tx, SOL_SSTP, SSTP_CONTROLLER, "rate", 4) ||
	    setsockopt(f->tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("options:");
	set_kbit(f, kbit);
	f->rx = path_connect(f->tx, l, AF_INET);
}

static void flow_close(const struct flow *f)
{
	close(f->tx);
	close(f->rx);
}

/* Run for @ns; returns what was done since the last call of monitor(). */
static struct sstp_monitor flow_run(const struct flow *f, uint64_t ns)
{
	uint64_t end = now_ns() + ns, now;

	for (;;) {
		while (f->busy && send(f->tx, buffer, 1 << 16, MSG_NOSIGNAL) > 0)
			;
		while (recv(f->rx, buffer, sizeof(buffer), 0) > 0)
			;
		now = now_ns();
		if (now >= end)
			return monitor(f);
		sleep_ns(end - now < TICK_NS ? end - now : TICK_NS);
	}
}

/* In @m as many packets were sent as @kbit allows, but for a train at each end: the packets of a
 * millisecond, or two.
 */
static void must_keep(const char *what, const struct sstp_monitor *m, uint32_t kbit)
{
	double want = m->age.recent * (double)kbit / 8000 / FRAME(*m);
	double error = m->packets_sent.recent - want, train = kbit / 8.0 / FRAME(*m);

	ktap_diag("%s: %llu packets in %llu us, %+.2f of %.2f", what,
		  (unsigned long long)m->packets_sent.recent,
		  (unsigned long long)m->age.recent, error, want);
	train = train > 2 ? train : 2;
	must(error > -train - 1 && error < train + 1, what);
}

static void test_rates(void)
{
	static const uint32_t rates[] = { 200, 1000, 5000, 20000, 123457, 400000 };
	struct sstp_monitor m;
	struct flow f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		flow_open(&f, rates[i], 0);
		flow_run(&f, 1000000000);
		m = flow_run(&f, 3000000000ULL);
		must_keep("from the start", &m, rates[i]);
		must_be("no loss", m.packets_lost.total, 0);
		must_be("no window", m.cwnd, ~0U);
		flow_close(&f);
	}
	ktap_held("each rate is kept");
}

/* Each rate holds in the first round trip after it was set, and goes on. */
static void test_changes(void)
{
	static const uint32_t rates[] = { 5000, 80000, 1000, 200000, 20000, 1, 20000 };
	struct sstp_monitor m;
	struct flow f;
	size_t i;

	flow_open(&f, 20000, 0);
	flow_run(&f, 1000000000);
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		set_kbit(&f, rates[i]);
		must_be("it is read", param_get(f.tx, SSTP_CONTROLLER_PARAM, "kbit"), rates[i]);
		m = flow_run(&f, TRIP_NS);
		must_keep("in a round trip", &m, rates[i]);
		m = flow_run(&f, 1000000000);
		/* A packet of this path takes more than a second with less. */
		must_keep("after that", &m, rates[i] < 13 ? FRAME(m) * 8 / 1000 : rates[i]);
	}
	/* Without the parameter nothing paces: the send buffer leaves at once. */
	set_kbit(&f, 0);
	m = monitor(&f);
	ktap_diag("unpaced: %llu packets", (unsigned long long)m.packets_sent.recent);
	must(m.packets_sent.recent > 1000, "nothing paces");
	must_be("period", m.period, 0);
	flow_close(&f);
	ktap_held("a change holds in mid transfer");
}

static bool all_acked(void *arg)
{
	struct sstp_info i;

	if (getsockopt(*(int *)arg, SOL_SSTP, SSTP_INFO, &i, &(socklen_t){ sizeof(i) }))
		die("SSTP_INFO:");
	return !i.snd_unacked;
}

/* What an idle connection was told holds for the next packets. */
static void test_idle(void)
{
	struct sstp_monitor m;
	struct flow f;

	flow_open(&f, 0, 0);
	f.busy = false;
	must_be("send", send(f.tx, buffer, 10000, 0), 10000);
	flow_run(&f, 1000000000);
	must(all_acked(&f.tx), "it is idle");
	set_kbit(&f, 2000);
	m = flow_run(&f, 1000000000);
	must_be("nothing leaves", m.packets_sent.recent, 0);
	must_be("send", send(f.tx, buffer, 200000, 0), 200000);
	m = flow_run(&f, TRIP_NS);
	must_be("at once", m.packets_sent.recent, UNPACED);
	/* The rest of their time is waited for. */
	m = flow_run(&f, 480000000);
	ktap_diag("%llu packets", (unsigned long long)m.packets_sent.recent);
	must(m.packets_sent.recent + UNPACED <= 500000000 / (FRAME(m) * 8 * 500) + 2,
	     "no more than 0.5 s allow");
	must(m.packets_sent.recent + UNPACED >= 500000000 / (FRAME(m) * 8 * 500) - 2,
	     "and no less");
	flow_close(&f);
	ktap_held("a change holds for a connection that was idle");
}

static void test_contract(void)
{
	struct sstp_monitor m;
	struct flow f;

	flow_open(&f, 20000, 10000000);
	flow_run(&f, 2000000000);
	m = flow_run(&f, 2000000000);
	must_keep("a contract of less", &m, 10000);
	set_kbit(&f, 5000);
	flow_run(&f, TRIP_NS);
	m = flow_run(&f, 2000000000);
	must_keep("a contract of more", &m, 5000);
	flow_close(&f);
	ktap_held("the contract holds, too");
}

int main(void)
{
	need_simulated_time();
	path_make();
	path_impair(A, "delay 10ms limit 100000");
	path_impair(B, "delay 10ms limit 100000");
	ktap_plan(4);
	test_rates();
	test_changes();
	test_idle();
	test_contract();
	if (!path_settle())
		die("sockets are left");
	return ktap_end();
}
