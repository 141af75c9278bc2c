// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: debug gcov
 *
 * Every allocation of ours fails once while a namespace is made and while the module is
 * loaded: either works or says so, and nothing is left behind (kmemleak looks when all
 * tests are over).
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

/* What is ours comes last of all that making a namespace, or loading a module,
 * allocates: the last @last allocations fail, one each time.
 */
static void test_last(const char *name, unsigned int last,
		      bool (*fails)(unsigned int n, int *err))
{
	unsigned int low = 0, high = 64, n, failed = 0;
	int err;

	all_held = true;
	while (fails(high, &err)) {
		low = high;
		high *= 2;
	}
	while (high - low > 1) {
		n = (low + high) / 2;
		if (fails(n, &err))
			low = n;
		else
			high = n;
	}
	for (n = low; n && n + last > low; n--) {
		bool failing = fails(n, &err);

		failed += failing;
		if (err && (!failing || (err != ENOMEM && err != ENOBUFS &&
					 err != EFAULT)))
			must_be("the error", err, ENOMEM);
	}
	ktap_diag("%s: %u allocations, of the last %u ones %u can fail", name,
		  low, last, failed);
	ktap_result(all_held && failed, "%s", name);
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
	int err;

	snprintf(path, sizeof(path), "%s/sstp.ko",
		 getenv("SSTP_MODULE_DIR") ?: ".");
	module = open(path, O_RDONLY);
	if (module < 0)
		die("%s:", path);
	/* Before them the kernel makes files for our tracepoints, and warns when it cannot. */
	test_last("module", 130, module_fails);
	if (module_fails(1000000, &err) || err)
		die("the module is gone: %s", strerrorname_np(err));
	close(module);
}

int main(void)
{
	int home;

	/* A page of ours that is missing would be an allocation, too. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall:");
	fault_init();
	new_namespace();
	home = open("/proc/self/ns/net", O_RDONLY);
	if (home < 0)
		die("namespace:");
	ktap_plan(2);
	test_last("namespace", 50, namespace_fails);
	if (setns(home, CLONE_NEWNET))
		die("setns:");
	test_module();
	return ktap_end();
}
