// SPDX-License-Identifier: GPL-2.0
/* Tunables of "rrda": their ranges, and those of the whole system, /sys/kernel/sstp/rrda. */
#include <linux/kobject.h>
#include <linux/mutex.h>
#include "rrda_tunables.h"

struct sstp_rrda_tunable sstp_rrda_tunables[] = {
	[SSTP_RRDA_EPOCH] = { 100, 1, 10000 },
	[SSTP_RRDA_K] = { 3, 1, 255 },
	[SSTP_RRDA_BETA] = { 16, 1, 1024 },
	[SSTP_RRDA_OMEGA] = { 500, 1, 1000 },
	[SSTP_RRDA_FLOOR] = { 64 << 10, 4096, 1 << 30 },
	[SSTP_RRDA_CEILING] = { 1 << 30, 4096, 1 << 30 },
	[SSTP_RRDA_WEIGH_MEMORY] = { 1, 0, 1 },
};

/* Serializes writes, as floor and ceiling are compared with each other. */
static DEFINE_MUTEX(sstp_rrda_lock);
static struct kobj_attribute sstp_rrda_attr[SSTP_RRDA_TUNABLES];

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
	mutex_lock(&sstp_rrda_lock);
	if (sstp_rrda_allowed(id, val))
		WRITE_ONCE(sstp_rrda_tunables[id].value, val);
	else
		err = -EINVAL;
	mutex_unlock(&sstp_rrda_lock);
	return err ?: count;
}

static struct kobj_attribute sstp_rrda_attr[SSTP_RRDA_TUNABLES] = {
	[SSTP_RRDA_EPOCH] = __ATTR(epoch, 0644, sstp_rrda_show, sstp_rrda_store),
	[SSTP_RRDA_K] = __ATTR(k, 0644, sstp_rrda_show, sstp_rrda_store),
	[SSTP_RRDA_BETA] = __ATTR(beta, 0644, sstp_rrda_show, sstp_rrda_store),
	[SSTP_RRDA_OMEGA] = __ATTR(omega, 0644, sstp_rrda_show, sstp_rrda_store),
	[SSTP_RRDA_FLOOR] = __ATTR(floor, 0644, sstp_rrda_show, sstp_rrda_store),
	[SSTP_RRDA_CEILING] = __ATTR(ceiling, 0644, sstp_rrda_show, sstp_rrda_store),
	[SSTP_RRDA_WEIGH_MEMORY] = __ATTR(weigh_memory, 0644, sstp_rrda_show, sstp_rrda_store),
};

static struct attribute *sstp_rrda_attrs[] = {
	&sstp_rrda_attr[SSTP_RRDA_EPOCH].attr,
	&sstp_rrda_attr[SSTP_RRDA_K].attr,
	&sstp_rrda_attr[SSTP_RRDA_BETA].attr,
	&sstp_rrda_attr[SSTP_RRDA_OMEGA].attr,
	&sstp_rrda_attr[SSTP_RRDA_FLOOR].attr,
	&sstp_rrda_attr[SSTP_RRDA_CEILING].attr,
	&sstp_rrda_attr[SSTP_RRDA_WEIGH_MEMORY].attr,
	NULL
};

const struct attribute_group sstp_rrda_group = {
	.name	= "rrda",
	.attrs	= sstp_rrda_attrs,
};
