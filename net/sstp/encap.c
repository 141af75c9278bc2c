// SPDX-License-Identifier: GPL-2.0
/*
 * UDP below: sockets of a namespace, routes, and whole trains in and out.
 *
 * The UDP sockets have UDP_GRO set and no encap_rcv: with one, the stack would
 * cut each train into its packets before we see it.
 */
#include <linux/errqueue.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include "sstp.h"

static void sstp_encap_note(struct sk_buff *skb)
{
	struct sstp_skb_in in = {
		.sport = udp_hdr(skb)->source,
		/* Fragments of one datagram are no train. */
		.size = skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 ?
			skb_shinfo(skb)->gso_size : min_t(u32, skb->len, U16_MAX),
	};

	BUILD_BUG_ON(sizeof(in) > sizeof(skb->cb));
	BUILD_BUG_ON(sizeof(struct sstp_rcb) > offsetof(struct sstp_skb_in, why));
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &in.saddr);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &in.daddr);
	} else {
		in.saddr = ipv6_hdr(skb)->saddr;
		in.daddr = ipv6_hdr(skb)->daddr;
	}
	*SSTP_IN(skb) = in;
}

/* Softirq. UDP has queued one or more packets or trains. */
static void sstp_encap_data_ready(struct sock *usk)
{
	struct sk_buff *skb;
	int off = 0, err;

	for (;;) {
		skb = __skb_recv_udp(usk, MSG_DONTWAIT, &off, &err);
		if (!skb && err == -EAGAIN)
			break;
		/* An ICMP error that came meanwhile, which this has taken. */
		if (!skb)
			continue;
		/* UDP kept its own notes in place of the device. */
		skb->dev = NULL;
		off = 0;
		sstp_encap_note(skb);
		if (!udp_hdr(skb)->check) {
			sstp_drop(usk, skb, SSTP_MIB_INERRNOCSUM, 1);
			sstp_free(skb);
		} else if (skb_checksum_complete(skb)) {
			sstp_drop(usk, skb, SSTP_MIB_INERRCSUM, 1);
			sstp_free(skb);
		} else {
			sstp_rcv(usk, skb);
		}
	}
}

/* Softirq. An ICMP error has come; what it quotes is in the error queue. */
static void sstp_encap_error(struct sock *usk)
{
	struct sk_buff *skb;

	while ((skb = sock_dequeue_err_skb(usk))) {
		const struct sock_exterr_skb *e = SKB_EXT_ERR(skb);

		if (e->ee.ee_origin == SO_EE_ORIGIN_ICMP ||
		    e->ee.ee_origin == SO_EE_ORIGIN_ICMP6)
			sstp_rcv_icmp(usk, skb, e->ee.ee_errno);
		consume_skb(skb);
	}
	/* An error left in the socket would fail the next transmission. */
	sock_error(usk);
}

static int sstp_encap_opt(struct socket *sock, int level, int opt, int val)
{
	return sock->ops->setsockopt(sock, level, opt, KERNEL_SOCKPTR(&val),
				     sizeof(val));
}

static int __sstp_encap_sock(struct net *net, bool v6, u16 port, bool group,
			     struct socket **res)
{
	union {
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {};
	struct socket *sock;
	int err;

	err = sock_create_kern(net, v6 ? AF_INET6 : AF_INET, SOCK_DGRAM,
			       IPPROTO_UDP, &sock);
	/* No memory for an inode: no file is meant. */
	if (err == -ENFILE)
		err = -ENOMEM;
	if (err)
		return err;
	/* ICMP errors do not change routes: whoever knows the port can forge them. Each
	 * connection keeps the path MTU for itself: pmtud.h
	 */
	if (v6) {
		a.v6.sin6_family = AF_INET6;
		a.v6.sin6_port = htons(port);
		err = sstp_encap_opt(sock, SOL_IPV6, IPV6_V6ONLY, 1);
		if (!err)
			err = sstp_encap_opt(sock, SOL_IPV6, IPV6_RECVERR, 1);
		if (!err)
			err = sstp_encap_opt(sock, SOL_IPV6, IPV6_MTU_DISCOVER,
					     IPV6_PMTUDISC_INTERFACE);
	} else {
		a.v4.sin_family = AF_INET;
		a.v4.sin_port = htons(port);
		err = sstp_encap_opt(sock, SOL_IP, IP_RECVERR, 1);
		if (!err)
			err = sstp_encap_opt(sock, SOL_IP, IP_MTU_DISCOVER,
					     IP_PMTUDISC_INTERFACE);
	}
	if (!err)
		err = sstp_encap_opt(sock, SOL_UDP, UDP_GRO, 1);
	if (err)
		goto fail;
	sock->sk->sk_reuseport = group;
	/* Trains leave the queue as soon as they enter it. */
	sock->sk->sk_rcvbuf = 4 << 20;
	sock->sk->sk_allocation = GFP_ATOMIC;
	/* Else net.core.busy_read would have each look at an empty queue, in softirq,
	 * poll devices.
	 */
	sstp_never_busy_loop(sock->sk);
	write_lock_bh(&sock->sk->sk_callback_lock);
	sock->sk->sk_data_ready = sstp_encap_data_ready;
	sock->sk->sk_error_report = sstp_encap_error;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	err = kernel_bind(sock, (void *)&a, v6 ? sizeof(a.v6) : sizeof(a.v4));
	if (err)
		goto fail;
	*res = sock;
	return 0;
fail:
	sock_release(sock);
	return err;
}

struct sstp_encap_work {
	struct work_struct work;
	struct net	*net;
	struct socket	**res;
	u16		port;
	bool		v6;
	bool		group;
	int		err;
};

static void sstp_encap_do(struct work_struct *work)
{
	struct sstp_encap_work *w = container_of(work, struct sstp_encap_work,
						 work);

	w->err = __sstp_encap_sock(w->net, w->v6, w->port, w->group, w->res);
}

/* All users' packets go through sockets that the first of them happens to open.
 * A kernel thread does it, so that they have nothing of that one: neither uid,
 * with which a UDP socket might join the group, nor cgroups, nor label. Waits
 * for it: the caller's socket keeps the namespace.
 */
static int sstp_encap_sock(struct net *net, bool v6, u16 port, bool group,
			   struct socket **res)
{
	struct sstp_encap_work w = {
		.net = net,
		.res = res,
		.port = port,
		.v6 = v6,
		.group = group,
	};

	INIT_WORK_ONSTACK(&w.work, sstp_encap_do);
	schedule_work(&w.work);
	flush_work(&w.work);
	destroy_work_on_stack(&w.work);
	return w.err;
}

static void sstp_encap_release(struct socket **s)
{
	if (*s) {
		kernel_sock_shutdown(*s, SHUT_RDWR);
		sock_release(*s);
	}
	WRITE_ONCE(*s, NULL);
}

/* Packets may come up from them until an RCU grace period is over. */
void sstp_encap_close(struct net *net)
{
	struct sstp_net *sn = sstp_net(net);
	int v, i;

	for (v = 0; v < 2; v++)
		for (i = 0; i < SSTP_ENCAP_SOCKETS; i++) {
			sstp_encap_release(&sn->encap[v][i]);
			sstp_encap_release(&sn->client[v][i]);
		}
}

/* Take another well-known port, from the next sstp_encap_open() on. */
int sstp_encap_move(struct net *net, int port)
{
	struct sstp_net *sn = sstp_net(net);
	int err = -EBUSY;
	bool used;

	mutex_lock(&sn->encap_lock);
	/* Who is not counted yet will wait for the lock. Under RCU as sockets go
	 * after a grace period: one that came and went on another CPU while we
	 * add up could hide a third.
	 */
	rcu_read_lock();
	used = sock_prot_inuse_get(net, &sstp_prot);
	rcu_read_unlock();
	if (!used) {
		sstp_encap_close(net);
		/* Or an INIT from there might find the next listener. */
		synchronize_rcu();
		WRITE_ONCE(sn->encap_port, port);
		err = 0;
	}
	mutex_unlock(&sn->encap_lock);
	return err;
}

/* Open the well-known port, once; a reuseport group with a socket per CPU.
 * IPv6 may be absent or disabled.
 */
int sstp_encap_open(struct net *net)
{
	struct sstp_net *sn = sstp_net(net);
	int n = min_t(int, num_online_cpus(), SSTP_ENCAP_SOCKETS), v, i, err;

	mutex_lock(&sn->encap_lock);
	for (v = 0, err = 0; v < 2 && !err; v++) {
		for (i = 0; i < n && !err; i++) {
			struct socket *sock;

			if (sn->encap[v][i])
				continue;
			err = sstp_encap_sock(net, v, READ_ONCE(sn->encap_port),
					      true, &sock);
			if (!err)
				WRITE_ONCE(sn->encap[v][i], sock);
		}
		if (v && (err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL))
			err = 0;
	}
	mutex_unlock(&sn->encap_lock);
	return err;
}

/* A socket to connect from: its port gives a path of its own through RSS and
 * ECMP. Kept until the namespace goes, as packets may be under way to it.
 */
struct sock *sstp_encap_client(struct net *net, bool v6)
{
	struct sstp_net *sn = sstp_net(net);
	int i = get_random_u32() % SSTP_ENCAP_SOCKETS, err = 0;
	struct sock *usk;

	mutex_lock(&sn->encap_lock);
	if (!sn->client[v6][i])
		err = sstp_encap_sock(net, v6, 0, false, &sn->client[v6][i]);
	/* As connect() says it that finds no port. */
	if (err == -EADDRINUSE)
		err = -EADDRNOTAVAIL;
	usk = err ? ERR_PTR(err) : sn->client[v6][i]->sk;
	mutex_unlock(&sn->encap_lock);
	return usk;
}

static struct dst_entry *sstp_route4(struct sock *sk, struct flowi4 *fl)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct rtable *rt;

	memset(fl, 0, sizeof(*fl));
	fl->flowi4_oif = sk->sk_bound_dev_if;
	fl->flowi4_mark = READ_ONCE(sk->sk_mark);
	fl->flowi4_proto = IPPROTO_UDP;
	fl->daddr = sp->peer.addr.s6_addr32[3];
	if (sstp_v4(&sp->saddr))
		fl->saddr = sp->saddr.s6_addr32[3];
	fl->fl4_dport = sp->peer.port;
	fl->fl4_sport = inet_sk(sp->encap)->inet_sport;
	fl->flowi4_uid = sk->sk_uid;
	rt = ip_route_output_flow(sock_net(sk), fl, NULL);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
/* IPv4 routes nothing from an address that is not ours, IPv6 would. */
static bool sstp_saddr6_ours(struct net *net, const struct flowi6 *fl)
{
	struct flowi6 to_us = {
		.daddr = fl->saddr,
		.saddr = fl->saddr,
		.flowi6_oif = fl->flowi6_oif,
	};
	struct dst_entry *dst = ip6_route_output(net, NULL, &to_us);
	bool ours = !dst->error &&
		    ((struct rt6_info *)dst)->rt6i_flags & RTF_LOCAL;

	dst_release(dst);
	return ours;
}
#endif

static struct dst_entry *sstp_route6(struct sock *sk, struct flowi6 *fl)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct sstp_sock *sp = sstp_sk(sk);

	memset(fl, 0, sizeof(*fl));
	fl->flowi6_oif = sk->sk_bound_dev_if ?: sp->scope;
	fl->flowi6_mark = READ_ONCE(sk->sk_mark);
	fl->flowi6_proto = IPPROTO_UDP;
	fl->daddr = sp->peer.addr;
	fl->saddr = sp->saddr;
	fl->fl6_dport = sp->peer.port;
	fl->fl6_sport = inet_sk(sp->encap)->inet_sport;
	fl->flowi6_uid = sk->sk_uid;
	/* bind() lets a program name any, with IP_FREEBIND. */
	if (sk->sk_userlocks & SOCK_BINDADDR_LOCK &&
	    !sstp_saddr6_ours(sock_net(sk), fl))
		return ERR_PTR(-ENETUNREACH);
	return ip6_dst_lookup_flow(sock_net(sk), NULL, fl, NULL);
#else
	return ERR_PTR(-EAFNOSUPPORT);
#endif
}

/* Find the way to the peer, and with it our address if none was bound. Under
 * the socket lock. Takes no reference of the caller's.
 */
int sstp_encap_route(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct dst_entry *dst;

	if (sstp_v4(&sp->peer.addr)) {
		struct flowi4 fl;

		dst = sstp_route4(sk, &fl);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		if (((struct rtable *)dst)->rt_flags &
		    (RTCF_MULTICAST | RTCF_BROADCAST)) {
			dst_release(dst);
			return -ENETUNREACH;
		}
		if (ipv6_addr_any(&sp->saddr))
			ipv6_addr_set_v4mapped(fl.saddr, &sp->saddr);
		sp->dst_cookie = 0;
	} else {
		struct flowi6 fl;

		dst = sstp_route6(sk, &fl);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		if (ipv6_addr_any(&sp->saddr))
			sp->saddr = fl.saddr;
#if IS_ENABLED(CONFIG_IPV6)
		sp->dst_cookie = sstp_dst_cookie6(dst);
#endif
	}
	sk_dst_set(sk, dst);
	return 0;
}

/* The route in force, with the caller's reference; NULL if there is none. */
struct dst_entry *sstp_encap_dst(struct sock *sk)
{
	struct dst_entry *dst = sk_dst_check(sk, sstp_sk(sk)->dst_cookie);

	if (!dst && !sstp_encap_route(sk))
		dst = sk_dst_get(sk);
	return dst;
}

/* Send an skb of ours, a train or one packet, that starts with the SSTP header. IP takes
 * it for one of this socket, not of the UDP socket, and asks the programs of its cgroup.
 * @fragment: it may be larger than the path takes. Under the socket lock or in
 * softirq; consumes @skb.
 */
int sstp_encap_xmit(struct sock *sk, struct sk_buff *skb, bool fragment)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct dst_entry *dst = sstp_encap_dst(sk);
	struct sock *usk = sp->encap;
	__be16 sport = inet_sk(usk)->inet_sport;

	if (!dst) {
		sstp_drop(sk, skb, SSTP_MIB_OUTERR, max(skb_shinfo(skb)->gso_segs, 1));
		sstp_free(skb);
		return -EHOSTUNREACH;
	}
	skb->priority = READ_ONCE(sk->sk_priority);
	skb->mark = READ_ONCE(sk->sk_mark);
	if (skb_is_gso(skb)) {
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) - sizeof(struct udphdr);
		skb->csum_offset = offsetof(struct udphdr, check);
	}
	local_bh_disable();
	if (sstp_v4(&sp->peer.addr)) {
		skb->protocol = htons(ETH_P_IP);
		sstp_udp_xmit4((struct rtable *)dst, sk, skb,
			       sp->saddr.s6_addr32[3],
			       sp->peer.addr.s6_addr32[3], sp->tos,
			       sp->ttl < 0 ? ip4_dst_hoplimit(dst) : sp->ttl,
			       fragment ? 0 : htons(IP_DF), sport,
			       sp->peer.port);
	} else {
#if IS_ENABLED(CONFIG_IPV6)
		skb->protocol = htons(ETH_P_IPV6);
		skb->ignore_df = fragment;
		sstp_udp_xmit6(dst, sk, skb, &sp->saddr, &sp->peer.addr,
			       sp->tos, sp->ttl < 0 ? ip6_dst_hoplimit(dst) :
			       sp->ttl, 0, sport, sp->peer.port);
#else
		dst_release(dst);
		kfree_skb(skb);
#endif
	}
	local_bh_enable();
	return 0;
}

/* Answer a packet without any state of it: to where it came from. Softirq. */
void sstp_encap_reply(struct sock *usk, const struct sk_buff *cause,
		      const void *data, u32 len)
{
	struct net *net = sock_net(usk);
	__be16 sport = inet_sk(usk)->inet_sport, dport = SSTP_IN(cause)->sport;
	const struct sstp_skb_in *in = SSTP_IN(cause);
	struct sk_buff *skb;

	skb = alloc_skb(SSTP_HEADROOM + len, GFP_ATOMIC);
	if (!skb) {
		SSTP_INC(net, OUTNOMEM);
		return;
	}
	skb_reserve(skb, SSTP_HEADROOM);
	skb_put_data(skb, data, len);
	SSTP_INC(net, OUTPKTS);
	if (sstp_v4(&in->saddr)) {
		struct flowi4 fl = {
			.daddr = in->saddr.s6_addr32[3],
			.saddr = in->daddr.s6_addr32[3],
			.flowi4_proto = IPPROTO_UDP,
			.fl4_sport = sport,
			.fl4_dport = dport,
		};
		struct rtable *rt = ip_route_output_flow(net, &fl, NULL);

		if (IS_ERR(rt))
			goto no_route;
		skb->protocol = htons(ETH_P_IP);
		sstp_udp_xmit4(rt, usk, skb, fl.saddr, fl.daddr, 0,
			       ip4_dst_hoplimit(&rt->dst), htons(IP_DF), sport,
			       dport);
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	{
		struct flowi6 fl = {
			.daddr = in->saddr,
			.saddr = in->daddr,
			.flowi6_proto = IPPROTO_UDP,
			.flowi6_oif = cause->skb_iif,
			.fl6_sport = sport,
			.fl6_dport = dport,
		};
		struct dst_entry *dst;

		if (!(ipv6_addr_type(&fl.daddr) & IPV6_ADDR_LINKLOCAL))
			fl.flowi6_oif = 0;
		dst = ip6_dst_lookup_flow(net, NULL, &fl, NULL);
		if (IS_ERR(dst))
			goto no_route;
		skb->protocol = htons(ETH_P_IPV6);
		sstp_udp_xmit6(dst, usk, skb, &fl.saddr, &fl.daddr, 0,
			       ip6_dst_hoplimit(dst), 0, sport, dport);
		return;
	}
#endif
no_route:
	*SSTP_IN(skb) = *in;
	sstp_drop(usk, skb, SSTP_MIB_OUTERR, 1);
	sstp_free(skb);
}
