// SPDX-License-Identifier: GPL-2.0
/* sstp top: a table of connections, sorted by rate, that is refreshed. */
#include <getopt.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "sstp.h"

/* Width of all columns but the peer's address, and limits of the width of that */
#define BESIDE		58
#define PEER_MIN	22	/* so that IPv4 addresses fit into 80 columns */
#define PEER_MAX	47

static const char usage[] =
"Usage: sstp top [-n] [-i SECONDS] [-c COUNT] [CONNECTIONS]\n"
"\n"
"Shows the busiest connections first: rates sent and received in the interval, contract,\n"
"round-trip time, packets lost on the way to the peer, use and size of the receive\n"
"buffer. Ctrl-C stops it.\n"
"\n"
"  -i SECONDS  interval (1)\n"
"  -c COUNT    stop after COUNT intervals\n"
"  -n          print ports as numbers\n"
"\n" FILTER_USAGE;

/* A row of the table */
struct line {
	double sent;		/* bit/s in the last interval */
	double received;	/* bit/s */
	double lost;		/* share of packets */
	struct conn c;
};

struct lines {
	struct line *at;
	size_t n, room;
};

static void add(const struct conn *c, void *arg)
{
	struct lines *l = arg;

	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->at = realloc(l->at, l->room * sizeof(*l->at));
		if (!l->at)
			die("no memory for %zu connections", l->room);
	}
	l->at[l->n++] = (struct line){ .c = *c };
}

/* A socket that connects again keeps its cookie, but has another CID, and counts from 0. */
static int by_identity(const void *a, const void *b)
{
	const struct conn *x = &((const struct line *)a)->c, *y = &((const struct line *)b)->c;

	if (x->cookie != y->cookie)
		return x->cookie < y->cookie ? -1 : 1;
	return x->cid < y->cid ? -1 : x->cid > y->cid;
}

static int by_rate(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	double d = y->sent + y->received - x->sent - x->received;

	return d < 0 ? -1 : d > 0 ? 1 : by_identity(a, b);
}

static void compare(struct line *l, const struct lines *before, double seconds)
{
	const struct sstp_info *i = &l->c.info, *was;
	const struct line *old = before->n ? bsearch(l, before->at, before->n,
						     sizeof(*l), by_identity) : NULL;
	double packets;

	/* A new connection has rates from the next interval on. */
	if (!old)
		return;
	was = &old->c.info;
	l->sent = 8.0 * (i->bytes_sent - was->bytes_sent) / seconds;
	l->received = 8.0 * (i->bytes_received - was->bytes_received) / seconds;
	packets = i->packets_sent - was->packets_sent;
	/* Packets sent in an earlier interval may be reported lost in this one. */
	l->lost = packets > 0 ? fmin((i->packets_lost - was->packets_lost) / packets, 1) : 0;
}

/* Cut a text that is too long at its beginning, as the port is at its end. */
static const char *fit(char *text, size_t width)
{
	size_t len = strlen(text);

	if (len <= width)
		return text;
	text += len - width;
	*text = '~';
	return text;
}

static void print(const struct line *l, int width, bool numeric)
{
	char remote[TEXT_MAX], sent[TEXT_MAX], received[TEXT_MAX], rate[TEXT_MAX] = "-";
	char rtt[TEXT_MAX], size[TEXT_MAX];
	const struct sstp_info *i = &l->c.info;
	double used = i->rcv_buffer ? (double)i->rcv_queued / i->rcv_buffer : 0;

	/* The last packet may exceed the limit. */
	used = used < 1 ? used : 1;
	text_addr(remote, l->c.family, &l->c.remote, l->c.remote_port, numeric);
	if (i->rate.peak)
		text_number(rate, i->rate.average ?: i->rate.peak);
	printf("%8llx %-*s %6s %6s %8s %6s %s%5.1f%%%s %s%3.0f%%%s %6s\n", (unsigned long long)l->c.cookie,
	       width, fit(remote, width), text_number(sent, l->sent),
	       text_number(received, l->received), rate, text_us(rtt, i->rtt),
	       color(l->lost > 0.01 ? RED : PLAIN), 100 * l->lost, color(PLAIN),
	       color(used > 0.9 ? RED : used > 0.5 ? YELLOW : GREEN), 100 * used, color(PLAIN),
	       text_bytes(size, i->rcv_buffer));
}

static void page(const struct lines *l, bool numeric)
{
	unsigned int rows = term_rows();
	int width = term_columns() - BESIDE;
	size_t i;

	width = width < PEER_MIN ? PEER_MIN : width > PEER_MAX ? PEER_MAX : width;
	/* Clear the screen, and cut lines at the right edge. */
	if (term_is_one())
		printf("\033[H\033[2J\033[?7l");
	printf("%s%8s %-*s %6s %6s %8s %6s %6s %11s%s\n", color(BOLD), "ID", width, "Peer",
	       "tx b/s", "rx b/s", "contract", "rtt", "lost", "buffer", color(PLAIN));
	for (i = 0; i < l->n && i + 2 < rows; i++)
		print(&l->at[i], width, numeric);
	if (i < l->n)
		printf("%s... and %zu more", color(FAINT), l->n - i);
	printf("%s%s", color(PLAIN), term_is_one() ? "\033[?7h" : "\n");
	flush();
}

int cmd_top(int argc, char **argv)
{
	struct options o = { .interval = 1 };
	struct lines all[2] = {};
	struct filter f = {};
	unsigned long i;
	double then, at;
	struct nl nl;
	size_t k;
	int c;

	while ((c = getopt(argc, argv, "ni:c:h")) != -1)
		option(&o, c, usage);
	argv += optind + filter_parse(&f, argv + optind);
	if (*argv)
		misused("'%s' does not name connections", *argv);
	if (!f.states)
		f.states = ~STATE_BIT(TCP_LISTEN);
	nl_open(&nl);
	nl_check(&nl, filter_dump(&nl, &f, add, &all[0]), "connections");
	then = now();
	for (i = 1; !o.count || i <= o.count; i++) {
		struct lines *new = &all[i & 1], *old = &all[!(i & 1)];

		nap_until(then + o.interval, NULL);
		new->n = 0;
		nl_check(&nl, filter_dump(&nl, &f, add, new), "connections");
		at = now();
		if (old->n)
			qsort(old->at, old->n, sizeof(*old->at), by_identity);
		for (k = 0; k < new->n; k++)
			compare(&new->at[k], old, at - then);
		if (new->n)
			qsort(new->at, new->n, sizeof(*new->at), by_rate);
		page(new, o.numeric);
		then = at;
	}
	return 0;
}
