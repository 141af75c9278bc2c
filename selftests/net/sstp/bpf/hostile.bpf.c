// SPDX-License-Identifier: GPL-2.0
/* Controllers that say what no controller should: nothing, the most, anything. */
#include "sstp.bpf.h"

#define EIGHT(one, at)	one(at); one((at) + 1); one((at) + 2); one((at) + 3);	\
			one((at) + 4); one((at) + 5); one((at) + 6); one((at) + 7)
#define SCRIBBLE(i)	(c->priv[i] = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32())
#define SCRIBBLE_RECV(i)	(r->priv[i] = message << (i))
#define SCRIBBLE_GROUP(i)	(g->priv[i] = any << (i))
#define MESSAGE(i)	(message[i] = c->priv[i])

SSTP_CALLBACK(zero, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->period = 0;
	c->cwnd = 0;
	c->rto = 0;
	c->rtt = 0;
	c->ack_interval = 0;
	c->ack_timer = 0;
	c->timer = 0;
}

SSTP_CALLBACK(zero_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 0;
	bpf_sstp_window_grow(c, 0, 0);
	bpf_sstp_window_cut(c, s, 0);
	c->cwnd = 0;
	bpf_sstp_window_pace(c, s);
	c->cwnd = 0;
	c->period = 0;
}

SSTP_CALLBACK(most, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->period = ~0ULL;
	c->cwnd = ~1U;
	c->rto = ~0U;
	c->rtt = ~0U;
	c->ack_interval = ~0U;
	c->ack_timer = ~0U;
	c->timer = ~0ULL;
}

SSTP_CALLBACK(most_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 0x80000000;
	bpf_sstp_window_pace(c, s);
	bpf_sstp_window_grow(c, ~0U, ~0U);
	bpf_sstp_window_cut(c, s, ~0U);
	c->cwnd = ~1U;
	c->period = ~0ULL;
}

/* Scribble over all of the state, call what uses it, and then over the outputs. */
SSTP_CALLBACK(any_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	u64 message[8];

	EIGHT(SCRIBBLE, 0);
	EIGHT(SCRIBBLE, 8);
	EIGHT(SCRIBBLE, 16);
	SCRIBBLE(24);
	SCRIBBLE(25);
	SCRIBBLE(26);
	c->cwnd = bpf_get_prandom_u32();
	bpf_sstp_window_ack(c, s);
	bpf_sstp_window_grow(c, bpf_get_prandom_u32(), bpf_get_prandom_u32());
	bpf_sstp_window_loss(c, s);
	bpf_sstp_window_timeout(c, s, bpf_get_prandom_u32());
	c->cwnd = bpf_get_prandom_u32();
	bpf_sstp_window_cut(c, s, bpf_get_prandom_u32());
	bpf_sstp_window_pace(c, s);
	c->period = (u64)bpf_get_prandom_u32() << (bpf_get_prandom_u32() & 31);
	c->cwnd = bpf_get_prandom_u32() >> (bpf_get_prandom_u32() & 31);
	c->rto = bpf_get_prandom_u32();
	c->rtt = bpf_get_prandom_u32();
	c->ack_interval = bpf_get_prandom_u32();
	c->ack_timer = bpf_get_prandom_u32();
	c->timer = 1;
	EIGHT(MESSAGE, 0);
	bpf_sstp_send(c, bpf_get_prandom_u32(), message, sizeof(message));
}

SSTP_CALLBACK(any_recv, struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	u64 message = bpf_get_prandom_u32();

	EIGHT(SCRIBBLE_RECV, 0);
	EIGHT(SCRIBBLE_RECV, 8);
	EIGHT(SCRIBBLE_RECV, 16);
	SCRIBBLE_RECV(24);
	SCRIBBLE_RECV(25);
	SCRIBBLE_RECV(26);
	r->rate = message << (bpf_get_prandom_u32() & 31);
	r->report[0] = message << 32;
	r->timer = 1;
	bpf_sstp_recv_send(r, 1, &message, sizeof(message));
}

SEC(".struct_ops.link") struct sstp_ctrl_ops h_zero = {
	.init = (void *)zero, .on_ack = (void *)zero_ack, .name = "h-zero",
};

SEC(".struct_ops.link") struct sstp_ctrl_ops h_most = {
	.init = (void *)most, .on_ack = (void *)most_ack, .name = "h-most",
};

/* A program is of one callback: these differ by no more than that. */
SSTP_CALLBACK(any, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = bpf_get_prandom_u32();
	c->timer = 1;
}

SSTP_CALLBACK(any_timer, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	u64 message = 1;

	c->timer = 1;
	bpf_sstp_send(c, 1, &message, sizeof(message));
}

SSTP_CALLBACK(any_recv_timer, struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	u64 message = 1;

	r->rate = 1;
	r->timer = 1;
	bpf_sstp_recv_send(r, 1, &message, sizeof(message));
}

/* All members, for each of them */
SSTP_CALLBACK(any_tick, struct sstp_group *g)
{
	struct sstp_group_member *m, *other;
	u64 any = bpf_get_prandom_u32();

	EIGHT(SCRIBBLE_GROUP, 0);
	EIGHT(SCRIBBLE_GROUP, 8);
	EIGHT(SCRIBBLE_GROUP, 16);
	SCRIBBLE_GROUP(24);
	SCRIBBLE_GROUP(25);
	SCRIBBLE_GROUP(26);
	SSTP_FOR_EACH_MEMBER(m, g)
		SSTP_FOR_EACH_MEMBER(other, g) {
			any = (u64)bpf_get_prandom_u32() << (bpf_get_prandom_u32() & 63);
			bpf_sstp_member_rate(other, any | 1 << 20);
			bpf_sstp_member_priv(m, bpf_get_prandom_u32(), any);
		}
	g->tick = 0;
}

/* Refuses all values but 1 << 31, by numbers from the least to the most. */
SSTP_CHECK(any_check, const struct sstp_param_values *v)
{
	return (1U << 31) + v->param[0];
}

SEC(".struct_ops.link") struct sstp_ctrl_ops h_any = {
	.init = (void *)any, .on_ack = (void *)any_ack, .on_timer = (void *)any_timer,
	.recv_init = (void *)any_recv, .recv_timer = (void *)any_recv_timer,
	.group_tick = (void *)any_tick, .group = SSTP_GROUP_PEER, .check_params = (void *)any_check,
	.params = { { "one", 1, ~0U } }, .name = "h-any",
};

char LICENSE[] SEC("license") = "GPL";
