// SPDX-License-Identifier: GPL-2.0
/*
 * Samples the bytes that wait in a device's root queue, until SIGTERM or SIGINT.
 *
 * Packets in a qdisc 2: below it do not count: these are on the wire (tools/lab/guest).
 */
#include <inttypes.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

#define WIRE	(2 << 16)	/* handle 2: */

static volatile sig_atomic_t told_to_end;

static void end(int sig)
{
	(void)sig;
	told_to_end = 1;
}

/* Bytes in a qdisc of the answer */
static int64_t qdisc_backlog(const struct nlmsghdr *h)
{
	const struct tcmsg *tcm = NLMSG_DATA(h);
	const struct rtattr *a = TCA_RTA(tcm), *b;
	int left = TCA_PAYLOAD(h), inner;

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type != TCA_STATS2)
			continue;
		inner = RTA_PAYLOAD(a);
		for (b = RTA_DATA(a); RTA_OK(b, inner); b = RTA_NEXT(b, inner))
			if (b->rta_type == TCA_STATS_QUEUE)
				return ((struct gnet_stats_queue *)RTA_DATA(b))->backlog;
	}
	return 0;
}

static int64_t sample(int fd, int device)
{
	struct {
		struct nlmsghdr h;
		struct tcmsg tcm;
	} ask = {
		.h = { .nlmsg_len = sizeof(ask), .nlmsg_type = RTM_GETQDISC,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.tcm.tcm_ifindex = device,
	};
	static char buf[1 << 16] __attribute__((aligned(8)));
	const struct nlmsghdr *h;
	const struct tcmsg *tcm;
	int64_t bytes = 0;
	ssize_t n;

	if (send(fd, &ask, sizeof(ask), 0) < 0)
		die("backlog: send:");
	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0)
			die("backlog: recv:");
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return bytes;
			if (h->nlmsg_type != RTM_NEWQDISC)
				die("backlog: the kernel refuses");
			tcm = NLMSG_DATA(h);
			if (tcm->tcm_ifindex != device)
				continue;
			if (tcm->tcm_parent == TC_H_ROOT)
				bytes += qdisc_backlog(h);
			else if (tcm->tcm_handle == WIRE)
				bytes -= qdisc_backlog(h);
		}
	}
}

int main(int argc, char **argv)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), device;
	struct sigaction action = { .sa_handler = end };
	struct timespec ts;
	uint64_t begin = now_ns(), step, at;

	if (argc != 3 || !strcmp(argv[1], "-h") || atof(argv[2]) <= 0) {
		printf("Usage: backlog DEVICE MS\n\n"
		       "Prints the time in seconds and the bytes that wait in the device's queue, every\n"
		       "MS milliseconds until a signal ends it.\n");
		return argc == 2 && !strcmp(argv[1], "-h") ? 0 : 2;
	}
	device = if_nametoindex(argv[1]);
	if (!device || fd < 0)
		die("backlog: %s:", argv[1]);
	step = atof(argv[2]) * 1e6;
	prctl(PR_SET_TIMERSLACK, 1);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	for (at = begin; !told_to_end; at += step) {
		ts = (struct timespec){ at / 1000000000, at % 1000000000 };
		if (!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
			printf("%.6f %" PRId64 "\n", (at - begin) / 1e9, sample(fd, device));
	}
	return 0;
}
