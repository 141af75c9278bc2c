// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency of the host's time stamp counter in kHz, which an emulated machine
 * has as well.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define SPAN_NS		200000000ULL
#define TRIES		1000

struct moment {
	uint64_t ns, ticks;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Read both clocks TRIES times; return the readings that were closest to each other. */
static struct moment moment(void)
{
	struct moment best = { 0 };
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = now_ns(), ticks = __rdtsc(), after = now_ns();

		if (after - before < least) {
			least = after - before;
			best.ns = before + least / 2;
			best.ticks = ticks;
		}
	}
	return best;
}

int main(void)
{
	struct timespec span = { .tv_nsec = SPAN_NS };
	struct moment from = moment(), to;

	nanosleep(&span, NULL);
	to = moment();
	printf("%.0f\n", (to.ticks - from.ticks) * 1e6 / (to.ns - from.ns));
	return 0;
}
