/* SPDX-License-Identifier: GPL-2.0 */
/* For tests in C: makes allocations of the kernel fail, and copies from and to programs. */
#ifndef _SSTP_TEST_FAULT_H
#define _SSTP_TEST_FAULT_H

#include <stdbool.h>

enum { SLAB, PAGE, COPY, KINDS };

#define FAULT_TIMES	"1000000000"	/* more than there can be */

/* Nothing fails, and what fails will be told of nowhere else. */
void fault_init(void);
/* From now on only these, 1 << SLAB and so on, fail and are counted. */
void fault_kinds(unsigned int kinds);
/* From now on what no module asks for does not fail, and is not counted. */
void fault_modules(void);
/* The @n-th of the calling thread fails, of any kind; or of the kernel's threads. */
void fault_arm(unsigned int n, bool in_threads);
/* The kind of fault that there was since, or -1 */
int fault_disarm(void);

/* Of a kind by itself: an attribute of it, and how many there were since it was given
 * FAULT_TIMES
 */
void kind_set(int kind, const char *name, const char *value);
long kind_faults(int kind);
const char *kind_name(int kind);

#endif /* _SSTP_TEST_FAULT_H */
