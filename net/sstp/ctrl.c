// SPDX-License-Identifier: GPL-2.0
/* Registry of controllers, and attachment to connections */
#include "ctrl.h"
#include "plugin.h"

DEFINE_SSTP_REGISTRY(sstp_ctrls, "ctrl");

/**
 * sstp_register_ctrl - make a controller available to connections
 * @ops: the controller; must stay until sstp_unregister_ctrl() has returned
 *
 * Context: process context.
 * Return: 0; -EINVAL if the name or a required callback is missing, or a parameter, a name of its
 * state or the group is not valid; -EEXIST if a controller of this name is registered.
 */
int sstp_register_ctrl(struct sstp_ctrl_ops *ops)
{
	if (!ops->init || (!ops->on_ack && !ops->on_loss) || ops->group > SSTP_GROUP_PORT ||
	    (ops->group != SSTP_GROUP_NONE && !ops->group_tick) ||
	    (!ops->recv_init && (ops->recv_release || ops->recv_packets || ops->recv_timer ||
				 ops->recv_message || ops->group)))
		return -EINVAL;
	return sstp_plugin_register(&sstp_ctrls, sstp_plugin_of(ops));
}
EXPORT_SYMBOL_GPL(sstp_register_ctrl);

/* For controllers that add to it */
EXPORT_SYMBOL_GPL(sstp_ctrl_hybrid);

/**
 * sstp_unregister_ctrl - remove a controller
 * @ops: the controller, called from its module's exit function: no connection has it, as each
 *	holds a reference on the module
 *
 * Context: process context, may sleep.
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
		sstp_plugin_put(sstp_plugin_of(ops));
}

/* A BPF program may be unloaded between sstp_ctrl_get() and the attachment: hybrid, which is always
 * there, takes its place. Who attaches later than that finds it gone; who attached before is moved
 * by evict.c.
 */
static const struct sstp_ctrl_ops *sstp_ctrl_present(const struct sstp_ctrl_ops *ops)
{
	if (!sstp_plugin_gone(sstp_plugin_of(ops)))
		return ops;
	sstp_ctrl_put(ops);
	__module_get(sstp_ctrl_hybrid.owner);
	return &sstp_ctrl_hybrid;
}

int sstp_ctrl_attach(struct sstp_ctrl_core *c, const char *name,
		     const struct sstp_plugin_conf *conf, const struct sstp_ctrl_sample *s)
{
	const struct sstp_ctrl_ops *ops = sstp_ctrl_get(name);

	if (!ops)
		return -ENOENT;
	sstp_ctrl_begin(c, sstp_ctrl_present(ops), conf, s);
	return 0;
}

void sstp_ctrl_switch(struct sstp_ctrl_core *c, const struct sstp_ctrl_ops *ops,
		      const struct sstp_plugin_conf *conf, const struct sstp_ctrl_sample *s,
		      u32 carried)
{
	u32 held = min(c->out.cwnd, carried);

	if (c->ops == ops) {
		sstp_ctrl_put(ops);
		return;
	}
	sstp_ctrl_detach(c);
	sstp_ctrl_begin(c, sstp_ctrl_present(ops), conf, s);
	if (c->out.cwnd != SSTP_CWND_MAX)
		c->out.cwnd = max(c->out.cwnd, held);
	sstp_ctrl_bound(&c->out, s);
}

void sstp_ctrl_detach(struct sstp_ctrl_core *c)
{
	if (!c->ops)
		return;
	if (c->ops->release)
		c->ops->release(&c->out);
	sstp_ctrl_put(c->ops);
	c->ops = NULL;
}

int __init sstp_ctrl_init(void)
{
	int err = sstp_register_ctrl(&sstp_ctrl_rate);

	err = err ?: sstp_register_ctrl(&sstp_ctrl_newreno);
	return err ?: sstp_register_ctrl(&sstp_ctrl_hybrid);
}

void sstp_ctrl_exit(void)
{
	sstp_unregister_ctrl(&sstp_ctrl_hybrid);
	sstp_unregister_ctrl(&sstp_ctrl_newreno);
	sstp_unregister_ctrl(&sstp_ctrl_rate);
}
