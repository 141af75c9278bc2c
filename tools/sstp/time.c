// SPDX-License-Identifier: GPL-2.0
/* The clock, and sleeping until a time. */
#include <math.h>
#include <poll.h>
#include <time.h>

#include "sstp.h"

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void nap_until(double at, const sigset_t *mask)
{
	double left = at - now(), whole;
	struct timespec t;

	if (left <= 0)
		return;
	t.tv_nsec = modf(left, &whole) * 1e9;
	t.tv_sec = whole;
	ppoll(NULL, 0, &t, mask);
}
