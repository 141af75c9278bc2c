// SPDX-License-Identifier: GPL-2.0
/* Writes to the number of a group's members, which the core counts. */
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
	g->count = 1;
}

SSTP_CTRL("write-group", .init = (void *)init, .recv_init = (void *)recv_init,
	  .group_tick = (void *)group_tick, .group = SSTP_GROUP_PORT);
