// SPDX-License-Identifier: GPL-2.0
/* Makes allocations of the kernel fail, and copies from and to programs. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "lib.h"

#define DEBUGFS		"/sys/kernel/debug/"

static const char * const kinds[] = {
	"failslab", "fail_page_alloc", "fail_usercopy",
};

static int own_nth;
static int nth[256];			/* of kernel threads */
static unsigned int threads;

static void put(int fd, const char *fmt, ...)
{
	char text[32];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (write(fd, text, len) != len)
		die("fault injection:");
}

static int kind_open(int kind, const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", kinds[kind], name);
	fd = open(path, flags);
	if (fd < 0)
		die("%s:", path);
	return fd;
}

void kind_set(int kind, const char *name, const char *value)
{
	int fd = kind_open(kind, name, O_WRONLY);

	put(fd, "%s", value);
	close(fd);
}

long kind_faults(int kind)
{
	int fd = kind_open(kind, "times", O_RDONLY);
	char text[32] = "";

	if (read(fd, text, sizeof(text) - 1) <= 0)
		die("times:");
	close(fd);
	return atol(FAULT_TIMES) - strtol(text, NULL, 0);
}

const char *kind_name(int kind)
{
	return kind < 0 ? "no fault" : kinds[kind];
}

void fault_init(void)
{
	int kind;

	if (access(DEBUGFS "failslab", F_OK))
		skip_all("the kernel has no fault injection, or no debugfs is mounted");
	for (kind = 0; kind < KINDS; kind++) {
		kind_set(kind, "probability", "0");
		kind_set(kind, "verbose", "0");
		kind_set(kind, "require-start", "0");
		kind_set(kind, "stacktrace-depth", "32");
	}
	kind_set(SLAB, "ignore-gfp-wait", "N");
	kind_set(PAGE, "ignore-gfp-wait", "N");
	kind_set(PAGE, "ignore-gfp-highmem", "N");
	kind_set(PAGE, "min-order", "0");
	own_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (own_nth < 0)
		die("fail-nth:");
}

/* A stack trace of no depth never has the address that is required of it. */
void fault_kinds(unsigned int kinds)
{
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		kind_set(kind, "stacktrace-depth", "0");
		kind_set(kind, "require-start", kinds & 1 << kind ? "0" : "1");
	}
}

/* Restrict faults to callers in modules, which are at higher addresses than the kernel. */
void fault_modules(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	unsigned long long at, end = 0;
	char name[128], value[32];
	int kind;

	if (!f)
		die("kallsyms:");
	while (fscanf(f, "%llx %*c %127s%*[^\n]", &at, name) == 2)
		if (!strcmp(name, "_etext"))
			end = at;
	fclose(f);
	if (!end)
		die("where does the kernel end?");
	snprintf(value, sizeof(value), "%#llx", end);
	for (kind = 0; kind < KINDS; kind++)
		kind_set(kind, "require-start", value);
}

/* Kernel threads bound to a CPU: those of all CPUs, as the caller may move meanwhile */
static void find_threads(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	if (!dir)
		die("/proc:");
	while ((e = readdir(dir)) && threads < ARRAY_SIZE(nth)) {
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = atoi(e->d_name) ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (!fgets(name, sizeof(name), f))
			*name = 0;
		fclose(f);
		if (strncmp(name, "kworker/", 8) || !isdigit(name[8]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fail-nth", e->d_name);
		nth[threads] = open(path, O_RDWR);
		threads += nth[threads] >= 0;
	}
	closedir(dir);
}

void fault_arm(unsigned int n, bool in_threads)
{
	unsigned int i;

	for (i = 0; i < KINDS; i++)
		kind_set(i, "times", FAULT_TIMES);
	if (in_threads)
		find_threads();
	for (i = 0; i < threads; i++)
		put(nth[i], "%u", n);
	if (!in_threads)
		put(own_nth, "%u", n);
}

int fault_disarm(void)
{
	bool ours = write(own_nth, "0", 1) < 0;
	int kind;

	/* This call copies from the program, too. */
	if (ours && errno != EFAULT)
		die("fail-nth:");
	while (threads) {
		put(nth[--threads], "0");
		close(nth[threads]);
	}
	for (kind = 0; kind < KINDS && !ours; kind++)
		if (kind_faults(kind))
			return kind;
	return -1;
}
