// SPDX-License-Identifier: GPL-2.0
/* Transmission of packets other than DATA, one at a time. Socket lock. */
#include "encap.h"
#include "small.h"
#include "sstp.h"

/* Allocate an skb for a packet of up to @room bytes; NULL without memory. */
struct sk_buff *sstp_small(struct sock *sk, u32 room)
{
	struct sk_buff *skb = alloc_skb(SSTP_HEADROOM + room,
					GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_reserve(skb, SSTP_HEADROOM);
	else
		SSTP_INC(sock_net(sk), OUTNOMEM);
	return skb;
}

int sstp_small_xmit(struct sock *sk, struct sk_buff *skb)
{
	skb_set_owner_w(skb, sk);
	SSTP_SK_INC(sstp_sk(sk), OUTPKTS);
	return sstp_encap_xmit(sk, skb, true, 0);
}

int sstp_send_small(struct sock *sk, const void *data, u32 len)
{
	struct sk_buff *skb = sstp_small(sk, len);

	if (!skb)
		return -ENOMEM;
	skb_put_data(skb, data, len);
	return sstp_small_xmit(sk, skb);
}

/* Write a KEEPALIVE, or an EOS once it has been sent, to @p. @stamp: timestamp */
void sstp_build_context(const struct sstp_sock *sp, void *p, u8 flags, u32 stamp)
{
	const struct sstp_snd_wnd *w = &sp->snd;
	const struct sstp_sseg *s;
	struct sstp_data d = {
		.cid = sp->id.peer.cid,
		.type = SSTP_KEEPALIVE,
		.flags = flags,
		.shipment = w->shipment - 1,
		.segment = w->next,
		.stamp = stamp,
	};

	if (sp->tx.eos >= SSTP_EOS_SENT) {
		d.type = SSTP_EOS;
	} else if (w->next != w->end) {
		s = sstp_snd_segment(w, w->next);
		d.packet = s ? s->next : 0;
	}
	sstp_build_data(p, &d);
}

/* Send a KEEPALIVE or EOS with the last shipment and the next position, from which the receiver
 * learns which packets are lost.
 */
void sstp_send_context(struct sock *sk, u8 flags)
{
	struct sstp_sock *sp = sstp_sk(sk);
	u8 buf[SSTP_DATA_HLEN];

	sp->live.context_ship = sp->snd.shipment;
	sstp_build_context(sp, buf, flags, sstp_stamp(&sp->hs, sstp_now()));
	SSTP_INC(sock_net(sk), OUTKEEPALIVES);
	sstp_send_small(sk, buf, sizeof(buf));
}

void sstp_send_end(struct sock *sk, enum sstp_type type, u32 code)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_end_hdr e = {
		.h.cid = cpu_to_be32(sp->id.peer.cid),
		.h.type = type,
		.code = cpu_to_be32(code),
		.seq = cpu_to_be32(sp->snd.shipment - 1),
	};

	if (!sp->id.peer.cid || !sp->snd.ring)
		return;
	if (type == SSTP_RESET)
		SSTP_INC(sock_net(sk), OUTRESETS);
	sstp_send_small(sk, &e, sizeof(e));
}
