// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into User Mode Linux: what it takes for the host's entropy follows
 * from $SSTP_SEED. Boots agree in it until interrupts, which come when the host
 * has time for them, have stirred it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

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
