// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/sstp: settings and lists of the whole system. */
#include <linux/kobject.h>
#include "sysfs.h"

static struct kobject *sstp_kobj;

int sstp_sysfs_add(const struct attribute_group *group)
{
	return sysfs_create_group(sstp_kobj, group);
}

void sstp_sysfs_remove(const struct attribute_group *group)
{
	sysfs_remove_group(sstp_kobj, group);
}

int __init sstp_sysfs_init(void)
{
	sstp_kobj = kobject_create_and_add("sstp", kernel_kobj);
	return sstp_kobj ? 0 : -ENOMEM;
}

void sstp_sysfs_exit(void)
{
	kobject_put(sstp_kobj);
}
