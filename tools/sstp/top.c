// SPDX-License-Identifier: GPL-2.0
/* sstp top: a table of connections, sorted by rate, that is refreshed. */
#include <getopt.h>
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

static int by_rate(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t p = x->m.send_rate + x->m.receive_rate, q = y->m.send_rate + y->m.receive_rate;

	return p > q ? -1 : p < q ? 1 : row_by_identity(a, b);
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

static void print(const struct row *l, int width, bool numeric)
{
	char remote[TEXT_MAX], sent[TEXT_MAX], received[TEXT_MAX], rate[TEXT_MAX] = "-";
	char rtt[TEXT_MAX], size[TEXT_MAX];
	const struct sstp_info *i = &l->c.info;
	double used = i->rcv_buffer ? (double)i->rcv_queued / i->rcv_buffer : 0;
	double lost = l->m.loss_rate / 1e4;

	/* The last packet may exceed the limit. */
	used = used < 1 ? used : 1;
	text_addr(remote, l->c.family, &l->c.remote, l->c.remote_port, numeric);
	if (i->rate.peak)
		text_number(rate, i->rate.average ?: i->rate.peak);
	printf("%8llx %-*s %6s %6s %8s %6s %s%5.1f%%%s %s%3.0f%%%s %6s\n", (unsigned long long)l->c.cookie,
	       width, fit(remote, width), text_number(sent, l->m.send_rate),
	       text_number(received, l->m.receive_rate), rate, text_us(rtt, i->rtt),
	       color(lost > 1 ? RED : PLAIN), lost, color(PLAIN),
	       color(used > 0.9 ? RED : used > 0.5 ? YELLOW : GREEN), 100 * used, color(PLAIN),
	       text_bytes(size, i->rcv_buffer));
}

static void page(const struct rows *l, bool numeric)
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
	struct rows all[2] = {};
	struct filter f = {};
	unsigned long i;
	struct nl nl;
	double then;
	int c;

	while ((c = getopt(argc, argv, "ni:c:h")) != -1)
		option(&o, c, usage);
	argv += optind + filter_parse(&f, argv + optind);
	if (*argv)
		misused("'%s' does not name connections", *argv);
	if (!f.states)
		f.states = ~STATE_BIT(TCP_LISTEN);
	nl_open(&nl);
	rows_get(&nl, &f, &all[0], &all[1]);
	then = now();
	for (i = 1; !o.count || i <= o.count; i++) {
		struct rows *new = &all[i & 1];

		nap_until(then + o.interval, NULL);
		rows_get(&nl, &f, new, &all[!(i & 1)]);
		then = now();
		if (new->n)
			qsort(new->at, new->n, sizeof(*new->at), by_rate);
		page(new, o.numeric);
	}
	return 0;
}
