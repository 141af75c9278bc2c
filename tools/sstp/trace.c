// SPDX-License-Identifier: GPL-2.0
/* sstp trace: record samples of a connection in a file. */
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
"Records a connection until it ends, or Ctrl-C: a line for each sample, the JSON object of\n"
"'sstp show -j' with the time in seconds. 'sstp plot FILE' draws it.\n"
"\n"
"  -o FILE     output file; - is standard output\n"
"  -i SECONDS  interval of samples (0.05)\n"
"  -c COUNT    stop after COUNT samples\n"
"\n"
"CONNECTION is selected by the words below; only one may match.\n" FILTER_USAGE;

static const char plot_usage[] =
"Usage: sstp plot FILE [-o PICTURE]\n"
"\n"
"Draws a record of 'sstp trace': rates, window, buffers and round-trip time.\n"
"\n"
"  -o PICTURE  output file, NAME.png or NAME.svg (FILE.svg)\n"
"\n"
"Needs python3-matplotlib.\n";

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

/* Sleep until @at or a signal, including one that came since @ended was last read. */
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
		misused("'%s' does not name a connection", argv[c]);
	if (!c)
		misused("which connection? Name it by its ID, which 'sstp show' prints");
	if (!name)
		misused("no output file given: -o FILE");
	nl_open(&nl);
	filter_one(&nl, &f, &conn);
	if (conn_listens(&conn))
		die("a listener cannot be traced: name a connection");
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
		/* Do not make up for intervals that were missed, e.g. after SIGSTOP. */
		at += o.interval * fmax(1, ceil((now() - at) / o.interval));
		rest(at);
	}
	if (fflush(out) || ferror(out) || (out != stdout && fclose(out)))
		die("%s: %s", name, strerror(errno));
	fprintf(stderr, "sstp trace: %lu samples in %.1f s%s\n", i, now() - start,
		err == -ENOENT ? "; the connection has ended" : "");
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
		misused("give one file that 'sstp trace' has written");
	if (!picture) {
		if (snprintf(made, sizeof(made), "%s.svg", argv[optind]) >= PATH_MAX)
			die("%s: %s", argv[optind], strerror(ENAMETOOLONG));
		picture = made;
	}
	find_plot(path);
	execl(path, "sstp-plot", "--", argv[optind], picture, NULL);
	die("%s: %s", path, strerror(errno));
}
