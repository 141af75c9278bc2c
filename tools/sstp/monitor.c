// SPDX-License-Identifier: GPL-2.0
/* sstp monitor: print events of connections. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "sstp.h"

static const char usage[] =
"Usage: sstp monitor [-jn] [CONNECTIONS]\n"
"\n"
"Prints connections that are set up, or closed and why; contracts that change; receive\n"
"buffers that are resized, or have no room for data. Ctrl-C stops it.\n"
"\n"
"  -j  print JSON, one object per line\n"
"  -n  print ports as numbers\n"
"\n" FILTER_USAGE;

struct monitor {
	struct options o;
	struct filter f;
};

static const char *const names[] = {
	[SSTP_CMD_ESTABLISHED] = "established",
	[SSTP_CMD_CLOSED] = "closed",
	[SSTP_CMD_RATE_CHANGED] = "rate-changed",
	[SSTP_CMD_BUFFER_RESIZED] = "buffer-resized",
	[SSTP_CMD_EXHAUSTED] = "exhausted",
	[SSTP_CMD_CONTRACT_BROKEN] = "contract-broken",
	[SSTP_CMD_CONTRACT_TRIED] = "contract-tried",
	[SSTP_CMD_ECN_FAILED] = "ecn-failed",
};

static const char *closed_by(const struct conn *c)
{
	switch (c->closed_by) {
	case SSTP_CLOSED_BY_LOCAL:
		return "local";
	case SSTP_CLOSED_BY_PEER:
		return "peer";
	case SSTP_CLOSED_BY_TIMEOUT:
		return "timeout";
	}
	return "unknown";
}

static void details(const struct conn *c)
{
	char a[TEXT_MAX], b[TEXT_MAX];

	switch (c->cmd) {
	case SSTP_CMD_CLOSED:
		printf(" by:%s state:%s", closed_by(c), state_name(c->state));
		if (c->error)
			printf(" error:\"%s\"", strerror(c->error));
		printf(" sent:%s received:%s", text_bytes(a, c->info.bytes_sent),
		       text_bytes(b, c->info.bytes_received));
		break;
	case SSTP_CMD_RATE_CHANGED:
	case SSTP_CMD_CONTRACT_BROKEN:
	case SSTP_CMD_CONTRACT_TRIED:
		printf(" peak:%s average:%s", c->rate.peak ? text_rate(a, c->rate.peak) : "none",
		       c->rate.average ? text_rate(b, c->rate.average) : "-");
		break;
	case SSTP_CMD_BUFFER_RESIZED:
		printf(" from:%s to:%s%s", text_bytes(a, c->old_limit),
		       text_bytes(b, c->new_limit), c->shared ? " shared" : "");
		break;
	case SSTP_CMD_ECN_FAILED:
		printf(" cause:%s", ecn_name(c->info.ecn));
		break;
	case SSTP_CMD_EXHAUSTED:
		printf(" discarded:%" PRIu64 " packets, %s", c->packets_discarded,
		       text_bytes(a, c->bytes_discarded));
		break;
	}
}

static void print_text(const struct conn *c, const struct timeval *at, const char *name,
		       bool numeric)
{
	char local[TEXT_MAX], remote[TEXT_MAX], clock[16];
	enum color tint = c->cmd == SSTP_CMD_EXHAUSTED ||
			  c->cmd == SSTP_CMD_CONTRACT_BROKEN || c->error ? RED :
			  c->cmd == SSTP_CMD_ESTABLISHED ? GREEN :
			  c->cmd == SSTP_CMD_CLOSED ? YELLOW : CYAN;
	struct tm tm;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&at->tv_sec, &tm));
	text_addr(local, c->family, &c->local, c->local_port, numeric);
	text_addr(remote, c->family, &c->remote, c->remote_port, numeric);
	printf("%s.%06ld %s%-14s%s %8" PRIx64 " %s > %s", clock, (long)at->tv_usec, color(tint), name,
	       color(PLAIN), c->cookie, local, remote);
	details(c);
	putchar('\n');
}

static void print_json(const struct conn *c, const struct timeval *at, const char *name)
{
	printf("{\"time\": %ld.%06ld, \"event\": \"%s\", ", (long)at->tv_sec,
	       (long)at->tv_usec, name);
	json_conn(stdout, c);
	if (c->cmd == SSTP_CMD_CLOSED)
		printf(", \"closed_by\": \"%s\", \"error\": %u", closed_by(c), c->error);
	else if (c->cmd == SSTP_CMD_BUFFER_RESIZED)
		printf(", \"old_limit\": %u, \"new_limit\": %u, \"shared\": %s", c->old_limit,
		       c->new_limit, c->shared ? "true" : "false");
	else if (c->cmd == SSTP_CMD_EXHAUSTED)
		printf(", \"packets_discarded\": %" PRIu64 ", \"bytes_discarded\": %" PRIu64,
		       c->packets_discarded, c->bytes_discarded);
	puts("}");
}

static int event(const struct nlmsghdr *n, void *arg)
{
	struct monitor *m = arg;
	struct timeval at;
	struct conn c;

	conn_parse(n, &c);
	if (c.cmd >= SIZE(names) || !names[c.cmd] || !filter_match(&m->f, &c))
		return MNL_CB_OK;
	gettimeofday(&at, NULL);
	if (m->o.json)
		print_json(&c, &at, names[c.cmd]);
	else
		print_text(&c, &at, names[c.cmd], m->o.numeric);
	return MNL_CB_OK;
}

int cmd_monitor(int argc, char **argv)
{
	static char buf[64 << 10];
	struct monitor m = {};
	struct nl nl;
	ssize_t len;
	int c;

	while ((c = getopt(argc, argv, "jnh")) != -1)
		option(&m.o, c, usage);
	argv += optind + filter_parse(&m.f, argv + optind);
	if (*argv)
		misused("'%s' does not name connections", *argv);
	nl_open(&nl);
	nl_listen(&nl);
	for (;;) {
		len = mnl_socket_recvfrom(nl.s, buf, sizeof(buf));
		if (len < 0 && errno == ENOBUFS) {
			fprintf(stderr, "sstp monitor: some events were lost: too many at once\n");
			continue;
		}
		if (len < 0)
			die("netlink: %s", strerror(errno));
		/* Events have sequence number and port ID 0. */
		if (mnl_cb_run(buf, len, 0, 0, event, &m) < 0)
			die("netlink: %s", strerror(errno));
		flush();
	}
}
