// SPDX-License-Identifier: GPL-2.0
/* For a version of the module whose sample has one more member */
#include "sstp.bpf.h"

struct sstp_ctrl_sample___later {
	u32	later;
} __attribute__((preserve_access_index));

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = ((const struct sstp_ctrl_sample___later *)s)->later;
}

SSTP_CTRL("later", .init = (void *)init);
