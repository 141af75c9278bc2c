// SPDX-License-Identifier: GPL-2.0
/* Registries: controllers and receive buffer policies, by their names. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/kmod.h>
#include <linux/rculist.h>
#include "plugin.h"

/* RCU or the lock */
static struct sstp_plugin *sstp_plugin_find(struct sstp_registry *r, const char *name)
{
	struct sstp_plugin *p;

	list_for_each_entry_rcu(p, &r->list, list, lockdep_is_held(&r->lock))
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static bool sstp_plugin_name_valid(const char *name)
{
	u32 n = strnlen(name, SSTP_NAME_MAX), i;

	for (i = 0; i < n; i++)
		if (!isgraph(name[i]))
			return false;
	return n && n < SSTP_NAME_MAX;
}

/* Is each name valid and used once, and no range empty? */
static bool sstp_plugin_params_valid(const struct sstp_plugin *p)
{
	const char *name[SSTP_PARAMS_MAX + SSTP_STATE_MAX];
	u32 i, j, n = 0;

	for (i = 0; i < SSTP_PARAMS_MAX && p->params[i].name[0]; i++) {
		if (p->params[i].least > p->params[i].most)
			return false;
		name[n++] = p->params[i].name;
	}
	for (i = 0; i < SSTP_STATE_MAX && p->state[i][0]; i++)
		name[n++] = p->state[i];
	for (i = 0; i < n; i++) {
		if (!sstp_plugin_name_valid(name[i]))
			return false;
		for (j = 0; j < i; j++)
			if (!strcmp(name[i], name[j]))
				return false;
	}
	return true;
}

void sstp_plugin_life_init(struct sstp_plugin_life *life, const struct bpf_link *link,
			   void (*free)(struct sstp_plugin_life *life))
{
	char *c;

	refcount_set(&life->users, 1);
	life->uid = current_uid();
	/* A program may choose any bytes, and those who read them print them. */
	get_task_comm(life->comm, current);
	for (c = life->comm; *c; c++)
		if (!isascii(*c) || !isprint(*c))
			*c = '?';
	life->link = link;
	life->free = free;
}

int sstp_plugin_register(struct sstp_registry *r, struct sstp_plugin *p)
{
	int err = 0;

	if (!sstp_plugin_name_valid(p->name) || !sstp_plugin_params_valid(p))
		return -EINVAL;
	spin_lock(&r->lock);
	if (sstp_plugin_find(r, p->name))
		err = -EEXIST;
	else
		list_add_tail_rcu(&p->list, &r->list);
	spin_unlock(&r->lock);
	return err;
}

void sstp_plugin_unregister(struct sstp_registry *r, struct sstp_plugin *p)
{
	if (p->life)
		WRITE_ONCE(p->life->gone, true);
	spin_lock(&r->lock);
	list_del_rcu(&p->list);
	spin_unlock(&r->lock);
	synchronize_rcu();
}

static bool sstp_plugin_hold(struct sstp_plugin *p)
{
	return p->life ? refcount_inc_not_zero(&p->life->users) : try_module_get(p->owner);
}

struct sstp_plugin *sstp_plugin_get(struct sstp_registry *r, const char *name)
{
	struct sstp_plugin *p;

	rcu_read_lock();
	p = sstp_plugin_find(r, name);
	if (p && !sstp_plugin_hold(p))
		p = NULL;
	rcu_read_unlock();
	return p;
}

void sstp_plugin_put(const struct sstp_plugin *p)
{
	if (!p->life)
		module_put(p->owner);
	else if (refcount_dec_and_test(&p->life->users))
		p->life->free(p->life);
}

bool sstp_plugin_here(struct sstp_registry *r, const char *name)
{
	bool here;

	rcu_read_lock();
	here = sstp_plugin_find(r, name);
	rcu_read_unlock();
	return here;
}

bool sstp_plugin_exists(struct sstp_registry *r, const char *name)
{
	if (sstp_plugin_here(r, name))
		return true;
	/* What has no such name is no request for a module, either. */
	if (!sstp_plugin_name_valid(name) || !capable(CAP_NET_ADMIN))
		return false;
	request_module("sstp-%s-%s", r->kind, name);
	return sstp_plugin_here(r, name);
}

const struct sstp_plugin *sstp_plugin_nth(struct sstp_registry *r, u32 i)
{
	const struct sstp_plugin *p;

	list_for_each_entry_rcu(p, &r->list, list)
		if (!i--)
			return p;
	return NULL;
}
