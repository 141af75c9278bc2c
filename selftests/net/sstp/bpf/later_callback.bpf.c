// SPDX-License-Identifier: GPL-2.0
/* For a version of the module with one more callback */
#include "sstp.bpf.h"

struct sstp_ctrl_ops___later {
	void	(*init)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_later)(struct sstp_ctrl *c);
	char	name[16];
};

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 10;
}

SEC(".struct_ops.link") struct sstp_ctrl_ops___later later = {
	.init = (void *)init, .on_later = (void *)init, .name = "later",
};

char LICENSE[] SEC("license") = "GPL";
