// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * net.core.busy_read is for programs that wait: packets of connections, which are taken
 * in softirq, make nobody poll devices.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"

#define TRACING		"/sys/kernel/tracing"
#define NAPI_POLL	TRACING "/events/napi/napi_poll/enable"
#define BUSY_READ	"/proc/sys/net/core/busy_read"
#define BUSY_BUDGET	8		/* packets that a busy loop polls for */
#define EXCHANGES	20

/* Only the initial namespace has the sysctl. */
static void set_busy_read(int us)
{
	int first = open("/proc/1/ns/net", O_RDONLY);

	if (first < 0 || setns(first, CLONE_NEWNET))
		die("the first namespace:");
	close(first);
	file_put(BUSY_READ, "%d", us);
}

static void tracing_start(void)
{
	struct stat s;

	if (stat(TRACING "/events", &s) && mount("tracefs", TRACING, "tracefs", 0, NULL))
		die(TRACING ":");
	file_put(TRACING "/trace", "\n");
	file_put(NAPI_POLL, "1");
}

/* Count polls of devices, and those by programs that wait. */
static int polls(int *busy)
{
	FILE *f = fopen(TRACING "/trace", "r");
	int all = 0, budget;
	const char *at;
	char line[512];

	file_put(NAPI_POLL, "0");
	if (!f)
		die(TRACING "/trace:");
	*busy = 0;
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, "budget ");
		if (!at || sscanf(at, "budget %d", &budget) != 1)
			continue;
		all++;
		*busy += budget == BUSY_BUDGET;
	}
	fclose(f);
	return all;
}

/* Connected from @host to the router, at @to */
static int client(int host, const char *to, uint16_t port)
{
	union addr a;
	int fd;

	path_enter(host);
	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || !addr_parse(&a, to, port) || connect(fd, &a.sa, addr_len(&a)))
		die("connect to %s:", to);
	return fd;
}

int main(void)
{
	int l, tx[2], rx[2], i, k, all, busy;
	bool ok = true;
	union addr a;
	char c;

	ktap_plan(1);
	set_busy_read(50);
	path_make();
	/* As with most devices, what comes is polled for. */
	path_run(R, "ethtool -K to-a gro on");
	path_run(R, "ethtool -K to-b gro on");
	addr_any(&a, AF_INET, 0);
	l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	if (l < 0 || bind(l, &a.sa, addr_len(&a)) || listen(l, 2) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listen:");
	tracing_start();
	for (i = 0; i < 2; i++) {
		tx[i] = client(i ? B : A, i ? "10.0.2.1" : "10.0.1.2", addr_port(&a));
		rx[i] = accept(l, NULL, NULL);
		if (rx[i] < 0)
			die("accept:");
	}
	/* Send in turn through both devices, to the same UDP socket. */
	for (k = 0; k < EXCHANGES; k++)
		for (i = 0; i < 2; i++)
			ok &= send(tx[i], "x", 1, 0) == 1 && recv(rx[i], &c, 1, 0) == 1;
	all = polls(&busy);
	set_busy_read(0);
	ktap_diag("devices were polled %d times, by who waits %d times", all, busy);
	ktap_result(ok && all && !busy, "softirq does not wait for devices");
	return ktap_end();
}
