// SPDX-License-Identifier: GPL-2.0
/* Time, and waiting for it. */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "sstp.h"

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

bool nap_until(double at)
{
	double whole;
	struct timespec t = { .tv_nsec = modf(at, &whole) * 1e9 };
	int err;

	t.tv_sec = whole;
	err = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	return err != EINTR;
}
