// SPDX-License-Identifier: GPL-2.0
/* Writes to values of parameters that it is to check. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = 10;
}

SSTP_CHECK(check_params, struct sstp_param_values *v)
{
	v->param[0] = 1;
	return 0;
}

SSTP_CTRL("write-values", .init = (void *)init, .check_params = (void *)check_params);
