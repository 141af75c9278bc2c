// SPDX-License-Identifier: GPL-2.0
/* Controllers of connections. */
#include "ctrl.h"
#include "plugin.h"

DEFINE_SSTP_REGISTRY(sstp_ctrls, "ctrl");

/**
 * sstp_register_ctrl - offer a controller to connections
 * @ops: must stay until sstp_unregister_ctrl() has returned
 *
 * Return: 0, -EINVAL if it lacks a name or a callback, -EEXIST
 */
int sstp_register_ctrl(struct sstp_ctrl_ops *ops)
{
	if (!ops->init || (!ops->on_ack && !ops->on_loss))
		return -EINVAL;
	return sstp_plugin_register(&sstp_ctrls, sstp_plugin_of(ops));
}
EXPORT_SYMBOL_GPL(sstp_register_ctrl);

/**
 * sstp_unregister_ctrl - withdraw a controller
 * @ops: no connection has it, as each holds its module. Sleeps.
 */
void sstp_unregister_ctrl(struct sstp_ctrl_ops *ops)
{
	sstp_plugin_unregister(&sstp_ctrls, sstp_plugin_of(ops));
}
EXPORT_SYMBOL_GPL(sstp_unregister_ctrl);

struct sstp_ctrl_ops *sstp_ctrl_get(const char *name)
{
	struct sstp_plugin *p = sstp_plugin_get(&sstp_ctrls, name);

	return p ? container_of(&p->name, struct sstp_ctrl_ops, name) : NULL;
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
	c->held_back = false;
	c->cwnd_limited = false;
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
