// SPDX-License-Identifier: GPL-2.0
/* Takes its connection for a group. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct sstp_group_member *m;

	SSTP_FOR_EACH_MEMBER(m, (struct sstp_group *)c)
		c->cwnd = m->rate;
}

SSTP_CTRL("wrong-context", .init = (void *)init);
