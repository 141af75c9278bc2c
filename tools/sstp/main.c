// SPDX-License-Identifier: GPL-2.0
/* sstp: show, follow and change SSTP connections. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sstp.h"

static const char *command_name = "";

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "show",    cmd_show,    "list connections and listeners; -i: with details" },
	{ "stat",    cmd_stat,    "show counters of the protocol, and how fast they rise" },
	{ "monitor", cmd_monitor, "print events of connections" },
	{ "set",     cmd_set,     "change a live connection" },
	{ "kill",    cmd_kill,    "end connections" },
	{ "ctrl",    cmd_ctrl,    "list controllers and policies; load and unload those in BPF" },
	{ "top",     cmd_top,     "list the busiest connections, refreshed each second" },
	{ "trace",   cmd_trace,   "record a connection" },
	{ "plot",    cmd_plot,    "draw a recorded connection" },
};

static void usage(FILE *f)
{
	unsigned int i;

	fprintf(f, "Usage: sstp [COMMAND] [...]\n\n"
		"Shows and changes SSTP connections. Without a command, lists the connections\n"
		"and what limits each; with options only, runs show.\n\n");
	for (i = 0; i < SIZE(commands); i++)
		fprintf(f, "  %-9s%s\n", commands[i].name, commands[i].help);
	fprintf(f, "\nSee 'sstp COMMAND -h' and sstp(8).\n");
}

static void say(const char *format, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "sstp%s%s: ", *command_name ? " " : "", command_name);
	vfprintf(stderr, format, args);
	putc('\n', stderr);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	exit(1);
}

void misused(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	fprintf(stderr, "'sstp %s%s-h' prints usage\n", command_name,
		*command_name ? " " : "");
	exit(2);
}

void flush(void)
{
	/* stdio does not keep the errno of an earlier failed write. */
	errno = EIO;
	if (fflush(stdout) || ferror(stdout))
		die("standard output: %s", strerror(errno));
}

void option(struct options *o, int c, const char *usage)
{
	uint64_t n;

	switch (c) {
	case 'h':
		fputs(usage, stdout);
		flush();
		exit(0);
	case 'j':
		o->json = true;
		return;
	case 'n':
		o->numeric = true;
		return;
	case 'i':
		o->interval = parse_seconds(optarg);
		return;
	case 'c':
		if (!parse_number(optarg, 1000, &n) || !n)
			misused("'%s' is not a count: 1 or more", optarg);
		o->count = n;
		return;
	}
	/* getopt() has printed the unknown option. */
	fprintf(stderr, "'sstp %s -h' prints usage\n", command_name);
	exit(2);
}

static int run(int argc, char **argv)
{
	static char show[] = "show";
	unsigned int i;

	if (argc < 2)
		return cmd_show(argc, argv);
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		usage(stdout);
		return 0;
	}
	/* As with ss(8), options without a command are those of show. */
	if (*argv[1] == '-') {
		command_name = show;
		*argv = show;
		return cmd_show(argc, argv);
	}
	for (i = 0; i < SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		command_name = argv[1];
		return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "sstp: unknown command '%s'\n\n", argv[1]);
	usage(stderr);
	return 2;
}

int main(int argc, char **argv)
{
	int status;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	term_init();
	status = run(argc, argv);
	flush();
	return status;
}
