// SPDX-License-Identifier: GPL-2.0
/* Has one program as two callbacks. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 10;
}

SSTP_CTRL("two-callbacks", .init = (void *)init, .on_ack = (void *)init);
