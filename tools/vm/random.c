// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into User Mode Linux to make boots reproducible: the host's entropy is
 * replaced by numbers generated from $SSTP_SEED, and kill() waits for the end of the
 * process, so that SIGCHLD does not come at a random time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>

static uint64_t state;

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	uint8_t *p = buf;
	size_t i;

	(void)flags;
	if (!state) {
		const char *seed = getenv("SSTP_SEED");

		state = seed ? strtoull(seed, NULL, 0) : 0;
		state = state * 2 + 1;
	}
	for (i = 0; i < len; i++) {
		/* splitmix64 */
		uint64_t z = state += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		p[i] = z >> 56;
	}
	return len;
}

/* Replace the device from which User Mode Linux reads random numbers. */
int open64(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return next(strcmp(path, "/dev/random") ? path : "/dev/zero", flags, mode);
}

/* SIGCHLD is an interrupt, which adds what it interrupted to the kernel's entropy. */
int kill(pid_t pid, int sig)
{
	int (*next)(pid_t, int) = dlsym(RTLD_NEXT, "kill");
	int err = next(pid, sig);
	siginfo_t info;

	if (!err && sig == SIGKILL && pid > 0)
		waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	return err;
}
