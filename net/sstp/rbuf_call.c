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
void sstp_rbuf_bound(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	u32 most = max(s->ceiling, s->least);

	if (b->limit != s->limit)
		b->limit = clamp(b->limit, s->least, most);
	b->top = clamp(b->top, s->least, most);
	if (b->epoch)
		b->epoch = clamp_t(u64, b->epoch, SSTP_RBUF_EPOCH_MIN, SSTP_RBUF_EPOCH_MAX);
}

static void sstp_rbuf_set_param(struct sstp_rbuf_core *b)
{
	if (b->ops->set_param)
		b->ops->set_param(&b->out, SSTP_RRDA, &b->rrda, sizeof(b->rrda));
}

/* Clamp the outputs, and disable epochs if the policy has no @update callback. */
static void sstp_rbuf_verdict(struct sstp_rbuf_core *b)
{
	if (!b->ops->update)
		b->out.epoch = 0;
	sstp_rbuf_bound(&b->out, &b->in);
}

void sstp_rbuf_tune(struct sstp_rbuf_core *b, const struct sstp_rrda_spec *rrda)
{
	b->rrda = *rrda;
	if (!b->ops)
		return;
	b->out.limit = b->in.limit;
	sstp_rbuf_set_param(b);
	sstp_rbuf_verdict(b);
}

void sstp_rbuf_get_info(const struct sstp_rbuf_core *b, struct sstp_rbuf_info *i)
{
	*i = (struct sstp_rbuf_info){};
	if (b->ops->get_info)
		b->ops->get_info(&b->out, i);
}

void sstp_rbuf_begin(struct sstp_rbuf_core *b, const struct sstp_rbuf_ops *ops)
{
	b->ops = ops;
	b->out = (struct sstp_rbuf){ .limit = b->in.limit, .top = b->in.ceiling };
	sstp_rbuf_set_param(b);
	if (ops->init)
		ops->init(&b->out, &b->in);
	sstp_rbuf_verdict(b);
}

void sstp_rbuf_restart(struct sstp_rbuf_core *b)
{
	if (b->ops->release)
		b->ops->release(&b->out);
	sstp_rbuf_begin(b, b->ops);
}

u32 sstp_rbuf_update(struct sstp_rbuf_core *b)
{
	b->out.limit = b->in.limit;
	b->ops->update(&b->out, &b->in);
	sstp_rbuf_bound(&b->out, &b->in);
	b->resting = b->out.rest;
	return b->out.limit;
}
