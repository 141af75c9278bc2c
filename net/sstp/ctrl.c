// SPDX-License-Identifier: GPL-2.0
/* Registry of controllers. */
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/kmod.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>
#include "ctrl.h"

static LIST_HEAD(sstp_ctrls);
static DEFINE_SPINLOCK(sstp_ctrl_lock);

/* RCU or sstp_ctrl_lock */
static struct sstp_ctrl_ops *sstp_ctrl_find(const char *name)
{
	struct sstp_ctrl_ops *o;

	list_for_each_entry_rcu(o, &sstp_ctrls, list,
				lockdep_is_held(&sstp_ctrl_lock))
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

bool sstp_name_valid(const char *name)
{
	u32 n = strnlen(name, SSTP_NAME_MAX), i;

	for (i = 0; i < n; i++)
		if (!isgraph(name[i]))
			return false;
	return n && n < SSTP_NAME_MAX;
}

/**
 * sstp_register_ctrl - offer a controller to connections
 * @ops: must stay until sstp_unregister_ctrl() has returned
 *
 * Return: 0, -EINVAL if it lacks a name or a callback, -EEXIST
 */
int sstp_register_ctrl(struct sstp_ctrl_ops *ops)
{
	int err = 0;

	if (!sstp_name_valid(ops->name) || !ops->init ||
	    (!ops->on_ack && !ops->on_loss))
		return -EINVAL;
	spin_lock(&sstp_ctrl_lock);
	if (sstp_ctrl_find(ops->name))
		err = -EEXIST;
	else
		list_add_tail_rcu(&ops->list, &sstp_ctrls);
	spin_unlock(&sstp_ctrl_lock);
	return err;
}
EXPORT_SYMBOL_GPL(sstp_register_ctrl);

/**
 * sstp_unregister_ctrl - withdraw a controller
 * @ops: no connection has it, as each holds its module. Sleeps.
 */
void sstp_unregister_ctrl(struct sstp_ctrl_ops *ops)
{
	spin_lock(&sstp_ctrl_lock);
	list_del_rcu(&ops->list);
	spin_unlock(&sstp_ctrl_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(sstp_unregister_ctrl);

bool sstp_ctrl_name(u32 i, char *name)
{
	struct sstp_ctrl_ops *o;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(o, &sstp_ctrls, list) {
		found = !i--;
		if (found) {
			strscpy(name, o->name, SSTP_NAME_MAX);
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

bool sstp_ctrl_exists(const char *name)
{
	bool found;

	rcu_read_lock();
	found = sstp_ctrl_find(name);
	rcu_read_unlock();
	if (found || !capable(CAP_NET_ADMIN))
		return found;
	request_module("sstp-ctrl-%s", name);
	rcu_read_lock();
	found = sstp_ctrl_find(name);
	rcu_read_unlock();
	return found;
}

struct sstp_ctrl_ops *sstp_ctrl_get(const char *name)
{
	struct sstp_ctrl_ops *ops;

	rcu_read_lock();
	ops = sstp_ctrl_find(name);
	if (ops && !try_module_get(ops->owner))
		ops = NULL;
	rcu_read_unlock();
	return ops;
}

void sstp_ctrl_put(const struct sstp_ctrl_ops *ops)
{
	if (ops)
		module_put(ops->owner);
}

static void sstp_ctrl_begin(struct sstp_ctrl *c, const struct sstp_ctrl_ops *ops)
{
	c->ops = ops;
	c->cwnd = SSTP_CWND_MAX;
	c->period = 0;
	memset(c->priv, 0, sizeof(c->priv));
	ops->init(c);
}

int sstp_ctrl_attach(struct sstp_ctrl *c, const char *name)
{
	const struct sstp_ctrl_ops *ops = sstp_ctrl_get(name);

	if (!ops)
		return -ENOENT;
	c->min_rtt = U32_MAX;
	sstp_ctrl_begin(c, ops);
	return 0;
}

void sstp_ctrl_switch(struct sstp_ctrl *c, const struct sstp_ctrl_ops *ops)
{
	u32 held = min(c->cwnd, c->in_flight);

	if (c->ops == ops) {
		sstp_ctrl_put(ops);
		return;
	}
	sstp_ctrl_detach(c);
	sstp_ctrl_begin(c, ops);
	if (c->cwnd != SSTP_CWND_MAX)
		c->cwnd = max(c->cwnd, held);
}

void sstp_ctrl_detach(struct sstp_ctrl *c)
{
	if (!c->ops)
		return;
	if (c->ops->release)
		c->ops->release(c);
	sstp_ctrl_put(c->ops);
	c->ops = NULL;
}

int __init sstp_ctrl_init(void)
{
	int err = sstp_register_ctrl(&sstp_ctrl_rate);

	return err ?: sstp_register_ctrl(&sstp_ctrl_newreno);
}

void sstp_ctrl_exit(void)
{
	sstp_unregister_ctrl(&sstp_ctrl_newreno);
	sstp_unregister_ctrl(&sstp_ctrl_rate);
}
