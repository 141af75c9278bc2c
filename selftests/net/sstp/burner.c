// SPDX-License-Identifier: GPL-2.0
/* Uses the CPU until it is killed, as the cpuburn of Lu, Wu, Rao and Wang. */
#include "lib.h"

int main(void)
{
	for (;;)
		use_cpu(1000000);
}
