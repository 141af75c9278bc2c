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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fault.h"
#include "fault_conn.h"

/* Of allocations that cannot wait @percent fail. */
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

/* Until there has been a fault: of @kind, SLAB being both */
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

/* As a program does: anew, when memory was short or nothing came of it in time. All of
 * half a dozen allocations must work for a connection to begin, and each try waits twice
 * as long as the one before: at 10 % a few take more than WAIT_MS.
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

/* No two pages are in one piece: what goes out is in many. */
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

int main(void)
{
	static const unsigned int softirq[] = { 2, 5, 10, 20, 30 };
	static const int families[] = { AF_INET, AF_INET6 };
	unsigned int i, f;

	fault_init();
	ktap_plan(2 * ARRAY_SIZE(softirq) + 3);
	for (i = 0; i < ARRAY_SIZE(softirq); i++)
		for (f = 0; f < 2; f++)
			test_softirq(families[f], softirq[i]);
	for (f = 0; f < 2; f++)
		test_pages(families[f]);
	ktap_result(busywait(3 * WAIT_MS, conns_gone, NULL),
		    "no socket and no memory is left");
	return ktap_end();
}
