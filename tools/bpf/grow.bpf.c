// SPDX-License-Identifier: GPL-2.0
/*
 * "bpf-grow": a receive buffer policy. The buffer is twice as large as what came in an epoch, or as
 * the path needs, and never shrinks, unless memory is scarce.
 */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	b->epoch = 100 * NSEC_PER_MSEC;
}

SSTP_CALLBACK(update, struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	u64 need = 2 * max(s->arrived, s->path);

	b->priv[0] = need;
	b->rest = !s->arrived;
	if (s->used > SSTP_RBUF_ONE / 4 * 3)
		b->limit = s->first;
	else
		b->limit = max(s->limit, min(need, s->ceiling));
}

SSTP_POLICY("bpf-grow", .init = (void *)init, .update = (void *)update, .state = { "need" });
