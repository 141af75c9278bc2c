/* SPDX-License-Identifier: GPL-2.0 */
/* For tests in C: makes allocations of the kernel fail, and copies from and to programs. */
#ifndef _SSTP_TEST_FAULT_H
#define _SSTP_TEST_FAULT_H

#include <stdbool.h>

enum { SLAB, PAGE, COPY, KINDS };

#define FAULT_TIMES	"1000000000"	/* more than there can be */

/* Stop all faults, and their kernel log. */
void fault_init(void);
/* Let only these kinds fail and count, as bits: 1 << SLAB and so on. */
void fault_kinds(unsigned int kinds);
/* Let only allocations by modules fail and count. */
void fault_modules(void);
/* The @n-th of the calling thread fails, of any kind; or of the kernel's threads. */
void fault_arm(unsigned int n, bool in_threads);
/* The kind of fault that there was since, or -1 */
int fault_disarm(void);

/* Set an attribute of one kind; get the number of its faults since FAULT_TIMES was set. */
void kind_set(int kind, const char *name, const char *value);
long kind_faults(int kind);
const char *kind_name(int kind);

#endif /* _SSTP_TEST_FAULT_H */
