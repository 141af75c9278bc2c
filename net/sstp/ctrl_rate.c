// SPDX-License-Identifier: GPL-2.0
/*
 * "rate": no congestion control: the declared contract alone paces the sender, as in
 * WUCS-92-38. The paper assumes reserved capacity, so losses are no sign of congestion.
 */
#include "ctrl.h"

static void sstp_ctrl_rate_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	c->cwnd = SSTP_CWND_MAX;
	c->period = 0;
}

static void sstp_ctrl_rate_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
}

struct sstp_ctrl_ops sstp_ctrl_rate = {
	.init	= sstp_ctrl_rate_init,
	.on_ack	= sstp_ctrl_rate_ack,
	.restricted = true,
	.name	= "rate",
	.owner	= THIS_MODULE,
};
