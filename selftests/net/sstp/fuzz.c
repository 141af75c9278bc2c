// SPDX-License-Identifier: GPL-2.0
/* Options, random numbers and final checks of the fuzzers and the stress test */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"

#define END_MS		60000		/* for timers, user timeouts included */
#define MODULES		32

static long slabs;		/* kB at first */

uint64_t rnd(struct rng *r)
{
	r->state += 0x9e3779b97f4a7c15;
	return mix64(r->state);
}

uint32_t below(struct rng *r, uint32_t n)
{
	return (rnd(r) >> 32) % n;
}

bool chance(struct rng *r, unsigned int percent)
{
	return below(r, 100) < percent;
}

uint32_t odd_number(struct rng *r)
{
	static const uint32_t odd[] = {
		0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xfffe,
		0xffff, 0x10000, 0xffffff, 0x1000000, 0x1000001, 0x7fffffff,
		0x80000000, 0xfffffffe, 0xffffffff,
	};

	return chance(r, 70) ? odd[below(r, ARRAY_SIZE(odd))] : rnd(r);
}

/* The number in column @column of the line of @file that begins with @name */
static long meminfo(const char *name)
{
	return file_number("/proc/meminfo", name, 1);
}

void fuzz_start(struct fuzz *f, int argc, char **argv, unsigned int seconds,
		unsigned int tests)
{
	int c;

	f->seconds = seconds;
	f->seed = nonce();
	while ((c = getopt(argc, argv, "T:S:h")) != -1) {
		switch (c) {
		case 'T':
			f->seconds = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			f->seed = strtoull(optarg, NULL, 0);
			break;
		default:
			fprintf(c == 'h' ? stdout : stderr,
				"Usage: %s [-T SECONDS] [-S SEED]\n", argv[0]);
			exit(c == 'h' ? 0 : 2);
		}
	}
	ktap_plan(tests);
	ktap_diag("seed %#llx, %u s (replay with -S and -T)",
		  (unsigned long long)f->seed, f->seconds);
	slabs = meminfo("SUnreclaim:");
	f->end = now_ns() + f->seconds * 1000000000ULL;
}

void fuzz_set(const char *name, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/sys/net/sstp/%s", name);
	file_put(path, "%s", value);
}

void fuzz_namespace(void)
{
	new_namespace();
	fuzz_set("user_timeout", "1000");
	fuzz_set("fin_timeout", "1");
	/* Random bytes may be a user timeout of weeks. */
	fuzz_set("orphan_timeout", "20");
	fuzz_set("init_retries", "2");
	fuzz_set("keepalive_time", "1");
	fuzz_set("keepalive_intvl", "1");
	fuzz_set("keepalive_probes", "2");
}

static char modules[MODULES][32];	/* "sstp_ctrl_bic" */
static unsigned int n_modules;

/* Load the module in @path, unless it is there, and keep its name. */
static void load(const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	int fd = open(path, O_RDONLY), i;
	char *name = modules[n_modules];

	if (n_modules == MODULES)
		die("more than %d controllers", MODULES);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		die("%s:", path);
	close(fd);
	for (i = 0; base[i] && base[i] != '.' && i < (int)sizeof(modules[0]) - 1; i++)
		name[i] = base[i] == '-' ? '_' : base[i];
	n_modules++;
}

void fuzz_load(void)
{
	static const char * const files[] = { "sstp-ctrl-*.ko", "sstp-echo.ko" };
	char pattern[300];
	glob_t found;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s", getenv("SSTP_MODULE_DIR") ?: ".",
			 files[i]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (k = 0; k < found.gl_pathc; k++)
			load(found.gl_pathv[k]);
		globfree(&found);
	}
	ktap_diag("%u modules of controllers", n_modules);
}

const char *fuzz_controller(struct rng *r)
{
	static const char * const own[] = { "hybrid", "newreno", "rate" };
	uint32_t i = below(r, ARRAY_SIZE(own) + n_modules);

	return i < ARRAY_SIZE(own) ? own[i] : strrchr(modules[i - ARRAY_SIZE(own)], '_') + 1;
}

static bool unloaded(void *name)
{
	return !syscall(SYS_delete_module, name, O_NONBLOCK) || errno == ENOENT;
}

void fuzz_unload(void)
{
	for (; n_modules; n_modules--)
		if (!busywait(END_MS, unloaded, modules[n_modules - 1]))
			ktap_diag("%s: %s", modules[n_modules - 1], strerror(errno));
}

static void run(const char *fmt, ...)
{
	char command[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	if (system(command))
		die("failed: %s", command);
}

void fuzz_pair(int ns[2], unsigned int delay_us, unsigned int loss_percent)
{
	int i;

	for (i = 0; i < 2; i++) {
		fuzz_namespace();
		/* Commands inherit it. */
		ns[i] = open("/proc/thread-self/ns/net", O_RDONLY);
		if (ns[i] < 0)
			die("namespace:");
	}
	run("ip link add v type veth peer name v netns /proc/self/fd/%d", ns[0]);
	for (i = 1; i >= 0; i--) {
		if (setns(ns[i], CLONE_NEWNET))
			die("setns:");
		run("echo 1 > /proc/sys/net/ipv6/conf/all/keep_addr_on_down &&"
		    "ip addr add 10.0.0.%d/24 dev v &&"
		    "ip addr add fd00::%d/64 nodad dev v &&"
		    "ip link set v up", i + 1, i + 1);
		if (delay_us || loss_percent)
			run("tc qdisc add dev v root netem delay %uus loss %u%%",
			    delay_us, loss_percent);
	}
}

void fuzz_works(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0), fd, peer;
	union addr a;
	char buf[3];
	bool ok;

	addr_loopback(&a, AF_INET, 0);
	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || l < 0 || bind(l, &a.sa, addr_len(&a)) || listen(l, 1) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }) ||
	    connect(fd, &a.sa, addr_len(&a)))
		die("a new connection:");
	peer = accept(l, NULL, NULL);
	ok = peer >= 0 && send(fd, "abc", 3, 0) == 3 &&
	     recv(peer, buf, 3, MSG_WAITALL) == 3 && !memcmp(buf, "abc", 3);
	close(peer);
	close(fd);
	close(l);
	ktap_result(ok, "a new connection works");
}

/* Each socket holds the module, in whichever namespace. */
static long users(void)
{
	long n = -1;
	FILE *f = fopen("/sys/module/sstp/refcnt", "r");

	if (!f || fscanf(f, "%ld", &n) != 1)
		die("/sys/module/sstp/refcnt:");
	fclose(f);
	return n;
}

static bool unused(void *arg)
{
	(void)arg;
	return !users();
}

static bool empty(void *arg)
{
	/* Each CPU keeps up to 1 MB for itself before it tells the others. */
	long kept = sysconf(_SC_NPROCESSORS_CONF) * (1L << 20) / getpagesize();

	(void)arg;
	return labs(sstp_pages()) <= kept;
}

static bool small(void *arg)
{
	(void)arg;
	/* The kernel keeps some for the next time, KASAN a part of all. */
	return meminfo("SUnreclaim:") <
	       slabs + (32 << 10) + meminfo("MemTotal:") / 32;
}

void fuzz_end(void)
{
	uint64_t start = now_ns();
	bool ok = busywait(END_MS, unused, NULL);

	ktap_diag("sockets were gone after %.1f s",
		  (now_ns() - start) / 1e9);
	if (!ok)
		ktap_diag("the module has %ld users", users());
	ktap_result(ok, "all sockets are gone");
	ok = busywait(END_MS, empty, NULL);
	ktap_diag("%ld pages are charged", sstp_pages());
	ktap_result(ok, "their memory is given back");
	ok = busywait(END_MS, small, NULL);
	ktap_diag("%ld kB of slabs, %ld at first", meminfo("SUnreclaim:"),
		  slabs);
	ktap_result(ok, "the kernel has no more memory than before");
}
