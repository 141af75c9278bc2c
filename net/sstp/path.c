// SPDX-License-Identifier: GPL-2.0
/* The path of a connection: its MTU, and the contract that is in force on it. */
#include <net/ip.h>
#include <net/ip6_route.h>
#include <trace/events/sstp.h>
#include "encap.h"
#include "nl_event.h"
#include "path.h"
#include "sstp.h"

/* MTU of the route, for IPv4 without the effect of ICMP errors on it: hosts that see none of the
 * connection's packets can forge errors that lower it. IPv6 fragments packets by the lowered
 * MTU, so it counts there.
 */
static u32 sstp_route_mtu(const struct sstp_ident *id, const struct dst_entry *dst)
{
	u32 mtu;

	if (!sstp_v4(&id->peer.addr) || dst_xfrm(dst))
		return dst_mtu(dst);
	mtu = dst_metric_raw(dst, RTAX_MTU) ?: READ_ONCE(dst->dev->mtu);
	return min(mtu, IP_MAX_MTU) - lwtunnel_headroom(dst->lwtstate, mtu);
}

/* Update the path MTU, and with it the packet size of new segments and the contract's frame.
 * Socket lock.
 */
void sstp_mtu_update(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct dst_entry *dst = sstp_encap_dst(sk);
	u32 mtu = SSTP_PMTU_BASE, link = 14;
	bool local = false, known = dst || !sp->path.mtu;

	if (dst) {
		const struct net_device *dev;

		/* A route does not hold its device. */
		rcu_read_lock();
		mtu = sstp_route_mtu(&sp->id, dst);
		dev = READ_ONCE(dst->dev);
		link = dev->hard_header_len;
		local = dev->flags & IFF_LOOPBACK;
		rcu_read_unlock();
		dst_release(dst);
	}
	if (known)
		sstp_pmtud_route(&sp->path.pmtud, clamp(mtu, 128U, 65536U), local,
				 !sstp_v4(&sp->id.peer.addr));
	mtu = sp->path.pmtud.mtu;
	if (mtu == sp->path.mtu)
		return;
	if (sp->path.mtu && mtu < sp->path.mtu)
		SSTP_INC(sock_net(sk), PMTUSHRUNK);
	sp->path.mtu = mtu;
	/* A multiple of 8, so that all headers of a train are aligned */
	sp->path.size = (mtu - sstp_overhead(&sp->id) - SSTP_DATA_HLEN) & ~7U;
	sp->path.frame = link + sstp_overhead(&sp->id) + SSTP_DATA_HLEN + sp->path.size;
	if (sk->sk_state != TCP_CLOSE)
		sstp_update_rate(sp, GFP_ATOMIC);
}

/* Put the contract in force that follows from the program's, the peer's limit and
 * SO_MAX_PACING_RATE. On -ENOMEM the old one stays. Socket lock.
 */
int sstp_update_rate(struct sstp_sock *sp, gfp_t gfp)
{
	unsigned long pacing = READ_ONCE(sp->sk.sk_max_pacing_rate);
	struct sstp_rate_spec spec = sp->set.rate, old = sp->rate.spec;
	u32 segment, len = sp->rate.burst_len;
	u64 limit = sp->hs.peer_limit;
	bool changed;
	int err;

	if (pacing != ~0UL && pacing <= SSTP_RATE_MAX / 8) {
		u64 paced = max(pacing * 8ULL, SSTP_RATE_MIN);

		if (!limit || paced < limit)
			limit = paced;
	}
	if (limit && (!spec.peak || spec.peak > limit))
		spec.peak = limit;
	if (limit && spec.average > spec.peak)
		spec.average = spec.peak;
	segment = max(DIV_ROUND_UP(sp->set.segment_size, sp->path.size), 1U);
	/* Drop a burst that the limit makes impossible. */
	if (sstp_rate_check(&spec, sp->path.frame)) {
		spec.burst_len = 0;
		spec.burst_rate = 0;
	}
	err = sstp_rate_set(&sp->rate, &spec, sp->path.frame, (u64)segment + sp->loss.extra,
			    sstp_now(), gfp);
	if (err)
		return err;
	sp->path.pacing = pacing;
	changed = memcmp(&old, &sp->rate.spec, sizeof(old));
	if (changed || len != sp->rate.burst_len)
		trace_sstp_rate(sp);
	if (changed)
		sstp_nl_rate(&sp->sk);
	return 0;
}
