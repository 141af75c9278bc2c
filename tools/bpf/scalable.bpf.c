// SPDX-License-Identifier: GPL-2.0
/* "bpf-scalable": Scalable TCP, as net/sstp/ctrl_scalable.c */
#include "sstp.bpf.h"

#define ONE	1000	/* of the parameters a and b */

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_init(c, s);
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	u64 packets = bpf_sstp_window_ack(c, s), a = c->param[0] ?: 10;

	if (packets)
		bpf_sstp_window_grow(c, min(packets, 1000000) * a, min(c->cwnd * a, ONE));
	bpf_sstp_window_pace(c, s);
}

static u32 ssthresh(const struct sstp_ctrl *c)
{
	return c->cwnd - (u64)c->cwnd * (c->param[1] ?: 125) / ONE;
}

SSTP_CALLBACK(on_loss, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (bpf_sstp_window_loss(c, s))
		bpf_sstp_window_cut(c, s, ssthresh(c));
}

SSTP_CALLBACK(on_timeout, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_timeout(c, s, ssthresh(c));
}

SSTP_CTRL("bpf-scalable",
	.init		= (void *)init,
	.on_ack		= (void *)on_ack,
	.on_loss	= (void *)on_loss,
	.on_timeout	= (void *)on_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.params		= { { "a", 1, ONE }, { "b", 1, ONE - 1 } },
);
