/* SPDX-License-Identifier: GPL-2.0 */
/* Registries of plug-ins: one of controllers, one of receive buffer policies. */
#ifndef _SSTP_PLUGIN_H
#define _SSTP_PLUGIN_H

#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <net/sstp.h>

struct bpf_link;

/**
 * struct sstp_plugin_life - lifetime of a plug-in that is a BPF program, not a module
 * @users: references: one of the registry, and those for which a module would be held
 * @gone: it leaves the registry, and all who use it leave it
 * @uid: user who loaded it
 * @comm: name of the program that loaded it; printable ASCII
 * @link: BPF link that keeps it loaded; valid while it is in the registry
 * @free: frees the plug-in, when the last reference has been dropped
 */
struct sstp_plugin_life {
	refcount_t users;
	bool	gone;
	kuid_t	uid;
	char	comm[TASK_COMM_LEN];
	const struct bpf_link *link;
	void	(*free)(struct sstp_plugin_life *life);
};

/* The part of a struct sstp_ctrl_ops or struct sstp_rbuf_ops that a registry uses */
struct sstp_plugin {
	char	name[SSTP_NAME_MAX];
	struct module *owner;
	struct list_head list;
	struct sstp_plugin_life *life;
	struct sstp_param_spec params[SSTP_PARAMS_MAX];
	char	state[SSTP_STATE_MAX][SSTP_NAME_MAX];
	int	(*check_params)(const struct sstp_param_values *v);
};

#define SSTP_PLUGIN_AT(type, member)					\
	static_assert(offsetof(type, member) - offsetof(type, name) ==	\
		      offsetof(struct sstp_plugin, member))
SSTP_PLUGIN_AT(struct sstp_ctrl_ops, owner);
SSTP_PLUGIN_AT(struct sstp_ctrl_ops, list);
SSTP_PLUGIN_AT(struct sstp_ctrl_ops, life);
SSTP_PLUGIN_AT(struct sstp_ctrl_ops, params);
SSTP_PLUGIN_AT(struct sstp_ctrl_ops, state);
SSTP_PLUGIN_AT(struct sstp_ctrl_ops, check_params);
SSTP_PLUGIN_AT(struct sstp_rbuf_ops, owner);
SSTP_PLUGIN_AT(struct sstp_rbuf_ops, list);
SSTP_PLUGIN_AT(struct sstp_rbuf_ops, life);
SSTP_PLUGIN_AT(struct sstp_rbuf_ops, params);
SSTP_PLUGIN_AT(struct sstp_rbuf_ops, state);
SSTP_PLUGIN_AT(struct sstp_rbuf_ops, check_params);
#undef SSTP_PLUGIN_AT

/* Of either ops; container_of(&plugin->name, TYPE, name) is the way back. */
#define sstp_plugin_of(ops)	container_of(&(ops)->name, struct sstp_plugin, name)

/**
 * struct sstp_registry - the plug-ins of one kind
 * @kind: sstp-KIND-NAME is the alias of the module of a plug-in
 * @lock: guards writing to @list
 * @list: plug-ins; read under RCU
 */
struct sstp_registry {
	const char *kind;
	spinlock_t lock;		/* guards writing to @list */
	struct list_head list;
};

#define DEFINE_SSTP_REGISTRY(r, what)				\
	struct sstp_registry r = {				\
		.kind = what,					\
		.lock = __SPIN_LOCK_UNLOCKED(r.lock),		\
		.list = LIST_HEAD_INIT(r.list),			\
	}

extern struct sstp_registry sstp_ctrls;
extern struct sstp_registry sstp_rbufs;

/* Set all of @life, which is 0: the caller's task loads the plug-in. Process context. */
void sstp_plugin_life_init(struct sstp_plugin_life *life, const struct bpf_link *link,
			   void (*free)(struct sstp_plugin_life *life));
/* Add a plug-in. -EINVAL: its name is not valid, or what it says of its parameters and its
 * state; -EEXIST: its name is taken.
 */
int sstp_plugin_register(struct sstp_registry *r, struct sstp_plugin *p);
void sstp_plugin_unregister(struct sstp_registry *r, struct sstp_plugin *p);	/* sleeps */
/* The plug-in @name, with a reference on it or its module, or NULL. Any context. */
struct sstp_plugin *sstp_plugin_get(struct sstp_registry *r, const char *name);
/* Is the plug-in @name registered? */
bool sstp_plugin_here(struct sstp_registry *r, const char *name);
/* The same, but loads the module of one that is not, if the caller may. Sleeps. */
bool sstp_plugin_exists(struct sstp_registry *r, const char *name);
/* Let go a plug-in that sstp_plugin_get() returned. Any context. */
void sstp_plugin_put(const struct sstp_plugin *p);
/* Was it unloaded although it is in use? That is so with BPF programs only. */
static inline bool sstp_plugin_gone(const struct sstp_plugin *p)
{
	return p->life && READ_ONCE(p->life->gone);
}

/* Plug-in number @i, from 0, or NULL if there are fewer. RCU */
const struct sstp_plugin *sstp_plugin_nth(struct sstp_registry *r, u32 i);

#endif /* _SSTP_PLUGIN_H */
