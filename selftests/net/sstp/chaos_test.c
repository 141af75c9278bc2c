// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 7200
 * kernels: uml
 * mode: time-travel
 *
 * Programs and paths that nobody thought of: each case is drawn from a seed, and must
 * end, right in every byte, by the time that it may take. What fails is made as
 * plain as possible, and told as one line that -c takes.
 *
 *	chaos_test [-S SEED] [-n CASES] [-f FIRST] [-x KEYS] [-v] [-l] [-m]
 *		   [-c CASE]
 *
 *	-x	leave these keys, by comma, as in the plainest case
 *	-v	tell of each case, and more of those that fail
 *	-l	only list the cases
 *	-m	do not minimise
 *	-c	run this case
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chaos.h"
#include "path.h"

#define SEED_HERE	20261123
#define CASES_HERE	200
#define LINGER_MS	1000000		/* an orphan of a case that failed */

/* Cases that failed once, as far as keys without the seed's chance can describe them */
static const char *const found[] = {
	/* A contract for a packet each 1.5 s: its reader waited for a segment of 64 KB. */
	"size=49733 write=796 peak=175810 bursts=2000 burst=1",
	/* Both ends had no memory for a segment of 1 MB. */
	"size=2128520 seg=1048576 mem=418",
	"conns=2 size=776300 seg=1048576 mem=460",
	/* Packets of 1280 bytes are lost, without an ICMP error. */
	"conns=4 size=258556 write=518 rate=782105 queue=102 mtuat=7129 mtuto=1069 blind=1",
	/* The packets did not pass, and each retransmission of all of them took the line 11 s. */
	"conns=3 size=281429 peak=130144866 rate=256775 mtuat=16271 mtuto=938 blind=1",
	/* Seven packets of 3 bytes a second: net.sstp.orphan_timeout is over before the end. */
	"size=29521 write=1500 rmode=1 read=6652 peek=1 close=1 early=1 seg=3 peak=510972 bursts=7000 burst=1 rate=580653 rtt=1530 queue=7 loss=338 seed=406202",
};

/* Report of the process that runs a case */
static struct {
	char wrong[512];
	uint64_t ns;
} *said;

static bool verbose;

static bool no_sockets(void *unused)
{
	(void)unused;
	return !path_sockets(A) && !path_sockets(B);
}

/* NULL, or what was wrong */
static const char *run_case(const struct chaos *c, bool tell)
{
	uint64_t begin = now_ns();
	const char *wrong;
	int status;
	pid_t pid;

	chaos_net_start(c);
	chaos_net_mem(c);
	snprintf(said->wrong, sizeof(said->wrong), "it died");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork:");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wrong = chaos_run(c, tell);
		snprintf(said->wrong, sizeof(said->wrong), "%s", wrong ?: "");
		fflush(NULL);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("wait:");
	said->ns = now_ns() - begin;
	chaos_net_heal(c);
	if (!*said->wrong && !path_settle())
		snprintf(said->wrong, sizeof(said->wrong), "sockets stay");
	if (*said->wrong && !busywait(LINGER_MS, no_sockets, NULL))
		chaos_net_remake();
	return *said->wrong ? said->wrong : NULL;
}

static bool fails(const struct chaos *c)
{
	return run_case(c, false);
}

/* Returns false when the case failed. */
static bool judge(struct chaos *c, bool minimise)
{
	const char *wrong;

	if (verbose) {
		printf("# case: %s\n", chaos_text(c));
		fflush(stdout);
	}
	wrong = run_case(c, verbose);
	if (verbose)
		ktap_diag("took %.3f of %.0f s", said->ns / 1e9, chaos_bound(c) / 1e9);
	if (!wrong)
		return true;
	ktap_diag("FAILS: -c '%s'", chaos_text(c));
	ktap_diag("  %s", wrong);
	if (minimise) {
		chaos_minimise(c, fails);
		wrong = run_case(c, true);
		ktap_diag("MINIMAL: -c '%s'", chaos_text(c));
		ktap_diag("  %s", wrong ?: "(not always)");
	}
	return false;
}

struct options {
	uint64_t seed, cases, first;
	bool list, minimise, one;
	const char *without;
	struct chaos c;
};

static bool options(struct options *o, int argc, char **argv)
{
	int opt;

	*o = (struct options){
		.seed = SEED_HERE,
		.cases = CASES_HERE,
		.minimise = true,
	};
	while ((opt = getopt(argc, argv, "S:n:f:x:vlmc:")) >= 0) {
		switch (opt) {
		case 'S':
			o->seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			o->cases = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			o->first = strtoull(optarg, NULL, 0);
			break;
		case 'x':
			o->without = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		case 'l':
			o->list = true;
			break;
		case 'm':
			o->minimise = false;
			break;
		case 'c':
			o->one = true;
			o->cases = 1;
			if (!chaos_parse(&o->c, optarg))
				return false;
			break;
		default:
			return false;
		}
	}
	return optind == argc;
}

int main(int argc, char **argv)
{
	uint64_t n, failed = 0;
	struct options o;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!options(&o, argc, argv)) {
		fprintf(stderr, "usage: %s [-S SEED] [-n CASES] [-f FIRST] [-x KEY,KEY...] [-v] [-l] [-m] [-c CASE]\n",
			argv[0]);
		return 2;
	}
	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (said == MAP_FAILED)
		die("mmap:");
	if (!o.list) {
		need_simulated_time();
		ktap_plan(1);
		chaos_net_make();
	}
	for (n = 0; n < ARRAY_SIZE(found) && !o.one && !o.list; n++) {
		if (!chaos_parse(&o.c, found[n]))
			die("no case: %s", found[n]);
		failed += !judge(&o.c, false);
	}
	for (n = o.first; n < o.first + o.cases; n++) {
		if (!o.one)
			chaos_draw(&o.c, o.seed, n, o.without);
		if (o.list)
			printf("%s\n", chaos_text(&o.c));
		else
			failed += !judge(&o.c, o.minimise);
	}
	if (o.list)
		return 0;
	ktap_diag("seed %llu: %llu cases, %llu failed", (unsigned long long)o.seed,
		  (unsigned long long)o.cases, (unsigned long long)failed);
	ktap_result(!failed, "cases of chance");
	return ktap_end();
}
