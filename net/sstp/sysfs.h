/* SPDX-License-Identifier: GPL-2.0 */
/* /sys/kernel/sstp: settings and lists of the whole system. */
#ifndef _SSTP_SYSFS_H
#define _SSTP_SYSFS_H

#include <linux/init.h>
#include <linux/sysfs.h>

/* The directory that @group names. Process context. */
int sstp_sysfs_add(const struct attribute_group *group);
void sstp_sysfs_remove(const struct attribute_group *group);

int __init sstp_sysfs_init(void);
void sstp_sysfs_exit(void);

#endif /* _SSTP_SYSFS_H */
