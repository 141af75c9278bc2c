// SPDX-License-Identifier: GPL-2.0
/* sstp trace: what is known of a connection, again and again, into a file. */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sstp.h"

#define INTERVAL	0.05	/* s */

static const char trace_usage[] =
"Usage: sstp trace CONNECTION -o FILE [-i SECONDS] [-c COUNT]\n"
"\n"
"Records a connection until it is over, or Ctrl-C: an object of JSON a line, as of 'sstp\n"
"show -j', with its time in seconds. 'sstp plot FILE' draws it.\n"
"\n"
"  -o FILE     where to; - is standard output\n"
"  -i SECONDS  from one look to the next (0.05)\n"
"  -c COUNT    ends after so many\n"
"\n"
"CONNECTION: words as below that only one is meant by\n" FILTER_USAGE;

static const char plot_usage[] =
"Usage: sstp plot FILE [-o PICTURE]\n"
"\n"
"Draws what 'sstp trace' recorded: rates, window, buffers and round-trip time.\n"
"\n"
"  -o PICTURE  NAME.png or NAME.svg (FILE.svg)\n"
"\n"
"Needs python3-matplotlib.\n";

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* Until @at or a signal, be it one that came since @ended was looked at last */
static void rest(double at)
{
	sigset_t ends, usual;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &usual);
	if (!ended)
		nap_until(at, &usual);
	sigprocmask(SIG_SETMASK, &usual, NULL);
}

int cmd_trace(int argc, char **argv)
{
	const struct sigaction on_end = { .sa_handler = end };
	struct options o = { .interval = INTERVAL };
	const char *name = NULL;
	struct filter f = {};
	unsigned long i = 0;
	struct conn conn;
	double start, at;
	struct nl nl;
	FILE *out;
	int c, err = 0;

	while ((c = getopt(argc, argv, "o:i:c:h")) != -1) {
		if (c == 'o')
			name = optarg;
		else
			option(&o, c, trace_usage);
	}
	argv += optind;
	c = filter_parse(&f, argv);
	if (argv[c])
		misused("'%s' does not say which connection", argv[c]);
	if (!c)
		misused("which connection? Name it by its ID, which 'sstp show' prints");
	if (!name)
		misused("where to? -o FILE");
	nl_open(&nl);
	filter_one(&nl, &f, &conn);
	if (conn_listens(&conn))
		die("that is a listener: name a connection");
	out = strcmp(name, "-") ? fopen(name, "we") : stdout;
	if (!out)
		die("%s: %s", name, strerror(errno));
	sigaction(SIGINT, &on_end, NULL);
	sigaction(SIGTERM, &on_end, NULL);
	start = now();
	at = start;
	while (!ended) {
		err = conn_again(&nl, &conn);
		if (err == -ENOENT)
			break;
		nl_check(&nl, err, "connection");
		fprintf(out, "{\"time\": %.6f, ", now() - start);
		json_conn(out, &conn);
		fputs("}\n", out);
		if (fflush(out))
			break;
		if (++i == o.count)
			break;
		/* What was missed meanwhile, as when it was stopped, is not made up for. */
		at += o.interval * fmax(1, ceil((now() - at) / o.interval));
		rest(at);
	}
	if (fflush(out) || ferror(out) || (out != stdout && fclose(out)))
		die("%s: %s", name, strerror(errno));
	fprintf(stderr, "sstp trace: %lu looks in %.1f s%s\n", i, now() - start,
		err == -ENOENT ? "; the connection is over" : "");
	return 0;
}

/* sstp-plot is beside this program, or in ../lib/sstp seen from there. */
static void find_plot(char path[PATH_MAX])
{
	static const char *const places[] = { "", "../lib/sstp/" };
	char self[PATH_MAX];
	unsigned int i;
	ssize_t len;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		die("/proc/self/exe: %s", strerror(errno));
	self[len] = 0;
	dirname(self);
	for (i = 0; i < SIZE(places); i++) {
		if (snprintf(path, PATH_MAX, "%s/%ssstp-plot", self, places[i]) < PATH_MAX &&
		    !access(path, X_OK))
			return;
	}
	die("sstp-plot is neither in %s nor in %s/../lib/sstp: install it with "
	    "'make -C tools/sstp install'", self, self);
}

int cmd_plot(int argc, char **argv)
{
	char path[PATH_MAX], made[PATH_MAX];
	const char *picture = NULL;
	struct options o = {};
	int c;

	while ((c = getopt(argc, argv, "o:h")) != -1) {
		if (c == 'o')
			picture = optarg;
		else
			option(&o, c, plot_usage);
	}
	if (argc - optind != 1)
		misused("which file? One that 'sstp trace' has written");
	if (!picture) {
		if (snprintf(made, sizeof(made), "%s.svg", argv[optind]) >= PATH_MAX)
			die("%s: %s", argv[optind], strerror(ENAMETOOLONG));
		picture = made;
	}
	find_plot(path);
	execl(path, "sstp-plot", "--", argv[optind], picture, NULL);
	die("%s: %s", path, strerror(errno));
}
