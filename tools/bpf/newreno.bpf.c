// SPDX-License-Identifier: GPL-2.0
/* "bpf-newreno": as net/sstp/ctrl_newreno.c */
#include "sstp.bpf.h"

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_init(c, s);
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	u32 packets = bpf_sstp_window_ack(c, s);

	if (packets)
		bpf_sstp_window_grow(c, packets, c->cwnd);
	bpf_sstp_window_pace(c, s);
	c->priv[SSTP_PRIV] = sstp_window(c)->ssthresh;
}

SSTP_CALLBACK(on_loss, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (bpf_sstp_window_loss(c, s))
		bpf_sstp_window_cut(c, s, c->cwnd / 2);
}

SSTP_CALLBACK(on_timeout, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_timeout(c, s, c->cwnd / 2);
}

SSTP_CTRL("bpf-newreno",
	.init		= (void *)init,
	.on_ack		= (void *)on_ack,
	.on_loss	= (void *)on_loss,
	.on_timeout	= (void *)on_timeout,
	.ecn		= SSTP_CTRL_ECN_ANSWERS,
	.state		= { "ssthresh" },
);
