// SPDX-License-Identifier: GPL-2.0
/* Writes to its parameters, which the core checks. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->param[0] = ~0U;
}

SSTP_CTRL("write-param", .init = (void *)init);
