// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: debug gcov
 *
 * Every allocation below a function of ours fails once while a namespace is made and
 * while the module is loaded: either works or says so, and nothing is left behind
 * (kmemleak looks when all tests are over).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "lib.h"

#define WAIT_MS		20000

/* @least: least number of allocations */
static void test_all(const char *name, unsigned int least,
		     bool (*fails)(unsigned int n, int *err))
{
	unsigned int n;
	int err;

	all_held = true;
	for (n = 1; fails(n, &err); n++)
		if (err && err != ENOMEM && err != ENOBUFS && err != EFAULT)
			must_be("the error", err, ENOMEM);
	must_be("without a fault", err, 0);
	ktap_diag("%s: %u allocations", name, n - 1);
	ktap_result(all_held && n > least, "%s", name);
}

/* Is there an @n-th allocation? Whether its failure matters, @err says. */
static bool namespace_fails(unsigned int n, int *err)
{
	fault_arm(n, false);
	*err = unshare(CLONE_NEWNET) ? errno : 0;
	return fault_disarm() >= 0;
}

static int module;			/* its file */

static bool module_fails(unsigned int n, int *err)
{
	uint64_t end = now_ns() + 3 * WAIT_MS * 1000000ULL;

	while (syscall(SYS_delete_module, "sstp", O_NONBLOCK) &&
	       errno != ENOENT) {
		if (now_ns() > end)
			die("rmmod:");
		sleep_ns(1000000);
	}
	fault_arm(n, false);
	*err = syscall(SYS_finit_module, module, "", 0) ? errno : 0;
	return fault_disarm() >= 0;
}

static void test_module(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/sstp.ko",
		 getenv("SSTP_MODULE_DIR") ?: ".");
	module = open(path, O_RDONLY);
	if (module < 0)
		die("%s:", path);
	test_all("module", 100, module_fails);
	close(module);
}

int main(void)
{
	int home;

	/* A page of ours that is missing would be an allocation, too. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall:");
	fault_init();
	/* The kernel warns when it cannot make its own files for our tracepoints. */
	fault_modules();
	new_namespace();
	home = open("/proc/self/ns/net", O_RDONLY);
	if (home < 0)
		die("namespace:");
	ktap_plan(2);
	test_all("namespace", 5, namespace_fails);
	if (setns(home, CLONE_NEWNET))
		die("setns:");
	test_module();
	return ktap_end();
}
