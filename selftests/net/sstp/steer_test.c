// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: 6.1 6.12
 * quick: yes
 *
 * Which CPU handles the packets of a connection: RFS, SO_INCOMING_CPU, and the UDP ports by which
 * RSS and ECMP tell connections apart.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"

#define CONNS		100
#define AT_ONCE		64		/* UDP ports of a namespace and address family */
#define ROUNDS		50
#define CHUNK		(64 << 10)
#define FIRST_PORT	60000
#define FLOWS		"/proc/sys/net/core/rps_sock_flow_entries"
#define QUEUE		"/sys/class/net/lo/queues/rx-0/"

static struct pair pairs[CONNS];

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity:");
}

/* Write on CPU @tx and read on CPU @rx. Returns the CPU that handled the last packets. */
static int move(struct pair *p, int tx, int rx)
{
	run_on(tx);
	pair_fill(p, p->sent + CHUNK);
	run_on(rx);
	must(busywait(WAIT_MS, all_read, p), "the data come");
	return sock_int(p->rx, SOL_SOCKET, SO_INCOMING_CPU);
}

/* Does CPU @at handle what CPU @tx sends to CPU @rx, in four of five of the last half of the rounds?
 * RFS follows a program after a read, and not before the packets that wait on the CPU it used before
 * are handled. Without RFS the reader's CPU handles packets that leave when its own report comes, as
 * those behind a full window.
 */
static bool handled(struct pair *p, int tx, int rx, int at)
{
	int i, n = 0;

	for (i = 0; i < ROUNDS; i++)
		if (move(p, tx, rx) == at && i >= ROUNDS / 2)
			n++;
	ktap_diag("from CPU %d to %d: CPU %d handled %d of %d", tx, rx, at, n, ROUNDS / 2);
	return n >= ROUNDS / 2 * 4 / 5;
}

/* Let RPS use both CPUs, by the flow's hash, or by RFS if @flows. */
static void steering(const char *cpus, int flows)
{
	file_put(QUEUE "rps_cpus", "%s", cpus);
	file_put(QUEUE "rps_flow_cnt", "%d", flows);
	file_put(FLOWS, "%d", flows);
}

/* UDP sockets of the namespace but those on the well-known port */
static int udp_ports(void)
{
	FILE *f = fopen("/proc/thread-self/net/udp", "r");
	unsigned int port;
	char line[300];
	int n = 0;

	if (!f)
		die("/proc/thread-self/net/udp:");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d: %*x:%x", &port) == 1 && port != SSTP_PORT)
			n++;
	fclose(f);
	return n;
}

/* Each connection has a UDP port of its own, as long as there are few. */
static void ports(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		pair_open(&pairs[i]);
		pair_close(&pairs[i]);
	}
	ktap_diag("20 connections one after another have %d UDP ports", udp_ports());
	ktap_result(udp_ports() <= 3, "connections one after another share UDP ports");
	for (i = 0; i < CONNS; i++) {
		pair_open(&pairs[i]);
		if (i == AT_ONCE - 1)
			ktap_result(udp_ports() == AT_ONCE, "each of %d has a UDP port of its own",
				    AT_ONCE);
	}
	ktap_result(udp_ports() == AT_ONCE, "%d connections have no more UDP ports", CONNS);
	for (i = 0; i < CONNS; i++) {
		pair_exchange(&pairs[i]);
		pair_close(&pairs[i]);
	}
	ktap_result(sstp_sockets_end(WAIT_MS), "all of them exchanged data");
}

/* There is but one UDP port for connections, as other programs have the rest. */
static void few_ports(void)
{
	union addr a;
	int fd, port;

	file_put("/proc/sys/net/ipv4/ip_local_port_range", "%d %d", FIRST_PORT, FIRST_PORT + 3);
	for (port = FIRST_PORT; port < FIRST_PORT + 3; port++) {
		addr_loopback(&a, AF_INET, port);
		fd = socket(AF_INET, SOCK_DGRAM, 0);
		if (fd < 0 || bind(fd, &a.sa, addr_len(&a)))
			die("UDP socket:");
	}
	pair_open(&pairs[0]);
	pair_open(&pairs[1]);
	pair_exchange(&pairs[0]);
	pair_exchange(&pairs[1]);
	ktap_result(udp_ports() == 4, "connections share the only UDP port");
	pair_close(&pairs[0]);
	pair_close(&pairs[1]);
}

int main(void)
{
	struct pair p;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip_all("there is one CPU");
	ktap_plan(9);
	pair_open(&p);
	steering("0", 0);
	ktap_result(handled(&p, 0, 1, 0), "without RFS the sender's CPU handles packets");
	steering("3", 4096);
	ktap_result(handled(&p, 0, 1, 1), "RFS: the reader's CPU handles them");
	ktap_result(handled(&p, 1, 0, 0), "RFS follows a reader to another CPU");
	steering("0", 0);
	ktap_result(handled(&p, 1, 0, 1), "and no longer when it is off");
	pair_close(&p);
	new_namespace();
	ports();
	new_namespace();
	few_ports();
	return ktap_end();
}
