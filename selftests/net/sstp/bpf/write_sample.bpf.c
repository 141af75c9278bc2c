// SPDX-License-Identifier: GPL-2.0
/* Writes to its sample, which is not an output. */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	((struct sstp_ctrl_sample *)s)->rtt = 1;
}

SSTP_CTRL("write-sample", .init = (void *)init);
