// SPDX-License-Identifier: GPL-2.0
/* The module of the KUnit suites. */
#include <linux/module.h>
#include "sstp_test.h"

unsigned int sstp_test_seed = 1;
module_param_named(seed, sstp_test_seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random runs");

MODULE_DESCRIPTION("KUnit suites of the segment streaming transport protocol");
MODULE_LICENSE("GPL");
