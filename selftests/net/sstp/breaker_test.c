// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * kernels: uml
 * mode: time-travel
 *
 * A contract that the path does not carry gives way to congestion control, tells so, and
 * is tried again later. Losses that are accidents of the path change nothing. Without any
 * report nothing leaves for long.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/sstp_netlink.h>

#include "nl.h"
#include "path.h"

#define MBIT		1000000ULL
#define LINE		(100 * MBIT)
#define TICK_NS		5000000ULL
#define TICKS		200		/* a second's */
#define BUFFER		(8 << 20)
/* Packets: a bandwidth-delay product of 40 ms, and those in flight in netem */
#define QUEUE		"limit 500"

/* One direction, of a program that always has data to one that always reads */
struct flow {
	int tx, rx;
	uint64_t bytes;		/* received */
};

static char *buffer;
static struct nl ev;

static int tcp_listener(union addr *a)
{
	int fd;

	path_enter(B);
	fd = proto_socket(PROTO_TCP, AF_INET, SOCK_STREAM, SOCK_NONBLOCK);
	addr_any(a, AF_INET, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &(int){ BUFFER }, sizeof(int)) ||
	    bind(fd, &a->sa, addr_len(a)) || listen(fd, 1) ||
	    getsockname(fd, &a->sa, &(socklen_t){ sizeof(*a) }))
		die("listener:");
	return fd;
}

static void tcp_open(struct flow *f)
{
	union addr a, to;
	int l = tcp_listener(&a);

	path_enter(A);
	f->tx = proto_socket(PROTO_TCP, AF_INET, SOCK_STREAM, SOCK_NONBLOCK);
	f->bytes = 0;
	if (f->tx < 0 || !addr_parse(&to, "10.0.2.2", addr_port(&a)) ||
	    setsockopt(f->tx, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) ||
	    setsockopt(f->tx, SOL_SOCKET, SO_SNDBUFFORCE, &(int){ BUFFER }, sizeof(int)) ||
	    (connect(f->tx, &to.sa, addr_len(&to)) && errno != EINPROGRESS))
		die("TCP:");
	if (path_poll(l, POLLIN, 10000) != POLLIN)
		die("no TCP connection");
	f->rx = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	close(l);
}

static void sstp_open(struct flow *f, uint64_t peak)
{
	struct sstp_rate_spec rate = { .peak = peak };
	int l = path_socket(B, SOCK_STREAM);

	f->tx = path_socket(A, SOCK_STREAM);
	f->bytes = 0;
	if (setsockopt(f->tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	f->rx = path_connect(f->tx, l, AF_INET);
}

static void flow_close(struct flow *f)
{
	close(f->rx);
	close(f->tx);
}

/* Run for seconds; returns the share of the line that the last of @n flows had. */
static double flows_run(struct flow *f, int n, int seconds)
{
	uint64_t before = f[n - 1].bytes, next = now_ns();
	ssize_t got;
	int i, t;

	for (t = 0; t < seconds * TICKS; t++) {
		for (i = 0; i < n; i++) {
			while (send(f[i].tx, buffer, 1 << 16, MSG_NOSIGNAL) > 0)
				;
			while ((got = recv(f[i].rx, buffer, BUFFER, 0)) > 0)
				f[i].bytes += got;
		}
		next += TICK_NS;
		if (next > now_ns())
			sleep_ns(next - now_ns());
	}
	return (f[n - 1].bytes - before) * 8.0 / seconds / LINE;
}

static void path_line(const char *more)
{
	char netem[128];

	snprintf(netem, sizeof(netem), "rate 100mbit delay 20ms " QUEUE " %s", more);
	path_impair(B, netem);
	path_impair(A, "delay 20ms");
}

/* The events that came, of two kinds */
static void must_tell(int broken, int tried)
{
	static char buf[8192];
	struct nl_message m;

	while (nl_event(&ev, buf, sizeof(buf), &m, 0)) {
		broken -= m.cmd == SSTP_CMD_CONTRACT_BROKEN;
		tried -= m.cmd == SSTP_CMD_CONTRACT_TRIED;
	}
	must_be("contract-broken lacks", broken, 0);
	must_be("contract-tried lacks", tried, 0);
}

/* A contract of twice the line's rate, beside TCP */
static void test_beside(void)
{
	struct flow f[2];
	struct sstp_info i;
	double early, late, tenth;
	int t = 0;

	all_held = true;
	path_enter(A);
	nl_open(&ev);
	nl_join(&ev);
	path_line("");
	sstp_open(&f[0], 2 * LINE);
	tcp_open(&f[1]);
	do {
		flows_run(f, 2, 1);
		i = sock_info(f[0].tx);
	} while (!i.contract_breaks && ++t < 3);
	must_be("breaks", i.contract_breaks, 1);
	/* Cubic has a window of a few packets now and grows at its own pace. */
	early = flows_run(f, 2, 8);
	tenth = flows_run(f, 2, 2);
	i = sock_info(f[0].tx);
	must_be("breaks after 10 s more", i.contract_breaks, 1);
	must(i.contract_wait > 0 && i.contract_wait <= 30000, "a time to try it again");
	must(!strcmp(i.controller, "hybrid"), "hybrid");
	must_be("the contract that stays", i.rate.peak, 2 * LINE);
	must_be("ContractsBroken", path_counter(A, "ContractsBroken"), 1);
	late = flows_run(f, 2, 9);
	ktap_diag("cubic after the break: %.3f of the line for 8 s, then %.3f for 2 s, then %.3f; SSTP %.3f",
		  early, tenth, late, f[0].bytes * 8.0 / (t + 20) / LINE);
	must(tenth >= 0.3 && late >= 0.3, "a share for TCP");
	must(f[0].bytes * 8.0 / (t + 20) / LINE >= 0.2, "a share for SSTP");
	ktap_held("beside TCP cubic");
	flow_close(&f[1]);
	/* The contract is tried again, and breaks again. */
	flows_run(f, 1, 30);
	i = sock_info(f[0].tx);
	must_be("breaks, later", i.contract_breaks, 2);
	must_be("ContractsTried", path_counter(A, "ContractsTried"), 1);
	must(i.contract_wait > 30000, "twice the time");
	must_tell(2, 1);
	nl_close(&ev);
	/* Congestion control alone uses the line. */
	late = flows_run(f, 1, 10);
	ktap_diag("alone: %.3f of the line", late);
	must(late >= 0.8, "the line");
	ktap_held("tried again");
	flow_close(&f[0]);
	path_settle();
}

/* @share: least share of the line that it must have */
static void test_accident(const char *more, double share)
{
	long broken = path_counter(A, "ContractsBroken");
	double had;
	struct flow f;

	all_held = true;
	path_line(more);
	sstp_open(&f, LINE);
	had = flows_run(&f, 1, 20);
	ktap_diag("%.3f of the line", had);
	must(had >= share, "its share");
	must_be("breaks", path_counter(A, "ContractsBroken") - broken, 0);
	ktap_held(more);
	flow_close(&f);
	path_settle();
}

static void test_outages(void)
{
	long broken = path_counter(A, "ContractsBroken");
	struct flow f;
	double had;
	int i;

	all_held = true;
	path_line("loss 1%");
	sstp_open(&f, LINE);
	for (i = 0; i < 3; i++) {
		flows_run(&f, 1, 2);
		path_line("loss 100%");
		flows_run(&f, 1, 3);
		path_line("loss 1%");
	}
	flows_run(&f, 1, 1);
	had = flows_run(&f, 1, 3);
	ktap_diag("%.3f of the line", had);
	must(had >= 0.85, "back at its rate");
	must_be("breaks", path_counter(A, "ContractsBroken") - broken, 0);
	ktap_held("outages");
	flow_close(&f);
	path_settle();
}

/* All arrives, but no report comes back. */
static void test_silence(void)
{
	struct flow f;
	long sent, more, again;

	all_held = true;
	path_line("");
	sstp_open(&f, MBIT);
	flows_run(&f, 1, 1);
	path_impair(A, "loss 100%");
	flows_run(&f, 1, 10);
	sent = path_counter(A, "OutData");
	flows_run(&f, 1, 10);
	more = path_counter(A, "OutData") - sent;
	must_be("DATA without any report", more, 0);
	path_impair(A, "delay 20ms");
	/* Some packets in flight may be sent again first, at the contract's rate. */
	sent = path_counter(A, "OutData");
	again = path_counter(A, "RetransData");
	flows_run(&f, 1, 5);
	more = path_counter(A, "OutData") - sent;
	again = path_counter(A, "RetransData") - again;
	ktap_diag("%ld new packets in the 5 s after it, %ld sent again", more, again);
	must(more + again > 300, "its rate again");
	sent = path_counter(A, "OutData");
	flows_run(&f, 1, 5);
	more = path_counter(A, "OutData") - sent;
	ktap_diag("%ld new packets in the next 5 s", more);
	must(more > 350, "its rate for new data");
	ktap_held("no report at all");
	flow_close(&f);
	path_settle();
}

int main(void)
{
	need_simulated_time();
	buffer = calloc(1, BUFFER);
	if (!buffer)
		die("calloc:");
	ktap_plan(8);
	path_make();
	test_beside();
	test_accident("loss 0.1%", 0.9);
	test_accident("loss 1%", 0.9);
	test_accident("loss 5%", 0.85);
	test_accident("loss gemodel 1% 20%", 0.85);
	test_outages();
	test_silence();
	return ktap_end();
}
