// SPDX-License-Identifier: GPL-2.0
/* Registry of receive buffer policies, and count of the buffers with much traffic */
#include <linux/ktime.h>
#include <linux/math64.h>
#include "plugin.h"
#include "rbuf.h"
#include "sysfs.h"

DEFINE_SSTP_REGISTRY(sstp_rbufs, "rbuf");

/* Bytes per second. Slower flows are not counted: they need no more than the least buffer, and
 * many of them would leave too small a share of memory to fast ones.
 */
#define SSTP_RBUF_MUCH		(64 << 10)
/* A buffer counts for 2 s more, as a program that reads in intervals has epochs without traffic. */
#define SSTP_RBUF_LATELY	(2 * NSEC_PER_SEC)

/* Buffers with much traffic. Written only when one begins or ceases to count, not every epoch. */
static atomic_t sstp_rbufs_moving;

u32 sstp_rbuf_moving(void)
{
	return max(atomic_read(&sstp_rbufs_moving), 1);
}

static void sstp_rbuf_set_counted(struct sstp_rbuf_core *b, bool counted)
{
	if (counted == b->counted)
		return;
	b->counted = counted;
	atomic_add(counted ? 1 : -1, &sstp_rbufs_moving);
}

void sstp_rbuf_count(struct sstp_rbuf_core *b, u64 now)
{
	u64 much = mul_u64_u64_div_u64(b->out.epoch, SSTP_RBUF_MUCH, NSEC_PER_SEC);

	if (max3(b->in.arrived, b->in.served, b->in.lacked) >= much)
		b->busy_until = now + SSTP_RBUF_LATELY;
	sstp_rbuf_set_counted(b, b->out.epoch && !b->resting && now < b->busy_until);
}

void sstp_rbuf_uncount(struct sstp_rbuf_core *b)
{
	sstp_rbuf_set_counted(b, false);
}

/**
 * sstp_register_rbuf - make a policy available to connections
 * @ops: the policy; must stay until sstp_unregister_rbuf() has returned
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if the name is missing, or a parameter or a name of its state is not valid;
 * -EEXIST if a policy of this name is registered; or the error of creating its directory in
 * sysfs.
 */
int sstp_register_rbuf(struct sstp_rbuf_ops *ops)
{
	int err;

	/* Check before the directory is made: sysfs warns of duplicate names. */
	if (sstp_plugin_here(&sstp_rbufs, ops->name))
		return -EEXIST;
	if (ops->sysfs) {
		err = sstp_sysfs_add(ops->sysfs);
		if (err)
			return err;
	}
	err = sstp_plugin_register(&sstp_rbufs, sstp_plugin_of(ops));
	if (err && ops->sysfs)
		sstp_sysfs_remove(ops->sysfs);
	return err;
}
EXPORT_SYMBOL_GPL(sstp_register_rbuf);

/**
 * sstp_unregister_rbuf - remove a policy
 * @ops: the policy, called from its module's exit function: no buffer has it, as each holds a
 *	reference on the module
 *
 * Context: process context, may sleep.
 */
void sstp_unregister_rbuf(struct sstp_rbuf_ops *ops)
{
	sstp_plugin_unregister(&sstp_rbufs, sstp_plugin_of(ops));
	if (ops->sysfs)
		sstp_sysfs_remove(ops->sysfs);
}
EXPORT_SYMBOL_GPL(sstp_unregister_rbuf);

struct sstp_rbuf_ops *sstp_rbuf_get(const char *name)
{
	struct sstp_plugin *p = sstp_plugin_get(&sstp_rbufs, name);

	return p ? container_of(&p->name, struct sstp_rbuf_ops, name) : NULL;
}

void sstp_rbuf_put(const struct sstp_rbuf_ops *ops)
{
	if (ops)
		sstp_plugin_put(sstp_plugin_of(ops));
}

const struct sstp_rbuf_ops *sstp_rbuf_present(const struct sstp_rbuf_ops *ops)
{
	if (!sstp_plugin_gone(sstp_plugin_of(ops)))
		return ops;
	sstp_rbuf_put(ops);
	__module_get(sstp_rbuf_rrda.owner);
	return &sstp_rbuf_rrda;
}

int sstp_rbuf_attach(struct sstp_rbuf_core *b, const char *name,
		     const struct sstp_plugin_conf *conf)
{
	const struct sstp_rbuf_ops *ops = sstp_rbuf_get(name);

	if (!ops)
		return -ENOENT;
	sstp_rbuf_begin(b, sstp_rbuf_present(ops), conf);
	return 0;
}

void sstp_rbuf_detach(struct sstp_rbuf_core *b)
{
	if (!b->ops)
		return;
	if (b->ops->release)
		b->ops->release(&b->out);
	sstp_rbuf_put(b->ops);
	b->ops = NULL;
	sstp_rbuf_uncount(b);
}

int __init sstp_rbuf_init(void)
{
	int err = sstp_register_rbuf(&sstp_rbuf_static);

	if (err)
		return err;
	err = sstp_register_rbuf(&sstp_rbuf_rrda);
	if (err)
		sstp_unregister_rbuf(&sstp_rbuf_static);
	return err;
}

void sstp_rbuf_exit(void)
{
	sstp_unregister_rbuf(&sstp_rbuf_rrda);
	sstp_unregister_rbuf(&sstp_rbuf_static);
}
