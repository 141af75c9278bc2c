// SPDX-License-Identifier: GPL-2.0
/* Registry of receive buffer policies. */
#include <linux/capability.h>
#include <linux/kmod.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>
#include "ctrl.h"
#include "rbuf.h"

static LIST_HEAD(sstp_rbufs);
static DEFINE_SPINLOCK(sstp_rbuf_lock);

/* Bytes a second: who moves less needs no more than the least buffer. If he counted,
 * many who send a byte now and then would leave nothing to those who need much.
 */
#define SSTP_RBUF_MUCH		(64 << 10)
/* A program that reads once in a while moves nothing in between. */
#define SSTP_RBUF_LATELY	(2 * NSEC_PER_SEC)

/* Changes as buffers begin to be used or are not any more, not with each epoch. */
static atomic_t sstp_rbufs_moving;

u32 sstp_rbuf_moving(void)
{
	return max(atomic_read(&sstp_rbufs_moving), 1);
}

static void sstp_rbuf_set_counted(struct sstp_rbuf *b, bool counted)
{
	if (counted == b->counted)
		return;
	b->counted = counted;
	atomic_add(counted ? 1 : -1, &sstp_rbufs_moving);
}

void sstp_rbuf_count(struct sstp_rbuf *b, u64 now)
{
	u64 much = mul_u64_u64_div_u64(b->epoch, SSTP_RBUF_MUCH, NSEC_PER_SEC);

	if (max3(b->arrived, b->served, b->lacked) >= much)
		b->busy_until = now + SSTP_RBUF_LATELY;
	sstp_rbuf_set_counted(b, b->epoch && !b->rest && now < b->busy_until);
}

void sstp_rbuf_uncount(struct sstp_rbuf *b)
{
	sstp_rbuf_set_counted(b, false);
}

/* RCU or sstp_rbuf_lock */
static struct sstp_rbuf_ops *sstp_rbuf_find(const char *name)
{
	struct sstp_rbuf_ops *o;

	list_for_each_entry_rcu(o, &sstp_rbufs, list,
				lockdep_is_held(&sstp_rbuf_lock))
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

/**
 * sstp_register_rbuf - offer a policy to connections
 * @ops: must stay until sstp_unregister_rbuf() has returned
 *
 * Return: 0, -EINVAL if it lacks a name, -EEXIST
 */
int sstp_register_rbuf(struct sstp_rbuf_ops *ops)
{
	int err = 0;

	if (!sstp_name_valid(ops->name))
		return -EINVAL;
	spin_lock(&sstp_rbuf_lock);
	if (sstp_rbuf_find(ops->name))
		err = -EEXIST;
	else
		list_add_tail_rcu(&ops->list, &sstp_rbufs);
	spin_unlock(&sstp_rbuf_lock);
	return err;
}
EXPORT_SYMBOL_GPL(sstp_register_rbuf);

/**
 * sstp_unregister_rbuf - withdraw a policy
 * @ops: no connection has it, as each holds its module. Sleeps.
 */
void sstp_unregister_rbuf(struct sstp_rbuf_ops *ops)
{
	spin_lock(&sstp_rbuf_lock);
	list_del_rcu(&ops->list);
	spin_unlock(&sstp_rbuf_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(sstp_unregister_rbuf);

bool sstp_rbuf_name(u32 i, char *name)
{
	struct sstp_rbuf_ops *o;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(o, &sstp_rbufs, list) {
		found = !i--;
		if (found) {
			strscpy(name, o->name, SSTP_NAME_MAX);
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

bool sstp_rbuf_exists(const char *name)
{
	bool found;

	rcu_read_lock();
	found = sstp_rbuf_find(name);
	rcu_read_unlock();
	if (found || !capable(CAP_NET_ADMIN))
		return found;
	request_module("sstp-rbuf-%s", name);
	rcu_read_lock();
	found = sstp_rbuf_find(name);
	rcu_read_unlock();
	return found;
}

struct sstp_rbuf_ops *sstp_rbuf_get(const char *name)
{
	struct sstp_rbuf_ops *ops;

	rcu_read_lock();
	ops = sstp_rbuf_find(name);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	rcu_read_unlock();
	return ops;
}

void sstp_rbuf_put(const struct sstp_rbuf_ops *ops)
{
	if (ops)
		module_put(ops->owner);
}

void sstp_rbuf_begin(struct sstp_rbuf *b, const struct sstp_rbuf_ops *ops)
{
	b->ops = ops;
	b->exact = false;
	memset(b->priv, 0, sizeof(b->priv));
	if (ops->init)
		ops->init(b);
	if (!ops->update)
		b->epoch = 0;
}

int sstp_rbuf_attach(struct sstp_rbuf *b, const char *name)
{
	const struct sstp_rbuf_ops *ops = sstp_rbuf_get(name);

	if (!ops)
		return -ENOENT;
	sstp_rbuf_begin(b, ops);
	return 0;
}

void sstp_rbuf_detach(struct sstp_rbuf *b)
{
	if (!b->ops)
		return;
	if (b->ops->release)
		b->ops->release(b);
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
