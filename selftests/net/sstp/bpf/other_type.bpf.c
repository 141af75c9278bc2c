// SPDX-License-Identifier: GPL-2.0
/* For a version of the module with another argument of a callback */
#include "sstp.bpf.h"

struct sstp_ctrl_ops___other {
	void	(*init)(struct sstp_ctrl *c, const struct sstp_ctrl_packets *p);
	char	name[16];
};

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_packets *p)
{
	c->cwnd = p->packets;
}

SEC(".struct_ops.link") struct sstp_ctrl_ops___other other = {
	.init = (void *)init, .name = "other",
};

char LICENSE[] SEC("license") = "GPL";
