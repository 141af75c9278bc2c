// SPDX-License-Identifier: GPL-2.0
/* Has a name that no file in bpffs may have. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 10;
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 20;
}

SSTP_CTRL("1.0", .init = (void *)init, .on_ack = (void *)on_ack);
