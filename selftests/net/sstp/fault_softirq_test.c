// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: debug gcov
 *
 * What softirqs allocate fails now and then, or always where it is more than a page:
 * connections are made all the same, data arrive, nothing is left behind (kmemleak
 * looks when all tests are over).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fault.h"
#include "fault_conn.h"
#include "path.h"

#define MTU	9000
#define PROBES	3	/* of one size */

/* Let @percent of the allocations in atomic context fail. */
static void often(unsigned int percent)
{
	char text[16];
	int kind;

	snprintf(text, sizeof(text), "%u", percent);
	for (kind = SLAB; kind <= PAGE; kind++) {
		kind_set(kind, "times", percent ? FAULT_TIMES : "0");
		kind_set(kind, "ignore-gfp-wait", percent ? "Y" : "N");
		kind_set(kind, "probability", text);
	}
}

/* Wait until an allocation of @kind has failed; SLAB is both caches. */
static void transfers(struct conn *c, int kind)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	long faults = 0;
	int i;

	for (i = 0; all_held && (i < 10 || (!faults && now_ns() < end)); i++) {
		conn_transfer(c);
		faults = kind_faults(PAGE);
		if (kind == SLAB)
			faults += kind_faults(SLAB);
	}
	ktap_diag("%d transfers, %ld faults", i, faults);
	if (!faults)
		bad("no fault");
}

/* Connect again, as a program does, when memory was short or there was no connection in time. All
 * of half a dozen allocations must work for a connection to begin, and each try waits twice as long
 * as the one before: at 10 % a few take more than WAIT_MS.
 */
static bool try_connect(struct conn *c)
{
	uint64_t end = now_ns() + 3 * WAIT_MS * 1000000ULL;

	while (!conn_reach(c, CONNECTED)) {
		if ((errno != ENOMEM && errno != ENOBUFS &&
		     errno != EINPROGRESS && errno != EAGAIN) || now_ns() > end)
			return false;
		conn_leave(c);
		conn_init(c, c->proto, c->family, c->type);
	}
	return true;
}

static void test_softirq(int family, unsigned int percent)
{
	struct conn c;

	all_held = true;
	conn_init(&c, PROTO_SSTP, family, SOCK_STREAM);
	new_namespace();
	/* The first one makes the routes; without memory for these there are none. */
	if (!conn_reach(&c, CONNECTED))
		die("connection:");
	if (percent <= 10) {
		conn_leave(&c);
		conn_init(&c, c.proto, c.family, c.type);
	}
	often(percent);
	if (!try_connect(&c))
		bad("no connection: %s", strerrorname_np(errno));
	transfers(&c, SLAB);
	if (all_held && shutdown(c.a, SHUT_WR))
		bad("shutdown: %s", strerrorname_np(errno));
	if (all_held)
		conn_ended(c.b);
	often(0);
	conn_leave(&c);
	ktap_result(all_held, "%u %% of allocations that cannot wait fail, over %s",
		    percent, family == AF_INET ? "IPv4" : "IPv6");
}

/* Each page is a fragment of its own: large messages have many. */
static void test_pages(int family)
{
	struct conn c;

	all_held = true;
	conn_init(&c, PROTO_SSTP, family, SOCK_STREAM);
	if (!conn_reach(&c, CONNECTED))
		die("connection:");
	kind_set(PAGE, "min-order", "1");
	kind_set(PAGE, "ignore-gfp-wait", "Y");
	kind_set(PAGE, "times", FAULT_TIMES);
	kind_set(PAGE, "probability", "100");
	transfers(&c, PAGE);
	kind_set(PAGE, "probability", "0");
	kind_set(PAGE, "ignore-gfp-wait", "N");
	kind_set(PAGE, "min-order", "0");
	conn_leave(&c);
	ktap_result(all_held, "no two pages in one piece, over %s",
		    family == AF_INET ? "IPv4" : "IPv6");
}

static bool probes_lacked(void *arg)
{
	struct conn *c = arg;

	return !conn_transfer(c) || sstp_counter("OutNoMem") >= PROBES;
}

static bool mtu_found(void *arg)
{
	struct conn *c = arg;

	return !conn_transfer(c) || sock_info(c->a).mtu == MTU;
}

/* Only allocations of full packets fail: this must not lower the path MTU. */
static void test_probes(void)
{
	struct conn c;
	int i;

	all_held = true;
	path_make();
	path_run(A, "ip link set to-r mtu %d", MTU);
	path_run(B, "ip link set to-r mtu %d", MTU);
	path_run(R, "ip link set to-a mtu %d && ip link set to-b mtu %d", MTU, MTU);
	conn_init(&c, PROTO_SSTP, AF_INET, SOCK_STREAM);
	c.a = path_socket(A, SOCK_STREAM);
	kind_set(PAGE, "min-order", "2");
	kind_set(PAGE, "ignore-gfp-wait", "Y");
	kind_set(PAGE, "times", FAULT_TIMES);
	kind_set(PAGE, "probability", "100");
	c.b = path_connect(c.a, path_socket(B, SOCK_STREAM), AF_INET);
	path_enter(A);
	for (i = 0; i < 2; i++)
		if (fcntl(i ? c.b : c.a, F_SETFL, 0))
			die("blocking:");
	if (!busywait(WAIT_MS, probes_lacked, &c))
		bad("probes have memory");
	kind_set(PAGE, "probability", "0");
	kind_set(PAGE, "ignore-gfp-wait", "N");
	kind_set(PAGE, "min-order", "0");
	if (all_held && !busywait(WAIT_MS, mtu_found, &c))
		bad("packets of %u", sock_info(c.a).mtu);
	conn_leave(&c);
	ktap_result(all_held && path_settle(), "probes of the path MTU lack memory");
}

int main(void)
{
	static const unsigned int softirq[] = { 2, 5, 10, 20, 30, 40 };
	static const int families[] = { AF_INET, AF_INET6 };
	unsigned int i, f;

	fault_init();
	ktap_plan(2 * ARRAY_SIZE(softirq) + 4);
	for (i = 0; i < ARRAY_SIZE(softirq); i++)
		for (f = 0; f < 2; f++)
			test_softirq(families[f], softirq[i]);
	for (f = 0; f < 2; f++)
		test_pages(families[f]);
	test_probes();
	ktap_result(busywait(3 * WAIT_MS, conns_gone, NULL),
		    "no socket and no memory is left");
	return ktap_end();
}
