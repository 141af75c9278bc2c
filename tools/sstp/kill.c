// SPDX-License-Identifier: GPL-2.0
/* sstp kill: end connections, as ss -K does those of TCP. */
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "sstp.h"

static const char usage[] =
"Usage: sstp kill [-n] CONNECTIONS\n"
"\n"
"Ends connections and prints them: their programs get ECONNABORTED, their peers a RESET.\n"
"Connections that programs have closed but that still send end as well, listeners only\n"
"with 'state listening' or by their ID. Needs CAP_NET_ADMIN.\n"
"\n"
"  -n  print ports as numbers\n"
"\n" FILTER_USAGE;

/* Connections to end: the dump has to be complete before the next request. */
struct victims {
	struct conn *at;
	size_t n, room;
};

static void add(const struct conn *c, void *arg)
{
	struct victims *v = arg;

	if (v->n == v->room) {
		v->room = v->room ? 2 * v->room : 64;
		v->at = realloc(v->at, v->room * sizeof(*v->at));
		if (!v->at)
			die("no memory for %zu connections", v->room);
	}
	v->at[v->n++] = *c;
}

/* Returns false if the connection had already ended. */
static bool kill_one(struct nl *nl, const struct conn *c)
{
	char buf[NL_REQUEST_MAX];
	struct nlmsghdr *n;
	int err;

	n = nl_start(nl, buf, SSTP_CMD_CONN_DESTROY, 0);
	mnl_attr_put_u64(n, SSTP_A_CONN_COOKIE, c->cookie);
	/* The socket of that cookie may have connected again since. */
	if (c->has_cid)
		mnl_attr_put_u32(n, SSTP_A_CONN_CID, c->cid);
	err = nl_talk(nl, n, NULL, NULL);
	if (err != -ENOENT)
		nl_check(nl, err, "cannot end the connection");
	return !err;
}

int cmd_kill(int argc, char **argv)
{
	struct victims v = {};
	struct options o = {};
	struct filter f = {};
	bool killed = false;
	struct nl nl;
	size_t i;
	int c;

	while ((c = getopt(argc, argv, "nh")) != -1)
		option(&o, c, usage);
	argv += optind;
	c = filter_parse(&f, argv);
	if (argv[c])
		misused("'%s' does not name connections", argv[c]);
	if (!c)
		misused("which connections? Name one by its ID, which 'sstp show' prints");
	if (!f.states && !f.has_id && !f.has_cid)
		f.states = ~STATE_BIT(TCP_LISTEN);
	nl_open(&nl);
	nl_check(&nl, filter_dump(&nl, &f, add, &v), "connections");
	for (i = 0; i < v.n; i++) {
		if (!kill_one(&nl, &v.at[i]))
			continue;
		if (!killed)
			row_heading();
		row_print(&v.at[i], o.numeric);
		killed = true;
	}
	free(v.at);
	if (!killed)
		die("no such connection: 'sstp show -a' lists all");
	return 0;
}
