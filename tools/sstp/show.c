// SPDX-License-Identifier: GPL-2.0
/* sstp show: connections and listeners. */
#include <getopt.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "sstp.h"

static const char usage[] =
"Usage: sstp show [-a|-l] [-imjn] [-r SECONDS [-c COUNT]] [CONNECTIONS]\n"
"\n"
"Lists connections with the columns of ss(8). Recv-Q: bytes that the program has not\n"
"read; Send-Q: bytes that the peer has not acknowledged. For a listener: connections that\n"
"wait for accept(), and its backlog.\n"
"\n"
"  -a          show listeners as well\n"
"  -l          show listeners only\n"
"  -i          show details, and what limits each connection\n"
"  -m          show memory of the buffers\n"
"  -r SECONDS  show connections after each interval, with their rates in it\n"
"  -c COUNT    stop after COUNT intervals\n"
"  -j          print JSON\n"
"  -n          print ports as numbers\n"
"\n" FILTER_USAGE;

struct show {
	struct options o;
	bool info;
	bool memory;
	bool why;
	unsigned long n;
};

void row_heading(void)
{
	printf("%s%-4s %-10s %-10s %-10s %-25s %-25s %s%s\n", color(BOLD), "Type", "State",
	       "Recv-Q", "Send-Q", "Local Address:Port", "Peer Address:Port", "ID",
	       color(PLAIN));
}

void row_print(const struct conn *c, bool numeric)
{
	char local[TEXT_MAX], remote[TEXT_MAX] = "*:*";
	bool listens = conn_listens(c);
	enum color tint = listens ? CYAN : c->state == TCP_ESTABLISHED ? GREEN : YELLOW;

	text_addr(local, c->family, &c->local, c->local_port, numeric);
	if (!listens)
		text_addr(remote, c->family, &c->remote, c->remote_port, numeric);
	printf("%-4s %s%-10s%s %-10llu %-10u %-25s %-25s %llx\n",
	       c->type == SOCK_STREAM ? "str" : "seq", color(tint), state_name(c->state),
	       color(PLAIN),
	       listens ? c->backlog : (unsigned long long)c->info.rcv_readable,
	       listens ? c->backlog_max : c->info.snd_unacked, local, remote,
	       (unsigned long long)c->cookie);
}

/* Print a connection, with its rates if @row has them. */
static void print(struct show *s, const struct conn *c, const struct row *row)
{
	if (s->o.json) {
		printf("%s\n{", s->n++ ? "," : "");
		json_conn(stdout, c);
		if (row && row->known)
			json_rates(stdout, row);
		putchar('}');
		return;
	}
	if (!s->n++)
		row_heading();
	row_print(c, s->o.numeric);
	if (s->info)
		info_print(c);
	if (s->memory)
		info_memory(c);
	if (row && row->known)
		rates_print(row);
	if (s->why && !conn_listens(c))
		why_print(c);
}

static void each(const struct conn *c, void *arg)
{
	print(arg, c, NULL);
}

static void begin(struct show *s)
{
	s->n = 0;
	if (s->o.json)
		putchar('[');
}

static void end(const struct show *s)
{
	if (s->o.json)
		puts(s->n ? "\n]" : "]");
	else if (!s->n)
		row_heading();
}

/* List the connections after each interval. */
static void repeat(struct nl *nl, const struct filter *f, struct show *s)
{
	struct rows all[2] = {}, *new;
	unsigned long i;
	double then;
	size_t k;

	rows_get(nl, f, &all[0], &all[1]);
	then = now();
	for (i = 1; !s->o.count || i <= s->o.count; i++) {
		new = &all[i & 1];
		nap_until(then + s->o.interval, NULL);
		rows_get(nl, f, new, &all[!(i & 1)]);
		then = now();
		begin(s);
		for (k = 0; k < new->n; k++)
			print(s, &new->at[k].c, &new->at[k]);
		end(s);
		if (!s->o.json)
			putchar('\n');
		flush();
	}
}

int cmd_show(int argc, char **argv)
{
	bool alone = !argc || strcmp(argv[0], "show"), all = false, listeners = false;
	struct show s = { .why = alone };
	struct filter f = {};
	struct nl nl;
	int c;

	while (!alone && (c = getopt(argc, argv, "alimjnr:c:h")) != -1) {
		if (c == 'a')
			all = true;
		else if (c == 'l')
			listeners = true;
		else if (c == 'i')
			s.info = s.why = true;
		else if (c == 'm')
			s.memory = true;
		else if (c == 'r')
			s.o.interval = parse_seconds(optarg);
		else
			option(&s.o, c, usage);
	}
	if (!alone)
		argv += optind + filter_parse(&f, argv + optind);
	if (!alone && *argv)
		misused("'%s' does not name connections", *argv);
	if (s.o.count && !s.o.interval)
		misused("-c counts intervals: it needs -r");
	if (!f.states && !all && !f.has_cid && !f.has_id)
		f.states = listeners ? STATE_BIT(TCP_LISTEN) : ~STATE_BIT(TCP_LISTEN);
	nl_open(&nl);
	if (s.o.interval) {
		repeat(&nl, &f, &s);
		return 0;
	}
	begin(&s);
	nl_check(&nl, filter_dump(&nl, &f, each, &s), "connections");
	end(&s);
	if (alone && term_is_one())
		printf("%s%s'sstp show -i' shows details, 'sstp -h' lists commands.%s\n",
		       color(FAINT), s.n ? "" : "No connections. ", color(PLAIN));
	return 0;
}
