// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of a receive buffer policy's callbacks. Policies may come from other modules, so the
 * outputs are clamped after each call to the ranges that include/net/sstp.h documents.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "rbuf.h"

/* An unchanged limit is not clamped: SO_RCVBUF may have set one below @least. */
void sstp_rbuf_bound(struct sstp_rbuf *b, const struct sstp_rbuf_use *s)
{
	u32 most = max(s->ceiling, s->least);

	if (b->limit != s->limit)
		b->limit = clamp(b->limit, s->least, most);
	b->top = clamp(b->top, s->least, most);
	if (b->epoch)
		b->epoch = clamp_t(u64, b->epoch, SSTP_RBUF_EPOCH_MIN, SSTP_RBUF_EPOCH_MAX);
}

/* Call @init with the parameters that b->out has. A policy without @update has no epochs. */
static void sstp_rbuf_start(struct sstp_rbuf_core *b)
{
	const struct sstp_rbuf_sample s = { .use = b->in };

	b->out.epoch = 0;
	b->out.limit = b->in.limit;
	b->out.top = b->in.ceiling;
	b->out.exact = false;
	b->out.rest = false;
	memset(b->out.priv, 0, sizeof(b->out.priv));
	b->out.measure = false;
	b->out.widen = false;
	b->out.small = false;
	b->out.window = 0;
	if (b->ops->init)
		b->ops->init(&b->out, &s);
	if (!b->ops->update)
		b->out.epoch = 0;
	sstp_rbuf_bound(&b->out, &b->in);
}

void sstp_rbuf_begin(struct sstp_rbuf_core *b, const struct sstp_rbuf_ops *ops,
		     const struct sstp_plugin_conf *conf)
{
	b->ops = ops;
	sstp_param_take(b->out.param, ops->params, ops->name, conf);
	sstp_rbuf_start(b);
}

void sstp_rbuf_restart(struct sstp_rbuf_core *b)
{
	if (b->ops->release)
		b->ops->release(&b->out);
	sstp_rbuf_start(b);
}

void sstp_rbuf_tune(struct sstp_rbuf_core *b, const struct sstp_plugin_conf *conf)
{
	if (b->ops && !strcmp(b->ops->name, conf->name))
		sstp_param_take(b->out.param, b->ops->params, b->ops->name, conf);
}

void sstp_rbuf_get_info(const struct sstp_rbuf_core *b, s64 *state)
{
	memset(state, 0, SSTP_STATE_MAX * sizeof(*state));
	if (b->ops->get_info)
		b->ops->get_info(&b->out, state);
}

u32 sstp_rbuf_update(struct sstp_rbuf_core *b, const struct sstp_rbuf_seen *seen)
{
	struct sstp_rbuf_sample s = { .use = b->in };

	if (seen)
		s.seen = *seen;
	b->out.limit = b->in.limit;
	b->ops->update(&b->out, &s);
	sstp_rbuf_bound(&b->out, &b->in);
	b->resting = b->out.rest;
	return b->out.limit;
}
