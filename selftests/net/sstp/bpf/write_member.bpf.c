// SPDX-License-Identifier: GPL-2.0
/* Writes to a member of a group without the function for that. */
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
	struct sstp_group_member *m;

	SSTP_FOR_EACH_MEMBER(m, g)
		m->rate = 1;
}

SSTP_CTRL("write-member", .init = (void *)init, .recv_init = (void *)recv_init,
	  .group_tick = (void *)group_tick, .group = SSTP_GROUP_PORT);
