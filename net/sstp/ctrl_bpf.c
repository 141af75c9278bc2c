// SPDX-License-Identifier: GPL-2.0
/* Controllers that are BPF programs: callbacks that call the program while it is loaded */
#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "ctrl.h"
#include "ctrl_bpf.h"
#include "half.h"
#include "param.h"

/**
 * struct sstp_ctrl_bpf - a controller that is a BPF program
 * @ops: what connections have
 * @life: references, also those of connections
 * @prog: callbacks of the program; NULL once it is gone. RCU: the program is freed after
 *	a grace period.
 * @rcu: frees it
 */
struct sstp_ctrl_bpf {
	struct sstp_ctrl_ops ops;
	struct sstp_plugin_life life;
	const struct sstp_ctrl_ops __rcu *prog;
	struct rcu_head rcu;
};

static_assert(SSTP_CTRL_BPF_WINDOW + SSTP_STATE_MAX <= SSTP_CTRL_PRIV_SIZE / sizeof(u64));

/* Call callback @cb of the program of @o, unless it is gone. */
#define SSTP_CTRL_BPF_CALL(o, cb, ...)					\
do {									\
	const struct sstp_ctrl_ops *__prog;				\
									\
	rcu_read_lock();						\
	__prog = rcu_dereference(container_of(o, struct sstp_ctrl_bpf, ops)->prog); \
	if (__prog)							\
		__prog->cb(__VA_ARGS__);				\
	rcu_read_unlock();						\
} while (0)

/* The operations are found by the core's struct around the argument of each callback. */
static const struct sstp_ctrl_ops *sstp_ctrl_bpf_of(const struct sstp_ctrl *c)
{
	return container_of(c, struct sstp_ctrl_core, out)->ops;
}

static const struct sstp_ctrl_ops *sstp_ctrl_bpf_half(const struct sstp_recv *r)
{
	return container_of(r, struct sstp_half, out)->ops;
}

/* Without its program a connection has a small window until it is moved. */
static void sstp_ctrl_bpf_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	const struct sstp_ctrl_ops *o = sstp_ctrl_bpf_of(c), *prog;

	rcu_read_lock();
	prog = rcu_dereference(container_of(o, struct sstp_ctrl_bpf, ops)->prog);
	if (prog)
		prog->init(c, s);
	else
		c->cwnd = SSTP_CTRL_UNPACED;
	rcu_read_unlock();
}

static void sstp_ctrl_bpf_release(struct sstp_ctrl *c)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_of(c), release, c);
}

#define SSTP_CTRL_BPF_SAMPLE(cb)						\
static void sstp_ctrl_bpf_##cb(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)	\
{									\
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_of(c), cb, c, s);		\
}

SSTP_CTRL_BPF_SAMPLE(on_ack)
SSTP_CTRL_BPF_SAMPLE(on_loss)
SSTP_CTRL_BPF_SAMPLE(on_timeout)
SSTP_CTRL_BPF_SAMPLE(on_param)
SSTP_CTRL_BPF_SAMPLE(on_timer)

static void sstp_ctrl_bpf_on_pkt_sent(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				      const struct sstp_ctrl_packets *p)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_of(c), on_pkt_sent, c, s, p);
}

static void sstp_ctrl_bpf_on_message(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				     const struct sstp_ctrl_msg *m)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_of(c), on_message, c, s, m);
}

/* Make the bool that a BPF program may have written 0 or 1. */
static void sstp_ctrl_bpf_bools(struct sstp_recv *r)
{
	*(u8 *)&r->feedback.valid = !!*(u8 *)&r->feedback.valid;
}

static void sstp_ctrl_bpf_recv_init(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_half(r), recv_init, r, s);
	sstp_ctrl_bpf_bools(r);
}

static void sstp_ctrl_bpf_recv_release(struct sstp_recv *r)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_half(r), recv_release, r);
}

static void sstp_ctrl_bpf_recv_packets(struct sstp_recv *r, const struct sstp_recv_sample *s,
				       const struct sstp_ctrl_packets *p)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_half(r), recv_packets, r, s, p);
	sstp_ctrl_bpf_bools(r);
}

static void sstp_ctrl_bpf_recv_timer(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_half(r), recv_timer, r, s);
	sstp_ctrl_bpf_bools(r);
}

static void sstp_ctrl_bpf_recv_message(struct sstp_recv *r, const struct sstp_recv_sample *s,
				       const struct sstp_ctrl_msg *m)
{
	SSTP_CTRL_BPF_CALL(sstp_ctrl_bpf_half(r), recv_message, r, s, m);
	sstp_ctrl_bpf_bools(r);
}

static void sstp_ctrl_bpf_group_tick(struct sstp_group *g)
{
	SSTP_CTRL_BPF_CALL(container_of(g, struct sstp_group_core, out)->key.ops, group_tick, g);
}

static int sstp_ctrl_bpf_check_params(const struct sstp_param_values *v)
{
	const struct sstp_plugin *g = container_of(v, struct sstp_param_check, values)->plugin;
	const struct sstp_ctrl_ops *o = container_of(&g->name, struct sstp_ctrl_ops, name), *prog;
	int err = 0;

	rcu_read_lock();
	prog = rcu_dereference(container_of(o, struct sstp_ctrl_bpf, ops)->prog);
	if (prog)
		err = prog->check_params(v);
	rcu_read_unlock();
	return err;
}

/* A program cannot write to an array that it is passed: its state is the words after the window. */
static void sstp_ctrl_bpf_get_info(const struct sstp_ctrl *c, s64 *state)
{
	memcpy(state, &c->priv[SSTP_CTRL_BPF_WINDOW], SSTP_STATE_MAX * sizeof(*state));
}

static void sstp_ctrl_bpf_free(struct sstp_plugin_life *life)
{
	struct sstp_ctrl_bpf *b = container_of(life, struct sstp_ctrl_bpf, life);

	kfree_rcu(b, rcu);
}

int sstp_ctrl_bpf_add(struct sstp_ctrl_ops *prog, const struct bpf_link *link)
{
	struct sstp_ctrl_bpf *b = kzalloc_obj(*b, GFP_KERNEL);
	struct sstp_ctrl_ops *ops;
	int err;

	if (!b)
		return -ENOMEM;
	sstp_plugin_life_init(&b->life, link, sstp_ctrl_bpf_free);
	RCU_INIT_POINTER(b->prog, prog);
	ops = &b->ops;
	ops->life = &b->life;
	memcpy(ops->name, prog->name, sizeof(ops->name));
	memcpy(ops->params, prog->params, sizeof(ops->params));
	memcpy(ops->state, prog->state, sizeof(ops->state));
	ops->restricted = prog->restricted;
	ops->ecn = prog->ecn;
	ops->group = prog->group;
	ops->get_info = sstp_ctrl_bpf_get_info;
	/* The core looks which callbacks there are. */
#define SSTP_CTRL_BPF_SET(cb)	(ops->cb = prog->cb ? sstp_ctrl_bpf_##cb : NULL)
	SSTP_CTRL_BPF_SET(init);
	SSTP_CTRL_BPF_SET(release);
	SSTP_CTRL_BPF_SET(on_ack);
	SSTP_CTRL_BPF_SET(on_loss);
	SSTP_CTRL_BPF_SET(on_timeout);
	SSTP_CTRL_BPF_SET(on_param);
	SSTP_CTRL_BPF_SET(on_pkt_sent);
	SSTP_CTRL_BPF_SET(on_timer);
	SSTP_CTRL_BPF_SET(on_message);
	SSTP_CTRL_BPF_SET(recv_init);
	SSTP_CTRL_BPF_SET(recv_release);
	SSTP_CTRL_BPF_SET(recv_packets);
	SSTP_CTRL_BPF_SET(recv_timer);
	SSTP_CTRL_BPF_SET(recv_message);
	SSTP_CTRL_BPF_SET(group_tick);
	SSTP_CTRL_BPF_SET(check_params);
#undef SSTP_CTRL_BPF_SET
	err = sstp_register_ctrl(ops);
	if (err)
		kfree(b);
	else
		prog->life = &b->life;
	return err;
}

struct sstp_ctrl_ops *sstp_ctrl_bpf_remove(struct sstp_ctrl_ops *prog)
{
	struct sstp_ctrl_bpf *b = container_of(prog->life, struct sstp_ctrl_bpf, life);

	WRITE_ONCE(b->life.gone, true);
	RCU_INIT_POINTER(b->prog, NULL);
	/* This waits for callbacks that run, as well. */
	sstp_unregister_ctrl(&b->ops);
	return &b->ops;
}
