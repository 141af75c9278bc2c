// SPDX-License-Identifier: GPL-2.0
/* Sets the rate of a group's first member without a look whether there is one. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 10;
}

SSTP_CALLBACK(recv_init, struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	r->rate = 0;
}

SSTP_CALLBACK(group_tick, struct sstp_group *g)
{
	struct bpf_iter_sstp_group it;

	bpf_iter_sstp_group_new(&it, g);
	bpf_sstp_member_rate(bpf_iter_sstp_group_next(&it), 1);
	bpf_iter_sstp_group_destroy(&it);
}

SSTP_CTRL("no-member", .init = (void *)init, .recv_init = (void *)recv_init,
	  .group_tick = (void *)group_tick, .group = SSTP_GROUP_PORT);
