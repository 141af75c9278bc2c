// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffer policies that are BPF programs: callbacks that call the program while it is
 * loaded. Without it a buffer keeps its limit.
 */
#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "param.h"
#include "rbuf.h"
#include "rbuf_bpf.h"

/**
 * struct sstp_rbuf_bpf - a policy that is a BPF program
 * @ops: what buffers have
 * @life: references, also those of buffers
 * @prog: callbacks of the program; NULL once it is gone. RCU: the program is freed after
 *	a grace period.
 * @rcu: frees it
 */
struct sstp_rbuf_bpf {
	struct sstp_rbuf_ops ops;
	struct sstp_plugin_life life;
	const struct sstp_rbuf_ops __rcu *prog;
	struct rcu_head rcu;
};

/* Call callback @cb of the program of buffer @b, unless it is gone. */
#define SSTP_RBUF_BPF_CALL(b, cb, ...)					\
do {									\
	const struct sstp_rbuf_ops *__ops = container_of(b, struct sstp_rbuf_core, out)->ops; \
	const struct sstp_rbuf_ops *__prog;				\
									\
	rcu_read_lock();						\
	__prog = rcu_dereference(container_of(__ops, struct sstp_rbuf_bpf, ops)->prog); \
	if (__prog)							\
		__prog->cb(__VA_ARGS__);				\
	rcu_read_unlock();						\
} while (0)

/* Make the bools that a BPF program may have written 0 or 1. */
static void sstp_rbuf_bpf_bools(struct sstp_rbuf *b)
{
	*(u8 *)&b->exact = !!*(u8 *)&b->exact;
	*(u8 *)&b->rest = !!*(u8 *)&b->rest;
	*(u8 *)&b->measure = !!*(u8 *)&b->measure;
	*(u8 *)&b->widen = !!*(u8 *)&b->widen;
	*(u8 *)&b->small = !!*(u8 *)&b->small;
}

static void sstp_rbuf_bpf_init(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	SSTP_RBUF_BPF_CALL(b, init, b, s);
	sstp_rbuf_bpf_bools(b);
}

static void sstp_rbuf_bpf_release(struct sstp_rbuf *b)
{
	SSTP_RBUF_BPF_CALL(b, release, b);
}

static void sstp_rbuf_bpf_update(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	SSTP_RBUF_BPF_CALL(b, update, b, s);
	sstp_rbuf_bpf_bools(b);
}

static int sstp_rbuf_bpf_check_params(const struct sstp_param_values *v)
{
	const struct sstp_plugin *g = container_of(v, struct sstp_param_check, values)->plugin;
	const struct sstp_rbuf_ops *o = container_of(&g->name, struct sstp_rbuf_ops, name), *prog;
	int err = 0;

	rcu_read_lock();
	prog = rcu_dereference(container_of(o, struct sstp_rbuf_bpf, ops)->prog);
	if (prog)
		err = prog->check_params(v);
	rcu_read_unlock();
	return err;
}

static void sstp_rbuf_bpf_get_info(const struct sstp_rbuf *b, s64 *state)
{
	memcpy(state, b->priv, SSTP_STATE_MAX * sizeof(*state));
}

static void sstp_rbuf_bpf_free(struct sstp_plugin_life *life)
{
	struct sstp_rbuf_bpf *b = container_of(life, struct sstp_rbuf_bpf, life);

	kfree_rcu(b, rcu);
}

int sstp_rbuf_bpf_add(struct sstp_rbuf_ops *prog, const struct bpf_link *link)
{
	struct sstp_rbuf_bpf *b = kzalloc_obj(*b, GFP_KERNEL);
	struct sstp_rbuf_ops *ops;
	int err;

	if (!b)
		return -ENOMEM;
	sstp_plugin_life_init(&b->life, link, sstp_rbuf_bpf_free);
	RCU_INIT_POINTER(b->prog, prog);
	ops = &b->ops;
	ops->life = &b->life;
	memcpy(ops->name, prog->name, sizeof(ops->name));
	memcpy(ops->params, prog->params, sizeof(ops->params));
	memcpy(ops->state, prog->state, sizeof(ops->state));
	ops->init = prog->init ? sstp_rbuf_bpf_init : NULL;
	ops->release = prog->release ? sstp_rbuf_bpf_release : NULL;
	ops->update = prog->update ? sstp_rbuf_bpf_update : NULL;
	ops->check_params = prog->check_params ? sstp_rbuf_bpf_check_params : NULL;
	ops->get_info = sstp_rbuf_bpf_get_info;
	err = sstp_register_rbuf(ops);
	if (err)
		kfree(b);
	else
		prog->life = &b->life;
	return err;
}

struct sstp_rbuf_ops *sstp_rbuf_bpf_remove(struct sstp_rbuf_ops *prog)
{
	struct sstp_rbuf_bpf *b = container_of(prog->life, struct sstp_rbuf_bpf, life);

	WRITE_ONCE(b->life.gone, true);
	RCU_INIT_POINTER(b->prog, NULL);
	/* This waits for callbacks that run, as well. */
	sstp_unregister_rbuf(&b->ops);
	return &b->ops;
}
