// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/sstp: what holds for the whole system. */
#include <linux/kobject.h>
#include <linux/sysfs.h>
#include "sstp.h"

/* Makes a write one step: floor and ceiling are held against each other. */
static DEFINE_MUTEX(sstp_sysfs_lock);
static struct kobject *sstp_kobj;
static struct kobj_attribute sstp_rrda_attr[SSTP_RRDA_TUNABLES];
static struct attribute *sstp_rrda_attrs[SSTP_RRDA_TUNABLES + 1];

static const struct attribute_group sstp_rrda_group = {
	.name	= "rrda",
	.attrs	= sstp_rrda_attrs,
};

static ssize_t sstp_rrda_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  READ_ONCE(sstp_rrda_tunables[attr - sstp_rrda_attr].value));
}

static bool sstp_rrda_allowed(enum sstp_rrda_tunable_id id, u32 value)
{
	const struct sstp_rrda_tunable *t = sstp_rrda_tunables;

	if (value < t[id].least || value > t[id].most)
		return false;
	if (id == SSTP_RRDA_FLOOR)
		return value <= t[SSTP_RRDA_CEILING].value;
	if (id == SSTP_RRDA_CEILING)
		return value >= t[SSTP_RRDA_FLOOR].value;
	return true;
}

static ssize_t sstp_rrda_store(struct kobject *kobj, struct kobj_attribute *attr,
			       const char *buf, size_t count)
{
	enum sstp_rrda_tunable_id id = attr - sstp_rrda_attr;
	int err;
	u32 val;

	err = kstrtou32(buf, 0, &val);
	if (err)
		return err;
	mutex_lock(&sstp_sysfs_lock);
	if (sstp_rrda_allowed(id, val))
		WRITE_ONCE(sstp_rrda_tunables[id].value, val);
	else
		err = -EINVAL;
	mutex_unlock(&sstp_sysfs_lock);
	return err ?: count;
}

int __init sstp_sysfs_init(void)
{
	int err, i;

	for (i = 0; i < SSTP_RRDA_TUNABLES; i++) {
		struct kobj_attribute *a = &sstp_rrda_attr[i];

		sysfs_attr_init(&a->attr);
		a->attr.name = sstp_rrda_tunables[i].name;
		a->attr.mode = 0644;
		a->show = sstp_rrda_show;
		a->store = sstp_rrda_store;
		sstp_rrda_attrs[i] = &a->attr;
	}
	sstp_kobj = kobject_create_and_add("sstp", kernel_kobj);
	if (!sstp_kobj)
		return -ENOMEM;
	err = sysfs_create_group(sstp_kobj, &sstp_rrda_group);
	if (err)
		kobject_put(sstp_kobj);
	return err;
}

void sstp_sysfs_exit(void)
{
	sysfs_remove_group(sstp_kobj, &sstp_rrda_group);
	kobject_put(sstp_kobj);
}
