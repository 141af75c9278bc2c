// SPDX-License-Identifier: GPL-2.0
/* sstp-run: start a program with the preloaded library that replaces TCP by SSTP. */
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/sstp.h>

#include "options.h"

#define LIBRARY	"libsstp-preload.so"

static const char usage[] =
"Usage: sstp-run [OPTION]... PROGRAM [ARGUMENT]...\n"
"\n"
"Runs a program written for TCP; its connections use SSTP where the peer has it.\n"
"\n"
"  -r, --rate P[:AVERAGE[:F[:L]]]  rate contract of each connection: bit/s, bursts\n"
"                                  in 1000 s, packets; k, M, G, T: 1000 each\n"
"  -c, --controller NAME           controller: hybrid, cubic, ...\n"
"  -p, --policy NAME               policy of the receive buffer: rrda, ...\n"
"  -l, --listen both|sstp|tcp      protocols that servers accept (both)\n"
"  -t, --timeout MS                time to wait for an SSTP answer (2000)\n"
"  -v, --verbose                   print the protocol of each connection\n"
"  -L, --log FILE                  append these messages to FILE, also for daemons\n"
"\n"
"See sstp-run(1).\n";

static const struct option long_options[] = {
	{ "rate",	required_argument, NULL, 'r' },
	{ "controller",	required_argument, NULL, 'c' },
	{ "policy",	required_argument, NULL, 'p' },
	{ "listen",	required_argument, NULL, 'l' },
	{ "timeout",	required_argument, NULL, 't' },
	{ "verbose",	no_argument, NULL, 'v' },
	{ "log",	required_argument, NULL, 'L' },
	{ "help",	no_argument, NULL, 'h' },
	{}
};

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		err(125, "%s", name);
}

static void wrong(const char *name, const char *value)
{
	errx(125, "invalid %s '%s': see sstp-run --help", name, value);
}

/* Make the path absolute, as the program may change its directory. */
static void set_log(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666);
	char *whole = fd < 0 ? NULL : realpath(path, NULL);

	if (!whole)
		err(125, "%s", path);
	set(ENV_LOG, whole);
	set(ENV_VERBOSE, "1");
	free(whole);
	close(fd);
}

/* Add the library to LD_PRELOAD. It is in the directory of the command after a build, and in
 * ../lib/sstp after an installation.
 */
static void preload(void)
{
	static const char * const places[] = { "", "../lib/sstp/" };
	const char *old = getenv("LD_PRELOAD");
	char self[PATH_MAX], path[PATH_MAX], *list;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *dir;
	int i;

	if (n < 0)
		err(125, "/proc/self/exe");
	self[n] = 0;
	dir = dirname(self);
	for (i = 0; i < 2; i++) {
		if (snprintf(path, sizeof(path), "%s/%s%s", dir, places[i], LIBRARY) >=
		    (int)sizeof(path))
			continue;
		if (!access(path, R_OK))
			break;
	}
	if (i == 2)
		errx(125, "%s is neither in %s nor in %s/../lib/sstp", LIBRARY, dir, dir);
	if (strpbrk(path, " :"))
		errx(125, "%s: LD_PRELOAD allows no blank or colon in a path", path);
	if (old && strstr(old, LIBRARY))
		return;
	if (asprintf(&list, "%s%s%s", path, old && *old ? ":" : "", old ?: "") < 0)
		err(125, NULL);
	set("LD_PRELOAD", list);
}

/* Let the kernel check the options, on a socket. Without SSTP in the kernel, TCP is used. */
static void check(const struct run_options *o)
{
	int fd = socket(AF_SSTP, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		if (o->verbose)
			warn("the kernel has no SSTP, TCP is used (modprobe sstp?)");
		return;
	}
	if (o->rate.peak &&
	    setsockopt(fd, SOL_SSTP, SSTP_RATE, &o->rate, sizeof(o->rate)))
		err(125, "rate '%s'", getenv(ENV_RATE));
	if (o->controller && setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, o->controller,
					strlen(o->controller)))
		errx(125, "no controller is named '%s'", o->controller);
	if (o->policy && setsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, o->policy,
				    strlen(o->policy)))
		errx(125, "no buffer policy is named '%s'", o->policy);
	close(fd);
}

/* Why the dynamic linker will not load the library into @path, or NULL */
static const char *not_preloadable(const char *path)
{
	const char *why = NULL;
	Elf64_Ehdr head;
	Elf64_Phdr part;
	struct stat st;
	int fd, i;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	if (st.st_mode & S_ISUID && geteuid() != st.st_uid)
		return "is set-user-ID";
	if (st.st_mode & S_ISGID && getegid() != st.st_gid)
		return "is set-group-ID";
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (read(fd, &head, sizeof(head)) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG))
		goto out;
	why = "is of another architecture";
	if (head.e_ident[EI_CLASS] != (sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32))
		goto out;
	if (sizeof(long) == 8) {
		why = "is linked statically";
		for (i = 0; i < head.e_phnum; i++) {
			if (pread(fd, &part, sizeof(part), head.e_phoff + i * sizeof(part)) !=
			    sizeof(part))
				break;
			if (part.p_type == PT_INTERP)
				why = NULL;
		}
	} else {
		why = NULL;
	}
out:
	close(fd);
	return why;
}

/* Warn if @program, which is looked up as by execvp(), will not load the library. */
static void warn_of(const char *program)
{
	char path[PATH_MAX], *list, *dir, *rest;
	const char *why = NULL;

	if (strchr(program, '/')) {
		why = not_preloadable(program);
	} else {
		list = strdup(getenv("PATH") ?: "/bin:/usr/bin");
		rest = list;
		while (!why && (dir = strsep(&rest, ":"))) {
			if (snprintf(path, sizeof(path), "%s/%s", *dir ? dir : ".",
				     program) < (int)sizeof(path) && !access(path, X_OK)) {
				why = not_preloadable(path);
				break;
			}
		}
		free(list);
	}
	if (why)
		warnx("%s %s, so it uses TCP", program, why);
}

int main(int argc, char **argv)
{
	struct run_options options;
	struct sstp_rate_spec rate;
	int c;

	while ((c = getopt_long(argc, argv, "+r:c:p:l:t:vL:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'r':
			if (!run_rate(optarg, &rate) || !rate.peak)
				wrong("rate", optarg);
			set(ENV_RATE, optarg);
			break;
		case 'c':
			set(ENV_CONTROLLER, optarg);
			break;
		case 'p':
			set(ENV_POLICY, optarg);
			break;
		case 'l':
			if (run_listen(optarg) < 0)
				wrong("listen", optarg);
			set(ENV_LISTEN, optarg);
			break;
		case 't':
			if (run_timeout(optarg) < 0)
				wrong("timeout", optarg);
			set(ENV_TIMEOUT, optarg);
			break;
		case 'v':
			set(ENV_VERBOSE, "1");
			break;
		case 'L':
			set_log(optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 125;
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return 125;
	}
	run_options_get(&options);
	check(&options);
	if (options.verbose)
		warn_of(argv[optind]);
	preload();
	execvp(argv[optind], argv + optind);
	err(errno == ENOENT ? 127 : 126, "%s", argv[optind]);
}
