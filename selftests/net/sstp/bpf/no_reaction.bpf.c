// SPDX-License-Identifier: GPL-2.0
/* Has neither on_ack nor on_loss. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 10;
}

SSTP_CTRL("no-reaction", .init = (void *)init);
