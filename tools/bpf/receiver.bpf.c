// SPDX-License-Identifier: GPL-2.0
/*
 * "bpf-receiver": the receiver decides. Every round trip its half sends a message with a rate: a
 * quarter above that at which data arrives, or an eighth below it if shipments were skipped. The
 * sender does as it is told; before the first message it has a window, as long as that grows.
 */
#include "sstp.bpf.h"
#include <bpf/bpf_endian.h>

#define RATE		1		/* kind of the message: bit/s, __be64 */
#define LEAST		100000		/* bit/s */
#define EVERY		(10 * NSEC_PER_MSEC)

enum { GAP };				/* state of the receiving half: shipments were skipped */

SSTP_CALLBACK(init, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	bpf_sstp_window_init(c, s);
}

SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (c->priv[SSTP_PRIV])
		return;
	bpf_sstp_window_ack(c, s);
	bpf_sstp_window_pace(c, s);
}

SSTP_CALLBACK(on_loss, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (!c->priv[SSTP_PRIV] && bpf_sstp_window_loss(c, s))
		bpf_sstp_window_cut(c, s, c->cwnd / 2);
}

SSTP_CALLBACK(on_message, struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
	      const struct sstp_ctrl_msg *m)
{
	u64 bits = s->packet_size * 8, rate = 0;

	if (m->kind != RATE || bpf_sstp_msg_read(m, &rate, sizeof(rate)) != sizeof(rate))
		return;
	rate = max(bpf_be64_to_cpu(rate), LEAST);
	c->priv[SSTP_PRIV] = rate;
	c->period = bits * NSEC_PER_MSEC * 1000 / rate;
	c->cwnd = max(rate / 1000 * s->srtt / 1000 * 2 / max(bits, 1), 16);
}

SSTP_CALLBACK(recv_init, struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	r->timer = s->now + EVERY;
}

SSTP_CALLBACK(recv_packets, struct sstp_recv *r, const struct sstp_recv_sample *s,
	      const struct sstp_ctrl_packets *p)
{
	r->priv[GAP] |= p->gap;
}

SSTP_CALLBACK(recv_timer, struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	u64 rate = bpf_cpu_to_be64(r->priv[GAP] ? s->arrival_rate / 8 * 7 :
						  s->arrival_rate / 4 * 5);

	if (s->arrival_rate)
		bpf_sstp_recv_send(r, RATE, &rate, sizeof(rate));
	r->priv[GAP] = 0;
	r->timer = s->now + max(s->srtt * NSEC_PER_USEC, EVERY);
}

SSTP_CTRL("bpf-receiver", .init = (void *)init, .on_ack = (void *)on_ack,
	  .on_loss = (void *)on_loss, .on_message = (void *)on_message,
	  .recv_init = (void *)recv_init, .recv_packets = (void *)recv_packets,
	  .recv_timer = (void *)recv_timer, .state = { "rate" });
